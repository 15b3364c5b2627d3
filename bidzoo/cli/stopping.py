"""Ctrl-C, and what a stopped command goes on from.

Ctrl-C ends a command within two seconds, with its workers, whatever it is doing, and says how to go on. Python
hears it only between two steps of its own, which a long kernel keeps waiting. A thread hears it at once and ends
the process when its time is up. A command that ends by itself leaves without Python's own end, which waits for
other threads and holds ours still. Nothing is lost by that: files appear whole or not at all.
"""

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from bidzoo.cli.showing import in_runs, say
from bidzoo.core import jobs
from bidzoo.core.storage import patiently

GRACE = 1.5  # seconds in which the command may end by itself
FLUSH = 0.3  # seconds for what is printed but not written yet
STATUS = 130  # of a process that Ctrl-C ended, as shells have it

_going_on = ""
_heard = threading.Event()


@contextmanager
def going_on(path: Path | str) -> Iterator[None]:
    """Within this context a stopped command says that the same command, given again, goes on from ``path``."""
    global _going_on
    _going_on = f"the same command goes on from {path}"
    try:
        yield
    except BaseException as problem:
        if not isinstance(problem, KeyboardInterrupt) and not is_stopped():  # which may be lost, see there
            _going_on = ""
        raise
    _going_on = ""


@contextmanager
def kept_until_the_end(path: Path) -> "Iterator[Path]":
    """A file or folder from which a stopped command goes on, and which is removed when the command has ended."""
    with going_on(path):
        yield path
    if path.is_dir():
        patiently(shutil.rmtree, path)
    else:
        patiently(path.unlink, missing_ok=True)


@contextmanager
def suite_ledger(ledger: Path | None, suite: str, *asked: object) -> "Iterator[Path]":
    """The path ``ledger``; without one that of a file in runs/, which is removed when the suite has ended.

    ``asked`` are the options that decide what is measured. They are part of the file's name, so that no other command
    of the suite finds or removes what a stopped one has kept. Where nothing was kept in a ``ledger`` that was asked
    for, a line says so.
    """
    path = ledger or in_runs(suite, *asked, ending=".ledger")
    with kept_until_the_end(path) if ledger is None else going_on(path):
        yield path
    if ledger is not None and not ledger.exists():
        say(f"{ledger}: nothing was kept there, since no agent here is slow", err=True)


def watch() -> None:
    """From now on Ctrl-C ends this process, if need be from outside of its main thread."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(_listener(), warn_on_full_buffer=False)
        _hide_lost_interrupts()


@cache
def _hide_lost_interrupts() -> None:
    """Show no traceback of an interrupt in what LLVM calls back, which Python shows and then loses.

    The thread that heard Ctrl-C ends the process then.
    """
    show = sys.unraisablehook

    def show_others(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            show(unraisable)

    sys.unraisablehook = show_others


@cache  # one for all commands of a process
def _listener() -> int:
    """Start the thread that hears Ctrl-C; return where Python writes the numbers of signals for it."""
    read_end, write_end = socket.socketpair()  # Windows writes numbers of signals to sockets alone
    write_end.setblocking(False)
    threading.Thread(target=_listen, args=(read_end,), name="Ctrl-C", daemon=True).start()
    return write_end.detach()


if hasattr(os, "register_at_fork"):  # a signal to a forked child alone is not its parent's
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


def _listen(read_end: socket.socket) -> None:
    while signal.SIGINT not in read_end.recv(1):
        pass
    _heard.set()
    time.sleep(GRACE)
    try:
        end_workers()
        flushing = threading.Thread(target=_flush, daemon=True)  # whoever reads may have stopped
        flushing.start()
        flushing.join(FLUSH)
    finally:
        os._exit(STATUS)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()


def is_stopped() -> bool:
    """Whether Ctrl-C was heard: an error after it is its consequence.

    A library may lose the interrupt, as numba does in what LLVM calls back and Python's ssl in its import, and fail
    for what was not done. The thread that hears it may be a moment behind.
    """
    return _heard.wait(0.1)


def leave_if_stopped(status: Any) -> None:
    """End the process now, with what it has printed, if Ctrl-C was heard; ``status`` as of ``sys.exit``."""
    if status == STATUS or _heard.is_set():
        _flush()
        os._exit(status if isinstance(status, int) else int(status is not None))


@cache
def end_workers() -> None:
    """End the workers now; one line, once, says what is kept."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a bar hides the cursor
    sys.stderr.write(f"\nbidzoo: stopped; {_going_on or 'nothing is kept'}\n")
    sys.stderr.flush()
    jobs.kill_workers()

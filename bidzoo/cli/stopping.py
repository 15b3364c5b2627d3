"""Ctrl-C ends a command within two seconds, with its workers, whatever it is doing, and says how to go on.

Python hears Ctrl-C only between two steps of its own, which a long kernel keeps waiting. A thread hears it at once and
ends the process when its time is up. Nothing is lost by that: files appear whole or not at all.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from bidzoo.core import jobs

GRACE = 1.5  # seconds in which the command may end by itself
STATUS = 130  # of the process, as shells have it

_going_on = ""


@contextmanager
def going_on(kept: Path | str) -> Iterator[None]:
    """In here a stopped command goes on from ``kept`` when it is given again."""
    global _going_on
    _going_on = f"the same command goes on from {kept}"
    try:
        yield
    finally:
        if not isinstance(sys.exception(), KeyboardInterrupt):
            _going_on = ""


def watch() -> None:
    """From now on Ctrl-C ends this process, if need be from outside of its main thread."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard,), name="Ctrl-C", daemon=True).start()


def _listen(heard: int) -> None:
    while signal.SIGINT not in os.read(heard, 1):
        pass
    threading.Event().wait(GRACE)
    try:
        end_workers()
    finally:
        os._exit(STATUS)


@cache
def end_workers() -> None:
    """End the workers now; one line, once, says what is kept."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a bar hides the cursor
    sys.stderr.write(f"\nbidzoo: stopped; {_going_on or 'nothing is kept'}\n")
    sys.stderr.flush()
    jobs.kill_workers()

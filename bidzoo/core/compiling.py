"""When kernels are compiled: in a background process, or while the caller waits.

numba takes 15 to 50 seconds to compile a game or an agent, once a machine. Meanwhile kernels run as plain Python, with
the same bytes: a process of low priority (``compiler``) compiles what was called into the cache, and a kernel goes over
to the compiled form when it finds it there. What would take minutes uncompiled waits instead, and says so in one line.
To load numba takes 0.4 seconds and 60 MB, so the first ``BRIEF`` seconds of a process are plain Python anyway.

``BIDZOO_COMPILE=now`` waits always (tests, benchmarks, clusters); ``bidzoo compile`` prepares everything beforehand.
"""

import gc
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bidzoo.core import plain

VARIABLE = "BIDZOO_COMPILE"
POLICIES = ("background", "now")
# each game and agent has kernels of its own, so another program may have to say it again
SAID = "bidzoo: compiling kernels that are new to this machine, up to a minute; `bidzoo compile` prepares all of them"
KILLED = (
    "bidzoo: the process that compiles kernels was killed, so they run as plain Python, which is slower; "
    "`bidzoo compile` prepares all of them"
)

_CONSOLE_ENDED = 0xC000013A  # STATUS_CONTROL_C_EXIT, the exit code of a process that a console of Windows has ended
BRIEF = 0.1  # seconds of kernels as plain Python: some hundred decisions

Job = tuple[str, str, str, Any]  # a kernel's module and name, digest of what it is made of, types of its arguments

_announced = _said_killed = _waits_always = False


class _Compiler(subprocess.Popen[bytes]):
    """The process that compiles. It ends with its work, after this one if need be: that is nothing to warn of."""

    jobs: int  # descriptor of the pipe to it, which ends when no process has it open

    def __del__(self) -> None:
        """As of an object: that of ``Popen`` warns of a process that still runs."""


_lock = threading.RLock()  # of the two that follow; a signal may come in the middle, whose handler plays on
_asked: set[Job] = set()
_worker: _Compiler | None = None


class _Thread(threading.local):
    patient = True  # plain Python will do until the compiled form is there (not in ``when_compiled``)


_thread = _Thread()


def policy() -> str:
    """``BIDZOO_COMPILE``; ValueError for another word."""
    word = os.environ.get(VARIABLE) or POLICIES[0]
    if word not in POLICIES:
        raise ValueError(f"{VARIABLE}={word!r}: expected {' or '.join(POLICIES)}")
    return word


def is_brief() -> bool:
    """Whether kernels have run for so short a time that it would have been a waste to load numba."""
    return plain.seconds < BRIEF and "numba" not in sys.modules and policy() != "now"


def patient() -> bool:
    """Whether plain Python will do in this thread until the compiled form is there."""
    return _thread.patient and not _waits_always


@contextmanager
def when_compiled() -> Iterator[None]:
    """Make kernels wait for their compiled form: the work would take minutes as plain Python."""
    before, _thread.patient = _thread.patient, False
    try:
        yield
    finally:
        _thread.patient = before


def wait_always() -> None:
    """Make kernels of every thread wait for their compiled form from now on, for work that is long or measured."""
    global _waits_always
    _waits_always = True


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage less often: the compiler makes many objects, few of them to be collected."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def announce() -> None:
    """Say once that the caller waits for the compiler."""
    global _announced
    if not _announced and policy() != "now":
        _announced = True
        print(SAID, file=sys.stderr, flush=True)


def in_background(job: Job) -> bool:
    """Have ``job`` compiled by the background process, and return whether plain Python is to do meanwhile.

    False if there is no such process, or it has ended because it finds other sources, or no way to begin: the caller
    compiles for itself. One that was killed, as where memory is short, is not begun again: plain Python does for the
    rest of this process.
    """
    if job[0] == "__main__":  # which is another module there
        return False
    with _lock:
        if job not in _asked:
            _asked.add(job)
            if _ask(pickle.dumps(job)):
                return True
    return _worker is not None and (_worker.poll() is None or _was_killed(_worker))


def _was_killed(worker: _Compiler) -> bool:
    """Whether a signal, or on Windows the end of a console, has ended ``worker``; says so once."""
    global _said_killed
    is_killed = worker.returncode < 0 or worker.returncode == _CONSOLE_ENDED
    if is_killed and not _said_killed:
        _said_killed = True
        print(KILLED, file=sys.stderr, flush=True)
    return is_killed


def _ask(job: bytes) -> bool:
    """Write ``job`` to the process that compiles, which is begun if there is none; False if that fails."""
    global _worker
    if not sys.executable or getattr(sys, "frozen", False):  # Python within another program
        return False
    try:
        if _worker is None:
            _worker = _begun()
        with open(_worker.jobs, "wb", closefd=False) as jobs:
            jobs.write(len(job).to_bytes(8, "little") + job)
    except OSError:
        return False
    return True


def _begun() -> _Compiler:
    """A new process that compiles, below this one in priority."""
    places = os.pathsep.join(path or os.getcwd() for path in sys.path)
    read_end, write_end = os.pipe()
    try:
        worker = _Compiler(
            [sys.executable, "-P", *["-O"] * sys.flags.optimize, "-m", "bidzoo.core.compiler"],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, VARIABLE: "now", "PYTHONPATH": places},
            **_apart(),
        )
    except BaseException:
        os.close(write_end)
        raise
    finally:
        os.close(read_end)
    worker.jobs = write_end
    return worker


def _apart() -> dict[str, Any]:
    """Options of ``Popen`` that keep Ctrl-C from the process that compiles: it ends with its work."""
    if sys.platform == "win32":  # where it has no window and no ``os.nice`` either
        new = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        return {"creationflags": new | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
    return {"start_new_session": True}


def _forget() -> None:
    """A forked child has no process that compiles: it begins one of its own."""
    global _worker
    if _worker is not None:
        os.close(_worker.jobs)
    _worker = None
    _asked.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):  # a child has the whole pipe or none of it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget)

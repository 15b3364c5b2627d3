"""Rows of a batch on several cores: a pool of Python threads over kernels that release Python's lock.

A large batch is cut into equal shares, up to four a thread. Each thread takes one after the other until none are left,
the caller too, which then waits for those that helpers have taken. A helper begins some 60 microseconds late; of
several shares it then does fewer, rather than let the caller wait. A small batch has one share, and the caller does it
alone. Results are the same for any number of threads: a row depends on nothing but itself.

A signal that arrives in the middle, such as Ctrl-C, is raised when no helper is at work on the batch any more. Helpers
are daemon threads that wait for a queue, so the process ends whenever it wants to; a forked child makes its own.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import Any

VARIABLE = "BIDZOO_THREADS"
ROWS = 2048  # that a thread does at least: of bridge or Spades some 300 microseconds of work; waking it takes 120
SHARES = 4  # of a thread's rows
SHARE = ROWS // SHARES  # rows of a share at least, where a thread does ``ROWS``

GROUP = Path("/sys/fs/cgroup")  # the control group of a container, as it sees it
QUOTAS = ("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")  # quota and period, in versions 2 and 1

_count = 0  # threads that kernels may use; 0: not asked for yet
_pool: _Pool | None = None
_refused = False  # the system let no thread start, which was said


def cores() -> int:
    """Cores that this process may use, by its affinity and its control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for names in QUOTAS:
        try:
            quota, period = " ".join((GROUP / name).read_text("utf-8") for name in names).split()
            if int(quota) > 0:  # -1: as much as there is
                count = min(count, max(1, round(int(quota) / int(period))))
        except (OSError, ValueError):  # no such group; "max": as much as there is
            pass
    return count


def get_threads() -> int:
    """Threads of the kernels: as set, else ``BIDZOO_THREADS``, else ``cores()``."""
    global _count
    if not _count:
        text = os.environ.get(VARIABLE, "")
        if text and not (text.isdecimal() and int(text)):
            raise ValueError(f"{VARIABLE}={text!r}: expected a number of threads, at least 1")
        _count = int(text) if text else cores()
    return _count


def set_threads(count: int) -> None:
    """Let kernels use ``count`` threads, at least 1, from the next batch on."""
    global _count
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"{count!r} threads: expected an integer, at least 1")
    _count = count


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Within this context ``set_threads(count)`` holds."""
    before = get_threads()
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


def spread(kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...], least: int = ROWS) -> None:
    """``kernel(start, stop, *arguments)``, compiled, over all ``rows``, at least ``least`` of them a thread."""
    threads = min(get_threads(), rows // least)
    if threads < 2:
        kernel(0, rows, *arguments)
        return
    job = _Job(kernel, rows, arguments, min(SHARES * threads, rows))
    try:
        pool = _helpers()
        for _ in range(min(threads - 1, pool.size)):
            pool.jobs.put(job)
        job.work()
    finally:
        job.close()
    for problem in job.problems:
        raise problem


class _Job:
    """A batch in shares, which the caller and the helpers take from one list.

    A signal may end any line of the caller, so it holds no lock: what both sides write are lists and a queue, each by
    one operation that no thread sees half done. Signals do not reach helpers.
    """

    def __init__(self, kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...], shares: int) -> None:
        bounds = [rows * k // shares for k in range(shares + 1)]
        self._kernel, self._arguments = kernel, arguments
        self._shares = [*pairwise(bounds)][::-1]
        self._closed = False
        self._begun, self._ended = list[None](), list[None]()  # an entry a helper
        self._said = SimpleQueue[None]()  # a word of each helper that has ended
        self.problems: list[BaseException] = []  # of the helpers

    def work(self) -> None:
        """Do share after share until none are left."""
        while self._shares:
            try:
                start, stop = self._shares.pop()
            except IndexError:  # another thread has just taken the last one
                return
            self._kernel(start, stop, *self._arguments)

    def help(self) -> None:
        """``work`` in a helper, unless the caller has closed the job."""
        self._begun.append(None)  # before it looks: a caller that closes the job sees who may have begun
        try:
            if not self._closed:
                self.work()
        except BaseException as problem:
            self.problems.append(problem)
        self._ended.append(None)
        self._said.put(None)

    def close(self) -> None:
        """Let no helper begin, and wait for those at work; a signal that arrives meanwhile is raised after that."""
        raised: BaseException | None = None
        while True:
            try:
                self._closed = True
                self._shares.clear()
                while len(self._ended) < len(self._begun):
                    self._said.get()
                break
            except BaseException as problem:
                raised = problem
        if raised is not None:
            raise raised


class _Pool:
    """Helpers that take jobs from a queue."""

    def __init__(self, wanted: int) -> None:
        self.jobs = SimpleQueue[_Job | None]()
        self.wanted, self.size = wanted, 0
        try:
            for _ in range(wanted):
                threading.Thread(target=self._help, name="bidzoo kernels", daemon=True).start()
                self.size += 1
        except RuntimeError as problem:  # a limit of the container or of the user
            _say_once(f"bidzoo: {problem}: kernels run on {self.size + 1} threads, not on {wanted + 1}")
        except BaseException:
            self.close()
            raise

    def _help(self) -> None:
        while (job := self.jobs.get()) is not None:
            job.help()
            del job  # it holds the arrays of its batch

    def close(self) -> None:
        """Let the helpers end when they have done what they were given."""
        for _ in range(self.wanted):
            self.jobs.put(None)


def _helpers() -> _Pool:
    """The pool for as many threads as are asked for.

    Two threads that ask first at the same time make two; the one that nobody uses again waits to the end.
    """
    global _pool
    pool, wanted = _pool, get_threads() - 1
    if pool is None or pool.wanted != wanted:
        before, pool = pool, _Pool(wanted)
        _pool = pool
        if before is not None:
            before.close()
    return pool


def _say_once(text: str) -> None:
    global _refused
    if not _refused:
        _refused = True
        print(text, file=sys.stderr)


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

"""Rows of a batch on several cores: one small pool of threads for all kernels.

Helpers take share after share of a batch in compiled code (``sharing``), look a while for the next one, then sleep. The
caller alone does few rows, what ends sooner than a helper wakes, by the time that such rows take, and all but large
batches while the machine is busy, which it sees by its own processor clock. The pool is made anew in a forked
child. Results are the same for any number of threads: a row depends on nothing but itself.
"""

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from time import get_clock_info, perf_counter, thread_time
from typing import Any

import numpy as np

VARIABLE = "BIDZOO_THREADS"
FEW = 128  # batches of fewer rows are never shared
SHARE = 32  # rows that a thread takes at a time
WORTH = 1.2e-4  # seconds: where batches of so many rows take less on the whole, none is shared
WAKING = 2e-4  # seconds until a helper is awake, on a virtual machine
LOOKING = 5e-4  # seconds that it looks for the next batch before it sleeps
STREAK = 2e-3  # seconds of batches one soon after the other that make it worth while to wake it for a small one
UNKNOWN = 1.0  # seconds a row of a kernel not seen yet
RISE = 1.5  # most by which they rise at once: the system may have interrupted it
LARGE = 5e-2  # seconds: a batch that takes more gains though the system may stop a helper in its share
WATCHED = max(0.1, 40 * get_clock_info("thread_time").resolution)  # seconds of shared batches that are looked at
LOST = 0.1  # if the caller did not run for more than this part of them, cores are few
CROWDED, LONGEST = 0.5, 8.0  # seconds for which small batches are then left to the caller
AGAIN = 64  # batches of a kernel, of which the second is left to the caller to see how long it takes alone
_SIZES = 64  # numbers of rows for which plans and times are kept

_count = 0  # 0: not asked for yet
_pool: "_Pool | None" = None
_making = threading.Lock()
_paces: dict[Callable[..., None], float] = {}  # seconds a row of each kernel, done by one thread
_turns: dict[Callable[..., None], int] = {}  # batches of each kernel so far
_usual: dict[int, float] = {}  # seconds that batches of so many rows took of late, done by one thread


def cores() -> int:
    """Cores that this process may use, by its affinity and its control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            count = min(count, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
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
    if count > 1 and _pool is not None and _pool.threads != count:
        _close()


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Within this context ``set_threads(count)`` holds."""
    before = get_threads()
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


class _Pool:
    """Helpers of one caller at a time; what others call meanwhile they do alone."""

    def __init__(self, threads: int) -> None:
        from bidzoo.core import sharing

        self._plan, self._serve = lru_cache(_SIZES)(sharing.plan), serving()
        words = np.zeros(sharing.WORDS + sharing.LINE, np.int64)
        words = words[-(words.ctypes.data // 8) % sharing.LINE :]  # from the beginning of a cache line on
        words[sharing.SLEEP] = _sleep()
        self._from_stop, self._address = words[sharing.STOP :], words.ctypes.data
        self._taken, self._asleep, self._ended = threading.Lock(), list[threading.Lock](), False
        self._crowded_until, self._crowded_for = 0.0, CROWDED
        self._shared = self._lost = 0.0
        self._last = self._busy = 0.0  # when the last job ended; seconds of jobs that came one soon after the other
        self.threads = threads  # with the caller
        self._helpers = [threading.Thread(target=self._help, args=(n,), daemon=True) for n in range(1, threads)]
        for helper in self._helpers:
            helper.start()

    def _help(self, own: int) -> None:
        looks = int(LOOKING / min(self._look(own) for _ in range(10))) + 1
        woken = threading.Lock()
        woken.acquire()
        while not self._ended:
            self._asleep.append(woken)
            woken.acquire()
            self._serve(self._address, own, looks)

    def _note(self, now: float, shared: float, lost: float) -> None:
        """Of the seconds of a ``shared`` batch the caller has ``lost`` some to other threads, perhaps a helper."""
        self._shared, self._lost = self._shared + shared, self._lost + lost
        if self._shared > WATCHED:
            if self._lost > LOST * self._shared:
                self._give_way(now)
            self._shared = self._lost = 0.0

    def _give_way(self, now: float) -> None:
        """Leave small batches to the caller for a while, twice as long if cores are few again soon after the last."""
        again = self._crowded_until < now < self._crowded_until + self._crowded_for
        self._crowded_for = min(2 * self._crowded_for, LONGEST) if again else CROWDED
        self._crowded_until = now + self._crowded_for

    def _look(self, own: int) -> float:
        """Seconds that a helper takes for one look at what there is to do."""
        began = perf_counter()
        self._serve(self._address, own, 200)
        return (perf_counter() - began) / 200

    def _wake(self, count: int) -> None:
        for _ in range(min(count, len(self._asleep))):
            self._asleep.pop().release()

    def close(self) -> None:
        """End all helpers."""
        self._ended = True
        for helper in self._helpers:
            while helper.is_alive():
                self._wake(len(self._helpers))
                helper.join(0.01)

    def run(self, kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...], work: float) -> bool:
        """``kernel`` for all ``rows``, some ``work`` seconds, unless that is not worth waking anybody: False."""
        began = perf_counter()
        crowded = began < self._crowded_until
        if (crowded and work < LARGE) or self._taken.locked():
            return False
        with self._taken:
            ran = thread_time()
            self._busy = work + (self._busy if began - self._last < LOOKING else 0)
            if self._asleep and (work > 2 * WAKING or self._busy > STREAK):
                self._wake(1 + int(work / WAKING))
            elif len(self._asleep) == len(self._helpers):
                self._last = perf_counter()
                return False
            plan = self._plan(rows, self.threads, SHARE)
            self._from_stop[: len(plan)] = plan
            kernel(-self._address, rows, *arguments)
            _paces[kernel] = pace = min(work, (perf_counter() - began) * self.threads) / rows
            self._last = perf_counter()
            if not crowded:
                took = self._last - began
                self._note(self._last, took, took - (thread_time() - ran) - 2 * SHARE * pace)
            return True


def _forget() -> None:
    global _pool, _making
    _pool, _making = None, threading.Lock()


def _close() -> None:
    global _pool
    pool, _pool = _pool, None
    if pool is not None:
        pool.close()


atexit.register(_close)  # before compiled code goes
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def spread(kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...]) -> None:
    """``kernel(start, stop, *arguments)``, compiled, over all ``rows``: all threads take share after share.

    A thread that the system does not let run takes none, and what it has not begun is not waited for.
    """
    threads = get_threads()
    if threads > 1 and rows >= FEW:
        work = _paces.get(kernel, UNKNOWN) * rows
        turn = _turns[kernel] = _turns.get(kernel, -1) + 1
        alone = _usually(rows, work) < WORTH or (work < LARGE and turn % AGAIN == 1)
        if not alone and (_pool or _make_pool(threads)).run(kernel, rows, arguments, work):
            return
        began = perf_counter()
        kernel(0, rows, *arguments)
        _paces[kernel] = min(RISE * work, perf_counter() - began) / rows
    else:
        kernel(0, rows, *arguments)


def _usually(rows: int, work: float) -> float:
    """Seconds that batches of so many rows take, ``work`` for this one: all of them are shared or none.

    Rows that a helper has worked on are in its cache; the caller alone would have to fetch them back.
    """
    if len(_usual) == _SIZES and rows not in _usual:
        _usual.clear()
    work = min(work, LARGE)
    usual = _usual.get(rows, work)
    _usual[rows] = usual = usual + (work - usual) / 8
    return usual


def _sleep() -> int:
    """Address of the system's function that sleeps for some microseconds, or gives way to another thread."""
    where, name = ("kernel32", "SwitchToThread") if sys.platform == "win32" else (None, "usleep")
    return ctypes.cast(getattr(ctypes.CDLL(where), name), ctypes.c_void_p).value or 0


def _make_pool(threads: int) -> _Pool:
    global _pool
    with _making:
        if _pool is None:
            _pool = _Pool(threads)
        return _pool


@cache
def serving() -> Callable[[int, int, int], None]:
    """``sharing.serve``, compiled, which takes a second where it is not kept yet."""
    from bidzoo.core import linking, sharing

    serve: Callable[[int, int, int], None] = linking.entry(sharing.serve)
    serve(0, 0, 0)
    return serve

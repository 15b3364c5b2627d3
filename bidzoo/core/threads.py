"""Rows of a batch on several cores: one small pool of threads for all kernels.

Kernels release Python's lock, so threads of Python serve, each of which takes the next share of a batch until none is
left. The pool sleeps between batches, is made anew in a forked child, and leaves to the caller a batch that would be
done before the others are awake, by the time that a row of that kernel took last. Results are the same for any number
of threads: a row depends on nothing but itself.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

VARIABLE = "BIDZOO_THREADS"
FEW = 256  # batches of fewer rows are never shared
SHARES = 2  # of a batch, for each thread: the last one to end is waited for
WAKING = 2e-4  # seconds until the others are at work and the caller has heard of their end, on a virtual machine
_ALIGN = 64  # a thread's first row is a multiple: no two threads write to one cache line of a byte a row

_count = 0  # 0: not asked for yet
_pool: ThreadPoolExecutor | None = None
_paces: dict[Callable[..., None], float] = {}  # seconds a row of each kernel, as last measured


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
    _forget()


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Within this context ``set_threads(count)`` holds."""
    before = get_threads()
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


def _forget() -> None:
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def spread(kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...]) -> None:
    """``kernel(start, stop, *arguments)`` over all ``rows``: the caller and other threads take share after share.

    A thread that the system does not let run takes none, and what it has not begun is not waited for.
    """
    threads = get_threads()
    if rows < FEW or threads == 1:
        kernel(0, rows, *arguments)
    elif _paces.get(kernel, 1.0) * rows * (threads - 1) / threads > WAKING:
        _share(kernel, rows, arguments, threads)
    else:
        began = perf_counter()
        kernel(0, rows, *arguments)
        _paces[kernel] = (perf_counter() - began) / rows


def _share(kernel: Callable[..., None], rows: int, arguments: tuple[Any, ...], threads: int) -> None:
    global _pool
    size = -(-rows // (threads * SHARES))
    size += -size % _ALIGN
    starts = iter(range(0, rows, size))  # taking the next one is atomic

    def work() -> None:
        for start in starts:
            stop, began = min(rows, start + size), perf_counter()
            kernel(start, stop, *arguments)
            _paces[kernel] = (perf_counter() - began) / (stop - start)

    pool = _pool  # another thread may forget it meanwhile
    if pool is None:
        pool = _pool = ThreadPoolExecutor(threads - 1, "bidzoo")
    helpers = [pool.submit(work) for _ in range(min(threads - 1, -(-rows // size) - 1))]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():  # it has begun
                helper.result()

"""Rows of a batch on several threads: each is done once, by whoever is free, and no thread outlives its pool."""

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from bidzoo.core import threads
from bidzoo.core.kernels import I64, UNCOMPILED, batched
from bidzoo.core.threads import FEW
from bidzoo.envs.bridge.deals import random_deals

compiled = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled: the caller does all rows")


@batched
def _count_up(start: int, stop: int, done: I64, by: int) -> None:
    for b in range(start, stop):
        done[b] += by


def _forget_paces() -> None:
    threads._paces.clear()
    threads._turns.clear()
    threads._usual.clear()


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = threads.get_threads()
    threads.set_threads(2)
    yield
    threads.set_threads(before)


def digest_of_deals() -> str:
    return hashlib.sha256(random_deals(5, np.arange(5000)).tobytes()).hexdigest()


def test_any_number_of_threads_gives_the_same(two_threads: None) -> None:
    found = []
    for count in (1, 2, 3, 7):
        threads.set_threads(count)
        found.append(digest_of_deals())
    assert len(set(found)) == 1


def test_kernels_in_python_threads(two_threads: None) -> None:
    found, alone = list[str](), digest_of_deals()
    callers = [threading.Thread(target=lambda: found.append(digest_of_deals())) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert found == [alone] * 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_of_a_threaded_parent(two_threads: None) -> None:
    alone = digest_of_deals()  # the pool of threads is up
    child = os.fork()
    if child == 0:
        os._exit(0 if digest_of_deals() == alone else 1)
    until = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.05)
    assert ended == (child, 0)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_a_bad_number_of_threads_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="threads: expected an integer, at least 1"):
        threads.set_threads(bad)  # type: ignore[arg-type]


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIDZOO_THREADS", "many")
    monkeypatch.setattr(threads, "_count", 0)
    with pytest.raises(ValueError, match=r"BIDZOO_THREADS='many': expected a number of threads, at least 1"):
        threads.get_threads()


def test_threads_follow_the_cores_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert 1 <= threads.cores() <= 3


@compiled
@pytest.mark.parametrize("rows", [FEW, FEW + 1, 1000, 4097])
@pytest.mark.parametrize("count", [2, 3, 200])
def test_every_row_is_done_once(rows: int, count: int) -> None:
    """However many threads there are, more than regions included, awake or asleep."""
    done = np.zeros(rows, np.int64)
    with threads.kernel_threads(count):
        for call in range(20):
            _count_up(done, 1)
            if call % 7 == 0:
                time.sleep(2 * threads.LOOKING)
    assert (done == 20).all()


@compiled
def test_each_caller_gets_its_own_rows_done(two_threads: None) -> None:
    """One caller has the helpers, the others go on alone; none takes rows of another."""
    arrays = [np.zeros(2000 + caller, np.int64) for caller in range(5)]

    def call(array: I64) -> None:
        for _ in range(100):
            _count_up(array, len(array))

    callers = [threading.Thread(target=call, args=(array,)) for array in arrays]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert [set(array.tolist()) for array in arrays] == [{100 * len(array)} for array in arrays]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, two_threads: None) -> list[tuple[int, int]]:
    """Shares that ``kernel``, a spy in the place of a compiled kernel, was asked for, with ordinary times of waking."""
    monkeypatch.setattr(threads, "WORTH", 0.2)
    monkeypatch.setattr(threads, "WAKING", 2.0)
    monkeypatch.setattr(threads, "LARGE", 10.0)
    monkeypatch.setattr(threads, "_paces", {})
    monkeypatch.setattr(threads, "_turns", {})
    monkeypatch.setattr(threads, "_usual", {})
    threads._close()
    _count_up(np.zeros(FEW, np.int64), 1)  # the pool is up
    return []


def _spy(calls: list[tuple[int, int]], seconds: float = 0.0) -> Callable[..., None]:
    def kernel(start: int, stop: int) -> None:
        calls.append((start, stop))
        time.sleep(seconds)

    return kernel


@compiled
def test_what_is_done_before_others_wake_is_not_shared(calls: list[tuple[int, int]]) -> None:
    """What a row takes alone decides; a kernel that nobody has seen yet is shared, with the address of the block."""
    rows, alone, shared = 4 * FEW, _spy(calls), _spy(calls, 0.3)

    def kernel(start: int, stop: int) -> None:
        (shared if start < 0 else alone)(start, stop)

    for _ in range(3):
        threads.spread(kernel, rows, ())
    assert [start < 0 for start, _ in calls] == [True, False, False]
    assert {stop for _, stop in calls} == {rows}
    assert threads._paces[kernel] * rows < threads.WORTH


@compiled
def test_an_interruption_of_a_batch_makes_it_no_slower_for_good(calls: list[tuple[int, int]]) -> None:
    """The time that a row took rises by half at most, whatever the system did meanwhile."""
    slow = _spy(calls, 0.05)
    threads._paces[slow] = 1e-8
    threads.spread(slow, 4 * FEW, ())
    assert threads._paces[slow] == pytest.approx(1.5e-8)


@compiled
def test_small_batches_are_left_to_the_caller_while_cores_are_few(calls: list[tuple[int, int]]) -> None:
    kernel, rows, pool = _spy(calls), 4 * FEW, threads._pool
    assert pool is not None
    pool._shared = pool._lost = 0.0
    now, took = time.perf_counter(), threads.WATCHED / 4
    for lost in (0.004, 0, 0, 0, 0, 0):  # once a core was somebody else's for a moment: that is no crowd
        pool._note(now, took, lost)
    assert pool._crowded_until < now
    for _ in range(6):
        pool._note(now, took, 1.5 * took * threads.LOST)
    assert pool._crowded_until == now + threads.CROWDED
    for work, start in ((5.0, 0), (20.0, -pool._address)):
        threads._paces[kernel] = work / rows
        threads.spread(kernel, rows, ())
        assert calls.pop() == (start, rows)
    assert pool._crowded_for == threads.CROWDED
    for wait, wanted in ((0.1, 2), (0.1, 4), (100.0, 1)):  # soon again: twice as long; not so once it was calm
        pool._give_way(pool._crowded_until + wait)
        assert pool._crowded_for == wanted * threads.CROWDED


@compiled
def test_a_helper_that_does_not_run_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps the others from work, as the system does on a busy machine, the caller does all rows."""
    monkeypatch.setattr(threads._Pool, "_help", lambda pool, own: None)
    done = np.zeros(4 * FEW, np.int64)
    with threads.kernel_threads(3):
        _count_up(done, 1)
        _forget_paces()
        _count_up(done, 1)
    assert (done == 2).all()


@compiled
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_helpers_are_waited_for_through_interruptions(calls: list[tuple[int, int]]) -> None:
    """They write into the caller's arrays: a signal is answered when the last one has ended its share."""
    pool, done, heard, ended = threads._pool, np.zeros(4 * FEW, np.int64), list[float](), list[float]()
    assert pool is not None
    gate, ticket = (ctypes.c_int64 * 2).from_address(pool._address), 1
    before, handler = gate[ticket], signal.getsignal(signal.SIGUSR1)

    def end_share() -> None:
        until = time.monotonic() + 60
        while (gate[ticket] == before or gate[0] != 1) and time.monotonic() < until:
            time.sleep(1e-3)  # the caller has come, and all but one have gone
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.02)
        ended.append(time.perf_counter())
        gate[0] = 0

    _forget_paces()  # it is shared
    gate[0] = 1  # as if one were inside
    helper = threading.Thread(target=end_share)
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(time.perf_counter()))
    try:
        helper.start()
        _count_up(done, 1)
        helper.join()
    finally:
        signal.signal(signal.SIGUSR1, handler)
    assert min(heard) >= ended[0]
    assert (done == 1).all() and not pool._taken.locked()


@compiled
def test_no_helper_outlives_its_pool(two_threads: None) -> None:
    threads._close()
    before = threading.active_count()
    for count, wanted in ((2, 1), (5, 4), (1, 4), (3, 2)):  # one thread has no pool of its own
        _forget_paces()
        threads.set_threads(count)
        _count_up(np.zeros(FEW, np.int64), 1)
        assert threading.active_count() == before + wanted
    threads._close()
    assert threading.active_count() == before


@compiled
def test_a_process_that_ends_after_a_batch_ends_well() -> None:
    """Helpers still look for the next batch when the interpreter goes."""
    code = "import numpy as np; from tests.core.test_threads import _count_up as f; x = np.zeros(5000, np.int64)\n"
    code += "for _ in range(50): f(x, 1)\nassert (x == 50).all()"
    env = {**os.environ, threads.VARIABLE: "4", "BIDZOO_COMPILE": "now"}
    command = [sys.executable, "-X", "dev", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr

"""Rows of a batch on several threads: each is done once, whatever happens to callers and helpers."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bidzoo.core import threads
from bidzoo.core.kernels import I64, UNCOMPILED, batched
from bidzoo.core.threads import VARIABLE
from bidzoo.envs.bridge.deals import random_deals

compiled = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled: the caller does all rows")


@batched
def _count_up(start: int, stop: int, done: I64, by: int) -> None:
    for b in range(start, stop):
        done[b] += by


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


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "200000 100000"}, 2),
        ({"cpu.max": "max 100000"}, 64),
        ({"cpu/cpu.cfs_quota_us": "350000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ({"cpu.max": "5000 100000"}, 1),
        ({"cpu.max": "a word"}, 64),
        ({}, 64),
    ],
)
def test_cores_are_those_of_the_control_group(
    files: dict[str, str], cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container with two cores of 64 starts two threads, under version 1 of control groups too."""
    monkeypatch.setattr(threads, "GROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert threads.cores() == cores


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


ROWS = _count_up.kernel.rows  # type: ignore[attr-defined]


@compiled
@pytest.mark.parametrize("rows", [1, ROWS, 2 * ROWS - 1, 2 * ROWS, 1000, 4097])
@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_every_row_is_done_once(rows: int, count: int) -> None:
    done = np.zeros(rows, np.int64)
    with threads.kernel_threads(count):
        for _ in range(50):
            _count_up(done, 1)
    assert (done == 50).all()


def shares_of(rows: int, count: int, least: int) -> list[tuple[int, int]]:
    """The shares in which ``spread`` has ``rows`` done, in order."""
    shares = list[tuple[int, int]]()
    with threads.kernel_threads(count):
        threads.spread(lambda start, stop: shares.append((start, stop)), rows, (), least)
    return sorted(shares)


def test_shares_are_equal_and_not_too_small() -> None:
    assert shares_of(1000, 1, 10) == [(0, 1000)]
    assert shares_of(1000, 2, 10) == [(125 * k, 125 * k + 125) for k in range(8)]  # four a thread
    assert shares_of(1200, 16, 400) == [(100 * k, 100 * k + 100) for k in range(12)]  # for three threads
    assert shares_of(5, 4, 1) == [(k, k + 1) for k in range(5)]
    assert shares_of(1000, 4, 501) == [(0, 1000)]  # for the caller alone
    assert shares_of(0, 4, 10) == [(0, 0)]


@compiled
def test_each_caller_gets_its_own_rows_done(two_threads: None) -> None:
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


def test_a_helper_that_does_not_run_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps the others from work, as the system does on a busy machine, the caller does all shares."""
    monkeypatch.setattr(threads, "_pool", None)
    monkeypatch.setattr(threads._Job, "help", lambda job: None)
    assert len(shares_of(1000, 3, 10)) == 12


def test_what_a_helper_raises_is_raised_for_the_caller(two_threads: None) -> None:
    caller = threading.current_thread()

    def kernel(start: int, stop: int) -> None:
        if threading.current_thread() is not caller:
            raise ZeroDivisionError("of a helper")
        time.sleep(0.2)

    with pytest.raises(ZeroDivisionError, match="of a helper"):
        threads.spread(kernel, 1000, (), 10)
    assert len(shares_of(1000, 2, 10)) == 8  # the pool goes on


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_helpers_are_waited_for_through_signals(two_threads: None) -> None:
    """They write into the caller's arrays: a signal is answered by an exception when the last share has ended."""
    caller, events = threading.current_thread(), list[str]()
    handler = signal.getsignal(signal.SIGUSR1)

    def hear(*_: object) -> None:
        events.append("heard")
        raise InterruptedError("now")

    def kernel(start: int, stop: int) -> None:
        if threading.current_thread() is caller:
            while "begun" not in events:
                time.sleep(1e-3)
            return
        events.append("begun")
        for _ in range(3):
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.05)
        events.append("ended")

    signal.signal(signal.SIGUSR1, hear)
    try:
        with pytest.raises(InterruptedError, match="now"):
            threads.spread(kernel, 1000, (), 10)
    finally:
        signal.signal(signal.SIGUSR1, handler)
    assert events[0] == "begun" and events[-1] == "ended" and events.count("heard") >= 1


INTERRUPTED = """
import random, signal, sys, threading, time
import numpy as np
from bidzoo.core import threads
from tests.core.test_threads import _count_up

interrupts, armed, heard, whole = int(sys.argv[1]), 0, 0, 0
main, rng = threading.main_thread().ident, random.Random(1)

def hear(*_):  # Ctrl-C, as often as it is armed: once or twice a call
    global armed, heard
    if armed:
        armed, heard = armed - 1, heard + 1
        raise KeyboardInterrupt

def interrupt():
    while heard < interrupts:
        time.sleep(rng.random() * 2e-4)
        signal.pthread_kill(main, signal.SIGUSR1)

def call(times):
    global armed
    try:
        armed = times
        _count_up(done, 1)
        armed = 0
    except KeyboardInterrupt:
        armed = 0
        return False
    return True

signal.signal(signal.SIGUSR1, hear)
threads.set_threads(3)
done = np.zeros(20_000, np.int64)
for _ in range(3):  # the first call waits for the compiler, alone
    _count_up(done, 1)
helpers = [thread for thread in threading.enumerate() if thread.name == "bidzoo kernels"]
threading.Thread(target=interrupt, daemon=True).start()
while heard < interrupts:
    before, times = done.copy(), rng.choice((1, 2))
    try:
        ended = call(times)
    except KeyboardInterrupt:
        ended = False
    armed = 0
    if ended:
        whole += 1
        assert (done == before + 1).all(), "a batch without an interrupt left a row out"
    elif times == 1:
        now = done.copy()
        assert ((now == before) | (now == before + 1)).all(), "a row was done twice"
        time.sleep(2e-5)
        assert (done == now).all(), "a helper wrote after the call had ended"
    time.sleep(0 if times == 1 else 1e-3)
assert len(helpers) == 2 and all(thread.is_alive() for thread in helpers)
done[:] = 0
for _ in range(100):
    _count_up(done, 1)
assert (done == 100).all()
print(heard, whole > 0)
"""


@compiled
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupts_at_random_moments_lose_nothing() -> None:
    """``INTERRUPTS=12000`` for as many: no hang, no helper lost, no row done twice, and the process ends."""
    count = os.environ.get("INTERRUPTS", "300")
    words = ["-c", INTERRUPTED, count]
    environment = {**os.environ, "BIDZOO_COMPILE": "now"}
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, timeout=600)
    assert (ended.returncode, ended.stdout) == (0, f"{count} True\n"), ended.stderr


@compiled
def test_a_thread_that_cannot_be_started_is_done_without(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As where a container limits processes: the rows are done, and it is said once."""
    monkeypatch.setattr(threads, "_pool", None)
    monkeypatch.setattr(threads, "_refused", False)
    started = list[threading.Thread]()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    done = np.zeros(4000, np.int64)
    with monkeypatch.context() as patched, threads.kernel_threads(4):
        patched.setattr(threading.Thread, "start", refuse)
        _count_up(done, 1)
        _count_up(done, 1)
    assert (done == 2).all() and threads._pool is not None and threads._pool.size == 1
    threads._pool.close()
    said = capfd.readouterr().err
    assert said == "bidzoo: can't start new thread: kernels run on 2 threads, not on 4\n"


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "bidzoo kernels"]


@compiled
def test_a_pool_of_another_size_takes_the_place_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_pool", None)
    before = {*helpers()}
    for count, wanted in ((2, 1), (5, 4), (1, 4), (3, 2)):  # one thread needs no pool
        with threads.kernel_threads(count):
            _count_up(np.zeros(8000, np.int64), 1)
        until = time.monotonic() + 30
        while len({*helpers()} - before) != wanted and time.monotonic() < until:
            time.sleep(0.01)
        assert len({*helpers()} - before) == wanted
    assert threads._pool is not None
    threads._pool.close()


@compiled
def test_a_process_that_ends_after_a_batch_ends_well() -> None:
    code = "import numpy as np; from tests.core.test_threads import _count_up as f; x = np.zeros(5000, np.int64)\n"
    code += "for _ in range(50): f(x, 1)\nassert (x == 50).all()"
    env = {**os.environ, VARIABLE: "4", "BIDZOO_COMPILE": "now"}
    command = [sys.executable, "-X", "dev", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr

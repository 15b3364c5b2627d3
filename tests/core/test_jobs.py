"""Tasks in processes: order, errors, workers that die, and matches that do not depend on any of it."""

import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import Run, duplicate, play
from bidzoo.core import jobs
from bidzoo.envs.bridge.game import Bridge

ROOT = Path(__file__).parents[2]


def log(folder, number):
    """``number`` squared, with a line for every time it was begun; tasks 3 and 4 die the first time."""
    with open(folder / f"task {number}", "a") as file:
        file.write("begun\n")
    if number in (3, 4) and len((folder / f"task {number}").read_text().split()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def fail(number):
    if number == 2:
        raise ValueError(f"number {number} is bad")
    return number


def test_a_meter_moves_while_a_task_works(tmp_path):
    meter = jobs.Meter(str(tmp_path), {"first": 8, "second": 8})
    assert meter.read() == (0, 16)
    with meter.measure("first"):
        ends = time.process_time() + 2
        while time.process_time() < ends:
            pass
        done, total = meter.read()
        assert 1 <= done <= 2 and 15 <= total <= 17
    done, total = meter.read()  # at this pace the second one takes two seconds
    assert 2 <= done <= 3 and 3 <= total <= 6


def test_a_meter_whose_file_is_open_in_another_process_goes_on(tmp_path, monkeypatch):
    """On Windows it can then neither be replaced nor read."""

    def refuse(path, *more):
        raise PermissionError(13, "Permission denied", str(path))

    meter = jobs.Meter(str(tmp_path), {"first": 8})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        with meter.measure("first"):
            pass
    assert meter.read() == (0, 8)
    with meter.measure("first"):
        pass
    assert meter.read() == (0, 0)
    monkeypatch.setattr(Path, "read_text", refuse)
    assert meter.read() == (0, 8)


def test_files_are_read_and_written_in_utf_8(tmp_path):
    script = "import sys; from bidzoo.core import jobs, threads\nthreads.cores()\n"
    script += "meter = jobs.Meter(sys.argv[1], {'a': 1})\nwith meter.measure('a'): pass\nmeter.read()"
    strict = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    subprocess.run([sys.executable, *strict, "-c", script, str(tmp_path)], check=True)


@pytest.mark.parametrize("problem", [ProcessLookupError, PermissionError, OSError])
def test_workers_that_have_ended_are_no_fault(monkeypatch, problem):
    """To Windows they are processes that may not be killed."""
    killed = []

    def kill(pid, number):
        killed.append(pid)
        raise problem

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(util, "_run_finalizers", lambda priority: None)
    for processes, expected in (({1: None, 2: None}, [1, 2]), (None, [1, 2])):
        monkeypatch.setattr(jobs, "_executor", SimpleNamespace(_processes=processes))
        jobs.kill_workers()
        assert killed == expected


ORPHAN = """
import multiprocessing, os, sys, time
from bidzoo.core import jobs
def work(parent):
    sys.platform, os.getppid = "win32", lambda: parent  # which does not change there
    jobs._end_with(parent)
    print("ready", flush=True)
    time.sleep(20)
    print("still there")
multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),)).start()
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_worker_ends_with_its_parent_on_windows():
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
        assert parent.stdout.read() == ""  # the worker had it open


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_errors_come_through(workers):
    assert list(jobs.run(pow, [(2, k) for k in range(9)], workers)) == [2**k for k in range(9)]
    results = jobs.run(fail, [(k,) for k in range(4)], workers)
    with pytest.raises(ValueError, match="number 2 is bad"):
        list(results)
    assert list(jobs.run(fail, [], workers)) == []


def test_tasks_of_dead_workers_are_run_again(tmp_path):
    found = list(jobs.run(partial(log, tmp_path), [(k,) for k in range(8)], workers=2))
    assert found == [k**2 for k in range(8)]
    assert len((tmp_path / "task 3").read_text().split()) >= 2


def test_workers_may_die_while_tasks_are_handed_out(monkeypatch):
    """The executor refuses the tasks that come after; they are run by the next one."""
    from joblib.externals.loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError

    submit, handed_out = ProcessPoolExecutor.submit, list[int]()

    def refuse_once(self, function, *given):
        handed_out.append(given[-1])
        if len(handed_out) == 3:
            raise TerminatedWorkerError("a worker process was unexpectedly terminated")
        return submit(self, function, *given)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", refuse_once)
    assert list(jobs.run(pow, [(2, k) for k in range(5)], workers=2)) == [2**k for k in range(5)]
    assert handed_out == [0, 1, 2, 2, 3, 4]


def test_joblib_s_own_workers_go_on():
    """Those of ``Parallel`` and scikit-learn in the same process, before and after ours."""
    from joblib import Parallel, delayed

    powers = [2**k for k in range(4)]
    for _ in range(2):
        assert list(jobs.run(pow, [(2, k) for k in range(4)], workers=2)) == powers
        assert Parallel(2)(delayed(pow)(2, k) for k in range(4)) == powers


@pytest.fixture
def hears_ctrl_c():
    """A shell's background job ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_cell_leaves_no_work(hears_ctrl_c):
    """The kernel of a notebook goes on: the next cell does not wait for what the workers were in the middle of."""
    interrupt = threading.Timer(3, partial(os.kill, os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        list(jobs.run(time.sleep, [(600,), (600,)], workers=2))
    interrupt.join()
    assert list(jobs.run(pow, [(2, k) for k in range(4)], workers=2)) == [1, 2, 4, 8]


def test_an_interrupt_while_tasks_are_handed_out_leaves_no_work(monkeypatch, hears_ctrl_c):
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    submit = ProcessPoolExecutor.submit

    def interrupted(self, *given):
        os.kill(os.getpid(), signal.SIGINT)
        return submit(self, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as kept:  # as a notebook does
        patch.setattr(ProcessPoolExecutor, "submit", interrupted)
        list(jobs.run(time.sleep, [(600,)] * 4, workers=2))
    assert list(jobs.run(pow, [(2, k) for k in range(4)], workers=2)) == [1, 2, 4, 8]
    assert kept.traceback


def test_threads_may_ask_for_other_numbers_of_workers():
    def squares(workers):
        return list(jobs.run(pow, [(k, 2) for k in range(6)], workers=workers))

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(squares, [2, 3, 2])) == [[k**2 for k in range(6)]] * 3


def test_a_worker_that_leaves_as_tasks_come_stops_nothing():
    """loky begins another one, and warns in the thread that hears of results: an error there would end it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(jobs.run(pow, [(2, 3), (2, 4)], workers=2)) == [8, 16]
        warnings.warn(
            "A worker stopped while some jobs were given to the executor. This can be caused by a too short worker "
            "timeout or by a memory leak.",
            stacklevel=1,
        )


def test_a_task_that_always_dies_is_named(monkeypatch):
    assert jobs.RETRIES == 3
    monkeypatch.setattr(jobs, "RETRIES", 1)  # every one starts two processes
    with pytest.raises(jobs.WorkersDiedError, match=r"^tests: the workers of tasks \[0, 1\] died 2 times in a row"):
        list(jobs.run(die, [(0,), (1,)], workers=2, what="tests"))


def test_workers_have_what_was_reloaded(tmp_path, monkeypatch):
    """A notebook's module that was edited and loaded again: idle workers have it as it was."""
    monkeypatch.syspath_prepend(tmp_path)
    for value in (1, 22):  # of other lengths: the bytecode that workers write has times of whole seconds, and sizes
        (tmp_path / "edited_task.py").write_text(f"def answer(number):\n    return {value}\n", "utf-8")
        module = importlib.reload(importlib.import_module("edited_task"))
        assert list(jobs.run(module.answer, [(0,), (1,)], workers=2)) == [value, value]
    sys.modules.pop("edited_task")


def test_compiled_rules_of_a_script_cannot_go_to_workers(tmp_path):
    script = tmp_path / "script.py"
    rules = (ROOT / "examples/bidzoo-hint/src/bidzoo_hint/game.py").read_text("utf-8")
    script.write_text(rules + PLAYED, "utf-8")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert "no kernel legal_row in this process: compiled rules of a notebook or of the script" in run.stdout, (
        run.stderr
    )


PLAYED = """
if __name__ == "__main__":
    from bidzoo.benchmarks.match import Run, play
    try:
        play(Hint(size=4), ["random", "random"], range(128), run=Run(workers=2))
    except RuntimeError as problem:
        print(problem)
"""


def test_bad_requests():
    with pytest.raises(ValueError, match="unknown backend 'abacus'; choose from loky, dask"):
        jobs.run(fail, [(0,)], 1, "abacus")
    with pytest.raises(ValueError, match="workers: 0"):
        jobs.run(fail, [(0,)], 0)


def same(a, b):
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)


def test_matches_do_not_depend_on_workers():
    game, boards = Bridge(play=False, deals="test"), np.arange(17, 217)
    ours, theirs = agents.make("sayc"), agents.make("random")
    alone = duplicate(game, ours, theirs, boards, seed=3)
    same(alone, duplicate(game, ours, theirs, boards, seed=3, run=Run(workers=2)))
    assert alone.imps.any() and len(alone.imps) == 200
    small, player = bidzoo.make_game("minibridge_v0"), [agents.make("random")] * 2
    same(play(small, player, np.arange(9000)), play(small, player, np.arange(9000), run=Run(workers=2)))
    assert len(play(small, player, np.arange(0)).reward) == 0


def test_backend_of_the_command_line(monkeypatch):
    monkeypatch.setenv(jobs.VARIABLE, "abacus")
    with pytest.raises(ValueError, match="abacus"):
        jobs.run(fail, [(0,)])
    assert dict(jobs.as_completed(pow, [(2, k) for k in range(4)], 2, "loky")) == {k: 2**k for k in range(4)}


# ---- agents and kernels in other processes -----------------------------------------------


@pytest.mark.parametrize("name", sorted(agents.AGENTS))
def test_every_agent_goes_to_another_process(name):
    assert pickle.loads(pickle.dumps(agents.make(name))).name == agents.make(name).name


def test_the_exact_agent_plays_in_workers():
    game, player = bidzoo.make_game("simple_bidding_v0", size=4), agents.make("exact")
    alone = play(game, [player] * 2, np.arange(300))
    same(alone, play(game, [player] * 2, np.arange(300), run=Run(workers=2)))
    assert alone.reward.mean() > play(game, [agents.make("random")] * 2, np.arange(300)).reward.mean()


def rewards_of(count):
    """Of random play, in batches that are spread over threads."""
    return play(bidzoo.make_game("minibridge_v0"), [agents.make("random")] * 2, np.arange(count)).reward


def put_rewards(queue):
    queue.put(rewards_of(600))


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_forked_children_of_a_parent_with_threads_play_on():
    """While kernels run in several threads of the parent, children are forked: none hangs, all play the same."""
    from bidzoo.core import threads

    before = threads.get_threads()
    threads.set_threads(3)
    try:
        wanted, stop = rewards_of(600), threading.Event()

        def work():
            while not stop.is_set():
                rewards_of(600)

        busy = [threading.Thread(target=work) for _ in range(2)]
        for one in busy:
            one.start()
        fork = multiprocessing.get_context("fork")
        queue = fork.SimpleQueue()
        children = [fork.Process(target=put_rewards, args=(queue,)) for _ in range(4)]
        for child in children:
            child.start()
        for child in children:
            child.join(120)
            child.kill()
        stop.set()
        for one in busy:
            one.join()
        assert [child.exitcode for child in children] == [0] * 4
        for _ in children:
            np.testing.assert_array_equal(queue.get(), wanted)
    finally:
        threads.set_threads(before)

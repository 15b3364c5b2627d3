"""Tasks in processes: order, errors, workers that die, and matches that do not depend on any of it."""

import os
import signal
from functools import partial

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import Run, duplicate, play
from bidzoo.core import jobs
from bidzoo.envs.bridge.game import Bridge


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


def test_a_task_that_always_dies_is_named():
    with pytest.raises(RuntimeError, match=r"tasks \[0, 1\] died 4 times in a row"):
        list(jobs.run(die, [(0,), (1,)], workers=2))


def test_bad_requests():
    with pytest.raises(ValueError, match="unknown backend 'abacus'; choose from loky, ray, dask"):
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

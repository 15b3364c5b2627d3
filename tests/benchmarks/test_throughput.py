"""The tables of speed: who stands in which, and against whom; never how fast."""

import numpy as np
import pytest
from numba import config as numba_config

from bidzoo import make_vec
from bidzoo.agents.policy import choose
from bidzoo.benchmarks import start, throughput
from bidzoo.core.threads import get_threads, set_threads

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")


def test_every_form_has_a_row_and_openspiel_is_one(monkeypatch):
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(throughput, "SIZES", (1, 4))
    games, before = ["mini_hanabi_v0", "bridge_bidding_v0"], get_threads()
    set_threads(2)
    try:
        (every, learner, growth), (bars, curve) = throughput.main(1e-3, 1, games)
        assert get_threads() == 2
    finally:
        set_threads(before)
    for table, forms in ((every, ("batched", "env()", "random asked")), (learner, ("one table", "make_vec"))):
        for game in games:
            rows = [row for row in table.rows if row["game"] == game]
            assert all(any(form in row["form"] for row in rows) for form in forms)
            (spiel,) = [row for row in rows if row["form"].startswith("OpenSpiel")]
            assert spiel["times OpenSpiel"] == 1
            for row in rows:
                assert row["times OpenSpiel"] == row["decisions/CPU s"] / spiel["decisions/CPU s"]
    assert [(row["tables"], row["threads"]) for row in growth.rows] == [(1, 1), (1, 2), (4, 1), (4, 2)]
    assert set(curve.series) == {"1 thread", "2 threads"} and len(bars.x) == len(every.rows)


def test_the_loop_in_c_plays_the_same():
    """Calls, masks, observations and rewards of 300 steps at 64 tables, several boards each."""
    try:
        loop = throughput.ScalarLoop(64, seed=5)
    except OSError:
        pytest.skip("no g++ here")
    batch = make_vec("bridge_bidding_v0", 64)
    batch.reset(seed=5)
    keys, actions, ended = np.arange(64, dtype=np.uint64), np.empty(64, np.int64), 0
    for _ in range(300):
        choose(batch.action_mask, keys, actions)
        batch.step(actions)
        loop.step()
        for ours, theirs in ((batch.action_mask, loop.mask), (batch.reward, loop.reward)):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(batch.observation, loop.observation)
        ended += int(batch.terminated.sum())
    assert ended > 500 and loop() == 16 * 64


def test_decisions_are_those_taken():
    assert throughput.batched("comm_v0", 4)() == 16 * 4
    assert throughput.learner("comm_v0")() == 64
    assert throughput.asked("comm_v0", "random")() == 4  # three bits and a guess
    assert throughput.learners("comm_v0")() == 4 * throughput.TABLES


def test_starting_is_measured_in_processes_of_its_own(monkeypatch):
    monkeypatch.setattr(
        start, "ROWS", (*start.ROWS[:1], ("mini_hanabi_v0", start.ENV.replace("bridge_bidding", "mini_hanabi"), False))
    )
    (table,), figures = start.main(2)
    assert [row["compiled kernels"] for row in table.rows] == ["", "none"] and not figures
    python, game = table.rows
    assert 0 < python["CPU s"] < game["CPU s"] and 1 < python["MB"] < game["MB"]

"""The tables of speed: who stands in which, and against whom; never how fast."""

import pytest
from numba import config as numba_config

from bidzoo.benchmarks import throughput
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


def test_decisions_are_those_taken():
    assert throughput.batched("comm_v0", 4)() == 16 * 4
    assert throughput.learner("comm_v0")() == 64
    assert throughput.asked("comm_v0", "random")() == 4  # three bits and a guess
    assert throughput.learners("comm_v0", 8)() == 4 * 8

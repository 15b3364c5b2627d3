"""``experiments/bridge_search.py``: what is measured is what it says."""

import bridge_search
import numpy as np
import pytest
from bridge_search import compare, loss_table, open_decisions

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs, Deals, Solver
from bidzoo.agents.bridge.evaluator import Evaluator


@pytest.fixture(scope="module")
def found():
    return open_decisions(Bmcs(), 12, 3)


def silent(what, done, total):
    assert 0 < done <= total


def test_open_decisions_are_open_and_of_different_boards(found):
    agent = Bmcs()
    assert agent.hesitates(found.chances).all()
    assert len(np.unique(found.views["board"])) == 12
    assert len(np.unique(found.views["length"])) > 2  # not always the first one
    assert 0.5 < found.a_table < 10


def test_a_judge_that_is_the_solver_loses_nothing(found):
    agent = Bmcs(evaluator=Solver(), r_max=4, r_min=0)
    for i in range(2):
        view = found.views[i : i + 1]
        chosen, exactly, mean = compare(agent, view, found.chances[i], 10 + 2 * i)
        assert chosen == exactly
        assert mean[0] == 0 and np.isfinite(mean).all()
        other = agent.search(view, found.chances[i], 11 + 2 * i)
        np.testing.assert_allclose(mean * len(other.deals.hands), other.gains.sum(0), atol=1e-9)


class Optimist:
    """A judge to whom every contract makes."""

    def chances(self, hands, declarer, strain):
        return np.asarray(np.arange(14) == np.full((len(hands), 1), 13), np.float32)


def test_a_bad_judge_loses(found, monkeypatch):
    monkeypatch.setattr(bridge_search, "Solver", Evaluator)  # quick: with few deals luck decides
    rows = {}
    for name, judge in (("bad", Optimist()), ("exact", Evaluator())):
        table = loss_table(Bmcs(evaluator=judge, r_max=80, r_min=0), found, 1, 1, silent)
        rows[name] = {row[""]: row["value"] for row in table.rows}
    assert rows["exact"]["same call, %"].mean == 100
    assert rows["exact"]["loss by the network, a decision"].mean == 0
    assert rows["bad"]["same call, %"].mean < 100
    assert rows["bad"]["loss by the network, a decision"].mean > 0
    assert rows["bad"]["loss by the network, a board"].mean == pytest.approx(
        rows["bad"]["loss by the network, a decision"].mean * found.a_table
    )


def test_times_are_of_the_settings(found, monkeypatch):
    timed = {"few": ("bmcs-sl", {"r_max": 3}), "exact": ("bmcs", {"r_max": 3, "evaluator": "solver"})}
    monkeypatch.setattr(bridge_search, "TIMED", timed)
    table = bridge_search.time_table(
        {"bmcs": found, "bmcs-sl": open_decisions(agents.make("bmcs-sl"), 12, 3)}, 0, 1, silent
    )
    assert [(row["settings"], row["seconds"].n) for row in table.rows] == [("few", 12), ("exact", 3)]
    assert all(0 < row["played out"] <= 3 <= row["deals sampled"] for row in table.rows)


def test_what_deals_know(found, monkeypatch):
    """Nothing is missed by who sees all; weighed deals know more than deals drawn blindly."""

    class Seer(Bmcs):
        def deals(self, view, key):
            row = int(np.flatnonzero(found.views["board"] == view["board"][0])[0])
            return Deals(np.repeat(found.hands[row : row + 1], 9, axis=0), np.ones(9, np.int64), 9)

    monkeypatch.setattr(bridge_search, "SAMPLED", {"seer": {}})
    monkeypatch.setattr(bridge_search, "Bmcs", Seer)
    (row,) = bridge_search.guess_table(found, 0, silent).rows
    assert row.pop("deals of") == "seer" and row.pop("deals") == 9
    assert all(error.mean == 0 and error.n == 12 for error in row.values()) and len(row) == 4
    monkeypatch.setattr(bridge_search, "Bmcs", Bmcs)
    blind = {"deals": "uniform", "calls": "ignore", "r_max": 300}
    monkeypatch.setattr(bridge_search, "SAMPLED", {"blind": blind, "weighed": {"calls": "weigh", "r_max": 300}})
    blind, weighed = bridge_search.guess_table(found, 0, silent).rows
    assert weighed["partner's points"].mean < 0.8 * blind["partner's points"].mean
    assert weighed["opponents' lengths"].mean < blind["opponents' lengths"].mean


def test_points_and_lengths():
    south = sum(1 << card for card in (51, 47, 0, 4, 8, 12, 16, 20, 24, 28, 32, 1, 2))  # A and K of one suit
    told = bridge_search.points_and_lengths(np.array([[0, 0, south, 0]]), 0)[0, 0]
    assert told.tolist() == [4 + 3, 9, 1, 1, 2]


def test_too_few_open_boards_are_named():
    agent = Bmcs(max_actions=1)
    with pytest.raises(ValueError, match="0 boards have an open decision, expected 4"):
        open_decisions(agent, 4, 0)

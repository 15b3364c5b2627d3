"""``experiments/value_slope.py``: the line, its error, and what is compared."""

import numpy as np
import pytest

pytest.importorskip("torch")

import value_slope

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.rpi import Options
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.benchmarks import results
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps


def samples(rng, deals=400, a_deal=3, slope=0.7):
    """Gains of which those of one deal have noise in common."""
    deal = np.repeat(np.arange(deals), a_deal)
    predicted = rng.uniform(-1, 0, len(deal))
    realized = 0.1 + slope * predicted + rng.normal(0, 1, deals)[deal] + rng.normal(0, 1, len(deal))
    return value_slope.Gains(predicted, realized, deal)


def test_the_line_is_that_of_least_squares_and_its_error_counts_deals():
    rng = np.random.default_rng(0)
    of = samples(rng)
    line = value_slope.line(of, 400)
    np.testing.assert_allclose((line.slope, line.intercept), np.polyfit(of.predicted, of.realized, 1))
    assert line.influence.sum() == pytest.approx(0, abs=1e-9)
    drawn = []
    for _ in range(300):
        again = value_slope.line(samples(rng), 400)
        drawn.append((again.slope, value_slope.slope_estimate(again.slope, again.influence, 400).error))
    slopes, errors = np.array(drawn).T
    assert slopes.mean() == pytest.approx(0.7, abs=0.04)
    assert errors.mean() == pytest.approx(slopes.std(), rel=0.15)


@pytest.mark.parametrize("opponent", [None, Sayc()])
def test_gains_are_what_calls_lead_to_on_the_same_deal(opponent):
    agent, boards = network.packaged_network("sl").at_temperature(2), np.arange(40)
    game, options = Bridge(False, deals="validation"), Options(unit=0.5)
    found = value_slope.gains(agent, opponent, game, boards, 3, options)
    drawing, likeliest = (
        selfplay.actor_of(network.module_of(agent), agent.architecture, greedy=greedy) for greedy in (False, True)
    )
    sides = np.full(40, selfplay.BOTH) if opponent is None else boards // 4 % 2
    _, decisions = selfplay.play(game, boards, 3, drawing, opponent or drawing, sides, 0)
    chances, expected = np.exp(decisions.log_chances), []
    for row, chance in enumerate(chances):
        calls = np.argsort(-chance, kind="stable")[: max(1, min(5, int((chance >= 0.02).sum())))]
        here = decisions.select(np.array([row]))
        points = [
            selfplay.finish(
                game, here.states, np.zeros(1, int), call[None], likeliest, opponent or likeliest, sides[here.board]
            ).points[0]
            for call in calls
        ]
        won = here.sign[0] * imps(np.array(points) - points[0])
        deal = game.deal_numbers(boards, 3)[here.board[0]]
        values = 0.5 * np.log(chance[calls])
        expected += [(value - values[0], gain, deal) for value, gain in zip(values[1:], won[1:])]
    assert len(expected) > 40
    predicted, realized, deal = np.array(expected).T
    np.testing.assert_allclose(found.predicted, predicted, atol=1e-5)
    np.testing.assert_array_equal(found.realized, realized)
    np.testing.assert_array_equal(found.deal, deal)


def test_agents_are_compared_with_the_first(tmp_path):
    path = tmp_path / "slope.json"
    value_slope.main(["rpi", "rpi"], opponent=["itself", "sayc"], boards=40, json=path)
    (table,) = results.load(path)["tables"]
    assert [row["opponent"] for row in table.rows] == ["itself", "itself", "sayc", "sayc"]
    for first, second in (table.rows[:2], table.rows[2:]):
        assert second["slope"] == first["slope"] and first["calls"] == second["calls"] > 20
        assert second["slope less that of rpi"].mean == 0 and second["slope less that of rpi"].error == 0

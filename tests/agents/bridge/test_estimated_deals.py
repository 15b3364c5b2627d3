"""Estimated deals: whole, reproducible, and distributed as the evaluator says."""

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo.agents.bridge import evaluator
from bidzoo.agents.bridge.evaluator import Evaluator, estimated_deals, sample_tricks
from bidzoo.cli.main import app
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.deals import DealSet, packaged, random_deals


class Known:
    """Chances that are easy to check: 3 or 10 tricks for N/S, 10 for E/W."""

    def chances(self, hands, declarer, strain):
        out = np.zeros((len(hands), 14), np.float32)
        out[:, 3] = np.where(declarer % 2 == 0, 0.25, 0)
        out[:, 10] = 1 - out[:, 3]
        return out


def test_tricks_are_drawn_with_their_chances_and_go_together():
    hands = random_deals(0, np.arange(8000))
    table = sample_tricks(Known(), hands, Streams.at(1, np.arange(8000))).reshape(-1, 4, 5)
    north, east, south, west = table.transpose(1, 0, 2)
    np.testing.assert_array_equal(north, south)  # the same chances and the same luck
    assert (east == 10).all() and (west == 10).all()
    assert set(np.unique(north)) == {3, 10}
    np.testing.assert_allclose((north == 3).mean(0), 0.25, atol=5 * (0.25 * 0.75 / 8000) ** 0.5)
    assert abs(np.corrcoef(north[:, 0], north[:, 4])[0, 1]) < 0.06  # strains are drawn apart


def test_a_deal_does_not_depend_on_the_number():
    few, more = (estimated_deals(Known(), 5, count) for count in (3, 40))
    np.testing.assert_array_equal(few.hands, more.hands[:3])
    np.testing.assert_array_equal(few.tricks, more.tricks[:3])
    np.testing.assert_array_equal(more.hands, random_deals(5, np.arange(40)))


def test_a_stopped_run_goes_on_and_makes_the_same_deals(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluator, "_CHUNK", 4)
    journal, seen = tmp_path / "deals.npz.journal", []

    def stop(done):
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimated_deals(Evaluator(), 5, 20, stop, journal)
    stopped = estimated_deals(Evaluator(), 5, 20, seen.append, journal)
    assert seen[0] == 8
    np.testing.assert_array_equal(stopped.tricks, estimated_deals(Evaluator(), 5, 20).tricks)
    with pytest.raises(ValueError, match="header"):
        estimated_deals(Evaluator(), 6, 20, journal=journal)


def test_on_average_the_packaged_network_draws_what_the_solver_finds():
    hands, tricks = (array[:400].copy() for array in packaged("test"))
    drawn = sample_tricks(Evaluator(), hands, Streams.at(2, np.arange(400)))
    difference = drawn.astype(float) - tricks
    assert abs(difference.mean()) < 0.15
    assert (np.abs(difference) <= 1).mean() > 0.8


def test_command_writes_a_file_that_says_what_it_is(tmp_path):
    out = tmp_path / "estimated.npz"
    result = CliRunner().invoke(app, ["deals", "estimate", "20", "--seed", "9", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "drawn, not solved" in result.output
    assert DealSet.load(out).solved == 20 and [*tmp_path.iterdir()] == [out]

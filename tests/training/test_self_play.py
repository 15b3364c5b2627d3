"""Self-play by hand of docs/training: signs of the advantages, and a run of some seconds."""

import numpy as np
import pytest

from bidzoo.benchmarks import results

pytest.importorskip("torch")


def test_advantages_change_sign_with_the_side(script):
    """Three turns of sides 0, 1, 0, then the next auction: with lambda 1 each sees the reward of its own side."""
    side, over = np.array([[0], [1], [0], [1]]), np.array([[False], [False], [True], [False]])
    value = np.array([[0.5], [0.25], [-0.5], [0.125]])
    reward = np.array([[0.0], [0.0], [1.0], [0.0]])
    found = script("self_play").gae(reward, value, over, side, np.array([2.0]), np.array([0]), lam=1.0)
    assert found[:, 0].tolist() == [1 - 0.5, -1 - 0.25, 1 + 0.5, -2 - 0.125]


def test_partners_keep_the_sign(script):
    side, over, zero = np.array([[0], [0]]), np.array([[False], [True]]), np.zeros((2, 1))
    found = script("self_play").gae(np.array([[0.0], [3.0]]), zero, over, side, np.array([9.0]), np.array([1]), lam=1.0)
    assert found[:, 0].tolist() == [3, 3]


def test_it_learns_to_bid(script):
    """It begins by passing; ``random`` bids 7NT, so who passes beats it, and bidding must beat who passes."""
    file, measured = script("self_play"), []
    policy = file.train(updates=200, measure=lambda update, policy: measured.append(update))  # to 100 some still pass
    assert measured == list(range(1, 201))
    assert file.strength(policy, "pass", boards=400).mean > 0
    assert file.strength(policy, "random", boards=100).mean > 10


def test_the_script_shows_and_keeps_its_curve(script, tmp_path, capsys):
    script("self_play").main(tmp_path, updates=2, rounds=1, boards=20)
    (table,) = results.load(tmp_path / "self-play.json")["tables"]
    assert len(table.rows) == 1 and "over sayc" in capsys.readouterr().out


def test_a_seed_gives_one_policy(script):
    file = script("self_play")
    again = file.train(updates=2, tables=16, turns=4), file.train(updates=2, tables=16, turns=4)
    assert len({file.strength(player, "sayc", boards=20).mean for player in again}) == 1

"""The one-file PPO of docs/training."""

import dataclasses

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import play

torch = pytest.importorskip("torch")
RANDOM = agents.make("random")


def test_it_learns_minibridge(script):
    """Random play is worth -0.60, the optimum 9/8."""
    file = script("ppo_batched")
    policy = file.train("minibridge_v0", file.Config(updates=12), size=3)
    boards = np.arange(4000)
    ours, theirs = (play(policy.game, (p, p), boards, seed=9).reward[:, 0].mean() for p in (policy, RANDOM))
    assert ours > theirs + 1.0


def test_advantages_change_sign_with_the_side(script):
    """Three turns of sides 0, 1, 0: with lambda 1 each sees the final reward of its own side less its own value."""
    file = script("ppo_batched")
    config = dataclasses.replace(file.Config(), tables=1, turns=4, gae_lambda=1.0)
    kept = {
        "side": torch.tensor([[0], [1], [0], [1]]),
        "value": torch.tensor([[0.5], [0.25], [-0.5], [0.125]]),
        "reward": torch.tensor([[0.0], [0.0], [1.0], [0.0]]),
        "over": torch.tensor([[False], [False], [True], [False]]),
    }
    found = file.advantages(kept, torch.tensor([2.0]), np.array([0]), config)
    assert found[:, 0].tolist() == [1 - 0.5, -1 - 0.25, 1 + 0.5, -2 - 0.125]


def test_it_takes_games_of_two_sides(script):
    file = script("ppo_batched")
    policy = file.train("bridge_bidding_v0", file.Config(updates=2, tables=32, turns=8, hidden=16))
    played = play(bidzoo.make_game("bridge_bidding_v0"), (policy, RANDOM) * 2, np.arange(20))
    assert (played.reward.sum(1) == 0).all()

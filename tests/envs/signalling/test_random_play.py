"""Deals and a policy with the same seed are independent: random play is worth what it is worth exactly."""

import numpy as np
import pytest

from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform
from bidzoo.registry import make_game


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("env_id", ["comm_v0", "mini_hanabi_v0", "simple_bidding_v0", "minibridge_v0"])
def test_random_play_has_its_exact_value(env_id, seed):
    game = make_game(env_id)
    compiled = compile_game(game)
    episodes = play(game, [Uniform()] * 2, np.arange(20_000), seed, policy_seed=seed)
    played = Estimate.of(episodes.reward[:, 0], group=episodes.boards)
    assert abs(played.mean - evaluate(compiled, uniform(compiled))) < 4 * played.error

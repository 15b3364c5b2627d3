"""A partner drawn by board: who it is stands in the info, and in the observation only where that is asked for."""

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo.wrappers.gymnasium import SingleAgent, seat_policies

NAMES = ["expert-sayc", "expert-21gf", "pass"]


def test_every_board_draws_a_partner():
    env = gymnasium.make("bidzoo/BridgeBidding-v0", partner=NAMES, opponents="sayc")
    drawn = []
    for board in range(30):
        observation, info = env.reset(seed=3 if board == 0 else None)
        assert observation in env.observation_space and observation.shape == (480,)
        drawn.append(info["partner"])
        over = False
        while not over:
            observation, _, over, _, info = env.step(0)
            assert info["partner"] == drawn[-1]
    assert set(drawn) == set(NAMES)
    for board in (7, 2):
        assert env.reset(seed=3, options={"board": board})[1]["partner"] == drawn[board]


def test_environments_that_share_their_policies_draw_alone():
    game = bidzoo.make_game("bridge_bidding_v0")
    policies = seat_policies(game, 0, opponents="pass", partner=["sayc", "pass"], partner_told="name")
    one, other = SingleAgent(game, policies), SingleAgent(game, policies)
    drawn = [one.reset(seed=1, options={"board": board})[1]["partner"] for board in range(12)]
    for board in range(12):
        one.reset(seed=1, options={"board": board})
        other.reset(seed=2)
        assert one.step(0)[-1]["partner"] == drawn[board]


def test_a_vector_draws_the_same_and_may_tell():
    env = gymnasium.make("bidzoo/BridgeBidding-v0", partner=NAMES, opponents="sayc", partner_told="name")
    vector = gymnasium.make_vec("bidzoo/BridgeBidding-v0", 8, partner=NAMES, opponents="sayc", partner_told="name")
    observations, infos = vector.reset(seed=3)
    assert observations.shape == (8, 483) and observations in vector.observation_space
    for board in range(8):
        observation, info = env.reset(seed=3, options={"board": board})
        assert info["partner"] == infos["partner"][board]
        assert (observation == observations[board]).all()
        assert observation[480:].tolist() == [int(name == info["partner"]) for name in NAMES]
    boards = vector.unwrapped.batch.boards
    while (vector.unwrapped.batch.boards == boards).any():
        before = infos["partner"]
        observations, _, ended, _, infos = vector.step(np.zeros(8, np.int64))
        for b in np.flatnonzero(ended):
            assert infos["final_obs"][b][480:].tolist() == [int(name == before[b]) for name in NAMES]
    assert observations.shape == (8, 483)


def test_a_partner_may_show_its_convention_card():
    env = gymnasium.make("bidzoo/BridgeBidding-v0", partner=NAMES, opponents="sayc", partner_told="card")
    cards = {"expert-sayc": [1, 0, 0, 0], "expert-21gf": [0, 1, 0, 0], "pass": [0, 0, 0, 0]}
    for board in range(10):
        observation, info = env.reset(seed=3, options={"board": board})
        assert observation in env.observation_space and observation[480:].tolist() == cards[info["partner"]]
    with pytest.raises(ValueError, match="partner_told 'cards'"):
        gymnasium.make("bidzoo/BridgeBidding-v0", partner=NAMES, partner_told="cards")


def test_one_partner_is_not_named():
    env = gymnasium.make("bidzoo/MiniBridge-v0", partner="cfr")
    assert "partner" not in env.reset(seed=0)[1]
    for told in ("name", "crad"):
        with pytest.raises(ValueError, match=f"partner_told '{told}' tells partners apart: expected a list of them"):
            gymnasium.make("bidzoo/MiniBridge-v0", partner="cfr", partner_told=told)


def test_an_empty_list_of_partners_is_refused():
    with pytest.raises(ValueError, match="at least one policy"):
        gymnasium.make("bidzoo/MiniBridge-v0", partner=[])

"""Seats are what they are to the one who calls: turned around the table, an auction gets the same calls."""

import numpy as np
import pytest

from bidzoo import agents, make_vec
from bidzoo.core.kernels import States
from bidzoo.core.streams import Streams

TURNS = 16
RANDOM = {"random", "bmcs", "bmcs-sl", "rpi-bmcs", "bmcs-weighted", "rl-mcs", "pi-search"}  # hidden cards, seat by seat
BIDDERS = [name for name, found in agents.AGENTS.items() if "bridge_bidding_v0" in found.games and name not in RANDOM]


def turned(views: States, by: int) -> States:
    """``views`` with every seat ``by`` places further, and the sides' vulnerability with them."""
    out = views.copy()
    for field in ("seat", "turn", "dealer", "bidder"):
        out[field] = np.where(views[field] >= 0, (views[field] + by) % 4, views[field])
    if by % 2:
        out["vulnerable"] = views["vulnerable"] >> 1 | (views["vulnerable"] & 1) << 1
    return out


@pytest.mark.parametrize("name", BIDDERS)
def test_turned_seats_get_the_same_calls(name: str) -> None:
    policy, sayc = agents.make(name), agents.make("sayc")
    batch = make_vec("bridge_bidding_v0", num_envs=8000 if name == "sayc" else 200)
    batch.reset(seed=20261129)
    rng = Streams.at(0, np.arange(batch.num_envs))
    for turn in range(TURNS):
        views, legal = batch.views(), batch.action_mask
        calls = policy.act(views, legal, rng)
        np.testing.assert_array_equal(policy.act(turned(views, 1 + turn % 3), legal, rng), calls)
        batch.step(sayc.act(views, legal, rng))

"""Seats are what they are to the one who acts: turned around the table, a round gets the same bids and cards."""

import numpy as np
import pytest

from bidzoo import agents, make_vec
from bidzoo.core.kernels import States
from bidzoo.core.streams import Streams

RANDOM = {"random", "uct", "learned-search"}  # draw the hidden cards seat by seat
PLAYERS = [name for name, found in agents.AGENTS.items() if "spades_v0" in found.games and name not in RANDOM]
SEATS = ("seat", "turn", "dealer", "leader", "taker")
BY_SEAT = ("last_bids", "last_won", "bids", "won", "voids")
BITS = ("last_blind", "blind", "looked")  # a bit of each seat


def turned(views: States, by: int) -> States:
    """``views`` with every seat ``by`` places further, and what its side and its bits say with it."""
    out = views.copy()
    for field in SEATS:
        out[field] = np.where(views[field] >= 0, (views[field] + by) % 4, views[field])
    out["players"] = (views["players"] + by) % 4
    for field in BY_SEAT:
        out[field] = np.roll(views[field], by, axis=1)
    for field in BITS:
        out[field] = (views[field] << by | views[field] >> (4 - by)) & 15
    sides = int(views["sides"][0])
    for field in ("scores", "bags", "gains"):
        out[field][:, :sides] = np.roll(views[field][:, :sides], by, axis=1)
    return out


@pytest.mark.parametrize("variant", ["partnership", "cutthroat"])
@pytest.mark.parametrize("name", PLAYERS)
def test_turned_seats_get_the_same_actions(name: str, variant: str) -> None:
    policy = agents.make(name)
    batch = make_vec("spades_v0", num_envs=300, variant=variant)
    batch.reset(seed=20261129)
    rng = Streams.at(0, np.arange(batch.num_envs))
    for turn in range(130):  # two rounds
        views, legal = batch.views(), batch.action_mask
        actions = policy.act(views, legal, rng)
        np.testing.assert_array_equal(policy.act(turned(views, 1 + turn % 3), legal, rng), actions)
        batch.step(actions)

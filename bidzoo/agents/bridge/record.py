"""Auctions of a policy with itself on random deals, as data to learn from: no double-dummy table is needed."""

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.envs.bridge.files.auctions import Auctions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS
from bidzoo.kernels import Tables
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.seating import Seating

_CHUNK = 8192  # boards at a time; bounds memory, changes no result


def record(policy: Policy, count: int, seed: int = 0) -> Auctions:
    """``count`` auctions of ``policy`` in all four seats; dealer and vulnerability by board number (Law 2)."""
    game = Bridge(play=True)  # random cards; only its auctions are played
    seating = Seating([policy] * 4, seed)
    parts = [_boards(game, seating, seed, at, min(at + _CHUNK, count)) for at in range(0, count, _CHUNK)]
    tables = np.concatenate(parts)
    length = tables["length"].astype(np.int64)
    calls = tables["calls"][np.arange(MAX_CALLS) < length[:, None]]
    return Auctions.of(tables["hands"], tables["dealer"], tables["vulnerable"], length, calls, policy.name)


def _boards(game: Bridge, seating: Seating, seed: int, first: int, end: int) -> Tables:
    """Tables of boards ``first ... end - 1`` after their auctions."""
    batch = Batch(game, end - first, autoreset=False)
    batch.reset(seed, np.arange(first, end))
    while (bidding := batch.tables["phase"] == AUCTION).any():
        batch.step(seating.choose(batch, bidding))
    return batch.tables[["hands", "dealer", "vulnerable", "length", "calls"]].copy()

"""``bidzoo train record``: auctions of policies on random deals, without double-dummy results."""

from collections.abc import Sequence

import numpy as np

from bidzoo.agents.policy import Policy, Pool
from bidzoo.benchmarks.results import Report, silent
from bidzoo.core.kernels import States
from bidzoo.envs.bridge.formats.auctions import Auctions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS
from bidzoo.wrappers.batch import Batch, Seating

_CHUNK = 8192  # boards at a time; bounds memory, changes no result


def record(
    policy: Policy, count: int, seed: int = 0, opponents: Sequence[Policy] = (), report: Report = silent
) -> Auctions:
    """``count`` auctions of ``policy`` in all four seats; dealer and vulnerability by board number (Law 2).

    With ``opponents`` it plays N/S alone, and each board draws one of them for E/W. ``report`` hears of boards.
    """
    game = Bridge(play=True)  # random cards; only its auctions are played
    seating = Seating([policy, Pool(opponents, seed) if opponents else policy] * 2, seed)
    parts = []
    for start in range(0, count, _CHUNK):
        report("boards", start, count)
        parts.append(_boards(game, seating, seed, start, min(start + _CHUNK, count)))
    states = np.concatenate(parts)
    length = states["length"].astype(np.int64)
    calls = states["calls"][np.arange(MAX_CALLS) < length[:, None]]
    return Auctions.of(states["hands"], states["dealer"], states["vulnerable"], length, calls, policy.name)


def _boards(game: Bridge, seating: Seating, seed: int, first: int, end: int) -> States:
    """Tables of boards ``first ... end - 1`` after their auctions."""
    batch = Batch(game, end - first, autoreset=False)
    batch.reset(seed, np.arange(first, end))
    while (bidding := batch.states["phase"] == AUCTION).any():
        batch.step(seating.choose(batch, bidding))
    return batch.states[["hands", "dealer", "vulnerable", "length", "calls"]].copy()

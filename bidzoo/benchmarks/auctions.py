"""``bidzoo train record``: auctions of policies on random deals, without double-dummy results."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bidzoo.agents.policy import Policy, Pool
from bidzoo.benchmarks.match import digests, slow
from bidzoo.benchmarks.results import Report, silent
from bidzoo.core.kernels import U8, States
from bidzoo.core.storage import journaled
from bidzoo.envs.bridge.formats.auctions import Auctions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS, STATE
from bidzoo.wrappers.batch import Batch, Seating

_CHUNK, _SLOW = 8192, 16  # boards at a time, of policies that search; changes no result
KEPT = np.dtype([(name, STATE[name]) for name in ("hands", "dealer", "vulnerable", "length", "calls")])


def record(
    policy: Policy,
    count: int,
    seed: int = 0,
    opponents: Sequence[Policy] = (),
    report: Report = silent,
    journal: Path | None = None,
) -> Auctions:
    """``count`` auctions of ``policy`` in all four seats; dealer and vulnerability by board number (Law 2).

    With ``opponents`` it plays N/S alone, and each board draws one of them for E/W. ``report`` hears of boards. Killed
    at any moment, the same call goes on from the file ``journal``.
    """
    game = Bridge(play=True)  # random cards; only its auctions are played
    seating = Seating([policy, Pool(opponents, seed) if opponents else policy] * 2, seed)
    chunk = _SLOW if slow([policy, *opponents]) else _CHUNK

    def rest(done: int) -> Iterator[U8]:
        for start in range(done, count, chunk):
            boards = _boards(game, seating, seed, start, min(start + chunk, count))
            yield boards.view(np.uint8).reshape(len(boards), -1)

    players = [*map(digests, (policy, *opponents))] if journal else []
    header = {"bidzoo": "auctions on random boards", "format": 1, "seed": seed, "policies": players}
    packed = journaled(journal, header, KEPT.itemsize, count, rest, lambda done: report("boards", done, count))
    states = packed.view(KEPT)[:, 0]
    length = states["length"].astype(np.int64)
    calls = states["calls"][np.arange(MAX_CALLS) < length[:, None]]
    return Auctions.of(states["hands"], states["dealer"], states["vulnerable"], length, calls, policy.name)


def _boards(game: Bridge, seating: Seating, seed: int, first: int, end: int) -> States:
    """Tables of boards ``first ... end - 1`` after their auctions."""
    batch = Batch(game, end - first, autoreset=False)
    batch.reset(seed, np.arange(first, end))
    while (bidding := batch.states["phase"] == AUCTION).any():
        batch.step(seating.choose(batch, bidding))
    return batch.states[list(KEPT.names or ())].astype(KEPT)

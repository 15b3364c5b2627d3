"""How good the contracts of four of the same agent are, double dummy, beside what the cards allow."""

from typing import Any

import numpy as np

from bidzoo.benchmarks.bridge_boards import Boards, Contracts
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.bridge.par import par
from bidzoo.kernels import Bool, Tables

GAME_LEVEL = np.array([5, 5, 4, 4, 3])  # of each strain
QUALITY_NOTE = (
    "Double dummy. IMPs off par: between the score and the deal's par, either way. Games that are there: just one side"
    " can make a game, how often it is in one"
)


def makeable_games(boards: Boards) -> Bool:
    """Sides that can make a game double dummy ``[N, 2]`` (N/S, E/W)."""
    tricks = boards.tricks.reshape(-1, 2, 2, 5).max(1)  # better declarer of each side
    return (tricks >= GAME_LEVEL + 6).any(2)


def is_game(contracts: Contracts) -> Bool:
    """Contracts worth a game or more, doubling aside ``[N]``."""
    return (contracts.bid >= 0) & (contracts.bid // 5 + 1 >= GAME_LEVEL[contracts.bid % 5])


def quality_row(boards: Boards, name: str, tables: Tables) -> dict[str, Any]:
    """Where four of the agent ``name`` ended up, at the final ``tables`` ``[N]``."""
    contracts = Contracts.of(tables)
    length, dealer, vulnerable = (tables[field].astype(np.int64) for field in ("length", "dealer", "vulnerable"))
    makeable, game, made = makeable_games(boards), is_game(contracts), boards.made(contracts)
    side = np.stack([contracts.declarer % 2 == 0, contracts.declarer % 2 == 1], axis=1) & (contracts.bid >= 0)[:, None]
    bid = (game[:, None] & side)[makeable & ~makeable[:, ::-1]]
    played = contracts.bid >= 0
    distance = np.abs(imps(boards.points(contracts) - par(boards.tricks, dealer, vulnerable)).astype(np.int64))

    def share(of: Bool, among: Bool) -> float | None:
        return 100 * float(of[among].mean()) if among.any() else None

    everywhere = np.ones(len(played), np.bool_)
    return {
        "agent": name,
        "IMPs off par": boards.estimate(distance),
        "calls": float(length.mean()),
        "passed out %": share(~played, everywhere),
        "game %": share(game, everywhere),
        "slam %": share(contracts.bid >= 25, everywhere),
        "doubled %": share(contracts.stake > 1, played),
        "makes %": share(made, played),
        "games that are there, bid %": share(bid, np.ones(len(bid), np.bool_)),
        "games bid, make %": share(made, game),
        "slams bid, make %": share(made, contracts.bid >= 25),
    }

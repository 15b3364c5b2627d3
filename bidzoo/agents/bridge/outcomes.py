"""What contracts are worth when tricks are known by their chances: from an exact solver, or from a network.

A judge gives the chance of 0 ... 13 tricks for a deal, declarer and strain. The solver's is all on one number; the
network's spreads, and scores and IMPs are then expectations over it.
"""

from typing import Protocol

import numpy as np

from bidzoo.envs.bridge.imps import imps_row
from bidzoo.envs.bridge.score import north_south_row
from bidzoo.envs.bridge.solving.generate import solve_contracts
from bidzoo.kernels import F32, F64, I64, Tables, batched, prange, row

TRICKS = 14  # 0 ... 13
NEGLIGIBLE = 1e-4  # chance


class Judge(Protocol):
    """Chances of tricks."""

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Chance ``[n, 14]`` that ``declarer`` ``[n]`` takes 0 ... 13 tricks in ``strain`` ``[n]`` of ``hands``."""
        ...


class Solver:
    """The exact judge: endplay's double-dummy solver, one contract after the other."""

    def __init__(self, workers: int = 1) -> None:
        """``workers``: processes that solve; they change no result."""
        self.workers = workers

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """1 at the double-dummy tricks, 0 elsewhere: ``[n, 14]``; about 0.02 s each and core."""
        tricks = solve_contracts(hands, declarer, strain, self.workers)
        return np.asarray(np.arange(TRICKS) == tricks[:, None], np.float32)


# ---- contracts reached -------------------------------------------------------------------


@row
def gain_row(contract: I64, other: I64, chance: F32, chance_other: F32, vulnerable: int, in_imps: bool) -> float:
    """Expected N/S gain of ``contract`` over ``other`` (bid, stake, declarer, cell each), IMPs or points.

    In one cell (deal, declarer, strain) both take the same tricks; in two, the tricks count as independent.
    """
    total = 0.0
    same = contract[3] == other[3]
    for t in range(TRICKS):
        if chance[t] < NEGLIGIBLE:
            continue
        mine = north_south_row(contract[0], contract[1], contract[2], vulnerable, t)
        for u in range(TRICKS):
            if same and u != t:
                continue
            weight = chance[t] if same else chance[t] * chance_other[u]
            if weight < NEGLIGIBLE * NEGLIGIBLE:
                continue
            difference = mine - north_south_row(other[0], other[1], other[2], vulnerable, u)
            total += weight * (imps_row(difference) if in_imps else difference)
    return total


@batched
def _gains(contracts: I64, chances: F32, vulnerable: int, in_imps: bool, out: F64) -> None:
    for d in prange(len(contracts)):
        other = contracts[d, 0]
        for k in range(1, contracts.shape[1]):
            mine = contracts[d, k]
            if mine[0] == other[0] and mine[1] == other[1] and mine[2] == other[2]:
                continue
            out[d, k] = gain_row(mine, other, chances[mine[3]], chances[other[3]], vulnerable, in_imps)


def gains(judge: Judge, hands: I64, ended: Tables, vulnerable: int, in_imps: bool) -> tuple[F64, int]:
    """Expected N/S gain ``[D, K]`` of the contract each of ``K`` calls led to over that of the first, and cells judged.

    Only deals whose contracts differ are judged, each (deal, declarer, strain) once.

    Args:
        judge: of tricks.
        hands: deals ``[D, 4]``.
        ended: tables ``[D * K]`` after the auction, deal by deal.
        vulnerable: bit 0 N/S, bit 1 E/W.
        in_imps: IMPs of the difference, else points.
    """
    deals, calls = len(hands), len(ended) // len(hands)
    bid, stake, declarer = (ended[name].astype(np.int64).reshape(deals, calls) for name in ("bid", "stake", "declarer"))
    bid, stake = np.where(declarer < 0, -1, bid), np.where(declarer < 0, 1, stake)
    differ = ((bid != bid[:, :1]) | (stake != stake[:, :1]) | (declarer != declarer[:, :1])).any(1)
    cell = 20 * np.arange(deals)[:, None] + 5 * declarer + bid % 5
    asked, place = np.unique(cell[differ[:, None] & (declarer >= 0)], return_inverse=True)
    chances = np.zeros((len(asked) + 1, TRICKS), np.float32)
    chances[-1, 0] = 1  # passed out: one outcome, 0 points whatever the tricks
    if len(asked):
        chances[:-1] = judge.chances(hands[asked // 20], asked % 20 // 5, asked % 5)
    index = np.full((deals, calls), len(asked), np.int64)
    index[differ[:, None] & (declarer >= 0)] = place
    out = np.zeros((deals, calls))
    _gains(np.stack([bid, stake, declarer, index], axis=2), chances, vulnerable, in_imps, out)
    return out, len(asked)

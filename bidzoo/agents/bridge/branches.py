"""What the likeliest calls of a decision lead to: each is tried on the same cards and played out.

The calls of one decision share everything but the call, so their results differ by what the call does and by nothing
else: the comparison that joint policy search (section 5.2) and policy iteration (Lockhart et al. 2020) learn from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bidzoo.agents.bridge.selfplay import Actor, finish
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I64, Tables, batched, prange


class Branches(NamedTuple):
    """``n`` decisions with up to ``K`` candidate calls each, likeliest first."""

    call: I64  # [n, K]  -1: no further candidate
    chance: F32  # [n, K]  of the call under the policy; 0 where there is none
    points: I64  # [n, K]  N/S score when the call is made and the board played out


def candidates(log_chances: F32, most: int, least: float) -> tuple[I64, F32]:
    """Up to ``most`` calls ``[n, K]`` of chance at least ``least``, and their chances, from ``[n, 38]``."""
    call = np.empty((len(log_chances), most), np.int64)
    chance = np.empty((len(log_chances), most), np.float32)
    _likeliest(log_chances, call, chance)
    chance = np.exp(chance)
    use = chance >= least
    use[:, 0] = True
    return np.where(use, call, -1), np.where(use, chance, np.float32(0))


@batched
def _likeliest(log_chances: F32, call: I64, best: F32) -> None:
    """The greatest of each row in falling order; of equal ones the first comes first."""
    for b in prange(len(log_chances)):
        for k in range(call.shape[1]):
            found = -1
            for a in range(log_chances.shape[1]):
                value = log_chances[b, a]
                later = k == 0 or value < best[b, k - 1] or (value == best[b, k - 1] and a > call[b, k - 1])
                if later and (found < 0 or value > log_chances[b, found]):
                    found = a
            call[b, k], best[b, k] = found, log_chances[b, found]


def explore(
    game: Bridge, tables: Tables, call: I64, chance: F32, learner: Actor, opponent: Actor, sides: I64
) -> Branches:
    """Play out every candidate ``call`` ``[n, K]`` at ``tables`` ``[n]``, all in one batch."""
    row, place = np.nonzero(call >= 0)
    points = np.zeros(call.shape, np.int64)
    points[row, place] = finish(game, tables, row, call[row, place], learner, opponent, sides[row])
    return Branches(call, chance, points)

"""What the likeliest calls of a decision lead to: each is tried on the same cards and played out.

The calls of one decision share everything but the call, so their results differ by what the call does and by nothing
else: the comparison that joint policy search (section 5.2) and policy iteration (Lockhart et al. 2020) learn from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bidzoo.agents.bridge.selfplay import Actor, finish
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I64, Tables


class Branches(NamedTuple):
    """``n`` decisions with up to ``K`` candidate calls each, likeliest first."""

    call: I64  # [n, K]  -1: no further candidate
    chance: F32  # [n, K]  of the call under the policy; 0 where there is none
    points: I64  # [n, K]  N/S score when the call is made and the board played out


def candidates(log_chances: F32, most: int, least: float) -> tuple[I64, F32]:
    """Up to ``most`` calls ``[n, K]`` of chance at least ``least``, and their chances, from ``[n, 38]``."""
    order = np.argsort(-log_chances, axis=1, kind="stable")[:, :most]
    chance = np.exp(np.take_along_axis(log_chances, order, 1))
    use = chance >= least
    use[:, 0] = True
    return np.where(use, order, -1).astype(np.int64), np.where(use, chance, 0).astype(np.float32)


def explore(
    game: Bridge, tables: Tables, call: I64, chance: F32, learner: Actor, opponent: Actor, sides: I64
) -> Branches:
    """Play out every candidate ``call`` ``[n, K]`` at ``tables`` ``[n]``, all in one batch."""
    row, place = np.nonzero(call >= 0)
    points = np.zeros(call.shape, np.int64)
    points[row, place] = finish(game, tables[row], call[row, place], learner, opponent, sides[row])
    return Branches(call, chance, points)

"""Duplicate pairs in self-play: each board at two tables, both teams one policy, rewarded with the IMPs between."""

from __future__ import annotations

import numpy as np

from bidzoo.agents.bridge.selfplay import BOTH, Actor, Decisions, join, play
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import MAX_IMPS, imps
from bidzoo.kernels import F32, I64


def duplicate_pairs(game: Bridge, boards: I64, seed: int, player: Actor, stream: int) -> tuple[Decisions, F32]:
    """Decisions of both tables of every board, and what each decision's side won, IMPs / 24: ``[n]``."""
    sides = np.full(len(boards), BOTH)
    first, at_first = play(game, boards, seed, player, player, sides, 2 * stream)
    second, at_second = play(game, boards, seed, player, player, sides, 2 * stream + 1)
    difference = imps(first["points"][:, 0] - second["points"][:, 0]).astype(np.float32) / np.float32(MAX_IMPS)
    outcome = np.concatenate([at_first.outcome(difference), at_second.outcome(-difference)])
    return join([at_first, at_second]), outcome

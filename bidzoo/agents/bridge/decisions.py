"""Decisions of a learner, and the book they are written into while boards are played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I8, I64, Tables, allocate

_A_BOARD = 16  # decisions that a book begins with room for: auctions of networks have 10 or 11 calls


class Decisions(NamedTuple):
    """``n`` decisions in the order they were made, of ``B`` boards."""

    tables: Tables  # [n]  states before the call
    observation: I8  # [n, F]  of the game's encoder
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_chances: F32  # [n, 38]  of every call when this one was made; about -1e9 for illegal ones
    board: I64  # [n]  row of the board, 0 ... B - 1
    player: I64  # [n]

    @property
    def side(self) -> I64:
        """0 N/S, 1 E/W: ``[n]``."""
        return self.player % 2

    @property
    def log_chance(self) -> F32:
        """Of the call that was made: ``[n]``."""
        made: F32 = np.take_along_axis(self.log_chances, self.call[:, None], 1)[:, 0]
        return made

    def some(self, which: NDArray[Any] | slice) -> Decisions:
        """The decisions at ``which``: copies at numbers or a mask, the same memory at a slice."""
        return Decisions._make(field[which] for field in self)

    def outcome(self, reward: F32) -> F32:
        """What each decision's side won in the end, ``[n]``, of N/S rewards ``[B]``."""
        return np.where(self.side == 0, reward[self.board], -reward[self.board]).astype(np.float32)


def blank(game: Bridge, n: int) -> Decisions:
    """Memory of ``n`` decisions, to be written; what is not touched takes no room."""
    return Decisions(
        tables=allocate(game.state, n),
        observation=np.empty((n, game.encoder.layout.size), np.int8),
        legal=np.empty((n, NUM_CALLS), np.int8),
        call=np.empty(n, np.int64),
        log_chances=np.empty((n, NUM_CALLS), np.float32),
        board=np.empty(n, np.int64),
        player=np.empty(n, np.int64),
    )


def join(parts: Sequence[Decisions]) -> Decisions:
    """One after the other."""
    return Decisions._make(np.concatenate(field) for field in zip(*parts))


class Book:
    """Decisions one turn after the other, written where they stay: joining them in the end would copy them all."""

    def __init__(self, game: Bridge, boards: int) -> None:
        self._game, self._memory, self._written = game, blank(game, _A_BOARD * boards), 0

    def page(self, n: int) -> Decisions:
        """The next ``n`` decisions, to be written."""
        start, self._written = self._written, self._written + n
        if self._written > len(self._memory.call):
            before, self._memory = self._memory, blank(self._game, 2 * self._written)
            for name, field in before._asdict().items():
                getattr(self._memory, name)[:start] = field[:start]
        return self._memory.some(slice(start, self._written))

    def decisions(self) -> Decisions:
        """All that were written."""
        return self._memory.some(slice(0, self._written))

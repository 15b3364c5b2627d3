"""Decisions of a learner, and the book they are written into while boards are played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.auction import call_row, open_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I8, I64, Tables, allocate, batched, prange

_A_BOARD = 16  # decisions that a book begins with room for: auctions of networks have 10 or 11 calls


class Decisions(NamedTuple):
    """``n`` decisions in the order they were made, of ``B`` boards."""

    later: Tables  # [E]  tables at which they were made, and now further calls
    row: I64  # [n]  in ``later``
    length: I64  # [n]  calls before this one
    observation: I8  # [n, F]  of the game's encoder
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_chances: F32  # [n, 38]  of every call when this one was made; about -1e9 for illegal ones
    board: I64  # [n]  row of the board, 0 ... B - 1
    player: I64  # [n]

    @property
    def tables(self) -> Tables:
        """States before the call, ``[n]``: the calls before it made again, since a copy would be most of a decision."""
        out = allocate(self.later.dtype, len(self.row))
        _take_back(self.row, self.later, self.length, out)
        return out

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
        return self._replace(**{name: field[which] for name, field in self._asdict().items() if name != "later"})

    def outcome(self, reward: F32) -> F32:
        """What each decision's side won in the end, ``[n]``, of N/S rewards ``[B]``."""
        return np.where(self.side == 0, reward[self.board], -reward[self.board]).astype(np.float32)


def blank(game: Bridge, n: int) -> Decisions:
    """Memory of ``n`` decisions, to be written; what is not touched takes no room."""
    return Decisions(
        later=allocate(game.state, 0),
        row=np.empty(n, np.int64),
        length=np.empty(n, np.int64),
        observation=np.empty((n, game.encoder.layout.size), np.int8),
        legal=np.empty((n, NUM_CALLS), np.int8),
        call=np.empty(n, np.int64),
        log_chances=np.empty((n, NUM_CALLS), np.float32),
        board=np.empty(n, np.int64),
        player=np.empty(n, np.int64),
    )


def join(parts: Sequence[Decisions]) -> Decisions:
    """One after the other."""
    starts = np.cumsum([0, *(len(part.later) for part in parts)])
    moved = [part._replace(row=part.row + start) for part, start in zip(parts, starts)]
    joined = Decisions._make(np.concatenate(field) for field in zip(*moved))
    return joined._replace(later=joined.later.view(type(parts[0].later)))  # as ``allocate`` made them


@batched
def _take_back(row: I64, later: Tables, length: I64, out: Tables) -> None:
    for i in prange(len(row)):
        out[i] = later[row[i]]
        table, calls = out[i], later[row[i]].calls
        open_row(table, int(table.dealer), int(table.vulnerable))
        table.points[:] = 0
        for t in range(length[i]):
            call_row(table, int(calls[t]))


class Book:
    """Decisions one turn after the other, written where they stay: joining them in the end would copy them all."""

    def __init__(self, game: Bridge, boards: int) -> None:
        self._game, self._memory, self._written = game, blank(game, _A_BOARD * boards), 0

    def page(self, n: int) -> Decisions:
        """The next ``n`` decisions, to be written."""
        start, self._written = self._written, self._written + n
        if self._written > len(self._memory.call):
            before, self._memory = self._memory, blank(self._game, 2 * self._written)
            for name, field in before.some(slice(0, start))._asdict().items():
                getattr(self._memory, name)[: len(field)] = field
        return self._memory.some(slice(start, self._written))

    def decisions(self, later: Tables) -> Decisions:
        """All that were written, of tables that are now ``later`` ``[B]``."""
        return self._memory.some(slice(0, self._written))._replace(later=later)

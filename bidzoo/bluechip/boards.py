"""The boards of a match, from ``(seed, board)`` or from a file of boards."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bidzoo.core.kernels import I8, I64, States
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.deals import UNKNOWN, read_boards
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.game import Buffers


class Board(NamedTuple):
    """A board before the first call."""

    board: int  # with a seed it addresses the policies' random numbers; marked board + 1 at the table
    dealer: int
    vulnerable: int  # bit 0 N/S, bit 1 E/W
    hands: I64  # [4]
    tricks: I8  # [20]  double-dummy table, -1 unknown

    @property
    def number(self) -> int:
        """As marked: 1, 2, ..."""
        return self.board + 1

    def state(self, game: Bridge) -> tuple[States, Buffers]:
        """A table ``[1]`` of ``game`` that waits for the first call on this board, and its buffers."""
        states, out = game.new(1), game.buffers(1)
        game.begin(states, np.array([self.board]), 0, out)
        position = {"deal": self.hands, "tricks": self.tricks}
        game.fix(states, {**position, "dealer": self.dealer, "vulnerability": self.vulnerable}, out)
        return states, out


def seeded(game: Bridge, boards: Iterable[int], seed: int = 0) -> list[Board]:
    """``boards`` of ``seed`` as ``game`` deals them: the same cards as in any other match on those numbers."""
    numbers = np.array(list(boards), np.int64)
    states = game.new(len(numbers))
    game.begin(states, numbers, seed, game.buffers(len(numbers)))
    return [
        Board(int(t["board"]), int(t["dealer"]), int(t["vulnerable"]), t["hands"].copy(), t["tricks"].copy())
        for t in states
    ]


def from_file(path: str | Path, solve: bool) -> list[Board]:
    """The boards of a PBN or LIN file; ``solve``: double-dummy states that it does not tag are solved.

    Raises:
        ValueError: a board without four hands, or one number twice.
    """
    found: dict[int, Board] = {}
    for place, board in enumerate(read_boards(path), 1):
        number = place if board.number is None else board.number
        if board.hands is None or not board.complete:
            raise ValueError(f"{path}: board {number}: hands are missing, expected all four")
        if number < 1 or number - 1 in found:
            raise ValueError(f"{path}: board {number}: expected numbers from 1, each once")
        dealer = auction.dealer_row(number - 1) if board.dealer is None else board.dealer
        vulnerable = auction.vulnerable_row(number - 1) if board.vulnerable is None else board.vulnerable
        hands, tricks = np.array(board.hands, np.int64), np.array(board.tricks or [UNKNOWN] * 20, np.int8)
        if solve and (tricks == UNKNOWN).any():
            from bidzoo.envs.bridge.double_dummy import dd_tricks_of

            tricks = dd_tricks_of(hands)
        found[number - 1] = Board(number - 1, dealer, vulnerable, hands, tricks)
    if not found:
        raise ValueError(f"{path}: no boards, expected at least one")
    return list(found.values())

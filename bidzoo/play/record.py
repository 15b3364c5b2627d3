"""Positions of a board, each replayed through the game's own kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.envs.game import Buffers, Game
from bidzoo.kernels import Tables


@dataclass(frozen=True)
class Setup:
    """Where a table starts: with its actions it is the whole state of a session."""

    game: str
    options: Mapping[str, Any]  # of ``make_game``
    seed: int
    board: int
    fixed: Mapping[str, Any]  # of ``Game.fix``: a deal from a file


@dataclass(frozen=True)
class Position:
    """A replayed table ``[1]`` and what it shows."""

    tables: Tables
    out: Buffers

    @property
    def over(self) -> bool:
        """Nobody can act any more."""
        return not self.out.mask.any()

    @property
    def player(self) -> int:
        """Who acts next; -1 once over."""
        return -1 if self.over else int(self.out.player[0])

    @property
    def legal(self) -> list[int]:
        """Legal actions."""
        return [int(action) for action in np.flatnonzero(self.out.mask[0])]


class Record:
    """Replays actions of one setup."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self.game, self.setup = game, setup
        fixed = dict(game.options(setup.fixed))
        fixed.pop("board", None)
        self._fixed = fixed
        self._cached: tuple[tuple[int, ...], Position] | None = None

    def replay(self, actions: Sequence[int]) -> Position:
        """The table after ``actions``; ValueError names the first that is not legal in its place."""
        asked = tuple(actions)
        if self._cached is None or self._cached[0] != asked:
            self._cached = (asked, self._walk(asked)[0])
        return self._cached[1]

    def players(self, actions: Sequence[int]) -> list[int]:
        """Who took each of ``actions``."""
        return self._walk(tuple(actions))[1]

    def _walk(self, actions: tuple[int, ...]) -> tuple[Position, list[int]]:
        game = self.game
        tables, out, players = game.new(1), game.buffers(1), []
        game.begin(tables, np.array([self.setup.board], np.int64), self.setup.seed, out)
        if self._fixed:
            game.fix(tables, self._fixed, out)
        for step, action in enumerate(actions):
            if not (0 <= action < game.num_actions and out.mask[0, action]):
                text = game.action_text(action) if 0 <= action < game.num_actions else repr(action)
                raise ValueError(f"action {step + 1} of the record, {text}, is not legal there")
            players.append(int(out.player[0]))
            game.step_one(tables, int(action), out)
        return Position(tables, out), players

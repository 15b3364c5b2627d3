"""How an agent is asked for actions: what it is shown, what its answer must be, and what an error says of it."""

from __future__ import annotations

from inspect import isclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import plugins
from bidzoo.core.streams import Streams
from bidzoo.envs.check import TURNS, check, missing_field
from bidzoo.envs.game import Game, Table, legal_actions, no_legal_action


class asking:
    """Ask the agent ``name`` for actions at ``boards`` ``[B]``, at ``turns``, a number or ``[B]``.

    An error about a field that the views of ``game`` lack becomes a ValueError that says so; where the rules themselves
    read a missing field, it is that of ``check``. Others say who was asked for what (``plugins.outside``).
    """

    def __init__(self, name: str, game: Game, boards: NDArray[Any] | int, turns: Any) -> None:
        self._name, self._game, self._boards, self._turns = name, game, boards, turns

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if problem is not None:
            with plugins.outside(self._doing):
                if isinstance(problem, KeyError | AttributeError | ValueError):
                    self._explain(problem)
                raise problem

    def _doing(self) -> str:
        return f"agent {self._name!r}, {_span('board', self._boards)}, {_span('turn', self._turns)}"

    def _explain(self, problem: Exception) -> None:
        field, game = missing_field(problem), self._game
        if field is not None and field not in (game.view.names or ()):
            if game.max_turns <= TURNS:
                check(game, 1)
            raise ValueError(f"{self._name} does not play {game}: its views have no field {field!r}") from problem


def policy_hint(other: Any) -> str:
    """How to make a policy of ``other``, which is none, as the end of an error; "" where that is not known."""
    if isclass(other):
        return f"; make one: {other.__name__}()"
    if hasattr(other, "predict"):
        return "; a model of Stable-Baselines3 plays as bidzoo.wrappers.sb3.SB3Policy(model, game)"
    return ""


def ask_one(policy: Any, table: Table, seed: int) -> int:
    """The action of ``policy`` for the player to act at ``table``, with the random numbers of ``(seed, board, turn)``.

    Raises:
        ValueError: it does not play this game, its answer is no legal action, or there is none.
    """
    game, states, name = table.game, table.states, getattr(policy, "name", "the policy")
    legal = table.out.mask.copy()
    clock, board = int(game.clock(states)[0]), int(states["board"][0])
    if b"\1" not in legal.tobytes() and table.out.player[0] >= 0:  # NumPy takes five times as long
        raise no_legal_action(game, int(table.out.player[0]), 0, board)
    with asking(name, game, board, clock):
        answer = policy.act(game.view_of(states, table.out.player), legal, Streams.one(seed, board, clock))
    if type(answer) is np.ndarray and answer.shape == (1,) and answer.dtype.kind == "i":
        action = int(answer[0])
        if 0 <= action < game.num_actions and table.out.mask[0, action]:
            return action
    return int(legal_actions(name, answer, table.out.mask, states["board"])[0])


def _span(noun: str, numbers: Any) -> str:
    least, most = int(np.min(numbers)), int(np.max(numbers))
    return f"{noun} {least}" if least == most else f"{noun}s {least} ... {most}"

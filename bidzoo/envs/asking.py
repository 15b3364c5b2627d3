"""How an agent is asked for actions: what it is shown, what its answer must be, and what an error says of it."""

from __future__ import annotations

import sys
from contextlib import suppress
from inspect import isclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import plugins
from bidzoo.core.kernels import I8, U64, States, allocate
from bidzoo.core.streams import Streams
from bidzoo.envs.check import TURNS, check, missing_field
from bidzoo.envs.game import Game, Table, legal_actions, no_legal_action

MOST_SEATS = 16  # agents whom a table remembers


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
    if (torch := sys.modules.get("torch")) is not None and isinstance(other, torch.nn.Module):
        return "; a network plays as bidzoo.agents.policy.ScorePolicy(game, scores)"
    return ""


# ---- one decision at one table ------------------------------------------------------------


class Answer(Protocol):
    """What answers for one agent at one table."""

    def run(self) -> int:
        """The action for what the arrays hold that it was made with."""
        ...


class AtTable:
    """The base of agents that also answer for one table alone, sooner than by a batch of one.

    ``at_table`` makes what answers and keeps its memory, so that nothing is allocated or looked up for a decision. Its
    actions are those of ``act``. A subclass that overrides a method of ``answers_by`` and not ``at_table`` is asked by
    ``act``, as agents without this base are.
    """

    answers_by: ClassVar[frozenset[str]] = frozenset({"act"})  # the methods of which ``at_table`` is a faster form

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        """What returns the action for ``views`` ``[1]`` whenever it is run; None: ``act`` is asked.

        Args:
            views: of the player to act, written over before each run.
            legal: ``[1, A]``, written over too, and only read.
            keys: ``[1]`` of the stream of random numbers (``Streams``), written over too.

        An answer that is not legal, or an exception, leads to ``act``, whose answer or exception counts.
        """
        return None


def answer_of(policy: Any, views: States, legal: I8, keys: U64) -> Answer | None:
    """``at_table`` of any agent: None if it has no such form, or one that is older than its ``act``."""
    if not isinstance(policy, AtTable) or policy.answers_by & vars(policy).keys():
        return None
    names = {"at_table", *policy.answers_by}
    latest = next(each for each in type(policy).__mro__ if names & vars(each).keys())  # AtTable has one of them
    return policy.at_table(views, legal, keys) if "at_table" in vars(latest) else None


class Seat:
    """An agent at one table: the view and the random stream that it is shown are made once and written over."""

    def __init__(self, policy: Any, table: Table) -> None:
        self.policy = policy  # kept, so that no other object has its ``id``
        self.views, self.keys = allocate(table.game.view, 1), np.zeros(1, np.uint64)
        self.show = table.game.asks(table, self.views, self.keys)
        self._legal = table.out.mask[0].data  # whose numbers are read faster
        self._answer: Answer | None = None
        with suppress(Exception):  # ``act`` says what is wrong
            self._answer = answer_of(policy, self.views, table.out.mask, self.keys)

    def action(self, seed: int) -> int:
        """The action of an ``AtTable`` with random numbers of ``seed``; -1 where ``act`` is to be asked."""
        if self._answer is None:
            return -1
        try:
            self.show.run(seed)
            action = self._answer.run()
        except Exception:
            return -1
        return action if 0 <= action < len(self._legal) and self._legal[action] else -1


def ask_one(policy: Any, table: Table, seed: int) -> int:
    """The action of ``policy`` for the player to act at ``table``, with the random numbers of ``(seed, board, turn)``.

    Raises:
        ValueError: it does not play this game, its answer is no legal action, or there is none.
    """
    seat = table.seats.get(id(policy))
    if seat is None:
        if len(table.seats) == MOST_SEATS:
            table.seats.clear()
        seat = table.seats[id(policy)] = Seat(policy, table)
    action: int = seat.action(seed)
    return action if action >= 0 else _ask_batch(policy, table, seat, seed)


def nobody_to_ask(table: Table) -> ValueError:
    """The error where no action of ``table`` is legal."""
    player, board = int(table.out.player[0]), int(table.states["board"][0])
    if player >= 0:
        return no_legal_action(table.game, player, 0, board)
    return ValueError(f"{table.game}: board {board} is over: step(None) for each agent, or reset() for the next board")


def _ask_batch(policy: Any, table: Table, seat: Seat, seed: int) -> int:
    """``ask_one`` by ``act``, which gets arrays of its own."""
    game, name, mask = table.game, getattr(policy, "name", "the policy"), table.out.mask
    legal, board, clock = mask.copy(), table.states["board"], game.clock
    if b"\1" not in legal.tobytes():  # NumPy takes five times as long
        raise nobody_to_ask(table)
    try:
        seat.show.run(seed)
        answer = policy.act(seat.views.copy(), legal, Streams(seat.keys.copy()))
    except BaseException:
        with asking(name, game, int(board[0]), int(clock(table.states)[0])):
            raise
    if type(answer) is np.ndarray and answer.shape == (1,) and answer.dtype.kind == "i":
        action = int(answer[0])
        if 0 <= action < game.num_actions and mask[0, action]:
            return action
    return int(legal_actions(name, answer, mask, board)[0])


def _span(noun: str, numbers: Any) -> str:
    least, most = int(np.min(numbers)), int(np.max(numbers))
    return f"{noun} {least}" if least == most else f"{noun}s {least} ... {most}"

"""A table from deal to reward: what happens there beside the rules of a game, the same in all games.

A game gives row kernels by the names of the functions below that say what a game provides. The kernels marked
``@of_game`` call them by name and are made for each game by ``bind``: numba compiles a function together with its
globals, so each is defined again with the game's own kernels among its globals. ``rules`` and ``source`` are tuples of
the game: what its kernels read besides the state, and where its deals come from.
"""

from collections.abc import Callable, Mapping
from inspect import getdoc, signature
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from bidzoo.core.bits import choose_row, pack_row
from bidzoo.core.calls import Call
from bidzoo.core.kernels import F32, I8, I64, U64, Bool, State, States, batched, row, rows_a_thread
from bidzoo.core.streams import next_row, stream_row
from bidzoo.core.threads import ROWS, SHARE
from bidzoo.envs.game import Bits, Buffers, Game, Moves, MovesAt, Table

F = TypeVar("F", bound=Callable[..., Any])

# ---- what a game provides -----------------------------------------------------------------


def begin_row(state: State, board: int, seed: int, rules: Any, source: Any) -> None:
    """``board`` of ``seed`` before the first action."""


@row
def player_row(state: State) -> int:
    """Who acts next; -1 once all is over. The seat to act, where a game has no other."""
    return int(state.turn)


def legal_row(state: State, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[A]``."""


def act_row(state: State, action: int, rules: Any) -> None:
    """Take a legal ``action``."""


def reward_row(state: State, rules: Any, out: F32) -> None:
    """Rewards of an episode that is over into ``out`` ``[P]``."""


def observe_row(state: State, player: int, rules: Any, out: I8) -> None:
    """Observation of ``player``, in any phase, into ``out`` ``[F]``."""


def view_row(state: State, player: int, out: State) -> None:
    """What ``player`` may know into the view ``out``."""


@row
def clock_row(state: State) -> int:
    """Actions so far, with which the board addresses the random numbers of the next; where a game has no other."""
    return int(state.length)


# ---- binding ------------------------------------------------------------------------------

ROWS_A_THREAD = ROWS  # see ``kernels.rows_a_thread``; a game whose steps take much less has another number

NEEDED = {each.__name__: each for each in (begin_row, legal_row, act_row, reward_row, observe_row, view_row)}


def of_game(kind: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function that ``bind`` makes a kernel of ``kind`` for each game."""

    def mark(function: F) -> F:
        function.made_as = kind  # type: ignore[attr-defined]
        return function

    return mark


def bind(game: str, module: str, given: Mapping[str, Any]) -> SimpleNamespace:
    """The kernels of ``game``, defined in ``module``: those of ``given``, and all that are marked, there and here.

    CONTRIBUTING has an example of ten lines.

    Raises:
        ValueError: ``given`` lacks a kernel that a game provides; names it.
    """
    scope = {**globals(), **given}
    for name, form in NEEDED.items():
        if scope[name] is form:
            raise ValueError(f"game {game!r}: {module} has no kernel {name}{signature(form)}: {getdoc(form)}")
    marked = {name: each for name, each in scope.items() if isinstance(each, FunctionType) and hasattr(each, "made_as")}
    for name, template in marked.items():
        function = FunctionType(template.__code__, scope, name)
        function.__module__, function.__qualname__ = module, f"{name}_{game}"
        scope[name] = template.made_as(rows_a_thread(scope["ROWS_A_THREAD"])(function))
    return SimpleNamespace(**{name: scope[name] for name in (*NEEDED, "player_row", "clock_row", *marked)})


# ---- rows ---------------------------------------------------------------------------------


@of_game(row)
def show_row(state: State, rules: Any, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    player[0] = player_row(state)
    if player[0] == -1:
        observation[:] = 0
        mask[:] = 0
    else:
        observe_row(state, int(player[0]), rules, observation)
        legal_row(state, mask)


@of_game(row)
def take_row(state: State, action: int, rules: Any) -> bool:
    """Take a legal action, none if it is -1 or all is over; return whether it was taken."""
    if action < 0 or player_row(state) == -1:
        return False
    act_row(state, action, rules)
    return True


@of_game(row)
def end_row(state: State, acted: bool, rules: Any, reward: F32) -> bool:
    """Whether a step that ``acted`` ended the episode; rewards ``[P]``, 0 unless it did."""
    over = acted and player_row(state) == -1
    if over:
        reward_row(state, rules, reward)
    else:
        reward[:] = 0
    return bool(over)


@of_game(row)
def random_row(state: State, seats: int, seed: int, rules: Any, mask: I8) -> bool:
    """Play on while a player of the set ``seats`` is to act, as the agent ``random``; return whether one was."""
    played, acted = False, True
    while seats and acted and player_row(state) != -1 and seats >> player_row(state) & 1:
        legal_row(state, mask)
        key = stream_row(seed, state.board, clock_row(state))
        acted = take_row(state, choose_row(mask, next_row(key)), rules)  # none, where rules from outside leave none
        played = True
    return played


@of_game(row)
def begin_at_row(state: State, board: int, seed: int, rules: Any, source: Any, out: Buffers, b: int) -> None:
    """``begin_row`` at table ``b``, which has no reward yet."""
    begin_row(state, board, seed, rules, source)
    out.reward[b, :] = 0
    out.over[b] = False


@of_game(row)
def end_at_row(
    state: State, acted: bool, seed: int, stride: int, rules: Any, source: Any, out: Buffers, b: int
) -> None:
    """``end_row`` at table ``b``; a finished one is dealt ``board + stride`` if that is positive."""
    out.over[b] = end_row(state, acted, rules, out.reward[b])
    if out.over[b] and stride > 0:
        begin_row(state, state.board + stride, seed, rules, source)


# ---- all tables; arguments that stay come first --------------------------------------


@of_game(batched)
def begin(
    start: int, stop: int, states: States, rules: Any, source: Any, out: Buffers, boards: I64, seed: int, rows: Bool
) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set."""
    for b in range(start, stop):
        if rows[b]:
            begin_at_row(states[b], boards[b], seed, rules, source, out, b)
            show_row(states[b], rules, out.player[b : b + 1], out.observation[b], out.mask[b])


@of_game(batched)
def step(
    start: int,
    stop: int,
    states: States,
    rules: Any,
    source: Any,
    out: Buffers,
    actions: I64,
    seed: int,
    stride: int,
) -> None:
    """``take_row`` at every table, and what follows; a finished one is dealt ``board + stride`` if that is positive."""
    for b in range(start, stop):
        acted = take_row(states[b], actions[b], rules)
        end_at_row(states[b], acted, seed, stride, rules, source, out, b)
        if acted:
            show_row(states[b], rules, out.player[b : b + 1], out.observation[b], out.mask[b])


@of_game(row)
def show_packed_row(state: State, rules: Any, out: Buffers, b: int, bits: Bits, entries: I8) -> None:
    """``show_row`` of table ``b``, whose observation goes into ``bits`` by way of ``entries`` ``[8 * N]``."""
    observation = entries[: out.observation.shape[1]]
    show_row(state, rules, out.player[b : b + 1], observation, out.mask[b])
    pack_row(entries.view(np.uint64), bits.packed[b])


@of_game(batched)
def begin_packed(
    start: int,
    stop: int,
    states: States,
    rules: Any,
    source: Any,
    out: Buffers,
    bits: Bits,
    boards: I64,
    seed: int,
    rows: Bool,
) -> None:
    """``begin`` with packed observations."""
    entries = bits.entries[start // SHARE]
    for b in range(start, stop):
        if rows[b]:
            begin_at_row(states[b], boards[b], seed, rules, source, out, b)
            show_packed_row(states[b], rules, out, b, bits, entries)


@of_game(batched)
def step_packed(
    start: int,
    stop: int,
    states: States,
    rules: Any,
    source: Any,
    out: Buffers,
    bits: Bits,
    actions: I64,
    seed: int,
    stride: int,
) -> None:
    """``step`` with packed observations."""
    entries = bits.entries[start // SHARE]
    for b in range(start, stop):
        acted = take_row(states[b], actions[b], rules)
        end_at_row(states[b], acted, seed, stride, rules, source, out, b)
        if acted:
            show_packed_row(states[b], rules, out, b, bits, entries)


@of_game(batched)
def step_on(
    start: int, stop: int, states: States, rules: Any, out: Buffers, actions: I64, seed: int, seats: int
) -> None:
    """``take_row`` and ``random_row`` at every table, and what follows: apart, or each ``step`` took a tenth longer."""
    for b in range(start, stop):
        acted = take_row(states[b], actions[b], rules)
        acted = random_row(states[b], seats, seed, rules, out.mask[b]) or acted
        out.over[b] = end_row(states[b], acted, rules, out.reward[b])
        if acted:
            show_row(states[b], rules, out.player[b : b + 1], out.observation[b], out.mask[b])


@of_game(batched)
def observe(start: int, stop: int, rows: I64, states: States, player: int, rules: Any, out: I8) -> None:
    """``observe_row`` of ``player`` at ``rows`` ``[n]`` into ``out`` ``[n, F]``."""
    for n in range(start, stop):
        observe_row(states[rows[n]], player, rules, out[n])


# ---- one table, from Python: one record of all arrays; arguments that stay come first -----------


@of_game(row)
def begin_table(tables: States, rules: Any, source: Any, board: int, seed: int) -> None:
    """``begin`` of the table ``[1]``."""
    table = tables[0]
    begin_row(table.state, board, seed, rules, source)
    table.reward[:] = 0
    table.over = False
    show_row(table.state, rules, table.player, table.observation, table.mask)


@of_game(row)
def step_table(tables: States, rules: Any, action: int, seed: int, seats: int) -> None:
    """``step`` of the table ``[1]`` with no deal to follow, and ``random_row``."""
    table = tables[0]
    state = table.state
    acted = take_row(state, action, rules)
    acted = random_row(state, seats, seed, rules, table.mask) or acted
    table.over = end_row(state, acted, rules, table.reward)
    if acted:
        show_row(state, rules, table.player, table.observation, table.mask)


@of_game(row)
def observe_table(tables: States, rules: Any, player: int, out: I8) -> None:
    """``observe`` of the table ``[1]``."""
    observe_row(tables[0].state, player, rules, out)


@of_game(row)
def ask_table(tables: States, views: States, keys: U64, seed: int) -> None:
    """The view of the player to act at the table ``[1]`` into ``views`` ``[1]``, its random stream into ``keys``."""
    state = tables[0].state
    view_row(state, int(player_row(state)), views[0])
    keys[0] = stream_row(seed, state.board, clock_row(state))


# ---- as a game ----------------------------------------------------------------------------


class KernelGame(Game):
    """A game whose tables the kernels of ``bind`` drive."""

    kernels: SimpleNamespace
    _rules: Any
    _source: Any
    plays_random = True

    def begin(self, states: States, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        rows = np.ones(len(states), np.bool_) if rows is None else rows
        self.kernels.begin(states, self._rules, self._source, out, boards, seed, rows)

    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int = 0, seats: int = 0) -> None:
        if seats:
            self.kernels.step_on(states, self._rules, out, actions, seed, seats)
        else:
            self.kernels.step(states, self._rules, self._source, out, actions, seed, stride)

    def observe(self, states: States, rows: I64, player: int, out: I8) -> None:
        self.kernels.observe(rows, states, player, self._rules, out)

    def moves(self, states: States, out: Buffers) -> Moves:
        kernels, rules = self.kernels, self._rules
        begin, step = (Call(each, states, rules, self._source, out) for each in (kernels.begin, kernels.step))
        return Moves(begin, step, Call(kernels.step_on, states, rules, out))

    def moves_at(self, table: Table) -> MovesAt:
        kernels, record = self.kernels, table.record
        return MovesAt(
            Call(kernels.begin_table, record, self._rules, self._source),
            Call(kernels.step_table, record, self._rules),
            Call(kernels.observe_table, record, self._rules),
        )

    def packed_moves(self, states: States, out: Buffers, bits: Bits) -> Moves:
        act, stay = self.kernels, (states, self._rules, self._source, out, bits)
        moves = super().packed_moves(states, out, bits)
        return moves._replace(begin=Call(act.begin_packed, *stay), step=Call(act.step_packed, *stay))

    def asks(self, table: Table, views: States, keys: U64) -> Call:
        return Call(self.kernels.ask_table, table.record, views, keys)

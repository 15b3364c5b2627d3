"""A small game from deal to reward: what happens at a table besides the rules of the game.

A game file gives four row kernels (``Rules``). The kernels marked ``@of_game`` call them by name and are made for each
game by ``bind``: numba compiles a function together with its globals, so each is defined again with the game's own
kernels among its globals. The other kernels serve every game. ``types`` is ``(X, Y)``, how many types each player has.
"""

from collections.abc import Callable
from inspect import signature
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from bidzoo.core.bits import choose_row
from bidzoo.core.kernels import F32, F64, I8, I32, I64, U64, Bool, Kernel, State, States, batched, row
from bidzoo.core.streams import below_row, key_row, next_row, stream_row
from bidzoo.envs.game import Buffers
from bidzoo.envs.signalling.state import MAX_TURNS, OVER, copy_public_row

DEAL = 0  # stream of ``key_row`` that deals
F = TypeVar("F", bound=Callable[..., Any])
Types = tuple[int, int]

# ---- what a game provides -----------------------------------------------------------------


class Rules(NamedTuple):
    """Row kernels of one game; the functions of these names below say what each must do."""

    legal_row: Callable[[State, I8], None]
    act_row: Callable[[State, int], None]
    reward_row: Callable[[State, int, int], float]
    history_row: Callable[[State, int, I8], None]


def legal_row(state: State, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[A]``; never asked of a finished table."""


def act_row(state: State, action: int) -> None:
    """Take a legal ``action``: history, length and who acts next (OVER at the end). The types have no part in it."""


def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table if the types are ``x`` and ``y``."""
    raise NotImplementedError


def history_row(state: State, player: int, out: I8) -> None:
    """The public history as ``player`` sees it into ``out`` ``[H]``, all zero before."""


# ---- binding ------------------------------------------------------------------------------

_TEMPLATES: dict[str, tuple[Callable[..., Any], Any]] = {}  # name: row or batched, plain function


def check_rules(game_id: str, rules: Any) -> None:
    """TypeError unless ``rules`` are four kernels that take what the engine gives them; names game and rule."""
    if not isinstance(rules, Rules):
        raise TypeError(f"{game_id}: rules {rules!r}: expected Rules(legal_row, act_row, reward_row, history_row)")
    prototypes: tuple[Callable[..., Any], ...] = (legal_row, act_row, reward_row, history_row)
    for (name, kernel), prototype in zip(rules._asdict().items(), prototypes):
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{game_id}: rules.{name} {kernel!r}: expected a kernel, a function under @row")
        parameters, expected = signature(kernel.py_func).parameters, signature(prototype).parameters
        if len(parameters) != len(expected):
            raise TypeError(
                f"{game_id}: rules.{name} takes ({', '.join(parameters)}): expected as many as ({', '.join(expected)})"
            )


def of_game(kind: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function that ``bind`` makes a kernel of ``kind`` for each game."""

    def register(function: F) -> F:
        _TEMPLATES[function.__name__] = kind, function
        return function

    return register


def bind(game_id: str, rules: Rules) -> SimpleNamespace:
    """The kernels of this file for the game of ``rules``: theirs, and all that are marked, under their names."""
    scope = {**globals(), **rules._asdict()}
    for name, (kind, template) in _TEMPLATES.items():
        function = FunctionType(template.__code__, scope, name)
        function.__module__ = rules.legal_row.__module__
        function.__qualname__ = f"{name}_{game_id}"
        scope[name] = kind(function)
    return SimpleNamespace(**rules._asdict(), **{name: scope[name] for name in _TEMPLATES})


# ---- showing ------------------------------------------------------------------------------


@of_game(row)
def encode_row(state: State, player: int, own: int, types: Types, out: I8) -> None:
    """Observation of ``player`` of type ``own`` into ``out`` ``[F]``: player, type, history.

    The field of the type stays empty if it can have only one.
    """
    out[:] = 0
    out[player] = 1
    if types[player] > 1:
        out[2 + own] = 1
    history_row(state, player, out[2 + max(types[0], types[1]) :])


@of_game(row)
def encode_state_row(state: State, types: Types, out: I8) -> None:
    """Who acts, each type that is one of several, history as player_0 sees it, into ``out`` ``[S]``."""
    out[:] = 0
    if state.turn != OVER:
        out[state.turn] = 1
    start = 2
    for player in range(2):
        if types[player] > 1:
            out[start + int(state.types[player])] = 1
            start += types[player]
    history_row(state, 0, out[start:])


@of_game(row)
def observe_row(state: State, player: int, types: Types, out: I8) -> None:
    """Observation of ``player`` into ``out`` ``[F]``, reading no type but its own."""
    encode_row(state, player, int(state.types[player]), types, out)


@of_game(row)
def show_row(state: State, types: Types, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    player[0] = state.turn
    if state.turn == OVER:
        observation[:] = 0
        mask[:] = 0
    else:
        observe_row(state, int(state.turn), types, observation)
        legal_row(state, mask)


# ---- all tables ---------------------------------------------------------------------------


@row
def begin_row(state: State, board: int, seed: int, types: Types) -> None:
    """``board`` of ``seed`` before the first action; the two types are independent and uniform."""
    state.board = board
    state.turn, state.length, state.bid = 0, 0, 0
    state.history[:] = 0
    key = key_row(seed, board, DEAL)
    for player in range(2):
        state.types[player] = below_row(key, types[player])
        key = next_row(key)


@of_game(batched)
def begin(
    start: int,
    stop: int,
    states: States,
    boards: I64,
    seed: int,
    rows: Bool,
    code: int,
    size: int,
    types: Types,
    out: Buffers,
) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set."""
    for b in range(start, stop):
        if rows[b]:
            states[b].game, states[b].extent = code, size
            begin_row(states[b], boards[b], seed, types)
            out.reward[b, :] = 0
            out.over[b] = False
            show_row(states[b], types, out.player[b : b + 1], out.observation[b], out.mask[b])


@of_game(row)
def take_row(state: State, action: int) -> bool:
    """Take a legal action, none if it is -1 or all is over; return whether it was taken.

    A history that is full ends, whatever the rules say: what they wrote next would lie beyond it.
    """
    if action < 0 or state.turn == OVER:
        return False
    act_row(state, action)
    if state.length >= MAX_TURNS:
        state.turn = OVER
    return True


@of_game(row)
def end_row(state: State, acted: bool, reward: F32) -> bool:
    """Whether a step that ``acted`` ended the episode; rewards ``[2]``, 0 unless it did."""
    over = acted and state.turn == OVER
    reward[:] = reward_row(state, int(state.types[0]), int(state.types[1])) if over else 0.0
    return bool(over)


@of_game(row)
def step_row(states: States, b: int, action: int, seed: int, stride: int, types: Types, out: Buffers) -> None:
    """Take a legal action at table ``b`` (-1 none); a finished one is dealt ``board + stride`` if that is positive."""
    state = states[b]
    acted = take_row(state, action)
    out.over[b] = end_row(state, acted, out.reward[b])
    if out.over[b] and stride > 0:
        begin_row(state, int(state.board) + stride, seed, types)
    if acted:
        show_row(state, types, out.player[b : b + 1], out.observation[b], out.mask[b])


@of_game(batched)
def step(
    start: int, stop: int, states: States, actions: I64, seed: int, stride: int, types: Types, out: Buffers
) -> None:
    """``step_row`` at every table."""
    for b in range(start, stop):
        step_row(states, b, actions[b], seed, stride, types, out)


@of_game(row)
def random_row(state: State, seats: int, seed: int, mask: I8) -> bool:
    """Play on while a player of the set ``seats`` is to act, as the agent ``random``; return whether one was."""
    played, acted = False, True
    while acted and state.turn != OVER and seats >> state.turn & 1:  # rules from outside may leave no legal action
        legal_row(state, mask)
        acted = take_row(state, choose_row(mask, next_row(stream_row(seed, state.board, state.length))))
        played = True
    return played


@of_game(batched)
def step_on(
    start: int, stop: int, states: States, actions: I64, seats: int, seed: int, types: Types, out: Buffers
) -> None:
    """``take_row`` and ``random_row`` at every table, and what follows."""
    for b in range(start, stop):
        acted = take_row(states[b], actions[b])
        played = random_row(states[b], seats, seed, out.mask[b])
        out.over[b] = end_row(states[b], acted or played, out.reward[b])
        if acted or played:
            show_row(states[b], types, out.player[b : b + 1], out.observation[b], out.mask[b])


# ---- one table, from Python: one record of all arrays, and plain arguments; those that stay come first ----


@of_game(row)
def begin_table(tables: States, code: int, size: int, types: Types, board: int, seed: int) -> None:
    """``begin`` of the table ``[1]``."""
    table = tables[0]
    state = table.state
    state.game, state.extent = code, size
    begin_row(state, board, seed, types)
    table.reward[:] = 0
    table.over = False
    show_row(state, types, table.player, table.observation, table.mask)


@of_game(row)
def step_table(tables: States, types: Types, action: int, seats: int, seed: int) -> None:
    """``step`` of the table ``[1]`` with no deal to follow, and ``random_row``."""
    table = tables[0]
    state = table.state
    acted = take_row(state, action)
    played = random_row(state, seats, seed, table.mask)
    table.over = end_row(state, acted or played, table.reward)
    if acted or played:
        show_row(state, types, table.player, table.observation, table.mask)


@of_game(row)
def observe_one(states: States, b: int, types: Types, player: int, out: I8) -> None:
    """``observe_row`` of table ``b``."""
    observe_row(states[b], player, types, out)


@of_game(batched)
def observe_many(start: int, stop: int, rows: I64, states: States, player: int, types: Types, out: I8) -> None:
    """``observe_row`` of ``player`` at ``rows`` ``[n]`` into ``out`` ``[n, F]``."""
    for n in range(start, stop):
        observe_row(states[rows[n]], player, types, out[n])


@of_game(batched)
def encode(start: int, stop: int, views: States, types: Types, out: I8) -> None:
    """Observations of ``views`` into ``out`` ``[B, F]``."""
    for b in range(start, stop):
        encode_row(views[b], int(views[b].player), int(views[b].type), types, out[b])


@of_game(batched)
def encode_state(start: int, stop: int, states: States, types: Types, out: I8) -> None:
    """Global states into ``out`` ``[B, S]``."""
    for b in range(start, stop):
        encode_state_row(states[b], types, out[b])


# ---- what one player knows ----------------------------------------------------------------


@batched
def determinize(start: int, stop: int, views: States, keys: U64, types: Types, out: States) -> None:
    """States in which the partner's type is uniform; the history is not used as evidence about it."""
    for b in range(start, stop):
        copy_public_row(views[b], out[b])
        me = int(views[b].player)
        out[b].types[me] = views[b].type
        keys[b] = next_row(keys[b])
        out[b].types[1 - me] = below_row(keys[b], types[1 - me])


# ---- the tree, level by level (see ``compiled``) --------------------------------------------


@of_game(row)
def count_level(level: States, mask: I8, count: I32) -> None:
    """Number of legal actions at each table of ``level``, into ``count`` ``[W]``."""
    for m in range(len(level)):
        count[m] = 0
        if level[m].turn != OVER:
            legal_row(level[m], mask)
            count[m] = mask.sum()


@of_game(row)
def grow_level(level: States, start: int, mask: I8, children: States, parent: I32, action: I32) -> None:
    """Every legal successor of every table of ``level``, whose first node is ``start``."""
    n = 0
    for m in range(len(level)):
        if level[m].turn == OVER:
            continue
        legal_row(level[m], mask)
        for a in range(len(mask)):
            if mask[a]:
                children[n] = level[m]
                take_row(children[n], a)
                parent[n], action[n] = start + m, a
                n += 1


@of_game(row)
def reward_level(level: States, payoff: F64) -> int:
    """Rewards ``[n, X, Y]`` of the finished tables of ``level``, in order; returns how many there are."""
    n = 0
    for m in range(len(level)):
        if level[m].turn == OVER:
            for x in range(payoff.shape[1]):
                for y in range(payoff.shape[2]):
                    payoff[n, x, y] = reward_row(level[m], x, y)
            n += 1
    return n

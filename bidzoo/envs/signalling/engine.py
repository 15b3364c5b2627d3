"""A small game from deal to reward: what happens at a table besides the rules of the game.

A game file gives four row kernels (``Rules``), from which ``bind`` makes what ``bidzoo.envs.engine`` asks of a game.
``types`` is ``(X, Y)``, how many types each player has.
"""

from collections.abc import Callable
from inspect import signature
from types import SimpleNamespace
from typing import Any, NamedTuple

from bidzoo.core.kernels import F32, F64, I8, I32, U64, Kernel, State, States, batched, row
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.core.threads import ROWS
from bidzoo.envs import engine
from bidzoo.envs.engine import of_game
from bidzoo.envs.signalling.state import MAX_TURNS, OVER, copy_public_row, view_row

DEAL = 0  # stream of ``key_row`` that deals
ROWS_A_THREAD = 8 * ROWS  # their steps take 20 to 40 nanoseconds
Types = tuple[int, int]

# ---- what a game provides -----------------------------------------------------------------


class Rules(NamedTuple):
    """Row kernels of one game; the functions below say what each must do."""

    legal_row: Callable[[State, I8], None]
    act_row: Callable[[State, int], None]
    reward_row: Callable[[State, int, int], float]
    history_row: Callable[[State, int, I8], None]


def legal_row(state: State, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[A]``; never asked of a finished table."""


def rules_act_row(state: State, action: int) -> None:
    """Take a legal ``action``: history, length and who acts next (OVER at the end). The types have no part in it."""


def rules_reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table if the types are ``x`` and ``y``."""
    raise NotImplementedError


def history_row(state: State, player: int, out: I8) -> None:
    """The public history as ``player`` sees it into ``out`` ``[H]``, all zero before."""


PROTOTYPES: tuple[Callable[..., Any], ...] = (legal_row, rules_act_row, rules_reward_row, history_row)


def check_rules(game_id: str, rules: Any) -> None:
    """TypeError unless ``rules`` are four kernels that take what the engine gives them; names game and rule."""
    if not isinstance(rules, Rules):
        raise TypeError(f"{game_id}: rules {rules!r}: expected Rules(legal_row, act_row, reward_row, history_row)")
    for (name, kernel), prototype in zip(rules._asdict().items(), PROTOTYPES):
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{game_id}: rules.{name} {kernel!r}: expected a kernel, a function under @row")
        parameters, expected = signature(kernel.py_func).parameters, signature(prototype).parameters
        if len(parameters) != len(expected):
            raise TypeError(
                f"{game_id}: rules.{name} takes ({', '.join(parameters)}): expected as many as ({', '.join(expected)})"
            )


def bind(game_id: str, rules: Rules) -> SimpleNamespace:
    """The kernels of this file and of every engine for the game of ``rules``."""
    named = dict(zip((prototype.__name__ for prototype in PROTOTYPES), rules))
    return engine.bind(game_id, rules.legal_row.__module__, {**globals(), **named, "view_row": view_row})


# ---- a table ------------------------------------------------------------------------------


@row
def begin_row(state: State, board: int, seed: int, types: Types, source: tuple[int, int]) -> None:
    """``board`` of ``seed`` before the first action; the two types are independent and uniform."""
    state.game, state.extent = source  # code and size
    state.board = board
    state.turn, state.length, state.bid = 0, 0, 0
    state.history[:] = 0
    key = key_row(seed, board, DEAL)
    for player in range(2):
        state.types[player] = below_row(key, types[player])
        key = next_row(key)


@of_game(row)
def act_row(state: State, action: int, types: Types) -> None:
    """Take a legal action; a history that is full ends, whatever the rules say: they would write beyond it."""
    rules_act_row(state, action)
    if state.length >= MAX_TURNS:
        state.turn = OVER


@of_game(row)
def reward_row(state: State, types: Types, out: F32) -> None:
    """The common reward of a finished table into ``out`` ``[2]``."""
    out[:] = rules_reward_row(state, int(state.types[0]), int(state.types[1]))


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
def grow_level(level: States, start: int, mask: I8, types: Types, children: States, parent: I32, action: I32) -> None:
    """Every legal successor of every table of ``level``, whose first node is ``start``."""
    n = 0
    for m in range(len(level)):
        if level[m].turn == OVER:
            continue
        legal_row(level[m], mask)
        for a in range(len(mask)):
            if mask[a]:
                children[n] = level[m]
                act_row(children[n], a, types)
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
                    payoff[n, x, y] = rules_reward_row(level[m], x, y)
            n += 1
    return n

"""A small game as flat arrays: its public tree and the private types of its two players.

Everything tabular (CFR, JPS, BAD, A2C, the exact solver, Table 1's counts) runs on this one form.
Nodes are numbered level by level, so parents come before children, the children of a node are consecutive
and in order of action, and node 0 is the root. The information set of the mover at ``node`` who has type ``x`` is the
pair ``(node, x)``.

A **joint strategy** is a float64 array ``[M, T]``, ``T`` the larger number of types: ``strategy[child, x]`` is the
probability that the player who moves at ``parent[child]``, when his type is ``x``, chooses the action that leads to
``child``. So the distribution of infoset ``(node, x)`` is column ``x`` of the rows from ``first[node]``,
``count[node]`` of them; illegal actions take no room, and reach probabilities are one product a node. Row 0 and
columns beyond the mover's types are not read.
"""

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F64, I8, I32, I64, Bool, State, States, allocate, row
from bidzoo.envs.game import Game
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER

if TYPE_CHECKING:
    from bidzoo.envs.aec import TableEnv


class _Arrays(NamedTuple):
    prior: F64  # [X, Y]     probability of each joint deal; sums to 1
    player: I8  # [M]        who moves; -1 at a leaf
    parent: I32  # [M]        -1 at the root
    action: I32  # [M]        the action that led here; -1 at the root
    depth: I32  # [M]        moves made so far
    child: I32  # [M, A]     -1 where the action is illegal
    first: I32  # [M]        first of the consecutive children; -1 at a leaf
    count: I32  # type: ignore[assignment]  # [M] how many children; 0 at a leaf (it hides ``tuple.count``)
    leaf: I32  # [M]        row of ``payoff``; -1 at a decision
    payoff: F64  # [L, X, Y]  common reward at each leaf


class Compiled(_Arrays):
    """``M`` public nodes, ``L`` leaves among them, ``A`` actions, ``X`` and ``Y`` types of the players.

    A tuple of arrays, so that kernels take it as it is, and the ``game`` that it was compiled from.
    """

    game: SignallingGame

    @property
    def id(self) -> str:
        """``"minibridge_v0(size=4)"``."""
        return str(self.game)

    @property
    def num_types(self) -> tuple[int, int]:
        """``(X, Y)``."""
        return self.prior.shape[0], self.prior.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """``(M, T)``: the shape of a joint strategy."""
        return len(self.player), max(self.prior.shape)


Solvable: TypeAlias = "Compiled | Game | TableEnv"  # what ``compile_game`` takes, and so all that solves


def possible(compiled: Compiled) -> Bool:
    """Types that occur, ``[2, T]``: with positive probability some deal gives that player that type."""
    out = np.zeros((2, compiled.shape[1]), np.bool_)
    for player in (0, 1):
        out[player, : compiled.num_types[player]] = compiled.prior.sum(axis=1 - player) > 0
    return out


def count_states(compiled: Solvable) -> int:
    """Histories, the root before the deal and the finished ones included ("#States" of the JPS paper's Table 1)."""
    compiled = compile_game(compiled)
    return 1 + int(np.count_nonzero(compiled.prior)) * len(compiled.player)


def count_infosets(compiled: Solvable, terminals: Literal["none", "mover", "deal"] = "none") -> int:
    """Information sets of the players to move; with ``terminals``, the way the JPS paper's Table 1 counts.

    "none": decisions only, one for each node and possible type of its mover. "mover": also the root before
    the deal, and each leaf as the player who moved last sees it (Comm, Simple Bidding and MiniBridge in Table 1).
    "deal": also the root, and each leaf with each deal (Mini-Hanabi in Table 1).
    """
    compiled = compile_game(compiled)
    types = possible(compiled).sum(axis=1)
    decisions = int(types[compiled.player[compiled.leaf < 0]].sum())
    leaves = compiled.leaf >= 0
    if terminals == "none":
        return decisions
    if terminals == "mover":
        return 1 + decisions + int(types[compiled.player[compiled.parent[leaves]]].sum())
    if terminals == "deal":
        return 1 + decisions + int(np.count_nonzero(leaves)) * int(np.count_nonzero(compiled.prior))
    raise ValueError(f"unknown way to count terminals: {terminals!r}; choose none, mover or deal")


def uniform(compiled: Solvable) -> F64:
    """The joint strategy ``[M, T]`` under which every legal action is equally likely."""
    compiled = compile_game(compiled)
    out = np.ones(compiled.shape)
    out[1:] /= compiled.count[compiled.parent[1:], None]
    return out


def full_information(compiled: Solvable) -> float:
    """Mean over deals of the best leaf: no strategy is worth more."""
    compiled = compile_game(compiled)
    return float((compiled.prior * compiled.payoff.max(axis=0)).sum())


def check_strategy(compiled: Compiled, strategy: F64) -> None:
    """ValueError that says where ``strategy`` ``[M, T]`` is not a distribution over moves."""
    if np.shape(strategy) != compiled.shape:
        raise ValueError(f"strategy of {compiled.id} has shape {np.shape(strategy)}, expected {compiled.shape}")
    decisions = np.flatnonzero(compiled.count)
    start = compiled.first[decisions] - 1  # children are all nodes but the root, in order of their parents
    sums, least = np.add.reduceat(strategy[1:], start), np.minimum.reduceat(strategy[1:], start)
    real = np.arange(compiled.shape[1]) < np.array(compiled.num_types)[compiled.player[decisions], None]
    wrong = real & ~((np.abs(sums - 1.0) < 1e-6) & (least >= 0.0))
    if wrong.any():
        at, kind = np.argwhere(wrong)[0]
        node = decisions[at]
        first, last = compiled.first[node], compiled.first[node] + compiled.count[node] - 1
        raise ValueError(
            f"strategy of {compiled.id}: moves of player_{compiled.player[node]} are not probabilities that sum to 1 "
            f"(node {node}, type {kind}: sum {sums[at, kind]:g}, least {least[at, kind]:g}, "
            f"rows {first} ... {last} of column {kind})"
        )


def evaluate(compiled: Solvable, strategy: F64) -> float:
    """Expected common reward of a joint ``strategy`` ``[M, T]``.

    Raises:
        ValueError: wrong shape, or moves that are not probabilities; names the rows.
    """
    compiled = compile_game(compiled)
    check_strategy(compiled, strategy)
    return value(compiled, strategy)


@when_compiled()
def value(compiled: Compiled, strategy: F64) -> float:
    """``evaluate`` without a check of ``strategy``, which takes longer than the value of a small game."""
    return float(value_row(compiled, np.ascontiguousarray(strategy, np.float64), np.ones((2, *compiled.shape))))


@row
def value_row(tree: Compiled, strategy: F64, reach: F64) -> float:
    """Expected reward; leaves each player's own reach of every node in ``reach`` ``[2, M, T]``, which starts at 1."""
    prior, total = tree.prior, 0.0
    for node in range(len(tree.player)):
        if node > 0:
            parent = tree.parent[node]
            mover = int(tree.player[parent])
            for x in range(strategy.shape[1]):
                reach[mover, node, x] = reach[mover, parent, x] * strategy[node, x]
                reach[1 - mover, node, x] = reach[1 - mover, parent, x]
        if tree.leaf[node] >= 0:
            for x in range(prior.shape[0]):
                if reach[0, node, x] > 0.0:
                    for y in range(prior.shape[1]):
                        total += (
                            prior[x, y] * reach[0, node, x] * reach[1, node, y] * tree.payoff[tree.leaf[node], x, y]
                        )
    return total


def locate(compiled: Compiled, states: States) -> I64:
    """Nodes ``[B]`` reached by the histories of states or views ``[B]`` of the compiled game."""
    out = np.empty(len(states), np.int64)
    _locate(compiled.child, states, out)
    return out


@row
def node_row(child: I32, state: State) -> int:
    """The node that the history of a state or view reaches; ``child`` ``[M, A]``."""
    node = 0
    for turn in range(state.length):
        node = int(child[node, int(state.history[turn])])
    return node


@row
def _locate(child: I32, states: States, out: I64) -> None:
    for b in range(len(states)):
        out[b] = node_row(child, states[b])


# ---- from the kernels of a game to its tree, by playing every history ------------------------

MAX_BYTES = 1 << 30  # of the compiled arrays and of the records they are grown from


class Level(NamedTuple):
    """All ``W`` nodes of one depth, in order."""

    states: States  # [W]
    parent: I32  # [W]
    action: I32  # [W]
    choices: I32  # [W]  how many legal actions


@when_compiled()
def compile_game(game: Solvable, max_bytes: int = MAX_BYTES) -> Compiled:
    """The tree of ``game``, or of the game of an environment, grown level by level; a compiled one as it is.

    Raises:
        TypeError: no game at all, such as the name of one.
        ValueError: not a small game, or its tree needs more than ``max_bytes``; nothing that large is allocated.
    """
    if isinstance(game, Compiled):
        return game
    rules = _small_game(game)
    mask = np.empty(rules.num_actions, np.int8)
    states, parent, action = allocate(rules.state, 1), np.array([-1], np.int32), np.array([-1], np.int32)
    states["game"], states["extent"] = rules.code, rules.size
    levels: list[Level] = []
    nodes, leaves = 1, 0
    while len(states):
        choices = np.empty(len(states), np.int32)
        rules.kernels.count_level(states, mask, choices)
        levels.append(Level(states, parent, action, choices))
        _check_level(rules, levels[-1], late=len(levels) > rules.max_turns)
        start, width = nodes - len(states), int(choices.sum(dtype=np.int64))
        nodes, leaves = nodes + width, leaves + int(np.count_nonzero(choices == 0))
        _check(rules, nodes, leaves, max_bytes)
        states, parent, action = allocate(rules.state, width), np.empty(width, np.int32), np.empty(width, np.int32)
        rules.kernels.grow_level(levels[-1].states, start, mask, rules.num_types, states, parent, action)
    return _assemble(rules, levels)


def _small_game(game: object) -> SignallingGame:
    """``game``, or that of an environment; errors as of ``compile_game``."""
    game = getattr(game, "game", game)
    if isinstance(game, SignallingGame):
        return game
    if isinstance(game, Game):
        raise ValueError(f"{game}: expected Comm, Simple Bidding, MiniBridge, Mini-Hanabi or another SignallingGame")
    raise TypeError(f"{game!r} is no game; expected one, such as bidzoo.make_game('simple_bidding_v0', size=4)")


def _check(game: SignallingGame, nodes: int, leaves: int, max_bytes: int) -> None:
    """ValueError if the tree needs more than ``max_bytes``: ``nodes`` and ``leaves`` so far can only grow."""
    x, y = game.num_types
    node = game.state.itemsize + 4 * game.num_actions + 6 * 4 + 1  # record, child, six int32 fields, player
    need = nodes * node + leaves * x * y * 8
    if need > max_bytes:
        raise ValueError(
            f"{game} is too large to compile: at least {nodes} nodes and {leaves} leaves with {x} x {y} deals need "
            f"{need / 2**30:.2f} GiB, more than the limit of {max_bytes / 2**30:.2f} GiB"
        )


def _check_level(game: SignallingGame, level: Level, late: bool) -> None:
    """ValueError where rules leave a table without a player, the player without an action, or all without an end."""
    turns = level.states["turn"]
    nodes = np.flatnonzero((turns < OVER) | (turns > 1) | (((level.choices == 0) | late) & (turns != OVER)))
    if len(nodes):
        state = level.states[nodes[0]]
        actions = state["history"][: int(state["length"])].tolist()
        fault = "no legal action" if level.choices[nodes[0]] == 0 else f"no end within max_turns {game.max_turns}"
        fault = fault if state["turn"] in (0, 1) else f"turn {state['turn']}, which is no player,"
        raise ValueError(f"{game}: {fault} after actions {actions}; bidzoo.check_game says more of such rules")


def _assemble(game: SignallingGame, levels: list[Level]) -> Compiled:
    parent = np.concatenate([level.parent for level in levels])
    action = np.concatenate([level.action for level in levels])
    count = np.concatenate([level.choices for level in levels])
    child = np.full((len(parent), game.num_actions), -1, np.int32)
    child[parent[1:], action[1:]] = np.arange(1, len(parent), dtype=np.int32)
    is_leaf = count == 0
    x, y = game.num_types
    payoff = np.empty((int(is_leaf.sum()), x, y))
    start = 0
    for level in levels:
        start += game.kernels.reward_level(level.states, payoff[start:])
    if not np.isfinite(payoff).all():
        raise ValueError(f"{game}: a reward is no finite number; bidzoo.check_game says more of such rules")
    compiled = Compiled(
        prior=np.full((x, y), 1.0 / (x * y)),
        player=np.concatenate([level.states["turn"] for level in levels]).astype(np.int8),
        parent=parent,
        action=action,
        depth=np.repeat(np.arange(len(levels), dtype=np.int32), [len(level.states) for level in levels]),
        child=child,
        first=np.where(is_leaf, -1, 1 + np.cumsum(count) - count).astype(np.int32),
        count=count,
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        payoff=payoff,
    )
    compiled.game = game
    return compiled

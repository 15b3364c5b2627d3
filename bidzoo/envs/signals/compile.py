"""From the kernels of a small game to its ``Compiled`` form, by playing every history."""

from typing import NamedTuple

import numpy as np

from bidzoo.envs.game import Game
from bidzoo.envs.signals.compiled import Compiled
from bidzoo.envs.signals.game import SignalGame
from bidzoo.envs.signals.rules import blank_row, legal_row, over_row, payoff_row, step_row
from bidzoo.kernels import F64, I8, I32, Tables, allocate, row

MAX_BYTES = 1 << 30  # of the compiled arrays and of the records they are grown from


class Level(NamedTuple):
    """All ``W`` nodes of one depth, in order."""

    tables: Tables  # [W]
    parent: I32  # [W]
    action: I32  # [W]
    choices: I32  # [W]  how many legal actions


def compile_game(game: Game, max_bytes: int = MAX_BYTES) -> Compiled:
    """The tree of ``game``, grown level by level.

    Raises:
        ValueError: not a small game, or its tree needs more than ``max_bytes``; nothing that large is allocated.
    """
    if not isinstance(game, SignalGame):
        raise ValueError(f"{game}: expected Comm, Simple Bidding, MiniBridge or Mini-Hanabi; other trees are too large")
    mask = np.empty(game.num_actions, np.int8)
    root = allocate(game.state, 1)
    blank_row(root[0], game.code, game.size, 0)
    levels = [_level(root, np.array([-1], np.int32), np.array([-1], np.int32), mask)]
    nodes, leaves = 1, 0
    while below := int(levels[-1].choices.sum(dtype=np.int64)):
        leaves += int(np.count_nonzero(levels[-1].choices == 0))
        _check(game, nodes + below, leaves, max_bytes)
        tables, parent, action = allocate(game.state, below), np.empty(below, np.int32), np.empty(below, np.int32)
        _grow(levels[-1].tables, nodes - len(levels[-1].tables), mask, tables, parent, action)
        levels.append(_level(tables, parent, action, mask))
        nodes += below
    _check(game, nodes, leaves + len(levels[-1].tables), max_bytes)
    return _assemble(game, levels)


def _level(tables: Tables, parent: I32, action: I32, mask: I8) -> Level:
    count = np.empty(len(tables), np.int32)
    _count(tables, mask, count)
    return Level(tables, parent, action, count)


def _check(game: SignalGame, nodes: int, leaves: int, max_bytes: int) -> None:
    """The budget, from what is known so far: ``nodes`` and ``leaves`` can only grow."""
    x, y = game.num_types
    node = game.state.itemsize + 4 * game.num_actions + 6 * 4 + 1  # record, child, six int32 fields, player
    need = nodes * node + leaves * x * y * 8
    if need > max_bytes:
        raise ValueError(
            f"{game} is too large to compile: at least {nodes} nodes and {leaves} leaves with {x} x {y} deals need "
            f"{need / 2**30:.2f} GiB, more than the limit of {max_bytes / 2**30:.2f} GiB"
        )


def _assemble(game: SignalGame, levels: list[Level]) -> Compiled:
    parent = np.concatenate([level.parent for level in levels])
    action = np.concatenate([level.action for level in levels])
    count = np.concatenate([level.choices for level in levels])
    widths = [len(level.tables) for level in levels]
    child = np.full((len(parent), game.num_actions), -1, np.int32)
    child[parent[1:], action[1:]] = np.arange(1, len(parent), dtype=np.int32)
    is_leaf = count == 0
    x, y = game.num_types
    payoff = np.empty((int(is_leaf.sum()), x, y))
    paid = 0
    for level in levels:
        paid += _pay(level.tables, payoff[paid:])
    return Compiled(
        id=str(game),
        prior=np.full((x, y), 1.0 / (x * y)),
        player=np.concatenate([level.tables["turn"] for level in levels]).astype(np.int8),
        parent=parent,
        action=action,
        depth=np.repeat(np.arange(len(levels), dtype=np.int32), widths),
        child=child,
        first=np.where(is_leaf, -1, 1 + np.cumsum(count) - count).astype(np.int32),
        count=count,
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        payoff=payoff,
    )


@row
def _count(level: Tables, mask: I8, count: I32) -> None:
    """Number of legal actions at each table."""
    for m in range(len(level)):
        legal_row(level[m], mask)
        count[m] = mask.sum()


@row
def _grow(level: Tables, start: int, mask: I8, grown: Tables, parent: I32, action: I32) -> None:
    """Every legal successor of every table of ``level``, whose first node is ``start``."""
    n = 0
    for m in range(len(level)):
        legal_row(level[m], mask)
        for a in range(len(mask)):
            if mask[a]:
                grown[n] = level[m]
                step_row(grown[n], a)
                parent[n], action[n] = start + m, a
                n += 1


@row
def _pay(level: Tables, payoff: F64) -> int:
    """Payoffs of the finished tables of ``level``, in order; returns how many there are."""
    n = 0
    for m in range(len(level)):
        if over_row(level[m]):
            for x in range(payoff.shape[1]):
                for y in range(payoff.shape[2]):
                    payoff[n, x, y] = payoff_row(level[m], x, y)
            n += 1
    return n

"""Optimum of any small compiled game, by dynamic programming over public-belief sets of its whole tree.

At each public node a table holds the best total from here on for every pair of sets of types, one set a player. At a
leaf totals are additive; at a decision the mover's set is split among the children, a max-plus subset convolution.
Slower and more general than the tables of ``rising_auction``, which it checks. Comm, which has too many types for sets,
attains the bound of full information instead.
"""

import numpy as np

from bidzoo.agents.tabular.rising_auction import NOWHERE, fold_line, split_set
from bidzoo.core.kernels import F64, I64, row
from bidzoo.envs.signalling.compiled import Compiled, full_information

MAX_BYTES = 1 << 30


def need(game: Compiled) -> int:
    """Bytes of the tables."""
    return len(game.player) << (sum(game.num_types) + 3)


@row
def _add_sets(payoff: I64, out: I64) -> None:
    """``out[A, B] = sum of payoff[x, y]`` over ``x`` in ``A`` and ``y`` in ``B``."""
    out[:] = 0
    for a in range(1, out.shape[0]):
        x = 0
        while not a >> x & 1:
            x += 1
        for b in range(1, out.shape[1]):
            y = 0
            while not b >> y & 1:
                y += 1
            rest, left = a ^ (1 << x), b ^ (1 << y)
            out[a, b] = out[rest, b] + out[1 << x, left] + payoff[x, y] if rest or left else payoff[x, y]


@row
def _fold_tables(a: I64, b: I64, out: I64) -> None:
    """``fold_line`` of the columns of ``[Z, Z']``."""
    for column in range(a.shape[1]):
        fold_line(a[:, column], b[:, column], a.shape[0] - 1, out[:, column])


def set_values(game: Compiled) -> list[I64]:
    """Best total of every node for every pair of sets: a list of ``[2**X, 2**Y]``.

    Raises:
        ValueError: the deals are not equally likely, or a reward is not whole.
    """
    if not np.allclose(game.prior, 1.0 / game.prior.size) or not np.array_equal(game.payoff, np.rint(game.payoff)):
        raise ValueError(f"{game.id}: the exact solver needs equally likely deals and whole rewards")
    payoff = game.payoff.astype(np.int64)
    x_types, y_types = game.num_types
    tables = [np.full((1 << x_types, 1 << y_types), NOWHERE) for _ in game.player]
    for m in range(len(tables) - 1, -1, -1):
        if game.leaf[m] >= 0:
            _add_sets(payoff[game.leaf[m]], tables[m])
            continue
        transposed = game.player[m] == 1
        children = [tables[c].T if transposed else tables[c] for c in _children(game, m)]
        best = np.ascontiguousarray(children[-1])
        for child in children[-2::-1]:
            out = np.empty_like(best)
            _fold_tables(np.ascontiguousarray(child), best, out)
            best = out
        tables[m] = best.T if transposed else best
    return tables


def solve_tree(game: Compiled) -> tuple[int, F64]:
    """Best total over all deals, and a pure joint strategy ``[M, T]`` that has it.

    Raises:
        ValueError: too large; nothing that large is allocated.
    """
    if need(game) > MAX_BYTES:
        raise ValueError(f"{game.id}: tables over sets of types need {need(game) / 2**30:.1f} GiB")
    tables = set_values(game)
    strategy = np.zeros(game.shape)
    sets = {0: (len(tables[0]) - 1, len(tables[0][0]) - 1)}
    for m in range(len(tables)):
        if game.leaf[m] >= 0:
            continue
        children, player = _children(game, m), int(game.player[m])
        mine, theirs = (sets[m][player], sets[m][1 - player]) if m in sets else (0, 0)
        lines = [tables[c][theirs] if player else tables[c][:, theirs] for c in children]
        strategy[children[0]] = 1.0  # where nobody comes, the first action
        for child, part in zip(children, split_set([np.ascontiguousarray(x) for x in lines], mine), strict=True):
            types = [x for x in range(game.num_types[player]) if part >> x & 1]
            strategy[children[0], types] = 0.0
            strategy[child, types] = 1.0
            sets[child] = (part, theirs) if player == 0 else (theirs, part)
    return int(tables[0][-1, -1]), strategy


def _children(game: Compiled, m: int) -> range:
    return range(int(game.first[m]), int(game.first[m] + game.count[m]))


def solve_messages(game: Compiled) -> tuple[int, F64]:
    """Best total over all deals of a game of one speaker and one listener, and a pure joint strategy that has it.

    The listener acts once, last, so a joint policy is a choice of one leaf below each of his nodes; the speaker then
    picks the best chosen leaf for each of her types. Leaves are chosen greedily, each for what it adds to the best ones
    so far. Greed is not optimal in general; it is proved so here, by scoring the bound of full information.

    Raises:
        ValueError: the game is not of this kind, or greed does not attain the bound.
    """
    last = np.unique(game.parent[game.leaf >= 0])
    if game.num_types[1] != 1 or not np.array_equal(last, np.flatnonzero(game.player == 1)):
        raise ValueError(f"{game.id}: too large for tables over sets of types, and not one speaker and one listener")
    strategy = np.zeros(game.shape)
    best = np.full(game.num_types[0], -np.inf)
    target = np.zeros(game.num_types[0], np.int64)
    for m in last:
        children = np.arange(game.first[m], game.first[m] + game.count[m])
        payoff = game.payoff[game.leaf[children], :, 0]
        choice = int(np.maximum(payoff, best).sum(axis=1).argmax())
        strategy[children[choice], 0] = 1.0
        better = payoff[choice] > best
        best[better], target[better] = payoff[choice, better], children[choice]
    total = float((game.prior[:, 0] * best).sum())
    if not np.isclose(total, full_information(game), rtol=0, atol=1e-12):
        raise ValueError(f"{game.id}: greed scores {total}, full information {full_information(game)}")
    for m in np.flatnonzero(game.player == 0):
        strategy[game.first[m]] = 1.0  # where nobody comes, the first action
    for x, node in enumerate(target):
        child = int(game.parent[node])
        while child > 0:
            parent = int(game.parent[child])
            strategy[game.first[parent] : game.first[parent] + game.count[parent], x] = 0.0
            strategy[child, x] = 1.0
            child = parent
    return round(total * game.prior.size), strategy

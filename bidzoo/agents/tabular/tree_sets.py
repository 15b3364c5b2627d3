"""Optimum of any small compiled game, by dynamic programming over public-belief sets of its whole tree.

At each public node a table holds the best total from here on for every pair of sets of types, one set a player. At a
leaf totals are additive; at a decision the mover's set is split among the children, a max-plus subset convolution.
Slower and more general than ``ladder_tables``, which it checks.
"""

import numpy as np

from bidzoo.agents.tabular.folding import fold_line
from bidzoo.agents.tabular.ladder_plan import NOWHERE, split_set
from bidzoo.envs.signals.compiled import Compiled
from bidzoo.kernels import F64, I64, row

MAX_BYTES = 1 << 30


def need(game: Compiled) -> int:
    """Bytes of the tables."""
    return len(game.player) << (sum(game.num_types) + 3)


def totals(game: Compiled) -> tuple[I64, int]:
    """Rewards ``[L, X, Y]`` as whole numbers, and by how much expected reward they are too large.

    Raises:
        ValueError: the deals are not equally likely, or a reward is not whole.
    """
    deals = game.prior.size
    if not np.allclose(game.prior, 1.0 / deals) or not np.array_equal(game.payoff, np.rint(game.payoff)):
        raise ValueError(f"{game.id}: the exact solver needs equally likely deals and whole rewards")
    return game.payoff.astype(np.int64), deals


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
    """Best total of every node for every pair of sets: a list of ``[2**X, 2**Y]``."""
    payoff, _ = totals(game)
    x_types, y_types = game.num_types
    tables = [np.full((1 << x_types, 1 << y_types), NOWHERE) for _ in game.player]
    for m in range(len(tables) - 1, -1, -1):
        if game.leaf[m] >= 0:
            _add_sets(payoff[game.leaf[m]], tables[m])
            continue
        turned = game.player[m] == 1
        children = [tables[c].T if turned else tables[c] for c in _children(game, m)]
        best = np.ascontiguousarray(children[-1])
        for child in children[-2::-1]:
            out = np.empty_like(best)
            _fold_tables(np.ascontiguousarray(child), best, out)
            best = out
        tables[m] = best.T if turned else best
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

"""Operations on a joint strategy ``[M, T]`` (``bidzoo.envs.signalling.compiled``): random start, purification, sweeps.

Because all moves are public, the reach of a state ``(m, x, y)`` under a strategy is the product
``prior[x, y] * reach[0, m, x] * reach[1, m, y]`` of chance and each player's own part.
"""

import numpy as np

from bidzoo.core.kernels import F64, assign_row, row
from bidzoo.core.streams import key_row, next_row, unit_row
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game


@row
def positive_row(key: np.uint64) -> float:
    """``key`` as a number in (0, 1]."""
    return unit_row(key) + 0.5 / (1 << 53)


@row
def normal_row(key: np.uint64) -> float:
    """A standard normal number from the two after ``key`` (Box and Muller)."""
    first, second = positive_row(next_row(key)), positive_row(next_row(next_row(key)))
    return float(np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * np.pi * second))


@row
def types_row(tree: Compiled, m: int) -> int:
    """Number of types of the mover at decision ``m``."""
    return tree.prior.shape[0] if tree.player[m] == 0 else tree.prior.shape[1]


@row
def _random(tree: Compiled, seed: int, strategy: F64) -> None:
    key = key_row(seed, 0, 0)
    for m in range(len(tree.player)):
        if tree.count[m] > 0:
            for z in range(types_row(tree, m)):
                total = 0.0
                for c in range(tree.first[m], tree.first[m] + tree.count[m]):
                    key = next_row(key)
                    strategy[c, z] = positive_row(key)
                    total += strategy[c, z]
                for c in range(tree.first[m], tree.first[m] + tree.count[m]):
                    strategy[c, z] /= total


@row
def _purify(tree: Compiled, strategy: F64, pure: F64) -> None:
    for m in range(len(tree.player)):
        if tree.count[m] > 0:
            for z in range(types_row(tree, m)):
                best = tree.first[m]
                for c in range(tree.first[m], tree.first[m] + tree.count[m]):
                    if strategy[c, z] > strategy[best, z]:
                        best = c
                pure[best, z] = 1.0


@row
def reach_row(tree: Compiled, strategy: F64, reach: F64) -> None:
    """Each player's own part in reaching each node, ``reach`` ``[2, M, T]``, columns of real types only."""
    reach[:, 0] = 1.0
    for m in range(1, len(tree.parent)):
        parent = tree.parent[m]
        mover = tree.player[parent]
        for z in range(tree.prior.shape[mover]):
            reach[mover, m, z] = reach[mover, parent, z] * strategy[m, z]
        for z in range(tree.prior.shape[1 - mover]):
            reach[1 - mover, m, z] = reach[1 - mover, parent, z]


@row
def values_row(tree: Compiled, strategy: F64, values: F64) -> None:
    """Expected reward from every state on, ``values`` ``[M, X, Y]`` (Tian et al., Eq. 1)."""
    x_types, y_types = tree.prior.shape
    for m in range(len(tree.parent)):
        values[m] = 0.0
        if tree.leaf[m] >= 0:
            for x in range(x_types):
                assign_row(values[m, x], tree.payoff[tree.leaf[m], x])
    for m in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[m]
        first_moves = tree.player[parent] == 0
        for x in range(x_types):
            for y in range(y_types):
                values[parent, x, y] += strategy[m, x if first_moves else y] * values[m, x, y]


def random(game: Solvable, seed: int) -> F64:
    """A strategy ``[M, T]`` of independent uniform weights, normalised at each information set."""
    game = compile_game(game)
    strategy = np.ones(game.shape)
    _random(game, seed, strategy)
    return strategy


def purify(game: Solvable, strategy: F64) -> F64:
    """The likeliest move of every information set of ``strategy`` ``[M, T]``, the first among equals."""
    game = compile_game(game)
    pure = np.zeros(game.shape)
    pure[0] = 1.0
    _purify(game, strategy, pure)
    return pure

"""Operations on a joint strategy ``[M, T]`` (``bidzoo.envs.signalling.compiled``): random start, purification, sweeps.

Because all moves are public, the reach of a state ``(node, x, y)`` under a strategy is the product
``prior[x, y] * reach[0, node, x] * reach[1, node, y]`` of chance and each player's own part.
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
def types_row(tree: Compiled, node: int) -> int:
    """Number of types of the mover at decision ``node``."""
    return tree.prior.shape[0] if tree.player[node] == 0 else tree.prior.shape[1]


@row
def _random(tree: Compiled, seed: int, strategy: F64) -> None:
    key = key_row(seed, 0, 0)
    for node in range(len(tree.player)):
        if tree.count[node] > 0:
            for kind in range(types_row(tree, node)):
                total = 0.0
                for child in range(tree.first[node], tree.first[node] + tree.count[node]):
                    key = next_row(key)
                    strategy[child, kind] = positive_row(key)
                    total += strategy[child, kind]
                for child in range(tree.first[node], tree.first[node] + tree.count[node]):
                    strategy[child, kind] /= total


@row
def _purify(tree: Compiled, strategy: F64, pure: F64) -> None:
    for node in range(len(tree.player)):
        if tree.count[node] > 0:
            for kind in range(types_row(tree, node)):
                best = tree.first[node]
                for child in range(tree.first[node], tree.first[node] + tree.count[node]):
                    if strategy[child, kind] > strategy[best, kind]:
                        best = child
                pure[best, kind] = 1.0


@row
def reach_row(tree: Compiled, strategy: F64, reach: F64) -> None:
    """Each player's own part in reaching each node, ``reach`` ``[2, M, T]``, columns of real types only."""
    reach[:, 0] = 1.0
    for node in range(1, len(tree.parent)):
        parent = tree.parent[node]
        mover = tree.player[parent]
        for kind in range(tree.prior.shape[mover]):
            reach[mover, node, kind] = reach[mover, parent, kind] * strategy[node, kind]
        for kind in range(tree.prior.shape[1 - mover]):
            reach[1 - mover, node, kind] = reach[1 - mover, parent, kind]


@row
def values_row(tree: Compiled, strategy: F64, values: F64) -> None:
    """Expected reward from every state on, ``values`` ``[M, X, Y]`` (Tian et al., Eq. 1)."""
    x_types, y_types = tree.prior.shape
    for node in range(len(tree.parent)):
        values[node] = 0.0
        if tree.leaf[node] >= 0:
            for x in range(x_types):
                assign_row(values[node, x], tree.payoff[tree.leaf[node], x])
    for node in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[node]
        first_moves = tree.player[parent] == 0
        for x in range(x_types):
            for y in range(y_types):
                values[parent, x, y] += strategy[node, x if first_moves else y] * values[node, x, y]


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

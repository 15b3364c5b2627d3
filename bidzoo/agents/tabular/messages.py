"""Optimum of a game of one speaker and one listener without a type (Comm), when full information is attained.

The listener acts once, last, so a joint policy is a choice of one leaf below each of his nodes; the speaker then picks
the best chosen leaf for each of her types. Leaves are chosen greedily, each for what it adds to the best ones so far.
Greed is not optimal in general; it is proved so here, by scoring the bound of full information, or it is no answer.
"""

import numpy as np

from bidzoo.envs.signals.compiled import Compiled, full_information
from bidzoo.kernels import F64


def solve_messages(game: Compiled) -> tuple[int, F64]:
    """Best total over all deals, and a pure joint strategy ``[M, T]`` that has it.

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

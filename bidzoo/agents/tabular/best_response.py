"""What one player alone could gain: best responses and the distance to a Nash equilibrium.

For a common reward OpenSpiel's ``nash_conv`` is the sum over players of the gain of a best response.
"""

import numpy as np

from bidzoo.agents.tabular.cfr import Terms, terms_of
from bidzoo.agents.tabular.strategy import Tree, reach_row, tree_of
from bidzoo.envs.signals.compiled import Compiled, evaluate
from bidzoo.kernels import F64, row


@row
def _respond(tree: Tree, terms: Terms, reach: F64, player: int, worth: F64) -> float:
    """Value of the best response of ``player``, by backward induction on ``worth`` ``[M, T]``."""
    types = tree.prior.shape[player]
    for m in range(len(tree.parent)):
        worth[m] = -np.inf if tree.moves[m] > 0 and tree.player[m] == player else 0.0
    for s in range(len(terms.node)):
        if player == 0:
            worth[terms.node[s], terms.x[s]] += terms.worth[s] * reach[1, terms.node[s], terms.y[s]]
        else:
            worth[terms.node[s], terms.y[s]] += terms.worth[s] * reach[0, terms.node[s], terms.x[s]]
    for m in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[m]
        for z in range(types):
            if tree.player[parent] == player:
                worth[parent, z] = max(worth[parent, z], worth[m, z])
            else:
                worth[parent, z] += worth[m, z]
    total = 0.0
    for z in range(types):
        total += worth[0, z]
    return total


def best_response_value(game: Compiled, strategy: F64, player: int) -> float:
    """Expected reward if ``player`` answers the other's part of ``strategy`` ``[M, T]`` as well as possible."""
    tree, reach = tree_of(game), np.zeros((2, *game.shape))
    reach_row(tree, strategy, reach)
    return float(_respond(tree, terms_of(game), reach, player, np.empty(game.shape)))


def nash_conv(game: Compiled, strategy: F64) -> float:
    """Sum over both players of what a best response gains; 0 at a Nash equilibrium."""
    value = evaluate(game, strategy)
    return sum(best_response_value(game, strategy, player) - value for player in (0, 1))

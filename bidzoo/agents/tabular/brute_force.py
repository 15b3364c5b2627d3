"""The proposals of JPS, each evaluated by a sweep of the whole game: what Theorem 1 saves, and its check."""

from typing import NamedTuple

import numpy as np

from bidzoo.agents.tabular.chain import Chain, advance_row, chain_of, enter_row
from bidzoo.agents.tabular.jps import NEVER
from bidzoo.agents.tabular.strategy import Tree, tree_of
from bidzoo.envs.signals.compiled import Compiled, evaluate, value_row
from bidzoo.kernels import F64, I64, row


class Found(NamedTuple):
    """Best proposal of one iteration."""

    gain: float
    edges: I64  # [n]
    types: I64  # [n]
    proposals: int  # that were evaluated


@row
def _search(tree: Tree, strategy: F64, chain: Chain, m: int, value: float, best: F64, edges: I64, types: I64) -> int:
    """``search_row`` of JPS by brute force; ``strategy`` changes on the way. Returns the number of proposals."""
    reach = np.ones((2, strategy.shape[0], strategy.shape[1]))
    saved = np.empty((len(chain.node), np.max(tree.moves)))
    active = np.zeros(len(chain.node), np.bool_)
    proposals, d = 0, 0
    enter_row(tree, chain, m, d)
    while d >= 0:
        first, count = tree.first[chain.node[d]], tree.moves[chain.node[d]]
        if active[d]:
            for i in range(count):
                strategy[first + i, chain.type[d]] = saved[d, i]
        active[d] = advance_row(tree, strategy, chain, d)
        if not active[d]:
            d -= 1
            continue
        for i in range(count):
            saved[d, i] = strategy[first + i, chain.type[d]]
            strategy[first + i, chain.type[d]] = 1.0 if first + i == chain.edge[d] else 0.0
        gain = value_row(tree.prior, tree.player, tree.parent, tree.leaf, tree.payoff, strategy, reach) - value
        proposals += 1
        if gain > best[0]:
            best[0] = gain
            edges[: d + 1], types[: d + 1] = chain.edge[: d + 1], chain.type[: d + 1]
            edges[d + 1] = -1
        if d + 1 < len(chain.node) and tree.moves[chain.edge[d]] > 0:
            d += 1
            enter_row(tree, chain, chain.edge[d - 1], d)
    return proposals


def propose(game: Compiled, strategy: F64, depth: int, links: int = 0) -> Found:
    """Best chain of at most ``links`` links (0: no limit) from nodes at ``depth`` of the tree on."""
    tree, changing, value = tree_of(game), strategy.copy(), evaluate(game, strategy)
    chain = chain_of(links or int(game.depth.max()), game.shape[1])
    best, edges, types = np.array([NEVER]), np.empty(len(chain.gain), np.int64), np.empty(len(chain.gain), np.int64)
    edges[0], proposals = -1, 0
    for m in np.flatnonzero((game.depth == depth) & (game.count > 0)):
        proposals += _search(tree, changing, chain, int(m), value, best, edges, types)
    length = int(np.argmax(edges < 0))
    return Found(float(best[0]) if length else 0.0, edges[:length], types[:length], proposals)

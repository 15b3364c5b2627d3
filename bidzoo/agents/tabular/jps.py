"""JPS: joint policy search, which changes several information sets at once and never loses.

Source: Tian, Gong and Jiang 2020, Algorithm 1. A proposal is a chain of information sets, each a possible
successor of the one before, and one action at each, played with certainty. By Theorem 1 it is worth the sum of
its policy-change densities (Eq. 5), which need only the values ``v`` of the present strategy, swept once an
iteration, and the altered reach along the chain. The chain's actions are public, so the altered reach of all
states at its end is one vector for each player, and the density of an information set one dot product.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bidzoo.agents.options import Checked, Seed, Weight, Whole
from bidzoo.agents.tabular.chain import Chain, advance_row, chain_of, enter_row, free_row
from bidzoo.agents.tabular.strategy import Tree, reach_row, tree_of, types_row, values_row
from bidzoo.envs.signals.compiled import Compiled, evaluate
from bidzoo.kernels import F64, I32, I64, U64, below_row, key_row, next_row, row

NEVER = 1e-9  # smaller gains are rounding
U1 = np.uint64(1)


@dataclass(frozen=True)
class Config(Checked):
    """Numbers of the algorithm."""

    depth: Whole = 0  # D, longest chain; 0: from the first information sets to the leaves (the paper's default)
    samples: Whole = 0  # states drawn at each starting information set (Table 2); 0: all of them
    iterations: Whole = 100
    restart: Weight = 1e-4  # with ``depth``: a gain above this puts all starting depths on the list again
    seed: Seed = 0  # order of starting depths, and samples


@dataclass(frozen=True)
class Step:
    """One accepted proposal."""

    edges: I64  # [n] nodes the chain moves to
    types: I64  # [n] type of the mover at each
    gain: float  # predicted by Theorem 1 (an estimate if sampled)
    value: float  # expected reward afterwards, evaluated


@row
def densities_row(tree: Tree, values: F64, weights: F64, start: I32, density: F64) -> None:
    """``prior * (v(ha) - v(h))`` of every edge, times ``weights[start[c]]``: how often the state was sampled.

    ``density`` ``[M, X * Y]`` is ordered type of the mover, type of the other.
    """
    x_types, y_types = tree.prior.shape
    for c in range(1, len(tree.parent)):
        m = tree.parent[c]
        first_moves = tree.player[m] == 0
        for x in range(x_types):
            for y in range(y_types):
                gain = tree.prior[x, y] * weights[start[c], x, y] * (values[c, x, y] - values[m, x, y])
                density[c, x * y_types + y if first_moves else y * x_types + x] = gain


@row
def density_row(tree: Tree, density: F64, chain: Chain, d: int, c: int, z: int) -> float:
    """Density of the information set of type ``z`` at the ``d``-th link, if it moves to ``c`` (Eq. 5)."""
    mover = tree.player[chain.node[d]]
    reach, arriving, states = chain.reach[d, 1 - mover], chain.arriving[d], density[c]
    begin = z * tree.prior.shape[1 - mover]
    total = 0.0
    for i in range(chain.arrivals[d]):
        total += reach[arriving[i]] * states[begin + arriving[i]]
    return float(chain.reach[d, mover, z] * total)


@row
def keep_row(chain: Chain, d: int, c: int, z: int, edges: I64, types: I64) -> None:
    """The first ``d`` links of ``chain`` and one to ``c`` by type ``z``, into ``edges`` and ``types``, ended by -1."""
    edges[:d], types[:d] = chain.edge[:d], chain.type[:d]
    edges[d], types[d], edges[d + 1] = c, z, -1


@row
def better_row(gain: float, best: float, luck: U64) -> bool:
    """Whether a proposal takes the place of the best so far.

    ``luck`` ``[2]``: how many share that place, and a key, for equals to draw lots; 0 and any: the first one stays.
    """
    if gain > best + (NEVER if luck[0] else 0.0):
        luck[0] = min(luck[0], U1)
        return True
    if luck[0] == 0 or gain < best - NEVER:
        return False
    luck[0] += U1
    luck[1] = next_row(luck[1])
    return below_row(luck[1], luck[0]) == 0


@row
def end_row(tree: Tree, density: F64, chain: Chain, d: int, best: float, luck: U64, edges: I64, types: I64) -> float:
    """Gain of the best chain that ends with link ``d``, or ``best``; it goes to ``edges`` and ``types``."""
    m = chain.node[d]
    low, high = free_row(tree, chain, d)
    for c in range(tree.first[m], tree.first[m] + tree.moves[m]):
        for z in range(low, high):
            if chain.reach[d, tree.player[m], z] > 0.0:
                gain = chain.gain[d] + density_row(tree, density, chain, d, c, z)
                if better_row(gain, best, luck):
                    best = gain
                    keep_row(chain, d, c, z, edges, types)
    return best


@row
def search_row(
    tree: Tree, strategy: F64, density: F64, chain: Chain, m: int, best: float, luck: U64, edges: I64, types: I64
) -> float:
    """Gain of the best chain from node ``m``, whose reach is ``chain.reach[0]`` (Alg. 1, JPS, as a loop).

    The chain goes to ``edges`` and ``types`` ``[D + 1]`` if it takes the place of the one with gain ``best``
    (``better_row``). Chains are visited depth first.
    """
    d = 0
    enter_row(tree, chain, m, d)
    while d >= 0:
        if chain.final[d]:
            best = end_row(tree, density, chain, d, best, luck, edges, types)
            d -= 1
            continue
        if not advance_row(tree, strategy, chain, d):
            d -= 1
            continue
        c, z = chain.edge[d], chain.type[d]
        mover = tree.player[chain.node[d]]
        own = chain.reach[d, mover, z]
        if own == chain.reach[d + 1, mover, z] and tree.player[c] == 1 - mover:
            if chain.idle[d]:
                continue
            chain.idle[d] = True
        chain.gain[d + 1] = chain.gain[d] + density_row(tree, density, chain, d, c, z)
        chain.reach[d + 1, mover, z] = own
        if better_row(chain.gain[d + 1], best, luck):
            best = chain.gain[d + 1]
            keep_row(chain, d, c, z, edges, types)
        if tree.moves[c] > 0:
            d += 1
            enter_row(tree, chain, c, d)
    return best


@row
def _search_level(
    tree: Tree, strategy: F64, density: F64, reach: F64, chain: Chain, begin: int, end: int, luck: U64, best: I64
) -> float:
    """Gain of the best chain from a node in ``[begin, end)``, which goes to ``best`` ``[2, D + 1]``; at first none."""
    most = 0.0
    best[0, 0] = -1
    for m in range(begin, end):
        if tree.moves[m] > 0:
            chain.reach[0] = reach[:, m]
            most = search_row(tree, strategy, density, chain, m, most, luck, best[0], best[1])
    return most


@row
def _sample(tree: Tree, samples: int, begin: int, seed: int, iteration: int, weights: F64) -> None:
    """``samples`` types of the partner, with replacement, at each information set of the nodes from ``begin`` on."""
    weights[:] = 0.0
    key = key_row(seed, iteration, 3)
    for n in range(len(weights)):
        first_moves = tree.player[begin + n] == 0
        others = tree.prior.shape[1] if first_moves else tree.prior.shape[0]
        for z in range(types_row(tree, begin + n)):
            for _ in range(samples):
                key = next_row(key)
                o = below_row(key, others)
                weights[n, z if first_moves else o, o if first_moves else z] = 1.0


class Search:
    """One iteration after another on one game; it owns the arrays that all iterations share."""

    def __init__(self, game: Compiled, config: Config) -> None:
        self.game, self.config = game, config
        self.tree = tree_of(game)
        self.height = int(game.depth.max())
        self.levels = np.searchsorted(game.depth, np.arange(self.height + 2))
        self.values = np.empty((len(game.player), *game.num_types))
        self.density = np.empty((len(game.player), game.prior.size))
        self.reach = np.empty((2, *game.shape))
        self.chain = chain_of(config.depth or self.height, game.shape[1])
        self.everything = np.ones((1, *game.num_types)), np.zeros(len(game.player), np.int32)

    def propose(self, strategy: F64, depth: int, iteration: int) -> tuple[float, I64, I64]:
        """Predicted gain, edges and types of the best chain from nodes at ``depth`` on."""
        begin, end = self.levels[depth], self.levels[depth + 1]
        weights, start = self._samples(depth, iteration) if self.config.samples else self.everything
        reach_row(self.tree, strategy, self.reach)
        values_row(self.tree, strategy, self.values)
        densities_row(self.tree, self.values, weights, start, self.density)
        best = np.empty((2, len(self.chain.gain)), np.int64)
        luck = np.array([self.config.samples > 0, key_row(self.config.seed, iteration, 4)], np.uint64)
        gain = _search_level(self.tree, strategy, self.density, self.reach, self.chain, begin, end, luck, best)
        length = int(np.argmax(best[0] < 0))
        return gain, best[0, :length], best[1, :length]

    def _samples(self, depth: int, iteration: int) -> tuple[F64, I32]:
        """Weights of states by starting node, and the starting node (from 0) above each edge."""
        begin, end = int(self.levels[depth]), int(self.levels[depth + 1])
        weights = np.empty((end - begin, *self.game.num_types))
        _sample(self.tree, self.config.samples, begin, self.config.seed, iteration, weights)
        above = np.arange(len(self.game.player), dtype=np.int32) - begin
        for first, last in zip(self.levels[depth + 1 : -1], self.levels[depth + 2 :]):
            above[first:last] = above[self.game.parent[first:last]]
        return weights, np.maximum(above, 0)

    def depths(self) -> list[int]:
        """Depths to start from, as they are taken: one at the root, or all in random order."""
        if not self.config.depth:
            return [0]
        return list(range(max(self.height - self.config.depth, 0) + 1))


def play_chain(game: Compiled, strategy: F64, edges: I64, types: I64) -> F64:
    """``strategy`` with certain moves along ``edges`` for ``types`` (Eq. 6)."""
    changed = strategy.copy()
    for c, z in zip(edges, types):
        first = game.first[game.parent[c]]
        changed[first : first + game.count[game.parent[c]], z] = 0.0
        changed[c, z] = 1.0
    return changed


def steps(game: Compiled, strategy: F64, config: Config) -> Iterator[tuple[F64, Step]]:
    """Every accepted strategy and step, in order (Alg. 1, JSP-Main)."""
    search = Search(game, config)
    rng = np.random.default_rng(config.seed)
    waiting: list[int] = []
    for iteration in range(config.iterations):
        if not waiting:
            if iteration and not config.samples:
                return
            waiting = [int(depth) for depth in rng.permutation(search.depths())]
        before = strategy
        gain, edges, types = search.propose(strategy, waiting.pop(), iteration)
        if gain > NEVER or (config.samples and len(edges)):
            strategy = play_chain(game, strategy, edges, types)
            yield strategy, Step(edges, types, gain, evaluate(game, strategy))
        if before is not strategy and gain > (config.restart if config.depth else NEVER):
            waiting = [int(depth) for depth in rng.permutation(search.depths())]


def jps(game: Compiled, strategy: F64, config: Config | None = None) -> F64:
    """``strategy`` ``[M, T]`` boosted: the best of all iterations, never worse than it was."""
    best, most = strategy, evaluate(game, strategy)
    for changed, step in steps(game, strategy, config or Config()):
        if step.value > most:
            best, most = changed, step.value
    return best

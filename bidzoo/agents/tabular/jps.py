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

from bidzoo.agents.tabular.strategy import Tree, reach_row, tree_of, types_row, values_row
from bidzoo.envs.compiled import Compiled, evaluate
from bidzoo.kernels import F64, I32, I64, below_row, key_row, next_row, row

NEVER = 1e-9  # smaller gains are rounding


@dataclass(frozen=True)
class Config:
    """Numbers of the algorithm."""

    depth: int = 0  # D, longest chain; 0: from the first information sets to the leaves (the paper's default)
    samples: int = 0  # states drawn at each starting information set (Table 2); 0: all of them
    iterations: int = 100
    restart: float = 1e-4  # with ``depth``: a gain above this puts all starting depths on the list again
    seed: int = 0  # order of starting depths, and samples


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
def search_row(
    tree: Tree, strategy: F64, density: F64, reach: F64, alive: I64, plan: I64, m: int, d: int, last: int, z_last: int
) -> float:
    """Best gain of a chain that goes on at node ``m`` as its ``d``-th link, 0 if it had better stop (Alg. 1, JPS).

    ``reach`` ``[D + 1, 2, T]`` holds the altered reach at ``d``; ``alive`` ``[D + 1, T]`` is scratch. ``plan`` ``[D + 1, 2, D + 1]``: the best chain from the
    ``d``-th link on is left in ``plan[d, :, d:]`` (edges; types), ended by -1. The link before moved player ``last`` of
    type ``z_last``: if the same player moves again, he still has that type.
    """
    plan[d, 0, d] = -1
    best = 0.0
    if d == len(plan) - 1 or tree.count[m] == 0:
        return best
    mover = tree.player[m]
    other = 1 - mover
    types, others = tree.prior.shape[mover], tree.prior.shape[other]
    low, high = (z_last, z_last + 1) if last == mover else (0, types)
    count = 0  # types of the other player that get here
    for o in range(others):
        reach[d + 1, other, o] = reach[d, other, o]
        if reach[d, other, o] > 0.0:
            alive[d, count] = o
            count += 1
    for c in range(tree.first[m], tree.first[m] + tree.count[m]):
        idle = False  # links that change nothing are all alike, unless the same player moves again
        for z in range(types):
            reach[d + 1, mover, z] = reach[d, mover, z] * strategy[c, z]
        for z in range(low, high):
            own = reach[d, mover, z]
            follows = reach[d + 1, mover, z]
            if own == follows and tree.player[c] == other:
                if idle:
                    continue
                idle = True
            gain = 0.0
            for i in range(count):
                gain += reach[d, other, alive[d, i]] * density[c, z * others + alive[d, i]]
            gain *= own
            reach[d + 1, mover, z] = own
            gain += search_row(tree, strategy, density, reach, alive, plan, c, d + 1, mover, z)
            reach[d + 1, mover, z] = follows
            if gain > best:
                best = gain
                plan[d, 0, d], plan[d, 1, d] = c, z
                for i in range(d + 1, len(plan)):
                    plan[d, 0, i], plan[d, 1, i] = plan[d + 1, 0, i], plan[d + 1, 1, i]
                    if plan[d, 0, i] < 0:
                        break
    return best


@row
def _best_start(
    tree: Tree,
    strategy: F64,
    density: F64,
    reach: F64,
    altered: F64,
    alive: I64,
    plan: I64,
    begin: int,
    end: int,
    best: I64,
) -> float:
    """Best chain that starts at a node in ``[begin, end)``, into ``best`` ``[2, D + 1]``; its gain."""
    most = 0.0
    best[0, 0] = -1
    for m in range(begin, end):
        altered[0] = reach[:, m]
        gain = search_row(tree, strategy, density, altered, alive, plan, m, 0, -1, -1)
        if gain > most:
            most = gain
            best[:] = plan[0]
    return most


@row
def _sample(tree: Tree, samples: int, begin: int, key: np.uint64, weights: F64) -> None:
    """``samples`` types of the partner, with replacement, at each information set of the nodes from ``begin`` on."""
    weights[:] = 0.0
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
        links = config.depth or self.height
        self.levels = np.searchsorted(game.depth, np.arange(self.height + 2))
        self.values = np.empty((len(game.player), *game.num_types))
        self.density = np.empty((len(game.player), game.prior.size))
        self.reach = np.empty((2, *game.shape))
        self.altered = np.empty((links + 1, 2, game.shape[1]))
        self.alive = np.empty((links + 1, game.shape[1]), np.int64)
        self.plan = np.empty((links + 1, 2, links + 1), np.int64)
        self.everything = np.ones((1, *game.num_types)), np.zeros(len(game.player), np.int32)

    def propose(self, strategy: F64, depth: int, iteration: int) -> tuple[float, I64, I64]:
        """Predicted gain, edges and types of the best chain from nodes at ``depth`` on."""
        begin, end = self.levels[depth], self.levels[depth + 1]
        weights, start = self._samples(depth, iteration) if self.config.samples else self.everything
        reach_row(self.tree, strategy, self.reach)
        values_row(self.tree, strategy, self.values)
        densities_row(self.tree, self.values, weights, start, self.density)
        best = np.empty_like(self.plan[0])
        gain = _best_start(
            self.tree, strategy, self.density, self.reach, self.altered, self.alive, self.plan, begin, end, best
        )
        length = int(np.argmax(best[0] < 0))
        return gain, best[0, :length], best[1, :length]

    def _samples(self, depth: int, iteration: int) -> tuple[F64, I32]:
        """Weights of states by starting node, and the starting node (from 0) above each edge."""
        begin, end = int(self.levels[depth]), int(self.levels[depth + 1])
        weights = np.empty((end - begin, *self.game.num_types))
        _sample(self.tree, self.config.samples, begin, key_row(self.config.seed, iteration, 3), weights)
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
        if gain > NEVER:
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

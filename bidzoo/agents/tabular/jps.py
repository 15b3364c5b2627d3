"""JPS: joint policy search, which changes several information sets at once and never loses.

Source: Tian, Gong and Jiang 2020, Algorithm 1. A proposal is a chain of information sets, each a possible
successor of the one before, and one action at each, played with certainty. By Theorem 1 its value is the sum of
its policy-change densities (Eq. 5), which need only the values ``v`` of the present strategy, swept once an
iteration, and the altered reach along the chain. The chain's actions are public, so the altered reach of all
states at its end is one vector for each player, and the density of an information set one dot product.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular import cfr
from bidzoo.agents.tabular.policy import solver
from bidzoo.agents.tabular.strategy import reach_row, types_row, values_row
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F64, I32, I64, U64, Bool, assign_row, row
from bidzoo.core.options import Checked, Seed, Weight, Whole
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate, value

EPS = 1e-9  # smaller gains are rounding
U1 = np.uint64(1)


@dataclass(frozen=True)
class Options(Checked):
    """Numbers of the algorithm."""

    depth: Whole = 0  # D, longest chain; 0: from the first information sets to the leaves (the paper's default)
    samples: Whole = 0  # states sampled at each starting information set (Table 2); 0: all of them
    mean_weight: Weight = 0.0  # lambda of Eqs. 7 and 8: of what an action is worth over all states, sampled or not
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


# ---- a chain under construction, visited depth first -------------------------------------------


class Chain(NamedTuple):
    """At most ``D`` links; the ``d``-th makes its mover go from ``node[d]`` to ``edge[d]`` if he is of ``type[d]``."""

    node: I64  # [D]
    edge: I64  # [D]
    type: I64  # [D]
    end: I64  # [D]  no type from here on is tried
    final: Bool  # [D]  no link can follow
    idle: Bool  # [D]  a link along this edge that changes nothing was tried: all such are alike
    arrivals: I64  # [D]  how many types of the other player get here
    arriving: I64  # [D, T]  these types
    gain: F64  # [D + 1]  of the first d links
    reach: F64  # [D + 1, 2, T]  altered reach of the node after d links


def chain_of(links: int, types: int) -> Chain:
    """An empty chain with room for ``links`` links."""
    node, edge, kind, end, arrivals = np.zeros((5, links), np.int64)
    final, idle = np.zeros((2, links), np.bool_)
    arriving, gain, reach = np.zeros((links, types), np.int64), np.zeros(links + 1), np.zeros((links + 1, 2, types))
    return Chain(node, edge, kind, end, final, idle, arrivals, arriving, gain, reach)


@row
def enter_row(tree: Compiled, chain: Chain, m: int, d: int) -> None:
    """Make node ``m`` the place of the ``d``-th link."""
    mover = tree.player[m]
    other = 1 - mover
    chain.node[d], chain.edge[d] = m, tree.first[m] - 1
    chain.type[d], chain.end[d] = 0, 0
    chain.arrivals[d] = 0
    chain.final[d] = True
    if d + 1 < len(chain.node):
        for c in range(tree.first[m], tree.first[m] + tree.count[m]):
            chain.final[d] &= tree.count[c] == 0
    for o in range(tree.prior.shape[other]):
        chain.reach[d + 1, other, o] = chain.reach[d, other, o]
        if chain.reach[d, other, o] > 0.0:
            chain.arriving[d, chain.arrivals[d]] = o
            chain.arrivals[d] += 1


@row
def free_row(tree: Compiled, chain: Chain, d: int) -> tuple[int, int]:
    """Types ``[begin, end)`` that the mover of the ``d``-th link can have."""
    mover = tree.player[chain.node[d]]
    if d > 0 and tree.player[chain.node[d - 1]] == mover:
        return chain.type[d - 1], chain.type[d - 1] + 1
    return 0, tree.prior.shape[mover]


@row
def advance_row(tree: Compiled, strategy: F64, chain: Chain, d: int) -> bool:
    """Next type, or else next edge, of the ``d``-th link; False if there is none.

    The type is free, unless the same player made the link before: he still has that type.
    """
    m = chain.node[d]
    mover = tree.player[m]
    if chain.type[d] < chain.end[d]:
        chain.reach[d + 1, mover, chain.type[d]] *= strategy[chain.edge[d], chain.type[d]]
        chain.type[d] += 1
    if chain.type[d] < chain.end[d]:
        return True
    chain.edge[d] += 1
    if chain.edge[d] == tree.first[m] + tree.count[m]:
        return False
    for z in range(types_row(tree, m)):
        chain.reach[d + 1, mover, z] = chain.reach[d, mover, z] * strategy[chain.edge[d], z]
    chain.type[d], chain.end[d] = free_row(tree, chain, d)
    chain.idle[d] = False
    return True


# ---- the value of a chain, and the best one -----------------------------------------------------


@row
def densities_row(tree: Compiled, values: F64, weights: F64, start: I32, density: F64) -> None:
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
def density_row(tree: Compiled, density: F64, mean: F64, chain: Chain, d: int, c: int, z: int) -> float:
    """Density of the ``d``-th link, if type ``z`` moves to ``c``: Eq. 5, or Eq. 7 and 8 with ``mean``."""
    mover = tree.player[chain.node[d]]
    reach, arriving, states = chain.reach[d, 1 - mover], chain.arriving[d], density[c]
    begin = z * tree.prior.shape[1 - mover]
    total = 0.0
    for i in range(chain.arrivals[d]):
        total += reach[arriving[i]] * states[begin + arriving[i]]
    return float(chain.reach[d, mover, z] * total) + mean[c, z]


@row
def keep_row(chain: Chain, d: int, c: int, z: int, edges: I64, types: I64) -> None:
    """Write the first ``d`` links of ``chain`` and one to ``c`` by type ``z`` to ``edges`` and ``types``; -1 ends."""
    assign_row(edges[:d], chain.edge)
    assign_row(types[:d], chain.type)
    edges[d], types[d], edges[d + 1] = c, z, -1


@row
def better_row(gain: float, best: float, ties: U64) -> bool:
    """Whether a proposal takes the place of the best so far.

    ``ties`` ``[2]``: number of proposals that share that place, and a random key that decides between equal ones; with
    0 and any key the first one stays.
    """
    if gain > best + (EPS if ties[0] else 0.0):
        ties[0] = min(ties[0], U1)
        return True
    if ties[0] == 0 or gain < best - EPS:
        return False
    ties[0] += U1
    ties[1] = next_row(ties[1])
    return below_row(ties[1], ties[0]) == 0


@row
def end_row(
    tree: Compiled, density: F64, mean: F64, chain: Chain, d: int, best: float, ties: U64, edges: I64, types: I64
) -> float:
    """Gain of the best chain that ends with link ``d``, or ``best``; the chain goes to ``edges`` and ``types``."""
    m = chain.node[d]
    low, high = free_row(tree, chain, d)
    for c in range(tree.first[m], tree.first[m] + tree.count[m]):
        for z in range(low, high):
            if chain.reach[d, tree.player[m], z] > 0.0:
                gain = chain.gain[d] + density_row(tree, density, mean, chain, d, c, z)
                if better_row(gain, best, ties):
                    best = gain
                    keep_row(chain, d, c, z, edges, types)
    return best


@row
def search_row(
    tree: Compiled,
    strategy: F64,
    density: F64,
    mean: F64,
    chain: Chain,
    m: int,
    best: float,
    ties: U64,
    edges: I64,
    types: I64,
) -> float:
    """Gain of the best chain from node ``m``, whose reach is ``chain.reach[0]`` (Alg. 1, JPS, as a loop).

    The chain goes to ``edges`` and ``types`` ``[D + 1]`` if it takes the place of the one with gain ``best``
    (``better_row``). Chains are visited depth first.
    """
    d = 0
    enter_row(tree, chain, m, d)
    while d >= 0:
        if chain.final[d]:
            best = end_row(tree, density, mean, chain, d, best, ties, edges, types)
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
        chain.gain[d + 1] = chain.gain[d] + density_row(tree, density, mean, chain, d, c, z)
        chain.reach[d + 1, mover, z] = own
        if better_row(chain.gain[d + 1], best, ties):
            best = chain.gain[d + 1]
            keep_row(chain, d, c, z, edges, types)
        if tree.count[c] > 0:
            d += 1
            enter_row(tree, chain, c, d)
    return best


@row
def _search_level(
    tree: Compiled,
    strategy: F64,
    density: F64,
    mean: F64,
    reach: F64,
    chain: Chain,
    begin: int,
    end: int,
    ties: U64,
    best: I64,
) -> float:
    """Gain of the best chain from a node in ``[begin, end)``, which goes to ``best`` ``[2, D + 1]``, -1 if none."""
    best_gain = 0.0
    best[0, 0] = -1
    for m in range(begin, end):
        if tree.count[m] > 0:
            for player in range(2):
                assign_row(chain.reach[0, player], reach[player, m])
            best_gain = search_row(tree, strategy, density, mean, chain, m, best_gain, ties, best[0], best[1])
    return best_gain


@row
def _sample(tree: Compiled, samples: int, begin: int, seed: int, iteration: int, weights: F64) -> None:
    """``samples`` types of the partner, with replacement, at each information set of the nodes from ``begin`` on."""
    weights[:] = 0.0
    key = key_row(seed, iteration, 3)
    for n in range(len(weights)):
        first_moves = tree.player[begin + n] == 0
        partner_types = tree.prior.shape[1] if first_moves else tree.prior.shape[0]
        for z in range(types_row(tree, begin + n)):
            for _ in range(samples):
                key = next_row(key)
                o = below_row(key, partner_types)
                weights[n, z if first_moves else o, o if first_moves else z] = 1.0


# ---- the algorithm ------------------------------------------------------------------------------


class Search:
    """One iteration after another on one game; it owns the arrays that all iterations share."""

    def __init__(self, game: Solvable, config: Options) -> None:
        game = compile_game(game)
        self.game, self.config = game, config
        self.height = int(game.depth.max())
        self.levels = np.searchsorted(game.depth, np.arange(self.height + 2))
        self.values = np.empty((len(game.player), *game.num_types))
        self.density = np.empty((len(game.player), game.prior.size))
        self.reach = np.empty((2, *game.shape))
        self.chain = chain_of(config.depth or self.height, game.shape[1])
        self.all_states = np.ones((1, *game.num_types)), np.zeros(len(game.player), np.int32)

    def propose(self, strategy: F64, depth: int, iteration: int) -> tuple[float, I64, I64]:
        """Predicted gain, edges and types of the best chain from nodes at ``depth`` on."""
        begin, end = self.levels[depth], self.levels[depth + 1]
        weights, start = self._samples(depth, iteration) if self.config.samples else self.all_states
        reach_row(self.game, strategy, self.reach)
        values_row(self.game, strategy, self.values)
        densities_row(self.game, self.values, weights, start, self.density)
        best = np.empty((2, len(self.chain.gain)), np.int64)
        ties = np.array([self.config.samples > 0, key_row(self.config.seed, iteration, 4)], np.uint64)
        mean = self._mean(weights, start)
        gain = _search_level(self.game, strategy, self.density, mean, self.reach, self.chain, begin, end, ties, best)
        length = int(np.argmax(best[0] < 0))
        return gain, best[0, :length], best[1, :length]

    def _samples(self, depth: int, iteration: int) -> tuple[F64, I32]:
        """Weights of states by starting node, and the starting node (from 0) above each edge."""
        begin, end = int(self.levels[depth]), int(self.levels[depth + 1])
        weights = np.empty((end - begin, *self.game.num_types))
        _sample(self.game, self.config.samples, begin, self.config.seed, iteration, weights)
        start = np.arange(len(self.game.player), dtype=np.int32) - begin
        for first, last in zip(self.levels[depth + 1 : -1], self.levels[depth + 2 :]):
            start[first:last] = start[self.game.parent[first:last]]
        return weights, np.maximum(start, 0)

    def _mean(self, weights: F64, start: I32) -> F64:
        """What Eqs. 7 and 8 add to the density of every edge and type of the mover, ``[M, T]``.

        The sampled states of an information set count, as far as the present strategy gets there, by the mean advantage
        of the action over all of its states (``J2``), no longer by their own (the part of ``J1`` with lambda).
        """
        mean = np.zeros(self.game.shape)
        for m in np.flatnonzero(self.game.count) if self.config.mean_weight else ():
            children = np.arange(self.game.first[m], self.game.first[m] + self.game.count[m])
            x_types, y_types = self.game.num_types
            reached = self.game.prior * np.outer(self.reach[0, m, :x_types], self.reach[1, m, :y_types])
            partner = 1 - int(self.game.player[m])  # the axis of the partner's types
            mass = np.maximum(reached.sum(partner, keepdims=True), np.finfo(np.float64).tiny)
            for c in children:
                advantage = self.values[c] - self.values[m]
                average = (reached * advantage).sum(partner, keepdims=True) / mass
                added = (reached * weights[start[c]] * (average - advantage)).sum(partner)
                mean[c, : len(added)] = self.config.mean_weight * added
        return mean

    def depths(self) -> list[int]:
        """Depths to start from: 0, or with a limit on the chain every depth from which a full chain fits."""
        if not self.config.depth:
            return [0]
        return list(range(max(self.height - self.config.depth, 0) + 1))


def play_chain(game: Solvable, strategy: F64, edges: I64, types: I64) -> F64:
    """``strategy`` with certain moves along ``edges`` for ``types`` (Eq. 6)."""
    game, changed = compile_game(game), strategy.copy()
    for c, z in zip(edges, types):
        first = game.first[game.parent[c]]
        changed[first : first + game.count[game.parent[c]], z] = 0.0
        changed[c, z] = 1.0
    return changed


def steps(game: Solvable, strategy: F64, config: Options) -> Iterator[tuple[F64, Step]]:
    """Every accepted strategy and step, in order (Alg. 1, JSP-Main)."""
    game = compile_game(game)
    search = Search(game, config)
    rng = np.random.default_rng(config.seed)
    start_depths: list[int] = []
    for iteration in range(config.iterations):
        if not start_depths:
            if iteration and not config.samples:
                return
            start_depths = [int(depth) for depth in rng.permutation(search.depths())]
        previous = strategy
        gain, edges, types = search.propose(strategy, start_depths.pop(), iteration)
        if gain > EPS or (config.samples and len(edges)):
            strategy = play_chain(game, strategy, edges, types)
            yield strategy, Step(edges, types, gain, value(game, strategy))
        if previous is not strategy and gain > (config.restart if config.depth else EPS):
            start_depths = [int(depth) for depth in rng.permutation(search.depths())]


def jps(game: Solvable, strategy: F64, config: Options | None = None) -> F64:
    """``strategy`` ``[M, T]`` boosted: the best of all iterations, never worse than it was."""
    game = compile_game(game)
    best, best_value = strategy, evaluate(game, strategy)
    for candidate, step in steps(game, strategy, config or Options()):
        if step.value > best_value:
            best, best_value = candidate, step.value
    return best


MOST_CHAINS = 10_000_000  # the search goes to the leaves if there are no more chains of information sets than this


def chains(game: Solvable) -> float:
    """Number of proposals of an iteration that searches from the root to the leaves."""
    game = compile_game(game)
    total, paths = 0.0, np.zeros(len(game.player))
    paths[0] = 1.0
    for m in range(1, len(game.player)):
        parent = int(game.parent[m])
        again = parent > 0 and game.player[game.parent[parent]] == game.player[parent]
        paths[m] = paths[parent] * (1 if again else game.num_types[game.player[parent]])
        total += paths[m]
    return total


def search_depth(game: Solvable) -> int:
    """D: 0 (to the leaves) in small trees, else 3; it is the paper's choice in all games of Table 1."""
    return 0 if chains(game) <= MOST_CHAINS else 3


@when_compiled()
def solve(game: Solvable, seed: int, **options: Any) -> F64:
    """CFR1k boosted by JPS."""
    game = compile_game(game)
    strategy = cfr.cfr(game, cfr.Options(seed=seed))
    return jps(game, strategy, Options(**{"depth": search_depth(game), "seed": seed, **options}))


agent = solver("jps", solve, Options)

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
    samples: Whole = 0  # states drawn at each starting information set (Table 2), one drawn twice counts once; 0: all
    mean_weight: Weight = 0.0  # lambda of Eqs. 7 and 8: of what an action is worth over all states, sampled or not
    iterations: Whole = 100  # the best strategy of all is kept
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
    """At most ``D`` links: a ``link`` makes its mover go from ``node[link]`` to ``edge[link]`` if of ``type[link]``."""

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
def enter_row(tree: Compiled, chain: Chain, node: int, link: int) -> None:
    """Make ``node`` the place of ``link``."""
    mover = tree.player[node]
    other = 1 - mover
    chain.node[link], chain.edge[link] = node, tree.first[node] - 1
    chain.type[link], chain.end[link] = 0, 0
    chain.arrivals[link] = 0
    chain.final[link] = True
    if link + 1 < len(chain.node):
        for edge in range(tree.first[node], tree.first[node] + tree.count[node]):
            chain.final[link] &= tree.count[edge] == 0
    for partner_type in range(tree.prior.shape[other]):
        chain.reach[link + 1, other, partner_type] = chain.reach[link, other, partner_type]
        if chain.reach[link, other, partner_type] > 0.0:
            chain.arriving[link, chain.arrivals[link]] = partner_type
            chain.arrivals[link] += 1


@row
def free_row(tree: Compiled, chain: Chain, link: int) -> tuple[int, int]:
    """Types ``[begin, end)`` that the mover of ``link`` can have."""
    mover = tree.player[chain.node[link]]
    if link > 0 and tree.player[chain.node[link - 1]] == mover:
        return chain.type[link - 1], chain.type[link - 1] + 1
    return 0, tree.prior.shape[mover]


@row
def advance_row(tree: Compiled, strategy: F64, chain: Chain, link: int) -> bool:
    """Next type, or else next edge, of ``link``; False if there is none.

    The type is free, unless the same player made the link before: he still has that type.
    """
    node = chain.node[link]
    mover = tree.player[node]
    if chain.type[link] < chain.end[link]:
        chain.reach[link + 1, mover, chain.type[link]] *= strategy[chain.edge[link], chain.type[link]]
        chain.type[link] += 1
    if chain.type[link] < chain.end[link]:
        return True
    chain.edge[link] += 1
    if chain.edge[link] == tree.first[node] + tree.count[node]:
        return False
    for mover_type in range(types_row(tree, node)):
        chain.reach[link + 1, mover, mover_type] = (
            chain.reach[link, mover, mover_type] * strategy[chain.edge[link], mover_type]
        )
    chain.type[link], chain.end[link] = free_row(tree, chain, link)
    chain.idle[link] = False
    return True


# ---- the value of a chain, and the best one -----------------------------------------------------


@row
def densities_row(tree: Compiled, values: F64, weights: F64, start: I32, density: F64) -> None:
    """``prior * (v(ha) - v(h))`` of every edge, times ``weights[start[edge]]``: 1 where the state was sampled, else 0.

    ``density`` ``[M, X * Y]`` is ordered type of the mover, type of the other.
    """
    x_types, y_types = tree.prior.shape
    for edge in range(1, len(tree.parent)):
        node = tree.parent[edge]
        first_moves = tree.player[node] == 0
        for x in range(x_types):
            for y in range(y_types):
                gain = tree.prior[x, y] * weights[start[edge], x, y] * (values[edge, x, y] - values[node, x, y])
                density[edge, x * y_types + y if first_moves else y * x_types + x] = gain


@row
def density_row(tree: Compiled, density: F64, mean: F64, chain: Chain, link: int, edge: int, mover_type: int) -> float:
    """Density of ``link`` if ``mover_type`` moves to ``edge``: Eq. 5, or Eq. 7 and 8 with ``mean``."""
    mover = tree.player[chain.node[link]]
    reach, arriving, states = chain.reach[link, 1 - mover], chain.arriving[link], density[edge]
    begin = mover_type * tree.prior.shape[1 - mover]
    total = 0.0
    for i in range(chain.arrivals[link]):
        total += reach[arriving[i]] * states[begin + arriving[i]]
    return float(chain.reach[link, mover, mover_type] * total) + mean[edge, mover_type]


@row
def keep_row(chain: Chain, link: int, edge: int, mover_type: int, edges: I64, types: I64) -> None:
    """Write ``chain`` up to ``link``, which ``mover_type`` makes to ``edge``, to ``edges`` and ``types``; -1 ends."""
    assign_row(edges[:link], chain.edge)
    assign_row(types[:link], chain.type)
    edges[link], types[link], edges[link + 1] = edge, mover_type, -1


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
    tree: Compiled, density: F64, mean: F64, chain: Chain, link: int, best: float, ties: U64, edges: I64, types: I64
) -> float:
    """Gain of the best chain that ends with ``link``, or ``best``; the chain goes to ``edges`` and ``types``."""
    node = chain.node[link]
    low, high = free_row(tree, chain, link)
    for edge in range(tree.first[node], tree.first[node] + tree.count[node]):
        for mover_type in range(low, high):
            if chain.reach[link, tree.player[node], mover_type] > 0.0:
                gain = chain.gain[link] + density_row(tree, density, mean, chain, link, edge, mover_type)
                if better_row(gain, best, ties):
                    best = gain
                    keep_row(chain, link, edge, mover_type, edges, types)
    return best


@row
def search_row(
    tree: Compiled,
    strategy: F64,
    density: F64,
    mean: F64,
    chain: Chain,
    node: int,
    best: float,
    ties: U64,
    edges: I64,
    types: I64,
) -> float:
    """Gain of the best chain from ``node``, whose reach is ``chain.reach[0]`` (Alg. 1, JPS, as a loop).

    The chain goes to ``edges`` and ``types`` ``[D + 1]`` if it takes the place of the one with gain ``best``
    (``better_row``). Chains are visited depth first.
    """
    link = 0
    enter_row(tree, chain, node, link)
    while link >= 0:
        if chain.final[link]:
            best = end_row(tree, density, mean, chain, link, best, ties, edges, types)
            link -= 1
            continue
        if not advance_row(tree, strategy, chain, link):
            link -= 1
            continue
        edge, mover_type = chain.edge[link], chain.type[link]
        mover = tree.player[chain.node[link]]
        likely = chain.reach[link, mover, mover_type]
        if likely == chain.reach[link + 1, mover, mover_type] and tree.player[edge] == 1 - mover:
            if chain.idle[link]:
                continue
            chain.idle[link] = True
        chain.gain[link + 1] = chain.gain[link] + density_row(tree, density, mean, chain, link, edge, mover_type)
        chain.reach[link + 1, mover, mover_type] = likely
        if better_row(chain.gain[link + 1], best, ties):
            best = chain.gain[link + 1]
            keep_row(chain, link, edge, mover_type, edges, types)
        if tree.count[edge] > 0:
            link += 1
            enter_row(tree, chain, edge, link)
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
    for node in range(begin, end):
        if tree.count[node] > 0:
            for player in range(2):
                assign_row(chain.reach[0, player], reach[player, node])
            best_gain = search_row(tree, strategy, density, mean, chain, node, best_gain, ties, best[0], best[1])
    return best_gain


@row
def _sample(tree: Compiled, samples: int, begin: int, seed: int, iteration: int, weights: F64) -> None:
    """``samples`` types of the partner, with replacement, at each information set of the nodes from ``begin`` on."""
    weights[:] = 0.0
    key = key_row(seed, iteration, 3)
    for place in range(len(weights)):
        first_moves = tree.player[begin + place] == 0
        partner_types = tree.prior.shape[1] if first_moves else tree.prior.shape[0]
        for mover_type in range(types_row(tree, begin + place)):
            for _ in range(samples):
                key = next_row(key)
                partner_type = below_row(key, partner_types)
                x, y = (mover_type, partner_type) if first_moves else (partner_type, mover_type)
                weights[place, x, y] = 1.0


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
        for node in np.flatnonzero(self.game.count) if self.config.mean_weight else ():
            children = np.arange(self.game.first[node], self.game.first[node] + self.game.count[node])
            x_types, y_types = self.game.num_types
            reached = self.game.prior * np.outer(self.reach[0, node, :x_types], self.reach[1, node, :y_types])
            partner = 1 - int(self.game.player[node])  # the axis of the partner's types
            mass = np.maximum(reached.sum(partner, keepdims=True), np.finfo(np.float64).tiny)
            for edge in children:
                advantage = self.values[edge] - self.values[node]
                average = (reached * advantage).sum(partner, keepdims=True) / mass
                added = (reached * weights[start[edge]] * (average - advantage)).sum(partner)
                mean[edge, : len(added)] = self.config.mean_weight * added
        return mean

    def depths(self) -> list[int]:
        """Depths to start from: 0, or with a limit on the chain every depth from which a full chain fits."""
        if not self.config.depth:
            return [0]
        return list(range(max(self.height - self.config.depth, 0) + 1))


def play_chain(game: Solvable, strategy: F64, edges: I64, types: I64) -> F64:
    """``strategy`` with certain moves along ``edges`` for ``types`` (Eq. 6)."""
    game, changed = compile_game(game), strategy.copy()
    for edge, mover_type in zip(edges, types):
        first = game.first[game.parent[edge]]
        changed[first : first + game.count[game.parent[edge]], mover_type] = 0.0
        changed[edge, mover_type] = 1.0
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
    for node in range(1, len(game.player)):
        parent = int(game.parent[node])
        again = parent > 0 and game.player[game.parent[parent]] == game.player[parent]
        paths[node] = paths[parent] * (1 if again else game.num_types[game.player[parent]])
        total += paths[node]
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

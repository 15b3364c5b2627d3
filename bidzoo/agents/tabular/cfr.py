"""CFR1k: counterfactual regret minimisation from a random start, and its last iterate.

Source: Zinkevich et al. 2007, as Tian, Gong and Jiang 2020 use it for Table 1: vanilla CFR, both players
updated at once, 1000 iterations, a random initial strategy as the only source of variety. The paper reports
the last iterate (not the average) after purification.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular.policy import solver
from bidzoo.agents.tabular.strategy import normal_row, purify, random, reach_row, types_row
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F64, I64, row
from bidzoo.core.options import Checked, Seed, Share, Whole
from bidzoo.core.streams import key_row, next_row
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate, uniform


@dataclass(frozen=True)
class Options(Checked):
    """Numbers of the algorithm."""

    iterations: Whole = 1000  # Table 1: "CFR1k"
    average: bool = False  # return the average strategy, which CFR proves things about, not the last iterate
    noise: Share = 0.01  # deviation of the strategy from uniform where no regret is positive
    seed: Seed = 0


class Terms(NamedTuple):
    """The leaf states with a reward other than 0, ``[S]`` each; in some games they are few."""

    node: I64
    x: I64
    y: I64
    payoff: F64  # times prior


def terms_of(game: Compiled) -> Terms:
    """All ``(leaf, x, y)`` with a reward other than 0."""
    weighted = game.prior * game.payoff
    leaf, x, y = np.nonzero(weighted)
    nodes = np.flatnonzero(game.leaf >= 0)[np.argsort(game.leaf[game.leaf >= 0])]
    return Terms(nodes[leaf], x, y, weighted[leaf, x, y])


@row
def counterfactual_row(tree: Compiled, terms: Terms, strategy: F64, reach: F64, values: F64) -> None:
    """Counterfactual value of each node for each player and type, ``values`` ``[2, M, T]``.

    It weighs chance and the other player's reach, not one's own (Zinkevich et al., Eq. 6).
    """
    values[:] = 0.0
    for s in range(len(terms.node)):
        m, x, y = terms.node[s], terms.x[s], terms.y[s]
        values[0, m, x] += terms.payoff[s] * reach[1, m, y]
        values[1, m, y] += terms.payoff[s] * reach[0, m, x]
    for m in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[m]
        mover = tree.player[parent]
        for z in range(tree.prior.shape[mover]):
            values[mover, parent, z] += values[mover, m, z] * strategy[m, z]
        for z in range(tree.prior.shape[1 - mover]):
            values[1 - mover, parent, z] += values[1 - mover, m, z]


@row
def match_row(tree: Compiled, regret: F64, noise: float, key: np.uint64, total: F64, strategy: F64) -> None:
    """Regret matching into ``strategy``: probabilities in proportion to positive regrets.

    Where no regret is positive it is uniform plus normal noise, which continues from ``key``; ``total`` ``[T]`` is
    scratch.
    """
    for m in range(len(tree.player)):
        first, count = tree.first[m], tree.count[m]
        if count == 0:
            continue
        types = types_row(tree, m)
        total[:types] = 0.0
        for c in range(first, first + count):
            for z in range(types):
                strategy[c, z] = max(regret[c, z], 0.0)
                total[z] += strategy[c, z]
        for z in range(types):
            if total[z] <= 0.0:
                for c in range(first, first + count):
                    key = next_row(next_row(key))
                    strategy[c, z] = max(1.0 / count + noise * normal_row(key), 0.0)
                    total[z] += strategy[c, z]
        for c in range(first, first + count):
            for z in range(types):
                strategy[c, z] /= total[z]


@row
def _iterate(tree: Compiled, terms: Terms, iterations: int, noise: float, seed: int, strategy: F64, sums: F64) -> None:
    shape = (2, strategy.shape[0], strategy.shape[1])
    regret, total = np.zeros(strategy.shape), np.empty(strategy.shape[1])
    reach, values = np.empty(shape), np.empty(shape)
    for iteration in range(iterations):
        reach_row(tree, strategy, reach)
        counterfactual_row(tree, terms, strategy, reach, values)
        for m in range(1, len(tree.parent)):
            parent = tree.parent[m]
            mover = tree.player[parent]
            for z in range(tree.prior.shape[mover]):
                regret[m, z] += values[mover, m, z] - values[mover, parent, z]
                sums[m, z] += reach[mover, m, z]
        match_row(tree, regret, noise, key_row(seed, iteration, 1), total, strategy)


def _average(game: Compiled, sums: F64) -> F64:
    """Sums of own reach ``[M, T]`` as probabilities; uniform where the player never arrives."""
    totals = np.zeros_like(sums)
    np.add.at(totals, game.parent[1:], sums[1:])
    parent_totals, strategy = totals[game.parent], uniform(game)
    np.divide(sums, parent_totals, out=strategy, where=parent_totals > 0.0)
    return strategy


def cfr(game: Solvable, config: Options, initial: F64 | None = None) -> F64:
    """The strategy ``[M, T]`` of CFR from ``initial``, or from the random strategy of ``config.seed``."""
    game = compile_game(game)
    strategy = random(game, config.seed) if initial is None else initial.copy()
    sums = np.zeros(game.shape)
    _iterate(game, terms_of(game), config.iterations, config.noise, config.seed, strategy, sums)
    return _average(game, sums) if config.average else strategy


@when_compiled()
def solve(game: Solvable, seed: int, **options: Any) -> F64:
    """CFR1k, purified."""
    game = compile_game(game)
    return purify(game, cfr(game, Options(seed=seed, **options)))


agent = solver("cfr", solve, Options)


# ---- what one player alone could gain ---------------------------------------------------------


@row
def _respond(tree: Compiled, terms: Terms, reach: F64, player: int, values: F64) -> float:
    """Value of the best response of ``player``, by backward induction on ``values`` ``[M, T]``."""
    types = tree.prior.shape[player]
    for m in range(len(tree.parent)):
        values[m] = -np.inf if tree.count[m] > 0 and tree.player[m] == player else 0.0
    for s in range(len(terms.node)):
        if player == 0:
            values[terms.node[s], terms.x[s]] += terms.payoff[s] * reach[1, terms.node[s], terms.y[s]]
        else:
            values[terms.node[s], terms.y[s]] += terms.payoff[s] * reach[0, terms.node[s], terms.x[s]]
    for m in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[m]
        for z in range(types):
            if tree.player[parent] == player:
                values[parent, z] = max(values[parent, z], values[m, z])
            else:
                values[parent, z] += values[m, z]
    total = 0.0
    for z in range(types):
        total += values[0, z]
    return total


def best_response_value(game: Solvable, strategy: F64, player: int) -> float:
    """Expected reward if ``player`` answers the other's part of ``strategy`` ``[M, T]`` as well as possible."""
    game = compile_game(game)
    reach = np.zeros((2, *game.shape))
    reach_row(game, strategy, reach)
    return float(_respond(game, terms_of(game), reach, player, np.empty(game.shape)))


def nash_conv(game: Solvable, strategy: F64) -> float:
    """Sum over both players of what a best response gains, as OpenSpiel counts it; 0 at a Nash equilibrium."""
    game = compile_game(game)
    value = evaluate(game, strategy)
    return sum(best_response_value(game, strategy, player) - value for player in (0, 1))

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
    seed: Seed = 0  # of the noise


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
    for state in range(len(terms.node)):
        node, x, y = terms.node[state], terms.x[state], terms.y[state]
        values[0, node, x] += terms.payoff[state] * reach[1, node, y]
        values[1, node, y] += terms.payoff[state] * reach[0, node, x]
    for node in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[node]
        mover = tree.player[parent]
        for kind in range(tree.prior.shape[mover]):
            values[mover, parent, kind] += values[mover, node, kind] * strategy[node, kind]
        for kind in range(tree.prior.shape[1 - mover]):
            values[1 - mover, parent, kind] += values[1 - mover, node, kind]


@row
def match_row(tree: Compiled, regret: F64, noise: float, key: np.uint64, total: F64, strategy: F64) -> None:
    """Regret matching into ``strategy``: probabilities in proportion to positive regrets.

    Where no regret is positive it is uniform plus normal noise, which continues from ``key``; ``total`` ``[T]`` is
    scratch.
    """
    for node in range(len(tree.player)):
        first, count = tree.first[node], tree.count[node]
        if count == 0:
            continue
        types = types_row(tree, node)
        total[:types] = 0.0
        for child in range(first, first + count):
            for kind in range(types):
                strategy[child, kind] = max(regret[child, kind], 0.0)
                total[kind] += strategy[child, kind]
        for kind in range(types):
            if total[kind] <= 0.0:
                for child in range(first, first + count):
                    key = next_row(next_row(key))
                    strategy[child, kind] = max(1.0 / count + noise * normal_row(key), 0.0)
                    total[kind] += strategy[child, kind]
        for child in range(first, first + count):
            for kind in range(types):
                strategy[child, kind] /= total[kind]


@row
def _iterate(tree: Compiled, terms: Terms, iterations: int, noise: float, seed: int, strategy: F64, sums: F64) -> None:
    shape = (2, strategy.shape[0], strategy.shape[1])
    regret, total = np.zeros(strategy.shape), np.empty(strategy.shape[1])
    reach, values = np.empty(shape), np.empty(shape)
    for iteration in range(iterations):
        reach_row(tree, strategy, reach)
        counterfactual_row(tree, terms, strategy, reach, values)
        for node in range(1, len(tree.parent)):
            parent = tree.parent[node]
            mover = tree.player[parent]
            for kind in range(tree.prior.shape[mover]):
                regret[node, kind] += values[mover, node, kind] - values[mover, parent, kind]
                sums[node, kind] += reach[mover, node, kind]
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
    for node in range(len(tree.parent)):
        values[node] = -np.inf if tree.count[node] > 0 and tree.player[node] == player else 0.0
    for state in range(len(terms.node)):
        if player == 0:
            values[terms.node[state], terms.x[state]] += (
                terms.payoff[state] * reach[1, terms.node[state], terms.y[state]]
            )
        else:
            values[terms.node[state], terms.y[state]] += (
                terms.payoff[state] * reach[0, terms.node[state], terms.x[state]]
            )
    for node in range(len(tree.parent) - 1, 0, -1):
        parent = tree.parent[node]
        for kind in range(types):
            if tree.player[parent] == player:
                values[parent, kind] = max(values[parent, kind], values[node, kind])
            else:
                values[parent, kind] += values[node, kind]
    total = 0.0
    for kind in range(types):
        total += values[0, kind]
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

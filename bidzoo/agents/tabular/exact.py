"""The optimum of a small cooperative game, proved: its exact value, and a joint policy that has it.

Pure joint policies suffice when rewards are common, and moves are public, so the sets of types that reach a public
history carry all that matters: dynamic programming over pairs of sets, in tables over the whole tree. The plans of
rising auctions, many of which have larger trees, are recorded; ``experiments/optimal_auction.py`` finds and proves
them. Each optimum is certified twice: totals are whole numbers, and the policy that is read off scores the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bidzoo.agents.tabular.policy import Solved
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F64, I64, row
from bidzoo.core.options import integers
from bidzoo.core.schema import json_value, parse, shortened
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate, full_information
from bidzoo.envs.signalling.rising_auction import AuctionGame

RECORDED = Path(__file__).parents[2] / "data" / "exact"
Plan = Mapping[tuple[int, ...], I64]  # history -> action [n] of each type of the player to move


@dataclass(frozen=True)
class Optimum:
    """The most any joint policy can score."""

    id: str
    total: int  # sum of the rewards over all deals
    deals: int  # equally likely
    plan: Plan | None  # of a rising auction, if there was room to keep its tables

    @property
    def value(self) -> Fraction:
        """Expected reward."""
        return Fraction(self.total, self.deals)


# ---- rising auctions, whose plans are recorded --------------------------------------------

_PLAN = {"id": str, "total": int, "source": str, "calls": dict[str, list[int]]}


def read_plan(path: Path, game: AuctionGame) -> Optimum:
    """The optimum of ``game`` in a file that ``experiments/exact.py`` wrote; ``solve`` plays it out.

    Raises:
        ValueError: another game's plan, or none; names the file.
    """
    try:
        document = parse(_PLAN, json_value(path.read_bytes(), path), path)
        types, bids = game.num_types[0], game.num_actions - 1
        if document["id"] != str(game):
            raise ValueError(f"the plan is for {document['id']}, expected {game}")
        plan: dict[tuple[int, ...], I64] = {}
        for history, calls in document["calls"].items():
            if len(calls) != types:
                raise ValueError(f"calls after {history!r}: {len(calls)}, expected one a type, {types}")
            plan[tuple(map(int, history.split()))] = integers(f"calls after {history!r}", calls, -1, bids)
        return Optimum(str(game), document["total"], types**2, plan)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: not a plan of {game} ({shortened(error)})") from error


def strategy_of(game: Compiled, plan: Plan) -> F64:
    """``plan`` as a joint strategy ``[M, T]``; off the plan, the first legal action."""
    strategy = np.zeros(game.shape)
    histories: dict[int, tuple[int, ...]] = {0: ()}
    for node in range(len(game.player)):
        if game.leaf[node] >= 0:
            continue
        calls = plan.get(histories[node])
        for child in range(int(game.first[node]), int(game.first[node] + game.count[node])):
            histories[child] = (*histories[node], int(game.action[child]))
            strategy[child] = child == game.first[node] if calls is None else calls == game.action[child]
        if calls is not None:
            strategy[game.first[node], calls < 0] = 1.0
    return strategy


# ---- any small compiled game -------------------------------------------------------------
# At each public node a table holds the best total from here on for every pair of sets of types, one set a player. At a
# leaf totals are additive; at a decision the mover's set is split among the children, a max-plus subset convolution.
# Comm, which has too many types for sets, attains the bound of full information instead.

MAX_TREE_BYTES = 1 << 30
NOWHERE = -(1 << 40)  # less than any total


def tree_bytes(game: Compiled) -> int:
    """Bytes of the tables of ``solve_tree``."""
    return len(game.player) << (sum(game.num_types) + 3)


@row
def _add_sets(payoff: I64, out: I64) -> None:
    """``out[A, B] = sum of payoff[x, y]`` over ``x`` in ``A`` and ``y`` in ``B``."""
    out[:] = 0
    for a in range(1, out.shape[0]):
        x = 0
        while not a >> x & 1:
            x += 1
        for b in range(1, out.shape[1]):
            y = 0
            while not b >> y & 1:
                y += 1
            rest, others = a ^ (1 << x), b ^ (1 << y)
            out[a, b] = out[rest, b] + out[1 << x, others] + payoff[x, y] if rest or others else payoff[x, y]


@row
def fold_line(a: I64, b: I64, inside: int, out: I64) -> None:
    """``out[X] = max over S in X of a[S] + b[X - S]``, lines ``[Z]``, for the subsets ``X`` of ``inside`` alone."""
    x = inside
    while True:
        best = a[0] + b[x]
        subset = x
        while subset:
            best = max(best, a[subset] + b[x ^ subset])
            subset = (subset - 1) & x
        out[x] = best
        if x == 0:
            break
        x = (x - 1) & inside


@row
def _fold_tables(a: I64, b: I64, out: I64) -> None:
    """``fold_line`` of the columns of ``[Z, Z']``."""
    for column in range(a.shape[1]):
        fold_line(a[:, column], b[:, column], a.shape[0] - 1, out[:, column])


def set_values(game: Compiled) -> list[I64]:
    """Best total of every node for every pair of sets: a list of ``[2**X, 2**Y]``.

    Raises:
        ValueError: the deals are not equally likely, or a reward is not whole.
    """
    if not np.allclose(game.prior, 1.0 / game.prior.size) or not np.array_equal(game.payoff, np.rint(game.payoff)):
        raise ValueError(f"{game.id}: the exact solver needs equally likely deals and whole rewards")
    payoff = game.payoff.astype(np.int64)
    x_types, y_types = game.num_types
    tables = [np.full((1 << x_types, 1 << y_types), NOWHERE) for _ in game.player]
    for node in range(len(tables) - 1, -1, -1):
        if game.leaf[node] >= 0:
            _add_sets(payoff[game.leaf[node]], tables[node])
            continue
        transposed = game.player[node] == 1
        children = [tables[child].T if transposed else tables[child] for child in _children(game, node)]
        best = np.ascontiguousarray(children[-1])
        for child in children[-2::-1]:
            out = np.empty_like(best)
            _fold_tables(np.ascontiguousarray(child), best, out)
            best = out
        tables[node] = best.T if transposed else best
    return tables


def solve_tree(game: Compiled) -> tuple[int, F64]:
    """Best total over all deals, and a pure joint strategy ``[M, T]`` that has it.

    Raises:
        ValueError: too large; nothing that large is allocated.
    """
    if tree_bytes(game) > MAX_TREE_BYTES:
        raise ValueError(f"{game.id}: tables over sets of types need {tree_bytes(game) / 2**30:.1f} GiB")
    tables = set_values(game)
    strategy = np.zeros(game.shape)
    sets = {0: (len(tables[0]) - 1, len(tables[0][0]) - 1)}
    for node in range(len(tables)):
        if game.leaf[node] >= 0:
            continue
        children, player = _children(game, node), int(game.player[node])
        mover, other = (sets[node][player], sets[node][1 - player]) if node in sets else (0, 0)
        lines = [tables[child][other] if player else tables[child][:, other] for child in children]
        strategy[children[0]] = 1.0  # where no type arrives, the first action
        for child, part in zip(children, split_set([np.ascontiguousarray(x) for x in lines], mover), strict=True):
            types = [x for x in range(game.num_types[player]) if part >> x & 1]
            strategy[children[0], types] = 0.0
            strategy[child, types] = 1.0
            sets[child] = (part, other) if player == 0 else (other, part)
    return int(tables[0][-1, -1]), strategy


def _children(game: Compiled, node: int) -> range:
    return range(int(game.first[node]), int(game.first[node] + game.count[node]))


def best_splits(lines: Sequence[I64], whole: int) -> list[I64]:
    """Totals ``[2**n]`` of the best split of every subset of ``whole`` among ``lines`` from each of them on."""
    totals = [lines[-1]]
    for line in lines[-2::-1]:
        out = np.full(len(line), NOWHERE)
        fold_line(line, totals[0], whole, out)
        totals.insert(0, out)
    return totals


def split_set(lines: list[I64], whole: int) -> list[int]:
    """The best partition of ``whole``, one part for each of ``lines`` ``[2**n]``; earlier parts as large as can be."""
    totals = best_splits(lines, whole)
    parts = []
    for line, best, rest in zip(lines, totals, [*totals[1:], None], strict=True):
        if rest is None:
            parts.append(whole)
            break
        subset = _largest(line, rest, whole, int(best[whole]))
        parts.append(subset)
        whole ^= subset
    return parts


def _largest(line: I64, rest: I64, whole: int, total: int) -> int:
    """The largest part of ``whole`` (then the highest number) with ``line[part] + rest[whole - part] == total``."""
    parts = np.arange(len(line))
    parts = parts[parts & ~whole == 0]
    parts = parts[line[parts] + rest[whole ^ parts] == total]
    return int(parts[np.lexsort((parts, [int(part).bit_count() for part in parts]))[-1]])


def solve_messages(game: Compiled) -> tuple[int, F64]:
    """Best total over all deals of a game of one speaker and one listener, and a pure joint strategy that has it.

    The listener acts once, last, so a joint policy is a choice of one leaf below each of his nodes; the speaker then
    picks the best chosen leaf for each of her types. Leaves are chosen greedily, each for what it adds to the best ones
    so far. Greed is not optimal in general; it is proved so here, by scoring the bound of full information.

    Raises:
        ValueError: the game is not of this kind, or greed does not attain the bound.
    """
    last_nodes = np.unique(game.parent[game.leaf >= 0])
    if game.num_types[1] != 1 or not np.array_equal(last_nodes, np.flatnonzero(game.player == 1)):
        raise ValueError(f"{game.id}: too large for tables over sets of types, and not one speaker and one listener")
    strategy = np.zeros(game.shape)
    best = np.full(game.num_types[0], -np.inf)
    target = np.zeros(game.num_types[0], np.int64)
    for node in last_nodes:
        children = np.arange(game.first[node], game.first[node] + game.count[node])
        payoff = game.payoff[game.leaf[children], :, 0]
        choice = int(np.maximum(payoff, best).sum(axis=1).argmax())
        strategy[children[choice], 0] = 1.0
        better = payoff[choice] > best
        best[better], target[better] = payoff[choice, better], children[choice]
    total = float((game.prior[:, 0] * best).sum())
    if not np.isclose(total, full_information(game), rtol=0, atol=1e-12):
        raise ValueError(f"{game.id}: greed scores {total}, full information {full_information(game)}")
    for node in np.flatnonzero(game.player == 0):
        strategy[game.first[node]] = 1.0  # where no type arrives, the first action
    for x, node in enumerate(target):
        child = int(game.parent[node])
        while child > 0:
            parent = int(game.parent[child])
            strategy[game.first[parent] : game.first[parent] + game.count[parent], x] = 0.0
            strategy[child, x] = 1.0
            child = parent
    return round(total * game.prior.size), strategy


# ---- every small game --------------------------------------------------------------------


@when_compiled()
def solve(game: Solvable) -> tuple[Optimum, F64]:
    """The optimum of ``game`` and a joint strategy ``[M, T]`` that ``evaluate`` certifies.

    Raises:
        ValueError: too large to solve exactly.
    """
    game = compile_game(game)
    path = RECORDED / f"{game.id.replace('_v0(size=', '_').rstrip(')')}.json"
    if isinstance(game.game, AuctionGame) and path.exists():
        optimum = read_plan(path, game.game)
        strategy = strategy_of(game, optimum.plan or {})
    else:
        total, strategy = (solve_tree if tree_bytes(game) <= MAX_TREE_BYTES else solve_messages)(game)
        optimum = Optimum(game.id, total, game.prior.size, None)
    if not np.isclose(evaluate(game, strategy), float(optimum.value), rtol=0, atol=1e-9):
        raise ValueError(f"{game.id}: the strategy scores {evaluate(game, strategy)}, not {optimum.value}")
    return optimum, strategy


def _strategy(game: Compiled, seed: int) -> F64:
    """An optimal joint strategy; ``seed``, an argument of every solver, is not needed."""
    return solve(game)[1]


def agent() -> Solved:
    """Plays every small game that can be solved optimally."""
    return Solved("exact", _strategy)

"""A small game as flat arrays: its public tree and the private types of its two players.

Everything tabular (CFR, JPS, BAD, A2C, the exact solver, Table 1's counts) runs on this one form.
Nodes are numbered level by level, so parents come before children, the children of a node are consecutive
and in order of action, and node 0 is the root. The information set of the mover at node ``m`` who has type ``x`` is
the pair ``(m, x)``.

A **joint strategy** is a float64 array ``[M, T]``, ``T`` the larger number of types: ``strategy[c, x]`` is the
probability that the player who moves at ``parent[c]``, when his type is ``x``, chooses the action that leads to node
``c``. So the distribution of infoset ``(m, x)`` is ``strategy[first[m] : first[m] + count[m], x]``, illegal actions
take no room, and reach probabilities are one product a node. Row 0 and columns beyond the mover's types are not read.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bidzoo.kernels import F64, I8, I32, I64, Bool, Tables, row


@dataclass(frozen=True)
class Compiled:
    """``M`` public nodes, ``L`` leaves among them, ``A`` actions, ``X`` and ``Y`` types of the players."""

    id: str  # "minibridge_v0(size=4)"
    prior: F64  # [X, Y]     probability of each joint deal; sums to 1
    player: I8  # [M]        who moves; -1 at a leaf
    parent: I32  # [M]        -1 at the root
    action: I32  # [M]        the action that led here; -1 at the root
    depth: I32  # [M]        moves made so far
    child: I32  # [M, A]     -1 where the action is illegal
    first: I32  # [M]        first of the consecutive children; -1 at a leaf
    count: I32  # [M]        how many children; 0 at a leaf
    leaf: I32  # [M]        row of ``payoff``; -1 at a decision
    payoff: F64  # [L, X, Y]  common reward at each leaf

    @property
    def num_types(self) -> tuple[int, int]:
        """``(X, Y)``."""
        return self.prior.shape[0], self.prior.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """``(M, T)``: the shape of a joint strategy."""
        return len(self.player), max(self.prior.shape)


def possible(compiled: Compiled) -> Bool:
    """Types that occur, ``[2, T]``: with positive probability some deal gives that player that type."""
    out = np.zeros((2, compiled.shape[1]), np.bool_)
    for player in (0, 1):
        out[player, : compiled.num_types[player]] = compiled.prior.sum(axis=1 - player) > 0
    return out


def count_states(compiled: Compiled) -> int:
    """Histories, the root before the deal and the finished ones included ("#States" of the JPS paper's Table 1)."""
    return 1 + int(np.count_nonzero(compiled.prior)) * len(compiled.player)


def count_infosets(compiled: Compiled, terminals: Literal["none", "mover", "deal"] = "none") -> int:
    """Information sets of the players to move; with ``terminals``, the way the JPS paper's Table 1 counts.

    "none": decisions only, one for each node and possible type of its mover. "mover": also the root before
    the deal, and each leaf as the player who moved last sees it (Comm, Simple Bidding and MiniBridge in Table 1).
    "deal": also the root, and each leaf with each deal (Mini-Hanabi in Table 1).
    """
    types = possible(compiled).sum(axis=1)
    decisions = int(types[compiled.player[compiled.leaf < 0]].sum())
    leaves = compiled.leaf >= 0
    if terminals == "none":
        return decisions
    if terminals == "mover":
        return 1 + decisions + int(types[compiled.player[compiled.parent[leaves]]].sum())
    if terminals == "deal":
        return 1 + decisions + int(np.count_nonzero(leaves)) * int(np.count_nonzero(compiled.prior))
    raise ValueError(f"unknown way to count terminals: {terminals!r}; choose none, mover or deal")


def uniform(compiled: Compiled) -> F64:
    """The joint strategy ``[M, T]`` under which every legal action is equally likely."""
    out = np.ones(compiled.shape)
    out[1:] /= compiled.count[compiled.parent[1:], None]
    return out


def full_information(compiled: Compiled) -> float:
    """Mean over deals of the best leaf: no strategy is worth more."""
    return float((compiled.prior * compiled.payoff.max(axis=0)).sum())


def evaluate(compiled: Compiled, strategy: F64) -> float:
    """Expected common reward of a joint ``strategy`` ``[M, T]``.

    Raises:
        ValueError: wrong shape.
    """
    if strategy.shape != compiled.shape:
        raise ValueError(f"strategy of {compiled.id} has shape {strategy.shape}, expected {compiled.shape}")
    return float(
        value_row(
            compiled.prior,
            compiled.player,
            compiled.parent,
            compiled.leaf,
            compiled.payoff,
            np.ascontiguousarray(strategy, np.float64),
            np.ones((2, *compiled.shape)),
        )
    )


@row
def value_row(prior: F64, player: I8, parent: I32, leaf: I32, payoff: F64, strategy: F64, reach: F64) -> float:
    """Expected reward; leaves each player's own reach of every node in ``reach`` ``[2, M, T]``, which starts at 1."""
    total = 0.0
    for m in range(len(player)):
        if m > 0:
            mover = int(player[parent[m]])
            for x in range(strategy.shape[1]):
                reach[mover, m, x] = reach[mover, parent[m], x] * strategy[m, x]
                reach[1 - mover, m, x] = reach[1 - mover, parent[m], x]
        if leaf[m] >= 0:
            for x in range(prior.shape[0]):
                if reach[0, m, x] > 0.0:
                    for y in range(prior.shape[1]):
                        total += prior[x, y] * reach[0, m, x] * reach[1, m, y] * payoff[leaf[m], x, y]
    return total


def locate(compiled: Compiled, tables: Tables) -> I64:
    """Nodes ``[B]`` reached by the histories of states or views ``[B]`` of the compiled game."""
    out = np.empty(len(tables), np.int64)
    _locate(compiled.child, tables, out)
    return out


@row
def _locate(child: I32, tables: Tables, out: I64) -> None:
    for b in range(len(tables)):
        node = 0
        for turn in range(tables[b].length):
            node = int(child[node, int(tables[b].history[turn])])
        out[b] = node

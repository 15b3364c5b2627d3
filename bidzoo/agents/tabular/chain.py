"""A chain of information sets under construction: the proposals of JPS, visited depth first."""

from typing import NamedTuple

import numpy as np

from bidzoo.agents.tabular.strategy import Tree, types_row
from bidzoo.kernels import F64, I64, Bool, row


class Chain(NamedTuple):
    """At most ``D`` links; the ``d``-th makes its mover go from ``node[d]`` to ``edge[d]`` if he is of ``type[d]``."""

    node: I64  # [D]
    edge: I64  # [D]
    type: I64  # [D]
    end: I64  # [D]  no type from here on is tried
    final: Bool  # [D]  no link can follow
    idle: Bool  # [D]  a link along this edge that changes nothing was tried: all such are alike
    arrivals: I64  # [D]  how many types of the other player get here
    arriving: I64  # [D, T]  which
    gain: F64  # [D + 1]  of the first d links
    reach: F64  # [D + 1, 2, T]  altered reach of the node after d links


def chain_of(links: int, types: int) -> Chain:
    """Room for ``links`` links."""
    return Chain(
        node=np.zeros(links, np.int64),
        edge=np.zeros(links, np.int64),
        type=np.zeros(links, np.int64),
        end=np.zeros(links, np.int64),
        final=np.zeros(links, np.bool_),
        idle=np.zeros(links, np.bool_),
        arrivals=np.zeros(links, np.int64),
        arriving=np.zeros((links, types), np.int64),
        gain=np.zeros(links + 1),
        reach=np.zeros((links + 1, 2, types)),
    )


@row
def enter_row(tree: Tree, chain: Chain, m: int, d: int) -> None:
    """Make node ``m`` the place of the ``d``-th link."""
    mover = tree.player[m]
    other = 1 - mover
    chain.node[d], chain.edge[d] = m, tree.first[m] - 1
    chain.type[d], chain.end[d] = 0, 0
    chain.arrivals[d] = 0
    chain.final[d] = True
    if d + 1 < len(chain.node):
        for c in range(tree.first[m], tree.first[m] + tree.moves[m]):
            chain.final[d] &= tree.moves[c] == 0
    for o in range(tree.prior.shape[other]):
        chain.reach[d + 1, other, o] = chain.reach[d, other, o]
        if chain.reach[d, other, o] > 0.0:
            chain.arriving[d, chain.arrivals[d]] = o
            chain.arrivals[d] += 1


@row
def free_row(tree: Tree, chain: Chain, d: int) -> tuple[int, int]:
    """Types ``[begin, end)`` that the mover of the ``d``-th link can have."""
    mover = tree.player[chain.node[d]]
    if d > 0 and tree.player[chain.node[d - 1]] == mover:
        return chain.type[d - 1], chain.type[d - 1] + 1
    return 0, tree.prior.shape[mover]


@row
def advance_row(tree: Tree, strategy: F64, chain: Chain, d: int) -> bool:
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
    if chain.edge[d] == tree.first[m] + tree.moves[m]:
        return False
    for z in range(types_row(tree, m)):
        chain.reach[d + 1, mover, z] = chain.reach[d, mover, z] * strategy[chain.edge[d], z]
    chain.type[d], chain.end[d] = free_row(tree, chain, d)
    chain.idle[d] = False
    return True

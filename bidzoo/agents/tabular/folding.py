"""Kernels of the exact solver: partitions of a set of types, best in total.

A set of types is a bit mask, ``Z = 2**n`` sets. Every kernel works on ``K`` lanes at once, one lane for each of ``K``
sets of the other player: arrays ``[Z, K]`` of int16 (the callers see to it that no total leaves that range).
"""

import numpy as np
from numpy.typing import NDArray

from bidzoo.kernels import I16, I64, row

U = np.uint64  # unsigned indices spare numba the wrap-around of negative ones, and the loops vectorise
ONE = U(1)


@row
def fold(a: I16, b: I16, out: I16) -> None:
    """``out[X] = max(out[X], max over S in X of a[S] + b[X - S])``: max-plus subset convolution, ``3**n`` additions."""
    lanes = a.shape[1]
    for whole in range(a.shape[0]):
        x = U(whole)
        s = x
        while True:
            for lane in range(lanes):
                k = U(lane)
                out[x, k] = max(out[x, k], np.int16(a[s, k] + b[x ^ s, k]))
            if s == U(0):
                break
            s = (s - ONE) & x


@row
def choose(passes: I16, table: I16) -> None:
    """Let each type of the set pass instead: ``table[X] = max over S in X of table[S] + sum of passes over X - S``.

    ``passes`` ``[n, K]``, ``table`` ``[Z, K]``. One sweep a type, in place, because passes are additive.
    """
    lanes = table.shape[1]
    for z in range(passes.shape[0]):
        bit = ONE << U(z)
        for whole in range(table.shape[0]):
            x = U(whole)
            if x & bit:
                for lane in range(lanes):
                    k = U(lane)
                    table[x, k] = max(table[x, k], np.int16(table[x ^ bit, k] + passes[z, k]))


@row
def pass_rows(payoff: I64, types: int, first: int, out: I16) -> None:
    """What each type gets in total by passing: ``out[x, k] = sum of payoff[x + y]`` over ``y`` in set ``first + k``."""
    out[:] = 0
    for x in range(types):
        for y in range(types):
            for k in range(out.shape[1]):
                if (first + k) >> y & 1:
                    out[x, k] += np.int16(payoff[x + y])


@row
def sum_rows(each: I16, out: I16) -> None:
    """``out[X] = sum of each[x]`` over ``x`` in ``X``; ``each`` ``[n, K]``, ``out`` ``[2**n, K]``."""
    out[0] = 0
    for x in range(each.shape[0]):
        bit = 1 << x
        for s in range(bit):
            for k in range(out.shape[1]):
                out[bit + s, k] = np.int16(out[s, k] + each[x, k])


@row
def turn(block: I16, q: int, out: I16) -> None:
    """Transpose ``block[X, k]``, ``k`` in set ``K q + k`` of the other player, into ``out[X // K, K q + k, X % K]``."""
    lanes = block.shape[1]
    for p in range(out.shape[0]):
        for k in range(lanes):
            for lane in range(lanes):
                out[p, q * lanes + k, lane] = block[p * lanes + lane, k]


@row
def fold_line(a: I64, b: I64, inside: int, out: I64) -> None:
    """``fold`` of lines ``[Z]`` for the subsets of ``inside`` alone."""
    x = inside
    while True:
        best = a[0] + b[x]
        s = x
        while s:
            best = max(best, a[s] + b[x ^ s])
            s = (s - 1) & x
        out[x] = best
        if x == 0:
            break
        x = (x - 1) & inside


def members(mask: int) -> NDArray[np.int64]:
    """The types of a set, ascending."""
    return np.array([x for x in range(mask.bit_length()) if mask >> x & 1], np.int64)

"""Kernels of ``ladder_panels``: lines of totals, made, moved and met. ``K`` lanes, as in ``folding``."""

import numpy as np

from bidzoo.agents.tabular.folding import U, choose
from bidzoo.kernels import I16, row

LANES = 64
BITS = 6  # LANES == 2**BITS
WORST = -30000  # less than any total, and far from overflow


@row
def last_rows(each: I16, first: int, bits: int, out: I16) -> None:
    """``W_4(Y, S)`` for sets ``Y = first ... first + 2**bits - 1`` of the mover: sums over ``Y`` of ``each[S, y]``."""
    for s in range(out.shape[0]):
        base = 0
        for y in range(bits, each.shape[1]):
            if first >> y & 1:
                base += each[s, y]
        out[s, 0] = np.int16(base)
        for y in range(bits):
            for k in range(1 << y):
                out[s, (1 << y) + k] = np.int16(out[s, k] + each[s, y])


@row
def raise_rows(line: I16, extra: I16, out: I16) -> None:
    """``out[s] = max(out[s], line[s] + extra)`` for lines of lanes."""
    for s in range(out.shape[0]):
        for lane in range(out.shape[1]):
            k = U(lane)
            out[U(s), k] = max(out[U(s), k], np.int16(line[U(s), k] + extra[k]))


@row
def split_row(each: I16, calm: I16, top: int, first: int, line: I16, extra: I16, out: I16) -> None:
    """``V(X, Y)`` into ``out`` ``[2**low, K]`` for the sets ``X`` of panel ``top``, ``Y = first ...``.

    ``calm`` ``[n, K]`` is ``c(x, Y)``; ``each`` ``[Z, n]`` gives ``W_4`` (``last_rows``).
    ``line`` ``[2**low, K]`` and ``extra`` ``[K]`` are scratch.
    """
    size = out.shape[0]
    low = 0
    while 1 << low < size:
        low += 1
    out[:] = WORST
    part = top
    while True:
        last_rows(each[part * size : (part + 1) * size], first, BITS, line)
        extra[:] = 0
        for z in range(low, calm.shape[0]):
            if (top ^ part) >> (z - low) & 1:
                extra += calm[z]
        raise_rows(line, extra, out)
        if part == 0:
            break
        part = (part - 1) & top
    choose(calm[:low], out)


@row
def store_turned(block: I16, start: int, out: I16) -> None:
    """``block[X, k]`` into ``out[X // K, start + k, X % K]``."""
    lanes = block.shape[1]
    for p in range(block.shape[0] // lanes):
        for k in range(lanes):
            for lane in range(lanes):
                out[p, start + k, lane] = block[p * lanes + lane, k]


@row
def store_lines(block: I16, start: int, out: I16) -> None:
    """``block[R, k]`` into ``out[start + k, Z - 1 - R]``: one line for each set ``k``, in order of the complement."""
    for r in range(block.shape[0]):
        for k in range(block.shape[1]):
            out[start + k, block.shape[0] - 1 - r] = block[r, k]


@row
def meet_rows(block: I16, lines: I16, start: int, best: I16) -> None:
    """``best[X] = max(best[X], max over k of block[X, k] + lines[X, start + k])``."""
    lanes = block.shape[1]
    for x in range(block.shape[0]):
        top = best[x]
        for lane in range(lanes):
            top = max(top, np.int16(block[U(x), U(lane)] + lines[U(x), U(start + lane)]))
        best[x] = top

"""A layer of a network on many rows, four at a time, so that each weight read serves four of them.

Weights are packed in blocks of 64 outputs. The inputs of a row are added up in the same order, four by four, whether it
is one of four or alone: its bytes do not depend on the batch. (Products and sums are rounded one by one: nothing here
allows the compiler to fuse or to reorder them.)
"""

from typing import NamedTuple

import numpy as np

from bidzoo.kernels import F32, batched, prange, row

BLOCK = 64  # outputs; a constant, so that the inner loops become vector instructions
ROWS = 4  # written out below


class Packed(NamedTuple):
    """Weights and biases of a layer of ``outputs`` outputs."""

    weight: F32  # [blocks * inputs * 64]
    bias: F32  # [blocks * 64]
    outputs: int


def pack(weight: F32, bias: F32) -> Packed:
    """``weight`` ``[inputs, outputs]`` and ``bias`` ``[outputs]`` for ``dense``."""
    inputs, outputs = weight.shape
    blocks = -(-outputs // BLOCK)
    whole = np.zeros((inputs, blocks * BLOCK), np.float32)
    whole[:, :outputs] = weight
    biases = np.zeros(blocks * BLOCK, np.float32)
    biases[:outputs] = bias
    return Packed(np.ascontiguousarray(whole.reshape(inputs, blocks, BLOCK).swapaxes(0, 1)).ravel(), biases, outputs)


@row
def _one(x: F32, weight: F32, sums: F32) -> None:
    """``sums`` ``[64]`` += ``x`` ``[inputs]`` times a block of weights."""
    fours = len(x) // 4 * 4
    for k in range(0, fours, 4):
        w = weight[BLOCK * k : BLOCK * (k + 4)]
        a0, a1, a2, a3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        for j in range(BLOCK):
            sums[j] += (a0 * w[j] + a1 * w[BLOCK + j]) + (a2 * w[2 * BLOCK + j] + a3 * w[3 * BLOCK + j])
    for k in range(fours, len(x)):
        w = weight[BLOCK * k : BLOCK * (k + 1)]
        for j in range(BLOCK):
            sums[j] += x[k] * w[j]


@row
def _four(x: F32, weight: F32, sums: F32) -> None:
    """``_one`` for four rows: ``x`` ``[4, inputs]``, ``sums`` ``[4 * 64]``."""
    fours = x.shape[1] // 4 * 4
    for k in range(0, fours, 4):
        w = weight[BLOCK * k : BLOCK * (k + 4)]
        a0, a1, a2, a3 = x[0, k], x[0, k + 1], x[0, k + 2], x[0, k + 3]
        b0, b1, b2, b3 = x[1, k], x[1, k + 1], x[1, k + 2], x[1, k + 3]
        c0, c1, c2, c3 = x[2, k], x[2, k + 1], x[2, k + 2], x[2, k + 3]
        d0, d1, d2, d3 = x[3, k], x[3, k + 1], x[3, k + 2], x[3, k + 3]
        for j in range(BLOCK):
            w0, w1, w2, w3 = w[j], w[BLOCK + j], w[2 * BLOCK + j], w[3 * BLOCK + j]
            sums[j] += (a0 * w0 + a1 * w1) + (a2 * w2 + a3 * w3)
            sums[BLOCK + j] += (b0 * w0 + b1 * w1) + (b2 * w2 + b3 * w3)
            sums[2 * BLOCK + j] += (c0 * w0 + c1 * w1) + (c2 * w2 + c3 * w3)
            sums[3 * BLOCK + j] += (d0 * w0 + d1 * w1) + (d2 * w2 + d3 * w3)
    for k in range(fours, x.shape[1]):
        w = weight[BLOCK * k : BLOCK * (k + 1)]
        for r in range(ROWS):
            for j in range(BLOCK):
                sums[BLOCK * r + j] += x[r, k] * w[j]


@row
def rows_row(x: F32, packed: Packed, sums: F32, out: F32) -> None:
    """``x`` ``[n, inputs]``, n up to 4, times weights plus biases into ``out`` ``[n, outputs]``; ``sums``: scratch."""
    inputs = x.shape[1]
    for block in range(len(packed.bias) // BLOCK):
        weight = packed.weight[block * inputs * BLOCK : (block + 1) * inputs * BLOCK]
        for r in range(len(x)):
            sums[BLOCK * r : BLOCK * (r + 1)] = packed.bias[BLOCK * block : BLOCK * (block + 1)]
        if len(x) == ROWS:
            _four(x, weight, sums)
        else:
            for r in range(len(x)):
                _one(x[r], weight, sums[BLOCK * r : BLOCK * (r + 1)])
        for r in range(len(x)):
            for j in range(min(BLOCK, packed.outputs - BLOCK * block)):
                out[r, BLOCK * block + j] = sums[BLOCK * r + j]


@batched
def dense(x: F32, packed: Packed, out: F32) -> None:
    """``x`` ``[B, inputs]`` times weights plus biases into ``out`` ``[B, outputs]``."""
    for tile in prange((len(x) + ROWS - 1) // ROWS):
        first, end = ROWS * tile, min(ROWS * (tile + 1), len(x))
        rows_row(x[first:end], packed, np.empty(ROWS * BLOCK, np.float32), out[first:end])

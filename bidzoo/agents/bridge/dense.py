"""A layer of a network on many rows, in integers: 16-bit weights and inputs, 32-bit sums.

A sum of integers is exact in any order, so a row's bytes depend neither on the batch nor on the processor. The inputs
of a row are whole numbers of ``BITS`` bits times a power of two; the weights of an output have as many bits as no sum
can overflow with, 15 at the most. What follows the sum is float32.

Inputs go in pairs: one instruction multiplies two by two weights and adds up both (``pmaddwd``; with VNNI it adds the
sum to what was there), and LLVM finds it. Pairs of zeros are left out: of an observation's bits some are set, and a
ReLU leaves less than half. A row with few other pairs is computed by itself; of the rest, four rows share each weight
that is read.

``LANES`` sums at once are held in registers: numba has no words for them, LLVM has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from bidzoo.core.kernels import F32, I16, I32, compiled_batched, row

# four times as many sums fit in the registers
LANES = 32 if "+avx512bw" in (config.CPU_FEATURES or get_host_cpu_features()) else 16
Vector = Any

if TYPE_CHECKING or config.DISABLE_JIT:

    def load(array: I32, offset: int) -> Vector:
        """``LANES`` numbers of a contiguous ``array`` from ``offset`` on."""
        return array[offset : offset + LANES].copy()

    def store(x: Vector, array: I32, offset: int) -> None:
        """Write ``x`` into a contiguous ``array`` from ``offset`` on."""
        array[offset : offset + LANES] = x

    def add_pair(pair: int, weight: I16, offset: int, x: Vector) -> Vector:
        """``x`` plus two inputs, the first in the lower 16 bits of ``pair``, times ``weight`` from ``offset`` on."""
        inputs = np.array([pair], np.int32).view(np.int16).astype(np.int32)
        return x + weight[offset : offset + 2 * LANES].reshape(LANES, 2).astype(np.int32) @ inputs

else:
    _INT = ir.IntType(32)
    _SUMS, _WEIGHTS = ir.VectorType(_INT, LANES), ir.VectorType(ir.IntType(16), 2 * LANES)

    class VectorType(types.Type):
        """The type of a ``Vector`` in numba."""

    _vector = VectorType(f"int32 x {LANES}")

    @register_model(VectorType)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, _SUMS)

    def _pointer(context, builder, kind, array, offset, to=_SUMS):
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [offset]), to.as_pointer())

    def _lanes(builder, x, numbers):
        return builder.shuffle_vector(x, x, ir.Constant(ir.VectorType(_INT, LANES), list(numbers)))

    @intrinsic
    def load(_, array, offset):
        def code(context, builder, signature, values):
            return builder.load(_pointer(context, builder, signature.args[0], *values), align=4)

        return _vector(array, types.intp), code

    @intrinsic
    def store(_, x, array, offset):
        def code(context, builder, signature, values):
            builder.store(values[0], _pointer(context, builder, signature.args[1], *values[1:]), align=4)
            return context.get_dummy_value()

        return types.void(_vector, array, types.intp), code

    @intrinsic
    def add_pair(_, pair, weight, offset, x):
        def code(context, builder, signature, values):
            weights = builder.load(_pointer(context, builder, signature.args[1], *values[1:3], _WEIGHTS), align=2)
            first = builder.insert_element(ir.Constant(_SUMS, ir.Undefined), values[0], _INT(0))
            inputs = builder.bitcast(_lanes(builder, first, [0] * LANES), _WEIGHTS)
            products = builder.mul(*(builder.sext(x, ir.VectorType(_INT, 2 * LANES)) for x in (inputs, weights)))
            halves = [_lanes(builder, products, range(start, 2 * LANES, 2)) for start in (0, 1)]
            return builder.add(values[3], builder.add(*halves))

        return _vector(types.int32, weight, types.intp, _vector), code


# ---- layers ------------------------------------------------------------------------------

U32 = NDArray[np.uint32]  # as indices they are not checked for being negative
WIDE = 4 * LANES  # outputs of a block
CHUNK = 16  # rows that use a block of weights before the next one is read
CACHE_LINE = 64  # bytes
BITS = 12  # of an input, without its sign
NONE, RELU, GELU = range(3)  # activations


class Packed(NamedTuple):
    """A layer in blocks of ``WIDE`` outputs; those beyond the last output are 0."""

    weight: I16  # [blocks, pairs of inputs * WIDE * 2]
    step: F32  # [blocks * WIDE]  value of 1 in the weights
    bias: F32  # [blocks * WIDE]


def pack(weight: F32, bias: F32) -> Packed:
    """``weight`` ``[..., inputs, outputs]`` and ``bias`` ``[..., outputs]`` of one or more layers."""
    *layers, inputs, outputs = weight.shape
    pairs, blocks, size = -(-inputs // 2), -(-outputs // WIDE), np.abs(weight)
    least = np.maximum(size.sum(-2, np.float64) / (2 ** (31 - BITS) - inputs), size.max(-2) / (2**15 - 1))
    step = np.maximum(least, 1e-30).astype(np.float32)  # neither a sum nor a weight overflows
    whole = np.zeros((*layers, 2 * pairs, blocks * WIDE), np.int16)
    whole[..., :inputs, :outputs] = np.rint(weight / step[..., None, :])
    blockwise = np.einsum("...pibw->...bpwi", whole.reshape(*layers, pairs, 2, blocks, WIDE))
    memory = np.empty(whole.size + CACHE_LINE, np.int16)
    start = -memory.ctypes.data % CACHE_LINE // 2  # a vector that lies on two lines takes twice as long to read
    aligned = memory[start : start + whole.size].reshape(blockwise.shape)
    aligned[...] = blockwise
    steps, biases = np.zeros((2, *layers, blocks * WIDE), np.float32)
    steps[..., :outputs], biases[..., :outputs] = step, bias
    return Packed(aligned.reshape(*layers, blocks, -1), steps, biases)


@row
def whole_row(x: F32, patterns: I32, inputs: int, out: I16) -> np.float32:
    """The first ``inputs`` of ``x`` as whole numbers into ``out``; the value of 1. ``patterns``: ``x`` as integers."""
    highest = np.int32(0)
    for k in range(inputs):  # numbers are ordered as their patterns are, but for the sign
        highest = max(highest, patterns[k] & np.int32(0x7FFFFFFF))
    power = max(int(highest) >> 23, 30) - 126 - BITS
    factor, half = np.float32(math.ldexp(1.0, -power)), np.float32(0.5)
    for k in range(inputs):
        scaled = x[k] * factor
        out[k] = np.int16(scaled + (half if scaled >= 0 else -half))
    return np.float32(math.ldexp(1.0, power))


@row
def used_row(pairs: I32, used: U32) -> int:
    """Which ``pairs`` of inputs are not both 0, into ``used``; their number."""
    count = np.uint32(0)
    for k in range(len(pairs)):
        used[count] = k  # written over by the next one if they are
        count += pairs[k] != 0
    return int(count)


@row
def one_row(pairs: I32, used: U32, count: int, weight: I16, sums: I32, offset: int) -> None:
    """Add to the sums of a row, a block, from ``offset`` on, ``count`` pairs of inputs that are ``used``."""
    a, b = load(sums, offset), load(sums, offset + LANES)
    c, d = load(sums, offset + 2 * LANES), load(sums, offset + 3 * LANES)
    for n in range(count):
        k = used[n]
        pair, start = pairs[k], 2 * WIDE * k
        a = add_pair(pair, weight, start, a)
        b = add_pair(pair, weight, start + 2 * LANES, b)
        c = add_pair(pair, weight, start + 4 * LANES, c)
        d = add_pair(pair, weight, start + 6 * LANES, d)
    store(a, sums, offset)
    store(b, sums, offset + LANES)
    store(c, sums, offset + 2 * LANES)
    store(d, sums, offset + 3 * LANES)


@row
def four_row(pairs: I32, first: int, weight: I16, sums: I32, offset: int) -> None:
    """The same of rows ``first`` ... ``first + 3`` and all pairs: each weight that is read serves four rows."""
    for lane in range(0, WIDE, LANES):
        a, b = load(sums[first], offset + lane), load(sums[first + 1], offset + lane)
        c, d = load(sums[first + 2], offset + lane), load(sums[first + 3], offset + lane)
        for k in range(pairs.shape[1]):
            start = 2 * (WIDE * k + lane)
            a = add_pair(pairs[first, k], weight, start, a)
            b = add_pair(pairs[first + 1, k], weight, start, b)
            c = add_pair(pairs[first + 2, k], weight, start, c)
            d = add_pair(pairs[first + 3, k], weight, start, d)
        store(a, sums[first], offset + lane)
        store(b, sums[first + 1], offset + lane)
        store(c, sums[first + 2], offset + lane)
        store(d, sums[first + 3], offset + lane)


@row
def activate_row(x: F32, activation: int) -> None:
    """ReLU or GELU of ``x`` in place, or nothing."""
    for j in range(len(x)):
        if activation == GELU:
            x[j] = np.float32(0.5) * x[j] * (np.float32(1.0) + np.float32(math.erf(x[j] * 0.7071067811865476)))
        elif activation == RELU and x[j] < 0:
            x[j] = 0


@compiled_batched
def _dense(
    start: int, stop: int, x: F32, patterns: I32, packed: Packed, residual: F32, activation: int, out: F32
) -> None:
    inputs = min(x.shape[1], packed.weight.shape[1] // WIDE)  # wider than the layer, or one less than whole pairs
    length, outputs = packed.weight.shape[1] // (2 * WIDE), len(packed.bias)
    rows = min(CHUNK, stop - start)
    whole, sums = np.zeros((rows, 2 * length), np.int16), np.empty((rows, outputs), np.int32)
    pairs, used = whole.view(np.int32), np.empty((rows, length), np.uint32)
    counts, value = np.empty(rows, np.int64), np.empty(rows, np.float32)
    for first in range(start, stop, CHUNK):
        rows = min(CHUNK, stop - first)
        for r in range(rows):
            value[r] = whole_row(x[first + r], patterns[first + r], inputs, whole[r])
            counts[r] = used_row(pairs[r], used[r])
        sums[:] = 0
        for block in range(len(packed.weight)):
            r = 0
            while r < rows:
                if r + 4 <= rows and counts[r : r + 4].sum() > 2 * length:
                    four_row(pairs, r, packed.weight[block], sums, WIDE * block)
                    r += 4
                else:
                    one_row(pairs[r], used[r], counts[r], packed.weight[block], sums[r], WIDE * block)
                    r += 1
        for r in range(rows):
            y = out[first + r]
            for j in range(outputs):
                y[j] = np.float32(sums[r, j]) * (value[r] * packed.step[j]) + packed.bias[j]
            for j in range(outputs if len(residual) else 0):
                y[j] += residual[first + r, j]
            activate_row(y, activation)


_NOTHING = np.empty((0, 0), np.float32)


def dense(x: NDArray[Any], packed: Packed, activation: int, residual: F32 = _NOTHING) -> F32:
    """``activation(x @ weight + bias [+ residual])``, ``[B, blocks * WIDE]``.

    Args:
        x: ``[B, inputs]`` or wider, int8 or float32.
        packed: weights and biases.
        activation: NONE, RELU, GELU.
        residual: added to the outputs if it is not empty: ``[B, blocks * WIDE]``.
    """
    x = np.ascontiguousarray(x, np.float32)
    out = np.empty((len(x), len(packed.bias)), np.float32)
    _dense(x, x.view(np.int32), packed, residual, activation, out)
    return out

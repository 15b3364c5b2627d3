"""A layer of a network on many rows, four at a time, so that each weight read serves four of them.

A row's inputs are added up one after the other, whether it is one of four or alone: its bytes do not depend on the
batch. Inputs that are 0 in all four are left out: of the 480 bits of an observation some 25 are set, and a ReLU leaves
less than half of the hidden ones.

``LANES`` float32 numbers at once are held in registers: numba has no words for them, LLVM has. Each number is computed
by itself and ``fma`` rounds once (IEEE 754), so no result depends on ``LANES`` or the machine. (A processor without
that instruction, from before 2013, takes many times as long.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core.cgutils import get_or_insert_function
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from bidzoo.core.kernels import F32, compiled_batched, row

LANES = 64 if "+avx512f" in (config.CPU_FEATURES or get_host_cpu_features()) else 16  # four sums fit in the registers
Vector = Any

if TYPE_CHECKING or config.DISABLE_JIT:

    def load(array: F32, offset: int) -> Vector:
        """The numbers of a contiguous ``array`` from ``offset`` on."""
        return array[offset : offset + LANES].copy()

    def fma(a: np.float32, x: Vector, y: Vector) -> Vector:
        """``a * x + y``."""
        return (a * x.astype(np.float64) + y).astype(np.float32)

    def store(x: Vector, array: F32, offset: int) -> None:
        """Write ``x`` into a contiguous ``array`` from ``offset`` on."""
        array[offset : offset + LANES] = x

else:
    _LLVM = ir.VectorType(ir.FloatType(), LANES)
    _ZEROS = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)

    class VectorType(types.Type):
        """The type of a ``Vector`` in numba."""

    _vector = VectorType(f"float32 x {LANES}")

    @register_model(VectorType)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, _LLVM)

    def _pointer(context, builder, kind, array, offset):
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [offset]), _LLVM.as_pointer())

    @intrinsic
    def load(_, array, offset):
        def code(context, builder, signature, values):
            return builder.load(_pointer(context, builder, signature.args[0], *values), align=4)

        return _vector(array, types.intp), code

    @intrinsic
    def fma(_, a, x, y):
        def code(context, builder, signature, values):
            first = builder.insert_element(ir.Constant(_LLVM, ir.Undefined), values[0], ir.IntType(32)(0))
            all_lanes = builder.shuffle_vector(first, first, _ZEROS)
            kind = ir.FunctionType(_LLVM, [_LLVM] * 3)
            function = get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
            return builder.call(function, [all_lanes, *values[1:]])

        return _vector(types.float32, _vector, _vector), code

    @intrinsic
    def store(_, x, array, offset):
        def code(context, builder, signature, values):
            builder.store(values[0], _pointer(context, builder, signature.args[1], *values[1:]), align=4)
            return context.get_dummy_value()

        return types.void(_vector, array, types.intp), code


# ---- layers ------------------------------------------------------------------------------

U32 = NDArray[np.uint32]  # as indices they are not checked for being negative
CHUNK = 16  # rows that use a block of weights before the next one is read
NONE, RELU, GELU = range(3)  # activations


class Packed(NamedTuple):
    """Weights and biases of a layer, in blocks of ``LANES`` outputs; those beyond the last output are 0."""

    weight: F32  # [blocks, inputs * LANES]
    bias: F32  # [blocks * LANES]


def pack(weight: F32, bias: F32) -> Packed:
    """``weight`` ``[..., inputs, outputs]`` and ``bias`` ``[..., outputs]`` of one or more layers."""
    *layers, inputs, outputs = weight.shape
    blocks = -(-outputs // LANES)
    padded = np.zeros((*layers, inputs, blocks * LANES), np.float32)
    biases = np.zeros((*bias.shape[:-1], blocks * LANES), np.float32)
    padded[..., :outputs], biases[..., :outputs] = weight, bias
    blockwise = padded.reshape(*layers, inputs, blocks, LANES).swapaxes(-3, -2)
    return Packed(np.ascontiguousarray(blockwise).reshape(*layers, blocks, inputs * LANES), biases)


@row
def used_row(x: NDArray[Any], first: int, last: int, used: U32) -> None:
    """Inputs at which rows ``first`` ... ``last`` of ``x`` are not all 0, into ``used``; their number into its last."""
    inputs = len(used) - 1
    used[:] = 0
    for r in range(first, last + 1):
        for k in range(inputs):
            used[k] |= x[r, k] != 0
    count = 0
    for k in range(inputs):
        nonzero = used[k]
        used[count] = k  # count <= k: what is read next is still there
        count += nonzero
    used[inputs] = count


@row
def four_row(x: NDArray[Any], first: int, last: int, used: U32, weight: F32, bias: F32, offset: int, out: F32) -> None:
    """Outputs of four rows of ``x`` from ``first`` on, none beyond ``last``, into ``out`` from ``offset`` on."""
    second, third, fourth = min(first + 1, last), min(first + 2, last), min(first + 3, last)
    a = b = c = d = load(bias, offset)
    for n in range(used[len(used) - 1]):
        k = used[n]
        w = load(weight, LANES * k)
        a = fma(np.float32(x[first, k]), w, a)
        b = fma(np.float32(x[second, k]), w, b)
        c = fma(np.float32(x[third, k]), w, c)
        d = fma(np.float32(x[fourth, k]), w, d)
    store(d, out[fourth], offset)
    store(c, out[third], offset)
    store(b, out[second], offset)
    store(a, out[first], offset)


@row
def one_row(x: NDArray[Any], r: int, used: U32, weight: F32, bias: F32, out: F32) -> None:
    """Outputs of row ``r`` of ``x`` into ``out``, by all of its ``weight`` ``[blocks, inputs * LANES]``.

    Each sum waits for its last addition, so those of two blocks take turns. The bytes are those of ``four_row``.
    """
    blocks = len(weight)
    for block in range(0, blocks, 2):
        offset, other = LANES * block, min(block + 1, blocks - 1)
        a, b = load(bias, offset), load(bias, LANES * other)
        for n in range(used[len(used) - 1]):
            k = used[n]
            factor = np.float32(x[r, k])
            a = fma(factor, load(weight[block], LANES * k), a)
            b = fma(factor, load(weight[other], LANES * k), b)
        store(b, out[r], LANES * other)
        store(a, out[r], offset)


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
    start: int, stop: int, x: NDArray[Any], packed: Packed, residual: F32, activation: int, used: U32, out: F32
) -> None:
    for first in range(start, stop, CHUNK):
        end = min(first + CHUNK, stop)
        for four in range(first, end, 4):
            used_row(x, four, min(four + 4, end) - 1, used[four])
        alone = (end - first) % 4 == 1  # the last row: computed by itself, not four times
        if alone:
            one_row(x, end - 1, used[end - 1], packed.weight, packed.bias, out)
        for block in range(len(packed.weight)):
            for four in range(first, end - alone, 4):
                four_row(x, four, end - 1, used[four], packed.weight[block], packed.bias, LANES * block, out)
        for r in range(first, end):
            for j in range(len(out[r]) if len(residual) else 0):
                out[r, j] += residual[r, j]
            activate_row(out[r], activation)


_NOTHING = np.empty((0, 0), np.float32)


def dense(x: NDArray[Any], packed: Packed, activation: int, residual: F32 = _NOTHING) -> F32:
    """``activation(x @ weight + bias [+ residual])``, ``[B, blocks * LANES]``.

    Args:
        x: ``[B, inputs]`` or wider, int8 or float32.
        packed: weights and biases.
        activation: NONE, RELU, GELU.
        residual: added to the outputs if it is not empty: ``[B, blocks * LANES]``.
    """
    used = np.empty((len(x), packed.weight.shape[1] // LANES + 1), np.uint32)
    out = np.empty((len(x), len(packed.bias)), np.float32)
    _dense(x, packed, residual, activation, used, out)
    return out

"""Dense layers, one after the other, on many rows, in integers: 16-bit weights and inputs, 32-bit sums.

A sum of integers is exact in any order, so a row's bytes depend neither on the batch nor on the machine. Weights and
inputs are whole numbers times a power of two: the weights of an output as large as no sum can overflow (10 to 15 bits),
the inputs of a row of ``PRECISE`` bits. Biases, activations and what is added to a layer's outputs are float32.

Inputs go in pairs: one instruction multiplies two by two weights and adds up both (``pmaddwd``; with VNNI it adds the
sum to what was there). Pairs of zeros are left out: of an observation's bits some are set, and a ReLU leaves less than
half. A row with few other pairs is computed by itself; of the rest, four rows share each weight that is read.

``LANES`` sums at once are held in registers: numba has no words for them, LLVM has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core.cgutils import get_or_insert_function
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from bidzoo.core.kernels import F32, F64, I16, I32, I64, compiled_batched, row

_FEATURES = config.CPU_FEATURES or get_host_cpu_features()
LANES = 32 if "+avx512bw" in _FEATURES else 16  # four times as many sums fit in the registers
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
    _PMADDWD = (("+avx512bw", 16, "llvm.x86.avx512.pmaddw.d.512"), ("+avx2", 8, "llvm.x86.avx2.pmadd.wd"))

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

    def _lanes(builder, x, numbers, y=None):
        return builder.shuffle_vector(x, x if y is None else y, ir.Constant(ir.VectorType(_INT, len(numbers)), numbers))

    def _pair_sums(builder, x, y):
        """Products of ``x`` and ``y``, neighbours added up."""
        for feature, size, name in _PMADDWD:
            if feature in _FEATURES:  # LLVM does not see by itself that one instruction does it
                half = ir.VectorType(ir.IntType(16), 2 * size)
                kind = ir.FunctionType(ir.VectorType(_INT, size), [half, half])
                function = get_or_insert_function(builder.module, kind, name)
                parts = [list(range(start, start + 2 * size)) for start in range(0, 2 * LANES, 2 * size)]
                sums = [builder.call(function, [_lanes(builder, v, part) for v in (x, y)]) for part in parts]
                return sums[0] if len(sums) == 1 else _lanes(builder, sums[0], list(range(LANES)), sums[1])
        halves = [list(range(start, 2 * LANES, 2)) for start in (0, 1)]
        return builder.add(
            *(builder.mul(*(builder.sext(_lanes(builder, v, half), _SUMS) for v in (x, y))) for half in halves)
        )

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
            return builder.add(values[3], _pair_sums(builder, inputs, weights))

        return _vector(types.int32, weight, types.intp, _vector), code


# ---- layers ------------------------------------------------------------------------------

U32 = NDArray[np.uint32]  # as indices they are not checked for being negative
WIDE = 4 * LANES  # outputs of a block
CHUNK = 64  # rows that go through all layers together, so that a weight is read from memory once for them
CACHE_LINE = 64  # bytes
MANY = 0.5  # of the pairs of inputs: with more that are not 0, four rows are faster together than each by itself
WHOLE, PRECISE = 7, 12  # bits of the inputs: of int8, which are taken as they are, and of float32
NONE, RELU, GELU = range(3)  # activations


class Layer(NamedTuple):
    """``activation(x @ weight.T + bias [+ what went into the layer before])``."""

    weight: F32  # [outputs, inputs]
    bias: F32  # [outputs]
    activation: int = NONE
    skip: bool = False


class Packed(NamedTuple):
    """Layers in blocks of ``WIDE`` outputs; those beyond the last output are 0."""

    weight: I16  # [of all layers]  each [blocks, pairs of inputs, WIDE, 2]
    step: F32  # [outputs of all layers]  value of 1 in the weights
    bias: F32  # [outputs of all layers]
    plan: I64  # [layers, 5]  pairs of inputs, blocks, bits of the inputs, activation, whether ``skip``
    outputs: int


def pack(layers: Sequence[Layer], bits: int = PRECISE) -> Packed:
    """``layers``, first to last; ``bits`` of the first inputs: ``WHOLE`` or ``PRECISE``."""
    plan: list[tuple[int, int, int, int, bool]] = []
    for layer in layers:
        outputs, inputs = layer.weight.shape
        plan.append((-(-inputs // 2), -(-outputs // WIDE), PRECISE if plan else bits, layer.activation, layer.skip))
    sizes = [pairs * blocks * WIDE * 2 for pairs, blocks, *_ in plan]
    memory = np.zeros(2 * sum(sizes) + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE  # a vector that lies on two lines takes twice as long to read
    weight = memory[start : start + 2 * sum(sizes)].view(np.int16)
    step, bias = np.zeros((2, sum(blocks for _, blocks, *_ in plan) * WIDE), np.float32)
    end = last = 0
    for layer, size, (pairs, blocks, bits, *_) in zip(layers, sizes, plan):
        (outputs, inputs), absolute = layer.weight.shape, np.abs(layer.weight)
        most = np.maximum(absolute.sum(1, np.float64) / (2.0 ** (31 - bits) - inputs), absolute.max(1) / (2.0**15 - 1))
        powers = np.exp2(np.ceil(np.log2(np.maximum(most, 2.0**-120)))).astype(
            np.float32
        )  # no weight, no sum overflows
        whole = np.zeros((blocks * WIDE, 2 * pairs), np.int16)
        whole[:outputs, :inputs] = np.rint(layer.weight / powers[:, None])
        blockwise = whole.reshape(blocks, WIDE, pairs, 2).swapaxes(1, 2)
        weight[end : end + size].reshape(blockwise.shape)[...] = blockwise
        step[last : last + outputs], bias[last : last + outputs] = powers, layer.bias
        end, last = end + size, last + blocks * WIDE
    return Packed(weight, step, bias, np.array(plan, np.int64), len(layers[-1].bias))


@row
def whole_row(x: NDArray[Any], pattern: I32, bits: int, out: I16, size: int) -> float:
    """The first ``size`` inputs ``x`` as whole numbers of at most ``bits`` into ``out``; the value of 1.

    ``pattern``: ``x`` as integers; nothing if it holds whole numbers.
    """
    count = min(size, len(x))
    out[size - 1] = 0  # of an odd number of inputs
    if len(pattern) == 0:
        for k in range(count):
            out[k] = np.int16(x[k])
        return 1.0
    highest = np.int32(0)
    for k in range(count):  # numbers are ordered as their patterns are, but for the sign
        highest = max(highest, pattern[k] & np.int32(0x7FFFFFFF))
    power = max(int(highest) >> 23, 30) - 126 - int(bits)
    factor, half = np.float32(math.ldexp(1.0, -power)), np.float32(0.5)
    for k in range(count):
        scaled = np.float32(x[k]) * factor
        out[k] = np.int16(scaled + (half if scaled >= 0 else -half))
    return math.ldexp(1.0, power)


@row
def used_row(pairs: I32, length: int, used: U32) -> int:
    """Which of ``length`` pairs of inputs are not both 0, into ``used``; their number."""
    count = np.uint32(0)
    for k in range(length):
        used[count] = k  # written over by the next one if they are
        count += pairs[k] != 0
    return int(count)


@row
def one_row(pairs: I32, used: U32, count: int, weight: I16, begin: int, sums: I32, offset: int) -> None:
    """Sums of a row, a block, from ``offset`` on, of its ``count`` pairs of inputs that are ``used``."""
    a = b = c = d = load(sums, offset)
    for n in range(count):
        k = used[n]
        pair, start = pairs[k], begin + 2 * WIDE * k
        a = add_pair(pair, weight, start, a)
        b = add_pair(pair, weight, start + 2 * LANES, b)
        c = add_pair(pair, weight, start + 4 * LANES, c)
        d = add_pair(pair, weight, start + 6 * LANES, d)
    store(a, sums, offset)
    store(b, sums, offset + LANES)
    store(c, sums, offset + 2 * LANES)
    store(d, sums, offset + 3 * LANES)


@row
def four_row(pairs: I32, first: int, length: int, weight: I16, begin: int, sums: I32, offset: int) -> None:
    """Sums of rows ``first`` ... ``first + 3``, a block, from ``offset`` on: each weight serves four rows."""
    for lane in range(0, WIDE, LANES):
        a = b = c = d = load(sums[first], offset + lane)
        for k in range(length):
            start = begin + 2 * (WIDE * k + lane)
            a = add_pair(pairs[first, k], weight, start, a)
            b = add_pair(pairs[first + 1, k], weight, start, b)
            c = add_pair(pairs[first + 2, k], weight, start, c)
            d = add_pair(pairs[first + 3, k], weight, start, d)
        store(a, sums[first], offset + lane)
        store(b, sums[first + 1], offset + lane)
        store(c, sums[first + 2], offset + lane)
        store(d, sums[first + 3], offset + lane)


@row
def activate_row(x: F32, size: int, activation: int) -> None:
    """ReLU or GELU of the first ``size`` of ``x`` in place, or nothing."""
    for j in range(size):
        if activation == GELU:
            x[j] = np.float32(0.5) * x[j] * (np.float32(1.0) + np.float32(math.erf(x[j] * 0.7071067811865476)))
        elif activation == RELU and x[j] < 0:
            x[j] = 0


class Memory(NamedTuple):
    """Of a batch; the first rows of a thread serve all its chunks."""

    whole: I16  # [B, inputs]
    pairs: I32  # [B, pairs of inputs]  the same memory
    used: U32  # [B, pairs of inputs]
    nonzero: I64  # [B]  pairs that are
    value: F64  # [B]
    sums: I32  # [B, outputs]
    hidden: F32  # [2, B, outputs]  of layers of even and of odd number
    patterns: I32  # [2, B, outputs]  the same memory


@row
def sums_row(start: int, end: int, weight: I16, begin: int, blocks: int, length: int, memory: Memory) -> None:
    """Sums of a layer, whose weights ``begin`` there, of rows ``start`` ... ``end - 1``."""
    pairs, used, nonzero, sums = memory.pairs, memory.used, memory.nonzero, memory.sums
    for r in range(start, end):
        nonzero[r] = used_row(pairs[r], length, used[r])
        for j in range(blocks * WIDE):
            sums[r, j] = 0
    for block in range(blocks):
        first = begin + 2 * WIDE * length * block
        r = start
        while r < end:
            total = 0
            for other in range(r, min(r + 4, end)):
                total += nonzero[other]
            if r + 4 <= end and total > 4 * MANY * length:
                four_row(pairs, r, length, weight, first, sums, WIDE * block)
                r += 4
            else:
                one_row(pairs[r], used[r], nonzero[r], weight, first, sums[r], WIDE * block)
                r += 1


@compiled_batched
def _dense(start: int, stop: int, x: NDArray[Any], pattern: I32, packed: Packed, memory: Memory, out: F32) -> None:
    whole, value, sums, hidden, patterns = memory.whole, memory.value, memory.sums, memory.hidden, memory.patterns
    layers = len(packed.plan)
    for first in range(start, stop, CHUNK):
        end = start + min(CHUNK, stop - first)
        begin = offset = 0
        for n in range(layers):
            length, blocks, bits, activation, skip = packed.plan[n]
            for r in range(start, end):
                if n:
                    before = (n - 1) % 2
                    value[r] = whole_row(hidden[before, r], patterns[before, r], bits, whole[r], 2 * length)
                else:
                    here = first + r - start
                    value[r] = whole_row(x[here], pattern[here], bits, whole[r], 2 * length)
            sums_row(start, end, packed.weight, begin, blocks, length, memory)
            for r in range(start, end):
                y, scale = hidden[n % 2, r], np.float32(value[r])  # until now the outputs of the layer before last
                for j in range(blocks * WIDE):
                    added = y[j] if skip else np.float32(0)
                    y[j] = np.float32(sums[r, j]) * (scale * packed.step[offset + j]) + packed.bias[offset + j] + added
                activate_row(y, blocks * WIDE, activation)
            begin += 2 * WIDE * length * blocks
            offset += blocks * WIDE
        for r in range(start, end):
            for j in range(packed.outputs):
                out[first + r - start, j] = hidden[(layers - 1) % 2, r, j]


def propagate(x: NDArray[Any], packed: Packed) -> F32:
    """Outputs ``[B, outputs]`` of the last layer for ``x`` ``[B, inputs]``, int8 (exact) or float32 (rounded)."""
    rows, inputs, outputs = len(x), 2 * int(packed.plan[:, 0].max()), WIDE * int(packed.plan[:, 1].max())
    whole, hidden = np.empty((rows, inputs), np.int16), np.empty((2, rows, outputs), np.float32)
    memory = Memory(
        whole=whole,
        pairs=whole.view(np.int32),
        used=np.empty((rows, inputs // 2), np.uint32),
        nonzero=np.empty(rows, np.int64),
        value=np.empty(rows),
        sums=np.empty((rows, outputs), np.int32),
        hidden=hidden,
        patterns=hidden.view(np.int32),
    )
    pattern = x.view(np.int32) if x.dtype == np.float32 else np.empty((rows, 0), np.int32)
    out = np.empty((rows, packed.outputs), np.float32)
    _dense(x, pattern, packed, memory, out)
    return out

"""The layers of a network on many rows, in integers: 16-bit weights and inputs, 32-bit sums.

A sum of integers is exact in any order, so a row's bytes depend neither on the batch nor on the processor. The inputs
of a row are whole numbers of ``BITS`` bits times a power of two; the weights of an output have as many bits as no sum
can overflow with, 15 at the most. What follows the sum is float32.

Inputs go in pairs: one instruction multiplies two by two weights and adds up both (``pmaddwd``; with VNNI it adds the
sum to what was there), and LLVM finds it. Pairs of zeros are left out: of an observation's bits some are set, and a
ReLU leaves less than half. What the observations of ``CHUNK`` rows have in common, as many deals of one auction have,
is added up once. A row with few other pairs is computed by itself; of the rest, four rows share each weight.

``LANES`` sums at once are held in registers: numba has no words for them, LLVM has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from bidzoo.core.calls import Call
from bidzoo.core.kernels import F32, I16, I32, I64, assign_row, compiled_batched, row, rows_a_thread

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
ROWS = 4096  # rows that are made float32 at once: new memory for all would take longer than writing it
BITS = 12  # of an input, without its sign
NONE, RELU, GELU = range(3)  # activations


class Linear(NamedTuple):
    """``activation(x @ weight + bias [+ what the layer before the last one returned])``."""

    weight: F32  # [inputs, outputs]
    bias: F32  # [outputs]
    activation: int = NONE
    skip: bool = False  # adds what the layer before the last one returned


class Packed(NamedTuple):
    """Layers in blocks of ``WIDE`` outputs, one after the other; those beyond a layer's last output are 0."""

    weight: I16  # by layer: [blocks, pairs of inputs, WIDE, 2]
    step: F32  # by layer: [blocks * WIDE]  value of 1 in the weights
    bias: F32  # as ``step``
    layers: I64  # [N, 4]  inputs, outputs, activation, whether there is a skip


def pack(*layers: Linear) -> Packed:
    """``layers``, each with as many inputs as the one before has outputs."""
    parts = [_whole(layer.weight) for layer in layers]
    memory = np.empty(sum(weight.size for weight, _ in parts) + CACHE_LINE, np.int16)
    start = -memory.ctypes.data % CACHE_LINE // 2  # a vector that lies on two lines takes twice as long to read
    weight = np.concatenate(
        [weight.ravel() for weight, _ in parts], out=memory[start : start + memory.size - CACHE_LINE]
    )
    bias = [np.pad(layer.bias, (0, len(step) - len(layer.bias))) for layer, (_, step) in zip(layers, parts)]
    table = [(*layer.weight.shape, layer.activation, layer.skip) for layer in layers]
    return Packed(weight, np.concatenate([step for _, step in parts]), np.concatenate(bias), np.array(table, np.int64))


def _whole(weight: F32) -> tuple[I16, F32]:
    """``weight`` ``[inputs, outputs]`` as whole numbers in blocks, and what 1 is worth for each output."""
    inputs, outputs = weight.shape
    pairs, blocks, size = -(-inputs // 2), -(-outputs // WIDE), np.abs(weight)
    least = np.maximum(size.sum(0, np.float64) / (2 ** (31 - BITS) - inputs), size.max(0) / (2**15 - 1))
    step = np.zeros(blocks * WIDE, np.float32)
    step[:outputs] = np.maximum(least, 1e-30)  # neither a sum nor a weight overflows
    whole = np.zeros((2 * pairs, blocks * WIDE), np.int16)
    with np.errstate(invalid="ignore"):  # a training that diverges says so itself
        whole[:inputs, :outputs] = np.rint(weight / step[:outputs])
    return np.einsum("pibw->bpwi", whole.reshape(pairs, 2, blocks, WIDE)), step


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
def used_row(pairs: I32, length: int, used: U32) -> int:
    """Which of the first ``length`` ``pairs`` of inputs are not both 0, into ``used``; their number."""
    count = np.uint32(0)
    for k in range(length):
        used[count] = k  # written over by the next one if they are
        count += pairs[k] != 0
    return int(count)


@row
def shared_row(pairs: I32, rows: int, length: int, differences: I32, shared: U32) -> int:
    """Which of the first ``length`` pairs all ``rows`` have, but not as 0, into ``shared``; their number."""
    differences[:length] = 0
    for r in range(1, rows):
        for k in range(length):
            differences[k] |= pairs[r, k] ^ pairs[0, k]
    count = np.uint32(0)
    for k in range(length):
        shared[count] = k
        count += (differences[k] == 0) & (pairs[0, k] != 0)
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
def four_row(pairs: I32, first: int, length: int, weight: I16, sums: I32, offset: int) -> None:
    """The same of rows ``first`` ... ``first + 3`` and all ``length`` pairs: a weight that is read serves four rows."""
    for lane in range(0, WIDE, LANES):
        a, b = load(sums[first], offset + lane), load(sums[first + 1], offset + lane)
        c, d = load(sums[first + 2], offset + lane), load(sums[first + 3], offset + lane)
        for k in range(length):
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
def layer_row(pairs: I32, used: U32, counts: I64, rows: int, length: int, weight: I16, sums: I32, outputs: int) -> None:
    """Add to the sums of ``rows`` and ``outputs`` what the ``used`` ones of ``length`` pairs of inputs are worth."""
    size = 2 * length * WIDE
    for block in range(outputs // WIDE):
        part, r = weight[block * size : (block + 1) * size], 0
        while r < rows:
            if r + 4 <= rows and counts[r : r + 4].sum() > 2 * length:
                four_row(pairs, r, length, part, sums, WIDE * block)
                r += 4
            else:
                one_row(pairs[r], used[r], counts[r], part, sums[r], WIDE * block)
                r += 1


@row
def activate_row(x: F32, outputs: int, activation: int) -> None:
    """ReLU or GELU of the first ``outputs`` of ``x`` in place, or nothing."""
    for j in range(outputs):
        if activation == GELU:
            x[j] = np.float32(0.5) * x[j] * (np.float32(1.0) + np.float32(math.erf(x[j] * 0.7071067811865476)))
        elif activation == RELU and x[j] < 0:
            x[j] = 0


# Four passes over the rows make a layer: inputs become whole numbers; in the first layer what all rows share is added
# once; what is left of each row is added; sums become outputs.


@row
def round_pass_row(x: F32, patterns: I32, rows: int, inputs: int, padded: int, whole: I16, value: F32) -> None:
    """Inputs ``x`` as ``whole`` numbers, zeros from there to ``padded``; by row, what one of them is worth."""
    for r in range(rows):
        value[r] = whole_row(x[r], patterns[r], inputs, whole[r])
        whole[r, inputs:padded] = 0


@row
def shared_pass_row(
    pairs: I32,
    used: U32,
    counts: I64,
    rows: int,
    length: int,
    differences: I32,
    weight: I16,
    sums: I32,
    outputs: int,
) -> None:
    """What all rows of inputs have in common into each row's sums, and out of its ``pairs``."""
    counts[0] = shared_row(pairs, rows, length, differences, used[0])
    layer_row(pairs, used, counts, 1, length, weight, sums, outputs)
    shared = counts[0]
    for r in range(rows):
        if r > 0:
            assign_row(sums[r, :outputs], sums[0])
        for n in range(shared):
            pairs[r, used[0, n]] = 0


@row
def own_pass_row(
    pairs: I32, used: U32, counts: I64, rows: int, length: int, weight: I16, sums: I32, outputs: int
) -> None:
    """What is left of each row's inputs, added to its sums."""
    for r in range(rows):
        counts[r] = used_row(pairs[r], length, used[r])
    layer_row(pairs, used, counts, rows, length, weight, sums, outputs)


@row
def output_pass_row(
    sums: I32,
    value: F32,
    step: F32,
    bias: F32,
    before: F32,
    skip: int,
    activation: int,
    rows: int,
    outputs: int,
    y: F32,
) -> None:
    """Outputs ``y`` of a layer from its sums; with ``skip`` those of the layer ``before`` the last are added."""
    for r in range(rows):
        for j in range(outputs):
            y[r, j] = np.float32(sums[r, j]) * (value[r] * step[j]) + bias[j]
        for j in range(outputs if skip else 0):
            y[r, j] += before[r, j]
        activate_row(y[r], outputs, activation)


@compiled_batched
@rows_a_thread(16)
def _dense(start: int, stop: int, x: F32, patterns: I32, packed: Packed, out: F32) -> None:
    rows, layers = min(CHUNK, stop - start), packed.layers
    length, widest = (layers[:, 0].max() + 1) // 2, -(-layers[:, 1].max() // WIDE) * WIDE
    whole, sums = np.zeros((rows, 2 * length), np.int16), np.empty((rows, widest), np.int32)
    pairs, used = whole.view(np.int32), np.empty((rows, length), np.uint32)
    counts, value = np.empty(rows, np.int64), np.empty(rows, np.float32)
    hidden = np.empty((3, rows, widest), np.float32)  # of the last three layers
    hidden_patterns, differences = hidden.view(np.int32), np.empty(length, np.int32)
    for first in range(start, stop, CHUNK):
        rows, weights, places = min(CHUNK, stop - first), 0, 0
        for n in range(len(layers)):
            inputs, activation, skip = layers[n, 0], layers[n, 2], layers[n, 3]
            length, outputs = (inputs + 1) // 2, -(-layers[n, 1] // WIDE) * WIDE
            weight, step, bias = packed.weight[weights:], packed.step[places:], packed.bias[places:]
            if n == 0:
                round_pass_row(x[first:], patterns[first:], rows, inputs, 2 * length, whole, value)
            else:
                last = (n - 1) % 3
                round_pass_row(hidden[last], hidden_patterns[last], rows, inputs, 2 * length, whole, value)
            sums[:rows, :outputs] = 0
            if n == 0 and rows > 1:
                shared_pass_row(pairs, used, counts, rows, length, differences, weight, sums, outputs)
            own_pass_row(pairs, used, counts, rows, length, weight, sums, outputs)
            before = hidden[(n + 1) % 3]
            output_pass_row(sums, value, step, bias, before, skip, activation, rows, outputs, hidden[n % 3])
            weights += 2 * length * outputs
            places += outputs
        for r in range(rows):
            for j in range(out.shape[1]):
                out[first + r, j] = hidden[(len(layers) - 1) % 3, r, j]


def dense(x: NDArray[Any], packed: Packed) -> F32:
    """The outputs ``[B, outputs]`` of the last layer for inputs ``x`` ``[B, inputs]``, int8 or float32."""
    out = np.empty((len(x), packed.layers[-1, 1]), np.float32)
    if len(x) <= ROWS:
        x = np.ascontiguousarray(x, np.float32)
        _dense(x, x.view(np.int32), packed, out)
        return out
    given = np.empty((ROWS, x.shape[1]), np.float32)
    for start in range(0, len(x), ROWS):
        part = given[: len(x) - start]
        part[:] = x[start : start + ROWS]
        _dense(part, part.view(np.int32), packed, out[start : start + ROWS])
    return out


class DenseRow:
    """``dense`` of one row, again and again: memory and compiled forms are found once."""

    def __init__(self, packed: Packed, x: NDArray[Any]) -> None:
        """``x``: ``[1, inputs]``, int8 or float32, read at every run; ``out``: ``[1, outputs]``."""
        self._given, self._x = x, np.empty(x.shape, np.float32)
        self.out = np.empty((1, packed.layers[-1, 1]), np.float32)
        self._run = Call(_dense, self._x, self._x.view(np.int32), packed, self.out)

    def run(self) -> None:
        """Write ``out``."""
        self._x[:] = self._given
        self._run.run()

"""Layers of integers against sums written out; also run uncompiled."""

import numpy as np
import pytest

from bidzoo.agents.bridge.dense import GELU, NONE, PRECISE, RELU, WHOLE, WIDE, Layer, pack, propagate


def power_of_two(least):
    return np.exp2(np.ceil(np.log2(least)))


def whole(weight, bits):
    """Weights ``[outputs, inputs]`` as whole numbers, and the value of 1 for each output."""
    sums = np.abs(weight).sum(1, np.float64) / (2.0 ** (31 - bits) - weight.shape[1])
    step = power_of_two(np.maximum(sums, np.abs(weight).max(1) / (2.0**15 - 1)))[:, None]
    return np.rint(weight / step).astype(np.int64), step[:, 0]


def rounded(x):
    """Inputs as whole numbers, away from 0 where two are as near, and the value of 1 for each row."""
    step = 2.0 ** (np.frexp(np.abs(x).max(1, keepdims=True))[1] - PRECISE)
    return (np.sign(x) * np.floor(np.abs(x) / step + 0.5)).astype(np.int64), step


def written_out(x, layers, bits):
    """In integers of 64 bits, which hold any sum; float32 from the sum on."""
    before = None
    for n, layer in enumerate(layers):
        weight, step = whole(layer.weight, PRECISE if n else bits)
        numbers, value = (x.astype(np.int64), np.ones((len(x), 1))) if bits == WHOLE and not n else rounded(x)
        sums = numbers @ weight.T
        assert np.abs(sums).max(initial=0) < 2**31
        out = sums.astype(np.float32) * (value * step).astype(np.float32) + layer.bias
        out = out + before if layer.skip else out
        before, x = x, np.where((layer.activation == RELU) & (out < 0), np.float32(0), out).astype(np.float32)
    return x


def layer(inputs, outputs, seed=1, **more):
    rng = np.random.default_rng(seed)
    return Layer(
        rng.normal(size=(outputs, inputs)).astype(np.float32), rng.normal(size=outputs).astype(np.float32), **more
    )


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (30, 16), (9, WIDE + 1), (50, 2 * WIDE)])
@pytest.mark.parametrize("activation", [NONE, RELU])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_every_row_is_its_sum(inputs, outputs, activation, kind, share):
    """To the last bit, on any number of rows, whichever inputs are 0."""
    layers, bits = [layer(inputs, outputs, activation=activation)], WHOLE if kind is np.int8 else PRECISE
    rng, packed = np.random.default_rng(2), pack(layers, bits)
    for n in (0, 1, 3, 4, 5, 17, 70):
        x = (rng.normal(0, 3, (n, inputs)) * (rng.random((n, inputs)) < share)).astype(kind)
        if n > 3:
            x[3] = 0
        expected = written_out(x, layers, bits)
        np.testing.assert_array_equal(propagate(x, packed), expected)


def test_layers_follow_each_other():
    """With what went into the layer before, added before the activation; rows do not depend on the batch."""
    layers = [layer(20, 33, activation=RELU), layer(33, 33, 2, activation=RELU), layer(33, 33, 3, activation=RELU)]
    layers = [*layers[:2], layers[2]._replace(skip=True), layer(33, 5, 4)]
    x = (np.random.default_rng(5).random((66, 20)) < 0.3).astype(np.int8)
    packed = pack(layers, WHOLE)
    out = propagate(x, packed)
    np.testing.assert_array_equal(out, written_out(x, layers, WHOLE))
    np.testing.assert_array_equal(
        out, np.concatenate([propagate(x[:7], packed), propagate(x[7:8], packed), propagate(x[8:], packed)])
    )


@pytest.mark.parametrize("size", [1, 1e-25, 1e25])
def test_no_sum_overflows(size):
    """All inputs at their largest, all weights of one sign, of any size."""
    weight = np.full((2, 700), size, np.float32)
    weight[1] = -size * np.linspace(0.1, 1, 700)
    layers = [Layer(weight, np.zeros(2, np.float32))]
    for x, bits in ((np.full((1, 700), -128, np.int8), WHOLE), (np.full((1, 700), -1.999, np.float32), PRECISE)):
        out = propagate(x, pack(layers, bits))
        np.testing.assert_allclose(out, (x.astype(np.float64) @ weight.T.astype(np.float64)), rtol=2e-3)


def test_gelu():
    """x times the chance that a standard normal number is below x."""
    x = np.array([[-3.0], [-0.5], [0.0], [1.0], [4.0]], np.float32)
    out = propagate(x, pack([Layer(np.ones((1, 1), np.float32), np.zeros(1, np.float32), GELU)]))
    below = [0.0013498980, 0.3085375387, 0.5, 0.8413447461, 0.9999683288]
    np.testing.assert_allclose(out[:, 0], x[:, 0] * below, atol=1e-6)

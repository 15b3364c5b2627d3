"""A layer of integers against sums written out; also run uncompiled."""

import numpy as np
import pytest

from bidzoo.agents.bridge.dense import BITS, GELU, NONE, RELU, WIDE, dense, pack


def whole(weight):
    """Weights ``[inputs, outputs]`` as whole numbers, and the value of 1 for each output."""
    sums = np.abs(weight).sum(0, np.float64) / (2.0 ** (31 - BITS) - len(weight))
    step = np.maximum(sums, np.abs(weight).max(0) / (2.0**15 - 1)).astype(np.float32)
    return np.rint(weight / step).astype(np.int64), step


def rounded(x):
    """Inputs as whole numbers, away from 0 where two are as near, and the value of 1 for each row."""
    step = 2.0 ** (np.frexp(np.abs(x).max(1, keepdims=True))[1] - BITS)
    return (np.sign(x) * np.floor(np.abs(x) / step + 0.5)).astype(np.int64), step.astype(np.float32)


def written_out(x, weight, bias, before, activation):
    """In integers of 64 bits, which hold any sum; float32 from the sum on."""
    (weight, step), (x, value) = whole(weight), rounded(x)
    sums = x @ weight
    assert np.abs(sums).max(initial=0) < 2**31
    out = sums.astype(np.float32) * (value * step) + bias + before
    return np.where((activation == RELU) & (out < 0), np.float32(0), out)


def layer(inputs, outputs, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(inputs, outputs)).astype(np.float32), rng.normal(size=outputs).astype(np.float32)


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (30, 16), (9, WIDE + 1), (50, 2 * WIDE)])
@pytest.mark.parametrize("activation", [NONE, RELU])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_every_row_is_its_sum(inputs, outputs, activation, kind, share):
    """To the last bit, on any number of rows, whichever inputs are 0."""
    weight, bias = layer(inputs, outputs)
    rng = np.random.default_rng(2)
    packed = pack(weight, bias)
    for n in (0, 1, 3, 4, 5, 17, 38):
        x = (rng.normal(0, 3, (n, inputs)) * (rng.random((n, inputs)) < share)).astype(kind)
        before = np.zeros((n, len(packed.bias)), np.float32)
        before[:, :outputs] = rng.normal(size=(n, outputs))
        for given in (before, before[:0]):
            out = dense(x, packed, activation, given)
            expected = written_out(x, weight, bias, before[:, :outputs] if len(given) else np.float32(0), activation)
            np.testing.assert_array_equal(out[:, :outputs], expected)
            assert (out[:, outputs:] == 0).all()  # the next layer leaves these out


@pytest.mark.parametrize("size", [1, 1e-25, 1e25])
def test_no_sum_overflows(size):
    """All inputs at their largest, all weights of one sign, of any size."""
    weight = np.full((700, 2), size, np.float32)
    weight[:, 1] = -size * np.linspace(0.1, 1, 700)
    for x in (np.full((1, 700), -128, np.int8), np.full((1, 700), -1.9999, np.float32)):
        out = dense(x, pack(weight, np.zeros(2, np.float32)), NONE)[:, :2]
        np.testing.assert_allclose(out, x.astype(np.float64) @ weight, rtol=2e-3)


def test_gelu():
    """x times the chance that a standard normal number is below x."""
    x = np.array([[-3.0], [-0.5], [0.0], [1.0], [4.0]], np.float32)
    out = dense(x, pack(np.ones((1, 1), np.float32), np.zeros(1, np.float32)), GELU)
    below = [0.0013498980, 0.3085375387, 0.5, 0.8413447461, 0.9999683288]
    np.testing.assert_allclose(out[:, 0], x[:, 0] * below, atol=1e-6)


def test_layers_are_packed_alone_or_in_a_stack():
    weights, biases = zip(*(layer(7, 5, seed) for seed in range(3)))
    together = pack(np.stack(weights), np.stack(biases))
    for n in range(3):
        for part, alone in zip(together, pack(weights[n], biases[n])):
            np.testing.assert_array_equal(part[n], alone)

"""Layers of integers against sums written out; also run uncompiled."""

from itertools import pairwise

import numpy as np
import pytest

from bidzoo.agents.bridge.dense import BITS, CHUNK, GELU, NONE, RELU, WIDE, DenseRow, Linear, dense, pack


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
    packed = pack(Linear(weight, bias, activation))
    for n in (0, 1, 3, 4, 5, 17, 38):
        x = (rng.normal(0, 3, (n, inputs)) * (rng.random((n, inputs)) < share)).astype(kind)
        np.testing.assert_array_equal(dense(x, packed), written_out(x, weight, bias, np.float32(0), activation))


@pytest.mark.parametrize("common", [0, 17, 60])
def test_what_rows_have_in_common_counts_in_each(common):
    """The first ``common`` inputs are the same in all rows, or in all but one of a chunk."""
    weight, bias = layer(61, 20)
    x = (np.random.default_rng(3).random((2 * CHUNK + 3, 61)) < 0.5).astype(np.int8)
    x[:, :common] = x[0, :common]
    x[CHUNK + 1, :common] = 1 - x[0, :common]
    expected = written_out(x, weight, bias, np.float32(0), NONE)
    np.testing.assert_array_equal(dense(x, pack(Linear(weight, bias))), expected)
    for row in range(len(x)):
        np.testing.assert_array_equal(dense(x[row : row + 1], pack(Linear(weight, bias)))[0], expected[row])


@pytest.mark.parametrize("skips", [(), (2,), (2, 3, 4)])
def test_layers_follow_each_other(skips):
    """Of different widths, odd and even; a skip adds what the layer before the last one returned."""
    sizes = (11, WIDE + 3, 5, WIDE + 3, 5, 7) if not skips else (11, *[WIDE + 3] * 5)
    layers = [
        Linear(*layer(inputs, outputs, n), RELU if n < 4 else NONE, n in skips)
        for n, (inputs, outputs) in enumerate(pairwise(sizes))
    ]
    x = np.random.default_rng(3).normal(size=(21, 11)).astype(np.float32)
    before, hidden = None, x
    for each in layers:
        added = before if each.skip else np.float32(0)
        before, hidden = hidden, written_out(hidden, each.weight, each.bias, added, each.activation)
    np.testing.assert_array_equal(dense(x, pack(*layers)), hidden)


@pytest.mark.parametrize("size", [1, 1e-25, 1e25])
def test_no_sum_overflows(size):
    """All inputs at their largest, all weights of one sign, of any size."""
    weight = np.full((700, 2), size, np.float32)
    weight[:, 1] = -size * np.linspace(0.1, 1, 700)
    for x in (np.full((1, 700), -128, np.int8), np.full((1, 700), -1.9999, np.float32)):
        out = dense(x, pack(Linear(weight, np.zeros(2, np.float32))))
        np.testing.assert_allclose(out, x.astype(np.float64) @ weight, rtol=2e-3)


def test_gelu():
    """x times the chance that a standard normal number is below x."""
    x = np.array([[-3.0], [-0.5], [0.0], [1.0], [4.0]], np.float32)
    out = dense(x, pack(Linear(np.ones((1, 1), np.float32), np.zeros(1, np.float32), GELU)))
    below = [0.0013498980, 0.3085375387, 0.5, 0.8413447461, 0.9999683288]
    np.testing.assert_allclose(out[:, 0], x[:, 0] * below, atol=1e-6)


def test_many_rows_in_parts_and_one_row_again_and_again(monkeypatch):
    packed = pack(Linear(*layer(60, 40), RELU), Linear(*layer(40, 5, 2)))
    x = np.random.default_rng(3).integers(0, 2, (23, 60), np.int8)
    expected, one = dense(x, packed), x[:1].copy()
    row = DenseRow(packed, one)
    for given, wanted in zip(x, expected, strict=True):
        one[0] = given
        row.run()
        np.testing.assert_array_equal(row.out[0], wanted)
    monkeypatch.setattr("bidzoo.agents.bridge.dense.ROWS", 7)
    np.testing.assert_array_equal(dense(x, packed), expected)
    np.testing.assert_array_equal(dense(x[:21].astype(np.float32), packed), expected[:21])
    assert dense(x[:0], packed).shape == (0, 5)

"""Layers four rows at a time against sums written out; also run uncompiled."""

import numpy as np
import pytest

from bidzoo.agents.bridge.dense import GELU, LANES, NONE, RELU, dense, pack


def written_out(x, weight, bias, before, activation):
    """Input after input, product and sum rounded once (but for the sum in float64, which changes no number here)."""
    out = np.tile(bias, (len(x), 1))
    for k in range(len(weight)):
        out = (x[:, k, None].astype(np.float64) * weight[k] + out).astype(np.float32)
    out += before
    return np.where((activation == RELU) & (out < 0), np.float32(0), out)


def layer(inputs, outputs, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(inputs, outputs)).astype(np.float32), rng.normal(size=outputs).astype(np.float32)


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (30, 16), (9, LANES + 1), (50, 2 * LANES)])
@pytest.mark.parametrize("activation", [NONE, RELU])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
def test_every_row_is_its_sum(inputs, outputs, activation, kind):
    """To the last bit, on any number of rows, whichever inputs are 0."""
    weight, bias = layer(inputs, outputs)
    rng = np.random.default_rng(2)
    packed = pack(weight, bias)
    for n in (0, 1, 3, 4, 5, 17, 38):
        x = (rng.normal(0, 3, (n, inputs)) * (rng.random((n, inputs)) < 0.3)).astype(kind)
        before = np.zeros((n, len(packed.bias)), np.float32)
        before[:, :outputs] = rng.normal(size=(n, outputs))
        for given in (before, before[:0]):
            out = dense(x, packed, activation, given)
            expected = written_out(x, weight, bias, before[:, :outputs] if len(given) else np.float32(0), activation)
            np.testing.assert_array_equal(out[:, :outputs], expected)
            assert (out[:, outputs:] == 0).all()  # the next layer leaves these out


def test_a_product_is_not_rounded_before_it_is_added():
    """(1 + e)^2 - 1 - 2e = e^2, which rounding the product first would lose."""
    e = np.float32(2.0**-12)
    out = dense(np.array([[1 + e]]), pack(np.array([[1 + e]]), np.array([-1 - 2 * e])), NONE)
    assert out[0, 0] == e * e


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
        alone = pack(weights[n], biases[n])
        np.testing.assert_array_equal(together.weight[n], alone.weight)
        np.testing.assert_array_equal(together.bias[n], alone.bias)

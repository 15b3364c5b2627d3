"""``experiments/weight_averaging.py``: the mean of weights, its file and its provenance."""

import numpy as np
import pytest
import typer
import weight_averaging
from typer.testing import CliRunner

from bidzoo.agents.bridge.network import Architecture, Network, load_weights, save_weights
from bidzoo.core.cards import NUM_CALLS

SHAPE = Architecture("openspiel480", NUM_CALLS, width=8, depth=1)


def network(seed, shape=SHAPE):
    rng = np.random.default_rng(seed)
    return Network(shape, {name: rng.normal(0, 0.3, size).astype(np.float32) for name, size in shape.shapes.items()})


def run(*words):
    app = typer.Typer()
    app.command()(weight_averaging.main)
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("shares", [[0.25, 0.75], [-0.5, 1.5]])
def test_each_network_has_its_share(shares):
    first, second = network(1), network(2)
    mean = weight_averaging.mean_network([first, second], shares)
    for name, array in mean.tensors.items():
        expected = shares[0] * first.tensors[name] + shares[1] * second.tensors[name]
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)


def test_networks_that_have_no_mean_are_refused():
    with pytest.raises(ValueError, match="network 2 is"):
        weight_averaging.mean_network(
            [network(1), network(2, Architecture("openspiel480", NUM_CALLS, width=9, depth=1))], [0.5, 0.5]
        )
    for shares in ([1.0], [0.5, 0.4]):
        with pytest.raises(ValueError, match="expected 2 that sum to 1"):
            weight_averaging.mean_network([network(1), network(2)], shares)


@pytest.mark.parametrize("bits", [5, 11])
def test_the_file_keeps_so_many_bits_and_says_what_it_was_made_of(tmp_path, bits):
    files = [tmp_path / f"{seed}.safetensors" for seed in (1, 2, 3)]
    for seed, file in enumerate(files):
        save_weights(file, network(seed), {"seed": seed})
    result = run(*files, "--out", tmp_path / "mean.safetensors", "--bits", bits)
    assert result.exit_code == 0, result.output
    mean, provenance = load_weights(tmp_path / "mean.safetensors")
    stored = [load_weights(file)[0] for file in files]
    assert provenance["significant_bits"] == bits
    assert [each["provenance"] for each in provenance["networks"]] == [{"seed": seed} for seed in range(3)]
    assert [each["digest"] for each in provenance["networks"]] == [each.digest for each in stored]
    for name, array in mean.tensors.items():
        expected = np.mean([each.tensors[name] for each in stored], axis=0)
        np.testing.assert_allclose(array, expected, rtol=2.0**-bits, atol=1e-6)
        mantissa, _ = np.frexp(array)
        np.testing.assert_array_equal(mantissa * 2**bits, np.rint(mantissa * 2**bits))


def test_packaged_weights_are_named(tmp_path):
    result = run("a2c-bridge", "jps-bridge", "--share", "1", "--share", "0", "--out", tmp_path / "mean.safetensors")
    assert result.exit_code == 0, result.output
    same, provenance = load_weights(tmp_path / "mean.safetensors")
    assert provenance["networks"][1]["share"] == 0 and same.architecture.width == 200


def test_one_shortened_network_keeps_its_own_provenance(tmp_path):
    save_weights(tmp_path / "one.safetensors", network(1), {"algorithm": "rpi", "seed": 1})
    result = run(tmp_path / "one.safetensors", "--bits", 5, "--out", tmp_path / "short.safetensors")
    assert result.exit_code == 0, result.output
    short, provenance = load_weights(tmp_path / "short.safetensors")
    assert provenance == {"algorithm": "rpi", "seed": 1, "significant_bits": 5}
    expected = weight_averaging.shortened(load_weights(tmp_path / "one.safetensors")[0], 5)
    for name, array in short.tensors.items():
        np.testing.assert_array_equal(array, expected.tensors[name])

"""``baseline19``: what the PNN sees, what the ENN says, and that they play at any auction."""

import pickle

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.agents.bridge import baseline19, network
from bidzoo.agents.bridge.baseline19 import Baseline19, Networks, Widths
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.auctions import record
from bidzoo.core.cards import hand_cards
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.formats.auctions import Positions

SMALL = Widths(12, 20)


@pytest.fixture(scope="module")
def wild():
    """60 auctions of random calls: doubles, redoubles and high bids everywhere."""
    return record(Uniform(), 60, seed=9)


@pytest.fixture(scope="module")
def networks():
    """Random weights, of some size, so that chances are not all a half."""
    draw, tensors = np.random.default_rng(3), {}
    for name, shape in SMALL.shapes.items():
        scale = min(shape[-1], 25) ** -0.5 if name.endswith("weight") else 0  # some 25 bits are set
        tensors[name] = draw.normal(0, scale, shape).astype(np.float32)
    return Networks(SMALL, tensors)


def same(one, other):
    for name, tensor in one.tensors.items():
        np.testing.assert_array_equal(tensor, other.tensors[name], err_msg=name)


def plain(tensors, part, x):
    """Outputs of one of the networks, layer by layer: ten hidden ones, every second of a block with a skip."""
    before = here = x
    for n in range(11):
        out = here @ tensors[f"{part}.layers.{n}.weight"].T + tensors[f"{part}.layers.{n}.bias"]
        if n in (2, 4, 7, 9):
            out = out + before
        before, here = here, np.maximum(out, 0) if n < 10 else out
    return here


def test_the_pnn_sees_what_its_player_sees_and_the_estimates(networks, wild):
    """Put together again in float64, from cards and calls, without the encoder's places of the hand."""
    positions = Positions(wild, np.arange(60))
    views, _, _ = positions.at(np.arange(500))
    x = networks.architecture.encoder(views).astype(np.float64)
    tensors = {name: array.astype(np.float64) for name, array in networks.tensors.items()}
    chances = 1 / (1 + np.exp(-plain(tensors, "enn", x)))
    for row, view in enumerate(views):
        chances[row, hand_cards(int(view["hand"]))] = 0
    np.testing.assert_allclose(baseline19.estimates(networks.enn, x), chances, atol=2e-3)
    wanted = plain(tensors, "pnn", np.hstack([x, chances]))
    np.testing.assert_allclose(networks(x), wanted, atol=2e-3 * np.abs(wanted).max())
    assert wanted.std() > 0.1


def test_estimates_are_chances_and_no_own_card_is_partners(networks, wild):
    positions = Positions(wild, np.arange(60))
    views, _, _ = positions.at(np.arange(len(positions)))
    chances = baseline19.estimates(networks.enn, networks.architecture.encoder(views))
    own = (views["hand"][:, None] >> np.arange(52) & 1) == 1
    assert chances.shape == own.shape and chances.dtype == np.float32
    assert (chances[own] == 0).all() and (chances[~own] > 0).all() and (chances[~own] <= 1).all()
    assert chances[~own].std() > 0.1


def test_rows_know_nothing_of_each_other(networks, wild):
    views, _, _ = Positions(wild, np.arange(60)).at(np.arange(90))
    x = networks.architecture.encoder(views)
    whole = networks(x)
    for row in (0, 1, 33, 89):
        np.testing.assert_array_equal(whole[row], networks(x[row : row + 1])[0])
    np.testing.assert_array_equal(whole, pickle.loads(pickle.dumps(networks))(x))


def test_it_plays_legally_at_any_auction(networks, wild):
    views, legal, _ = Positions(wild, np.arange(60)).at(np.arange(600))
    for temperature in (0, 1):
        player = Baseline19(networks, temperature)
        calls = player.act(views, legal, Streams.at(1, np.arange(600)))
        assert legal[np.arange(600), calls].all()
        for row in (0, 13, 599):
            alone = player.act(views[[row]], legal[[row]], Streams.at(1, np.array([row])))
            assert alone[0] == calls[row]
    chances = Baseline19(networks).probabilities(views, legal)
    np.testing.assert_array_equal(
        chances.argmax(1), Baseline19(networks).act(views, legal, Streams.at(1, np.arange(600)))
    )
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    assert not chances[legal == 0].any()


def test_a_file_plays_and_others_are_named(tmp_path, networks):
    path = tmp_path / "both.safetensors"
    network.save_weights(path, networks, {})
    again, _ = network.load_weights(path, Networks)
    for name, tensor in networks.tensors.items():
        np.testing.assert_array_equal(again.tensors[name], tensor.astype(np.float16))
    named = agents.make(str(path))
    assert named.name == "both" and repr(named).startswith("<both")
    same(named.network, again)
    sent = pickle.loads(pickle.dumps(named))
    same(sent.network, again)
    assert str(path) in repr(Baseline19(path)) and Baseline19(path).name == "baseline19"
    with pytest.raises(ValueError, match="format 'bidzoo bridge baseline19 1', expected 'bidzoo bridge network 1'"):
        network.load_weights(path)
    network.save_weights(path, networks.pnn, {})
    with pytest.raises(ValueError, match="expected 'bidzoo bridge baseline19 1'"):
        assert Baseline19(path).network
    with pytest.raises(ValueError, match=r"width=20.*: .*network 1', expected '.*baseline19 1'"):
        assert Baseline19(networks.pnn).network
    with pytest.raises(ValueError, match="temperature -1"):
        Baseline19(networks, -1)


def test_the_packaged_networks_fit_their_budget():
    path = network.PACKAGED / "baseline19.safetensors"
    assert path.stat().st_size <= 1_100_000
    found, about = network.load_weights(path, Networks)
    assert found.architecture == Widths() and about["algorithm"] == "baseline19"
    assert about["command"].startswith("bidzoo train baseline19") and "measured" in about
    assert agents.make("baseline19").network.digest == found.digest

"""``baseline19``: that torch plays as the agent does, how both networks learn, and the three stages of its command."""

import numpy as np
import pytest
from train import app
from trainers import baseline19
from trainers.baseline19 import Estimation, Imitation, Options, Trainer
from typer.testing import CliRunner

pytest.importorskip("torch")

import torch

from bidzoo import agents
from bidzoo.agents.bridge import network, sl
from bidzoo.agents.bridge.baseline19 import Networks, Widths, estimates
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.trainer import Options as FitOptions
from bidzoo.agents.bridge.trainer import Run, train
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.auctions import record
from bidzoo.core.bits import unpack
from bidzoo.core.cards import hand_cards
from bidzoo.envs.bridge.formats.auctions import Positions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps

SMALL = Widths(12, 20)


@pytest.fixture(scope="module")
def auctions():
    """300 auctions of the supervised policy."""
    return record(agents.make("sl"), 300, seed=4)


@pytest.fixture(scope="module")
def wild():
    """60 auctions of random calls: doubles, redoubles and high bids everywhere."""
    return record(Uniform(), 60, seed=9)


@pytest.fixture(scope="module")
def networks():
    """Random weights, of some size, so that chances are not all a half."""
    model = baseline19.module(SMALL, 3)
    with torch.no_grad():
        for part in (model.enn, model.pnn):
            part.layers[-1].weight.mul_(4)
    return Networks(SMALL, network.arrays(model))


def parts(auctions):
    """Positions to learn from and to measure on."""
    return [Positions(auctions, auctions.split(part)) for part in ("train", "validation")]


def game():
    return Bridge(False, observation="openspiel480", deals="validation")


def same(one, other):
    for name, tensor in one.tensors.items():
        np.testing.assert_array_equal(tensor, other.tensors[name], err_msg=name)


def test_torch_plays_as_the_networks_do(networks, wild):
    views, _, _ = Positions(wild, np.arange(60)).at(np.arange(500))
    x = networks.architecture.encoder(views)
    model = baseline19.module(SMALL)
    network.load_arrays(model, networks.tensors)
    told, wanted = model(torch.from_numpy(x).float()).detach().numpy(), networks(x)
    np.testing.assert_allclose(told, wanted, atol=4e-3 * np.abs(wanted).max())
    assert wanted.std() > 0.1


def test_partners_cards_are_those_of_the_deal(wild):
    positions = Positions(wild, np.arange(60))
    numbers = np.arange(len(positions))
    views, _, _ = positions.at(numbers)
    own = (views["hand"][:, None] >> np.arange(52) & 1) == 1
    cards = baseline19.partners(positions, numbers)
    assert (cards.sum(1) == 13).all() and not cards[own].any()
    for row in (0, 7, 311):
        auction = int(np.searchsorted(wild.start, row, side="right") - 1)
        partner = wild.hands[auction, (views["seat"][row] + 2) % 4]
        assert np.flatnonzero(cards[row]).tolist() == sorted(hand_cards(int(partner)))


def test_figures_of_the_estimates_by_hand():
    """Of two hands: one known for sure, one of whose 13 likeliest cards partner holds two."""
    cards = np.zeros((2, 52), np.int8)
    cards[0, :13], cards[1, 11:24] = 1, 1
    chances = np.where(cards == 1, 1, 0).astype(np.float32)
    chances[1] = np.where(np.arange(52) < 13, 0.5, 0.25)
    np.testing.assert_allclose(baseline19.recall(chances, cards), [1, 2 / 13])
    wanted = -(13 * np.log(0.5) + 11 * np.log(0.25) + 28 * np.log(0.75)) / 52
    np.testing.assert_allclose(baseline19.cross_entropy(chances, cards), [0, wanted], atol=1e-6)


def test_the_enn_learns_partners_cards(tmp_path, auctions):
    """Its loss is the cross-entropy that is measured; it falls, and a run that stops is the same run."""
    options, rows = FitOptions(SMALL.enn, steps=40, batch=128, learning_rate=3e-3, warm_up=5), []
    trainer = Estimation(*parts(auctions), options)
    numbers = np.arange(50)
    views, _, _ = trainer.learn.at(numbers)
    chances = estimates(trainer.player(), SMALL.encoder(views))
    wanted = baseline19.cross_entropy(chances, baseline19.partners(trainer.learn, numbers)).mean()
    assert float(trainer.loss(numbers).detach()) == pytest.approx(wanted, rel=1e-3)
    whole = train(trainer, Run(tmp_path / "a", every=10, report=lambda _, row: rows.append(row)))
    assert rows[-1]["cross_entropy"] < rows[0]["cross_entropy"] - 0.01 and 0.3 < rows[-1]["recall_at_13"] < 1
    train(Estimation(*parts(auctions), options), Run(tmp_path / "b", every=10, stop=20))
    same(whole, train(Estimation(*parts(auctions), options), Run(tmp_path / "b", every=10)))


def test_the_pnn_learns_calls_and_leaves_the_enn(tmp_path, auctions, networks):
    options, rows = FitOptions(SMALL, steps=40, batch=128, learning_rate=3e-3, warm_up=5, weight_decay=0.1), []

    def fitted(out, **run):
        return train(Imitation(*parts(auctions), options, networks.enn), Run(tmp_path / out, every=10, **run))

    whole = fitted("a", report=lambda _, row: rows.append(row))
    assert rows[-1]["cross_entropy"] < rows[0]["cross_entropy"] - 0.3
    assert rows[-1]["accuracy"] == sl.measure(parts(auctions)[1], whole)["accuracy"]
    same(whole.enn, networks.enn)
    fitted("b", stop=20)
    same(whole, fitted("b"))
    other = Network(SMALL.enn, {name: array + 1 for name, array in networks.enn.tensors.items()})
    with pytest.raises(ValueError, match=r"input enn was .* and is now"):
        train(Imitation(*parts(auctions), options, other), Run(tmp_path / "b"))
    wide = Architecture("openspiel480", 52, "jps", 16)
    with pytest.raises(ValueError, match=r"the ENN is .*width=16.*, expected .*width=12"):
        Imitation(*parts(auctions), options, network.network_of(wide, network.module(wide)))


def test_decisions_of_both_tables_are_paid_in_imps(networks):
    """Each board once with the learner at N/S and once at E/W, and what the first table scores more, to all of them."""
    options = Options(iterations=2, boards=40, seed=5)
    trainer = Trainer(networks, game(), options)
    pairs, made = trainer.play(1), trainer.play(1).decisions
    north_south = made.player % 2 == 0
    tables = np.unique(made.row[north_south]), np.unique(made.row[~north_south])
    assert max(tables[0]) < 40 <= min(tables[1]) and len(made.later) == 80
    points = made.later["points"][:, 0].astype(np.int64)
    won = imps(points[:40] - points[40:]) / 24
    assert (won != 0).mean() > 0.5
    np.testing.assert_allclose(pairs.outcome, won[made.board], rtol=1e-6)
    for field in ("hands", "dealer", "vulnerable"):
        np.testing.assert_array_equal(made.later[field][:40], made.later[field][40:])
    assert made.later["board"][:40].tolist() == list(range(40, 80))


def test_a_step_of_policy_gradient_by_hand(networks, monkeypatch):
    """d/dlogit of mean(outcome x log chance) is outcome x (made - chance) / n over legal calls, and the ENN has none
    of it: its own step is that of the cross-entropy."""
    monkeypatch.setattr(network, "has_bfloat16", lambda kind: False)  # sums of any processor: to 1e-5
    rates = {"learning_rate": 1e-3, "enn_learning_rate": 1e-3}
    trainer = Trainer(networks, game(), Options(iterations=1, boards=20, initial_scale=1.0, **rates))
    pairs = trainer.play(0)
    made = pairs.decisions
    partner = (made.later["hands"][made.row, (made.player + 2) % 4][:, None] >> np.arange(52) & 1).astype(np.int8)
    batch = trainer.batch(
        observation=made.observation, legal=made.legal, call=made.call, outcome=pairs.outcome, partner=partner
    )
    n, x = len(made.call), unpack(made.observation, 480).astype(np.float32)
    logits = np.where(unpack(made.legal, 38) > 0, networks(x), -np.inf).astype(np.float64)
    chance = np.exp(logits - logits.max(1, keepdims=True))
    chance /= chance.sum(1, keepdims=True)
    wanted = pairs.outcome[:, None] * (np.eye(38)[made.call] - chance) / n
    own = x[:, -52:] > 0
    estimated = estimates(networks.enn, x)
    error = np.where(own, 0, estimated - partner) / (52 * n)
    before = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    metrics = trainer.learn(batch, 1.0)
    bias = {part: getattr(trainer.model, part).layers[-1].bias for part in ("pnn", "enn")}
    np.testing.assert_allclose(bias["pnn"].grad.numpy(), -wanted.sum(0), atol=1e-5)
    np.testing.assert_allclose(bias["enn"].grad.numpy(), error.sum(0), atol=1e-5)
    for part, gradient in (("pnn", -wanted.sum(0)), ("enn", error.sum(0))):  # Adam's first step: the rate, downhill
        moved = (bias[part].detach() - before[f"{part}.layers.10.bias"]).numpy()
        clear = np.abs(gradient) > 1e-4
        assert clear.any()
        np.testing.assert_allclose(moved[clear], -1e-3 * np.sign(gradient[clear]), rtol=0.02)
    entropy = -(chance * np.log(np.maximum(chance, 1e-30))).sum(1).mean()
    assert float(metrics["entropy"]) == pytest.approx(entropy, rel=1e-3)
    nats = baseline19.cross_entropy(estimated, partner).mean()
    assert float(metrics["cross_entropy"]) == pytest.approx(nats, rel=1e-3)


def test_a_sharper_start_calls_the_same(networks, wild):
    """Its logits are three times those of the start, also those of the first opponent."""
    views, _, _ = Positions(wild, np.arange(60)).at(np.arange(90))
    x = SMALL.encoder(views)
    trainer = Trainer(networks, game(), Options(initial_scale=3.0))
    np.testing.assert_allclose(trainer.player()(x), 3 * networks(x), rtol=1e-4, atol=1e-4)
    for name, array in trainer.snapshots[0].items():
        np.testing.assert_array_equal(array, trainer.player().tensors[name])


def test_self_play_goes_on_with_the_same_bytes(tmp_path, networks):
    options = Options(iterations=4, boards=16, snapshot_every=1, minibatch=64, learning_rate=1e-3)

    def run(out, **how):
        return train(Trainer(networks, game(), options), Run(tmp_path / out, **how))

    whole = run("a", every=1)
    run("b", every=2, stop=2)
    same(whole, run("b", every=2))
    lines = (tmp_path / "a" / "curves.csv").read_text().splitlines()
    assert lines[0] == "iteration,games,against_past,entropy,cross_entropy" and len(lines) == 5
    assert lines[-1].startswith("4,128,")
    assert not all((whole.tensors[name] == networks.tensors[name]).all() for name in whole.tensors)
    other = Trainer(networks, game(), options)
    for iteration in range(3):
        other.iterate(iteration)
    assert len(other.snapshots) == 4
    kept = other.arrays()
    other.restore(kept)
    for name, array in other.arrays().items():
        np.testing.assert_array_equal(array, kept[name])
    with pytest.raises(ValueError, match="input start was"):
        train(Trainer(whole, game(), options), Run(tmp_path / "b"))


@pytest.mark.parametrize("how", [{"observation": "jps267"}, {"reward": "par"}])
def test_another_game_is_refused(networks, how):
    with pytest.raises(ValueError, match="baseline19 needs observation='openspiel480' and reward='score', not"):
        Trainer(networks, Bridge(False, deals="validation", **how), Options())


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="enn_width 0: expected an integer from 1"):
        Widths(0)
    with pytest.raises(ValueError, match="boards 0: expected an integer from 1"):
        Options(boards=0)


# ---- the command -------------------------------------------------------------------------


def test_three_stages_in_one_command(undrawn, tmp_path, auctions):
    pytest.importorskip("matplotlib")
    data, out = tmp_path / "auctions.npz", tmp_path / "run"
    auctions.save(data)
    small = ["--enn-width", "8", "--pnn-width", "8", "--every", "1", "--boards", "10", "--out", str(out)]
    fits = [word for stage in ("--enn", "--pnn") for option in ("steps=2", "batch=16") for word in (stage, option)]
    play = [word for option in ("iterations=1", "boards=8") for word in ("--set", option)]

    def command(*words):
        return CliRunner().invoke(app, ["baseline19", *words], catch_exceptions=False)

    told = command(str(data), *small, *fits, *play)
    assert told.exit_code == 0, told.output
    assert [line for line in told.output.splitlines() if line.endswith(":")] == ["enn:", "pnn:", "self-play:"]
    both, about = network.load_weights(out / "self-play" / "best.safetensors", Networks)
    assert both.architecture == Widths(8, 8) and about["data"] == "auctions.npz, 300 auctions"
    assert about["start"] == "pnn" and about["measured_against"] == "sl" and about["boards"] == 8
    enn = network.load_weights(out / "enn" / "network.safetensors")[0]
    same(network.load_weights(out / "pnn" / "network.safetensors", Networks)[0].enn, enn)
    files = {path: path.read_bytes() for path in sorted(out.rglob("*.safetensors"))}
    assert command(str(data), *small, *fits, *play).exit_code == 0
    assert files == {path: path.read_bytes() for path in sorted(out.rglob("*.safetensors"))}
    with pytest.raises(ValueError, match="expert-acol: a held-out opponent"):
        command(str(data), *small, "--against", "expert-acol")

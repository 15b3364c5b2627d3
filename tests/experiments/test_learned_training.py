"""``experiments/learned_training.py``: runs repeat themselves and go on, and learn from deals of their own."""

import sys

import numpy as np
import pytest

pytest.importorskip("torch")

import learned_training
import success_curves
import typer
from learned_training import LearnedNetworks, LearnedOptions, Trainer, play_pass
from numba import config as numba_config
from typer.testing import CliRunner

import bidzoo
from bidzoo.agents.bridge.network import load_weights
from bidzoo.agents.spades.games import SHIPPED, deals_seed
from bidzoo.agents.spades.learned import load_network
from bidzoo.benchmarks import spades

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")
SMALL = {
    "passes": 2, "games": 40, "first_games": 200, "cards": 0.2, "batch": 64, "value_games": 400, "test_games": 20
}  # fmt: skip


def test_training_repeats_itself_and_goes_on_where_it_was_stopped(goes_on, tmp_path) -> None:
    goes_on(lambda seed=0: Trainer(LearnedOptions(**SMALL, seed=1 + seed)), 1)
    weights = tmp_path / "a" / "network.safetensors"
    assert bidzoo.agents.make(str(weights), worlds=2).name == "network"
    again, _ = load_weights(weights, LearnedNetworks)
    for name, tensor in load_network(weights).items():
        np.testing.assert_array_equal(tensor, again.tensors[name])


def test_nothing_is_measured_on_deals_that_were_learned_from(monkeypatch, tmp_path) -> None:
    """The seeds of all deals that the trainings, their test games and the benchmark ask for by default."""
    pytest.importorskip("sklearn")
    learned: set[int] = set()
    measured: set[int] = set()

    def seed_of(purpose, seed, part=0):
        found = deals_seed(purpose, seed, part)
        (learned if purpose in ("passes", "values", "curves") else measured).add(found)
        return found

    for module in (learned_training, success_curves, spades):
        monkeypatch.setattr(module, "deals_seed", seed_of)
    trainer = Trainer(LearnedOptions(**SMALL))
    for step in range(LearnedOptions.passes):
        trainer.iterate(step)
    success_curves.train_success_curves(success_curves.CurveOptions(rounds=3000, out=str(tmp_path / "c.npz")))
    spades.main(2, "rule-based")
    assert learned == set(SHIPPED) and len(measured) == 4 and not learned & measured
    for seed in learned:
        with pytest.raises(ValueError, match=f"seed {seed}: the packaged agents have learned from its deals"):
            spades.main(2, "rule-based", seed)


def test_every_choice_is_tried_on_the_same_cards() -> None:
    """Choices that are the same bid have the same value; of a card that all tricks depend on they differ."""
    bids, cards = play_pass(LearnedOptions(**SMALL), {"worth": load_network()["worth"]}, 0)
    assert len(bids.x) > 100 and len(cards.used) > 1000
    low = bids.x[:, 0] * 3 < 1.5  # takes round to 1: choices 1 to 3 all bid 1
    assert low.any() and (bids.value[low, 1] == bids.value[low, 2]).all()
    assert ((cards.slots >= 0).sum(axis=1) >= 2).all()
    legal = cards.slots >= 0
    assert (np.where(legal, cards.value, cards.value[:, :1]).std(axis=1) > 0).mean() > 0.2


# ---- the command -----------------------------------------------------------------------------


def run(*words):
    app = typer.Typer()
    app.command()(learned_training.main)
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_it_says_where_its_weights_are(undrawn, tmp_path):
    small = ["passes=1", "games=2", "first_games=20", "batch=32", "value_games=20", "test_games=2"]
    out, words = tmp_path / "learned", [word for option in small for word in ("--set", option)]
    said = run("--out", out, *words)
    assert said.startswith("      1 of 1") and "wins_against_bis" in said
    assert said.endswith(f"finished; weights: {out / 'network.safetensors'}\n")
    assert run("--out", out, *words) == f"finished before; weights: {out / 'network.safetensors'}\n"


def test_what_cannot_end_well_costs_no_work(monkeypatch, tmp_path):
    """A folder that cannot be written, a package that is missing."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot be written: not a directory"):
        run("--out", tmp_path / "file" / "x")
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="torch"):
        run("--out", tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

"""The double-dummy evaluator learns: its numbered cells, torch beside the kernel, runs that go on, the command."""

from itertools import permutations

import numpy as np
import pytest
from train import app
from trainers import evaluator
from typer.testing import CliRunner

pytest.importorskip("torch")

import torch

from bidzoo.agents.bridge.evaluator import SuitNetwork, Suits
from bidzoo.agents.bridge.network import arrays, load_weights
from bidzoo.agents.bridge.trainer import Options, Run, train
from bidzoo.core.cards import NOTRUMP
from bidzoo.envs.bridge.deals import DealSet, packaged, random_deals

TINY = Suits(cards=24, suits=16, hidden=32)


def test_kernel_is_torch():
    learn = evaluator.Cells(packaged("validation"))
    twin = evaluator.module(TINY, 5)
    codes, notrump, _ = learn.at(np.arange(0, len(learn), 9973))
    with torch.no_grad():
        logits = twin(torch.from_numpy(evaluator.bits(codes)).float(), int(notrump.sum()))
    own = SuitNetwork(TINY, arrays(twin))(codes, np.where(notrump, NOTRUMP, 0))
    np.testing.assert_allclose(own, logits.softmax(1).numpy(), atol=1e-4)


def test_every_number_is_a_cell_in_an_order_of_its_suits():
    """The 24 numbers of a cell: all orders at notrump, four times each order of the side suits after trumps."""
    few = evaluator.Cells(DealSet(*(array[:1] for array in packaged("train"))))
    assert len(few) == 24 * 20
    for cell in (2, NOTRUMP):
        codes, notrump, tricks = few.at(np.arange(24) * 20 + cell)
        assert (tricks == packaged("train").tricks[0, cell]).all() and (notrump == (cell == NOTRUMP)).all()
        own = few.suits(np.array([cell]))[0][0].tolist()
        orders = set(permutations(own)) if cell == NOTRUMP else {(own[0], *side) for side in permutations(own[1:])}
        assert {tuple(row) for row in codes.tolist()} == orders


def test_unsolved_cells_are_left_out():
    tricks = np.full((2, 20), -1, np.int8)
    with pytest.raises(ValueError, match="no solved deals"):
        evaluator.Cells(DealSet(random_deals(0, np.arange(2)), tricks))
    tricks[1, 7] = 9
    known = evaluator.Cells(DealSet(random_deals(0, np.arange(2)), tricks))
    assert known.tricks.tolist() == [9] and (known.deal[0], known.cell[0]) == (1, 7)


def test_a_digest_is_of_deals_and_tricks():
    hands, tricks = (array[:3] for array in packaged("validation"))
    unknown, other = tricks.copy(), tricks.copy()
    unknown[1, 7], other[1, 7] = -1, (tricks[1, 7] + 1) % 14
    cells = [evaluator.Cells(DealSet(*one)) for one in ((hands, unknown), (hands, other), (hands[::-1], tricks))]
    assert evaluator.Cells(DealSet(hands, tricks)).digest == evaluator.Cells(DealSet(hands, tricks)).digest
    assert len({one.digest for one in [evaluator.Cells(DealSet(hands, tricks)), *cells]}) == 4


def test_training_learns_and_goes_on_with_the_same_bytes(tmp_path):
    learn, check = (evaluator.Cells(DealSet(*(a[:200] for a in packaged(split)))) for split in ("train", "validation"))
    options = Options(TINY, steps=120, batch=256, learning_rate=1e-2, warm_up=5)
    whole = train(evaluator.Trainer(learn, check, options), Run(tmp_path / "whole", every=30))
    train(evaluator.Trainer(learn, check, options), Run(tmp_path / "parts", every=30, stop=60))
    parts = train(evaluator.Trainer(learn, check, options), Run(tmp_path / "parts", every=30))
    for name, tensor in whole.tensors.items():
        np.testing.assert_array_equal(tensor, parts.tensors[name], err_msg=name)
    files = [(tmp_path / run / "network.safetensors").read_bytes() for run in ("whole", "parts")]
    assert files[0] == files[1]
    assert evaluator.measure(check, whole)["cross_entropy"] < 2.2  # by the strain alone: 2.47


def test_command_trains_on_further_deals(undrawn, tmp_path):
    def run(*words):
        small = ["--cards", 8, "--suits", 8, "--hidden", 8, "--set", "steps=2", "--set", "batch=16", "--every", 2]
        out = CliRunner().invoke(app, [str(w) for w in ["evaluator", *words, *small]], catch_exceptions=False)
        assert out.exit_code == 0 and "cross_entropy" in out.output

    DealSet(*(array[:30] for array in packaged("test"))).save(tmp_path / "more.npz")
    first, then = tmp_path / "first" / "network.safetensors", tmp_path / "then" / "network.safetensors"
    run("--out", first.parent, "--deals", tmp_path / "more.npz")
    run("--out", then.parent, "--start", first)
    network, about = load_weights(first, SuitNetwork)
    assert network.architecture == Suits(8, 8, 8)
    assert about["deals"] == "32000 of packaged train split, 30 of more.npz" and about["start"] == "nothing"
    assert (first.parent / "curves.csv").read_text().startswith("step,train_loss,cross_entropy,exact_suits")
    network_then, about = load_weights(then, SuitNetwork)
    assert about["deals"] == "32000 of packaged train split" and about["start"] == "network.safetensors"
    drift = np.abs(network_then.tensors["cards.weight"] - network.tensors["cards.weight"]).max()
    assert drift < 0.01  # two steps from there, and not from new weights

"""``bidzoo train`` from the command line."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from bidzoo import agents
from bidzoo.agents.bridge import network as weights
from bidzoo.cli.settings import parse
from bidzoo.cli.train import app
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_record_then_fit_then_play(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bidzoo", "sl", "auctions.npz"])
    data, small = tmp_path / "auctions.npz", ["--width", 16, "--depth", 1, "--every", 2]
    assert "200 auctions of sayc" in run("record", 200, "--policy", "sayc", "--out", data)
    for stage in ("sl", "belief"):
        out = tmp_path / stage
        text = run(stage, data, "--out", out, *small, "--set", "steps=4", "--set", "batch=32")
        *measured, last = text.splitlines()
        assert "cross_entropy" in text
        assert [" ".join(line.split()[:3]) for line in measured] == ["2 of 4", "4 of 4"]
        assert " s left" in measured[1] and " s left" not in measured[0]
        assert last == f"finished; weights: {out / 'network.safetensors'}"
        for steps in (4, 2):
            again = run(stage, data, "--out", out, *small, "--set", f"steps={steps}", "--set", "batch=32")
            assert again == f"finished before; weights: {out / 'network.safetensors'}\n"
        for load in (agents.make, weights.load_weights):
            with pytest.raises(
                FileNotFoundError, match=rf"{stage}: a folder, expected a file.* \S+network.safetensors$"
            ):
                load(str(out))
        network, about = weights.load_weights(out / "network.safetensors")
        assert network.architecture.width == 16 and about["options"]["batch"] == 32
        assert about["data"] == "auctions.npz, 200 auctions" and about["command"] == "bidzoo sl auctions.npz"
        assert (out / "curves.png").read_bytes().startswith(b"\x89PNG")
    start = tmp_path / "sl" / "network.safetensors"
    tiny = ["--set", "iterations=1", "--set", "boards=8", "--every", 1, "--boards", 10]
    hands, tricks = packaged("validation")
    DealSet.of(hands[:5], tricks[:5]).save(tmp_path / "five.npz")
    further = ["--deals", tmp_path / "five.npz", "--deals", tmp_path / "five.npz"]
    assert "imps" in run("ppo", "--start", start, "--against", start, "--out", tmp_path / "ppo", *tiny, *further)
    about = weights.load_weights(tmp_path / "ppo" / "network.safetensors")[1]
    assert about["deals"] == "32000 of packaged train split, 5 of five.npz, 5 of five.npz"


def test_curves_that_another_program_has_open_end_no_training(tmp_path, monkeypatch):
    """As a spreadsheet does on Windows: a line says so, and the same command writes them later."""
    data, replace, refused = tmp_path / "auctions.npz", os.replace, set()
    run("record", 60, "--policy", "sayc", "--out", data)

    def refuse(source, target):
        if Path(target).name in refused:
            raise PermissionError(13, "Permission denied", source, None, str(target))
        replace(source, target)

    command = ["sl", data, "--out", tmp_path / "sl", "--width", 16, "--depth", 1, "--every", 1, "--set", "steps=2"]
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # no copy is left there
    for name, lines in (("curves.csv", 2), ("none", 0)):
        refused |= {name}
        result = CliRunner().invoke(app, [str(word) for word in command], catch_exceptions=False)
        assert result.exit_code == 0 and (tmp_path / "sl" / "network.safetensors").exists()
        said = f"bidzoo: {tmp_path / 'sl' / 'curves.csv'}: cannot be written: permission denied\n"
        assert result.output.count(said) == lines
        assert (tmp_path / "sl" / "curves.csv").exists() == (not lines)
        refused.clear()
    (tmp_path / "sl" / "curves.png").unlink()
    refused |= {"curves.png"}
    assert "curves.png: cannot be written" in run(*command) and not (tmp_path / "sl" / "curves.png").exists()


def test_a_deep_gelu_network_goes_through_the_stages(undrawn, tmp_path):
    """sl, then ppo and rl from its file; a run made longer gives what one run gives."""
    data, small = tmp_path / "auctions.npz", ["--every", 1, "--boards", 0]
    run("record", 60, "--policy", "sayc", "--out", data)
    shape = ["--width", 40, "--depth", 4, "--activation", "gelu"]
    run("sl", data, "--out", tmp_path / "sl", *shape, "--every", 2, "--set", "steps=2", "--set", "batch=32")
    start = tmp_path / "sl" / "network.safetensors"
    pairs = ["--set", "sync=2", "--set", "minibatch=32", "--set", "burn_in=50", "--set", "warm_up=0"]
    for stage, length, more in (("ppo", "iterations", []), ("rl", "syncs", pairs)):
        for folder, lengths in (("whole", [2]), ("parts", [1, 2])):
            for n in lengths:
                sizes = ["--set", "boards=8", "--set", f"{length}={n}", *more]
                run(stage, "--start", start, "--out", tmp_path / stage / folder, *small, *sizes)
        whole, parts = (
            weights.load_weights(tmp_path / stage / folder / "network.safetensors")[0] for folder in ("whole", "parts")
        )
        assert whole.architecture.depth == 4 and whole.architecture.activation == "gelu"
        before = weights.load_weights(start)[0].tensors
        for name, tensor in whole.tensors.items():
            np.testing.assert_array_equal(tensor, parts.tensors[name])
            assert (tensor != before[name]).any()


def test_ppo_meets_other_agents(undrawn, tmp_path):
    """Each at boards of its own, said in the provenance and the curves; a run in parts is a whole one."""
    auctions, start = tmp_path / "auctions.npz", tmp_path / "sl" / "network.safetensors"
    run("record", 60, "--policy", "sayc", "--opponent", "pass", "--opponent", "sayc", "--out", auctions)
    run("sl", auctions, "--out", tmp_path / "sl", "--width", 16, "--every", 2, "--set", "steps=2", "--set", "batch=32")
    words = ["--start", start, "--opponent", "sayc", "--opponent", "pass", "--against", "sayc", "--against", "pass"]
    options = ["boards=40", "pool=0.5", "self_play=0.2", "minibatch=64"]
    tiny = ["--every", 1, "--boards", 12, *(word for option in options for word in ("--set", option))]
    for folder, lengths in (("whole", [2]), ("parts", [1, 2])):
        for n in lengths:
            text = run("ppo", *words, *tiny, "--set", f"iterations={n}", "--out", tmp_path / folder)
    for figure in ("against_past", "against_sayc", "against_pass", "imps_sayc", "imps_pass"):
        assert figure in text
    whole, about = (weights.load_weights(tmp_path / folder / "network.safetensors") for folder in ("whole", "parts"))
    assert whole[0].digest == about[0].digest
    about = about[1]
    assert about["opponents"] == "sayc, pass" and about["measured_against"] == "sayc, pass"
    row = about["measured"]
    assert row["imps"] == pytest.approx((row["imps_sayc"] + row["imps_pass"]) / 2)
    for wrong, said in (
        (["--opponent", "expert-acol"], "a held-out opponent"),
        (["--opponent", "sayc", "--set", "pool=0"], "pool 0"),
        (["--set", "pool=0.3"], "with 0 opponents"),
        (["--opponent", "sayc", "--set", "pool=0.6", "--set", "self_play=0.5"], "more than all boards"),
    ):
        with pytest.raises(ValueError, match=said):
            run("ppo", "--start", start, "--out", tmp_path / "wrong", *wrong)
    for other, said in (
        (["--boards", 13], "--boards is another: input boards of the match was"),
        (["--against", "sl"], "--against is another: input opponent was"),
    ):
        with pytest.raises(ValueError, match=said):
            run("ppo", *words, *tiny, *other, "--set", "iterations=3", "--out", tmp_path / "parts")
    with pytest.raises(ValueError, match="opponent 2 was"):
        words[words.index("pass")] = "random"
        run("ppo", *words, *tiny, "--set", "iterations=3", "--out", tmp_path / "parts")


def test_ppo_starts_from_an_agent(undrawn, tmp_path):
    """Of an expert, whose network is made of the packaged one; not from a held-out opponent, and none is the anchor."""
    words = ["--start", "expert-sayc", "--reference", "expert-sayc", "--boards", 0, "--set", "boards=4"]
    run("ppo", *words, "--set", "iterations=1", "--every", 1, "--out", tmp_path / "a")
    net, about = weights.load_weights(tmp_path / "a" / "network.safetensors")
    assert about["start"] == "expert-sayc" and net.architecture == agents.make("expert-sayc").network.architecture
    for option in ("--start", "--reference"):
        with pytest.raises(ValueError, match="expert-acol: a held-out opponent"):
            run("ppo", option, "expert-acol", "--out", tmp_path / "b")


@pytest.mark.parametrize("command", ["ppo", "rl"])
def test_deals_that_cannot_be_learned_from_are_named(tmp_path, command):
    hands, tricks = packaged("validation")
    torn = tricks[:5].copy()
    torn[3, 7] = -1
    DealSet.of(hands[:5], tricks[:5]).save(tmp_path / "whole.npz")
    DealSet.of(hands[:5], torn).save(tmp_path / "torn.npz")
    files = ["--deals", tmp_path / "whole.npz", "--deals", tmp_path / "torn.npz"]
    with pytest.raises(ValueError, match=r"^--deals .*torn\.npz: deal 3 has no complete double-dummy table$"):
        run(command, "--out", tmp_path / "out", *files)
    with pytest.raises(ValueError, match="--deals train: the packaged train set is always there; expected a file of"):
        run(command, "--out", tmp_path / "out", "--deals", "train")


def test_belief_learns_the_view_of_one_side(undrawn, tmp_path):
    data = tmp_path / "auctions.npz"
    run("record", 200, "--policy", "sayc", "--opponent", "pass", "--out", data)
    auctions = Auctions.load(data)
    ours, theirs, all_of_them = (Positions(auctions, np.arange(200), side) for side in (0, 1, None))
    assert len(ours) + len(theirs) == len(all_of_them) and len(ours) > 0
    assert set(ours.at(np.arange(len(ours)))[0]["seat"] % 2) == {0}
    views, _, made = theirs.at(np.arange(len(theirs)))
    assert set(views["seat"] % 2) == {1} and not made.any()  # those that pass
    assert len({ours.digest, theirs.digest, all_of_them.digest}) == 3
    small = ["--width", 16, "--depth", 1, "--every", 2, "--set", "steps=2", "--set", "batch=16"]
    digests = set()
    for side in ("ns", "ew", "both"):
        run("belief", data, "--side", side, "--out", tmp_path / side, *small)
        digests.add(weights.load_weights(tmp_path / side / "network.safetensors")[0].digest)
    assert len(digests) == 3
    run("record", 3, "--policy", "sayc", "--out", tmp_path / "few.npz")
    with pytest.raises(ValueError, match=r"few.npz: none of 3 auctions is a validation one"):
        run("belief", tmp_path / "few.npz", "--out", tmp_path / "few", *small)


def test_options_are_parsed_by_kind():
    from bidzoo.agents.bridge import rl

    options = parse(rl.Options, ["syncs=3", "policy_rate=1e-3", "hidden=false"])
    assert (options.syncs, options.policy_rate, options.hidden, options.prioritised) == (3, 1e-3, False, True)


@pytest.mark.parametrize(("device", "words"), [("gpu", "no device of torch"), ("cuda", "no GPU here")])
def test_wrong_devices_are_named(monkeypatch, device, words):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    result = CliRunner().invoke(app, ["ppo", "--device", device])
    assert result.exit_code == 2 and words in result.output


def test_only_bridge_is_recorded(tmp_path):
    with pytest.raises(ValueError, match="agent 'bis' does not play bridge_bidding_v0"):
        run("record", 2, "--policy", "bis", "--out", tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("synks=3", r"no option 'synks'; did you mean 'syncs'\? choose from boards"),
        ("syncs=many", "expected a value like 400"),
        ("hidden=2", "expected True or False"),
        ("boards=-1", "boards -1: expected an integer from 1"),
    ],
)
def test_wrong_options_are_named(text, words):
    from bidzoo.agents.bridge import rl

    with pytest.raises(ValueError, match=words):
        parse(rl.Options, [text])

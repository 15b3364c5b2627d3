"""The bridge script of docs/training: its parts, a run of a few updates, and the file it leaves."""

import csv
import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents
from bidzoo.cli.main import app
from bidzoo.core import threads
from bidzoo.core.cards import FIRST_BID, PASS

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")


@pytest.fixture
def bridge(script, monkeypatch):
    """The script; kernels have their own number of threads again after it."""
    monkeypatch.setattr(threads, "_count", threads.get_threads())
    return script("bridge")


@pytest.fixture
def small(bridge):
    return dataclasses.replace(
        bridge.Config(), updates=3, every=2, tables=32, turns=8, minibatch=64, width=16, boards=20
    )


def collected(bridge, config):
    batch = bidzoo.make_vec("bridge_bidding_v0", config.tables, reward="par", reward_scale=config.reward_scale)
    batch.reset(1)
    learner = bridge.Learner(config, batch.state().shape[1])
    noise = torch.Generator().manual_seed(0)
    return learner, noise, bridge.collect(batch, learner, config, noise)


def test_advantages_are_those_of_north_south(bridge):
    """With lambda 1 every turn sees what its episode pays, or the value it goes on with, less its own value."""
    value = torch.tensor([[0.5], [0.25], [-0.5], [0.125]])
    kept = {
        "value": value,
        "reward": torch.tensor([[0.0], [0.0], [1.0], [0.0]]),
        "over": torch.tensor([[False], [False], [True], [False]]),
    }
    found = bridge.advantages(kept, torch.tensor([2.0]), 1.0)
    assert (found + value)[:, 0].tolist() == [1, 1, 1, 2]
    found = bridge.advantages(kept, torch.tensor([2.0]), 0.0)
    assert (found + value)[:, 0].tolist() == [0.25, -0.5, 1, 2]


def test_what_is_collected_is_one_game_of_two_sides(bridge, small):
    learner, _, kept = collected(bridge, small)
    assert {name: tuple(column.shape[:2]) for name, column in kept.items()} == dict.fromkeys(kept, (8, 32))
    turns = kept["sign"][1:] * kept["sign"][:-1]
    assert (turns[~kept["over"][:-1]] == -1).all()  # the sides take turns, until the next board
    assert kept["mask"].gather(2, kept["call"][..., None]).all()
    assert (kept["reward"][~kept["over"]] == 0).all() and kept["reward"][kept["over"]].any()
    torch.testing.assert_close(kept["advantage"], kept["sign"] * (kept["target"] - kept["value"]))
    chances, value = learner(*(kept[name].flatten(0, 1) for name in ("observation", "mask", "state")))
    torch.testing.assert_close(value, kept["value"].flatten())
    torch.testing.assert_close(chances.gather(1, kept["call"].flatten()[:, None])[:, 0], kept["chance"].flatten())


def test_calls_are_drawn_with_their_chances(bridge, small):
    """Passes: 5 standard deviations of as many draws."""
    learner, _, kept = collected(bridge, dataclasses.replace(small, tables=512))
    with torch.no_grad():
        chances, _ = learner(*(kept[name].flatten(0, 1) for name in ("observation", "mask", "state")))
    chance = chances[:, PASS].exp()
    passed = (kept["call"].flatten() == PASS).float()
    assert (passed - chance).sum().abs() < 5 * (chance * (1 - chance)).sum().sqrt()


def test_the_first_policy_passes_most_and_bids_low(bridge, small):
    _, _, kept = collected(bridge, small)
    calls = kept["call"].flatten()
    assert 0.5 < (calls == PASS).float().mean() < 0.95
    assert (calls[calls >= FIRST_BID] < FIRST_BID + 15).float().mean() > 0.8  # below the four level


def test_update_raises_the_chance_of_what_paid(bridge, small):
    learner, noise, kept = collected(bridge, small)
    kept["advantage"] = torch.where(kept["call"] == PASS, -1.0, 1.0)
    kept["target"] = kept["sign"]  # the critic sees whose turn it is
    optimizer = torch.optim.Adam(learner.parameters(), 1e-2)

    @torch.no_grad()
    def now():
        chances, value = learner(*(kept[name].flatten(0, 1) for name in ("observation", "mask", "state")))
        return chances[:, PASS].exp().mean(), (value - kept["sign"].flatten()).square().mean()

    passes, error = now()
    for _ in range(12):
        bridge.update(learner, optimizer, kept, small, 0.0, noise)
    later = now()
    assert later[0] < passes - 0.05 and later[1] < error / 2


def test_a_run_is_its_config(bridge, small):
    rows = []
    first, second = (bridge.train(small, lambda network, figures: rows.append(figures)) for _ in range(2))
    assert first.digest == second.digest
    assert [row["calls"] for row in rows] == [2 * 32 * 8, 3 * 32 * 8] * 2
    assert first.digest != bridge.train(dataclasses.replace(small, seed=1), lambda *_: None).digest


def test_its_file_plays_everywhere(bridge, tmp_path, monkeypatch, capsys):
    words = "--updates 3 --every 2 --tables 32 --turns 8 --minibatch 64 --width 16 --boards 20"
    monkeypatch.setattr("sys.argv", ["bridge.py", "--out", str(tmp_path), *words.split()])
    bridge.main()
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[-3:]] == ["pass", "sayc", "sl"]
    with (tmp_path / "curve.csv").open() as file:
        assert [row["calls"] for row in csv.DictReader(file)] == ["512", "768"]
    assert (tmp_path / "curve.png").stat().st_size > 1000
    weights = str(tmp_path / "bridge.safetensors")
    batch = bidzoo.make_vec("bridge_bidding_v0", 40)
    batch.reset(2)
    calls = agents.make(weights).act(batch.views(), batch.action_mask, None)
    assert batch.action_mask[np.arange(40), calls].all()
    played = CliRunner().invoke(app, ["match", weights, "pass", "--boards", "10"])
    assert played.exit_code == 0 and "bridge against pass" in played.output

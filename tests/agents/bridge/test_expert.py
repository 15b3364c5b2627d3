"""Experts of four systems: their data, their network, their play; two are held out of all training."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from train import app as more_commands
from typer.testing import CliRunner

from bidzoo import agents
from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.expert import (
    HELD_OUT,
    HELD_OUT_SELF_TAUGHT,
    Expert,
    ExpertNetwork,
    Experts,
    overbid,
    refuse_held_out,
)
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.bridge.trainer import Run, train
from bidzoo.benchmarks import bridge, experts, results
from bidzoo.benchmarks.auctions import record
from bidzoo.benchmarks.match import duplicate
from bidzoo.cli import train as commands
from bidzoo.cli.main import app
from bidzoo.core.cards import call_number
from bidzoo.envs.bridge.bidder import BIDDER1375
from bidzoo.envs.bridge.formats.auctions import Positions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS
from bidzoo.wrappers.batch import Batch, Seating


@pytest.fixture(scope="module")
def player():
    """Random weights."""
    experts = Experts(width=24, depth=2, kind="stages")
    rng = np.random.default_rng(3)
    shapes = experts.shapes.items()
    return ExpertNetwork(experts, {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes})


# ---- in play -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*experts.HELD_OUT, *experts.MET])
def test_packaged_experts_bid(name):
    """Legal calls to the end, the same for any batch; deterministic."""
    game, one = Bridge(False), agents.make(name)
    batch = Batch(game, 70, autoreset=False)
    batch.reset(2)
    seating = Seating([one] * 4, 0)
    while (calls := seating.choose(batch)).max() >= 0:
        going = np.flatnonzero(calls >= 0)
        assert batch.action_mask[going, calls[going]].all()
        some = going[:5]
        np.testing.assert_array_equal(one.act(batch.views(some), batch.action_mask[some], None), calls[some])
        batch.step(calls)
    assert one.name == name
    assert batch.states["length"].mean() > 7


def test_systems_differ():
    """Of four who play the same, Polish club opens 1C most, Acol 1NT with less and game-forcing 2/1 with no less."""
    boards, openings = bridge.Boards(600, 1), {}
    for name in experts.EXPERTS:
        states = boards.play(agents.make(name), agents.make(name))
        first = [next((int(call) for call in calls if call > 2), 0) for calls in states["calls"]]
        openings[name] = np.bincount(first, minlength=38)
    club, notrump = call_number("1C"), call_number("1NT")
    assert max(openings, key=lambda name: openings[name][club]) == "expert-polish"
    assert max(openings, key=lambda name: openings[name][notrump]) == "expert-acol"


def test_self_play_goes_on_from_an_expert(tmp_path, player):
    pytest.importorskip("torch")
    from bidzoo.agents.bridge import ppo

    start = Expert("21gf", weights=player).network
    network.save_weights(tmp_path / "a.safetensors", start, {})
    again = network.weights_of(tmp_path / "a.safetensors")
    game = Bridge(False, observation=again.architecture.observation, deals="train")
    options = ppo.Options(iterations=1, boards=16, minibatch=64, learning_rate=1e-3)
    learned = train(ppo.Trainer(again, game, options), Run(tmp_path / "b", every=1))
    assert learned.architecture == start.architecture and learned.digest != again.digest


def test_overbid_means_more_points_until_the_side_has_bid():
    positions = Positions(record(Sayc(), 40, seed=4), np.arange(40))
    views, _, _ = positions.at(np.arange(len(positions)))
    x = ENCODERS["bidder1375"](views)
    light = x.copy()
    overbid(light, 3)
    at = BIDDER1375.start("points")
    before, after = x[:, at : at + 26].argmax(1), light[:, at : at + 26].argmax(1)
    silent = x[:, BIDDER1375.start("side's bid")] == 1
    np.testing.assert_array_equal(after, np.where(silent, np.minimum(before + 3, 25), before))
    np.testing.assert_array_equal(light.sum(1), x.sum(1))
    assert (light != x).any(1).sum() == silent.sum() > 20
    assert not silent.all()


def test_wild_ones_open_more():
    boards = bridge.Boards(300, 1)
    opened = [
        (boards.play(agents.make(name), agents.make(name))["calls"][:, 0] > 0).mean()
        for name in ("expert-sayc", "expert-light")
    ]
    assert opened[1] > opened[0] + 0.15


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"theirs": "polski"}, "unknown system 'polski'; did you mean 'polish'"),
        ({"overbid": -1}, "overbid -1: expected an integer from 0 to 10"),
        ({"temperature": -1}, "temperature -1"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        agents.make("expert-sayc", **options)


# ---- held-out opponents ------------------------------------------------------------------


def test_held_out_opponents_are_agents_and_measured_against():
    assert set(HELD_OUT) < set(agents.AGENTS) and set(HELD_OUT) < set(experts.EXPERTS)


def test_nothing_that_learns_knows_a_held_out_opponent():
    """Provenance of all packaged weights, defaults of all training commands, and sources of all trainers."""
    experiments = Path(__file__).parents[3] / "experiments"
    for file in sorted([*network.PACKAGED.glob("*.safetensors"), *experiments.glob("weights/*.safetensors")]):
        with safe_open(file, "numpy") as opened:
            about = json.loads(opened.metadata()["bidzoo"])
        assert not any(name in json.dumps(about) for name in (*HELD_OUT, HELD_OUT_SELF_TAUGHT)), file.name
    for command in [*commands.app.registered_commands, *more_commands.registered_commands]:
        defaults = [parameter.default for parameter in inspect.signature(command.callback).parameters.values()]
        defaults += [name for default in defaults if isinstance(default, list) for name in default]
        assert not set(HELD_OUT) & {default for default in defaults if isinstance(default, str)}, command.callback
    folder = network.PACKAGED.parents[1]
    sources = [
        *folder.glob("agents/bridge/**/*.py"),
        *folder.glob("cli/train.py"),
        *folder.glob("benchmarks/training.py"),
        *folder.glob("wrappers/*.py"),
        *experiments.glob("train.py"),
        *experiments.glob("trainers/*.py"),
    ]
    knowing = [file.name for file in sources if any(name in file.read_text("utf-8") for name in HELD_OUT)]
    assert knowing == ["expert.py"]  # the one place


@pytest.mark.parametrize(
    "line",
    [
        "record 3 --out {}/a.npz --policy expert-polish",
        "ppo --out {} --against expert-acol",
        "ppo --out {} --start expert-acol",
        "rl --out {} --against x=expert-polish",
        "rpi --out {} --opponent experiments/weights/jps-rpi.safetensors",
        "rpi --out {} --opponent x=expert-acol(overbid=1)",
        "rpi --out {} --opponent bmcs(deals=uniform,policy=experiments/weights/jps-rpi.safetensors)",
    ],
)
def test_training_refuses_held_out_opponents(tmp_path, line):
    result = CliRunner().invoke(app, ["train", *line.format(tmp_path).split()])
    assert result.exit_code and "a held-out opponent" in f"{result.output}{result.exception}"
    refuse_held_out("expert-sayc", "expert-21gf", "expert-light", None)


# ---- tables ------------------------------------------------------------------------------


def test_table_against_the_experts_is_of_duplicate_matches():
    options = bridge.Options(40, 2)
    (held_out, met), (figure,) = experts.main(["sayc", "pass"], options)
    boards = bridge.Boards(40, 2)
    for table, names, mean in (
        (held_out, experts.HELD_OUT, experts.HELD_OUT_MEAN),
        (met, experts.MET, experts.MET_MEAN),
    ):
        assert [row["agent"] for row in table.rows] == ["sayc", "pass"] and len(table.columns) <= 7
        row = table.rows[0]
        for name in names:
            found = duplicate(boards.game, agents.make("sayc"), agents.make(name), np.arange(40), 2, 2)
            assert row[name].mean == pytest.approx(found.imps.mean()), name
        assert row[mean].mean == pytest.approx(np.mean([row[name].mean for name in names])) and row[mean].n == 40
        assert held_out.rows[0][mean] == row[mean]
        assert (figure.series[mean][0], figure.errors[mean][0]) == (row[mean].mean, row[mean].error)
    assert not set(experts.HELD_OUT) & set(experts.MET)


def test_nobody_plays_under_the_name_of_an_expert():
    with pytest.raises(ValueError, match="agent 'expert-acol' has the name of an expert that it is not"):
        experts.main(["expert-acol=sayc"], bridge.Options(2))
    held_out = experts.main(["expert-acol"], bridge.Options(4))[0][0]
    assert held_out.rows[0]["expert-acol"].mean == 0


def test_gain_by_search_is_over_the_policy_on_the_same_boards():
    search = agents.make("bmcs", r_max=20, p_max=100)
    (table, _), _ = experts.main(["sayc", "ppo", search], bridge.Options(40, 2, search_boards=6, workers=1))
    gains = {row["agent"]: row[experts.GAIN] for row in table.rows if experts.GAIN in row}
    (short, met), _ = experts.main(["ppo"], bridge.Options(6, 2))
    assert list(gains) == [search.name] and gains[search.name].n == 6
    tables, _ = experts.main([search], bridge.Options(6, 2, search_boards=6, workers=1))
    ours, ppo = ({**first.rows[0], **second.rows[0]} for first, second in (tables, (short, met)))
    systems = [ours[name].mean - ppo[name].mean for name in experts.EXPERTS]
    assert gains[search.name].mean == pytest.approx(np.mean(systems))
    assert experts.GAIN not in short.columns


def test_experts_come_first_and_either_part_alone(tmp_path):
    titles = {}
    command = ["bench", "bridge", "--agents", "sayc,pass", "--boards", "20", "--json", str(tmp_path / "b.json")]
    for only in ((), ("--only", "experts"), ("--only", "round-robin")):
        assert CliRunner().invoke(app, [*command, *only]).exit_code == 0
        titles[only[1:]] = [table.title for table in results.load(tmp_path / "b.json")["tables"]]
    assert titles[()] == titles[("experts",)] + titles[("round-robin",)]
    assert titles[("experts",)] == ["Against held-out opponents", "Against opponents met in training"]
    assert CliRunner().invoke(app, ["bench", "bridge", "--only", "robin"]).exit_code == 2


def test_match_with_a_partner(tmp_path):
    arguments = ["match", "sayc", "pass", "--partner", "expert-sayc", "--boards", "20", "--seed", "3", "--out"]
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "a.jsonl")])
    assert result.exit_code == 0, result.output
    expected = duplicate(
        Bridge(False, deals="test", shuffle=False), ("sayc", "expert-sayc"), "pass", np.arange(20), 3, 3
    )
    assert f"sayc with expert-sayc against pass: {expected.imps.sum():+,} IMPs on 20 boards" in result.output
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert lines[0]["players"] == ["sayc", "pass", "expert-sayc", "pass"]
    assert lines[1]["players"] == ["pass", "sayc", "pass", "expert-sayc"]
    again = CliRunner().invoke(app, ["replay", str(tmp_path / "a.jsonl")])
    assert again.exit_code == 0, again.output
    wrong = CliRunner().invoke(app, ["match", "bis", "rb", "--env", "spades_v0", "--partner", "io"])
    assert wrong.exit_code and "only in bridge" in f"{wrong.output}{wrong.exception}"

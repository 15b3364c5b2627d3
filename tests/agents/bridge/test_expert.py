"""Experts of four systems: their data, their network, their play; two are held out of all training."""

import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bridge_training import system_tables
from safetensors import safe_open
from typer.testing import CliRunner

from bidzoo import agents
from bidzoo.agents.bridge import expert, network
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
from bidzoo.benchmarks import bridge, experts
from bidzoo.benchmarks.auctions import record
from bidzoo.benchmarks.match import duplicate
from bidzoo.cli import train as commands
from bidzoo.cli.main import app
from bidzoo.core.cards import call_number
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS, stages
from bidzoo.envs.bridge.deals import pack_hands, packaged
from bidzoo.envs.bridge.formats.auctions import SystemAuctions, SystemPositions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS
from bidzoo.wrappers.batch import Batch, Seating

SMALL = Experts(width=24, depth=2, kind="stages")

# ---- recorded auctions -------------------------------------------------------------------

CALLS = ["P P P P", "1C P P P", "P 1C X XX P P P"]
FIELDS = {
    "owner": pack_hands(packaged("test").hands[:3]),
    "dealer": np.array([0, 1, 2]),
    "vulnerable": np.zeros((3, 2), np.uint8),
    "length": np.array([len(text.split()) for text in CALLS]),
    "calls": np.array([call_number(call) for text in CALLS for call in text.split()]),
    "systems": np.array([[0, 1], [2, 3], [3, 0]], np.uint8),
    "stray": np.array([255, 0, 2], np.uint8),
}


def write(path, **changes):
    np.savez(path, **{name: array for name, array in {**FIELDS, **changes}.items() if array is not None})
    return path


def test_systems_and_stray_calls_are_read(tmp_path):
    data = SystemAuctions.load(write(tmp_path / "a.npz"))
    assert data.stray.tolist() == [-1, 0, 2] and data.systems.tolist() == FIELDS["systems"].tolist()
    positions = SystemPositions(data, np.arange(3))
    numbers = np.arange(len(positions))
    views, _, made = positions.at(numbers)
    learned = "P P P P P P P P 1C XX P P P"  # without the stray 1C of the second auction and X of the third
    assert made.tolist() == [call_number(call) for call in learned.split()]
    assert positions.after_stray(numbers).tolist() == [False] * 4 + [True] * 3 + [False] * 2 + [True] * 4
    ours, theirs = positions.systems(numbers)
    for k in range(len(numbers)):
        pair = FIELDS["systems"][positions.deals(numbers)[k] == positions.deals(numbers)[[0, 4, 7]]][0]
        side = views["seat"][k] % 2
        assert (ours[k], theirs[k]) == (pair[side], pair[1 - side])


def test_files_without_systems_are_sayc(tmp_path):
    data = SystemAuctions.load(write(tmp_path / "a.npz", systems=None, stray=None))
    assert not data.systems.any() and (data.stray == -1).all()
    both = SystemAuctions.join([SystemAuctions.load(write(tmp_path / "b.npz")), data.first(2)])
    assert both.systems.tolist() == [*FIELDS["systems"].tolist(), [0, 0], [0, 0]]
    one, other = SystemPositions(both, np.arange(3)), SystemPositions(both, np.array([3, 4]))
    assert len(one) == 13 and len(other) == 8
    assert other.at(np.arange(8))[2].tolist() == FIELDS["calls"][:8].tolist()
    assert one.digest != SystemPositions(both._replace(stray=both.stray - 1), np.arange(3)).digest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stray": np.array([255, 4, 2])}, "board 1: stray 4, expected a turn of its 4 calls or 255"),
        ({"stray": np.array([255, 0, 256])}, r"stray\[2\] 256: expected 0 ... 255"),
        ({"systems": np.array([[0, 1], [2, 4], [3, 0]])}, r"systems\[1, 1\] 4: expected 0 ... 3"),
        ({"systems": np.zeros((2, 2), int)}, "systems: 2 rows, expected 3 as in owner"),
        ({"systems": np.zeros(3, int)}, r"systems: int64 \[3\], expected integers \[n, 2\]"),
        ({"stray": np.zeros(3)}, "stray: float64"),
        ({"stray": None}, "stray: missing"),
        ({"systems": None}, "systems: missing"),
        ({"calls": np.zeros(15, int)}, "board 2, call 4: P is not legal"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words) as caught:
        SystemAuctions.load(write(tmp_path / "a.npz", **changes))
    assert "a.npz" in str(caught.value)


# ---- the network -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    """400 auctions of the rule-based bidder, which stand for those of four systems; some calls stray."""
    auctions, rng = record(Sayc(), 400, seed=4), np.random.default_rng(0)
    stray = np.where(rng.random(400) < 0.3, rng.integers(0, 4, 400), -1)
    return SystemAuctions(auctions, rng.integers(0, 4, (400, 2)).astype(np.int8), stray)


@pytest.fixture(scope="module", params=[SMALL, replace(SMALL, kind="mlp")], ids=["stages", "mlp"])
def player(request):
    """Random weights."""
    pytest.importorskip("torch")
    return expert.network_of(request.param, expert.module(request.param, 3))


def test_first_layer_is_a_plain_one(data, monkeypatch):
    """It adds up the lines of its table at the ones of a row, those of the systems included; so do the gradients."""
    torch = pytest.importorskip("torch")
    positions = SystemPositions(data, np.arange(20))
    x = ENCODERS["bidder1375"](positions.at(np.arange(60))[0])
    ours, theirs = positions.systems(np.arange(60))
    rows = np.zeros((60, 1663), np.float32)
    rows[:, :1375] = x
    bids = np.split(x, [BIDDER1375.start("side's bid") + 36 * k for k in range(3)], axis=1)
    for b in range(60):
        rows[b, 1375 + 36 * ours[b] + bids[1][b].argmax()] = 1
        rows[b, 1375 + 144 + 36 * theirs[b] + bids[2][b].argmax()] = 1
    places, starts = expert.ones(x, ours, theirs)
    for b, part in enumerate(np.split(places, starts[1:])):
        np.testing.assert_array_equal(part, np.flatnonzero(rows[b]))
    model = expert.module(SMALL, 3)
    full, weights = torch.from_numpy(rows), torch.arange(38.0)
    results = []
    for sparse in (True, False):
        model.zero_grad()
        if not sparse:
            monkeypatch.setattr(torch.nn.functional, "embedding_bag", lambda _, table, *rest, **more: full @ table)
        out = model(torch.from_numpy(places), torch.from_numpy(starts), torch.from_numpy(stages(x)))
        (out * weights).square().sum().backward()
        results.append((out.detach(), model.steps.grad.clone(), model.bias.grad.clone()))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-2)


def test_two_systems_are_a_plain_network(monkeypatch, data, player):
    """The weights of systems, added to those of first bids, give what the torch module gives; any batch, same bytes."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(network, "has_bfloat16", lambda kind: False)  # exact
    positions = SystemPositions(data, np.arange(60))
    numbers = np.arange(len(positions))
    x, (ours, theirs) = ENCODERS["bidder1375"](positions.at(numbers)[0]), positions.systems(numbers)
    with torch.no_grad():
        inputs = map(torch.from_numpy, (*expert.ones(x, ours, theirs), stages(x)))
        expected = expert.module(player.architecture, 3)(*inputs).numpy()
    found = np.empty_like(expected)
    for pair in np.ndindex(4, 4):
        rows = (ours == pair[0]) & (theirs == pair[1])
        net = player.of_systems(*pair)
        found[rows] = net(x[rows])
        np.testing.assert_array_equal(net(x[rows][:3]), found[rows][:3])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert np.abs(player.of_systems(0, 1)(x) - player.of_systems(1, 0)(x)).max() > 0.01


def test_training_goes_on_from_weights(data, player):
    """A module filled with a network is that network; dropout depends on the positions alone, and changes the loss."""
    torch = pytest.importorskip("torch")
    positions = SystemPositions(data, np.arange(60))
    fits = {
        dropout: expert.Trainer(positions, positions, expert.Options(player.architecture, dropout=dropout), player)
        for dropout in (0.0, 0.5)
    }
    again = fits[0.0].player()
    for name, tensor in player.tensors.items():
        np.testing.assert_allclose(again.tensors[name], tensor, atol=1e-5)
    with torch.no_grad():
        numbers = (np.arange(100), np.arange(100, 200))
        plain, dropped, repeated = ([float(fits[p].loss(n)) for n in numbers] for p in (0.0, 0.5, 0.5))
    assert dropped == repeated and all(a != b for a, b in zip(plain, dropped, strict=True))


def test_numbers_are_learned_in_steps():
    """The line of a number is that of the number below and a step."""
    pytest.importorskip("torch")
    held = expert.module(SMALL, 3)
    steps, table = (part.detach().numpy() for part in (held.steps, held.table()))
    at = BIDDER1375.start("points")
    np.testing.assert_allclose(table[at + 7] - table[at + 6], steps[at + 7], atol=1e-6)
    np.testing.assert_allclose(table[at], steps[at], atol=1e-6)
    hand = BIDDER1375.start("hand")
    np.testing.assert_array_equal(table[hand : hand + 52], steps[hand : hand + 52])


def test_training_improves_and_goes_on(tmp_path, data):
    pytest.importorskip("torch")
    options = expert.Options(SMALL, steps=60, batch=128, learning_rate=5e-3, warm_up=5, dropout=0.1)
    parts = [SystemPositions(data, np.arange(*span)) for span in ((0, 300), (300, 400))]
    seen = []

    def fitted(out, **run):
        return train(expert.Trainer(*parts, options), Run(tmp_path / out, **run))

    whole = fitted("a", report=lambda step, row: seen.append(row), every=20)
    assert seen[-1]["train_loss"] < seen[0]["train_loss"] - 0.5 and seen[-1]["accuracy"] > 0.5
    assert {"accuracy_before", "accuracy_after"} < seen[0].keys()
    fitted("b", every=15, stop=30)
    again = fitted("b", every=15)
    for name, tensor in whole.tensors.items():
        np.testing.assert_array_equal(tensor, again.tensors[name], err_msg=name)
    kept, about = network.load_weights(tmp_path / "b" / "network.safetensors", ExpertNetwork)
    assert kept.architecture == SMALL and about["algorithm"] == "expert"


def test_right_calls_are_counted(data, player):
    positions = SystemPositions(data, np.arange(40))
    numbers = np.arange(len(positions))
    right = expert.right_calls(positions, player, numbers)
    views, legal, made = positions.at(numbers)
    ours, theirs = positions.systems(numbers)
    for k in range(0, len(numbers), 17):
        one = Expert(SYSTEMS[ours[k]], SYSTEMS[theirs[k]], weights=player)
        assert (one.act(views[k : k + 1], legal[k : k + 1], None)[0] == made[k]) == right[k]
    test = SystemPositions(data, data.split("test"))
    (table,), _ = system_tables(player, data)
    assert [row["system"] for row in table.rows] == [*SYSTEMS, "all"]
    assert table.rows[-1]["all"].mean == pytest.approx(expert.right_calls(test, player, np.arange(len(test))).mean())
    both, _ = system_tables(player, data, data)
    assert repr(both[0].rows) == repr(table.rows)  # some errors are nan
    assert [row["policy"] for row in both[1].rows] == ["expert-sayc", "sl", "sl-wide", "sl-small"]
    assert all(row["processor µs a call"] > 1 for row in both[1].rows)


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


def test_overbid_means_more_points_until_the_side_has_bid(data):
    positions = SystemPositions(data, np.arange(40))
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
    experiments = Path(__file__).parents[3] / "experiments" / "weights"
    for file in sorted([*network.PACKAGED.glob("*.safetensors"), *experiments.glob("*.safetensors")]):
        with safe_open(file, "numpy") as opened:
            about = json.loads(opened.metadata()["bidzoo"])
        assert not any(name in json.dumps(about) for name in (*HELD_OUT, HELD_OUT_SELF_TAUGHT)), file.name
    for command in commands.app.registered_commands:
        defaults = [parameter.default for parameter in inspect.signature(command.callback).parameters.values()]
        defaults += [name for default in defaults if isinstance(default, list) for name in default]
        assert not set(HELD_OUT) & {default for default in defaults if isinstance(default, str)}, command.callback
    folder = network.PACKAGED.parents[1]
    sources = [
        *folder.glob("agents/bridge/**/*.py"),
        *folder.glob("cli/train.py"),
        *folder.glob("benchmarks/training.py"),
        *folder.glob("wrappers/*.py"),
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


def test_experts_come_first_and_either_part_alone():
    options, titles = bridge.Options(20, 2), {}
    for only in (None, "experts", "round-robin"):
        tables, _ = experts.with_round_robin(["sayc", "pass"], options, only)
        titles[only] = [table.title for table in tables]
    assert titles[None] == titles["experts"] + titles["round-robin"]
    assert titles["experts"] == ["Against held-out opponents", "Against opponents met in training"]
    with pytest.raises(ValueError, match="only 'robin': did you mean 'round-robin'"):
        experts.with_round_robin([], options, "robin")
    with pytest.raises(ValueError, match="only 'house': it is 'round-robin' now"):
        experts.with_round_robin([], options, "house")


def test_cross_play_seats_one_agent_with_one_expert():
    (table,), (figure,) = experts.cross_play(["sayc", "expert-acol"], 30, 2)
    boards, acol = bridge.Boards(30, 2), agents.make("expert-acol")
    found = duplicate(boards.game, (agents.make("sayc"), acol), (acol, acol), np.arange(30), 2, 2)
    assert table.rows[0]["expert-acol"].mean == pytest.approx(found.imps.mean())
    assert "expert-acol" not in table.rows[1] and figure.series["expert-acol"][3] == 0.0


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

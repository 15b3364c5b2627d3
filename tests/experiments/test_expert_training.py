"""``experiments/expert_training.py``: auctions of systems, the network that learns them, and the command."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import expert_training
from bridge_training import system_tables
from expert_training import SystemAuctions, SystemPositions

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.expert import Expert, ExpertNetwork, Experts
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.bridge.trainer import Run, train
from bidzoo.benchmarks.auctions import record
from bidzoo.core.cards import call_number
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS, stages
from bidzoo.envs.bridge.deals import pack_hands, packaged
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS

SMALL = Experts(width=24, depth=2, kind="stages")


def test_groups_are_the_values_of_one_number():
    groups = expert_training.count_groups()
    assert len({entry for group in groups for entry in group}) == sum(map(len, groups))
    texts = [[BIDDER1375.label(int(entry)) for entry in group] for group in groups]
    assert [f"tops[D {n}]" for n in range(4)] in texts
    for words in texts:
        numbers = [int(re.findall(r"\d+", text)[-1]) for text in words]
        assert numbers == list(range(numbers[0], numbers[0] + len(words)))
        assert len({re.sub(r"\d+\+?\]$", "", text) for text in words}) == 1
    game = Bridge(play=False, deals="test")
    states, out = game.new(200), game.buffers(200)
    game.begin(states, np.arange(200), 3, out)
    rng = np.random.default_rng(3)
    for _ in range(9):
        game.step(states, (rng.random(out.mask.shape) * out.mask).argmax(1), 3, out, 200)
        x = ENCODERS["bidder1375"](game.view_of(states, np.zeros(200)))
        assert all((x[:, group].sum(1) <= 1).all() for group in groups)


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
    return expert_training.network_of(request.param, expert_training.module(request.param, 3))


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
    places, starts = expert_training.ones(x, ours, theirs)
    for b, part in enumerate(np.split(places, starts[1:])):
        np.testing.assert_array_equal(part, np.flatnonzero(rows[b]))
    model = expert_training.module(SMALL, 3)
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
        inputs = map(torch.from_numpy, (*expert_training.ones(x, ours, theirs), stages(x)))
        expected = expert_training.module(player.architecture, 3)(*inputs).numpy()
    found = np.empty_like(expected)
    for pair in np.ndindex(4, 4):
        rows = (ours == pair[0]) & (theirs == pair[1])
        net = player.of_systems(*pair)
        found[rows] = net(x[rows])
        np.testing.assert_array_equal(net(x[rows][:3]), found[rows][:3])
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())
    assert np.abs(player.of_systems(0, 1)(x) - player.of_systems(1, 0)(x)).max() > 0.01


def test_training_goes_on_from_weights(data, player):
    """A module filled with a network is that network; dropout depends on the positions alone, and changes the loss."""
    torch = pytest.importorskip("torch")
    positions = SystemPositions(data, np.arange(60))
    fits = {
        dropout: expert_training.Trainer(
            positions, positions, expert_training.Options(player.architecture, dropout=dropout), player
        )
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
    held = expert_training.module(SMALL, 3)
    steps, table = (part.detach().numpy() for part in (held.steps, held.table()))
    at = BIDDER1375.start("points")
    np.testing.assert_allclose(table[at + 7] - table[at + 6], steps[at + 7], atol=1e-6)
    np.testing.assert_allclose(table[at], steps[at], atol=1e-6)
    hand = BIDDER1375.start("hand")
    np.testing.assert_array_equal(table[hand : hand + 52], steps[hand : hand + 52])


def test_training_improves_and_goes_on(tmp_path, data):
    pytest.importorskip("torch")
    options = expert_training.Options(SMALL, steps=60, batch=128, learning_rate=5e-3, warm_up=5, dropout=0.1)
    parts = [SystemPositions(data, np.arange(*span)) for span in ((0, 300), (300, 400))]
    seen = []

    def fitted(out, **run):
        return train(expert_training.Trainer(*parts, options), Run(tmp_path / out, **run))

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
    right = expert_training.right_calls(positions, player, numbers)
    views, legal, made = positions.at(numbers)
    ours, theirs = positions.systems(numbers)
    for k in range(0, len(numbers), 17):
        one = Expert(SYSTEMS[ours[k]], SYSTEMS[theirs[k]], weights=player)
        assert (one.act(views[k : k + 1], legal[k : k + 1], None)[0] == made[k]) == right[k]
    test = SystemPositions(data, data.split("test"))
    (table,), _ = system_tables(player, data)
    assert [row["system"] for row in table.rows] == [*SYSTEMS, "all"]
    assert table.rows[-1]["all"].mean == pytest.approx(
        expert_training.right_calls(test, player, np.arange(len(test))).mean()
    )
    both, _ = system_tables(player, data, data)
    assert repr(both[0].rows) == repr(table.rows)  # some errors are nan
    assert [row["policy"] for row in both[1].rows] == ["expert-sayc", "sl", "sl-wide", "sl-small"]
    assert all(row["processor µs a call"] > 1 for row in both[1].rows)

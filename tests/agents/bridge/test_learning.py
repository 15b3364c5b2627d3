"""Training, small: it improves by a stated margin, stops and goes on with the same bytes, and fits by hand."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors import safe_open
from trainers import baseline16, baseline19, pbl, pi

pytest.importorskip("torch")

from bidzoo.agents.bridge import a2c, belief, jps, network, ppo, rl, rpi, selfplay, sl
from bidzoo.agents.bridge.network import Architecture, NetworkPolicy
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.bridge.trainer import Options as FitOptions
from bidzoo.agents.bridge.trainer import Run, draw_curves, train
from bidzoo.benchmarks.auctions import record
from bidzoo.benchmarks.match import duplicate
from bidzoo.core.bits import unpack
from bidzoo.envs.bridge.formats.auctions import Positions
from bidzoo.envs.bridge.game import Bridge

POLICY = Architecture("openspiel480", 38, width=48, depth=2)


@pytest.fixture(scope="module")
def auctions():
    """300 auctions of the rule-based bidder."""
    return record(Sayc(), 300, seed=4)


def parts(auctions):
    """Positions to learn from and to measure on."""
    return [Positions(auctions, auctions.split(part)) for part in ("train", "validation")]


@pytest.fixture(scope="module")
def beginner():
    """A network that has learned nothing."""
    return network.network_of(POLICY, network.module(POLICY, 1, last_scale=0.1))


def gain(trained, before, observation="openspiel480"):
    """IMPs a board of one network over another, 300 boards."""
    game = Bridge(False, deals="validation", observation=observation)
    return duplicate(game, NetworkPolicy(trained), NetworkPolicy(before), np.arange(300), seed=3).estimate.mean


def same(one, other):
    for name, tensor in one.tensors.items():
        np.testing.assert_array_equal(tensor, other.tensors[name], err_msg=name)


def test_recorded_auctions_do_not_depend_on_the_chunk(monkeypatch, auctions):
    monkeypatch.setattr("bidzoo.benchmarks.auctions._CHUNK", 77)
    for one, other in zip(auctions, record(Sayc(), 300, seed=4), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- from recorded auctions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("trainer", "architecture", "margin"),
    [
        (sl.Trainer, POLICY, 1.0),
        (belief.Trainer, Architecture("openspiel480", 156, width=48, depth=2), 0.015),
    ],
    ids=["sl", "belief"],
)
def test_fitting_improves_and_goes_on(tmp_path, auctions, trainer, architecture, margin):
    """Cross-entropy falls by a nat (calls), or by 0.015 nats an output (cards); stopped half way it is the same run."""
    seen = []
    options = FitOptions(architecture, steps=60, batch=128, learning_rate=3e-3, warm_up=5)

    def report(step, row):
        seen.append(row["cross_entropy"])

    def fitted(out, **run):
        return train(trainer(*parts(auctions), options), Run(tmp_path / out, **run))

    whole = fitted("a", report=report, every=5)
    assert seen[-1] < seen[0] - margin
    fitted("b", every=10, stop=30)
    same(whole, fitted("b", every=10))
    same(whole, fitted("c", every=60))
    assert (tmp_path / "a" / "network.safetensors").stat().st_size > 10_000
    lines = (tmp_path / "b" / "curves.csv").read_text().splitlines()
    assert lines[0].startswith("step,train_loss,") and len(lines) == 1 + 6
    fitted("d", every=60, stop=37, seconds=0)  # a checkpoint between two measurements
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == ["checkpoint.safetensors"]
    same(whole, fitted("d", every=60))
    assert (tmp_path / "d" / "curves.csv").read_bytes() == (tmp_path / "c" / "curves.csv").read_bytes()


def test_accuracy_is_counted(auctions, beginner):
    positions = Positions(auctions, np.arange(20))
    views, legal, made = positions.at(np.arange(len(positions)))
    right = NetworkPolicy(beginner).probabilities(views, legal).argmax(1) == made
    assert sl.measure(positions, beginner)["accuracy"] == pytest.approx(right.mean())
    np.testing.assert_array_equal(sl.scores(positions, beginner)[0], right)


def test_calls_of_one_deal_are_known(auctions):
    """Two tables of one deal, and all calls of an auction, share its number."""
    twice = Positions(auctions, np.array([3, 5, 3]))
    lengths = np.diff(auctions.start)[[3, 5, 3]]
    deals = twice.deals(np.arange(len(twice)))
    np.testing.assert_array_equal(deals, np.repeat([deals[0], deals[lengths[0]], deals[0]], lengths))
    assert deals[0] != deals[lengths[0]]


def test_belief_knows_its_own_cards_and_the_uniform_one_is_a_third(auctions):
    architecture = Architecture("openspiel480", 156, width=8, depth=1)
    model = belief.Belief(network.network_of(architecture, network.module(architecture)))
    positions = Positions(auctions, np.arange(10))
    views, _, _ = positions.at(np.arange(30))
    chance = model.probabilities(views)
    held = belief.targets(positions, np.arange(30))
    assert chance.shape == (30, 3, 52)
    own = (views["hand"][:, None] >> np.arange(52) & 1) == 1
    assert not chance[own[:, None].repeat(3, 1)].any() and not held[own[:, None].repeat(3, 1)].any()
    assert (held.sum(1) == ~own).all() and (held.sum(2) == 13).all()
    third = np.where(own[:, None], 0, np.float32(1 / 3)).repeat(3, 1)
    np.testing.assert_allclose(belief.cross_entropy(third, held), belief.uniform_cross_entropy(), rtol=1e-6)
    assert belief.uniform_cross_entropy() == pytest.approx(0.4774, abs=1e-4)
    length, nats = belief.by_length(positions, model.network)
    np.testing.assert_array_equal(length, positions.at(np.arange(len(positions)))[0]["length"])
    assert len(nats) == len(positions) and (nats > 0).all()


def test_fitting_from_a_start(tmp_path, auctions, beginner):
    options = FitOptions(POLICY, steps=1, batch=16, learning_rate=0.0)
    same(beginner, train(sl.Trainer(*parts(auctions), options, beginner), Run(tmp_path)))
    other = FitOptions(Architecture("openspiel480", 38, width=16), steps=1, batch=16)
    with pytest.raises(ValueError, match=r"start is .*width=48.*, expected .*width=16"):
        sl.Trainer(*parts(auctions), other, beginner)


def test_checkpoint_of_other_options_is_refused(tmp_path, auctions):
    def fit(**changes):
        train(sl.Trainer(*parts(auctions), FitOptions(POLICY, 4, 16, **changes)), Run(tmp_path, stop=2, every=2))

    fit()
    with pytest.raises(ValueError, match="seed was 0 and is now 1; choose another folder"):
        fit(seed=1)
    file = tmp_path / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:99])
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors: not a checkpoint, or a truncated one"):
        fit()


def test_a_run_goes_on_with_its_own_inputs_only(tmp_path, auctions, beginner):
    """Other auctions, another start, other validation positions: the folder belongs to the run that began it."""
    options = FitOptions(POLICY, 4, 16)
    learn, check = parts(auctions)

    def fit(learn=learn, check=check, start=beginner, out=tmp_path, **run):
        return train(sl.Trainer(learn, check, options, start), Run(out, every=1, **run))

    fit(stop=2)
    other = Positions(record(Sayc(), 300, seed=5), auctions.split("train"))
    other = network.network_of(POLICY, network.module(POLICY, 2))
    for change, name in (
        ({"learn": other}, "positions"),
        ({"check": learn}, "validation positions"),
        ({"start": other}, "start"),
        ({"start": None}, "start"),
        ({"inputs": {"opponent": "b"}}, "opponent"),
    ):
        with pytest.raises(ValueError, match=rf"input {name} was .* and is now .*; choose another folder"):
            fit(**change)
    fit()
    about = network.load_weights(tmp_path / "network.safetensors")[1]
    assert about["inputs"] == {
        "positions": learn.digest,
        "validation positions": check.digest,
        "start": beginner.digest,
    }


def test_a_run_on_other_deals_is_another_run(tmp_path, beginner):
    from bidzoo.envs.bridge.deals import DealSet, packaged

    few, others = (DealSet(*(array[part] for array in packaged("test"))) for part in (slice(20), slice(20, 40)))
    options = ppo.Options(iterations=2, boards=8, minibatch=64)

    def run(deals, start=beginner, reference=None):
        trainer = ppo.Trainer(start, Bridge(False, deals=deals), options, reference=reference)
        train(trainer, Run(tmp_path, every=1, stop=1))

    run(few)
    with pytest.raises(ValueError, match=r"input deals was .* and is now"):
        run(others)
    with pytest.raises(ValueError, match=r"input start was .* and is now"):
        run(few, network.network_of(POLICY, network.module(POLICY, 2)))
    with pytest.raises(ValueError, match="input reference was 'start' and is now"):
        run(few, reference=beginner)


def test_a_reference_may_be_wider_than_the_start(beginner):
    wider = Architecture(POLICY.observation, POLICY.outputs, width=POLICY.width + 1, depth=POLICY.depth)
    other = network.network_of(wider, network.module(wider, 1))
    options = ppo.Options(boards=16, minibatch=64, epochs=1, snapshot_every=100)
    trainer = ppo.Trainer(beginner, Bridge(False, deals="test"), options, reference=other)
    met = set()
    for iteration in range(8):
        trainer.iterate(iteration)
        met.add(trainer.past_opponent is trainer.anchor)
    assert met == {False, True}


def test_a_reference_that_sees_otherwise_is_refused(beginner):
    sees = Architecture("jps267", POLICY.outputs, width=8, depth=1)
    other = network.network_of(sees, network.module(sees, 1))
    with pytest.raises(ValueError, match="reference sees 'jps267', start 'openspiel480': expected the same"):
        ppo.Trainer(beginner, Bridge(False, deals="test"), ppo.Options(), reference=other)


def starts(algorithm, seed):
    """A network that ``algorithm`` may begin with; nothing where it begins with its own."""
    if algorithm in (baseline16, pbl):
        return ()
    if algorithm is baseline19:
        widths = baseline19.Widths(8, 8)
        return (baseline19.Networks(widths, network.arrays(baseline19.module(widths, seed))),)
    shape = Architecture("openspiel480", 39 if algorithm in (a2c, jps) else 38, width=8, depth=1)
    return (network.network_of(shape, network.module(shape, seed)),)


@pytest.mark.parametrize("algorithm", [ppo, rpi, rl, pi, a2c, jps, baseline19, baseline16, pbl])
def test_runs_are_told_apart_by_start_and_deals(algorithm):
    from bidzoo.envs.bridge.deals import DealSet, packaged

    few, others = (DealSet(*(array[part] for array in packaged("test"))) for part in (slice(20), slice(20, 40)))
    alone = {"competition": False, "reward": "cost"} if algorithm in (baseline16, pbl) else {}

    def inputs(seed, deals):
        game = Bridge(False, deals=deals, **alone)
        return algorithm.Trainer(*starts(algorithm, seed), game, algorithm.Options()).inputs

    one = inputs(1, few)
    assert inputs(1, few) == one and inputs(1, others)["deals"] != one["deals"]
    assert alone or inputs(2, few)["start"] != one["start"]


def test_files_are_made_again_from_the_checkpoint(tmp_path, auctions):
    """Whatever is missing or stale beside the checkpoint, a run that goes on puts right, even at its end."""
    metrics = iter([2.0, 1.0])
    options = FitOptions(POLICY, 2, 16)
    run = Run(tmp_path, every=1, measure=lambda player: {"imps": next(metrics)})
    train(sl.Trainer(*parts(auctions), options), run)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(files) == ["best.safetensors", "checkpoint.safetensors", "curves.csv", "network.safetensors"]
    (tmp_path / "network.safetensors").unlink()
    (tmp_path / "best.safetensors").write_bytes(files["network.safetensors"])
    (tmp_path / "curves.csv").write_bytes(b"step")
    train(sl.Trainer(*parts(auctions), options), run)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_damaged_and_old_checkpoints_are_named(tmp_path, auctions):
    from safetensors.numpy import save

    def fit(**run):
        train(sl.Trainer(*parts(auctions), FitOptions(POLICY, 2, 16)), Run(tmp_path, every=1, **run))

    def second(step, row):
        with pytest.raises(ValueError, match=r"checkpoint\.safetensors: already being written, by process \d+"):
            fit()

    fit(stop=1, report=second)
    file = tmp_path / "checkpoint.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] + bytes([whole[-3] ^ 4]) + whole[-2:])
    with pytest.raises(ValueError, match=r"tensors of digest .*, expected .*: the file is damaged"):
        fit()
    file.write_bytes(save({"a": np.zeros(2)}, {"state": '{"step": 1, "identity": {}, "rows": []}'}))
    with pytest.raises(ValueError, match=r"metadata: .*inputs"):
        fit()
    file.write_bytes(save({"a": np.zeros(2)}, {"state": '{"step": 1}', "inputs": ""}))
    with pytest.raises(ValueError, match=r"metadata: .*identity"):
        fit()
    file.write_bytes(save({"a": np.zeros(2)}))
    with pytest.raises(ValueError, match="not a checkpoint of a bidzoo training run"):
        fit()


@pytest.mark.parametrize("name", ["../../x", "/tmp/bidzoo-abs/x", "other"])
def test_names_in_a_checkpoint_are_no_paths(tmp_path, auctions, name):
    """A file of weights that the checkpoint calls otherwise than runs do is not written anywhere."""
    from safetensors.numpy import load_file, save_file

    from bidzoo.core.arrays import digest

    folder = tmp_path / "runs" / "sl"
    trainer = sl.Trainer(*parts(auctions), FitOptions(POLICY, 2, 16))
    train(trainer, Run(folder, every=1, stop=1))
    tensors = load_file(folder / "checkpoint.safetensors")
    with safe_open(folder / "checkpoint.safetensors", "np") as file:
        state = json.loads(file.metadata()["state"])
    tensors[f"file/{name}"] = tensors["file/network"]
    save_file(tensors, folder / "checkpoint.safetensors", {"state": json.dumps({**state, "digest": digest(tensors)})})
    before = set(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors: weights '.*', expected network or best"):
        train(trainer, Run(folder, every=1))
    assert set(tmp_path.rglob("*")) == before and not Path("/tmp/bidzoo-abs").exists()


def test_what_a_kill_left_of_a_picture_is_swept(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "curves.csv").write_text("step,loss\n1,0.5\n2,0.25\n")
    (tmp_path / ".curves.png.ab12cd34").write_bytes(b"half of one")
    assert draw_curves(tmp_path / "curves.csv").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.csv", "curves.png"]


@pytest.mark.parametrize(
    ("about", "fault"),
    [
        ({"depth": 10**7}, "depth: 10000000, expected an integer from 1 to 1000"),
        ({"depth": 3.0}, "architecture.depth: 3.0, expected an integer|depth 3.0: expected an integer"),
        ({"width": 10**9}, "width 1000000000: expected an integer from 1 to 65536|width: 1000000000"),
        ({"observation": ["x"]}, "observation: .*'x'.*expected a text"),
        ({"outputs": True}, "outputs: True, expected an integer"),
    ],
)
def test_weights_say_what_they_are_within_limits(tmp_path, beginner, about, fault):
    import json

    from safetensors.numpy import save

    shape = {"observation": "openspiel480", "outputs": 38, "width": 48, "depth": 2, **about}
    text = json.dumps({"format": network.Network.form, "architecture": shape, "provenance": {}})
    (tmp_path / "w.safetensors").write_bytes(save({"a": np.zeros(2)}, {"bidzoo": text}))
    with pytest.raises(ValueError, match=rf"w\.safetensors: metadata: (architecture.*)?({fault})"):
        network.load_weights(tmp_path / "w.safetensors")


# ---- in play -----------------------------------------------------------------------------


def test_ppo_improves_and_goes_on(tmp_path, beginner):
    """A beginner gains 2 IMPs a board or more in ten short iterations, and the run can be stopped."""
    game = Bridge(False, deals="train")
    options = ppo.Options(
        iterations=10,
        boards=96,
        max_actions=6,
        min_prob=0.01,
        learning_rate=2e-3,
        anchor=0.01,
        average=0.5,
        minibatch=256,
        snapshot_every=2,
    )
    half = options.iterations // 2
    whole = train(ppo.Trainer(beginner, game, options), Run(tmp_path / "a", every=half))
    train(ppo.Trainer(beginner, game, options), Run(tmp_path / "b", every=half, stop=half))
    same(whole, train(ppo.Trainer(beginner, game, options), Run(tmp_path / "b", every=half)))
    assert gain(whole, beginner) > 2
    assert (tmp_path / "a" / "network.safetensors").exists()


def test_candidates_count_by_their_chance(beginner, monkeypatch):
    learned = []
    monkeypatch.setattr(ppo.Trainer, "_learn", lambda _, batch, iteration: learned.append(batch) or {})
    options = ppo.Options(boards=64, max_actions=3, min_prob=0.02)
    ppo.Trainer(beginner, Bridge(False), options).iterate(0)
    batch = SimpleNamespace(**{name: column.numpy() for name, column in learned[0].columns.items()})
    new = [
        [call not in row[:k] for k, call in enumerate(row)] for row in batch.call.tolist()
    ]  # where none is, 0 stands
    tried = (batch.before >= np.log(0.02)) & new
    tried[:, 0] = True
    assert (tried.sum(1) > 1).any()
    chance = np.where(tried, np.exp(batch.before), 0)
    np.testing.assert_allclose(batch.weight, chance / chance.sum(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose((batch.weight * batch.advantage).sum(1), 0, atol=1e-5)


def test_best_policy_is_the_one_that_measured_best(tmp_path, beginner):
    from bidzoo.agents.bridge import network

    metrics = iter([1.0, 3.0, 2.0])
    options = ppo.Options(iterations=3, boards=16, minibatch=64, learning_rate=1e-3)
    run = Run(tmp_path, every=1, measure=lambda net: {"imps": next(metrics)})
    train(ppo.Trainer(beginner, Bridge(False), options), run)
    assert network.load_weights(tmp_path / "best.safetensors")[1]["measured"]["iteration"] == 2
    assert network.load_weights(tmp_path / "network.safetensors")[1]["measured"]["iteration"] == 3


def test_actor_critic_improves_and_goes_on(tmp_path):
    """From scratch, 6 synchronisations of 40 pairs gain 20 IMPs a board or more, which the beginner gave away."""
    game = Bridge(False, observation="jps267")
    options = a2c.Options(
        syncs=6, boards=40, sync=12, minibatch=256, learning_rate=1e-3, burn_in=600, capacity=8000, average=0.5
    )
    before = network.network_of(a2c.ACTOR_CRITIC, network.module(a2c.ACTOR_CRITIC, 0, last_scale=0.1))
    whole = train(a2c.Trainer(None, game, options), Run(tmp_path / "a", every=3))
    train(a2c.Trainer(None, game, options), Run(tmp_path / "b", every=3, stop=3))
    same(whole, train(a2c.Trainer(None, game, options), Run(tmp_path / "b", every=3)))
    assert gain(whole, before, "jps267") > 20


def test_where_tables_differ_is_what_is_learned_from():
    """Others are not stored; the gradient of what is left is the whole one, since theirs cancel."""
    import torch

    game = Bridge(False, observation="jps267")
    options = a2c.Options(boards=40, burn_in=100, capacity=8000, differing=True)
    trainer = a2c.Trainer(network.network_of(a2c.ACTOR_CRITIC, network.module(a2c.ACTOR_CRITIC, 3)), game, options)
    pairs = trainer.play(np.arange(40), selfplay.actor(trainer.model, game.encoder), 0)

    def gradient(pairs):
        decisions = pairs.decisions
        shown = unpack(decisions.observation, 267), unpack(decisions.legal, 38), decisions.call
        observation, legal, call = map(torch.from_numpy, shown)
        chance = selfplay.log_chances(trainer.model, observation, legal).gather(1, call[:, None])[:, 0]
        total = (torch.from_numpy(pairs.outcome) * chance).sum()
        return torch.cat([part.flatten() for part in torch.autograd.grad(total, trainer.model.layers.parameters())])

    kept = pairs.parted & (pairs.outcome != 0)
    figures = trainer.store(pairs)
    assert 0 < kept.mean() < 1 and figures == {"kept": kept.mean()} and len(trainer.replay) == kept.sum()
    whole, rest = gradient(pairs), gradient(pairs.select(~kept))
    assert rest.norm() < 0.02 * whole.norm()  # what bfloat16 leaves of a sum that is 0
    assert np.isfinite(float(trainer.learn(0)["value_error"]))


def rl_options(**changes):
    sizes = {"boards": 12, "sync": 2, "minibatch": 64, "burn_in": 200, "capacity": 900, "value_width": 16}
    return rl.Options(**{**sizes, "syncs": 4, "warm_up": 1, "average": 0.5, "policy_rate": 1e-3, **changes})


@pytest.mark.parametrize(
    "flags", [{}, {"prioritised": False}, {"hidden": False}, {"value": "bmcs636"}, {"optimiser": "adan"}], ids=str
)
def test_rl_goes_on_and_keeps_its_flags(tmp_path, beginner, flags):
    options, game = rl_options(**flags), Bridge(False)
    whole = train(rl.Trainer(beginner, game, options), Run(tmp_path / "a", every=2))
    train(rl.Trainer(beginner, game, options), Run(tmp_path / "b", every=2, stop=2))
    same(whole, train(rl.Trainer(beginner, game, options), Run(tmp_path / "b", every=2)))
    with pytest.raises(AssertionError):
        same(whole, beginner)


def test_rl_improves(tmp_path, beginner):
    """A beginner gains 1 IMP a board or more in 24 synchronisations; nothing while the value network warms up."""
    options = rl_options(
        syncs=24, boards=96, sync=8, minibatch=512, burn_in=1000, capacity=8000, policy_rate=2e-3, warm_up=4
    )
    game = Bridge(False, deals="train")
    same(beginner, train(rl.Trainer(beginner, game, options), Run(tmp_path, every=4, stop=4)))
    assert gain(train(rl.Trainer(beginner, game, options), Run(tmp_path, every=4)), beginner) > 1


FLAGS = {"share": 0.3}, {"share": 0.3, "depth": 1}, {"share": 0.0}, {**jps.BY_MOVES, "share": 0.1}


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_joint_search_training_goes_on(tmp_path, flags):
    game = Bridge(False, observation="jps267")
    start = network.network_of(a2c.ACTOR_CRITIC, network.module(a2c.ACTOR_CRITIC, 3, last_scale=0.5))
    sizes = {"syncs": 4, "boards": 8, "sync": 2, "minibatch": 64, "burn_in": 200, "capacity": 2000}
    options = jps.Options(**sizes, **{"responses": 2, "rollouts": 2, **flags})
    whole = train(jps.Trainer(start, game, options), Run(tmp_path / "a", every=2))
    train(jps.Trainer(start, game, options), Run(tmp_path / "b", every=2, stop=2))
    same(whole, train(jps.Trainer(start, game, options), Run(tmp_path / "b", every=2)))


class Diverging(ppo.Trainer):
    """The third iteration leaves one weight as it would not be read again."""

    weight = np.nan

    def iterate(self, iteration):
        metrics = super().iterate(iteration)
        if iteration == 2:
            self.average.state_dict()["layers.0.bias"][3] = self.weight
        return metrics


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1e5])
def test_a_training_that_diverges_keeps_its_last_checkpoint(tmp_path, beginner, weight):
    options = ppo.Options(iterations=4, boards=16, minibatch=64)
    trainer = Diverging(beginner, Bridge(False, reward="score"), options)
    trainer.weight = weight
    kept = {}

    def report(step, row):
        kept.update({path.name: path.read_bytes() for path in tmp_path.iterdir()})
        assert step < 3

    with pytest.raises(ValueError, match=r"^iteration 3: layers\.0\.bias is not finite in half precision"):
        train(trainer, Run(tmp_path, every=1, report=report))
    assert {"checkpoint.safetensors", "network.safetensors", "curves.csv"} <= kept.keys()
    for name, content in kept.items():
        if name.endswith((".safetensors", ".csv")):
            assert (tmp_path / name).read_bytes() == content


def test_games_must_fit(beginner):
    with pytest.raises(ValueError, match="reward='score', not 'par'"):
        ppo.Trainer(beginner, Bridge(False, reward="par"), ppo.Options())
    with pytest.raises(ValueError, match="needs observation='jps267'"):
        a2c.Trainer(None, Bridge(False), a2c.Options())
    with pytest.raises(ValueError, match="observation='openspiel480'"):
        rl.Trainer(beginner, Bridge(False, observation="jps267"), rl.Options())
    with pytest.raises(ValueError, match="start has 38 outputs, expected 39"):
        jps.Trainer(beginner, Bridge(False), jps.Options())


@pytest.mark.parametrize("algorithm", [ppo, rpi, rl], ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_network_of_beliefs_is_no_start(beginner, algorithm):
    architecture = Architecture("openspiel480", 156, width=8, depth=1)
    beliefs = network.network_of(architecture, network.module(architecture))
    game = Bridge(False, reward="score")
    with pytest.raises(ValueError, match="start has 156 outputs, expected 38: of every call, or 39 with a value"):
        algorithm.Trainer(beliefs, game, algorithm.Options())
    if algorithm is ppo:
        with pytest.raises(ValueError, match="reference has 156 outputs"):
            ppo.Trainer(beginner, game, ppo.Options(), reference=beliefs)


def test_self_play_does_not_depend_on_the_batch(beginner):
    torch_twin = network.module(POLICY)
    network.load_arrays(torch_twin, beginner.tensors)
    game, n = Bridge(False), 60
    actor = selfplay.actor(torch_twin, game.encoder)
    boards, both = np.arange(n), np.full(n, selfplay.BOTH)
    tables, decisions = selfplay.play(game, boards, 5, actor, actor, both, 1)
    part, _ = selfplay.play(game, boards[20:30], 5, actor, actor, both[20:30], 1)
    assert (tables["calls"][20:30] == part["calls"]).all(1).mean() > 0.8  # bfloat16 sums may differ in the last bit
    assert len(decisions.call) == tables["length"].sum()
    chosen = np.take_along_axis(unpack(decisions.legal, 38), decisions.call[:, None], 1)
    assert chosen.all()
    one_side = selfplay.play(
        game, boards, 5, actor, selfplay.actor(torch_twin, game.encoder), np.zeros(n, np.int64), 1
    )[1]
    assert not one_side.side.any() and 0 < len(one_side.call) < len(decisions.call)

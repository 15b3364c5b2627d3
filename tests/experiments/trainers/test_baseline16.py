"""Two partners who bid alone, and ``baseline16``: its Bellman targets against a loop, its bounds, its runs."""

import numpy as np
import pytest
from train import app
from trainers import baseline16, partners
from trainers.baseline16 import Options, confident
from trainers.partners import mean_cost
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo import agents
from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.baseline16 import Baseline16, Networks
from bidzoo.agents.bridge.partners import see
from bidzoo.agents.bridge.trainer import Run, train
from bidzoo.core.cards import FIRST_BID
from bidzoo.envs.bridge.game import Bridge

SMALL = {"positions": 3, "width": 12, "boards": 16, "iterations": 4, "warm_up": 1, "learning_rate": 1e-2}


def alone():
    return Bridge(False, competition=False, reward="cost", deals="validation")


def trainer(**changes):
    return baseline16.Trainer(alone(), Options(**SMALL | changes))


def test_auctions_are_those_of_the_game():
    """Random auctions of two: who sees what, what is legal, when it is over, what it costs."""
    game, n, draw = alone(), 200, np.random.default_rng(3)
    boards, calls = partners.deal(game, np.arange(n), 7), np.full((n, 40), -1, np.int8)
    states, out = game.new(n), game.buffers(n)
    game.begin(states, np.arange(n), 7, out)
    cost, going = np.zeros(n), np.arange(n)
    for t in range(40):
        legal = partners.legal(calls[going], t)
        mask = out.mask[going]
        np.testing.assert_array_equal(legal, np.delete(mask, [1, 2], axis=1))
        seen = see(game.view_of(states[going], out.player[going].astype(np.int64)))
        np.testing.assert_array_equal(seen.observation, partners.observe(boards, going, t % 2, calls[going], t))
        assert (seen.position == t).all() and (seen.highest == seen.covered).all()
        chosen = np.array([draw.choice(np.flatnonzero(row)[: draw.integers(1, 9)]) for row in legal])
        calls[going, t] = chosen
        actions = np.full(n, -1)
        actions[going] = np.where(chosen > 0, chosen + FIRST_BID - 1, 0)
        game.step(states, actions, 7, out, 0)
        np.testing.assert_array_equal(partners.over(calls[going], t + 1), out.over[going])
        cost[going] = -out.reward[going, 0]
        going = going[~out.over[going]]
        if len(going) == 0:
            break
    assert len(going) == 0 and len(np.unique(cost)) > 10
    np.testing.assert_array_equal(partners.costs(boards, np.arange(n), calls), cost)


def test_bellman_targets_are_those_of_a_loop():
    one = trainer(positions=4)
    draw, shapes = np.random.default_rng(0), one.architecture.shapes.items()
    tensors = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes}  # costs around one half
    networks, boards = Networks(one.architecture, tensors), partners.deal(one.game, np.arange(30), 1)
    network.load_arrays(one.model, tensors)
    calls = np.full((30, 4), -1, np.int8)
    calls[:, 0] = draw.integers(0, 20, 30)
    tried = np.stack([calls[:, 0] + 1, np.zeros(30, np.int64), np.full(30, -1), calls[:, 0] + 9], axis=1)
    found = one.penetrate(boards, np.arange(30), calls, 1, tried)
    for b in range(30):
        for k, call in enumerate(tried[b]):
            made = [int(calls[b, 0]), int(call)]
            while call >= 0 and made[-1] > 0 and len(made) < 4:
                t = len(made)
                so_far = np.array([made + [-1] * (4 - t)], np.int8)
                cost = networks(partners.observe(boards, np.array([b]), t % 2, so_far, t), np.array([t]))[0]
                legal = [0, *range(max(made) + 1, 36)]
                made.append(min(legal, key=lambda c: cost[c]))
            last = max(made)
            strain = [t for t, c in enumerate(made) if c > 0 and c % 5 == last % 5]
            wanted = boards.cost[b, strain[0] % 2 if last else 0, last] / 24 if call >= 0 else 0
            assert found[b, k] == pytest.approx(wanted)
    assert len(np.unique(found)) > 8
    passed = one.penetrate(boards, np.arange(30), calls, 1, tried, alone=True)
    direct = [boards.cost[b, 1 if tried[b, 0] % 5 != calls[b, 0] % 5 else 0, tried[b, 0]] / 24 for b in range(30)]
    np.testing.assert_allclose(passed[:, 0], direct, rtol=1e-6)


def test_bounds_are_those_of_ucb1():
    draw = np.random.default_rng(1)
    cost, legal = draw.random((20, 36)).astype(np.float32), (draw.random((20, 36)) < 0.6).astype(np.int8)
    counts = draw.integers(1, 50, 36)
    order = confident(cost, legal, counts, 0.3)
    for b in range(20):
        bound = [cost[b, a] - 0.3 * np.sqrt(2 * np.log(counts.sum()) / counts[a]) for a in range(36)]
        wanted = sorted(np.flatnonzero(legal[b]), key=lambda a: bound[a])
        assert order[b].tolist() == wanted + [-1] * (36 - len(wanted))
    counts[[5, 11]] = 0  # never tried: first
    legal[:] = 1
    assert confident(cost, legal, counts, 0.3)[:, :2].tolist() == [[5, 11]] * 20


def test_what_is_tried_is_counted():
    one = trainer(warm_up=0, tried=2)
    one.iterate(0)
    assert one.counts[0].sum() == 16 * 2 and (one.counts[0] == 16).sum() == 2
    assert one.counts[1].sum() == 16 * 2 and one.counts[2].sum() == 0  # never tried, pass comes first: all pass out
    one.iterate(1)
    assert one.counts[0].sum() == 2 * 16 * 2 and one.counts[2].sum() > 16 * 2  # the last position tries all
    warming = trainer()
    warming.iterate(0)
    assert (warming.counts[0] == 16).all()


def test_a_run_is_its_seed_and_goes_on(goes_on):
    goes_on(trainer, 2)


def test_it_learns(tmp_path):
    """From scratch to less than always passing costs, in a few seconds."""
    options = {"positions": 2, "width": 32, "boards": 256, "iterations": 250, "warm_up": 120, "average": 0.9}
    learned = train(trainer(**options), Run(tmp_path, every=250))
    assert mean_cost(Baseline16(learned), 600).mean < mean_cost(agents.make("pass"), 600).mean - 0.3


def test_the_command(undrawn, tmp_path):
    words = ["baseline16", "--out", str(tmp_path), "--boards", "20", "--every", "2"]
    for name, value in {"iterations": 2, "boards": 8, "width": 8, "positions": 2}.items():
        words += ["--set", f"{name}={value}"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0 and "imps" in result.output
    about = network.load_weights(tmp_path / "network.safetensors", Networks)[1]
    assert about["algorithm"] == "baseline16" and about["deals"] == "32000 of packaged train split"
    assert agents.games_of(str(tmp_path / "network.safetensors")) == ("bridge_bidding_v0",)


@pytest.mark.parametrize(
    "game", [Bridge(False, competition=False), Bridge(False, reward="cost")], ids=["another reward", "competition"]
)
def test_another_game_is_refused(game):
    with pytest.raises(ValueError, match="two partners learn in"):
        baseline16.Trainer(game, Options(**SMALL))


@pytest.mark.parametrize(("change", "words"), [({"positions": 0}, "positions 0"), ({"tried": 37}, "tried 37")])
def test_wrong_options_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        Options(**change)

"""What the package promises. Run it with the package installed; bidzoo's own tests run it too."""

import pickle

import gymnasium
import numpy as np
import pytest
from bidzoo_hint.encoder import SIMPLE

import bidzoo
from bidzoo.agents.tabular.exact import solve
from bidzoo.benchmarks import match
from bidzoo.core.cards import hand_number
from bidzoo.envs.signalling.compiled import compile_game


def best(size):
    """The mean reward if ``size`` numbers are split into three runs, each told by its median, as well as can be."""
    losses = [
        sum(abs(x - run[len(run) // 2]) for run in (range(a), range(a, b), range(b, size)) for x in run)
        for a in range(1, size - 1)
        for b in range(a + 1, size)
    ]
    return size - 1 - min(losses) / size


@pytest.mark.parametrize("size", [3, 4, 9])
def test_the_solver_finds_the_best_code(size):
    optimum, _ = solve(compile_game(bidzoo.make_game("hint_v0", size=size)))
    assert float(optimum.value) == pytest.approx(best(size))


@pytest.mark.parametrize("size", [2, 6, 40])
def test_the_rules_keep_to_what_the_forms_rely_on(size):
    bidzoo.check_game("hint_v0", size=size)


def test_rules():
    env = bidzoo.make("hint", size=5, render_mode="ansi", illegal_action="raise")
    env.reset(seed=1, options={"types": (3, 0)})
    assert env.last()[0]["action_mask"].tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="illegal action 3"):
        env.step(3)
    env.step(2)
    assert env.agent_selection == "player_1" and env.last()[0]["action_mask"].all()
    env.step(1)
    assert env.rewards == {"player_0": 2, "player_1": 2}
    assert env.render() == "number 3   2 1   off by 2: +2"


def test_the_encoder_says_what_a_player_knows():
    env = bidzoo.make("bridge_bidding", observation=SIMPLE)
    deal = "N:AKQ2.K54.QJ3.A92 5.AQ32.A942.QJ84 T863.J96.KT6.K63 J974.T87.875.T75"
    env.reset(options={"deal": deal, "dealer": "W", "vulnerability": "none"})
    env.step(0)
    assert SIMPLE.explain(env.last()[0]["observation"]).splitlines()[0] == "points: 19"
    env.step(3)
    seen = SIMPLE.layout.read(env.last()[0]["observation"])
    assert env.agent_selection == "player_1" and seen["bid"].argmax() == 0 and seen["bidder"].tolist() == [0, 1, 0]
    assert seen["lengths"].reshape(4, 6).sum(1).tolist() == [4, 4, 4, 1]


def test_a_learner_sees_through_the_encoder():
    env = gymnasium.make("bidzoo/BridgeBidding-v0", observation=SIMPLE, learner="South", opponents="opener")
    observation, _ = env.reset(seed=3)
    assert observation.shape == (100,)
    batch = bidzoo.make_vec("bridge_bidding", 70, observation=SIMPLE)
    batch.reset(1)
    for _ in range(12):
        batch.step(batch.action_mask.argmax(1))
        assert (SIMPLE(batch.views()) == batch.observation).all()


def test_a_game_seen_through_the_encoder_is_the_same_game():
    plain, seen = (bidzoo.make_game("bridge_bidding", deals="test", **more) for more in ({}, {"observation": SIMPLE}))
    assert isinstance(seen, type(plain)) and pickle.loads(pickle.dumps(seen)).encoder.name == "simple100"
    results = [match.duplicate(game, "opener", "sayc", np.arange(20)).imps.tolist() for game in (plain, seen)]
    assert results[0] == results[1]
    assert bidzoo.make("bridge_bidding").observation_space("player_0")["observation"].shape == (480,)


@pytest.mark.parametrize(
    ("hand", "calls", "call"),
    [
        ("AKQ2.K54.J93.A92", "", "1NT"),
        ("AKQJ2.K54.J93.92", "P", "1S"),
        ("K2.KQ54.J93.A932", "1H P", "4H"),
        ("K2.KQ5.J9532.432", "1H P", "2H"),
        ("K2.KQ5.J9532.432", "1H 2D", "P"),
        ("32.KQ5.J9532.432", "1H 1S", "P"),
    ],
)
def test_what_the_opener_calls(hand, calls, call):
    assert bidzoo.bridge.call("opener", hand, "N", "none", calls) == call


def test_the_agents_beat_one_that_passes():
    game = bidzoo.make_game("bridge_bidding", deals="test")
    for name, more in (("opener", 2.0), ("longest", 1.0)):
        assert match.duplicate(game, name, "pass", np.arange(500)).estimate.mean > more


def test_a_hand_is_read_as_players_write_it():
    assert hand_number("AKQ2.K54.QJ3.A92").bit_count() == 13

"""A2C and BAD: they learn, the same seed learns the same, and BAD's beliefs are Bayes'."""

import numpy as np
import pytest

from bidzoo.agents.tabular import network
from bidzoo.agents.tabular.policy import check_strategy, game_of
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform

torch = pytest.importorskip("torch")

from bidzoo.agents.tabular import a2c, bad  # noqa: E402

FOUR = compile_game(game_of("simple_bidding_v0(size=4)"))
SHORT = {"epochs": 3, "updates": 60, "episodes": 64}


@pytest.mark.parametrize("solve", [a2c.solve, bad.solve])
def test_training_beats_uniform_play_by_far(solve):
    strategy = solve(FOUR, 0, **SHORT)
    check_strategy(FOUR, strategy)
    assert set(np.unique(strategy)) <= {0.0, 1.0}
    assert evaluate(FOUR, strategy) >= 2.0  # uniform 1.47, optimum 2.25


@pytest.mark.parametrize("solve", [a2c.solve, bad.solve])
def test_same_seed_same_strategy(solve):
    short = {"epochs": 2, "updates": 10, "episodes": 16}
    np.testing.assert_array_equal(solve(FOUR, 3, **short), solve(FOUR, 3, **short))


@pytest.mark.parametrize("file", [a2c, bad])
def test_the_best_epoch_is_kept(file):
    values = []
    config = file.Options(epochs=4, updates=5, episodes=16, seed=1)
    best = file.train(FOUR, config, lambda epoch, value: values.append(value))
    assert len(values) == 4
    assert evaluate(FOUR, best) == max(values)


def test_numpy_runs_torchs_network():
    net = network.Network((7, 5, 4, 3), torch.Generator().manual_seed(0))
    x = np.random.default_rng(0).random((6, 7), np.float32)
    np.testing.assert_allclose(net.numpy(x), net.torch(torch.from_numpy(x)).detach().numpy(), atol=1e-6)
    with torch.no_grad():
        net.torch[0].weight.add_(1.0)
    np.testing.assert_allclose(net.numpy(x), net.torch(torch.from_numpy(x)).detach().numpy(), atol=1e-5)


def test_draws_follow_the_softmax_of_legal_actions():
    logits = np.tile(np.log(np.array([[1.0, 5.0, 2.0, 1.0]], np.float32)), (60_000, 1))
    legal = np.tile(np.array([[True, False, True, True]]), (60_000, 1))
    counts = np.bincount(network.draw(logits, legal, np.random.default_rng(0)), minlength=4)
    np.testing.assert_allclose(counts / 60_000, [0.25, 0, 0.5, 0.25], atol=0.01)


def test_history_features_tell_all_decisions_apart():
    for name in ("comm_v0(length=3)", "minibridge_v0(size=3)", "simple_bidding_v0(size=8)"):
        game = compile_game(game_of(name))
        decisions = network.history_features(game)[game.count > 0]
        assert len(np.unique(decisions, axis=0)) == len(decisions)


def test_public_belief_is_the_posterior():
    """After some of player_0's types are out, the belief is the prior conditioned on the others."""
    agent = bad.PublicAgent(FOUR, (8,), 0)
    allowed = np.ones((1, 2, 4), np.bool_)
    allowed[0, 0] = [False, True, False, True]
    belief = agent.public(np.array([0]), allowed)[0, :8]
    np.testing.assert_allclose(belief, [0, 0.5, 0, 0.5, 0.25, 0.25, 0.25, 0.25], atol=1e-7)


def test_rewards_of_the_public_process_have_the_mean_of_the_game():
    """With one action for all types nothing is learnt; the reward is then the leaf's mean over all deals."""
    agent = bad.PublicAgent(FOUR, (8,), 0)
    for weight, bias in agent.actor.weights:
        weight[:] = 0.0
        bias[:] = 0.0
    agent.actor.weights[-1][1][1] = 50.0  # always bid 1; where that is illegal, anything
    seen = bad.play(agent, 4000, np.random.default_rng(0))
    openings = seen.action[: 4 * 4000]
    assert (openings == 1).all()
    mean = seen.reward[:4000].mean()
    after = uniform(FOUR)
    after[FOUR.first[0] : FOUR.first[0] + FOUR.count[0]] = 0.0
    after[FOUR.child[0, 1]] = 1.0
    assert mean == pytest.approx(evaluate(FOUR, after), abs=0.05)

"""A2C and BAD: they learn, the same seed learns the same, gradients are exact, and BAD's beliefs are Bayes'."""

from itertools import pairwise

import numpy as np
import pytest

from bidzoo.agents.tabular import a2c, bad, network
from bidzoo.agents.tabular.policy import check_strategy, game_of
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform

FOUR = compile_game(game_of("simple_bidding_v0(size=4)"))
COMM = compile_game(game_of("comm_v0(length=3)"))
SHORT = {"epochs": 3, "updates": 60, "episodes": 64}


@pytest.mark.parametrize("solve", [a2c.solve, bad.solve])
def test_training_beats_uniform_play_by_far(solve):
    strategy = solve(FOUR, 0, **SHORT)
    check_strategy(FOUR, strategy)
    assert set(np.unique(strategy)) <= {0.0, 1.0}
    assert evaluate(FOUR, strategy) >= 2.0  # uniform 1.47, optimum 2.25


def test_bad_finds_a_code():
    """Uniform play scores 1/8; a listener who only believes what was said, 0.66."""
    assert evaluate(COMM, bad.solve(COMM, 0, epochs=4, updates=100, entropy=0.003)) >= 0.75


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


def slope_of(net, loss, eps=1e-2):
    """Derivative of ``loss()`` by each weight, by central differences."""
    found = np.empty(len(net.weights))
    for k, weight in enumerate(net.weights.copy()):
        ends = []
        for step in (eps, -eps):
            net.weights[k] = weight + step
            ends.append(loss())
        net.weights[k] = weight
        found[k] = (ends[0] - ends[1]) / (2 * eps)
    return found


@pytest.mark.parametrize("shared", [False, True])
def test_gradients_are_those_of_the_loss(shared):
    """Inputs as numbers, and as numbers of a decision and a bit of each row."""
    rng = np.random.default_rng(0)
    net = network.Network((7, 6, 5, 4), rng)
    net.weights += rng.normal(scale=0.2, size=len(net.weights)).astype(np.float32)  # no kink at 0
    dense, owner, bit = rng.random((3, 4), np.float32), np.array([0, 0, 1, 2, 2, 2]), np.array([0, 2, 1, 0, 1, 2])
    whole = np.concatenate([dense[owner], np.eye(3, dtype=np.float32)[bit]], axis=1)
    inputs = network.Inputs(dense, owner, bit) if shared else whole
    np.testing.assert_allclose(net(inputs), net(whole), atol=1e-6)
    columns, weight = np.array([0, 3]), rng.normal(size=(6, 2)).astype(np.float32)
    hidden = net.hidden(inputs)
    np.testing.assert_allclose(net.output(hidden, columns), net(whole)[:, columns], atol=1e-6)
    net.learn(inputs, hidden, columns, weight)
    found = net.gradients.copy()
    expected = slope_of(net, lambda: float((net(whole)[:, columns] * weight).sum()))
    np.testing.assert_allclose(found, expected, atol=2e-2)
    assert np.abs(found).max() > 0.5


@pytest.mark.parametrize("rows", [1, 39, 40, 1000])
def test_products_in_blocks_are_the_products(rows):
    rng = np.random.default_rng(rows)
    a, b, c = (rng.normal(size=shape).astype(np.float32) for shape in ((rows, 80), (80, 81), (rows, 81)))
    np.testing.assert_allclose(network.product(a, b), a @ b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(network.product_over_rows(a, c), a.T @ c, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_policys_slope_is_that_of_its_loss(weighted):
    rng = np.random.default_rng(1)
    logits, legal = rng.normal(size=(3, 4)), np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0]], bool)
    at, chosen, gain = np.array([0, 0, 1, 2, 2]), np.array([1, 3, 2, 1, 2]), rng.normal(size=5)
    weight = rng.random(5) if weighted else None

    def loss(logits):
        logs = np.where(legal, logits, -np.inf)
        logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        entropies = -(np.exp(logs) * np.where(legal, logs, 0)).sum(axis=1)
        return -(gain * logs[at, chosen]).sum() - 0.3 * (entropies[at] * (weight if weighted else 1.0)).sum()

    found = network.policy_gradient(network.chances(logits.astype(np.float32), legal), at, chosen, gain, 0.3, weight)
    expected = np.zeros_like(logits)
    for where in zip(*np.nonzero(legal)):
        step = np.zeros_like(logits)
        step[where] = 1e-5
        expected[where] = (loss(logits + step) - loss(logits - step)) / 2e-5
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_adam_descends_as_in_the_paper():
    net = network.Network((2, 2, 1), np.random.default_rng(0))
    adam, before = network.Adam(net), net.weights.copy()
    mean, square = np.zeros_like(before), np.zeros_like(before)
    for t in range(1, 4):
        gradient = np.arange(1.0, 1 + len(before)) * (-1) ** t
        net.gradients[:] = gradient
        adam.step(0.01)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        before = before - 0.01 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(net.weights, before, atol=1e-6)
    assert not net.gradients.any()


def test_draws_follow_the_softmax_of_legal_actions():
    logits = np.log(np.array([[1.0, 5.0, 2.0, 1.0], [1.0, 1.0, 1.0, 5.0]], np.float32))
    legal = np.array([[True, False, True, True], [False, True, True, False]])
    chances = network.chances(logits, legal)
    np.testing.assert_allclose(chances, [[0.25, 0, 0.5, 0.25], [0, 0.5, 0.5, 0]], atol=1e-6)
    at = np.tile([0, 1], 60_000)
    drawn = network.draw(chances, at, np.random.default_rng(0))
    for row in range(2):
        counts = np.bincount(drawn[at == row], minlength=4)
        np.testing.assert_allclose(counts / 60_000, chances[row], atol=0.01)
        assert not counts[~legal[row]].any()


def test_history_features_tell_all_decisions_apart():
    for name in ("comm_v0(length=3)", "minibridge_v0(size=3)", "simple_bidding_v0(size=8)"):
        game = compile_game(game_of(name))
        decisions = network.history_features(game)[game.count > 0]
        assert len(np.unique(decisions, axis=0)) == len(decisions)


def public_agent():
    return bad.PublicAgent(FOUR, (8,), np.random.default_rng(0))


def test_public_belief_is_the_posterior():
    """After some of player_0's types are out, the belief is the prior conditioned on the others."""
    allowed = np.ones((1, 2, 4), np.bool_)
    allowed[0, 0] = [False, True, False, True]
    belief = public_agent().public(np.array([0]), bad._joint(FOUR, allowed))[0, :8]
    np.testing.assert_allclose(belief, [0, 0.5, 0, 0.5, 0.25, 0.25, 0.25, 0.25], atol=1e-7)


def test_rewards_of_the_public_process_have_the_mean_of_the_game():
    """With one action for all types nothing is learnt; the reward is then the leaf's mean over all deals."""
    agent = public_agent()
    agent.network.weights[:] = 0.0
    bias = agent.network.layers[-1][1]
    bias[agent.first[0] : agent.first[1]] = np.where(np.tile(agent.actions[0], 4) == 1, 50.0, 0.0)  # where it is legal
    turns = bad.play(agent, 1000, np.random.default_rng(0))
    first = turns[0].partial
    assert len(first.owner) == 4000 and (first.actions[turns[0].chosen] == 1).all()
    after = uniform(FOUR)
    after[FOUR.first[0] : FOUR.first[0] + FOUR.count[0]] = 0.0
    after[FOUR.child[0, 1]] = 1.0
    assert bad.returns(turns)[0].mean() == pytest.approx(evaluate(FOUR, after), abs=0.05)


@pytest.mark.parametrize("game", [FOUR, COMM, compile_game(game_of("minibridge_v0(size=3)"))])
def test_a_tree_holds_every_deal_and_its_return_is_the_value_of_what_was_drawn(game):
    """The strategy that was drawn, evaluated on the whole game, has the reward of its tree's root."""
    turns = bad.play(bad.PublicAgent(game, (8,), np.random.default_rng(1)), 1, np.random.default_rng(2))
    strategy, reached = uniform(game), {0}
    for turn in turns:
        node = sorted(here for here in reached if game.count[here] > 0)
        partial, reached = turn.partial, set()
        assert len(node) == len(turn.weight)
        for owner, own, action in zip(partial.owner, partial.types, partial.actions[turn.chosen]):
            m = node[owner]
            strategy[game.first[m] : game.first[m] + game.count[m], own] = 0.0
            strategy[game.child[m, action], own] = 1.0
            reached.add(int(game.child[m, action]))
    assert bad.returns(turns)[0] == pytest.approx([evaluate(game, strategy)])


def test_each_turns_public_states_have_the_chances_of_those_above():
    """What goes on and what ends here add up; in Comm nothing ends before the guess."""
    turns = bad.play(bad.PublicAgent(COMM, (8,), np.random.default_rng(1)), 5, np.random.default_rng(2))
    for above, turn in pairwise(turns):
        np.testing.assert_allclose(np.bincount(turn.parent - above.first, turn.weight), above.weight)
        assert np.bincount(turn.partial.owner).min() >= 1
    assert [bool(turn.ended.any()) for turn in turns][:3] == [False, False, False]


def test_whose_turn_it_is_may_hang_on_what_was_done():
    """Uniform partial policies have the value of uniform play, also where two movers act in one turn."""
    below = np.array([FOUR.child[0, 1]])
    mixed = FOUR._replace(player=FOUR.player.copy())
    while len(below):  # after the first bid the players change places
        mixed.player[below] = 1 - mixed.player[below]
        below = np.flatnonzero(np.isin(FOUR.parent, below) & (np.arange(len(FOUR.parent)) > 0))
    agent = bad.PublicAgent(mixed, (8,), np.random.default_rng(0))
    agent.network.weights[:] = 0.0
    turns = bad.play(agent, 3000, np.random.default_rng(3))
    assert len(turns) > mixed.depth.max()
    root = bad.returns(turns)[0]
    value = evaluate(mixed, uniform(mixed))
    assert abs(root.mean() - value) < 4 * root.std() / 3000**0.5
    config = bad.Options(epochs=3, updates=100)
    assert evaluate(mixed, bad.train(mixed, config)) > value + 0.3

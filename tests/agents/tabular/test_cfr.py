"""CFR and best responses against OpenSpiel; against Table 1 of the JPS paper: test_jps.py."""

import numpy as np
import pytest

from bidzoo.agents.tabular.cfr import Options, best_response_value, cfr, nash_conv
from bidzoo.agents.tabular.policy import game_of
from bidzoo.agents.tabular.strategy import purify, random
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform

pyspiel = pytest.importorskip("pyspiel")

TINY = compile_game(game_of("mini_hanabi_v0()"))  # OpenSpiel calls it tiny_hanabi


@pytest.fixture(scope="module")
def openspiel():
    """OpenSpiel's solver after 1000 iterations from uniform play, both players updated at once."""
    cfr_file = pytest.importorskip("open_spiel.python.algorithms.cfr")
    game = pyspiel.load_game("tiny_hanabi")
    solver = cfr_file._CFRSolver(game, alternating_updates=False, linear_averaging=False, regret_matching_plus=False)
    for _ in range(1000):
        solver.evaluate_and_update_policy()
    return game, solver


def ours_of(game, policy):
    """An OpenSpiel policy of tiny_hanabi as a joint strategy."""
    strategy = np.ones(TINY.shape)
    for x in range(2):
        state = game.new_initial_state().child(x).child(0)
        for action, probability in policy.action_probabilities(state).items():
            strategy[TINY.child[0, action], x] = probability
    for y in range(2):
        for first in range(3):
            state = game.new_initial_state().child(0).child(y).child(first)
            for action, probability in policy.action_probabilities(state).items():
                strategy[TINY.child[TINY.child[0, first], action], y] = probability
    return strategy


def test_iterates_are_openspiels(openspiel):
    game, solver = openspiel
    last = cfr(TINY, Options(noise=0.0), uniform(TINY))
    assert evaluate(TINY, last) == 8
    np.testing.assert_allclose(last, ours_of(game, solver.current_policy()), atol=1e-9)


def test_average_is_openspiels(openspiel):
    game, solver = openspiel
    average = cfr(TINY, Options(noise=0.0, average=True), uniform(TINY))
    np.testing.assert_allclose(average, ours_of(game, solver.average_policy()), atol=1e-6)
    assert evaluate(TINY, average) == pytest.approx(7.995, abs=1e-3)  # alternating updates: 7.994


def test_nash_conv_is_openspiels():
    exploit = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    policy = pytest.importorskip("open_spiel.python.policy")
    game = pyspiel.load_game("tiny_hanabi")
    rival = policy.UniformRandomPolicy(game)
    assert nash_conv(TINY, uniform(TINY)) == pytest.approx(exploit.nash_conv(game, rival), abs=1e-9)
    four = compile_game(game_of("simple_bidding_v0(size=4)"))
    assert nash_conv(four, uniform(four)) == pytest.approx(0.486111, abs=5e-7)  # OpenSpiel's value of our game


@pytest.mark.parametrize("name", ["simple_bidding_v0(size=4)", "minibridge_v0(size=2)", "comm_v0(length=2)"])
def test_best_response_beats_every_change_of_one_player(name):
    game = compile_game(game_of(name))
    base, other = random(game, 1), random(game, 2)
    for player in (0, 1):
        mixed = base.copy()
        edges = np.flatnonzero(game.player[np.maximum(game.parent, 0)] == player)
        mixed[edges] = other[edges]
        assert evaluate(game, mixed) <= best_response_value(game, base, player) + 1e-12
        assert evaluate(game, base) <= best_response_value(game, base, player) + 1e-12


def test_same_seed_same_strategy():
    game = compile_game(game_of("minibridge_v0(size=3)"))
    np.testing.assert_array_equal(cfr(game, Options(seed=5)), cfr(game, Options(seed=5)))
    assert not np.array_equal(cfr(game, Options(iterations=3, seed=5)), cfr(game, Options(iterations=3, seed=6)))


def test_random_and_pure_strategies_are_distributions():
    for name in ("simple_bidding_v0(size=4)", "comm_v0(length=2)"):
        game = compile_game(game_of(name))
        start = random(game, 3)
        for strategy in (start, purify(game, start)):
            for m in np.flatnonzero(game.count):
                rows = strategy[game.first[m] : game.first[m] + game.count[m], : game.num_types[game.player[m]]]
                np.testing.assert_allclose(rows.sum(axis=0), 1)
        pure = purify(game, start)
        assert set(np.unique(pure)) <= {0.0, 1.0}


@pytest.mark.parametrize(("name", "size"), [("simple_bidding", 4), ("minibridge", 2)])
def test_registered_games_agree(name, size):
    """OpenSpiel's CFR and ``nash_conv`` on our games as registered there, ours on their compiled form."""
    pytest.importorskip("bidzoo.wrappers.openspiel")
    cfr_file = pytest.importorskip("open_spiel.python.algorithms.cfr")
    exploit = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    score = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")
    policy = pytest.importorskip("open_spiel.python.policy")
    theirs = pyspiel.load_game(f"python_bidzoo_{name}(size={size})")
    ours = compile_game(game_of(f"{name}_v0(size={size})"))
    rival = policy.UniformRandomPolicy(theirs)
    assert nash_conv(ours, uniform(ours)) == pytest.approx(exploit.nash_conv(theirs, rival), abs=1e-9)
    solver = cfr_file._CFRSolver(theirs, alternating_updates=False, linear_averaging=False, regret_matching_plus=False)
    for iterations in (1, 2, 4):
        while solver._iteration < iterations:
            solver.evaluate_and_update_policy()
        value = score.policy_value(theirs.new_initial_state(), [solver.current_policy()] * 2)[0]
        last = cfr(ours, Options(iterations=iterations, noise=0.0), uniform(ours))
        assert evaluate(ours, last) == pytest.approx(value, abs=1e-9)

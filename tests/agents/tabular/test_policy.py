"""Table policies: they play in the environments what was evaluated, and survive being saved."""

import itertools

import numpy as np
import pytest

import bidzoo
from bidzoo.agents.policy import Policy
from bidzoo.agents.tabular import exact, jps
from bidzoo.agents.tabular.cfr import Options, best_response_value, cfr, nash_conv
from bidzoo.agents.tabular.cfr import solve as cfr1k
from bidzoo.agents.tabular.policy import TablePolicy, game_of
from bidzoo.agents.tabular.strategy import purify, random
from bidzoo.core.streams import Streams
from bidzoo.envs.signalling.compiled import (
    compile_game,
    count_infosets,
    count_states,
    evaluate,
    full_information,
    uniform,
)

SMALL = ("comm_v0(length=3)", "mini_hanabi_v0()", "simple_bidding_v0(size=4)", "minibridge_v0(size=3)")


def policy_of(name, seed=0):
    form = compile_game(game_of(name))
    return TablePolicy(form, purify(form, cfr(form, Options(iterations=100, seed=seed))), "pure")


def played(policy, deals, seed=0):
    """Reward of each deal ``[n, 2]``, all tables at once, through the Game's engine."""
    game = policy.game
    tables, buffers, n = game.new(len(deals)), game.buffers(len(deals)), len(deals)
    game.begin(tables, np.arange(n), seed, buffers)
    tables["types"] = deals
    total = np.zeros(n)
    for turn in range(game.max_turns):
        views = game.view_of(tables, np.maximum(tables["turn"], 0))
        actions = policy.act(views, buffers.mask, Streams.at(seed, np.arange(n), turn))
        over = tables["turn"] < 0
        game.step(tables, np.where(over, -1, actions), seed, buffers, 0)
        total += buffers.reward[:, 0]
    assert (tables["turn"] < 0).all()
    return total


@pytest.mark.parametrize("name", SMALL)
def test_playing_every_deal_is_worth_what_was_evaluated(name):
    policy = policy_of(name)
    deals = np.array(list(itertools.product(*map(range, policy.game.num_types))))
    assert isinstance(policy, Policy)
    assert played(policy, deals).mean() == pytest.approx(evaluate(policy.compiled, policy.strategy), abs=1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_mixed_strategies_are_played_in_proportion(name):
    game = game_of(name)
    form = compile_game(game)
    policy = TablePolicy(form, random(form, 1))
    rng = np.random.default_rng(0)
    deals = np.stack([rng.integers(0, n, 40_000) for n in game.num_types], axis=1)
    rewards = played(policy, deals)
    error = rewards.std() / len(rewards) ** 0.5
    assert rewards.mean() == pytest.approx(evaluate(form, policy.strategy), abs=4.5 * error)


def test_it_plays_in_the_aec_environment():
    policy = policy_of("minibridge_v0(size=3)")
    env = bidzoo.make("minibridge_v0", size=3)
    rewards = []
    for x, y in itertools.product(range(4), repeat=2):
        env.reset(seed=0, options={"types": (x, y)})
        for turn, agent in enumerate(env.agent_iter()):
            observation, reward, over, _, _ = env.last()
            if over:
                rewards.append(reward)
                break
            mask = observation["action_mask"][None]
            env.step(int(policy.act(env.unwrapped.view(agent), mask, Streams.at(0, np.array([0]), turn))[0]))
    assert np.mean(rewards) == pytest.approx(evaluate(policy.compiled, policy.strategy), abs=1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_round_trip(name, tmp_path):
    policy = policy_of(name)
    policy.save(tmp_path / "policy.safetensors")
    again = TablePolicy.load(tmp_path / "policy.safetensors")
    assert (again.name, str(again.game)) == ("pure", name)
    np.testing.assert_array_equal(again.strategy, policy.strategy)
    assert [path.name for path in tmp_path.iterdir()] == ["policy.safetensors"]


@pytest.mark.parametrize("content", [b"", b"not tensors at all", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_bad_files_are_named(content, tmp_path):
    path = tmp_path / "broken.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"broken\.safetensors"):
        TablePolicy.load(path)


def test_truncated_file_is_named(tmp_path):
    path = tmp_path / "short.safetensors"
    policy_of("mini_hanabi_v0()").save(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"short\.safetensors"):
        TablePolicy.load(path)


def test_wrong_strategies_are_refused():
    game = game_of("simple_bidding_v0(size=4)")
    form = compile_game(game)
    with pytest.raises(ValueError, match=r"shape \(3, 4\), expected \(15, 4\)"):
        TablePolicy(game, np.ones((3, 4)))
    wrong = uniform(form)
    wrong[form.first[2], 1] += 0.1
    with pytest.raises(ValueError, match=r"node 2, type 1: sum 1\.1"):
        TablePolicy(game, wrong)
    negative = uniform(form)
    negative[form.first[2], 1] += 1.0
    negative[form.first[2] + 1, 1] -= 1.0
    with pytest.raises(ValueError, match=r"player_1.*type 1: sum 1, least -0\.5, rows 7 \.\.\. 8 of column 1"):
        TablePolicy(game, negative)


@pytest.mark.parametrize("entries", [0.0, 1.0, np.nan])
def test_what_is_no_strategy_has_no_value(entries):
    form = compile_game(game_of("simple_bidding_v0(size=4)"))
    with pytest.raises(ValueError, match=r"player_0.*node 0, type 0: sum .*, rows 1 \.\.\. 3 of column 0"):
        evaluate(form, np.full(form.shape, entries))
    unread = uniform(form)
    unread[0] = np.nan
    assert evaluate(form, unread) == evaluate(form, uniform(form))


def test_all_that_solves_takes_a_game_an_environment_or_a_tree():
    env = bidzoo.make("simple_bidding_v0", size=4)
    form = compile_game(env)
    assert compile_game(form) is form
    for given in (env, env.game, form):
        strategy = uniform(given)
        assert exact.solve(given)[0].value == 2.25
        assert evaluate(given, random(given, 0)) > 1.0
        assert evaluate(given, jps.jps(given, strategy)) > evaluate(given, purify(given, strategy))
        assert next(jps.steps(given, strategy, jps.Options()))[1].gain > 0
        assert nash_conv(given, cfr(given, Options(iterations=5))) >= 0
        assert best_response_value(given, strategy, 1) >= evaluate(given, strategy)
        assert np.array_equal(cfr1k(given, 3), cfr1k(form, 3))
        assert (count_states(given), count_infosets(given)) == (241, 32)
        assert full_information(given) >= 2.25
        assert str(TablePolicy(given, strategy).game) == "simple_bidding_v0(size=4)"


@pytest.mark.parametrize("given", ["simple_bidding_v0", None, 4])
def test_what_is_no_game_is_named(given):
    with pytest.raises(TypeError, match=f"{given!r} is no game; expected one, such as bidzoo.make_game"):
        compile_game(given)


def test_another_games_views_are_refused():
    policy = policy_of("simple_bidding_v0(size=4)")
    other = game_of("simple_bidding_v0(size=5)")
    tables, buffers = other.new(2), other.buffers(2)
    other.begin(tables, np.arange(2), 0, buffers)
    with pytest.raises(ValueError, match=r"plays simple_bidding_v0\(size=4\)"):
        policy.act(other.view_of(tables, np.zeros(2, np.int64)), buffers.mask, Streams.at(0, np.arange(2)))


@pytest.mark.parametrize(
    "text", ["", "minibridge_v0", "minibridge_v0(size=x)", "minibridge_v0(size=4", "tic_tac(size=3)"]
)
def test_unknown_games_are_named(text):
    with pytest.raises((ValueError, KeyError), match=r"small game|unknown game"):
        game_of(text)


def test_agents_solve_whatever_small_game_they_see():
    agent = jps.agent(seed=1)
    for name in ("mini_hanabi_v0()", "simple_bidding_v0(size=4)"):
        game = game_of(name)
        form = compile_game(game)
        policy = agent.policy(game)
        assert evaluate(form, policy.strategy) > evaluate(form, uniform(form))
        tables, buffers = game.new(5), game.buffers(5)
        game.begin(tables, np.arange(5), 0, buffers)
        views, rng = game.view_of(tables, np.zeros(5, np.int64)), Streams.at(0, np.arange(5))
        np.testing.assert_array_equal(
            agent.act(views, buffers.mask, rng), policy.act(views, buffers.mask, Streams.at(0, np.arange(5)))
        )
    assert agent.policy(game) is agent.policy(game)

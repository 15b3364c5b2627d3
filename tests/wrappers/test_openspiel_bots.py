"""Policies as bots, bots as policies, and OpenSpiel's bridge against ours board for board."""

import copy
import pickle

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability

import bidzoo
from bidzoo.agents.policy import Pool, Uniform
from bidzoo.benchmarks.match import play
from bidzoo.core.cards import NUM_CALLS
from bidzoo.envs.signalling.compiled import compile_game, evaluate
from bidzoo.wrappers import openspiel
from bidzoo.wrappers.openspiel import AgentPolicy, BotPolicy, PolicyBot, from_openspiel, to_openspiel


def test_bridge_board_for_board_with_the_same_scores():
    game = bidzoo.make_game("bridge_v0")
    rng = np.random.default_rng(0)
    for board in range(48):  # three rounds of the dealer and vulnerability cycle
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, np.array([board]), 5, out)
        theirs = to_openspiel(tables[0])
        while not out.over[0]:
            legal = np.flatnonzero(out.mask[0])
            assert sorted(a + 52 if a < NUM_CALLS else a - NUM_CALLS for a in legal) == theirs.legal_actions()
            assert out.player[0] == theirs.current_player()
            bids = legal[legal < 14]  # low contracts, so that auctions end and cards are played
            action = int(rng.choice(bids if len(bids) else legal))
            game.step(tables, np.array([action]), 0, out)
            theirs.apply_action(action + 52 if action < NUM_CALLS else action - NUM_CALLS)
        assert theirs.is_terminal()
        assert list(out.reward[0]) == theirs.returns()


def test_translation_there_and_back():
    game = bidzoo.make_game("bridge_v0")
    rng = np.random.default_rng(1)
    for board in range(16):
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, np.array([board]), 5, out)
        for _ in range(int(rng.integers(40))):
            if not out.over[0]:
                game.step(tables, np.array([int(rng.choice(np.flatnonzero(out.mask[0])))]), 0, out)
        twin = from_openspiel(to_openspiel(tables[0]))
        for field in ("hands", "held", "dealer", "vulnerable", "calls", "length", "played", "won", "turn", "dummy"):
            assert np.array_equal(twin[field], tables[field]), field


@pytest.mark.parametrize("name", ["python_bidzoo_minibridge", "python_bidzoo_spades", "bridge"])
def test_policy_as_bot(name):
    options = {"use_double_dummy_result": False} if name == "bridge" else {}
    game = pyspiel.load_game(name, options)
    bots = [PolicyBot(Uniform(), player) for player in range(game.num_players())]
    state = game.new_initial_state()
    rng = np.random.default_rng(2)
    while not state.is_terminal():
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=np.array(chances))))
        else:
            action = bots[state.current_player()].step(state)
            assert action in state.legal_actions()
            state.apply_action(action)
    assert len(state.returns()) == game.num_players()


@pytest.mark.parametrize("name", ["cfr", "jps", "exact"])
def test_policy_in_openspiels_tree_has_our_value(name):
    compiled = compile_game(bidzoo.make_game("minibridge_v0", size=2))
    agent, game = bidzoo.agents.make(name), pyspiel.load_game("python_bidzoo_minibridge(size=2)")
    theirs = expected_game_score.policy_value(game.new_initial_state(), [AgentPolicy(game, agent)] * 2)
    ours = evaluate(compiled, agent.policy(bidzoo.make_game("minibridge_v0", size=2)).strategy)
    assert theirs == pytest.approx([ours, ours], abs=1e-12)
    if name == "exact":
        assert exploitability.nash_conv(game, AgentPolicy(game, agent)) == pytest.approx(0, abs=1e-12)


def test_a_network_in_openspiels_bridge_bidding():
    game = pyspiel.load_game("python_bidzoo_bridge_bidding")
    state = game.new_initial_state()
    state.apply_action(3)
    chances = AgentPolicy(game, bidzoo.agents.make("sl")).action_probabilities(state)
    assert sorted(chances) == state.legal_actions()
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    with pytest.raises(ValueError, match="sayc has no probabilities"):
        AgentPolicy(game, bidzoo.agents.make("sayc"))


def test_bot_as_policy_passes_and_the_board_is_passed_out():
    class Passes(pyspiel.Bot):
        def __init__(self):
            super().__init__()

        def restart_at(self, state):
            pass

        def step(self, state):
            assert state.current_player() >= 0
            return 52

    policy = BotPolicy(lambda game, player, seed: Passes())
    result = play(bidzoo.make_game("bridge_bidding_v0"), [policy] * 4, np.arange(3))
    assert (result.reward == 0).all()
    assert (result.states["length"] == 4).all()


def test_uniform_bot_of_openspiel_plays_a_whole_board():
    policy = BotPolicy(lambda game, player, seed: pyspiel.make_uniform_random_bot(player, seed))
    result = play(bidzoo.make_game("bridge_v0"), [policy] * 4, np.arange(2))
    assert (result.reward.sum(1) == 0).all()
    assert (result.states["turn"] == -1).all()


def opening(game, deal, bot):
    state = game.new_initial_state()
    state.apply_action(deal)
    while state.current_player() != bot.player:
        state.apply_action(0)
    return bot.step(state)


def test_a_bot_goes_to_another_process():
    """A copy is one at its first episode."""
    game = pyspiel.load_game("python_bidzoo_bridge_bidding(boards=60)")
    bot = PolicyBot("random", 1, seed=5)
    calls = [opening(game, deal, bot) for deal in range(20)]
    bot.restart()
    for twin in (pickle.loads(pickle.dumps(bot)), copy.deepcopy(bot)):
        assert (twin.policy, twin.player, twin.seed) == ("random", 1, 5)
        assert calls == [opening(game, deal, twin) for deal in range(20)]


def test_a_bot_draws_other_numbers_on_each_deal_and_in_each_episode():
    game = pyspiel.load_game("python_bidzoo_bridge_bidding(boards=60)")
    bot, twin = PolicyBot("random", 1), PolicyBot("random", 1)
    calls = [opening(game, deal, bot) for deal in range(60)]
    assert len(set(calls)) > 10
    assert calls == [opening(game, deal, twin) for deal in range(60)]  # the same seed, the same calls
    again = []
    for _ in range(60):
        bot.restart()
        again.append(opening(game, 0, bot))
    assert len(set(again)) > 10


def test_a_pool_draws_its_member_for_an_episode_of_a_small_game():
    def last(observation, mask):
        return int(np.flatnonzero(mask)[-1])

    _, state = dealt("simple_bidding_v0")
    rules = bidzoo.make_game("simple_bidding_v0")
    bot = PolicyBot(Pool([bidzoo.agents.resolve(each, rules) for each in (lowest, last)]), 0)
    moves = []
    for _ in range(30):
        bot.restart_at(state)
        moves.append(bot.step(state))
    assert set(moves) == {state.legal_actions()[0], state.legal_actions()[-1]}


def test_an_openspiel_bot_gets_a_seed_of_its_own_for_each_decision():
    game = bidzoo.make_game("bridge_bidding_v0")
    policy = BotPolicy(lambda game, player, seed: pyspiel.make_uniform_random_bot(player, seed))
    first = play(game, [policy] * 4, np.arange(20), actions=True)
    assert len({tuple(actions) for actions in first.actions}) == 20
    again = play(game, [policy] * 4, np.arange(20), actions=True)
    assert [list(a) for a in first.actions] == [list(a) for a in again.actions]


def test_a_named_bidder_plays_the_cards_of_whole_bridge_too():
    _, state = dealt("bridge_v0")
    bots = [PolicyBot("sayc", player) for player in range(4)]
    while not state.is_terminal() and len(state.history()) < 20:
        state.apply_action(bots[state.current_player()].step(state))
    assert any(action >= NUM_CALLS for action in state.history()[1:])


def test_a_state_of_another_game_is_refused():
    small = pyspiel.load_game("python_bidzoo_simple_bidding(size=4)")
    policy = AgentPolicy(small, "exact")
    with pytest.raises(ValueError, match=r"size=8.*expected one of simple_bidding_v0\(size=4\)"):
        state = pyspiel.load_game("python_bidzoo_simple_bidding(size=8)").new_initial_state()
        state.apply_action(60)
        policy.action_probabilities(state)


def test_names():
    assert openspiel.NAMES["minibridge_v0"] == "python_bidzoo_minibridge"


def dealt(name):
    """A game of bidzoo, and its first deal."""
    game = pyspiel.load_game(openspiel.NAMES[name])
    state = game.new_initial_state()
    state.apply_action(3)
    return game, state


def lowest(observation, mask):
    return int(np.flatnonzero(mask)[0])


def test_names_functions_and_files_sit_down_too(tmp_path):
    weights = tmp_path / "mine.safetensors"
    bidzoo.agents.make("exact").policy(bidzoo.make_game("simple_bidding_v0")).save(weights)
    small, first = dealt("simple_bidding_v0")
    for given in ("exact", str(weights)):
        assert AgentPolicy(small, given).action_probabilities(first)[1] == 1.0
        assert PolicyBot(given, 0).step(first) == 1
    game, state = dealt("bridge_bidding_v0")
    player = state.current_player()
    named, made = PolicyBot("sl", player), PolicyBot(bidzoo.agents.make("sl"), player)
    assert named.step(state) == made.step(state)
    assert PolicyBot(lowest, player).step(state) == state.legal_actions()[0]
    assert AgentPolicy(game, lowest).action_probabilities(state)[state.legal_actions()[0]] == 1.0
    chances = AgentPolicy(game, "random").action_probabilities(state)
    assert set(chances.values()) == {1 / len(state.legal_actions())}


def test_what_does_not_play_the_game_is_refused_with_words():
    game, state = dealt("bridge_bidding_v0")
    player = state.current_player()
    with pytest.raises(ValueError, match="'exact' does not play bridge_bidding_v0; choose from random"):
        AgentPolicy(game, "exact")
    with pytest.raises(ValueError, match="'bis' does not play bridge_bidding_v0; choose from random"):
        PolicyBot("bis", player).step(state)
    with pytest.raises(ValueError, match=r"bis\+srp does not play bridge_bidding_v0: .* no field 'variant'"):
        PolicyBot(bidzoo.agents.make("bis"), player).step(state)
    with pytest.raises(KeyError, match="unknown agent 'slx'"):
        PolicyBot("slx", player).step(state)
    with pytest.raises(TypeError, match="not a policy: 7"):
        PolicyBot(7, player).step(state)
    small, first = dealt("simple_bidding_v0")
    with pytest.raises(ValueError, match=r"sl does not play simple_bidding_v0.*: its views have no field 'hand'"):
        AgentPolicy(small, bidzoo.agents.make("sl")).action_probabilities(first)
    with pytest.raises(ValueError, match=r"bis\+srp does not play simple_bidding_v0.*: .* no field 'phase'"):
        PolicyBot(bidzoo.agents.make("bis"), 0).step(first)
    with pytest.raises(ValueError, match=r"bridge\(.*\) is not a game of bidzoo; expected .*python_bidzoo_comm"):
        AgentPolicy(pyspiel.load_game("bridge"), "sl")


def test_a_bidder_bids_in_whole_bridge_and_plays_no_cards():
    game, state = dealt("bridge_v0")
    policy = AgentPolicy(game, bidzoo.agents.make("sl"))
    chances = policy.action_probabilities(state)
    assert sorted(chances) == state.legal_actions()
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    for call in (7, 0, 0, 0):
        state.apply_action(call)
    for ask in (policy.action_probabilities, PolicyBot(policy.policy, state.current_player()).step):
        with pytest.raises(ValueError, match="sl plays no cards: it needs a card player"):
            ask(state)


def test_translation_takes_a_record_or_a_batch_of_one():
    tables, _ = bidzoo.make_game("bridge_v0").start(3, 5)
    theirs = to_openspiel(tables)
    assert str(theirs) == str(to_openspiel(tables[0]))
    assert str(to_openspiel(from_openspiel(theirs))) == str(theirs)
    with pytest.raises(ValueError, match=r"tables \[3\]: expected one record of bridge, or \[1\]"):
        to_openspiel(bidzoo.make_game("bridge_v0").new(3))
    with pytest.raises(ValueError, match="expected one record of bridge"):
        to_openspiel(bidzoo.make_game("spades_v0").new(1))


def test_a_name_that_is_none_is_refused_at_once():
    with pytest.raises(KeyError, match="unknown agent 'sacy'; did you mean 'sayc'"):
        PolicyBot("sacy", 0)

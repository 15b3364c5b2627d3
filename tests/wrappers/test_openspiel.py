"""bidzoo's games inside OpenSpiel: its own shared tests, its algorithms, its counts."""

import subprocess
import sys

import numpy as np
import pyspiel
import pytest
from absl import flags

from bidzoo.core.cards import VULNERABILITIES
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform
from bidzoo.registry import GAMES, make, make_game
from bidzoo.wrappers import openspiel

flags.FLAGS(["tests"], known_only=True)
from open_spiel.integration_tests import api_test  # noqa: E402
from open_spiel.python import policy  # noqa: E402
from open_spiel.python.algorithms import exploitability, generate_playthrough, get_all_states  # noqa: E402
from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver  # noqa: E402
from open_spiel.python.tests import games_sim_test  # noqa: E402

SMALL = {
    "python_bidzoo_comm(length=2)": (1, 4 * 3 + 4 * 4, 4 * 4 * 4, 4 + 8 + 4),
    "python_bidzoo_mini_hanabi": (1, 4 + 12, 36, 8),
    "python_bidzoo_simple_bidding(size=4)": (1, 16 * 8, 16 * 7, 32),
    "python_bidzoo_minibridge(size=2)": (1, 9 * 32, 9 * 31, 96),
}
"""Chance, decision and terminal states, and information sets of deciding players."""


@pytest.mark.parametrize("name", SMALL)
def test_counts(name):
    game = pyspiel.load_game(name)
    states = get_all_states.get_all_states(game, include_terminals=True, include_chance_states=True).values()
    chance = sum(state.is_chance_node() for state in states)
    terminal = sum(state.is_terminal() for state in states)
    assert (chance, len(states) - chance - terminal, terminal) == SMALL[name][:3]
    assert len(policy.TabularPolicy(game).states) == SMALL[name][3]


def shared_test(base, name):
    """OpenSpiel's shared test class for one game, run test by test."""
    case = type("Case", (base,), {"game_name": name, "game": pyspiel.load_game(name)})
    api_test.TOTAL_NUM_STATES[name], api_test.PERFECT_RECALL_NUM_STATES[name] = SMALL.get(name, ((), ()))[:3], 0
    if name in SMALL:
        api_test.PERFECT_RECALL_NUM_STATES[name] = SMALL[name][3]
    case.setUpClass()
    ran = 0
    for test in sorted(vars(base)):
        if test.startswith("test_"):
            getattr(case(test), test)()
            ran += 1
    return ran


@pytest.mark.parametrize("name", SMALL)
def test_shared_api_on_the_full_tree(name):
    assert shared_test(api_test.EnforceAPIOnFullTreeBase, name) >= 5


@pytest.mark.parametrize(
    "name", [*SMALL, "python_bidzoo_bridge_bidding", "python_bidzoo_bridge", "python_bidzoo_spades"]
)
def test_shared_api_on_a_partial_tree(name):
    assert shared_test(api_test.EnforceAPIOnPartialTreeBase, name) >= 5


@pytest.mark.parametrize("env_id", GAMES)
def test_shared_simulation(env_id):
    games_sim_test.GamesSimTest().sim_game(pyspiel.load_game(openspiel.NAMES[env_id]))


RESPONSE = """
import pyspiel
import bidzoo.wrappers.openspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import best_response
game = pyspiel.load_game("python_bidzoo_simple_bidding")
uniform = pyspiel.UniformRandomPolicy(game)  # in a variable, as the page says
print(pyspiel.TabularBestResponse(game, 0, uniform).value_from_state(game.new_initial_state()))
response = best_response.CPPBestResponsePolicy(game, 0, policy.UniformRandomPolicy(game))
print(response.value(game.new_initial_state()))
"""


def test_best_responses_as_the_page_says():
    told = subprocess.run([sys.executable, "-c", RESPONSE], capture_output=True, text=True, check=True)
    one, other = map(float, told.stdout.split())
    assert one == pytest.approx(other) and one > 1


@pytest.mark.parametrize("name", openspiel.NAMES.values())
def test_information_states_are_tensors_where_the_type_says_so(name):
    """Elsewhere the tensor is empty, as in OpenSpiel's own Python games; observations are encoded in all games."""
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    state.apply_action(0)
    size = game.observation_tensor_size() if game.get_type().provides_information_state_tensor else 0
    assert len(state.information_state_tensor(0)) == game.information_state_tensor_size() == size
    assert len(state.observation_tensor(0)) == game.observation_tensor_size() > 0


@pytest.mark.parametrize("env_id", ["bridge_bidding_v0", "bridge_v0", "spades_v0"])
def test_resampling_keeps_the_information_state(env_id):
    game = pyspiel.load_game(openspiel.NAMES[env_id])
    rng = np.random.default_rng(3)
    state = game.new_initial_state()
    state.apply_action(5)
    hidden = set()
    while not state.is_terminal():
        player = state.current_player()
        twin = state.resample_from_infostate(player, rng.random)
        assert twin.information_state_string(player) == state.information_state_string(player)
        assert twin.legal_actions() == state.legal_actions()
        hidden.add(str(twin) != str(state))
        if len(state.history()) > 12:
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert True in hidden


@pytest.mark.parametrize(
    "name",
    [*SMALL, "python_bidzoo_bridge_bidding", "python_bidzoo_bridge", "python_bidzoo_spades",
     "python_bidzoo_spades(phase=bidding)"],
)  # fmt: skip
def test_equal_information_states_have_equal_observations(name):
    """What a player sees beside its cards and the actions (dummy, scores of earlier rounds) is in the text too."""
    game, rng, seen = pyspiel.load_game(name), np.random.default_rng(5), {}
    for deal in range(4):
        state = game.new_initial_state()
        state.apply_action(deal)
        for _ in range(60):
            if state.is_terminal():
                break
            actor, action = state.current_player(), int(rng.choice(state.legal_actions()))
            for _ in range(2):  # as the actor, and as another player, might think of it
                for player in {actor, (actor + 1) % game.num_players()}:
                    twin = state.resample_from_infostate(player, rng.random)
                    if action not in twin.legal_actions():
                        continue
                    twin.apply_action(action)
                    for each in range(game.num_players()):
                        tensor = bytes(np.array(twin.observation_tensor(each), np.float32))
                        assert seen.setdefault(twin.information_state_string(each), tensor) == tensor
            state.apply_action(action)
    assert len(seen) > 10


def test_an_auction_on_a_resampled_deal_is_scored():
    state = pyspiel.load_game("python_bidzoo_bridge_bidding").new_initial_state()
    state.apply_action(3)
    twin = state.resample_from_infostate(state.current_player(), np.random.default_rng(0).random)
    for call in (7, 0, 0, 0):
        twin.apply_action(call)
    assert twin.is_terminal()
    assert sum(twin.returns()) == 0
    assert twin.returns()[0] != 0


@pytest.mark.parametrize("reward", ["score", "par", "cost"])
def test_a_resampled_deal_is_solved_as_far_as_its_reward_asks(reward, monkeypatch):
    state = pyspiel.load_game(f"python_bidzoo_bridge_bidding(reward={reward})").new_initial_state()
    state.apply_action(3)
    twin = state.resample_from_infostate(state.current_player(), np.random.default_rng(0).random)
    deal = twin.record["hands"][0].copy()
    tricks, dealer = double_dummy.dd_tricks_of(deal), int(twin.record["dealer"][0])
    vulnerable = VULNERABILITIES[int(twin.record["vulnerable"][0])]
    if reward == "score":
        monkeypatch.setattr(double_dummy, "dd_tricks_of", None)
    env = make("bridge_bidding_v0", reward=reward)
    env.reset(options={"deal": deal, "tricks": tricks, "dealer": "NESW"[dealer], "vulnerability": vulnerable})
    for call in (0, 9, 1, 0, 0, 2, 0, 0, 0):
        twin.apply_action(call)
        env.step(call)
    assert twin.is_terminal()
    assert twin.returns() == list(env.rewards.values())
    assert any(twin.returns())


@pytest.mark.parametrize("name", ["bridge", "spades", "minibridge"])
def test_the_past_of_copies_and_of_states_from_text(name):
    game = pyspiel.load_game(f"python_bidzoo_{name}")
    state, rng = game.new_initial_state(), np.random.default_rng(4)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        history = " ".join(f"{s.player}:{state.action_to_string(s.player, s.action)}" for s in state.full_history()[1:])
        _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        for twin in (state, state.clone(), again):
            said = twin.information_state_string(0)
            assert said.startswith("player_0 ")
            assert said.endswith(history)


def test_the_text_of_an_action_is_made_once(monkeypatch):
    state = pyspiel.load_game("python_bidzoo_spades").new_initial_state()
    state.apply_action(3)
    asked, rules = [], type(state._shared.game)
    text = rules.action_text
    monkeypatch.setattr(rules, "action_text", lambda self, action: asked.append(action) or text(self, action))
    for turn in range(1, 20):
        state.apply_action(state.legal_actions()[0])
        state.information_state_string(0)
        state.observation_string(1)
        assert len(asked) == turn


def test_cfr_nash_conv_and_the_value_of_uniform_play():
    game = pyspiel.load_game("python_bidzoo_simple_bidding(size=4)")
    plain = policy.UniformRandomPolicy(game)
    value = pyspiel_value(game.new_initial_state(), plain)
    compiled = compile_game(make_game("simple_bidding_v0", size=4))
    assert value == pytest.approx(evaluate(compiled, uniform(compiled)), abs=1e-12)
    assert value == pytest.approx(1.465278, abs=1e-6)  # reference 2.3
    assert exploitability.nash_conv(game, plain) == pytest.approx(0.486111, abs=1e-6)
    solver = pyspiel.CFRSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()  # keep it: the next call holds a bare pointer
    assert pyspiel.nash_conv(game, average, True) < 0.2


def pyspiel_value(state, tabular):
    """Expected common return of a joint policy, by OpenSpiel's own tree."""
    if state.is_terminal():
        return state.returns()[0]
    chances = state.chance_outcomes() if state.is_chance_node() else tabular.action_probabilities(state).items()
    return sum(chance * pyspiel_value(state.child(action), tabular) for action, chance in chances)


def test_sampling_cfr_runs():
    game = pyspiel.load_game("python_bidzoo_minibridge(size=2)")
    np.random.seed(0)  # OpenSpiel's solver draws from NumPy's global generator
    solver = ExternalSamplingSolver(game)
    for _ in range(30):
        solver.iteration()
    assert pyspiel_value(game.new_initial_state(), solver.average_policy()) > pyspiel_value(
        game.new_initial_state(), policy.UniformRandomPolicy(game)
    )


@pytest.mark.parametrize("env_id", ["minibridge_v0", "bridge_bidding_v0"])
def test_a_playthrough_is_written_and_replayed(env_id, tmp_path):
    text = generate_playthrough.playthrough(openspiel.NAMES[env_id], action_sequence=None, seed=7)
    path = tmp_path / "playthrough.txt"
    path.write_text(text, encoding="utf-8")
    original, again = generate_playthrough.replay(str(path))
    assert original.splitlines() == again.splitlines()
    assert "IsTerminal() = True" in again


def test_parameters_are_refused():
    with pytest.raises(Exception, match="duplicate"):
        pyspiel.load_game("python_bidzoo_bridge_bidding(reward=duplicate)")
    with pytest.raises(Exception, match="size"):
        pyspiel.load_game("python_bidzoo_minibridge(size=-1)")
    for wrong in ("boards=0", "boards=-5", "seed=-1"):
        with pytest.raises(ValueError, match=f"{wrong.replace('=', ' ')}: expected an integer from"):
            pyspiel.load_game(f"python_bidzoo_bridge_bidding({wrong})")


@pytest.mark.parametrize("name", ["minibridge", "bridge_bidding", "spades"])
def test_wrong_actions_are_refused_and_change_nothing(name):
    game = pyspiel.load_game(f"python_bidzoo_{name}")
    state = game.new_initial_state()
    for outcome in (10**8, game.max_chance_outcomes(), -4):
        with pytest.raises(ValueError, match=f"deal {outcome}: expected an integer from 0 to"):
            state.apply_action(outcome)
    assert state.is_chance_node()
    state.apply_action(5)
    before = str(state)
    for action in (10**8, game.num_distinct_actions(), -4):
        with pytest.raises(ValueError, match=f"illegal action {action} by player_{state.current_player()}; legal: "):
            state.apply_action(action)
    with pytest.raises(ValueError, match="9 is no player of"):
        state.view(9)
    assert (str(state), state.history()) == (before, [5])
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="illegal action 0 at the end"):
        state.apply_action(0)


def test_every_documented_reward_of_an_auction_is_paid():
    for reward in ("score", "par", "cost"):
        state = pyspiel.load_game(f"python_bidzoo_bridge_bidding(reward={reward})").new_initial_state()
        for action in (3, 7, 0, 0, 0):
            state.apply_action(action)
        env = make("bridge_bidding_v0", reward=reward)
        env.reset(seed=0, options={"board": 3})
        for call in (7, 0, 0, 0):
            env.step(call)
        assert state.returns() == list(env.rewards.values())

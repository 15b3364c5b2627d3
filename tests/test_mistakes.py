"""Typical slips: the error says what is wrong, where, and what was expected; and objects say what they are."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from success_curves import CurveOptions

import bidzoo
from bidzoo import agents
from bidzoo.agents.bridge import a2c, jps, ppo, rl, trainer
from bidzoo.agents.bridge.card_play import WithCards
from bidzoo.agents.policy import Pool, ScorePolicy, told_apart
from bidzoo.agents.spades.policy_iteration import Options as LearnerOptions
from bidzoo.benchmarks import match, throughput
from bidzoo.envs.bridge import deals
from bidzoo.envs.bridge.score import par, score
from bidzoo.envs.game import LAST_BOARD
from bidzoo.envs.signalling.compiled import compile_game
from bidzoo.play.session import Setup
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.gymnasium import seat_policies, single_agent, single_agent_vector
from bidzoo.wrappers.text import TextTable

BRIDGE = "bridge_bidding_v0"


def bridge():
    return bidzoo.make_game(BRIDGE, deals="test", shuffle=False, augment=False)


def seen(seed=1):
    env = bidzoo.make(BRIDGE)
    env.reset(seed=seed)
    return env


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: bidzoo.make(BRIDGE, obs=1), TypeError, "no option 'obs'; choose from observation, reward"),
        (lambda: bidzoo.make_game("minibridge_v0", length=4), TypeError, "'length'; choose from size, observation"),
        (lambda: bidzoo.make(BRIDGE, deals="tests"), FileNotFoundError, "'tests': no such file; expected train, val"),
        (lambda: bidzoo.make(BRIDGE, deals=3), ValueError, "deals 3: expected a DealSet or a text or a path"),
        (lambda: bidzoo.make(BRIDGE, reward_scale="a"), ValueError, "reward_scale 'a': expected a number"),
        (lambda: bidzoo.make(BRIDGE, augment="no"), ValueError, "augment 'no': expected True or False"),
        (lambda: bidzoo.make(BRIDGE, shuffle=1), ValueError, "shuffle 1: expected True or False"),
        (lambda: bidzoo.make("bridge", competition="no"), ValueError, "competition 'no': expected True or False"),
        (lambda: bidzoo.make("spades", blind_nil="no"), ValueError, "blind_nil 'no': expected True or False"),
        (lambda: agents.make("sl", temperature="x"), ValueError, "temperature 'x': expected a number"),
        (lambda: agents.resolve("bis", BRIDGE), ValueError, f"'bis' does not play {BRIDGE}; choose from random, pass"),
        (lambda: agents.resolve("sayk", BRIDGE), KeyError, "'sayk'; did you mean 'sayc'? choose from random, pass"),
        (lambda: agents.make("bmcs", deal=4), TypeError, "'deal'; did you mean 'deals'? choose from policy, belief"),
        (lambda: seen().view("player_4"), KeyError, "unknown agent 'player_4'; did you mean 'player_3'? choose from"),
        (lambda: seen().observe("North"), KeyError, "unknown agent 'North'; choose from player_0, player_1, player_2"),
        (lambda: bidzoo.make("minibrige"), KeyError, "'minibrige'; did you mean 'minibridge_v0'? choose from bridge_b"),
        (lambda: bidzoo.make("spades_v1"), KeyError, "unknown game 'spades_v1'; did you mean 'spades_v0'?"),
        (lambda: bidzoo.make(BRIDGE, rewards="par"), TypeError, "no option 'rewards'; did you mean 'reward'?"),
        (lambda: bidzoo.make(BRIDGE, observation="jps276"), ValueError, "'jps276'; did you mean 'jps267'?"),
        (lambda: bidzoo.bridge.call("sayc", -8191), ValueError, "-8191 is not a hand"),
        (lambda: bidzoo.bridge.call("sayc", 1 << 60 | 4095), ValueError, "is not a hand"),
        (lambda: bidzoo.check_game(bridge(), deals="test"), TypeError, "options deals beside <bridge_bidding_v0"),
        (lambda: WithCards(agents.make("sl"), 1.5), ValueError, "deals 1.5: expected an integer from 1"),
        (lambda: agents.make("sl").probabilities(None, None, 0), ValueError, "temperature 0: expected more than 0"),
        (lambda: agents.make("sl", weights="none").network, ValueError, "no packaged weights 'none'; choose from a2c"),
        (lambda: throughput.main(float("nan")), ValueError, "seconds nan: expected a length of a slice, more than 0"),
        (lambda: agents.make("sl", weights="no.bin").network, FileNotFoundError, "no.bin: no such file of weights"),
        (
            lambda: agents.make("learned", player="srp", worlds=9),
            ValueError,
            "player 'srp' tries no cards",
        ),
        (lambda: match.duplicate(bridge(), "pass", "pass", [0], 0, -1), ValueError, "policy_seed -1: expected"),
        (lambda: Pool(["sayc"]), TypeError, "pool: 'sayc': expected policies, such as bidzoo.agents.make('sayc')"),
        (lambda: Pool([agents.make("sl")]).add(3), TypeError, "pool: 3: expected policies, such as an object with"),
        (lambda: bidzoo.register_game(3), TypeError, "takes a class or a function that makes a game, got 3"),
        (lambda: bidzoo.make_game("bridge_v0", reward="par"), ValueError, "of a packaged set have: deals='train'"),
        *((partial(bidzoo.make_game(game).action_number, 99), ValueError, "99") for game in bidzoo.available()),
    ],
)
def test_wrong_names(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


@pytest.mark.parametrize("seed", ["a", -1, 1.5, 2**63, True])
@pytest.mark.parametrize("make", [lambda: bidzoo.make("comm_v0"), lambda: bidzoo.make_vec("comm_v0", 2)])
def test_wrong_seeds(make, seed):
    with pytest.raises(ValueError, match="expected an integer from 0 to"):
        make().reset(seed=seed)


@pytest.mark.parametrize(
    ("env_id", "slip", "meant"),
    [
        (BRIDGE, "vulnerable", "vulnerability"),
        ("spades_v0", "score", "scores"),
        ("comm_v0", "type", "types"),
    ],
)
def test_a_slip_in_a_reset_option(env_id, slip, meant):
    with pytest.raises(ValueError, match=f"unknown option '{slip}'; did you mean '{meant}'"):
        bidzoo.make(env_id).reset(options={slip: None})


@pytest.mark.parametrize("env_id", bidzoo.registry.GAMES)
def test_a_reset_option_that_no_game_has(env_id):
    """In every form; PettingZoo's official tests pass one that is called ``options``."""
    for make in (bidzoo.make, single_agent, partial(single_agent_vector, num_envs=2)):
        env = make(env_id)
        for name in ("vul", "board_number", "seed", "colour"):
            with pytest.raises(ValueError, match=f"unknown option '{name}'; .*choose from board"):
                env.reset(options={name: 1})
        env.reset(options={"options": 1})


@pytest.mark.parametrize("env_id", [BRIDGE, "spades_v0", "comm_v0"])
def test_wrong_reset_options(env_id):
    with pytest.raises(ValueError, match=rf"option 'board'.* {10**30}.*expected an integer from 0 to {LAST_BOARD}"):
        bidzoo.make(env_id).reset(options={"board": 10**30})
    with pytest.raises(TypeError, match="options 'x': expected a dict of board"):
        bidzoo.make(env_id).reset(options="x")


@pytest.mark.parametrize("method", ["view", "observe"])
def test_before_reset_there_is_nothing_to_see(method):
    with pytest.raises(AttributeError, match=rf"{method}\(\) cannot be called before reset\(\)"):
        getattr(bidzoo.make(BRIDGE), method)("player_0")


@pytest.mark.parametrize("action", ["1NT", 3.0, np.array([3]), None, True, 38, -1])
def test_what_is_no_action(action):
    env = bidzoo.make(BRIDGE)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"player_0: .* is not an action \(expected 0 ... 37\)"):
        env.step(action)


@pytest.mark.parametrize("action", ["1NT", 3.0, np.array([3]), None, True])
def test_what_is_no_action_of_a_learner(action):
    env = gymnasium.make("bidzoo/BridgeBidding-v0", learner="East").unwrapped
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"player_1: .* is not an action \(expected 0 ... 37\)") as raised:
        env.step(action)
    assert str(raised.value).endswith("action[0]") == isinstance(action, np.ndarray)
    env.step(np.int8(0))  # nothing is over


@pytest.mark.parametrize(
    ("make", "option", "words"),
    [
        (
            bidzoo.make,
            {"opponents": "sayc"},
            "gymnasium.make and gymnasium.make_vec, which seat agents beside a learner",
        ),
        (bidzoo.make_game, {"learner": 1}, "gymnasium.make and gymnasium.make_vec"),
        (lambda name, **option: bidzoo.make_vec(name, 4, **option), {"partner": "sayc"}, "gymnasium.make_vec"),
        (lambda name, **option: bidzoo.make_vec(name, 4, **option), {"render_mode": "ansi"}, "gymnasium.make and"),
        (bidzoo.make_game, {"illegal_action": "raise"}, "bidzoo.make takes it"),
    ],
)
def test_an_option_of_another_form_names_that(make, option, words):
    (name,) = option
    with pytest.raises(TypeError, match=f"^{BRIDGE} has no option '{name}' here: .*{words}"):
        make(BRIDGE, **option)


@pytest.mark.parametrize(
    "tables", [lambda: bidzoo.make_vec(BRIDGE, 2), lambda: gymnasium.make_vec("bidzoo/BridgeBidding-v0", 2)]
)
def test_batches_take_integers(tables):
    batch = tables()
    batch.reset()
    with pytest.raises(ValueError, match="actions must be integers, got float64"):
        batch.step(np.full(2, 1.5))
    with pytest.raises(ValueError, match=r"actions must have shape \(2,\), got \(1,\)"):
        batch.step(np.zeros(1, int))


@pytest.mark.parametrize("env_id", ["bridge_bidding", "minibridge"])
@pytest.mark.parametrize(
    ("make", "method", "arguments"),
    [
        (lambda env_id: bidzoo.make_vec(env_id, 2), "step", [np.zeros(2, int)]),
        (lambda env_id: bidzoo.make_vec(env_id, 2), "views", []),
        (lambda env_id: bidzoo.make_vec(env_id, 2), "state", []),
        (lambda env_id: single_agent_vector(env_id, 2), "step", [np.zeros(2, int)]),
        (lambda env_id: single_agent_vector(env_id, 2), "action_masks", []),
        (lambda env_id: single_agent_vector(env_id, 2), "state", []),
        (lambda env_id: single_agent_vector(env_id, 2, render_mode="ansi"), "render", []),
        (lambda env_id: single_agent(env_id), "step", [0]),
        (lambda env_id: single_agent(env_id), "action_masks", []),
        (lambda env_id: single_agent(env_id, render_mode="ansi"), "render", []),
    ],
)
def test_before_reset_there_is_nothing(env_id, make, method, arguments):
    with pytest.raises(ValueError, match=rf"call reset\(\) before {method}\(\)"):
        getattr(make(env_id), method)(*arguments)


@pytest.mark.parametrize(
    ("boards", "text"),
    [
        (np.array([-1, -5]), "boards: int64 from -5, expected integers from 0"),
        (np.array([0.5, 1]), "boards: float64 from 0.5, expected integers from 0"),
        (3, "boards 3: expected a list of board numbers"),
        ([1], r"boards must have shape \(2,\), got \(1,\)"),
    ],
)
def test_wrong_boards_of_a_batch(boards, text):
    with pytest.raises(ValueError, match=text):
        bidzoo.make_vec(BRIDGE, 2).reset(boards=boards)


def test_reset_options_hold_at_every_table():
    envs = single_agent_vector("minibridge", 3)
    single = single_agent("minibridge")
    for options in ({"types": (1, 2)}, {"types": (4, 0), "board": 7}):
        observations, infos = envs.reset(seed=1, options=options)
        observation, info = single.reset(seed=1, options=options)
        first = options.get("board", 0)
        assert envs.batch.boards.tolist() == [first, first + 1, first + 2]
        assert (observations == observation).all() and (infos["action_mask"] == info["action_mask"]).all()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"boardx": 7}, ValueError, "unknown option 'boardx'; did you mean 'board'"),
        ({"board": -7}, ValueError, "option 'board': -7 is not a board number"),
        ({"types": (1, 9)}, ValueError, "type of player_1 9: expected an integer from 0 to 4"),
        ({"reset_mask": np.ones(2, bool)}, ValueError, "option 'reset_mask': tables deal themselves their next board"),
        ("x", TypeError, "options 'x': expected a dict of board, types"),
    ],
)
def test_wrong_reset_options_of_a_vector(options, error, text):
    envs = single_agent_vector("minibridge", 2)
    envs.reset(seed=1)
    before = envs.batch.states.tobytes()
    with pytest.raises(error, match=text):
        envs.reset(seed=2, options=options)
    assert envs.batch.states.tobytes() == before and envs.batch.seed == 1


def test_a_finished_table_takes_no_action():
    batch = Batch(bidzoo.make_game("mini_hanabi_v0"), 2, autoreset=False)
    batch.reset()
    for _ in range(2):
        batch.step(np.zeros(2, int))
    with pytest.raises(ValueError, match=r"table 1 \(board 1\) is finished: give it -1"):
        batch.step(np.array([-1, 0]))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"learner": "player_4"}, "'player_4' is no player of bridge_bidding_v0; expected 0 ... 3, player_0 ..."),
        ({"learner": 4}, "4 is no player of bridge_bidding_v0; expected 0 ... 3"),
        ({"opponents": {"Sauth": "sayc"}}, "'Sauth' is no player of bridge_bidding_v0; expected 0 ... 3"),
        ({"partner": "bis"}, "agent 'bis' does not play bridge_bidding_v0"),
        (
            {"opponents": ["sayc", "sl"], "partner": "ppo"},
            "got 2 opponents; expected one name or policy for every other",
        ),
        (
            {"opponents": ["sayc", "sl"]},
            "a list of one for each of player_0 (North), player_1 (East), player_2 (South)",
        ),
        ({"opponents": {"East": "sayc", "West": "sl"}}, "player_2 (South) has no policy: give partner=, or name it in"),
        ({"opponents": {"East": "sayc"}, "partner": "sl"}, "player_3 (West) has no policy: name it in opponents="),
    ],
)
def test_wrong_seats(options, text):
    with pytest.raises(ValueError) as caught:
        gymnasium.make("bidzoo/BridgeBidding-v0", **options)
    assert text in str(caught.value)


def test_a_slip_in_an_option_of_seats():
    """In Python's words, by which libraries know that an option of theirs is not one of the environment's."""
    with pytest.raises(
        TypeError,
        match=r"bridge_bidding_v0 got an unexpected keyword argument 'opponent'; did you mean 'opponents'\? choose",
    ):
        gymnasium.make("bidzoo/BridgeBidding-v0", opponent="sayc")


def test_a_pair_is_two():
    game = bridge()
    both = [
        match.duplicate(game, pair, "pass", np.arange(4)).imps.tolist() for pair in (["sayc", "sl"], ("sayc", "sl"))
    ]
    assert both[0] == both[1]
    with pytest.raises(ValueError, match=r"a pair \['sayc'\]: expected two agents, or one for both seats"):
        match.duplicate(game, ["sayc"], "pass", np.arange(4))


def test_a_policy_of_another_size():
    three, four = (bidzoo.make_game("minibridge", size=size) for size in (3, 4))
    for policy in (ScorePolicy(three, lambda observation, mask: mask), agents.make("random")):
        policy.game = three
        with pytest.raises(
            ValueError, match=r"was made for minibridge_v0\(size=3\), it does not play minibridge_v0\(size"
        ):
            match.play(four, [policy, "random"], np.arange(2))
        match.play(three, [policy, "random"], np.arange(2))


def test_scores_that_are_no_numbers():
    """Those of a network that diverged; the first legal action would pass for its choice."""
    game = bidzoo.make_game("minibridge")

    def scores(value):
        return lambda observation, mask: np.where(np.arange(mask.shape[1]) == 0, value, 0.0 * mask)

    with pytest.raises(ValueError, match="network: the score of a legal action is NaN at board 0"):
        match.play(game, [ScorePolicy(game, scores(np.nan))] * 2, np.arange(2))
    with pytest.raises(ValueError, match="NaN"):
        match.play(game, [ScorePolicy(game, lambda observation, mask: mask * np.nan)] * 2, np.arange(2))
    impossible = ScorePolicy(game, lambda observation, mask: np.full(mask.shape, -np.inf))  # the lowest of equals
    match.play(game, [impossible] * 2, np.arange(8))


def test_models_of_other_libraries(tmp_path):
    class Model:
        def predict(self, observation):
            return 0

    with pytest.raises(TypeError, match="a model of Stable-Baselines3 plays as"):
        match.play(bridge(), [Model()] * 4, np.arange(2))
    env = bidzoo.make("comm_v0")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="a model of Stable-Baselines3 plays as"):
        env.ask(Model())
    (tmp_path / "model.zip").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"model.zip: expected .safetensors; a model of Stable-Baselines3 plays as"):
        agents.make(str(tmp_path / "model.zip"))


def test_a_dash_alone_is_no_call():
    for calls in ("1H P 2C", "1H-P-2C", "1H, P, 2C", ["1H", "P", "2C"]):
        assert bidzoo.bridge.call("pass", "AKQ2.K54.QJ3.A92", calls=calls) == "P"
    with pytest.raises(ValueError, match="call 2, - by East"):
        bidzoo.bridge.call("pass", "AKQ2.K54.QJ3.A92", calls="1H - 2C")


def test_partner_and_opponents_where_there_are_none():
    with pytest.raises(ValueError, match=r"minibridge_v0\(size=4\) has no opponents, .*: give partner alone"):
        gymnasium.make("bidzoo/MiniBridge-v0", opponents="random", partner="random")
    with pytest.raises(ValueError, match="spades_v0 has no partners: give opponents alone"):
        gymnasium.make("bidzoo/Spades-v0", variant="cutthroat", partner="random")
    for options in ({}, {"opponents": "random"}, {"partner": "random"}):  # the other seat by either word
        gymnasium.make("bidzoo/MiniBridge-v0", **options)


@pytest.mark.parametrize(
    ("options", "seats"),
    [
        ({}, "random random None random"),
        ({"opponents": "sl"}, "sl sl None sl"),
        ({"opponents": "sayc", "partner": "sl"}, "sl sayc None sayc"),
        ({"partner": "sl"}, "sl random None random"),
        ({"opponents": ["sl", "sayc", None, "pass"]}, "sl sayc None pass"),
        ({"opponents": {"East": "sayc", "player_3": "pass"}, "partner": "sl"}, "sl sayc None pass"),
    ],
)
def test_who_sits_where(options, seats):
    """As the quick start says."""
    seated = seat_policies(bidzoo.make_game(BRIDGE), "South", **options)
    assert " ".join(str(getattr(policy, "name", None)) for policy in seated) == seats


TRICKS = np.full((2, 20), 7, np.int8)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: par(TRICKS, 4, 0), r"dealer 4: expected 0 \.\.\. 3"),
        (lambda: par(TRICKS, 0, [0, 1, 2]), r"vulnerable of shape \(3,\): expected one number, or \[2\]"),
        (lambda: score(4, "S", 1, 10, 0), "strain 'S': expected integers"),
        (lambda: deals.random_deals(0, [[5, 6]]), r"indices of shape \(1, 2\): expected \[n\]"),
        (lambda: deals.augment(deals.packaged("test"), [0, 1], 0), r"relabelling of shape \(2,\): expected one number"),
        (lambda: compile_game(bidzoo.make_game("spades_v0")), "spades_v0.*: expected Comm, Simple Bidding"),
        (lambda: bidzoo.agents.make("uct", iterations="no"), "iterations 'no': expected an integer"),
        (lambda: bidzoo.agents.make("uct", last=14), "last 14: expected an integer from 0 to 13"),
        (lambda: bidzoo.agents.make("bis", endgame="no"), "endgame 'no': expected True or False"),
        (lambda: bidzoo.agents.make("bis", bias=(0.0, 0.0)), "bias .*: expected a tuple of length 4, each a num"),
        (lambda: match.play(bidzoo.make_game("comm_v0"), ["random"] * 2, [0], policy_seed=-1), "policy_seed -1: exp"),
    ],
)
def test_wrong_numbers(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ppo.Options(boards=-1), "boards -1: expected an integer from 1"),
        (lambda: ppo.Options(boards=10.0), "boards 10.0: expected an integer from 1"),
        (lambda: ppo.Options(minibatch=True), "minibatch True: expected an integer from 1"),
        (lambda: ppo.Options(learning_rate=-1e-4), "learning_rate -0.0001: expected a number from 0"),
        (lambda: ppo.Options(learning_rate=float("nan")), "learning_rate nan: expected a number from 0"),
        (lambda: ppo.Options(self_play=1.01), "self_play 1.01: expected a number from 0 to 1"),
        (lambda: rl.Options(value="imps"), "value 'imps': expected 'scores778' or 'bmcs636'"),
        (lambda: ppo.Options(seed=2**63), f"seed {2**63}: expected an integer from 0 to {2**63 - 1}"),
        (lambda: rl.Options(hidden=1), "hidden 1: expected True or False"),
        (lambda: rl.Options(sync=0), "sync 0: expected an integer from 1"),
        (lambda: a2c.Options(burn_in=-1), "burn_in -1: expected an integer from 0"),
        (lambda: jps.Options(share="some"), "share 'some': expected a number from 0 to 1"),
        (lambda: jps.Options(depth=2), "depth 2: expected 1 or 3"),
        (lambda: jps.Options(unit="tables"), "unit 'tables': expected 'games' or 'moves'"),
        (lambda: trainer.Options(None, batch=0), "batch 0: expected an integer from 1"),
        (lambda: CurveOptions(noise=2), "noise 2: expected a number from 0 to 1"),
        (lambda: LearnerOptions(batch=0), "batch 0: expected an integer from 1"),
        (lambda: agents.make("cfr", iterations=-1), "iterations -1: expected an integer from 0"),
        (lambda: agents.make("cfr", seed="a"), "seed 'a': expected an integer from 0"),
        (lambda: agents.make("jps", samples=0.5), "samples 0.5: expected an integer from 0"),
        (lambda: agents.make("a2c", hidden=(80, 0)), r"hidden \(80, 0\): expected a tuple, each an integer from 1"),
        (lambda: agents.make("bad", rate=-1), "rate -1: expected a number from 0"),
    ],
)
def test_options_out_of_range(make, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        make()


def test_tabular_agents_know_their_options():
    with pytest.raises(
        TypeError, match="agent 'cfr' has no option 'steps'; choose from iterations, average, noise, seed"
    ):
        agents.make("cfr", steps=3)


class Odd:
    """Gives ``answer`` whatever it is asked."""

    name = "odd"

    def __init__(self, answer):
        self.answer = answer

    def act(self, views, legal, rng):
        return self.answer


@pytest.mark.parametrize(
    ("policies", "boards", "text"),
    [
        (["sayc"] * 3, [0, 1], "has 4 players, got 3 policies"),
        (["sayc"] * 4, 10, r"boards 10: expected a list of board numbers"),
        (["sayc"] * 4, [0.5], "boards: float64 from 0.5, expected integers from 0"),
        (["sayc"] * 4, [-1], "boards: int64 from -1, expected integers from 0"),
        (["sayc"] * 4, ["a"], "boards: <U1, expected integers from 0"),
        (["sayc"] * 4, [2**63], f"boards: uint64 from {2**63}, expected integers from 0 to {LAST_BOARD}"),
        ([agents.make("bis")] * 4, [0], "bis.srp does not play bridge_bidding_v0: its views have no field 'variant'"),
        ([Odd(0)] * 4, [0, 1], r"odd: act\(\) gave int64 \[\], expected one integer a row, \[2\]"),
        ([Odd(np.zeros(2))] * 4, [0, 1], r"odd: act\(\) gave float64 \[2\], expected one integer a row"),
        ([Odd(np.array([0, -1]))] * 4, [0, 5], r"odd: illegal action -1 at board 5; legal: \[0, 3, 4"),
        ([Odd(np.array([38, 0]))] * 4, [7, 5], "odd: illegal action 38 at board 7"),
    ],
)
def test_wrong_matches(policies, boards, text):
    with pytest.raises(ValueError, match=text):
        match.play(bridge(), policies, boards)


@pytest.mark.parametrize("action", [-1, -2, 10**6, 1])
def test_an_agent_that_breaks_the_rules_stops_every_form(action):
    """-1 leaves a table as it is when a caller says so; an agent that gives it would never lose."""
    odd, illegal = Odd(np.array([action])), f"odd: illegal action {action} at board 0"
    with pytest.raises(ValueError, match=illegal):
        env = gymnasium.make("bidzoo/BridgeBidding-v0", opponents=odd, learner=0)
        env.reset(seed=1)
        env.step(0)
    with pytest.raises(ValueError, match=illegal):
        envs = gymnasium.make_vec("bidzoo/BridgeBidding-v0", 1, opponents=odd, learner=0)
        envs.reset(seed=1)
        envs.step(np.array([0]))
    with pytest.raises(ValueError, match=illegal):
        env = bidzoo.make(BRIDGE)
        env.reset(seed=1)
        env.ask(odd)
    with pytest.raises(ValueError, match=illegal):
        match.duplicate(bridge(), odd, "pass", np.arange(1))
    with pytest.raises(ValueError, match=illegal):
        Setup(BRIDGE, {}, seed=1, board=0, fixed={}).played([odd] * 4)


@pytest.mark.parametrize("policies", ["sayc", agents.make("sayc")])
def test_a_match_takes_a_list_of_policies(policies):
    with pytest.raises(TypeError, match=r"sayc.*: expected a list of 4, one for each player"):
        match.play(bridge(), policies, [0])


@pytest.mark.parametrize(
    "compare",
    [
        lambda game: match.play(game, ["sayc"] * 4, [0]),
        lambda game: match.duplicate(game, "sayc", "pass", [0]),
        lambda game: match.pairings(game, "sayc", "pass", [0]),
        lambda game: match.summary(game, ("sayc", "pass"), []),
    ],
)
def test_a_match_takes_a_game(compare):
    with pytest.raises(
        TypeError, match=r"not a game: 'bridge_bidding_v0'; give bidzoo.make_game\('bridge_bidding_v0', "
    ):
        compare(BRIDGE)
    with pytest.raises(TypeError, match=r"not a game: <AEC environment bridge_bidding_v0.*; give its \.game"):
        compare(bidzoo.make(BRIDGE))
    with pytest.raises(TypeError, match=r"not a game: None; give what bidzoo\.make_game makes"):
        compare(None)


@pytest.mark.parametrize("compare", [match.duplicate, match.pairings])
def test_no_boards_compare_nobody(compare):
    with pytest.raises(ValueError, match="boards: none, which compares nobody; expected one or more"):
        compare(bridge(), "sayc", "pass", np.arange(0))


def test_only_bridge_is_played_as_duplicate():
    with pytest.raises(ValueError, match="a duplicate match is bridge, got comm_v0"):
        match.duplicate(bidzoo.make_game("comm_v0"), "random", "random", np.arange(2))


def test_names_stand_for_agents():
    boards, sayc, never = np.arange(4), agents.make("sayc"), agents.make("pass")
    named = match.duplicate(bridge(), "sayc", ("pass", "sayc"), boards)
    assert named.imps.tolist() == match.duplicate(bridge(), sayc, (never, sayc), boards).imps.tolist()


@pytest.mark.parametrize(("env_id", "name"), [(BRIDGE, "random"), ("spades_v0", "bis"), ("comm_v0", "cfr")])
def test_ask_is_what_a_match_does(env_id, name):
    env, policy = bidzoo.make(env_id), agents.make(name)
    env.reset(seed=5)
    while not any(env.terminations.values()):
        env.step(env.ask(policy))
    played = match.play(env.game, [policy] * env.game.num_players, [0], seed=5, policy_seed=5)
    assert list(env.rewards.values()) == played.reward[0].tolist()
    assert env._states["length"] == played.states["length"]


def test_ask_takes_a_policy():
    env = bidzoo.make("comm_v0")
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"agents.make\('cfr'\)"):
        env.ask("cfr")


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        (agents.make("bis"), ValueError, "bis.srp does not play bridge_bidding_v0: its views have no field 'variant'"),
        (
            None,
            TypeError,
            r"got None \(expected an object with name and act\(\), or a function of observation and mask",
        ),
        (Odd, TypeError, r"got <class .*; make one: Odd\(\)"),
        (Odd(3), ValueError, r"odd: act\(\) gave int64 \[\], expected one integer a row, \[1\]"),
        (Odd([3.0]), ValueError, r"odd: act\(\) gave float64 \[1\], expected one integer"),
        (lambda observation, mask: None, ValueError, r"<lambda>: act\(\) gave object \[1\], expected one integer"),
    ],
)
def test_what_ask_refuses(policy, error, text):
    env = bidzoo.make(BRIDGE)
    env.reset(seed=1)
    with pytest.raises(error, match=text):
        env.ask(policy)


@pytest.mark.parametrize("policy", [agents.make("cfr"), agents.make("random"), lambda observation, mask: 0])
def test_at_the_end_nobody_is_asked(policy):
    """The loop that forgets ``step(None)`` is told so, and not that the agent did something wrong."""
    env = bidzoo.make("comm_v0")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"comm_v0.*: board 0 is over: step\(None\) for each agent, or reset\(\)"):
        for _ in env.agent_iter():
            env.step(env.ask(policy))


def test_ask_leaves_the_faults_of_a_policy_alone():
    class Slip(Odd):
        def act(self, views, legal, rng):
            return self.anser

    env = bidzoo.make(BRIDGE)
    env.reset(seed=1)
    with pytest.raises(AttributeError, match="anser"):
        env.ask(Slip(0))


def test_ask_takes_a_function():
    def last(observation, mask):
        return np.flatnonzero(mask)[-1] + 0 * observation.sum()

    env = bidzoo.make("minibridge_v0")
    env.reset(seed=5)
    while not any(env.terminations.values()):
        env.step(env.ask(last))
    assert list(env.rewards.values()) == match.play(env.game, [last, last], [0], seed=5).reward[0].tolist()


@pytest.mark.parametrize("make", [bidzoo.make, partial(gymnasium.make, partner="random")])
def test_render_without_a_mode_says_so(make):
    env = make("comm_v0" if make is bidzoo.make else "bidzoo/Comm-v0")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


def test_objects_say_what_they_are():
    game = bidzoo.make_game("minibridge_v0", size=3)
    made = match.duplicate(bridge(), "sayc", "pass", [0, 1])
    for thing, text in [
        (deals.packaged("test"), "<DealSet of 5,000 deals, 5,000 solved>"),
        (bidzoo.make("minibridge_v0", size=3), "<AEC environment minibridge_v0(size=3): 2 players, 7 actions, "),
        (game, "<minibridge_v0(size=3): 2 players, 7 actions, observation history>"),
        (game.encoder, "<Encoder history: 20 entries>"),
        (game.encoder.layout, "<Layout of 20 entries: player 2, type 4, pass 2, bids 12>"),
        (bidzoo.make_vec("minibridge_v0", 8, size=3), "<Batch of 8 tables of minibridge_v0(size=3)>"),
        (agents.make("rb", player="wrp"), "<SpadesPolicy rb+wrp>"),
        (agents.make("learned-search"), "<SpadesPolicy learned+learned-search>"),
        (agents.make("sl", temperature=1.0), "<sl: packaged weights, temperature 1.0>"),
        (agents.make("cfr", seed=2), "<cfr: seed 2, solved nothing yet>"),
        (single_agent(BRIDGE, opponents="sayc"), f"<{BRIDGE}: the learner is player_0 (North); player_1 (East) sayc, "),
        (TextTable(bridge(), ["South"]), f"<a table of {BRIDGE} in words, for player_2 (South)>"),
        (match.play(game, ["random"] * 2, []), "<Episodes of 0 boards>"),
        (made, f"<Match of 2 boards: {made.imps.sum():+d} IMPs, {made.estimate} a board>"),
        (match.play(game, ["random"] * 2, [0]), "<Episodes of 1 boards, mean rewards ["),
    ]:
        assert repr(thing).startswith(text)


def test_names_that_are_there_again_are_told_apart():
    assert told_apart(["a", "b", "a", "a"]) == ["a", "b", "a 2", "a 3"]
    assert told_apart(["a", "a 2", "a"]) == ["a", "a 2", "a 3"]
    assert told_apart(["a", "a", "a 2"]) == ["a", "a 2", "a 2 2"]
    assert len(set(told_apart(["a"] * 3000))) == 3000


def test_batches_take_no_seed_as_gymnasium_does():
    batch = bidzoo.make_vec(BRIDGE, 2)
    first = batch.reset(seed=None)[0].copy()
    np.testing.assert_array_equal(first, batch.reset(seed=0)[0])


def test_an_agent_in_a_module_is_no_language_model(tmp_path, monkeypatch):
    """Whatever the module is called."""
    from bidzoo.cli.options import workers_beside

    assert workers_beside(["my_openai:Agent", "x=ledger_agents:Best", "runs/openai.safetensors"], 3) == 3
    with pytest.raises(ValueError, match="a language model plays in one process"):
        workers_beside(["sayc", "mine=openai:gpt"], 3)


def test_after_an_illegal_move_that_ends_the_episode_nobody_is_to_be_asked():
    env = bidzoo.make(BRIDGE)
    env.reset(seed=0)
    env.step(1)  # a double before any bid
    with pytest.raises(ValueError, match=r"board 0 is over: step\(None\)"):
        env.ask(agents.make("sayc"))


def test_a_deal_twice_in_a_set_is_one_deal_whoever_asks():
    game = bridge()
    deals = game.deals
    twice = deals._replace(**{name: np.concatenate([array[:3], array[:3]]) for name, array in deals._asdict().items()})
    doubled = bidzoo.make_game(BRIDGE, deals=twice, shuffle=False, augment=False)
    whole = doubled.deal_numbers(np.arange(6)).tolist()
    assert whole == [0, 1, 2, 0, 1, 2] == [*doubled.deal_numbers(np.arange(3)), *doubled.deal_numbers(np.arange(3, 6))]


def test_a_hand_of_a_joker_deck_is_written_in_its_cards():
    game = bidzoo.make_game("spades_v0", deck="jokers")
    states, _ = game.start(0)
    for player in range(4):
        view = game.view_of(states, np.array([player]))[0]
        assert game.private_text(view).split()[0] in game.text(states[0])


FORMS = {  # what each form of a game does with a seed, and shows then
    "bidzoo.make": lambda seed: [seen(seed).observe("player_0")["observation"]],
    "make_vec": lambda seed: [bidzoo.make_vec(BRIDGE, 3).reset(seed=seed)[0]],
    "gymnasium.make": lambda seed: [gymnasium.make("bidzoo/BridgeBidding-v0").reset(seed=seed)[0]],
    "gymnasium.make_vec": lambda seed: [gymnasium.make_vec("bidzoo/BridgeBidding-v0", num_envs=3).reset(seed=seed)[0]],
    "a text table": lambda seed: [TextTable(bridge(), [0]).reset(seed=seed).question],
    "a game": lambda seed: [bridge().start(0, seed)[0].tobytes()],
    "a match": lambda seed: [match.play(bridge(), ["pass"] * 4, [0, 1], seed=seed).reward],
}


@pytest.mark.parametrize("form", FORMS)
def test_seeds_are_one_kind_of_number_in_every_form(form):
    for seed in (-1, 2**63, 2**64 - 1, 1.0, "1", True, b"1", [1, 2]):
        if (form, type(seed)) == ("gymnasium.make_vec", list):  # whose first one counts
            continue
        with pytest.raises(ValueError, match=r"seed .*: expected an integer from 0 to"):
            FORMS[form](seed)
    for seed in (0, 3, 2**63 - 1):
        for kind in (np.int64, np.uint64):
            np.testing.assert_array_equal(FORMS[form](kind(seed)), FORMS[form](seed))

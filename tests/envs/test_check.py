"""Slips in the rules of a game of one's own: each is named, before compiled code can run into it."""

import numpy as np
import pytest

import bidzoo
from bidzoo import registry
from bidzoo.agents.policy import Uniform
from bidzoo.agents.tabular.exact import solve
from bidzoo.benchmarks import match
from bidzoo.core.kernels import row
from bidzoo.core.layout import Field, Layout
from bidzoo.envs import check
from bidzoo.envs.game import Encoder
from bidzoo.envs.signalling.compiled import compile_game
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import MAX_TURNS, OVER
from bidzoo.wrappers.batch import Batch

# ---- a right game: a word of three, then a guess of ``size`` numbers ------------------------------


@row
def legal_row(state, out):
    choices = 3 if state.length == 0 else state.extent
    for action in range(len(out)):
        out[action] = 1 if action < choices else 0


@row
def act_row(state, action):
    state.history[state.length] = action
    state.length += 1
    state.turn = 1 if state.length == 1 else OVER


@row
def reward_row(state, x, y):
    return float(int(state.extent) - 1 - abs(int(state.history[1]) - x))


@row
def history_row(state, player, out):
    if state.length > 0:
        out[int(state.history[0])] = 1
    if state.length > 1:
        out[3 + int(state.history[1])] = 1


RIGHT = Rules(legal_row, act_row, reward_row, history_row)


def guess(given=RIGHT, about=(), name="guess_v0", **sizes):
    """A class like Hint, with other rules or sizes, and other attributes."""
    declared = {"types": (5, 1), "actions": 5, "turns": 2, "rewards": (0.0, 4.0), "size": 5} | sizes

    class Guess(SignallingGame):
        """A word, then a guess."""

        id = name
        rules = given
        type_word = "number"

        def __init__(self, observation=None):
            types, actions, turns, rewards, size = declared.values()
            super().__init__(size, types, actions, turns, rewards, observation)

        def history_fields(self, own, other):
            return Field("word", 3, "the word said"), Field("guess", 5, "the guess")

        def action_text(self, action):
            return str(action)

        def action_number(self, text):
            return int(text)

        def result_text(self, state, reward):
            return "told"

    for attribute, value in dict(about).items():
        setattr(Guess, attribute, value)
    return Guess


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """A game is checked anew in every test."""
    monkeypatch.setattr(registry, "_checked", set())


# ---- slips in rules -----------------------------------------------------------------------------


@row
def never_over(state, action):
    state.history[state.length] = action
    state.length += 1
    state.turn = 1 - state.turn


@row
def owns_field(state, action):
    state.foo = 1
    act_row(state, action)


@row
def reads_field(state, action):
    state.length += state.foo


@row
def third_player(state, action):
    act_row(state, action)
    if state.turn == 1:
        state.turn = 3


@row
def far_player(state, action):
    act_row(state, action)
    if state.turn == 1:
        state.turn = -2


@row
def by_chance(state, action):
    act_row(state, action)
    if state.turn == 1 and np.random.random() < 0.5:
        state.turn = 0


@row
def act_by_type(state, action):
    act_row(state, action)
    if state.types[0] == 0:
        state.turn = OVER


@row
def forgets_length(state, action):
    state.history[state.length] = action
    state.turn = 1 if state.turn == 0 else OVER


@row
def forgets_history(state, action):
    state.length += 1
    state.turn = 1 if state.length == 1 else OVER


@row
def beyond_history(state, action):
    act_row(state, action)
    state.history[state.length + 99] = action


@row
def nothing_legal(state, out):
    out[:] = 0


@row
def nothing_legal_then(state, out):
    legal_row(state, out)
    if state.length == 1:
        out[:] = 0


@row
def some_written(state, out):
    for action in range(3 if state.length == 0 else 5):
        out[action] = 1


@row
def legal_by_type(state, out):
    legal_row(state, out)
    if state.types[0] == 4 and state.length == 0:
        out[2] = 0


@row
def many_legal(state, out):
    out[:] = 2


@row
def legal_moves(state, out):
    legal_row(state, out)
    state.bid = 3


@row
def beyond_words(state, player, out):
    for turn in range(state.length):
        out[5 * turn + int(state.history[turn])] = 1


@row
def counts_words(state, player, out):
    if state.length > 1:
        out[0] = 2


@row
def history_of_type(state, player, out):
    if state.types[0] == 0:
        out[0] = 1


@row
def too_much(state, x, y):
    return 1000.0


@row
def too_much_for_the_last(state, x, y):
    return 1000.0 if x == 4 else 0.0


@row
def no_number(state, x, y):
    return float("nan")


@row
def no_key(state, x, y):
    return {3: 1.0}[2]


def plain(state, action):
    act_row(state, action)


@row
def short(state, player):
    pass


def with_rule(name="guess_v0", **rules):
    """What is compiled has a name of its own: numba keeps it by that and by the text of this file."""
    return guess(RIGHT._replace(**rules), name=name)


SLIPS = {
    "never_over": (with_rule(act_row=never_over), "goes on, expected its end within max_turns 2"),
    "beyond_history": (
        with_rule(act_row=beyond_history),
        r"beyond_history \(test_check.py, line \d+\): index 100",
    ),
    "beyond_words": (with_rule(history_row=beyond_words), r"beyond_words \(.*, line \d+\): index \d is out of bounds"),
    "owns_field": (with_rule(act_row=owns_field), "a state has no field 'foo'; its fields: board, game, extent"),
    "reads_field": (with_rule(act_row=reads_field), "a state has no field 'foo'; its fields: board, game, extent"),
    "nothing_legal": (with_rule(legal_row=nothing_legal), "before the first action: player_0 has no legal action"),
    "nothing_legal_then": (with_rule(legal_row=nothing_legal_then), "after actions 0: player_1 has no legal action"),
    "some_written": (with_rule(legal_row=some_written), "mask: entry 3 is not written, expected 0 or 1"),
    "many_legal": (with_rule(legal_row=many_legal), "mask: entry 0 is 2, expected 0 or 1"),
    "legal_by_type": (with_rule(legal_row=legal_by_type), "legal actions of turn 0 depend on the deal"),
    "legal_moves": (
        with_rule(legal_row=legal_moves),
        "legal_row of turn 0 changes the state, expected act_row alone to",
    ),
    "third_player": (with_rule(act_row=third_player), "turn is that of player 3, expected 0 ... 1, or -1 at the end"),
    "far_player": (with_rule(act_row=far_player), "turn is that of player -2, expected 0"),
    "by_chance": (with_rule(act_row=by_chance), "two runs of one seed differ in turn of the state|goes on"),
    "act_by_type": (with_rule(act_row=act_by_type), "depends on the deal"),
    "forgets_length": (with_rule(act_row=forgets_length), "length 0, expected 1, the actions so far"),
    "forgets_history": (with_rule(act_row=forgets_history), r"history \[0\], expected the actions so far"),
    "counts_words": (with_rule(history_row=counts_words), "observation of player_0: entry 7 is 2, expected 0 or 1"),
    "history_of_type": (with_rule(history_row=history_of_type), "a view has no field 'types'; its fields: board"),
    "too_much": (with_rule(reward_row=too_much), "reward 1000.0, expected 0 ... 4, the game's reward_range"),
    "too_much_for_the_last": (
        with_rule(reward_row=too_much_for_the_last),
        "reward 1000.0 .*expected 0 ... 4, the game's reward_range",
    ),
    "no_number": (with_rule(reward_row=no_number), "reward nan, expected 0 ... 4"),
    "no_key": (with_rule(reward_row=no_key), r"no_key \(test_check.py, line \d+\): KeyError: 2"),
    "turns": (guess(turns=1), "goes on, expected its end within max_turns 1"),
    "text": (guess(about={"action_number": lambda self, text: 0}), r"action_number\('2'\) is 0, expected 2"),
    "words": (guess(about={"result_text": lambda self, state, reward: 1 / 0}), "ZeroDivisionError"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_named(slip):
    kind, words = SLIPS[slip]
    with pytest.raises(ValueError, match=rf"^guess_v0\(.*\): board \d of seed 0, .*({words})"):
        bidzoo.check_game(kind())


@pytest.mark.filterwarnings("ignore:guess_v0 is not registered with OpenSpiel")
@pytest.mark.parametrize("slip", SLIPS)
def test_no_form_is_made_of_it(slip):
    """Once registered: nothing compiled has run when the error comes."""
    kind, words = SLIPS[slip]
    bidzoo.register_game(kind)
    for make in (bidzoo.make, bidzoo.make_game, lambda name: bidzoo.make_vec(name, 3)):
        with pytest.raises(ValueError, match=words):
            make("guess")
    with pytest.raises(ValueError, match=words):
        bidzoo.check_game("guess")


# ---- slips in what is declared --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"types": (0, 1)}, r"num_types \(0, 1\): expected two integers from 1, one a player"),
        ({"types": (4, 1, 1)}, r"num_types \(4, 1, 1\): expected two"),
        ({"types": 4}, "num_types 4: expected two"),
        ({"types": (2.0, 1)}, r"num_types \(2.0, 1\): expected two"),
        ({"rewards": (5.0, 0.0)}, r"reward_range \(5.0, 0.0\): expected two finite numbers, the lower one first"),
        ({"rewards": (0.0, float("nan"))}, r"reward_range \(0.0, nan\): expected two finite"),
        ({"rewards": (0.0, float("inf"))}, r"reward_range \(0.0, inf\): expected two finite"),
        ({"rewards": (0.0, 1e300)}, r"reward_range \(0.0, 1e\+300\): expected two finite"),
        ({"rewards": 4.0}, "reward_range 4.0: expected two finite"),
        ({"turns": 0}, "max_turns 0: expected an integer from 1"),
        ({"turns": MAX_TURNS + 1}, "max_turns 65: expected an integer from 1 to 64"),
        ({"turns": 2.0}, "max_turns 2.0: expected an integer from 1"),
        ({"actions": 0}, "num_actions 0: expected an integer from 1"),
        ({"actions": 40000}, "num_actions 40000: expected an integer from 1 to 32768"),
        ({"size": -1}, "size -1: expected an integer from 0"),
    ],
)
def test_what_is_declared(sizes, words):
    with pytest.raises(ValueError, match=f"^guess_v0: {words}"):
        guess(**sizes)()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (RIGHT._replace(act_row=plain), "rules.act_row <function plain .*: expected a kernel, a function under @row"),
        (
            RIGHT._replace(history_row=short),
            r"rules.history_row takes \(state, player\): expected as many as \(state, p",
        ),
        (tuple(RIGHT), r"rules \(.*: expected Rules\(legal_row, act_row, reward_row, history_row\)"),
        (None, "rules None: expected Rules"),
    ],
)
def test_what_is_no_rule(rules, words):
    with pytest.raises(TypeError, match=f"^guess_v0: {words}"):
        guess(rules)


class Pairs(SignallingGame):
    """A guess of ``2 * pairs`` numbers, whose record holds the number of pairs or, by mistake, of numbers."""

    id, type_word, size_option = "pairs_v0", "number", "pairs"
    rules = RIGHT

    def __init__(self, pairs=3, observation=None):
        super().__init__(2 * pairs, (2 * pairs, 1), 2 * pairs, 2, (0.0, 2.0 * pairs), observation)

    history_fields = lambda self, own, other: (Field("word", 3, "word"), Field("guess", self.size, "guess"))  # noqa: E731
    action_text = lambda self, action: str(action)  # noqa: E731
    action_number = lambda self, text: int(text)  # noqa: E731
    result_text = lambda self, state, reward: "told"  # noqa: E731


def test_a_small_game_has_one_option_at_most():
    """Records and agents know it by its size: two games that differ in anything else would be taken for one."""

    def of_two(self, cards=3, signals=2, observation=None):
        """Its size is what ``Pairs`` would make of it."""

    for options, named, words in (
        ({"__init__": of_two}, "pairs", "options cards, signals, expected pairs: a small game has one at most"),
        ({"__init__": of_two}, "", "options cards, signals, expected none"),
        ({}, "size", "options pairs, expected size"),
    ):
        with pytest.raises(ValueError, match=f"game 'twos_v0': {words}"):
            type("Twos", (Pairs,), {"id": "twos_v0", "size_option": named, **options})


def test_a_record_that_makes_another_game():
    words = (
        r"size_option 'pairs': of size 6 it makes a game of size 12, types \(12, 1\) and 12 actions, expected this one"
    )
    with pytest.raises(ValueError, match=words):
        bidzoo.check_game(Pairs())


# ---- right games ----------------------------------------------------------------------------------


def test_a_right_game():
    bidzoo.check_game(guess()())
    bidzoo.register_game(guess())
    bidzoo.check_game(bidzoo.make("guess"), tables=3, seed=5)


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        *((name, {"max_rounds": 1} if name == "spades_v0" else {}) for name in registry.GAMES),
        ("comm_v0", {"length": 7}),
        ("minibridge_v0", {"size": 31}),
        ("simple_bidding_v0", {"size": 300}),
        ("bridge_bidding_v0", {"competition": False}),
        ("spades_v0", {"phase": "bidding", "episode": "round"}),
    ],
)
def test_packaged_games(env_id, options):
    bidzoo.check_game(env_id, tables=4 if "bridge" not in env_id and "spades" not in env_id else 1, **options)


def test_what_is_no_game():
    with pytest.raises(TypeError, match="3 is no game; expected one, an environment or a name"):
        bidzoo.check_game(3)
    with pytest.raises(TypeError, match="comm_v0 has no option 'size'"):
        bidzoo.check_game("comm", size=3)


@pytest.mark.parametrize("wrong", [{"tables": 0}, {"tables": 1.5}, {"seed": -1}])
def test_what_cannot_be_played(wrong):
    with pytest.raises(ValueError, match="expected an integer from"):
        bidzoo.check_game("comm", **wrong)


def test_an_encoder_of_ones_own():
    one = Encoder("one", Layout((Field("one", 1, "one"),)), lambda views, out: out.fill(1), str)
    two = Encoder("two", one.layout, lambda views, out: out.fill(2), str)
    bidzoo.check_game(bidzoo.make("comm", observation=one))
    with pytest.raises(ValueError, match="the observation of player_0: entry 0 is 2, expected 0 or 1"):
        bidzoo.check_game("comm", observation=two)


@pytest.mark.parametrize("env_id", ["comm", "bridge_bidding"])
def test_an_encoder_that_fills_some_rows(env_id):
    """Of several views; a single one it encodes rightly."""

    def fill(views, out):
        out[0] = 1

    first = Encoder("first", Layout((Field("one", 1, "one"),)), fill, str)
    words = "encoder 'first': the observation of player_1: entry 0 is not written with .* in one call, 1 by itself"
    with pytest.raises(ValueError, match=words):
        bidzoo.check_game(env_id, observation=first)


def test_fields_of_one_name():
    with pytest.raises(ValueError, match="two fields of a layout are called 'one'"):
        Layout((Field("one", 1, "one"), Field("two", 1, "two"), Field("one", 2, "another")))


def test_utility_and_partners_that_are_none():
    with pytest.raises(ValueError, match=r"guess_v0\(.*\): utility 'identicl'; did you mean 'identical'"):
        bidzoo.check_game(guess(about={"utility": "identicl"})())
    with pytest.raises(ValueError, match=r"allies\(0\) is \(1,\), expected it and its partners"):
        bidzoo.check_game(guess(about={"allies": lambda self, player: (1,)})())


def test_a_game_is_looked_at_once(monkeypatch):
    seen = []
    monkeypatch.setattr(check, "check_quickly", seen.append)
    bidzoo.register_game(guess())
    for _ in range(2):
        bidzoo.make("guess")
        bidzoo.make_game("comm")
    assert len(seen) == 1


# ---- games that no checker has seen -------------------------------------------------------------


def test_solvers_and_batches_name_a_slip():
    """Rules that are called without a name pass no checker."""
    stuck = with_rule("stuck_v0", legal_row=nothing_legal_then)()
    with pytest.raises(ValueError, match=r"no legal action after actions \[0\]; bidzoo.check_game says more"):
        compile_game(stuck)
    batch = Batch(stuck, 2)
    batch.reset()
    batch.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=r"player_1 has no legal action at table 0 \(board 0\)"):
        batch.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="player_1 has no legal action"):
        match.play(stuck, [Uniform()] * 2, np.arange(3))
    with pytest.raises(ValueError, match=r"turn 3, which is no player, after actions \[0\]"):
        compile_game(with_rule("third_v0", act_row=third_player)())
    with pytest.raises(ValueError, match=r"no end within max_turns 2 after actions \[0, 0\]"):
        compile_game(with_rule("endless_v0", act_row=never_over)())
    with pytest.raises(ValueError, match="a reward is no finite number"):
        solve(compile_game(with_rule("nan_v0", reward_row=no_number)()))


def test_a_full_history_ends():
    """Instead of a write beyond it."""
    batch = Batch(with_rule("endless_v0", act_row=never_over)(), 1, autoreset=False)
    batch.reset()
    for _ in range(MAX_TURNS):
        batch.step(np.zeros(1, np.int64))
    assert batch.terminated[0] and batch.states["length"][0] == MAX_TURNS


class Reads:
    """An agent that raises ``problem`` when it is asked."""

    name = "reads"

    def __init__(self, problem):
        self.problem = problem

    def act(self, views, legal, rng):
        raise self.problem


@pytest.mark.parametrize("problem", [KeyError("bidding"), AttributeError("table")])
def test_errors_of_an_agents_own_are_left_to_it(problem):
    with pytest.raises(type(problem)) as caught:
        match.play(guess()(), [Reads(problem)] * 2, np.arange(3))
    assert caught.value is problem
    env = bidzoo.make("comm")
    env.reset(seed=1)
    with pytest.raises(type(problem)):
        env.ask(Reads(problem))


def test_rules_that_read_what_is_not_there_are_to_blame():
    game = with_rule("owns_v0", act_row=owns_field)()
    with pytest.raises(ValueError, match=r"owns_field \(.*: a state has no field 'foo'"):
        match.play(game, [bidzoo.agents.make("exact")] * 2, np.arange(3))

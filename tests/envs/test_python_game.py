"""A game in plain Python: Kuhn poker goes as OpenSpiel's does, in every API, and slips are named."""

import pickle
import sys
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test

import bidzoo
from bidzoo import registry
from bidzoo.benchmarks import match, records
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Encoder
from bidzoo.envs.python_game import PythonGame
from bidzoo.wrappers.batch import Batch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from kuhn_poker import KuhnPoker


@pytest.fixture(autouse=True)
def registered():
    bidzoo.register_game(KuhnPoker)


def boards_of(game):
    """A board of every deal."""
    players = game.num_players
    boards = {}
    for board in range(3000):
        boards.setdefault(tuple(game.position(game.start(board)[0][0]).cards.tolist()), board)
    assert {*boards} == {*permutations(range(players + 1), players)}
    return boards


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_line_goes_as_in_openspiel(players):
    pyspiel = pytest.importorskip("pyspiel")
    game, theirs = PythonGame(KuhnPoker, players=players), pyspiel.load_game(f"kuhn_poker(players={players})")
    assert (game.max_turns, game.num_actions) == (theirs.max_game_length(), theirs.num_distinct_actions())
    assert game.reward_range == (theirs.min_utility(), theirs.max_utility())
    for cards, board in boards_of(game).items():
        root = theirs.new_initial_state()
        for card in cards:
            root.apply_action(card)
        ours = game.start(board)
        lines = [(ours, root)]
        while lines:
            (states, out), theirs_now = lines.pop()
            if theirs_now.is_terminal():
                assert out.over[0] and out.reward[0].tolist() == theirs_now.returns()
                continue
            assert out.player[0] == theirs_now.current_player()
            assert np.flatnonzero(out.mask[0]).tolist() == theirs_now.legal_actions()
            for action in theirs_now.legal_actions():
                copy, buffers = states.copy(), game.buffers(1)
                game.step(copy, np.array([action]), 0, buffers)
                lines.append(((copy, buffers), theirs_now.child(action)))


def test_the_equilibrium_of_two_is_worth_an_eighteenth():
    """Kuhn 1950, with alpha 1/3: what player_0 loses, exactly."""
    third = Fraction(1, 3)
    bets = {  # chance of a bet by card and history
        "": (third, Fraction(0), Fraction(1)),
        "P": (third, Fraction(0), Fraction(1)),
        "B": (Fraction(0), third, Fraction(1)),
        "PB": (Fraction(0), 2 * third, Fraction(1)),
    }
    game = PythonGame(KuhnPoker, players=2)

    def value(states, out, history=""):
        if out.over[0]:
            return Fraction(int(out.reward[0, 0]))
        bet = bets[history][int(game.position(states[0]).cards[out.player[0]])]
        total = Fraction(0)
        for action, chance in ((0, 1 - bet), (1, bet)):
            copy, buffers = states.copy(), game.buffers(1)
            game.step(copy, np.array([action]), 0, buffers)
            total += chance * value(copy, buffers, history + "PB"[action])
        return total

    deals = boards_of(game)
    assert sum(value(*game.start(board)) for board in deals.values()) / len(deals) == Fraction(-1, 18)


def test_it_is_in_every_api():
    bidzoo.check_game("kuhn_poker")
    env = bidzoo.make("kuhn_poker", players=3, render_mode="ansi")
    api_test(env, num_cycles=100)
    env.reset(seed=1)
    env = pickle.loads(pickle.dumps(env))
    while not any(env.terminations.values()):
        env.step(1)
    assert env.render().splitlines()[1] == "bet bet bet" and sum(env.rewards.values()) == 0
    learner = gymnasium.make("bidzoo/KuhnPoker-v0", players=2, opponents="random", learner=1)
    observation, info = learner.reset(seed=0)
    assert observation.sum() == 3 and info["action_mask"].all()
    with pytest.raises(TypeError, match="unexpected keyword argument 'player'; did you mean 'players'"):
        gymnasium.make("bidzoo/KuhnPoker-v0", player=2)
    game = bidzoo.make_game("kuhn_poker")
    played = match.pairings(game, "random", "random", range(60))
    assert len(played) == len(match.seatings(game)) == 6
    assert [row["agent"] for row in match.summary(game, ("a", "b"), played).rows] == ["a", "b"]
    assert all(len(records.replay(r)) == 1 for r in records.of_pairings(game, {}, ("random", "random"), played))


def test_a_batch_plays_the_boards_of_one_table():
    game, rng = bidzoo.make_game("kuhn_poker"), np.random.default_rng(0)
    batch = bidzoo.make_vec("kuhn_poker", 4)
    batch.reset(seed=7)
    single = [game.start(board, 7) for board in range(4)]
    for _ in range(30):
        actions = rng.integers(0, 2, 4)
        before = batch.boards
        batch.step(actions)
        for b, (states, out) in enumerate(single):
            game.step(states, np.array([int(actions[b])]), 0, out)
            assert (out.reward[0] == batch.reward[b]).all() and out.over[0] == batch.terminated[b]
            if out.over[0]:
                single[b] = game.start(int(before[b]) + 4, 7)
            assert (single[b][1].observation[0] == batch.observation[b]).all()


def test_a_game_that_is_over_shows_nothing():
    """As in the games with kernels: no observation, no action, no player, and an empty view."""
    batch = Batch(bidzoo.make_game("kuhn_poker"), 3, autoreset=False)
    batch.reset(seed=7)
    while not batch.terminated.all():
        batch.step(np.where(batch.player >= 0, 1, -1))
    assert (batch.player == -1).all() and not batch.action_mask.any() and not batch.observation.any()
    assert not batch.views()["observation"].any()


def test_the_global_state_has_what_every_player_sees():
    game = PythonGame(KuhnPoker, players=3)
    for actions in ([], [1], [0, 1, 1, 0]):
        states, out = game.start(5)
        for action in actions:
            game.step(states, np.array([action]), 0, out)
        expected = [np.arange(3) == states["turn"][0]]
        for player in range(3):
            seen = np.zeros_like(out.observation[0])
            game.observe(states, np.array([0]), player, seen[None])
            assert seen[3:].any() and seen[player] == 1
            expected.append(seen[3:])
        assert (game.state_encoder(states)[0] == np.concatenate(expected)).all()


def test_a_determinized_state_shows_the_player_the_same():
    game = PythonGame(KuhnPoker, players=3)
    states, out = game.start(5)
    game.step(states, np.array([1]), 0, out)
    view, keys, drawn = game.view_of(states, np.array([1])), Streams.at(0, np.arange(40)).keys, game.new(40)
    game.determinize(np.repeat(view, 40), keys, drawn)
    assert (game.view_of(drawn, np.ones(40, int))["observation"] == view["observation"]).all()
    hands = {tuple(game.position(state).cards) for state in drawn}
    assert len(hands) == 6 and len({hand[1] for hand in hands}) == 1


def test_a_position_that_no_legal_actions_lead_to_is_none():
    """Where what is legal depends on the deal, a deal is drawn again whose player could not have acted so."""

    class OnlyKings(KuhnPoker):
        id = "only_kings_v0"

        def legal(self):
            return [0, 1] if self.cards[self.player] == self.num_players else [0]

    game = PythonGame(OnlyKings)
    for board in range(40):
        states, _ = game.start(board)
        king = int(game.position(states[0]).cards[0]) == game.num_players
        states["history"][0, 0], states["length"] = 1, 1
        assert (game.position(states[0], legally=True) is not None) == king
        assert game.position(states[0]) is not None
        states["history"][0, :4], states["length"] = 0, 4  # one more than there are
        assert game.position(states[0], legally=True) is None


class Slip(KuhnPoker):
    id = "slip_v0"


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("actions", 3, "slip_v0: actions 3: expected a list of what to call them"),
        ("max_turns", 4.0, "slip_v0: max_turns 4.0: expected an integer from 1"),
        ("num_players", "2", "slip_v0: num_players '2': expected an integer from 1"),
    ],
)
def test_what_a_class_declares_is_named(name, wrong, message):
    class Other(Slip):
        def __init__(self):
            super().__init__()
            setattr(self, name, wrong)

    with pytest.raises(ValueError, match=message):
        PythonGame(Other)


def test_an_encoder_of_ones_own_goes_with_it():
    encoder = bidzoo.make_game("kuhn_poker").encoder
    mine = Encoder("mine", encoder.layout, encoder.kernel, encoder.explain)
    for env in (bidzoo.make("kuhn_poker", observation=mine), gymnasium.make("bidzoo/KuhnPoker-v0", observation=mine)):
        env.reset(seed=1)
        assert env.unwrapped.game.encoder.name == "mine"


@pytest.mark.filterwarnings("ignore:wrong_v0 is not registered with OpenSpiel")
def test_a_game_that_is_registered_is_checked_when_it_is_made():
    class Wrong(KuhnPoker):
        id = "wrong_v0"

        def reward(self):
            return [1] * self.num_players

    bidzoo.register_game(Wrong)
    try:
        with pytest.raises(ValueError, match="numbers that add up to 0"):
            bidzoo.make("wrong")
    finally:
        registry.NAMES.registered.pop("wrong_v0")


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("legal", lambda self: [2], "action 2, expected 0 ... 1"),
        ("legal", lambda self: [], "has no legal action"),
        (
            "legal",
            lambda self: np.ones(2, np.int8),
            r"gives array\(.*, expected numbers of actions, each once",
        ),
        ("legal", lambda self: [False, True], "expected numbers of actions, each once"),
        (
            "deal",
            lambda self, rng: setattr(self, "player", None),
            r"deal\(\) ends the game of board 0, expected",
        ),
        ("view", lambda self, player: {"cards": 1}, "feature 'cards'; did you mean 'card'"),
        ("view", lambda self, player: {"card": 4}, "card 4, expected 0 ... 3"),
        ("reward", lambda self: [1, 1, 1], "numbers that add up to 0"),
        ("act", lambda self, action: None, "goes on after 5 turns"),
        ("act", lambda self, action: setattr(self, "player", 7), "the turn is that of player 7"),
    ],
)
def test_slips_are_named(name, wrong, message):
    with pytest.raises(ValueError, match=message):
        bidzoo.check_game(PythonGame(type("Slip", (Slip,), {name: wrong})))


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"utility": "zero-sum"}, "slip_v0: utility 'zero-sum'; did you mean 'zero_sum'"),
        ({"utility": "Identical"}, "slip_v0: utility 'Identical'; did you mean 'identical'"),
        ({"partners": ((0, 1),)}, r"slip_v0: partners \(\(0, 1\),\): expected groups with each player 0 ... 2 once"),
        ({"partners": ((0, 1, 2, 3),)}, "expected groups with each player 0 ... 2 once"),
        ({"partners": ((0, 1), (1, 2))}, "expected groups with each player 0 ... 2 once"),
        ({"partners": (0, 1, 2)}, "expected groups with each player 0 ... 2 once"),
    ],
)
def test_what_is_declared(about, message):
    with pytest.raises(ValueError, match=message):
        PythonGame(type("Slip", (Slip,), about))


def test_partners_are_paid_alike():
    paid = {"partners": ((0, 2), (1,)), "reward_range": (-2, 2)}
    alike = PythonGame(type("Slip", (Slip,), {**paid, "reward": lambda self: [1, -2, 1]}))
    assert alike.allies(2) == (0, 2) and alike.allies(1) == (1,)
    bidzoo.check_game(alike)
    unlike = PythonGame(type("Slip", (Slip,), {**paid, "reward": lambda self: [1, -1, 0]}))
    with pytest.raises(ValueError, match=r"expected the same for players \(0, 2\), who are partners"):
        bidzoo.check_game(unlike)


def test_no_feature_takes_the_place_of_the_player():
    class Named(Slip):
        def __init__(self):
            super().__init__()
            self.features = {"player": 4}

    with pytest.raises(ValueError, match="slip_v0: feature 'player': every observation has one"):
        PythonGame(Named)


class AnyBegins(Slip):
    """Three calls; chance says who begins, which nobody is shown."""

    def deal(self, rng):
        super().deal(rng)
        self.player = self.first = int(rng.integers(3))

    def act(self, action):
        self.made.append(action)
        self.player = None if len(self.made) == 3 else (self.first + len(self.made)) % 3

    def reward(self):
        return [0, 0, 0]


class EndsByChance(AnyBegins):
    """It ends after one to three calls."""

    def deal(self, rng):
        super().deal(rng)
        self.length = int(rng.integers(1, 4))

    def act(self, action):
        super().act(action)
        self.player = self.player if len(self.made) < self.length else None

    def legal(self):
        return {0: [0, 1], 1: [0, 1], 2: [0, 1]}[self.player]


@pytest.mark.parametrize("rules", [AnyBegins, EndsByChance])
def test_a_determinized_state_has_the_same_player_to_act(rules):
    game = PythonGame(rules)
    bidzoo.check_game(game)
    for board in range(6):
        states, out = game.start(board)
        while True:
            view, keys, drawn = game.view_of(states, np.array([1])), Streams.at(0, np.arange(20)).keys, game.new(20)
            game.determinize(np.repeat(view, 20), keys, drawn)
            assert {game.position(state).player for state in drawn} == {None if out.over[0] else out.player[0]}
            if out.over[0]:
                break
            game.step(states, np.array([1]), 0, out)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="Bare lacks num_players, actions, max_turns, reward_range, features, legal"):
        PythonGame(type("Bare", (), {"id": "bare_v0", "deal": None}))

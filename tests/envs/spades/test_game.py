"""Spades as a game: a whole round written down, episodes and rewards, options, playing modules, text and picture."""

import pickle
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from bidzoo.agents.policy import Uniform
from bidzoo.core.streams import Streams
from bidzoo.envs import spades_v0
from bidzoo.envs.spades.game import PHASES, Spades
from bidzoo.envs.spades.players import PolicyPlayer, playing_module
from bidzoo.envs.spades.state import BIDDING, NUM_ACTIONS, OVER, PLAY

DEAL = "N:AQ5.K74.J83.Q942 T83.AJ9.KT5.J765 KJ7.Q62.A964.AT3 9642.T853.Q72.K8"
BIDS = "3 4 nil 5"  # E S W N
TRICKS = """
E AH 2H 3H 4H   E JH QH TH KH   N 2C 5C TC KC
W 2D 3D TD AD   S AC 8C 4C 6C   S 3C 2S 9C 7C
W 7D 8D KD 4D   E 9H 6H 5H 7H   E 3S 7S 4S QS
N AS 8S JS 6S   N 5S TS KS 9S   S 6D QD JD 5D
W 8H QC JC 9D
"""
GOLDEN = """\
Spades (partnership, standard deck), board 1, over after 1 round
score: N/S -90 (0 bags), E/W -66 (4 bags)
last round: N/S -90, E/W -66
N  ...                  bid 5         won 3
E  ...                  bid 3         won 3
S  ...                  bid 4         won 3
W  ...                  bid nil       won 4
trick  1: E AH, S 2H, W 3H, N 4H
trick  2: E JH, S QH, W TH, N KH
trick  3: N 2C, E 5C, S TC, W KC
trick  4: W 2D, N 3D, E TD, S AD
trick  5: S AC, W 8C, N 4C, E 6C
trick  6: S 3C, W 2S, N 9C, E 7C
trick  7: W 7D, N 8D, E KD, S 4D
trick  8: E 9H, S 6H, W 5H, N 7H
trick  9: E 3S, S 7S, W 4S, N QS
trick 10: N AS, E 8S, S JS, W 6S
trick 11: N 5S, E TS, S KS, W 9S
trick 12: S 6D, W QD, N JD, E 5D
trick 13: W 8H, N QC, E JC, S 9D
E/W won"""


def start(game, boards=1, seed=1):
    states, out = game.new(boards), game.buffers(boards)
    game.begin(states, np.arange(boards), seed, out)
    return states, out


def play_random(game, states, out, seed=1, until=None):
    """Uniform legal actions at all tables until every one is over."""
    policy = Uniform()
    turn = 0
    while out.mask.any() and (until is None or turn < until):
        streams = Streams.at(seed, states["board"].astype(np.int64), turn)
        actions = policy.act(None, out.mask, streams)
        game.step(states, np.where(out.mask.any(1), actions, -1), seed, out, 0)
        turn += 1
    return turn


def golden(game):
    states, out = start(game)
    game.fix(states, game.options({"deal": DEAL, "dealer": "N"}), out)
    for text in BIDS.split():
        game.step(states, np.array([game.action_number(text)]), 0, out)
    for word in TRICKS.split():
        if word in tuple("NESW"):
            assert out.player[0] == "NESW".index(word)
        else:
            action = game.action_number(word)
            assert out.mask[0, action], f"{word} at\n{game.text(states[0])}"
            game.step(states, np.array([action]), 0, out)
    return states, out


def test_golden_round():
    """N/S bid 9 and take 6; E makes 3 exactly, beside a nil that takes 4 tricks (bags)."""
    game = Spades(phase="round", reward="points")
    states, out = golden(game)
    assert out.over[0] and game.text(states[0]) == GOLDEN
    assert list(out.reward[0]) == [-24, 24, -24, 24]


# ---- episodes ----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["partnership", "cutthroat", "mirror", "whiz", "suicide"])
@pytest.mark.parametrize("deck", ["standard", "jokers", "jokers_deuces"])
def test_whole_games_end_in_time_and_in_balance(variant, deck):
    game = Spades(variant=variant, deck=deck, win_goal=150, lose_goal=-300, max_rounds=5)
    states, out = start(game, 24)
    turns = play_random(game, states, out)
    assert turns <= game.max_turns and (states["phase"] == OVER).all()
    sides = 4 if variant == "cutthroat" else 2
    scores = states["scores"][:, :sides]
    goal = ((scores >= 150) | (scores <= -300)).any(1)
    assert (goal | (states["rounds"] == 5)).all() and goal.any()
    best = scores.max(1)
    decided = (scores == best[:, None]).sum(1) == 1
    assert (states["winner"] == np.where(decided, scores.argmax(1), -1)).all()
    assert (scores % 10 == states["bags"][:, :sides]).all(), "bags are the units digit"


def test_rewards_at_the_end_only():
    game = Spades(win_goal=100, lose_goal=-100, max_rounds=3)
    states, out = start(game, 32)
    ended = np.zeros(32, bool)
    for turn in range(game.max_turns):
        actions = Uniform().act(None, out.mask, Streams.at(3, states["board"].astype(np.int64), turn))
        game.step(states, np.where(ended, -1, actions), 1, out, 0)
        assert not out.reward[~out.over].any()
        assert (np.abs(out.reward[out.over].sum(1)) < 1e-6).all()
        assert (out.over & ended).sum() == 0
        ended |= out.over
    assert ended.all()


def test_points_of_a_round_and_of_a_game():
    one = Spades(phase="round", reward="points")
    states, out = start(one, 16)
    play_random(one, states, out, until=55)
    assert not (states["phase"] == OVER).any()
    play_random(one, states, out, until=1)
    gains = states["gains"].astype(np.float32)
    assert (out.reward[:, 0] == gains[:, 0] - gains[:, 1]).all() and (out.reward[:, 1] == -out.reward[:, 0]).all()
    low, high = one.reward_range
    assert (out.reward >= low).all() and (out.reward <= high).all()


def test_cutthroat_points_sum_to_zero():
    game = Spades(phase="round", variant="cutthroat", reward="points")
    states, out = start(game, 16)
    play_random(game, states, out)
    assert out.reward.any() and np.abs(out.reward.sum(1)).max() < 1e-3


def test_a_finished_table_is_dealt_again_by_stride():
    game = Spades(phase="round")
    states, out = start(game, 8)
    play_random(game, states, out, until=55)
    actions = Uniform().act(None, out.mask, Streams.at(1, states["board"].astype(np.int64), 0))
    game.step(states, actions, 1, out, 8)
    assert out.over.all() and list(states["board"]) == list(range(8, 16)) and (states["phase"] == BIDDING).all()
    fresh, shown = game.new(8), game.buffers(8)
    game.begin(fresh, np.arange(8, 16), 1, shown)
    assert states.tobytes() == fresh.tobytes() and (shown.observation == out.observation).all()


def test_rows_choose_the_tables_that_begin():
    game = Spades()
    states, out = start(game, 4)
    before = states.copy()
    game.begin(states, np.arange(10, 14), 1, out, np.array([True, False, True, False]))
    assert list(states["board"]) == [10, 1, 12, 3] and (states[[1, 3]] == before[[1, 3]]).all()


def test_dealers():
    """The first dealer is board % 4, the deal passes clockwise, and each round has its own cards."""
    game = Spades(phase="bidding", player="random", episode="game", max_rounds=9)
    states, out = start(game, 4)
    assert list(states["dealer"]) == [0, 1, 2, 3] and list(out.player) == [1, 2, 3, 0]
    deals = set()
    for rounds in range(8):
        assert (states["rounds"] == rounds).all() and list(states["dealer"]) == [(d + rounds) % 4 for d in range(4)]
        deals |= {hands.tobytes() for hands in states["hands"]}
        for _ in range(4):
            game.step(states, np.full(4, 3), 1, out, 0)
    assert len(deals) == 32


# ---- bidding alone -----------------------------------------------------------------------


def test_bidding_phase_is_the_game_with_the_module_playing():
    """The same bids and the same cards by hand give the same game."""
    alone = Spades(phase="bidding", player="random", win_goal=200, lose_goal=-100, max_rounds=4)
    whole = Spades(win_goal=200, lose_goal=-100, max_rounds=4)
    module = playing_module("random", alone.encoders["full"])
    states, out = start(alone, 12)
    others, shown = start(whole, 12)
    rng = np.random.default_rng(0)
    while out.mask.any():
        bids = np.where(out.mask.any(1), rng.integers(0, 6, 12), -1)
        alone.step(states, bids, 1, out, 0)
        whole.step(others, bids, 1, shown, 0)
        module.finish(others)
        assert states.tobytes() == others.tobytes()
        assert not (states["phase"] == PLAY).any()
    assert (states["phase"] == OVER).all()


def test_any_policy_can_be_the_playing_module():
    class Lowest:
        name = "lowest"

        def act(self, views, legal, rng):
            assert len(views) == len(legal) == len(rng) and legal.shape[1] == NUM_ACTIONS
            return np.argmax(legal, axis=1)

    game = Spades(phase="bidding", player=Lowest(), episode="round")
    states, out = start(game, 5)
    for _ in range(4):
        assert not out.over.any()
        game.step(states, np.full(5, 3), 1, out, 0)
    assert out.over.all() and (states["won"].sum(1) == 13).all()
    one, shown = start(game)
    for _ in range(4):
        game.step(one, np.array([3]), 0, shown)
    assert (one[0] == states[0]) and (shown.reward[0] == out.reward[0]).all()


def test_a_function_can_be_the_playing_module():
    """It is shown the whole game, as with ``phase="round"``."""
    whole = Spades(phase="round")

    def highest(observation, mask):
        assert observation.shape == (whole.encoder.layout.size,) and mask.shape == (NUM_ACTIONS,)
        return np.flatnonzero(mask)[-1]

    game = Spades(phase="bidding", player=highest, episode="round")
    (states, out), (others, shown) = start(game, 3), start(whole, 3)
    for _ in range(4):
        game.step(states, np.full(3, 3), 1, out, 0)
        whole.step(others, np.full(3, 3), 1, shown, 0)
    while shown.mask.any():
        whole.step(others, NUM_ACTIONS - 1 - shown.mask[:, ::-1].argmax(axis=1), 1, shown, 0)
    assert out.over.all() and (states["won"] == others["won"]).all() and (states["played"] == others["played"]).all()


@pytest.mark.parametrize("action", [0, -1, 1000])
def test_a_playing_module_may_not_cheat_the_rules(action):
    class Revoke:
        name = "revoke"

        def act(self, views, legal, rng):
            return np.full(len(views), action)

    game = Spades(phase="bidding", player=Revoke())
    states, out = start(game)
    with pytest.raises(ValueError, match=f"playing module 'revoke': illegal action {action} at board "):
        for _ in range(4):
            game.step(states, np.array([3]), 0, out)


@pytest.mark.parametrize("phase", PHASES)
def test_what_is_no_playing_module(phase):
    with pytest.raises(ValueError, match="unknown player 'nobody'; choose from random, wrp, srp"):
        Spades(phase=phase, player="nobody")
    with pytest.raises(ValueError, match="not a playing module: 3"):
        Spades(phase=phase, player=3)
    with pytest.raises(ValueError, match=r"not a playing module: .*; make one: PolicyPlayer\(\)"):
        Spades(phase=phase, player=PolicyPlayer)
    with pytest.raises(ValueError, match=r"not a playing module: .*or a function of observation and mask"):
        Spades(phase=phase, player=lambda: 3)


@pytest.mark.parametrize(("player", "name"), [("uct", "bis+uct"), ("learned", "learned+learned"), ("srp", "SRP")])
def test_names_of_agents_are_players(player, name):
    assert Spades(phase="bidding", player=player).module.name.lower() == name.lower()


@pytest.mark.parametrize("player", ["wrp", "srp", "learned"])
def test_named_players(player):
    game = Spades(phase="bidding", player=player, episode="round", reward="points")
    states, out = start(game, 20)
    for _ in range(4):
        game.step(states, np.full(20, 3), 1, out, 0)
    assert out.over.all() and (states["won"].sum(1) == 13).all()


# ---- options -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"phase": "auction"}, "unknown phase 'auction'; choose from game, round, bidding"),
        ({"phase": "round", "episode": "game"}, "phase 'round' is an episode of one round"),
        ({"episode": "match"}, "unknown episode 'match'"),
        ({"variant": "hearts"}, "unknown variant 'hearts'"),
        ({"deck": "tarot"}, "unknown deck 'tarot'"),
        ({"failed_nil": "lost"}, "unknown failed_nil 'lost'"),
        ({"reward": "money"}, "unknown reward 'money'"),
        ({"observation": "telepathy"}, "unknown observation 'telepathy'"),
        ({"win_goal": 1.5}, "win_goal 1.5: expected an integer"),
        ({"win_goal": 200, "lose_goal": 200}, "lose_goal 200: expected an integer from -100000 to 199"),
        ({"max_rounds": 0}, "max_rounds 0"),
        ({"bag_penalty": 105}, "bag_penalty 105: expected tens of points"),
    ],
)
def test_wrong_rules(options, message):
    with pytest.raises(ValueError, match=message):
        Spades(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": [1]}, "option 'scores': .* is not 2 scores"),
        ({"scores": [1, 2.5]}, "option 'scores': side 1 2.5: expected an integer"),
        ({"dealer": "Q"}, "option 'dealer': not a seat: 'Q'"),
        ({"deal": "N:A.K.Q.J"}, "option 'deal': .* is not a PBN deal, expected a seat, a colon and four hands"),
        ({"hands": DEAL, "deal": DEAL}, "'deal' and 'hands' are the same thing"),
        ({"board": -1}, "option 'board': -1 is not a board number"),
    ],
)
def test_wrong_reset_options_change_nothing(options, message):
    env = spades_v0.env()
    env.reset(seed=1)
    before = env._states.tobytes()
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)
    assert env._states.tobytes() == before


def test_reset_options():
    env = spades_v0.env()
    env.reset(seed=1, options={"hands": DEAL, "dealer": "S", "scores": (288, -3), "board": 7})
    table = env._states[0]
    assert env.agent_selection == "player_3"
    assert list(table["scores"][:2]) == [288, -3] and list(table["bags"][:2]) == [8, 7]
    assert env.game.text(table).splitlines()[2] == "N  AQ5.K74.J83.Q942     bid -         won 0"


def test_boards_are_addressed():
    """A board is the same cards in any batch, and other seeds and boards are other cards."""
    game = Spades()
    many, _ = start(game, 300, seed=9)
    one, out = game.new(1), game.buffers(1)
    game.begin(one, np.array([299]), 9, out)
    assert one[0] == many[299]
    assert len({hands.tobytes() for hands in many["hands"]}) == 300
    other, _ = start(game, 300, seed=10)
    assert (many["hands"] != other["hands"]).any(1).all()


# ---- faces -------------------------------------------------------------------------------


@pytest.mark.parametrize("deck", ["standard", "jokers_deuces"])
def test_actions_as_text(deck):
    game = Spades(deck=deck)
    texts = [game.action_text(action) for action in range(game.num_actions)]
    assert len(set(texts)) == game.num_actions
    assert [game.action_number(text) for text in texts] == list(range(game.num_actions))
    assert texts[:2] + texts[13:16] == ["nil", "1", "13", "blind nil", "look"]
    assert texts[16] == ("C2" if deck == "standard" else "LJ")
    for wrong in ("14", "pass", "1S", ""):
        with pytest.raises(ValueError, match="not an action"):
            game.action_number(wrong)
    with pytest.raises(ValueError, match="action 68: expected an integer from 0 to 67"):
        game.action_text(68)


def test_actions_of_the_bidding_alone():
    game = Spades(phase="bidding")
    assert game.action_text(15) == "look" and game.action_number("look") == 15
    with pytest.raises(ValueError, match="action 16: expected an integer from 0 to 15"):
        game.action_text(16)
    with pytest.raises(
        ValueError, match=r"not an action: 'SA' \(expected nil, 1 ... 13, blind nil, look; player= plays"
    ):
        game.action_number("SA")


def test_picture_and_pixels():
    pytest.importorskip("PIL")
    for game in (Spades(phase="round", blind_nil=True), Spades(variant="cutthroat", deck="jokers_deuces")):
        states, out = start(game)
        play_random(game, states, out, until=30)
        drawing = game.svg(states[0])
        ElementTree.fromstring(drawing)
        assert game.image(states[0]).shape == (560, 760, 3)
    states, _ = golden(Spades(phase="round"))
    assert "E/W won" in Spades(phase="round").svg(states[0])


def test_text_of_a_game_in_progress():
    game = Spades(variant="cutthroat", deck="jokers", blind_nil=True)
    states, out = start(game)
    for text in ("blind nil", "look", "3", "look", "4", "look", "nil"):
        game.step(states, np.array([game.action_number(text)]), 0, out)
    text = game.text(states[0])
    assert text.startswith("Spades (cutthroat, jokers deck), board 1, round 1, dealer N\nscore: N 0 (0 bags), E 0")
    assert "bid blind nil won 0" in text and "\nE*" in text and text.endswith("spades are not broken")


def test_clock_counts_actions():
    game = Spades()
    states, out = start(game, 3)
    play_random(game, states, out, until=70)
    assert list(game.clock(states)) == [70, 70, 70]


def test_games_and_environments_pickle():
    env = spades_v0.env(phase="bidding", player="random", variant="suicide")
    env.reset(seed=2)
    twin = pickle.loads(pickle.dumps(env))
    for one in (env, twin):
        one.step(4)
    assert env._states.tobytes() == twin._states.tobytes()


def test_the_environment_page_has_the_sizes():
    text, game = sys.modules[spades_v0.env.__module__].__doc__, spades_v0.make_game()
    assert f"Discrete({game.num_actions})" in text
    assert f'"observation": int8 [{game.encoder.layout.size}], "action_mask": int8 [{game.num_actions}]' in text
    assert Spades(phase="bidding", player="random").num_actions == 16

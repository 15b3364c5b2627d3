"""Rules and situations as text, for every game."""

import json

import numpy as np

import bidzoo
from bidzoo import language, registry
from bidzoo.core.cards import SEAT_NAMES
from bidzoo.core.streams import Streams
from bidzoo.wrappers.batch import Batch, Seating

MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)


def situations(game, seed=0, tables=4):
    """States before every decision of some boards with random players."""
    batch = Batch(game, tables, autoreset=False)
    batch.reset(seed)
    seating = Seating([bidzoo.agents.make("random")] * game.num_players, seed)
    while (actions := seating.choose(batch)).max() >= 0:
        yield batch.states[actions >= 0].copy(), batch.player[actions >= 0].astype(np.int64)
        batch.step(actions)


def test_rules_of_every_game(game_and_options):
    game, options = game_and_options
    text = language.rules(game)
    assert text.startswith("# ") and "Rewards: " in text and all(mark not in text for mark in ("| | |", "](", "##"))
    assert all(game.action_text(action) in text for action in range(game.num_actions))
    assert all(f"{name} = {value}" in text for name, value in options.items())


def test_rules_say_what_one_must_know_to_play():
    """To a reader who knows the game from them alone."""
    bridge = language.rules(bidzoo.make_game("bridge_bidding_v0", reward="duplicate"))
    for words in ("Each bid must be higher", "vulnerable", "multiplies what is at stake", "IMPs", "more than 24"):
        assert words in bridge
    spades = language.rules(bidzoo.make_game("spades_v0", variant="whiz", deck="jokers"))
    for words in ("always trumps", "10 points for each trick bid", "*bag*", "100 points if it succeeds", "That or nil"):
        assert words.lower() in spades.lower()
    assert "both spades above ♠A, the big one highest" in spades and "bag_penalty: 110" in spades
    alone = language.rules(bidzoo.make_game("bridge_bidding_v0", reward="cost", competition=False, most_calls=3))
    for words in ("competition = False", "E/W always pass", "most_calls = 3", "after this many calls", "best contract"):
        assert words in alone
    assert "below their best contract" in language.rules(bidzoo.make_game("bridge_v0", reward="par", deals="train"))


def test_rules_of_a_game_from_outside():
    class Loud(type(MINIBRIDGE)):
        """Partners who shout."""

        id = "loud_v0"

    registry.register_game(Loud)
    game = bidzoo.make_game("loud_v0", size=2)
    assert language.rules(game).startswith("Partners who shout.")
    states, players = next(situations(game))
    assert "your hearts: " in language.situation_text(game, game.view_of(states, players)[0])


def test_a_situation_tells_nothing_hidden(game_and_options):
    """States that a seat cannot tell apart, its hidden cards or types drawn anew, read the same."""
    game, _ = game_and_options
    different = 0
    for states, players in situations(game):
        views = game.view_of(states, players)
        others = game.new(len(states))
        game.determinize(views, Streams.at(1, states["board"].astype(np.int64), game.clock(states)).keys, others)
        hidden = "types" if "types" in game.state.names else "hands"
        different += int((others[hidden] != states[hidden]).any())
        for one, other in zip(views, game.view_of(others, players)):
            assert language.situation(game, one) == language.situation(game, other)
            json.dumps(language.situation(game, one))
            assert language.situation_text(game, one)
    assert different


def test_the_situation_of_a_bridge_seat():
    env = bidzoo.make("bridge_v0")
    deal = "N:AKQJ.AKQ.AKQ.AKQ T987.JT9.JT9.JT9 6543.876.876.876 2.5432.5432.5432"
    env.reset(seed=1, options={"deal": deal, "dealer": "N", "vulnerability": "ns"})
    assert language.situation(env.game, env.view("player_0")[0]) == {
        "seat": "North",
        "partner": "South",
        "hand": "♠AKQJ ♥AKQ ♦AKQ ♣AKQ",
        "dealer": "North",
        "vulnerable": "N/S",
        "auction": [],
    }
    for call in ("7NT", "P", "P", "P"):
        env.step(env.game.action_number(call))
    env.step(env.game.action_number("ST"))
    told = language.situation(env.game, env.view("player_0")[0])
    assert told["auction"] == [["North", "7NT"], ["East", "P"], ["South", "P"], ["West", "P"]]
    assert told["contract"] == "7NT by North" and told["dummy"] == "South ♠6543 ♥876 ♦876 ♣876"
    assert told["trick"] == [["East", "ST"]] and told["card comes from"] == "South"
    assert "trick: East ST\n" in language.situation_text(env.game, env.view("player_0")[0])


def test_the_situation_of_a_spades_seat_says_who_bid_blind():
    """The same bid, before looking and after it, at every seat."""
    env = bidzoo.make("spades_v0", blind_nil=True)
    for blind in ({0}, {1, 2}, {3}, set()):
        env.reset(seed=1)
        expected = {}
        while len(expected) < 4:
            seat = env.possible_agents.index(env.agent_selection)
            words = ["blind nil"] if seat in blind else ["look", "nil"]
            for word in words:
                env.step(env.game.action_number(word))
            expected[SEAT_NAMES[seat]] = words[-1]
        assert dict(language.situation(env.game, env.view("player_0")[0])["bids"]) == expected

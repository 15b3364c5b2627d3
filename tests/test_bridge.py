"""A call from one hand and an auction in words."""

import subprocess
import sys

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.bridge import call, call_batch
from bidzoo.core.cards import call_text, hand_cards, hand_text
from bidzoo.core.streams import Streams

HAND = "AKQ2.K54.QJ3.A92"


@pytest.mark.parametrize("name", ["sayc", "sl", "pass"])
def test_it_calls_as_at_a_table(name):
    """At every turn of dealt boards, from the hand and the calls alone."""
    env, policy = bidzoo.make("bridge_bidding", deals="test"), agents.make(name)
    asked = []
    for board in range(6):
        env.reset(seed=5, options={"board": board})
        made = []
        while not any(env.terminations.values()):
            view = env.view(env.agent_selection)[0]
            vulnerability = ("none", "ns", "ew", "both")[int(view["vulnerable"])]
            asked.append((hand_text(int(view["hand"])), "NESW"[int(view["dealer"])], vulnerability, " ".join(made)))
            chosen = env.ask(policy)
            made.append(call_text(chosen))
            assert call(policy, *asked[-1]) == made[-1]
            env.step(chosen)
    answers = call_batch(name, *map(list, zip(*asked)))
    assert answers == [call(policy, *one) for one in asked] and len(answers) >= 24


def test_words_for_the_same():
    cards = [f"{'23456789TJQKA'[card // 4]}{'CDHS'[card % 4]}" for card in hand_cards(bidzoo.bridge.read_hand(HAND))]
    want = call("sl", HAND, "South", "both", "1H X P")
    for hand, dealer, vulnerability, calls in (
        (cards, "S", "All", ["1H", "X", "P"]),
        (bidzoo.bridge.read_hand(HAND), 2, "BOTH", [5, 1, 0]),
        (HAND.lower(), "south", "both", "1h-dbl-pass"),
        ("AKQ2 K54 QJ3 A92", "s", "both", "1♥ X P"),
        ("♠AKQ2 ♥K54 ♦QJ3 ♣A92", "s", "both", "1♥ X P"),
    ):
        assert call("sl", hand, dealer, vulnerability, calls) == want


def test_probabilities_and_explanation():
    answer = call("sl", HAND, calls="1H P", explain=True)
    assert answer.call == next(iter(answer.probabilities)) == call("sl", HAND, calls="1H P")
    assert sum(answer.probabilities.values()) == pytest.approx(1) and "1C" not in answer.probabilities
    assert list(answer.probabilities.values()) == sorted(answer.probabilities.values(), reverse=True)
    assert str(answer).splitlines()[0] == answer.call and f"{answer.call} " in str(answer).splitlines()[1]
    said = call("sayc", HAND, explain=True)
    assert said.probabilities == {} and "my call: 1♣" in said.explanation.text
    assert call("pass", HAND, explain=True).explanation.text == ""


def test_a_search_and_a_function():
    hard, calls = "KQT9.AJ5.Q983.K2", "1H P 2H 2S"
    answer = call("bmcs", hard, calls=calls, explain=True)
    assert answer.explanation.facts and answer.call in answer.probabilities
    assert call("bmcs", hard, calls=calls) == answer.call
    assert call(lambda observation, mask: int(np.flatnonzero(mask)[-1]), HAND) == "7NT"


def test_draws_follow_the_seed():
    policy = agents.make("sl", temperature=2.0)
    drawn = [call(policy, HAND, seed=seed) for seed in range(40)]
    assert drawn == [call(policy, HAND, seed=seed) for seed in range(40)] and len(set(drawn)) > 1


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((HAND, "N", "none", "1H 1C"), ValueError, "call 2, 1C by East: not legal after 1H"),
        ((HAND, "W", "none", "X"), ValueError, "call 1, X by West: not legal as the first call"),
        ((HAND, "N", "none", "1H 1Z"), ValueError, "call 2, 1Z by East: not a call: '1Z'"),
        ((HAND, "N", "none", "P P P P 1C"), ValueError, "call 5, 1C by North: the auction P P P P is over"),
        ((HAND, "N", "none", "1C P P P"), ValueError, "the auction 1C P P P is over: nobody has to call"),
        ((HAND, "N", "none", [38]), ValueError, "not a call: 38"),
        ((HAND, "X"), ValueError, "not a seat: 'X'"),
        (
            (HAND, "N", "bth"),
            ValueError,
            "not a vulnerability: 'bth'; did you mean 'both'? choose from none, ns, ew, both",
        ),
        ((HAND[:-1],), ValueError, "hand AKQ2.K54.QJ3.A9: 12 cards, expected 13"),
        ((HAND + "3",), ValueError, "14 cards, expected 13"),
        (("AKQ2.K54.QJ3",), ValueError, "3 suits, expected 4"),
        ((["AS", "AS"],), ValueError, "hand AS AS: AS appears twice"),
        (("AKQ2.K54.QJ3.AA2",), ValueError, "hand 'AKQ2.K54.QJ3.AA2': AC appears twice"),
        (("AKQ2 K54 QJ3",), ValueError, "hand 'AKQ2 K54 QJ3' has 3 suits, expected 4"),
        (("♠AKQ2 ♥K54 ♣A92",), ValueError, "hand '♠AKQ2 ♥K54 ♣A92': expected the suits S H D C, each once"),
        ((None,), ValueError, "None is not a hand"),
    ],
)
def test_errors(arguments, error, words):
    with pytest.raises(error) as caught:
        call("sayc", *arguments)
    assert words in str(caught.value)


def test_errors_of_agents_and_batches():
    with pytest.raises(KeyError, match="did you mean 'sayc'"):
        call("sayk", HAND)
    with pytest.raises(ValueError, match="'bis' does not play bridge_bidding_v0"):
        call("bis", HAND)
    with pytest.raises(ValueError, match=r"hand 1: hand A.K.Q.J: 4 cards"):
        call_batch("sayc", [HAND, "A.K.Q.J"])
    with pytest.raises(ValueError, match="2 dealers for 1 hands"):
        call_batch("sayc", [HAND], ["N", "E"])
    with pytest.raises(ValueError, match="broken: illegal action 38 at board 0"):
        call(type("Broken", (), {"name": "broken", "act": lambda self, v, legal, rng: np.array([38])})(), HAND)
    assert call_batch("sayc", []) == []


def test_an_auction_is_enough():
    """No deals are read and nothing is compiled that a network does not need."""
    script = (
        f"import sys, bidzoo; bidzoo.bridge.call('pass', {HAND!r}); print({{'endplay', 'torch'}} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()\n"


def test_streams_are_those_of_turn_and_board():
    seen = []

    class Drawn:
        name = "drawn"

        def act(self, views, legal, rng):
            seen.append(rng.random()[0, 0])
            return np.zeros(len(views), np.int64)

    call(Drawn(), HAND, calls="P P", seed=4)
    assert seen == [Streams.at(4, np.zeros(1, np.int64), 2).random()[0, 0]]


def test_what_is_no_list_is_named():
    with pytest.raises(TypeError, match=r"hands 'AKQ2\.K54\.QJ3\.A92': expected a list of hands"):
        call_batch("sayc", "AKQ2.K54.QJ3.A92")
    with pytest.raises(TypeError, match="calls None: expected one for all hands, or a list of 1"):
        call_batch("sayc", ["AKQ2.K54.QJ3.A92"], calls=None)
    with pytest.raises(ValueError, match=r"^calls None: expected a text such as '1H P 2C', or a list of calls"):
        call("sayc", "AKQ2.K54.QJ3.A92", calls=None)
    with pytest.raises(ValueError, match="seed -1: expected an integer from 0"):
        call("random", "AKQ2.K54.QJ3.A92", seed=-1)

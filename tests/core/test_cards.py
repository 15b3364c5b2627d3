"""The one numbering of cards, seats and calls: against OpenSpiel and endplay, and what is refused."""

import numpy as np
import pytest

from bidzoo.core.cards import (
    FULL_DECK,
    NUM_CALLS,
    NUM_CARDS,
    SEATS,
    SYMBOLS,
    TO_JPS,
    TO_OPENSPIEL_SPADES,
    TO_PGX,
    call_number,
    call_text,
    card_number,
    card_symbol,
    card_text,
    check_deal,
    deal_hands,
    deal_text,
    hand_bits,
    hand_cards,
    hand_in_words,
    hand_number,
    hand_symbols,
    hand_text,
    held,
    high_card_points,
    seat_number,
    suit_text,
)
from bidzoo.envs.bridge.deals import random_deals

HANDS = random_deals(3, np.arange(50)).ravel()
LETTERS = str.maketrans({symbol: letter for letter, symbol in SYMBOLS.items()})


def test_cards_and_calls_are_those_of_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("bridge").new_initial_state()
    assert [card_number(state.action_to_string(card).translate(LETTERS)) for card in range(NUM_CARDS)] == list(
        range(NUM_CARDS)
    )
    for hand in zip(*(hand_cards(int(hand)) for hand in HANDS[:4]), strict=True):
        for card in hand:
            state.apply_action(card)
    words = [state.action_to_string(NUM_CARDS + call).translate(LETTERS) for call in range(NUM_CALLS)]
    ours = {"Pass": "P", "Dbl": "X", "RDbl": "XX"}
    assert [call_number(ours.get(word, word)) for word in words] == list(range(NUM_CALLS))


def test_hands_are_those_of_endplay() -> None:
    types = pytest.importorskip("endplay.types")
    evaluate = pytest.importorskip("endplay.evaluate")
    for hand, points in zip(HANDS, high_card_points(HANDS), strict=True):
        theirs = types.Hand(hand_text(int(hand)))
        assert str(theirs) == hand_text(int(hand))
        assert {str(card).translate(LETTERS) for card in theirs} == {
            card_text(card)[::-1] for card in hand_cards(int(hand))
        }
        assert evaluate.hcp(theirs) == points
    assert high_card_points(HANDS.reshape(50, 4)).sum(1).tolist() == [40] * 50


@pytest.mark.parametrize(
    "text", ["AK.QJ2..T98765432", "...", "AKQJT98765432.AKQJT98765432.AKQJT98765432.AKQJT98765432"]
)
def test_text_comes_back(text: str) -> None:
    hand = hand_number(text)
    assert hand_text(hand) == text
    assert hand_bits(hand_cards(hand)) == hand
    assert [suit_text(hand, suit) for suit in (3, 2, 1, 0)] == text.split(".")
    assert np.flatnonzero(held(np.array([hand]))[0]).tolist() == hand_cards(hand)


def test_cards_in_the_order_of_others() -> None:
    """Pgx: spades first, aces below twos. Joint policy search: clubs, aces first. OpenSpiel: by suit."""
    for card in range(NUM_CARDS):
        rank, suit = card_text(card)
        assert TO_PGX[card] == 13 * "SHDC".index(suit) + "A23456789TJQK".index(rank)
        assert TO_JPS[card] == 13 * "CDHS".index(suit) + "AKQJT98765432".index(rank)
        assert TO_OPENSPIEL_SPADES[card] == 13 * "CDHS".index(suit) + "23456789TJQKA".index(rank)


def test_deals_as_text() -> None:
    """A PBN deal begins with any seat; a hand that is not shown is ``-`` and 0."""
    hands = random_deals(4, np.arange(1))[0].tolist()
    check_deal(hands)
    words = deal_text(hands).removeprefix("N:").split()
    for seat, first in enumerate(SEATS):
        assert deal_hands(f" {first.lower()}: {' '.join(words[seat:] + words[:seat])}") == tuple(hands)
    assert deal_hands(deal_text([hands[0], 0, *hands[2:]])) == (hands[0], 0, *hands[2:])
    check_deal([hands[0], 0, *hands[2:]], hidden=True)
    assert hand_symbols(hand_number("AK.QJ2..T98")) == "♠AK ♥QJ2 ♦- ♣T98"
    assert [card_symbol(card) for card in (0, 51)] == ["♣2", "♠A"]


@pytest.mark.parametrize(
    "text",
    [
        "AK.QJ2..T98",
        "AK QJ2 - T98",
        " ak  qj2 -\t1098 ",
        "♠AK ♥QJ2 ♦- ♣T98",
        "♠AK♥QJ2♦♣T98",
        "SAK HQJ2 D CT98",
        "C: 10 9 8, H: Q J 2, S: A K, D: -",
    ],
)
def test_hands_as_people_write_them(text: str) -> None:
    assert hand_text(hand_in_words(text)) == "AK.QJ2..T98"
    if text[2] != ".":  # files keep to PBN
        with pytest.raises(ValueError, match="suits, expected 4"):
            hand_number(text)


def test_other_ways_to_write() -> None:
    assert hand_number("10.-.-.AKQJT98765432") == hand_number("T...AKQJT98765432")
    assert card_number("10S") == card_number("ST") == card_number("ts")
    assert [call_number(word) for word in ("pass", "d", "R", "7N", "2♣")] == [
        0,
        1,
        2,
        call_number("7NT"),
        call_number("2C"),
    ]
    for seat, name in enumerate(("North", "East", "South", "West")):
        assert {seat_number(word) for word in (seat, SEATS[seat], name, name.lower())} == {seat}
    assert FULL_DECK == (1 << 52) - 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: card_text(52), r"not a card number: 52 \(expected 0 \.\.\. 51\)"),
        (lambda: card_text(-1), "not a card number: -1"),
        (lambda: card_number("1S"), "not a card: '1S'"),
        (lambda: card_number(""), "not a card: ''"),
        (lambda: call_text(38), r"not a call: 38 \(expected 0 \.\.\. 37\)"),
        (lambda: call_number("8C"), "not a call: '8C'"),
        (lambda: hand_number("AK.QJ2.T98"), "has 3 suits, expected 4"),
        (lambda: hand_number("A1..."), "'1' is not a rank"),
        (lambda: hand_bits([7, 7]), "hand 3S 3S: 3S appears twice"),
        (lambda: hand_number("AA..."), r"hand 'AA\.\.\.': AS appears twice"),
        (lambda: hand_in_words("AK QJ2 T98"), "has 3 suits, expected 4"),
        (lambda: hand_in_words(""), "has 0 suits, expected 4"),
        (lambda: hand_in_words("A1 - - -"), "'1' is not a rank"),
        (lambda: hand_in_words("AKH QJ2 D- CT98"), "expected the suits S H D C, each once"),
        (lambda: hand_in_words("2 SAK HQJ D- CT98"), "expected the suits S H D C, each once"),
        (lambda: hand_in_words("AS KS QH JH 2H TC 9C 8C"), "expected the suits S H D C, each once"),
        (lambda: hand_bits([52]), "not a card number: 52"),
        (lambda: deal_hands("AK... ... ... ..."), "is not a PBN deal, expected a seat, a colon and four hands"),
        (lambda: check_deal([FULL_DECK, 1, 0, 0]), "2C is held by N and by E, expected 52 different cards"),
        (lambda: check_deal([0] * 5), r"5 hands given \(expected four"),
        (lambda: check_deal([0] * 3), r"3 hands given \(expected four"),
        (lambda: check_deal([8191, 0, 8191 << 13, 8191 << 26]), "E holds 0 cards, expected 13"),
        (lambda: check_deal([0, 0, 0, 1], hidden=True), "W holds 1 cards, expected 13"),
        (lambda: seat_number("NE"), r"not a seat: 'NE' \(expected N, E, S, W or 0 \.\.\. 3\)"),
        (lambda: seat_number(4), "not a seat: 4"),
        (lambda: seat_number(None), "not a seat: None"),
    ],
)
def test_what_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()

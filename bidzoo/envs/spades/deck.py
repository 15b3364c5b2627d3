"""Decks of 52 cards: the suit a card belongs to and how strong it is in it.

Cards are numbered ``4 * rank + suit`` as everywhere. Two jokers replace the two of clubs (card 0, the little
joker, "LJ") and the two of hearts (card 2, the big joker, "BJ"); both are spades. Spades, strongest first:

standard        A K Q J T 9 8 7 6 5 4 3 2                 (13 spades)
jokers          BJ LJ A K Q J T 9 8 7 6 5 4 3 2           (15 spades, 12 clubs, 12 hearts, 13 diamonds)
jokers_deuces   BJ LJ 2D 2S A K Q J T 9 8 7 6 5 4 3       (16 spades, 12 of each other suit)
"""

import numpy as np

from bidzoo.cards import NUM_CARDS, card_number, card_text
from bidzoo.envs.spades.state import DECKS, SPADES
from bidzoo.kernels import I8, I64, row

LITTLE_JOKER, BIG_JOKER = card_number("2C"), card_number("2H")
_ABOVE_THE_ACE = {
    "standard": (),
    "jokers": (LITTLE_JOKER, BIG_JOKER),
    "jokers_deuces": (card_number("2S"), card_number("2D"), LITTLE_JOKER, BIG_JOKER),
}
_JOKERS = {LITTLE_JOKER: "LJ", BIG_JOKER: "BJ"}


def _suits() -> I8:
    suits = np.tile(np.arange(NUM_CARDS) % 4, (len(DECKS), 1))
    for deck, name in enumerate(DECKS):
        suits[deck, list(_ABOVE_THE_ACE[name])] = SPADES
    return suits.astype(np.int8)


def _strengths() -> I8:
    strengths = np.tile(np.arange(NUM_CARDS) // 4, (len(DECKS), 1))
    for deck, name in enumerate(DECKS):
        strengths[deck, list(_ABOVE_THE_ACE[name])] = 13 + np.arange(len(_ABOVE_THE_ACE[name]))
    return strengths.astype(np.int8)


SUITS = _suits()  # [deck, card]  C D H S = 0 ... 3
STRENGTHS = _strengths()  # [deck, card]  greater beats smaller in the same suit; ace = 12, above it 13 ... 16
SUIT_CARDS: I64 = np.array(
    [
        [sum(1 << card for card in range(NUM_CARDS) if SUITS[d, card] == suit) for suit in range(4)]
        for d in range(len(DECKS))
    ]
)  # [deck, suit]  bits of the suit's cards


@row
def beats_row(deck: int, card: int, best: int) -> bool:
    """Whether ``card`` takes a trick that ``best`` was winning: a stronger card of its suit, or the first spade."""
    suit, best_suit = SUITS[deck, card], SUITS[deck, best]
    if suit == best_suit:
        return STRENGTHS[deck, card] > STRENGTHS[deck, best]
    return suit == SPADES


def deck_card_text(deck: int, card: int) -> str:
    """``"AS"``, or ``"BJ"`` and ``"LJ"`` where the deck has jokers."""
    return _JOKERS[card] if deck and card in _JOKERS else card_text(card)


def deck_card_number(deck: int, text: str) -> int:
    """Inverse of ``deck_card_text``; ValueError for a card the deck does not have."""
    for card in _JOKERS:
        if deck and text.upper() == _JOKERS[card]:
            return card
    card = card_number(text)
    if deck and card in _JOKERS:
        raise ValueError(f"{text!r} is not in the deck {DECKS[deck]!r}: {_JOKERS[card]} replaces it")
    return card


def deck_hand_text(deck: int, hand: int) -> str:
    """PBN form, ``"AK.QJ2..T98"``: spades, hearts, diamonds, clubs, strongest first; ``B`` and ``L`` are jokers.

    With deuces high the two of diamonds stands among the spades as ``d``.
    """
    suits: list[str] = []
    for suit in (3, 2, 1, 0):
        cards = [card for card in range(NUM_CARDS) if hand >> card & 1 and SUITS[deck, card] == suit]
        cards.sort(key=lambda card: -int(STRENGTHS[deck, card]))
        suits.append("".join(_rank_letter(deck, card, suit) for card in cards))
    return ".".join(suits)


def _rank_letter(deck: int, card: int, suit: int) -> str:
    if deck and card in _JOKERS:
        return _JOKERS[card][0]
    return card_text(card)[0] if card % 4 == suit else "d"

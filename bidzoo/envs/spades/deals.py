"""Decks of 52 cards: the suit a card belongs to, how strong it is in it, and how a round is dealt.

Cards are numbered ``4 * rank + suit`` as everywhere. Two jokers replace the two of clubs (card 0, the little
joker, "LJ") and the two of hearts (card 2, the big joker, "BJ"); both are spades. Spades, strongest first:

standard        A K Q J T 9 8 7 6 5 4 3 2                 (13 spades)
jokers          BJ LJ A K Q J T 9 8 7 6 5 4 3 2           (15 spades, 12 clubs, 12 hearts, 13 diamonds)
jokers_deuces   BJ LJ 2D 2S A K Q J T 9 8 7 6 5 4 3       (16 spades, 12 of each other suit)
"""

import numpy as np

from bidzoo.core.cards import NUM_CARDS, SYMBOLS, card_number, card_text, hand_cards
from bidzoo.core.cards import SUITS as SUIT_LETTERS
from bidzoo.core.kernels import I64, State, assign_row, row
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.envs.spades.state import BIDDING, DECKS, SPADES

LITTLE_JOKER, BIG_JOKER = card_number("2C"), card_number("2H")
_ABOVE_THE_ACE = {
    "standard": (),
    "jokers": (LITTLE_JOKER, BIG_JOKER),
    "jokers_deuces": (card_number("2S"), card_number("2D"), LITTLE_JOKER, BIG_JOKER),
}
_JOKERS = {LITTLE_JOKER: "LJ", BIG_JOKER: "BJ"}

# [deck, card]  C D H S = 0 ... 3, and ace = 12, above it 13 ...
SUITS = np.tile(np.arange(NUM_CARDS, dtype=np.int8) % 4, (len(DECKS), 1))
STRENGTHS = np.tile(np.arange(NUM_CARDS, dtype=np.int8) // 4, (len(DECKS), 1))
for _deck, _name in enumerate(DECKS):
    _above = list(_ABOVE_THE_ACE[_name])
    SUITS[_deck, _above] = SPADES
    STRENGTHS[_deck, _above] = 13 + np.arange(len(_above))
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


def deck_card_played(deck: int, card: int) -> str:
    """``deck_card_text`` as an action has it, suit first: ``"SA"``, ``"BJ"``."""
    text = deck_card_text(deck, card)
    return text if text in _JOKERS.values() else text[::-1]


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
    return ".".join(
        "".join(_rank_letter(deck, card, suit) for card in cards_of_suit(deck, hand, suit)) for suit in (3, 2, 1, 0)
    )


def deck_hand_symbols(deck: int, hand: int) -> str:
    """``"♠BJ,LJ,A,5 ♥A,4 ♦- ♣T"``: jokers, and a two of diamonds among the spades (``D2``), as they are played."""

    def name(card: int, suit: int) -> str:
        return deck_card_played(deck, card)[1 if card % 4 == suit else 0 :]  # no joker is written as a spade

    suits = [(suit, [name(card, suit) for card in cards_of_suit(deck, hand, suit)]) for suit in (3, 2, 1, 0)]
    return " ".join(SYMBOLS[SUIT_LETTERS[suit]] + (",".join(names) or "-") for suit, names in suits)


def cards_of_suit(deck: int, hand: int, suit: int) -> list[int]:
    """Cards of ``hand`` that belong to ``suit``, strongest first."""
    cards = [card for card in hand_cards(hand) if SUITS[deck, card] == suit]
    return sorted(cards, key=lambda card: -int(STRENGTHS[deck, card]))


def _rank_letter(deck: int, card: int, suit: int) -> str:
    if deck and card in _JOKERS:
        return _JOKERS[card][0]
    return card_text(card)[0] if card % 4 == suit else "d"


# ---- deal ------------------------------------------------------------------------------------


@row
def deal_row(state: State) -> None:
    """Deal ``(seed, board, round)``, every deal equally likely, and open the bidding."""
    state.hands[:] = 0
    key = key_row(state.seed, state.board, state.rounds)
    n0, n1, n2 = 13, 13, 13  # cards the first three seats still need
    for card in range(52):
        left = 52 - card
        draw = below_row(key, left)
        key = next_row(key)
        if draw < n0:
            seat, n0 = 0, n0 - 1
        elif draw < n0 + n1:
            seat, n1 = 1, n1 - 1
        elif draw < n0 + n1 + n2:
            seat, n2 = 2, n2 - 1
        else:
            seat = 3
        state.hands[seat] |= 1 << card
    open_row(state)


@row
def open_row(state: State) -> None:
    """Put the dealt cards into the players' hands and open the bidding."""
    first = (int(state.dealer) + 1) % 4
    state.phase = BIDDING
    state.turn = first
    state.leader = first
    state.blind = 0
    state.looked = 0
    state.plays = 0
    state.led = -1
    state.best = -1
    state.taker = -1
    state.broken = 0
    state.gone = 0
    assign_row(state.held, state.hands)
    state.bids[:] = -1
    state.won[:] = 0
    state.voids[:] = 0
    state.played[:] = -1
    state.players[:] = -1
    for seat in range(4):
        if not may_bid_blind_row(state, seat):
            state.looked |= 1 << seat


@row
def may_bid_blind_row(state: State, seat: int) -> bool:
    """Whether the rules offer ``seat`` a blind nil this round: its side trails the best other one by enough."""
    if not state.blind_nil:
        return False
    side, best = seat % int(state.sides), -(1 << 30)
    for other in range(state.sides):
        if other != side:
            best = max(best, int(state.scores[other]))
    return best - int(state.scores[side]) >= state.blind_deficit

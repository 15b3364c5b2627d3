"""Hands as four suits of ranks: what the Spades agents think in.

A *suit mask* has one bit a rank; bit 0 is the weakest card of the suit in this deck, so masks of any deck have no
holes and a suit of ``SUIT_SIZE[deck, suit]`` ranks fills that many bits. Suits C D H S = 0 ... 3.
"""

import numpy as np

from bidzoo.cards import NUM_CARDS
from bidzoo.envs.spades.deck import STRENGTHS, SUITS
from bidzoo.envs.spades.state import DECKS
from bidzoo.kernels import row

Suits = tuple[int, int, int, int]  # a mask a suit

_WEAKEST = np.array(
    [[min(STRENGTHS[d, c] for c in range(NUM_CARDS) if SUITS[d, c] == s) for s in range(4)] for d in range(len(DECKS))],
    np.int64,
)
SUIT_SIZE = np.array([[int((SUITS[d] == s).sum()) for s in range(4)] for d in range(len(DECKS))], np.int64)
RANK = (STRENGTHS - np.take_along_axis(_WEAKEST, SUITS.astype(np.int64), axis=1)).astype(np.int64)  # [deck, card]
CARD = np.full((len(DECKS), 4, 17), -1, np.int64)  # [deck, suit, rank]
for _deck in range(len(DECKS)):
    CARD[_deck, SUITS[_deck], RANK[_deck]] = np.arange(NUM_CARDS)


@row
def _every_fourth(x: int) -> int:
    """Bits 0, 4, 8 ... 48 of ``x`` as bits 0 ... 12."""
    x &= 0x1111111111111
    x = (x | x >> 3) & 0x303030303030303
    x = (x | x >> 6) & 0xF000F000F000F
    x = (x | x >> 12) & 0xFF000000FF
    return (x | x >> 24) & 0xFFFF


@row
def suits_row(deck: int, cards: int) -> Suits:
    """Suit masks of a set of cards."""
    if deck == 0:
        return _every_fourth(cards), _every_fourth(cards >> 1), _every_fourth(cards >> 2), _every_fourth(cards >> 3)
    c, d, h, s = 0, 0, 0, 0
    for card in range(NUM_CARDS):
        if cards >> card & 1:
            bit = 1 << RANK[deck, card]
            suit = SUITS[deck, card]
            if suit == 0:
                c |= bit
            elif suit == 1:
                d |= bit
            elif suit == 2:
                h |= bit
            else:
                s |= bit
    return c, d, h, s


@row
def high_row(mask: int) -> int:
    """Highest rank of a suit mask; -1 if empty."""
    if mask == 0:
        return -1
    rank = 0
    if mask >> 16:
        rank, mask = rank + 16, mask >> 16
    if mask >> 8:
        rank, mask = rank + 8, mask >> 8
    if mask >> 4:
        rank, mask = rank + 4, mask >> 4
    if mask >> 2:
        rank, mask = rank + 2, mask >> 2
    return rank + (mask >> 1)

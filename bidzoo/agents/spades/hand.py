"""Hands as four suits of ranks, and what they are worth before the play: ``regularTakes`` and ``nilValue`` of BIS.

Source: "Bidding in Spades", sections 4.1 and 4.2. A *suit mask* has one bit a rank; bit 0 is the weakest card of the
suit in this deck, so masks of any deck have no holes and a suit of ``SUIT_SIZE[deck, suit]`` ranks fills that many
bits. Suits C D H S = 0 ... 3.
"""

import numpy as np

from bidzoo.core.bits import count_row
from bidzoo.core.cards import NUM_CARDS
from bidzoo.core.kernels import F64, row
from bidzoo.envs.spades.deals import STRENGTHS, SUITS
from bidzoo.envs.spades.state import DECKS, SPADES

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
def _suit_row(deck: int, suit: int, cards: int) -> int:
    """Mask of one suit of a set of cards, of any deck."""
    mask = 0
    for rank in range(SUIT_SIZE[deck, suit]):
        mask |= (cards >> CARD[deck, suit, rank] & 1) << rank
    return mask


@row
def suits_row(deck: int, cards: int) -> Suits:
    """Suit masks of a set of cards."""
    if deck == 0:
        return _every_fourth(cards), _every_fourth(cards >> 1), _every_fourth(cards >> 2), _every_fourth(cards >> 3)
    return _suit_row(deck, 0, cards), _suit_row(deck, 1, cards), _suit_row(deck, 2, cards), _suit_row(deck, 3, cards)


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


# ---- takes and nil value ---------------------------------------------------------------------

HONOURS = 4  # spades A K Q J
FREE_SPADES = 4  # a spade beyond the fourth is a take (4.1.3)
VOID_FACTOR = 1.15  # "almost"-independence (4.2)


@row
def spade_takes_row(mask: int, size: int) -> int:
    """Takes by high and long spades (4.1.2, 4.1.3): protected honours, and each spade beyond the fourth."""
    length = count_row(mask)
    takes = max(0, length - FREE_SPADES)
    for k in range(HONOURS):
        takes += (mask >> (size - 1 - k) & 1) & (length > k)
    return min(takes, length)


@row
def side_takes_row(mask: int, size: int, clear: F64) -> float:
    """Takes by the A, K and Q of a side suit (4.1.1); ``clear`` ``[held, trick]`` of Table 1."""
    length, takes = count_row(mask), 0.0
    for k in range(3):
        if mask >> (size - 1 - k) & 1 and length > k:
            takes += clear[length, k]
    return takes


@row
def cuts_row(deck: int, suits: Suits, clear: F64, cuts: int) -> float:
    """The best ``cuts`` cuts in short side suits (4.1.4): tricks that nobody else can cut."""
    total, taken = 0.0, 0
    used0, used1, used2 = count_row(suits[0]), count_row(suits[1]), count_row(suits[2])
    while taken < cuts:
        best, at = 0.0, -1
        for suit in range(3):
            trick = (used0, used1, used2)[suit]
            if trick < 3:
                chance = clear[SUIT_SIZE[deck, suit] - 12, count_row(suits[suit]), trick]
                if chance > best:
                    best, at = chance, suit
        if at < 0:
            break
        total += best
        taken += 1
        used0, used1, used2 = used0 + (at == 0), used1 + (at == 1), used2 + (at == 2)
    return total


@row
def takes_row(deck: int, suits: Suits, clear: F64) -> float:
    """Expected takes of a regular bid, before the factor for earlier bids.

    ``clear`` ``[2, held, trick]`` for suits of 12 and 13 cards and the number of opponents who may cut. Each
    spade counts once, where it is worth most: the lowest ones are tried as cuts, from none to all.
    """
    takes = 0.0
    for suit in range(3):
        size = SUIT_SIZE[deck, suit]
        takes += side_takes_row(suits[suit], size, clear[size - 12])
    spades, size, best = suits[SPADES], SUIT_SIZE[deck, SPADES], 0.0
    for cuts in range(count_row(suits[SPADES]) + 1):
        best = max(best, spade_takes_row(spades, size) + cuts_row(deck, suits, clear, cuts))
        spades &= spades - 1
    return takes + best


@row
def nil_value_row(deck: int, suits: Suits, side: F64, trumps: F64, covered: bool) -> float:
    """``nilValue``: the product of the suits' ``Pr(cnil)``, times 1.15 with a void side suit or no spade, at most 1.

    ``side`` ``[2, 2 ** 13]`` (suits of 12 and 13 cards), ``trumps`` ``[2 ** 16]``. ``covered``: partner has shown
    the ace or king of spades (Big 5), so a king or queen as our highest spade is not counted.
    """
    value, void = 1.0, False
    for suit in range(3):
        void |= suits[suit] == 0
        value *= side[SUIT_SIZE[deck, suit] - 12, suits[suit]]
    spades, size = suits[SPADES], SUIT_SIZE[deck, SPADES]
    void |= spades == 0
    top = high_row(spades)
    if covered and count_row(spades) <= 3 and (top == size - 2 or top == size - 3):
        spades &= ~(1 << top)
    value *= trumps[spades]
    return min(1.0, value * VOID_FACTOR) if void else value


@row
def covers_row(deck: int, suits: Suits, ten: int, king: bool) -> bool:
    """Ace (or king, if ``king`` will do) of spades, and in each side suit a void or a card above ``ten`` (G.2)."""
    size = SUIT_SIZE[deck, SPADES]
    top = suits[SPADES] >> (size - 2)
    if not (top & 2 or (king and top & 1)):
        return False
    low = False
    for suit in range(3):
        low |= suits[suit] != 0 and high_row(suits[suit]) < SUIT_SIZE[deck, suit] - ten
    return not low

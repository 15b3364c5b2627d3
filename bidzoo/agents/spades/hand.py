"""What a hand is worth before the play: ``regularTakes`` and ``nilValue`` of BIS (sections 4.1 and 4.2)."""

from bidzoo.agents.spades.suits import SUIT_SIZE, Suits, high_row
from bidzoo.bits import count_row, lowest_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import F64, row

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
            trick = used0 if suit == 0 else (used1 if suit == 1 else used2)
            if trick < 3:
                chance = clear[0 if SUIT_SIZE[deck, suit] == 12 else 1, count_row(suits[suit]), trick]
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
        takes += side_takes_row(suits[suit], size, clear[0 if size == 12 else 1])
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
        value *= side[0 if SUIT_SIZE[deck, suit] == 12 else 1, suits[suit]]
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


@row
def lowest_rank_row(mask: int, k: int) -> int:
    """Rank of the ``k``-th lowest card, k from 0; -1 if there are fewer."""
    for _ in range(k):
        mask &= mask - 1
    return lowest_row(mask)

"""Exact chances of where the unseen cards of one suit lie (Tables 1, 5 and 6 of the paper).

Source: Cohensius, Meir, Oved and Stern, "Bidding in Spades" (ECAI 2020), sections 4.1.1, 4.1.4, appendix A.
The paper estimates these numbers by simulation; they are hypergeometric and are counted here.
"""

from functools import cache
from math import comb

import numpy as np

from bidzoo.kernels import F64

UNSEEN, HAND = 39, 13  # cards in the three other hands, and in one of them


@cache
def lengths_chance(suit: int, first: int, second: int) -> float:
    """Chance that two named hidden hands hold ``first`` and ``second`` of ``suit`` unseen cards of a suit."""
    if first + second > suit or first > HAND or second > HAND:
        return 0.0
    ways = comb(suit, first) * comb(UNSEEN - suit, HAND - first)
    rest, other = suit - first, UNSEEN - HAND - (suit - first)
    if other < HAND - second:
        return 0.0
    ways *= comb(rest, second) * comb(other, HAND - second)
    return ways / (comb(UNSEEN, HAND) * comb(UNSEEN - HAND, HAND))


@cache
def clear_chance(opponents: int, held: int, trick: int, suit_size: int = 13) -> float:
    """Chance that each of ``opponents`` holds more than ``trick`` cards of a suit of which we hold ``held``.

    Table 1 (2 opponents), Table 5 (1), Table 6 (3); ``trick`` 0, 1, 2 is their column.
    """
    unseen = suit_size - held
    total = 0.0
    for first in range(trick + 1, unseen + 1):
        for second in range(0 if opponents == 1 else trick + 1, unseen + 1 - first):
            if opponents == 3 and unseen - first - second <= trick:
                continue
            total += lengths_chance(unseen, first, second)
    return total


def clear_table(suit_size: int = 13) -> F64:
    """``clear_chance`` as ``[opponents, held, trick]``: 4 x 14 x 3; nobody to cut is certainty."""
    table = np.ones((4, 14, 3))
    for opponents in (1, 2, 3):
        for held in range(min(suit_size, HAND) + 1):
            for trick in range(3):
                table[opponents, held, trick] = clear_chance(opponents, held, trick, suit_size)
    return table

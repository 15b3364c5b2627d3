"""``cnil``: the exact chance that every dangerous card of a suit is covered (section 4.2 of the paper).

Only our three lowest cards of a suit are dangerous. They cut the unseen cards into four bands; all ways to
share the bands among left and right opponent and partner are counted, where the paper deals 100 000 times.
A card is *set* when both opponents can play under it and partner cannot cover it:

1. lowest card: each opponent is void or has a smaller card; partner is not void and has no higher one;
2. second: each opponent has at most one card or two smaller ones; partner has two cards, not two higher ones;
3. third: each opponent has at most two cards or three smaller ones; partner has three cards, none higher.

In spades partner cannot cut, so being short does not help, and a fourth spade denies nil. ``alone``
(cutthroat) turns partner into a third opponent.
"""

from math import factorial

import numpy as np

from bidzoo.kernels import F64, row

LOW = 3  # dangerous cards of a suit
UNSEEN, HAND = 39, 13
_FACTORIAL = np.array([float(factorial(n)) for n in range(UNSEEN + 1)])


@row
def _set_at(k: int, under: int, length: int) -> bool:
    """An opponent with ``under`` smaller cards of ``length`` can play under our ``k``-th card, k from 1."""
    return length < k or under >= k


@row
def _exposed(low: int, left: F64, right: F64, partner: F64, trump: bool, alone: bool) -> bool:
    """One of our ``low`` lowest cards is set by hands of these numbers of cards in the bands ``[4]``."""
    lengths = (left.sum(), right.sum(), partner.sum())
    under_left, under_right, under_partner = 0.0, 0.0, 0.0
    for k in range(1, low + 1):
        under_left += left[k - 1]
        under_right += right[k - 1]
        under_partner += partner[k - 1]
        if not (_set_at(k, under_left, lengths[0]) and _set_at(k, under_right, lengths[1])):
            continue
        higher = lengths[2] - under_partner
        if alone:
            if _set_at(k, under_partner, lengths[2]):
                return True
            continue
        needed = 2 if k == 2 else 1
        if higher < needed and (trump or lengths[2] >= k):
            return True
    return False


@row
def covered_row(bands: F64, low: int, trump: bool, alone: bool, factorial: F64, hands: F64) -> float:
    """Chance that none of our ``low`` lowest cards is set; ``bands`` ``[4]`` unseen cards, ``hands`` ``[3, 4]``
    scratch.
    """
    unseen = bands.sum()
    size = UNSEEN - unseen
    ways, total = 0.0, 0.0
    left, right, partner = hands[0], hands[1], hands[2]
    hands[:] = 0
    choice = np.ones(5)
    band = 0
    right[0] = -1
    while band >= 0:
        right[band] += 1  # the next share of this band, left outermost
        if left[band] + right[band] > bands[band]:
            left[band] += 1
            right[band] = 0
            if left[band] > bands[band]:
                left[band] = 0
                right[band] = 0
                partner[band] = 0
                band -= 1
                continue
        partner[band] = bands[band] - left[band] - right[band]
        choice[band + 1] = (
            choice[band]
            * factorial[int(bands[band])]
            / (factorial[int(left[band])] * factorial[int(right[band])] * factorial[int(partner[band])])
        )
        if band < 3:
            band += 1
            right[band] = -1
            continue
        rest = (HAND - left.sum(), HAND - right.sum(), HAND - partner.sum())
        if min(rest) < 0:
            continue
        here = choice[4] * factorial[int(size)]
        here /= factorial[int(rest[0])] * factorial[int(rest[1])] * factorial[int(rest[2])]
        total += here
        if not _exposed(low, left, right, partner, trump, alone):
            ways += here
    return ways / total


def covered_chance(cards: int, trump: bool, suit_size: int = 13, alone: bool = False) -> float:
    """``Pr(cnil)`` of one suit; bit ``k`` of ``cards`` is our ``k``-th smallest rank of ``suit_size``."""
    held = [k for k in range(suit_size) if cards >> k & 1]
    if not held:
        return 1.0
    if trump and len(held) > LOW:
        return 0.0
    low = held[:LOW]
    edges = [-1, *low, suit_size]
    inner = [edges[k + 1] - edges[k] - 1 for k in range(len(low))]
    bands = np.zeros(4)
    bands[: len(low)] = inner
    bands[3] = suit_size - len(held) - sum(inner)  # above the dangerous cards
    return float(covered_row(bands, len(low), trump, alone, _FACTORIAL, np.zeros((3, 4))))


def covered_table(trump: bool, suit_size: int = 13, alone: bool = False) -> F64:
    """``covered_chance`` of every holding, ``[2 ** suit_size]``; equal bands are counted once."""
    table = np.empty(1 << suit_size)
    known: dict[tuple[int, int], float] = {}
    for cards in range(1 << suit_size):
        length = cards.bit_count()
        if length > HAND:
            table[cards] = 0.0
            continue
        low, rest = 0, cards
        for _ in range(min(LOW, length)):
            low |= rest & -rest
            rest &= rest - 1
        key = (low, length)
        if key not in known:
            known[key] = covered_chance(cards, trump, suit_size, alone)
        table[cards] = known[key]
    return table

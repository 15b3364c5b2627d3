"""Deals that one player can imagine: drawn from a belief about each card, always 13 cards a hand.

A belief gives each unseen card a chance to be with partner, LHO and RHO. Deals are drawn as if every card chose its
holder by itself, on condition that everybody ends up with 13: exact, nothing is rejected. The weighted number of ways
to finish a deal is tabled once a belief, then every deal is one walk through the cards.
"""

import numpy as np

from bidzoo.agents.bridge.belief import WHO
from bidzoo.cards import HAND_SIZE, NUM_CARDS
from bidzoo.kernels import F32, F64, I64, U64, batched, next_row, prange, row, unit_row

HIDDEN = 3 * HAND_SIZE
LEAST = 1e-4  # chance of any unseen card with any player: no belief is certain


def weights_of(belief: F32, hand: int) -> tuple[I64, F64]:
    """The 39 cards not in ``hand``, and the chance ``[39, 3]`` of each with partner, LHO and RHO, from ``[3, 52]``."""
    cards = np.flatnonzero(hand >> np.arange(NUM_CARDS) & 1 == 0)
    weights = np.maximum(np.asarray(belief, np.float64)[:, cards].T, LEAST)
    return cards, np.ascontiguousarray(weights / weights.sum(1, keepdims=True))


@row
def ways_row(weights: F64, ways: F64) -> None:
    """Weighted completions into ``ways`` ``[40, 14, 14]``.

    ``ways[i, a, b]``: of cards ``i`` ... 38, when partner still takes ``a`` and LHO ``b`` of them, RHO the others.
    """
    ways[:, :, :] = 0
    ways[HIDDEN, 0, 0] = 1
    for i in range(HIDDEN - 1, -1, -1):
        for a in range(min(HAND_SIZE, HIDDEN - i) + 1):
            for b in range(min(HAND_SIZE, HIDDEN - i - a) + 1):
                total = 0.0
                if a > 0:
                    total += weights[i, 0] * ways[i + 1, a - 1, b]
                if b > 0:
                    total += weights[i, 1] * ways[i + 1, a, b - 1]
                ways[i, a, b] = total + weights[i, 2] * ways[i + 1, a, b]


@row
def draw_row(cards: I64, weights: F64, ways: F64, key: np.uint64, hands: I64) -> np.uint64:
    """One deal of ``cards`` ``[39]`` to partner, LHO and RHO into ``hands`` ``[3]``; the next key."""
    hands[:] = 0
    a = b = c = HAND_SIZE
    for i in range(HIDDEN):
        key = next_row(key)
        aim = unit_row(key) * ways[i, a, b]
        first = weights[i, 0] * ways[i + 1, a - 1, b] if a > 0 else 0.0
        second = weights[i, 1] * ways[i + 1, a, b - 1] if b > 0 else 0.0
        if a > 0 and (aim < first or b + c == 0):
            who, a = 0, a - 1
        elif b > 0 and (aim < first + second or c == 0):
            who, b = 1, b - 1
        else:
            who, c = 2, c - 1
        hands[who] |= np.int64(1) << cards[i]
    return key


@batched
def _draw(keys: U64, cards: I64, weights: F64, ways: F64, hands: I64) -> None:
    for d in prange(len(keys)):
        keys[d] = draw_row(cards, weights, ways, keys[d], hands[d])


class Imagined:
    """Where deals come from that fit one hand and a belief."""

    def __init__(self, seat: int, hand: int, belief: F32) -> None:
        """``belief`` ``[3, 52]``: chance of each card with partner, LHO, RHO; they need not add up."""
        self.seat, self.hand = seat, hand
        self._cards, self._weights = weights_of(belief, hand)
        self._ways = np.empty((HIDDEN + 1, HAND_SIZE + 1, HAND_SIZE + 1))
        ways_row(self._weights, self._ways)

    def draw(self, keys: U64) -> I64:
        """Deals ``[D, 4]`` (N E S W), one for each of ``keys`` ``[D]``, which move on."""
        others = np.empty((len(keys), 3), np.int64)
        _draw(keys, self._cards, self._weights, self._ways, others)
        hands = np.empty((len(keys), 4), np.int64)
        hands[:, self.seat] = self.hand
        for k, who in enumerate(WHO):
            hands[:, (self.seat + who) % 4] = others[:, k]
        return hands

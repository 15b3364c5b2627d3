"""Whole tables that fit what one player knows: every completion of the hidden hands equally likely.

A completion gives each hidden seat its number of cards and respects shown voids (a seat that did not follow
suit has no more of it). Calls and choices of card are not read as evidence; an agent may weigh them itself.
Nothing is rejected: without voids cards go one by one to seats in proportion to the places they have left; with
voids the split of each suit is drawn first, with its exact number of completions.
"""

import numpy as np

from bidzoo.core.bits import count_row
from bidzoo.core.cards import FULL_DECK, HAND_SIZE, NUM_CARDS
from bidzoo.core.kernels import F64, I64, U64, State, States, assign_row, batched, row, rows_a_thread
from bidzoo.core.streams import below_row, next_row, unit_row
from bidzoo.envs.bridge.play import SUIT_OF_CLUBS
from bidzoo.envs.bridge.state import copy_public_row

_CHOOSE = np.zeros((NUM_CARDS // 4 + 1, NUM_CARDS // 4 + 1))  # binomial coefficients up to 13 cards of a suit
_CHOOSE[:, 0] = 1
for _n in range(1, len(_CHOOSE)):
    _CHOOSE[_n, 1:] = _CHOOSE[_n - 1, 1:] + _CHOOSE[_n - 1, :-1]


@row
def known_hands_row(view: State, hands: I64) -> None:
    """Cards known to have been dealt to each seat into ``hands`` ``[4]``: own, dummy's, and those played."""
    hands[:] = 0
    for t in range(view.plays):
        hands[int(view.players[t])] |= np.int64(1) << np.int64(view.played[t])
    if view.plays > 0:
        hands[(view.declarer + 2) % 4] |= view.dummy
    hands[view.seat] = view.hand


@row
def voids_row(view: State, hands: I64) -> bool:
    """Suits each seat has shown out of, as bits into ``hands`` ``[4]``; True if a seat with hidden cards has any."""
    hands[:] = 0
    any_void = False
    dummy = (view.declarer + 2) % 4
    for t in range(view.plays):
        led, suit = int(view.played[t - t % 4]) % 4, int(view.played[t]) % 4
        seat = int(view.players[t])
        if suit != led:
            hands[seat] |= 1 << led
            any_void = any_void or (seat != view.seat and seat != dummy)
    return any_void


@row
def share_row(cards: int, need: I64, hands: I64, key: np.uint64) -> np.uint64:
    """Deal ``cards`` at random, ``need`` ``[4]`` a seat (used up), onto ``hands`` ``[4]``; return the next key."""
    left = need[0] + need[1] + need[2] + need[3]
    while cards:
        rest = cards & (cards - 1)
        key = next_row(key)
        place, seat = below_row(key, left), 0
        while place >= need[seat]:
            place -= need[seat]
            seat += 1
        hands[seat] |= cards ^ rest
        need[seat] -= 1
        left -= 1
        cards = rest
    return key


@row
def ways_row(sizes: I64, voids: I64, seats: I64, need: I64, ways: F64) -> None:
    """Completions of suits ``s`` ... 3 into ``ways[s, i, j]``.

    ``i`` and ``j`` cards are still to go to ``seats[0]`` and ``seats[1]``, the others to ``seats[2]``;
    ``sizes`` ``[4]`` hidden cards a suit, ``voids`` and ``need`` ``[4]`` by seat.
    """
    first, second, third = seats[0], seats[1], seats[2]
    ways[4, :, :] = 0
    ways[4, 0, 0] = 1
    for suit in range(3, -1, -1):
        size = sizes[suit]
        most_a = 0 if (voids[first] >> suit) & 1 else size
        most_b = 0 if (voids[second] >> suit) & 1 else size
        no_c = (voids[third] >> suit) & 1
        for i in range(need[first] + 1):
            for j in range(need[second] + 1):
                total = 0.0
                for a in range(min(i, most_a) + 1):
                    for b in range(min(j, most_b, size - a) + 1):
                        if a + b == size or not no_c:
                            total += _CHOOSE[size, a] * _CHOOSE[size - a, b] * ways[suit + 1, i - a, j - b]
                ways[suit, i, j] = total


@row
def split_row(suit: int, size: int, voids: I64, seats: I64, left: I64, ways: F64, key: np.uint64, take: I64) -> None:
    """Draw how many of ``size`` cards of ``suit`` each of ``seats`` takes, into ``take`` ``[4]``."""
    first, second, third = seats[0], seats[1], seats[2]
    most_a = 0 if (voids[first] >> suit) & 1 else size
    most_b = 0 if (voids[second] >> suit) & 1 else size
    no_c = (voids[third] >> suit) & 1
    target = unit_row(key) * ways[suit, left[first], left[second]]
    for a in range(min(left[first], most_a) + 1):
        for b in range(min(left[second], most_b, size - a) + 1):
            if a + b < size and no_c:
                continue
            weight = _CHOOSE[size, a] * _CHOOSE[size - a, b] * ways[suit + 1, left[first] - a, left[second] - b]
            if weight > 0:
                take[first], take[second], take[third] = a, b, size - a - b  # the last one stands if rounding runs out
                target -= weight
                if target < 0:
                    return


@row
def share_with_voids_row(hidden: int, viewer: int, need: I64, voids: I64, hands: I64, key: np.uint64) -> np.uint64:
    """``share_row`` of the ``hidden`` cards to the seats other than ``viewer``, none to a seat void in its suit."""
    seats, sizes, take = np.empty(3, np.int64), np.empty(4, np.int64), np.zeros(4, np.int64)
    for k in range(3):
        seats[k] = (viewer + 1 + k) % 4
    for suit in range(4):
        sizes[suit] = count_row(hidden & (SUIT_OF_CLUBS << suit))
    ways = np.empty((5, HAND_SIZE + 1, HAND_SIZE + 1))
    ways_row(sizes, voids, seats, need, ways)
    for suit in range(4):
        key = next_row(key)
        split_row(suit, sizes[suit], voids, seats, need, ways, key, take)
        for k in range(3):
            need[seats[k]] -= take[seats[k]]
        key = share_row(hidden & (SUIT_OF_CLUBS << suit), take, hands, key)
    return key


@row
def determinize_row(view: State, key: np.uint64, out: State) -> np.uint64:
    """Draw a random table that fits ``view`` from ``key``; return the next key.

    The double-dummy table is unknown (-1), and at the second table of a duplicate pair the first result counts as 0.
    """
    copy_public_row(view, out)
    out.tricks[:] = -1
    out.points[:] = 0
    known_hands_row(view, out.hands)
    hidden = FULL_DECK
    need, voids = np.empty(4, np.int64), np.empty(4, np.int64)
    for seat in range(4):
        hidden &= ~out.hands[seat]
        need[seat] = HAND_SIZE - count_row(out.hands[seat])
    if voids_row(view, voids):
        key = share_with_voids_row(hidden, view.seat, need, voids, out.hands, key)
    else:
        key = share_row(hidden, need, out.hands, key)
    assign_row(out.held, out.hands)
    for t in range(view.plays):
        out.held[int(view.players[t])] &= ~(np.int64(1) << np.int64(view.played[t]))
    return key


@batched
@rows_a_thread(256)
def determinize(start: int, stop: int, views: States, keys: U64, out: States) -> None:
    """``determinize_row`` of every view; ``keys`` ``[B]`` are advanced."""
    for b in range(start, stop):
        keys[b] = determinize_row(views[b], keys[b], out[b])

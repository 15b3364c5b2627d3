"""Random deals that agree with what a seat knows: its cards, the cards played and the suits shown void.

Every such deal is equally likely. The bids are not used. Unseen cards fall into groups by the suits the other
seats may still hold, so it is enough to draw how many cards of each group go where, then which.
"""

import numpy as np

from bidzoo.core.bits import count_row
from bidzoo.core.cards import FULL_DECK
from bidzoo.core.kernels import U64, State, States, batched, row, rows_a_thread
from bidzoo.core.streams import below_row, next_row, unit_row
from bidzoo.envs.spades.deals import SUIT_CARDS
from bidzoo.envs.spades.state import copy_public_row

_1 = np.uint64(1)


@row
def _choose_row(n: int, k: int) -> float:
    """``n`` choose ``k``; 0 outside the triangle."""
    if k < 0 or k > n:
        return 0.0
    ways = 1.0
    for i in range(min(k, n - k)):
        ways = ways * (n - i) / (i + 1)
    return ways


@row
def _split_row(cards: int, first: int, second: int, third: int, key: np.uint64) -> tuple[int, int, int, np.uint64]:
    """``cards`` split at random into ``first``, ``second`` and ``third`` many, and the next key."""
    left = first + second + third
    hand_0, hand_1, hand_2 = 0, 0, 0
    while cards:
        card = cards & -cards  # the lowest bit
        cards ^= card
        draw = below_row(key, left)
        key = next_row(key)
        left -= 1
        if draw < first:
            hand_0 |= card
            first -= 1
        elif draw < first + second:
            hand_1 |= card
            second -= 1
        else:
            hand_2 |= card
    return hand_0, hand_1, hand_2, key


@row
def _group_row(view: State, unseen: int, allowed: int) -> int:
    """Cards of ``unseen`` that exactly the seats of ``allowed`` (bit 0 the seat on the viewer's left) may hold."""
    cards = 0
    for suit in range(4):
        seats = 0
        for j in range(3):
            if not view.voids[(int(view.seat) + 1 + j) % 4] >> suit & 1:
                seats |= 1 << j
        if seats == allowed:
            cards |= unseen & SUIT_CARDS[view.deck, suit]
    return cards


@row
def _ways_row(a: int, b: int, n_ab: int, n_ac: int, n_bc: int, n_abc: int, x: int, y: int, z: int) -> float:
    """Deals in which seat A gets ``x`` of the ab cards and ``y`` of ac, and B ``z`` of bc; A, B need ``a``, ``b``."""
    from_all_a, from_all_b = a - x - y, b - (n_ab - x) - z
    ways = _choose_row(n_abc, from_all_a) * _choose_row(n_abc - from_all_a, from_all_b)
    if ways == 0.0:
        return 0.0
    return ways * _choose_row(n_ab, x) * _choose_row(n_ac, y) * _choose_row(n_bc, z)


@row
def _three_hands_row(view: State, unseen: int, a: int, b: int, key: np.uint64) -> tuple[int, int, int, np.uint64]:
    """``unseen`` dealt to the three seats clockwise from the viewer; they need ``a``, ``b`` and the other cards."""
    hand_a, hand_b, hand_c = _group_row(view, unseen, 1), _group_row(view, unseen, 2), _group_row(view, unseen, 4)
    ab, ac = _group_row(view, unseen, 3), _group_row(view, unseen, 5)
    bc, abc = _group_row(view, unseen, 6), _group_row(view, unseen, 7)
    a, b = a - count_row(hand_a), b - count_row(hand_b)
    n_ab, n_ac, n_bc, n_abc = count_row(ab), count_row(ac), count_row(bc), count_row(abc)
    total = 0.0
    for x in range(n_ab + 1):
        for y in range(n_ac + 1):
            for z in range(n_bc + 1):
                total += _ways_row(a, b, n_ab, n_ac, n_bc, n_abc, x, y, z)
    target = unit_row(key) * total
    key = next_row(key)
    to_a, ac_to_a, bc_to_b = -1, 0, 0
    for x in range(n_ab + 1):
        for y in range(n_ac + 1):
            for z in range(n_bc + 1):
                ways = _ways_row(a, b, n_ab, n_ac, n_bc, n_abc, x, y, z)
                if ways > 0.0 and target >= 0.0:
                    to_a, ac_to_a, bc_to_b = x, y, z  # the last possible one if rounding leaves the target beyond
                    target -= ways
    part_a, part_b, _, key = _split_row(ab, to_a, n_ab - to_a, 0, key)
    hand_a, hand_b = hand_a | part_a, hand_b | part_b
    part_a, part_c, _, key = _split_row(ac, ac_to_a, n_ac - ac_to_a, 0, key)
    hand_a, hand_c = hand_a | part_a, hand_c | part_c
    part_b, part_c, _, key = _split_row(bc, bc_to_b, n_bc - bc_to_b, 0, key)
    hand_b, hand_c = hand_b | part_b, hand_c | part_c
    more_a, more_b = a - to_a - ac_to_a, b - (n_ab - to_a) - bc_to_b
    part_a, part_b, part_c, key = _split_row(abc, more_a, more_b, n_abc - more_a - more_b, key)
    return hand_a | part_a, hand_b | part_b, hand_c | part_c, key


@row
def determinize_row(view: State, key: np.uint64, out: State) -> np.uint64:
    """Draw a random state ``out`` that ``view`` may be a view of; return the next key."""
    copy_public_row(view, out)
    key = next_row(key)
    seat = int(view.seat)
    out.hands[:] = 0
    for t in range(view.plays):
        out.hands[view.players[t]] |= 1 << int(view.played[t])
    out.held[seat] = view.held_here
    if not view.looked >> seat & 1:  # nothing is played yet, and its own hand is as unknown as the others
        out.held[seat], unseen, _, key = _split_row(FULL_DECK, 13, 39, 0, key)
    else:
        unseen = FULL_DECK & ~view.gone & ~view.held_here
    left, across, right = (seat + 1) % 4, (seat + 2) % 4, (seat + 3) % 4
    a, b = 13 - count_row(out.hands[left]), 13 - count_row(out.hands[across])
    hand_a, hand_b, hand_c, key = _three_hands_row(view, unseen, a, b, key)
    out.held[left], out.held[across], out.held[right] = hand_a, hand_b, hand_c
    for holder in range(4):
        out.hands[holder] |= out.held[holder]
    out.seed = int(key >> _1)
    return next_row(key)


@batched
@rows_a_thread(256)
def determinize(start: int, stop: int, views: States, keys: U64, out: States) -> None:
    """``determinize_row`` of ``views`` ``[B]`` with ``keys`` ``[B]``, which are advanced."""
    for b in range(start, stop):
        keys[b] = determinize_row(views[b], keys[b], out[b])

"""The card a Spades player leads, by goal (appendix D). Cards come back as ``(suit, rank)``.

To lead for tricks, against a nil, or to avoid tricks is a sum of weights. They are points of a round, fitted by
least squares to the mean results of every possible lead in 26 000 positions of SRP's own games, each played out by
SRP on 40 deals that agree with the cards and bids seen so far (docs/agents/srp.md). The leads that keep or cover
a nil are rules.
"""

import numpy as np

from bidzoo.agents.spades.follow import boss_row, may_cut_row
from bidzoo.agents.spades.sight import ALLY, LEFT, RIGHT, Sight
from bidzoo.agents.spades.suits import high_row
from bidzoo.bits import count_row, lowest_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import Table, allocate, row

FOR_TRICKS, FOR_NIL, FOR_NOTHING = range(3)
WEIGHT = np.dtype(
    [
        # a side suit
        ("boss", "f8"),  # nothing unseen is higher
        ("boss_out", "f8"),  # ... a card of the suit still unseen
        ("boss_tight", "f8"),  # ... times tricks needed by tricks left
        ("above", "f8"),  # a higher unseen card, at most six
        ("under", "f8"),  # a lower unseen card
        ("length", "f8"),  # a card of the suit in our hand
        ("unseen", "f8"),  # an unseen card of the suit
        ("rank", "f8"),  # a rank above the lowest
        ("single", "f8"),  # our last card of the suit, no boss, with spades to cut later
        ("second_best", "f8"),  # below our own second-best card
        ("cut", "f8"),  # an opponent will cut, and it is no boss
        ("cut_boss", "f8"),  # ... and it is one
        ("ally_short", "f8"),  # partner can cut
        ("out", "f8"),  # nobody else has the suit
        # spades
        ("spade", "f8"),
        ("spade_boss", "f8"),
        ("spade_boss_length", "f8"),  # ... a spade in our hand
        ("spade_boss_out", "f8"),  # ... an unseen spade
        ("spade_tight", "f8"),  # tricks needed by tricks left
        ("spade_bosses", "f8"),  # a side suit of which we hold the boss
        ("spade_above", "f8"),
        ("spade_rank", "f8"),
        ("spade_length", "f8"),
    ],
    align=True,
)
_FITTED = """
3.2 -0.1 -0.8 0.0 -0.2 -0.1 0.2 0.2 1.0 1.4 -1.0 -4.4 2.3 -0.3  -8.2 8.9 -0.5 -0.7 2.5 2.4 0.5 0.2 0.8
-11.1 0.0 9.0 0.3 -0.4 -0.6 0.1 0.3 0.6 0.2 -6.5 -0.1 2.9 -3.9  -1.8 -3.7 -1.4 -0.5 0.8 0.2 0.5 -0.3 0.6
-2.6 -0.1 -1.5 -0.1 0.3 -0.5 -0.3 -0.1 -0.5 0.1 -0.1 -0.1 -0.2 0.5  1.0 -2.4 -1.1 0.8 1.2 -0.8 -0.4 -0.3 -0.1
"""
WEIGHTS = allocate(WEIGHT, 3)
for _purpose, _line in enumerate(_FITTED.strip().split("\n")):
    WEIGHTS[_purpose] = tuple(float(word) for word in _line.split())
_TIGHTEST = 1.5


@row
def opponent_cuts_row(sight: Sight, suit: int) -> bool:
    """An opponent is known to be able to cut ``suit``."""
    return may_cut_row(sight, LEFT, suit) or may_cut_row(sight, RIGHT, suit)


@row
def tightness_row(sight: Sight) -> float:
    """Tricks our contract needs of those left, at most 1.5."""
    return min(_TIGHTEST, max(0, sight.need) / sight.left)


@row
def side_lead_row(sight: Sight, suit: int, rank: int, ally_short: bool, cut: bool, w: Table) -> float:
    """Points of leading a card of a side suit."""
    own, unseen = sight.own[suit], sight.unseen[suit]
    above, out = count_row(unseen >> (rank + 1)), count_row(unseen)
    value = w.above * min(above, 6) + w.under * count_row(unseen & ((1 << rank) - 1)) + w.rank * rank
    value += w.length * count_row(own) + w.unseen * out
    if above == 0:
        value += w.boss + w.boss_out * out + w.boss_tight * tightness_row(sight)
    elif own & (own - 1) == 0 and sight.own[SPADES]:
        value += w.single
    high = high_row(own)
    if rank < high and count_row(unseen >> (high + 1)) == 1:
        value += w.second_best
    if cut:
        value += w.cut_boss if above == 0 else w.cut
    if ally_short:
        value += w.ally_short
    return value + (w.out if out == 0 else 0.0)


@row
def spade_lead_row(sight: Sight, rank: int, w: Table) -> float:
    """Points of leading a spade."""
    length, unseen = count_row(sight.own[SPADES]), sight.unseen[SPADES]
    above = count_row(unseen >> (rank + 1))
    value = w.spade + w.spade_tight * tightness_row(sight) + w.spade_rank * rank + w.spade_length * length
    value += w.spade_above * min(above, 6)
    if above == 0:
        value += w.spade_boss + w.spade_boss_length * length + w.spade_boss_out * count_row(unseen)
    for suit in range(3):
        if sight.own[suit] and boss_row(sight, suit, high_row(sight.own[suit])):
            value += w.spade_bosses
    return value


@row
def weighed_lead_row(sight: Sight, purpose: int, ally_short: int) -> tuple[int, int]:
    """The lead of most points; ``ally_short``: bits of the side suits partner can cut."""
    best, suit, rank = -1e9, -1, -1
    w = WEIGHTS[purpose]
    for k in range(4):
        if k == SPADES and not sight.lead_spades:
            continue
        cut = opponent_cuts_row(sight, k)
        mask = sight.own[k]
        while mask:
            card = lowest_row(mask)
            mask &= mask - 1
            if mask and not sight.unseen[k] >> card & ((mask & -mask) - 1) >> card:
                continue  # as good as the next higher one
            if k == SPADES:
                value = spade_lead_row(sight, card, w)
            else:
                value = side_lead_row(sight, k, card, ally_short >> k & 1 == 1, cut, w)
            if value > best:
                best, suit, rank = value, k, card
    return suit, rank


@row
def low_lead_row(sight: Sight) -> tuple[int, int]:
    """The lead most likely to lose: many unseen cards above it, few below."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades):
            continue
        low = lowest_row(mask)
        above = count_row(sight.unseen[k] >> (low + 1))
        under = count_row(sight.unseen[k] & ((1 << low) - 1))
        value = 3 * above - 4 * under
        if above == 0:
            value -= 40
        if k == SPADES:
            value -= 3
        if value > best:
            best, suit, rank = value, k, low
    return suit, rank


@row
def cover_lead_row(sight: Sight) -> tuple[int, int]:
    """High cards that partner can play under, best in a suit partner no longer holds."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades):
            continue
        high = high_row(mask)
        above = count_row(sight.unseen[k] >> (high + 1))
        value = high - 6 * above + (6 if above == 0 else 0)
        if sight.voids[ALLY] >> k & 1:
            value += 30 if k != SPADES else 10
        if k == SPADES:
            value -= 4
        if value > best:
            best, suit, rank = value, k, high
    if sight.voids[ALLY] >> suit & 1:
        return suit, rank if sight.need > 0 else lowest_row(sight.own[suit])
    return suit, rank

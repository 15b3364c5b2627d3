"""The card a Spades player leads, by goal (appendix D). Cards come back as ``(suit, rank)``.

To lead for tricks, against a nil, or to avoid tricks is a sum of weights. They are points of a round, fitted by
least squares to the mean results of every possible lead in 26 000 positions of SRP's own games, each played out by
SRP on 40 deals that agree with the cards and bids seen so far (docs/agents/srp.md). The leads that keep or cover
a nil are rules.
"""

from typing import NamedTuple

from bidzoo.agents.spades.situation import ALLY, LEFT, RIGHT, Situation, boss_row, high_row, may_cut_row
from bidzoo.core.bits import count_row, lowest_row
from bidzoo.core.kernels import row
from bidzoo.envs.spades.state import SPADES

FOR_TRICKS, FOR_NIL, FOR_NOTHING = range(3)


class LeadWeights(NamedTuple):
    """Points of a lead."""

    # a side suit
    boss: float  # nothing unseen is higher
    boss_out: float  # ... a card of the suit still unseen
    boss_tight: float  # ... times tricks needed by tricks remaining
    above: float  # a higher unseen card, at most six
    under: float  # a lower unseen card
    length: float  # a card of the suit in our hand
    unseen: float  # an unseen card of the suit
    rank: float  # a rank above the lowest
    single: float  # our last card of the suit, no boss, with spades to cut later
    second_best: float  # below our own second-best card
    cut: float  # an opponent will cut, and it is no boss
    cut_boss: float  # ... and it is one
    ally_short: float  # partner can cut
    out: float  # nobody else has the suit
    # spades
    spade: float
    spade_boss: float
    spade_boss_length: float  # ... a spade in our hand
    spade_boss_out: float  # ... an unseen spade
    spade_tight: float  # tricks needed by tricks remaining
    spade_bosses: float  # a side suit of which we hold the boss
    spade_above: float
    spade_rank: float
    spade_length: float


_FITTED = """
3.2 -0.1 -0.8 0.0 -0.2 -0.1 0.2 0.2 1.0 1.4 -1.0 -4.4 2.3 -0.3  -8.2 8.9 -0.5 -0.7 2.5 2.4 0.5 0.2 0.8
-11.1 0.0 9.0 0.3 -0.4 -0.6 0.1 0.3 0.6 0.2 -6.5 -0.1 2.9 -3.9  -1.8 -3.7 -1.4 -0.5 0.8 0.2 0.5 -0.3 0.6
-2.6 -0.1 -1.5 -0.1 0.3 -0.5 -0.3 -0.1 -0.5 0.1 -0.1 -0.1 -0.2 0.5  1.0 -2.4 -1.1 0.8 1.2 -0.8 -0.4 -0.3 -0.1
"""
WEIGHTS = tuple(LeadWeights(*map(float, line.split())) for line in _FITTED.strip().split("\n"))  # by purpose
_TIGHTEST = 1.5


@row
def tightness_row(s: Situation) -> float:
    """Tricks our contract needs of those remaining, at most 1.5."""
    return min(_TIGHTEST, max(0, s.need) / s.remaining)


@row
def side_lead_row(s: Situation, suit: int, rank: int, ally_short: bool, cut: bool, w: LeadWeights) -> float:
    """Points of leading a card of a side suit."""
    own, unseen = s.own[suit], s.unseen[suit]
    above, out = count_row(unseen >> (rank + 1)), count_row(unseen)
    value = w.above * min(above, 6) + w.under * count_row(unseen & ((1 << rank) - 1)) + w.rank * rank
    value += w.length * count_row(own) + w.unseen * out
    if above == 0:
        value += w.boss + w.boss_out * out + w.boss_tight * tightness_row(s)
    elif own & (own - 1) == 0 and s.own[SPADES]:
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
def spade_lead_row(s: Situation, rank: int, w: LeadWeights) -> float:
    """Points of leading a spade."""
    length, unseen = count_row(s.own[SPADES]), s.unseen[SPADES]
    above = count_row(unseen >> (rank + 1))
    value = w.spade + w.spade_tight * tightness_row(s) + w.spade_rank * rank + w.spade_length * length
    value += w.spade_above * min(above, 6)
    if above == 0:
        value += w.spade_boss + w.spade_boss_length * length + w.spade_boss_out * count_row(unseen)
    for suit in range(3):
        if s.own[suit] and boss_row(s, suit, high_row(s.own[suit])):
            value += w.spade_bosses
    return value


@row
def weighed_lead_row(s: Situation, purpose: int, ally_short: int) -> tuple[int, int]:
    """The lead of most points; ``ally_short``: bits of the side suits partner can cut."""
    best, suit, rank = -1e9, -1, -1
    w = WEIGHTS[purpose]
    for k in range(4):
        if k == SPADES and not s.lead_spades:
            continue
        cut = may_cut_row(s, LEFT, k) or may_cut_row(s, RIGHT, k)  # an opponent is known to be able to
        mask = s.own[k]
        while mask:
            card = lowest_row(mask)
            mask &= mask - 1
            if mask and not s.unseen[k] >> card & ((mask & -mask) - 1) >> card:
                continue  # as good as the next higher one
            if k == SPADES:
                value = spade_lead_row(s, card, w)
            else:
                value = side_lead_row(s, k, card, ally_short >> k & 1 == 1, cut, w)
            if value > best:
                best, suit, rank = value, k, card
    return suit, rank


@row
def nil_lead_row(s: Situation, cover: bool) -> tuple[int, int]:
    """The lead that keeps our nil: the card most likely to lose, with many unseen cards above it and few below.

    With ``cover``, the lead that covers partner's nil: a high card that partner can play under, best in a suit partner
    no longer holds.
    """
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = s.own[k]
        if mask == 0 or (k == SPADES and not s.lead_spades):
            continue
        card = high_row(mask) if cover else lowest_row(mask)
        above = count_row(s.unseen[k] >> (card + 1))
        if cover:
            value = card - 6 * above + (6 if above == 0 else 0) - (4 if k == SPADES else 0)
            if s.voids[ALLY] >> k & 1:
                value += 30 if k != SPADES else 10
        else:
            under = count_row(s.unseen[k] & ((1 << card) - 1))
            value = 3 * above - 4 * under - (40 if above == 0 else 0) - (3 if k == SPADES else 0)
        if value > best:
            best, suit, rank = value, k, card
    if cover and s.voids[ALLY] >> suit & 1 and s.need <= 0:
        return suit, lowest_row(s.own[suit])
    return suit, rank

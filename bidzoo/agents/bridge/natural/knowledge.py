"""The records of the natural bidder: the value of a hand, what the auction has shown, and what one call promises.

Every call narrows the caller's ranges. Points: ``hcp`` are high-card points (A K Q J = 4 3 2 1); ``points`` add one for
every card beyond the fourth of a suit or, in support of a known trump suit, shortness (``support_row``). Bounds are
inclusive.
"""

from collections import namedtuple
from typing import Any, cast

import numpy as np

from bidzoo.agents import DATA
from bidzoo.core.bits import count_row
from bidzoo.core.cards import DOUBLE, FIRST_BID, HEARTS, NOTRUMP, PASS, SPADES
from bidzoo.core.kernels import I64, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.schema import csv_rows
from bidzoo.envs.bridge import bidder
from bidzoo.envs.bridge.play import SUIT_OF_CLUBS

NO_SUIT = -1
LOWEST = -1  # priority of a call that has no meaning here: it is not made
MOST_HCP, MOST_POINTS = 40, 50

HAND = np.dtype(
    [
        ("hcp", "i8"),
        ("points", "i8"),
        ("balanced", "i8"),  # no void, no singleton, at most one doubleton
        ("aces", "i8"),
        ("length", "i8", (4,)),  # C D H S
        ("honours", "i8", (4,)),  # high-card points in the suit
        ("stopped", "i8", (4,)),  # A, Kx, Qxx or Jxxx
    ],
    align=True,
)

KNOWLEDGE = np.dtype(
    [
        # the turn
        ("seat", "i8"),
        ("partner", "i8"),
        ("left", "i8"),
        ("right", "i8"),
        ("bid", "i8"),  # highest so far, -1 for none
        ("bidder", "i8"),
        ("stake", "i8"),
        ("passes", "i8"),  # in a row
        ("vulnerable", "i8"),  # bit 0 N/S, bit 1 E/W
        # the auction
        ("opener", "i8"),  # seat, -1 before
        ("opening", "i8"),  # its call
        ("agreed", "i8", (2,)),  # trump suit of N/S and of E/W, NO_SUIT if none
        ("must", "i8", (2,)),  # seat of the side that may not pass, -1 if none
        ("game", "i8", (2,)),  # 1: the side has undertaken to bid game
        # each seat
        ("hcp_low", "i8", (4,)),
        ("hcp_high", "i8", (4,)),
        ("points_low", "i8", (4,)),
        ("points_high", "i8", (4,)),
        ("low", "i8", (4, 4)),  # [seat, suit]  cards at least
        ("high", "i8", (4, 4)),  # [seat, suit]  cards at most
        ("named", "i8", (4, 4)),  # [seat, suit]  1: bid naturally
        ("balanced", "i8", (4,)),
        ("actions", "i8", (4,)),  # calls other than pass
        ("turns", "i8", (4,)),  # calls since the opening bid, the opening included
        ("last", "i8", (4,)),  # last call, -1 before
        ("rule", "i8", (4,)),  # rule of the last call
        ("preempted", "i8", (4,)),  # 1: its hand is described, the rest is partner's
        ("aces", "i8", (4,)),  # shown in answer to Blackwood, -1 if not asked
    ],
    align=True,
)

MEANING = np.dtype(
    [
        ("rule", "i8"),  # one of ``R``
        ("priority", "i8"),  # the call of highest priority whose promise the hand keeps is made
        ("hcp_low", "i8"),
        ("hcp_high", "i8"),
        ("points_low", "i8"),
        ("points_high", "i8"),
        ("trump", "i8"),  # suit whose support points count, NO_SUIT for length points
        ("low", "i8", (4,)),
        ("high", "i8", (4,)),
        ("balanced", "i8"),  # 1: it must be
        ("longest", "i8"),  # suit no other is longer than, or NO_SUIT
        ("better", "i8"),  # suit at least ``by`` cards longer than ``worse``, or NO_SUIT
        ("worse", "i8"),
        ("by", "i8"),
        ("tie", "i8"),  # equal lengths of the two must be at least this
        ("either", "i8"),  # bit mask of suits one of which has ``either_low`` cards
        ("either_low", "i8"),
        ("strong", "i8"),  # with as many high-card points the other requirements do not matter
        ("quality", "i8"),  # high-card points in the suit ``strain``, at least
        ("strain", "i8"),  # strain of the call, -1 if it is no bid
        ("stops", "i8"),  # bit mask of suits that must be stopped
        ("aces", "i8"),  # bit mask of the numbers of aces it may be made on; 0: any
        ("natural", "i8"),  # 1: offers to play the strain
        ("force", "i8"),  # 0 no, 1 partner may not pass, 2 to game
        ("agrees", "i8"),  # suit it agrees as trumps, or NO_SUIT
    ],
    align=True,
)

# What a call is made by: its number is its line, its name in code ``R.PASS``.
RULES = {row["name"]: row["words"] for row in csv_rows(DATA / "bridge" / "rules.csv")}
R: Any = cast(Any, namedtuple)("R", RULES)(*range(len(RULES)))


# ---- promises ----------------------------------------------------------------------------
# Words in which the rules are written: each narrows what a call promises.


@row
def clear_row(m: State, strain: int) -> None:
    """Reset ``m``: the call promises nothing and is not to be made."""
    m.rule, m.priority = R.NATURAL, LOWEST
    m.hcp_low, m.hcp_high, m.points_low, m.points_high = 0, MOST_HCP, 0, MOST_POINTS
    m.low[:] = 0
    m.high[:] = 13
    m.trump, m.balanced, m.longest, m.better, m.worse = NO_SUIT, 0, NO_SUIT, NO_SUIT, NO_SUIT
    m.by, m.tie, m.either, m.either_low, m.strong = 0, 0, 0, 4, MOST_HCP + 1
    m.quality, m.strain, m.stops, m.aces = 0, strain, 0, 0
    m.natural, m.force, m.agrees = 0, 0, NO_SUIT


@row
def hcp_row(m: State, rule: int, priority: int, low: int, high: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` high-card points."""
    m.rule, m.priority, m.hcp_low, m.hcp_high = rule, priority, low, high


@row
def points_row(m: State, rule: int, priority: int, low: int, high: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` points counting length."""
    m.rule, m.priority, m.points_low, m.points_high = rule, priority, low, high


@row
def support_points_row(m: State, rule: int, priority: int, low: int, high: int, trump: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` points in support of ``trump``, and agrees it."""
    points_row(m, rule, priority, low, high)
    m.trump, m.agrees, m.natural = trump, trump, 1


@row
def suit_row(m: State, suit: int, low: int, high: int) -> None:
    """``low`` ... ``high`` cards of ``suit``."""
    m.low[suit], m.high[suit] = low, high


@row
def suit_bid_row(m: State, rule: int, priority: int, low: int, high: int, suit: int, cards: int) -> None:
    """``points_row`` with ``cards`` or more of ``suit``, which it offers to play."""
    points_row(m, rule, priority, low, high)
    m.low[suit], m.high[suit], m.natural = cards, 13, 1


@row
def raise_row(m: State, rule: int, priority: int, low: int, high: int, trump: int, cards: int) -> None:
    """``support_points_row`` with ``cards`` or more of ``trump``."""
    support_points_row(m, rule, priority, low, high, trump)
    suit_row(m, trump, cards, 13)


@row
def notrump_row(m: State, rule: int, priority: int, low: int, high: int, stops: int) -> None:
    """A natural notrump bid on ``low`` ... ``high`` high-card points with ``stops`` (bit mask) stopped."""
    hcp_row(m, rule, priority, low, high)
    m.stops, m.natural = stops, 1


# ---- hands -------------------------------------------------------------------------------


@row
def evaluate_row(cards: int, out: State) -> None:
    """Points, lengths, honours and stoppers of ``cards`` (bit ``4 * rank + suit``) into a ``HAND`` record."""
    out.hcp, out.aces, extra, doubletons, shortest = bidder.points_row(cards), 0, 0, 0, 13
    for suit in range(4):
        held = (cards >> suit) & SUIT_OF_CLUBS
        length = count_row(held)
        out.length[suit], out.honours[suit] = length, bidder.points_row(held)
        out.stopped[suit] = 1 if bidder.stopped_row(held, length) else 0
        out.aces += held >> 48
        extra += max(length - 4, 0)
        doubletons += length == 2
        shortest = min(shortest, length)
    out.points = out.hcp + extra
    out.balanced = 1 if shortest >= 2 and doubletons <= 1 else 0


@batched
@rows_a_thread(1024)
def _evaluate(start: int, stop: int, cards: I64, out: States) -> None:
    for b in range(start, stop):
        evaluate_row(cards[b], out[b])


def evaluate(cards: I64) -> States:
    """``HAND`` records ``[B]`` of hands ``[B]``."""
    out = allocate(HAND, len(cards))
    _evaluate(np.ascontiguousarray(cards), out)
    return out


@row
def support_row(hand: State, trump: int) -> int:
    """Points in support of ``trump``: high cards, shortness for which trumps are left, and trumps beyond the fourth."""
    trumps = hand.length[trump]
    points = hand.hcp + max(trumps - 4, 0)
    for suit in range(4):
        if suit != trump and hand.length[suit] < 3:
            short = 3 - hand.length[suit]  # 1 doubleton, 2 singleton, 3 void
            points += min(short + (1 if trumps >= 4 and short >= 2 else 0), trumps) if trumps >= 3 else 0
    return points


@row
def keeps_row(hand: State, meaning: State) -> bool:
    """Whether ``hand`` keeps the promise ``meaning``."""
    if hand.hcp >= meaning.strong:
        return True
    if hand.hcp < meaning.hcp_low or hand.hcp > meaning.hcp_high:
        return False
    points = hand.points if meaning.trump == NO_SUIT else support_row(hand, meaning.trump)
    if points < meaning.points_low or points > meaning.points_high:
        return False
    if meaning.balanced and not hand.balanced:
        return False
    for suit in range(4):
        length = hand.length[suit]
        if length < meaning.low[suit] or length > meaning.high[suit]:
            return False
        if meaning.longest != NO_SUIT and length > hand.length[meaning.longest]:
            return False
        if (meaning.stops >> suit) & 1 and not hand.stopped[suit]:
            return False
    if meaning.better != NO_SUIT:
        better, worse = hand.length[meaning.better], hand.length[meaning.worse]
        if better < worse + meaning.by or (better == worse and better < meaning.tie):
            return False
    if meaning.either != 0:
        has_suit = False
        for suit in range(4):
            has_suit = has_suit or ((meaning.either >> suit) & 1 == 1 and hand.length[suit] >= meaning.either_low)
        if not has_suit:
            return False
    if meaning.quality > 0 and hand.honours[meaning.strain] < meaning.quality:
        return False
    return meaning.aces == 0 or (meaning.aces >> hand.aces) & 1 == 1


# ---- the auction -------------------------------------------------------------------------

GAME_BID = 14  # 3NT


@row
def begin_row(k: State, dealer: int, vulnerable: int) -> None:
    """Reset ``k`` to what is known before the first call."""
    turn_row(k, dealer)
    k.bid, k.bidder, k.stake, k.passes, k.vulnerable = -1, -1, 1, 0, vulnerable
    k.opener, k.opening = -1, -1
    k.agreed[:] = NO_SUIT
    k.must[:] = -1
    k.game[:] = 0
    k.hcp_low[:] = 0
    k.hcp_high[:] = MOST_HCP
    k.points_low[:] = 0
    k.points_high[:] = MOST_POINTS
    k.low[:] = 0
    k.high[:] = 13
    k.named[:] = 0
    k.balanced[:] = 0
    k.actions[:] = 0
    k.turns[:] = 0
    k.last[:] = -1
    k.rule[:] = 0
    k.aces[:] = -1
    k.preempted[:] = 0


@row
def turn_row(k: State, seat: int) -> None:
    """Make ``seat`` the one to call."""
    k.seat, k.left, k.partner, k.right = seat, (seat + 1) % 4, (seat + 2) % 4, (seat + 3) % 4


@row
def cheapest_row(k: State, strain: int) -> int:
    """The lowest level at which ``strain`` can be bid now."""
    return int(k.bid // 5 + 1 + (1 if strain <= k.bid % 5 else 0))


@row
def named_row(k: State) -> int:
    """Bit mask of the suits that the opponents of the seat to call have named."""
    suits = 0
    for suit in range(4):
        if k.named[k.left, suit] or k.named[k.right, suit]:
            suits |= 1 << suit
    return suits


@row
def learn_row(k: State, call: int, m: State) -> None:
    """Record ``call`` of ``k.seat`` with its meaning ``m``; the turn passes on."""
    seat, side = k.seat, k.seat % 2
    _hand_row(k, seat, m)
    _auction_row(k, call, m)
    if k.rule[seat] == R.STAYMAN and k.named[k.partner, HEARTS] and m.natural and m.strain == NOTRUMP:
        k.low[seat, SPADES] = 4  # who asked for a major and has no use for hearts has spades
    k.last[seat], k.rule[seat] = call, m.rule
    if k.opener >= 0:
        k.turns[seat] += 1
    if m.rule in (R.WEAK_TWO, R.PREEMPT, R.JUMP_OVERCALL):
        k.preempted[seat] = 1
    if m.rule == R.TRANSFER:
        k.named[seat, m.strain + 1] = 1
    elif m.rule == R.TWO_SUITS:
        for suit in range(4):
            if m.low[suit] >= 5:
                k.named[seat, suit] = 1
    if k.must[side] == seat:
        k.must[side] = -1
    if call != PASS:
        k.actions[seat] += 1
        k.must[1 - side] = -1
    if m.force > 0:
        k.must[side] = k.partner
    if m.force == 2:
        k.game[side] = 1
    if k.game[side] and call >= FIRST_BID and k.bid < GAME_BID:
        k.must[side] = k.partner
    if m.agrees != NO_SUIT:
        k.agreed[side] = m.agrees
    if k.agreed[side] == NO_SUIT:
        for suit in range(4):
            if k.low[seat, suit] + k.low[k.partner, suit] >= 8:
                k.agreed[side] = suit
    if m.rule == R.ACES:
        k.aces[seat] = max((call - FIRST_BID) % 5, 0)
        if k.agreed[side] != (call - FIRST_BID) % 5:
            k.must[side] = k.partner
    turn_row(k, (seat + 1) % 4)


@row
def _hand_row(k: State, seat: int, m: State) -> None:
    """Narrow the ranges of ``seat``; a promise that contradicts earlier ones replaces them."""
    hcp_low, hcp_high, points_low, points_high = m.hcp_low, m.hcp_high, m.points_low, m.points_high
    spread = 2 if m.balanced or k.balanced[seat] else 5
    hcp_low, hcp_high = max(hcp_low, points_low - spread), min(hcp_high, points_high)
    points_low, points_high = max(points_low, hcp_low), min(points_high, hcp_high + spread)
    k.hcp_low[seat], k.hcp_high[seat] = _narrow(k.hcp_low[seat], k.hcp_high[seat], hcp_low, hcp_high)
    k.points_low[seat], k.points_high[seat] = _narrow(k.points_low[seat], k.points_high[seat], points_low, points_high)
    for suit in range(4):
        low, high = m.low[suit], m.high[suit]
        if m.balanced:
            low, high = max(low, 2), min(high, 6)
        k.low[seat, suit], k.high[seat, suit] = _narrow(k.low[seat, suit], k.high[seat, suit], low, high)
    total = k.low[seat, 0] + k.low[seat, 1] + k.low[seat, 2] + k.low[seat, 3]
    for suit in range(4):
        k.high[seat, suit] = max(min(k.high[seat, suit], 13 - total + k.low[seat, suit]), k.low[seat, suit])
    if m.balanced:
        k.balanced[seat] = 1


@row
def _narrow(low: int, high: int, new_low: int, new_high: int) -> tuple[int, int]:
    """What two ranges share; the new one if they share nothing."""
    both_low, both_high = max(low, new_low), min(high, new_high)
    return (both_low, both_high) if both_low <= both_high else (new_low, max(new_low, new_high))


@row
def _auction_row(k: State, call: int, m: State) -> None:
    if call >= FIRST_BID:
        k.bid, k.bidder, k.stake, k.passes = call - FIRST_BID, k.seat, 1, 0
        if k.opener < 0:
            k.opener, k.opening = k.seat, call
        if m.natural and m.strain < NOTRUMP:
            k.named[k.seat, m.strain] = 1
    elif call == PASS:
        k.passes += 1
    else:
        k.stake, k.passes = 2 if call == DOUBLE else 4, 0

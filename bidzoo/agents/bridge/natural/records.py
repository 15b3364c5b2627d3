"""The three records of the natural bidder: a hand, what the auction has shown, and what one call promises.

Points: ``hcp`` are high-card points (A K Q J = 4 3 2 1); ``points`` add one for every card beyond the fourth of a
suit or, in support of a known trump suit, shortness (``knowledge.support_row``). Bounds are inclusive.
"""

from collections import namedtuple
from typing import Any, cast

import numpy as np

from bidzoo.core.kernels import State, row

NO_SUIT = -1
NEVER = -1  # priority of a call that has no meaning here
MOST_HCP, MOST_POINTS = 40, 50

HAND = np.dtype(
    [
        ("hcp", "i8"),
        ("points", "i8"),
        ("balanced", "i8"),  # no void, no singleton, at most one doubleton
        ("aces", "i8"),
        ("kings", "i8"),
        ("length", "i8", (4,)),  # C D H S
        ("honours", "i8", (4,)),  # high-card points in the suit
        ("stopped", "i8", (4,)),  # A, Kx, Qxx or Jxxx
    ],
    align=True,
)

KNOWN = np.dtype(
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
        ("preempted", "i8", (4,)),  # 1: its hand is told, the rest is partner's
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

RULES = {  # what a call is made by; its number, its name in code (``R.PASS``) and in words
    "PASS": "pass",
    "NATURAL": "natural bid",
    "SUIT_OPENING": "suit opening",
    "NOTRUMP_OPENING": "notrump opening",
    "STRONG": "strong artificial opening",
    "WEAK_TWO": "weak two",
    "PREEMPT": "preempt",
    "NEW_SUIT": "new suit",
    "RAISE": "raise",
    "PREEMPTIVE_RAISE": "preemptive raise",
    "NOTRUMP": "notrump",
    "JACOBY": "Jacoby 2NT",
    "JUMP_SHIFT": "jump shift",
    "STAYMAN": "Stayman",
    "STAYMAN_ANSWER": "answer to Stayman",
    "TRANSFER": "transfer",
    "TRANSFERRED": "completed transfer",
    "RELAY": "relay to clubs",
    "RELAYED": "completed relay",
    "WAITING": "waiting",
    "OVERCALL": "overcall",
    "JUMP_OVERCALL": "jump overcall",
    "NOTRUMP_OVERCALL": "notrump overcall",
    "TAKEOUT": "takeout double",
    "NEGATIVE": "negative double",
    "PENALTY": "penalty double",
    "REDOUBLE": "strong redouble",
    "CUE": "cue bid",
    "DOUBLE_ANSWER": "answer to a double",
    "REBID": "rebid of the suit",
    "REVERSE": "reverse",
    "PREFERENCE": "preference",
    "COMPETE": "competitive bid",
    "GAME": "game",
    "INVITE": "invitation",
    "SLAM": "slam",
    "BLACKWOOD": "Blackwood",
    "ACES": "answer to Blackwood",
    "QUANTITATIVE": "quantitative raise",
    "PENALTY_PASS": "penalty pass",
    "LAST_RESORT": "last resort",
    "CORRECTION": "correction",
    "FEATURE_ASK": "asks for a feature",
    "FEATURE": "feature",
    "TWO_SUITS": "two suits",
    "SHORT": "short suit",
}
R: Any = cast(Any, namedtuple)("R", RULES)(*range(len(RULES)))


# ---- promises ----------------------------------------------------------------------------
# Words in which the rules are written: each narrows what a call promises.


@row
def clear_row(m: State, strain: int) -> None:
    """Nothing promised, and not to be made."""
    m.rule, m.priority = R.NATURAL, NEVER
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
def notrump_row(m: State, rule: int, priority: int, low: int, high: int, stops: int) -> None:
    """A natural notrump bid on ``low`` ... ``high`` high-card points with ``stops`` (bit mask) stopped."""
    hcp_row(m, rule, priority, low, high)
    m.stops, m.natural = stops, 1

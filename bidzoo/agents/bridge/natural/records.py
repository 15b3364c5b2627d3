"""The three records of the natural bidder: a hand, what the auction has shown, and what one call promises.

Points: ``hcp`` are high-card points (A K Q J = 4 3 2 1); ``points`` add one for every card beyond the fourth of a
suit or, in support of a known trump suit, shortness (``hand.support_row``). Bounds are inclusive.
"""

import numpy as np

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
        ("rule", "i8"),  # index into ``RULES``
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

RULES = (
    "pass",
    "natural bid",
    "suit opening",
    "notrump opening",
    "strong artificial opening",
    "weak two",
    "preempt",
    "new suit",
    "raise",
    "preemptive raise",
    "notrump",
    "Jacoby 2NT",
    "jump shift",
    "Stayman",
    "answer to Stayman",
    "transfer",
    "completed transfer",
    "relay to clubs",
    "completed relay",
    "waiting",
    "overcall",
    "jump overcall",
    "notrump overcall",
    "takeout double",
    "negative double",
    "penalty double",
    "strong redouble",
    "cue bid",
    "answer to a double",
    "rebid of the suit",
    "reverse",
    "preference",
    "competitive bid",
    "game",
    "invitation",
    "slam",
    "Blackwood",
    "answer to Blackwood",
    "quantitative raise",
    "penalty pass",
    "last resort",
    "correction",
    "asks for a feature",
    "feature",
    "two suits",
    "short suit",
)
(
    R_PASS,
    R_NATURAL,
    R_SUIT_OPENING,
    R_NOTRUMP_OPENING,
    R_STRONG,
    R_WEAK_TWO,
    R_PREEMPT,
    R_NEW_SUIT,
    R_RAISE,
    R_PREEMPTIVE_RAISE,
    R_NOTRUMP,
    R_JACOBY,
    R_JUMP_SHIFT,
    R_STAYMAN,
    R_STAYMAN_ANSWER,
    R_TRANSFER,
    R_TRANSFERRED,
    R_RELAY,
    R_RELAYED,
    R_WAITING,
    R_OVERCALL,
    R_JUMP_OVERCALL,
    R_NOTRUMP_OVERCALL,
    R_TAKEOUT,
    R_NEGATIVE,
    R_PENALTY,
    R_REDOUBLE,
    R_CUE,
    R_DOUBLE_ANSWER,
    R_REBID,
    R_REVERSE,
    R_PREFERENCE,
    R_COMPETE,
    R_GAME,
    R_INVITE,
    R_SLAM,
    R_BLACKWOOD,
    R_ACES,
    R_QUANTITATIVE,
    R_PENALTY_PASS,
    R_LAST_RESORT,
    R_CORRECTION,
    R_FEATURE_ASK,
    R_FEATURE,
    R_TWO_SUITS,
    R_SHORT,
) = range(len(RULES))

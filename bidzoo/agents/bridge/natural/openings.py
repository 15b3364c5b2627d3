"""Opening bids, and what follows a strong 2C, a weak two or a preempt.

Source: ACBL SAYC booklet; requirements of JPS Table 8 and BMCS Table V (12+ HCP, 5-card majors).
"""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.records import R, hcp_row, notrump_row, points_row, suit_row, support_points_row
from bidzoo.core.cards import CLUBS, DIAMONDS, FIRST_BID, HEARTS, NOTRUMP, SPADES
from bidzoo.core.kernels import State, row


@row
def opening_row(k: State, level: int, strain: int, m: State) -> None:
    """The promise of an opening bid."""
    if strain == NOTRUMP:
        _notrump_row(level, m)
    elif level == 1:
        _one_row(strain, m)
    elif level == 2 and strain == CLUBS:
        hcp_row(m, R.STRONG, 90, 22, 40)
        m.force = 1
    elif k.passes < 3:
        _preempt_row(level, strain, m)


@row
def _notrump_row(level: int, m: State) -> None:
    if level <= 2:
        low, high = (15, 17) if level == 1 else (20, 21)
        hcp_row(m, R.NOTRUMP_OPENING, 80, low, high)
        m.balanced, m.natural = 1, 1
        for suit in range(4):
            m.low[suit], m.high[suit] = 2, 5 if suit >= HEARTS else 6


@row
def _one_row(suit: int, m: State) -> None:
    hcp_row(m, R.SUIT_OPENING, 50 + suit, 12, 21)
    m.natural = 1
    if suit >= HEARTS:
        suit_row(m, suit, 5, 13)
        m.longest = suit
        return
    suit_row(m, suit, 3, 13)  # the longer minor; with 4-4 diamonds, with 3-3 clubs
    m.better, m.worse = suit, CLUBS + DIAMONDS - suit
    m.tie = 4 if suit == DIAMONDS else 0


@row
def _preempt_row(level: int, suit: int, m: State) -> None:
    if level == 2:
        hcp_row(m, R.WEAK_TWO, 60, 5, 11)
        suit_row(m, suit, 6, 6)
        m.quality = 1
    elif level == 3:
        hcp_row(m, R.PREEMPT, 61, 5, 11)
        suit_row(m, suit, 7, 7)
        m.quality = 3
    elif level == 4:
        hcp_row(m, R.PREEMPT, 62, 5, 11)
        suit_row(m, suit, 8, 13)
    m.natural = 1
    if suit != HEARTS:
        m.high[HEARTS] = min(m.high[HEARTS], 4)
    if suit != SPADES:
        m.high[SPADES] = min(m.high[SPADES], 4)


# ---- after partner's strong 2C, weak two or preempt --------------------------------------


@row
def answer_strong_row(k: State, level: int, strain: int, m: State) -> None:
    """Responses to 2C: 2D waits, a suit shows five cards and 8 points, 2NT is balanced with 8."""
    if level == 2 and strain == DIAMONDS:
        hcp_row(m, R.WAITING, 10, 0, 40)
        m.force = 1
    elif strain == NOTRUMP and level == 2:
        notrump_row(m, R.NATURAL, 40, 8, 40, 0)
        m.balanced, m.force = 1, 2
    elif strain != NOTRUMP and level == (2 if strain >= HEARTS else 3):
        hcp_row(m, R.NEW_SUIT, 50 + strain, 7, 40)
        suit_row(m, strain, 5, 13)
        m.quality, m.natural, m.force, m.longest = 3, 1, 2, strain


@row
def rebid_strong_row(k: State, level: int, strain: int, m: State) -> None:
    """The 2C opener's second bid: 2NT 22-24 and 3NT 25-27 balanced, else the longest suit."""
    if strain == NOTRUMP and level in (2, 3):
        low, high = (22, 24) if level == 2 else (25, 27)
        notrump_row(m, R.NOTRUMP_OPENING, 60, low, high, 0)
        m.balanced = 1
        if level == 3 and k.bid // 5 + 1 == 2 and k.game[k.seat % 2]:
            m.hcp_low = 22
    elif strain != NOTRUMP and level == cheapest_row(k, strain):
        hcp_row(m, R.NATURAL, 50 + strain, 22, 40)
        suit_row(m, strain, 4 if strain < HEARTS else 5, 13)
        m.longest, m.natural, m.force = strain, 1, 2


@row
def answer_feature_row(k: State, level: int, strain: int, m: State) -> None:
    """The weak two opener after 2NT: the suit again with 5-8, else a side suit with a stopper, or 3NT."""
    opened = (k.opening - FIRST_BID) % 5
    if level != 3:
        return
    if strain == opened:
        hcp_row(m, R.REBID, 60, 0, 8)
        m.natural = 1
    elif strain == NOTRUMP:
        notrump_row(m, R.NOTRUMP, 40, 9, 11, 0)
    else:
        hcp_row(m, R.FEATURE, 50, 9, 11)
        m.stops, m.force = 1 << strain, 1


@row
def answer_preempt_row(k: State, level: int, strain: int, m: State) -> None:
    """Raise partner's preempt to the level of the trumps, or to game on strength; a new suit is forcing."""
    opened = (k.opening - FIRST_BID) % 5
    length = k.low[k.partner, opened]
    game = 4 if opened >= HEARTS else 5
    if strain == opened:
        if level == game:
            support_points_row(m, R.GAME, 60, 8 if opened >= HEARTS else 15, 40, opened)
            suit_row(m, opened, max(10 - length, 2), 13)
        elif level + 6 > length:
            support_points_row(m, R.PREEMPTIVE_RAISE, 40, 9 if level == 3 else 5, 15, opened)
            suit_row(m, opened, level + 7 - length, 13)
    elif strain == NOTRUMP and level == 2:
        hcp_row(m, R.FEATURE_ASK, 55, 15, 40)
        m.force = 1
    elif strain == NOTRUMP and level == 3:
        notrump_row(m, R.GAME, 50, 16, 22, 0)
        for suit in range(4):
            if suit != opened:
                m.stops |= 1 << suit
        m.low[opened] = 2
    elif strain != NOTRUMP and level <= 3 and level == cheapest_row(k, strain):
        points_row(m, R.NEW_SUIT, 45, 15, 40)
        suit_row(m, strain, 5 if level == 2 else 6, 13)
        m.natural, m.force, m.high[opened] = 1, 1, 2
    elif strain >= HEARTS and strain != NOTRUMP and level == 4:
        points_row(m, R.GAME, 48, 15, 40)
        suit_row(m, strain, 7, 13)
        m.natural = 1

"""Opener's second bid after one of a suit and a response, the opponents silent.

A minimum is 12-15 points, an intermediate hand 16-18, a maximum 19-21.
"""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.records import R, notrump_row, points_row, suit_row, support_points_row
from bidzoo.core.cards import FIRST_BID, HEARTS, NOTRUMP
from bidzoo.core.kernels import State, row


@row
def rebid_row(k: State, level: int, strain: int, m: State) -> None:
    """The promise of opener's bid over partner's new suit or 1NT."""
    opened = (k.opening - FIRST_BID) % 5
    response, responded = k.bid % 5, k.bid // 5 + 1
    cheapest = cheapest_row(k, strain)
    if strain == NOTRUMP and level == 3 and responded == 1 and opened < HEARTS and response != NOTRUMP:
        notrump_row(m, R.NOTRUMP, 46, 18, 21, 0)  # on tricks in the minor
        m.low[opened] = 6
    elif strain == NOTRUMP:
        _notrump_row(level, responded, response, m)
    elif strain == opened:
        _own_row(k, level - cheapest, level, opened, responded, response, m)
    elif strain == response:
        _raise_row(k, level, cheapest, strain, m)
    else:
        _second_suit_row(level, cheapest, strain, opened, responded, m)


@row
def answer_jacoby_row(k: State, level: int, strain: int, m: State) -> None:
    """After 2NT: a short suit at the three level, else four of the major 12-14, 3NT 15-17, the major 18."""
    opened = (k.opening - FIRST_BID) % 5
    if level == 3 and strain == NOTRUMP:
        notrump_row(m, R.NOTRUMP, 60, 15, 17, 0)
        m.natural = 0
    elif strain == opened and level == 3:
        points_row(m, R.REBID, 62, 18, 40)
        m.natural = 1
    elif strain == opened and level == 4:
        points_row(m, R.REBID, 50, 12, 15)
        m.natural = 1
    elif level == 3:
        points_row(m, R.SHORT, 70 + strain, 12, 40)
        m.high[strain] = 1


@row
def _notrump_row(level: int, responded: int, response: int, m: State) -> None:
    if response == NOTRUMP:
        if level == 2:
            notrump_row(m, R.NOTRUMP, 40, 17, 18, 0)
        elif level == 3:
            notrump_row(m, R.NOTRUMP, 41, 19, 21, 0)
    elif level == 1:
        notrump_row(m, R.NOTRUMP, 35, 12, 14, 0)
        m.low[:] = 2
        m.low[response] = 1
    elif level == 2:
        low, high = (18, 19) if responded == 1 else (12, 14)
        notrump_row(m, R.NOTRUMP, 45 if responded == 1 else 25, low, high, 0)
        m.balanced = 1
    elif level == 3 and responded == 2:
        notrump_row(m, R.NOTRUMP, 45, 15, 19, 0)
        m.balanced = 1


@row
def _own_row(k: State, jump: int, level: int, opened: int, responded: int, response: int, m: State) -> None:
    if jump == 0:
        points_row(m, R.REBID, 38, 12, 16)
        suit_row(m, opened, 6, 13)
        if responded == 2 and response != NOTRUMP:
            m.priority = 20
            m.points_high = 40
            suit_row(m, opened, 5, 13)
    elif jump == 1 and level == 3:
        points_row(m, R.REBID, 39, 17, 19 if opened >= HEARTS else 40)
        suit_row(m, opened, 6, 13)
    elif level == 4 and opened >= HEARTS:
        points_row(m, R.REBID, 40, 20, 40)
        suit_row(m, opened, 6, 13)
    m.natural = 1


@row
def _raise_row(k: State, level: int, cheapest: int, strain: int, m: State) -> None:
    trumps = 8 - k.low[k.partner, strain]
    if level == cheapest:
        support_points_row(m, R.RAISE, 50, 12, 15, strain)
        if cheapest == 3:
            m.points_high = 40
    elif level == cheapest + 1 and level == 3:
        support_points_row(m, R.RAISE, 51, 16, 18, strain)
    elif level == 4 and strain >= HEARTS:
        support_points_row(m, R.RAISE, 52, 19 if cheapest == 2 else 15, 40, strain)
    suit_row(m, strain, trumps, 13)
    if level == cheapest and cheapest == 2 and strain >= HEARTS:
        m.low[strain] = 4


@row
def _second_suit_row(level: int, cheapest: int, strain: int, opened: int, responded: int, m: State) -> None:
    if level == cheapest + 1 and level <= 3 and (cheapest == 1 or strain < opened):
        points_row(m, R.JUMP_SHIFT, 44, 19, 40)
        m.force = 2
    elif level != cheapest or level > 3:
        return
    elif level == 1:
        points_row(m, R.NEW_SUIT, 42 - strain // 3, 12, 18)
    elif level == 2 and strain < opened:
        points_row(m, R.NEW_SUIT, 36, 12, 18)
        if responded == 2:
            m.points_high = 40
            m.force = 1
    else:
        points_row(m, R.REVERSE, 43, 17 if level == 2 else 15, 40)
        m.force = 1
        if opened < NOTRUMP:
            m.better, m.worse, m.by = opened, strain, 1 if level == 2 else 0
    suit_row(m, strain, 4, 13)
    m.natural = 1
    if level == 2 and strain < opened < NOTRUMP:
        m.low[opened] = 5 if opened >= HEARTS else 4

"""First action of the side that did not open: overcalls, jump overcalls, takeout doubles."""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.promise import hcp_row, notrump_row, points_row, suit_row
from bidzoo.agents.bridge.natural.records import (
    R_JUMP_OVERCALL,
    R_NOTRUMP_OVERCALL,
    R_OVERCALL,
    R_PENALTY,
    R_TAKEOUT,
    R_TWO_SUITS,
)
from bidzoo.cards import DOUBLE, FIRST_BID, HEARTS, NOTRUMP, SPADES
from bidzoo.kernels import Table, row


@row
def overcall_row(k: Table, call: int, level: int, strain: int, stops: int, m: Table) -> None:
    """The promise of a call over their opening; in the passout seat a king less."""
    less = 3 if k.passes == 2 and k.bid < 5 else 0
    if call == DOUBLE:
        _double_row(k, less, stops, m)
    elif strain == NOTRUMP:
        if level == 1:
            notrump_row(m, R_NOTRUMP_OVERCALL, 70, 15 - less, 18 - less, stops)
            m.balanced = 1
        elif level == 2 and k.bid >= 5:
            notrump_row(m, R_NOTRUMP_OVERCALL, 70, 15, 18, stops)
            m.balanced = 1
        elif level == 3 and k.bid >= 10:
            notrump_row(m, R_NOTRUMP_OVERCALL, 60, 17, 22, stops)
        elif level == 2:
            _two_suits_row(k, level, strain, m)
    elif (stops >> strain) & 1 == 0:
        _suit_row(k, level, strain, less, m)
    elif level == 2 and k.bid < 5 and k.opening - FIRST_BID == k.bid:
        _two_suits_row(k, level, strain, m)


@row
def _suit_row(k: Table, level: int, strain: int, less: int, m: Table) -> None:
    cheapest = cheapest_row(k, strain)
    vulnerable = (k.vulnerable >> (k.seat % 2)) & 1
    if level == cheapest:
        if level == 1:
            points_row(m, R_OVERCALL, 50 + strain, 8 - less // 2, 18)
            suit_row(m, strain, 5, 13)
            m.quality, m.hcp_low, m.hcp_high = 1, 7 - less // 2, 16
        elif level == 2:
            points_row(m, R_OVERCALL, 50, 13 - less, 18)
            suit_row(m, strain, 5, 13)
            m.quality, m.hcp_low, m.hcp_high = 4, 10 - less, 16
            if k.bid >= 5 and strain < HEARTS:
                m.low[strain] = 6
        elif level == 3:
            points_row(m, R_OVERCALL, 50, 14, 19)
            suit_row(m, strain, 5, 13)
            m.hcp_low, m.hcp_high, m.quality = 12, 17, 2
        elif level == 4:
            points_row(m, R_OVERCALL, 50, 17, 40)
            suit_row(m, strain, 6, 13)
            m.quality = 4
        m.longest = strain
    elif level == cheapest + 1 and level <= 3 and less == 0:
        hcp_row(m, R_JUMP_OVERCALL, 62, 5 + vulnerable, 10)
        m.high[:] = 4
        suit_row(m, strain, level + 4, level + 4)
        m.quality = 1
    elif level == 4 and strain >= HEARTS and less == 0:
        hcp_row(m, R_JUMP_OVERCALL, 60, 6, 13)
        suit_row(m, strain, 8 if vulnerable else 7, 13)
        m.quality = 5
    m.natural = 1


@row
def _two_suits_row(k: Table, level: int, strain: int, m: Table) -> None:
    """Michaels cue bid: both majors, or the other major and a minor; unusual 2NT: the two lowest unbid suits."""
    opened = k.bid % 5
    if k.bid >= 5 or k.opening - FIRST_BID != k.bid:
        return
    points_row(m, R_TWO_SUITS, 66, 9, 40)
    m.hcp_low, m.force = 7, 1
    if strain == NOTRUMP:
        suit_row(m, 1 if opened == 0 else 0, 5, 13)
        suit_row(m, HEARTS if opened < HEARTS else 1, 5, 13)
    elif opened < HEARTS:
        suit_row(m, HEARTS, 5, 13)
        suit_row(m, SPADES, 5, 13)
    else:
        suit_row(m, HEARTS + SPADES - opened, 5, 13)
        m.either, m.either_low = 3, 5


@row
def _double_row(k: Table, less: int, stops: int, m: Table) -> None:
    theirs = k.bid % 5
    if theirs == NOTRUMP:
        hcp_row(m, R_PENALTY, 65, 16, 40)
        return
    level = k.bid // 5 + 1
    if level > 4:
        hcp_row(m, R_PENALTY, 20, 17, 40)
        return
    points_row(m, R_TAKEOUT, 45, 12 - less + (level - 1), 40)
    m.hcp_low, m.strong = 11 - less + (level - 1), 17 if level <= 2 else 18
    m.force = 1
    unbid = 0
    for suit in range(4):
        if (stops >> suit) & 1:
            m.high[suit] = 3
        else:
            unbid += 1
            m.low[suit] = 3
    if unbid < 3:
        for suit in range(4):
            if (stops >> suit) & 1 == 0:
                m.low[suit] = 4

"""Responses to an opening of one of a suit, undisturbed and after the next hand has acted."""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.promise import notrump_row, points_row, suit_row, support_points_row
from bidzoo.agents.bridge.natural.records import (
    R_CUE,
    R_JACOBY,
    R_JUMP_SHIFT,
    R_NEGATIVE,
    R_NEW_SUIT,
    R_NOTRUMP,
    R_PREEMPTIVE_RAISE,
    R_RAISE,
    R_REDOUBLE,
)
from bidzoo.cards import CLUBS, DIAMONDS, DOUBLE, FIRST_BID, HEARTS, NOTRUMP, REDOUBLE, SPADES
from bidzoo.kernels import Table, row


@row
def respond_row(k: Table, call: int, level: int, strain: int, stops: int, m: Table) -> None:
    """The promise of responder's first call; ``stops``: suits the opponents have named, as bits."""
    opened = (k.opening - FIRST_BID) % 5
    overcalled = k.bidder == k.right
    if call == DOUBLE:
        _negative_row(k, opened, m)
    elif call == REDOUBLE:
        points_row(m, R_REDOUBLE, 47, 10, 40)
        m.hcp_low = 10
        m.high[opened] = 2
    elif strain == opened:
        _raise_row(k, level, opened, m)
    elif strain == NOTRUMP:
        _notrump_row(k, level, opened, stops, m)
    elif (stops >> strain) & 1:
        if level <= 3 and level == cheapest_row(k, strain):
            support_points_row(m, R_CUE, 44, 13 if overcalled else 11, 40, opened)
            suit_row(m, opened, 3 if opened >= HEARTS else 4, 13)
            m.force, m.natural = 2, 0
    else:
        _new_suit_row(k, level, strain, opened, overcalled, m)


@row
def _raise_row(k: Table, level: int, opened: int, m: Table) -> None:
    trumps = 3 if opened >= HEARTS else 4 if opened == DIAMONDS else 5
    if level == 2:
        support_points_row(m, R_RAISE, 48 if opened >= HEARTS else 22, 6, 9, opened)
        suit_row(m, opened, trumps, 13)
    elif level == 3 and k.stake == 2:
        support_points_row(m, R_PREEMPTIVE_RAISE, 43, 3, 9, opened)
        suit_row(m, opened, 4 if opened >= HEARTS else 5, 13)
    elif level == 3:
        crowded = k.bidder == k.right and k.bid >= 5 + opened
        support_points_row(m, R_RAISE, 47 if opened >= HEARTS else 24, 8 if crowded else 10, 12, opened)
        suit_row(m, opened, 3 if opened >= HEARTS else 5, 13)
    elif level == 4 and opened >= HEARTS:
        support_points_row(m, R_PREEMPTIVE_RAISE, 48, 7, 13, opened)
        suit_row(m, opened, 5, 13)
        m.hcp_high = 10


@row
def _notrump_row(k: Table, level: int, opened: int, stops: int, m: Table) -> None:
    contested = k.stake == 2 or k.bidder == k.right
    if level == 2 and opened >= HEARTS and not (contested and k.bidder == k.right):
        support_points_row(m, R_JACOBY, 60, 11 if contested else 13, 40, opened)
        suit_row(m, opened, 3 if contested else 4, 13)
        m.force, m.natural = 1 if contested else 2, 0
        return
    if contested:
        if level <= 3:
            low = 7 if level == 1 else 11 if level == 2 else 13
            high = 10 if level == 1 else 12 if level == 2 else 17
            notrump_row(m, R_NOTRUMP, 30, low, high, stops)
        return
    if level == 1:
        notrump_row(m, R_NOTRUMP, 20, 6, 11, 0)
        if opened <= DIAMONDS:
            m.high[HEARTS], m.high[SPADES] = 3, 3
    elif opened >= HEARTS and level == 3:
        notrump_row(m, R_NOTRUMP, 40, 13, 17, 0)
        m.balanced, m.high[opened] = 1, 3
    elif opened <= DIAMONDS and level == 2:
        notrump_row(m, R_NOTRUMP, 48, 13, 15, 0)
        m.balanced, m.high[HEARTS], m.high[SPADES] = 1, 3, 3
    elif opened <= DIAMONDS and level == 3:
        notrump_row(m, R_NOTRUMP, 15, 13, 18, 0)


@row
def _new_suit_row(k: Table, level: int, strain: int, opened: int, overcalled: bool, m: Table) -> None:
    jump = level > cheapest_row(k, strain)
    if jump:
        if level <= 3 and level == cheapest_row(k, strain) + 1 and not overcalled:
            points_row(m, R_JUMP_SHIFT, 70, 17, 40)
            suit_row(m, strain, 5, 13)
            m.hcp_low, m.quality, m.force, m.natural = 15, 5, 2, 1
        return
    if level > 3:
        return
    low = 4
    if level >= 2 and (overcalled or strain == HEARTS or level == 3):
        low = 5
    if level == 1 and strain == SPADES and overcalled and k.bid % 5 == HEARTS:
        low = 5
    points_row(m, R_NEW_SUIT, 44 + strain if level == 1 else 43, 6 if level == 1 else 10 if level == 2 else 12, 40)
    if level == 1 and opened == HEARTS:
        m.priority = 46
    if level == 2 and opened >= HEARTS:
        m.hcp_low, m.points_low = 10, 11
        m.longest = strain
        m.priority = 43 + (1 if strain == HEARTS else 0)
        if strain != HEARTS:
            m.longest = -1
            m.better, m.worse, m.tie = strain, CLUBS + DIAMONDS - strain, 5 if strain == DIAMONDS else 0
    if level >= 2:
        m.points_low = max(m.points_low, 11)
        m.priority = 46 if overcalled else m.priority
    suit_row(m, strain, low, 13)
    m.natural, m.force = 1, 1
    if level == 1 and strain == SPADES and opened <= DIAMONDS and not overcalled:
        m.better, m.worse, m.tie = SPADES, HEARTS, 5


@row
def _negative_row(k: Table, opened: int, m: Table) -> None:
    """Support for the unbid suits: four cards of an unbid major, both after an overcall of a minor."""
    overcall = k.bid % 5
    if overcall == NOTRUMP:
        points_row(m, R_NEGATIVE, 50, 10, 40)
        m.hcp_low = 10
        return
    level = k.bid // 5 + 1
    if level > 3:
        return
    points_row(m, R_NEGATIVE, 45 if level == 1 else 38, 7 if level == 1 else 9 if k.bid < 7 else 10, 40)
    m.force = 1
    for major in range(HEARTS, SPADES + 1):
        if major != opened and major != overcall:
            m.low[major] = 4
    if opened >= HEARTS and overcall >= HEARTS:
        m.low[CLUBS], m.low[DIAMONDS], m.points_low = 3, 3, 9
        m.high[opened] = 2
    if opened <= DIAMONDS and overcall == HEARTS and level == 1:
        m.high[SPADES] = 4

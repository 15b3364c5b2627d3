"""Partner overcalled or doubled for takeout, and this is our first action."""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.promise import hcp_row, notrump_row, points_row, suit_row, support_points_row
from bidzoo.agents.bridge.natural.records import (
    R_CUE,
    R_DOUBLE_ANSWER,
    R_GAME,
    R_NEW_SUIT,
    R_NOTRUMP,
    R_PENALTY_PASS,
    R_PREEMPTIVE_RAISE,
    R_RAISE,
)
from bidzoo.cards import HEARTS, NOTRUMP
from bidzoo.kernels import Table, row


@row
def advance_overcall_row(k: Table, level: int, strain: int, stops: int, m: Table) -> None:
    """Raises to the level of the trumps, a cue bid with a good raise, new suits and notrump naturally."""
    suit = -1
    for named in range(4):
        if k.named[k.partner, named]:
            suit = named
    if suit < 0:
        return
    length = k.low[k.partner, suit]
    cheapest = cheapest_row(k, strain)
    if strain == suit:
        if level == 4 and suit >= HEARTS:
            support_points_row(m, R_GAME, 60, 26 - k.points_low[k.partner] - 2, 40, suit)
            suit_row(m, suit, 8 - length, 13)
        elif level == cheapest:
            support_points_row(m, R_RAISE, 50, 6 if level == 2 else 8, 11, suit)
            suit_row(m, suit, 8 - length if level == 2 or length == 5 else 10 - length, 13)
        elif level == cheapest + 1 and level <= 4:
            support_points_row(m, R_PREEMPTIVE_RAISE, 51, 3, 9, suit)
            suit_row(m, suit, level + 6 - length, 13)
    elif length >= 6 and not (strain != NOTRUMP and (stops >> strain) & 1):
        return
    elif strain == NOTRUMP:
        if level <= 3:
            low = (8, 11, 14)[level - 1]
            notrump_row(m, R_NOTRUMP, 35, low, (10, 13, 18)[level - 1], stops)
            if k.bid >= 5 and level == 2:
                m.hcp_low, m.hcp_high = 10, 13
    elif (stops >> strain) & 1:
        if level == cheapest and level <= 3:
            support_points_row(m, R_CUE, 55, 12, 40, suit)
            suit_row(m, suit, 8 - length, 13)
            m.force, m.natural = 1, 0
    elif level == cheapest and level <= 3:
        points_row(m, R_NEW_SUIT, 40, (8, 10, 15)[level - 1], 40)
        suit_row(m, strain, 5, 13)
        m.quality, m.natural, m.high[suit] = 3, 1, 2
    elif level == 4 and strain >= HEARTS:
        points_row(m, R_GAME, 42, 15, 40)
        suit_row(m, strain, 7, 13)
        m.natural = 1


@row
def answer_double_row(k: Table, level: int, strain: int, stops: int, free: bool, m: Table) -> None:
    """The longest unbid suit, majors first: cheapest 0-8 points, a jump 9-11, a cue bid 12; ``free``: after a bid."""
    cheapest = cheapest_row(k, strain)
    if strain == NOTRUMP:
        if level <= 3:
            base = max(k.bid // 5, 0)
            low, high = (6 + 2 * base, 10) if level == 1 else (11, 12) if level == 2 else (13, 18)
            notrump_row(m, R_NOTRUMP, 42, low, high, stops)
            if base == 1 and level == 2:
                m.hcp_low = 9
            if base == 2 and level == 3:
                m.hcp_low = 11
    elif (stops >> strain) & 1:
        if level == cheapest and level <= 4:
            points_row(m, R_CUE, 60, 12, 40)
            m.force = 1
    elif level == cheapest:
        points_row(m, R_DOUBLE_ANSWER, 40 + strain if strain >= HEARTS else 36 + strain, 6 if free else 0, 40)
        m.points_high = 9 if level <= 2 else 40
        suit_row(m, strain, 4, 13)
        m.natural = 1
    elif level == cheapest + 1 and level <= 3:
        points_row(m, R_DOUBLE_ANSWER, 45 + strain, 9, 11)
        suit_row(m, strain, 4 if strain >= HEARTS else 5, 13)
        m.natural = 1
    elif level == 4 and strain >= HEARTS and strain != NOTRUMP:
        points_row(m, R_GAME, 62 + strain, 12, 40)
        suit_row(m, strain, 5, 13)
        m.natural = 1


@row
def convert_row(k: Table, m: Table) -> None:
    """Pass of partner's takeout double: their suit, long and strong."""
    suit = k.bid % 5
    if suit < NOTRUMP:
        hcp_row(m, R_PENALTY_PASS, 58, 6, 40)
        suit_row(m, suit, 5, 13)
        m.quality, m.strain = 4, suit
    else:
        hcp_row(m, R_PENALTY_PASS, 58, 8, 40)

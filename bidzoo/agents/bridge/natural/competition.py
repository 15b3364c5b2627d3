"""First actions of the side that did not open: overcalls, jump overcalls, takeout doubles, and partner's after them."""

from bidzoo.agents.bridge.natural.knowledge import (
    NO_SUIT,
    R,
    cheapest_row,
    hcp_row,
    notrump_row,
    points_row,
    raise_row,
    suit_bid_row,
    suit_row,
    support_points_row,
)
from bidzoo.core.cards import DOUBLE, FIRST_BID, HEARTS, NOTRUMP, SPADES
from bidzoo.core.kernels import State, row


@row
def overcall_row(k: State, call: int, level: int, strain: int, stops: int, m: State) -> None:
    """The promise of a call over their opening; in the passout seat a king less."""
    discount = 3 if k.passes == 2 and k.bid < 5 else 0
    if call == DOUBLE:
        _double_row(k, discount, stops, m)
    elif strain == NOTRUMP:
        if level == 1:
            notrump_row(m, R.NOTRUMP_OVERCALL, 70, 15 - discount, 18 - discount, stops)
            m.balanced = 1
        elif level == 2 and k.bid >= 5:
            notrump_row(m, R.NOTRUMP_OVERCALL, 70, 15, 18, stops)
            m.balanced = 1
        elif level == 3 and k.bid >= 10:
            notrump_row(m, R.NOTRUMP_OVERCALL, 60, 17, 22, stops)
        elif level == 2:
            _two_suits_row(k, strain, m)
    elif (stops >> strain) & 1 == 0:
        _suit_row(k, level, strain, discount, m)
    elif level == 2 and k.bid < 5 and k.opening - FIRST_BID == k.bid:
        _two_suits_row(k, strain, m)


@row
def _suit_row(k: State, level: int, strain: int, discount: int, m: State) -> None:
    cheapest = cheapest_row(k, strain)
    vulnerable = (k.vulnerable >> (k.seat % 2)) & 1
    if level == cheapest:
        if level == 1:
            suit_bid_row(m, R.OVERCALL, 50 + strain, 8 - discount // 2, 40, strain, 5)
            m.quality, m.hcp_low, m.hcp_high = 1, 7 - discount // 2, 16
        elif level == 2:
            suit_bid_row(m, R.OVERCALL, 50, 13 - discount, 40, strain, 5)
            m.quality, m.hcp_low, m.hcp_high = 4, 10 - discount, 16
            if k.bid >= 5 and strain < HEARTS:
                m.low[strain] = 6
        elif level == 3:
            suit_bid_row(m, R.OVERCALL, 50, 14, 19, strain, 5)
            m.hcp_low, m.hcp_high, m.quality = 12, 17, 2
        elif level == 4:
            suit_bid_row(m, R.OVERCALL, 50, 17, 40, strain, 6)
            m.quality = 4
        m.longest = strain
    elif level == cheapest + 1 and level <= 3 and discount == 0:
        hcp_row(m, R.JUMP_OVERCALL, 62, 5 + vulnerable, 10)
        m.high[:] = 4
        suit_row(m, strain, level + 4, level + 4)
        m.quality = 1
    elif level == 4 and strain >= HEARTS and discount == 0:
        hcp_row(m, R.JUMP_OVERCALL, 60, 6, 13)
        suit_row(m, strain, 8 if vulnerable else 7, 13)
        m.quality = 5
    m.natural = 1


@row
def _two_suits_row(k: State, strain: int, m: State) -> None:
    """Michaels cue bid: both majors, or the other major and a minor; unusual 2NT: the two lowest unbid suits."""
    opened = k.bid % 5
    if k.bid >= 5 or k.opening - FIRST_BID != k.bid:
        return
    points_row(m, R.TWO_SUITS, 66, 9, 40)
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
def _double_row(k: State, discount: int, stops: int, m: State) -> None:
    strain = k.bid % 5
    if strain == NOTRUMP:
        hcp_row(m, R.PENALTY, 65, 16, 40)
        return
    level = k.bid // 5 + 1
    if level > 4:
        hcp_row(m, R.PENALTY, 20, 17, 40)
        return
    points_row(m, R.TAKEOUT, 45, 12 - discount + (level - 1), 40)
    m.hcp_low, m.strong = 11 - discount + (level - 1), 17 if level <= 2 else 18
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


# ---- partner overcalled or doubled for takeout, and this is our first action --------------


@row
def advance_overcall_row(k: State, level: int, strain: int, stops: int, m: State) -> None:
    """Raises to the level of the trumps, a cue bid with a good raise, new suits and notrump naturally."""
    suit, other = NO_SUIT, NO_SUIT  # partner's highest suit, and the other of two
    for named in range(4):
        if k.named[k.partner, named]:
            suit, other = named, suit
    if suit == NO_SUIT:
        return
    if strain == other:
        suit, other = other, suit
    length = k.low[k.partner, suit]
    cheapest = cheapest_row(k, strain)
    if strain == suit:
        if level == 4 and suit >= HEARTS:
            raise_row(m, R.GAME, 60, 26 - k.points_low[k.partner] - 2, 40, suit, 8 - length)
        elif level == cheapest and k.rule[k.partner] == R.TWO_SUITS and k.must[k.seat % 2] == k.seat:
            support_points_row(m, R.RAISE, 30, 0, 12, suit)
        elif level == cheapest:
            support_points_row(m, R.RAISE, 50, 6 if level == 2 else 8, 11, suit)
            suit_row(m, suit, 8 - length if level == 2 or length == 5 else 10 - length, 13)
        elif level == cheapest + 1 and level <= 4:
            raise_row(m, R.PREEMPTIVE_RAISE, 51, 3, 9, suit, level + 6 - length)
        if other != NO_SUIT:
            m.better, m.worse = suit, other
    elif length >= 6 and not (strain != NOTRUMP and (stops >> strain) & 1):
        return
    elif strain == NOTRUMP:
        if level <= 3:
            low = (8, 11, 14)[level - 1]
            notrump_row(m, R.NOTRUMP, 35, low, (10, 13, 18)[level - 1], stops)
            if k.bid >= 5 and level == 2:
                m.hcp_low, m.hcp_high = 10, 13
    elif (stops >> strain) & 1:
        if level == cheapest and level <= 3:
            raise_row(m, R.CUE, 55, 12, 40, suit, 8 - length)
            m.force, m.natural = 1, 0
    elif level == cheapest and level <= 3:
        suit_bid_row(m, R.NEW_SUIT, 40, (8, 10, 15)[level - 1], 40, strain, 5)
        m.quality, m.natural, m.high[suit] = 3, 1, 2
    elif level == 4 and strain >= HEARTS:
        suit_bid_row(m, R.GAME, 42, 15, 40, strain, 7)


@row
def answer_double_row(k: State, level: int, strain: int, stops: int, free: bool, m: State) -> None:
    """The longest unbid suit, majors first: cheapest 0-9 points, a jump 9-11, a cue bid 12; ``free``: after a bid."""
    cheapest = cheapest_row(k, strain)
    if strain == NOTRUMP:
        if level <= 3:
            base = max(k.bid // 5, 0)
            low, high = (6 + 2 * base, 10) if level == 1 else (11, 12) if level == 2 else (13, 18)
            notrump_row(m, R.NOTRUMP, 42, low, high, stops)
            if base == 1 and level == 2:
                m.hcp_low = 9
            if base == 2 and level == 3:
                m.hcp_low = 11
    elif (stops >> strain) & 1:
        if level == cheapest and level <= 4:
            points_row(m, R.CUE, 60, 12, 40)
            m.force = 1
    elif level == cheapest:
        priority, high = 40 + strain if strain >= HEARTS else 36 + strain, 9 if level <= 2 else 40
        suit_bid_row(m, R.DOUBLE_ANSWER, priority, 6 if free else 0, high, strain, 4)
    elif level == cheapest + 1 and level <= 3:
        suit_bid_row(m, R.DOUBLE_ANSWER, 45 + strain, 9, 11, strain, 4 if strain >= HEARTS else 5)
    elif level == 4 and strain >= HEARTS and strain != NOTRUMP:
        suit_bid_row(m, R.GAME, 62 + strain, 12, 40, strain, 5)


@row
def convert_row(k: State, m: State) -> None:
    """Pass of partner's takeout double: their suit, long and strong."""
    suit = k.bid % 5
    if suit < NOTRUMP:
        hcp_row(m, R.PENALTY_PASS, 58, 6, 40)
        suit_row(m, suit, 5, 13)
        m.quality, m.strain = 4, suit
    else:
        hcp_row(m, R.PENALTY_PASS, 58, 8, 40)

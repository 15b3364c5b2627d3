"""Opener's second bid, and every later call."""

from bidzoo.agents.bridge.natural.knowledge import (
    GAME_BID,
    LOWEST,
    R,
    cheapest_row,
    hcp_row,
    notrump_row,
    points_row,
    suit_bid_row,
    suit_row,
    support_points_row,
)
from bidzoo.core.cards import DOUBLE, FIRST_BID, HEARTS, NOTRUMP
from bidzoo.core.kernels import State, row

# ---- opener's second bid after one of a suit and a response, the opponents silent ----------
# A minimum is 12-15 points, an intermediate hand 16-18, a maximum 19-21.


@row
def rebid_row(k: State, level: int, strain: int, m: State) -> None:
    """The promise of opener's bid over partner's new suit or 1NT."""
    opened = (k.opening - FIRST_BID) % 5
    response, response_level = k.bid % 5, k.bid // 5 + 1
    cheapest = cheapest_row(k, strain)
    if strain == NOTRUMP and level == 3 and response_level == 1 and opened < HEARTS and response != NOTRUMP:
        notrump_row(m, R.NOTRUMP, 46, 18, 21, 0)  # on tricks in the minor
        m.low[opened] = 6
    elif strain == NOTRUMP:
        _rebid_notrump_row(level, response_level, response, m)
    elif strain == opened:
        _own_row(level - cheapest, level, opened, response_level, response, m)
    elif strain == response:
        _raise_row(k, level, cheapest, strain, m)
    else:
        _second_suit_row(level, cheapest, strain, opened, response_level, m)


@row
def answer_jacoby_row(k: State, level: int, strain: int, m: State) -> None:
    """After 2NT: a short suit at the three level, else four of the major 12-17, 3NT 15-17, the major 18."""
    opened = (k.opening - FIRST_BID) % 5
    if level == 3 and strain == NOTRUMP:
        notrump_row(m, R.NOTRUMP, 60, 15, 17, 0)
        m.natural = 0
    elif strain == opened and level == 3:
        points_row(m, R.REBID, 62, 18, 40)
        m.natural = 1
    elif strain == opened and level == 4:
        points_row(m, R.REBID, 50, 12, 17)
        m.natural = 1
    elif level == 3:
        points_row(m, R.SHORT, 70 + strain, 12, 40)
        m.high[strain] = 1


@row
def _rebid_notrump_row(level: int, response_level: int, response: int, m: State) -> None:
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
        low, high = (18, 19) if response_level == 1 else (12, 14)
        notrump_row(m, R.NOTRUMP, 45 if response_level == 1 else 25, low, high, 0)
        m.balanced = 1
    elif level == 3 and response_level == 2:
        notrump_row(m, R.NOTRUMP, 45, 15, 19, 0)
        m.balanced = 1


@row
def _own_row(jump: int, level: int, opened: int, response_level: int, response: int, m: State) -> None:
    if jump == 0:
        suit_bid_row(m, R.REBID, 38, 12, 16, opened, 6)
        if response_level == 2 and response != NOTRUMP:
            m.priority = 20
            m.points_high = 40
            suit_row(m, opened, 5, 13)
    elif jump == 1 and level == 3:
        suit_bid_row(m, R.REBID, 39, 17, 19 if opened >= HEARTS else 40, opened, 6)
    elif level == 4 and opened >= HEARTS:
        suit_bid_row(m, R.REBID, 40, 20, 40, opened, 6)
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
def _second_suit_row(level: int, cheapest: int, strain: int, opened: int, response_level: int, m: State) -> None:
    if level == cheapest + 1 and level <= 3 and (cheapest == 1 or strain < opened):
        points_row(m, R.JUMP_SHIFT, 44, 19, 40)
        m.force = 2
    elif level != cheapest or level > 3:
        return
    elif level == 1:
        points_row(m, R.NEW_SUIT, 42 - strain // 3, 12, 18)
    elif level == 2 and strain < opened:
        points_row(m, R.NEW_SUIT, 36, 12, 18)
        if response_level == 2:
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


# ---- every later call: where the contract belongs, from what both hands have shown ---------
# Thresholds are for the sum of our points and partner's least: 24 for 3NT, 26 for four of a major, 29 for five of a
# minor, 32 for a small and 37 for a grand slam.

NOTRUMP_GAME, MAJOR_GAME, MINOR_GAME, SLAM, GRAND = 24, 26, 29, 32, 37
SPREAD = 4  # points a partner without an upper limit is credited with when we invite


@row
def place_row(k: State, call: int, level: int, strain: int, stops: int, m: State) -> None:
    """The promise of a call that no convention covers."""
    contested = (k.bidder - k.seat) % 2 != 0
    if k.aces[k.seat] >= 0 and not contested:
        return  # who asked for aces has placed the contract
    if call == DOUBLE:
        _double_row(k, stops, m)
    elif strain == NOTRUMP:
        _place_notrump_row(k, level, stops, contested, m)
    elif strain >= 0:
        partner_length, own_length = k.low[k.partner, strain], k.low[k.seat, strain]
        if (stops >> strain) & 1 and partner_length < 4 and own_length < 4:
            if level == cheapest_row(k, strain) and level <= 3 and k.agreed[k.seat % 2] < 0:
                points_row(m, R.CUE, 28, 27 - k.points_low[k.partner], 50)
                m.force = 2
        elif partner_length >= 3 and (partner_length >= 4 or k.named[k.partner, strain] or own_length >= 4):
            _support_row(k, level, strain, contested, m)
        elif k.named[k.seat, strain]:
            _rebid_row(k, level, strain, contested, m)
        else:
            _new_suit_row(k, level, strain, contested, m)


@row
def _upper(k: State) -> int:
    """Points partner is credited with when we invite."""
    return min(k.points_high[k.partner], k.points_low[k.partner] + SPREAD)


@row
def _edge(low: int, high: int) -> int:
    """A point for the chance that partner, who has shown ``low`` ... ``high``, has more than the least."""
    return 4 if low <= 1 and high >= 9 else 1 if high > low else 0


@row
def _place_notrump_row(k: State, level: int, stops: int, contested: bool, m: State) -> None:
    partner_hcp, side = k.hcp_low[k.partner], k.seat % 2
    upper = min(k.hcp_high[k.partner], partner_hcp + 2)
    agreed = k.agreed[side]
    if level == 4 and agreed >= 0 and not contested:
        support_points_row(m, R.BLACKWOOD, 85, SLAM - k.points_low[k.partner], 50, agreed)
        m.force, m.natural, m.agrees = 1, 0, agreed
        return
    if level == 3:
        edge = _edge(partner_hcp, k.hcp_high[k.partner])
        notrump_row(m, R.GAME, 60, NOTRUMP_GAME - partner_hcp - edge, SLAM - 1 - partner_hcp, stops)
        if agreed >= HEARTS:
            m.priority = LOWEST
    elif level == 2 and not contested and agreed < 0:
        notrump_row(m, R.INVITE, 50, NOTRUMP_GAME - upper, NOTRUMP_GAME - 1 - partner_hcp, stops)
    elif level == 1:
        low = 12 if k.rule[k.partner] == R.NEGATIVE else max(18 - partner_hcp, 8)
        notrump_row(m, R.INVITE, 22, low, 40, stops)
    elif level == 6:
        notrump_row(m, R.SLAM, 80, SLAM - partner_hcp, 40, stops)
    elif level == 7:
        notrump_row(m, R.SLAM, 90, GRAND - partner_hcp, 40, stops)


@row
def _support_row(k: State, level: int, strain: int, contested: bool, m: State) -> None:
    partner_length, side = k.low[k.partner, strain], k.seat % 2
    least = k.points_low[k.partner]
    fit = max(8 - partner_length, 2)
    target = MAJOR_GAME if strain >= HEARTS else MINOR_GAME
    game = 4 if strain >= HEARTS else 5
    if level == game and k.bid == GAME_BID and strain >= HEARTS and k.bidder == k.partner:
        support_points_row(m, R.GAME, 66, 0, 50, strain)
    elif level == game:
        low = target - least - _edge(least, k.points_high[k.partner])
        support_points_row(m, R.GAME, 70 if strain >= HEARTS else 45, low, 50, strain)
    elif level == 6:
        support_points_row(m, R.SLAM, 80, SLAM + 1 - least, 50, strain)
        if k.agreed[side] == strain and k.aces[k.partner] < 0:
            m.points_low = SLAM + 3 - least
    elif level == 7:
        support_points_row(m, R.SLAM, 90, GRAND + 1 - least, 50, strain)
        if k.agreed[side] == strain and k.aces[k.partner] < 0:
            m.priority = LOWEST  # seven asks for aces first
    elif level < game and contested:
        _compete_row(k, level, strain, partner_length, m)
        return
    elif level == 3 and level == game - 1:
        support_points_row(m, R.INVITE, 55, target + 1 - _upper(k), target - 1 - least, strain)
    elif level == 3 and not k.named[k.seat, strain]:
        support_points_row(m, R.INVITE, 40, 23 - least, MINOR_GAME - 1 - least, strain)
    elif level == 2:
        support_points_row(m, R.PREFERENCE, 25, 0, 50, strain)
        current = k.bid % 5
        if current < NOTRUMP:
            m.better, m.worse, m.by = strain, current, k.low[k.partner, current] - partner_length
            m.low[strain] = 2
            if k.agreed[side] >= 0:
                m.priority = LOWEST
            return
    suit_row(m, strain, fit, 13)


@row
def _compete_row(k: State, level: int, strain: int, partner_length: int, m: State) -> None:
    """A bid to the level of the trumps."""
    least = k.points_low[k.partner]
    support_points_row(m, R.COMPETE, 35, (17, 17, 20, 22)[level - 1] - least, 50, strain)
    suit_row(m, strain, max(min(level, 3) + 6 - partner_length, 3 if partner_length < 6 else 2), 13)


@row
def _rebid_row(k: State, level: int, strain: int, contested: bool, m: State) -> None:
    own_length, least = k.low[k.seat, strain], k.points_low[k.partner]
    target = MAJOR_GAME if strain >= HEARTS else MINOR_GAME
    game = 4 if strain >= HEARTS else 5
    length = max(own_length + 1, 6)
    if level == game:
        low = target - least - _edge(least, k.points_high[k.partner])
        points_row(m, R.GAME, 65 if strain >= HEARTS else 44, low, 50)
    elif level == 3 and strain >= HEARTS and not contested:
        points_row(m, R.INVITE, 52, target - _upper(k), target - 1 - least)
    elif level == 3:
        points_row(m, R.REBID, 33, 22 - least, 50)
        length = max(own_length + 1, 7 if contested else 6)
    elif level == 2:
        points_row(m, R.REBID, 34, 17 - least, 50)
        length = 6 if contested or own_length >= 5 else 5
        if length <= own_length:
            length = own_length + 1
    elif level == 6:
        points_row(m, R.SLAM, 80, SLAM + 1 - least, 50)
    suit_row(m, strain, length, 13)
    m.natural = 1


@row
def _new_suit_row(k: State, level: int, strain: int, contested: bool, m: State) -> None:
    if level > 3:
        return
    cheapest = cheapest_row(k, strain)
    if level != cheapest or k.agreed[k.seat % 2] >= 0:
        return
    least = k.points_low[k.partner]
    points_row(m, R.NEW_SUIT, 30, (18, 22, 25)[level - 1] - least, 50)
    suit_row(m, strain, 4 if level <= 2 and not contested else 5, 13)
    m.natural = 1
    if not contested and level >= 2 and k.seat != k.opener:
        m.force = 1
        m.points_low = 23 - least


@row
def _double_row(k: State, stops: int, m: State) -> None:
    """For penalties with the balance of strength and trumps; for takeout while partner has not spoken."""
    suit, level = k.bid % 5, k.bid // 5 + 1
    least = k.hcp_low[k.partner]
    if k.actions[k.partner] == 0 and suit < NOTRUMP and level <= 3 and k.actions[k.seat] <= 1:
        points_row(m, R.TAKEOUT, 34, 14 + level, 40)
        m.force = 1
        for other in range(4):
            if (stops >> other) & 1:
                m.high[other] = 2
            elif not k.named[k.seat, other]:
                m.low[other] = 3
        return
    if suit == NOTRUMP:
        hcp_row(m, R.PENALTY, 40, max(24 - least, 10), 40)
    elif level >= 4:
        hcp_row(m, R.PENALTY, 40, max(25 - least, 8), 40)
        m.low[suit] = 2
    else:
        hcp_row(m, R.PENALTY, 40, max(23 - least, 9), 40)
        suit_row(m, suit, 4, 13)
        m.quality, m.strain = 3, suit

"""Every later call: where the contract belongs, from what both hands have shown.

Thresholds are for the sum of our points and partner's least: 24 for 3NT, 26 for four of a major, 29 for five of a
minor, 32 for a small and 37 for a grand slam.
"""

from bidzoo.agents.bridge.natural.knowledge import GAME_BID, cheapest_row
from bidzoo.agents.bridge.natural.records import R, hcp_row, notrump_row, points_row, suit_row, support_points_row
from bidzoo.core.cards import DOUBLE, HEARTS, NOTRUMP
from bidzoo.core.kernels import State, row

NOTRUMP_GAME, MAJOR_GAME, MINOR_GAME, SLAM, GRAND = 24, 26, 29, 32, 37
SPREAD = 4  # points a partner without an upper limit is credited with when we invite


@row
def place_row(k: State, call: int, level: int, strain: int, stops: int, m: State) -> None:
    """The promise of a call that no convention covers."""
    contested = (k.bidder - k.seat) % 2 != 0
    if call == DOUBLE:
        _double_row(k, stops, m)
    elif strain == NOTRUMP:
        _notrump_row(k, level, stops, contested, m)
    elif strain >= 0:
        partners, own = k.low[k.partner, strain], k.low[k.seat, strain]
        if (stops >> strain) & 1 and partners < 4 and own < 4:
            _cue_row(k, level, strain, m)
        elif partners >= 3 and (partners >= 4 or k.named[k.partner, strain] or own >= 4):
            _support_row(k, level, strain, contested, m)
        elif own >= 4 and k.named[k.seat, strain]:
            _rebid_row(k, level, strain, contested, m)
        elif not k.named[k.seat, strain]:
            _new_suit_row(k, level, strain, contested, m)


@row
def _upper(k: State) -> int:
    """Points partner is credited with when we invite."""
    return min(k.points_high[k.partner], k.points_low[k.partner] + SPREAD)


@row
def _edge(k: State) -> int:
    """A point for partner's chance of more than the least shown."""
    low, high = k.points_low[k.partner], k.points_high[k.partner]
    return 4 if low <= 1 and high >= 9 else 1 if high > low else 0


@row
def _notrump_row(k: State, level: int, stops: int, contested: bool, m: State) -> None:
    partner, side = k.hcp_low[k.partner], k.seat % 2
    upper = min(k.hcp_high[k.partner], partner + 2)
    agreed = k.agreed[side]
    if level == 4 and agreed >= 0 and not contested:
        support_points_row(m, R.BLACKWOOD, 85, SLAM - k.points_low[k.partner], 50, agreed)
        m.force, m.natural, m.agrees = 1, 0, agreed
        return
    if level == 3:
        notrump_row(m, R.GAME, 60, NOTRUMP_GAME - partner - _edge(k), SLAM - 1 - partner, stops)
        if agreed >= HEARTS:
            m.priority = -1
    elif level == 2 and not contested and agreed < 0:
        notrump_row(m, R.INVITE, 50, NOTRUMP_GAME - upper, NOTRUMP_GAME - 1 - partner, stops)
    elif level == 1:
        notrump_row(m, R.INVITE, 22, max(18 - partner, 8), 40, stops)
    elif level == 6:
        notrump_row(m, R.SLAM, 80, SLAM - partner, 40, stops)
    elif level == 7:
        notrump_row(m, R.SLAM, 90, GRAND - partner, 40, stops)


@row
def _support_row(k: State, level: int, strain: int, contested: bool, m: State) -> None:
    partners, side = k.low[k.partner, strain], k.seat % 2
    least = k.points_low[k.partner]
    fit = max(8 - partners, 2)
    target = MAJOR_GAME if strain >= HEARTS else MINOR_GAME
    game = 4 if strain >= HEARTS else 5
    if level == game and k.bid == GAME_BID and strain >= HEARTS and k.bidder == k.partner:
        support_points_row(m, R.GAME, 66, 0, 50, strain)
    elif level == game:
        support_points_row(m, R.GAME, 70 if strain >= HEARTS else 45, target - least - _edge(k), 50, strain)
    elif level == 6:
        support_points_row(m, R.SLAM, 80, SLAM + 1 - least, 50, strain)
        if k.agreed[side] == strain and k.aces[k.partner] < 0:
            m.points_low = SLAM + 3 - least
    elif level == 7:
        support_points_row(m, R.SLAM, 90, GRAND + 1 - least, 50, strain)
    elif level < game and contested:
        _compete_row(k, level, strain, partners, m)
        return
    elif level == 3 and level == game - 1:
        support_points_row(m, R.INVITE, 55, target + 1 - _upper(k), target - 1 - least, strain)
    elif level == 3 and not k.named[side, strain]:
        support_points_row(m, R.INVITE, 40, 23 - least, MINOR_GAME - 1 - least, strain)
    elif level == 2:
        support_points_row(m, R.PREFERENCE, 25, 0, 50, strain)
        current = k.bid % 5
        if current < NOTRUMP:
            m.better, m.worse, m.by = strain, current, k.low[k.partner, current] - partners
            m.low[strain] = 2
            if k.agreed[side] >= 0:
                m.priority = -1
            return
    suit_row(m, strain, fit, 13)


@row
def _compete_row(k: State, level: int, strain: int, partners: int, m: State) -> None:
    """To the level of the trumps."""
    least = k.points_low[k.partner]
    support_points_row(m, R.COMPETE, 35, (17, 17, 20, 22)[level - 1] - least, 50, strain)
    suit_row(m, strain, max(min(level, 3) + 6 - partners, 3 if partners < 6 else 2), 13)


@row
def _rebid_row(k: State, level: int, strain: int, contested: bool, m: State) -> None:
    own, least = k.low[k.seat, strain], k.points_low[k.partner]
    target = MAJOR_GAME if strain >= HEARTS else MINOR_GAME
    game = 4 if strain >= HEARTS else 5
    length = max(own + 1, 6)
    if level == game:
        points_row(m, R.GAME, 65 if strain >= HEARTS else 44, target - least - _edge(k), 50)
    elif level == 3 and strain >= HEARTS and not contested:
        points_row(m, R.INVITE, 52, target - _upper(k), target - 1 - least)
    elif level == 3:
        points_row(m, R.REBID, 33, 22 - least, 50)
        length = max(own + 1, 7 if contested else 6)
    elif level == 2:
        points_row(m, R.REBID, 34, 17 - least, 50)
        length = 6 if contested or own >= 5 else 5
        if length <= own:
            length = own + 1
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
def _cue_row(k: State, level: int, strain: int, m: State) -> None:
    cheapest = cheapest_row(k, strain)
    if level == cheapest and level <= 3 and k.agreed[k.seat % 2] < 0:
        points_row(m, R.CUE, 28, 27 - k.points_low[k.partner], 50)
        m.force = 2


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
        m.quality = 3

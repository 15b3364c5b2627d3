"""Opening bids and the responses to them, with Stayman, transfers and Blackwood.

Source: ACBL SAYC booklet; requirements of JPS Table 8 and BMCS Table V (12+ HCP, 5-card majors).
"""

from bidzoo.agents.bridge.natural.knowledge import (
    LOWEST,
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
from bidzoo.core.cards import CLUBS, DIAMONDS, DOUBLE, FIRST_BID, HEARTS, NOTRUMP, REDOUBLE, SPADES
from bidzoo.core.kernels import State, row


@row
def opening_row(k: State, level: int, strain: int, m: State) -> None:
    """The promise of an opening bid."""
    if strain == NOTRUMP:
        _open_notrump_row(level, m)
    elif level == 1:
        _one_row(strain, m)
    elif level == 2 and strain == CLUBS:
        hcp_row(m, R.STRONG, 90, 22, 40)
        m.force = 1
    elif k.passes < 3:
        _preempt_row(level, strain, m)


@row
def _open_notrump_row(level: int, m: State) -> None:
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
def answer_strong_row(level: int, strain: int, m: State) -> None:
    """Responses to 2C: 2D waits, a suit shows five cards and 7 points, 2NT is balanced with 8."""
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
    """The weak two opener after 2NT: the suit again with 8 at most, else a side suit with a stopper, or 3NT."""
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
            raise_row(m, R.GAME, 60, 8 if opened >= HEARTS else 15, 40, opened, max(10 - length, 2))
            if opened >= HEARTS and length >= 7:
                m.strong = 16
        elif level + 6 > length:
            raise_row(m, R.PREEMPTIVE_RAISE, 40, 9 if level == 3 else 5, 15, opened, level + 7 - length)
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
        suit_bid_row(m, R.NEW_SUIT, 45, 15, 40, strain, 5 if level == 2 else 6)
        m.natural, m.force, m.high[opened] = 1, 1, 2
    elif strain >= HEARTS and strain != NOTRUMP and level == 4:
        suit_bid_row(m, R.GAME, 48, 15, 40, strain, 7)


# ---- after notrump: Stayman, Jacoby transfers, raises, and the answers to them ------------


@row
def answer_notrump_row(k: State, level: int, strain: int, m: State) -> None:
    """Responder's first bid over partner's natural notrump, the opponents silent."""
    low, high, bid_level = k.hcp_low[k.partner], k.hcp_high[k.partner], k.bid // 5 + 1
    game, invite = max((24 if high > low + 1 else 25) - low, 0), max(25 - high, 0)
    if strain == NOTRUMP:
        if level == 2:
            notrump_row(m, R.INVITE, 40, invite, game - 1, 0)
        elif level == 3:
            notrump_row(m, R.GAME, 41, game, 32 - high, 0)
        elif level == 4:
            notrump_row(m, R.QUANTITATIVE, 42, 33 - high, 32 - low, 0)
        elif level == 6:
            notrump_row(m, R.SLAM, 43, 33 - low, 36 - low, 0)
        elif level == 7:
            notrump_row(m, R.SLAM, 44, 37 - low, 40, 0)
    elif level == bid_level + 1 and strain == CLUBS:
        hcp_row(m, R.STAYMAN, 50, invite, 40)
        m.either, m.high[HEARTS], m.high[SPADES], m.force = 12, 4, 4, 1
    elif level == bid_level + 1 and strain < SPADES:
        major, other = (HEARTS, SPADES) if strain == DIAMONDS else (SPADES, HEARTS)
        hcp_row(m, R.TRANSFER, 60, 0, 40)
        suit_row(m, major, 5, 13)
        m.better, m.worse, m.tie, m.force = major, other, 5 if major == SPADES else 14, 1
    elif level == 2 and strain == SPADES:
        hcp_row(m, R.RELAY, 30, 0, invite - 1)
        m.either, m.either_low, m.force = 3, 6, 1


@row
def relayed_row(level: int, strain: int, m: State) -> None:
    """Responder's minor after 2S and 3C."""
    if level == 3 and strain == DIAMONDS:
        hcp_row(m, R.CORRECTION, 90, 0, 8)
        suit_row(m, DIAMONDS, 6, 13)
        m.natural = 1


@row
def complete_row(k: State, level: int, strain: int, m: State) -> None:
    """The notrump bidder's answer to Stayman or a transfer, cheapest."""
    partner_strain = k.bid % 5
    if k.rule[k.partner] == R.RELAY:
        if strain == CLUBS and level == 3:
            hcp_row(m, R.RELAYED, 90, 0, 40)
        return
    if k.rule[k.partner] == R.STAYMAN:
        if level == k.bid // 5 + 1 and strain in (DIAMONDS, HEARTS, SPADES):
            hcp_row(m, R.STAYMAN_ANSWER, 90 if strain == HEARTS else 80 if strain == SPADES else 70, 0, 40)
            if strain == DIAMONDS:
                m.high[HEARTS], m.high[SPADES] = 3, 3
            else:
                suit_row(m, strain, 4, 5)
                m.natural = 1
                m.high[HEARTS] = 3 if strain == SPADES else 5
    elif strain == partner_strain + 1 and level == k.bid // 5 + 1:
        hcp_row(m, R.TRANSFERRED, 90, 0, 40)
    elif strain == partner_strain + 1 and level == 3 and k.hcp_high[k.seat] <= 17:
        hcp_row(m, R.TRANSFERRED, 95, 17, 40)
        suit_row(m, strain, 4, 13)
        m.agrees = strain


# ---- Blackwood: answers, and the contract they lead to -----------------------------------


@row
def answer_blackwood_row(level: int, strain: int, m: State) -> None:
    """5C none or four aces, 5D one, 5H two, 5S three."""
    if level == 5 and strain < NOTRUMP:
        hcp_row(m, R.ACES, 90, 0, 40)
        m.aces = 0b10001 if strain == 0 else 1 << strain


@row
def after_blackwood_row(k: State, level: int, strain: int, m: State) -> None:
    """Six with three aces, seven with all and the points for it, else the cheapest bid of the trump suit."""
    trump, partner_aces = k.agreed[k.seat % 2], k.aces[k.partner]
    if trump < 0 or strain != trump:
        return
    if level == 7:
        hcp_row(m, R.SLAM, 95, 0, 40)
        m.aces, m.trump, m.points_low = 1 << max(4 - partner_aces, 0), trump, 38 - k.points_low[k.partner]
    elif level == 6:
        hcp_row(m, R.SLAM, 90, 0, 40)
        for aces in range(5):
            if aces + partner_aces >= 3:
                m.aces |= 1 << aces
        if m.aces == 0:
            m.priority = LOWEST
    if level == cheapest_row(k, strain) and (level == 5 or m.priority < 0):
        hcp_row(m, R.CORRECTION, 50, 0, 40)
        m.aces = 0
    m.natural = 1


# ---- to one of a suit, undisturbed and after the next hand has acted ----------------------


@row
def respond_row(k: State, call: int, level: int, strain: int, stops: int, m: State) -> None:
    """The promise of responder's first call; ``stops``: suits the opponents have named, as bits."""
    opened = (k.opening - FIRST_BID) % 5
    overcalled = k.bidder == k.right
    if call == DOUBLE:
        _negative_row(k, opened, m)
    elif call == REDOUBLE:
        points_row(m, R.REDOUBLE, 47, 10, 40)
        m.hcp_low = 10
        m.high[opened] = 2
    elif strain == opened:
        _raise_row(k, level, opened, m)
    elif strain == NOTRUMP:
        _respond_notrump_row(k, level, opened, stops, m)
    elif (stops >> strain) & 1:
        if level <= 3 and level == cheapest_row(k, strain):
            raise_row(m, R.CUE, 44, 13 if overcalled else 11, 40, opened, 3 if opened >= HEARTS else 4)
            m.force, m.natural = 2, 0
    else:
        _new_suit_row(k, level, strain, opened, overcalled, m)


@row
def _raise_row(k: State, level: int, opened: int, m: State) -> None:
    trumps = 3 if opened >= HEARTS else 4 if opened == DIAMONDS else 5
    if level == 2:
        raise_row(m, R.RAISE, 48 if opened >= HEARTS else 22, 6, 9, opened, trumps)
    elif level == 3 and k.stake == 2:
        raise_row(m, R.PREEMPTIVE_RAISE, 43, 3, 9, opened, 4 if opened >= HEARTS else 5)
    elif level == 3:
        crowded = k.bidder == k.right and k.bid >= 5 + opened
        support_points_row(m, R.RAISE, 47 if opened >= HEARTS else 24, 8 if crowded else 10, 12, opened)
        suit_row(m, opened, 3 if opened >= HEARTS else 5, 13)
    elif level == 4 and opened >= HEARTS:
        raise_row(m, R.PREEMPTIVE_RAISE, 48, 7, 13, opened, 5)
        m.hcp_high = 10


@row
def _respond_notrump_row(k: State, level: int, opened: int, stops: int, m: State) -> None:
    contested = k.stake == 2 or k.bidder == k.right
    if level == 2 and opened >= HEARTS and not (contested and k.bidder == k.right):
        raise_row(m, R.JACOBY, 60, 11 if contested else 13, 40, opened, 3 if contested else 4)
        m.force, m.natural = 1 if contested else 2, 0
        return
    if contested:
        if level <= 3:
            low = 7 if level == 1 else 11 if level == 2 else 13
            high = 10 if level == 1 else 12 if level == 2 else 17
            notrump_row(m, R.NOTRUMP, 30, low, high, stops)
        return
    if level == 1:
        notrump_row(m, R.NOTRUMP, 20, 6, 12 if opened <= DIAMONDS else 11, 0)
        if opened <= DIAMONDS:
            m.high[HEARTS], m.high[SPADES] = 3, 3
    elif opened >= HEARTS and level == 3:
        notrump_row(m, R.NOTRUMP, 40, 13, 40, 0)
        m.balanced, m.high[opened] = 1, 3
    elif opened <= DIAMONDS and level == 2:
        notrump_row(m, R.NOTRUMP, 48, 13, 15, 0)
        m.balanced, m.high[HEARTS], m.high[SPADES] = 1, 3, 3
    elif opened <= DIAMONDS and level == 3:
        notrump_row(m, R.NOTRUMP, 15, 13, 40, 0)


@row
def _new_suit_row(k: State, level: int, strain: int, opened: int, overcalled: bool, m: State) -> None:
    jump = level > cheapest_row(k, strain)
    if jump:
        if level <= 3 and level == cheapest_row(k, strain) + 1 and not overcalled:
            suit_bid_row(m, R.JUMP_SHIFT, 70, 17, 40, strain, 5)
            m.hcp_low, m.quality, m.force, m.natural = 15, 5, 2, 1
        return
    if level > 3:
        return
    low = 4
    if level >= 2 and (overcalled or strain == HEARTS or level == 3):
        low = 5
    if level == 1 and strain == SPADES and overcalled and k.bid % 5 == HEARTS:
        low = 5
    points_row(m, R.NEW_SUIT, 44 + strain if level == 1 else 43, 6 if level == 1 else 10 if level == 2 else 12, 40)
    if level == 1 and opened == HEARTS:
        m.priority = 46
    if level == 2 and opened >= HEARTS:
        m.hcp_low, m.points_low = 10, 11
        m.priority = 44 if strain == HEARTS else 43
        if strain >= HEARTS:
            m.longest = strain
        else:
            m.better, m.worse, m.tie = strain, CLUBS + DIAMONDS - strain, 5 if strain == DIAMONDS else 0
    if level >= 2:
        m.points_low = max(m.points_low, 11)
        m.priority = 46 if overcalled else m.priority
    suit_row(m, strain, low, 13)
    m.natural, m.force = 1, 1
    if level == 1 and strain == SPADES and opened <= DIAMONDS and not overcalled:
        m.better, m.worse, m.tie = SPADES, HEARTS, 5


@row
def _negative_row(k: State, opened: int, m: State) -> None:
    """Support for the unbid suits: four cards of an unbid major, both after an overcall of a minor."""
    overcall = k.bid % 5
    if overcall == NOTRUMP:
        points_row(m, R.NEGATIVE, 50, 10, 40)
        m.hcp_low = 10
        return
    level = k.bid // 5 + 1
    if level > 3:
        return
    points_row(m, R.NEGATIVE, 45 if level == 1 else 38, 7 if level == 1 else 9 if k.bid < 7 else 10, 40)
    m.force = 1
    if level == 1 and overcall == DIAMONDS:  # both majors, before either of them
        m.priority = 48
        m.high[HEARTS], m.high[SPADES] = 4, 4
    for major in range(HEARTS, SPADES + 1):
        if major != opened and major != overcall:
            m.low[major] = 4
    if opened >= HEARTS and overcall >= HEARTS:
        m.low[CLUBS], m.low[DIAMONDS], m.points_low = 3, 3, 9
        m.high[opened] = 2
    if opened <= DIAMONDS and overcall == HEARTS and level == 1:
        m.high[SPADES] = 4

"""Opening bids. Source: ACBL SAYC booklet; requirements of JPS Table 8 and BMCS Table V (12+ HCP, 5-card majors)."""

from bidzoo.agents.bridge.natural.promise import hcp_row, suit_row
from bidzoo.agents.bridge.natural.records import R_NOTRUMP_OPENING, R_PREEMPT, R_STRONG, R_SUIT_OPENING, R_WEAK_TWO
from bidzoo.cards import CLUBS, DIAMONDS, HEARTS, NOTRUMP, SPADES
from bidzoo.kernels import Table, row


@row
def opening_row(k: Table, level: int, strain: int, m: Table) -> None:
    """The promise of an opening bid."""
    if strain == NOTRUMP:
        _notrump_row(level, m)
    elif level == 1:
        _one_row(strain, m)
    elif level == 2 and strain == CLUBS:
        hcp_row(m, R_STRONG, 90, 22, 40)
        m.force = 1
    elif k.passes < 3:
        _preempt_row(level, strain, m)


@row
def _notrump_row(level: int, m: Table) -> None:
    if level <= 2:
        low, high = (15, 17) if level == 1 else (20, 21)
        hcp_row(m, R_NOTRUMP_OPENING, 80, low, high)
        m.balanced, m.natural = 1, 1
        for suit in range(4):
            m.low[suit], m.high[suit] = 2, 5 if suit >= HEARTS else 6


@row
def _one_row(suit: int, m: Table) -> None:
    hcp_row(m, R_SUIT_OPENING, 50 + suit, 12, 21)
    m.natural = 1
    if suit >= HEARTS:
        suit_row(m, suit, 5, 13)
        m.longest = suit
        return
    suit_row(m, suit, 3, 13)  # the longer minor; with 4-4 diamonds, with 3-3 clubs
    m.better, m.worse = suit, CLUBS + DIAMONDS - suit
    m.tie = 4 if suit == DIAMONDS else 0


@row
def _preempt_row(level: int, suit: int, m: Table) -> None:
    if level == 2:
        hcp_row(m, R_WEAK_TWO, 60, 5, 11)
        suit_row(m, suit, 6, 6)
        m.quality = 1
    elif level == 3:
        hcp_row(m, R_PREEMPT, 61, 5, 11)
        suit_row(m, suit, 7, 7)
        m.quality = 3
    elif level == 4:
        hcp_row(m, R_PREEMPT, 62, 5, 11)
        suit_row(m, suit, 8, 13)
    m.natural = 1
    if suit != HEARTS:
        m.high[HEARTS] = min(m.high[HEARTS], 4)
    if suit != SPADES:
        m.high[SPADES] = min(m.high[SPADES], 4)

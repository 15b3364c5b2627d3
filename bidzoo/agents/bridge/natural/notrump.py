"""After a natural notrump bid by partner: Stayman, Jacoby transfers, raises; and the answers to them."""

from bidzoo.agents.bridge.natural.promise import hcp_row, notrump_row, suit_row
from bidzoo.agents.bridge.natural.records import (
    R_CORRECTION,
    R_GAME,
    R_INVITE,
    R_QUANTITATIVE,
    R_RELAY,
    R_RELAYED,
    R_SLAM,
    R_STAYMAN,
    R_STAYMAN_ANSWER,
    R_TRANSFER,
    R_TRANSFERRED,
)
from bidzoo.cards import CLUBS, DIAMONDS, HEARTS, NOTRUMP, SPADES
from bidzoo.kernels import Table, row


@row
def answer_notrump_row(k: Table, level: int, strain: int, m: Table) -> None:
    """Responder's first bid over partner's natural notrump, the opponents silent."""
    low, high, shown = k.hcp_low[k.partner], k.hcp_high[k.partner], k.bid // 5 + 1
    game, invite = max((24 if high > low + 1 else 25) - low, 0), max(25 - high, 0)
    if strain == NOTRUMP:
        if level == 2:
            notrump_row(m, R_INVITE, 40, invite, game - 1, 0)
        elif level == 3:
            notrump_row(m, R_GAME, 41, game, 32 - high, 0)
        elif level == 4:
            notrump_row(m, R_QUANTITATIVE, 42, 33 - high, 32 - low, 0)
        elif level == 6:
            notrump_row(m, R_SLAM, 43, 33 - low, 36 - low, 0)
        elif level == 7:
            notrump_row(m, R_SLAM, 44, 37 - low, 40, 0)
    elif level == shown + 1 and strain == CLUBS:
        hcp_row(m, R_STAYMAN, 50, invite, 40)
        m.either, m.high[HEARTS], m.high[SPADES], m.force = 12, 4, 4, 1
    elif level == shown + 1 and strain < SPADES:
        major, other = (HEARTS, SPADES) if strain == DIAMONDS else (SPADES, HEARTS)
        hcp_row(m, R_TRANSFER, 60, 0, 40)
        suit_row(m, major, 5, 13)
        m.better, m.worse, m.tie, m.force = major, other, 5 if major == SPADES else 14, 1
    elif level == 2 and strain == SPADES:
        hcp_row(m, R_RELAY, 30, 0, invite - 1)
        m.either, m.either_low, m.force = 3, 6, 1


@row
def relayed_row(level: int, strain: int, m: Table) -> None:
    """Responder's minor after 2S and 3C."""
    if level == 3 and strain == DIAMONDS:
        hcp_row(m, R_CORRECTION, 90, 0, 8)
        suit_row(m, DIAMONDS, 6, 13)
        m.natural = 1


@row
def complete_row(k: Table, level: int, strain: int, m: Table) -> None:
    """The notrump bidder's answer to Stayman or a transfer, cheapest."""
    asked = k.bid % 5
    if k.rule[k.partner] == R_RELAY:
        if strain == CLUBS and level == 3:
            hcp_row(m, R_RELAYED, 90, 0, 40)
        return
    if k.rule[k.partner] == R_STAYMAN:
        if level == k.bid // 5 + 1 and strain in (DIAMONDS, HEARTS, SPADES):
            hcp_row(m, R_STAYMAN_ANSWER, 90 if strain == HEARTS else 80 if strain == SPADES else 70, 0, 40)
            if strain == DIAMONDS:
                m.high[HEARTS], m.high[SPADES] = 3, 3
            else:
                suit_row(m, strain, 4, 5)
                m.natural = 1
                m.high[HEARTS] = 3 if strain == SPADES else 5
    elif strain == asked + 1 and level == k.bid // 5 + 1:
        hcp_row(m, R_TRANSFERRED, 90, 0, 40)
    elif strain == asked + 1 and level == 3 and k.hcp_high[k.seat] <= 17:
        hcp_row(m, R_TRANSFERRED, 95, 17, 40)
        suit_row(m, strain, 4, 13)
        m.agrees = strain

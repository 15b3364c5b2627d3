"""BIS, "Bidding in Spades": Algorithm 1 of Cohensius, Meir, Oved and Stern (ECAI 2020).

takes and nil value of the hand → success chance of nil by the curve of the earlier bids → nil if its expected
score beats the threshold, else the takes → changes near the end of a game and by the conventions.
"""

import numpy as np

from bidzoo.agents.spades.curves import chance_row, sequence_row
from bidzoo.agents.spades.endgame import USUAL_BID, endgame_row, worth_row
from bidzoo.agents.spades.hand import covers_row, nil_value_row, takes_row
from bidzoo.agents.spades.suits import suits_row
from bidzoo.bits import count_row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.deck import SUIT_CARDS
from bidzoo.envs.spades.state import BLIND_NIL, CUTTHROAT, LOOK, NIL, SPADES, SUICIDE, WHIZ
from bidzoo.kernels import Table, below_row, next_row, row

BIG_FIVE, BIG_SIX = 5, 6
FAR_BEHIND = 100  # points; then Big 6 replaces Big 5
COVERED_THRESHOLD = -10.0  # nil threshold after partner's Big 5, points
SUICIDE_THRESHOLD = -20.0  # one of us must bid nil
EASY_SUM = 11  # three bids below this are an easy contract (G.3)


@row
def earlier_row(table: Table) -> tuple[int, int]:
    """Number and sum of the bids before this one."""
    number, total = 0, 0
    for seat in range(4):
        bid = int(table.bids[seat])
        if bid >= 0:
            number += 1
            total += bid
    return number, total


@row
def factor_row(table: Table, bidder: Table) -> float:
    """What earlier bids add to the takes: ``bias`` of the turn plus ``slope`` a trick above their mean."""
    number, total = earlier_row(table)
    return bidder.bias[number] + bidder.slope * (total - USUAL_BID * number)


@row
def hand_takes_row(table: Table, hand: int, book: Table) -> float:
    """``CalcRegularTakes`` before the factor; an opponent who bid nil will not cut (appendix A)."""
    seat, cutters = int(table.turn), 0
    for k in range(1, 4):
        if (k != 2 or table.variant == CUTTHROAT) and table.bids[(seat + k) % 4] != NIL:
            cutters += 1
    return takes_row(table.deck, suits_row(table.deck, hand), book.clear[cutters])


@row
def hand_nil_value_row(table: Table, hand: int, book: Table, covered: bool) -> float:
    """``CalcNilValue``; in cutthroat nobody covers."""
    suits = suits_row(table.deck, hand)
    if table.variant == CUTTHROAT:
        return nil_value_row(table.deck, suits, book.side_alone, book.spades_alone[table.deck], False)
    return nil_value_row(table.deck, suits, book.side, book.spades[table.deck], covered)


@row
def behind_row(table: Table) -> bool:
    """Our partnership trails by more than 100 points."""
    side = int(table.turn) % 2
    return table.scores[1 - side] - table.scores[side] > FAR_BEHIND


@row
def signal_row(table: Table) -> int:
    """The reserved bid now in force: 6 far behind where blind nil may be bid, else 5; 0 without partners (G.2)."""
    if table.sides != 2 or table.variant != 0:
        return 0
    return BIG_SIX if table.blind_nil and behind_row(table) else BIG_FIVE


@row
def offered_row(table: Table) -> bool:
    """Partner, bidding before us as the first of the side, has offered to cover our nil by Big 5 (G.2)."""
    return signal_row(table) == BIG_FIVE and table.bids[(int(table.turn) + 2) % 4] == BIG_FIVE


@row
def threshold_row(table: Table, bidder: Table, takes: float, covered: bool) -> float:
    """``CalcNilThreshold`` in points: a constant, or for BIS* the expected score of the regular bid (5.3.3)."""
    if table.variant == SUICIDE:
        return SUICIDE_THRESHOLD
    threshold = bidder.nil_threshold
    if bidder.bid_sensitive and table.sides == 2:
        partner = worth_row(int(table.bids[(int(table.turn) + 2) % 4]))
        together = 0.82 * (10 * takes + partner) - 0.18 * (10 * takes + partner)
        threshold = together - 0.68 * partner + 0.32 * partner  # partner alone covers and makes the contract less often
    if covered:
        threshold = min(threshold, COVERED_THRESHOLD)
    return threshold


@row
def bis_row(table: Table, hand: int, bidder: Table, book: Table, key: np.uint64) -> int:
    """The bid of the seat to bid, which holds ``hand`` (ignored before it has looked)."""
    seat = int(table.turn)
    if not table.looked >> seat & 1:
        return BLIND_NIL if bidder.blind and blind_row(table, bidder) else LOOK
    partner = int(table.bids[(seat + 2) % 4]) if table.sides == 2 else -1
    signal = signal_row(table) if bidder.conventions else 0
    covered = bidder.conventions == 1 and offered_row(table)
    raw = hand_takes_row(table, hand, book)
    takes = raw + factor_row(table, bidder)
    value = hand_nil_value_row(table, hand, book, covered)
    chance = value if table.sides == 4 else chance_row(book.curves[bidder.curve, sequence_row(table)], value)
    regular = max(1, int(np.floor(takes + 0.5)))
    threshold = threshold_row(table, bidder, takes, covered)
    if table.variant == WHIZ:  # the regular bid is the number of spades: dearer where the hand takes fewer
        threshold -= 20 * max(0.0, count_row(hand & SUIT_CARDS[table.deck, SPADES]) - takes)
    bid = NIL if partner != NIL and 200 * chance - 100 > threshold else regular
    if below_row(key, 1 << 20) < bidder.noise * (1 << 20):
        return nearest_row(legal_bids_row(table, hand), noisy_row(regular, key))
    if bidder.endgame and table.sides == 2 and table.variant == 0:
        bid = endgame_row(table, bid, regular, takes, chance)
    if signal and partner < 0 and bid != NIL:
        bid = convention_row(table, hand, bid, signal)
    return nearest_row(legal_bids_row(table, hand), bid)


@row
def convention_row(table: Table, hand: int, bid: int, signal: int) -> int:
    """The first partner's bid: the signal with a good covering hand, one less if it would say so falsely (G.2)."""
    suits = suits_row(table.deck, hand)
    if signal == BIG_FIVE:
        good = 4 <= bid <= 6 and covers_row(table.deck, suits, 4, True)
    else:
        good = bid >= 4 and covers_row(table.deck, suits, 5, False)
    if good:
        return signal
    return bid - 1 if bid == signal else bid


@row
def blind_row(table: Table, bidder: Table) -> bool:
    """Blind nil: partner asked for it (Big 6), or the opponents are about to win with an easy contract (G.3)."""
    seat = int(table.turn)
    partner = int(table.bids[(seat + 2) % 4]) if table.sides == 2 else -1
    if table.sides != 2 or partner == NIL:
        return False
    if bidder.conventions and partner == BIG_SIX and signal_row(table) == BIG_SIX:
        return True
    left, right = int(table.bids[(seat + 1) % 4]), int(table.bids[(seat + 3) % 4])
    if left <= 0 or right <= 0 or partner < 0:
        return False
    theirs = table.scores[(seat + 1) % 2] + 10 * (left + right)
    ours = table.scores[seat % 2] + 10 * (partner + 3)
    return theirs >= table.win_goal and theirs > ours and left + partner + right < EASY_SUM


@row
def noisy_row(regular: int, key: np.uint64) -> int:
    """An exploring bid: half the time nil, else the regular bid moved by -2 ... 3 tricks."""
    key = next_row(key)
    if below_row(key, 2):
        return NIL
    return min(13, max(1, regular - 2 + below_row(next_row(key), 6)))


@row
def nearest_row(legal: int, bid: int) -> int:
    """``bid`` if legal, else the nearest legal one, the higher of two."""
    for step in range(14):
        if bid + step <= 13 and legal >> (bid + step) & 1:
            return bid + step
        if bid - step >= 0 and legal >> (bid - step) & 1:
            return bid - step
    return bid

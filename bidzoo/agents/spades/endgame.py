"""Bids near the end of a game: from most points to most wins (sections 4.4, G.1 and appendix E).

A side *can win* if fulfilling its contract takes it to the winning goal. A bid not yet made counts as
``USUAL_BID``; the paper's mean sum of bids is 10.55.
"""

import numpy as np

from bidzoo.envs.spades.state import NIL
from bidzoo.kernels import Table, row

USUAL_BID = 2.64
SURE_SET, HIGH_SUM = 14, 11  # sums of four bids
SMALL_GAP, MOST_TRICKS = 20, 2  # points behind that up to two more tricks make good
RISKY_NIL = 0.3  # success chance that is still worth a desperate nil
BAG_ROOM = 2


@row
def worth_row(bid: int) -> float:
    """Points of a bid that is fulfilled; -1 is a bid not yet made."""
    if bid < 0:
        return 10 * USUAL_BID
    return 100.0 if bid == NIL else 10.0 * bid


@row
def endgame_row(table: Table, bid: int, regular: int, takes: float, nil_chance: float) -> int:
    """``bid`` (a nil or the ``regular`` bid) as the score asks; ``takes`` before rounding."""
    seat = int(table.turn)
    ours, theirs = float(table.scores[seat % 2]), float(table.scores[(seat + 1) % 2])
    partner, left, right = (
        int(table.bids[(seat + 2) % 4]),
        int(table.bids[(seat + 1) % 4]),
        int(table.bids[(seat + 3) % 4]),
    )
    ours += worth_row(partner)
    theirs += worth_row(left) + worth_row(right)
    last, goal = left >= 0, float(table.win_goal)
    if theirs >= goal and theirs > ours + worth_row(bid):
        if bid != NIL:
            return _seeking_row(left, partner, right, bid, takes, theirs - ours - 10 * bid, nil_chance)
        return bid
    if last and ours + 10 * regular >= goal and ours + 10 * regular > theirs:
        if bid == NIL:
            bid = regular
        fewer = ours + 10 * (bid - 1)
        if bid > 1 and fewer >= goal and fewer > theirs and table.bags[seat % 2] + BAG_ROOM < 10:
            return bid - 1
    return bid


@row
def _seeking_row(left: int, partner: int, right: int, bid: int, takes: float, gap: float, nil_chance: float) -> int:
    """A regular bid when the opponents are about to win by ``gap`` points: the four cases of G.1."""
    if left == NIL or right == NIL:
        return max(1, int(np.floor(takes)))  # takes - 0.5, rounded
    others = left + partner + right
    if left >= 0 and partner != NIL and others + bid >= HIGH_SUM:
        return min(13, max(bid, SURE_SET - others))
    if gap < SMALL_GAP:
        return min(13, bid + min(MOST_TRICKS, int(gap // 10) + 1))
    if nil_chance >= RISKY_NIL and partner != NIL:
        return NIL
    return bid

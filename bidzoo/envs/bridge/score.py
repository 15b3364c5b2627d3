"""What a contract is worth: duplicate points, IMPs, and par.

Source: Laws of Duplicate Bridge 2017, Laws 77 (points) and 78B (international match points).
"""

import numpy as np
from numpy.typing import ArrayLike

from bidzoo.core.cards import NUM_BIDS
from bidzoo.core.kernels import I8, I32, I64, batched, row, rows_a_thread
from bidzoo.core.options import column, integers

MAX_POINTS = 7600  # 7NT redoubled, vulnerable, thirteen down


@row
def score_row(level: int, strain: int, stake: int, tricks: int, vulnerable: bool) -> int:
    """Points of declarer's side, negative when it goes down.

    ``level`` 1 ... 7, ``strain`` C D H S NT = 0 ... 4, ``stake`` 1, 2, 4, ``tricks`` 0 ... 13 won by declarer's side.
    """
    extra = tricks - (6 + level)
    if extra < 0:
        return -penalty_row(-extra, stake, vulnerable)
    per_trick = 20 if strain < 2 else 30
    trick_points = (per_trick * level + (10 if strain == 4 else 0)) * stake
    points = trick_points
    if trick_points < 100:
        points += 50  # part score
    else:
        points += 500 if vulnerable else 300  # game
    if level == 6:
        points += 750 if vulnerable else 500
    elif level == 7:
        points += 1500 if vulnerable else 1000
    if stake == 1:
        return points + extra * per_trick
    return points + (25 + extra * (100 if vulnerable else 50)) * stake  # for the insult; overtricks


@row
def penalty_row(down: int, stake: int, vulnerable: bool) -> int:
    """Points the defenders get for ``down`` undertricks, at least one."""
    if stake == 1:
        return down * (100 if vulnerable else 50)
    doubled = 300 * down - 100 if vulnerable else 200 * down - 100 + 100 * max(down - 3, 0)
    return doubled * stake // 2


@row
def north_south_row(bid: int, stake: int, declarer: int, vulnerable: int, tricks: int) -> int:
    """N/S points of bid 0 ... 34 by the seat ``declarer`` (-1: all passed); ``vulnerable``: bit 0 N/S, bit 1 E/W."""
    if declarer < 0:
        return 0
    side = declarer % 2
    points = score_row(bid // 5 + 1, bid % 5, stake, tricks, (vulnerable >> side) & 1 == 1)
    return points if side == 0 else -points


# ---- arrays ------------------------------------------------------------------------------


@batched
def _scores(start: int, stop: int, level: I64, strain: I64, stake: I64, tricks: I64, vulnerable: I64, out: I32) -> None:
    for b in range(start, stop):
        out[b] = score_row(level[b], strain[b], stake[b], tricks[b], vulnerable[b] != 0)


def score(level: ArrayLike, strain: ArrayLike, stake: ArrayLike, tricks: ArrayLike, vulnerable: ArrayLike) -> I32:
    """``score_row`` of integers or arrays, broadcast against each other; ValueError if one is out of range.

    >>> score(4, 3, 1, [10, 9], True)
    array([ 620, -100], dtype=int32)
    """
    columns = (
        integers("level", level, 1, 7),
        integers("strain", strain, 0, 4),
        integers("stake", stake, 1, 4),
        integers("tricks", tricks, 0, 13),
        integers("vulnerable", vulnerable, 0, 1),
    )
    if (columns[2] == 3).any():
        raise ValueError("stake 3: expected 1, 2 or 4")
    out = np.empty(np.broadcast_shapes(*(x.shape for x in columns)), np.int32)
    a, b, c, d, e = (np.broadcast_to(x, out.shape).ravel() for x in columns)
    _scores(a, b, c, d, e, out.ravel())
    return out


def north_south(bid: I64, stake: I64, declarer: I64, vulnerable: I64, tricks: I64) -> I32:
    """``north_south_row`` of columns ``[N]``."""
    return np.asarray(np.vectorize(north_south_row, [np.int32])(bid, stake, declarer, vulnerable, tricks))


# ---- international match points ----------------------------------------------------------

# The smallest difference in points worth 1, 2, ... 24 IMPs.
SCALE: tuple[int, ...] = (20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600, 750, 900)
SCALE += (1100, 1300, 1500, 1750, 2000, 2250, 2500, 3000, 3500, 4000)
MAX_IMPS = len(SCALE)


@row
def imps_row(difference: int) -> int:
    """IMPs of a ``difference`` in points, signed."""
    size, won = abs(difference), 0
    while won < MAX_IMPS and size >= SCALE[won]:
        won += 1
    return won if difference > 0 else -won


def imps(difference: ArrayLike) -> I8:
    """IMPs of differences in points, signed, in the shape given.

    >>> imps([0, 20, -430])
    array([  0,   1, -10], dtype=int8)
    """
    points = np.asarray(difference)
    won = np.searchsorted(SCALE, np.abs(points), side="right")
    return (np.sign(points) * won).astype(np.int8)


# ---- par ---------------------------------------------------------------------------------
# The score of a deal when both sides know all cards and bid as well as they can.
#
# Method: backward induction on the auction as a game of two sides. A side that stops at a bid scores the bid
# undoubled if it makes double dummy and doubled if it fails, played by the better declarer of the two. From the
# highest bid down, ``reach[side]`` is the most that side can still get by bidding higher than the bid at hand, so
# a bid is worth the least of its own score and of what the other side's best answer leaves. The dealer's side may
# open first. One pass over 35 bids, exact; equal to DDS's ``DealerPar`` (Hein 2014), against which it is tested.


@row
def stop_row(tricks: I8, side: int, bid: int, vulnerable: int) -> int:
    """Points of ``side`` (0 N/S, 1 E/W) if ``bid`` is its last and the other side doubles just when that pays."""
    level, strain = bid // 5 + 1, bid % 5
    won = max(int(tricks[5 * side + strain]), int(tricks[5 * side + 10 + strain]))
    return score_row(level, strain, 1 if won >= 6 + level else 2, won, (vulnerable >> side) & 1 == 1)


@row
def par_row(tricks: I8, dealer: int, vulnerable: int) -> int:
    """Par score of N/S, points; ``tricks`` ``[20]`` by declarer, then strain; ``vulnerable`` bit 0 N/S, bit 1 E/W."""
    reach_ns = reach_ew = -2 * MAX_POINTS  # nothing is higher than 7NT
    for bid in range(NUM_BIDS - 1, -1, -1):
        stop_ns, stop_ew = stop_row(tricks, 0, bid, vulnerable), stop_row(tricks, 1, bid, vulnerable)
        worth_ns, worth_ew = min(stop_ns, -reach_ew), min(stop_ew, -reach_ns)
        reach_ns, reach_ew = max(reach_ns, worth_ns), max(reach_ew, worth_ew)
    if dealer % 2 == 0:
        return max(reach_ns, -max(reach_ew, 0))
    return -max(reach_ew, -max(reach_ns, 0))


@row
def best_row(tricks: I8, vulnerable: int) -> int:
    """Points of the best contract of N/S, played undoubled by the better declarer; 0 if none makes."""
    best = 0
    for bid in range(NUM_BIDS):
        won = max(int(tricks[bid % 5]), int(tricks[10 + bid % 5]))
        best = max(best, score_row(bid // 5 + 1, bid % 5, 1, won, vulnerable & 1 == 1))
    return best


@batched
@rows_a_thread(256)
def _pars(start: int, stop: int, tricks: I8, dealer: I64, vulnerable: I64, out: I32) -> None:
    for b in range(start, stop):
        out[b] = par_row(tricks[b], dealer[b], vulnerable[b])


def par(tricks: I8, dealer: ArrayLike, vulnerable: ArrayLike) -> I32:
    """``par_row`` of every deal: ``tricks`` ``[B, 20]``, ``dealer`` and ``vulnerable`` ``[B]`` -> ``[B]``."""
    tricks = np.array(tricks, np.int8, order="C")  # a copy: a kernel for memory that is only read would be another one
    if tricks.ndim != 2 or tricks.shape[1] != 20 or tricks.min(initial=0) < 0 or tricks.max(initial=0) > 13:
        raise ValueError(f"tricks of shape {tricks.shape}: expected [B, 20] of 0 ... 13, every contract known")
    out = np.empty(len(tricks), np.int32)
    _pars(tricks, column("dealer", dealer, len(tricks), 0, 3), column("vulnerable", vulnerable, len(tricks), 0, 3), out)
    return out

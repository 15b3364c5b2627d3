"""Duplicate score of one contract. Source: Laws of Duplicate Bridge 2017, Law 77."""

import numpy as np
from numpy.typing import ArrayLike

from bidzoo.kernels import I32, I64, batched, prange, row

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
    return (
        points + 25 * stake + extra * (100 if vulnerable else 50) * stake
    )  # making a (re)doubled contract; overtricks


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
def _scores(level: I64, strain: I64, stake: I64, tricks: I64, vulnerable: I64, out: I32) -> None:
    for b in prange(len(out)):
        out[b] = score_row(level[b], strain[b], stake[b], tricks[b], vulnerable[b] != 0)


@batched
def _north_south(bid: I64, stake: I64, declarer: I64, vulnerable: I64, tricks: I64, out: I32) -> None:
    for b in prange(len(out)):
        out[b] = north_south_row(bid[b], stake[b], declarer[b], vulnerable[b], tricks[b])


def score(level: ArrayLike, strain: ArrayLike, stake: ArrayLike, tricks: ArrayLike, vulnerable: ArrayLike) -> I32:
    """``score_row`` of integers or arrays, broadcast against each other; ValueError if one is out of range.

    >>> score(4, 3, 1, [10, 9], True)
    array([ 620, -100], dtype=int32)
    """
    given = {"level": level, "strain": strain, "stake": stake, "tricks": tricks, "vulnerable": vulnerable}
    columns = [_within(name, x, *_LIMITS[name]) for name, x in given.items()]
    out = np.empty(np.broadcast_shapes(*(x.shape for x in columns)), np.int32)
    a, b, c, d, e = (np.broadcast_to(x, out.shape).ravel() for x in columns)
    _scores(a, b, c, d, e, out.ravel())
    return out


def north_south(bid: I64, stake: I64, declarer: I64, vulnerable: I64, tricks: I64) -> I32:
    """``north_south_row`` of columns ``[N]``."""
    out = np.empty(len(bid), np.int32)
    _north_south(bid, stake, declarer, vulnerable, tricks, out)
    return out


_LIMITS = {"level": (1, 7), "strain": (0, 4), "stake": (1, 4), "tricks": (0, 13), "vulnerable": (0, 1)}


def _within(name: str, given: ArrayLike, lowest: int, highest: int) -> I64:
    try:
        x = np.asarray(given, np.int64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} {given!r}: expected integers") from problem
    wrong = (x < lowest) | (x > highest)
    if name == "stake":
        wrong |= x == 3
    for value in x[wrong][:1]:
        raise ValueError(f"{name} {value}: expected {'1, 2 or 4' if name == 'stake' else f'{lowest} ... {highest}'}")
    return x

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


@batched
def _scores(level: I64, strain: I64, stake: I64, tricks: I64, vulnerable: I64, out: I32) -> None:
    for b in prange(len(out)):
        out[b] = score_row(level[b], strain[b], stake[b], tricks[b], vulnerable[b] != 0)


def score(level: ArrayLike, strain: ArrayLike, stake: ArrayLike, tricks: ArrayLike, vulnerable: ArrayLike) -> I32:
    """``score_row`` of integers or arrays, broadcast against each other; ValueError if one is out of range.

    >>> score(4, 3, 1, [10, 9], True)
    array([ 620, -100], dtype=int32)
    """
    given = [np.asarray(x, np.int64) for x in (level, strain, stake, tricks, vulnerable)]
    for name, x, lowest, highest in zip(_NAMES, given, (1, 0, 1, 0, 0), (7, 4, 4, 13, 1), strict=True):
        wrong = (x < lowest) | (x > highest) | ((x == 3) if name == "stake" else False)
        if wrong.any():
            expected = "1, 2 or 4" if name == "stake" else f"{lowest} ... {highest}"
            raise ValueError(f"{name} {int(x[wrong][0])}: expected {expected}")
    columns = np.broadcast_arrays(*given)
    out = np.empty(columns[0].shape, np.int32)
    _scores(*(np.ascontiguousarray(x).ravel() for x in columns), out.ravel())
    return out


_NAMES = ("level", "strain", "stake", "tricks", "vulnerable")

"""Par: the score of a deal when both sides know all cards and bid as well as they can.

Method: backward induction on the auction as a game of two sides. A side that stops at a bid scores the bid
undoubled if it makes double dummy and doubled if it fails, played by the better declarer of the two. From the
highest bid down, ``reach[side]`` is the most that side can still get by bidding higher than the bid at hand, so
a bid is worth the least of its own score and of what the other side's best answer leaves. The dealer's side may
open first. One pass over 35 bids, exact; equal to DDS's ``DealerPar`` (Hein 2014), against which it is tested.
"""

import numpy as np
from numpy.typing import ArrayLike

from bidzoo.cards import NUM_BIDS
from bidzoo.envs.bridge.score import MAX_POINTS, score_row
from bidzoo.kernels import I8, I32, I64, batched, column, prange, row


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


@batched
def _pars(tricks: I8, dealer: I64, vulnerable: I64, out: I32) -> None:
    for b in prange(len(out)):
        out[b] = par_row(tricks[b], dealer[b], vulnerable[b])


def par(tricks: I8, dealer: ArrayLike, vulnerable: ArrayLike) -> I32:
    """``par_row`` of every deal: ``tricks`` ``[B, 20]``, ``dealer`` and ``vulnerable`` ``[B]`` -> ``[B]``."""
    tricks = np.ascontiguousarray(tricks, np.int8)
    if tricks.ndim != 2 or tricks.shape[1] != 20 or tricks.min(initial=0) < 0 or tricks.max(initial=0) > 13:
        raise ValueError(f"tricks of shape {tricks.shape}: expected [B, 20] of 0 ... 13, every contract known")
    out = np.empty(len(tricks), np.int32)
    columns = []
    for name, given in (("dealer", dealer), ("vulnerable", vulnerable)):
        columns.append(column(name, given, len(tricks)))
        for wrong in columns[-1][(columns[-1] < 0) | (columns[-1] > 3)][:1]:
            raise ValueError(f"{name} {wrong}: expected 0 ... 3")
    _pars(tricks, columns[0], columns[1], out)
    return out

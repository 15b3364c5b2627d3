"""What every contract of a deal would score, in IMPs against a reference: what only a teacher may see."""

import numpy as np

from bidzoo.cards import NUM_BIDS
from bidzoo.envs.bridge.imps import imps_row
from bidzoo.envs.bridge.score import north_south_row
from bidzoo.kernels import F32, I64, Table, Tables, batched, prange, row

SIZE = 4 * NUM_BIDS + 2  # ours, ours doubled, theirs, theirs doubled, x 35 bids; passed out; what stands now
UNIT = 10.0  # IMPs


@row
def _contract_row(table: Table, declaring: int, bid: int, stake: int, reference: int) -> float:
    """IMPs of N/S if the side ``declaring`` plays ``bid``: the mean over its two possible declarers."""
    total = 0
    for declarer in (declaring, declaring + 2):
        tricks = int(table.tricks[5 * declarer + bid % 5])
        total += imps_row(north_south_row(bid, stake, declarer, table.vulnerable, tricks) - reference)
    return total / 2.0


@row
def sheet_row(table: Table, side: int, reference: int, out: F32) -> None:
    """The score sheet of ``side`` into ``out`` ``[142]``, units of 10 IMPs."""
    sign = (1.0 if side == 0 else -1.0) / UNIT
    for doubled in range(2):
        for theirs in range(2):
            declaring = (side + theirs) % 2
            for bid in range(NUM_BIDS):
                gain = _contract_row(table, declaring, bid, 1 + doubled, reference)
                out[(2 * theirs + doubled) * NUM_BIDS + bid] = sign * gain
    out[SIZE - 2] = sign * imps_row(-reference)
    out[SIZE - 1] = out[SIZE - 2]
    if table.bid >= 0:
        theirs = (table.bidder - side) % 2
        out[SIZE - 1] = out[(2 * theirs + (1 if table.stake > 1 else 0)) * NUM_BIDS + table.bid]


@batched
def _sheets(tables: Tables, side: I64, reference: I64, out: F32) -> None:
    for b in prange(len(tables)):
        sheet_row(tables[b], side[b], reference[b], out[b])


def sheets(tables: Tables, side: I64, reference: I64) -> F32:
    """Score sheets ``[n, 142]`` of ``side`` ``[n]``; ``reference`` ``[n]`` in N/S points."""
    out = np.empty((len(tables), SIZE), np.float32)
    _sheets(tables, side, reference, out)
    return out

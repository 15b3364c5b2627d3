"""The auction: who may call what, when it ends, and who becomes declarer.

Source: Laws of Duplicate Bridge 2017, Laws 2, 17-19 and 22, and the definition of declarer.
Calls: 0 pass, 1 double, 2 redouble, 3 + bid; bid = 5 * (level - 1) + strain, strains C D H S NT.
"""

from bidzoo.cards import DOUBLE, FIRST_BID, NUM_CALLS, PASS, REDOUBLE
from bidzoo.envs.bridge.state import AUCTION, OVER
from bidzoo.kernels import I8, Table, row


@row
def dealer_row(board: int) -> int:
    """Seat that deals: N, E, S, W in turn (Law 2). ``board`` counts from 0: board 0 is marked "1"."""
    return int(board % 4)


@row
def vulnerable_row(board: int) -> int:
    """Who is vulnerable, bit 0 N/S, bit 1 E/W: none, N/S, E/W, both, one later every fourth board (Law 2)."""
    return int((board + board // 4) % 4)


@row
def open_row(table: Table, dealer: int, vulnerable: int) -> None:
    """Start the auction; every public field but ``board`` and ``table`` becomes as before the first call."""
    table.phase, table.turn = AUCTION, dealer
    table.dealer, table.vulnerable = dealer, vulnerable
    table.length, table.bid, table.bidder, table.stake, table.passes = 0, -1, -1, 1, 0
    table.declarer = -1
    table.calls[:] = -1
    table.plays, table.hand_to_play, table.leader = 0, -1, -1
    table.won[:] = 0
    table.played[:] = -1
    table.players[:] = -1
    table.dummy = 0


@row
def turn_row(table: Table) -> int:
    """Seat to call: the dealer first, then clockwise (Law 17)."""
    return int((table.dealer + table.length) % 4)


@row
def over_row(table: Table) -> bool:
    """Three passes after a bid, or four with none (Law 22)."""
    return bool(table.passes == (3 if table.bid >= 0 else 4))


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal calls of the seat to call into ``out`` ``[38]``, 0 or 1 (Laws 18, 19); none once over."""
    out[:NUM_CALLS] = 0
    if over_row(table):
        return
    out[PASS] = 1
    for call in range(FIRST_BID + table.bid + 1, NUM_CALLS):
        out[call] = 1
    if table.bid >= 0:
        ours = (turn_row(table) - table.bidder) % 2 == 0
        out[DOUBLE] = table.stake == 1 and not ours
        out[REDOUBLE] = table.stake == 2 and ours


@row
def declarer_row(table: Table) -> int:
    """First seat of the side with the last bid to name its strain (Laws, Definitions); -1 with no bid."""
    if table.bid < 0:
        return -1
    for t in range(table.length):
        call, seat = int(table.calls[t]), int((table.dealer + t) % 4)
        if call >= FIRST_BID and (call - FIRST_BID) % 5 == table.bid % 5 and (seat - table.bidder) % 2 == 0:
            return seat
    return -1


@row
def call_row(table: Table, call: int) -> None:
    """Make a legal ``call``; the last one leaves the table ``OVER``, with its declarer."""
    if call >= FIRST_BID:
        table.bid, table.bidder, table.stake = call - FIRST_BID, turn_row(table), 1
    elif call != PASS:
        table.stake = 2 * table.stake
    table.passes = table.passes + 1 if call == PASS else 0
    table.calls[table.length] = call
    table.length += 1
    table.turn = turn_row(table)
    if over_row(table):
        table.phase, table.turn, table.declarer = OVER, -1, declarer_row(table)

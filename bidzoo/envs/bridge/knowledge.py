"""What one player may know of a table."""

from bidzoo.kernels import I64, Table, Tables, batched, prange, row


@row
def public_row(record: Table, out: Table) -> None:
    """Copy every public field."""
    out.board, out.table, out.phase, out.turn = record.board, record.table, record.phase, record.turn
    out.dealer, out.vulnerable, out.declarer = record.dealer, record.vulnerable, record.declarer
    out.length, out.bid, out.bidder = record.length, record.bid, record.bidder
    out.stake, out.passes = record.stake, record.passes
    out.plays, out.hand_to_play, out.leader = record.plays, record.hand_to_play, record.leader
    out.dummy = record.dummy
    out.won[:] = record.won
    out.calls[:] = record.calls
    out.played[:] = record.played
    out.players[:] = record.players


@row
def view_row(table: Table, player: int, out: Table) -> None:
    """View of ``player``: the public fields and the cards of the seat it sits at."""
    public_row(table, out)
    seat = (player + table.table) % 4
    out.seat, out.hand, out.held_here = seat, table.hands[seat], table.held[seat]


@batched
def views(tables: Tables, players: I64, out: Tables) -> None:
    """``view_row`` at every table."""
    for b in prange(len(tables)):
        view_row(tables[b], players[b], out[b])

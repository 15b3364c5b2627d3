"""Deals: every partition of the deck is equally likely, and ``(seed, board, round)`` names one."""

from bidzoo.envs.spades.state import BIDDING
from bidzoo.kernels import Table, below_row, key_row, next_row, row


@row
def deal_row(table: Table) -> None:
    """Four random hands of 13 to a table, and an empty bidding."""
    for seat in range(4):
        table.hands[seat] = 0
    key = key_row(table.seed, table.board, table.rounds)
    n0, n1, n2 = 13, 13, 13  # cards the first three seats still need
    for card in range(52):
        left = 52 - card
        at = below_row(key, left)
        key = next_row(key)
        if at < n0:
            seat, n0 = 0, n0 - 1
        elif at < n0 + n1:
            seat, n1 = 1, n1 - 1
        elif at < n0 + n1 + n2:
            seat, n2 = 2, n2 - 1
        else:
            seat = 3
        table.hands[seat] |= 1 << card
    open_row(table)


@row
def open_row(table: Table) -> None:
    """The hands of a table as dealt, and nothing bid or played yet."""
    first = (int(table.dealer) + 1) % 4
    table.phase = BIDDING
    table.turn = first
    table.leader = first
    table.blind = 0
    table.looked = 0
    table.plays = 0
    table.led = -1
    table.best = -1
    table.taker = -1
    table.broken = 0
    table.gone = 0
    for seat in range(4):
        table.held[seat] = table.hands[seat]
        table.bids[seat] = -1
        table.won[seat] = 0
        table.voids[seat] = 0
        if not may_bid_blind_row(table, seat):
            table.looked |= 1 << seat
    for t in range(52):
        table.played[t] = -1
        table.players[t] = -1


@row
def may_bid_blind_row(table: Table, seat: int) -> bool:
    """Whether the rules offer ``seat`` a blind nil this round: its side trails the best other one by enough."""
    if not table.blind_nil:
        return False
    side, best = seat % int(table.sides), -(1 << 30)
    for other in range(table.sides):
        if other != side:
            best = max(best, int(table.scores[other]))
    return best - int(table.scores[side]) >= table.blind_deficit

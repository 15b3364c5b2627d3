"""The record of one bridge table, and what one seat may know of it.

Auction and play share it; ``bridge_bidding_v0`` stops after the auction. Seats N E S W = 0 1 2 3.
``-1`` means "not yet". Numbers are wide enough that no kernel overflows compiled or not.
"""

import numpy as np

from bidzoo.core.kernels import I64, State, States, assign_row, batched, row

MAX_CALLS = 319  # 3 passes, then 35 x (bid, 2 passes, X, 2 passes, XX, 2 passes) + 1 pass
AUCTION, PLAY, OVER = 0, 1, 2  # phases
UNKNOWN_POINTS = -1_000_000  # of a contract whose double-dummy tricks are not known

PUBLIC = [
    ("board", "i8"),  # number of the board; (seed, board) addresses the deal
    ("leg", "i2"),  # 0, or 1 at the second table of a duplicate pair
    ("phase", "i2"),  # AUCTION, PLAY, OVER
    ("turn", "i2"),  # seat that acts next (declarer acts for dummy); -1 when over
    # auction (Laws 17-22)
    ("dealer", "i2"),
    ("vulnerable", "i2"),  # bit 0: N/S, bit 1: E/W
    ("length", "i2"),  # calls made
    ("bid", "i2"),  # highest bid so far, 0 ... 34; -1 before the first
    ("bidder", "i2"),  # seat that made it
    ("stake", "i2"),  # 1, 2, 4: undoubled, doubled, redoubled
    ("passes", "i2"),  # passes in a row
    ("declarer", "i2"),  # -1 before the auction ends, and after four passes
    ("calls", "i1", (MAX_CALLS,)),  # call made at each turn of the auction
    # play (Laws 41-45)
    ("plays", "i2"),  # cards played
    ("hand_to_play", "i2"),  # seat whose card comes next (dummy's own seat on dummy's turns)
    ("leader", "i2"),  # seat that led to the current trick
    ("won", "i2", (2,)),  # tricks won by N/S and E/W
    ("played", "i1", (52,)),  # cards in the order played
    ("players", "i1", (52,)),  # seat whose card each was
    ("dummy", "i8"),  # cards dummy still holds, as everybody sees them after the opening lead; 0 before
]

STATE = np.dtype(
    [
        *PUBLIC,
        ("hands", "i8", (4,)),  # cards dealt
        ("held", "i8", (4,)),  # cards still held
        ("tricks", "i1", (20,)),  # double-dummy tricks[5 * declarer + strain]; -1 unknown
        ("points", "i4", (2,)),  # N/S duplicate score at the first and the second table
    ],
    align=True,
)

VIEW = np.dtype(
    [
        *PUBLIC,
        ("seat", "i2"),  # whose view this is
        ("hand", "i8"),  # cards dealt to it
        ("held_here", "i8"),  # cards it still holds
    ],
    align=True,
)


# ---- what one player may know ------------------------------------------------------------


@row
def copy_public_row(source: State, target: State) -> None:
    """Every public field of ``source`` into ``target``; states and views in any combination."""
    target.board, target.leg, target.phase, target.turn = source.board, source.leg, source.phase, source.turn
    target.dealer, target.vulnerable, target.declarer = source.dealer, source.vulnerable, source.declarer
    target.length, target.bid, target.bidder = source.length, source.bid, source.bidder
    target.stake, target.passes = source.stake, source.passes
    target.plays, target.hand_to_play, target.leader = source.plays, source.hand_to_play, source.leader
    target.dummy = source.dummy
    assign_row(target.won, source.won)
    assign_row(target.calls, source.calls)
    assign_row(target.played, source.played)
    assign_row(target.players, source.players)


@row
def view_row(state: State, player: int, out: State) -> None:
    """View of ``player``: the public fields and the cards of the seat it sits at."""
    copy_public_row(state, out)
    seat = (player + state.leg) % 4
    out.seat, out.hand, out.held_here = seat, state.hands[seat], state.held[seat]


@batched
def views(start: int, stop: int, states: States, players: I64, out: States) -> None:
    """``view_row`` at every table."""
    for b in range(start, stop):
        view_row(states[b], players[b], out[b])

"""The record of one table of a small collaborative game, and what one player may know of it.

The small games are signalling games of two partners: each is dealt a private *type* (a number), every action is
public, and both receive the same reward at the end. One record serves all games and every size.
"""

import numpy as np

from bidzoo.core.kernels import I64, State, States, assign_row, batched, row

MAX_TURNS = 64  # capacity of ``history``; it bounds the sizes a game accepts
MAX_ACTIONS = 1 << 15  # of a game: those of ``history`` are int16
OVER = -1  # ``state.turn`` of a finished table

PUBLIC = [
    ("board", "i8"),  # number of the board; (seed, board) addresses the deal
    ("game", "i4"),  # ``code`` of the game's class
    ("extent", "i4"),  # length or size of the game, 0 where it has none (NumPy records have a ``size`` already)
    ("turn", "i4"),  # player who acts next, 0 or 1; OVER at the end
    ("length", "i4"),  # actions taken
    ("bid", "i4"),  # highest bid so far, as an action; 0 = none (bidding games)
    ("history", "i2", (MAX_TURNS,)),  # action taken at each turn; 0 beyond ``length``
]

STATE = np.dtype([*PUBLIC, ("types", "i4", (2,))], align=True)  # types of player_0 and player_1

VIEW = np.dtype(
    [
        *PUBLIC,
        ("player", "i4"),  # whose view this is
        ("type", "i4"),  # its type
    ],
    align=True,
)


@row
def copy_public_row(source: State, target: State) -> None:
    """Every public field of ``source`` into ``target``; states and views in any combination."""
    target.board, target.game, target.extent = source.board, source.game, source.extent
    target.turn, target.length, target.bid = source.turn, source.length, source.bid
    assign_row(target.history, source.history)


@row
def view_row(state: State, player: int, out: State) -> None:
    """View of ``player``: the public fields and its own type."""
    copy_public_row(state, out)
    out.player, out.type = player, state.types[player]


@batched
def views(start: int, stop: int, states: States, players: I64, out: States) -> None:
    """``view_row`` at every table."""
    for b in range(start, stop):
        view_row(states[b], players[b], out[b])

"""A rising auction between two partners, as Simple Bidding and MiniBridge play it.

Actions: 0 pass, ``1 ... bids`` the bids in rising order. Each bid must be higher than the last; a pass ends
the auction, except an opening pass where the game allows one.
"""

from bidzoo.envs.signals.state import OVER
from bidzoo.kernels import I8, Table, row

PASS = 0


@row
def legal_row(table: Table, bids: int, opening_pass: bool, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + bids]``."""
    out[PASS] = 1 if opening_pass or table.length > 0 else 0
    for bid in range(1, bids + 1):
        out[bid] = 1 if bid > table.bid else 0


@row
def step_row(table: Table, call: int) -> None:
    """Make ``call``: a pass after the first turn ends the auction."""
    over = call == PASS and table.length > 0
    table.history[table.length] = call
    table.length += 1
    if call != PASS:
        table.bid = call
    table.turn = OVER if over else 1 - table.turn


@row
def encode_row(table: Table, player: int, passes: int, bids: int, out: I8) -> None:
    """History into ``out`` ``[passes + 2 * bids]``, all zero before.

    The last entry of the ``passes`` is the closing pass, the first of two an opening pass;
    then, for each bid, whether ``player`` made it and whether the partner did.
    """
    for turn in range(table.length):
        call = int(table.history[turn])
        if call != PASS:
            out[passes + 2 * (call - 1) + (turn % 2 != player)] = 1
        elif turn == 0:
            out[0] = 1
        else:
            out[passes - 1] = 1

"""One set of rules over the four games: each kernel hands the table to its game's own."""

from bidzoo.envs.comm import rules as comm
from bidzoo.envs.mini_hanabi import rules as mini_hanabi
from bidzoo.envs.minibridge import rules as minibridge
from bidzoo.envs.signals import auction
from bidzoo.envs.signals.state import COMM, MINI_HANABI, OVER, SIMPLE_BIDDING
from bidzoo.envs.simple_bidding import rules as simple_bidding
from bidzoo.kernels import I8, Table, row


@row
def blank_row(table: Table, game: int, size: int, board: int) -> None:
    """A table of ``game`` before its first action; nobody has a type yet."""
    table.board, table.game, table.extent = board, game, size
    table.turn, table.length, table.bid = 0, 0, 0
    table.history[:] = 0


@row
def over_row(table: Table) -> bool:
    """Nobody acts any more."""
    return bool(table.turn == OVER)


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[A]``; none once over."""
    if table.turn == OVER:
        out[:] = 0
    elif table.game == COMM:
        comm.legal_row(table, out)
    elif table.game == SIMPLE_BIDDING:
        simple_bidding.legal_row(table, out)
    elif table.game == MINI_HANABI:
        mini_hanabi.legal_row(table, out)
    else:
        minibridge.legal_row(table, out)


@row
def step_row(table: Table, action: int) -> None:
    """Take a legal ``action``; the types have no part in it."""
    if table.game == COMM:
        comm.step_row(table, action)
    elif table.game == MINI_HANABI:
        mini_hanabi.step_row(table, action)
    else:
        auction.step_row(table, action)


@row
def payoff_row(table: Table, x: int, y: int) -> float:
    """Common reward of a finished table if the types are ``x`` and ``y``."""
    if table.game == COMM:
        return comm.payoff_row(table, x, y)
    if table.game == SIMPLE_BIDDING:
        return simple_bidding.payoff_row(table, x, y)
    if table.game == MINI_HANABI:
        return mini_hanabi.payoff_row(table, x, y)
    return minibridge.payoff_row(table, x, y)


@row
def encode_row(table: Table, player: int, own: int, types: int, out: I8) -> None:
    """What ``player`` of type ``own`` knows, into ``out`` ``[F]``: player, type (one of ``types``), history.

    A type beyond ``types`` entries, as that of Comm's guesser, leaves its field empty.
    """
    out[:] = 0
    out[player] = 1
    if not (table.game == COMM and player == 1):
        out[2 + own] = 1
    _history_row(table, player, out[2 + types :])


@row
def encode_state_row(table: Table, types: int, others: int, out: I8) -> None:
    """Who acts, the type of player_0 (one of ``types``), of player_1 (of ``others``), history as player_0 tells it."""
    out[:] = 0
    if table.turn != OVER:
        out[table.turn] = 1
    out[2 + int(table.types[0])] = 1
    if others > 0:
        out[2 + types + int(table.types[1])] = 1
    _history_row(table, 0, out[2 + types + others :])


@row
def _history_row(table: Table, player: int, out: I8) -> None:
    if table.game == COMM:
        comm.encode_row(table, player, out)
    elif table.game == MINI_HANABI:
        mini_hanabi.encode_row(table, player, out)
    else:
        passes = 1 if table.game == SIMPLE_BIDDING else 2
        auction.encode_row(table, player, passes, (len(out) - passes) // 2, out)

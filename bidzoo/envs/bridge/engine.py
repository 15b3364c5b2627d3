"""Bridge from deal to reward: what happens at a table beside the laws of the game.

A player is not a seat: player ``p`` sits at ``(p + table) % 4``, so at the second table of a duplicate pair
(``table`` 1) the two sides have changed places. A board is the same deal wherever ``(seed, board)`` is dealt.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge import auction, play
from bidzoo.envs.bridge.boards import Source, begin_row, seat_row
from bidzoo.envs.bridge.encode import encode_row
from bidzoo.envs.bridge.imps import imps_row
from bidzoo.envs.bridge.par import par_row
from bidzoo.envs.bridge.score import north_south_row
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY, UNKNOWN_POINTS
from bidzoo.envs.game import Buffers
from bidzoo.kernels import F32, I8, I64, Bool, Table, Tables, batched, prange, row

SCORE, PAR, DUPLICATE = range(3)  # reward modes


class Rules(NamedTuple):
    """How a table is played and shown."""

    play: bool  # cards are played; else double-dummy tricks score the contract
    reward: int  # SCORE, PAR, DUPLICATE
    divisor: float  # points or IMPs per unit of reward
    code: int  # observation


# ---- acting ------------------------------------------------------------------------------


@row
def result_row(table: Table, rules: Rules) -> int:
    """N/S duplicate score of a finished table, points; ``UNKNOWN_POINTS`` without the tricks to score it."""
    if table.declarer < 0:
        return 0
    won, cell = table.won[table.declarer % 2], 5 * table.declarer + table.bid % 5
    tricks = int(won) if rules.play else int(table.tricks[cell])
    if tricks < 0:
        return UNKNOWN_POINTS
    return north_south_row(table.bid, table.stake, table.declarer, table.vulnerable, tricks)


@row
def act_row(table: Table, action: int, rules: Rules) -> None:
    """Take a legal call or card; a duplicate deal goes on to its second table when the first is over."""
    if table.phase == AUCTION:
        auction.call_row(table, action)
        if rules.play and table.declarer >= 0:
            play.lead_row(table)
    elif table.phase == PLAY:
        play.play_row(table, action - NUM_CALLS)
    if table.phase == OVER:
        table.points[table.table] = result_row(table, rules)
        if rules.reward == DUPLICATE and table.table == 0:
            table.table = 1
            seat_row(table, table.dealer, table.vulnerable)


@row
def gain_row(table: Table, rules: Rules) -> float:
    """Reward of players 0 and 2 at the end of an episode; NaN if the deal's double-dummy tricks are not known."""
    first, second = table.points[0], table.points[1]
    if first == UNKNOWN_POINTS or second == UNKNOWN_POINTS:
        return np.nan
    if rules.reward == SCORE:
        return first / rules.divisor
    if rules.reward == DUPLICATE:
        return imps_row(first - second) / rules.divisor
    if table.tricks[0] < 0:
        return np.nan
    return imps_row(first - par_row(table.tricks, table.dealer, table.vulnerable)) / rules.divisor


# ---- showing -----------------------------------------------------------------------------


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal actions into ``out`` ``[38]``, or ``[90]`` with the cards; none once over."""
    auction.legal_row(table, out)
    if len(out) > NUM_CALLS:
        play.legal_cards_row(table, out[NUM_CALLS:])


@row
def observe_row(table: Table, player: int, code: int, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seat = (player + table.table) % 4
    encode_row(table, table.hands[seat], table.held[seat], seat, code, out)


@row
def show_row(table: Table, code: int, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    legal_row(table, mask)
    if table.turn < 0:
        player[0] = -1
        observation[:] = 0
    else:
        player[0] = (table.turn - table.table) % 4
        observe_row(table, int(player[0]), code, observation)


@row
def pay_row(table: Table, rules: Rules, reward: F32) -> None:
    """Rewards of the four players of a finished episode into ``reward`` ``[4]``."""
    gain = gain_row(table, rules)
    for player in range(4):
        reward[player] = gain if player % 2 == 0 else 0.0 - gain  # never -0


@batched
def begin(tables: Tables, boards: I64, seed: int, rows: Bool, rules: Rules, source: Source, out: Buffers) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set."""
    for b in prange(len(tables)):
        if rows[b]:
            begin_row(tables[b], boards[b], seed, source)
            out.reward[b, :] = 0
            out.over[b] = False
            show_row(tables[b], rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@row
def step_row(
    tables: Tables, b: int, action: int, seed: int, stride: int, rules: Rules, source: Source, out: Buffers
) -> None:
    """Take a legal action at table ``b`` (-1 none); a finished one is dealt ``board + stride`` if that is positive."""
    table = tables[b]
    out.reward[b, :] = 0
    out.over[b] = False
    if action < 0 or table.phase == OVER:
        return
    act_row(table, action, rules)
    if table.phase == OVER:
        out.over[b] = True
        pay_row(table, rules, out.reward[b])
        if stride > 0:
            begin_row(table, table.board + stride, seed, source)
    show_row(table, rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@batched
def step(tables: Tables, actions: I64, seed: int, stride: int, rules: Rules, source: Source, out: Buffers) -> None:
    """``step_row`` at every table."""
    for b in prange(len(tables)):
        step_row(tables, b, actions[b], seed, stride, rules, source, out)


# ---- one table, from Python: few and plain arguments, since each costs as much as a rule --------


@row
def step_one(
    tables: Tables,
    action: int,
    cards: bool,
    mode: int,
    divisor: float,
    code: int,
    player: I8,
    observation: I8,
    mask: I8,
    reward: F32,
    over: Bool,
) -> None:
    """``step_row`` of table 0 with no deal to follow: the fields of ``Rules``, then the arrays of ``Buffers``."""
    rules = Rules(cards, mode, divisor, code)
    table = tables[0]
    reward[0, :] = 0
    over[0] = False
    if table.phase == OVER:
        return
    act_row(table, action, rules)
    if table.phase == OVER:
        over[0] = True
        pay_row(table, rules, reward[0])
    show_row(table, rules.code, player, observation[0], mask[0])


@row
def show_one(tables: Tables, code: int, player: I8, observation: I8, mask: I8) -> None:
    """``show_row`` of table 0."""
    show_row(tables[0], code, player, observation[0], mask[0])


@row
def observe_one(tables: Tables, b: int, player: int, code: int, out: I8) -> None:
    """``observe_row`` of table ``b``."""
    observe_row(tables[b], player, code, out)


@row
def fix_one(tables: Tables, hands: I64, tricks: I8, dealer: int, vulnerable: int) -> None:
    """Put table 0 before its first call with these cards, ``[4]`` and ``[20]``, dealer and vulnerability."""
    table = tables[0]
    table.hands[:] = hands
    table.tricks[:] = tricks
    seat_row(table, dealer, vulnerable)

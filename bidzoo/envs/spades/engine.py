"""Spades from deal to reward: what happens at a table beside the rules of the game.

Player ``p`` sits at seat ``p``. ``(seed, board)`` is the same game wherever it is dealt: its first dealer is
``board % 4`` and round ``r`` is deal ``(seed, board, r)``.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.envs.game import Buffers
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.deal import deal_row, open_row
from bidzoo.envs.spades.encode import encode_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import BAG_LIMIT, end_round_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, OVER, PLAY, copy_public_row, view_row
from bidzoo.kernels import F32, I8, I64, Bool, Table, Tables, batched, key_row, prange, row

WIN, POINTS = range(2)  # reward modes
_CARDS = 1 << 32  # streams of a playing module's cards, above those of the deals


class Faces(NamedTuple):
    """What an engine shows, as kernels see it."""

    reward: int  # WIN, POINTS
    code: int  # observation


# ---- acting ------------------------------------------------------------------------------


@row
def begin_row(table: Table, board: int, seed: int, blank: Table) -> None:
    """A new game: ``board`` of ``seed`` by the rules of ``blank``, nobody with a point."""
    copy_public_row(blank, table)
    table.board = board
    table.seed = seed
    table.dealer = board % 4
    deal_row(table)


@row
def act_row(table: Table, action: int) -> None:
    """Take a legal bid or card; after the last card of a round the next one is dealt, or the game is over."""
    table.length += 1
    if table.phase == BIDDING:
        bid_row(table, action)
    elif table.phase == PLAY:
        play_row(table, action - FIRST_CARD)
        if table.plays == 52:
            end_round_row(table)


@row
def card_key_row(table: Table) -> np.uint64:
    """The random number with which a playing module chooses the next card of a table."""
    return key_row(table.seed, table.board, _CARDS + 64 * int(table.rounds) + int(table.plays))


@row
def reward_row(table: Table, mode: int, out: F32) -> None:
    """Rewards of an episode that is over into ``out`` ``[4]``; they sum to zero.

    WIN: 1 for the winners, shared losses for the others, 0 after a draw. POINTS: what the side made more than
    the others did on average, in the episode's only round or in the whole game.
    """
    sides = int(table.sides)
    total = 0.0
    for side in range(sides):
        total += table.gains[side] if table.max_rounds == 1 else table.scores[side]
    for player in range(4):
        side = player % sides
        if mode == POINTS:
            own = float(table.gains[side] if table.max_rounds == 1 else table.scores[side])
            out[player] = own - (total - own) / (sides - 1)
        elif table.winner < 0:
            out[player] = 0.0
        else:
            out[player] = 1.0 if side == table.winner else -1.0 / (sides - 1)


# ---- showing -----------------------------------------------------------------------------


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal actions into ``out`` ``[16]`` (bidding) or ``[68]``; none once over."""
    out[:] = 0
    if table.phase == BIDDING:
        bids = legal_bids_row(table, table.hands[table.turn])
        for action in range(FIRST_CARD):
            out[action] = bids >> action & 1
    elif table.phase == PLAY:
        cards = legal_cards_row(table, table.held[table.turn])
        for card in range(52):
            out[FIRST_CARD + card] = cards >> card & 1


@row
def observe_row(table: Table, player: int, code: int, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seen = table.looked >> player & 1
    encode_row(table, table.hands[player] if seen else 0, table.held[player] if seen else 0, player, code, out)


@row
def show_row(table: Table, code: int, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    legal_row(table, mask)
    player[0] = table.turn
    if table.turn < 0:
        observation[:] = 0
    else:
        observe_row(table, int(table.turn), code, observation)


@row
def take_row(table: Table, action: int) -> bool:
    """Whether an action was taken: not -1, and the game not over."""
    if action < 0 or table.phase == OVER:
        return False
    act_row(table, action)
    return True


@row
def settle_row(table: Table, acted: bool, faces: Faces, player: I8, observation: I8, mask: I8, reward: F32) -> bool:
    """What a step that ``acted`` leads to: rewards ``[4]`` and whether the episode ended in it."""
    reward[:] = 0
    if not acted:
        return False
    ended = table.phase == OVER
    if ended:
        reward_row(table, faces.reward, reward)
    show_row(table, faces.code, player, observation, mask)
    return bool(ended)


# ---- all tables --------------------------------------------------------------------------


@batched
def begin(tables: Tables, boards: I64, seed: int, rows: Bool, blank: Tables, faces: Faces, out: Buffers) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set; ``blank`` ``[1]``."""
    for b in prange(len(tables)):
        if rows[b]:
            begin_row(tables[b], boards[b], seed, blank[0])
            out.reward[b, :] = 0
            out.over[b] = False
            show_row(tables[b], faces.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@batched
def take(tables: Tables, actions: I64, acted: Bool) -> None:
    """``take_row`` at every table; what it says into ``acted`` ``[B]``."""
    for b in prange(len(tables)):
        acted[b] = take_row(tables[b], actions[b])


@row
def _go_on_row(
    table: Table, b: int, acted: bool, seed: int, stride: int, blank: Table, faces: Faces, out: Buffers
) -> None:
    """``settle_row`` into row ``b``; a finished table is dealt ``board + stride`` if that is positive."""
    shown = out.player[b : b + 1]
    out.over[b] = settle_row(table, acted, faces, shown, out.observation[b], out.mask[b], out.reward[b])
    if out.over[b] and stride > 0:
        begin_row(table, table.board + stride, seed, blank)
        show_row(table, faces.code, shown, out.observation[b], out.mask[b])


@batched
def settle(tables: Tables, acted: Bool, seed: int, stride: int, blank: Tables, faces: Faces, out: Buffers) -> None:
    """The second half of a step, after ``take`` and a playing module; ``acted`` may be ``out.over``."""
    for b in prange(len(tables)):
        _go_on_row(tables[b], b, acted[b], seed, stride, blank[0], faces, out)


@batched
def step(tables: Tables, actions: I64, seed: int, stride: int, blank: Tables, faces: Faces, out: Buffers) -> None:
    """``take`` and ``settle`` in one pass, where the agents play all the cards themselves."""
    for b in prange(len(tables)):
        _go_on_row(tables[b], b, take_row(tables[b], actions[b]), seed, stride, blank[0], faces, out)


# ---- one table, from Python: few and plain arguments, since each costs as much as a rule --------


@row
def take_one(tables: Tables, action: int) -> bool:
    """``take_row`` of table 0."""
    return take_row(tables[0], action)


@row
def settle_one(
    tables: Tables, acted: bool, faces: Faces, player: I8, observation: I8, mask: I8, reward: F32, over: Bool
) -> None:
    """``settle_row`` of table 0 with no game to follow; the arrays are those of ``Buffers``."""
    over[0] = settle_row(tables[0], acted, faces, player, observation[0], mask[0], reward[0])


@row
def step_one(
    tables: Tables, action: int, faces: Faces, player: I8, observation: I8, mask: I8, reward: F32, over: Bool
) -> None:
    """``take_one`` and ``settle_one``."""
    settle_one(tables, take_row(tables[0], action), faces, player, observation, mask, reward, over)


@row
def show_one(tables: Tables, code: int, player: I8, observation: I8, mask: I8) -> None:
    """``show_row`` of table 0."""
    show_row(tables[0], code, player, observation[0], mask[0])


@row
def observe_one(tables: Tables, b: int, player: int, code: int, out: I8) -> None:
    """``observe_row`` of table ``b``."""
    observe_row(tables[b], player, code, out)


@row
def fix_one(tables: Tables, hands: I64, dealer: int, scores: I64) -> None:
    """Put table 0 before its first bid with these hands ``[4]``, dealer and scores ``[4]`` by side."""
    table = tables[0]
    table.dealer = dealer
    for k in range(4):
        table.hands[k] = hands[k]
        table.scores[k] = scores[k]
        table.bags[k] = scores[k] % BAG_LIMIT
    open_row(table)


@batched
def views(tables: Tables, players: I64, out: Tables) -> None:
    """``view_row`` of ``players`` ``[B]`` into ``out`` ``[B]``."""
    for b in prange(len(tables)):
        view_row(tables[b], players[b], out[b])

"""Spades from deal to reward: what happens at a table besides the rules of the game.

Player ``p`` sits at seat ``p``. ``(seed, board)`` is the same game wherever it is dealt: its first dealer is
``board % 4`` and round ``r`` is deal ``(seed, board, r)``.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.core.bits import cards_row, choose_row, spread_row
from bidzoo.core.kernels import F32, I8, I64, Bool, State, States, batched, row
from bidzoo.core.streams import key_row, next_row, stream_row
from bidzoo.envs.game import Buffers
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.deals import deal_row
from bidzoo.envs.spades.observation import encode_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import end_round_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, OVER, PLAY, copy_public_row

WIN, POINTS = range(2)  # reward modes
_CARDS = 1 << 32  # streams of a playing module's cards, above those of the deals


class Rules(NamedTuple):
    """The options that kernels read besides the rules in each state."""

    reward: int  # WIN, POINTS
    code: int  # observation


@row
def begin_row(state: State, board: int, seed: int, blank: State) -> None:
    """A new game: ``board`` of ``seed`` by the rules of ``blank``, nobody with a point."""
    copy_public_row(blank, state)
    state.board = board
    state.seed = seed
    state.dealer = board % 4
    deal_row(state)


@row
def act_row(state: State, action: int) -> None:
    """Take a legal bid or card; after the last card of a round the next one is dealt, or the game is over."""
    state.length += 1
    if state.phase == BIDDING:
        bid_row(state, action)
    elif state.phase == PLAY:
        play_row(state, action - FIRST_CARD)
        if state.plays == 52:
            end_round_row(state)


@row
def card_key_row(state: State) -> np.uint64:
    """The random number with which a playing module chooses the next card of a table."""
    return key_row(state.seed, state.board, _CARDS + 64 * int(state.rounds) + int(state.plays))


@row
def reward_row(state: State, rules: Rules, out: F32) -> None:
    """Rewards of an episode that is over into ``out`` ``[4]``; they sum to zero.

    WIN: 1 for the winners, shared losses for the others, 0 after a draw. POINTS: what the side made more than
    the others did on average, in the episode's only round or in the whole game.
    """
    sides, points = int(state.sides), state.gains if state.max_rounds == 1 else state.scores
    total = 0.0
    for side in range(sides):
        total += points[side]
    for player in range(4):
        side = player % sides
        if rules.reward == POINTS:
            own = float(points[side])
            out[player] = own - (total - own) / (sides - 1)
        elif state.winner < 0:
            out[player] = 0.0
        else:
            out[player] = 1.0 if side == state.winner else -1.0 / (sides - 1)


@row
def legal_row(state: State, out: I8) -> None:
    """Legal actions into ``out`` ``[16]`` (bidding) or ``[68]``; none once over."""
    out[:] = 0
    if state.phase == BIDDING:
        spread_row(legal_bids_row(state, state.hands[state.turn]), FIRST_CARD, 0, out)
    elif state.phase == PLAY:
        cards_row(legal_cards_row(state, state.held[state.turn]), FIRST_CARD, out)


@row
def observe_row(state: State, player: int, code: int, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seen = state.looked >> player & 1
    encode_row(state, state.hands[player] if seen else 0, state.held[player] if seen else 0, player, code, out)


@row
def show_row(state: State, code: int, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    legal_row(state, mask)
    player[0] = state.turn
    if state.turn < 0:
        observation[:] = 0
    else:
        observe_row(state, int(state.turn), code, observation)


# ---- stepping ----------------------------------------------------------------------------
# A step takes an action and shows what follows. Where the agents only bid, a playing module acts in between.


@row
def take_row(state: State, action: int) -> bool:
    """Take a legal action, none if it is -1 or all is over; return whether it was taken."""
    if action < 0 or state.phase == OVER:
        return False
    act_row(state, action)
    return True


@row
def end_row(state: State, acted: bool, rules: Rules, reward: F32) -> bool:
    """Whether a step that ``acted`` ended the episode; rewards ``[4]``, 0 unless it did."""
    over = acted and state.phase == OVER
    if over:
        reward_row(state, rules, reward)
    else:
        reward[:] = 0
    return bool(over)


@batched
def begin(
    start: int, stop: int, states: States, boards: I64, seed: int, rows: Bool, blank: States, rules: Rules, out: Buffers
) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set; ``blank`` ``[1]``."""
    for b in range(start, stop):
        if rows[b]:
            begin_row(states[b], boards[b], seed, blank[0])
            show_row(states[b], rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@row
def _end_and_deal_row(
    states: States, b: int, acted: bool, seed: int, stride: int, blank: State, rules: Rules, out: Buffers
) -> None:
    """What follows after a step of table ``b``; a finished one is dealt ``board + stride`` if that is positive."""
    state = states[b]
    out.over[b] = end_row(state, acted, rules, out.reward[b])
    if out.over[b] and stride > 0:
        begin_row(state, state.board + stride, seed, blank)
    if acted:
        show_row(state, rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@batched
def step(
    start: int,
    stop: int,
    states: States,
    actions: I64,
    seed: int,
    stride: int,
    blank: States,
    rules: Rules,
    out: Buffers,
) -> None:
    """Take legal actions ``[B]`` (-1 none) and show what follows; a finished table is dealt ``board + stride``."""
    for b in range(start, stop):
        _end_and_deal_row(states, b, take_row(states[b], actions[b]), seed, stride, blank[0], rules, out)


@batched
def take(start: int, stop: int, states: States, actions: I64, acted: Bool) -> None:
    """The first half of ``step``, before a playing module; ``acted`` ``[B]`` says where an action was taken."""
    for b in range(start, stop):
        acted[b] = take_row(states[b], actions[b])


@batched
def end(
    start: int,
    stop: int,
    states: States,
    acted: Bool,
    seed: int,
    stride: int,
    blank: States,
    rules: Rules,
    out: Buffers,
) -> None:
    """The second half of ``step``; ``acted`` may be ``out.over``."""
    for b in range(start, stop):
        _end_and_deal_row(states, b, acted[b], seed, stride, blank[0], rules, out)


@row
def random_row(state: State, seats: int, seed: int, mask: I8) -> bool:
    """Play on while a player of the set ``seats`` is to act, as the agent ``random``; return whether one was."""
    played = False
    while state.turn >= 0 and seats >> state.turn & 1:
        legal_row(state, mask)
        played = take_row(state, choose_row(mask, next_row(stream_row(seed, state.board, state.length))))
    return played


@batched
def step_on(
    start: int, stop: int, states: States, actions: I64, seats: int, seed: int, rules: Rules, out: Buffers
) -> None:
    """``take_row`` and ``random_row`` at every table, and what follows."""
    for b in range(start, stop):
        acted = take_row(states[b], actions[b])
        played = random_row(states[b], seats, seed, out.mask[b])
        out.over[b] = end_row(states[b], acted or played, rules, out.reward[b])
        if acted or played:
            show_row(states[b], rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


# ---- one table, from Python: one record of all arrays, and plain arguments; those that stay come first ----


@row
def begin_table(tables: States, blank: States, code: int, board: int, seed: int) -> None:
    """``begin`` of the table ``[1]``."""
    table = tables[0]
    begin_row(table.state, board, seed, blank[0])
    table.reward[:] = 0
    table.over = False
    show_row(table.state, code, table.player, table.observation, table.mask)


@row
def step_table(tables: States, reward_mode: int, code: int, action: int, seats: int, seed: int) -> None:
    """``step`` of the table ``[1]`` with no deal to follow, and ``random_row``, by the fields of ``Rules``."""
    table = tables[0]
    state, rules = table.state, Rules(reward_mode, code)
    acted = take_row(state, action)
    played = random_row(state, seats, seed, table.mask)
    table.over = end_row(state, acted or played, rules, table.reward)
    if acted or played:
        show_row(state, code, table.player, table.observation, table.mask)


@row
def observe_one(states: States, b: int, code: int, player: int, out: I8) -> None:
    """``observe_row`` of table ``b``."""
    observe_row(states[b], player, code, out)


@batched
def observe_many(start: int, stop: int, rows: I64, states: States, player: int, code: int, out: I8) -> None:
    """``observe_row`` of ``player`` at ``rows`` ``[n]`` into ``out`` ``[n, F]``."""
    for n in range(start, stop):
        observe_row(states[rows[n]], player, code, out[n])

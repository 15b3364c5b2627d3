"""Spades from deal to reward: what happens at a table besides the rules of the game.

Player ``p`` sits at seat ``p``. ``(seed, board)`` is the same game wherever it is dealt: its first dealer is
``board % 4`` and round ``r`` is deal ``(seed, board, r)``.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.core.bits import cards_row, spread_row
from bidzoo.core.kernels import F32, I8, I64, Bool, State, States, batched, row
from bidzoo.core.streams import key_row
from bidzoo.envs.engine import bind, end_at_row, of_game, show_row, take_row
from bidzoo.envs.game import Buffers
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.deals import deal_row
from bidzoo.envs.spades.observation import encode_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import end_round_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, PLAY, copy_public_row, view_row

WIN, POINTS = range(2)  # reward modes
_CARDS = 1 << 32  # streams of a playing module's cards, above those of the deals


class Rules(NamedTuple):
    """The options that kernels read besides the rules in each state."""

    reward: int  # WIN, POINTS
    code: int  # observation


@row
def begin_row(state: State, board: int, seed: int, blank: States) -> None:
    """A new game: ``board`` of ``seed`` by the rules of ``blank`` ``[1]``, nobody with a point."""
    copy_public_row(blank[0], state)
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
def observe_row(state: State, player: int, rules: Rules, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seen = state.looked >> player & 1
    encode_row(state, state.hands[player] if seen else 0, state.held[player] if seen else 0, player, rules.code, out)


# ---- where the agents only bid: a playing module acts between the two halves of a step -----------


@of_game(batched)
def take(start: int, stop: int, states: States, actions: I64, rules: Rules, acted: Bool) -> None:
    """``take_row`` at every table; ``acted`` ``[B]`` says where an action was taken."""
    for b in range(start, stop):
        acted[b] = take_row(states[b], actions[b], rules)


@of_game(batched)
def follow(
    start: int,
    stop: int,
    states: States,
    acted: Bool,
    seed: int,
    stride: int,
    rules: Rules,
    blank: States,
    out: Buffers,
) -> None:
    """What follows at every table, as in ``step``; ``acted`` may be ``out.over``."""
    for b in range(start, stop):
        show = acted[b]
        end_at_row(states[b], show, seed, stride, rules, blank, out, b)
        if show:
            show_row(states[b], rules, out.player[b : b + 1], out.observation[b], out.mask[b])


@row
def _begin_row(state: State, board: int, seed: int, rules: Rules, blank: States) -> None:
    begin_row(state, board, seed, blank)


@row
def _act_row(state: State, action: int, rules: Rules) -> None:
    act_row(state, action)


kernels = bind("spades", __name__, {**globals(), "begin_row": _begin_row, "act_row": _act_row, "view_row": view_row})

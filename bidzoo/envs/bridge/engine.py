"""Bridge from deal to reward: what happens at a table beside the laws of the game.

A player is not a seat: player ``p`` sits at ``(p + leg) % 4``, so at the second table of a duplicate pair
(``leg`` 1) the two sides have changed places. A board is the same deal wherever ``(seed, board)`` is dealt.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, PASS
from bidzoo.core.kernels import F32, I8, I64, State, States, batched, row
from bidzoo.envs.bridge import auction, play
from bidzoo.envs.bridge.deals import Source, deal_row, open_row
from bidzoo.envs.bridge.observation import encode_row
from bidzoo.envs.bridge.score import best_row, imps_row, north_south_row, par_row
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS, OVER, PLAY, UNKNOWN_POINTS, view_row
from bidzoo.envs.engine import bind

SCORE, PAR, DUPLICATE, COST = range(4)  # reward modes


class Rules(NamedTuple):
    """How a table is played and shown."""

    play: bool  # cards are played; else double-dummy tricks score the contract
    reward: int  # SCORE, PAR, DUPLICATE, COST
    divisor: float  # points or IMPs per unit of reward
    code: int  # observation
    competition: bool = True  # E/W call as they please; else they pass
    most_calls: int = 0  # of N/S, who pass from then on; 0: as many as they like


@row
def result_row(state: State, rules: Rules) -> int:
    """N/S duplicate score of a finished table, points; ``UNKNOWN_POINTS`` without the tricks to score it."""
    if state.declarer < 0:
        return 0
    won, cell = state.won[state.declarer % 2], 5 * state.declarer + state.bid % 5
    tricks = int(won) if rules.play else int(state.tricks[cell])
    if tricks < 0:
        return UNKNOWN_POINTS
    return north_south_row(state.bid, state.stake, state.declarer, state.vulnerable, tricks)


@row
def forced_row(state: State, rules: Rules) -> None:
    """Make the passes that nobody chooses: of E/W without competition, of N/S when they have made their calls."""
    while state.phase == AUCTION:
        theirs = (state.length + state.dealer % 2) // 2  # calls of E/W; the dealer's side has made the odd one
        ours = state.turn % 2 == 0
        if (rules.competition or ours) and not (ours and 0 < rules.most_calls <= state.length - theirs):
            return
        auction.call_row(state, PASS)


@row
def begin_row(state: State, board: int, seed: int, rules: Rules, source: Source) -> None:
    """``board`` of ``seed`` at its first table, up to the first call that somebody chooses."""
    state.board, state.leg = board, 0
    state.points[:] = 0
    deal_row(state, board, seed, source)
    open_row(state, int(state.dealer), int(state.vulnerable))
    forced_row(state, rules)


@batched
def deal(start: int, stop: int, states: States, boards: I64, seed: int, rules: Rules, source: Source) -> None:
    """``begin_row`` at every table."""
    for b in range(start, stop):
        begin_row(states[b], boards[b], seed, rules, source)


@row
def act_row(state: State, action: int, rules: Rules) -> None:
    """Take a legal call or card; a duplicate deal goes on to its second table when the first is over."""
    if state.phase == AUCTION:
        auction.call_row(state, action)
        forced_row(state, rules)
        if rules.play and state.declarer >= 0:
            play.lead_row(state)
    elif state.phase == PLAY:
        play.play_row(state, action - NUM_CALLS)
    if state.phase == OVER:
        state.points[state.leg] = result_row(state, rules)
        if rules.reward == DUPLICATE and state.leg == 0:
            state.leg = 1
            open_row(state, state.dealer, state.vulnerable)


@row
def reward_row(state: State, rules: Rules, out: F32) -> None:
    """Rewards of the four players of a finished episode into ``out`` ``[4]``; NaN without the tricks to score it."""
    first, second = state.points[0], state.points[1]
    judged = rules.reward == PAR or rules.reward == COST
    if first == UNKNOWN_POINTS or second == UNKNOWN_POINTS or (judged and state.tricks[0] < 0):
        gain = np.nan
    elif rules.reward == SCORE:
        gain = first / rules.divisor
    elif rules.reward == DUPLICATE:
        gain = imps_row(first - second) / rules.divisor
    elif rules.reward == COST:
        gain = imps_row(first - best_row(state.tricks, state.vulnerable)) / rules.divisor
    else:
        gain = imps_row(first - par_row(state.tricks, state.dealer, state.vulnerable)) / rules.divisor
    for player in range(4):
        out[player] = gain if player % 2 == 0 else 0.0 - gain  # never -0


@row
def player_row(state: State) -> int:
    """Who acts next; -1 once all is over."""
    return -1 if state.turn < 0 else (int(state.turn) - int(state.leg)) % 4


@row
def legal_row(state: State, out: I8) -> None:
    """Legal actions into ``out`` ``[38]``, or ``[90]`` with the cards; none once over."""
    auction.legal_row(state, out)
    if len(out) > NUM_CALLS:
        play.legal_cards_row(state, out[NUM_CALLS:])


@row
def observe_row(state: State, player: int, rules: Rules, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seat = (player + state.leg) % 4
    encode_row(state, state.hands[seat], state.held[seat], seat, rules.code, out)


@row
def clock_row(state: State) -> int:
    """Calls and cards so far; the second table of a duplicate pair counts on from a whole board."""
    return int(state.length) + int(state.plays) + (MAX_CALLS + NUM_CARDS) * int(state.leg)


kernels = bind("bridge", __name__, {**globals(), "view_row": view_row})

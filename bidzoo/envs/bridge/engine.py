"""Bridge from deal to reward: what happens at a table beside the laws of the game.

A player is not a seat: player ``p`` sits at ``(p + leg) % 4``, so at the second table of a duplicate pair
(``leg`` 1) the two sides have changed places. A board is the same deal wherever ``(seed, board)`` is dealt.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.core.bits import choose_row
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, PASS
from bidzoo.core.kernels import F32, I8, I64, Bool, State, States, batched, row
from bidzoo.core.streams import next_row, stream_row
from bidzoo.envs.bridge import auction, play
from bidzoo.envs.bridge.deals import Source, begin_row, open_row
from bidzoo.envs.bridge.observation import encode_row
from bidzoo.envs.bridge.score import best_row, imps_row, north_south_row, par_row
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS, OVER, PLAY, UNKNOWN_POINTS
from bidzoo.envs.game import Buffers

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
def forced_row(state: State, competition: bool, most_calls: int) -> None:
    """Make the passes that nobody chooses: of E/W without competition, of N/S when they have made their calls."""
    while state.phase == AUCTION:
        theirs = (state.length + state.dealer % 2) // 2  # calls of E/W; the dealer's side has made the odd one
        ours = state.turn % 2 == 0
        if (competition or ours) and not (ours and 0 < most_calls <= state.length - theirs):
            return
        auction.call_row(state, PASS)


@row
def act_row(state: State, action: int, rules: Rules) -> None:
    """Take a legal call or card; a duplicate deal goes on to its second table when the first is over."""
    if state.phase == AUCTION:
        auction.call_row(state, action)
        forced_row(state, rules.competition, rules.most_calls)
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
def legal_row(state: State, out: I8) -> None:
    """Legal actions into ``out`` ``[38]``, or ``[90]`` with the cards; none once over."""
    auction.legal_row(state, out)
    if len(out) > NUM_CALLS:
        play.legal_cards_row(state, out[NUM_CALLS:])


@row
def observe_row(state: State, player: int, code: int, out: I8) -> None:
    """Observation of ``player`` in any phase."""
    seat = (player + state.leg) % 4
    encode_row(state, state.hands[seat], state.held[seat], seat, code, out)


@row
def show_row(state: State, code: int, player: I8, observation: I8, mask: I8) -> None:
    """Who acts next into ``player`` ``[1]`` (-1 nobody), with observation and legal actions."""
    legal_row(state, mask)
    if state.turn < 0:
        player[0] = -1
        observation[:] = 0
    else:
        player[0] = (state.turn - state.leg) % 4
        observe_row(state, int(player[0]), code, observation)


# ---- stepping ----------------------------------------------------------------------------


@row
def take_row(state: State, action: int, rules: Rules) -> bool:
    """Take a legal action, none if it is -1 or all is over; return whether it was taken."""
    if action < 0 or state.phase == OVER:
        return False
    act_row(state, action, rules)
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
    start: int,
    stop: int,
    states: States,
    boards: I64,
    seed: int,
    rows: Bool,
    rules: Rules,
    source: Source,
    out: Buffers,
) -> None:
    """``begin_row`` where ``rows`` ``[B]`` is set."""
    for b in range(start, stop):
        if rows[b]:
            begin_row(states[b], boards[b], seed, source)
            forced_row(states[b], rules.competition, rules.most_calls)
            out.reward[b, :] = 0
            out.over[b] = False
            show_row(states[b], rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@batched
def step(
    start: int,
    stop: int,
    states: States,
    actions: I64,
    seed: int,
    stride: int,
    rules: Rules,
    source: Source,
    out: Buffers,
) -> None:
    """``take_row`` at every table, and what follows; a finished one is dealt ``board + stride`` if that is positive."""
    for b in range(start, stop):
        state = states[b]
        out.over[b] = end_row(state, take_row(state, actions[b], rules), rules, out.reward[b])
        if out.over[b] and stride > 0:
            begin_row(state, state.board + stride, seed, source)
            forced_row(state, rules.competition, rules.most_calls)
        if actions[b] >= 0:
            show_row(state, rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


@row
def clock_row(state: State) -> int:
    """Calls and cards so far; the second table of a duplicate pair counts on from a whole board."""
    return int(state.length) + int(state.plays) + (MAX_CALLS + NUM_CARDS) * int(state.leg)


@row
def random_row(state: State, seats: int, seed: int, rules: Rules, mask: I8) -> bool:
    """Play on while a player of the set ``seats`` is to act, as the agent ``random``; return whether one was."""
    played = False
    while state.turn >= 0 and seats >> ((state.turn - state.leg) % 4) & 1:
        legal_row(state, mask)
        key = stream_row(seed, state.board, clock_row(state))
        played = take_row(state, choose_row(mask, next_row(key)), rules)
    return played


@batched
def step_on(
    start: int, stop: int, states: States, actions: I64, seats: int, seed: int, rules: Rules, out: Buffers
) -> None:
    """``take_row`` and ``random_row`` at every table, and what follows."""
    for b in range(start, stop):
        acted = take_row(states[b], actions[b], rules)
        played = random_row(states[b], seats, seed, rules, out.mask[b])
        out.over[b] = end_row(states[b], acted or played, rules, out.reward[b])
        if acted or played:
            show_row(states[b], rules.code, out.player[b : b + 1], out.observation[b], out.mask[b])


# ---- one table, from Python: one record of all arrays, and plain arguments; those that stay come first ----


@row
def begin_table(
    tables: States,
    code: int,
    competition: bool,
    most_calls: int,
    hands: I64,
    tricks: I8,
    dealer: I8,
    vulnerable: I8,
    augment: bool,
    shuffle: bool,
    board: int,
    seed: int,
) -> None:
    """``begin`` of the table ``[1]``: some fields of ``Rules``, then those of ``Source``."""
    table = tables[0]
    state = table.state
    begin_row(state, board, seed, Source(hands, tricks, dealer, vulnerable, augment, shuffle))
    forced_row(state, competition, most_calls)
    table.reward[:] = 0
    table.over = False
    show_row(state, code, table.player, table.observation, table.mask)


@row
def step_table(
    tables: States,
    play: bool,
    reward_mode: int,
    divisor: float,
    code: int,
    competition: bool,
    most_calls: int,
    action: int,
    seats: int,
    seed: int,
) -> None:
    """``step`` of the table ``[1]`` with no deal to follow, and ``random_row``, by the fields of ``Rules``."""
    rules = Rules(play, reward_mode, divisor, code, competition, most_calls)
    table = tables[0]
    state = table.state
    acted = take_row(state, action, rules)
    played = random_row(state, seats, seed, rules, table.mask)
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

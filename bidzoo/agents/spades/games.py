"""Whole Spades games between two partnerships, thousands at a time, in one kernel: the games behind every table.

Game ``g`` is board ``g // 2``, so each board is played twice: in odd games the first partnership plays East/West.
Matches of any policies are played by ``bidzoo.benchmarks.match``, which comes here where two ``SpadesPolicy`` meet: the
same games a hundred times as fast.

Random numbers (of UCT and of exploring bidders) are addressed, so results depend on neither batch nor threads: by
(policy seed, board, turn) as everywhere, or, without a policy seed, by (seed of the deals, game, round, turn). The
second address is that of the published tables and of the trained curves.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import hand_nil_value_row, offered_row, sequence_row
from bidzoo.agents.spades.lookup import exact_lookup, with_parts
from bidzoo.agents.spades.policy import Bidder, PlayerName, SpadesPolicy, bid_choice_row, card_choice_row
from bidzoo.agents.spades.uct import Workspace
from bidzoo.core.bits import count_row
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F32, F64, I16, I32, I64, Bool, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.options import whole
from bidzoo.core.streams import key_row, stream_row
from bidzoo.envs.game import Game
from bidzoo.envs.spades.engine import act_row, begin_row
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, NIL, OVER, STATE, VIEW

MOST_ROUNDS = 60  # a longer game is a draw
MOST_ACTIONS = 1 << 26  # kept at most, of games played together
BRANCHES = 14  # numbers of legal cards counted
_BIDS, _CARDS = 1 << 40, 1 << 41  # streams of the bids and cards, above those of the deals

ROUND = np.dtype(
    [
        ("board", "i4"),
        ("dealer", "i1"),
        ("swapped", "i1"),  # 1: the first partnership plays E-W
        ("bids", "i1", (4,)),  # by seat
        ("won", "i1", (4,)),
        ("gains", "i2", (2,)),  # by side
        ("ace", "i1"),  # seat dealt the ace of spades
        ("sequence", "i2", (4,)),  # row of the success curves at each seat's bid
        ("nil_value", "f4", (4,)),  # of each seat's hand at its bid; -1 unless it bid nil
    ],
    align=True,
)


# ---- seeds of deals ----------------------------------------------------------------------

# of training: curves of nil, values of scores, passes of policy iteration; of measuring: test games of a training,
# tables, the rounds and nils of the figures
Purpose = Literal["curves", "values", "passes", "test", "tables", "rounds", "nils"]
MEASURED: dict[Purpose, int] = {"test": 1 << 60, "rounds": 2 << 60, "nils": 3 << 60}
SHIPPED = (1, 2, 1001, 2001)  # seeds of the deals that the packaged curves and networks have learned from


def deals_seed(purpose: Purpose, seed: int, part: int = 0) -> int:
    """The seed of the deals for ``purpose``: nothing is measured on deals that something learned from.

    ValueError for a ``seed`` of the run not from 0 to 2**32, or one for tables on whose deals the packaged agents have
    learned. ``part``: number of the pass.
    """
    whole("seed", seed, 0, 1 << 32)
    if purpose == "tables" and seed in SHIPPED:
        raise ValueError(f"seed {seed}: the packaged agents have learned from its deals; choose another")
    return seed + MEASURED.get(purpose, 0) + part * (1000 if purpose == "passes" else 1)


# ---- games -------------------------------------------------------------------------------


class Partnerships(NamedTuple):
    """Bidders, players and lookups of two partnerships: records ``[2]``."""

    bidders: States
    players: States
    lookups: States


def partnerships(sides: Sequence[SpadesPolicy]) -> Partnerships:
    """The records of two policies."""
    parts = zip(*((policy.bidder_record, policy.player_record, policy.lookup) for policy in sides), strict=True)
    return Partnerships(*map(np.concatenate, parts))


class Games(NamedTuple):
    """Results of ``G`` games; partnership 0 is the first one named."""

    states: States  # [G]  at the end
    swapped: I64  # [G]  1: the first partnership plays E-W
    log: States  # [G, rounds] of ROUND
    branches: I64  # [G, BRANCHES]  cards played with so many legal ones, all seats
    actions: I16  # [G, T]  taken at each turn, -1 once over; T is 0 unless asked for

    @property
    def winner(self) -> I64:
        """Winning partnership ``[G]``; -1 draw."""
        winner = self.states["winner"].astype(np.int64)
        return np.where(winner < 0, -1, (winner + self.swapped) % 2)

    @property
    def scores(self) -> I32:
        """Final scores by partnership ``[G, 2]``."""
        by_side: I32 = self.states["scores"][:, :2]
        return np.where(self.swapped[:, None] == 1, by_side[:, ::-1], by_side)

    @property
    def rounds(self) -> I64:
        """Rounds played ``[G]``."""
        return self.states["rounds"].astype(np.int64)


def share_won(winner: I64) -> F64:
    """Share of each game won by the first partnership: 1 where ``winner`` ``[G]`` is 0, 0.5 where -1 (draw), else 0."""
    return (winner == 0) + 0.5 * (winner < 0)


@row
def _open_entry_row(state: State, entry: State, swap: int, lookup: State, note: bool) -> None:
    """Log the deal, and for the bid about to be made its sequence and, in case it is nil, the nil value of the hand."""
    seat = int(state.turn)
    entry.board = state.board
    entry.dealer = state.dealer
    entry.swapped = swap
    for k in range(4):
        if state.hands[k] >> 51 & 1:
            entry.ace = k
    if note and state.looked >> seat & 1:
        entry.sequence[seat] = sequence_row(state)
        entry.nil_value[seat] = hand_nil_value_row(state, state.hands[seat], lookup, offered_row(state))


@row
def _key_row(state: State, game: int, policy_seed: int) -> np.uint64:
    """The random number of the next action; ``policy_seed`` -1: none."""
    if policy_seed >= 0:
        return stream_row(policy_seed, state.board, state.length)
    stream = (_BIDS if state.phase == BIDDING else _CARDS) + 64 * int(state.rounds) + int(state.plays)
    return key_row(state.seed, game, stream + 16 * int(state.turn))


@row
def game_row(
    g: int, number: int, policy_seed: int, sides: Partnerships, workspace: Workspace, note: bool, out: Games
) -> None:
    """Play game ``g``, which has begun, to its end."""
    state, swap = out.states[g], number % 2
    while state.phase != OVER:
        rounds, seat = int(state.rounds), int(state.turn)
        entry, side, key = out.log[g, rounds], (seat + swap) % 2, _key_row(state, number, policy_seed)
        if state.phase == BIDDING:
            _open_entry_row(state, entry, swap, sides.lookups[side], note)
            action = bid_choice_row(state, state.hands[seat], sides.bidders[side], sides.lookups[side], key, workspace)
        else:
            held = int(state.held[seat])
            out.branches[g, count_row(legal_cards_row(state, held))] += 1
            action = FIRST_CARD + card_choice_row(state, held, sides.players[side], sides.lookups[side], key, workspace)
        if state.length < out.actions.shape[1]:
            out.actions[g, state.length] = action
        act_row(state, action)
        if state.rounds > rounds:  # log the one that just ended
            for k in range(4):
                entry.bids[k], entry.won[k] = state.last_bids[k], state.last_won[k]
                if state.last_bids[k] != NIL:
                    entry.nil_value[k] = -1
            entry.gains[0], entry.gains[1] = state.gains[0], state.gains[1]


@batched
@rows_a_thread(1)
def _play(
    start: int,
    stop: int,
    numbers: I64,
    seed: int,
    policy_seed: int,
    blank: States,
    sides: Partnerships,
    spare: Workspace,
    note: bool,
    out: Games,
) -> None:
    for g in range(start, stop):
        begin_row(out.states[g], numbers[g] // 2, seed, blank)
        workspace = Workspace(spare.states[2 * g : 2 * g + 2], spare.views[g : g + 1])
        game_row(g, numbers[g], policy_seed, sides, workspace, note, out)


@cache
def paper_game(win_goal: int = 200) -> Spades:
    """The paper's game: partnerships, to ``win_goal`` or -100."""
    return Spades(win_goal=win_goal, lose_goal=-100, max_rounds=MOST_ROUNDS)


def play_games(
    sides: tuple[SpadesPolicy, SpadesPolicy],
    numbers: I64,
    seed: int = 0,
    game: Spades | None = None,
    policy_seed: int = -1,
    note: bool = False,
    actions: bool = False,
) -> Games:
    """Games ``numbers`` ``[G]`` of the deals of ``seed`` between two partnerships, by default the paper's ``game``.

    ``policy_seed``: of the policies' random numbers; -1: those of the published tables (see above). ``note``: log nil
    values and rows of the success curves. ``actions``: keep those taken.
    """
    game, number = paper_game() if game is None else game, len(numbers)
    rounds = int(game.blank["max_rounds"][0])
    out = Games(
        allocate(STATE, number),
        numbers % 2,
        allocate(ROUND, number * rounds).reshape(number, rounds),
        np.zeros((number, BRANCHES), np.int64),
        np.full((number, game.max_turns if actions else 0), -1, np.int16),
    )
    spare = Workspace(allocate(STATE, 2 * number), allocate(VIEW, number))
    with when_compiled():  # a game takes seconds as plain Python, one with a search hours
        _play(numbers, seed, policy_seed, game.blank, partnerships(sides), spare, note, out)
    return out


def play_boards(
    game: Game, policies: Sequence[Any], boards: I64, seed: int, policy_seed: int, actions: bool
) -> tuple[F32, States, I16] | None:
    """Rewards ``[B, 4]``, final states ``[B]``, actions ``[B, T]`` of ``boards`` with ``policies[p]`` at player ``p``.

    None where they are not two pairs of ``SpadesPolicy`` that play all the cards, or the games may be very long.
    """
    if not isinstance(game, Spades) or game.module is not None or len(boards) * game.max_turns > MOST_ACTIONS:
        return None
    north, east, south, west = policies
    if type(north) is not SpadesPolicy or type(east) is not SpadesPolicy or north is not south or east is not west:
        return None
    games = play_games((north, east), 2 * boards, seed, game, policy_seed, actions=actions)
    reward = np.zeros((len(boards), 4), np.float32)
    for state, rewards in zip(games.states, reward, strict=True):
        game.kernels.reward_row(state, game._rules, rewards)
    turns = int(games.states["length"].max(initial=0)) if actions else 0
    return reward, games.states, games.actions[:, :turns]


# ---- nils of noisy BIS, which its success curves are learned from and measured on ---------------

NOISE = 0.25  # chance of an exploring bid
CHUNK = 40_000  # rounds at a time


class Nils(NamedTuple):
    """``N`` nil bids."""

    board: I64  # [N]  whose deal two games have, played with other noise
    sequence: I64  # [N]  row of the bids before
    value: F64  # [N]  nil value
    success: Bool  # [N]


def collect_nils(rounds: int, noise: float, curves: F32, player: PlayerName, seed: int) -> Nils:
    """The nils of ``rounds`` rounds from scores of 0, four noisy BIS at the table."""
    bidder = Bidder.named("bis", noise=noise, endgame=False)
    policy, game = SpadesPolicy(bidder, player, with_parts(exact_lookup(), curves=curves)), Spades("round")
    parts: list[tuple[I64, I64, F64, Bool]] = []
    for first in range(0, rounds, CHUNK):
        numbers = 2 * first + np.arange(min(CHUNK, rounds - first))
        log = play_games((policy, policy), numbers, seed, game, note=True).log[:, 0]
        nil = log["bids"] == 0
        boards, rows = log["board"][np.nonzero(nil)[0]], log["sequence"][nil].astype(np.int64)
        parts.append((boards, rows, log["nil_value"][nil].astype(float), log["won"][nil] == 0))
    return Nils(*(np.concatenate(column) for column in zip(*parts, strict=True)))

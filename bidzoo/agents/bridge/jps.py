"""``jps``: actor-critic whose games are now and then decided by a joint search. Joint policy search, 5.2 and 7.3.

Training goes on from an actor-critic model (``a2c.py``). Some decisions are searched, all four hands being known: for
each candidate call of the player (P1), sample the opponent's next call 5 times; for each of these and each candidate
call of the partner (P2), play out 5 times with the current policy. P2's best call is taken for each of the opponent's,
P1's best call given that: D = 3. All calls go to the replay buffer with the policy's own chances, as if the policy had
sampled them. The paper leaves open which calls are candidates.

``unit`` says what is searched. In a share of the *games*, one decision at the first table: the reply and the answer
that were found are made too, and the policy bids on. Or a share of the *moves* at both tables, as in the program that
the authors released: P1's call is made and the game goes on from there, in which later moves are searched with the
same chance. That program tries the calls of more than 5 %, plays out each pair of calls once, counts the mean of P2's
candidates and compares the tables' own scores: ``BY_MOVES``.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bidzoo.agents.bridge import a2c, selfplay
from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.agents.bridge.selfplay import BOTH, Actor, Decisions, Pairs, Record, candidates, join, paired
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F64, I64, States
from bidzoo.core.options import Count, Share
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS, imps
from bidzoo.envs.bridge.state import AUCTION

_COPY = 1 << 40  # added to board numbers, so that copies of a board have numbers of their own


class Jps(NetworkPolicy):
    """The policy of joint policy search."""

    name = "jps-bridge"


@dataclass(frozen=True)
class Options(a2c.Options):
    """What a run depends on, beside the model it starts from."""

    share: Share = 0.05  # of games or moves that are searched; 0: non-search
    unit: Literal["games", "moves"] = "games"  # which are chosen for a search
    depth: Literal[1, 3] = 3  # 1: 1-search
    responses: Count = 5  # of the opponent, sampled
    rollouts: Count = 5  # of each candidate and response
    max_actions: Count = 4  # candidates
    min_prob: Share = 0.01  # of a candidate
    partner: Literal["best", "mean"] = "best"  # which of P2's candidates counts after each of the opponent's calls
    reward: Literal["imps", "score"] = "imps"  # against the other table, or the table's own points


BY_MOVES = {  # options as the released program has them
    "unit": "moves",
    "rollouts": 1,
    "max_actions": NUM_CALLS,
    "min_prob": 0.05,
    "partner": "mean",
    "reward": "score",
}


class SearchResult(NamedTuple):
    """What a search of ``n`` decisions chose."""

    call: I64  # [n]  of P1
    reply: I64  # [n, responses]  the opponent's sampled calls; -1 when the auction was over
    answer: I64  # [n, responses]  P2's call after each; -1 when it was over, or not searched
    value: F64  # [n]  mean reward of P1's side


class Search:
    """Joint search with one policy in all seats."""

    def __init__(self, game: Bridge, player: Actor, options: Options, reference: I64) -> None:
        """``reference`` ``[B]``: N/S points that results are compared with, by row of the board."""
        self.game, self.player, self.options, self.reference = game, player, options, reference

    def __call__(self, decisions: Decisions, key: int) -> SearchResult:
        """Search every decision ``[n]``."""
        options = self.options
        first, _ = candidates(decisions.log_chances, options.max_actions, options.min_prob)
        row, place = np.nonzero(first >= 0)
        call, board = first[row, place], decisions.board[row]
        reply = answer = np.full((len(row), options.responses), -1, np.int64)
        if options.depth == 1:
            times = options.responses * options.rollouts
            value = self._mean_reward(decisions.states[row], call, board, times, key)
        else:
            times = options.responses
            states = _with_calls(np.repeat(decisions.states[row], times), call.repeat(times))
            states["board"] += _COPY * (1 + np.tile(np.arange(times), len(row)))
            reply, answer, values = self._answers(states, board.repeat(times), key)
            reply, answer = reply.reshape(-1, times), answer.reshape(-1, times)
            value = values.reshape(-1, times).mean(1)
        best, gain = _best(first, decisions.sign, value)
        index = np.zeros(first.shape, np.int64)
        index[row, place] = np.arange(len(row))
        rows = np.arange(len(first))
        winners = index[rows, best]
        return SearchResult(first[rows, best], reply[winners], answer[winners], gain)

    def _answers(self, states: States, board: I64, key: int) -> tuple[I64, I64, F64]:
        """Opponent's call, P2's best call and N/S's mean reward in states where P1 has called."""
        n, options = len(states), self.options
        reply, answer, value = np.full(n, -1), np.full(n, -1), np.zeros(n)
        open_rows = np.flatnonzero(states["phase"] == AUCTION)
        reply[open_rows] = selfplay.decide(self.game, states, open_rows, self.player, key).call
        next_states = _with_calls(states, reply)
        open_rows = np.flatnonzero(next_states["phase"] == AUCTION)
        over_rows = np.flatnonzero(next_states["phase"] != AUCTION)
        value[over_rows] = self._reward(next_states["points"][over_rows, 0], board[over_rows])
        if len(open_rows):
            second = selfplay.decide(self.game, next_states, open_rows, self.player, key)
            call, _ = candidates(second.log_chances, options.max_actions, options.min_prob)
            row, place = np.nonzero(call >= 0)
            means = self._mean_reward(
                next_states[open_rows][row], call[row, place], board[open_rows][row], options.rollouts, key
            )
            best, gain = _best(call, second.sign, means)
            answer[open_rows] = call[np.arange(len(open_rows)), best]
            value[open_rows] = second.sign * gain
            if options.partner == "mean":
                value[open_rows] = np.bincount(row, means) / np.bincount(row)
        return reply, answer, value

    def _mean_reward(self, states: States, calls: I64, board: I64, times: int, key: int) -> F64:
        """N/S's mean reward over ``times`` games played out after each call."""
        copies = np.repeat(states, times)
        copies["board"] += 64 * _COPY * (1 + np.tile(np.arange(times), len(states)))
        sides = np.full(len(copies), BOTH)
        repeated = calls.repeat(times)
        results = selfplay.finish(
            self.game, copies, np.arange(len(copies)), repeated, self.player, self.player, sides, key
        )
        return self._reward(results.points, board.repeat(times)).reshape(-1, times).mean(1)

    def _reward(self, points: I64, board: I64) -> F64:
        if self.options.reward == "score":
            return points.astype(np.float64)
        return np.asarray(imps(points - self.reference[board]) / MAX_IMPS, np.float64)


def _best(call: I64, sign: I64, value: F64) -> tuple[I64, F64]:
    """Place ``[n]`` of the best candidate in ``call`` ``[n, K]`` for the side ``sign``, and its gain there.

    ``value``: N/S's mean reward of every candidate, one after the other.
    """
    gain = np.full(call.shape, -np.inf)
    row, place = np.nonzero(call >= 0)
    gain[row, place] = sign[row] * value
    best = gain.argmax(1)
    return best, gain[np.arange(len(call)), best]


def _with_calls(states: States, calls: I64) -> States:
    """Copies of ``states`` after ``calls`` (-1: none)."""
    after, rows = states.copy(), np.flatnonzero(calls >= 0)
    selfplay.make(after, rows, calls[rows])
    return after


class Trainer(a2c.Trainer):
    """Actor-critic with searched games or moves."""

    algorithm = "jps"
    options: Options

    def play(self, boards: I64, player: Actor, stream: int) -> Pairs:
        """Duplicate pairs with what is searched."""
        if self.options.unit == "moves":
            return self._moves(boards, player, stream)
        return self._games(boards, player, stream)

    # ---- moves

    def _moves(self, boards: I64, player: Actor, stream: int) -> Pairs:
        """Each move at both tables is searched with the chance ``share``."""
        options, reference = self.options, np.zeros(len(boards), np.int64)
        if options.reward == "imps":  # the first table is compared with the second as it is without search
            reference, _ = self._table(boards, player, 3 * stream + 1, reference, 0.0)
        points, first = self._table(boards, player, 3 * stream, reference, options.share)
        reference, second = self._table(boards, player, 3 * stream + 1, points, options.share)
        return paired(first, second, points, reference)

    def _table(self, boards: I64, player: Actor, stream: int, reference: I64, share: float) -> tuple[I64, Decisions]:
        """One table of ``boards``, each of whose moves is searched with the chance ``share``: points and decisions."""
        game, options, key = self.game, self.options, self.options.seed ^ (stream << 32)
        states, record = game.deal(boards, options.seed), Record(game)
        record.clear(len(boards))
        search = Search(game, player, options, reference)

        def choose(rows: I64, turn: I64) -> I64:
            decisions = selfplay.decide(game, states, rows, player, key, record.rows(len(rows)))
            numbers = Streams.at(key, boards[rows], decisions.length).random(2)[:, 1]  # the first one is the policy's
            drawn = np.flatnonzero(numbers < share)
            call, _ = candidates(decisions.log_chances[drawn], options.max_actions, options.min_prob)
            searched = drawn[(call >= 0).sum(1) > 1]  # elsewhere the policy's call stands
            if len(searched):
                turn_key = key ^ ((1 + int(decisions.length[0])) << 52)  # all rows are at the same turn
                found = decisions.select(searched)
                found = found.called(search(found, turn_key).call)
                decisions.call[searched], decisions.log_chance[searched] = found.call, found.log_chance
            return decisions.call

        selfplay.bid_out(states, choose)
        return states["points"][:, 0].astype(np.int64), record.decisions(states)

    # ---- games

    def _games(self, boards: I64, player: Actor, stream: int) -> Pairs:
        """In a share of the pairs the first table's game is searched once."""
        options, sides = self.options, np.full(len(boards), BOTH)
        key = options.seed ^ ((3 * stream + 2) << 32)
        first, first_decisions = selfplay.play(self.game, boards, options.seed, player, player, sides, 3 * stream)
        second, second_decisions = selfplay.play(self.game, boards, options.seed, player, player, sides, 3 * stream + 1)
        points, reference = (t["points"][:, 0].astype(np.int64) for t in (first, second))
        searched_rows = np.flatnonzero(Streams.at(key, boards).random(1)[:, 0] < options.share)
        if len(searched_rows):
            first_decisions, points = self._search(first_decisions, searched_rows, points, reference, player, key)
        return paired(first_decisions, second_decisions, points, reference)

    def _search(
        self, decisions: Decisions, boards: I64, points: I64, reference: I64, player: Actor, key: int
    ) -> tuple[Decisions, I64]:
        """Search a decision of each of ``boards`` (rows) and play on from it; decisions and points of all games."""
        start = decisions.select(_random_decisions(decisions, boards, key))
        result = Search(self.game, player, self.options, reference)(start, key)
        parts = [start.called(result.call)]
        states = _with_calls(start.states, result.call)
        for calls in (result.reply[:, 0], result.answer[:, 0]):
            open_rows = np.flatnonzero((calls >= 0) & (states["phase"] == AUCTION))
            if len(open_rows):
                step = selfplay.decide(self.game, states, open_rows, player, key)
                parts.append(step.called(calls[open_rows])._replace(board=start.board[open_rows]))
                states = _with_calls(states, np.where(states["phase"] == AUCTION, calls, -1))
        record = Record(self.game)
        selfplay.play_out(self.game, states, player, player, np.full(len(states), BOTH), key, record)
        rest = record.decisions(states)
        parts.append(rest._replace(board=start.board[rest.board]))
        turn = np.full(len(points), np.iinfo(np.int64).max)
        turn[start.board] = start.length
        prefix = decisions.select(decisions.length < turn[decisions.board])
        points = points.copy()
        points[start.board] = states["points"][:, 0]
        return join([prefix, *parts]), points


def _random_decisions(decisions: Decisions, boards: I64, key: int) -> I64:
    """A random decision of every one of ``boards`` (rows)."""
    numbers = Streams.at(key, np.arange(len(decisions.call)), 1).random(1)[:, 0]
    order = np.lexsort((numbers, decisions.board))
    _, first = np.unique(decisions.board[order], return_index=True)
    return np.asarray(order[first][boards], np.int64)

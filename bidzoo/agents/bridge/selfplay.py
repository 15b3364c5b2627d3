"""Whole boards played by networks in torch, and every decision of the learner: the data of all learning here.

Boards are played to the end in one batch; a turn costs the host what its boards that are still bid cost, nothing
for the others. Random numbers are addressed by ``(seed, board, turn)``.

*Branches* are what the likeliest calls of a decision lead to: each is tried on the same cards and played out. Their
results differ by what the call does and by nothing else: the comparison that joint policy search (section 5.2) and
policy iteration (Lockhart et al. 2020) learn from. *Duplicate pairs* are boards at two tables, all four seats of both
held by one policy, rewarded with the IMPs between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge.network import Architecture, forward, half_precision, log_softmax, network_of
from bidzoo.agents.policy import Policy
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I8, I64, Bool, States, allocate, batched
from bidzoo.core.streams import Streams, next_row, stream_row, unit_row
from bidzoo.envs.asking import asking
from bidzoo.envs.bridge import engine
from bidzoo.envs.bridge.auction import call_row, legal_row, open_auction_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import encode_row
from bidzoo.envs.bridge.score import MAX_IMPS, imps
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.game import legal_actions

NORTH_SOUTH, EAST_WEST, BOTH, ONE = 0, 1, 2, 3  # whose decisions are learned from; ONE + k: of seat k alone

_NEVER = np.float32(-1e9)  # log-probability of an illegal call

# observations [n, F], legal calls [n, 38], numbers in [0, 1) [n] -> calls [n], log-probabilities of all calls [n, 38]
Actor = Callable[[I8, I8, F64], tuple[I64, F32]]


class OpponentPool(NamedTuple):
    """Players of the other side, each on boards of its own."""

    players: Sequence[Actor | Policy]
    sampled: Callable[[I64], I64]  # numbers of boards [n] -> places in players [n]


Opponent = Actor | Policy | OpponentPool  # a network in torch, any agent, or a pool of them


def opponent_numbers(boards: I64, size: int, share: float, opponents: int) -> I64:
    """Opponents on ``boards`` ``[B]``, ``size`` an iteration: 0 on ``share`` of them, then 1 ... in turn."""
    row = boards % size
    return np.where(row >= share * size, 1 + row // 2 % max(1, opponents), 0)


def log_chances(model: Any, observation: Any, legal: Any) -> Any:
    """Log-probabilities ``[n, 38]`` of a torch network at torch observations; illegal calls have about -1e9."""
    return log_softmax(forward(model, observation), legal)


def sample_calls(chances: Any, numbers: Any) -> Any:
    """Calls ``[n]`` sampled from log-probabilities ``[n, A]`` by ``numbers`` ``[n]`` in [0, 1), in torch."""
    cumulative = chances.exp().double().cumsum(1)
    return (cumulative <= numbers[:, None] * cumulative[:, -1:]).sum(1)


def actor(model: Any, device: str = "cpu", greedy: bool = False) -> Actor:
    """Calls sampled from the softmax over the legal calls of a torch network, or the likeliest ones."""
    import torch

    def act(observation: I8, legal: I8, numbers: F64) -> tuple[I64, F32]:
        with torch.no_grad():
            chances = log_chances(model, torch.from_numpy(observation).to(device), torch.from_numpy(legal).to(device))
            call = chances.argmax(1) if greedy else sample_calls(chances, torch.from_numpy(numbers).to(device))
        return call.cpu().numpy(), chances.cpu().numpy()

    return act


def actor_of(model: Any, architecture: Architecture, device: str = "cpu", greedy: bool = False) -> Actor:
    """``actor`` of the torch network ``model`` as it is now, a network of ``architecture``.

    On a processor our compiled network plays, not torch: three times as quick at 4096 rows, 17 times at one, and the
    same on any processor and any number of threads. Its logits are those of torch up to rounding (``dense``).
    """
    if device != "cpu":
        return actor(half_precision(model), device, greedy)
    network = network_of(architecture, model)

    def act(observation: I8, legal: I8, numbers: F64) -> tuple[I64, F32]:
        call, log_chances = np.empty(len(legal), np.int64), np.empty((len(legal), NUM_CALLS), np.float32)
        _decide(network(observation), legal, numbers, greedy, call, log_chances)
        return call, log_chances

    return act


@batched
def _decide(
    start: int, stop: int, logits: F32, legal: I8, numbers: F64, greedy: bool, call: I64, log_chances: F32
) -> None:
    """Log-probabilities of the calls, and one of the likeliest or drawn by ``numbers`` ``[n]``, as torch has them."""
    for b in range(start, stop):
        best = -1
        for a in range(NUM_CALLS):
            if legal[b, a] and (best < 0 or logits[b, a] > logits[b, best]):
                best = a
        highest, total = float(logits[b, best]), 0.0
        for a in range(NUM_CALLS):
            log_chances[b, a] = _NEVER
            if legal[b, a]:
                total += math.exp(logits[b, a] - highest)
        left, log_total, call[b] = numbers[b] * total, highest + math.log(total), best
        for a in range(NUM_CALLS):
            if legal[b, a]:
                log_chances[b, a] = logits[b, a] - log_total
                if not greedy and left >= 0:
                    call[b] = a  # the last one takes what rounding leaves
                    left -= math.exp(logits[b, a] - highest)


# ---- decisions and their record ----------------------------------------------------------

_A_BOARD = 16  # decisions that a recorder begins with room for: auctions of networks have 10 or 11 calls


class Decisions(NamedTuple):
    """``n`` decisions in the order they were made, of ``B`` boards."""

    later: States  # [E]  states in which they were made, with the calls made since
    row: I64  # [n]  in ``later``
    length: I64  # [n]  calls before this one
    observation: I8  # [n, F]  of the game's encoder
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_chances: F32  # [n, 38]  of every call when this one was made; about -1e9 for illegal ones
    board: I64  # [n]  row of the board, 0 ... B - 1
    player: I64  # [n]

    @property
    def states(self) -> States:
        """States before the call, ``[n]``: rewound, since a stored copy would be most of a decision's memory."""
        out = allocate(self.later.dtype, len(self.row))
        _rewind(self.row, self.later, self.length, out)
        return out

    @property
    def side(self) -> I64:
        """0 N/S, 1 E/W: ``[n]``."""
        return self.player % 2

    @property
    def sign(self) -> I64:
        """1 where N/S decide, -1 where E/W do: ``[n]``."""
        return np.where(self.side == 0, 1, -1)

    @property
    def log_chance(self) -> F32:
        """Log-probability of the call that was made: ``[n]``."""
        log_chance: F32 = np.take_along_axis(self.log_chances, self.call[:, None], 1)[:, 0]
        return log_chance

    def select(self, index: NDArray[Any] | slice) -> Decisions:
        """The decisions at ``index``: copies for numbers or a mask, the same memory for a slice."""
        return self._replace(**{name: field[index] for name, field in self._asdict().items() if name != "later"})

    def outcome(self, reward: F32) -> F32:
        """What each decision's side won in the end, ``[n]``, of N/S rewards ``[B]``."""
        return np.where(self.side == 0, reward[self.board], -reward[self.board]).astype(np.float32)


@batched
def _rewind(start: int, stop: int, row: I64, later: States, length: I64, out: States) -> None:
    for i in range(start, stop):
        out[i] = later[row[i]]
        state, calls = out[i], later[row[i]].calls
        open_auction_row(state, int(state.dealer), int(state.vulnerable))
        state.points[:] = 0
        for t in range(length[i]):
            call_row(state, int(calls[t]))


def empty(game: Bridge, n: int) -> Decisions:
    """Uninitialised memory for ``n`` decisions; pages that are not written take no room."""
    return Decisions(
        later=allocate(game.state, 0),
        row=np.empty(n, np.int64),
        length=np.empty(n, np.int64),
        observation=np.empty((n, game.encoder.layout.size), np.int8),
        legal=np.empty((n, NUM_CALLS), np.int8),
        call=np.empty(n, np.int64),
        log_chances=np.empty((n, NUM_CALLS), np.float32),
        board=np.empty(n, np.int64),
        player=np.empty(n, np.int64),
    )


def join(parts: Sequence[Decisions]) -> Decisions:
    """Concatenate ``parts``."""
    starts = np.cumsum([0, *(len(part.later) for part in parts)])
    shifted = [part._replace(row=part.row + start) for part, start in zip(parts, starts)]
    joined = Decisions._make(np.concatenate(field) for field in zip(*shifted))
    return joined._replace(later=joined.later.view(type(parts[0].later)))  # as ``allocate`` made them


class Recorder:
    """Records decisions turn by turn in one growing buffer: joining parts at the end would copy them all."""

    def __init__(self, game: Bridge, boards: int) -> None:
        self._game, self._memory, self._written = game, empty(game, _A_BOARD * boards), 0

    def rows(self, n: int) -> Decisions:
        """The next ``n`` decisions, to be written."""
        start, self._written = self._written, self._written + n
        if self._written > len(self._memory.call):
            previous, self._memory = self._memory, empty(self._game, 2 * self._written)
            for name, field in previous.select(slice(0, start))._asdict().items():
                getattr(self._memory, name)[: len(field)] = field
        return self._memory.select(slice(start, self._written))

    def decisions(self, later: States) -> Decisions:
        """All decisions written, of boards whose states are now ``later`` ``[B]``."""
        return self._memory.select(slice(0, self._written))._replace(later=later)


# ---- playing -----------------------------------------------------------------------------

_RULES = engine.Rules(play=False, reward=engine.SCORE, divisor=1.0, code=0)  # auctions, scored double-dummy


def play(
    game: Bridge, boards: I64, seed: int, learner: Actor, opponent: Opponent, sides: I64, stream: int
) -> tuple[States, Decisions]:
    """Play ``boards`` ``[B]`` of ``seed`` to their end; final states ``[B]`` and the decisions of ``learner``.

    It plays ``sides`` ``[B]`` (NORTH_SOUTH, EAST_WEST, BOTH, ONE + seat), ``opponent`` the other seats; ``game`` pays
    the score. The players' random numbers are those of ``stream``, ``seed`` and boards.
    """
    states, recorder = deal(game, boards, seed), Recorder(game, len(boards))
    play_out(game, states, learner, opponent, sides, seed ^ (stream << 32), recorder)
    return states, recorder.decisions(states)


def check(game: Bridge, algorithm: str, observation: str) -> None:
    """ValueError unless ``game`` pays points and shows ``observation``, as ``algorithm`` needs it."""
    if game.reward != "score" or game.encoder.name != observation:
        raise ValueError(
            f"{algorithm} needs observation={observation!r} and reward='score', "
            f"not {game.encoder.name!r} and {game.reward!r}"
        )


def deal(game: Bridge, boards: I64, seed: int) -> States:
    """States ``[B]`` before the first call."""
    states = game.new(len(boards))
    game.begin(states, np.ascontiguousarray(boards, np.int64), seed, game.buffers(len(boards)))
    return states


def play_out(
    game: Bridge,
    states: States,
    learner: Actor,
    opponent: Opponent,
    sides: I64,
    key: int,
    recorder: Recorder | None = None,
) -> None:
    """Play ``states`` ``[B]`` on to the end, in place; the learner's decisions go into ``recorder``.

    The random numbers are those of ``key``, the number of the board and the turn.
    """
    scratch = empty(game, len(states))

    def choose(rows: I64, turn: I64) -> I64:
        calls = np.empty(len(rows), np.int64)
        mine: Bool = (sides[rows] == BOTH) | (sides[rows] == turn % 2) | (sides[rows] == ONE + turn)
        for player, memory, index in (
            (learner, recorder, np.flatnonzero(mine)),
            (opponent, None, np.flatnonzero(~mine)),
        ):
            if len(index):
                out = memory.rows(len(index)) if memory else scratch.select(slice(0, len(index)))
                calls[index] = _calls(game, states, rows[index], player, key, out)
        return calls

    bid_out(states, choose)


def bid_out(states: States, choose: Callable[[I64, I64], I64]) -> None:
    """Bid ``states`` ``[B]`` to the end of the auction, in place: ``choose(rows, turn)`` gives the calls ``[n]``.

    ``rows`` ``[n]`` are those that are still bid, ``turn`` ``[n]`` the seats to call.
    """
    rows = np.flatnonzero(states["phase"] == AUCTION)
    turn = states["turn"][rows].astype(np.int64)
    while len(rows):
        turn = make(states, rows, choose(rows, turn))
        rows, turn = rows[turn >= 0], turn[turn >= 0]


def _calls(game: Bridge, states: States, rows: I64, player: Opponent, key: int, out: Decisions) -> I64:
    """Calls of ``player`` at ``rows`` ``[n]`` of ``states`` ``[B]``; an actor's decisions go into ``out`` ``[n]``."""
    if isinstance(player, OpponentPool):
        numbers, calls = player.sampled(states["board"][rows].astype(np.int64)), np.empty(len(rows), np.int64)
        for number in np.unique(numbers):
            index = np.flatnonzero(numbers == number)
            calls[index] = _calls(
                game, states, rows[index], player.players[number], key, out.select(slice(0, len(index)))
            )
        return calls
    if isinstance(player, Policy):
        observe(game, states, rows, key, out)
        current = states[rows]
        streams = Streams.at(key, current["board"].astype(np.int64), out.length)
        with asking(player.name, game, current["board"], out.length):
            calls = player.act(game.view_of(current, out.player), out.legal.copy(), streams)
        return legal_actions(player.name, calls, out.legal, current["board"])
    return decide(game, states, rows, player, key, out).call


def decide(game: Bridge, states: States, rows: I64, player: Actor, key: int, out: Decisions | None = None) -> Decisions:
    """Decisions of ``player`` at ``rows`` ``[n]`` of ``states`` ``[B]``, written into ``out`` ``[n]`` if given."""
    out = empty(game, len(rows)) if out is None else out
    numbers = observe(game, states, rows, key, out)
    out.call[:], out.log_chances[:] = player(out.observation, out.legal, numbers)
    out.row[:] = out.board[:] = rows
    return out._replace(later=states)


def observe(game: Bridge, states: States, rows: I64, key: int, out: Decisions) -> F64:
    """Write what the players at ``rows`` ``[n]`` see into ``out``; the random numbers ``[n]`` of their calls."""
    numbers = np.empty(len(rows))
    _observe(rows, states, game.encoder.code, key, out.observation, out.legal, out.player, out.length, numbers)
    return numbers


@batched
def _observe(
    start: int,
    stop: int,
    rows: I64,
    states: States,
    code: int,
    key: int,
    observation: I8,
    legal: I8,
    player: I64,
    length: I64,
    numbers: F64,
) -> None:
    for i in range(start, stop):
        state = states[rows[i]]
        seat = int(state.turn)
        encode_row(state, state.hands[seat], state.held[seat], seat, code, observation[i])
        legal_row(state, legal[i])
        player[i], length[i] = seat, state.length
        numbers[i] = unit_row(next_row(stream_row(key, state.board, state.length)))


def make(states: States, rows: I64, calls: I64) -> I64:
    """Make ``calls`` ``[n]`` at ``rows`` ``[n]`` of ``states``, in place; the seats ``[n]`` to call next, -1: none."""
    turn = np.empty(len(rows), np.int64)
    _make(rows, states, calls, _RULES, turn)
    return turn


@batched
def _make(start: int, stop: int, rows: I64, states: States, calls: I64, rules: engine.Rules, turn: I64) -> None:
    for i in range(start, stop):
        engine.act_row(states[rows[i]], calls[i], rules)
        turn[i] = states[rows[i]].turn


def finish(
    game: Bridge, states: States, rows: I64, calls: I64, learner: Actor, opponent: Opponent, sides: I64, key: int = 0
) -> I64:
    """Make ``calls`` ``[n]`` at copies of ``rows`` ``[n]`` of ``states`` and play them out; N/S points ``[n]``."""
    copies = np.take(states, rows)  # ten times as fast as an index
    make(copies, np.arange(len(rows)), calls)
    play_out(game, copies, learner, opponent, sides, key)
    return np.asarray(copies["points"][:, 0], np.int64)


# ---- branches ----------------------------------------------------------------------------


def candidates(log_chances: F32, max_actions: int, min_prob: float) -> tuple[I64, F32]:
    """Up to ``max_actions`` calls ``[n, K]`` of chance at least ``min_prob``, and their chances, from ``[n, 38]``."""
    call = np.empty((len(log_chances), max_actions), np.int64)
    chance = np.empty((len(log_chances), max_actions), np.float32)
    _likeliest(log_chances, call, chance)
    chance = np.exp(chance)
    use = chance >= min_prob
    use[:, 0] = True
    return np.where(use, call, -1), np.where(use, chance, np.float32(0))


@batched
def _likeliest(start: int, stop: int, log_chances: F32, call: I64, best: F32) -> None:
    """The greatest of each row in falling order; of equal ones the first comes first."""
    for b in range(start, stop):
        for k in range(call.shape[1]):
            choice = -1
            for a in range(log_chances.shape[1]):
                value = log_chances[b, a]
                later = k == 0 or value < best[b, k - 1] or (value == best[b, k - 1] and a > call[b, k - 1])
                if later and (choice < 0 or value > log_chances[b, choice]):
                    choice = a
            call[b, k], best[b, k] = choice, log_chances[b, choice]


def explore(game: Bridge, states: States, call: I64, learner: Actor, opponent: Opponent, sides: I64) -> I64:
    """N/S points ``[n, K]`` when each candidate ``call`` ``[n, K]`` (-1: none) is made at ``states`` and played out."""
    row, place = np.nonzero(call >= 0)
    points = np.zeros(call.shape, np.int64)
    points[row, place] = finish(game, states, row, call[row, place], learner, opponent, sides[row])
    return points


# ---- duplicate pairs ---------------------------------------------------------------------


class Pairs(NamedTuple):
    """``n`` decisions at both tables of every board."""

    decisions: Decisions
    outcome: F32  # [n]  what the decision's side won, IMPs / 24
    reference: I64  # [n]  N/S points at the other table
    parted: Bool  # [n]  whether the two auctions differ, this call included

    def select(self, index: Bool) -> Pairs:
        """The decisions that the mask ``index`` ``[n]`` has."""
        return Pairs(self.decisions.select(index), self.outcome[index], self.reference[index], self.parted[index])


def duplicate_pairs(game: Bridge, boards: I64, seed: int, player: Actor, stream: int) -> Pairs:
    """Play every board twice, with other random numbers; arguments as for ``play``."""
    sides = np.full(len(boards), BOTH)
    first, first_decisions = play(game, boards, seed, player, player, sides, 2 * stream)
    second, second_decisions = play(game, boards, seed, player, player, sides, 2 * stream + 1)
    return paired(first_decisions, second_decisions, first["points"][:, 0], second["points"][:, 0])


def paired(first_decisions: Decisions, second_decisions: Decisions, points: I64, reference: I64) -> Pairs:
    """The decisions of two tables whose N/S scores were ``points`` and ``reference`` ``[B]``."""
    difference = imps(points - reference).astype(np.float32) / np.float32(MAX_IMPS)
    tables = (first_decisions, second_decisions)
    calls = np.full((2, len(points), 1 + max(int(table.length.max()) for table in tables)), -1, np.int64)
    for table, made in zip(tables, calls):
        made[table.board, table.length] = table.call
    parted = np.logical_or.accumulate(calls[0] != calls[1], axis=1)
    return Pairs(
        join(tables),
        np.concatenate([first_decisions.outcome(difference), second_decisions.outcome(-difference)]),
        np.concatenate([reference[first_decisions.board], points[second_decisions.board]]).astype(np.int64),
        np.concatenate([parted[table.board, table.length] for table in tables]),
    )

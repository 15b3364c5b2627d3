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

from bidzoo.agents.bridge.evaluator import Evaluator, draw_tricks
from bidzoo.agents.bridge.network import (
    Architecture,
    Network,
    NetworkPolicy,
    forward,
    half_precision,
    log_softmax,
    module_of,
    network_of,
    unpacked,
)
from bidzoo.agents.policy import Policy
from bidzoo.core.bits import pack_row, packed_size, unpack, unpack_row
from bidzoo.core.cards import NUM_CALLS, PASS
from bidzoo.core.kernels import F32, F64, I8, I64, U8, Bool, States, allocate, batched
from bidzoo.core.streams import Streams, next_row, stream_row, unit_row
from bidzoo.envs.asking import asking
from bidzoo.envs.bridge import engine
from bidzoo.envs.bridge.auction import call_row, legal_row, legal_set_row, open_auction_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import encode_row
from bidzoo.envs.bridge.score import MAX_IMPS, imps, imps_row, north_south_row
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.game import Encoder, legal_actions

NORTH_SOUTH, EAST_WEST, BOTH, ONE = 0, 1, 2, 3  # whose decisions are learned from; ONE + k: of seat k alone

_NEVER = np.float32(-1e9)  # log-probability of an illegal call


class Actor(NamedTuple):
    """A network that plays."""

    encoder: Encoder  # what it sees
    choose: Callable[[Decisions, F64], None]  # writes the calls of decisions [n] by numbers in [0, 1) [n]


class OpponentPool(NamedTuple):
    """Players of the other side, each on boards of its own."""

    players: Sequence[Actor | Policy]
    sampled: Callable[[I64], I64]  # numbers of boards [n] -> places in players [n]


Opponent = Actor | Policy | OpponentPool  # a network, any agent, or a pool of them


_OF_BOARDS = 1 << 48  # streams of what is drawn once a board, beyond those of its turns
OF_LEARNING, OF_TRICKS, OF_SIDE, OF_SEAT, OF_OPPONENT = range(_OF_BOARDS, _OF_BOARDS + 5)


def drawn(seed: int, boards: I64, stream: int, count: int) -> I64:
    """A number 0 ... ``count`` - 1 for each of ``boards`` ``[B]``.

    A number that a board has by its place would go with its dealer and vulnerability, which have periods of 4 and 16:
    the learner would meet opponents on its own side's deals alone.
    """
    return (Streams.at(seed, boards, stream).random(1)[:, 0] * count).astype(np.int64)


def opponent_numbers(boards: I64, size: int, share: float, opponents: int, seed: int) -> I64:
    """Opponents on ``boards`` ``[B]``, ``size`` an iteration: 0 on ``share`` of them, on the others 1 ... drawn."""
    return np.where(boards % size >= share * size, 1 + drawn(seed, boards, OF_OPPONENT, max(1, opponents)), 0)


def log_chances(model: Any, observation: Any, legal: Any) -> Any:
    """Log-probabilities ``[n, 38]`` of a torch network at torch observations; illegal calls have about -1e9."""
    return log_softmax(forward(model, observation), legal)


def sample_calls(chances: Any, numbers: Any) -> Any:
    """Calls ``[n]`` sampled from log-probabilities ``[n, A]`` by ``numbers`` ``[n]`` in [0, 1), in torch."""
    cumulative = chances.exp().double().cumsum(1)
    return (cumulative <= numbers[:, None] * cumulative[:, -1:]).sum(1)


Adjust = Callable[[I8], None]  # changes observations [n, F] in place, for a player that sees them with other eyes


def actor(
    model: Any, encoder: Encoder, device: str = "cpu", greedy: bool = False, adjust: Adjust | None = None
) -> Actor:
    """Calls sampled from the softmax over the legal calls of a torch network, or the likeliest ones.

    Bits travel to the ``device`` as they are packed, unless somebody wants to ``adjust`` them.
    """
    import torch

    size = encoder.layout.size

    def seen(packed: U8) -> Any:
        if adjust is None:
            return unpacked(torch.from_numpy(packed).to(device), size)
        return torch.from_numpy(_adjusted(packed, size, adjust)).to(device)

    def choose(decisions: Decisions, numbers: F64) -> None:
        legal, keys = (torch.from_numpy(array).to(device) for array in (decisions.legal, numbers))
        with torch.no_grad():
            chances = log_chances(model, seen(decisions.observation), unpacked(legal, NUM_CALLS))
            call = chances.argmax(1) if greedy else sample_calls(chances, keys)
            decisions.call[:] = call.cpu().numpy()
            decisions.log_chance[:] = chances.gather(1, call[:, None])[:, 0].cpu().numpy()
            if decisions.log_chances.size:
                decisions.log_chances[:] = chances.cpu().numpy()

    return Actor(encoder, choose)


def actor_of(model: Any, architecture: Architecture, device: str = "cpu", greedy: bool = False) -> Actor:
    """``actor`` of the torch network ``model`` as it is now, a network of ``architecture``.

    On a processor our compiled network plays, not torch: two to three times as quick at 4096 rows of 512 wide, 17 times
    at one, though not at 4096 rows of 2048 wide; and the same on any processor and any number of threads. Its logits
    are those of torch up to rounding (``dense``).
    """
    if device != "cpu":
        return actor(half_precision(model), architecture.encoder, device, greedy)
    return _compiled_actor(network_of(architecture, model), greedy)


_ASKED = "act", "probabilities", "logits"  # of a ``NetworkPolicy``: each asks the next, the last one its network


def actor_like(policy: Policy, device: str = "cpu") -> Actor | Policy:
    """What plays as ``policy`` does: an actor on ``device`` if it only asks a network, else itself."""
    if not isinstance(policy, NetworkPolicy) or type(policy.network) is not Network:
        return policy
    if any(getattr(type(policy), name) is not getattr(NetworkPolicy, name) for name in _ASKED):
        return policy
    player, greedy = policy.network.of_calls(policy.name), policy.temperature == 0
    adjust = None if type(policy).adjust is NetworkPolicy.adjust else policy.adjust
    if not greedy:
        player = player.at_temperature(policy.temperature)
    if device == "cpu":
        return _compiled_actor(player, greedy, adjust)
    return actor(half_precision(module_of(player, device)), player.architecture.encoder, device, greedy, adjust)


def _compiled_actor(player: Network, greedy: bool, adjust: Adjust | None = None) -> Actor:
    encoder = player.architecture.encoder

    def choose(decisions: Decisions, numbers: F64) -> None:
        logits = player(_adjusted(decisions.observation, encoder.layout.size, adjust))
        _decide(logits, decisions.legal, numbers, greedy, decisions.call, decisions.log_chance, decisions.log_chances)

    return Actor(encoder, choose)


def _adjusted(packed: U8, size: int, adjust: Adjust | None) -> I8:
    x = unpack(packed, size)
    if adjust:
        adjust(x)
    return x


@batched
def _decide(
    start: int,
    stop: int,
    logits: F32,
    legal: U8,
    numbers: F64,
    greedy: bool,
    call: I64,
    log_chance: F32,
    log_chances: F32,
) -> None:
    """One of the likeliest calls or drawn by ``numbers`` ``[n]``, and log-probabilities, as torch has them."""
    allowed = np.empty(8 * legal.shape[1], np.int8)
    for b in range(start, stop):
        unpack_row(legal[b], allowed)
        best = -1
        for a in range(NUM_CALLS):
            if allowed[a] and (best < 0 or logits[b, a] > logits[b, best]):
                best = a
        highest, total = float(logits[b, best]), 0.0
        for a in range(NUM_CALLS):
            if allowed[a]:
                total += math.exp(logits[b, a] - highest)
        left, log_total, call[b] = numbers[b] * total, highest + math.log(total), best
        for a in range(NUM_CALLS):
            if allowed[a] and not greedy and left >= 0:
                call[b] = a  # the last one takes what rounding leaves
                left -= math.exp(logits[b, a] - highest)
        log_chance[b] = logits[b, call[b]] - log_total
        for a in range(log_chances.shape[1]):
            log_chances[b, a] = logits[b, a] - log_total if allowed[a] else _NEVER


# ---- decisions and their record ----------------------------------------------------------

_A_BOARD = 16  # decisions that a record begins with room for: auctions of networks have 10 or 11 calls


class Decisions(NamedTuple):
    """``n`` decisions in the order they were made, of ``B`` boards.

    Bits are packed: entry ``8 * k + i`` is bit ``i`` of byte ``k``; ``unpack`` and ``unpacked`` make entries of them.
    """

    later: States  # [E]  states in which they were made, with the calls made since
    row: I64  # [n]  in ``later``
    length: I64  # [n]  calls before this one
    observation: U8  # [n, ceil(F / 8)]  of what the player sees
    legal: U8  # [n, 5]
    call: I64  # [n]
    log_chance: F32  # [n]  log-probability of the call when it was made
    log_chances: F32  # [n, 38]  of every call; about -1e9 for illegal ones. [n, 0] where a record does without
    board: I64  # [n]  row of the board, 0 ... B - 1
    player: I64  # [n]

    @property
    def states(self) -> States:
        """States before the call, ``[n]``: rewound, since a stored copy would be most of a decision's memory."""
        return self.states_at(slice(None))

    def states_at(self, index: NDArray[Any] | slice) -> States:
        """``states`` of the decisions at ``index``."""
        row, length = self.row[index], self.length[index]
        out = allocate(self.later.dtype, len(row))
        _rewind(row, self.later, length, out)
        return out

    @property
    def side(self) -> I64:
        """0 N/S, 1 E/W: ``[n]``."""
        return self.player % 2

    @property
    def sign(self) -> I64:
        """1 where N/S decide, -1 where E/W do: ``[n]``."""
        return np.where(self.side == 0, 1, -1)

    def select(self, index: NDArray[Any] | slice) -> Decisions:
        """The decisions at ``index``: copies for numbers or a mask, the same memory for a slice."""
        return Decisions._make((self.later, *(field[index] for field in self[1:])))

    def called(self, call: I64) -> Decisions:
        """The decisions with other calls ``[n]``, and the log-probabilities of these."""
        log_chance: F32 = np.take_along_axis(self.log_chances, call[:, None], 1)[:, 0]
        return self._replace(call=call, log_chance=log_chance)

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


def empty(game: Bridge, n: int, encoder: Encoder | None = None, all_chances: bool = True) -> Decisions:
    """Uninitialised memory for ``n`` decisions; pages that are not written take no room.

    ``encoder``: of what is seen, if that is not the game's. ``all_chances``: whether every call's are kept.
    """
    size = (encoder or game.encoder).layout.size
    return Decisions(
        later=allocate(game.state, 0),
        row=np.empty(n, np.int64),
        length=np.empty(n, np.int64),
        observation=np.empty((n, packed_size(size)), np.uint8),
        legal=np.empty((n, packed_size(NUM_CALLS)), np.uint8),
        call=np.empty(n, np.int64),
        log_chance=np.empty(n, np.float32),
        log_chances=np.empty((n, NUM_CALLS if all_chances else 0), np.float32),
        board=np.empty(n, np.int64),
        player=np.empty(n, np.int64),
    )


def join(parts: Sequence[Decisions]) -> Decisions:
    """Concatenate ``parts``."""
    starts = np.cumsum([0, *(len(part.later) for part in parts)])
    shifted = [part._replace(row=part.row + start) for part, start in zip(parts, starts)]
    joined = Decisions._make(np.concatenate(field) for field in zip(*shifted))
    return joined._replace(later=joined.later.view(type(parts[0].later)))  # as ``allocate`` made them


class Record:
    """The decisions of a round in one growing memory, turn by turn; joining parts at the end would copy them all.

    Where rounds follow each other, ``clear`` keeps the memory: new pages each time would take longer than the rules.
    """

    def __init__(self, game: Bridge, all_chances: bool = True) -> None:
        """``all_chances``: whether ``log_chances`` are kept, of every call."""
        self._game, self._all_chances, self._written = game, all_chances, 0
        self._memory = empty(game, 0, all_chances=all_chances)

    def clear(self, boards: int) -> None:
        """Begin a round of ``boards``: what was recorded before is written over."""
        self._written = 0
        self._reserve(_A_BOARD * boards)

    def _reserve(self, n: int) -> None:
        """Have room for ``n`` decisions."""
        if n > len(self._memory.call):
            outgrown, self._memory = self._memory, empty(self._game, n, all_chances=self._all_chances)
            for name in Decisions._fields[1:]:
                getattr(self._memory, name)[: self._written] = getattr(outgrown, name)[: self._written]

    def rows(self, n: int) -> Decisions:
        """The next ``n`` decisions, to be written."""
        start, stop = self._written, self._written + n
        if stop > len(self._memory.call):
            self._reserve(2 * stop)
        self._written = stop
        return self._memory.select(slice(start, stop))

    def decisions(self, later: States) -> Decisions:
        """All decisions written, of boards whose states are now ``later`` ``[B]``; their memory is the record's."""
        return self._memory.select(slice(0, self._written))._replace(later=later)


# ---- playing -----------------------------------------------------------------------------

_RULES = engine.Rules(play=False, reward=engine.SCORE, divisor=1.0, code=0)  # auctions, scored double-dummy


def play(
    game: Bridge,
    boards: I64,
    seed: int,
    learner: Actor,
    opponent: Opponent,
    sides: I64,
    stream: int,
    record: Record | None = None,
) -> tuple[States, Decisions]:
    """Play ``boards`` ``[B]`` of ``seed`` to their end; final states ``[B]`` and the decisions of ``learner``.

    It plays ``sides`` ``[B]`` (NORTH_SOUTH, EAST_WEST, BOTH, ONE + seat), ``opponent`` the other seats; ``game`` pays
    the score. The players' random numbers are those of ``stream``, ``seed`` and boards. A ``record`` keeps its memory
    from round to round; the decisions of the round before are written over.
    """
    record = record or Record(game)
    record.clear(len(boards))
    states = game.deal(boards, seed)
    play_out(game, states, learner, opponent, sides, key_of(seed, stream), record)
    return states, record.decisions(states)


def key_of(seed: int, stream: int) -> int:
    """The key of the random numbers that ``play`` takes for ``stream``."""
    return seed ^ (stream << 32)


def check(game: Bridge, algorithm: str, observation: str) -> None:
    """ValueError unless ``game`` pays points and shows ``observation``, as ``algorithm`` needs it."""
    if game.reward != "score" or game.encoder.name != observation:
        raise ValueError(
            f"{algorithm} needs observation={observation!r} and reward='score', "
            f"not {game.encoder.name!r} and {game.reward!r}"
        )


def play_out(
    game: Bridge,
    states: States,
    learner: Actor,
    opponent: Opponent,
    sides: I64,
    key: int,
    record: Record | None = None,
) -> None:
    """Play ``states`` ``[B]`` on to the end, in place; the learner's decisions go into ``record``.

    The random numbers are those of ``key``, the number of the board and the turn.
    """
    players: list[Actor | Policy] = [learner]
    if isinstance(opponent, OpponentPool):
        players += opponent.players
        number = opponent.sampled(states["board"].astype(np.int64))
    else:
        players.append(opponent)
        number = np.zeros(len(states), np.int64)
    holder = np.where(_LEARNS[sides], 0, 1 + number[:, None]).astype(np.int8)  # [B, 4]  places in ``players``
    alone = not holder.any()
    memory = {
        place: empty(game, len(states), player.encoder, all_chances=False)
        for place, player in enumerate(players)
        if isinstance(player, Actor)
    }

    def ask(place: int, rows: I64) -> I64:
        player = players[place]
        if isinstance(player, Policy):
            return _answers(game, states, rows, player, key)
        out = record.rows(len(rows)) if record and place == 0 else memory[place].select(slice(0, len(rows)))
        return decide(game, states, rows, player, key, out).call

    def choose(rows: I64, turn: I64) -> I64:
        if alone:
            return ask(0, rows)
        asked, calls = holder[rows, turn], np.empty(len(rows), np.int64)
        order, counts = np.argsort(asked, kind="stable"), np.bincount(asked, minlength=len(players))
        for place, index in enumerate(np.split(order, counts.cumsum()[:-1])):
            if len(index):
                calls[index] = ask(place, rows[index])
        return calls

    bid_out(states, choose)


_LEARNS = np.array(  # [sides, seats]  whether the learner sits there
    [[side == BOTH or side == seat % 2 or side == ONE + seat for seat in range(4)] for side in range(ONE + 4)]
)


def bid_out(states: States, choose: Callable[[I64, I64], I64]) -> None:
    """Bid ``states`` ``[B]`` to the end of the auction, in place: ``choose(rows, turn)`` gives the calls ``[n]``.

    ``rows`` ``[n]`` are those that are still bid, ``turn`` ``[n]`` the seats to call.
    """
    rows = np.flatnonzero(states["phase"] == AUCTION)
    turn = states["turn"][rows].astype(np.int64)
    while len(rows):
        turn = make(states, rows, choose(rows, turn))
        rows, turn = rows[turn >= 0], turn[turn >= 0]


@batched
def _bidders(start: int, stop: int, row: I64, states: States, length: I64, out: I8) -> None:
    for i in range(start, stop):
        state, bid = states[row[i]], 0
        for t in range(length[i]):
            if state.calls[t] != PASS:
                bid |= 1 << ((int(state.dealer) + t) & 1)
        out[i] = bid


def bidders(states: States) -> I8:
    """Which sides have made another call than a pass, ``[B]``: bit 0 N/S, bit 1 E/W."""
    out = np.empty(len(states), np.int8)
    _bidders(np.arange(len(states)), states, states["length"].astype(np.int64), out)
    return out


def bidders_before(decisions: Decisions) -> I8:
    """``bidders`` before each of the decisions, ``[n]``."""
    out = np.empty(len(decisions.row), np.int8)
    _bidders(decisions.row, decisions.later, decisions.length, out)
    return out


@batched
def _legal(start: int, stop: int, states: States, out: I8) -> None:
    for b in range(start, stop):
        legal_row(states[b], out[b])


def legal_calls(states: States) -> I8:
    """Legal calls ``[B, 38]``."""
    out = np.empty((len(states), NUM_CALLS), np.int8)
    _legal(states, out)
    return out


def _answers(game: Bridge, states: States, rows: I64, player: Policy, key: int) -> I64:
    """Calls ``[n]`` of an agent at ``rows`` ``[n]`` of ``states`` ``[B]``."""
    current = np.take(states, rows)
    board, length, legal = current["board"].astype(np.int64), current["length"].astype(np.int64), legal_calls(current)
    with asking(player.name, game, board, length):
        views = game.view_of(current, current["turn"].astype(np.int64))
        calls = player.act(views, legal.copy(), Streams.at(key, board, length))
    return legal_actions(player.name, calls, legal, board)


def decide(game: Bridge, states: States, rows: I64, player: Actor, key: int, out: Decisions | None = None) -> Decisions:
    """Decisions of ``player`` at ``rows`` ``[n]`` of ``states`` ``[B]``, written into ``out`` ``[n]`` if given."""
    out = empty(game, len(rows), player.encoder) if out is None else out
    player.choose(out, observe(states, rows, player.encoder, key, out))
    return out._replace(later=states)


def observe(states: States, rows: I64, encoder: Encoder, key: int, out: Decisions) -> F64:
    """Write what the players at ``rows`` ``[n]`` see into ``out``; the random numbers ``[n]`` of their calls."""
    numbers = np.empty(len(rows))
    fields = out.observation, out.legal, out.player, out.length, out.row, out.board
    _observe(rows, states, encoder.code, encoder.layout.size, key, *fields, numbers)
    return numbers


@batched
def _observe(
    start: int,
    stop: int,
    rows: I64,
    states: States,
    code: int,
    size: int,
    key: int,
    observation: U8,
    legal: U8,
    player: I64,
    length: I64,
    row: I64,
    board: I64,
    numbers: F64,
) -> None:
    entries = np.zeros(8 * observation.shape[1], np.int8)
    for i in range(start, stop):
        state = states[rows[i]]
        seat = int(state.turn)
        encode_row(state, state.hands[seat], state.held[seat], seat, code, entries[:size])
        calls = legal_set_row(state)
        pack_row(entries.view(np.uint64), observation[i])
        for k in range(legal.shape[1]):
            legal[i, k] = (calls >> (8 * k)) & 255
        player[i], length[i], row[i], board[i] = seat, state.length, rows[i], rows[i]
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


class Results(NamedTuple):
    """Columns of contracts, as in a state: ``[n]``, or ``[n, K]`` of ``K`` calls at a decision (of none: passed)."""

    bid: I64
    stake: I64
    declarer: I64  # -1: all passed
    points: I64  # of N/S, with the tricks that the deal's table has

    @classmethod
    def of(cls, states: States) -> Results:
        """Those of finished ``states`` ``[n]``."""
        fields = (states["bid"], states["stake"], states["declarer"], states["points"][:, 0])
        return cls(*(field.astype(np.int64) for field in fields))

    @property
    def gains(self) -> I8:
        """IMPs of N/S over the first of each row, with the tricks of the tables: ``[n, K]``."""
        return imps(self.points - self.points[:, :1])

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Results:
        """Of no calls."""
        return cls(*(np.full(shape, value) for value in (0, 0, -1, 0)))

    def put(self, index: tuple[I64, I64], results: Results) -> None:
        """Write ``results`` ``[m]`` at ``index``, of rows and places ``[m]``."""
        for column, values in zip(self, results):
            column[index] = values

    def at(self, index: I64 | tuple[I64, I64]) -> Results:
        """Those at ``index``."""
        return Results(*(column[index] for column in self))


def finish(
    game: Bridge, states: States, rows: I64, calls: I64, learner: Actor, opponent: Opponent, sides: I64, key: int = 0
) -> Results:
    """Make ``calls`` ``[n]`` at copies of ``rows`` ``[n]`` of ``states`` and play them out: the results ``[n]``."""
    copies = np.take(states, rows)  # ten times as fast as an index
    make(copies, np.arange(len(rows)), calls)
    play_out(game, copies, learner, opponent, sides, key)
    return Results.of(copies)


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


def explore(
    game: Bridge, states: States, call: I64, learner: Actor, opponent: Opponent, sides: I64, key: int = 0
) -> I64:
    """N/S points ``[n, K]`` when each candidate ``call`` ``[n, K]`` (-1: none) is made at ``states`` and played out."""
    row, place = np.nonzero(call >= 0)
    points = np.zeros(call.shape, np.int64)
    points[row, place] = finish(game, states, row, call[row, place], learner, opponent, sides[row], key).points
    return points


def explore_on(
    game: Bridge,
    played: Decisions,
    likeliest: I64,
    rows: I64,
    call: I64,
    learner: Actor,
    opponent: Opponent,
    sides: I64,
    key: int,
) -> Results:
    """``explore`` at ``rows`` ``[n]`` of a round's decisions, the ``learner`` making its ``likeliest`` calls ``[N]``.

    ``played`` are all ``[N]`` decisions of the round, whose other players were ``opponent`` with the numbers of
    ``key``. What followed a call of that round is known: likeliest calls up to the end, or up to a decision where
    another call was made, and there the likeliest one is tried. So a call that was made is not bid out once more.
    """
    departure = _departures(played, likeliest)[rows]
    tried_at = np.full(len(likeliest) + 1, -1)  # by decision, the last entry for none: its place in ``rows``
    tried_at[rows] = np.arange(len(rows))
    known = (call == played.call[rows, None]) & ((departure < 0) | (tried_at[departure] >= 0))[:, None]
    results, ends = Results.none(call.shape), Results.of(played.later)
    board, states = played.board[rows], played.states_at(rows)
    row, place = np.nonzero((call >= 0) & ~known)
    tried = finish(game, states, row, call[row, place], learner, opponent, sides[board[row]], key)
    results.put((row, place), tried)
    row, place = np.nonzero(known & (departure < 0)[:, None])
    results.put((row, place), ends.at(board[row]))
    row, place = np.nonzero(known & (departure >= 0)[:, None])
    results.put((row, place), results.at((tried_at[departure[row]], np.zeros_like(row))))
    return results


def _departures(played: Decisions, likeliest: I64) -> I64:
    """The next decision of the same board that was not for the ``likeliest`` call ``[n]``: ``[n]``, -1 for none."""
    n = len(likeliest)
    order = np.argsort(played.board, kind="stable")  # a board's decisions one after the other
    departs = np.where(played.call[order] != likeliest[order], np.arange(n), n)
    later = np.append(np.minimum.accumulate(departs[::-1])[::-1][1:], n)[:n]  # places in ``order``
    board, decision = np.append(played.board[order], -1), np.append(order, -1)
    out = np.empty(n, np.int64)
    out[order] = np.where(board[later] == board[:n], decision[later], -1)
    return out


def mean_gains(evaluator: Evaluator, luck: F64, states: States, deal: I64, results: Results) -> F32:
    """IMPs ``[n, K]`` of N/S over the first of each row of ``results`` ``[n, K]``: means over draws of the tricks.

    A mean over many draws has none of the luck of a table of estimated tricks, a third of the variance of a gain.

    Args:
        evaluator: draws the tricks.
        luck: ``[B, draws, 5]``, see ``draw_tricks``: one a strain.
        states: deals ``[B]``.
        deal: of each row ``[n]``, 0 ... ``B`` - 1.
        results: of each row ``[n, K]``.
    """
    row, place = np.nonzero(results.declarer >= 0)
    if not len(row):  # all are passed out
        return np.zeros(results.bid.shape, np.float32)
    declarer, strain = results.declarer[row, place], results.bid[row, place] % 5
    found, number = np.unique(20 * deal[row] + 5 * declarer + strain, return_inverse=True)
    cell = np.zeros(results.bid.shape, np.int64)
    cell[row, place] = number
    deals, declarer, strain = found // 20, found % 20 // 5, found % 5
    tricks = draw_tricks(evaluator, states["hands"][deals], declarer, strain, luck[deals, :, strain])
    gains = np.zeros(results.bid.shape, np.float32)
    vulnerable = states["vulnerable"].astype(np.int64)[deal]
    _mean_gains(results.bid, results.stake, results.declarer, vulnerable, cell, tricks, gains)
    return gains


@batched
def _mean_gains(
    start: int, stop: int, bid: I64, stake: I64, declarer: I64, vulnerable: I64, cell: I64, tricks: I8, gains: F32
) -> None:
    for i in range(start, stop):
        for d in range(tricks.shape[1]):
            first = 0
            for k in range(bid.shape[1]):
                won = int(tricks[cell[i, k], d])
                points = north_south_row(bid[i, k], stake[i, k], declarer[i, k], vulnerable[i], won)
                if k == 0:
                    first = points
                gains[i, k] += imps_row(points - first)
        for k in range(bid.shape[1]):
            gains[i, k] /= tricks.shape[1]


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
    (first, first_decisions), (second, second_decisions) = (
        play(game, boards, seed, player, player, sides, 2 * stream + k, Record(game, all_chances=False)) for k in (0, 1)
    )
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

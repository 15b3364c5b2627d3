"""Whole boards played by networks in torch, and every decision of the learner: the data of all learning here.

Boards are played to the end in one batch; a turn costs the host what its boards that are still bid cost, nothing
for the others. Random numbers are addressed by ``(seed, board, turn)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge.decisions import Book, Decisions, blank
from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge import engine
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.kernels import F32, F64, I8, I64, Bool, Tables, allocate, batched, next_row, prange, unit_row
from bidzoo.streams import stream_row

NORTH_SOUTH, EAST_WEST, BOTH = 0, 1, 2  # whose decisions are learned from
_RULES = engine.Rules(play=False, reward=engine.SCORE, divisor=1.0, code=0)  # auctions, scored double-dummy

# observations [n, F], legal calls [n, 38], numbers in [0, 1) [n] -> calls [n], log-probabilities of all calls [n, 38]
Actor = Callable[[I8, I8, F64], tuple[I64, F32]]


def log_softmax(model: Any, observation: Any, legal: Any) -> Any:
    """Log-probabilities ``[n, 38]`` of a torch network; illegal calls have about -1e9. Computed in bfloat16."""
    import torch

    with torch.autocast(observation.device.type, torch.bfloat16):
        logits = model(observation.to(torch.bfloat16))[:, :NUM_CALLS]
    return logits.float().masked_fill(legal == 0, -1e9).log_softmax(1)


def actor(model: Any, device: str = "cpu", greedy: bool = False) -> Actor:
    """Calls drawn from the softmax over the legal calls of a torch network, or the likeliest ones."""
    import torch

    def act(observation: I8, legal: I8, numbers: F64) -> tuple[I64, F32]:
        with torch.no_grad():
            chances = log_softmax(model, torch.from_numpy(observation).to(device), torch.from_numpy(legal).to(device))
            if greedy:
                call = chances.argmax(1)
            else:
                below = chances.exp().double().cumsum(1)
                call = (below <= torch.from_numpy(numbers).to(device)[:, None] * below[:, -1:]).sum(1)
        return call.cpu().numpy(), chances.cpu().numpy()

    return act


def by_side(sides: I64, players: NDArray[Any]) -> Bool:
    """Where a learner at ``sides`` is the one to call."""
    mine: Bool = (sides == BOTH) | (sides == players % 2)
    return mine


def play(
    game: Bridge, boards: I64, seed: int, learner: Actor, opponent: Actor, sides: I64, stream: int
) -> tuple[Tables, Decisions]:
    """Every board to its end: final tables ``[B]`` and the learner's decisions.

    Args:
        game: ``Bridge(reward="score")``.
        boards: numbers ``[B]``.
        seed: of the deals.
        learner: at ``sides``.
        opponent: at the other side.
        sides: ``[B]`` of NORTH_SOUTH, EAST_WEST, BOTH.
        stream: of the players' random numbers, with seed and boards.
    """
    tables, book = deal(game, boards, seed), Book(game, len(boards))
    play_on(game, tables, learner, opponent, sides, seed ^ (stream << 32), book)
    return tables, book.decisions(tables)


def deal(game: Bridge, boards: I64, seed: int) -> Tables:
    """Tables ``[B]`` before the first call."""
    tables = game.new(len(boards))
    game.begin(tables, np.ascontiguousarray(boards, np.int64), seed, game.buffers(len(boards)))
    return tables


def play_on(
    game: Bridge, tables: Tables, learner: Actor, opponent: Actor, sides: I64, key: int, book: Book | None = None
) -> None:
    """``tables`` ``[B]`` from where they stand to the end, in place; the learner's decisions go into ``book``.

    The random numbers are those of ``key``, the number of the board and the turn.
    """
    rows = np.flatnonzero(tables["phase"] == AUCTION)
    turn = tables["turn"][rows].astype(np.int64)
    scratch = blank(game, len(rows))
    while len(rows):
        calls = np.empty(len(rows), np.int64)
        mine = by_side(sides[rows], turn)
        for who, keep, at in (
            (learner, book, np.flatnonzero(mine)),
            (opponent, None, np.flatnonzero(~mine)),
        ):
            if len(at):
                page = keep.page(len(at)) if keep else scratch.some(slice(0, len(at)))
                calls[at] = decide(game, tables, rows[at], who, key, page).call
        turn = make(tables, rows, calls)
        rows, turn = rows[turn >= 0], turn[turn >= 0]


def decide(game: Bridge, tables: Tables, rows: I64, who: Actor, key: int, page: Decisions | None = None) -> Decisions:
    """What ``who`` calls at ``rows`` ``[n]`` of ``tables`` ``[B]``, written into ``page`` ``[n]`` if given."""
    page = blank(game, len(rows)) if page is None else page
    numbers = observe(game, tables, rows, key, page)
    page.call[:], page.log_chances[:] = who(page.observation, page.legal, numbers)
    page.row[:] = page.board[:] = rows
    return page._replace(later=tables)


def observe(game: Bridge, tables: Tables, rows: I64, key: int, page: Decisions) -> F64:
    """What is seen at ``rows`` ``[n]`` and who sees it, into ``page`` ``[n]``; the random numbers of their calls."""
    numbers = np.empty(len(rows))
    _observe(rows, tables, game.encoder.code, key, page.observation, page.legal, page.player, page.length, numbers)
    return numbers


def make(tables: Tables, rows: I64, calls: I64) -> I64:
    """Make ``calls`` ``[n]`` at ``rows`` ``[n]`` of ``tables``, in place; who calls next, -1: nobody, ``[n]``."""
    turn = np.empty(len(rows), np.int64)
    _make(rows, tables, calls, _RULES, turn)
    return turn


@batched
def _observe(
    rows: I64, tables: Tables, code: int, key: int, observation: I8, legal: I8, player: I64, length: I64, numbers: F64
) -> None:
    for i in prange(len(rows)):
        table = tables[rows[i]]
        seat = int(table.turn)
        engine.observe_row(table, seat, code, observation[i])
        legal_row(table, legal[i])
        player[i], length[i] = seat, table.length
        numbers[i] = unit_row(next_row(stream_row(key, table.board, table.length)))


@batched
def _copy(out: Tables, tables: Tables, rows: I64) -> None:
    for i in prange(len(out)):
        out[i] = tables[rows[i]]


@batched
def _make(rows: I64, tables: Tables, calls: I64, rules: engine.Rules, turn: I64) -> None:
    for i in prange(len(rows)):
        engine.act_row(tables[rows[i]], calls[i], rules)
        turn[i] = tables[rows[i]].turn


@batched
def _legal(tables: Tables, out: I8) -> None:
    for b in prange(len(tables)):
        legal_row(tables[b], out[b])


def legal_calls(tables: Tables) -> I8:
    """Legal calls ``[B, 38]``."""
    out = np.empty((len(tables), NUM_CALLS), np.int8)
    _legal(tables, out)
    return out


def finish(
    game: Bridge, tables: Tables, rows: I64, calls: I64, learner: Actor, opponent: Actor, sides: I64, key: int = 0
) -> I64:
    """Make ``calls`` ``[n]`` at copies of ``rows`` ``[n]`` of ``tables`` and play on as ``play_on``; N/S points."""
    after = allocate(game.state, len(rows))
    _copy(after, tables, rows)
    make(after, np.arange(len(rows)), calls)
    play_on(game, after, learner, opponent, sides, key)
    return np.asarray(after["points"][:, 0], np.int64)


def datum(game: Bridge, boards: I64, seed: int, player: Actor) -> I64:
    """Points of N/S with ``player`` in all four seats: ``[B]``."""
    tables = deal(game, boards, seed)
    play_on(game, tables, player, player, np.full(len(boards), BOTH), 0)
    return np.asarray(tables["points"][:, 0], np.int64)

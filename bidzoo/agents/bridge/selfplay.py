"""Whole boards played by networks in torch, and every decision of the learner: the data of all learning here.

Boards are played to the end in one batch. Random numbers are addressed by ``(seed, board, turn)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.kernels import F32, F64, I8, I64, Bool, Tables, batched, prange
from bidzoo.streams import Streams

NORTH_SOUTH, EAST_WEST, BOTH = 0, 1, 2  # whose decisions are learned from

# observations [n, F], legal calls [n, 38], numbers in [0, 1) [n] -> calls [n], log-probabilities of all calls [n, 38]
Actor = Callable[[I8, I8, F64], tuple[I64, F32]]


class Decisions(NamedTuple):
    """``n`` decisions in the order they were made, of ``B`` boards."""

    tables: Tables  # [n]  states before the call
    observation: I8  # [n, F]  of the game's encoder
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_chances: F32  # [n, 38]  of every call when this one was made; about -1e9 for illegal ones
    board: I64  # [n]  row of the board, 0 ... B - 1
    player: I64  # [n]

    @property
    def side(self) -> I64:
        """0 N/S, 1 E/W: ``[n]``."""
        return self.player % 2

    @property
    def log_chance(self) -> F32:
        """Of the call that was made: ``[n]``."""
        made: F32 = np.take_along_axis(self.log_chances, self.call[:, None], 1)[:, 0]
        return made

    def some(self, which: NDArray[Any]) -> Decisions:
        """The decisions at ``which`` (numbers or a mask)."""
        return Decisions._make(field[which] for field in self)

    def outcome(self, reward: F32) -> F32:
        """What each decision's side won in the end, ``[n]``, of N/S rewards ``[B]``."""
        return np.where(self.side == 0, reward[self.board], -reward[self.board]).astype(np.float32)


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
    tables = deal(game, boards, seed)
    decisions = play_on(game, tables, learner, opponent, sides, seed ^ (stream << 32))
    return tables, join(decisions)


def deal(game: Bridge, boards: I64, seed: int) -> Tables:
    """Tables ``[B]`` before the first call."""
    tables = game.new(len(boards))
    game.begin(tables, np.ascontiguousarray(boards, np.int64), seed, game.buffers(len(boards)))
    return tables


def play_on(
    game: Bridge, tables: Tables, learner: Actor, opponent: Actor, sides: I64, key: int, record: bool = True
) -> list[Decisions]:
    """``tables`` ``[B]`` from where they stand to the end, in place; the learner's decisions, turn by turn.

    The random numbers are those of ``key``, the number of the board and the turn.
    """
    out = game.buffers(len(tables))
    found: list[Decisions] = []
    while True:
        active = np.flatnonzero(tables["phase"] == AUCTION)
        if len(active) == 0:
            return found
        calls = np.full(len(tables), -1, np.int64)
        mine = by_side(sides[active], tables["turn"][active])
        for who, rows in ((learner, active[mine]), (opponent, active[~mine])):
            if len(rows):
                decisions = decide(game, tables[rows], rows, who, key)
                calls[rows] = decisions.call
                if record and who is learner:
                    found.append(decisions)
        game.step(tables, calls, 0, out, 0)


def decide(game: Bridge, tables: Tables, rows: I64, who: Actor, key: int) -> Decisions:
    """What ``who`` calls at ``tables`` ``[n]``, which are ``rows`` ``[n]`` of a batch."""
    players = tables["turn"].astype(np.int64)
    observation = game.encoder(game.view_of(tables, players))
    legal = legal_calls(tables)
    numbers = Streams.at(key, tables["board"], tables["length"].astype(np.int64)).random(1)[:, 0]
    call, log_chances = who(observation, legal, numbers)
    return Decisions(tables, observation, legal, call, log_chances, rows, players)


def join(parts: Sequence[Decisions]) -> Decisions:
    """One after the other."""
    return Decisions._make(np.concatenate(field) for field in zip(*parts))


@batched
def _legal(tables: Tables, out: I8) -> None:
    for b in prange(len(tables)):
        legal_row(tables[b], out[b])


def legal_calls(tables: Tables) -> I8:
    """Legal calls ``[B, 38]``."""
    out = np.empty((len(tables), NUM_CALLS), np.int8)
    _legal(tables, out)
    return out


def finish(game: Bridge, tables: Tables, calls: I64, learner: Actor, opponent: Actor, sides: I64, key: int = 0) -> I64:
    """Make ``calls`` ``[n]`` at copies of ``tables`` ``[n]`` and play on as ``play_on``; N/S points ``[n]``."""
    tables = tables.copy()
    game.step(tables, calls, 0, game.buffers(len(tables)), 0)
    play_on(game, tables, learner, opponent, sides, key, record=False)
    return np.asarray(tables["points"][:, 0], np.int64)


def datum(game: Bridge, boards: I64, seed: int, player: Actor) -> I64:
    """Points of N/S with ``player`` in all four seats: ``[B]``."""
    tables = deal(game, boards, seed)
    play_on(game, tables, player, player, np.full(len(boards), BOTH), 0, record=False)
    return np.asarray(tables["points"][:, 0], np.int64)

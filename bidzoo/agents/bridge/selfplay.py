"""Whole boards played by networks in torch, and every decision of the learner: the data of all learning here.

Boards are played to the end in one batch. Random numbers are addressed by ``(seed, board, turn)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.kernels import F32, F64, I8, I64, Bool, Tables
from bidzoo.streams import Streams
from bidzoo.wrappers.batch import Batch

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


def by_side(sides: I64, players: I8) -> Bool:
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
        stream: of the players' random numbers, with the boards.
    """
    batch = Batch(game, len(boards), autoreset=False)
    batch.reset(seed, boards)
    parts: list[Decisions] = []
    while True:
        active = np.flatnonzero(batch.tables["phase"] == AUCTION)
        if len(active) == 0:
            return batch.tables, Decisions(*(np.concatenate(field) for field in zip(*parts)))
        calls = np.full(len(boards), -1, np.int64)
        mine = by_side(sides[active], batch.player[active])
        for who, rows in ((learner, active[mine]), (opponent, active[~mine])):
            if len(rows) == 0:
                continue
            observation, legal = batch.observation[rows], batch.action_mask[rows]
            turn = batch.tables["length"][rows].astype(np.int64)
            numbers = Streams.at(seed ^ (stream << 32), boards[rows], turn).random(1)[:, 0]
            calls[rows], chances = who(observation, legal, numbers)
            if who is learner:
                players = batch.player[rows].astype(np.int64)
                parts.append(Decisions(batch.tables[rows], observation, legal, calls[rows], chances, rows, players))
        batch.step(calls)


def finish(game: Bridge, tables: Tables, calls: I64, learner: Actor, opponent: Actor, sides: I64) -> I64:
    """Make ``calls`` ``[n]`` at copies of ``tables`` ``[n]`` and play on; N/S points ``[n]``.

    ``learner`` and ``opponent`` sit as in ``play``; their numbers are all 0.5, so that greedy ones fit best.
    """
    tables, out = tables.copy(), game.buffers(len(tables))
    game.step(tables, calls, 0, out, 0)
    while True:
        active = np.flatnonzero(tables["phase"] == AUCTION)
        if len(active) == 0:
            return np.asarray(tables["points"][:, 0], np.int64)
        calls = np.full(len(tables), -1, np.int64)
        mine = by_side(sides[active], out.player[active])
        for who, rows in ((learner, active[mine]), (opponent, active[~mine])):
            if len(rows):
                calls[rows], _ = who(out.observation[rows], out.mask[rows], np.full(len(rows), 0.5))
        game.step(tables, calls, 0, out, 0)


def datum(game: Bridge, boards: I64, seed: int, player: Actor) -> I64:
    """Points of N/S with ``player`` in all four seats: ``[B]``."""
    batch = Batch(game, len(boards), autoreset=False)
    batch.reset(seed, boards)
    first, _ = player(batch.observation, batch.action_mask, np.full(len(boards), 0.5))
    return finish(game, batch.tables, first, player, player, np.full(len(boards), BOTH))

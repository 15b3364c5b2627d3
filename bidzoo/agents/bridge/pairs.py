"""Duplicate pairs in self-play: each board at two tables, both teams one policy, rewarded with the IMPs between.

``PairLearner`` is the loop of the actor-critics around them: play pairs into a replay buffer, learn minibatches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.decisions import Decisions, join
from bidzoo.agents.bridge.fit import means
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.replay import Replay
from bidzoo.agents.bridge.selfplay import BOTH, Actor
from bidzoo.agents.bridge.training import Arrays
from bidzoo.agents.options import Checked, Count, Seed, Share, Whole
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import MAX_IMPS, imps
from bidzoo.kernels import F32, I64


class Pairs(NamedTuple):
    """``n`` decisions at both tables of every board."""

    decisions: Decisions
    outcome: F32  # [n]  what the decision's side won, IMPs / 24
    reference: I64  # [n]  N/S points at the other table


def duplicate_pairs(game: Bridge, boards: I64, seed: int, player: Actor, stream: int) -> Pairs:
    """Every board twice, with random numbers of their own; arguments as of ``selfplay.play``."""
    sides = np.full(len(boards), BOTH)
    first, at_first = selfplay.play(game, boards, seed, player, player, sides, 2 * stream)
    second, at_second = selfplay.play(game, boards, seed, player, player, sides, 2 * stream + 1)
    return paired(at_first, at_second, first["points"][:, 0], second["points"][:, 0])


def paired(at_first: Decisions, at_second: Decisions, points: I64, reference: I64) -> Pairs:
    """The decisions of two tables whose N/S scores were ``points`` and ``reference`` ``[B]``."""
    difference = imps(points - reference).astype(np.float32) / np.float32(MAX_IMPS)
    return Pairs(
        join([at_first, at_second]),
        np.concatenate([at_first.outcome(difference), at_second.outcome(-difference)]),
        np.concatenate([reference[at_first.board], points[at_second.board]]).astype(np.int64),
    )


@dataclass(frozen=True)
class PairOptions(Checked):
    """What the loop reads of a run's options; the algorithms say their papers' values."""

    boards: Count = 500  # duplicate pairs played between two synchronisations
    sync: Count = 50  # minibatches between two synchronisations
    minibatch: Count = 1024
    capacity: Count = 800_000  # transitions in the buffer
    burn_in: Whole = 80_000  # transitions before learning starts
    average: Share = 0.0  # of the averaged weights that stay, a synchronisation; 0: the policy itself
    seed: Seed = 0


class PairLearner(ABC):
    """Playing and learning in turns, where the papers have threads: a ``training.Trainer``.

    What is measured and kept is a moving average of the policy's weights, which forgets the noise of steps.
    """

    modules: dict[str, Any]
    architecture: Architecture  # of the policy

    def __init__(self, game: Bridge, options: PairOptions, model: Any, replay: Replay, device: str) -> None:
        """``model``: the torch policy that plays, from ``game.encoder``'s observations."""
        self.game, self.model, self.replay, self.device = game, model, replay, device
        self.average = deepcopy(model)
        self._options, self.games = options, 0

    def player(self) -> Network:
        """The averaged policy."""
        return network.network_of(self.architecture, self.average)

    def arrays(self) -> Arrays:
        """The buffer."""
        return self.replay.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        self.replay.restore(arrays)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play (until the buffer can be learned from), synchronise, learn, average; figures."""
        while True:
            n, stream = self._options.boards, self.games // (2 * self._options.boards)
            boards = stream * n + np.arange(n, dtype=np.int64)
            figures = self.store(self.play(boards, selfplay.actor(self.model, self.device), stream))
            self.games += 2 * n
            if self.replay.added >= self._options.burn_in:
                break
        steps = [self.learn(iteration * self._options.sync + step) for step in range(self._options.sync)]
        network.drift(self.average, self.model, self._options.average)
        return {**figures, **means(steps)}

    def play(self, boards: I64, player: Actor, stream: int) -> Pairs:
        """The next pairs."""
        return duplicate_pairs(self.game, boards, self._options.seed, player, stream)

    @abstractmethod
    def store(self, pairs: Pairs) -> dict[str, float]:
        """Transitions into the buffer; figures of them."""

    @abstractmethod
    def learn(self, step: int) -> dict[str, Any]:
        """One minibatch; its figures, torch scalars."""

"""``a2c``: advantage actor-critic in self-play from nothing. Joint policy search, section 7.2 and appendix E.

One network of 200 neurons a layer (its Figure 3) on 267 bits, policy and value on top. The learner draws
transitions from a replay buffer; importance ratios are clipped at 2, entropy counts 0.01, no discount, the reward is
the IMPs of a duplicate pair / 24. Actors use the weights of the last synchronisation. In place of threads, playing
and learning take turns: each synchronisation plays ``boards`` duplicate pairs and learns ``sync`` minibatches.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.pairs import duplicate_pairs
from bidzoo.agents.bridge.replay import Replay
from bidzoo.agents.bridge.selfplay import Decisions
from bidzoo.agents.bridge.training import Arrays, Judge, loop
from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I8

ACTOR_CRITIC = Architecture("jps267", NUM_CALLS + 1, kind="jps", width=200)


class A2c(NetworkPolicy):
    """The actor-critic baseline of joint policy search."""

    name = "a2c-bridge"
    weights_name = "a2c-bridge"


@dataclass(frozen=True)
class Options:
    """What a run depends on."""

    syncs: int = 2000
    boards: int = 500  # duplicate pairs played between two synchronisations: 2000 games in parallel in the paper
    sync: int = 50  # minibatches between two synchronisations
    minibatch: int = 1024
    learning_rate: float = 1e-4
    entropy: float = 0.01
    clip: float = 2.0  # of the importance ratio
    value_weight: float = 0.5
    capacity: int = 800_000
    burn_in: int = 80_000  # transitions before learning starts
    seed: int = 0


class Trainer:
    """One run: ``iterate`` plays and learns between two synchronisations."""

    def __init__(self, game: Bridge, options: Options, device: str, start: Network | None = None) -> None:
        import torch

        self.options, self.game, self.device = options, game, device
        self.architecture = start.architecture if start else ACTOR_CRITIC
        self.model = network.module(self.architecture, options.seed, last_scale=0.1).to(device)
        if start:
            network.load_arrays(self.model, start.tensors)
        self.adam = torch.optim.Adam(self.model.parameters(), options.learning_rate, fused=True)
        self.modules = {"network": self.model, "adam": self.adam}
        self.replay = Replay(options.capacity, self.architecture.inputs, 0)
        self.games = 0

    def player(self) -> Network:
        """The current policy (and value)."""
        return network.network_of(self.architecture, self.model)

    def arrays(self) -> Arrays:
        """The buffer."""
        return self.replay.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        self.replay.restore(arrays)

    def gather(self, stream: int) -> None:
        """Play duplicate pairs with the current weights into the buffer."""
        boards = stream * self.options.boards + np.arange(self.options.boards, dtype=np.int64)
        player = selfplay.actor(self.model, self.device)
        decisions, outcome = duplicate_pairs(self.game, boards, self.options.seed, player, stream)
        self.store(decisions, outcome)

    def store(self, decisions: Decisions, outcome: F32) -> None:
        """Transitions into the buffer."""
        chance = np.take_along_axis(decisions.log_chances, decisions.call[:, None], 1)[:, 0]
        hidden: I8 = np.zeros((len(outcome), 0), np.int8)
        self.replay.add(
            decisions.observation, hidden, decisions.legal, decisions.call, chance, outcome, np.ones_like(outcome)
        )

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play, synchronise, learn; figures of the iteration."""
        while True:
            self.gather(self.games // (2 * self.options.boards))
            self.games += 2 * self.options.boards
            if self.replay.added >= self.options.burn_in:
                break
        steps = [self.learn(iteration * self.options.sync + step) for step in range(self.options.sync)]
        return {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}

    def learn(self, step: int) -> dict[str, float]:
        """One minibatch."""
        import torch

        options = self.options
        sample = self.replay.sample(options.minibatch, options.seed + 1, step)
        x, legal = (torch.from_numpy(a).to(self.device) for a in (sample.observation, sample.legal))
        outcome = torch.from_numpy(sample.outcome).to(self.device)
        with torch.autocast(x.device.type, torch.bfloat16):
            out = self.model(x.to(torch.bfloat16))
        out = out.float()
        chances = out[:, :NUM_CALLS].masked_fill(legal == 0, -1e9).log_softmax(1)
        call = torch.from_numpy(sample.call).to(self.device)
        chance = chances.gather(1, call[:, None])[:, 0]
        ratio = (chance - torch.from_numpy(sample.log_probability).to(self.device)).exp().clamp(max=options.clip)
        advantage = outcome - out[:, NUM_CALLS]
        entropy = -(chances.exp() * chances).sum(1).mean()
        policy = -(ratio.detach() * advantage.detach() * chance).mean()
        value = (advantage**2).mean()
        loss = policy + options.value_weight * value - options.entropy * entropy
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 50.0)
        self.adam.step()
        return {"value_error": float(value.detach()), "entropy": float(entropy.detach())}


def train(
    game: Bridge,
    options: Options,
    out: str | Path,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    judge: Judge | None = None,
    *,
    every: int = 20,
    device: str = "cpu",
    threads: int = 1,
    stop: int | None = None,
) -> Network:
    """Train to the end (or to synchronisation ``stop``) from where folder ``out`` stands; arguments as in ``ppo``."""
    require(game)
    with torch_threads(threads):
        trainer = Trainer(game, options, device)
        run = Run(out, "a2c", asdict(options))
        return loop(trainer, run, options.syncs, provenance, report, judge, every, stop)


def require(game: Bridge) -> None:
    """ValueError unless the game shows what the network sees and pays what pairs are made of."""
    if game.encoder.name != ACTOR_CRITIC.observation or game.reward != "score":
        raise ValueError(
            f"the actor-critic needs observation={ACTOR_CRITIC.observation!r} and reward='score', "
            f"not {game.encoder.name!r} and {game.reward!r}"
        )

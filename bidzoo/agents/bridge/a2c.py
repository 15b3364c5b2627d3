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

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.pairs import PairLearner, PairOptions, Pairs
from bidzoo.agents.bridge.replay import Replay
from bidzoo.agents.bridge.training import Judge, loop
from bidzoo.agents.options import Count, Weight
from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import I8

ACTOR_CRITIC = Architecture("jps267", NUM_CALLS + 1, kind="jps", width=200)


class A2c(NetworkPolicy):
    """The actor-critic baseline of joint policy search."""

    name = "a2c-bridge"
    weights_name = "a2c-bridge"


@dataclass(frozen=True)
class Options(PairOptions):
    """What a run depends on."""

    syncs: Count = 2000
    boards: Count = 500  # 2000 games in parallel in the paper
    learning_rate: Weight = 1e-4
    entropy: Weight = 0.01
    clip: Weight = 2.0  # of the importance ratio
    value_weight: Weight = 0.5


class Trainer(PairLearner):
    """One run: ``iterate`` plays and learns between two synchronisations."""

    def __init__(self, start: Network | None, game: Bridge, options: Options, device: str) -> None:
        import torch

        self.options, self.architecture = options, ACTOR_CRITIC if start is None else start.architecture
        if start is None:
            model = network.module(self.architecture, options.seed, last_scale=0.1).to(device)
        else:
            model = network.module_of(start, device)
        self.adam = torch.optim.Adam(model.parameters(), options.learning_rate, fused=True)
        super().__init__(game, options, model, Replay(options.capacity, self.architecture.inputs, 0), device)
        self.modules = {"network": model, "average": self.average, "adam": self.adam}

    def store(self, pairs: Pairs) -> dict[str, float]:
        """Transitions into the buffer."""
        decisions, outcome = pairs.decisions, pairs.outcome
        nothing: I8 = np.zeros((len(outcome), 0), np.int8)
        self.replay.add(
            decisions.observation,
            nothing,
            decisions.legal,
            decisions.call,
            decisions.log_chance,
            outcome,
            np.ones_like(outcome),
        )
        return {}

    def learn(self, step: int) -> dict[str, Any]:
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
        return {"value_error": value.detach(), "entropy": entropy.detach()}


def train(
    start: Network | None,
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
    """Train to the end (or to synchronisation ``stop``) from where folder ``out`` stands.

    Arguments as in ``ppo``; ``start`` None: from nothing.
    """
    require(game)
    with torch_threads(threads):
        trainer = Trainer(start, game, options, device)
        run = Run(out, "a2c", asdict(options))
        return loop(trainer, run, options.syncs, provenance, report, judge, every, stop)


def require(game: Bridge) -> None:
    """ValueError unless the game shows what the network sees and pays what pairs are made of."""
    if game.encoder.name != ACTOR_CRITIC.observation or game.reward != "score":
        raise ValueError(
            f"the actor-critic needs observation={ACTOR_CRITIC.observation!r} and reward='score', "
            f"not {game.encoder.name!r} and {game.reward!r}"
        )

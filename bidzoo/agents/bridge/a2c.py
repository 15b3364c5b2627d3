"""``a2c``: advantage actor-critic in self-play from nothing. Joint policy search, section 7.2 and appendix E.

One network of 200 neurons a layer (its Figure 3) on 267 bits, policy and value on top. The learner draws
transitions from a replay buffer; importance ratios are clipped at 2, entropy counts 0.01, no discount, the reward is
the IMPs of a duplicate pair / 24. Actors use the weights of the last synchronisation (``actor_critic.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.actor_critic import ActorCritic, PairOptions
from bidzoo.agents.bridge.network import Architecture, Network, NetworkPolicy, log_softmax
from bidzoo.agents.bridge.selfplay import Pairs
from bidzoo.agents.bridge.trainer import Figures
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import I8
from bidzoo.core.options import Count, Weight
from bidzoo.envs.bridge.game import Bridge

ACTOR_CRITIC = Architecture("jps267", NUM_CALLS + 1, kind="jps", width=200)


class A2c(NetworkPolicy):
    """The actor-critic baseline of joint policy search."""

    name = "a2c-bridge"


@dataclass(frozen=True)
class Options(PairOptions):
    """What a run depends on."""

    boards: Count = 500  # 2000 games in parallel in the paper
    learning_rate: Weight = 1e-4
    entropy: Weight = 0.01
    clip: Weight = 2.0  # of the importance ratio
    value_weight: Weight = 0.5


class Trainer(ActorCritic):
    """One run: ``iterate`` plays and learns between two synchronisations."""

    algorithm = "a2c"
    options: Options

    def __init__(self, start: Network | None, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``start``: the network to go on from, None: from nothing; ``game``: pays points, and shows what it sees."""
        import torch

        architecture = ACTOR_CRITIC if start is None else start.architecture
        if architecture.outputs != NUM_CALLS + 1:
            raise ValueError(
                f"start has {architecture.outputs} outputs, expected {NUM_CALLS + 1}: of every call, and the value"
            )
        if start is None:
            model = network.module(architecture, options.seed, last_scale=0.1).to(device)
        else:
            model = network.module_of(start, device)
        super().__init__(game, options, model, architecture, 0, device)
        self.adam = torch.optim.Adam(model.parameters(), options.learning_rate, fused=True)
        self.modules = {"network": model, "average": self.average, "adam": self.adam}

    def store(self, pairs: Pairs) -> Figures:
        """Transitions into the buffer, all of one priority."""
        nothing: I8 = np.zeros((len(pairs.outcome), 0), np.int8)
        self.replay.add(pairs, nothing, np.ones_like(pairs.outcome))
        return {}

    def learn(self, step: int) -> Figures:
        """One minibatch."""
        import torch

        options = self.options
        sample = self.replay.sample(options.minibatch, options.seed + 1, step)
        out = network.forward(self.model, self.tensor(sample.observation))
        chances = log_softmax(out, self.tensor(sample.legal))
        chance = chances.gather(1, self.tensor(sample.call)[:, None])[:, 0]
        ratio = (chance - self.tensor(sample.log_probability)).exp().clamp(max=options.clip)
        advantage = self.tensor(sample.outcome) - out[:, NUM_CALLS]
        entropy = -(chances.exp() * chances).sum(1).mean()
        policy = -(ratio.detach() * advantage.detach() * chance).mean()
        value = (advantage**2).mean()
        loss = policy + options.value_weight * value - options.entropy * entropy
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 50.0)
        self.adam.step()
        return {"value_error": value.detach(), "entropy": entropy.detach()}

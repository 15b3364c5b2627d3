"""``rl``: the supervised policy, made stronger in self-play. Belief Monte Carlo search, section IV, Algorithms 1-2.

Actor-critic with a replay buffer that prefers decisions whose outcome surprised the value network (priority: the
size of the advantage, outcome less value); the value network sees all four hands. Flags of the paper's ablations:
``prioritised=False`` (*No PR*) and ``hidden=False`` (*No HI*). The reward is the IMPs of a duplicate pair / 24.
docs/agents/rl.md says what differs.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.a2c import ActorCritic, PairOptions
from bidzoo.agents.bridge.critic import UNIT, Critic, explained, optimiser
from bidzoo.agents.bridge.network import Architecture, Network, NetworkPolicy, unpacked
from bidzoo.agents.bridge.replay import Sample
from bidzoo.agents.bridge.selfplay import Pairs, log_chances
from bidzoo.agents.bridge.trainer import Metrics, descend
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.options import Count, Share, Weight, Whole
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS

_SHARE = UNIT / MAX_IMPS  # of the value network's unit in the reward's


class Rl(NetworkPolicy):
    """The reinforcement-learning policy of belief Monte Carlo search."""

    name = "rl"


@dataclass(frozen=True)
class Options(PairOptions):
    """What a run depends on; ``entropy`` to ``importance``, ``minibatch``, ``sync`` and the buffer are Table I's."""

    syncs: Count = 400
    boards: Count = 900
    sync: Count = 10
    minibatch: Count = 2048
    policy_rate: Weight = 1e-4  # learning rate of the policy
    value_rate: Weight = 1e-3  # of the value network
    optimiser: Literal["adam", "adan"] = "adam"  # of both networks; Table I: adan
    entropy: Weight = 0.01  # weight of the bonus for it
    priority: Weight = 0.8  # exponent of the priorities of transitions
    importance: Weight = 0.6  # exponent of the weights that make up for them
    prioritised: bool = True  # False: transitions are drawn uniformly
    hidden: bool = True  # the value network sees all hands
    value: Literal["scores778", "bmcs636"] = "scores778"  # what the value network sees, if hidden
    value_width: Count = 384  # neurons of a layer of the value network
    value_depth: Count = 2  # its layers
    warm_up: Whole = 40  # synchronisations in which only the value network learns
    average: Share = 0.98
    capacity: Count = 80_000
    burn_in: Whole = 20_000


class Trainer(ActorCritic):
    """One run: ``iterate`` plays and learns between two synchronisations."""

    algorithm = "rl"
    options: Options

    def __init__(self, start: Network, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``start``: the supervised policy; ``game``: pays points and shows the policy's observation."""
        start.check_calls("start")
        model, observation = network.module_of(start, device), options.value if options.hidden else game.encoder.name
        critic = Architecture(observation, 1, width=options.value_width, depth=options.value_depth)
        hidden, exponent = critic.inputs if options.hidden else 0, options.priority if options.prioritised else 0.0
        super().__init__(game, options, model, start.architecture, hidden, device, exponent)
        self.critic = Critic(critic, options.value_rate, options.seed, device, options.optimiser)
        self.adam = optimiser(options.optimiser, model, options.policy_rate)
        self.modules = {
            "policy": model,
            "average": self.average,
            "adam": self.adam,
            "value": self.critic.model,
            "value_adam": self.critic.adam,
        }

    def store(self, pairs: Pairs) -> Metrics:
        """Algorithm 1: transitions with the priority the value network gives them; the variance it explains."""
        inputs = self.critic.inputs(pairs.decisions, pairs.reference)
        advantage = pairs.outcome - _SHARE * self.critic.values(self.critic.tensor(inputs))
        self.replay.add(pairs, inputs if self.options.hidden else inputs[:, :0], np.abs(advantage))
        return {"explained": explained(advantage, pairs.outcome)}

    def learn(self, step: int) -> Metrics:
        """Algorithm 2: one minibatch for value and policy, then its new priorities."""
        options = self.options
        sample = self.replay.sample(options.minibatch, options.seed + 1, step, options.importance)
        inputs = self.critic.tensor(sample.hidden) if options.hidden else self._observation(sample).bfloat16()
        outcome, weight = self.tensor(sample.outcome), self.tensor(sample.weight)
        advantage = outcome - _SHARE * self.critic.learn(inputs, outcome / _SHARE, weight)
        self.replay.update(sample.rows, advantage.abs().cpu().numpy())
        if step < options.warm_up * options.sync:
            return {}
        legal = unpacked(self.tensor(sample.legal), NUM_CALLS)
        chances = log_chances(self.model, self._observation(sample), legal)
        chance = chances.gather(1, self.tensor(sample.call)[:, None])[:, 0]
        ratio = (chance - self.tensor(sample.log_probability)).exp().detach()
        entropy = -(chances.exp() * chances).sum(1)
        loss = -(weight * (ratio * advantage * chance + options.entropy * entropy)).mean()
        descend(self.adam, loss, options.policy_rate)
        return {"entropy": entropy.mean().detach()}

    def _observation(self, sample: Sample) -> Any:
        """What the players of ``sample`` see, in torch."""
        return unpacked(self.tensor(sample.observation), self.architecture.inputs)

"""``rl``: the supervised policy, made stronger in self-play. Belief Monte Carlo search, section IV, Algorithms 1-2.

Actor-critic with a replay buffer that prefers decisions whose outcome surprised the value network (priority: the
size of the advantage, outcome less value); the value network sees all four hands. Flags of the paper's ablations:
``prioritised=False`` (*No PR*) and ``hidden=False`` (*No HI*). The reward is the IMPs of a duplicate pair / 24.

Where we differ, to learn in minutes on a processor what took them three days and 2.5 million minibatches:

- *value*: ``"scores778"`` is the paper's 636 bits and what every contract would score against the result of the other
  table. Both are fixed before the call, so the gradient stays unbiased. ``"bmcs636"`` is the paper's form.
- *warm-up*: at first only the value network learns, from games of the supervised policy.
- *average*: what is measured and kept is a moving average of the policy's weights, which forgets the noise of steps.
- The paper's optimiser is Adan; ours is Adam. In place of threads, playing and learning take turns.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bidzoo.agents.bridge import network, scores, selfplay
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.critic import Critic
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.pairs import PairLearner, PairOptions, Pairs
from bidzoo.agents.bridge.replay import Replay
from bidzoo.agents.bridge.training import Judge, loop
from bidzoo.agents.options import Count, Share, Weight, Whole
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import MAX_IMPS

_SHARE = scores.UNIT / MAX_IMPS  # of the value network's unit in the reward's


class Rl(NetworkPolicy):
    """The reinforcement-learning policy of belief Monte Carlo search."""

    name = "rl"
    weights_name = "rl"


@dataclass(frozen=True)
class Options(PairOptions):
    """What a run depends on; ``entropy`` to ``importance``, ``minibatch``, ``sync`` and the buffer are Table I's."""

    syncs: Count = 400
    boards: Count = 900
    sync: Count = 10
    minibatch: Count = 2048
    policy_rate: Weight = 1e-4
    value_rate: Weight = 1e-3
    entropy: Weight = 0.01
    priority: Weight = 0.8
    importance: Weight = 0.6
    prioritised: bool = True
    hidden: bool = True
    value: Literal["scores778", "bmcs636"] = "scores778"  # what the value network sees, if hidden
    value_width: Count = 384
    value_depth: Count = 2
    warm_up: Whole = 40  # synchronisations in which only the value network learns
    average: Share = 0.98
    capacity: Count = 80_000
    burn_in: Whole = 20_000


class Trainer(PairLearner):
    """One run: ``iterate`` plays and learns between two synchronisations."""

    def __init__(self, start: Network, game: Bridge, options: Options, device: str) -> None:
        import torch

        self.options, self.architecture = options, start.architecture
        model = network.module_of(start, device)
        sees = options.value if options.hidden else start.architecture.observation
        critic = Architecture(sees, 1, width=options.value_width, depth=options.value_depth)
        self.critic = Critic(critic, options.value_rate, options.seed, device)
        self.adam = torch.optim.Adam(model.parameters(), options.policy_rate, fused=True)
        hidden = critic.inputs if options.hidden else 0
        super().__init__(game, options, model, Replay(options.capacity, self.architecture.inputs, hidden), device)
        self.modules = {
            "policy": model,
            "average": self.average,
            "adam": self.adam,
            "value": self.critic.model,
            "value_adam": self.critic.adam,
        }

    def store(self, pairs: Pairs) -> dict[str, float]:
        """Algorithm 1: transitions with the priority the value network gives them; the variance it explains."""
        decisions, outcome = pairs.decisions, pairs.outcome
        seen = self.critic.sight(decisions, pairs.reference)
        advantage = outcome - _SHARE * self.critic.values(self.critic.inputs(seen))
        hidden = seen if self.options.hidden else seen[:, :0]
        self.replay.add(
            decisions.observation,
            hidden,
            decisions.legal,
            decisions.call,
            decisions.log_chance,
            outcome,
            np.abs(advantage),
        )
        return {"explained": 1 - float(advantage.var()) / max(1e-9, float(outcome.var()))}

    def learn(self, step: int) -> dict[str, Any]:
        """Algorithm 2: one minibatch for value and policy, then its new priorities."""
        import torch

        options = self.options
        sample = self.replay.sample(
            options.minibatch,
            options.seed + 1,
            step,
            options.priority if options.prioritised else 0.0,
            options.importance,
        )
        seen = self.critic.inputs(sample.hidden if options.hidden else sample.observation)
        outcome, weight, before, call, observation, legal = (
            torch.from_numpy(a).to(self.device)
            for a in (
                sample.outcome,
                sample.weight,
                sample.log_probability,
                sample.call,
                sample.observation,
                sample.legal,
            )
        )
        advantage = outcome - _SHARE * self.critic.learn(seen, outcome / _SHARE, weight)
        self.replay.update(sample.rows, advantage.abs().cpu().numpy())
        if step < options.warm_up * options.sync:
            return {}
        chances = selfplay.log_softmax(self.model, observation, legal)
        chance = chances.gather(1, call[:, None])[:, 0]
        ratio = (chance - before).exp().detach()
        entropy = -(chances.exp() * chances).sum(1)
        loss = -(weight * (ratio * advantage * chance + options.entropy * entropy)).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        return {"entropy": entropy.mean().detach()}


def train(
    start: Network,
    game: Bridge,
    options: Options,
    out: str | Path,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    judge: Judge | None = None,
    *,
    every: int = 50,
    device: str = "cpu",
    threads: int = 1,
    stop: int | None = None,
) -> Network:
    """Train to the end (or to synchronisation ``stop``) from where folder ``out`` stands; arguments as in ``ppo``."""
    if game.reward != "score" or game.encoder.name != start.architecture.observation:
        raise ValueError(
            f"make the game with reward='score' and observation={start.architecture.observation!r}, "
            f"not {game.reward!r} and {game.encoder.name!r}"
        )
    with torch_threads(threads):
        trainer = Trainer(start, game, options, device)
        run = Run(out, "rl", asdict(options))
        return loop(trainer, run, options.syncs, provenance, report, judge, every, stop)

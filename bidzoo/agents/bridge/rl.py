"""``rl``: the supervised policy, made stronger in self-play. Belief Monte Carlo search, section IV, Algorithms 1-2.

Actor-critic with a replay buffer that prefers decisions whose outcome surprised the value network (priority: the
size of the advantage); the value network sees all four hands. Flags of the paper's ablations: ``prioritised=False``
(*No PR*) and ``hidden=False`` (*No HI*). The reward is the IMPs of a duplicate pair / 24. The papers' optimiser is
Adan; ours is Adam (no difference in kind, one dependency less). In place of threads, playing and learning take turns.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.critic import Critic
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.pairs import duplicate_pairs
from bidzoo.agents.bridge.replay import Replay
from bidzoo.agents.bridge.training import Arrays, Judge, loop
from bidzoo.envs.bridge.encode import encode_value
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import I64


class Rl(NetworkPolicy):
    """The reinforcement-learning policy of belief Monte Carlo search."""

    name = "rl"
    weights_name = "rl"


@dataclass(frozen=True)
class Options:
    """What a run depends on; defaults are Table I's where it says something."""

    syncs: int = 2000
    boards: int = 450  # duplicate pairs played between two synchronisations: 12 x 150 games in parallel in the paper
    sync: int = 10  # minibatches between two synchronisations
    minibatch: int = 2048
    policy_rate: float = 1.3e-5
    value_rate: float = 1.3e-4
    entropy: float = 0.01
    priority: float = 0.8
    importance: float = 0.6
    prioritised: bool = True
    hidden: bool = True
    value_width: int = 512
    value_depth: int = 3
    capacity: int = 80_000
    burn_in: int = 20_000
    seed: int = 0


class Trainer:
    """One run: ``iterate`` plays and learns between two synchronisations."""

    def __init__(self, start: Network, game: Bridge, options: Options, device: str) -> None:
        import torch

        self.options, self.game, self.device = options, game, device
        self.architecture = start.architecture
        self.model = network.module(start.architecture)
        network.load_arrays(self.model, start.tensors)
        self.model.to(device)
        self.adam = torch.optim.Adam(self.model.parameters(), options.policy_rate, fused=True)
        sees = "bmcs636" if options.hidden else start.architecture.observation
        critic = Architecture(sees, 1, width=options.value_width, depth=options.value_depth)
        self.critic = Critic(critic, options.value_rate, options.seed, device)
        self.modules = {
            "policy": self.model,
            "adam": self.adam,
            "value": self.critic.model,
            "value_adam": self.critic.adam,
        }
        self.replay = Replay(options.capacity, start.architecture.inputs, 636 if options.hidden else 0)
        self.games = 0

    def player(self) -> Network:
        """The current policy."""
        return network.network_of(self.architecture, self.model)

    def arrays(self) -> Arrays:
        """The buffer."""
        return self.replay.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        self.replay.restore(arrays)

    def gather(self) -> None:
        """Algorithm 1: play duplicate pairs, store transitions with the priority the value network gives them."""
        stream = self.games // (2 * self.options.boards)
        boards = stream * self.options.boards + np.arange(self.options.boards, dtype=np.int64)
        player = selfplay.actor(self.model, self.device)
        decisions, outcome = duplicate_pairs(self.game, boards, self.options.seed, player, stream)
        nothing: I64 = np.zeros(len(outcome), np.int64)
        value = self.critic.values(self.critic.inputs(decisions, nothing))
        everything = np.zeros((len(outcome), 636 if self.options.hidden else 0), np.int8)
        if self.options.hidden:
            encode_value(decisions.tables, decisions.player, everything)
        chance = np.take_along_axis(decisions.log_chances, decisions.call[:, None], 1)[:, 0]
        self.replay.add(
            decisions.observation,
            everything,
            decisions.legal,
            decisions.call,
            chance,
            outcome,
            np.abs(outcome - value),
        )
        self.games += 2 * self.options.boards

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play, synchronise, learn; figures of the iteration."""
        self.gather()
        while self.replay.added < self.options.burn_in:
            self.gather()
        steps = [self.learn(iteration * self.options.sync + step) for step in range(self.options.sync)]
        return {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}

    def learn(self, step: int) -> dict[str, float]:
        """Algorithm 2: one minibatch for policy and value, then its new priorities."""
        import torch

        options = self.options
        sample = self.replay.sample(
            options.minibatch,
            options.seed + 1,
            step,
            options.priority if options.prioritised else 0.0,
            options.importance,
        )
        sees = sample.hidden if options.hidden else sample.observation
        seen = torch.from_numpy(sees).to(self.device, torch.bfloat16)
        outcome, weight, before = (
            torch.from_numpy(a).to(self.device) for a in (sample.outcome, sample.weight, sample.log_probability)
        )
        advantage = outcome - torch.from_numpy(self.critic.values(seen)).to(self.device)
        observation, legal = (torch.from_numpy(a).to(self.device) for a in (sample.observation, sample.legal))
        chances = selfplay.log_softmax(self.model, observation, legal)
        chance = chances.gather(1, torch.from_numpy(sample.call).to(self.device)[:, None])[:, 0]
        ratio = (chance - before).exp().detach()
        entropy = -(chances.exp() * chances).sum(1)
        loss = -(weight * (ratio * advantage * chance + options.entropy * entropy)).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        self.critic.learn(seen, outcome, weight)
        self.replay.update(sample.rows, advantage.abs().cpu().numpy())
        return {
            "value_error": float((advantage**2).mean()),
            "outcome_variance": float(outcome.var()),
            "entropy": float(entropy.mean().detach()),
        }


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

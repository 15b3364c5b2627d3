"""``a2c``: advantage actor-critic in self-play from scratch. Joint policy search, section 7.2 and appendix E.

One network of 200 neurons a layer (its Figure 3) on 267 bits, policy and value on top. Where the papers have threads
that play while others learn, here each synchronisation plays ``boards`` duplicate pairs with the weights of the last
one, keeps their decisions in the buffer, and learns ``sync`` minibatches sampled from it, uniformly or by priority
(``replay``). All this ``jps`` and ``rl`` share (``ActorCritic``).
"""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.network import Architecture, Network, NetworkPolicy, log_softmax, unpacked
from bidzoo.agents.bridge.replay import ReplayBuffer
from bidzoo.agents.bridge.selfplay import Actor, Pairs, actor_of, duplicate_pairs
from bidzoo.agents.bridge.trainer import Metrics, descend, means
from bidzoo.core.arrays import Arrays, digest
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import I8, I64
from bidzoo.core.options import Checked, Count, Seed, Share, Weight, Whole
from bidzoo.envs.bridge.game import Bridge

# ---- playing and learning in turns -------------------------------------------------------


@dataclass(frozen=True)
class PairOptions(Checked):
    """What a run on duplicate pairs depends on; the algorithms say their papers' values."""

    boards: Count = 500  # duplicate pairs played between two synchronisations
    sync: Count = 50  # minibatches between two synchronisations
    minibatch: Count = 1024  # transitions of a step
    capacity: Count = 800_000  # transitions in the buffer
    burn_in: Whole = 80_000  # transitions before learning starts
    average: Share = 0.0  # of the averaged weights that stay, a synchronisation; 0: the policy itself
    seed: Seed = 0  # of the deals and of all that is drawn
    syncs: Count = 2000  # length of the run


class ActorCritic(trainer.Trainer):
    """Playing and learning in turns; an iteration is what happens between two synchronisations."""

    options: PairOptions

    def __init__(
        self,
        game: Bridge,
        options: PairOptions,
        model: Any,
        architecture: Architecture,
        hidden: int,
        device: str,
        exponent: float = 0.0,
    ) -> None:
        """``model``: the torch policy that plays.

        ``hidden``: length of what only the critic sees, stored too; ``exponent``: of the buffer's priorities.
        """
        selfplay.check(game, self.algorithm, architecture.observation)
        distributed.alone(self.algorithm)
        super().__init__(options, options.syncs, device)
        self.inputs = {"start": digest(network.arrays(model)), "deals": digest(game.deals._asdict())}
        self.game, self.model, self.architecture = game, model, architecture
        self.replay = ReplayBuffer(options.capacity, architecture.inputs, hidden, exponent)
        self.average = deepcopy(model)

    def arrays(self) -> Arrays:
        return self.replay.arrays()

    def restore(self, arrays: Arrays) -> None:
        self.replay.restore(arrays)

    def iterate(self, iteration: int) -> Metrics:
        """Play (until the buffer can be learned from), synchronise, learn, average; metrics."""
        options, player = self.options, actor_of(self.model, self.architecture, self.device)
        while True:
            n, stream = options.boards, self.games // (2 * options.boards)
            boards = stream * n + np.arange(n, dtype=np.int64)
            metrics = self.store(self.play(boards, player, stream))
            self.games += 2 * n
            if self.replay.added >= options.burn_in:
                break
        steps = [self.learn(iteration * options.sync + step) for step in range(options.sync)]
        network.ema_update(self.average, self.model, options.average)
        return {**metrics, **means(steps)}

    def play(self, boards: I64, player: Actor, stream: int) -> Pairs:
        """Play the next duplicate pairs."""
        return duplicate_pairs(self.game, boards, self.options.seed, player, stream)

    @abstractmethod
    def store(self, pairs: Pairs) -> Metrics:
        """Put the transitions of ``pairs`` into the buffer; metrics of them."""

    @abstractmethod
    def learn(self, step: int) -> Metrics:
        """One minibatch; its metrics, torch scalars."""


# ---- the algorithm -----------------------------------------------------------------------

ACTOR_CRITIC = Architecture("jps267", NUM_CALLS + 1, kind="jps", width=200)


class A2c(NetworkPolicy):
    """The actor-critic baseline of joint policy search."""

    name = "a2c-bridge"


@dataclass(frozen=True)
class Options(PairOptions):
    """What a run depends on."""

    boards: Count = 500  # 2000 games in parallel in the paper
    learning_rate: Weight = 1e-4  # of Adam
    entropy: Weight = 0.01  # weight of the bonus for it
    clip: Weight = 2.0  # of the importance ratio
    value_weight: Weight = 0.5  # weight of the loss of the value
    differing: bool = False  # learn only where the tables differ: in auction so far, and in result


class Trainer(ActorCritic):
    """One run: ``iterate`` plays and learns between two synchronisations."""

    algorithm = "a2c"
    options: Options

    def __init__(self, start: Network | None, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``start``: network to go on from, None: random weights; ``game``: pays points and shows its observation."""
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

    def store(self, pairs: Pairs) -> Metrics:
        """Put the transitions of ``pairs`` into the buffer, all of one priority; the share that is kept."""
        metrics: Metrics = {}
        if self.options.differing:
            kept = pairs.parted & (pairs.outcome != 0)
            pairs, metrics = pairs.select(kept), {"kept": float(kept.mean())}
        hidden: I8 = np.zeros((len(pairs.outcome), 0), np.int8)
        self.replay.add(pairs, hidden, np.ones_like(pairs.outcome))
        return metrics

    def learn(self, step: int) -> Metrics:
        options = self.options
        sample = self.replay.sample(options.minibatch, options.seed + 1, step)
        out = network.forward(self.model, unpacked(self.tensor(sample.observation), self.architecture.inputs))
        chances = log_softmax(out, unpacked(self.tensor(sample.legal), NUM_CALLS))
        chance = chances.gather(1, self.tensor(sample.call)[:, None])[:, 0]
        ratio = (chance - self.tensor(sample.log_probability)).exp().clamp(max=options.clip)
        advantage = self.tensor(sample.outcome) - out[:, NUM_CALLS]
        entropy = -(chances.exp() * chances).sum(1).mean()
        gain = self.tensor(sample.outcome) if options.differing else advantage.detach()
        policy = -(ratio.detach() * gain * chance).mean()
        value = (advantage**2).mean()
        loss = policy + options.value_weight * value - options.entropy * entropy
        descend(self.adam, loss, options.learning_rate, clip=50.0)
        return {"value_error": value.detach(), "entropy": entropy.detach()}

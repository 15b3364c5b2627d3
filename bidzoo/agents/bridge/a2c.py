"""``a2c``: advantage actor-critic in self-play from scratch. Joint policy search, section 7.2 and appendix E.

One network of 200 neurons a layer (its Figure 3) on 267 bits, policy and value on top. Where the papers have threads
that play while others learn, here each synchronisation plays ``boards`` duplicate pairs with the weights of the last
one, keeps their decisions in the buffer, and learns ``sync`` minibatches sampled from it, uniformly or by priority
(Schaul et al. 2016). All this ``jps`` and ``rl`` share (``ActorCritic``).
"""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.network import Architecture, Network, NetworkPolicy, log_softmax
from bidzoo.agents.bridge.selfplay import Actor, Pairs, actor, duplicate_pairs
from bidzoo.agents.bridge.trainer import Metrics, descend, means
from bidzoo.core.arrays import Arrays, digest
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I8, I64
from bidzoo.core.options import Checked, Count, Seed, Share, Weight, Whole
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge

# ---- playing and learning in turns -------------------------------------------------------


@dataclass(frozen=True)
class PairOptions(Checked):
    """What a run on duplicate pairs depends on; the algorithms say their papers' values."""

    boards: Count = 500  # duplicate pairs played between two synchronisations
    sync: Count = 50  # minibatches between two synchronisations
    minibatch: Count = 1024
    capacity: Count = 800_000  # transitions in the buffer
    burn_in: Whole = 80_000  # transitions before learning starts
    average: Share = 0.0  # of the averaged weights that stay, a synchronisation; 0: the policy itself
    seed: Seed = 0
    syncs: Count = 2000  # length of the run


class ActorCritic(trainer.Trainer):
    """Playing and learning in turns; an iteration is what happens between two synchronisations."""

    options: PairOptions

    def __init__(
        self, game: Bridge, options: PairOptions, model: Any, architecture: Architecture, hidden: int, device: str
    ) -> None:
        """``model``: the torch policy that plays; ``hidden``: length of what only the critic sees, stored too."""
        selfplay.check(game, self.algorithm, architecture.observation)
        distributed.alone(self.algorithm)
        super().__init__(options, options.syncs, device)
        self.inputs = {"start": digest(network.arrays(model)), "deals": digest(game.deals._asdict())}
        self.game, self.model, self.architecture = game, model, architecture
        self.replay = ReplayBuffer(options.capacity, architecture.inputs, hidden)
        self.average = deepcopy(model)

    def arrays(self) -> Arrays:
        return self.replay.arrays()

    def restore(self, arrays: Arrays) -> None:
        self.replay.restore(arrays)

    def iterate(self, iteration: int) -> Metrics:
        """Play (until the buffer can be learned from), synchronise, learn, average; metrics."""
        options, player = self.options, actor(network.half_precision(self.model), self.device)
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


# ---- replay buffer -----------------------------------------------------------------------


class Sample(NamedTuple):
    """``n`` transitions sampled from a buffer."""

    rows: I64  # [n]  places in the buffer
    observation: I8  # [n, F]
    hidden: I8  # [n, H]  what the critic sees instead
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_probability: F32  # [n]  of the call when it was made
    outcome: F32  # [n]  of the side that made it
    weight: F32  # [n]  importance of the draw, at most 1


class ReplayBuffer:
    """The last ``capacity`` transitions; a player's bits are kept eight to a byte, for checkpoints."""

    def __init__(self, capacity: int, observation: int, hidden: int) -> None:
        """``observation`` and ``hidden``: lengths of a vector of bits and one of small integers."""
        self.capacity, self._bits = capacity, {"observation": observation, "legal": NUM_CALLS}
        self._fields: dict[str, NDArray[Any]] = {
            **{name: np.zeros((capacity, -(-size // 8)), np.uint8) for name, size in self._bits.items()},
            "hidden": np.zeros((capacity, hidden), np.int8),
            "call": np.zeros(capacity, np.int8),
            "log_probability": np.zeros(capacity, np.float32),
            "outcome": np.zeros(capacity, np.float32),
            "priority": np.zeros(capacity, np.float32),
        }
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, pairs: Pairs, hidden: I8, priority: F32) -> None:
        """Append the decisions ``[n]`` of ``pairs``; ``priority`` is at least 0."""
        decisions = pairs.decisions
        self.append(
            observation=decisions.observation,
            hidden=hidden,
            legal=decisions.legal,
            call=decisions.call,
            log_probability=decisions.log_chance,
            outcome=pairs.outcome,
            priority=priority,
        )

    def append(self, **columns: NDArray[Any]) -> None:
        """Append transitions ``[n, ...]``, over the oldest ones."""
        rows = np.arange(self.added, self.added + len(columns["call"])) % self.capacity
        for name, column in columns.items():
            self._fields[name][rows] = np.packbits(column > 0, axis=1) if name in self._bits else column
        self.added += len(rows)

    def sample(self, n: int, seed: int, step: int, priority: float = 0.0, importance: float = 0.0) -> Sample:
        """``n`` transitions with replacement, with chances proportional to their priority to the power ``priority``.

        ``weight`` is (chance x size) to the power ``-importance``, divided by its greatest value.
        """
        size = len(self)
        numbers: F64 = Streams.at(seed, np.arange(n), step).random(1)[:, 0]
        if priority == 0:
            rows = (numbers * size).astype(np.int64)
            weight = np.ones(n, np.float32)
        else:
            mass = np.cumsum((self._fields["priority"][:size].astype(np.float64) + 1e-3) ** priority)
            rows = np.minimum(np.searchsorted(mass, numbers * mass[-1], side="right"), size - 1)
            chance = np.diff(mass, prepend=0.0)[rows] / mass[-1]
            weight = (chance * size) ** -importance
            weight = (weight / weight.max()).astype(np.float32)
        columns = {name: self._fields[name][rows] for name in Sample._fields if name in self._fields}
        for name, count in self._bits.items():
            columns[name] = np.unpackbits(columns[name], axis=1, count=count).view(np.int8)
        columns["call"] = columns["call"].astype(np.int64)
        return Sample(rows=rows, weight=weight, **columns)

    def update(self, rows: I64, priority: F32) -> None:
        """New priorities of transitions at ``rows``."""
        self._fields["priority"][rows] = priority

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole buffer, for a checkpoint."""
        return {**{name: a[: len(self)] for name, a in self._fields.items()}, "added": np.array([self.added])}

    def restore(self, arrays: Arrays) -> None:
        self.added = int(arrays["added"][0])
        for name, field in self._fields.items():
            field[: len(self)] = arrays[name]


# ---- the algorithm -----------------------------------------------------------------------

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
        out = network.forward(self.model, self.tensor(sample.observation))
        chances = log_softmax(out, self.tensor(sample.legal))
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

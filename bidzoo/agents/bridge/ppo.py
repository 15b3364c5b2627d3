"""``ppo``: proximal policy optimisation from the supervised policy, against its own past.

Schulman et al. 2017, with the recipe of Kita et al. 2024: start from supervised learning, draw opponents uniformly
from all past snapshots (fictitious self-play), mask illegal calls, no discount. A decision's advantages come from
trying its likely calls on the same cards (``selfplay.explore``), where theirs come from a value network.
docs/agents/ppo.md says what differs, and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.network import Network, NetworkPolicy, unpacked
from bidzoo.agents.bridge.selfplay import (
    BOTH,
    Actor,
    Decisions,
    Opponent,
    OpponentPool,
    Record,
    actor_like,
    actor_of,
    log_chances,
)
from bidzoo.agents.bridge.trainer import Batch, Metrics, descend, means
from bidzoo.agents.policy import Policy, told_apart
from bidzoo.core.arrays import Arrays, digest
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, I64
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps


class Ppo(NetworkPolicy):
    """The policy network of PPO with fictitious self-play."""

    name = "ppo"


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the policy it starts from."""

    iterations: Count = 240  # length of the run
    boards: Count = 4096  # an iteration
    max_actions: Count = 4  # calls tried at a decision
    min_prob: Share = 0.02  # chance of a call that is tried
    self_play: Share = 0.5  # share of boards against the learner itself
    pool: Share = 0.0  # share of boards against ``opponents``; all others are against a past snapshot
    snapshot_every: Count = 10  # iterations
    epochs: Count = 4  # passes over the decisions of an iteration
    minibatch: Count = 2048  # decisions
    learning_rate: Weight = 1e-4  # falls linearly to a tenth
    clip: Weight = 0.2  # of the ratio of new to old probability
    entropy: Weight = 0.0  # weight of the bonus for it
    anchor: Weight = 0.05  # weight of KL(policy, supervised policy)
    average: Share = 0.9  # of the averaged weights that stay, an iteration
    seed: Seed = 0  # of the deals and of all that is drawn


class Trainer(trainer.Trainer):
    """One run: ``iterate`` plays and learns once."""

    algorithm = "ppo"
    options: Options

    def __init__(
        self,
        start: Network,
        game: Bridge,
        options: Options,
        device: str = "cpu",
        reference: Network | None = None,
        opponents: Sequence[Policy] = (),
    ) -> None:
        """Args:
        start: the policy to improve, and the first opponent.
        game: ``Bridge(reward="score")`` on training deals.
        options: of the run.
        device: of torch.
        reference: the supervised policy of datum and anchor, and an opponent; None if that is ``start``.
        opponents: other agents, who play on the share ``pool`` of the boards, one of them on each.
        """
        import torch

        if game.reward != "score":
            raise ValueError(f"PPO compares scores itself; make the game with reward='score', not {game.reward!r}")
        if (options.pool > 0) != (len(opponents) > 0):
            raise ValueError(f"pool {options.pool} with {len(opponents)} opponents: expected both or neither")
        if options.self_play + options.pool > 1:
            raise ValueError(f"self_play {options.self_play} and pool {options.pool} are more than all boards")
        super().__init__(options, options.iterations, device)
        self.opponents = tuple(actor_like(policy, device) for policy in opponents)
        self._names, self._record = ["past", *told_apart([policy.name for policy in opponents])], Record(game)
        self.inputs = {"start": start.digest, "deals": digest(game.deals._asdict())}
        self.inputs["reference"] = reference.digest if reference else "start"
        start, reference = start.of_calls("start"), reference and reference.of_calls("reference")
        if reference and reference.architecture.observation != start.architecture.observation:
            observation, expected = reference.architecture.observation, start.architecture.observation
            raise ValueError(f"reference sees {observation!r}, start {expected!r}: expected the same")
        self.game, self.architecture = game, start.architecture
        self.policy, self.average, self.past = (network.module_of(start, device) for _ in range(3))
        self.anchor = network.module_of(reference or start, device)
        self.anchor_architecture = (reference or start).architecture
        self.learner = distributed.replicated(self.policy)
        self.adam = torch.optim.Adam(self.policy.parameters(), options.learning_rate, fused=True)
        self.modules = {"policy": self.policy, "average": self.average, "adam": self.adam}
        self.snapshots: list[dict[str, F32]] = [network.arrays(self.policy)]
        self.plays_anchor = reference is not None
        if reference:
            self.snapshots.append(network.arrays(self.anchor))

    def arrays(self) -> Arrays:
        return trainer.numbered(self.snapshots)

    def restore(self, arrays: Arrays) -> None:
        self.snapshots = trainer.in_order(arrays)

    # ---- playing -------------------------------------------------------------------------

    def iterate(self, iteration: int) -> Metrics:
        options = self.options
        rows = distributed.world().share(np.arange(options.boards, dtype=np.int64))
        boards = iteration * options.boards + rows
        side = selfplay.drawn(options.seed, boards, selfplay.OF_SIDE, 2)
        sides = np.where(rows < options.self_play * options.boards, BOTH, side)
        fraction = Streams.at(options.seed, np.array([iteration]), 7).random(1)[0, 0]
        number = int(fraction * len(self.snapshots))
        self.past_opponent = self.anchor if self.plays_anchor and number == 1 else self.past
        if self.past_opponent is self.past:
            network.load_arrays(self.past, self.snapshots[number])
        learner, opponent = self._actor(self.policy, False), self._other_side(False)
        states, decisions = selfplay.play(
            self.game, boards, options.seed, learner, opponent, sides, iteration, self._record
        )
        reference = self._datum(boards)
        self.games += 2 * options.boards
        reward = _reward(states["points"][:, 0].astype(np.int64), reference)
        batch, metrics = self._from_rollouts(decisions, reference, sides, boards)
        result = self._learn(batch, iteration) if batch.size else {}
        if (iteration + 1) % options.snapshot_every == 0:
            self.snapshots.append(network.arrays(self.policy))
        gain, numbers = np.where(sides == 0, reward, -reward), self._opponent_numbers(boards)
        gains = {name: gain[(numbers == number) & (sides != BOTH)] for number, name in enumerate(self._names)}
        against = {f"against_{name}": float(values.mean()) for name, values in gains.items() if len(values)}
        return {"decisions": float(len(decisions.call)), **against, **metrics, **result}

    def _opponent_numbers(self, boards: I64) -> I64:
        """Opponents on ``boards`` ``[B]``: 0 a past snapshot (or none), ``k`` the ``k``-th of ``opponents``."""
        options = self.options
        return selfplay.opponent_numbers(boards, options.boards, 1 - options.pool, len(self.opponents), options.seed)

    def _actor(self, model: Any, greedy: bool) -> Actor:
        architecture = self.anchor_architecture if model is self.anchor else self.architecture
        return actor_of(model, architecture, self.device, greedy)

    def _other_side(self, greedy: bool) -> Opponent:
        past = self._actor(self.past_opponent, greedy)
        return OpponentPool([past, *self.opponents], self._opponent_numbers) if self.opponents else past

    def _datum(self, boards: I64) -> I64:
        """Points of N/S with the supervised policy in all four seats: ``[B]``."""
        states, anchor = self.game.deal(boards, self.options.seed), self._actor(self.anchor, True)
        selfplay.play_out(self.game, states, anchor, anchor, np.full(len(boards), BOTH), 0)
        return np.asarray(states["points"][:, 0], np.int64)

    def _from_rollouts(self, decisions: Decisions, reference: I64, sides: I64, boards: I64) -> tuple[Batch, Metrics]:
        """Every candidate of the decisions that have more than one, made and played out by likeliest calls.

        Rows of all processes, in the order of a single one: by turn, then by board.
        """
        call, chance = selfplay.candidates(decisions.log_chances, self.options.max_actions, self.options.min_prob)
        rows = np.flatnonzero((call[:, 1:] >= 0).any(1))
        searched, call, chance = decisions.select(rows), call[rows], chance[rows]
        learner, opponent = self._actor(self.policy, True), self._other_side(True)
        points = selfplay.explore(self.game, searched.states, call, learner, opponent, sides[searched.board])
        gain = searched.sign[:, None] * _reward(points, reference[searched.board[:, None]])
        log_chance = np.take_along_axis(searched.log_chances, np.maximum(call, 0), 1)
        place = searched.length, boards[searched.board]
        observation, legal, call, log_chance, chance, gain = distributed.gathered(
            *place, searched.observation, searched.legal, call, log_chance, chance, gain
        )
        tried, weight = call >= 0, chance / chance.sum(1, keepdims=True)
        advantage = gain - (weight * gain).sum(1, keepdims=True)
        advantage = np.where(tried, advantage / (advantage[tried].std() + 1e-6), 0)
        batch = self.batch(
            observation=observation,  # packed
            legal=legal,  # packed
            call=np.maximum(call, 0),  # [n, K]
            before=log_chance,  # [n, K]  log-probability when played
            weight=weight,  # [n, K]  share in the surrogate; 0: no call
            advantage=advantage.astype(np.float32),  # [n, K]  in standard deviations
        )
        return batch, {"several_calls": len(rows) / max(1, len(decisions.call))}

    # ---- learning ------------------------------------------------------------------------

    def _learn(self, batch: Batch, iteration: int) -> Metrics:
        rate, steps = self.options.learning_rate * self.falling(iteration), []
        for epoch in range(self.options.epochs):
            stream = (iteration * self.options.epochs + epoch) * 4 + 1
            for rows in self.shuffled(batch.size, self.options.minibatch, stream):
                part, weight = distributed.world().part(rows)
                steps.append(self._step(batch.at(part), rate, weight))
        network.ema_update(self.average, self.policy, self.options.average)
        return means(steps)

    def _step(self, batch: Batch, rate: float, weight: float) -> Metrics:
        """One step on this process's share of a minibatch, whose ``weight`` it has; torch scalars."""
        import torch

        options = self.options
        observation, legal = unpacked(batch.observation, self.architecture.inputs), unpacked(batch.legal, NUM_CALLS)
        chances = log_chances(self.learner, observation, legal)
        entropy = -(chances.exp() * chances).sum(1).mean()
        ratio = (chances.gather(1, batch.call) - batch.before).exp()
        clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
        gain = (batch.weight * torch.minimum(ratio * batch.advantage, clipped * batch.advantage)).sum(1).mean()
        loss = -gain - options.entropy * entropy
        metrics = {"surrogate": gain, "entropy": entropy, "clipped": (ratio != clipped).float().mean()}
        if options.anchor > 0:
            with torch.no_grad():
                anchor_chances = log_chances(self.anchor, observation, legal)
            divergence = (chances.exp() * (chances - anchor_chances)).sum(1).mean()
            loss = loss + options.anchor * divergence
            metrics["from_anchor"] = divergence
        descend(self.adam, loss * weight, rate, clip=1.0)
        return {name: value.detach() for name, value in metrics.items()}


def _reward(points: I64, reference: I64) -> F32:
    """N/S reward, IMPs."""
    return imps(points - reference).astype(np.float32)

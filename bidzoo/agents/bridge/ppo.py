"""``ppo``: proximal policy optimisation from the supervised policy, against its own past.

Schulman et al. 2017, with the recipe of Kita et al. 2024: start from supervised learning, draw opponents uniformly
from all past snapshots (fictitious self-play), mask illegal calls, no discount. Where we differ, to learn in an hour
on a processor what took them days on accelerators:

- *reward*: IMPs against the *datum*, the score the supervised policy reaches on the same board in all four seats;
  every table is a comparison of its own, without the noise of a second one. ``"score"`` is points / 7600 as in Kita.
- *advantage* ``"rollouts"``: the likeliest calls of a decision are all tried on the same cards and played out
  (``branches.py``), and the clipped surrogate is summed over them instead of sampled. ``"critic"``: generalised
  advantage estimates from a value network that sees all hands and what every contract would score (``critic.py``).
- *self-play share*: on some boards the opponent is the learner itself, and both sides' decisions are learned from.
- *anchor*: a KL penalty towards the supervised policy keeps the calls what a partner can understand.
- *average*: what is measured and kept is a moving average of the policy's weights, which forgets the noise of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.critic import Critic
from bidzoo.agents.bridge.fit import Report, means
from bidzoo.agents.bridge.lessons import Lesson, from_critic, from_rollouts
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.selfplay import BOTH
from bidzoo.agents.bridge.training import Arrays, Judge, loop
from bidzoo.agents.options import Checked, Count, Seed, Share, Weight, Whole
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.bridge.score import MAX_POINTS
from bidzoo.kernels import F32, I64
from bidzoo.streams import Streams


class Ppo(NetworkPolicy):
    """The policy network of PPO with fictitious self-play."""

    name = "ppo"
    weights_name = "ppo"


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the policy it starts from."""

    iterations: Count = 240
    boards: Count = 4096  # an iteration
    reward: Literal["datum", "score"] = "datum"
    advantage: Literal["rollouts", "critic"] = "rollouts"
    most: Count = 4  # calls tried at a decision
    least: Share = 0.02  # chance of a call that is tried
    self_play: Share = 0.5  # share of boards against the learner itself; the others against a past snapshot
    snapshot_every: Count = 10  # iterations
    epochs: Count = 4
    minibatch: Count = 2048  # decisions
    learning_rate: Weight = 1e-4  # falls linearly to a tenth
    clip: Weight = 0.2
    entropy: Weight = 0.0
    anchor: Weight = 0.05  # weight of KL(policy, supervised policy)
    average: Share = 0.9  # of the averaged weights that stay, an iteration
    critic_width: Count = 384
    critic_learning_rate: Weight = 1e-3
    critic_warm_up: Whole = 10  # iterations in which only the critic learns
    decay: Share = 0.9  # lambda of the advantage estimates
    seed: Seed = 0


class Trainer:
    """One run: ``iterate`` plays and learns once."""

    def __init__(
        self, start: Network, game: Bridge, options: Options, device: str, reference: Network | None = None
    ) -> None:
        import torch

        self.options, self.game, self.device = options, game, device
        self.architecture = start.architecture
        self.policy, self.average, self.past = (network.module_of(start, device) for _ in range(3))
        self.anchor = network.module_of(reference or start, device)
        self.adam = torch.optim.Adam(self.policy.parameters(), options.learning_rate, fused=True)
        self.modules = {"policy": self.policy, "average": self.average, "adam": self.adam}
        if options.advantage == "critic":
            sees = Architecture("scores778", 1, width=options.critic_width, depth=2)
            self.critic = Critic(sees, options.critic_learning_rate, options.seed, device)
            self.modules.update(critic=self.critic.model, critic_adam=self.critic.adam)
        self.snapshots: list[dict[str, F32]] = [network.arrays(self.policy)]
        if reference:
            self.snapshots.append(network.arrays(self.anchor))
        self.games = 0

    def player(self) -> Network:
        """The averaged policy."""
        return network.network_of(self.architecture, self.average)

    def arrays(self) -> Arrays:
        """The snapshots."""
        return {f"{n}/{name}": array for n, snapshot in enumerate(self.snapshots) for name, array in snapshot.items()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        numbers = sorted({int(key.split("/")[0]) for key in arrays})
        self.snapshots = [
            {key.split("/", 1)[1]: array for key, array in arrays.items() if key.startswith(f"{n}/")} for n in numbers
        ]

    # ---- playing -------------------------------------------------------------------------

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play, then learn; figures of the iteration."""
        options = self.options
        rows = np.arange(options.boards, dtype=np.int64)
        boards = iteration * options.boards + rows
        sides = np.where(rows < options.self_play * options.boards, BOTH, rows % 2)
        chosen = Streams.at(options.seed, np.array([iteration]), 7).random(1)[0, 0]
        network.load_arrays(self.past, self.snapshots[int(chosen * len(self.snapshots))])
        mine, theirs = (selfplay.actor(model, self.device) for model in (self.policy, self.past))
        tables, decisions = selfplay.play(self.game, boards, options.seed, mine, theirs, sides, iteration)
        anchor = selfplay.actor(self.anchor, self.device, greedy=True)
        reference = selfplay.datum(self.game, boards, options.seed, anchor)
        self.games += 2 * options.boards
        reward = self._reward(tables["points"][:, 0].astype(np.int64), reference)
        if options.advantage == "critic":
            rows_of = self._minibatches(len(decisions.call), iteration, 2)
            lesson, figures = from_critic(
                decisions, self.critic, reference, decisions.outcome(reward), options.boards, options.decay, rows_of
            )
        else:
            lesson, figures = from_rollouts(
                self.game,
                decisions,
                lambda points, board: self._reward(points, reference[board]),
                sides,
                (
                    selfplay.actor(self.policy, self.device, greedy=True),
                    selfplay.actor(self.past, self.device, greedy=True),
                ),
                options.most,
                options.least,
            )
        warming = options.advantage == "critic" and iteration < options.critic_warm_up
        result = {} if warming or len(lesson.call) == 0 else self._learn(lesson, iteration)
        if (iteration + 1) % options.snapshot_every == 0:
            self.snapshots.append(network.arrays(self.policy))
        won = np.where(sides == 0, reward, -reward)[sides != BOTH]
        against = {"against_past": float(won.mean())} if len(won) else {}
        return {"decisions": float(len(decisions.call)), **against, **figures, **result}

    def _reward(self, points: I64, reference: I64) -> F32:
        """N/S reward, IMPs (or shares of the greatest score)."""
        if self.options.reward == "score":
            return (points / MAX_POINTS).astype(np.float32)
        return imps(points - reference).astype(np.float32)

    # ---- learning ------------------------------------------------------------------------

    def _minibatches(self, n: int, iteration: int, use: int) -> Iterator[Any]:
        """Rows of every minibatch of every epoch."""
        import torch

        for epoch in range(self.options.epochs):
            stream = (iteration * self.options.epochs + epoch) * 4 + use
            keys = Streams.at(self.options.seed, np.arange(n), stream).random(1)[:, 0]
            yield from torch.from_numpy(np.argsort(keys, kind="stable")).to(self.device).split(self.options.minibatch)

    def _learn(self, lesson: Lesson, iteration: int) -> dict[str, float]:
        import torch

        for group in self.adam.param_groups:
            group["lr"] = self.options.learning_rate * (1 - 0.9 * iteration / self.options.iterations)
        columns = [torch.from_numpy(np.ascontiguousarray(column)).to(self.device) for column in lesson]
        steps = [
            self._step(Lesson._make(column[rows] for column in columns))
            for rows in self._minibatches(len(lesson.call), iteration, 1)
        ]
        network.drift(self.average, self.policy, self.options.average)
        return means(steps)

    def _step(self, lesson: Any) -> dict[str, Any]:
        """One step on a minibatch, a ``Lesson`` of torch tensors; figures, torch scalars."""
        import torch

        options = self.options
        chances = selfplay.log_softmax(self.policy, lesson.observation, lesson.legal)
        entropy = -(chances.exp() * chances).sum(1).mean()
        ratio = (chances.gather(1, lesson.call) - lesson.before).exp()
        clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
        gain = (lesson.weight * torch.minimum(ratio * lesson.advantage, clipped * lesson.advantage)).sum(1).mean()
        loss = -gain - options.entropy * entropy
        figures = {"surrogate": gain, "entropy": entropy, "clipped": (ratio != clipped).float().mean()}
        if options.anchor > 0:
            with torch.no_grad():
                known = selfplay.log_softmax(self.anchor, lesson.observation, lesson.legal)
            away = (chances.exp() * (chances - known)).sum(1).mean()
            loss = loss + options.anchor * away
            figures["from_anchor"] = away
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.adam.step()
        return {name: value.detach() for name, value in figures.items()}


def train(
    start: Network,
    game: Bridge,
    options: Options,
    out: str | Path,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    judge: Judge | None = None,
    reference: Network | None = None,
    *,
    every: int = 10,
    device: str = "cpu",
    threads: int = 1,
    stop: int | None = None,
) -> Network:
    """Train to the end (or to iteration ``stop``) from where folder ``out`` stands (``training.loop``).

    Args:
        start: the policy to improve, and the first opponent.
        game: ``Bridge(reward="score")`` on training deals.
        options: of the run.
        out: folder of checkpoint, curves and weights.
        provenance: stored with the weights, beside options and figures.
        report: called with the iteration and the figures of each measurement.
        judge: figures of a policy; ``imps`` decides which one is kept.
        reference: the supervised policy of datum and anchor, and an opponent; None if that is ``start``.
        every: iterations between measurements and checkpoints.
        device: of torch.
        threads: of torch on the CPU; the same seed gives the same bytes with 1.
        stop: leave after this iteration, as if interrupted.
    """
    if game.reward != "score":
        raise ValueError(f"PPO compares scores itself; make the game with reward='score', not {game.reward!r}")
    with torch_threads(threads):
        trainer = Trainer(start, game, options, device, reference)
        return loop(
            trainer, Run(out, "ppo", asdict(options)), options.iterations, provenance, report, judge, every, stop
        )

"""Trains ``distil``: a network of another size that values calls as a teacher does.

The teacher bids boards against itself. At each of its decisions the student's differences between the logits of two
calls are fitted to the teacher's (Hinton, Vinyals and Dean 2015 match logits in the limit), so that the student of
``rpi``, whose logits are values, is a start of ``rpi`` (``start_unit`` as for the teacher).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.expert import refuse_held_out
from bidzoo.agents.bridge.network import Architecture, Network, forward, unpacked
from bidzoo.agents.bridge.selfplay import BOTH, Record, actor_of
from bidzoo.agents.bridge.trainer import Batch, Metrics, descend, means
from bidzoo.benchmarks.training import Choose, Files, Names, Stage, match, named, names, training_set
from bidzoo.core.arrays import digest
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.envs.bridge.game import Bridge

_FAR = 12.0  # nats: calls further below the likeliest one are all alike; 3 IMPs where a nat is a quarter of one


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the teacher and the shape of the student."""

    iterations: Count = 400
    boards: Count = 8192  # an iteration; each is learned from once
    minibatch: Count = 2048  # decisions
    learning_rate: Weight = 1e-3  # falls linearly to a tenth
    average: Share = 0.99  # of the averaged weights that stay, a step
    seed: Seed = 0


class Trainer(trainer.Trainer):
    """One run: ``iterate`` lets the teacher play and the student learn once."""

    algorithm = "distil"
    options: Options

    def __init__(
        self, start: Network, game: Bridge, options: Options, architecture: Architecture, device: str = "cpu"
    ) -> None:
        """Args:
        start: the teacher.
        game: ``Bridge(reward="score")`` on training deals, with the observation of ``architecture``.
        options: of the run.
        architecture: of the student, with 38 outputs.
        device: of torch.
        """
        import torch

        selfplay.check(game, self.algorithm, architecture.observation)
        distributed.alone(self.algorithm)
        super().__init__(options, options.iterations, device)
        self.inputs = {"start": start.digest, "deals": digest(game.deals._asdict()), "student": repr(architecture)}
        teacher = start.of_calls("start")
        self.game, self.architecture, self._record = game, architecture, Record(game)
        self.teacher = actor_of(network.module_of(teacher, device), teacher.architecture, device)
        self.model = network.module(architecture, options.seed, last_scale=0.1).to(device)
        self.average = network.module(architecture, options.seed, last_scale=0.1).to(device)
        self.adam = torch.optim.Adam(self.model.parameters(), options.learning_rate, fused=True)
        self.modules = {"student": self.model, "average": self.average, "adam": self.adam}

    def iterate(self, iteration: int) -> Metrics:
        options, both = self.options, np.full(self.options.boards, BOTH)
        boards = iteration * options.boards + np.arange(options.boards)
        decisions = selfplay.play(
            self.game, boards, options.seed, self.teacher, self.teacher, both, iteration, self._record
        )[1]
        self.games += options.boards
        batch = self.batch(
            observation=decisions.observation, legal=decisions.legal, value=decisions.log_chances
        )  # bits are packed
        rate, steps = options.learning_rate * self.falling(iteration), []
        for rows in self.shuffled(batch.size, options.minibatch, iteration):
            steps.append(self._step(batch.at(rows), rate))
        return {"decisions": float(batch.size), **means(steps)}

    def _step(self, batch: Batch, rate: float) -> Metrics:
        """One step; torch scalars."""
        import torch

        legal = unpacked(batch.legal, NUM_CALLS) > 0
        values = forward(self.model, unpacked(batch.observation, self.architecture.inputs))
        likeliest = batch.value.argmax(1, keepdim=True)
        target, difference = ((each - each.gather(1, likeliest)).clamp(min=-_FAR) for each in (batch.value, values))
        loss = torch.where(legal, (difference - target) ** 2, 0).sum() / legal.sum()
        descend(self.adam, loss, rate, clip=1.0)
        network.ema_update(self.average, self.model, self.options.average)
        agrees = (values.masked_fill(~legal, -torch.inf).argmax(1) == likeliest[:, 0]).float().mean()
        return {"loss": loss.detach(), "agrees": agrees}


def compose(
    choose: Choose,
    start: str,
    kind: Any,
    width: int,
    depth: int,
    activation: Any,
    deals: Files,
    boards: int,
    against: Names,
    device: str,
) -> Iterator[Stage]:
    """A student of the shape asked for."""
    options, opponents = choose(Options), against or ["sl"]
    refuse_held_out(start, *opponents)
    teacher = named(start)
    observation = teacher.architecture.observation
    training_deals, provenance = training_set(deals)
    provenance |= {"start": names([start]), "measured_against": names(opponents)}
    architecture = Architecture(observation, NUM_CALLS, kind, width, depth, activation)
    game = Bridge(False, observation=observation, deals=training_deals)
    yield Stage(Trainer(teacher, game, options, architecture, device), provenance, match(opponents, boards))

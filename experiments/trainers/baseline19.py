"""Trains ``baseline19`` in three stages. Rong, Qin and An 2019.

1. the ENN, estimation neural network, learns from recorded auctions which cards partner holds;
2. the PNN, policy neural network, learns the calls of those auctions;
3. both go on in self-play: the PNN by policy gradient (REINFORCE) on boards that the past holds at the other side,
   rewarded with the duplicate IMPs, and the ENN as before, now from the cards of these boards.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import belief, distributed, network, selfplay, sl, trainer
from bidzoo.agents.bridge.baseline19 import OBSERVATION, OWN, Networks, Widths, estimates
from bidzoo.agents.bridge.expert import refuse_held_out
from bidzoo.agents.bridge.network import Network, log_softmax, unpacked
from bidzoo.agents.bridge.selfplay import EAST_WEST, NORTH_SOUTH, Pairs, actor
from bidzoo.agents.bridge.trainer import Batch, Fit, Metrics, descend, means
from bidzoo.benchmarks.training import Choose, Files, Names, Stage, match, names, positions, training_set
from bidzoo.core.arrays import Arrays, digest
from bidzoo.core.cards import HAND_SIZE, NUM_CALLS, held
from bidzoo.core.kernels import F32, F64, I8, I64
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.formats.auctions import Positions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS


def module(widths: Widths, seed: int = 0) -> Any:
    """Both as a torch module of calls, which takes the ENN's logits if given; no gradient of calls reaches the ENN."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.enn = network.module(widths.enn, seed, last_scale=0.1)
            self.pnn = network.module(widths.pnn, seed, last_scale=0.1)

        def forward(self, x: Any, estimate: Any = None) -> Any:
            if estimate is None:
                with torch.no_grad():
                    estimate = self.enn(x)
            chances = torch.sigmoid(estimate.detach().to(x.dtype)) * (1 - x[:, OWN])
            return self.pnn(torch.cat([x, chances], 1))

    return Module()


# ---- 1: partner's cards ------------------------------------------------------------------


class Estimation(Fit):
    """Fits partner's cards in ``Positions`` of recorded auctions."""

    algorithm = "baseline19-enn"

    def loss(self, numbers: I64) -> Any:
        """Mean cross-entropy of the 52 outputs, nats."""
        views, _, _ = self.learn.at(numbers)
        x = self.tensor(self.options.architecture.encoder(views))
        cards = self.tensor(partners(self.learn, numbers))
        return estimation_loss(network.forward(self.learner, x), x, cards)

    def measure(self, player: Network) -> dict[str, float]:
        """Cross-entropy at validation positions, and the share of partner's cards among the 13 likeliest."""
        numbers = np.arange(min(20_000, len(self.check)))
        views, _, _ = self.check.at(numbers)
        chances, cards = estimates(player, player.architecture.encoder(views)), partners(self.check, numbers)
        return {
            "cross_entropy": float(cross_entropy(chances, cards).mean()),
            "recall_at_13": float(recall(chances, cards).mean()),
        }


def estimation_loss(logits: Any, x: Any, cards: Any) -> Any:
    """Mean cross-entropy, nats, of the ENN's ``logits`` and partner's ``cards`` ``[n, 52]``, in torch.

    At observations ``x`` ``[n, 480]``, whose own cards cost nothing.
    """
    import torch

    losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, cards.float(), reduction="none")
    return (losses * (x[:, OWN] == 0)).mean()


def partners(positions: Positions, numbers: I64) -> I8:
    """Partner's cards at positions ``numbers`` ``[B]``: ``[B, 52]``."""
    return held(positions.others(numbers)[:, 1])


def cross_entropy(chances: F32, cards: I8) -> F64:
    """Mean over the 52 outputs, nats: ``[n]`` of ``[n, 52]``."""
    return belief.cross_entropy(chances[:, None], cards[:, None])


def recall(chances: F32, cards: I8) -> F64:
    """Share of partner's 13 cards ``[n]`` that are among the 13 likeliest; a third if nothing is known."""
    likeliest = np.argsort(-chances, axis=1, kind="stable")[:, :HAND_SIZE]
    return np.take_along_axis(cards, likeliest, 1).mean(1)


# ---- 2: the expert's calls ---------------------------------------------------------------


class Imitation(sl.Trainer):
    """Fits the calls made in ``Positions`` of recorded auctions, on top of an ENN that stays as it is."""

    algorithm = "baseline19-pnn"
    kind = Networks

    def __init__(self, learn: Positions, check: Positions, options: trainer.Options, enn: Network, device: str = "cpu"):
        """``options.architecture``: ``Widths``, with those of ``enn``; else as ``Fit``."""
        if enn.architecture != options.architecture.enn:
            raise ValueError(f"the ENN is {enn.architecture}, expected {options.architecture.enn}")
        self.enn = enn
        super().__init__(learn, check, options, None, device)
        self.inputs["enn"] = enn.digest

    def module(self) -> Any:
        """Both networks: the ENN, and random weights."""
        model = module(self.options.architecture, self.options.seed)
        network.load_arrays(model.enn, self.enn.tensors)
        model.enn.requires_grad_(False)
        return model


# ---- 3: self-play ------------------------------------------------------------------------


@dataclass(frozen=True)
class Options(Checked):
    """What self-play depends on, beside the networks it starts from."""

    iterations: Count = 30
    boards: Count = 4096  # an iteration, each at two tables
    initial_scale: Weight = 3.0  # factor of the start's logits, from whose softmax its calls are sampled
    snapshot_every: Count = 6  # iterations; opponents are sampled uniformly from the snapshots
    minibatch: Count = 2048  # decisions
    learning_rate: Weight = 1e-5  # of the PNN; falls linearly to a tenth
    enn_learning_rate: Weight = 3e-5  # of the ENN; the same
    average: Share = 0.9  # of the averaged weights that stay, an iteration
    seed: Seed = 0


class Trainer(trainer.Trainer):
    """One run: ``iterate`` plays and learns once."""

    algorithm = "baseline19"
    kind = Networks
    options: Options

    def __init__(self, start: Networks, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``start``: networks to improve, and the first opponent; ``game``: pays points and shows their observation."""
        import torch

        selfplay.check(game, self.algorithm, OBSERVATION)
        distributed.alone(self.algorithm)
        super().__init__(options, options.iterations, device)
        self.inputs = {"start": start.digest, "deals": digest(game.deals._asdict())}
        self.game, self.architecture = game, start.architecture
        self.model = module(self.architecture).to(device)
        network.load_arrays(self.model, start.tensors)
        with torch.no_grad():
            for last in self.model.pnn.layers[-1].parameters():
                last.mul_(options.initial_scale)
        self.average, self.past = deepcopy(self.model), deepcopy(self.model)
        self.adams = {
            "pnn_adam": torch.optim.Adam(self.model.pnn.parameters(), options.learning_rate, fused=True),
            "enn_adam": torch.optim.Adam(self.model.enn.parameters(), options.enn_learning_rate, fused=True),
        }
        self.modules = {"networks": self.model, "average": self.average, **self.adams}
        self.snapshots = [network.arrays(self.model)]

    def arrays(self) -> Arrays:
        return {name: np.stack([snapshot[name] for snapshot in self.snapshots]) for name in self.snapshots[0]}

    def restore(self, arrays: Arrays) -> None:
        names, count = list(self.snapshots[0]), len(next(iter(arrays.values())))
        self.snapshots = [{name: np.asarray(arrays[name][n], np.float32) for name in names} for n in range(count)]

    def iterate(self, iteration: int) -> Metrics:
        options = self.options
        pairs = self.play(iteration)
        self.games += 2 * options.boards
        decisions = pairs.decisions
        batch = self.batch(
            observation=decisions.observation,
            legal=decisions.legal,
            call=decisions.call,
            outcome=pairs.outcome,  # of the learner, IMPs / 24
            partner=held(decisions.later["hands"][decisions.row, (decisions.player + 2) % 4]),
        )
        steps = [
            self.learn(batch.at(rows), self.falling(iteration))
            for rows in self.shuffled(batch.size, options.minibatch, iteration * 4 + 1)
        ]
        network.ema_update(self.average, self.model, options.average)
        if (iteration + 1) % options.snapshot_every == 0:
            self.snapshots.append(network.arrays(self.model))
        return {"against_past": float(pairs.outcome.mean()) * MAX_IMPS, **means(steps)}

    def play(self, iteration: int) -> Pairs:
        """The learner's decisions at both tables of the next boards, one of the snapshots at the other side."""
        options = self.options
        boards = iteration * options.boards + np.arange(options.boards, dtype=np.int64)
        fraction = Streams.at(options.seed, np.array([iteration]), 7).random(1)[0, 0]
        network.load_arrays(self.past, self.snapshots[int(fraction * len(self.snapshots))])
        learner, opponent = (actor(model, self.game.encoder, self.device) for model in (self.model, self.past))
        (first, first_decisions), (second, second_decisions) = (
            selfplay.play(
                *(self.game, boards, options.seed, learner, opponent),
                np.full(len(boards), side),
                2 * iteration + side,
            )
            for side in (NORTH_SOUTH, EAST_WEST)
        )
        return selfplay.paired(first_decisions, second_decisions, first["points"][:, 0], second["points"][:, 0])

    def learn(self, batch: Batch, falling: float) -> Metrics:
        """One step of either network, at learning rates times ``falling``; torch scalars."""
        observation = unpacked(batch.observation, self.game.encoder.layout.size)
        estimate = network.forward(self.model.enn, observation)
        chances = log_softmax(network.forward(self.model, observation, estimate), unpacked(batch.legal, NUM_CALLS))
        gain = (batch.outcome * chances.gather(1, batch.call[:, None])[:, 0]).mean()
        estimation = estimation_loss(estimate, observation, batch.partner)
        descend(self.adams["pnn_adam"], -gain, self.options.learning_rate * falling)
        descend(self.adams["enn_adam"], estimation, self.options.enn_learning_rate * falling)
        entropy = -(chances.exp() * chances).sum(1).mean()
        return {"entropy": entropy.detach(), "cross_entropy": estimation.detach()}


# ---- the run of all three ----------------------------------------------------------------


def compose(
    choose: Choose,
    out: Path,
    data: Path,
    enn_width: int,
    pnn_width: int,
    deals: Files,
    enn: Names,
    pnn: Names,
    every: int,
    boards: int,
    against: Names,
    device: str,
) -> Iterator[Stage]:
    """Three stages, each from the weights of the one before; ``every``: measurements of each."""
    against = against or ["sl"]
    refuse_held_out(*against)
    widths = Widths(enn_width, pnn_width)
    first = choose(trainer.Options, texts=enn, architecture=widths.enn)
    second = choose(trainer.Options, texts=pnn, architecture=widths)
    third = choose(Options)
    training, validation, provenance = positions(data)
    estimation = Estimation(training, validation, first, device=device)
    yield Stage(estimation, provenance, folder="enn", every=max(1, first.steps // every))
    enn_network: Network = network.load_weights(out / "enn" / "network.safetensors")[0]
    policy = Imitation(training, validation, second, enn_network, device)
    yield Stage(policy, provenance, folder="pnn", every=max(1, second.steps // every))
    start = network.load_weights(out / "pnn" / "network.safetensors", Networks)[0]
    training_deals, of_deals = training_set(deals)
    game = Bridge(False, observation=OBSERVATION, deals=training_deals)
    provenance = {**provenance, **of_deals, "start": "pnn", "measured_against": names(against)}
    both = Trainer(start, game, third, device)
    yield Stage(both, provenance, match(against, boards), "self-play", max(1, third.iterations // every))

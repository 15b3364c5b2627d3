"""Fitting a network to recorded positions: what supervised policy and belief have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bidzoo.agents.bridge import network, weights
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.options import Checked, Count, Seed, Weight, Whole
from bidzoo.kernels import F32, I64
from bidzoo.streams import Streams

Report = Callable[[int, dict[str, float]], None]
D = TypeVar("D", bound=Sized)  # what is learned from, numbered from 0


@dataclass(frozen=True)
class Kind:
    """What is fitted: of an architecture, the torch module and the network that runs without torch."""

    module: Callable[[Any, int], Any]  # architecture, seed
    network: Callable[[Any, dict[str, F32]], Any]  # architecture, tensors
    form: str  # of the weight file


def _module(architecture: network.Architecture, seed: int) -> Any:
    return network.module(architecture, seed, last_scale=0.1)


LAYERS = Kind(_module, network.Network, weights.FORMAT)


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the data."""

    architecture: Any  # a dataclass
    steps: Count = 18_000
    batch: Count = 1024
    learning_rate: Weight = 1e-3  # falls linearly to 0
    warm_up: Whole = 200  # steps
    weight_decay: Weight = 0.0  # a step and unit of learning rate (Loshchilov and Hutter 2019, AdamW)
    seed: Seed = 0

    def rate(self, step: int) -> float:
        """Learning rate of a step."""
        return self.learning_rate * min(1.0, (step + 1) / max(1, self.warm_up)) * (1 - step / self.steps)


def draw(seed: int, step: int, batch: int, count: int) -> I64:
    """Positions of one step: ``batch`` numbers below ``count``, a function of seed and step alone."""
    rows = np.arange(batch, dtype=np.int64)
    return np.asarray(Streams.at(seed, rows, step).random(1)[:, 0] * count, np.int64)


def mean(values: Sequence[Any]) -> float:
    """Of torch scalars. Brought to the processor at once: asked for one by one, each would wait for the device."""
    import torch

    return float(np.mean(torch.stack(list(values)).cpu().numpy().astype(np.float64)))


def means(steps: Sequence[dict[str, Any]]) -> dict[str, float]:
    """``mean`` of every figure of minibatches."""
    return {name: mean([step[name] for step in steps]) for name in steps[0]}


def fit(
    algorithm: str,
    options: Options,
    positions: D,
    loss: Callable[[Any, D, I64], Any],
    measure: Callable[[Any], dict[str, float]],
    out: str | Path,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    *,
    kind: Kind = LAYERS,
    start: Any = None,
    every: int = 1500,
    device: str = "cpu",
    threads: int = 1,
    stop: int | None = None,
) -> Any:
    """Fit with AdamW to the end (or to step ``stop``) from where folder ``out`` stands.

    ``out`` gets the checkpoint, the curves and ``network.safetensors``.

    Args:
        algorithm: its name, checked when a run goes on.
        options: of the run.
        positions: to learn from; each step draws some, uniformly with replacement.
        loss: of (torch model, positions, their numbers), a torch scalar.
        measure: figures of the network, on other positions.
        out: folder.
        provenance: stored with the weights, beside options and figures.
        report: called with the step and the figures of each measurement.
        kind: of network.
        start: network to begin with, of the same architecture; None: random ones.
        every: steps between measurements and checkpoints.
        device: of torch.
        threads: of torch on the CPU; the same seed gives the same bytes with 1.
        stop: leave after this step, as if interrupted.
    """
    import torch

    run = Run(out, algorithm, asdict(options))
    with torch_threads(threads):
        model = kind.module(options.architecture, options.seed)
        if start:
            if start.architecture != options.architecture:
                raise ValueError(f"start is {start.architecture}, expected {options.architecture}")
            network.load_arrays(model, start.tensors)
        model.to(device)
        adam = torch.optim.AdamW(
            model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
        )
        done, _ = run.restore({"network": model, "adam": adam})
        losses: list[Any] = []
        for step in range(done, min(options.steps, stop or options.steps)):
            for group in adam.param_groups:
                group["lr"] = options.rate(step)
            value = loss(model, positions, draw(options.seed, step, options.batch, len(positions)))
            adam.zero_grad(set_to_none=True)
            value.backward()
            adam.step()
            losses.append(value.detach())
            if (step + 1) % every == 0 or step + 1 == options.steps:
                player = kind.network(options.architecture, network.arrays(model))
                row = {"step": step + 1.0, "train_loss": mean(losses), **measure(player)}
                losses.clear()
                run.rows.append(row)
                run.save(step + 1, {"network": model, "adam": adam})
                about = {**(provenance or {}), "algorithm": algorithm, "options": asdict(options), "measured": row}
                weights.save(run.path / "network.safetensors", options.architecture, player.tensors, about, kind.form)
                if report:
                    report(step + 1, row)
        return kind.network(options.architecture, network.arrays(model))

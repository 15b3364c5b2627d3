"""Runs of training: what every trainer of bridge networks has, one loop around them, and the files of a run.

A ``Trainer`` is one algorithm in the middle of a run, ``Fit`` those that learn from recorded positions. ``train`` goes
on from where a folder stands and keeps there

- ``checkpoint.safetensors``: weights, optimiser moments and buffers, with step, options and curves as metadata. It is
  replaced whole, so a run that is stopped at any moment goes on from it, and gives the bytes of one that was not;
- ``network.safetensors``: the network last measured; ``best.safetensors``: the best one by ``imps``;
- ``curves.csv``: a row a measurement.
"""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.network import Architecture, Network, Weights, save_weights
from bidzoo.core.kernels import I64
from bidzoo.core.options import Checked, Count, Seed, Weight, Whole
from bidzoo.core.storage import replace_file
from bidzoo.core.streams import Streams

Arrays = Mapping[str, NDArray[Any]]
Figures = dict[str, Any]  # numbers, or torch scalars that are not waited for


@dataclass(frozen=True)
class Run:
    """How a run of training is carried out; what is learned depends on none of it but ``threads``."""

    out: str | Path  # folder of checkpoint, curves and weights
    every: int = 10  # iterations between measurements and checkpoints
    threads: int = 1  # of torch on the CPU; the same seed gives the same bytes with 1
    stop: int | None = None  # leave after this iteration, as if interrupted
    provenance: Mapping[str, Any] = field(default_factory=dict)  # stored with the weights, beside options and figures
    report: Callable[[int, dict[str, float]], None] | None = None  # called with iteration and figures of a measurement
    measure: Callable[[Any], dict[str, float]] | None = None  # figures of a network; ``imps`` decides which is kept


class Trainer(ABC):
    """One algorithm in the middle of a run."""

    algorithm: str  # its name, checked when a run goes on
    unit = "iteration"  # first column of the curves
    games = 0  # played so far
    modules: dict[str, Any]  # torch modules and optimisers, for the checkpoint
    architecture: Architecture  # of the policy
    average: Any  # its averaged weights, a torch module

    def __init__(self, options: Any, end: int, device: str) -> None:
        """``end``: iterations of the whole run."""
        self.options, self.end, self.device = options, end, device

    @property
    def about(self) -> dict[str, Any]:
        """What weight files say of the run."""
        return {"algorithm": self.algorithm, **asdict(self.options)}

    @abstractmethod
    def iterate(self, iteration: int) -> Figures:
        """Play and learn once; figures of the iteration."""

    def player(self) -> Weights:
        """The network as it would play now: the averaged policy."""
        return network.network_of(self.architecture, self.average)

    def measure(self, player: Any) -> dict[str, float]:
        """Figures of ``player`` beside those of the run."""
        return {}

    def arrays(self) -> Arrays:
        """What a checkpoint needs beside ``modules`` and ``games``."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        assert not arrays, f"{self.algorithm} keeps no arrays"

    def tensor(self, array: NDArray[Any]) -> Any:
        """``array`` in torch, on the device."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def train(trainer: Trainer, run: Run) -> Any:
    """Train to the end (or to iteration ``run.stop``) from where the folder stands; the last network."""
    checkpoint = Checkpoint(run.out, trainer.algorithm, asdict(trainer.options))
    with torch_threads(run.threads):
        done, held = checkpoint.restore(trainer.modules)
        if held:
            trainer.games = int(held.pop("games")[0])
            trainer.restore(held)
        seen: list[Figures] = []
        for iteration in range(done, min(trainer.end, run.stop or trainer.end)):
            seen.append(trainer.iterate(iteration))
            step = iteration + 1
            if step % run.every and step != trainer.end:
                continue
            player = trainer.player()
            row = {trainer.unit: float(step), **({"games": float(trainer.games)} if trainer.games else {})}
            row |= {**means(seen), **trainer.measure(player), **(run.measure(player) if run.measure else {})}
            seen.clear()
            best = max((earlier.get("imps", -np.inf) for earlier in checkpoint.rows), default=-np.inf)
            checkpoint.rows.append(row)
            checkpoint.save(step, trainer.modules, {**trainer.arrays(), "games": np.array([trainer.games])})
            about = {**run.provenance, **trainer.about, "measured": row}
            for name in ["network", *["best"] * (row.get("imps", -np.inf) > best)]:
                save_weights(Path(run.out, f"{name}.safetensors"), player, about)
            if run.report:
                run.report(step, row)
        return trainer.player()


def means(rows: Sequence[Figures]) -> dict[str, float]:
    """The mean of each figure that the last of ``rows`` has, over those that have it."""
    return {name: _mean([row[name] for row in rows if name in row]) for name in rows[-1]}


def _mean(values: list[Any]) -> float:
    """Of numbers, or of torch scalars, all fetched at once: asked one by one, each would wait for the device."""
    if not isinstance(values[0], float):
        import torch

        values = torch.stack(values).cpu().numpy().astype(np.float64)
    return float(np.mean(values))


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Torch on ``count`` CPU threads; with 1, results depend on nothing but the seed."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---- from recorded positions -------------------------------------------------------------


@dataclass(frozen=True)
class Options(Checked):
    """What a fit depends on, beside the data."""

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


class Fit(Trainer):
    """A network fitted with AdamW; each step draws positions to learn from, uniformly with replacement."""

    unit = "step"
    kind: type[Weights] = Network

    def __init__(self, learn: Any, check: Any, options: Options, start: Weights | None = None, device: str = "cpu"):
        """Args:
        learn: positions to learn from, numbered from 0.
        check: others, to measure on.
        options: of the fit.
        start: network to begin with, of the same architecture; None: random weights.
        device: of torch.
        """
        import torch

        super().__init__(options, options.steps, device)
        self.learn, self.check = learn, check
        self.model = self.module()
        if start:
            if start.architecture != options.architecture:
                raise ValueError(f"start is {start.architecture}, expected {options.architecture}")
            network.load_arrays(self.model, start.tensors)
        self.model.to(device)
        self.adam = torch.optim.AdamW(
            self.model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
        )
        self.modules = {"network": self.model, "adam": self.adam}

    @property
    def about(self) -> dict[str, Any]:
        """What weight files say of the fit."""
        return {"algorithm": self.algorithm, "options": asdict(self.options)}

    def module(self) -> Any:
        """The torch module, with random weights."""
        return network.module(self.options.architecture, self.options.seed, last_scale=0.1)

    @abstractmethod
    def loss(self, numbers: I64) -> Any:
        """Of the model at positions ``numbers`` of ``learn``, a torch scalar."""

    def iterate(self, iteration: int) -> Figures:
        """One step."""
        options = self.options
        for group in self.adam.param_groups:
            group["lr"] = options.rate(iteration)
        rows = np.arange(options.batch, dtype=np.int64)
        numbers = Streams.at(options.seed, rows, iteration).random(1)[:, 0] * len(self.learn)
        loss = self.loss(numbers.astype(np.int64))
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        return {"train_loss": loss.detach()}

    def player(self) -> Weights:
        """The network."""
        return self.kind(self.options.architecture, network.arrays(self.model))


# ---- on disk -----------------------------------------------------------------------------

LENGTHS = {"steps", "iterations", "syncs"}  # options that may change when a run goes on


class Checkpoint:
    """Where a training run in the folder ``path`` stands."""

    def __init__(self, path: str | Path, algorithm: str, options: Mapping[str, Any]) -> None:
        """``options``: JSON values; a checkpoint of other options (``LENGTHS`` apart) is not gone on from."""
        self.path, self.file = Path(path), Path(path, "checkpoint.safetensors")
        self.identity = json.loads(json.dumps({"algorithm": algorithm, **options}))
        self.rows: list[dict[str, float]] = []

    def save(self, step: int, modules: Mapping[str, Any], arrays: Arrays) -> None:
        """Torch modules and optimisers by name, further arrays, and the curves so far."""
        import torch
        from safetensors.torch import save

        tensors = {f"array/{name}": torch.from_numpy(np.array(a)) for name, a in arrays.items()}
        for name, part in modules.items():
            state = part.state_dict()
            if isinstance(part, torch.optim.Optimizer):
                state = {f"{n}/{key}": tensor for n, of in state["state"].items() for key, tensor in of.items()}
            tensors.update({f"{name}/{key}": tensor.detach().cpu().clone() for key, tensor in state.items()})
        metadata = {"step": step, "identity": self.identity, "rows": self.rows}
        replace_file(self.file, save(tensors, {"state": json.dumps(metadata)}))
        self._write_curves()

    def restore(self, modules: Mapping[str, Any]) -> tuple[int, dict[str, NDArray[Any]]]:
        """Step and further arrays of the last checkpoint, the modules filled; (0, {}) if there is none.

        Raises:
            ValueError: the file is no checkpoint, or one of another algorithm or other options.
        """
        import torch
        from safetensors import SafetensorError, safe_open

        if not self.file.exists():
            return 0, {}
        try:
            with safe_open(self.file, framework="pt") as file:
                state = json.loads((file.metadata() or {}).get("state", "null"))
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as problem:
            raise ValueError(f"{self.file}: not a checkpoint, or a truncated one ({problem})") from problem
        self._check(state)
        for name, part in modules.items():
            own = {k.removeprefix(f"{name}/"): v for k, v in tensors.items() if k.startswith(f"{name}/")}
            if isinstance(part, torch.optim.Optimizer):
                moments: dict[int, dict[str, Any]] = {}
                for place, tensor in own.items():
                    number, key = place.split("/")
                    moments.setdefault(int(number), {})[key] = tensor
                own = {**part.state_dict(), "state": moments}
            part.load_state_dict(own)
        self.rows = state["rows"]
        arrays = {k.removeprefix("array/"): v.numpy() for k, v in tensors.items() if k.startswith("array/")}
        return int(state["step"]), arrays

    def _check(self, state: Any) -> None:
        if not isinstance(state, dict) or state.keys() != {"step", "identity", "rows"}:
            raise ValueError(f"{self.file}: not a checkpoint of a bidzoo training run")
        for key in sorted((state["identity"].keys() | self.identity.keys()) - LENGTHS):
            before, now = state["identity"].get(key), self.identity.get(key)
            if before != now:
                raise ValueError(f"{self.file}: {key} was {before!r} and is now {now!r}; choose another folder")

    def _write_curves(self) -> None:
        """``curves.csv``: columns in order of appearance."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" for k, v in row.items()} for row in self.rows)
        replace_file(self.path / "curves.csv", text.getvalue().encode())


def draw_curves(path: str | Path) -> Path:
    """``curves.png`` beside ``curves.csv`` (``path``): every column against the first; needs matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{path}: no rows; expected a header and one row a measurement")
    x, *names = rows[0]
    names = [name for name in names if not name.endswith("_error") or name.removesuffix("_error") not in names]
    figure = Figure(figsize=(5, 1 + 1.8 * len(names)), layout="constrained")
    for axis, name in zip(np.atleast_1d(np.asarray(figure.subplots(len(names), sharex=True))), names):
        points = [(float(row[x]), float(row[name]), float(row.get(f"{name}_error") or 0)) for row in rows if row[name]]
        axis.errorbar(*zip(*points), marker=".", linewidth=1)
        axis.set_ylabel(name)
        axis.grid(alpha=0.3)
    axis.set_xlabel(x)
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    out = path.with_suffix(".png")
    replace_file(out, content.getvalue())
    return out

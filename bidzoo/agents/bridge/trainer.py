"""Runs of training: what every trainer of bridge networks has, one loop around them, and the files of a run.

A ``Trainer`` is one algorithm in the middle of a run, ``Fit`` those that learn from recorded positions. ``train`` goes
on from where a folder stands and keeps there

- ``checkpoint.safetensors``: weights, optimiser moments, buffers and the other files, with step, options, digests of
  the inputs and curves as metadata. It is written at every measurement and each minute between two, and replaced
  whole, so a run that is stopped at any moment goes on from it, and gives the bytes of one that was not;
- ``network.safetensors``: the network last measured; ``best.safetensors``: the best one by ``imps``;
- ``curves.csv``: a row a measurement.

A run is its algorithm, its options and its inputs: it does not go on with others.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge import distributed, network
from bidzoo.agents.bridge.network import Network, Weights, weight_file
from bidzoo.core.arrays import CHECKPOINT, Arrays, digest, load_tensors, within
from bidzoo.core.kernels import I64
from bidzoo.core.options import Checked, Count, NotFinite, Seed, Weight, Whole
from bidzoo.core.schema import csv_rows, json_text, json_value, parse, shortened, shown
from bidzoo.core.storage import Closing, Lock, replace_file, sweep
from bidzoo.core.streams import Streams

Metrics = dict[str, Any]  # numbers, or torch scalars that are not waited for


@dataclass(frozen=True)
class Run:
    """How a run of training is carried out; what is learned depends on none of it but ``threads``."""

    out: str | Path  # folder of checkpoint, curves and weights
    every: int = 10  # iterations between measurements, each of which is followed by a checkpoint
    seconds: float = 60.0  # between checkpoints when measurements are further apart
    threads: int = 1  # of torch on the CPU; the same seed gives the same bytes with 1
    stop: int | None = None  # leave after this iteration, as if interrupted
    inputs: Mapping[str, str] = field(default_factory=dict)  # digests of what ``measure`` asks beside the network
    provenance: Mapping[str, Any] = field(default_factory=dict)  # stored with the weights, beside options and metrics
    report: Callable[[int, dict[str, float]], None] | None = None  # called with iteration and metrics of a measurement
    measure: Callable[[Any], dict[str, float]] | None = None  # metrics of a network; ``imps`` decides which is kept
    tick: Callable[[int], None] = lambda step: None  # called with every iteration that is done


class Trainer(ABC):
    """One algorithm in the middle of a run."""

    algorithm: str  # its name, checked when a run goes on
    unit = "iteration"  # first column of the curves
    games = 0  # played so far
    local_steps = 1  # of each process between averages of what is learned; in between, a checkpoint would lose some
    inputs: dict[str, str]  # digests of all that is learned from: a run that goes on must have the same
    modules: dict[str, Any]  # torch modules and optimisers, for the checkpoint
    kind: type[Weights] = Network  # class of the network that plays
    architecture: Any  # of that network
    average: Any  # its torch module, of averaged weights

    def __init__(self, options: Any, end: int, device: str) -> None:
        """``end``: iterations of the whole run."""
        self.options, self.end, self.device = options, end, device

    @property
    def provenance(self) -> dict[str, Any]:
        """Provenance of the weights, stored in their files."""
        return {"algorithm": self.algorithm, **asdict(self.options)}

    @abstractmethod
    def iterate(self, iteration: int) -> Metrics:
        """Play and learn once; metrics of the iteration."""

    def player(self) -> Weights:
        """The network as it would play now."""
        return self.kind(self.architecture, network.arrays(self.average))

    def measure(self, player: Any) -> dict[str, float]:
        """Metrics of ``player`` beside those of the run."""
        return {}

    def arrays(self) -> Arrays:
        """Arrays that a checkpoint needs beside ``modules`` and ``games``."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Restore what ``arrays`` returned."""
        assert not arrays, f"{self.algorithm} keeps no arrays"

    def tensor(self, array: NDArray[Any]) -> Any:
        """``array`` in torch, on the device."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def falling(self, iteration: int) -> float:
        """1 at the beginning of the run, falling linearly to a tenth."""
        return 1 - 0.9 * iteration / self.end

    def batch(self, **columns: NDArray[Any]) -> Batch:
        """``columns`` in torch, on the device."""
        return Batch({name: self.tensor(column) for name, column in columns.items()})

    def shuffled(self, n: int, size: int, stream: int) -> Any:
        """Rows 0 ... ``n`` - 1 in the order of the random numbers of ``stream``: torch tensors of ``size``."""
        keys = Streams.at(self.options.seed, np.arange(n), stream).random(1)[:, 0]
        return self.tensor(np.argsort(keys, kind="stable")).split(size)


class Batch(NamedTuple):
    """Decisions to learn from: columns ``[n, ...]`` by name, torch tensors."""

    columns: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.columns[name]

    @property
    def size(self) -> int:
        """How many decisions there are."""
        return len(next(iter(self.columns.values())))

    def at(self, rows: Any) -> Batch:
        """The decisions ``rows``."""
        return Batch({name: column[rows] for name, column in self.columns.items()})


def descend(optimiser: Any, loss: Any, rate: float, clip: float = math.inf) -> None:
    """One step of a torch ``optimiser`` on ``loss`` at learning rate ``rate``; gradients of norm ``clip`` at most."""
    import torch

    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    for group in optimiser.param_groups:
        group["lr"] = rate
        if clip < math.inf:
            torch.nn.utils.clip_grad_norm_(group["params"], clip)
    optimiser.step()


def train(trainer: Trainer, run: Run) -> Any:
    """Train on from the folder's checkpoint to the end or to iteration ``run.stop``; the last network.

    Raises:
        ValueError: the folder holds another run, or another process trains there; ``run.every`` is no multiple of
            the trainer's ``local_steps``; a weight is not finite at a checkpoint, of which nothing is written.
    """
    if run.every % trainer.local_steps:
        raise ValueError(f"every {run.every}: expected a multiple of local_steps, {trainer.local_steps}")
    inputs = {**trainer.inputs, **run.inputs}
    with (
        torch_threads(run.threads),
        Checkpoint(run.out, trainer.algorithm, asdict(trainer.options), inputs) as checkpoint,
    ):
        start = checkpoint.restore(trainer)
        metrics = checkpoint.metrics
        for iteration in range(start, min(trainer.end, run.stop or trainer.end)):
            metrics.append(trainer.iterate(iteration))
            run.tick(step := iteration + 1)
            if not checkpoint.first:
                metrics.clear()
                continue
            measured = step % run.every == 0 or step == trainer.end
            if not measured and (step % trainer.local_steps or not checkpoint.is_due(run.seconds)):
                continue
            player = trainer.player()
            _check_finite(player, f"{trainer.unit} {step}")
            if not measured:
                checkpoint.save(step, trainer)
                continue
            row = {trainer.unit: float(step), **({"games": float(trainer.games)} if trainer.games else {})}
            row |= {**means(metrics), **trainer.measure(player), **(run.measure(player) if run.measure else {})}
            metrics.clear()
            best = max((previous.get("imps", -np.inf) for previous in checkpoint.rows), default=-np.inf)
            content = weight_file(player, {**run.provenance, **trainer.provenance, "inputs": inputs, "measured": row})
            for name in NETWORKS[: 1 + (row.get("imps", -np.inf) > best)]:
                checkpoint.networks[name] = content
            checkpoint.rows.append(row)
            checkpoint.save(step, trainer)
            if run.report:
                run.report(step, row)
        return trainer.player()


def _check_finite(player: Weights, when: str) -> None:
    """ValueError, which begins with ``when``, unless every weight is finite, as its file in half precision has it."""
    for name, array in player.tensors.items():
        if not (np.abs(array) <= np.finfo(np.float16).max).all():
            raise ValueError(
                f"{when}: {name} is not finite in half precision: the training diverged (a lower learning rate may "
                "help); nothing of it is written, an earlier checkpoint is kept"
            )


def means(rows: Sequence[Metrics]) -> dict[str, float]:
    """The mean of each metric that the last of ``rows`` has, over those that have it."""
    numbers = _numbers(rows)
    return {name: float(np.mean([row[name] for row in numbers if name in row])) for name in numbers[-1]}


def _numbers(rows: Sequence[Metrics]) -> list[dict[str, float]]:
    """``rows`` without torch scalars.

    Those of a name are fetched at once: asked one by one, each would wait for the device.
    """
    import torch

    numbers = [dict(row) for row in rows]
    for name in {name for row in rows for name in row}:
        waiting = [row for row in numbers if isinstance(row.get(name), torch.Tensor)]
        if waiting:
            for row, value in zip(waiting, torch.stack([row[name] for row in waiting]).cpu().double().tolist()):
                row[name] = value
    return numbers


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Torch on ``count`` CPU threads; with 1, results depend on nothing but the seed."""
    import torch

    previous = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(previous)


def numbered(snapshots: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """The arrays of all ``snapshots`` of a network, as ``Trainer.arrays`` keeps them."""
    return {f"{n}/{name}": array for n, snapshot in enumerate(snapshots) for name, array in snapshot.items()}


def in_order(arrays: Arrays) -> list[dict[str, Any]]:
    """The snapshots that ``numbered`` put together."""
    numbers = sorted({int(key.split("/")[0]) for key in arrays})
    return [dict(within(arrays, f"{n}/")) for n in numbers]


# ---- from recorded positions -------------------------------------------------------------


@dataclass(frozen=True)
class Options(Checked):
    """What a fit depends on, beside the data."""

    architecture: Any  # a dataclass
    steps: Count = 18_000  # length of the run
    batch: Count = 1024  # positions of a step
    learning_rate: Weight = 1e-3  # falls linearly to 0
    warm_up: Whole = 200  # steps
    weight_decay: Weight = 0.0  # a step and unit of learning rate (Loshchilov and Hutter 2019, AdamW)
    local_steps: Count = 1  # of each process; then weights and moments are averaged. 1: gradients are, in every step
    seed: Seed = 0  # of weights and positions

    def rate(self, step: int) -> float:
        """Learning rate of a step."""
        return self.learning_rate * min(1.0, (step + 1) / max(1, self.warm_up)) * (1 - step / self.steps)


class Fit(Trainer):
    """A network fitted with AdamW; each step samples positions, uniformly with replacement."""

    unit = "step"

    def __init__(self, learn: Any, check: Any, options: Options, start: Weights | None = None, device: str = "cpu"):
        """Args:
        learn: positions to learn from, numbered from 0; their ``digest`` tells them from others.
        check: validation positions.
        options: of the fit.
        start: network to begin with, of the same architecture; None: random weights.
        device: of torch.
        """
        import torch

        super().__init__(options, options.steps, device)
        self.learn, self.check = learn, check
        self.inputs = {"positions": learn.digest, "validation positions": check.digest}
        self.inputs["start"] = start.digest if start else "nothing"
        self.architecture, self.model = options.architecture, self.module()
        if start:
            if start.architecture != options.architecture:
                raise ValueError(f"start is {start.architecture}, expected {options.architecture}")
            self.load(start)
        self.average = self.model.to(device)  # nothing is averaged
        if options.batch % distributed.world().size:
            raise ValueError(f"batch {options.batch}: expected a multiple of {distributed.world().size} processes")
        if distributed.world().size > 1:
            self.local_steps = options.local_steps
        self.learner = distributed.replicated(self.model) if self.local_steps == 1 else self.model
        self.adam = torch.optim.AdamW(
            self.model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
        )
        self.modules = {"network": self.model, "adam": self.adam}

    @property
    def provenance(self) -> dict[str, Any]:
        return {"algorithm": self.algorithm, "options": asdict(self.options)}

    def module(self) -> Any:
        """The torch module, with random weights."""
        return network.module(self.options.architecture, self.options.seed, last_scale=0.1)

    def load(self, start: Any) -> None:
        """Put the weights of ``start`` into the model."""
        network.load_arrays(self.model, start.tensors)

    @abstractmethod
    def loss(self, numbers: I64) -> Any:
        """Loss of ``learner``, the model to learn with, at positions ``numbers`` of ``learn``: a torch scalar."""

    def iterate(self, iteration: int) -> Metrics:
        """One step."""
        options = self.options
        rows = np.arange(options.batch, dtype=np.int64)
        numbers = Streams.at(options.seed, rows, iteration).random(1)[:, 0] * len(self.learn)
        loss = self.loss(distributed.world().share(numbers.astype(np.int64)))
        descend(self.adam, loss, options.rate(iteration))
        if self.local_steps > 1 and ((iteration + 1) % self.local_steps == 0 or iteration + 1 == self.end):
            moments = [state[name] for state in self.adam.state.values() for name in ("exp_avg", "exp_avg_sq")]
            distributed.average([*self.model.parameters(), *moments])  # local SGD: Stich 2019
        return {"train_loss": loss.detach()}


# ---- on disk -----------------------------------------------------------------------------

NETWORKS = "network", "best"  # files of weights beside a checkpoint: the last one measured, the best one
LENGTHS = {"steps", "iterations", "syncs", "passes"}  # options that may change when a run goes on
INPUT_OPTIONS = {  # options of ``bidzoo train`` that give inputs of other names in checkpoints
    "opponent": "--against",
    "boards of the match": "--boards",
}
_STATE = {  # metadata of a checkpoint
    "step": Whole,
    "identity": dict[str, Any],  # algorithm and options
    "inputs": dict[str, str],  # digests
    "rows": list[dict[str, float | NotFinite]],
    "metrics": list[dict[str, float | NotFinite]],
    "digest": str,  # of the tensors
}


class Checkpoint(Closing):
    """The state of a training run in the folder ``path``; no other run works there until it is closed."""

    def __init__(self, path: str | Path, algorithm: str, options: Mapping[str, Any], inputs: Mapping[str, str]) -> None:
        """Lock the folder ``path``; ValueError if another process trains there.

        ``restore`` refuses a checkpoint of other ``inputs`` (digests), or of other ``options`` (``LENGTHS`` apart).
        """
        self.path, self.file = Path(path), Path(path, CHECKPOINT)
        self.identity = json.loads(json_text({"algorithm": algorithm, **options}))
        self.inputs = dict(inputs)
        self.rows: list[dict[str, float]] = []  # one a measurement
        self.metrics: list[Metrics] = []  # of the iterations since the last one
        self.networks: dict[str, bytes] = {}  # files of weights, by name
        self.first = distributed.world().rank == 0  # of the processes: the one that writes
        self._saved, self._saving = time.monotonic(), 0.0  # when it was last written, and how many seconds that took
        if self.first:
            self._lock = Lock(self.file)
            sweep(self.file)

    def close(self) -> None:
        if self.first:
            self._lock.release()

    def is_due(self, seconds: float) -> bool:
        """Whether the last checkpoint is ``seconds`` old, or older if writing it took more than a twentieth of that."""
        return time.monotonic() - self._saved >= max(seconds, 20 * self._saving)

    def save(self, step: int, trainer: Trainer) -> None:
        """Write the state of ``trainer`` and the curves so far, then the files that are made from them."""
        import torch
        from safetensors.torch import save

        began = time.monotonic()
        self.metrics[:] = _numbers(self.metrics)
        arrays = {**trainer.arrays(), "games": np.array([trainer.games])}
        tensors = {f"array/{name}": torch.from_numpy(np.array(a)) for name, a in arrays.items()}
        for name, content in self.networks.items():
            tensors[f"file/{name}"] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        for name, part in trainer.modules.items():
            state = part.state_dict()
            if isinstance(part, torch.optim.Optimizer):
                state = {
                    f"{n}/{key}": tensor for n, moments in state["state"].items() for key, tensor in moments.items()
                }
            tensors.update({f"{name}/{key}": tensor.detach().cpu().clone() for key, tensor in state.items()})
        metadata = {"step": step, "identity": self.identity, "inputs": self.inputs}
        metadata |= {"rows": self.rows, "metrics": self.metrics}
        metadata["digest"] = digest({name: tensor.numpy() for name, tensor in tensors.items()})
        replace_file(self.file, save(tensors, {"state": json_text(metadata)}))
        self._write_files()
        self._saved = time.monotonic()
        self._saving = self._saved - began

    def restore(self, trainer: Trainer) -> int:
        """Put ``trainer`` where the last checkpoint was, and write its files again; its step, 0 if there is none.

        Raises:
            ValueError: the file is no checkpoint, or one of another algorithm, other options or other inputs.
        """
        if not self.first:
            distributed.wait()  # until the first process has restored
        step = self._restore(trainer) if self.file.exists() else 0
        if self.first:
            distributed.wait()
        return step

    def _restore(self, trainer: Trainer) -> int:
        state: dict[str, Any] = {}
        tensors = load_tensors(self.file, "a checkpoint", lambda metadata: state.update(self._state(metadata)))
        if (actual := digest(tensors)) != state["digest"]:
            raise ValueError(
                f"{self.file}: tensors of digest {actual}, expected {state['digest']}: the file is damaged"
            )
        arrays = within(tensors, "array/")
        try:
            for name, part in trainer.modules.items():
                _load(part, within(tensors, f"{name}/"))
            trainer.games = int(arrays.pop("games")[0])
            trainer.restore(arrays)
        except (LookupError, RuntimeError, ValueError) as problem:
            raise ValueError(f"{self.file}: not the state of this algorithm ({shortened(problem)})") from problem
        self.rows, self.metrics = state["rows"], state["metrics"]
        networks = within(tensors, "file/")
        for name in networks.keys() - set(NETWORKS):  # they become names of files
            raise ValueError(f"{self.file}: weights {shown(name)}, expected {' or '.join(NETWORKS)}")
        self.networks = {name: networks[name].tobytes() for name in NETWORKS if name in networks}
        if self.first:
            self._write_files()
        return int(state["step"])

    def _state(self, metadata: Mapping[str, str]) -> dict[str, Any]:
        """The checked metadata."""
        if "state" not in metadata:
            raise ValueError(f"{self.file}: not a checkpoint of a bidzoo training run")
        where = f"{self.file}: metadata"
        state = json_value(metadata["state"], where)
        fields: dict[str, Any] = parse(_STATE, state, where)
        for kind, old, new in (("", fields["identity"], self.identity), ("input ", fields["inputs"], self.inputs)):
            for key in sorted((old.keys() | new.keys()) - LENGTHS):
                if old.get(key) != new.get(key):
                    option = f"{INPUT_OPTIONS[key]} is another: " if kind and key in INPUT_OPTIONS else ""
                    raise ValueError(
                        f"{self.file}: {option}{kind}{key} was {shown(old.get(key))} "
                        f"and is now {shown(new.get(key))}; choose another folder"
                    )
        return fields

    def _write_files(self) -> None:
        """Write the weights and curves that differ from the checkpoint's, once there is a measurement.

        Curves that another program has open on Windows are not worth the training: a line says so, and the next
        measurement writes them.
        """
        if not self.rows:
            return
        for name, content in self.networks.items():
            self._write_changed(self.path / f"{name}.safetensors", content)
        try:
            self._write_changed(self.path / "curves.csv", self._curves(), backup=False)
        except PermissionError as problem:
            print(f"bidzoo: {problem.filename}: {problem.strerror}", file=sys.stderr)

    def _write_changed(self, path: Path, content: bytes, backup: bool = True) -> None:
        if not path.exists() or path.read_bytes() != content:
            sweep(path)
            replace_file(path, content, backup)

    def _curves(self) -> bytes:
        """``curves.csv``: columns in order of appearance."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" for k, v in row.items()} for row in self.rows)
        return text.getvalue().encode()


def _load(part: Any, arrays: Arrays) -> None:
    """Fill a torch module or optimiser."""
    import torch

    state: dict[Any, Any] = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    if isinstance(part, torch.optim.Optimizer):
        moments: dict[int, dict[str, Any]] = {}
        for name, tensor in state.items():
            number, key = name.split("/")
            moments.setdefault(int(number), {})[key] = tensor
        state = {**part.state_dict(), "state": moments}
    part.load_state_dict(state)


def draw_curves(path: str | Path) -> Path:
    """``curves.png`` beside ``curves.csv`` (``path``): every column against the first; needs matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    rows = csv_rows(path)
    if not rows:
        raise ValueError(f"{path}: no rows; expected a header and one row a measurement")
    x, *names = rows[0]
    names = [name for name in names if not name.endswith("_error") or name.removesuffix("_error") not in names]
    height = 1 + 1.8 * len(names)  # inches
    figure = Figure(figsize=(5, height))
    # margins that matplotlib would take a second to find out
    figure.subplots_adjust(left=0.2, right=0.96, bottom=0.5 / height, top=1 - 0.1 / height)
    for axis, name in zip(np.atleast_1d(np.asarray(figure.subplots(len(names), sharex=True))), names):
        points = [(float(row[x]), float(row[name]), float(row.get(f"{name}_error") or 0)) for row in rows if row[name]]
        axis.errorbar(*zip(*points), marker=".", linewidth=1)
        axis.set_ylabel(name)
        axis.grid(alpha=0.3)
    axis.set_xlabel(x)
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    out = path.with_suffix(".png")
    sweep(out)
    replace_file(out, content.getvalue(), backup=False)
    return out

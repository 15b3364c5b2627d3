"""A training run on disk: one file to go on from, and the curves as CSV.

The checkpoint is a safetensors file (weights, optimiser moments, buffers) whose metadata hold the step, the options
and the curves. It is replaced whole, so a run that is stopped at any moment goes on from its last one, and gives the
same bytes as a run that was not stopped.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.envs.bridge.files.deal_file import replace_file

Row = dict[str, float]
LENGTHS = {"steps", "iterations", "syncs"}  # options that may change when a run goes on


class Run:
    """A training run in the folder ``path``."""

    def __init__(self, path: str | Path, algorithm: str, options: Mapping[str, Any]) -> None:
        """``options``: JSON values; a checkpoint of other options (``LENGTHS`` apart) is not gone on from."""
        self.path = Path(path)
        self.identity = json.loads(json.dumps({"algorithm": algorithm, **options}))
        self.rows: list[Row] = []

    @property
    def file(self) -> Path:
        """Where the checkpoint is."""
        return self.path / "checkpoint.safetensors"

    def save(self, step: int, modules: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Torch modules and optimisers by name, further arrays, and the curves so far."""
        import torch
        from safetensors.torch import save

        tensors = {f"array/{name}": torch.from_numpy(np.array(a)) for name, a in (arrays or {}).items()}
        for name, part in modules.items():
            if isinstance(part, torch.optim.Optimizer):
                tensors.update(_moments(name, part))
            else:
                tensors.update({f"{name}/{k}": v.detach().cpu().clone() for k, v in part.state_dict().items()})
        state = {"step": step, "identity": self.identity, "rows": self.rows}
        replace_file(self.file, save(tensors, {"state": json.dumps(state)}))
        self.write_curves()

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
                _restore_moments(part, own)
            else:
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

    def write_curves(self) -> None:
        """``curves.csv``: a row a measurement, columns in order of appearance."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" for k, v in row.items()} for row in self.rows)
        replace_file(self.path / "curves.csv", text.getvalue().encode())


def _moments(name: str, optimiser: Any) -> dict[str, Any]:
    found = {}
    for number, state in optimiser.state_dict()["state"].items():
        for key, tensor in state.items():
            found[f"{name}/{number}/{key}"] = tensor.detach().cpu().clone()
    return found


def _restore_moments(optimiser: Any, tensors: dict[str, Any]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for path, tensor in tensors.items():
        number, key = path.split("/")
        state.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


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

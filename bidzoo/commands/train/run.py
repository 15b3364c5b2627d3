"""What every run of training says: a line a measurement, its curves, and where its weights come from."""

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from bidzoo.envs.bridge.deals import DealSet


def report(out: Path) -> Callable[[int, dict[str, float]], None]:
    """One line a measurement, and the curves drawn again where matplotlib is installed."""
    begin, pictures = time.monotonic(), find_spec("matplotlib") is not None

    def tell(step: int, row: dict[str, float]) -> None:
        figures = "  ".join(f"{name} {value:.4g}" for name, value in list(row.items())[1:])
        typer.echo(f"{step:7d}  {time.monotonic() - begin:6.0f} s  {figures}")
        if pictures:
            from bidzoo.agents.bridge.curves import draw

            draw(out / "curves.csv")

    return tell


def provenance(known: dict[str, Any]) -> dict[str, Any]:
    """``known`` of the weights, with the command that made them."""
    import bidzoo
    from bidzoo.benchmarks.results import command

    return {**known, "command": command(), "version": bidzoo.__version__}


def training_deals(files: list[Path] | None) -> "tuple[DealSet, dict[str, str]]":
    """The packaged training deals and those of ``files``, and what the provenance says of them."""
    import numpy as np

    from bidzoo.envs.bridge.deals import DealSet, packaged

    names = ["packaged train split", *(path.name for path in files or [])]
    sets = [packaged("train"), *map(DealSet.load, files or [])]
    about = ", ".join(f"{len(found.hands)} of {name}" for name, found in zip(names, sets))
    hands, tricks = (np.concatenate(arrays) for arrays in zip(*sets))
    return DealSet.of(hands, tricks, about), {"deals": about}

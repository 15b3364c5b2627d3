"""Result tables: printed with rich, saved as JSON with command, seed and version, read back by the report."""

import json
import math
import os
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bidzoo import __version__
from bidzoo.core.storage import replace_file


class Estimate(NamedTuple):
    """A mean with its standard error over ``n`` independent samples, and the published figure if there is one."""

    mean: float
    error: float
    n: int
    paper: float | None = None

    @classmethod
    def of(cls, samples: Any, paper: float | None = None, group: Any = None) -> "Estimate":
        """From samples ``[n]``; the error of a single one is unknown and given as nan.

        ``group`` integers ``[n]``: samples of one group are not independent and count as one for the error.
        """
        values = np.asarray(samples, np.float64)
        sums = values - values.mean()
        if group is not None:
            sums = np.bincount(np.unique(group, return_inverse=True)[1], sums)
        groups = len(sums)
        error = np.sqrt(np.square(sums).sum() * groups / (groups - 1)) / len(values) if groups > 1 else float("nan")
        return cls(float(values.mean()), float(error), len(values), paper)

    @property
    def texts(self) -> tuple[str, str, str]:
        """Mean and error to two figures of the error, and the paper's figure; empty where there is none."""
        known = math.isfinite(self.error) and self.error > 0
        places = min(6, max(0, 1 - math.floor(math.log10(self.error)))) if known else 3
        paper = "" if self.paper is None else f"{self.paper:.4g}"
        return f"{self.mean:,.{places}f}", f"{self.error:,.{places}f}" if math.isfinite(self.error) else "", paper

    def __str__(self) -> str:
        mean, error, paper = self.texts
        return mean + (f" ± {error}" if error else "") + (f" (paper {paper})" if paper else "")


@dataclass(frozen=True)
class ResultTable:
    """Rows of named cells: text, numbers or ``Estimate``."""

    title: str
    columns: Sequence[str]
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    note: str = ""

    def add(self, *cells: Any) -> None:
        """One more row, a cell for each column."""
        self.rows.append(dict(zip(self.columns, cells, strict=True)))

    def numeric(self, column: str) -> bool:
        """Whether ``column`` holds any number."""
        return any(isinstance(row.get(column), int | float | Estimate) for row in self.rows)


@dataclass(frozen=True)
class Figure:
    """A picture as numbers; ``report`` draws it.

    ``line`` and ``bars``: ``series`` maps a name to values ``[X]`` over ``x``. ``heat``: to rows of values over ``x``,
    one name a row.
    """

    title: str
    kind: Literal["line", "bars", "heat"]
    x: Sequence[Any]
    series: Mapping[str, Sequence[float]]
    x_label: str = ""
    y_label: str = ""
    note: str = ""


Measured = tuple[list[ResultTable], list[Figure]]  # what the ``main`` of a suite gives
Report = Callable[[str, int, int], None]  # what is done, how many, of how many


def silent(what: str, done: int, total: int) -> None:
    """A ``Report`` to nobody."""


def text(value: Any) -> str:
    """A cell as text; an estimate shows its error and the paper's figure."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show(tables: Sequence[ResultTable]) -> None:
    """Print the tables with rich."""
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)  # a log or a pipe: wide enough for every table
    for table in tables:
        pretty = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
        for column in table.columns:
            pretty.add_column(column, justify="right" if table.numeric(column) else "left")
        for row in table.rows:
            pretty.add_row(*(text(row.get(column)) for column in table.columns))
        console.print(pretty)


def command() -> str:
    """This command line as it is published: files outside the working folder by their names alone."""
    return shlex.join(["bidzoo", *(Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:])])


def save(
    path: str | Path,
    suite: str,
    tables: Sequence[ResultTable],
    *,
    seed: int,
    seconds: float,
    figures: Sequence[Figure] = (),
) -> None:
    """Write a result file, whole or not at all."""
    document = {
        "suite": suite,
        "command": command(),
        "seed": seed,
        "version": __version__,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "seconds": round(seconds, 1),
        "tables": [{**vars(table), "columns": list(table.columns), "rows": _plain(table.rows)} for table in tables],
        "figures": [vars(figure) for figure in figures],
    }
    replace_file(Path(path), (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())


def _plain(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: x._asdict() if isinstance(x, Estimate) else x for name, x in row.items()} for row in rows]


def _estimates(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{name: Estimate(**x) if isinstance(x, dict) else x for name, x in row.items()} for row in rows]


def load(path: str | Path) -> dict[str, Any]:
    """A result file's document, with the file's ``name`` without its ending; ValueError if it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        tables = [ResultTable(**{**table, "rows": _estimates(table["rows"])}) for table in document["tables"]]
        figures = [Figure(**figure) for figure in document.get("figures", [])]
        for key in ("suite", "command", "seed", "version", "python", "machine", "seconds"):
            document[key]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as problem:
        raise ValueError(f"{path}: not a bidzoo result file ({problem})") from problem
    return {**document, "name": Path(path).stem, "tables": tables, "figures": figures}

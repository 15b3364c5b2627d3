"""Result tables: saved as JSON with command, seed and version, read back by the report."""

import math
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

from bidzoo import __version__
from bidzoo.core.options import NotFinite, Weight, Whole, literal
from bidzoo.core.schema import csv_rows, json_text, json_value, parse, shown
from bidzoo.core.storage import replace_file
from bidzoo.core.threads import cores
from bidzoo.envs.render import notebook

PUBLISHED = Path(__file__).parents[1] / "data" / "published"


def published(name: str) -> list[dict[str, Any]]:
    """The figures that papers print, of ``data/published/NAME.csv``: numbers as such, None where a cell is empty."""
    return [
        {column: literal(cell) if cell else None for column, cell in row.items()}
        for row in csv_rows(PUBLISHED / f"{name}.csv")
    ]


class Estimate(NamedTuple):
    """A mean with its standard error over ``n`` independent groups, and the published figure if there is one."""

    mean: float
    error: float
    n: int
    paper: float | None = None

    @classmethod
    def of(cls, samples: Any, paper: float | None = None, *, group: Any) -> "Estimate":
        """The mean of samples ``[k]``, and its error over the groups that are independent of each other.

        Args:
            samples: numbers ``[k]``, ``k`` at least 1.
            paper: the published figure.
            group: of each sample, integers ``[k]``. Where cards are dealt it is the deal: two tables of a board, the
                rounds of a Spades board, the calls of an auction and boards dealt from one deal of a set depend on
                each other (``Game.deal_numbers`` says which boards are). Where networks or solvers are trained it is
                the seed. The error of a single group is unknown and given as nan.
        """
        values = np.asarray(samples, np.float64)
        _, indices = np.unique(np.asarray(group), return_inverse=True)
        if indices.shape != values.shape:
            raise ValueError(f"group {indices.shape}: expected one of each sample, {values.shape}")
        sums = np.bincount(indices, values - values.mean())
        n = len(sums)
        error = np.sqrt(np.square(sums).sum() * n / (n - 1)) / len(values) if n > 1 else float("nan")
        return cls(float(values.mean()), float(error), n, paper)

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

    def __str__(self) -> str:
        """The title and the rows in one line: ``"comm_v0(length=3): exact 1.000, random 0.125 ± 0.011"``."""
        rows = (" ".join(filter(None, (text(row.get(name)) for name in self.columns))) for row in self.rows)
        return f"{self.title}: {', '.join(rows)}"

    def numeric(self, column: str) -> bool:
        """Whether ``column`` holds any number."""
        return any(isinstance(row.get(column), int | float | Estimate) for row in self.rows)

    def _repr_html_(self) -> str:
        """The table as HTML, for notebooks."""
        align = {name: f'style="text-align: {"right" if self.numeric(name) else "left"}"' for name in self.columns}
        head = "".join(f"<th {style}>{escape(name)}</th>" for name, style in align.items())
        body = ""
        for row in self.rows:
            cells = (f"<td {style}>{escape(text(row.get(name)))}</td>" for name, style in align.items())
            body += f"\n<tr>{''.join(cells)}</tr>"
        title, note = (f"<p>{escape(words)}</p>" if words else "" for words in (self.title, self.note))
        return f"{title}\n<table>\n<tr>{head}</tr>{body}\n</table>\n{note}"


@dataclass(frozen=True)
class Figure:
    """A picture as numbers; ``report`` draws it.

    ``line`` and ``bars``: ``series`` maps a name to values ``[X]`` over ``x``. ``heat``: to rows of values over ``x``,
    one name a row. ``errors`` maps names of ``series`` to standard errors ``[X]``.
    """

    title: str
    kind: Literal["line", "bars", "heat"]
    x: Sequence[Any]
    series: Mapping[str, Sequence[float]]
    x_label: str = ""
    y_label: str = ""
    note: str = ""
    errors: Mapping[str, Sequence[float]] = field(default_factory=dict)


Measured = tuple[list[ResultTable], list[Figure]]  # what the ``main`` of a suite returns
Report = Callable[[str, int, int], None]  # label, number done, total


def silent(label: str, done: int, total: int) -> None:
    """A ``Report`` that shows nothing."""


def text(value: Any) -> str:
    """A cell as text; an estimate shows its error and the paper's figure."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def two_digits(value: float) -> str:
    """A time as tables of agents show it: ``"34"``, ``"6.6"``, ``"0.10"``."""
    return f"{value:#.2g}".rstrip(".")


def machine() -> str:
    """What results say of the machine that they were measured on."""
    return f"{cores()} cores, {platform.machine()}"


def command() -> str:
    """This command line as it is published: files outside the working folder by their names alone.

    What Python does without one is ``"a notebook"`` or ``"python"``.
    """
    script = Path(sys.argv[0])
    if notebook() is not None:
        return "a notebook"
    if script.stem == "bidzoo" or script.parts[-2:] == ("bidzoo", "__main__.py"):
        program = ["bidzoo"]
    elif script.suffix == ".py" and script.name != "__main__.py":
        program = ["python", sys.argv[0]]
    else:  # -c, standard input, IPython
        return "python"
    words = [*program, *sys.argv[1:]]
    return shlex.join(Path(word).name if Path(word).is_absolute() else word for word in words)


def save(
    path: str | Path,
    suite: str,
    tables: Sequence[ResultTable],
    *,
    seed: int,
    seconds: float,
    figures: Sequence[Figure] = (),
) -> None:
    """Write a result file, whole or not at all; a number that is not known, such as the error of one board, is null."""
    document = {
        "suite": suite,
        "command": command(),
        "seed": seed,
        "version": __version__,
        "python": platform.python_version(),
        "machine": machine(),
        "seconds": round(seconds, 1),
        "tables": [{**vars(table), "columns": list(table.columns), "rows": _plain(table.rows)} for table in tables],
        "figures": [{name: x for name, x in vars(figure).items() if x or name != "errors"} for figure in figures],
    }
    text = json_text(_finite(document), indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(Path(path), f"{text}\n".encode())


def _plain(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: x._asdict() if isinstance(x, Estimate) else x for name, x in row.items()} for row in rows]


def _finite(value: Any) -> Any:
    """``value`` with None for each number that JSON does not have (NaN, infinity)."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_Number = float | NotFinite  # older files hold NaN
_CELL = str | bool | _Number | None | dict[str, Any]


class _Table(TypedDict):
    title: str
    columns: list[str]
    rows: list[dict[str, Any]]
    note: NotRequired[str]


class _Figure(TypedDict):
    title: str
    kind: Literal["line", "bars", "heat"]
    x: list[str | _Number]
    series: dict[str, list[_Number | None]]
    x_label: NotRequired[str]
    y_label: NotRequired[str]
    note: NotRequired[str]
    errors: NotRequired[dict[str, list[_Number | None]]]


class _Document(TypedDict):
    suite: str
    command: str
    seed: int
    version: str
    python: str
    machine: str
    seconds: Weight
    tables: list[_Table]
    figures: NotRequired[list[_Figure]]


class _Estimate(TypedDict):
    mean: _Number | None
    error: _Number | None
    n: Whole
    paper: _Number | None


def load(path: str | Path) -> dict[str, Any]:
    """A result file's document, with the file's ``name`` without its ending.

    Raises:
        ValueError: it is not a result file; names field, what was found and what is expected.
    """
    where = f"{path}: not a bidzoo result file"
    document = parse(_Document, json_value(Path(path).read_bytes(), where), where)
    tables = [_table(table, f"{where}: tables[{k}]") for k, table in enumerate(document["tables"])]
    figures = [_figure(figure, f"{where}: figures[{k}]") for k, figure in enumerate(document.get("figures", []))]
    return {**document, "name": Path(path).stem, "tables": tables, "figures": figures}


def _table(table: dict[str, Any], where: str) -> ResultTable:
    rows: list[Mapping[str, Any]] = []
    for k, row in enumerate(table["rows"]):
        cells = parse(dict.fromkeys(table["columns"], NotRequired[_CELL]), row, f"{where}: rows[{k}]")
        rows.append({name: _cell(cell, f"{where}: rows[{k}]: {name}") for name, cell in cells.items()})
    return ResultTable(**{**table, "rows": rows})


def _cell(cell: Any, where: str) -> Any:
    if not isinstance(cell, dict):
        return cell
    fields = parse(_Estimate, cell, where)
    return Estimate(**fields | {name: math.nan for name in ("mean", "error") if fields[name] is None})


def _figure(figure: dict[str, Any], where: str) -> Figure:
    for part in ("series", "errors"):
        for name, values in figure.get(part, {}).items():
            if len(values) != len(figure["x"]):
                found = f"{where}: {part} {shown(name)}: {len(values)} values"
                raise ValueError(f"{found}, expected {len(figure['x'])} as in x")
    return Figure(**figure)

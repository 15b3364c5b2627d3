"""One self-contained HTML page from result files: the paper's figure beside ours in every table.

It reads what commands write: results of benchmarks, entries of leaderboards, curves of training, records of matches.
Without matplotlib the page has the tables alone.
"""

import io
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from bidzoo.benchmarks import leaderboard, records, replay
from bidzoo.benchmarks.results import Estimate, Figure, ResultTable, load
from bidzoo.core.schema import csv_rows, json_value, shown
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge.formats import FORMATS

APART = 2.0  # standard errors beyond which ours and the paper's are marked as different
PAGE = Path(__file__).with_name("report.html")
BESIDE = 7  # columns of a table that still has room for a picture beside it
KINDS = (".json", ".csv", *FORMATS, records.ENDING)  # of files that it shows
MOST_NUMBERS = 80  # cells of a heat map that still have room for their numbers

TITLES = {  # of what bidzoo writes, in the order of the page; other suites follow by their names
    "bench": "Published results beside ours, and speed",
    "leaderboard": "Leaderboards",
    "bridge": "Bridge bidding: every agent against every other",
    "bridge-analysis": "Bridge bidding: how the agents bid",
    "bridge-cost": "Bridge without competition",
    "spades": "Spades: the bidders",
    "tabular": "Small games: the tabular agents",
    "throughput": "Speed of the environments",
    "exploit": "Small games: exploitability and cross-play",
    "training": "Curves of training",
    "match": "Matches",
}


def apart(estimate: Estimate) -> float:
    """Standard errors between ours and the paper's figure; 0 where either is not known."""
    known = estimate.paper is not None and estimate.error > 0
    return abs(estimate.mean - (estimate.paper or 0)) / estimate.error if known else 0.0


def plain(value: float) -> str:
    """A number without a known error, to three figures, whole from 100 on; a dash where there is none."""
    if not math.isfinite(value):
        return "–"
    if value == int(value) or abs(value) >= 100:
        return unsigned(f"{value:,.0f}")
    return f"{value:.3g}"


def unsigned(text: str) -> str:
    """``text`` of a number, without the sign of a zero."""
    return text.removeprefix("-") if not text.strip("-0.,") else text


def cell(value: Any) -> Markup:
    """A table cell: an estimate shows its error, the paper's figure and a mark if they differ by more than two."""
    if value is None:
        return Markup("<td></td>")
    if isinstance(value, Estimate):
        mean, error, paper = value.texts
        distance = apart(value)
        exact = not math.isfinite(value.error) or value.error == 0  # then no error says how many digits count
        parts = [escape(plain(value.mean) if exact else unsigned(mean))]
        parts += [Markup('<span class="error">± {}</span>').format("0" if exact else error)] if error else []
        if distance > APART:
            mark = Markup('<span class="apart" title="{:.1f} standard errors apart">≠</span>')
            parts.append(mark.format(distance))
        under = Markup('<br><span class="paper">paper {}</span>').format(paper) if paper else Markup()
        return Markup('<td class="number">{}{}</td>').format(Markup(" ").join(parts), under)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Markup("<td>{}</td>").format(value)
    return Markup('<td class="number">{}</td>').format(f"{value:,}" if isinstance(value, int) else plain(value))


# ---- pictures --------------------------------------------------------------------------------


def pictures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """The figures as PNG files in ``folder``, named by their titles."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = list[Path]()
    for figure in figures:
        name = "-".join(re.findall(r"[a-z0-9]+", figure.title.lower()))
        path = folder / f"{name}.png"
        paths.append(path if path not in paths else folder / f"{name}-{len(paths) + 1}.png")
        _savefig(figure, paths[-1], "png")
    return paths


def _savefig(figure: Figure, out: Any, kind: str) -> None:
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(
        {"svg.fonttype": "none", "text.parse_math": False, "svg.hashsalt": "bidzoo", "font.size": 10}
    ):
        canvas = Canvas(figsize=(7.5, 3.8), layout="constrained")
        axes = canvas.subplots()
        if figure.kind == "heat":
            _heat(axes, canvas, figure)
        else:
            _plot(axes, figure)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        canvas.savefig(out, format=kind, metadata={"Date": None} if kind == "svg" else None)


def _heat(axes: Any, canvas: Any, figure: Figure) -> None:
    rows = np.array([list(row) for row in figure.series.values()], np.float64)  # None becomes nan
    if not rows.size:
        return
    image = axes.imshow(rows, aspect="auto", cmap="cividis")
    axes.set_yticks(range(len(rows)), list(figure.series))
    names = [str(x) for x in figure.x]
    axes.set_xticks(range(len(names)), names, **_slanted(names, 40))
    canvas.colorbar(image)
    if rows.size <= MOST_NUMBERS:
        middle = sum(image.get_clim()) / 2
        for y, row in enumerate(rows):
            for x, value in enumerate(row):
                colour, words = "black" if value > middle else "white", f"{value:.1f}" if math.isfinite(value) else ""
                axes.text(x, y, words if value else "", ha="center", va="center", color=colour)


def _plot(axes: Any, figure: Figure) -> None:
    styles = ["-", "--", ":", "-."]
    count = len(figure.series)
    for k, (name, values) in enumerate(figure.series.items()):
        heights = np.array(values, np.float64)
        error = np.array(figure.errors[name], np.float64) if name in figure.errors else None
        if figure.kind == "line" and error is None:
            axes.plot(list(figure.x), heights, styles[k % 4], label=name)
        elif figure.kind == "line":
            axes.errorbar(list(figure.x), heights, error, fmt=styles[k % 4], label=name, capsize=2)
        else:
            width = 0.8 / count
            positions = [i + (k - (count - 1) / 2) * width for i in range(len(figure.x))]
            axes.bar(positions, heights, width, yerr=error, label=name, capsize=2)
    if figure.kind == "bars":
        names = [str(x) for x in figure.x]
        axes.set_xticks(range(len(names)), names, **_slanted(names, 60))
    if count > 1:
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _slanted(names: Sequence[str], most: int) -> dict[str, Any]:
    """How to write ``names`` under an axis: aslant where together they have more than ``most`` letters."""
    return {"rotation": 35, "ha": "right"} if sum(map(len, names)) > most else {}


def drawn(figure: Figure, name: str) -> str:
    """A figure of the file ``name`` as an address that holds the whole image; ValueError if it cannot be drawn."""
    content = io.BytesIO()
    try:
        _savefig(figure, content, "svg")
    except (ValueError, ArithmeticError) as problem:  # of numbers that are too large for an axis
        raise ValueError(f"{name}: figure {shown(figure.title)} cannot be drawn: {problem}") from problem
    return f"data:image/svg+xml;base64,{b64encode(content.getvalue()).decode()}"


# ---- the page --------------------------------------------------------------------------------


def parts(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Tables with the pictures beside them: one each if there are as many, else all beside the first."""
    tables: list[ResultTable] = document["tables"]
    figures: list[Figure] = document["figures"]
    each = [[figure] for figure in figures] if len(figures) == len(tables) else [figures, *([[]] * len(tables))]
    sections = [
        {"title": table.title, "table": table, "figures": pictures_beside}
        for table, pictures_beside in zip(tables, each)
    ]
    return sections or [{"title": figure.title, "table": None, "figures": [figure]} for figure in figures]


def page(documents: Sequence[dict[str, Any]]) -> str:
    """The whole page: no script, no outside address; every text of a file is escaped."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for number, document in enumerate(documents, 1):
        file = {**document, "anchor": f"file-{number}", "parts": parts(document)}
        groups.setdefault(document["suite"], []).append(file)
    order = list(TITLES)
    suite_names = sorted(groups, key=lambda suite: order.index(suite) if suite in order else len(order))
    suites: list[dict[str, Any]] = [
        {
            "anchor": f"suite-{number}",
            "title": TITLES.get(suite, suite),
            "files": sorted(groups[suite], key=lambda file: str(file["name"]) != suite),  # the suite's namesake first
        }
        for number, suite in enumerate(suite_names, 1)
    ]
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(PAGE.read_text(encoding="utf-8"))
    drawing = find_spec("matplotlib") is not None
    context = {"suites": suites, "apart": APART, "beside": BESIDE, "drawing": drawing}
    return template.render(context, cell=cell, drawn=drawn, plain=plain) + "\n"


# ---- files -----------------------------------------------------------------------------------


def read(files: Sequence[Path]) -> list[dict[str, Any]]:
    """A document of each file; the entries of one leaderboard are one document.

    Raises:
        ValueError: a file that no command writes, or a damaged one; names it.
    """
    documents, entries = [], dict[str, list[leaderboard.Entry]]()
    for path in files:
        ending = path.suffix.lower()
        if ending not in KINDS and str(path) != "-":
            kind = "a folder" if path.is_dir() else f"ending {path.suffix!r}"
            raise ValueError(f"{path}: {kind}, expected {', '.join(KINDS)}, or - for standard input")
        if ending == ".csv":
            documents.append(curves(path))
        elif ending != ".json":
            documents.append(_document("match", path.stem, replay.summaries(path)))
        elif isinstance(value := json_value(path.read_bytes(), path), dict) and "challenge" in value:
            entry = leaderboard.load(path)
            entries.setdefault(entry.challenge, []).append(entry)
        else:
            document = load(path)
            documents.append({**document, "name": re.sub(r"-[0-9a-f]{12}$", "", document["name"])})  # of ``in_runs``
    for name, group in entries.items():
        ranking = leaderboard.ranking(leaderboard.challenge_named(name), group)
        documents.append(_document("leaderboard", name, [ranking]))
    return documents


def curves(path: Path) -> dict[str, Any]:
    """The last measurement in ``curves.csv`` of a training, and the strength over its steps."""
    try:
        numbers = [{name: float(x) if x else math.nan for name, x in row.items()} for row in csv_rows(path)]
        (unit, *names), last = numbers[0], numbers[-1]
    except (IndexError, TypeError, ValueError):
        raise ValueError(f"{path}: expected a header and rows of numbers, as a training writes them") from None
    name = path.parent.name if path.stem == "curves" else path.stem
    table = ResultTable(f"{name}: last measurement", [unit, *names], [last])
    steps = [row[unit] for row in numbers]
    imps, errors = ([row.get(column, math.nan) for row in numbers] for column in ("imps", "imps_error"))
    figure = Figure(name, "line", steps, {"imps": imps}, unit, "IMPs a board", errors={"imps": errors})
    return _document("training", name, [table], [figure] if "imps" in names else [])


def _document(suite: str, name: str, tables: Sequence[ResultTable], figures: Sequence[Figure] = ()) -> dict[str, Any]:
    return {"suite": suite, "name": name, "tables": list(tables), "figures": list(figures), "command": ""}


def main(files: Sequence[Path], out: Path) -> int:
    """Write the page of ``files`` to ``out``; the number of files in it.

    Raises:
        ValueError: no files, or one that ``read`` refuses; nothing is written then.
    """
    if not files:
        raise ValueError("no result files; run a benchmark first (bidzoo bench --help)")
    replace_file(out, page(read(files)).encode())
    return len(files)

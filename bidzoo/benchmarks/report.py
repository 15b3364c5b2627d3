"""One self-contained HTML page from result files: the paper's figure beside ours in every table."""

import io
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from bidzoo.benchmarks.results import Estimate, Figure, ResultTable, load, text
from bidzoo.core.storage import replace_file

APART = 2.0  # standard errors beyond which ours and the paper's are marked as different
MOST_NUMBERS = 80  # cells of a heat map that still have room for their numbers

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #57606a; --line: #d8dee4; --mark: #b35900;
  --band: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9198a1; --line: #30363d;
  --mark: #f0883e; --band: #161b22; } figure img { background: #fff; border-radius: 6px; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem clamp(.75rem, 3vw, 2rem) 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 1rem 0 .25rem; } h2 { margin: 3rem 0 .5rem; border-top: 2px solid var(--ink);
  padding-top: .75rem; } h3 { margin: 1.75rem 0 .5rem; font-size: 1.05rem; }
nav a { display: inline-block; margin-right: 1rem; color: inherit; } h2, h3, p, figcaption { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { background: var(--band); vertical-align: bottom; } td { vertical-align: top; } .number { text-align: right; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); white-space: normal; }
.error, .paper, .note, .origin { color: var(--soft); font-size: .85em; }
.apart { color: var(--mark); font-weight: 600; }
.origin code { word-break: break-word; }
figure { margin: 1rem 0; } figure img { max-width: 100%; height: auto; }
@media print { body { max-width: none; font-size: 11px; } h2 { break-before: page; } .wide { overflow: visible; }
  table, figure { break-inside: avoid; } nav { display: none; } }
"""


def apart(estimate: Estimate) -> float:
    """Standard errors between ours and the paper's figure; 0 where either is not known."""
    known = estimate.paper is not None and estimate.error > 0
    return abs(estimate.mean - (estimate.paper or 0)) / estimate.error if known else 0.0


def number(value: float) -> str:
    """As ``results.text``, with a dash where there is none."""
    return text(value) if math.isfinite(value) else "–"


def cell(value: Any) -> str:
    """A table cell: an estimate shows its error, the paper's figure and a mark if they differ by more than two."""
    if value is None:
        return "<td></td>"
    if isinstance(value, Estimate):
        mean, error, paper = value.texts
        distance = apart(value)
        parts = [mean, f'<span class="error">± {error}</span>' if error else ""]
        if distance > APART:
            parts.append(f'<span class="apart" title="{distance:.1f} standard errors apart">≠</span>')
        under = f'<br><span class="paper">paper {paper}</span>' if paper else ""
        return f'<td class="number">{" ".join(filter(None, parts))}{under}</td>'
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape(str(value))}</td>"
    return f'<td class="number">{number(value)}</td>'


def table_html(table: ResultTable) -> str:
    """A table with its title and note."""
    head = "".join(
        f"<th{' class=number' if table.numeric(column) else ''}>{escape(column)}</th>" for column in table.columns
    )
    rows = "".join("<tr>" + "".join(cell(row.get(column)) for column in table.columns) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    title = f"<h3>{escape(table.title)}</h3>"
    return f'{title}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def pictures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """The figures as PNG files in ``folder``, named by their titles."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for figure in figures:
        name = "-".join(re.findall(r"[a-z0-9]+", figure.title.lower()))
        paths.append(folder / f"{name}.png")
        _savefig(figure, paths[-1], "png")
    return paths


def _savefig(figure: Figure, out: Any, kind: str) -> None:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("pictures of results need matplotlib: pip install 'bidzoo[train]'") from error
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "bidzoo", "font.size": 10}):
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
    rows = [list(row) for row in figure.series.values()]
    image = axes.imshow(rows, aspect="auto", cmap="cividis")
    axes.set_yticks(range(len(rows)), list(figure.series))
    axes.set_xticks(range(len(figure.x)), [str(x) for x in figure.x])
    canvas.colorbar(image)
    if sum(len(row) for row in rows) <= MOST_NUMBERS:
        middle = sum(image.get_clim()) / 2
        for y, row in enumerate(rows):
            for x, value in enumerate(row):
                colour = "black" if value > middle else "white"
                axes.text(x, y, f"{value:.1f}" if value else "", ha="center", va="center", color=colour)


def _plot(axes: Any, figure: Figure) -> None:
    styles = ["-", "--", ":", "-."]
    count = len(figure.series)
    for place, (name, values) in enumerate(figure.series.items()):
        if figure.kind == "line":
            axes.plot(list(figure.x), list(values), styles[place % 4], label=name)
        else:
            width = 0.8 / count
            at = [i + (place - (count - 1) / 2) * width for i in range(len(figure.x))]
            axes.bar(at, list(values), width, label=name)
    if figure.kind == "bars":
        names = [str(x) for x in figure.x]
        rotation, side = (35, "right") if sum(map(len, names)) > 60 else (0, "center")
        axes.set_xticks(range(len(names)), names, rotation=rotation, ha=side)
    if count > 1:
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def figure_html(figure: Figure) -> str:
    """A figure as an image inside the page; its numbers are its alternative text."""
    drawn = io.BytesIO()
    _savefig(figure, drawn, "svg")
    data = b64encode(drawn.getvalue()).decode()
    note = f"<br>{escape(figure.note)}" if figure.note else ""
    title = escape(figure.title)
    caption = f'<figcaption class="note">{title}{note}</figcaption>'
    return f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{data}">{caption}</figure>'


def section(document: dict[str, Any]) -> str:
    """One result file."""
    origin = (
        f'<p class="origin"><code>{escape(document["command"])}</code><br>seed {document["seed"]} · '
        f"bidzoo {escape(document['version'])} · Python {escape(document['python'])} · "
        f"{escape(document['machine'])} · {number(float(document['seconds']))} s</p>"
    )
    parts = [table_html(table) for table in document["tables"]]
    parts += [figure_html(figure) for figure in document["figures"]]
    name = escape(document["name"])
    return f'<section id="{name}"><h2>{name}</h2>{"".join(parts)}{origin}</section>'


def page(documents: Sequence[dict[str, Any]]) -> str:
    """The whole page: no script, no outside address."""
    links = "".join(f'<a href="#{escape(d["name"])}">{escape(d["name"])}</a>' for d in documents)
    body = "".join(section(document) for document in documents)
    legend = (
        "± is the standard error; the paper's figure stands beside ours; "
        f'<span class="apart">≠</span> marks a difference of more than {APART:.0f} standard errors.'
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bidzoo results</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{STYLE}</style></head><body><h1>bidzoo results</h1><p class="note">{legend}</p>'
        f"<nav>{links}</nav>{body}</body></html>\n"
    )


def main(files: Sequence[Path], out: Path) -> int:
    """Write the page of result ``files`` to ``out``; the number of files in it.

    Raises:
        ValueError: no files, or one that is no result file; nothing is written then.
    """
    if not files:
        raise ValueError("no result files; run a benchmark first (bidzoo bench --help)")
    replace_file(out, page([load(file) for file in files]).encode())
    return len(files)

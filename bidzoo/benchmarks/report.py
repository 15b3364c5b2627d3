"""One self-contained HTML page from result files: the paper's figure beside ours in every table."""

import io
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from bidzoo.benchmarks.results import Estimate, Figure, ResultTable, load
from bidzoo.core.storage import replace_file

APART = 2.0  # standard errors beyond which ours and the paper's are marked as different
PAGE = Path(__file__).with_name("report.html")
BESIDE = 7  # columns of a table that still has room for a picture beside it
MOST_NUMBERS = 80  # cells of a heat map that still have room for their numbers

CERTAIN = 5.0  # standard errors from which a lead is called certain
TITLES = {  # of the suites, in the order of the page
    "bench": "Overview: reference agents, small games, speed",
    "bridge": "Bridge bidding: every agent against every other",
    "bridge-analysis": "Bridge bidding: how the agents bid",
    "bridge-training": "Bridge bidding: what the networks learned",
    "bridge-search": "Bridge bidding: the time of a searched call",
    "bridge-cost": "Bridge without competition",
    "baseline19": "Bridge: estimates and calls of baseline19",
    "bridge-opponent-models": "Bridge: models of the other side",
    "bridge-search-prior": "Bridge: what a search finds, and what the policy knows",
    "bridge-evaluator": "Bridge: double-dummy tricks by a network",
    "spades": "Spades: the bidders",
    "tabular": "Small games: the tabular agents",
    "throughput": "Speed of the environments",
    "selfplay": "Speed of self-play in bridge",
    "cross-play": "Bridge bidding: partners who learned apart",
    "expert": "Bridge bidding: systems beside the expert's calls",
    "mutations": "Mutation tests",
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


# ---- results in a sentence -------------------------------------------------------------------


def sure(lead: Estimate) -> str:
    """How sure a lead is: its size with the error, and a word."""
    mean, error, _ = lead.texts
    if not lead.error > 0:
        return f"by {unsigned(mean)}"
    distance = lead.mean / lead.error
    word = "certain" if distance > CERTAIN else "likely" if distance > APART else "open"
    return f"by {mean} ± {error} ({word})"


def heads(document: dict[str, Any]) -> list[str]:
    """A sentence for each table that shows who is best, and how surely."""
    tables = [table for table in document["tables"] if table.columns]
    sentences = [
        sentence
        for table in tables
        for sentence in (_cross(table), _pairs(table), _ranking(table), _speed(table))
        if sentence
    ]
    return sentences + [sentence for sentence in [_games(tables)] if sentence]


def _cross(table: ResultTable) -> str:
    """The best agent of a table of every agent against every other."""
    first = table.columns[0]
    names = [str(row.get(first)) for row in table.rows]
    rows = dict(zip(names, table.rows))
    if len(names) < 2 or not set(names) <= set(table.columns[1:]):
        return ""
    leads: dict[str, list[tuple[float, str, Estimate]]] = {}
    for name, row in rows.items():
        estimates = [(other, row.get(other)) for other in names if other != name]
        leads[name] = [(x.mean, other, x) for other, x in estimates if isinstance(x, Estimate)]
    best = max(names, key=lambda name: (sum(lead[0] > 0 for lead in leads[name]), sum(lead[0] for lead in leads[name])))
    behind = [f"{other} {sure(Estimate(-x.mean, x.error, x.n))}" for mean, other, x in leads[best] if mean <= 0]
    if not leads[best] or len(behind) == len(leads[best]):
        return ""
    _, other, lead = min((lead for lead in leads[best] if lead[0] > 0), key=lambda lead: lead[0] / (lead[2].error or 1))
    ahead = f"{len(leads[best]) - len(behind)} of {len(leads[best])} others"
    lost = f"; behind {', '.join(behind)}" if behind else ""
    return f"{best} is best: ahead of {ahead}, least surely of {other}, {sure(lead)}{lost}."


def _pairs(table: ResultTable) -> str:
    """How often the first wins in a table of rows ``first : second``."""
    rows = [(str(row.get(table.columns[0])), row.get("win %")) for row in table.rows]
    estimates = [(name, x) for name, x in rows if " : " in name and isinstance(x, Estimate) and x.error > 0]
    if not estimates:
        return ""
    ahead = [(name, x) for name, x in estimates if x.mean > 50]
    certain = sum(x.mean - 50 > CERTAIN * x.error for _, x in ahead)
    shares = sorted(x.mean for _, x in estimates)
    share = " to ".join(dict.fromkeys(f"{x:.0f}" for x in (shares[0], shares[-1])))
    matches = f"ahead in {len(ahead)} of {len(estimates)} matches, certain in {certain}"
    return f"{table.title}: the first wins {share} % of the games; {matches}."


def _ranking(table: ResultTable) -> str:
    """The best agent of a table whose rows all met the same opponent."""
    columns = [column for column in table.columns if "IMPs a board" in column]
    if table.columns[0] not in ("agent", "policy") or len(columns) != 1:
        return ""
    cells = [(row.get(columns[0]), str(row.get(table.columns[0]))) for row in table.rows]
    ranking = sorted(((x, name) for x, name in cells if isinstance(x, Estimate)), key=lambda cell: -cell[0].mean)
    if len(ranking) < 2:
        return ""
    (first, best), (second, other) = ranking[:2]
    lead = Estimate(first.mean - second.mean, math.hypot(first.error, second.error), min(first.n, second.n))
    mean, error, _ = first.texts
    return f"{best} is best with {mean} ± {error} {columns[0]}, ahead of {other} {sure(lead)}."


def _speed(table: ResultTable) -> str:
    """The fastest form of the fastest game of a table of speeds."""
    if "decisions/s" not in table.columns or "form" not in table.columns:
        return ""
    fastest = {}
    for row in sorted(table.rows, key=lambda row: row.get("decisions/s") or 0):
        fastest[str(row.get(table.columns[0]))] = row
    best = max(fastest.values(), key=lambda row: row.get("decisions/s") or 0, default={})
    ratio = best.get("times OpenSpiel")
    times = f", {plain(ratio)} times OpenSpiel in the same run" if isinstance(ratio, int | float) else ""
    speed = f"{float(best.get('decisions/s') or 0) / 1e6:.2g} million decisions a second"
    return f"{best.get(table.columns[0])}: {speed} as {best.get('form')}{times}."


def _games(tables: Sequence[ResultTable]) -> str:
    """The algorithm that reaches most in most games, of tables with games as rows and algorithms as columns."""
    rewards: dict[str, dict[str, Estimate]] = {}
    for table in tables:
        if table.columns[0] != "game":
            continue
        for row in table.rows:
            estimates = {
                name: x for name, x in row.items() if isinstance(x, Estimate) and f"{name} best" in table.columns
            }
            rewards.setdefault(str(row.get("game")), {}).update(estimates)
    rewards = {game: estimates for game, estimates in rewards.items() if len(estimates) > 1}
    wins: dict[str, int] = {}
    for estimates in rewards.values():
        most = max(x.mean for x in estimates.values())
        for name, x in estimates.items():
            wins[name] = wins.get(name, 0) + (x.mean == most)
    if not wins:
        return ""
    best = max(wins, key=lambda name: wins[name])
    alone = sum(
        all(
            estimates[best].mean - x.mean > CERTAIN * math.hypot(estimates[best].error, x.error)
            for name, x in estimates.items()
            if name != best
        )
        for estimates in rewards.values()
        if best in estimates
    )
    games = f"{wins[best]} of {len(rewards)} games, certainly alone in {alone}"
    return f"{best} reaches most, alone or with others, in {games}."


# ---- pictures --------------------------------------------------------------------------------


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
                colour = "black" if value > middle else "white"
                axes.text(
                    x,
                    y,
                    f"{value:.1f}" if value and math.isfinite(value) else "",
                    ha="center",
                    va="center",
                    color=colour,
                )


def _plot(axes: Any, figure: Figure) -> None:
    styles = ["-", "--", ":", "-."]
    count = len(figure.series)
    for k, (name, values) in enumerate(figure.series.items()):
        if figure.kind == "line":
            axes.plot(list(figure.x), np.array(values, np.float64), styles[k % 4], label=name)
        else:
            width = 0.8 / count
            positions = [i + (k - (count - 1) / 2) * width for i in range(len(figure.x))]
            axes.bar(positions, np.array(values, np.float64), width, label=name)
    if figure.kind == "bars":
        names = [str(x) for x in figure.x]
        axes.set_xticks(range(len(names)), names, **_slanted(names, 60))
    if count > 1:
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _slanted(names: Sequence[str], most: int) -> dict[str, Any]:
    """How to write ``names`` under an axis: aslant where together they have more than ``most`` letters."""
    return {"rotation": 35, "ha": "right"} if sum(map(len, names)) > most else {}


def drawn(figure: Figure) -> str:
    """A figure as an address that holds the whole image."""
    content = io.BytesIO()
    _savefig(figure, content, "svg")
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
        file = {**document, "anchor": f"file-{number}", "heads": heads(document), "parts": parts(document)}
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
    headlines = [(suite, head) for suite in suites for file in suite["files"][:1] for head in file["heads"][:1]]
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(PAGE.read_text(encoding="utf-8"))
    context = {"suites": suites, "heads": headlines, "apart": APART, "certain": CERTAIN, "beside": BESIDE}
    return template.render(context, cell=cell, drawn=drawn, plain=plain) + "\n"


def main(files: Sequence[Path], out: Path) -> int:
    """Write the page of result ``files`` to ``out``; the number of files in it.

    Raises:
        ValueError: no files, or one that is no result file; nothing is written then.
    """
    if not files:
        raise ValueError("no result files; run a benchmark first (bidzoo bench --help)")
    replace_file(out, page([load(file) for file in files]).encode())
    return len(files)

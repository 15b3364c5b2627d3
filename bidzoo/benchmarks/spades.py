"""``bidzoo bench spades``: the tables and figures of "Bidding in Spades" beside ours, with standard errors."""

import json as json_format
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numba
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bidzoo.benchmarks.spades_figures import figures, self_play
from bidzoo.benchmarks.spades_rows import CHUNK, Comparison, Tally, comparisons, measure

Rows = Literal["rule-based", "uct", "ablation", "all"]
ROW_CHOICES = ("rule-based", "uct", "ablation", "all")
UCT_GAMES = 2_000  # most games of a row with UCT


def main(
    games: int = 10_000, rows: Rows = "rule-based", json: Path | None = None, seed: int = 0, workers: int | None = None
) -> dict[str, Any]:
    """Play ``games`` games a row, show the tables and write them to ``json``; ``workers`` threads (default all)."""
    if rows not in ROW_CHOICES:
        raise ValueError(f"unknown rows {rows!r}; choose from {', '.join(ROW_CHOICES)}")
    if games < 2:
        raise ValueError(f"games must be at least 2 (each board is played both ways), got {games}")
    if workers is not None:
        numba.set_num_threads(min(workers, numba.config.NUMBA_NUM_THREADS))
    games += games % 2
    chosen = [row for row in comparisons() if rows in (row.group, "all")]
    console = Console()
    results = run_rows(chosen, games, seed, console)
    report: dict[str, Any] = {
        "command": f"bidzoo bench spades --games {games} --rows {rows} --seed {seed}",
        "version": _version(),
        "seed": seed,
        "games": games,
        "rows": results,
    }
    console.print(rows_table(results))
    if rows in ("rule-based", "all"):
        report["self_play"] = figures(self_play(games, seed + 1))
        console.print(self_play_table(report["self_play"]))
        console.print(types_table(report["self_play"]))
    if json is not None:
        json.write_text(json_format.dumps(report, indent=1) + "\n")
    return report


def run_rows(chosen: list[Comparison], games: int, seed: int, console: Console) -> list[dict[str, Any]]:
    """Results of the chosen rows, with a progress bar."""
    sizes = [min(games, UCT_GAMES) if row.group == "uct" else games for row in chosen]
    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("games", total=sum(sizes))
        for row, size in zip(chosen, sizes, strict=True):
            progress.update(task, description=row.name)
            tally = Tally()
            step = CHUNK // 10 if row.group == "uct" else CHUNK
            for first in range(0, size, step):
                tally.add(measure(row, min(step, size - first), seed, first))
                progress.advance(task, min(step, size - first))
            results.append(tally.result(row, seed))
    return results


def rows_table(results: list[dict[str, Any]]) -> Table:
    """Tables 2 and 4: win rate of the first named and points a round, ours and the paper's."""
    table = Table(title="Spades: first named against second, goal +200 / -100")
    for name in ("row", "games", "win %", "± se", "paper", "apart (se)", "points", "paper points", "nil %", "made %"):
        table.add_column(name, justify="left" if name == "row" else "right")
    for r in results:
        apart = r.get("standard_errors_apart")
        table.add_row(
            r["row"],
            str(r["games"]),
            f"{r['win']:.1f}",
            f"{r['win_se']:.1f}",
            "" if r["paper_win"] is None else f"{r['paper_win']:.1f}",
            "" if apart is None else f"{apart:+.1f}",
            " : ".join(f"{p:.1f}" for p in r["points"]),
            "" if r["paper_points"] is None else " : ".join(f"{p:.1f}" for p in r["paper_points"]),
            " : ".join(f"{100 * r[who]['nil_rate']:.1f}" for who in ("first", "second")),
            " : ".join(f"{100 * r[who]['nil_success']:.0f}" for who in ("first", "second")),
        )
    return table


def self_play_table(found: dict[str, Any]) -> Table:
    """BIS+SRP against itself: nils, sum of bids and branching factor."""
    table = Table(title=f"BIS+SRP in all seats, {found['rounds']} rounds")
    for name in ("", "ours", "paper"):
        table.add_column(name, justify="left" if not name else "right")
    paper = found["paper"]
    table.add_row("nil rate", f"{100 * found['nil_rate']:.1f} %", f"{100 * paper['nil_rate']:.1f} %")
    table.add_row("nil success", f"{100 * found['nil_success']:.1f} %", f"{100 * paper['nil_success']:.1f} %")
    table.add_row("sum of bids (Figure 5)", f"{found['mean_sum_of_bids'][0]:.2f}", f"{paper['mean_sum_of_bids']:.2f}")
    table.add_row("branching factor (Figure 6)", f"{found['branching_factor']:.2f}", f"{paper['branching_factor']:.1f}")
    return table


def types_table(found: dict[str, Any]) -> Table:
    """Table 3: points by round type; the paper's second partnership holds a human."""
    table = Table(title="Round types (paper: BIS+BIS : human+BIS)")
    for name in ("type", "rounds", "points", "± se", "nils made", "paper points"):
        table.add_column(name, justify="left" if name == "type" else "right")
    for r in found["table_3"]:
        if "points" in r:
            points = " : ".join(f"{p:.1f}" for p in r["points"])
            errors = " : ".join(f"{e:.1f}" for e in r["points_se"])
            made = "" if r["type"] == "no nil" else f"{100 * r['nil']:.0f} %"
            table.add_row(
                r["type"], str(r["rounds"]), points, errors, made, " : ".join(f"{p:.1f}" for p in r["paper_points"])
            )
    return table


def _version() -> str:
    try:
        return version("bidzoo")
    except PackageNotFoundError:
        return "unknown"

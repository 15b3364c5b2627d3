"""``bidzoo bench spades``: the tables and figures of "Bidding in Spades" beside ours, with standard errors."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numba

from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.benchmarks.spades_figures import figures, nil_table, overview, self_play, type_table
from bidzoo.benchmarks.spades_rows import CHUNK, Comparison, Tally, comparisons, measure, rounds_log

TITLES = {
    "rule-based": "Table 2: BIS against rule-based bidders, the same player on both sides",
    "uct": "Table 2: UCT in the last tricks",
    "ablation": "Table 4: BIS against itself without a component",
    "learned": "Beyond the paper: the learned bidder, SRP on both sides",
}
UCT_GAMES = 2_000  # most games of a row with UCT
COLUMNS = (
    "first : second",
    "win %",
    "points",
    "their points",
    "nil %",
    "nils made %",
    "their nil %",
    "their nils made %",
)


def main(
    games: int = 10_000,
    rows: str = "rule-based",
    seed: int = 0,
    workers: int | None = None,
    report: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[list[Table], list[Figure], float]:
    """The tables, figures and the seconds they took.

    Args:
        games: of a row, rounded up to an even number.
        rows: a group of ``TITLES``, or ``"all"``.
        seed: of deals and bidders.
        workers: threads (default: all); they change no result.
        report: told which row is played and how many of its games are done.

    Raises:
        ValueError: unknown ``rows``, or too few games.
    """
    if rows not in (*TITLES, "all"):
        raise ValueError(f"unknown rows {rows!r}; choose from {', '.join((*TITLES, 'all'))}")
    if games < 2:
        raise ValueError(f"games must be at least 2 (each board is played both ways), got {games}")
    started = time.perf_counter()
    if workers is not None:
        numba.set_num_threads(min(workers, numba.config.NUMBA_NUM_THREADS))
    games += games % 2
    chosen = [row for row in comparisons() if rows in (row.group, "all")]
    results = run_rows(chosen, games, seed, report)
    tables = [
        Table(title, COLUMNS, [cells for row, cells in zip(chosen, results, strict=True) if row.group == group], NOTE)
        for group, title in TITLES.items()
        if rows in (group, "all")
    ]
    drawn: list[Figure] = []
    if rows in ("rule-based", "all"):
        played = self_play(games, seed + 1)
        log = rounds_log(played)
        tables += [overview(log, played), nil_table(log), type_table(log)]
        drawn = figures(log, played, 20 * games, seed + 2)
    return tables, drawn, time.perf_counter() - started


NOTE = "Goal +200 / -100; points a round; each board is played both ways, and errors are over boards."


def run_rows(
    chosen: Sequence[Comparison], games: int, seed: int, report: Callable[[str, int, int], None]
) -> list[dict[str, Any]]:
    """Cells of the chosen rows."""
    sizes = [min(games, UCT_GAMES) if row.group == "uct" else games for row in chosen]
    results = []
    for row, size in zip(chosen, sizes, strict=True):
        tally, step = Tally(), CHUNK // 10 if row.group == "uct" else CHUNK
        for first in range(0, size, step):
            report(row.name, first, size)
            tally.add(measure(row, min(step, size - first), seed, first))
        report(row.name, size, size)
        results.append(_cells(row, tally))
    return results


def _cells(row: Comparison, tally: Tally) -> dict[str, Any]:
    """One row of a table."""
    first, second, points = tally.nils(True), tally.nils(False), row.paper_points or (None, None)
    return {
        COLUMNS[0]: row.name,
        "win %": Estimate.of(tally.won(), row.paper_win),
        "points": Estimate.of(tally.points(0), points[0]),
        "their points": Estimate.of(tally.points(1), points[1]),
        "nil %": first[0],
        "nils made %": first[1],
        "their nil %": second[0],
        "their nils made %": second[1],
    }

"""Table 1, Table 2, Figure 2 and appendix C of the JPS paper, ours beside theirs, and the proved optima.

    bidzoo bench tabular --seeds 20 --json docs/results/tabular.json

CFR1k and CFR1k+JPS run ``seeds`` seeds (the paper: 1000), A2C and BAD ``network_seeds`` (the paper: 10 and 50).
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.tabular import exact, solver
from bidzoo.benchmarks.ledger import Ledger
from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.benchmarks.tabular_jobs import Job, Outcome, compiled_of, finish
from bidzoo.benchmarks.tabular_pages import auctions, grid_table, paper_grid, speed_table
from bidzoo.benchmarks.tabular_paper import BAD_JPS, GAMES, INFOSETS, ROWS, SAMPLES, STATES, TABLE_1, TABLE_2
from bidzoo.envs.signals.compiled import count_infosets, count_states

NETWORKS = ("A2C", "BAD")
LONG = "simple_bidding_v0(size=16)"  # of Figure 2
GRID = "minibridge_v0(size=4)"


def main(
    seeds: int = 10,
    network_seeds: int = 1,
    rows: Sequence[str] | None = None,
    games: Sequence[str] | None = None,
    workers: int = 2,
    ledger: str | Path | None = None,
    report: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[list[Table], list[Figure], float]:
    """The tables, figures and the seconds they took.

    Args:
        seeds: of CFR1k, CFR1k+JPS and random+JPS.
        network_seeds: of A2C and BAD; 0 leaves them out, and nothing then needs torch.
        rows: of Table 1, from ``ROWS``; default all.
        games: as in ``GAMES``; default all.
        workers: processes; they change no result.
        ledger: file of finished jobs, from which an interrupted run goes on.
        report: told how many jobs are done, first at the start.

    Raises:
        ValueError: an unknown row or game, or a number that is too small.
    """
    began = time.perf_counter()
    chosen_rows, chosen_games = _chosen("row", rows, ROWS), _chosen("game", games, GAMES)
    if seeds < 1 or network_seeds < 0 or workers < 1:
        raise ValueError(
            f"seeds and workers must be at least 1, network_seeds 0: got {seeds}, {workers}, {network_seeds}"
        )
    kept = Ledger(ledger, Job, Outcome)
    done = _done(_jobs(chosen_rows, chosen_games, seeds, network_seeds), kept, workers, report)
    tables = [table_1_games(chosen_games)]
    for pair in (ROWS[:2], ROWS[2:]):
        shown = [row for row in pair if row in chosen_rows]
        if any(job.row + suffix in shown for job in done for suffix in ("", "+JPS")):
            tables.append(table_1(done, shown, chosen_games))
    tables.append(boosts(done, chosen_games))
    if sampled := [key for key in TABLE_2 if any((job.game, job.row) == key for job in done)]:
        tables.append(table_2(done, sampled))
    if GRID in chosen_games:
        tables += grids(done)
    if len(chosen_games) == len(GAMES):
        tables.append(speed_table())
    return [table for table in tables if table.rows], figure_2(done), time.perf_counter() - began


def _chosen(kind: str, names: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    for name in names or ():
        if name not in known:
            raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(known)}")
    return tuple(known) if not names else tuple(name for name in known if name in names)


def _jobs(rows: Sequence[str], games: Sequence[str], seeds: int, network_seeds: int) -> list[Job]:
    """Starts that JPS boosts, game by game, then networks, seed by seed.

    A game of over a million states gets one seed in 25, but 2 at least, and one seed of each network.
    """
    starts = ["CFR1k", "random"] if {"CFR1k", "CFR1k+JPS"} & set(rows) else []
    networks = [row for row in NETWORKS if row in rows]
    large = {game for game, states in zip(GAMES, STATES) if states > 1_000_000}
    jobs = []
    for game in games:
        count = min(seeds, max(2, seeds // 25)) if game in large else seeds
        jobs += [Job(row, game, seed) for row in starts for seed in range(count)]
    for seed in range(network_seeds):
        jobs += [Job(row, game, seed) for row in networks for game in games if seed == 0 or game not in large]
    return jobs


def _done(
    jobs: list[Job], ledger: Ledger[Job, Outcome], workers: int, report: Callable[[str, int, int], None]
) -> dict[Job, Outcome]:
    before = sum(job in ledger.done for job in jobs)
    report("jobs", before, len(jobs))
    for done, _ in enumerate(finish(jobs, ledger, workers), before + 1):
        report("jobs", done, len(jobs))
    return {job: ledger.done[job] for job in jobs}


def _of(done: dict[Job, Outcome], row: str, game: str) -> list[Outcome]:
    return [outcome for job, outcome in done.items() if (job.row, job.game) == (row, game)]


def _estimate(samples: Sequence[float], paper: float | None = None) -> Estimate | None:
    return Estimate.of(samples, paper) if samples else None


def exact_text(game: str) -> str:
    """The proved optimum as a fraction and a number."""
    value = exact.solve(compiled_of(game))[0].value
    return f"{value} = {float(value):.4f}"


def table_1_games(games: Sequence[str]) -> Table:
    """The last lines of Table 1, and the proved optimum."""
    table = Table(
        "Table 1: games",
        ["game", "states", "infosets", "best known (paper)", "exact optimum"],
        note="states and infosets as the paper counts them, equal to its figures; exact optimum: proved",
    )
    for game in games:
        g, form = GAMES.index(game), compiled_of(game)
        counted = count_states(form), count_infosets(form, "deal" if game.startswith("mini_hanabi") else "mover")
        if counted != (STATES[g], INFOSETS[g]):
            raise ValueError(f"{game}: {counted} states and infosets; the paper has {STATES[g], INFOSETS[g]}")
        best = TABLE_1["Best known"][g]
        line = {"game": game, "states": counted[0], "infosets": counted[1], "best known (paper)": best}
        table.rows.append({**line, "exact optimum": exact_text(game)})
    return table


def table_1(done: dict[Job, Outcome], rows: Sequence[str], games: Sequence[str]) -> Table:
    """``rows`` of Table 1 across, games down, each with the best of our seeds."""
    columns = [column for row in rows for column in (row, f"{row} best")]
    table = Table(
        f"Table 1: {' and '.join(rows)}",
        ["game", *columns, "n"],
        note="average reward ± standard error over n seeds; best: the best seed",
    )
    for game in games:
        line: dict[str, Any] = {"game": game}
        for row in rows:
            outcomes = _of(done, row.removesuffix("+JPS"), game)
            samples = [outcome.boosted if row.endswith("+JPS") else outcome.value for outcome in outcomes]
            line[row] = _estimate(samples, TABLE_1[row][GAMES.index(game)])
            line[f"{row} best"] = max(samples, default=None)
            line["n"] = len(samples)
        table.rows.append(line)
    return table


def boosts(done: dict[Job, Outcome], games: Sequence[str]) -> Table:
    """What JPS adds to each start, and what a seed costs."""
    table = Table(
        "JPS as a booster",
        ["game", "start", "before", "after JPS", "n", "JPS steps", "start s", "JPS s"],
        note="mean processor seconds a seed; D is 'all' or 3 as in the paper",
    )
    for game in games:
        for start in ("random", "CFR1k", *NETWORKS):
            outcomes = _of(done, start, game)
            if not outcomes:
                continue
            paper = {"CFR1k": TABLE_1["CFR1k+JPS"][GAMES.index(game)], "BAD": BAD_JPS.get(game)}.get(start)
            n = len(outcomes)
            line = {"game": game, "start": start, "n": n}
            line["before"] = _estimate([outcome.value for outcome in outcomes])
            line["after JPS"] = _estimate([outcome.boosted for outcome in outcomes], paper)
            line["JPS steps"] = f"{sum(outcome.steps for outcome in outcomes) / n:.1f}"
            line["start s"] = f"{sum(outcome.seconds for outcome in outcomes) / n:.2g}"
            line["JPS s"] = f"{sum(outcome.jps_seconds for outcome in outcomes) / n:.2g}"
            table.rows.append(line)
    return table


def table_2(done: dict[Job, Outcome], keys: Sequence[tuple[str, str]]) -> Table:
    """Table 2, one line a cell; its gains over the start are Figure 2's."""
    table = Table(
        "Table 2: sampled JPS",
        ["game", "start", "samples", "reward", "gain over start"],
        note="states drawn at each information set, with replacement; the best of 100 iterations; gains seed by seed",
    )
    for game, start in keys:
        every, by_samples = TABLE_2[game, start]
        outcomes = _of(done, start, game)
        before = np.array([outcome.value for outcome in outcomes])
        for samples, paper in (("all", every), *zip(SAMPLES, by_samples)):
            after = [outcome.boosted if samples == "all" else outcome.sampled[str(samples)] for outcome in outcomes]
            line = {"game": game, "start": start, "samples": str(samples), "reward": _estimate(after, paper)}
            table.rows.append({**line, "gain over start": _estimate(list(after - before))})
    return table


def figure_2(done: dict[Job, Outcome]) -> list[Figure]:
    """Figure 2 as lines over the number of samples, ours and the paper's Table 2, with baselines."""
    series: dict[str, list[float]] = {}
    for start in ("CFR1k", "BAD"):
        outcomes = _of(done, start, LONG)
        if outcomes:
            series[f"{start} + sampled JPS"] = [
                float(np.mean([outcome.sampled[str(n)] for outcome in outcomes])) for n in SAMPLES
            ]
            series[f"{start} + sampled JPS (paper)"] = list(TABLE_2[LONG, start][1])
            series[start] = [float(np.mean([outcome.value for outcome in outcomes]))] * len(SAMPLES)
    title = "Figure 2: sampled JPS in Simple Bidding N = 16"
    return [Figure(title, "line", SAMPLES, series, "samples per information set", "reward")] if series else []


def grids(done: dict[Job, Outcome]) -> list[Table]:
    """Appendix C: the paper's policy, our best learned one, and a proved optimal one as grids of auctions."""
    tables = [paper_grid()]
    learned = {job: outcome for job, outcome in done.items() if job.row == "CFR1k" and job.game == GRID}
    if learned:
        job = max(learned, key=lambda job: (learned[job].boosted, -job.seed))
        strategy = solver.solve_jps(compiled_of(GRID), job.seed)
        note = f"seed {job.seed} of CFR1k+JPS, worth {learned[job].boosted:.4f}"
        tables.append(grid_table("MiniBridge N = 4: our best learned policy", auctions(GRID, strategy), note))
    optimum, strategy = exact.solve(compiled_of(GRID))
    note = f"worth {optimum.value} = {float(optimum.value):.4f}, proved"
    return [*tables, grid_table("MiniBridge N = 4: an optimal policy", auctions(GRID, strategy), note)]

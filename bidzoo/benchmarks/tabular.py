"""Table 1, Table 2, Figure 2 and appendix C of the JPS paper, ours beside theirs, and the proved optima.

    bidzoo bench tabular --seeds 20 --json docs/results/tabular.json

CFR1k and CFR1k+JPS run ``seeds`` seeds (the paper: 1000), A2C and BAD ``network_seeds`` (the paper: 10 and 50).
"""

import time
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from inspect import getsource
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular import a2c, bad, cfr, exact, jps
from bidzoo.agents.tabular.policy import game_of
from bidzoo.agents.tabular.strategy import purify, random
from bidzoo.benchmarks.results import Estimate, Figure, Measured, Report, ResultTable, published, silent
from bidzoo.core.digests import source_digest
from bidzoo.core.jobs import as_completed
from bidzoo.core.kernels import F64
from bidzoo.core.storage import Ledger
from bidzoo.envs.signalling.compiled import Compiled, compile_game, count_infosets, count_states, evaluate

# ---- every figure of the paper on small games ------------------------------------------------
# Tian, Gong and Jiang 2020, "Joint Policy Search for Multi-agent Collaboration with Imperfect Information", arXiv
# 2008.06495: Table 1, Table 2, Table 4, the text of section 6. Where the table prints three digits, so do we.

PAPER = {row.pop("game"): row for row in published("small-games")}  # Table 1, and BAD+JPS of the text
GAMES = tuple(PAPER)
LONG, GRID = "simple_bidding_v0(size=16)", "minibridge_v0(size=4)"  # of Figure 2 and of Table 4
ROWS = ("CFR1k", "CFR1k+JPS", "A2C", "BAD")
NETWORKS = ROWS[2:]
TABLE_2 = {(row.pop("game"), row.pop("start")): row for row in published("sampled-jps")}  # "all" states, and samples
SAMPLES = (1, 2, 5, 8, 15, 20, 25, 30)  # columns of Table 2

MEAN_WEIGHTS = (0.5, 1.0)  # lambda of Eqs. 7 and 8, for which the paper has no number
MEAN_SAMPLES, MEAN_SEEDS = (1, 5, 25), 100

# auctions of a policy worth 1.84 in MiniBridge 4; row: hearts of player_0, column: of player_1
TABLE_4 = [list(row.values())[1:] for row in published("minibridge-auctions")]


# ---- jobs: one seed of one row on one game -----------------------------------------------------
# Every job depends on its own seed alone and runs in a worker process with one thread, so results are the same for any
# number of workers.

SETTINGS: dict[tuple[str, str], dict[str, Any]] = {  # where they are not the defaults
    # In Comm 6 a guess is right in 1 / 64 of the deals: an update needs many of them to tell a code from chance.
    ("A2C", "comm_v0(length=6)"): {"updates": 250, "episodes": 4096, "entropy": 0.006},
}
ITERATIONS = {
    ("random", "comm_v0(length=7)"): 128
}  # of JPS, where 100 are too few: each gives one of 128 types its code
CFR = {"CFR1k": 1000, "CFR10k": 10_000}  # iterations


class Job(NamedTuple):
    """Start from ``row`` ("CFR1k", "CFR10k", "A2C", "BAD" or "random") on ``game`` with ``seed``, then JPS."""

    row: str
    game: str
    seed: int
    code: str = ""  # digest of what the outcome depends on, in a ledger


class Outcome(NamedTuple):
    """Values that a job reached, and its processor seconds."""

    value: float  # of the row itself, CFR's purified
    mixed: float  # of CFR's last iterate before that; of others the same
    boosted: float  # after JPS
    sampled: dict[str, float]  # after sampled JPS, by samples an information set; where Table 2 has it, or with lambda
    seconds: float  # of the row itself
    jps_seconds: float
    steps: int  # accepted by JPS


@cache
def compiled_of(game: str) -> Compiled:
    """The compiled form, kept for the life of the process."""
    return compile_game(game_of(game))


def start_of(job: Job) -> F64:
    """The strategy that JPS starts from: CFR's last iterate as it is, the networks' greedy one."""
    game = compiled_of(job.game)
    if job.row in CFR:
        return cfr.cfr(game, cfr.Options(iterations=CFR[job.row], seed=job.seed))
    if job.row == "random":
        return random(game, job.seed)
    solve = {"A2C": a2c.solve, "BAD": bad.solve}[job.row]
    return solve(game, job.seed, **SETTINGS.get((job.row, job.game), {}))


def run(job: Job) -> Outcome:
    """The outcome of ``job``."""
    game = compiled_of(job.game)
    depth = jps.search_depth(game)
    began = time.process_time()
    start = start_of(job)
    ended = time.process_time()
    iterations = ITERATIONS.get((job.row, job.game), jps.Options.iterations)
    options = jps.Options(depth=depth, iterations=iterations, seed=job.seed)
    accepted = [step for _, step in jps.steps(game, start, options)]
    mixed = evaluate(game, start)
    boosted = accepted[-1].value if accepted else mixed
    jps_seconds = time.process_time() - ended
    settings = {str(n): (n, 0.0) for n in SAMPLES if (job.game, job.row) in TABLE_2}
    if (job.game, job.row) == (LONG, "CFR1k") and job.seed < MEAN_SEEDS:
        settings |= {f"{n}, {weight}": (n, weight) for n in MEAN_SAMPLES for weight in MEAN_WEIGHTS}
    sampled = {}
    for name, (n, weight) in settings.items():
        config = jps.Options(depth=depth, samples=n, mean_weight=weight, seed=job.seed)
        sampled[name] = evaluate(game, jps.jps(game, start, config))
    value = evaluate(game, purify(game, start)) if job.row in CFR else mixed
    return Outcome(value, mixed, boosted, sampled, ended - began, jps_seconds, len(accepted))


def _timed(job: Job) -> tuple[Job, Outcome]:
    """``run`` with the kernels compiled or loaded before, so that the first seed's seconds are like the others'."""
    game = compiled_of(job.game)
    start = cfr.cfr(game, cfr.Options(iterations=1))
    for samples in (0, 1):
        jps.jps(game, start, jps.Options(depth=1, samples=samples, iterations=1))
    return job, run(job)


@cache
def _code(row: str, game: str) -> str:
    """A digest of what the outcomes of ``row`` on ``game`` depend on beside the seed: code and settings."""
    solver = {"A2C": a2c, "BAD": bad}.get(row, cfr)
    modules = source_digest(solver.__name__, jps.__name__, type(game_of(game)).__module__)
    settings = (
        SETTINGS.get((row, game)),
        ITERATIONS.get((row, game)),
        CFR.get(row),
        TABLE_2.get((game, row)) and (SAMPLES, MEAN_SAMPLES, MEAN_WEIGHTS, MEAN_SEEDS),
    )
    return sha256(repr((modules, getsource(start_of), getsource(run), settings)).encode()).hexdigest()[:16]


def jobs_of(rows: Sequence[str], games: Sequence[str], seeds: int, network_seeds: int) -> list[Job]:
    """Starts that JPS boosts, game by game, then networks, seed by seed.

    Games of over 100 000 states get one seed in 4, those of over a million one in 100, 2 at least, and one seed of each
    network. CFR10k gets one seed in 10, 2 at least, and none in games of over a million.
    """
    starts = ["CFR1k", "random"] if {"CFR1k", "CFR1k+JPS"} & set(rows) else []
    networks = [row for row in NETWORKS if row in rows]
    states = {game: row["states"] for game, row in PAPER.items()}
    every = {game: 100 if n > 1_000_000 else 4 if n > 100_000 else 1 for game, n in states.items()}

    def first(one_in: int) -> range:
        return range(min(seeds, max(2, seeds // one_in)))

    jobs = list[tuple[str, str, int]]()
    for game in games:
        jobs += [(row, game, seed) for row in starts for seed in first(every[game])]
        if starts and every[game] < 100:
            jobs += [("CFR10k", game, seed) for seed in first(10 * every[game])]
    for seed in range(network_seeds):
        jobs += [(row, game, seed) for row in networks for game in games if seed == 0 or every[game] < 100]
    return [Job(row, game, seed, _code(row, game)) for row, game, seed in jobs]


def finish(jobs: list[Job], ledger: Ledger[Job, Outcome], workers: int, report: Report) -> dict[Job, Outcome]:
    """Outcomes of all ``jobs``; those that the ledger lacks are run, ``workers`` at a time (``bidzoo.core.jobs``)."""
    waiting = [(job,) for job in jobs if job not in ledger.done]
    done = len(jobs) - len(waiting)
    report("jobs", done, len(jobs))
    for _, (job, outcome) in as_completed(_timed, waiting, workers, apart=True, what="solving small games"):
        ledger.add(job, outcome)
        done += 1
        report("jobs", done, len(jobs))
    return {job: ledger.done[job] for job in jobs}


# ---- tables and figures --------------------------------------------------------------------------


def _outcomes_of(results: dict[Job, Outcome], row: str, game: str) -> list[Outcome]:
    return [outcome for job, outcome in results.items() if (job.row, job.game) == (row, game)]


def _estimate(samples: Sequence[float], paper: float | None = None) -> Estimate | None:
    """The mean over seeds, one sample each; None without any."""
    return Estimate.of(samples, paper, group=range(len(samples))) if samples else None


def table_1_games(games: Sequence[str]) -> ResultTable:
    """The last lines of Table 1, and the proved optimum as a fraction and a number."""
    table = ResultTable(
        "Table 1: games",
        ["game", "states", "infosets", "best known (paper)", "exact optimum"],
        note="states and infosets as the paper counts them, equal to its figures; exact optimum: proved",
    )
    for game in games:
        paper, form = PAPER[game], compiled_of(game)
        counted = count_states(form), count_infosets(form, "deal" if game.startswith("mini_hanabi") else "mover")
        if counted != (paper["states"], paper["infosets"]):
            raise ValueError(f"{game}: {counted} states and infosets; the paper has {paper}")
        optimum = exact.solve(form)[0].value
        table.add(game, *counted, paper["Best known"], f"{optimum} = {float(optimum):.4f}")
    return table


def table_1(results: dict[Job, Outcome], rows: Sequence[str], games: Sequence[str]) -> ResultTable:
    """``rows`` of Table 1 across, games down, each with the best of our seeds."""
    table = ResultTable(
        f"Table 1: {' and '.join(rows)}",
        ["game", *(column for row in rows for column in (row, f"{row} best")), "n"],
        note="average reward ± standard error over n seeds; best: the best seed",
    )
    for game in games:
        line: dict[str, Any] = {"game": game}
        for row in rows:
            outcomes = _outcomes_of(results, row.removesuffix("+JPS"), game)
            samples = [outcome.boosted if row.endswith("+JPS") else outcome.value for outcome in outcomes]
            line[row] = _estimate(samples, PAPER[game][row])
            line[f"{row} best"] = max(samples, default=None)
            line["n"] = len(samples)
        table.rows.append(line)
    return table


def boosts(results: dict[Job, Outcome], games: Sequence[str]) -> ResultTable:
    """What JPS adds to each start, and what a seed costs."""
    table = ResultTable(
        "JPS as a booster",
        ["game", "start", "mixed", "before", "after JPS", "n", "JPS steps", "start s", "JPS s"],
        note="mixed: CFR's last iterate before it is purified; processor seconds are means; D is 'all' or 3 as in the "
        "paper; at most 100 steps, 128 from random in Comm 7",
    )
    for game in games:
        for start in ("random", *CFR, *NETWORKS):
            outcomes = _outcomes_of(results, start, game)
            if outcomes:
                paper = PAPER[game].get(f"{start}+JPS")
                table.rows.append(
                    {
                        "game": game,
                        "start": start,
                        "n": len(outcomes),
                        "mixed": _estimate([outcome.mixed for outcome in outcomes]) if start in CFR else None,
                        "before": _estimate([outcome.value for outcome in outcomes]),
                        "after JPS": _estimate([outcome.boosted for outcome in outcomes], paper),
                        "JPS steps": f"{np.mean([outcome.steps for outcome in outcomes]):.1f}",
                        "start s": f"{np.mean([outcome.seconds for outcome in outcomes]):.2g}",
                        "JPS s": f"{np.mean([outcome.jps_seconds for outcome in outcomes]):.2g}",
                    }
                )
    return table


def table_2(results: dict[Job, Outcome], keys: Sequence[tuple[str, str]]) -> ResultTable:
    """Table 2, one line a cell; its gains over the start are Figure 2's."""
    table = ResultTable(
        "Table 2: sampled JPS",
        ["game", "start", "samples", "reward", "gain over start"],
        note="states drawn at each information set, with replacement; the best of 100 iterations; gains seed by seed",
    )
    for game, start in keys:
        outcomes = _outcomes_of(results, start, game)
        before = np.array([outcome.value for outcome in outcomes])
        for samples, paper in TABLE_2[game, start].items():
            after = [outcome.boosted if samples == "all" else outcome.sampled[samples] for outcome in outcomes]
            table.add(game, start, samples, _estimate(after, paper), _estimate(list(after - before)))
    return table


def mean_advantages(results: dict[Job, Outcome]) -> ResultTable:
    """Sampled JPS that counts a sampled state by the mean advantage of all, in part (Eqs. 7 and 8)."""
    table = ResultTable(
        "Sampled JPS with the mean advantage (Eqs. 7 and 8) in Simple Bidding N = 16",
        ["samples", "lambda 0", *(f"lambda {weight}" for weight in MEAN_WEIGHTS), "n"],
        note="from CFR1k, the same seeds; lambda 0 is the paper's choice, which gives no number for others",
    )
    outcomes = [outcome for job, outcome in results.items() if (job.game, job.row) == (LONG, "CFR1k")][:MEAN_SEEDS]
    for n in MEAN_SAMPLES if outcomes else ():
        names = (str(n), *(f"{n}, {weight}" for weight in MEAN_WEIGHTS))
        columns = [_estimate([outcome.sampled[name] for outcome in outcomes]) for name in names]
        table.add(str(n), *columns, len(outcomes))
    return table


def figure_2(results: dict[Job, Outcome]) -> list[Figure]:
    """Figure 2 as lines over the number of samples, ours and the paper's Table 2, with baselines."""
    series: dict[str, list[float]] = {}
    for start in ("CFR1k", "BAD"):
        outcomes = _outcomes_of(results, start, LONG)
        if outcomes:
            series[f"{start} + sampled JPS"] = [
                float(np.mean([outcome.sampled[str(n)] for outcome in outcomes])) for n in SAMPLES
            ]
            series[f"{start} + sampled JPS (paper)"] = [TABLE_2[LONG, start][str(n)] for n in SAMPLES]
            series[start] = [float(np.mean([outcome.value for outcome in outcomes]))] * len(SAMPLES)
    title = "Figure 2: sampled JPS in Simple Bidding N = 16"
    return [Figure(title, "line", SAMPLES, series, "samples per information set", "reward")] if series else []


def auctions(game_id: str, strategy: F64) -> list[list[str]]:
    """The likeliest auction of each deal, ``[X][Y]``, as the paper writes them: ``"1S-2S-P"``."""
    form = compiled_of(game_id)

    def auction(x: int, y: int) -> str:
        m, calls = 0, []
        while form.count[m]:
            first, own = int(form.first[m]), (x, y)[form.player[m]]
            m = first + int(strategy[first : first + form.count[m], own].argmax())
            calls.append(form.game.action_text(int(form.action[m])))
        return "-".join(calls)

    return [[auction(x, y) for y in range(form.num_types[1])] for x in range(form.num_types[0])]


def grid_table(title: str, grid: Sequence[Sequence[str]], note: str) -> ResultTable:
    """Rows: hearts of player_0; columns: hearts of player_1."""
    table = ResultTable(f"MiniBridge N = 4: {title}", ["hearts", *(str(y) for y in range(len(grid[0])))], note=note)
    for x, row in enumerate(grid):
        table.add(str(x), *row)
    return table


def grids(results: dict[Job, Outcome]) -> list[ResultTable]:
    """Appendix C: the paper's policy, our best learned one, and a proved optimal one as grids of auctions."""
    tables = [grid_table("the paper's learned policy (Table 4)", TABLE_4, "worth 1.84, says the paper")]
    candidates = {job: outcome for job, outcome in results.items() if job.row == "CFR1k" and job.game == GRID}
    if candidates:
        job = max(candidates, key=lambda job: (candidates[job].boosted, -job.seed))
        strategy = jps.solve(compiled_of(GRID), job.seed)
        note = f"seed {job.seed} of CFR1k+JPS, worth {candidates[job].boosted:.4f}"
        tables.append(grid_table("our best learned policy", auctions(GRID, strategy), note))
    optimum, strategy = exact.solve(compiled_of(GRID))
    note = f"worth {optimum.value} = {float(optimum.value):.4f}, proved"
    return [*tables, grid_table("an optimal policy", auctions(GRID, strategy), note)]


# ---- all of it -----------------------------------------------------------------------------------


def main(
    seeds: int = 10,
    network_seeds: int = 1,
    rows: Sequence[str] | None = None,
    games: Sequence[str] | None = None,
    workers: int = 2,
    ledger: str | Path | None = None,
    report: Report = silent,
) -> Measured:
    """The tables and figures.

    Args:
        seeds: of CFR1k, CFR1k+JPS and random+JPS.
        network_seeds: of A2C and BAD; 0 leaves them out.
        rows: of Table 1, from ``ROWS``; default all.
        games: as in ``GAMES``; default all.
        workers: processes; they change no result.
        ledger: file of finished jobs, from which an interrupted run goes on.
        report: called with how many jobs are done, first at the start.

    Raises:
        ValueError: an unknown row or game, or a number that is too small.
    """
    rows, games = _chosen("row", rows, ROWS), _chosen("game", games, GAMES)
    if seeds < 1 or network_seeds < 0 or workers < 1:
        raise ValueError(
            f"seeds and workers must be at least 1, network_seeds 0: got {seeds}, {workers}, {network_seeds}"
        )
    with Ledger(ledger, Job, Outcome) as job_ledger:
        results = finish(jobs_of(rows, games, seeds, network_seeds), job_ledger, workers, report)
    tables = [table_1_games(games)]
    for pair in (ROWS[:2], NETWORKS):
        shown_rows = [row for row in pair if row in rows]
        if any(job.row + suffix in shown_rows for job in results for suffix in ("", "+JPS")):
            tables.append(table_1(results, shown_rows, games))
    tables.append(boosts(results, games))
    if sampled_keys := [key for key in TABLE_2 if any((job.game, job.row) == key for job in results)]:
        tables.append(table_2(results, sampled_keys))
        tables.append(mean_advantages(results))
    if GRID in games:
        tables += grids(results)
    return [table for table in tables if table.rows], figure_2(results)


def _chosen(kind: str, names: Sequence[str] | None, choices: Sequence[str]) -> tuple[str, ...]:
    """The ``choices`` that ``names`` mean, in their order; ``"mini_hanabi"`` can only be ``"mini_hanabi_v0()"``."""
    if not names:
        return tuple(choices)
    taken = set()
    for name in names:
        same = [choice for choice in choices if _plain(choice) == _plain(name)]
        matches = same or [choice for choice in choices if _plain(choice).partition("(")[0] == _plain(name)]
        if not matches:
            raise ValueError(f"unknown {kind} {name!r}; choose from {', '.join(choices)}")
        if len(matches) > 1:
            raise ValueError(f"{kind} {name!r} may be several; choose from {', '.join(matches)}")
        taken |= {*matches}
    return tuple(name for name in choices if name in taken)


def _plain(name: str) -> str:
    """``"simple_bidding(size=4)"`` of ``"simple_bidding_v0(size=4)"``."""
    return name.replace("_v0", "").replace(" ", "").removesuffix("()")

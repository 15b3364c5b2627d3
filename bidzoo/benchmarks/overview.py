"""``bidzoo bench``: the papers' headline results beside ours, the speed, bridge agents over held-out opponents, search.

Each part is shown when it is ready, quickest first. What waits for the compiler goes to worker processes, which compile
what this benchmark needs and no more. Boards are as many as keep the standard error of a bridge row below 0.15 IMPs.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bidzoo.agents.bridge.expert import HELD_OUT, imitation_note
from bidzoo.benchmarks import spades, tabular, throughput
from bidzoo.benchmarks.bridge import relations
from bidzoo.benchmarks.match import Run, duplicate
from bidzoo.benchmarks.results import Estimate, Figure, Measured, Report, ResultTable, silent
from bidzoo.core import jobs
from bidzoo.core.compiling import few_collections
from bidzoo.envs.bridge.game import Bridge

SMALL_GAMES = ("comm_v0(length=3)", "mini_hanabi_v0()", "simple_bidding_v0(size=8)", "minibridge_v0(size=4)")
SEEDS = 10  # of CFR1k and of CFR1k+JPS
SPADES_ROWS = ("BIS : RB, SRP", "BIS : RB that bids nil as often as BIS, SRP", "BIS : MS, SRP", "BIS : IO, SRP")
SPADES_GAMES = 2000
AGENTS = ("rpi", "ppo", "sl", "sayc")
IMPROVEMENTS = (("rl", "sl"), ("bmcs", "ppo"))  # an agent, and the policy that it began with: learning, search
BOARDS, SEARCH_BOARDS = 2000, 900  # of each bridge match, and at most of one with a search
THROUGHPUT_GAMES = ["bridge_bidding_v0"]  # which OpenSpiel has too
THROUGHPUT_SECONDS, THROUGHPUT_REPEATS = 0.2, 3


def small_games() -> Measured:
    """Table 1 of Joint Policy Search: CFR, and CFR with JPS."""
    rows = tabular.ROWS[:2]
    cfr_jobs = [job for job in tabular.jobs_of(rows, SMALL_GAMES, SEEDS, 0) if job.row == "CFR1k"]
    return [tabular.table_1({job: tabular.run(job) for job in cfr_jobs}, rows, SMALL_GAMES)], []


def spades_bidders() -> Measured:
    """Rows of Table 2 of Bidding in Spades."""
    compared = [row for row in spades.comparisons() if row.name in SPADES_ROWS]
    rows = spades.run_rows(compared, SPADES_GAMES, 0, silent)
    return [ResultTable(spades.TITLES["rule-based"], spades.COLUMNS, [*rows], spades.NOTES["rule-based"])], []


def strength(boards: int, seed: int) -> Measured:
    """Bridge agents over opponents that no agent was trained or selected against."""
    game, numbers = Bridge(False, deals="test", shuffle=False), np.arange(boards)
    note = (
        "Duplicate: every board at two tables, the sides exchanged; double dummy; ± standard error, clustered by deal. "
    ) + imitation_note(HELD_OUT)
    table = ResultTable(
        "Bridge agents over held-out opponents", ["agent", "against", "IMPs a board", "boards"], note=note
    )
    for name in AGENTS:
        matches = [duplicate(game, name, theirs, numbers, seed, seed) for theirs in HELD_OUT]
        mean = Estimate.of(np.mean([match.imps for match in matches], axis=0), group=matches[0].deals)
        table.add(name, " and ".join(HELD_OUT), mean, boards)
    table.rows.sort(key=lambda row: -row["IMPs a board"].mean)
    names, cells = zip(*((row["agent"], row["IMPs a board"]) for row in table.rows))
    series, errors = ([getattr(cell, part) for cell in cells] for part in ("mean", "error"))
    return [table], [
        Figure(table.title, "bars", names, {"IMPs": series}, "agent", "IMPs a board", note, {"IMPs": errors})
    ]


def improvements(boards: int, seed: int, workers: int, report: Report = silent) -> Measured:
    """What learning and search at the table gain over the policy that they begin with."""
    game, estimates = Bridge(False, deals="test", shuffle=False), dict[tuple[str, str], Estimate]()
    for pair, count in zip(IMPROVEMENTS, (boards, min(boards, SEARCH_BOARDS)), strict=True):
        label, tables = " over ".join(pair), 2 * count
        run = Run(workers, report=lambda done, label=label, tables=tables: report(label, done, tables))  # type: ignore[misc]
        estimates[pair] = duplicate(game, *pair, np.arange(count), seed, seed, run).estimate
    return [relations(estimates)], []


# ---- the parts, and who works on them ------------------------------------------------------------

SECONDS = {"small games": 12, "bridge": 25, "Spades": 25, "kernels of the others": 12}  # of a processor, about


def _in_worker(meter: jobs.Meter, name: str, work: Callable[..., Any], *arguments: Any) -> Any:
    with meter.measure(name), few_collections():
        return work(*arguments)


def _compile_others(boards: int) -> None:
    """Call once what is measured when nothing else is at work."""
    throughput.main(0.001, 1, THROUGHPUT_GAMES, peers=False, growth=False)
    improvements(min(boards, 2), 0, 1)


def parts(boards: int = BOARDS, seed: int = 0, workers: int = 2) -> list[Callable[[Report], Measured]]:
    """The parts of the benchmark, each of which is shown when it is ready."""
    folder = tempfile.TemporaryDirectory()
    meter = jobs.Meter(folder.name, SECONDS)
    works = (small_games,), (strength, boards, seed), (spades_bidders,), (_compile_others, boards)
    tasks = [(meter, name, *work) for name, work in zip(SECONDS, works, strict=True)]
    results_of_tasks = jobs.run(_in_worker, tasks, workers)

    def wait(report: Report) -> Any:
        with jobs.meanwhile(lambda _: report("seconds of one processor", *meter.read()), 0, 0.5):
            return next(results_of_tasks)

    def alone(report: Report) -> Measured:
        wait(report)
        folder.cleanup()
        report("throughput", 0, 1)
        return throughput.main(THROUGHPUT_SECONDS, THROUGHPUT_REPEATS, THROUGHPUT_GAMES, growth=False)

    return [wait, wait, wait, alone, partial(improvements, boards, seed, workers)]

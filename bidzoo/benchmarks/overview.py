"""``bidzoo bench``: the papers' headline results beside ours, the speed, bridge agents over held-out opponents, search.

Four parts, quickest first. The boards are as many as keep the standard error of a bridge row below 0.15 IMPs.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from bidzoo.agents.bridge.expert import HELD_OUT
from bidzoo.benchmarks import spades, tabular, throughput
from bidzoo.benchmarks.bridge import CLAIMS
from bidzoo.benchmarks.match import Run, duplicate
from bidzoo.benchmarks.results import Estimate, Figure, Measured, Report, ResultTable
from bidzoo.core.storage import Ledger
from bidzoo.envs.bridge.game import Bridge

SMALL_GAMES = ("comm_v0(length=3)", "mini_hanabi_v0()", "simple_bidding_v0(size=8)", "minibridge_v0(size=4)")
SEEDS = 10  # of CFR1k and of CFR1k+JPS
SPADES_ROWS = ("BIS : RB, SRP", "BIS : MS, SRP", "BIS : IO, SRP")
SPADES_GAMES = 2000
AGENTS = ("rpi", "ppo", "sl", "sayc")
SEARCH = ("bmcs", "ppo")  # the agent that searches, and its base policy
BOARDS, SEARCH_BOARDS = 2000, 1000  # of each bridge match, and at most of one with a search
COLUMNS = ["result", "unit", "ours", "paper", "source"]
THROUGHPUT_GAMES = ["bridge_bidding_v0", "spades_v0"]


def headlines(boards: int, seed: int, report: Report) -> Measured:
    """One table of the main figures of three papers, each with ours."""
    note = f"± standard error. Small games: {SEEDS} seeds (the paper: 1000). Spades: {SPADES_GAMES:,} games. Bridge: "
    note += f"{boards:,} boards at two tables each. What falls short, and why: docs/benchmarks.md"
    table = ResultTable("The papers' headline results beside ours", COLUMNS, note=note)

    def add(result: str, unit: str, ours: Estimate, source: str) -> None:
        assert ours.paper is not None
        table.add(result, unit, ours._replace(paper=None), ours.paper, source)

    jobs = [job for job in tabular.jobs_of(tabular.ROWS[:2], SMALL_GAMES, SEEDS, 0) if job.row == "CFR1k"]
    with Ledger(None, tabular.Job, tabular.Outcome) as ledger:
        outcomes = tabular.finish(jobs, ledger, 2, report)
    for row in tabular.table_1(outcomes, tabular.ROWS[:2], SMALL_GAMES).rows:
        for algorithm in tabular.ROWS[:2]:
            add(f"{algorithm} on {row['game']}", "reward", row[algorithm], "Tian et al. 2020, Table 1")
    chosen = [row for row in spades.comparisons() if row.name in SPADES_ROWS]
    for row in spades.run_rows(chosen, SPADES_GAMES, seed, report):
        add(f"Spades, {row[spades.COLUMNS[0]]}", "% won", row["win %"], "Cohensius et al. 2020, Table 2")
    report("bridge", 0, 1)
    _claimed(table, "rl", "sl", boards, seed, Run())
    report("bridge", 1, 1)
    return [table], []


def _claimed(table: ResultTable, ours: str, theirs: str, boards: int, seed: int, run: Run) -> None:
    """The row of a match between two agents of which a paper has the result."""
    claim = next(claim for claim in CLAIMS if (claim.first, claim.second) == (ours, theirs))
    game = Bridge(False, deals="test", shuffle=False)
    estimate = duplicate(game, ours, theirs, np.arange(boards), seed, seed, run).estimate
    table.add(f"Bridge, {ours} over {theirs}", "IMPs a board", estimate, claim.imps, claim.source)


def speed(report: Report) -> Measured:
    """Decisions a second beside OpenSpiel and whatever else is installed."""
    report("throughput", 0, 1)
    measured = throughput.main(0.2, 3, THROUGHPUT_GAMES, growth=False)
    report("throughput", 1, 1)
    return measured


def strength(boards: int, seed: int, report: Report) -> Measured:
    """Bridge agents over opponents that no agent was trained or selected against."""
    game, numbers = Bridge(False, deals="test", shuffle=False), np.arange(boards)
    note = (
        "Duplicate: every board at two tables, the sides exchanged; double dummy; ± standard error, clustered by deal"
    )
    table = ResultTable(
        "Bridge agents over held-out opponents", ["agent", "against", "IMPs a board", "boards"], note=note
    )
    for done, name in enumerate(AGENTS):
        report("bridge agents", done, len(AGENTS))
        matches = [duplicate(game, name, theirs, numbers, seed, seed) for theirs in HELD_OUT]
        mean = Estimate.of(np.mean([match.imps for match in matches], axis=0), group=matches[0].deals)
        table.add(name, " and ".join(HELD_OUT), mean, boards)
    report("bridge agents", len(AGENTS), len(AGENTS))
    table.rows.sort(key=lambda row: -row["IMPs a board"].mean)
    names, cells = zip(*((row["agent"], row["IMPs a board"]) for row in table.rows))
    series, errors = ([getattr(cell, part) for cell in cells] for part in ("mean", "error"))
    return [table], [
        Figure(table.title, "bars", names, {"IMPs": series}, "agent", "IMPs a board", note, {"IMPs": errors})
    ]


def search(boards: int, seed: int, workers: int, report: Report) -> Measured:
    """What search at the table gains over the policy that it searches with."""
    (ours, theirs), boards = SEARCH, min(boards, SEARCH_BOARDS)
    note = f"{boards:,} boards at two tables each, double dummy; ± standard error, clustered by deal"
    table = ResultTable("The gain of search, beside the paper's", COLUMNS, note=note)
    run = Run(workers=workers, report=lambda done: report(f"{ours} searches", done, 2 * boards))
    _claimed(table, ours, theirs, boards, seed, run)
    return [table], []


def parts(boards: int = BOARDS, seed: int = 0, workers: int = 2) -> list[Callable[[Report], Measured]]:
    """The parts of the benchmark; each is shown when it is ready."""
    strengths, gain = partial(strength, boards, seed), partial(search, boards, seed, workers)
    return [partial(headlines, boards, seed), speed, strengths, gain]

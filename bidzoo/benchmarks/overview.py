"""``bidzoo bench``: the papers' headline results beside ours, the speed, and bridge agents over held-out opponents.

Three parts, quickest first. The boards are as many as keep the standard error of a bridge row below 0.15 IMPs, but for
the searched match, which has the boards of a minute.
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
SEARCHES = ("rpi-bmcs", "expert-acol")  # the agent that searches, and its opponent
BOARDS, SEARCH_BOARDS = 2000, 400  # of each bridge match, and at most of one with a search
THROUGHPUT_GAMES = ["bridge_bidding_v0", "spades_v0"]


def headlines(boards: int, seed: int, report: Report) -> Measured:
    """One table of the main figures of three papers, each with ours."""
    note = f"± standard error. Small games: {SEEDS} seeds (the paper: 1000). Spades: {SPADES_GAMES:,} games. Bridge: "
    note += f"{boards:,} boards at two tables each. What falls short, and why: docs/benchmarks.md"
    columns = ["result", "unit", "ours", "paper", "source"]
    table = ResultTable("The papers' headline results beside ours", columns, note=note)

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
    claim = next(claim for claim in CLAIMS if (claim.first, claim.second) == ("rl", "sl"))
    match = duplicate(Bridge(False, deals="test", shuffle=False), "rl", "sl", np.arange(boards), seed, seed)
    report("bridge", 1, 1)
    add("Bridge, rl over sl", "IMPs a board", match.estimate._replace(paper=claim.imps), "Qiu et al. 2024, section IV")
    return [table], []


def speed(report: Report) -> Measured:
    """Decisions a second beside OpenSpiel and whatever else is installed."""
    report("throughput", 0, 1)
    measured = throughput.main(0.2, 3, THROUGHPUT_GAMES, growth=False)
    report("throughput", 1, 1)
    return measured


def strength(boards: int, seed: int, workers: int, report: Report) -> Measured:
    """Bridge agents over opponents that no agent was trained or selected against, and one that searches."""
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
    (ours, theirs), numbers = SEARCHES, numbers[:SEARCH_BOARDS]
    run = Run(workers=workers, report=lambda done: report(f"{ours} searches", done, 2 * len(numbers)))
    table.add(ours, theirs, duplicate(game, ours, theirs, numbers, seed, seed, run).estimate, len(numbers))
    table.rows.sort(key=lambda row: -row["IMPs a board"].mean)
    names, cells = zip(*((row["agent"], row["IMPs a board"]) for row in table.rows))
    series, errors = ([getattr(cell, part) for cell in cells] for part in ("mean", "error"))
    return [table], [
        Figure(table.title, "bars", names, {"IMPs": series}, "agent", "IMPs a board", note, {"IMPs": errors})
    ]


def parts(boards: int = BOARDS, seed: int = 0, workers: int = 2) -> list[Callable[[Report], Measured]]:
    """The parts of the benchmark; each is shown when it is ready."""
    return [partial(headlines, boards, seed), speed, partial(strength, boards, seed, workers)]

"""Table 3 of joint policy search, with several runs a row: training from `a2c-early`, with search and without.

    python experiments/joint_search.py --json docs/results/bridge-jps-runs.json

Trains ten baselines from random weights as `a2c-early` was, with other seeds, and every row's runs from `a2c-early`;
each is a folder of ``--out`` and goes on where it was stopped. Nothing is selected: the last networks play.

From a converged model, against opponents who are there already (``bidzoo deals estimate 500000 --seed 77011``):

    python experiments/joint_search.py --start a2c-bridge --syncs 40 \
        --deals estimated.npz --deals experiments/deals/more-train.npz --set boards=2000 --set learning_rate=3e-5 \
        --set burn_in=40000 --set capacity=100000 --set average=0.97 --set entropy=0.01 --set differing=true \
        --opponent expert-polish --opponent expert-acol --opponent expert-sayc --opponent expert-21gf \
        --json docs/results/bridge-jps-converged.json

By moves, as the program has it that the authors released, from a model that has gone on without search at the rate of
the rows: a lower rate than that of the start would win by itself, with search or without.

    python experiments/joint_search.py --start a2c-bridge --settle 100 --runs 5 --syncs 600 --boards 20000 \
        --deals estimated.npz --deals experiments/deals/more-train.npz \
        --set boards=1000 --set learning_rate=3e-5 --set average=0.97 --set differing=true \
        --row non-search --row "1-search, 1 % of moves" --row "JPS, 1 % of moves" --row "JPS, 5 % of moves" \
        --opponent expert-polish --opponent expert-acol --opponent expert-sayc --opponent expert-21gf \
        --out runs/joint-long --json docs/results/bridge-jps-long.json

Shorter runs (``--runs 3 --syncs 40``) go on to these in the same folder. Without opponents, and with another
``--json``, the same runs meet ten baselines (``bridge-jps-long-baselines.json``).
"""

import shlex
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.agents.bridge.jps import BY_MOVES
from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import Boards, contestant
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable, published
from bidzoo.cli import train
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured
from bidzoo.core.kernels import F64

START = Path(__file__).parent / "weights" / "a2c-early.safetensors"
MOVES = " of moves"  # how the names of rows end that are searched by moves
ROWS: dict[str, dict[str, Any]] = {  # options
    "non-search": {"share": 0},
    "1-search, 1 %": {"share": 0.01, "depth": 1},
    "JPS, 1 %": {"share": 0.01},
    "JPS, 5 %": {"share": 0.05},
    "JPS, 10 %": {"share": 0.1},
    f"1-search, 1 %{MOVES}": {**BY_MOVES, "share": 0.01, "depth": 1},
    f"JPS, 1 %{MOVES}": {**BY_MOVES, "share": 0.01},
    f"JPS, 5 %{MOVES}": {**BY_MOVES, "share": 0.05},
}
BY_GAMES = [name for name in ROWS if not name.endswith(MOVES)]
EARLY = "the paper's figures do not stand here: the rate falls at the start, which wins as much without search"
PAPER = {row["name"]: row["figure"] for row in published("text")}
COMMON = {"burn_in": 20_000, "capacity": 200_000}  # of `a2c-early`
SETTLED, FIRST_BASELINE = 100, 101  # seeds


def trained(out: Path, algorithm: str, *words: str, **options: Any) -> NetworkPolicy:
    """The network at the end of a run in the folder ``out``, which is made or goes on."""
    given = [word for name, value in (COMMON | options).items() for word in ("--set", f"{name}={value}")]
    asked = [algorithm, "--out", str(out), "--boards", "0", "--every", "3", *words, *given]
    done = out / "done"
    if not done.exists() or done.read_text("utf-8") != shlex.join(asked):
        train.app(asked, standalone_mode=False)
        done.write_text(shlex.join(asked), "utf-8")
    return NetworkPolicy(out / "network.safetensors", name=out.name)


def gains(ours: Policy, theirs: Policy, boards: Boards) -> float:
    """IMPs a board of ``ours`` against ``theirs``."""
    return float(duplicate(boards.game, (ours, ours), (theirs, theirs), boards.numbers, boards.seed).imps.mean())


def tables(
    boards: Boards,
    learned: dict[str, list[NetworkPolicy]],
    start: NetworkPolicy,
    others: list[Policy],
    fixed: bool,
    figures: bool,
    note: str,
    report: Report,
) -> Measured:
    """One table; no figures.

    Args:
        learned: the last networks of every row's runs.
        start: where all of them began.
        others: opponents of the second column; if ``fixed``, these and no sample of more, so that the error there
            counts the runs and no longer the opponents.
        figures: whether the paper's stand beside ours: not where the start was trained at a higher rate than the runs.
        note: what the runs are.
    """
    won: dict[str, F64] = {}  # [runs, 1 + others]
    for name, networks in learned.items():
        won[name] = np.array([[gains(ours, theirs, boards) for theirs in (start, *others)] for ours in networks])
        report("rows", len(won), len(learned))

    def estimates(gained: F64, paper: str = "") -> list[Estimate]:
        """Over the start, and over the mean of the others; ``paper``: the row whose figures stand beside."""
        others = gained[:, 1:].mean(1 if fixed else 0)
        first = PAPER.get(f"{paper} over its baseline")
        second = None if fixed else PAPER.get(f"{paper} against 10 baselines")
        return [
            Estimate.of(gained[:, 0], first, group=np.arange(len(gained))),
            Estimate.of(others, second, group=np.arange(len(others))),
        ]

    before = np.array([gains(start, theirs, boards) for theirs in others])
    lead = f"{before.mean():.2f}" if fixed else Estimate.of(before, group=np.arange(len(before)))
    over = f"over {len(others)} {'opponents' if fixed else 'baselines'}"
    counted = "over the runs" if fixed else "over the runs, and over the baselines, each a mean of all runs"
    note += f"; {boards}; ± {counted}; {start.name} has {lead} against these; less non-search: the same seeds, paired"
    note += "" if figures else f"; {EARLY}"
    columns = [f"over {start.name}", over, "less non-search", f"less non-search, {over}"]
    table = ResultTable("Share of searched games, several runs", ["row", *columns], note=note)
    for name in won:
        cells = estimates(won[name], name.removesuffix(MOVES) if figures else "")
        if name != "non-search" and "non-search" in won:
            cells += estimates(won[name] - won["non-search"])
        table.rows.append(dict(zip(table.columns, [name, *cells])))
    return [table], []


def main(
    start: Annotated[str, typer.Option(help="Weights that every row's runs begin with.")] = str(START),
    boards: Annotated[int, typer.Option(min=2, help="Boards of every match.")] = 10_000,
    runs: Annotated[int, typer.Option(min=2, help="Runs of every row.")] = 3,
    baselines: Annotated[int, typer.Option(min=2, help="Baselines of other seeds, without --opponent.")] = 10,
    early: Annotated[int, typer.Option(min=1, help="Synchronisations of a baseline.")] = 120,
    syncs: Annotated[int, typer.Option(min=1, help="Synchronisations of a run.")] = 20,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of every row's runs; as in train.")
    ] = None,
    deals: Annotated[list[Path] | None, typer.Option(help="Solved deals of every row's runs; as in train.")] = None,
    opponent: Annotated[list[str] | None, typer.Option(help="Opponent instead of baselines; may be repeated.")] = None,
    row: Annotated[
        list[str] | None, typer.Option(help=f"A row, may be repeated; default: by games. All: {'; '.join(ROWS)}.")
    ] = None,
    settle: Annotated[
        int, typer.Option(min=0, help="Synchronisations of the start alone, without search, before the rows'.")
    ] = 0,
    out: Annotated[Path, typer.Option(help="Folder of all runs.")] = Path("runs", "joint-search"),
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Table 3 of joint policy search: what search gains in training, over several runs."""
    given = dict(setting.partition("=")[::2] for setting in settings or [])
    solved = [word for path in deals or [] for word in ("--deals", str(path))]
    unknown = [name for name in row or [] if name not in ROWS]
    if unknown:
        raise typer.BadParameter(f"no row {unknown[0]!r}; choose from {'; '.join(ROWS)}")

    def measure(report: Report) -> Measured:
        begin, words = NetworkPolicy(start, name=Path(start).stem), [*solved, "--start", start]
        came = begin.name
        if settle:
            begin = trained(out / "start", "a2c", *words, syncs=settle, seed=SETTLED, **given)
            words = [*solved, "--start", str(out / "start" / "network.safetensors")]
            came += f" after {settle} synchronisations without search"
        others: list[Policy] = [contestant(name) for name in opponent or []] or [
            trained(out / f"baseline-{number}", "a2c", learning_rate=3e-4, syncs=early, seed=number)
            for number in range(FIRST_BASELINE, FIRST_BASELINE + baselines)
        ]
        learned: dict[str, list[NetworkPolicy]] = {name: [] for name in row or BY_GAMES}
        for number in range(1, runs + 1):
            for name, networks in learned.items():
                folder, options = out / f"{_folder(name)}-{number}", ROWS[name] | given
                networks.append(trained(folder, "jps", *words, syncs=syncs, seed=number, **options))
        against = ", ".join(opponent) if opponent else f"{baselines} baselines from random weights of {early}"
        note = f"{runs} runs a row of {syncs} synchronisations from {came}; opponents: {against}"
        figures = start != str(START) or settle > 0
        return tables(Boards(boards, seed), learned, begin, others, bool(opponent), figures, note, report)

    measured("joint-search", seed, json, measure)


def _folder(row: str) -> str:
    return row.replace(", ", "-").replace(" %", "").lower()


if __name__ == "__main__":
    typer.run(main)

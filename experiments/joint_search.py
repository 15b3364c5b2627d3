"""Table 3 of joint policy search, with several runs a row: training from `a2c-early`, with search and without.

    python experiments/joint_search.py --json docs/results/bridge-jps-runs.json

Trains ten baselines from random weights as `a2c-early` was, with other seeds, and every row's runs from `a2c-early`;
each is a folder of ``--out`` and goes on where it was stopped. Nothing is selected: the last networks play.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.benchmarks.bridge import Boards
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli import train
from bidzoo.cli.options import Json, Seed, measured
from bidzoo.core.kernels import F64

START = Path(__file__).parent / "weights" / "a2c-early.safetensors"
ROWS: dict[
    str, tuple[dict[str, Any], float, float]
] = {  # options; IMPs in the paper over the baseline, over ten others
    "non-search": ({"share": 0}, 0.20, 0.27),
    "1-search, 1 %": ({"share": 0.01, "depth": 1}, 0.46, 0.37),
    "JPS, 1 %": ({"share": 0.01}, 0.71, 0.47),
    "JPS, 5 %": ({"share": 0.05}, 0.70, 0.66),
    "JPS, 10 %": ({"share": 0.1}, 0.44, 0.39),
}
COMMON = {"burn_in": 20_000, "capacity": 200_000}  # of `a2c-early`
FIRST_BASELINE = 101  # seed


def trained(out: Path, algorithm: str, *words: str, **options: Any) -> NetworkPolicy:
    """The network at the end of a run in the folder ``out``, which is made or goes on."""
    if not (out / "done").exists():
        settings = [f"{name}={value}" for name, value in (COMMON | options).items()]
        given = [word for setting in settings for word in ("--set", setting)]
        train.app(
            [algorithm, "--out", str(out), "--boards", "0", "--every", "3", *words, *given], standalone_mode=False
        )
        (out / "done").touch()
    return NetworkPolicy(out / "network.safetensors", name=out.name)


def gains(ours: NetworkPolicy, theirs: NetworkPolicy, boards: Boards) -> float:
    """IMPs a board of ``ours`` against ``theirs``."""
    return float(duplicate(boards.game, (ours, ours), (theirs, theirs), boards.numbers, boards.seed).imps.mean())


def tables(boards: Boards, runs: int, baselines: int, early: int, syncs: int, out: Path, report: Report) -> Measured:
    """One table; no figures."""
    others = [
        trained(out / f"baseline-{seed}", "a2c", learning_rate=3e-4, syncs=early, seed=seed)
        for seed in range(FIRST_BASELINE, FIRST_BASELINE + baselines)
    ]
    start, seeds = NetworkPolicy(START), range(1, runs + 1)
    won: dict[str, F64] = {}  # [runs, 1 + baselines]
    for number, (name, (options, *_)) in enumerate(ROWS.items()):
        folder = name.replace(", ", "-").replace(" %", "").lower()
        learned = [
            trained(out / f"{folder}-{seed}", "jps", "--start", str(START), syncs=syncs, seed=seed, **options)
            for seed in seeds
        ]
        won[name] = np.array([[gains(ours, theirs, boards) for theirs in (start, *others)] for ours in learned])
        report("rows", number + 1, len(ROWS))
    before = np.array([gains(start, theirs, boards) for theirs in others])
    each, ten = np.arange(runs), np.arange(baselines)
    note = (
        f"{runs} runs a row of {syncs} synchronisations from a2c-early, {baselines} baselines from random weights of"
        f" {early}; {boards}; ± over the runs, and over the baselines, each a mean of all runs; a2c-early itself wins"
        f" {Estimate.of(before, group=ten)} of the baselines. Less non-search: the same seeds and baselines, paired"
    )
    over = f"over {baselines} baselines"
    columns = ["over a2c-early", over, "less non-search", f"less non-search, {over}"]
    table = ResultTable("Share of searched games, several runs", ["row", *columns], note=note)
    without = won["non-search"]
    for name, (_, *paper) in ROWS.items():
        gained = won[name] - without
        cells = [Estimate.of(won[name][:, 0], paper[0], group=each)]
        cells += [Estimate.of(won[name][:, 1:].mean(0), paper[1], group=ten)]
        if name != "non-search":
            cells += [Estimate.of(gained[:, 0], group=each), Estimate.of(gained[:, 1:].mean(0), group=ten)]
        table.rows.append(dict(zip(table.columns, [name, *cells])))
    return [table], []


def main(
    boards: Annotated[int, typer.Option(min=2, help="Boards of every match.")] = 10_000,
    runs: Annotated[int, typer.Option(min=2, help="Runs of every row.")] = 3,
    baselines: Annotated[int, typer.Option(min=2, help="Baselines of other seeds.")] = 10,
    early: Annotated[int, typer.Option(min=1, help="Synchronisations of a baseline.")] = 120,
    syncs: Annotated[int, typer.Option(min=1, help="Synchronisations of a run.")] = 20,
    out: Annotated[Path, typer.Option(help="Folder of all runs.")] = Path("runs", "joint-search"),
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Table 3 of joint policy search: what search gains in training, over several runs."""
    measured(
        "joint-search",
        seed,
        json,
        lambda report: tables(Boards(boards, seed), runs, baselines, early, syncs, out, report),
    )


if __name__ == "__main__":
    typer.run(main)

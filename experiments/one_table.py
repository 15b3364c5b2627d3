"""What an agent costs at one table, microseconds of the processor a decision, beside OpenSpiel's loop.

python experiments/one_table.py
python experiments/one_table.py --beside ../before    # and in another checkout, in turn

Each side is a process; slices of all sides and contestants take turns, so that a drift of the machine hits all alike.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import typer

from bidzoo import agents
from bidzoo.benchmarks.results import Measured, Report, ResultTable, silent
from bidzoo.benchmarks.throughput import PEERS, Work, asked, slice_of
from bidzoo.cli.options import Json
from bidzoo.cli.showing import measured
from bidzoo.registry import GAMES

BRIDGE = "bridge_bidding_v0"
ASKED = (
    *((BRIDGE, name) for name in ("random", "sayc", "sl", "rpi", "expert-sayc")),
    ("spades_v0", "random"),
    ("spades_v0", "bis"),
    ("minibridge_v0", "cfr"),
)
AMONG = ("random", "sayc", "sl", "rpi")


def among(name: str) -> Work:
    """Gymnasium's environment of one table: a learner, who passes as often as not, among three agents ``name``."""
    env = gymnasium.make(GAMES[BRIDGE].gymnasium_id, opponents=name)
    rng, masks = np.random.default_rng(1), [env.reset(seed=1)[1]["action_mask"]]

    def work() -> int:
        for _ in range(64):
            legal = masks[0].nonzero()[0]
            action = 0 if rng.random() < 0.5 else legal[int(rng.random() * len(legal))]
            _, _, over, _, info = env.step(action)
            masks[0] = (env.reset()[1] if over else info)["action_mask"]
        return 64

    return work


def network_row(name: str) -> Work:
    """The network of an agent alone, on one row."""
    network: Any = agents.make(name)
    network = network.network
    x = np.zeros((1, network.architecture.inputs), np.int8)
    x[0, ::20] = 1

    def work() -> int:
        for _ in range(64):
            network(x)
        return 64

    return work


WORKS: dict[str, Callable[[], Work | None]] = {
    **{f"env.step(env.ask({name})), {game}": partial(asked, game, name) for game, name in ASKED},
    **{f"gymnasium.make, a learner among {name}": partial(among, name) for name in AMONG},
    **{f"the network of {name} on one row": partial(network_row, name) for name in ("sl", "rpi")},
    "OpenSpiel from Python, random calls": PEERS[0].make,
}


class Side:
    """A process that measures a slice of one of ``WORKS`` whenever it is asked, with the package of ``checkout``."""

    def __init__(self, checkout: Path) -> None:
        code = f"import sys; sys.path[:0] = [{str(checkout)!r}, {str(Path(__file__).parent)!r}]; import one_table"
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{code}; one_table.answer()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def measure(self, name: str, seconds: float) -> float:
        """Microseconds a decision; NaN where it cannot be made."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, seconds]).encode() + b"\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def answer() -> None:
    """Measure what each line of the input asks for; the number goes into the output."""
    works: dict[str, Work | None] = {}
    for line in sys.stdin:
        name, seconds = json.loads(line)
        if name not in works:
            works[name] = WORKS[name]()
        work = works[name]
        print(float("nan") if work is None else 1e6 / slice_of(work, seconds)[1], flush=True)


def tables(checkouts: dict[str, Path], rounds: int, seconds: float, report: Report = silent) -> Measured:
    """The table: of each contestant the fastest of ``rounds`` slices of each checkout."""
    sides = {title: Side(checkout) for title, checkout in checkouts.items()}
    for name in WORKS:
        for side in sides.values():
            side.measure(name, 2 * seconds)  # compiles
    slices = []
    for done in range(rounds):
        slices.append({(name, title): side.measure(name, seconds) for name in WORKS for title, side in sides.items()})
        report("one table", done + 1, rounds)
    for side in sides.values():
        side.close()
    note = f"microseconds of the processor a decision, fastest of {rounds} slices of {seconds} s, in turn"
    titles = [*sides]
    table = ResultTable("Agents at one table", ["what", *titles, *(["times"] if len(titles) > 1 else [])], note=note)
    for name in WORKS:
        best = [min(each[name, title] for each in slices) for title in titles]
        table.add(name, *best, *([best[1] / best[0]] if len(best) > 1 else []))
    return [table], []


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Slices of each contestant.")] = 9,
    seconds: Annotated[float, typer.Option(min=0.001, help="Length of a slice.")] = 0.2,
    beside: Annotated[Path | None, typer.Option(help="Another checkout, measured in turn.")] = None,
    json: Json = None,
) -> None:
    """Measure agents at one table."""
    checkouts = {"microseconds": Path(__file__).parents[1], **({} if beside is None else {"before": beside.resolve()})}
    measured("one-table", 1, json, lambda report: tables(checkouts, rounds, seconds, report))


if __name__ == "__main__":
    typer.run(main)

"""What a search saves, and loses, that ends when its choice is expected to lose little (``opportunity_cost``).

    python experiments/early_search.py --positions 300 --json docs/results/bridge-early.json

At decisions of test boards with several plausible calls each agent searches as packaged and to the end of Algorithm 3,
on the same deals. Both choices are valued on other deals, several times as many, by the double-dummy network.
"""

import time
from typing import Annotated, Any, cast

import numpy as np
import typer
from bridge_search import open_decisions

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured

AGENTS = ("rpi-bmcs", "bmcs-sl")
WHOLE: dict[str, Any] = {"opportunity_cost": 0.0, "p_max": 8000}  # as both were before
VALUED: dict[str, Any] = {"opportunity_cost": 0.0, "r_max": 1000, "p_max": 24_000}
FEWEST = 50  # deals that value a choice


def row(name: str, positions: int, seed: int, report: Report) -> list[Any]:
    """Time, deals, same calls, value of the search, and what ending early changes: of ``name``."""
    ways = [cast(Bmcs, agents.make(name, **options)) for options in ({}, WHOLE)]
    longer, decisions = cast(Bmcs, agents.make(name, **VALUED)), open_decisions(ways[0], positions, seed)
    seconds, deals = np.zeros((2, positions)), np.zeros((2, positions))
    value, same = np.full((2, positions), np.nan), np.zeros(positions)
    for i in range(positions):
        view, chances = decisions.views[i : i + 1], decisions.chances[i]
        found = []
        for k, way in enumerate(ways):
            if i == 0:
                way.search(view, chances, seed)  # compile, load weights
            began = time.process_time()
            found.append(way.search(view, chances, seed + 2 * i))
            seconds[k, i], deals[k, i] = time.process_time() - began, len(found[k].deals.hands)
        same[i] = found[0].call == found[1].call
        other = longer.search(view, chances, seed + 2 * i + 1)
        if other.deals.size >= FEWEST:
            prior = longer.options.prior * np.log(chances[other.calls] / chances.max())
            values = other.deals.mean(other.gains) + prior
            value[:, i] = [values[other.calls == one.call][0] for one in found]
        report(name, i + 1, positions)
    valued = ~np.isnan(value[0])
    groups = decisions.deals
    return [
        float(1000 * seconds[0].mean()),
        float(1000 * seconds[1].mean()),
        float(seconds[0].sum() / seconds[1].sum()),
        float(deals[0].mean()),
        float(deals[1].mean()),
        Estimate.of(100 * same, group=groups),
        Estimate.of(value[1, valued], group=groups[valued]),
        Estimate.of((value[0] - value[1])[valued], group=groups[valued]),
    ]


def tables(positions: int, seed: int, report: Report) -> Measured:
    """One table, a row for each agent; no figures."""
    columns = ["CPU ms", "CPU ms, whole", "ratio", "deals", "deals, whole", "same call, %", "value, whole", "change"]
    note = (
        f"{positions} decisions with several plausible calls each, on test boards; whole: up to {WHOLE['p_max']} deals"
        f" sampled; value: IMPs over the likeliest call on {FEWEST} to {VALUED['r_max']} other deals, with the prior"
    )
    table = ResultTable("Searches that end early", ["agent", *columns], note=note)
    for name in AGENTS:
        table.add(name, *row(name, positions, seed, report))
    return [table], []


def main(
    positions: Annotated[int, typer.Option(min=2, help="Decisions with more than one likely call.")] = 300,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Measure searches that end early beside whole ones."""
    measured("bridge-early", seed, json, lambda report: tables(positions, seed, report))


if __name__ == "__main__":
    typer.run(main)

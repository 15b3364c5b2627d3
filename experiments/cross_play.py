"""Agents beside partners of other systems: what the pair loses is what the two do not understand of each other.

python experiments/cross_play.py --boards 3000
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo import agents
from bidzoo.benchmarks.bridge import Boards, line_up
from bidzoo.benchmarks.experts import EXPERTS
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Figure, Measured, Report, ResultTable, silent
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured

AGENTS = ("sayc", "sl", "rl", "ppo", *EXPERTS)
MEAN = "mean IMPs a board"  # over the four systems


def cross_play(entries: Sequence[str], boards: int, seed: int, report: Report = silent) -> Measured:
    """Every agent opposite an expert of every system, against two of that system: a table and a heat map."""
    policies, missing = line_up(entries, least=1)
    partners = [agents.resolve(name, "bridge_bidding_v0") for name in EXPERTS]
    board_set = Boards(boards, seed)
    note = (
        f"{board_set}. The row's agent partners the column's, which assumes that all four players use its own system,"
        " against two of the column's. Duplicate, ± standard error, clustered by deal"
        + (f". Left out: {'; '.join(missing)}" if missing else "")
    )
    table = ResultTable("Cross-play", ["agent", *EXPERTS, MEAN], note=note)
    heat: dict[str, list[float]] = {}
    for number, ours in enumerate(policies):
        row: dict[str, Any] = {"agent": ours.name}
        imps_won = []
        for partner in partners:
            if partner.name != ours.name:
                match = duplicate(board_set.game, (ours, partner), (partner, partner), board_set.numbers, seed, seed)
                imps_won.append(match.imps)
                row[partner.name] = board_set.estimate(match.imps)
        table.rows.append({**row, MEAN: board_set.estimate(np.mean(imps_won, axis=0))})
        heat[ours.name] = [row[name].mean if name in row else 0.0 for name in EXPERTS]
        report("agents", number + 1, len(policies))
    return [table], [Figure(table.title, "heat", EXPERTS, heat, "partner", "agent", note)]


def main(
    agent: Annotated[list[str] | None, typer.Option(help="Agent; may be repeated.")] = None,
    boards: Annotated[int, typer.Option(min=2, help="Boards of every match.")] = 10_000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Every agent with an expert of every system as its partner, against two of that system, in IMPs a board."""
    measured("cross-play", seed, json, lambda report: cross_play(agent or AGENTS, boards, seed, report))


if __name__ == "__main__":
    typer.run(main)

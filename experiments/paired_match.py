"""Whether a network plays better than the agent that it is to replace: both on the same boards.

    bidzoo deals estimate 50000 --seed 88002 --out deals.npz
    python experiments/paired_match.py rpi mean.safetensors --opponent expert-sayc --deals deals.npz --boards 40000

Two networks that are much alike make the same calls on most boards. So their difference is measured with a fraction of
the error of either: directly, in a duplicate match, and against the same opponents on the same boards. Boards of
estimated deals decide between two networks, since there are enough of them; how strong an agent is, test deals say.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo import agents
from bidzoo.benchmarks.match import Match, duplicate
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json, Seed, measured
from bidzoo.envs.bridge.game import Bridge


def tables(
    base: str, candidates: Sequence[str], opponents: Sequence[str], game: Bridge, boards: int, seed: int, report: Report
) -> Measured:
    """One table: of each candidate what it wins over ``base`` directly, and more than it against ``opponents``."""
    numbers, players = np.arange(boards), {name: agents.resolve(name, game.id) for name in (base, *candidates)}
    others = {name: agents.resolve(name, game.id) for name in opponents}

    def against(name: str) -> dict[str, Match]:
        return {other: duplicate(game, players[name], others[other], numbers, seed) for other in opponents}

    mine, rows = against(base), list[Mapping[str, Any]]()
    report("agents", 1, 1 + len(candidates))
    for done, name in enumerate(candidates, 2):
        direct, theirs = duplicate(game, players[name], players[base], numbers, seed), against(name)
        more = {other: theirs[other].imps - mine[other].imps for other in opponents}
        row: dict[str, Any] = {"agent": name, f"over {players[base].name}": direct.estimate}
        row |= {others[other].name: Estimate.of(each, group=direct.deals) for other, each in more.items()}
        if more:
            row["mean"] = Estimate.of(np.mean([*more.values()], axis=0), group=direct.deals)
        rows.append(row)
        report("agents", done, 1 + len(candidates))
    note = (
        f"{boards:,} boards of {len(np.unique(game.deal_numbers(numbers, seed))):,} deals, double dummy; IMPs a board"
        f" of a duplicate match with {players[base].name}, then IMPs more than it wins against each opponent on the"
        " same boards, and their mean; ± standard error, clustered by deal"
    )
    return [ResultTable(f"Beside {players[base].name}", [*rows[0]], rows, note=note)], []


def main(
    base: Annotated[str, typer.Argument(help="Agent that the others are compared with.")],
    candidate: Annotated[list[str], typer.Argument(help="Agents, or files of weights.")],
    opponent: Annotated[list[str] | None, typer.Option(help="Agent that all of them play; may be repeated.")] = None,
    deals: Annotated[str, typer.Option(help="A split of the packaged deals, or a file.")] = "validation",
    boards: Annotated[int, typer.Option(min=2, help="Boards of each match.")] = 2000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Compare agents with another one on the same boards."""
    game, opponents = Bridge(False, deals=deals), opponent or []
    measured("paired-match", seed, json, lambda report: tables(base, candidate, opponents, game, boards, seed, report))


if __name__ == "__main__":
    typer.run(main)

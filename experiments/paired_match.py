"""Whether a network plays better than the agent that it is to replace: both on the same boards.

    bidzoo deals estimate 50000 --seed 88002 --out deals.npz
    python experiments/paired_match.py rpi mean.safetensors --opponent expert-sayc --deals deals.npz --boards 40000

Two networks that are much alike make the same calls on most boards. So their difference is measured with a fraction of
the error of either: directly, in a duplicate match, and against the same opponents on the same boards. Boards of
estimated deals decide between two networks, since there are enough of them; how strong an agent is, test deals say.
A second table says at which tables the difference arises: by the points of both hands, and where the opponents passed.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge.selfplay import bidders
from bidzoo.agents.policy import told_apart
from bidzoo.benchmarks.match import Match, duplicate
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured
from bidzoo.core.kernels import F64, I64, Bool, States
from bidzoo.envs.bridge.bidder import points_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps

POINTS = {"to 19 points": (0, 19), "20 to 25": (20, 25), "26 to 28": (26, 28), "29 and more": (29, 40)}


def tables(
    base: str, candidates: Sequence[str], opponents: Sequence[str], game: Bridge, boards: int, seed: int, report: Report
) -> Measured:
    """One table: of each candidate what it wins over ``base`` directly, and more than it against ``opponents``."""
    numbers, players = np.arange(boards), {name: agents.resolve(name, game.id) for name in (base, *candidates)}
    others = {name: agents.resolve(name, game.id) for name in opponents}

    def against(name: str) -> dict[str, Match]:
        return {other: duplicate(game, players[name], others[other], numbers, seed) for other in opponents}

    mine, rows, parts = against(base), list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    report("agents", 1, 1 + len(candidates))
    for done, name in enumerate(candidates, 2):
        direct, theirs = duplicate(game, players[name], players[base], numbers, seed), against(name)
        more = {other: theirs[other].imps - mine[other].imps for other in opponents}
        row: dict[str, Any] = {"agent": name, f"over {players[base].name}": direct.estimate}
        named = dict(zip(opponents, told_apart([others[other].name for other in opponents])))
        row |= {named[other]: Estimate.of(each, group=direct.deals) for other, each in more.items()}
        if more:
            row["mean"] = Estimate.of(np.mean([*more.values()], axis=0), group=direct.deals)
            parts += by_class(name, [(mine[other], theirs[other]) for other in opponents])
        rows.append(row)
        report("agents", done, 1 + len(candidates))
    note = (
        f"{boards:,} boards of {len(np.unique(game.deal_numbers(numbers, seed))):,} deals, double dummy; IMPs a board"
        f" of a duplicate match with {players[base].name}, then IMPs more than it wins against each opponent on the"
        " same boards, and their mean; ± standard error, clustered by deal"
    )
    whole = ResultTable(f"Beside {players[base].name}", [*rows[0]], rows, note=note)
    note = (
        "both agents at the same tables, against all opponents; points of their side's two hands, and whether the"
        " opponents pass throughout against both; IMPs of each table, whose sum is not quite that of whole matches"
    )
    where = f"Where the difference to {players[base].name} arises"
    return [whole, *([ResultTable(where, [*parts[0]], parts, note=note)] if parts else [])], []


def by_class(name: str, matches: Sequence[tuple[Match, Match]]) -> list[dict[str, Any]]:
    """Rows of the agent ``name``, from the base's match and its own against each opponent."""
    pairs = list[tuple[Table, Table]]()
    for base, mine in matches:
        pairs.append((Table.of(base.first, 0), Table.of(mine.first, 0)))
        pairs.append((Table.of(base.second, 1), Table.of(mine.second, 1)))
    gain = np.array([imps(b.points - a.points) for a, b in pairs]).astype(float)  # [opponents * 2, N]
    held = np.array([a.held for a, _ in pairs])
    quiet = np.array([a.quiet & b.quiet for a, b in pairs])
    classes = {label: (low <= held) & (held <= high) for label, (low, high) in POINTS.items()}
    classes |= {"opponents pass": quiet, "opponents bid": ~quiet}
    return [
        {
            "agent": name,
            "tables": label,
            "share, %": 100 * float(tables.mean()),
            "IMPs a board": Estimate.of((gain * tables).sum(0) / len(matches), group=matches[0][0].deals),
        }
        for label, tables in classes.items()
    ]


class Table(NamedTuple):
    """Columns ``[N]`` of finished tables, as the side sees them that an agent played."""

    points: I64  # of its score
    held: F64  # high-card points of its two hands
    quiet: Bool  # whether the other side passed throughout

    @classmethod
    def of(cls, states: States, side: int) -> "Table":
        """Those of final ``states`` ``[N]``; ``side`` 0 for North and South, 1 for East and West."""
        points = states["points"][:, 0].astype(np.int64)
        held = np.vectorize(points_row, [float])(states["hands"][:, side::2]).sum(1)
        return cls(-points if side else points, held, bidders(states) & (2 >> side) == 0)


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

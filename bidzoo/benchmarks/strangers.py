"""Bridge agents against pairs that they never met, and beside partners of other systems.

*Strangers* are experts of four bidding systems (``agents.bridge.expert``). No agent learns from those of ``STRANGERS``,
or is selected or tuned on them. *Cross-play*: an agent sits opposite an expert, who believes to play with his own kind,
against two such experts; what the pair loses is what the two do not understand of each other.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge.expert import STRANGERS
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import bridge
from bidzoo.benchmarks.bridge import MATCH_NOTE, Boards, Contracts, Options, deals_text, line_up, run_of
from bidzoo.benchmarks.match import MatchLedger, duplicate, slow
from bidzoo.benchmarks.results import Figure, Measured, Report, ResultTable, silent
from bidzoo.core.kernels import I64
from bidzoo.core.options import choose_from

EXPERTS = ("expert-sayc", "expert-21gf", *STRANGERS)
WILD = "expert-wild"
MEAN = "mean IMPs a board"  # column: over the four systems
DEFAULT = ("sayc", "sl", "sl-wide", "a2c-bridge", "jps-bridge", "baseline19", "rl", "ppo", "rpi", "bmcs")
BESIDE = ("sayc", "sl", "rl", "ppo", *EXPERTS)  # agents of the matrix of partners

# ---- against -----------------------------------------------------------------------------


def main(entries: Sequence[str | Policy], options: Options, report: Report = silent) -> Measured:
    """The table of all agents against all experts, strongest first, and its bars.

    Args:
        entries: as ``bridge.contestant`` takes them; those that cannot play are named in the note and left out.
        options: boards, workers and files.
        report: told about the progress.
    """
    playing, missing = line_up(entries, least=1)
    others = [agents.resolve(name, "bridge_bidding_v0") for name in (*EXPERTS, WILD)]
    with nullcontext() if options.ledger is None else MatchLedger(options.ledger, [*playing, *others]) as ledger:
        won, boards = _matches(playing, others, options, ledger, report)
    note = f"{deals_text(boards, playing)}. {MATCH_NOTE}. The mean is over the four systems"
    note += f". Left out: {'; '.join(missing)}" if missing else ""
    table = ResultTable("Against strangers", ["agent", *EXPERTS, MEAN, WILD], note=note)
    for ours in playing:
        played_on = boards[slow([ours])]
        row = {name: played_on.estimate(won[ours.name, name]) for name in (*EXPERTS, WILD)}
        together = np.mean([won[ours.name, name] for name in EXPERTS], axis=0)
        table.rows.append({"agent": ours.name, **row, MEAN: played_on.estimate(together)})
    table.rows.sort(key=lambda row: -row[MEAN].mean)
    series = {name: [row[name].mean for row in table.rows] for name in EXPERTS}
    names = [row["agent"] for row in table.rows]
    return [table], [Figure(table.title, "bars", names, series, "agent", "IMPs a board", table.note)]


def _matches(
    playing: Sequence[Policy], others: Sequence[Policy], options: Options, ledger: MatchLedger | None, report: Report
) -> tuple[Mapping[tuple[str, str], I64], dict[bool, Boards]]:
    """IMPs ``[N]`` that each agent won of each expert, and the boards of fast and of slow agents."""
    won: dict[tuple[str, str], I64] = {}
    boards: dict[bool, Boards] = {}
    for kind in sorted({slow([ours]) for ours in playing}):
        played_on = boards[kind] = options.boards_of(kind)
        pairs = [(ours, theirs) for ours in playing if slow([ours]) == kind for theirs in others]
        rooms = [room for pair in pairs for room in (pair, pair[::-1])]
        run = run_of(kind, len(rooms) * len(played_on.numbers), options, ledger, report)
        ended = [Contracts.of(states) for _, states in played_on.play_rooms(rooms, run)]
        if options.fresh:
            played_on.solve(ended, options.cache, options.workers, options.backend, report)
        for (ours, theirs), first, second in zip(pairs, ended[::2], ended[1::2], strict=True):
            won[ours.name, theirs.name] = played_on.match(first, second)
    return won, boards


def with_house(
    entries: Sequence[str | Policy], options: Options, only: str | None = None, report: Report = silent
) -> Measured:
    """The table of strangers, then those of ``bridge.main``; ``only`` ``"strangers"`` or ``"house"``.

    Without ``entries`` those of ``DEFAULT`` meet the strangers, and those of ``bridge.DEFAULT`` each other.
    """
    suites = {"strangers": (main, DEFAULT), "house": (bridge.main, bridge.DEFAULT)}
    if only is not None and only not in suites:
        raise ValueError(f"only {only!r}: {choose_from(only, suites)}")
    found = [
        suite(entries or usual, options, report) for name, (suite, usual) in suites.items() if only in (None, name)
    ]
    return [table for tables, _ in found for table in tables], [figure for _, figures in found for figure in figures]


# ---- beside ------------------------------------------------------------------------------


def cross_play(
    entries: Sequence[str | Policy] = BESIDE, boards: int = 10_000, seed: int = 0, report: Report = silent
) -> Measured:
    """Every agent opposite an expert of every system, against two of that system: a table and a heat map."""
    playing, _ = line_up(entries, least=1)
    partners = [agents.resolve(name, "bridge_bidding_v0") for name in EXPERTS]
    on = Boards(boards, seed)
    note = (
        f"{on}. Row sits opposite column, who believes to play with his own kind, against two of column."
        " Duplicate, ± standard error, boards of one deal as one"
    )
    table = ResultTable("Cross-play", ["agent", *EXPERTS, MEAN], note=note)
    heat: dict[str, list[float]] = {}
    for number, ours in enumerate(playing):
        row: dict[str, Any] = {"agent": ours.name}
        won = []
        for partner in partners:
            if partner.name != ours.name:
                played = duplicate(on.game, (ours, partner), (partner, partner), on.numbers, seed, seed)
                won.append(played.imps)
                row[partner.name] = on.estimate(played.imps)
        table.rows.append({**row, MEAN: on.estimate(np.mean(won, axis=0))})
        heat[ours.name] = [row[name].mean if name in row else 0.0 for name in EXPERTS]
        report("agents", number + 1, len(playing))
    return [table], [Figure(table.title, "heat", EXPERTS, heat, "partner", "agent", note)]

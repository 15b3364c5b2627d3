"""Bridge agents against the experts, who imitate four bidding systems (``agents.bridge.expert``).

No agent learns from those of ``HELD_OUT``, or is selected or tuned on them.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge.expert import HELD_OUT
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import MATCH_NOTE, Options, deals_text, line_up, play_rooms
from bidzoo.benchmarks.match import made_of, slow
from bidzoo.benchmarks.results import Figure, Measured, Report, ResultTable, silent

EXPERTS = ("expert-sayc", "expert-21gf", *HELD_OUT)  # of the four systems
MET = ("expert-sayc", "expert-21gf", "expert-light")  # those that agents may be trained or selected against
HELD_OUT_MEAN = "held-out mean, IMPs a board"  # columns
MET_MEAN = "met in training, mean"
GAIN = "gain over the base policy"  # over the four systems and the policy that is searched with, on the same boards
# without --agents; the help of the command names them
DEFAULT = ("sayc", "sl", "sl-wide", "a2c-bridge", "jps-bridge", "baseline19", "rl", "ppo", "rpi", "bmcs")


def main(entries: Sequence[str | Policy], options: Options, report: Report = silent) -> Measured:
    """Two tables of all agents, strongest first, against held-out experts and against those met in training; bars.

    Args:
        entries: as ``bridge.contestant`` takes them; those that cannot play are named in the note and left out.
        options: boards, workers and files.
        report: called with the progress.
    """
    policies, missing = line_up(entries, least=1)
    experts = [agents.resolve(name, "bridge_bidding_v0") for name in (*HELD_OUT, *MET)]
    for ours, theirs in product(policies, experts):  # results are kept by names
        if ours.name == theirs.name and made_of(ours) != made_of(theirs):
            raise ValueError(f"agent {ours.name!r} has the name of an expert that it is not; give it another name")
    pairs = [*product(policies, experts)]
    boards, contracts = play_rooms([room for pair in pairs for room in (pair, pair[::-1])], options, report)
    imps_won = {}
    for ours, theirs in pairs:
        room = ours.name, theirs.name
        imps_won[room] = contracts[room].imps(contracts[room[::-1]])

    def mean(name: str, others: Sequence[str]) -> Any:
        return np.mean([imps_won[name, other] for other in others], axis=0)

    rows: list[dict[str, Any]] = []
    for ours in policies:
        searches = slow([ours])
        estimate = boards[searches].estimate
        row: dict[str, Any] = {"agent": ours.name}
        row |= {expert.name: estimate(imps_won[ours.name, expert.name]) for expert in experts}
        row |= {HELD_OUT_MEAN: estimate(mean(ours.name, HELD_OUT)), MET_MEAN: estimate(mean(ours.name, MET))}
        policy = getattr(getattr(ours, "policy", None), "name", "") if searches else ""
        if (policy, HELD_OUT[0]) in imps_won:  # those who search play the first of the boards
            won = mean(ours.name, EXPERTS)
            row[GAIN] = estimate(won - mean(policy, EXPERTS)[: len(won)])
        rows.append(row)
    rows.sort(key=lambda row: -row[HELD_OUT_MEAN].mean)
    source = f"{deals_text(boards, policies)}. {MATCH_NOTE}"
    note = f"{source}. Held out: networks that imitate Polish club and Acol, on which no agent was trained or selected"
    columns = ["agent", *HELD_OUT, HELD_OUT_MEAN, MET_MEAN]
    if any(GAIN in row for row in rows):
        columns.append(GAIN)
        note += "; gain over the base policy: IMPs over all four systems, less those of the policy it searches with"
    note += f". Left out: {'; '.join(missing)}" if missing else ""
    held_out = ResultTable("Against held-out opponents", columns, _of(rows, columns), note)
    columns = ["agent", *MET, MET_MEAN]
    note = f"{source}. Some agents were trained or selected against these opponents"
    met = ResultTable("Against opponents met in training", columns, _of(rows, columns), note)
    names = [row["agent"] for row in rows]
    series = {name: [row[name].mean for row in rows] for name in (HELD_OUT_MEAN, MET_MEAN)}
    errors = {name: [row[name].error for row in rows] for name in series}
    bars = Figure(held_out.title, "bars", names, series, "agent", "IMPs a board", held_out.note, errors)
    return [held_out, met], [bars]


def _of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """The cells of ``columns`` in each row."""
    return [{name: row[name] for name in columns if name in row} for row in rows]

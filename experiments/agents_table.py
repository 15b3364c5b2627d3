"""Strength and time of bidzoo's agents for ``bidzoo list``: ``bidzoo/data/agents.json``.

python experiments/agents_table.py            # all agents
python experiments/agents_table.py sayc rpi   # these alone; the others keep what they have

Strengths in bridge are the means against the held-out opponents of ``docs/results/bridge-experts*.json``, in Spades
those of ``docs/results/leaderboard/``. Times are processor milliseconds of a decision at one table, means over the
decisions of one seed's first boards, the least of five rounds.
"""

import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bidzoo import agents, registry
from bidzoo.agents.bridge.expert import HELD_OUT
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import leaderboard, results
from bidzoo.benchmarks.agent_check import Watched
from bidzoo.benchmarks.experts import HELD_OUT_MEAN
from bidzoo.benchmarks.match import play, slow
from bidzoo.benchmarks.results import command
from bidzoo.core.storage import replace_file

ROOT = Path(__file__).parents[1]
OUT = ROOT / "bidzoo" / "data" / "agents.json"
SEED, BOARDS, SLOW_BOARDS, ROUNDS = 1, 20, 10, 5


def milliseconds(policy: Policy, game_id: str) -> float:
    """Mean processor time of a decision of ``policy`` at one table: least of ``ROUNDS``, after one that compiles."""
    game = registry.make_game(game_id)
    watched = Watched(policy)
    means: list[float] = []
    for _ in range(1 + ROUNDS):
        watched.decisions, watched.seconds = 0, 0.0
        for board in range(SLOW_BOARDS if slow([policy]) else BOARDS):
            play(game, [watched] * game.num_players, np.array([board]), SEED, SEED)
        means.append(watched.seconds / watched.decisions)
    return float(f"{1000 * min(means[1:]):.2g}")


def strengths() -> dict[str, dict[str, object]]:
    """Mean, standard error, deals and unit of every agent that was measured."""
    entries = [leaderboard.load(path) for path in sorted(ROOT.glob("docs/results/leaderboard/spades-2026-*.json"))]
    challenge = leaderboard.CHALLENGES["spades-2026"]
    rows = leaderboard.ranking(challenge, entries).rows
    found = [(row["agent"], row["mean"], challenge.unit, challenge.opponents) for row in rows]
    for path in sorted(ROOT.glob("docs/results/bridge-experts*.json")):
        rows = results.load(path)["tables"][0].rows
        found += [(row["agent"], row[HELD_OUT_MEAN], "IMPs a board", HELD_OUT) for row in rows]
    return {
        agent: {
            "mean": round(mean.mean, 3),
            "error": round(mean.error, 3),
            "n": mean.n,
            "unit": f"{unit}, mean against {', '.join(opponents)}",
        }
        for agent, mean, unit, opponents in found
    }


def main(names: Sequence[str] = (), out: Path = OUT) -> None:
    """Measure the agents called ``names``, or all without a name, and write ``out`` with the others as it has them.

    Raises:
        ValueError: bidzoo has no agent of that name, or another agent has no numbers in the file yet.
    """
    document = json.loads(out.read_bytes()) if names else {"about": {}, "agents": {}}
    if unknown := [name for name in names if name not in agents.AGENTS]:
        raise ValueError(f"{unknown[0]!r} is not in bidzoo/data/agents.csv, expected an agent of bidzoo")
    measuring = set(names or agents.AGENTS)
    if absent := [name for name in agents.AGENTS if name not in measuring | document["agents"].keys()]:
        raise ValueError(f"{out.name} has no {absent[0]!r} yet: name it, too, or none to measure all")
    known, table = strengths(), {}
    for name, entry in agents.AGENTS.items():
        if name in measuring:
            table[name] = {"milliseconds": milliseconds(agents.make(name), entry.games[-1]), **known.get(name, {})}
            print(name, table[name], flush=True)
        else:
            table[name] = document["agents"][name]
    about = {"command": command(), "seed": SEED, "boards": BOARDS, "boards of searches": SLOW_BOARDS, "rounds": ROUNDS}
    about |= {"machine": platform.machine(), "python": platform.python_version()}
    if names:  # what is said of the others stays
        alone = document["about"].get("measured alone", {}) | dict.fromkeys(names, about)
        about = document["about"] | {"measured alone": alone}
    replace_file(out, (json.dumps({"about": about, "agents": table}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])

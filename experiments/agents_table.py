"""Strength and time of bidzoo's agents for ``bidzoo list``: ``bidzoo/data/agents.json``.

python experiments/agents_table.py

Strengths are the means of ``docs/results/leaderboard/``. Times are processor milliseconds of a decision at one table,
means over the decisions of one seed's first boards, the least of five rounds.
"""

import json
import platform
from pathlib import Path

import numpy as np

from bidzoo import agents, registry
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import leaderboard
from bidzoo.benchmarks.agent_check import Watched
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
    """Mean, standard error and unit of every agent that has an entry of its own name, against opponents."""
    entries = [leaderboard.load(path) for path in sorted(ROOT.glob("docs/results/leaderboard/*.json"))]
    found: dict[str, dict[str, object]] = {}
    for challenge in [each for each in leaderboard.CHALLENGES.values() if not each.partners]:
        unit = f"{challenge.unit}, mean against {', '.join(challenge.opponents)}"
        for row in leaderboard.ranking(challenge, [e for e in entries if e.challenge == challenge.name]).rows:
            mean = row["mean"]
            found[row["agent"]] = {"mean": round(mean.mean, 3), "error": round(mean.error, 3), "unit": unit}
    return found


def main() -> None:
    """Measure all, and write the file."""
    known, table = strengths(), {}
    for name, entry in agents.AGENTS.items():
        table[name] = {"milliseconds": milliseconds(agents.make(name), entry.games[-1]), **known.get(name, {})}
        print(name, table[name], flush=True)
    about = {"command": command(), "seed": SEED, "boards": BOARDS, "boards of searches": SLOW_BOARDS, "rounds": ROUNDS}
    about |= {"machine": platform.machine(), "python": platform.python_version()}
    replace_file(OUT, (json.dumps({"about": about, "agents": table}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()

"""``bidzoo bench bridge-cost``: bridge without competition, IMPs below the best contract of the two hands.

The measure of Yeh and Lin 2016 and of Tian et al. 2018 ("cost"), where N/S bid alone; here of the deal as it lies.
``baseline16`` and ``pbl`` were made for this; the other agents are those of the full game.
"""

from collections.abc import Sequence

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import contestant, is_game
from bidzoo.benchmarks.match import Run, play
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.core.kernels import States
from bidzoo.envs.bridge.game import Bridge

STAGES = ("part score", "game", "small slam", "grand slam")


def main(agents: Sequence[str | Policy], boards: int, seed: int, workers: int, report: Report) -> Measured:
    """A table of cost, stages bid and contracts made by each agent."""
    game = Bridge(False, reward="cost", deals="test", competition=False)
    table = ResultTable(
        "Bridge without competition",
        ["agent", "cost, IMPs", "best contract %", "passed out %", *(f"{stage} %" for stage in STAGES), "made %"],
        note="N/S bid, E/W pass; cost: IMPs below the best contract of N/S on the deal, double dummy, undoubled; "
        "± standard error, clustered by deal.",
    )
    numbers = np.arange(boards)
    deals = game.deal_numbers(numbers, seed)
    for policy in map(contestant, agents):
        run = Run(workers, report=lambda done, name=policy.name: report(name, done, boards))  # type: ignore[misc]
        episodes = play(game, [policy] * 4, numbers, seed, seed, run)
        cost = -episodes.reward[:, 0]
        table.add(
            policy.name,
            Estimate.of(cost, group=deals),
            100 * float((cost == 0).mean()),
            *contracts(episodes.states),
        )
    return [table], []


def contracts(states: States) -> list[float]:
    """Percent of the boards passed out and at each stage, and of the contracts that make."""
    bid, points = states["bid"].astype(np.int64), states["points"][:, 0]
    level = bid // 5 + 1
    stage = is_game(bid).astype(np.int64) + (level >= 6) + (level == 7)
    counts = np.bincount(stage[bid >= 0], minlength=len(STAGES))
    made = points[bid >= 0] > 0
    return [100 * float((bid < 0).mean()), *(100 * counts / len(bid)), 100 * float(made.mean()) if len(made) else 0.0]

"""Who is believed to sit at the other side: how well models explain what experts call, and what a search gains by one.

    python experiments/opponent_models.py --boards 600 --json docs/results/bridge-opponent-models.json

The experts are the open ones, on validation deals: strangers are for measuring, not for choosing by.
"""

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import Match, duplicate
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core.kernels import F64, I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge

EXPERTS = ("expert-sayc", "expert-21gf", "expert-wild")
MODELS = ("ppo", "rl", "sl", "sl-wide", "expert-sayc", "expert-21gf")
SEARCHED = ("expert-21gf",)
LEAST = 1e-4  # chance that counts for a call of less


class Heard:
    """A policy, and what it was asked and called."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, policy.name
        self.calls: list[tuple[States, I8, I64]] = []

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The policy's calls."""
        made = self.policy.act(views, legal, rng)
        self.calls.append((views.copy(), legal.copy(), made))
        return made


def explained(game: Bridge, boards: I64, seed: int) -> ResultTable:
    """Nats a call of each expert, at the other side of ``ppo``, by each model; its own weights apart."""
    note = f"{len(boards):,} validation boards against ppo, both rooms; ± over deals; chances from {LEAST}"
    table = ResultTable("Nats a call of the other side", ["calls of", *MODELS], note=note)
    for name in EXPERTS:
        heard = Heard(agents.resolve(name, game.id))
        duplicate(game, agents.make("ppo"), heard, boards, seed)
        views, legal, made = (np.concatenate(column) for column in zip(*heard.calls))
        deals = game.deal_numbers(views["board"].astype(np.int64), seed)
        row: dict[str, Any] = {"calls of": name}
        for model in MODELS:
            if model != name:
                network: Any = agents.make(model)
                chance = network.probabilities(views, legal)[np.arange(len(made)), made]
                nats: F64 = -np.log(np.maximum(chance.astype(np.float64), LEAST))
                row[model] = Estimate.of(nats, group=deals)
        table.rows.append(row)
    return table


def searched(game: Bridge, boards: I64, seed: int) -> ResultTable:
    """What ``bmcs`` gains over ``ppo`` with and without a model of the other side."""
    kinds = {"as bmcs": Bmcs(), "as sl": Bmcs(opponents="sl")}
    note = f"{len(boards):,} validation boards, both rooms, the same for all; ± over deals"
    table = ResultTable("IMPs a board of bmcs over those of ppo", ["against", *kinds], note=note)
    for name in SEARCHED:
        other = agents.resolve(name, game.id)
        without: Match = duplicate(game, agents.make("ppo"), other, boards, seed)
        gains = {
            kind: duplicate(game, policy, other, boards, seed).imps - without.imps for kind, policy in kinds.items()
        }
        table.rows.append({"against": name, **{k: Estimate.of(gain, group=without.deals) for k, gain in gains.items()}})
    return table


def main(
    boards: Annotated[int, typer.Option(min=2, help="Validation boards of each match.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the boards.")] = 0,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/bridge-opponent-models.json"),
) -> None:
    """Measure both tables."""
    began, game, numbers = time.perf_counter(), Bridge(False, deals="validation"), np.arange(boards)
    tables = [explained(game, numbers, seed), searched(game, numbers, seed)]
    results.show(tables)
    results.save(json, "bridge-opponent-models", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

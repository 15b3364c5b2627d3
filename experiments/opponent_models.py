"""Who is believed to sit at the other side: how well models explain what experts call, and what a search gains by one.

    python experiments/opponent_models.py --boards 800 --json docs/results/bridge-opponent-models.json

The experts are the open ones, on validation deals: strangers are for measuring, not for choosing by.
"""

import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.agents.bridge.evaluator import CLASSES
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core.kernels import F32, F64, I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge

EXPERTS = ("expert-sayc", "expert-21gf", "expert-wild")
MODELS = ("ppo", "rl", "sl", "sl-wide", "expert-sayc", "expert-21gf")
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


class Mixed:
    """Each of some policies as likely as the others."""

    name = "mixed"

    def __init__(self, *names: str) -> None:
        self.policies: list[Any] = [agents.make(name) for name in names]

    def probabilities(self, views: States, legal: I8) -> F32:
        """Mean chance of every call ``[B, 38]``."""
        return np.asarray(np.mean([policy.probabilities(views, legal) for policy in self.policies], 0), np.float32)


class Known:
    """The judge that knows one deal's double-dummy tricks ``[20]``."""

    def __init__(self, tricks: I8) -> None:
        self.tricks = tricks

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """1 at the tricks, 0 elsewhere: ``[n, 14]``."""
        return np.asarray(np.arange(CLASSES) == self.tricks[5 * declarer + strain, None], np.float32)


class Open(NamedTuple):
    """``n`` decisions at which a search hesitates, and the deals as they lie."""

    views: States  # [n]
    chances: F32  # [n, 38]
    hands: I64  # [n, 4]
    tricks: I8  # [n, 20]
    deal: I64  # [n]


def open_decisions(game: Bridge, agent: Bmcs, expert: str, boards: I64, seed: int) -> Open:
    """The open decisions of ``agent``'s policy against ``expert`` on ``boards``, both rooms."""
    dealt = game.new(len(boards))
    game.begin(dealt, boards, seed, game.buffers(len(boards)))
    heard = Heard(agents.make(agent.policy.name))
    duplicate(game, heard, agents.resolve(expert, game.id), boards, seed)
    views, legal = (np.concatenate(column) for column in list(zip(*heard.calls))[:2])
    chances = agent.policy.probabilities(views, legal)
    rows = np.flatnonzero(agent.hesitates(chances))
    board = views["board"][rows].astype(np.int64)
    hands = dealt["hands"][board].astype(np.int64)
    return Open(views[rows], chances[rows], hands, dealt["tricks"][board], game.deal_numbers(board, seed))


def searched(game: Bridge, boards: I64, seed: int) -> list[ResultTable]:
    """What searches with models of the other side gain where ``ppo`` hesitates, and over the one without.

    Each choice is played out on the deal as it lies, against the expert itself: one deal a decision, but the true one.
    """
    gains: dict[str, dict[str, F64]] = {}
    numbers: dict[str, I64] = {}
    for name in EXPERTS:
        expert: Any = agents.make(name)
        models = {"as sl": "sl", "as either": Mixed("ppo", "sl"), "as it is": expert}
        searches = {"as bmcs": Bmcs(), **{kind: Bmcs(opponents=model) for kind, model in models.items()}}
        truth = searches["as it is"]
        found = open_decisions(game, truth, name, boards, seed)
        won = np.zeros((len(found.deal), len(searches)))
        for i, chances in enumerate(found.chances):
            view = found.views[i : i + 1]
            choices = [search.search(view, chances, key=i).call for search in searches.values()]
            calls = list(dict.fromkeys([int(chances.argmax()), *choices]))  # the likeliest first: gains are over it
            gain = truth.judged(view, found.hands[i : i + 1], np.array(calls), Known(found.tricks[i]))[0][0]
            won[i] = [gain[calls.index(call)] for call in choices]
        gains[name] = dict(zip(searches, won.T))
        numbers[name] = found.deal
    note = (
        f"Where ppo hesitates on {len(boards):,} validation boards, both rooms; played out on the deal as it lies, "
        "against the expert itself; as it is: the expert's own network; ± over deals"
    )
    tables = []
    for title, base in (
        ("IMPs a decision that a search gains over the likeliest call", None),
        ("The same over the search that takes the other side for itself", "as bmcs"),
    ):
        kinds = [kind for kind in searches if kind != base]
        table = ResultTable(title, ["against", "decisions", *kinds], note=note)
        for name, of in gains.items():
            each = {kind: Estimate.of(of[kind] - (of[base] if base else 0), group=numbers[name]) for kind in kinds}
            table.rows.append({"against": name, "decisions": len(numbers[name]), **each})
        tables.append(table)
    return tables


def main(
    boards: Annotated[int, typer.Option(min=2, help="Validation boards of each match.")] = 800,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the boards.")] = 0,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/bridge-opponent-models.json"),
) -> None:
    """Measure all tables."""
    began, game, numbers = time.perf_counter(), Bridge(False, deals="validation"), np.arange(boards)
    tables = [explained(game, numbers, seed), *searched(game, numbers, seed)]
    results.show(tables)
    results.save(json, "bridge-opponent-models", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

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
LEAST = 1e-4  # chance from which the nats of a less likely call are counted


class Recorder:
    """A policy that records the views, legal calls and calls of its decisions."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, policy.name
        self.calls: list[tuple[States, I8, I64]] = []

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The policy's calls."""
        calls = self.policy.act(views, legal, rng)
        self.calls.append((views.copy(), legal.copy(), calls))
        return calls


def explanation_table(game: Bridge, boards: I64, seed: int) -> ResultTable:
    """Nats a call of each expert, at the other side of ``ppo``, by each model; its own weights apart."""
    note = f"{len(boards):,} validation boards against ppo, both rooms; ± over deals; chances from {LEAST}"
    table = ResultTable("Nats a call of the other side", ["calls of", *MODELS], note=note)
    for name in EXPERTS:
        recorder = Recorder(agents.resolve(name, game.id))
        duplicate(game, agents.make("ppo"), recorder, boards, seed)
        views, legal, calls = (np.concatenate(column) for column in zip(*recorder.calls))
        deals = game.deal_numbers(views["board"].astype(np.int64), seed)
        row: dict[str, Any] = {"calls of": name}
        for model in MODELS:
            if model != name:
                network: Any = agents.make(model)
                chance = network.probabilities(views, legal)[np.arange(len(calls)), calls]
                nats: F64 = -np.log(np.maximum(chance.astype(np.float64), LEAST))
                row[model] = Estimate.of(nats, group=deals)
        table.rows.append(row)
    return table


class Mixture:
    """An equal mixture of policies."""

    name = "mixed"

    def __init__(self, *names: str) -> None:
        self.policies: list[Any] = [agents.make(name) for name in names]

    def probabilities(self, views: States, legal: I8) -> F32:
        """Mean chance of every call ``[B, 38]``."""
        return np.asarray(np.mean([policy.probabilities(views, legal) for policy in self.policies], 0), np.float32)


class KnownTricks:
    """The judge that knows one deal's double-dummy tricks ``[20]``."""

    def __init__(self, tricks: I8) -> None:
        self.tricks = tricks

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """1 at the tricks, 0 elsewhere: ``[n, 14]``."""
        return np.asarray(np.arange(CLASSES) == self.tricks[5 * declarer + strain, None], np.float32)


class OpenDecisions(NamedTuple):
    """``n`` decisions at which a search hesitates, and the deals as they lie."""

    views: States  # [n]
    chances: F32  # [n, 38]
    hands: I64  # [n, 4]
    tricks: I8  # [n, 20]
    deal: I64  # [n]


def open_decisions(game: Bridge, agent: Bmcs, expert: str, boards: I64, seed: int) -> OpenDecisions:
    """The open decisions of ``agent``'s policy against ``expert`` on ``boards``, both rooms."""
    initial_states = game.new(len(boards))
    game.begin(initial_states, boards, seed, game.buffers(len(boards)))
    recorder = Recorder(agents.make(agent.policy.name))
    duplicate(game, recorder, agents.resolve(expert, game.id), boards, seed)
    views, legal = (np.concatenate(column) for column in list(zip(*recorder.calls))[:2])
    chances = agent.policy.probabilities(views, legal)
    rows = np.flatnonzero(agent.hesitates(chances))
    board = views["board"][rows].astype(np.int64)
    hands = initial_states["hands"][board].astype(np.int64)
    return OpenDecisions(
        views[rows], chances[rows], hands, initial_states["tricks"][board], game.deal_numbers(board, seed)
    )


def search_tables(game: Bridge, boards: I64, seed: int) -> list[ResultTable]:
    """Gains of searches with models of the other side where ``ppo`` hesitates, and over the search without a model.

    Each choice is played out on the deal as it lies, against the expert itself: one deal a decision, but the true one.
    """
    gains: dict[str, dict[str, F64]] = {}
    deals: dict[str, I64] = {}
    for name in EXPERTS:
        expert: Any = agents.make(name)
        models = {"as sl": "sl", "as either": Mixture("ppo", "sl"), "as it is": expert}
        searches = {"as bmcs": Bmcs(), **{kind: Bmcs(opponents=model) for kind, model in models.items()}}
        truth = searches["as it is"]
        decisions = open_decisions(game, truth, name, boards, seed)
        chosen_gains = np.zeros((len(decisions.deal), len(searches)))
        for i, chances in enumerate(decisions.chances):
            view = decisions.views[i : i + 1]
            choices = [search.search(view, chances, key=i).call for search in searches.values()]
            calls = list(dict.fromkeys([int(chances.argmax()), *choices]))  # the likeliest first: gains are over it
            tricks = KnownTricks(decisions.tricks[i])
            gain = truth.judged(view, decisions.hands[i : i + 1], np.array(calls), tricks)[0][0]
            chosen_gains[i] = [gain[calls.index(call)] for call in choices]
        gains[name] = dict(zip(searches, chosen_gains.T))
        deals[name] = decisions.deal
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
        for name, gains_of_search in gains.items():
            estimates = {
                kind: Estimate.of(gains_of_search[kind] - (gains_of_search[base] if base else 0), group=deals[name])
                for kind in kinds
            }
            table.rows.append({"against": name, "decisions": len(deals[name]), **estimates})
        tables.append(table)
    return tables


def main(
    boards: Annotated[int, typer.Option(min=2, help="Validation boards of each match.")] = 800,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the boards.")] = 0,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/bridge-opponent-models.json"),
) -> None:
    """Measure all tables."""
    began, game, numbers = time.perf_counter(), Bridge(False, deals="validation"), np.arange(boards)
    tables = [explanation_table(game, numbers, seed), *search_tables(game, numbers, seed)]
    results.show(tables)
    results.save(json, "bridge-opponent-models", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

"""Who is believed to sit at the other side: how well models explain what experts call, and what a search gains by one.

    python experiments/opponent_models.py --boards 800 --json docs/results/bridge-opponent-models.json

The experts are the open ones, on validation deals: held-out opponents are for measuring, not for choosing by.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.agents.bridge.evaluator import CLASSES
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks import printing, results
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core.kernels import F32, F64, I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge

EXPERTS = ("expert-sayc", "expert-21gf", "expert-light")
TEMPERED = "ppo, tempered"
MODELS = ("ppo", TEMPERED, "rl", "sl", "sl-wide", "expert-sayc", "expert-21gf")
SOFT = 2.0  # temperature
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


class RecordedCalls(NamedTuple):
    """The ``n`` calls of an expert at the other side of ``ppo``, both rooms, and how models explain them."""

    board: I64  # [n]
    deal: I64  # [n]
    nats: dict[str, F64]  # [n]  of every model that is not the expert's own


def record_calls(game: Bridge, name: str, boards: I64, seed: int) -> RecordedCalls:
    """Play ``boards`` against the expert ``name`` and ask every model for the chance of its calls."""
    recorder = Recorder(agents.resolve(name, game.id))
    duplicate(game, agents.make("ppo"), recorder, boards, seed)
    views, legal, calls = (np.concatenate(column) for column in zip(*recorder.calls))
    board = views["board"].astype(np.int64)
    nats = {}
    for model, policy in policies(name).items():
        chance = policy.probabilities(views, legal)[np.arange(len(calls)), calls]
        nats[model] = -np.log(np.maximum(chance.astype(np.float64), LEAST))
    return RecordedCalls(board, game.deal_numbers(board, seed), nats)


def model_weights(recording: RecordedCalls, boards: I64) -> F64:
    """Weights ``[N, M]`` of the models at each of ``boards`` ``[N]``, from the calls on the boards before it."""
    at_board = np.array([np.bincount(recording.board, nats, len(boards)) for nats in recording.nats.values()]).T
    evidence = -np.vstack([np.zeros(at_board.shape[1]), at_board.cumsum(0)[:-1]])
    weights: F64 = np.exp(evidence - evidence.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def explanation_table(recordings: dict[str, RecordedCalls], boards: I64) -> ResultTable:
    """Nats a call of each expert by each model, and by the models weighed by what they explained before."""
    note = (
        f"{len(boards):,} validation boards against ppo, both rooms; ± over deals; chances from {LEAST}; tempered: at "
        f"temperature {SOFT}; learned: all of them, weighed by the calls on the boards before"
    )
    table = ResultTable("Nats a call of the other side", ["calls of", *MODELS, "learned"], note=note)
    for name, calls in recordings.items():
        chances = np.exp(-np.array(list(calls.nats.values())))
        mixed = -np.log((model_weights(calls, boards)[calls.board].T * chances).sum(0))
        columns = {**calls.nats, "learned": mixed}
        table.rows.append(
            {"calls of": name, **{model: Estimate.of(nats, group=calls.deal) for model, nats in columns.items()}}
        )
    return table


class Tempered:
    """A policy whose chances are taken at another temperature."""

    def __init__(self, name: str, temperature: float) -> None:
        self.name, self.policy, self.temperature = f"{name} at {temperature}", agents.make(name), temperature

    def probabilities(self, views: States, legal: I8) -> F32:
        """Chance of every call ``[B, 38]``."""
        policy: Any = self.policy
        chances: F32 = policy.probabilities(views, legal, self.temperature)
        return chances


class Mixture:
    """A mixture of policies; those of a weight below ``negligible`` are not asked."""

    name = "mixed"
    negligible = 0.01

    def __init__(self, policies: Sequence[Any]) -> None:
        self.policies = policies
        self.weights = np.full(len(policies), 1 / len(policies))

    def probabilities(self, views: States, legal: I8) -> F32:
        """Mean chance of every call ``[B, 38]``."""
        used = np.flatnonzero(self.weights >= self.negligible)
        shares = self.weights[used] / self.weights[used].sum()
        chances = [share * self.policies[int(i)].probabilities(views, legal) for i, share in zip(used, shares)]
        return np.asarray(np.sum(chances, 0), np.float32)


def policies(name: str) -> dict[str, Any]:
    """The models of the expert ``name``: all but its own network."""
    return {
        model: Tempered("ppo", SOFT) if model == TEMPERED else agents.make(model) for model in MODELS if model != name
    }


class KnownTricks:
    """The evaluator that knows one deal's double-dummy tricks ``[20]``."""

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


def search_tables(game: Bridge, recordings: dict[str, RecordedCalls], boards: I64, seed: int) -> list[ResultTable]:
    """Gains of searches with models of the other side where ``ppo`` hesitates, and over the search without a model.

    Each choice is played out on the deal as it lies, against the expert itself: one deal a decision, but the true one.
    """
    gains: dict[str, dict[str, F64]] = {}
    deals: dict[str, I64] = {}
    for name in EXPERTS:
        expert: Any = agents.make(name)
        learned, weights = Mixture(list(policies(name).values())), model_weights(recordings[name], boards)
        models = {
            "as sl": "sl",
            "as either": Mixture([agents.make("ppo"), agents.make("sl")]),
            "as ppo, tempered": Tempered("ppo", SOFT),
            "as learned": learned,
            "as it is": expert,
        }
        searches = {"as bmcs": Bmcs(), **{kind: Bmcs(opponents=model) for kind, model in models.items()}}
        truth = searches["as it is"]
        decisions = open_decisions(game, truth, name, boards, seed)
        chosen_gains = np.zeros((len(decisions.deal), len(searches)))
        for i, chances in enumerate(decisions.chances):
            view = decisions.views[i : i + 1]
            learned.weights = weights[view["board"][0]]
            choices = [search.search(view, chances, key=i).call for search in searches.values()]
            calls = list(dict.fromkeys([int(chances.argmax()), *choices]))  # the likeliest first: gains are over it
            tricks = KnownTricks(decisions.tricks[i])
            gain = truth.evaluated(view, decisions.hands[i : i + 1], np.array(calls), tricks)[0][0]
            chosen_gains[i] = [gain[calls.index(call)] for call in choices]
        gains[name] = dict(zip(searches, chosen_gains.T))
        deals[name] = decisions.deal
    note = (
        f"Where ppo hesitates on {len(boards):,} validation boards, both rooms; played out on the deal as it lies, "
        "against the expert itself; as either: ppo or sl; as learned: all models but its own, weighed by its calls on "
        "the boards before; as it is: the expert's own network; ± over deals"
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
    recordings = {name: record_calls(game, name, numbers, seed) for name in EXPERTS}
    tables = [explanation_table(recordings, numbers), *search_tables(game, recordings, numbers, seed)]
    printing.show(tables)
    results.save(json, "bridge-opponent-models", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

"""How long a searched call takes, what its deals know, what the double-dummy network costs beside the solver.

    python experiments/bridge_search.py --positions 100 --deals 60 --json docs/results/bridge-search.json

Everything is measured at open decisions (more than one likely call). The mean of the deals found is compared with the
cards really held. Both evaluators choose by the same deals; the solver then values both choices on as many other deals.
"""

import time
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge.belief import WHO
from bidzoo.agents.bridge.bmcs import Bmcs, Solver
from bidzoo.agents.bridge.natural.knowledge import evaluate
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json, Seed, Workers
from bidzoo.cli.showing import measured
from bidzoo.core import jobs
from bidzoo.core.kernels import F32, F64, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.wrappers.batch import Batch

AUTHORS = {"max_actions": 10, "min_prob": 0.0001, "r_min": 100, "r_max": 1500, "p_max": 100_000}
TIMED: dict[str, tuple[str, dict[str, Any]]] = {  # agent and options
    "bmcs": ("bmcs", {}),
    "rl-mcs": ("rl-mcs", {}),
    "bmcs-sl": ("bmcs-sl", {}),
    "rpi-bmcs": ("rpi-bmcs", {}),
    "bmcs-weighted": ("bmcs-weighted", {}),
    "bmcs, deals weighed": ("bmcs", {"calls": "weigh"}),
    "bmcs, the authors' settings": ("bmcs", AUTHORS),
    "bmcs, 50 deals, exact": ("bmcs", {"evaluator": "solver", "r_max": 50}),
    "bmcs, 200 deals, exact": ("bmcs", {"evaluator": "solver"}),
}
SAMPLED: dict[str, dict[str, Any]] = {
    "bmcs": {},
    "bmcs, weighed": {"calls": "weigh"},
    "from the belief alone": {"calls": "ignore"},
    "rl-mcs": {"deals": "uniform"},
}
TRIES = 3  # of a timed decision, all with the same result
SHARE_OF_EXACT = 5  # only one position in this many is timed with the solver


class OpenDecisions(NamedTuple):
    """``n`` decisions with more than one likely call, one a board."""

    views: States  # [n]
    chances: F32  # [n, 38]  of the policy
    deals: I64  # [n]  equal where boards come from one deal
    hands: I64  # [n, 4]  of all four seats
    a_table: float  # such decisions in one auction


def open_decisions(agent: Bmcs, count: int, seed: int) -> OpenDecisions:
    """A random decision with several plausible calls of each of ``count`` test boards that the policy bids alone."""
    game = Bridge(False, deals="test")
    batch = Batch(game, 2 * count, autoreset=False)
    batch.reset(seed)
    views, chances, boards = [], [], []
    while len(rows := np.flatnonzero(batch.action_mask.any(1))):
        batch_views, legal = batch.views(rows), batch.action_mask[rows]
        likely = agent.policy.probabilities(batch_views, legal)
        open_rows = agent.hesitates(likely)
        views.append(batch_views[open_rows])
        chances.append(likely[open_rows])
        boards.append(rows[open_rows])
        actions = np.full(len(batch.action_mask), -1, np.int64)
        actions[rows] = likely.argmax(1)
        batch.step(actions)
    board = np.concatenate(boards)
    draws = Streams.at(seed, np.arange(len(board))).random(1)[:, 0]
    order = np.lexsort((draws, board))
    _, first = np.unique(board[order], return_index=True)
    chosen = order[first][:count]
    if len(chosen) < count:
        raise ValueError(f"{len(chosen)} boards have an open decision, expected {count}")
    deals, hands = game.deal_numbers(board[chosen], seed), batch.states["hands"][board[chosen]].astype(np.int64)
    return OpenDecisions(
        np.concatenate(views)[chosen], np.concatenate(chances)[chosen], deals, hands, len(board) / (2 * count)
    )


def points_and_lengths(hands: I64, seat: int) -> I64:
    """Points and four lengths of partner, LHO and RHO of ``seat`` in ``hands`` ``[n, 4]``: ``[n, 3, 5]``."""
    features = evaluate(hands[:, [(seat + who) % 4 for who in WHO]].ravel())
    return np.column_stack([features["hcp"], features["length"]]).reshape(-1, 3, 5)


def guess_table(decisions: OpenDecisions, seed: int, report: Report) -> ResultTable:
    """Distance between the mean of the deals that a search finds and the cards held, by settings."""
    searches = {name: Bmcs(**options) for name, options in SAMPLED.items()}
    squared_errors, sizes = (
        np.full((len(searches), len(decisions.views), 3, 5), np.nan),
        np.zeros((len(searches), len(decisions.views))),
    )
    for i, view in enumerate(np.split(decisions.views, len(decisions.views))):
        seat = int(view["seat"][0])
        for a, agent in enumerate(searches.values()):
            deals = agent.deals(view, seed + i)
            sizes[a, i] = deals.size
            if deals.size > agent.options.r_min:
                mean = deals.mean(points_and_lengths(deals.hands, seat).reshape(-1, 15)).reshape(3, 5)
                squared_errors[a, i] = (mean - points_and_lengths(decisions.hands[i : i + 1], seat)[0]) ** 2
        report("positions", i + 1, len(decisions.views))
    common = ~np.isnan(squared_errors[:, :, 0, 0]).any(0)
    columns = {
        "partner's points": squared_errors[:, :, 0, 0],
        "opponents' points": squared_errors[:, :, 1:, 0].mean(2),
        "partner's lengths": squared_errors[:, :, 0, 1:].mean(2),
        "opponents' lengths": squared_errors[:, :, 1:, 1:].mean((2, 3)),
    }
    note = (
        f"Mean squared difference between the mean of the deals and the cards held; {common.sum()} of "
        f"{len(common)} open decisions of test boards of ppo, those at which all find more than "
        f"{Bmcs.options.r_min} deals; deals: of equal weight that would say as much"
    )
    table = ResultTable(
        "What the deals of a search know of the other hands", ["deals of", *columns, "deals"], note=note
    )
    for a, name in enumerate(searches):
        errors = [Estimate.of(error[a, common], group=decisions.deals[common]) for error in columns.values()]
        table.add(name, *errors, float(sizes[a].mean()))
    return table


def compare(agent: Bmcs, view: States, chances: F32, key: int) -> tuple[int, int, F64]:
    """Choices by network and by solver on the same deals, and each call's exact mean gain ``[K]`` on other deals."""
    search, validation = agent.search(view, chances, key), agent.search(view, chances, key + 1)
    exact, _ = agent.evaluated(view, search.deals.hands, search.calls, Solver())
    value, _ = agent.evaluated(view, validation.deals.hands, validation.calls, Solver())
    mean = validation.deals.mean(value) if len(value) else np.zeros(len(search.calls))
    network_choice = int(np.flatnonzero(search.calls == search.call)[0])
    solver_choice = int(search.deals.total(exact).argmax()) if search.deals.size > agent.options.r_min else 0
    return network_choice, solver_choice, mean


def loss_table(agent: Bmcs, decisions: OpenDecisions, seed: int, workers: int, report: Report) -> ResultTable:
    """The loss by choosing with the network instead of the solver."""
    n = len(decisions.views)
    tasks = [(decisions.views[i : i + 1], decisions.chances[i], seed + 2 * i) for i in range(n)]
    network, exact, best, same = (np.zeros(n) for _ in range(4))
    for i, (network_choice, solver_choice, mean) in enumerate(jobs.run(partial(compare, agent), tasks, workers)):
        network[i], exact[i], best[i], same[i] = (
            mean[network_choice],
            mean[solver_choice],
            mean.max(),
            network_choice == solver_choice,
        )
        report("positions", i + 1, n)
    rows = {
        "same call, %": Estimate.of(100 * same, group=decisions.deals),
        "solver's choice over the likeliest call": Estimate.of(exact, group=decisions.deals),
        "network's choice over the likeliest call": Estimate.of(network, group=decisions.deals),
        "loss by the network, a decision": Estimate.of(exact - network, group=decisions.deals),
        "loss by the network, a board": Estimate.of((exact - network) * decisions.a_table, group=decisions.deals),
    }
    note = (
        f"{n} open decisions of test boards, {agent.options.r_max} deals to choose by and as many others to value the "
        f"choice, all by the solver; IMPs where nothing else is said; {decisions.a_table:.2f} open decisions an auction"
    )
    return ResultTable(
        "Double-dummy network against solver", ["", "value"], [{"": k, "value": v} for k, v in rows.items()], note
    )


def time_table(decisions_of: Mapping[str, OpenDecisions], seed: int, workers: int, report: Report) -> ResultTable:
    """Seconds a searched decision by settings, at decisions that are open to the agent."""
    table = ResultTable(
        "Time of a searched decision",
        ["settings", "seconds", "slowest", "deals sampled", "played out", "contracts evaluated"],
        note=f"Wall clock of one decision at a time, the fastest of {TRIES} tries; {workers} processes for the solver; "
        "the paper: 60 to 120 s",
    )
    for done, (name, (agent_name, options)) in enumerate(TIMED.items()):
        decisions, agent = decisions_of[agent_name], cast(Bmcs, agents.make(agent_name, workers=workers, **options))
        exact = options.get("evaluator") == "solver"
        rows = range(0, len(decisions.views), SHARE_OF_EXACT if exact or options is AUTHORS else 1)
        agent.search(decisions.views[:1], decisions.chances[0], seed)  # compile, load weights, start processes
        seconds, counts = [], []
        for i in rows:
            tries = []
            for _ in range(TRIES):
                began = time.perf_counter()
                search = agent.search(decisions.views[i : i + 1], decisions.chances[i], seed + 2 * i)
                tries.append(time.perf_counter() - began)
            seconds.append(min(tries))
            counts.append((search.deals.sampled, len(search.deals.hands), search.contracts))
        table.add(
            name,
            Estimate.of(seconds, group=decisions.deals[rows]),
            float(np.max(seconds)),
            *map(float, np.mean(counts, axis=0)),
        )
        report("settings", done + 1, len(TIMED))
    return table


def tables(positions: int, deals: int, guesses: int, seed: int, workers: int, report: Report) -> Measured:
    """The tables, no figures.

    Args:
        positions: open decisions.
        deals: number by which a call is chosen, and of others that value the choice.
        guesses: open decisions whose deals are compared with the cards held.
        seed: of boards and deals.
        workers: processes that solve; they change no result but the times.
        report: receives the progress.
    """
    names = dict.fromkeys(name for name, _ in TIMED.values())
    decisions_of = {name: open_decisions(cast(Bmcs, agents.make(name)), positions, seed) for name in names}
    times = time_table(decisions_of, seed, workers, report)
    agent = Bmcs(r_max=deals, p_max=50 * deals, r_min=min(Bmcs.options.r_min, deals - 1))
    losses = loss_table(agent, decisions_of["bmcs"], seed, workers, report)
    return [times, losses, guess_table(open_decisions(Bmcs(), guesses, seed), seed, report)], []


def main(
    positions: Annotated[int, typer.Option(min=2, help="Decisions with more than one likely call.")] = 200,
    deals: Annotated[
        int, typer.Option(min=2, help="Deals by which a call is chosen; as many others value the choice.")
    ] = 60,
    guesses: Annotated[
        int, typer.Option(min=2, help="Decisions at which the deals of a search are compared with the cards held.")
    ] = 400,
    workers: Workers = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Measure the time of a searched call, the knowledge of its deals and the cost of the double-dummy network."""
    arguments = (positions, deals, guesses, seed, workers)
    measured("bridge-search", seed, json, lambda report: tables(*arguments, report))


if __name__ == "__main__":
    typer.run(main)

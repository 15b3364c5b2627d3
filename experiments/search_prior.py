"""What the results of a search are worth, and what the policy's own values are beside them.

    python experiments/search_prior.py --decisions 6000 --json docs/results/bridge-search-prior.json

Where ``bmcs-rpi`` hesitates at the table of an open expert, it searches, and every candidate is played out on the deal
as it lies, against the expert itself. What a call gained there over the likeliest is regressed on what the search
found and on the policy's log-chances. Validation deals: strangers are for measuring, not for choosing by.
"""

import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from opponent_models import Heard, Known

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core import jobs
from bidzoo.core.kernels import F32, F64, I8, I64, Bool, States
from bidzoo.envs.bridge.game import Bridge

AGENT = "bmcs-rpi"
EXPERTS = ("expert-sayc", "expert-21gf")
PRIORS = (0.0, 0.05, 0.1, 0.2)  # IMPs of a nat
CHUNK = 100  # decisions of a task


class Searched(NamedTuple):
    """``n`` decisions and up to ``K`` calls compared at each, the likeliest first; what there is not is 0."""

    liked: F64  # [n, K]  log-chance of the call over the likeliest's
    found: F64  # [n, K]  mean gain in the search
    gained: F64  # [n, K]  on the deal as it lies
    there: Bool  # [n, K]
    enough: Bool  # [n]  more deals than ``r_min``
    deal: I64  # [n]


def search(expert: str, views: States, chances: F32, hands: I64, tricks: I8, deals: I64, first: int) -> Searched:
    """Some decisions, searched and played out; decision ``i`` draws from key ``first + i``."""
    agent: Any = agents.make(AGENT)
    truth = Bmcs(agent.policy, agent.belief, agent.judge, opponents=agents.make(expert))
    shape = len(views), agent.options.top_k
    out = Searched(*np.zeros((3, *shape)), np.zeros(shape, np.bool_), np.zeros(len(views), np.bool_), deals)
    for i in range(len(views)):
        view = views[i : i + 1]
        result = agent.search(view, chances[i], first + i)
        here, likely = slice(len(result.calls)), np.log(chances[i][result.calls].astype(np.float64))
        out.there[i, here], out.liked[i, here] = True, likely - likely[0]
        out.enough[i] = result.deals.size > agent.options.r_min
        if result.deals.size:
            out.found[i, here] = result.deals.mean(result.gains)
        out.gained[i, here] = truth.judged(view, hands[i : i + 1], result.calls, Known(tricks[i]))[0][0]
    return out


def decisions(expert: str, boards: I64, seed: int, count: int, workers: int) -> Searched:
    """``count`` decisions of ``boards``, both rooms, at which the agent hesitates."""
    game, agent = Bridge(False, deals="validation"), agents.make(AGENT)
    assert isinstance(agent, Bmcs)
    dealt = game.new(len(boards))
    game.begin(dealt, boards, seed, game.buffers(len(boards)))
    heard = Heard(agents.make(agent.policy.name))
    duplicate(game, heard, agents.resolve(expert, game.id), boards, seed)
    views, legal = (np.concatenate(column) for column in list(zip(*heard.calls))[:2])
    chances = agent.policy.probabilities(views, legal)
    rows = np.flatnonzero(agent.hesitates(chances))
    rows = np.sort(np.random.default_rng(seed).choice(rows, min(count, len(rows)), replace=False))
    board = views["board"][rows].astype(np.int64)
    hands, tricks, deal = dealt["hands"][board], dealt["tricks"][board], game.deal_numbers(board, seed)
    parts = [slice(at, at + CHUNK) for at in range(0, len(rows), CHUNK)]
    tasks = [
        (views[rows[part]], chances[rows[part]], hands[part].astype(np.int64), tricks[part], deal[part], part.start)
        for part in parts
    ]
    found = list(jobs.run(partial(search, expert), tasks, workers))
    return Searched._make(np.concatenate(column) for column in zip(*found))


def worth(of: Searched, rounds: int = 400) -> dict[str, Any]:
    """IMPs that an IMP found and a nat of chance are worth; errors by drawing deals again, ``rounds`` times."""
    row, place = np.nonzero(of.there[:, 1:])
    place += 1
    known = np.stack([of.found[row, place], of.liked[row, place]], 1)
    gained = of.gained[row, place]
    _, deal = np.unique(of.deal[row], return_inverse=True)
    squares = np.zeros((deal.max() + 1, 2, 2))
    np.add.at(squares, deal, known[:, :, None] * known[:, None])
    both = np.zeros((deal.max() + 1, 2))
    np.add.at(both, deal, known * gained[:, None])
    rng, n = np.random.default_rng(0), len(both)
    drawn = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(rounds)]
    error = np.std([np.linalg.solve(np.tensordot(w, squares, 1), w @ both) for w in drawn], 0)
    mean = np.linalg.solve(squares.sum(0), both.sum(0))
    names = ("an IMP found", "a nat of chance")
    return {name: Estimate(float(m), float(e), n) for name, m, e in zip(names, mean, error, strict=True)}


def gains(of: Searched) -> dict[str, Any]:
    """IMPs a decision over the likeliest call, by prior; and over the choice without a prior."""
    chosen = [
        np.where(of.enough, np.where(of.there, of.found + prior * of.liked, -np.inf).argmax(1), 0) for prior in PRIORS
    ]
    won = [of.gained[np.arange(len(choice)), choice] for choice in chosen]
    over = {f"{prior}": Estimate.of(each, group=of.deal) for prior, each in zip(PRIORS, won, strict=True)}
    more = {f"{p} over 0": Estimate.of(each - won[0], group=of.deal) for p, each in zip(PRIORS[1:], won[1:])}
    return over | more


def main(
    decisions_of_each: Annotated[int, typer.Option("--decisions", min=2, help="Decisions against each expert.")] = 6000,
    boards: Annotated[int, typer.Option(min=2, help="Validation boards they are drawn from.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of boards and searches.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/bridge-search-prior.json"),
) -> None:
    """Measure both tables."""
    began = time.perf_counter()
    each = {name: decisions(name, np.arange(boards), seed, decisions_of_each, workers) for name in EXPERTS}
    every = {**each, "both": Searched._make(np.concatenate(column) for column in zip(*each.values()))}
    note = (
        f"Where {AGENT} hesitates on {boards:,} validation boards, both rooms; played out on the deal as it lies, "
        "against the expert itself; ± over deals"
    )
    first = {name: {"against": name, "decisions": len(of.deal)} for name, of in every.items()}
    tables = []
    for title, measure, what in (
        ("What a call gains, as the search and the policy say it", worth, "; least squares over all calls compared"),
        ("IMPs a decision over the likeliest call, by IMPs of a nat", gains, ""),
    ):
        rows = [first[name] | measure(of) for name, of in every.items()]
        tables.append(ResultTable(title, list(rows[0]), rows, note=note + what))
    results.show(tables)
    results.save(json, "bridge-search-prior", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

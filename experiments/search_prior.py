"""How far a search should look, and what the policy's own values are worth beside what it finds.

    python experiments/search_prior.py --decisions 3000 --workers 2 --json docs/results/bridge-search-prior.json

Where a policy hesitates at the table of an open expert, ``bmcs-sl`` and ``rpi-bmcs`` search, and every candidate is
played out on the deal as it lies, against the expert itself. What a call gained there over the likeliest is regressed
on what the search found and on the policy's log-chances. Candidates are looked at down to a chance of ``LEAST[-1]``;
what a higher bound would have chosen from the same deals follows from that. Validation deals: held-out opponents are
for measuring, not for choosing by.
"""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from opponent_models import KnownTricks, OpenDecisions, open_decisions

from bidzoo import agents
from bidzoo.agents.bridge.bmcs import Bmcs, Options
from bidzoo.benchmarks import printing, results
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core import jobs
from bidzoo.core.kernels import F64, I64, Bool
from bidzoo.envs.bridge.game import Bridge

AGENTS = ("bmcs-sl", "rpi-bmcs")
EXPERTS = ("expert-sayc", "expert-21gf")
PRIORS = (0.0, 0.1, 0.2, 0.4)  # IMPs of a nat
LEAST = (0.05, 0.02, 0.01, 0.004, 0.001)  # chance of a candidate
CHUNK = 100  # decisions of a task


class SearchedDecisions(NamedTuple):
    """``n`` decisions and up to ``K`` calls compared at each, the likeliest first, padded with 0."""

    chance: F64  # [n, K]
    search_gain: F64  # [n, K]  mean gain in the search
    true_gain: F64  # [n, K]  on the deal as it lies
    enough: Bool  # [n]  more deals than ``r_min``
    deal: I64  # [n]
    boards: F64  # [n]  boards of each decision: one over how many are open on a board

    def log_ratio(self) -> F64:
        """Log of the ratio of a call's chance to the likeliest's ``[n, K]``."""
        return np.asarray(np.log(np.maximum(self.chance, 1e-9)) - np.log(self.chance[:, :1]))

    def candidates(self, min_prob: float) -> Bool:
        """Calls of more than ``min_prob``, and the likeliest ``[n, K]``."""
        return np.asarray((self.chance > min_prob) | (np.arange(self.chance.shape[1]) == 0))

    def gain(self, options: Options) -> F64:
        """Gain ``[n]`` of the choices by ``options`` over the likeliest calls, on the deal as it lies."""
        value = self.search_gain + options.prior * self.log_ratio()
        value = np.where(self.candidates(options.min_prob), value, -np.inf)
        chosen = np.where(self.enough, value[:, : options.max_actions].argmax(1), 0)
        return self.true_gain[np.arange(len(chosen)), chosen]


def thorough_search(name: str, opponents: str | None = None) -> Bmcs:
    """The agent as a search of every call that any bound of ``LEAST`` allows."""
    agent: Any = agents.make(name)
    agent.options = replace(agent.options, min_prob=LEAST[-1])
    return agent if opponents is None else Bmcs(agent.policy, agent.belief, agent.evaluator, opponents=opponents)


def search(name: str, expert: str, batch: OpenDecisions, first: int) -> SearchedDecisions:
    """The decisions of ``batch``, searched and played out; decision ``i`` draws from key ``first + i``."""
    agent, truth = thorough_search(name), thorough_search(name, expert)
    n = len(batch.deal)
    chance, search_gain, true_gain = np.zeros((3, n, agent.options.max_actions))
    out = SearchedDecisions(chance, search_gain, true_gain, np.zeros(n, np.bool_), batch.deal, np.zeros(n))
    for i, chances in enumerate(batch.chances):
        view = batch.views[i : i + 1]
        result = agent.search(view, chances, first + i)
        columns = slice(len(result.calls))
        out.chance[i, columns] = chances[result.calls]
        out.enough[i] = result.deals.size > agent.options.r_min
        if result.deals.size:
            out.search_gain[i, columns] = result.deals.mean(result.gains)
        tricks = KnownTricks(batch.tricks[i])
        out.true_gain[i, columns] = truth.evaluated(view, batch.hands[i : i + 1], result.calls, tricks)[0][0]
    return out


def decisions(name: str, expert: str, boards: I64, seed: int, count: int, workers: int) -> SearchedDecisions:
    """``count`` open decisions of ``boards``, both rooms."""
    pool = open_decisions(Bridge(False, deals="validation"), thorough_search(name), expert, boards, seed)
    rows = np.sort(np.random.default_rng(seed).choice(len(pool.deal), min(count, len(pool.deal)), replace=False))
    parts = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]
    tasks = [(OpenDecisions._make(column[part] for column in pool), i * CHUNK) for i, part in enumerate(parts)]
    results = list(jobs.run(partial(search, name, expert), tasks, workers))
    out = SearchedDecisions._make(np.concatenate(column) for column in zip(*results))
    return out._replace(boards=np.full(len(rows), len(boards) / len(pool.deal)))


def worth(searched: SearchedDecisions, options: Options, rounds: int = 400) -> dict[str, Any]:
    """IMPs that an IMP found and a nat of chance are worth; errors by drawing deals again, ``rounds`` times."""
    row, place = np.nonzero((searched.chance > options.min_prob) & (np.arange(searched.chance.shape[1]) > 0))
    predictors = np.stack([searched.search_gain[row, place], searched.log_ratio()[row, place]], 1)
    true_gain = searched.true_gain[row, place]
    _, deal = np.unique(searched.deal[row], return_inverse=True)
    squares = np.zeros((deal.max() + 1, 2, 2))
    np.add.at(squares, deal, predictors[:, :, None] * predictors[:, None])
    products = np.zeros((deal.max() + 1, 2))
    np.add.at(products, deal, predictors * true_gain[:, None])
    rng, n = np.random.default_rng(0), len(products)
    drawn = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(rounds)]
    error = np.std([np.linalg.solve(np.tensordot(w, squares, 1), w @ products) for w in drawn], 0)
    mean = np.linalg.solve(squares.sum(0), products.sum(0))
    names = ("an IMP found", "a nat of chance")
    return {name: Estimate(float(m), float(e), n) for name, m, e in zip(names, mean, error, strict=True)}


def gains(searched: SearchedDecisions, settings: dict[str, Options], base: str) -> dict[str, Any]:
    """IMPs a board over the likeliest calls, by settings; and of each over the setting ``base``."""
    gain_of = {name: searched.gain(options) / searched.boards for name, options in settings.items()}
    over = {name: Estimate.of(each, group=searched.deal) for name, each in gain_of.items()}
    more = {f"{name} over {base}": each - gain_of[base] for name, each in gain_of.items() if name != base}
    return over | {name: Estimate.of(each, group=searched.deal) for name, each in more.items()}


def main(
    decisions_of_each: Annotated[
        int, typer.Option("--decisions", min=2, help="Decisions of each agent against each expert.")
    ] = 4000,
    boards: Annotated[int, typer.Option(min=2, help="Validation boards they are drawn from.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of boards and searches.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/bridge-search-prior.json"),
) -> None:
    """Measure three tables."""
    began = time.perf_counter()
    note = (
        f"Where the agent hesitates on {boards:,} validation boards, both rooms, against both open experts; played out "
        "on the deal as it lies, against the expert itself; ± over deals"
    )
    a_board = "; each decision by itself, those after it made by the policy"
    titles = {
        "What a call gains, as the search and the policy say it": "; least squares",
        "IMPs a board over the policy, by the least chance of a candidate": a_board,
        "IMPs a board over the policy, by IMPs of a nat": a_board,
    }
    rows = []
    for name in AGENTS:
        each = [decisions(name, expert, np.arange(boards), seed, decisions_of_each, workers) for expert in EXPERTS]
        searched = SearchedDecisions._make(np.concatenate(column) for column in zip(*each))
        options: Options = type(agents.make(name)).options  # type: ignore[attr-defined]
        bounds = {f"{least}": replace(options, min_prob=least) for least in LEAST}
        priors = {f"{prior}": replace(options, prior=prior) for prior in PRIORS}
        measured = worth(searched, options), gains(searched, bounds, "0.02"), gains(searched, priors, "0.0")
        rows.append([{"agent": name, "decisions": len(searched.deal), **cells} for cells in measured])
    tables = [
        ResultTable(title, list(cells[0]), list(cells), note=note + more)
        for (title, more), cells in zip(titles.items(), zip(*rows))
    ]
    printing.show(tables)
    results.save(json, "bridge-search-prior", tables, seed=seed, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

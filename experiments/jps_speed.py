"""What Theorem 1 saves: an iteration of joint policy search beside the same proposals by brute force.

    python experiments/jps_speed.py --json docs/results/jps-speed.json

Until bidzoo 0.1.0 the table was the last of ``bidzoo bench tabular``.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from bidzoo.agents.tabular import jps
from bidzoo.agents.tabular.jps import EPS, Chain, advance_row, chain_of, enter_row
from bidzoo.agents.tabular.strategy import random
from bidzoo.benchmarks import printing, results
from bidzoo.benchmarks.results import ResultTable
from bidzoo.benchmarks.tabular import compiled_of
from bidzoo.core.compiling import wait_always
from bidzoo.core.kernels import F64, I64, assign_row, row
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate, value_row

# section 6, "runtime speed": seconds of a JPS iteration and of brute force, and their ratio; None: not given
SPEED: dict[str, tuple[float | None, float | None, float]] = {
    "simple_bidding_v0(size=8)": (1.0, 4.0, 4.0),
    "simple_bidding_v0(size=16)": (20.0, 260.0, 13.0),
    "comm_v0(length=4)": (None, None, 3.0),
    "minibridge_v0(size=4)": (None, None, 30.0),
}


class BruteForce(NamedTuple):
    """Best proposal of one iteration."""

    gain: float
    edges: I64  # [n]
    types: I64  # [n]
    proposals: int  # number evaluated


@row
def _sweep_row(
    tree: Compiled, strategy: F64, chain: Chain, m: int, value: float, best: F64, edges: I64, types: I64
) -> int:
    """``jps.search_row`` by brute force; ``strategy`` changes on the way. Returns the number of proposals."""
    reach = np.ones((2, strategy.shape[0], strategy.shape[1]))
    saved = np.empty((len(chain.node), np.max(tree.count)))
    active = np.zeros(len(chain.node), np.bool_)
    proposals, d = 0, 0
    enter_row(tree, chain, m, d)
    while d >= 0:
        first, count = tree.first[chain.node[d]], tree.count[chain.node[d]]
        if active[d]:
            for i in range(count):
                strategy[first + i, chain.type[d]] = saved[d, i]
        active[d] = advance_row(tree, strategy, chain, d)
        if not active[d]:
            d -= 1
            continue
        for i in range(count):
            saved[d, i] = strategy[first + i, chain.type[d]]
            strategy[first + i, chain.type[d]] = 1.0 if first + i == chain.edge[d] else 0.0
        gain = value_row(tree, strategy, reach) - value
        proposals += 1
        if gain > best[0]:
            best[0] = gain
            assign_row(edges[: d + 1], chain.edge)
            assign_row(types[: d + 1], chain.type)
            edges[d + 1] = -1
        if d + 1 < len(chain.node) and tree.count[chain.edge[d]] > 0:
            d += 1
            enter_row(tree, chain, chain.edge[d - 1], d)
    return proposals


def brute_force(game: Solvable, strategy: F64, depth: int, links: int = 0) -> BruteForce:
    """``jps.Search.propose`` by brute force, without Theorem 1; at most ``links`` links, 0: any."""
    game = compile_game(game)
    scratch, value = strategy.copy(), evaluate(game, strategy)
    chain = chain_of(links or int(game.depth.max()), game.shape[1])
    best, edges, types = np.array([EPS]), np.empty(len(chain.gain), np.int64), np.empty(len(chain.gain), np.int64)
    edges[0], proposals = -1, 0
    for m in np.flatnonzero((game.depth == depth) & (game.count > 0)):
        proposals += _sweep_row(game, scratch, chain, int(m), value, best, edges, types)
    length = int(np.argmax(edges < 0))
    return BruteForce(float(best[0]) if length else 0.0, edges[:length], types[:length], proposals)


def _seconds(work: Callable[[], object], least: float = 0.2) -> float:
    """Processor seconds of one call, the mean of as many as fill ``least``."""
    calls, began = 0, time.process_time()
    while (spent := time.process_time() - began) < least or calls == 0:
        work()
        calls += 1
    return spent / calls


def speed_table() -> ResultTable:
    """One JPS iteration and the same proposals by brute force, from a random strategy, in this process."""
    table = ResultTable(
        "JPS against brute force: one iteration",
        ["game", "D", "proposals", "JPS s", "brute force s", "ratio", "paper JPS s", "paper brute s", "paper ratio"],
        note="from the root of a fully mixed random strategy; both searches find the same best gain; processor seconds",
    )
    for name, (paper_jps, paper_brute, paper_ratio) in SPEED.items():
        game = compiled_of(name)
        depth, strategy = jps.search_depth(game), random(game, 0)
        search = jps.Search(game, jps.Options(depth=depth))
        gain, _, _ = search.propose(strategy, 0, 0)
        exhaustive = brute_force(game, strategy, 0, depth)  # the first call compiles
        if not np.isclose(gain, exhaustive.gain, rtol=0, atol=1e-9):
            raise ValueError(f"{name}: JPS predicts {gain}, brute force finds {exhaustive.gain}")
        ours = _seconds(partial(search.propose, strategy, 0, 0))
        brute = _seconds(partial(brute_force, game, strategy, 0, depth), least=0.0)
        speeds = [f"{ours:.2g}", f"{brute:.2g}", f"{brute / ours:.0f}x"]
        papers = ["" if seconds is None else f"{seconds:g}" for seconds in (paper_jps, paper_brute)]
        table.add(name, depth or "all", exhaustive.proposals, *speeds, *papers, f"{paper_ratio:g}x")
    return table


def main(json: Annotated[Path, typer.Option("--json")] = Path("runs/jps-speed.json")) -> None:
    """Measure the table."""
    wait_always()
    began, table = time.perf_counter(), speed_table()
    printing.show([table])
    results.save(json, "tabular", [table], seed=0, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    typer.run(main)

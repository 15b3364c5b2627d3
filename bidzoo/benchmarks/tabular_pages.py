"""The smaller tables of ``bidzoo bench tabular``: auctions as a grid (appendix C), and JPS against brute force."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from bidzoo.agents.tabular import brute_force, jps
from bidzoo.agents.tabular.policy import game_of
from bidzoo.agents.tabular.solver import search_depth
from bidzoo.agents.tabular.strategy import random
from bidzoo.benchmarks.results import Table
from bidzoo.benchmarks.tabular_jobs import compiled_of
from bidzoo.benchmarks.tabular_paper import SPEED, TABLE_4
from bidzoo.kernels import F64


def auctions(game_id: str, strategy: F64) -> list[list[str]]:
    """The likeliest auction of each deal, ``[X][Y]``, as the paper writes them: ``"1S-2S-P"``."""
    game, form = game_of(game_id), compiled_of(game_id)

    def auction(x: int, y: int) -> str:
        m, calls = 0, []
        while form.count[m]:
            first, own = int(form.first[m]), (x, y)[form.player[m]]
            m = first + int(strategy[first : first + form.count[m], own].argmax())
            calls.append(game.action_text(int(form.action[m])))
        return "-".join(calls)

    return [[auction(x, y) for y in range(form.num_types[1])] for x in range(form.num_types[0])]


def grid_table(title: str, grid: list[list[str]] | tuple[tuple[str, ...], ...], note: str) -> Table:
    """Rows: hearts of player_0; columns: hearts of player_1."""
    table = Table(title, ["hearts", *(str(y) for y in range(len(grid[0])))], note=note)
    for x, row in enumerate(grid):
        table.rows.append({"hearts": str(x), **{str(y): text for y, text in enumerate(row)}})
    return table


def paper_grid() -> Table:
    """Table 4 as printed."""
    return grid_table("MiniBridge N = 4: the paper's learned policy (Table 4)", TABLE_4, "worth 1.84, says the paper")


def _seconds(work: Callable[[], object], least: float = 0.2) -> float:
    """Processor seconds of one call, the mean of as many as fill ``least``."""
    calls, began = 0, time.process_time()
    while (spent := time.process_time() - began) < least or calls == 0:
        work()
        calls += 1
    return spent / calls


def speed_table() -> Table:
    """One JPS iteration and the same proposals by brute force, from a random strategy, in this process."""
    table = Table(
        "JPS against brute force: one iteration",
        ["game", "D", "proposals", "JPS s", "brute force s", "ratio", "paper JPS s", "paper brute s", "paper ratio"],
        note="from the root of a fully mixed random strategy; both searches find the same best gain; processor seconds",
    )
    for name, (paper_jps, paper_brute, paper_ratio) in SPEED.items():
        game = compiled_of(name)
        depth, strategy = search_depth(game), random(game, 0)
        search = jps.Search(game, jps.Config(depth=depth))
        gain, _, _ = search.propose(strategy, 0, 0)
        found = brute_force.propose(game, strategy, 0, depth)  # the first call compiles
        if not np.isclose(gain, found.gain, rtol=0, atol=1e-9):
            raise ValueError(f"{name}: JPS predicts {gain}, brute force finds {found.gain}")
        ours = _seconds(partial(search.propose, strategy, 0, 0))
        brute = _seconds(partial(brute_force.propose, game, strategy, 0, depth), least=0.0)
        table.rows.append(
            {
                "game": name,
                "D": depth or "all",
                "proposals": found.proposals,
                "JPS s": f"{ours:.2g}",
                "brute force s": f"{brute:.2g}",
                "ratio": f"{brute / ours:.0f}x",
                "paper JPS s": "" if paper_jps is None else f"{paper_jps:g}",
                "paper brute s": "" if paper_brute is None else f"{paper_brute:g}",
                "paper ratio": f"{paper_ratio:g}x",
            }
        )
    return table

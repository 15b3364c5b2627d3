"""Decisions a second of every environment, beside OpenSpiel, Pgx, RLCard and PettingZoo, all in one run.

Each contestant plays uniformly random legal actions and writes the observation of every mover. The contestants
take turns in short slices, so a drift of the machine hits all alike; the figure is the median slice.
"""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from bidzoo.benchmarks.peers import PEERS
from bidzoo.benchmarks.results import Figure, Table

TABLES = 4096  # of the batched engine
Slice = Callable[[float], int]  # plays for about so many seconds, returns the decisions taken


@dataclass(frozen=True)
class Contestant:
    """One row of the table."""

    game: str
    form: str
    slice: Slice
    reference: bool = False  # the row that ratios within its game are taken against


def _timed(work: Callable[[], int]) -> Slice:
    def slice_of(seconds: float) -> int:
        decisions, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            decisions += work()
        return decisions

    return slice_of


def batched(env_id: str, tables: int = TABLES, **options: Any) -> Slice:
    """The batched engine with actions drawn by the ``random`` agent's kernel."""
    import numpy as np

    from bidzoo.agents.uniform import choose
    from bidzoo.registry import make_vec

    env = make_vec(env_id, tables, **options)
    env.reset(seed=1)
    actions, keys = np.empty(tables, np.int64), np.arange(tables, dtype=np.uint64)

    def work() -> int:
        for _ in range(16):
            choose(env.action_mask, keys, actions)
            env.step(actions)
        return 16 * tables

    return _timed(work)


def aec(env: Any) -> Slice:
    """Any PettingZoo AEC environment with masks in its observations, driven by ``last`` and ``step``."""
    import numpy as np

    rng = np.random.default_rng(1)
    boards = [0]

    def work() -> int:
        env.reset(seed=boards[0])
        boards[0] += 1
        decisions = 0
        while True:
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                return decisions
            mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
            legal = mask.nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
            decisions += 1

    return _timed(work)


def standard_stack(env: Any) -> Any:
    """``env`` inside PettingZoo's three usual wrappers."""
    from pettingzoo.utils import wrappers

    return wrappers.OrderEnforcingWrapper(
        wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(env, illegal_reward=-1))
    )


def contestants(games: list[str] | None = None, peers: bool = True) -> list[Contestant]:
    """Our forms of every game (or of ``games``) and each peer that is installed."""
    from bidzoo.registry import GAMES, make

    rows = []
    for env_id in games or list(GAMES):
        rows.append(Contestant(env_id, "bidzoo batched", batched(env_id)))
        rows.append(Contestant(env_id, "bidzoo env()", aec(make(env_id))))
        rows.append(Contestant(env_id, "raw_env in PettingZoo's wrappers", aec(standard_stack(make(env_id)))))
    if peers:
        for peer in PEERS:
            made = peer.make()
            if made is not None and (games is None or peer.game in games):
                rows.append(Contestant(peer.game, peer.name, _timed(made), peer.reference))
    return rows


def main(
    seconds: float = 0.4, rounds: int = 5, games: list[str] | None = None, peers: bool = True
) -> tuple[list[Table], list[Figure], float]:
    """Measure and return the table, its bars and the seconds it took.

    Args:
        seconds: length of a slice.
        rounds: slices of each contestant.
        games: ids, default all.
        peers: also measure other suites where they are installed.
    """
    began = time.perf_counter()
    rows = contestants(games, peers)
    for contestant in rows:
        contestant.slice(0.01)  # compiles
    speeds: list[list[float]] = [[] for _ in rows]
    for _ in range(rounds):
        for contestant, speed in zip(rows, speeds, strict=True):
            start = time.perf_counter()
            decisions = contestant.slice(seconds)
            speed.append(decisions / (time.perf_counter() - start))
    middle = [median(speed) for speed in speeds]
    reference = {c.game: m for c, m in zip(rows, middle, strict=True) if c.reference}
    table = Table(
        "Throughput: random legal actions, observations written",
        ["game", "form", "decisions/s", "times OpenSpiel"],
        note=f"median of {rounds} slices of {seconds} s, taken in turn; batched: {TABLES} tables; "
        f"OMP_WAIT_POLICY={os.environ.get('OMP_WAIT_POLICY', 'not set')}",
    )
    for contestant, speed_of in sorted(zip(rows, middle, strict=True), key=lambda row: (row[0].game, -row[1])):
        base = reference.get(contestant.game)
        table.rows.append(
            {
                "game": contestant.game,
                "form": contestant.form,
                "decisions/s": float(speed_of),
                "times OpenSpiel": speed_of / base if base else None,
            }
        )
    shown = [row for row in table.rows if row["times OpenSpiel"] is not None]
    bars = Figure(
        "Decisions a second beside OpenSpiel driven from Python, as powers of ten",
        "bars",
        [f"{row['game'].removesuffix('_v0')}: {row['form']}" for row in shown],
        {"log10 of decisions/s": [math.log10(row["decisions/s"]) for row in shown]},
        y_label="log10 of decisions/s",
    )
    return [table], [bars] if shown else [], time.perf_counter() - began

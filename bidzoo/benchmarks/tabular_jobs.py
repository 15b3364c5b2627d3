"""One seed of one row on one game: the unit of work of ``bidzoo bench tabular``.

Every job depends on its own seed alone and runs in a worker process with one thread, so results are the same for any
number of workers.
"""

import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from bidzoo import parallel
from bidzoo.agents.tabular import cfr, jps, solver
from bidzoo.agents.tabular.policy import game_of
from bidzoo.agents.tabular.strategy import purify, random
from bidzoo.benchmarks.ledger import Ledger
from bidzoo.benchmarks.tabular_paper import SAMPLES, TABLE_2
from bidzoo.envs.signals.compile import compile_game
from bidzoo.envs.signals.compiled import Compiled, evaluate
from bidzoo.kernels import F64

SHORT = {  # BAD's partial policies have a row a type: in the large Comm games it gets a fifth of the updates
    ("BAD", "comm_v0(length=6)"): {"updates": 40},
    ("BAD", "comm_v0(length=7)"): {"updates": 40},
}


class Job(NamedTuple):
    """Start from ``row`` ("CFR1k", "A2C", "BAD" or "random") on ``game`` with ``seed``, then JPS."""

    row: str
    game: str
    seed: int


class Outcome(NamedTuple):
    """What came out; seconds are of the processor."""

    value: float  # of the row itself
    boosted: float  # after JPS
    sampled: dict[str, float]  # after sampled JPS, by samples an information set; where Table 2 has it
    seconds: float  # of the row itself
    jps_seconds: float
    steps: int  # accepted by JPS


@cache
def compiled_of(game: str) -> Compiled:
    """The compiled form, kept for the life of the process."""
    return compile_game(game_of(game))


def start_of(job: Job) -> F64:
    """The strategy that JPS starts from: CFR's last iterate as it is, the networks' greedy one."""
    game = compiled_of(job.game)
    if job.row == "CFR1k":
        return cfr.cfr(game, cfr.Config(seed=job.seed))
    if job.row == "random":
        return random(game, job.seed)
    train = {"A2C": solver.solve_a2c, "BAD": solver.solve_bad}[job.row]
    return train(game, job.seed, **SHORT.get((job.row, job.game), {}))


def run(job: Job) -> Outcome:
    """The job, done."""
    game = compiled_of(job.game)
    depth = solver.search_depth(game)
    began = time.process_time()
    start = start_of(job)
    ended = time.process_time()
    accepted = [step for _, step in jps.steps(game, start, jps.Config(depth=depth, seed=job.seed))]
    boosted = accepted[-1].value if accepted else evaluate(game, start)
    jps_seconds = time.process_time() - ended
    sampled = {}
    for n in SAMPLES if (job.game, job.row) in TABLE_2 else ():
        config = jps.Config(depth=depth, samples=n, seed=job.seed)
        sampled[str(n)] = evaluate(game, jps.jps(game, start, config))
    value = evaluate(game, purify(game, start) if job.row == "CFR1k" else start)
    return Outcome(value, boosted, sampled, ended - began, jps_seconds, len(accepted))


def warm(game: str) -> None:
    """Compile or load the kernels, so that the first seed's seconds are like the others'."""
    form = compiled_of(game)
    start = cfr.cfr(form, cfr.Config(iterations=1))
    for samples in (0, 1):
        jps.jps(form, start, jps.Config(depth=1, samples=samples, iterations=1))


def _timed(job: Job) -> tuple[Job, Outcome]:
    warm(job.game)
    return job, run(job)


def finish(jobs: Iterable[Job], ledger: Ledger[Job, Outcome], workers: int) -> Iterator[Job]:
    """Run the jobs that the ledger lacks, ``workers`` at a time (see ``bidzoo.parallel``); yields each as it ends."""
    waiting = [(job,) for job in jobs if job not in ledger.done]
    for _, (job, outcome) in parallel.as_completed(_timed, waiting, workers, apart=True):
        ledger.add(job, outcome)
        yield job

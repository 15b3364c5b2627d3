"""``bidzoo compile``: every kernel of every game and agent, before anybody waits for one."""

import time
from typing import Annotated

import typer

from bidzoo.cli.options import progress

ROWS = 64  # tables of a batch: from here on kernels take the way of large batches
PLAYED = ("bridge_bidding_v0", "spades_v0")  # where agents are compiled; those of the small games are few kernels


def compile_kernels(
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; default: one a core.")] = None,
) -> None:
    """Compile all kernels into numba's cache, for images and clusters; what is there already is kept."""
    from bidzoo import agents, registry
    from bidzoo.core import jobs, threads

    began = time.perf_counter()
    count = workers or threads.cores()
    work: list[tuple[str, str | None]] = [(env_id, None) for env_id in registry.GAMES]
    work += [(env_id, name) for env_id in PLAYED for name in agents.AGENTS if env_id in agents.AGENTS[name].games]
    with progress() as report:
        report("compiling", 0, len(work))
        for done, _ in enumerate(jobs.as_completed(use, work, count, "loky"), 1):
            report("compiling", done, len(work))
    typer.echo(f"kernels of {len(registry.GAMES)} games and their agents: {time.perf_counter() - began:.0f} s")


def use(env_id: str, name: str | None) -> None:
    """Play ``env_id`` in every form, with agent ``name`` if one is given: what is called is compiled."""
    import numpy as np

    from bidzoo import agents, registry
    from bidzoo.benchmarks.match import play, slow
    from bidzoo.core.kernels import wait_always
    from bidzoo.wrappers.batch import Batch

    wait_always()
    game = registry.make_game(env_id)
    policy = agents.make(name or "random")
    play(game, [policy] * game.num_players, np.arange(1 if slow([policy]) else ROWS))
    env = registry.make(env_id)
    env.reset(seed=0)
    env.step(env.ask(policy))
    if name is None:
        batch = Batch(game, ROWS)
        batch.reset()
        batch.state()

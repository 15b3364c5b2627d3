"""``bidzoo compile``: every kernel of games and agents, before anybody waits for one."""

import gc
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bidzoo.cli.options import progress, say

ROWS = 64  # tables of a batch: from this size on kernels take the code path of large batches
LONGEST = ("bridge", "spades")

Work = tuple[str, str | None]  # a game, one of its agents
SECONDS = {  # of a processor where nothing is kept, about; of all others one
    ("bridge_bidding_v0", None): 16,
    ("bridge_bidding_v0", "sayc"): 21,
    ("bridge_bidding_v0", "bmcs"): 5,
    ("bridge_bidding_v0", "sl"): 3,
    ("bridge_bidding_v0", "expert-sayc"): 3,
    ("spades_v0", None): 10,
}


def compile_kernels(
    games: Annotated[list[str] | None, typer.Argument(help="Games and their agents; default: all.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; default: one a core.")] = None,
) -> None:
    """Compile all kernels into numba's cache, for images and clusters; what is there already is kept."""
    from bidzoo import registry
    from bidzoo.core import jobs, threads

    began = time.perf_counter()
    game_ids = {registry.game_id(name) for name in games} if games else set(registry.loadable())
    parts = apart([item for item in everything() if item[0] in game_ids])
    with tempfile.TemporaryDirectory() as marks, progress() as report:
        seconds = {_mark(item): SECONDS.get(item, 1) for part in parts for item in part}

        def look() -> None:
            done = sum(seconds[mark.name] for mark in Path(marks).iterdir())
            report("compiling, seconds of one processor", done, sum(seconds.values()))

        with every(0.5, look):
            work = [(marks, *part) for part in parts]
            for _ in jobs.as_completed(use_all, work, workers or threads.cores(), "loky"):
                pass
    say(f"kernels of {len(game_ids)} games and their agents: {time.perf_counter() - began:.0f} s")


def everything() -> list[Work]:
    """All games, and one agent of each class."""
    from bidzoo import agents, registry

    classes = {
        (env_id, type(agents.make(name))): (env_id, name)
        for env_id in registry.GAMES
        for name in reversed(agents.AGENTS)
        if env_id in agents.AGENTS[name].games
    }
    return [*((env_id, None) for env_id in registry.entries()), *reversed(classes.values())]


def apart(work: list[Work]) -> list[tuple[Work, ...]]:
    """``work`` in parts that share no kernels, or two processes would compile the same; the longest first."""
    parts: dict[str, tuple[Work, ...]] = {}
    for env_id, name in work:
        kind = env_id.partition("_")[0]  # both games of bridge have its auction
        parts[kind] = (*parts.get(kind, ()), (env_id, name))
    return [parts[kind] for kind in sorted(parts, key=lambda kind: (*LONGEST, kind).index(kind))]


def use_all(marks: str, *part: Work) -> None:
    """Call ``use`` for each game and agent of ``part``; a file in the folder ``marks`` says that one is done."""
    gc.set_threshold(100_000, 50, 50)  # the compiler makes many objects, few of them to be collected
    for item in part:
        use(*item)
        Path(marks, _mark(item)).touch()


def _mark(item: Work) -> str:
    return "-".join(filter(None, item))


@contextmanager
def every(seconds: float, look: Callable[[], None]) -> Iterator[None]:
    """Call ``look`` now and again from a thread of its own, until the block ends."""
    ended = threading.Event()

    def repeat() -> None:
        look()
        while not ended.wait(seconds):
            look()

    thread = threading.Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def use(env_id: str, name: str | None) -> None:
    """Play ``env_id`` in every form, with agent ``name`` if one is given: what is called is compiled."""
    import numpy as np

    from bidzoo import agents, bridge, registry
    from bidzoo.benchmarks.match import play, slow
    from bidzoo.core.compiling import wait_always
    from bidzoo.wrappers.batch import Batch
    from bidzoo.wrappers.gymnasium import SingleAgent

    wait_always()
    game = registry.make_game(env_id)
    policy = agents.make(name or "random")
    play(game, [policy] * game.num_players, np.arange(1 if slow([policy]) else ROWS))
    env = registry.make(env_id)
    env.reset(seed=0)
    env.step(env.ask(policy))
    if name is None:
        game.deal_numbers(np.arange(2), 0)
        batch = Batch(game, ROWS)
        batch.reset()
        batch.state()
        learner = SingleAgent(game, [None, *[policy] * (game.num_players - 1)])
        _, info = learner.reset(seed=0)
        while not learner.step(int(info["action_mask"].argmax()))[2]:
            info = {"action_mask": learner.action_masks()}
    if env_id == "bridge_bidding_v0":
        bridge.call(policy, "AKQ2.AKQ.AKQ2.A2", calls="P")

"""``bidzoo bench selfplay``: decisions a second when networks bid whole boards, and what a decision is spent on.

``none`` picks calls by the random numbers alone: what the host could feed to a network that takes no time.
"""

import os
import re
import time
from collections.abc import Callable, Sequence
from cProfile import Profile
from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.agents.bridge import network, selfplay, weights
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.selfplay import BOTH, Actor
from bidzoo.benchmarks.results import Figure, Table
from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, F64, I8, I64, batched, prange

NETWORKS = ("none", "sl", "4x1024", "4x2048")
BOARDS = (4096, 16_384, 65_536)
STAGES = {
    "deal": "deal",
    "observe": "observation",
    "act": "calls chosen",
    "make": "calls made",
}  # functions, their columns
_SIZE = re.compile(r"(\d+)x(\d+)")


@batched
def _pick(legal: I8, numbers: F64, call: I64, log_chances: F32) -> None:
    for b in prange(len(legal)):
        count = 0
        for a in range(NUM_CALLS):
            log_chances[b, a] = 0.0 if legal[b, a] else -1e9
            count += legal[b, a]
        left = int(count * numbers[b] * numbers[b])  # the lower calls more often: auctions as long as real ones
        for a in range(NUM_CALLS):
            if legal[b, a]:
                if left == 0:
                    call[b] = a
                left -= 1


def pick(observation: I8, legal: I8, numbers: F64) -> tuple[I64, F32]:
    """An ``Actor`` without a network."""
    call, log_chances = np.empty(len(legal), np.int64), np.empty(legal.shape, np.float32)
    _pick(legal, numbers, call, log_chances)
    return call, log_chances


def player(name: str, device: str, seed: int) -> tuple[Bridge, Actor]:
    """``none``, a packaged network, or ``DEPTHxWIDTH`` with random weights; before it, the game it plays."""
    if name == "none":
        return Bridge(False), pick
    if size := _SIZE.fullmatch(name):
        depth, width = map(int, size.groups())
        architecture = Architecture("openspiel480", NUM_CALLS, width=width, depth=depth)
        model = network.module(architecture, seed, last_scale=0.1)
    else:
        packaged = weights.packaged(name)
        architecture, model = packaged.architecture, network.module_of(packaged)
    return Bridge(False, observation=architecture.observation), selfplay.actor(model.to(device), device)


@dataclass(frozen=True)
class Played:
    """One batch of boards."""

    decisions: int
    seconds: float
    processor: float  # seconds of all cores together
    stages: dict[str, float]  # seconds of each of ``STAGES``


def measured(game: Bridge, boards: int, seed: int, who: Actor, stream: int) -> Played:
    """``boards`` played with ``who`` in all seats."""

    def act(observation: I8, legal: I8, numbers: F64) -> tuple[I64, F32]:
        return who(observation, legal, numbers)

    numbers, sides = np.arange(boards), np.full(boards, BOTH)
    profile, began, processor = Profile(), time.perf_counter(), time.process_time()
    profile.enable(builtins=False)
    _, decisions = selfplay.play(game, numbers, seed, act, act, sides, stream)
    profile.disable()
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    files = {selfplay.__file__, __file__}
    stages = {
        entry.code.co_name: entry.totaltime
        for entry in profile.getstats()
        if not isinstance(entry.code, str) and entry.code.co_filename in files and entry.code.co_name in STAGES
    }
    return Played(len(decisions.call), seconds, processor, stages)


def main(
    networks: Sequence[str] = NETWORKS,
    boards: Sequence[int] = BOARDS,
    device: str = "cpu",
    threads: int = 1,
    rounds: int = 3,
    limit: float = 20.0,
    seed: int = 0,
    report: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[list[Table], list[Figure], float]:
    """The tables, no figures, and the seconds they took.

    Args:
        networks: as ``player`` reads them.
        boards: batch sizes, small to large.
        device: of torch.
        threads: of torch on the processor; the kernels take all cores.
        rounds: batches of each size; the fastest counts, since whatever else runs on the machine only slows.
        limit: seconds; larger batches of a network are left out once one took longer.
        seed: of deals, calls and random weights.
        report: told about the progress.
    """
    from numba import get_num_threads

    from bidzoo.agents.bridge.checkpoint import torch_threads

    began = time.perf_counter()
    speed = Table(
        "Self-play: decisions a second",
        ["network", "boards", "decisions", "decisions/s", "processor µs a decision"],
        note=f"device {device}; fastest of {rounds} batches; {get_num_threads()} threads of the kernels, {threads} of "
        f"torch on the processor; {os.getloadavg()[0]:.1f} processes waiting for {os.cpu_count()} cores at the start; "
        "none: calls by the random numbers alone; 4x1024: 4 hidden layers of 1024, random weights",
    )
    spent = Table(
        "Self-play: where the time goes, µs a decision",
        ["network", "boards", *STAGES.values(), "rest"],
        note="wall clock; observation: encoded, with legal calls and a random number, in one kernel; rest: decisions "
        "recorded, sides told apart",
    )
    with torch_threads(threads):
        for done, name in enumerate(networks):
            game, who = player(name, device, seed)
            measured(game, 512, seed, who, 0)  # compiles
            for count in boards:
                runs = [measured(game, count, seed, who, 1 + k) for k in range(rounds)]
                fastest = min(runs, key=lambda run: run.seconds / run.decisions)
                first: dict[str, Any] = {"network": name, "boards": count}
                speed.rows.append({**first, **_speed(fastest)})
                spent.rows.append({**first, **_spent(fastest)})
                if max(run.seconds for run in runs) > limit:
                    break
            report("networks", done + 1, len(networks))
    return [speed, spent], [], time.perf_counter() - began


def _speed(run: Played) -> dict[str, Any]:
    return {
        "decisions": run.decisions,
        "decisions/s": run.decisions / run.seconds,
        "processor µs a decision": 1e6 * run.processor / run.decisions,
    }


def _spent(run: Played) -> dict[str, float]:
    each = {column: 1e6 * run.stages[name] / run.decisions for name, column in STAGES.items()}
    return {**each, "rest": 1e6 * run.seconds / run.decisions - sum(each.values())}

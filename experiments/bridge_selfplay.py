"""Decisions a second of the self-play that trains bridge networks, and what a decision is spent on.

    python experiments/bridge_selfplay.py --network none --network 4x1024 --boards 16384

``none`` picks calls by the random numbers alone: what the host could feed to a network that takes no time.
"""

import os
import re
import time
from collections.abc import Sequence
from cProfile import Profile
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.selfplay import BOTH, Actor, Decisions, Record
from bidzoo.benchmarks.results import Measured, Report, ResultTable
from bidzoo.cli import options, showing
from bidzoo.core.bits import count_row, nth_row
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I64, U8, batched
from bidzoo.core.threads import get_threads
from bidzoo.envs.bridge import game as bridge
from bidzoo.envs.bridge.game import Bridge

NETWORKS = ("none", "sl", "4x1024", "4x2048")
BOARDS = (4096, 16_384, 65_536)
STAGES = {"deal": "deal", "observe": "observation", "act": "calls chosen", "make": "calls made"}  # functions, columns
_SIZE = re.compile(r"(\d+)x(\d+)")


@batched
def _pick(start: int, stop: int, numbers: F64, legal: U8, call: I64, log_chance: F32) -> None:
    for b in range(start, stop):
        calls = 0
        for k in range(legal.shape[1]):
            calls |= int(legal[b, k]) << (8 * k)
        # the lower calls more often: auctions as long as real ones
        call[b] = nth_row(calls, int(count_row(calls) * numbers[b] * numbers[b]))
        log_chance[b] = 0


def pick(decisions: Decisions, numbers: F64) -> None:
    """Choose as an ``Actor`` without a network: by ``numbers`` alone."""
    _pick(numbers, decisions.legal, decisions.call, decisions.log_chance)


def player(name: str, device: str, seed: int) -> tuple[Bridge, Actor]:
    """The game and the actor of ``none``, a packaged network, or ``DEPTHxWIDTH`` with random weights."""
    if name == "none":
        game = Bridge(False)
        return game, Actor(game.encoder, pick)
    if size := _SIZE.fullmatch(name):
        depth, width = map(int, size.groups())
        architecture = Architecture("openspiel480", NUM_CALLS, width=width, depth=depth)
        model = network.module(architecture, seed, last_scale=0.1)
    else:
        packaged = network.packaged_network(name)
        architecture, model = packaged.architecture, network.module_of(packaged)
    return Bridge(False, observation=architecture.observation), selfplay.actor_of(
        model.to(device), architecture, device
    )


@dataclass(frozen=True)
class Timing:
    """Decisions and seconds of one batch of boards."""

    decisions: int
    seconds: float
    processor: float  # seconds of all cores together
    stages: dict[str, float]  # seconds of each of ``STAGES``

    def each(self, seconds: float) -> float:
        """Microseconds a decision."""
        return 1e6 * seconds / self.decisions


def measured(game: Bridge, boards: int, seed: int, actor: Actor, stream: int, record: Record) -> Timing:
    """The timing of ``boards`` with ``actor`` in all seats, recorded in the memory of ``record``."""

    def act(decisions: Decisions, numbers: F64) -> None:
        actor.choose(decisions, numbers)

    player = Actor(actor.encoder, act)
    numbers, sides = np.arange(boards), np.full(boards, BOTH)
    profile, began, processor = Profile(), time.perf_counter(), time.process_time()
    profile.enable(builtins=False)
    _, decisions = selfplay.play(game, numbers, seed, player, player, sides, stream, record)
    profile.disable()
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    files = {selfplay.__file__, bridge.__file__, __file__}
    stages = {
        entry.code.co_name: entry.totaltime
        for entry in profile.getstats()
        if not isinstance(entry.code, str) and entry.code.co_filename in files and entry.code.co_name in STAGES
    }
    return Timing(len(decisions.call), seconds, processor, stages)


@dataclass(frozen=True)
class Options:
    """How the speed is measured."""

    device: str = "cpu"  # of torch
    threads: int = 1  # of torch on the processor, beside a GPU; the kernels take all cores
    rounds: int = 3  # batches of each size; the fastest counts, since whatever else runs on the machine only slows
    limit: float = 20.0  # seconds; larger batches of a network are left out once one took longer
    seed: int = 0  # of deals, calls and random weights


def tables(networks: Sequence[str], boards: Sequence[int], options: Options, report: Report) -> Measured:
    """The tables, no figures, of ``networks`` as ``player`` reads them and ``boards`` a batch, small to large."""

    from bidzoo.agents.bridge.trainer import torch_threads

    speed = ResultTable(
        "Self-play: decisions a second",
        ["network", "boards", "decisions", "decisions/s", "processor µs a decision"],
        note=f"device {options.device}; fastest of {options.rounds} batches; "
        f"{get_threads()} threads of the kernels, which run networks too where that is a processor; "
        f"{os.getloadavg()[0]:.1f} processes waiting for {os.cpu_count()} cores at the start; "
        "none: calls by the random numbers alone; 4x1024: 4 hidden layers of 1024, random weights",
    )
    breakdown = ResultTable(
        "Self-play: where the time goes, µs a decision",
        ["network", "boards", *STAGES.values(), "rest"],
        note="wall clock; observation: encoded, with legal calls and a random number, in one kernel; rest: decisions "
        "recorded, sides told apart",
    )
    with torch_threads(options.threads):
        for done, name in enumerate(networks):
            game, actor = player(name, options.device, options.seed)
            record = Record(game, all_chances=False)
            measured(game, 512, options.seed, actor, 0, record)  # compiles
            for count in boards:
                runs = [measured(game, count, options.seed, actor, 1 + k, record) for k in range(options.rounds)]
                run = min(runs, key=lambda run: run.seconds / run.decisions)
                stages = [run.each(run.stages[stage]) for stage in STAGES]
                speed.add(name, count, run.decisions, run.decisions / run.seconds, run.each(run.processor))
                breakdown.add(name, count, *stages, run.each(run.seconds) - sum(stages))
                if max(run.seconds for run in runs) > options.limit:
                    break
            report("networks", done + 1, len(networks))
    return [speed, breakdown], []


def main(
    network: Annotated[
        list[str] | None, typer.Option(help="Network: none, a packaged one, or DEPTHxWIDTH; may be repeated.")
    ] = None,
    boards: Annotated[list[int] | None, typer.Option(min=1, help="Boards of a batch; may be repeated.")] = None,
    device: options.Device = "cpu",
    threads: options.Threads = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Batches of each size; the fastest counts.")] = 3,
    limit: Annotated[float, typer.Option(help="Seconds of a batch after which larger ones are left out.")] = 20.0,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Measure decisions a second of self-play, and what they are spent on."""
    asked = Options(device, threads, rounds, limit, seed)
    chosen, sizes = network or NETWORKS, sorted(boards or BOARDS)
    showing.measured("selfplay", seed, json, lambda report: tables(chosen, sizes, asked, report))


if __name__ == "__main__":
    typer.run(main)

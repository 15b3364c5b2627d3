"""Kills: every command that writes is killed at random moments, given again, and must leave an undisturbed run's bytes.

python experiments/kills.py --json docs/results/kills.json

A command runs once whole, then in forked children of the process that has run it, so that most kills fall into its work
and few into its imports. Each child gets SIGKILL after a share of the time that a whole run takes, drawn from the seed;
what the kill hits then depends on the machine. The same command is given again until it ends by itself. Commands that
the result file has already are not run again.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import numpy as np
import train
import typer

from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks import leaderboard, printing, results
from bidzoo.cli.main import app
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import say
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.streams import Streams

PAUSE = 0.002  # seconds of a decision of ``Slow``
PATIENCE = 30  # times as long as a whole run, after which a child counts as hanging
IN_A_ROW = 4  # kills of one run; then it is left to end
EXISTS = "exists, expected a new file"  # what a command says that had written its result when it was killed
SECONDS = "seconds"  # in the names of entries and columns that no two runs have alike; others end in " s"


class Slow(Uniform):
    """The random agent, which takes its time: what it has played is kept in a ledger."""

    name, slow = "slow", True

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """As ``Uniform``, later."""
        time.sleep(PAUSE)
        return super().act(views, legal, rng)


SLOW = f"{Path(__file__).stem}:Slow"
NETWORK = "--width 8 --depth 1 --every 1 --set batch=16"
PAIRS = "--set boards=4 --set sync=1 --set minibatch=16 --set burn_in=20 --set capacity=200 --set syncs=3"
ALONE = "--set width=8 --set boards=4 --set iterations=3"
TRAIN = "--every 1 --boards 0 --deals few.npz"
START = "--start sl-small"
COMMANDS = {  # smallest settings
    "match": "match sayc pass --boards 300 --out match.jsonl",
    "match, slow agent": f"match {SLOW} pass --boards 30 --out match.jsonl",
    "bench tabular": "bench tabular --row CFR1k --seeds 3 --network-seeds 0 --game comm_v0(length=3) --workers 1",
    "bench spades": "bench spades --games 20 --workers 1",
    "bench bridge": f"bench bridge --agents sayc,{SLOW} --boards 20 --search-boards 20 --only round-robin --workers 1",
    "exploit, bridge": "exploit pass --budget 200 --set start=sl-small --set boards=50 --set measurements=2 "
    "--set validation=16 --set test=16",
    "exploit, spades": "exploit rb --env spades --budget 20 --set boards=5 --set measurements=2 --set validation=4 "
    "--set test=4",
    "leaderboard enter": "leaderboard enter spades-2026 io",
    "leaderboard enter, slow agent": f"leaderboard enter spades-2026 {SLOW} --workers 1",
    "deals generate": "deals generate 5 --out solved.npz",
    "deals estimate": "deals estimate 3000 --out estimated.npz",
    "deals import": "deals import unsolved.npz --out imported.npz --solve",
    "deals auctions": "deals auctions club.pbn --out auctions.npz",
    "train record": "train record 3000 --policy sayc --out recorded.npz",
    "train sl": f"train sl calls.npz {NETWORK} --set steps=4",
    "train belief": f"train belief calls.npz {NETWORK} --set steps=4",
    "train ppo": f"train ppo {START} {TRAIN} --set boards=4 --set iterations=3 --set minibatch=16",
    "train rpi": f"train rpi {START} {TRAIN} --set boards=4 --set iterations=3 --set minibatch=16",
    "train rl": f"train rl {START} {TRAIN} {PAIRS} --set value_width=8 --set warm_up=0",
    "train a2c": f"train a2c {TRAIN} {PAIRS}",
    "train jps": f"train jps {TRAIN} {PAIRS} --set share=0",
    "experiments/train.py baseline16": f"baseline16 {TRAIN} {ALONE} --set positions=3 --set warm_up=1",
    "experiments/train.py baseline19": f"baseline19 calls.npz {TRAIN} --enn-width 8 --pnn-width 8 --enn steps=3 "
    "--enn batch=16 --pnn steps=3 --pnn batch=16 --set iterations=3 --set boards=4 --set minibatch=16",
    "experiments/train.py pbl": f"pbl {TRAIN} {ALONE} --set most_calls=5 --set copies=3 --set first=1 "
    "--set belief_length=1 --set policy_length=1",
    "experiments/train.py pi": f"pi {START} {TRAIN} --set boards=4 --set iterations=3 --set searches=6 --set r_max=8 "
    "--set p_max=40",
    "experiments/train.py distil": f"distil {START} {TRAIN} --width 8 --depth 1 --set boards=4 "
    "--set iterations=3 --set minibatch=16",
    "experiments/train.py evaluator": "evaluator --deals few.npz --cards 8 --suits 4 --hidden 8 --every 1 --set steps=4"
    " --set batch=16",
}


class Counts(NamedTuple):
    """What came of the kills of one command."""

    kills: int
    kept: int  # kills after which there was something to go on from
    runs: int  # that were killed at least once and then ended by themselves
    differences: int  # of those, the ones that left other bytes


def run(name: str) -> None:
    """The command, in this process and folder."""
    words = COMMANDS[name].split()
    program = train.app if name.startswith("experiments") else app
    sys.argv = ["train.py" if program is train.app else "bidzoo", *words]
    program(words, standalone_mode=False)


def child(name: str, folder: Path) -> int:
    """The process id of a new child that gives the command in ``folder``; what it prints is in ``output.txt`` there."""
    if (pid := os.fork()) == 0:
        status = 1
        try:
            os.chdir(folder)
            with open("output.txt", "w", encoding="utf-8") as output, redirect_stdout(output), redirect_stderr(output):
                try:
                    run(name)
                    status = 0
                except BaseException:
                    traceback.print_exc()
        finally:
            os._exit(status)
    return pid


def ended(pid: int, seconds: float) -> int | None:
    """The status of a child that ends within ``seconds``; else None."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def kill(pid: int) -> None:
    """With SIGKILL, and wait for the end."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def contents(folder: Path, inputs: set[str]) -> dict[str, bytes]:
    """Files of a run by name, times left out; what a killed ``replace_file`` left beside them goes within an hour."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in inputs and not path.name.startswith("."):
            content = path.read_bytes()
            found[name] = timeless(content) if path.suffix == ".json" else content
    return found


def is_time(name: str) -> bool:
    """Whether an entry or a column of that name holds a time."""
    return SECONDS in name or name.endswith(" s")


def timeless(content: bytes) -> bytes:
    """A result file without how long it took."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if not is_time(key)}
        return [without(part) for part in value] if isinstance(value, list) else value

    return json.dumps(without(json.loads(content))).encode()


def killed(name: str, kills: int, seed: int, inputs: Path, place: Path) -> Counts:
    """Kill the command ``kills`` times or more.

    Raises:
        RuntimeError: a run that was not disturbed fails, or two of them differ.
    """
    random = Random(f"{seed} {name}")
    given = {path.name for path in inputs.iterdir()} | {"output.txt"}

    def new(number: int | str) -> Path:
        return Path(shutil.copytree(inputs, place / f"{number}"))

    here = Path.cwd()
    os.chdir(new("first"))
    try:
        with open("output.txt", "w", encoding="utf-8") as output, redirect_stdout(output), redirect_stderr(output):
            run(name)  # so that the children have imported everything
    finally:
        os.chdir(here)
    began, whole = time.monotonic(), new("whole")
    if ended(child(name, whole), 600) != 0:
        raise RuntimeError(f"{name}: fails undisturbed: {(whole / 'output.txt').read_text()[-2000:]}")
    seconds, wanted = time.monotonic() - began, contents(whole, given)
    if wanted != contents(place / "first", given) or not wanted:
        raise RuntimeError(f"{name}: two undisturbed runs differ")
    counts, number = Counts(0, 0, 0, 0), 0
    while counts.kills < kills:
        folder, number, mine, status = new(number), number + 1, 0, None
        while status is None:
            pid = child(name, folder)
            limit = random.uniform(0, 1) if mine < IN_A_ROW else PATIENCE
            status = ended(pid, limit * seconds)
            if status is None:
                kill(pid)
                if limit == PATIENCE:
                    raise RuntimeError(f"{name}: hangs in {folder}: {(folder / 'output.txt').read_text()[-2000:]}")
                mine += 1
                kept = any(not file.endswith(".lock") for file in contents(folder, given))
                counts = counts._replace(kills=counts.kills + 1, kept=counts.kept + kept)
        said = (folder / "output.txt").read_text()
        finished = EXISTS in said and mine > 0
        right = (status == 0 or finished) and contents(folder, given) == wanted
        if mine:
            counts = counts._replace(runs=counts.runs + 1, differences=counts.differences + (not right))
        if not right:
            names = {*wanted} ^ {*(found := contents(folder, given))} or {
                file for file in wanted if wanted[file] != found[file]
            }
            say(f"{name}: after {mine} kills status {status}, {sorted(names)} differ: {said[-500:]}")
        else:
            shutil.rmtree(folder)
    return counts


@contextmanager
def few_boards() -> Iterator[None]:
    """The challenges with few boards."""
    before = dict(leaderboard.CHALLENGES)
    leaderboard.CHALLENGES.update({name: replace(each, boards=20) for name, each in before.items()})
    try:
        yield
    finally:
        leaderboard.CHALLENGES.update(before)


def prepare(folder: Path) -> None:
    """What the commands read."""
    from bidzoo.agents.bridge.sayc import Sayc
    from bidzoo.benchmarks.auctions import record
    from bidzoo.envs.bridge.deals import DealSet, packaged

    record(Sayc(), 1000, seed=4).save(folder / "calls.npz")
    deals = packaged("validation")
    tricks = np.asarray(deals.tricks[:40]).copy()
    tricks[:3] = -1  # to be solved by ``deals import``
    DealSet.of(deals.hands[:40], deals.tricks[:40]).save(folder / "few.npz")
    DealSet.of(deals.hands[:6], tricks[:6]).save(folder / "unsolved.npz")
    club = Path(__file__).parents[1] / "tests" / "data" / "club.pbn"
    (folder / "club.pbn").write_bytes(club.read_bytes())


def tables(found: dict[str, Counts]) -> list[results.ResultTable]:
    """By group of commands, with all, and by command."""
    columns = ["kills", "kills with something kept", "runs that went on", "runs that differ"]
    by_group = results.ResultTable("Kills by group of commands", ["commands", "number", *columns])
    by_command = results.ResultTable("Kills by command", ["command", *columns])
    groups: dict[str, list[Counts]] = {}
    for name in COMMANDS:
        if name in found:
            by_command.add(name, *found[name])
            groups.setdefault(name.split(" ")[0].rstrip(","), []).append(found[name])
    for name, counts in {**groups, "all": [*found.values()]}.items():
        by_group.add(name, len(counts), *(sum(column) for column in zip(*counts)))
    return [by_group, by_command]


def main(
    kills: Annotated[int, typer.Option(min=1, help="Kills of each command, or some more.")] = 20,
    only: Annotated[list[str] | None, typer.Option(help="Only this command; may be repeated.")] = None,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Kill every command that writes, go on, and compare what is left with an undisturbed run."""
    import torch

    torch.set_num_threads(1)  # a forked child has no other threads, and would wait for them
    path, given = (json or Path("runs", "kills.json")).absolute(), sys.argv
    found: dict[str, Counts] = {}
    seconds = 0.0
    if path.exists():
        before = results.load(path)
        seconds = before["seconds"]
        rows = [[*row.values()] for row in before["tables"][1].rows]
        found = {name: Counts(*map(int, counts)) for name, *counts in rows if name in COMMANDS}
    wanted = [name for name in COMMANDS if name not in found and (not only or name in only)]
    with tempfile.TemporaryDirectory() as place, few_boards():
        (inputs := Path(place, "inputs")).mkdir()
        prepare(inputs)
        for name in wanted:
            began = time.monotonic()
            (work := Path(place, "work")).mkdir()
            found[name] = killed(name, kills, seed, inputs, work)
            shutil.rmtree(work)
            seconds += time.monotonic() - began
            say(f"{name}: {found[name]}, {time.monotonic() - began:.0f} s")
            sys.argv = given  # of this command again
            results.save(path, "kills", tables(found), seed=seed, seconds=seconds)
    printing.show(tables(found))


if __name__ == "__main__":
    os.environ |= {"BIDZOO_COMPILE": "now", "BIDZOO_THREADS": "1", "OMP_NUM_THREADS": "1"}
    typer.run(main)

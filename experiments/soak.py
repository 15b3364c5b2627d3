"""A soak: mixed use of the package in one process for a given time; its memory, open files and threads must not grow.

python experiments/soak.py --minutes 60 --json docs/results/soak.json

Each round draws one kind of use from the seed: games in every API, agents asked, matches with and without a ledger,
files written, read and read damaged, copies and pickles, forks, threads, the play page. What is counted is said in the
table; a row a tenth of the time, after a warm-up in which every kind was used.
"""

import io
import os
import pickle
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
import typer

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import leaderboard, match, records, replay
from bidzoo.benchmarks.results import Measured, Report, ResultTable
from bidzoo.cli.main import app
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured
from bidzoo.core.storage import Journal, Lines, replace_file
from bidzoo.envs.bridge.deals import packaged, read_boards
from bidzoo.envs.bridge.formats import lin, pbn
from bidzoo.play.server import PlayServer
from bidzoo.registry import GAMES
from bidzoo.wrappers.gymnasium import single_agent, single_agent_vector

CLUB = Path(__file__).parents[1] / "tests" / "data" / "club.pbn"
ROWS = 10  # of the table
WARM = 3  # times that every kind is used before the first row


def table_of_one(random: Random, folder: Path) -> None:
    """A whole episode in PettingZoo's API, from a copy in the middle."""
    env = bidzoo.make(random.choice([*GAMES]))
    env.reset(seed=random.randrange(1000))
    for turn in range(1000):
        if any(env.terminations.values()):
            return
        if turn == 3:
            env = deepcopy(env)
        env.step(int(random.choice(np.flatnonzero(env.last()[0]["action_mask"]))))


def tables(random: Random, folder: Path) -> None:
    """Thirty steps of a batch, of up to 300 tables."""
    batch = bidzoo.make_vec(random.choice([*GAMES]), random.choice([1, 7, 300]))
    batch.reset(seed=random.randrange(1000))
    for _ in range(30):
        batch.step(batch.action_mask.argmax(1))


def learners(random: Random, folder: Path) -> None:
    """Gymnasium's APIs, one table and several."""
    name = random.choice([*GAMES])
    env, envs = single_agent(name), single_agent_vector(name, 4)
    env.reset(seed=random.randrange(1000))
    envs.reset(seed=random.randrange(1000))
    for _ in range(20):
        if any(env.step(int(env.action_masks().argmax()))[2:4]):
            env.reset()
        envs.step(envs.action_masks().argmax(1))


def asked(random: Random, folder: Path) -> None:
    """An agent's call, explained, and a wrong one."""
    bidzoo.bridge.call(random.choice(["sayc", "sl", "ppo", "rpi"]), "AKQ2.K54.QJ3.A92", calls="P", explain=True)
    with suppress(ValueError):
        bidzoo.bridge.call("sayc", "AKQ2.K54.QJ3", calls="P")


def played(random: Random, folder: Path) -> None:
    """Matches of three games, and their records."""
    seed = random.randrange(1000)
    game = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False)
    result = match.duplicate(game, "sayc", random.choice(["pass", "sl", "random"]), np.arange(20), seed)
    path = folder / random.choice(["match.jsonl", "match.pbn", "match.lin"])
    records.write(path, records.of_match(game, result, ("a", "a"), "b", seed, seed))
    replay.summaries(path)
    match.play(bidzoo.make_game("spades_v0", max_rounds=1), ["bis", "rb", "bis", "rb"], np.arange(4), seed)
    match.pairings(bidzoo.make_game("minibridge_v0"), "random", "random", np.arange(9), seed)


def kept(random: Random, folder: Path) -> None:
    """Files that are added to and replaced."""
    with Lines(folder / "lines") as lines, Journal(folder / "journal", {}, 8) as journal:
        lines.append(b"one")
        journal.append(np.zeros((3, 8), np.uint8))
    replace_file(folder / "whole", random.randbytes(1000))
    if random.random() < 0.1:
        for name in ("lines", "journal"):
            (folder / name).unlink()


def read(random: Random, folder: Path) -> None:
    """Boards of files, whole and damaged."""
    boards = read_boards(CLUB)
    pbn.write(folder / "a.pbn", boards)
    lin.write(folder / "a.lin", [board for board in boards if board.complete])
    content = bytearray((folder / "a.pbn").read_bytes())
    for _ in range(20):
        content[random.randrange(len(content))] = random.randrange(256)
    (folder / "b.pbn").write_bytes(content)
    for name in ("a.pbn", "a.lin", "b.pbn"):
        with suppress(ValueError):
            read_boards(folder / name, faults=[])
    deals = packaged("validation")
    deals.save(folder / "deals.npz")
    type(deals).load(folder / "deals.npz")


def entered(random: Random, folder: Path) -> None:
    """An entry of a leaderboard, read and refused."""
    path = Path(__file__).parents[1] / "docs" / "results" / "leaderboard"
    entry = leaderboard.load(random.choice(sorted(path.glob("*.json"))))
    leaderboard.save(folder / "entry.json", entry)
    (folder / "entry.json").write_bytes((folder / "entry.json").read_bytes()[:-10])
    with suppress(ValueError):
        leaderboard.load(folder / "entry.json")


def commanded(random: Random, folder: Path) -> None:
    """Commands, right and wrong."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(Exception, SystemExit):
            app(random.choice([["list"], ["match", "sayc", "nobody"], ["show", str(CLUB)], ["deals", "info", "x.npz"]]))
    finally:
        os.chdir(here)


def pickled(random: Random, folder: Path) -> None:
    """Games, agents and environments through pickle."""
    name = random.choice([*GAMES])
    env = bidzoo.make(name)
    env.reset(seed=1)
    for each in (env, bidzoo.make_game(name), agents.make("sayc")):
        pickle.loads(pickle.dumps(each))


def forked(random: Random, folder: Path) -> None:
    """A child that plays on."""
    if not hasattr(os, "fork"):
        return
    if (child := os.fork()) == 0:
        try:
            tables(random, folder)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("a forked child failed")


def threaded(random: Random, folder: Path) -> None:
    """Four threads at once."""
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for _ in range(3):
                tables(Random(seed), folder)
                table_of_one(Random(seed), folder)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(random.randrange(1000),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def served(random: Random, folder: Path) -> None:
    """The play page: its address, the state, a request that is none."""
    with PlayServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        for path in ("/", "/api/state", "/nothing"):
            connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
            connection.request("GET", path, headers={"Cookie": f"{server.cookie}={server.token}"})
            connection.getresponse().read()
            connection.close()
        server.shutdown()
        thread.join()


KINDS: dict[str, Callable[[Random, Path], None]] = {
    "episodes": table_of_one,
    "batches": tables,
    "gymnasium": learners,
    "agents asked": asked,
    "matches": played,
    "files added to": kept,
    "boards read": read,
    "leaderboard": entered,
    "commands": commanded,
    "pickles": pickled,
    "forks": forked,
    "threads": threaded,
    "play page": served,
}


def megabytes() -> float:
    """Resident memory of this process; OSError where there is no ``/proc``."""
    return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def soak(minutes: float, seed: int, report: Report) -> Measured:
    """The table; whatever goes wrong comes through."""
    random, counts = Random(seed), Counter[str]()
    columns = ["minutes", "uses", "memory, MB", "open files", "threads"]
    shown = ResultTable("Mixed use in one process", columns)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for _ in range(WARM):
            for kind in KINDS.values():
                kind(random, folder)
        began = time.monotonic()
        for row in range(ROWS + 1):
            while time.monotonic() - began < 60 * minutes * row / ROWS:
                kind_name = random.choice([*KINDS])
                KINDS[kind_name](random, folder)
                counts[kind_name] += 1
            open_files = len(os.listdir("/proc/self/fd"))
            passed = round((time.monotonic() - began) / 60, 1)
            shown.add(passed, sum(counts.values()), round(megabytes()), open_files, threading.active_count())
            report("tenths", row, ROWS)
    uses = ResultTable("Uses by kind", ["use", "times"], note="drawn from the seed; none failed")
    for name in KINDS:
        uses.add(name, counts[name])
    return [shown, uses], []


def main(
    minutes: Annotated[float, typer.Option(min=0.001, help="How long.")] = 60.0, seed: Seed = 0, json: Json = None
) -> None:
    """Use the package in all ways for a given time; memory, open files and threads in a table."""
    measured("soak", seed, json, lambda report: soak(minutes, seed, report))


if __name__ == "__main__":
    typer.run(main)

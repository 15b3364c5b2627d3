"""Killed, without power, or on a full disk at every point where a file is made to stay: nothing is lost, and the same
command goes on.

A *point* is a rename, a removal or a call of ``fsync``. Each case counts the points of a whole run and then runs once
for every point, in a forked child that dies there. ``kill``: all that was done before stays. ``power``: what was
written to a file after its last ``fsync`` is cut in half, and renames and removals after the last ``fsync`` of their
folder are
undone, the worst that POSIX allows. ``full``: from that point on no file can be made to stay, and the child must end
with an error that names a file. Afterwards a second child goes on, and the folder must hold what an undisturbed run
leaves, byte by byte.

``python tests/test_crashes.py`` runs the cases that need no torch: its children take a tenth of the time of those that
are forked from a process of many tests.
"""

import errno
import json
import os
import subprocess
import sys
import time
import traceback
from contextlib import redirect_stdout, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
import train

from bidzoo.cli.train import ALGORITHMS
from bidzoo.core.storage import Ledger, replace_file
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.double_dummy import generate

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")

DIED = 86
HOW = ("kill", "power", "full")
FULL = 87  # the disk was full, and the error named the file


class Disk:
    """Calls of the operating system that go through until the ``last`` of them; there comes what ``how`` says."""

    def __init__(self, last: int, how: str) -> None:
        self.last, self.how, self.points = last, how, 0
        self.synced: dict[int, int] = {}  # bytes of a file, by inode
        self.undo: list[tuple[Path, bytes | None]] = []  # what was where, before renames and removals not yet synced
        self.replace, self.fsync, self.unlink = os.replace, os.fsync, os.unlink
        os.replace, os.fsync, os.unlink = self.on_replace, self.on_fsync, self.on_unlink

    def point(self, handle: int | None = None, removes: bool = False) -> None:
        self.points += 1
        if self.how == "full" and self.points >= self.last > 0 and not removes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.points != self.last or self.how == "full":
            return
        if self.how == "power":
            if handle is not None and os.path.isfile(f"/proc/self/fd/{handle}"):
                size, synced = os.fstat(handle).st_size, self.synced.get(os.fstat(handle).st_ino, 0)
                os.truncate(f"/proc/self/fd/{handle}", synced + max(0, size - synced) // 2)
            for path, content in reversed(self.undo):
                if content is None:
                    with suppress(FileNotFoundError):
                        self.unlink(path)
                else:
                    path.write_bytes(content)
        os._exit(DIED)

    def on_replace(self, source, target):
        self.point()
        self.keep(target)
        self.replace(source, target)

    def on_unlink(self, path, **where):
        self.point(removes=True)
        self.keep(path)
        self.unlink(path, **where)

    def keep(self, path):
        path = Path(path)
        self.undo.append((path, path.read_bytes() if path.exists() else None))

    def on_fsync(self, handle):
        self.point(handle)
        self.fsync(handle)
        state = os.fstat(handle)
        self.synced[state.st_ino] = state.st_size
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            self.undo.clear()


def child(work, last=0, how="kill"):
    """Run ``work`` in a forked child until point ``last``: how many points it came to, -1 if it ended there."""
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            disk = Disk(last, how)
            work()
            os.write(write, disk.points.to_bytes(4, "little"))
        except BaseException as problem:
            if how == "full" and isinstance(problem, OSError) and problem.errno == errno.ENOSPC and problem.filename:
                os._exit(FULL)
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    os.close(write)
    found = os.read(read, 4)
    os.close(read)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, FULL if how == "full" else DIED), f"the child ended with {code}"
    return int.from_bytes(found, "little") if code == 0 else -1


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def crash_everywhere(tmp_path, work):
    """``work(folder)`` at every point, killed, without power and without space."""
    work(tmp_path / "whole")  # here, so that the children have imported everything
    points = child(lambda: work(tmp_path / "counted"))
    wanted = contents(tmp_path / "whole")
    assert contents(tmp_path / "counted") == wanted
    assert points > 3 and wanted
    for how in HOW:
        for last in range(1, points + 1):
            crash_and_go_on(tmp_path / f"{how} {last}", work, last, how, wanted)
    return points


def crash_and_go_on(folder, work, last, how, wanted):
    """``work(folder)`` ends at point ``last``, goes on, and leaves what is ``wanted``."""
    assert child(lambda: work(folder), last, how) == -1 or how == "full"  # where it removes or reports it may go on
    assert child(lambda: work(folder)) >= 0
    found = contents(folder)
    assert found.keys() == wanted.keys(), f"{folder.name}: {sorted(found)}"
    assert found == wanted, f"{folder.name}: {[name for name in wanted if found[name] != wanted[name]]} differ"


# ---- files that are added to -----------------------------------------------------------------


class Job(NamedTuple):
    number: int


class Outcome(NamedTuple):
    square: int


def add_to_ledger(folder):
    with Ledger(folder / "ledger.jsonl", Job, Outcome) as ledger:
        for number in range(4):
            if Job(number) not in ledger.done:
                ledger.add(Job(number), Outcome(number**2))


def generate_deals(folder):
    def tables(hands):
        return ((hands[:, :, None] >> np.arange(0, 50, 10)) % 14).reshape(-1, 20).astype(np.int8)

    double_dummy.dd_tricks, double_dummy.DEALS_A_TASK = tables, 2
    generate(6, 3, folder / "deals.npz")


def record_match(folder):
    from bidzoo.bluechip.boards import Record, Result

    empty = json.loads((Path(__file__).parent / "data" / "blue-chip-result.json").read_text())
    record = Record(folder / "match.jsonl", {"seed": 1})
    for number in range(1, 4):
        if not record.played("open", number):
            record.add(Result.of({**empty, "number": number}))
    record.write_pbn()
    record.close()


def crash_in_a_small_file(folder):
    """Not gone on with: it is the old one or the new one."""

    def work(folder):
        for content in (b"old", b"new"):
            replace_file(folder / "file", content)
            assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["file"]

    points = child(lambda: work(folder / "whole"))
    for how in HOW:
        for last in range(1, points + 1):
            place = folder / f"{how} {last}"
            assert child(lambda: work(place), last, how) == -1  # noqa: B023
            assert not (place / "file").exists() or (place / "file").read_bytes() in (b"old", b"new")
            if last > points // 2:
                assert (place / "file").exists()
    return points


def command(*words):
    """Give a command in ``folder``; one that finds its result there has nothing left to do."""

    def work(folder):
        from bidzoo.cli.main import app

        folder.mkdir(exist_ok=True)
        here = Path.cwd()
        os.chdir(folder)
        try:
            app([*words], standalone_mode=False)
        except ValueError as problem:
            assert "exists, expected a new file" in str(problem)
        finally:
            os.chdir(here)
        for path in folder.rglob(".*.????????"):  # a later write removes it when it is an hour old
            path.unlink()

    return work


def write_auctions(folder):
    """A file of alerts, a report, and the auctions."""
    club = Path(__file__).parent / "data" / "club.pbn"
    command("deals", "auctions", str(club), "--out", "auctions.npz", "--json", "left_out.json")(folder)


def import_deals(folder):
    club = Path(__file__).parent / "data" / "club.pbn"
    command("deals", "import", str(club), "--out", "deals.pbn", "--check", "0", "--json", "left_out.json")(folder)


def write_records(folder):
    """A result, in which the time would differ, and the records."""
    time.perf_counter = lambda: 0.0
    command("match", "pass", "pass", "--boards", "2", "--out", "match.jsonl")(folder)


CASES = {  # the last ones compile: children of a process that has numba take longer
    "ledger": lambda folder: crash_everywhere(folder, add_to_ledger),
    "file": crash_in_a_small_file,
    "match": lambda folder: crash_everywhere(folder, record_match),
    "deals": lambda folder: crash_everywhere(folder, generate_deals),
    "auctions": lambda folder: crash_everywhere(folder, write_auctions),
    "import": lambda folder: crash_everywhere(folder, import_deals),
    "records": lambda folder: crash_everywhere(folder, write_records),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Of each of ``CASES`` the number of points, or what it failed with: from one new process for all."""
    folder = tmp_path_factory.mktemp("crashes")
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, __file__, folder], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_lost(found, case):
    assert isinstance(found[case], int), found[case]
    assert case != "ledger" or found[case] == 5  # four entries, and the lock


# ---- training --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trainers():
    """Every trainer, made anew: ``name -> function``."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # a forked child has no other threads, and would wait for them
    import expert_training
    import learned_training
    from trainers import baseline16, baseline19, distil, evaluator, pbl, pi

    from bidzoo.agents.bridge import a2c, belief, jps, network, ppo, rl, rpi, sl
    from bidzoo.agents.bridge.expert import Experts
    from bidzoo.agents.bridge.network import Architecture
    from bidzoo.agents.bridge.sayc import Sayc
    from bidzoo.agents.bridge.trainer import Options
    from bidzoo.benchmarks.auctions import record
    from bidzoo.envs.bridge.deals import DealSet, packaged
    from bidzoo.envs.bridge.formats.auctions import Positions
    from bidzoo.envs.bridge.game import Bridge

    auctions = record(Sayc(), 100, seed=4)
    parts = [Positions(auctions, np.arange(80)), Positions(auctions, np.arange(80, 100))]
    systems = expert_training.SystemAuctions(
        auctions, np.arange(200).reshape(100, 2).astype(np.int8) % 4, np.full(100, -1)
    )
    spades = {"games": 8, "first_games": 30, "batch": 32, "bid_batch": 8, "value_games": 100, "test_games": 4}
    few = DealSet(*(array[:20] for array in packaged("validation")))
    cells = evaluator.Cells(few)
    policy = Architecture("openspiel480", 38, width=8, depth=1)
    beginner = network.network_of(policy, network.module(policy, 1))
    pairs = {"syncs": 2, "boards": 4, "sync": 1, "minibatch": 16, "burn_in": 20, "capacity": 200}

    def fit(kind, outputs):
        return kind(*parts, Options(Architecture("openspiel480", outputs, width=8, depth=1), 2, 16, seed=3))

    def experts():
        options = expert_training.Options(Experts(width=8, depth=1, kind="stages"), 2, 16, seed=3)
        return expert_training.Trainer(
            *(expert_training.SystemPositions(systems, rows) for rows in (np.arange(80), np.arange(80, 100))), options
        )

    def game(observation="openspiel480"):
        return Bridge(False, observation=observation, deals=few)

    def alone(algorithm, **options):
        small = algorithm.Options(width=8, boards=4, iterations=2, **options)
        return algorithm.Trainer(Bridge(False, competition=False, reward="cost", deals=few), small)

    def both():
        widths = baseline19.Widths(8, 8)
        first = baseline19.Networks(widths, network.arrays(baseline19.module(widths, 1)))
        return baseline19.Trainer(first, game(), baseline19.Options(iterations=2, boards=4, minibatch=16))

    def suits():
        options = Options(evaluator.Suits(8, 4, 8), 2, 16)
        return evaluator.Trainer(cells, cells, options)

    return {
        "sl": lambda: fit(sl.Trainer, 38),
        "belief": lambda: fit(belief.Trainer, 156),
        "evaluator": suits,
        "expert": experts,
        "learned": lambda: learned_training.Trainer(learned_training.LearnedOptions(passes=2, **spades)),
        "ppo": lambda: ppo.Trainer(beginner, game(), ppo.Options(iterations=2, boards=4, minibatch=16)),
        "rpi": lambda: rpi.Trainer(beginner, game(), rpi.Options(iterations=2, boards=4, minibatch=16)),
        "distil": lambda: distil.Trainer(
            beginner, game(), distil.Options(iterations=2, boards=4, minibatch=16), beginner.architecture
        ),
        "rl": lambda: rl.Trainer(beginner, game(), rl.Options(**pairs, value_width=8, warm_up=0)),
        "pi": lambda: pi.Trainer(beginner, game(), pi.Options(iterations=2, boards=4, searches=6, r_max=8, p_max=40)),
        "a2c": lambda: a2c.Trainer(None, game("jps267"), a2c.Options(**pairs)),
        "jps": lambda: jps.Trainer(None, game("jps267"), jps.Options(**pairs, share=0.0)),
        "baseline16": lambda: alone(baseline16, positions=3, warm_up=1),
        "baseline19": both,
        "pbl": lambda: alone(pbl, most_calls=5, copies=3, first=1, belief_length=1, policy_length=1),
    }


def training(make):
    from bidzoo.agents.bridge.trainer import Run
    from bidzoo.agents.bridge.trainer import train as run

    figures = {1: 2.0, 2: 1.0}  # the first network is the best one

    def work(folder):
        made = make()

        def measure(player):
            return {"imps": figures[int(made.iteration) + 1]}

        iterate = made.iterate
        made.iterate = lambda iteration: [setattr(made, "iteration", iteration), iterate(iteration)][1]
        run(made, Run(folder, every=1, measure=measure))

    return work


TRAINERS = (*ALGORITHMS, *train.ALGORITHMS, "learned")  # of the commands, and of ``experiments/``
POINTS = 20  # of every trainer, or more


@pytest.mark.parametrize("name", TRAINERS)
def test_training(tmp_path, trainers, name):
    """Of each trainer one point, drawn by its name: the loop is that of all, the state that it keeps its own."""
    work, drawn = training(trainers[name]), Random(name)
    work(tmp_path / "whole")
    wanted = contents(tmp_path / "whole")
    assert sorted(wanted) == ["best.safetensors", "checkpoint.safetensors", "curves.csv", "network.safetensors"]
    crash_and_go_on(tmp_path / "other", work, drawn.randint(1, POINTS), drawn.choice(HOW), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINERS)
def test_all_points_of_training(tmp_path, trainers, name):
    assert crash_everywhere(tmp_path, training(trainers[name])) >= POINTS


def everything(folder):
    """What the fixture ``found`` says."""
    for case, crash in CASES.items():
        (folder / case).mkdir()
        try:
            yield case, crash(folder / case)
        except Exception:
            yield case, traceback.format_exc()


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        found_everywhere = dict(everything(Path(sys.argv[1])))
    print(json.dumps(found_everywhere))

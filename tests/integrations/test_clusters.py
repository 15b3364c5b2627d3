"""Dask clusters on this machine: no board is lost or counted twice, whoever dies."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.benchmarks import bridge
from bidzoo.benchmarks.match import Run, duplicate, play
from bidzoo.core import jobs
from bidzoo.core.threads import get_threads, kernel_threads
from bidzoo.envs.bridge.game import Bridge

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]
BOARDS = np.arange(600)


class Mortal:
    """Uniform play; the process that first meets ``board`` is killed in the middle of it."""

    name = "mortal"

    def __init__(self, folder, board=300):
        self.player, self.board, self.grave = agents.make("random"), board, folder / "killed"

    def act(self, views, legal, rng):
        if (views["board"] == self.board).any() and (views["length"] >= 2).any() and not self.grave.exists():
            self.grave.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return self.player.act(views, legal, rng)


class Thinker(Mortal):
    """Its matches go over the workers in small shares."""

    slow = True


def square(folder, number):
    """``number`` squared, a little later; leaves the worker it ran on."""
    import time

    from distributed import get_worker

    time.sleep(0.5)
    (folder / f"{number} {get_worker().name}").touch()
    return number**2


def check_same(found, expected):
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_bench_bridge_on_dask(dask, tmp_path, monkeypatch):
    """``bench bridge`` with a worker killed in the middle of a share, against one process where nobody dies."""
    options = bridge.Options(80, 4, search_boards=35)
    thinker, there = Thinker(tmp_path, board=12), {"workers": 2, "ledger": tmp_path / "ledger"}
    with monkeypatch.context() as patch:
        patch.setenv("BIDZOO_BACKEND", "dask")
        found = bridge.main(["sayc", "pass", thinker], replace(options, **there))[0]
    assert thinker.grave.exists() and int(thinker.grave.read_text()) != os.getpid()
    assert len((tmp_path / "ledger").read_text().splitlines()) == 5 * 4  # rooms, shares: none twice
    here = bridge.main(["sayc", "pass", thinker], options)[0]
    assert [table.rows for table in found] == [table.rows for table in here]


@pytest.fixture(scope="module")
def dask():
    """What ``parallel`` makes."""
    cloudpickle, distributed = pytest.importorskip("cloudpickle"), pytest.importorskip("distributed")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    with suppress(ValueError):  # none was made
        distributed.Client.current().shutdown()


def test_a_lost_dask_worker_is_replaced(dask, tmp_path):
    game, mortal = Bridge(play=False, deals="test"), Mortal(tmp_path)
    found = play(game, [mortal] * 4, BOARDS, seed=5, run=Run(2, "dask"))
    assert mortal.grave.exists() and int(mortal.grave.read_text()) != os.getpid()
    check_same(found, play(game, [agents.make("random")] * 4, BOARDS, seed=5))


def test_a_match_on_dask_is_the_match_here(dask):
    game, ours, theirs = Bridge(play=False, deals="test"), agents.make("sayc"), agents.make("random")
    check_same(
        duplicate(game, ours, theirs, BOARDS[:200], seed=2, run=Run(2, "dask")),
        duplicate(game, ours, theirs, BOARDS[:200], seed=2),
    )


def test_a_second_call_has_the_workers_it_asks_for(dask):
    import distributed

    for workers in (2, 1, 2, 3, 1):
        assert list(jobs.run(pow, [(2, k) for k in range(4)], workers, "dask")) == [1, 2, 4, 8]
        client, until = distributed.Client.current(), time.monotonic() + 60
        while len(client.scheduler_info()["workers"]) != workers and time.monotonic() < until:
            time.sleep(0.1)
        assert len(client.scheduler_info()["workers"]) == workers


def test_a_worker_in_this_process_leaves_it_its_threads(dask):
    import distributed

    with kernel_threads(3), distributed.Client(processes=False, dashboard_address=None, set_as_default=True):
        assert list(jobs.run(pow, [(2, 3)], 1, "dask")) == [8] and get_threads() == 3


@pytest.fixture
def machines(dask, tmp_path):
    """A scheduler and two workers, started as the page says; their processes, the workers' last."""
    import distributed

    words, place = [sys.executable, "-m", "dask"], tmp_path / "scheduler.json"
    apart = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    begun = [
        subprocess.Popen([*words, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", place], **apart)
    ]
    try:
        for name in ("first", "second"):
            more = ["worker", "--scheduler-file", place, "--nthreads", "1", "--name", name, "--no-dashboard"]
            begun.append(subprocess.Popen([*words, *more], **apart))
        until = time.monotonic() + 60
        while not place.exists() and time.monotonic() < until:
            time.sleep(0.1)
        with distributed.Client(scheduler_file=str(place), set_as_default=True) as client:
            client.wait_for_workers(2, timeout=60)
            yield begun
    finally:
        for process in begun:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_lost_machine_loses_no_task(machines, tmp_path):
    folder = tmp_path / "done"
    folder.mkdir()
    results = jobs.run(partial(square, folder), [(k,) for k in range(24)], workers=2, backend="dask")
    found = [next(results) for _ in range(8)]
    os.killpg(machines[-1].pid, signal.SIGKILL)
    assert found + list(results) == [k**2 for k in range(24)]
    assert {path.name.split()[1] for path in folder.iterdir()} == {"first", "second"}


def test_a_module_that_workers_lack_is_named(machines, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "only_here.py").write_text("def double(number):\n    return 2 * number\n")
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    import only_here

    with pytest.raises(ValueError, match=r"workers cannot read the task, .*only_here.*: they need its modules"):
        list(jobs.run(only_here.double, [(1,), (2,)], workers=2, backend="dask"))

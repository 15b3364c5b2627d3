"""A Ray cluster of two nodes and a Dask cluster, both on this machine: no board is lost or counted twice."""

import os
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.benchmarks import bridge
from bidzoo.benchmarks.match import Run, duplicate, play
from bidzoo.core import jobs
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
    """``number`` squared, a little later; leaves the node it ran on."""
    import time

    import ray

    time.sleep(0.5)
    (folder / f"{number} {ray.get_runtime_context().get_node_id()}").touch()
    return number**2


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of two processors; the driver is on the first."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    ray.shutdown()  # RLlib's tests leave an instance of their own
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        cluster.second = cluster.add_node(num_cpus=2)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def check_same(found, expected):
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_a_killed_worker_loses_no_board(cluster, tmp_path):
    game, mortal = Bridge(play=False, deals="test"), Mortal(tmp_path)
    found = play(game, [mortal] * 4, BOARDS, seed=5, run=Run(4, "ray"))
    assert mortal.grave.exists() and int(mortal.grave.read_text()) != os.getpid()
    np.testing.assert_array_equal(found.states["board"], BOARDS)
    check_same(found, play(game, [agents.make("random")] * 4, BOARDS, seed=5))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_match_on_ray_is_the_match_here(cluster, workers):
    game, ours, theirs = Bridge(play=False, deals="test"), agents.make("sayc"), agents.make("random")
    check_same(
        duplicate(game, ours, theirs, BOARDS, seed=2, run=Run(workers, "ray")),
        duplicate(game, ours, theirs, BOARDS, seed=2),
    )


def test_a_lost_node_loses_no_task(cluster, tmp_path):
    from functools import partial

    results = jobs.run(partial(square, tmp_path), [(k,) for k in range(24)], workers=4, backend="ray")
    found = [next(results) for _ in range(8)]
    cluster.remove_node(cluster.second, allow_graceful=False)
    assert found + list(results) == [k**2 for k in range(24)]
    nodes = {path.name.split()[1] for path in tmp_path.iterdir()}
    assert len(nodes) == 2


def bench_is_the_same(folder, backend, monkeypatch):
    """``bench bridge`` with a worker killed in the middle of a share, against one process where nobody dies."""
    options = bridge.Options(80, 4, search_boards=35)
    thinker, there = Thinker(folder, board=12), {"workers": 2, "ledger": folder / "ledger"}
    with monkeypatch.context() as patch:
        patch.setenv("BIDZOO_BACKEND", backend)
        found = bridge.main(["sayc", "pass", thinker], replace(options, **there))[0]
    assert thinker.grave.exists() and int(thinker.grave.read_text()) != os.getpid()
    assert len((folder / "ledger").read_text().splitlines()) == 5 * 4  # rooms, shares: none twice
    here = bridge.main(["sayc", "pass", thinker], options)[0]
    assert [table.rows for table in found] == [table.rows for table in here]


def test_bench_bridge_on_ray(cluster, tmp_path, monkeypatch):
    bench_is_the_same(tmp_path, "ray", monkeypatch)


@pytest.fixture(scope="module")
def dask():
    """What ``parallel`` makes."""
    cloudpickle, distributed = pytest.importorskip("cloudpickle"), pytest.importorskip("distributed")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    distributed.Client.current().shutdown()


def test_bench_bridge_on_dask(dask, tmp_path, monkeypatch):
    bench_is_the_same(tmp_path, "dask", monkeypatch)


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

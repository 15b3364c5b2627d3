"""Arithmetic slips are errors in every test, compiled or not; what tests of several folders share."""

import os

# what is tested is the compiled form; tests/core/test_compiling.py does not wait
os.environ.setdefault("BIDZOO_COMPILE", "now")
# torch's threads wait for each other in a loop, and pytest-xdist has a process a core; kernels keep their threads
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
import signal
import sys
import threading
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer.testing

from bidzoo.core import threads

threads.ROWS, threads.SHARE = 32, 8  # batches of the tests are small, and those of users are shared
from bidzoo.core.kernels import COMPILED, KERNELS, STARTING, Kernel  # noqa: E402

np.seterr(all="raise", under="ignore")

typer.testing._get_command = cache(typer.testing._get_command)  # all commands: 30 ms, at each call of ``CliRunner``


EXAMPLE = Path(__file__).parents[1] / "examples" / "bidzoo-hint"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What imports and collection leave stays for good: a twentieth of all time went into passes through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.fixture(autouse=True)
def forgotten(monkeypatch, tmp_path):
    """What a test does is gone after it: games and agents that it registers, ``wait_always``, the files of commands.

    A command that a test runs in this process would hear the Ctrl-C of a later one, and end the process.
    """
    from bidzoo import agents, registry
    from bidzoo.core import compiling

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiling, "_waits_always", False)
    for names in (registry.NAMES, agents.NAMES):
        monkeypatch.setattr(names, "registered", {})
    yield
    signal.set_wakeup_fd(-1)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The folder of the package in ``examples/``, which is as if installed."""
    from bidzoo import registry

    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    about = tmp_path / "installed" / "bidzoo_hint-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
        for name, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(groups))
    for folder in (about.parent, EXAMPLE / "src"):
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(registry.NAMES, "announced", {})
    registry.register_all()
    yield EXAMPLE
    for name in [name for name in sys.modules if name.split(".")[0] == "bidzoo_hint"]:
        del sys.modules[name]


@pytest.fixture
def uncompiled(monkeypatch):
    """Kernels run as plain Python, as on a machine that has not compiled them yet."""
    monkeypatch.setattr(Kernel, "_is_ready", lambda kernel, arguments: False)
    for kernel in KERNELS.values():
        if kernel.form is COMPILED:
            monkeypatch.setattr(kernel, "form", STARTING)


@pytest.fixture
def goes_on(tmp_path):
    """``check(trainer, every)``: a run in two parts gives the bytes of a whole one, and another seed other weights."""
    from bidzoo.agents.bridge.trainer import Run, train

    def check(trainer, every):
        whole = train(trainer(), Run(tmp_path / "a", every=every))
        train(trainer(), Run(tmp_path / "b", every=every, stop=every))
        parts = train(trainer(), Run(tmp_path / "b", every=every))
        other = train(trainer(seed=1), Run(tmp_path / "c", every=every))
        for name, tensor in whole.tensors.items():
            np.testing.assert_array_equal(tensor, parts.tensors[name], err_msg=name)
        assert any((tensor != other.tensors[name]).any() for name, tensor in whole.tensors.items())
        files = [(tmp_path / folder / "network.safetensors").read_bytes() for folder in ("a", "b")]
        assert files[0] == files[1]

    return check


@pytest.fixture
def undrawn(monkeypatch):
    """``bidzoo train`` draws no curves, which takes half a second each time: tests/cli/test_train.py has them drawn."""
    from bidzoo.cli import train

    monkeypatch.setattr(train, "_draw", lambda out: None)


@pytest.fixture
def play_server():
    """The play page on a free port."""
    from bidzoo.play.server import PlayServer

    with PlayServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)

"""Two processes train what one trains, up to the rounding of sums: started by torchrun, as a user starts them."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo.agents.bridge import distributed, sl, trainer
from bidzoo.agents.bridge.distributed import World
from bidzoo.agents.bridge.network import Architecture, arrays, load_weights, module
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.benchmarks.auctions import record
from bidzoo.cli import train
from bidzoo.cli.train import app
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions

# what each process does: the commands of ``bidzoo train`` that it is given, one after the other, to Python's end
COMMANDS = """
import atexit
import json
import sys
from pathlib import Path


@atexit.register  # the first that is registered is called last, after the group has ended
def name_threads():
    if sys.platform == "linux":
        names = sorted((task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir())
        sys.stdout.write(f"threads: {' '.join(names)}\\n")  # in one piece: two processes write
        sys.stdout.flush()


from bidzoo.agents.bridge import distributed
from bidzoo.cli import train

train._draw = lambda out: None  # curves take half a second each
for words in json.loads(sys.argv[1]):
    if distributed.world().rank == 0:
        print("command:", flush=True)
    distributed.wait()
    train.app(words, standalone_mode=False)
    distributed.wait()
"""
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


SMALL = ["--width", "24", "--depth", "2", "--every", "3"]
LEARNED = {
    "ppo": ["boards=30", "minibatch=37", "self_play=0.5", "learning_rate=1e-3"],
    "rpi": ["boards=30", "minibatch=37", "learning_rate=1e-3", "average=0.5"],
}
LOCAL = ["steps=4", "batch=32", "local_steps=4", "warm_up=1"]


def settings(options):
    return [f"--set={option}" for option in options]


def stages(folder, auctions, start, ends):
    """Commands that train sl from calls, then ppo and rpi from ``start``, up to each of ``ends`` iterations."""
    fit = [*SMALL, *settings(["batch=32", "learning_rate=1e-2", "steps=6"]), "--out", f"{folder / 'sl'}"]
    commands = [["sl", f"{auctions}", *fit]]
    for algorithm, options in LEARNED.items():
        improve = [algorithm, "--start", f"{start}", "--every", "1", "--boards", "0", *settings(options)]
        commands += [[*improve, f"--set=iterations={end}", "--out", f"{folder / algorithm}"] for end in ends]
    return commands


@pytest.fixture(scope="module")
def auctions(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "auctions.npz"
    record(Sayc(), 80).save(path)
    return path


@pytest.fixture(scope="module")
def patched():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def trained(tmp_path_factory, auctions, patched):
    """Folders ``1`` and ``2`` that one and two processes trained in, ``local``; what each command said.

    Two of them run one command after the other.
    """
    patched.setattr(train, "_draw", lambda out: None)  # as the fixture ``undrawn``
    folder = tmp_path_factory.mktemp("trained")
    start, alone = folder / "1" / "sl" / "network.safetensors", []
    for words in stages(folder / "1", auctions, start, (2,)):
        told = CliRunner().invoke(app, words, catch_exceptions=False)
        assert told.exit_code == 0, told.output
        alone.append(told.output)
    commands = stages(folder / "2", auctions, start, (1, 2))
    local = ["sl", f"{auctions}", "--width", "24", "--every", "4", *settings(LOCAL), "--out", f"{folder / 'local'}"]
    (folder / "commands.py").write_text(COMMANDS)
    words = [*TORCHRUN, "commands.py", json.dumps([*commands, local])]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
    run = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder, alone, run.stdout.split("command:")[1:]


def tensors(folder):
    return load_weights(folder / "network.safetensors")[0].tensors


def fit_of(path, **options):
    """The run of ``sl`` that ``test_local_steps_are_averaged`` starts as a command."""
    auctions = Auctions.load(path)
    parts = [Positions(auctions, auctions.split(part)) for part in ("train", "validation")]
    architecture = Architecture("openspiel480", 38, width=24)
    return sl.Trainer(*parts, trainer.Options(architecture, steps=4, batch=32, warm_up=1, **options))


def test_two_processes_are_one(trained):
    """sl from calls, then ppo and rpi by self-play, in two parts: each goes on from the first process's checkpoint."""
    folder, alone, together = trained
    assert alone[0].count("accuracy") == together[0].count("accuracy") == 2  # one process speaks
    start = folder / "1" / "sl" / "network.safetensors"
    begun = {"sl": arrays(module(load_weights(start)[0].architecture, 0, last_scale=0.1)), "ppo": tensors(start.parent)}
    begun["rpi"] = load_weights(start)[0].at_temperature(0.25 / 0.13).tensors
    for stage, weights in begun.items():
        one, two = (tensors(folder / processes / stage) for processes in "12")
        moved = np.concatenate([np.abs(one[name] - weights[name]).ravel() for name in weights])
        apart = np.concatenate([np.abs(one[name] - two[name]).ravel() for name in weights])
        assert np.quantile(apart, 0.99) < 0.03 * moved.max(), stage  # Adam makes a step of the rounding of no gradient
        assert apart.mean() < 0.03 * moved.mean(), stage


def test_local_steps_are_averaged(trained, auctions, monkeypatch):
    """Two processes that take four steps each give the mean of what each learns alone, moments too."""
    alone = []
    monkeypatch.setattr(distributed, "average", lambda tensors: None)
    for rank in (0, 1):
        monkeypatch.setattr(distributed, "world", lambda rank=rank: World(rank, 2))
        fit = fit_of(auctions, local_steps=4)
        for step in range(4):
            fit.iterate(step)
        state = fit.adam.state_dict()["state"]
        alone.append(
            {f"network/{name}": array for name, array in arrays(fit.model).items()}
            | {f"adam/{n}/{name}": state[n][name].numpy() for n in state for name in ("exp_avg", "exp_avg_sq")}
        )
    both = load_file(trained[0] / "local" / "checkpoint.safetensors")
    assert len(alone[0]) == 3 * 8
    for name in alone[0]:
        np.testing.assert_allclose(both[name], (alone[0][name] + alone[1][name]) / 2, rtol=1e-4, atol=1e-7)
        assert np.abs(alone[0][name] - alone[1][name]).max() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="threads are read in /proc")
def test_no_thread_of_the_group_outlives_python(trained):
    """One that gave a tensor back after Python's end would abort the process, and torchrun the others."""
    threads = [line.split()[1:] for line in trained[2][-1].splitlines() if line.startswith("threads:")]
    assert len(threads) == 2 and all(not name.startswith(("gloo", "pt_gloo")) for names in threads for name in names)


def test_checkpoints_are_at_averages(monkeypatch, tmp_path, auctions):
    monkeypatch.setattr(distributed, "world", lambda: World(0, 2))
    with pytest.raises(ValueError, match="every 6: expected a multiple of local_steps, 4"):
        trainer.train(fit_of(auctions, local_steps=4), trainer.Run(tmp_path, every=6))


def test_shares_are_all_rows_once():
    rows = np.arange(11)
    worlds = [World(rank, 3) for rank in range(3)]
    assert sorted(np.concatenate([world.share(rows) for world in worlds]).tolist()) == rows.tolist()
    parts = [world.part(rows) for world in worlds]
    mean = sum(part.mean() * weight for part, weight in parts) / 3
    assert mean == pytest.approx(rows.mean())
    assert worlds[0].part(rows[:2])[1] == 1.0


def test_what_cannot_be_shared_is_refused(monkeypatch):
    monkeypatch.setattr(distributed, "world", lambda: World(0, 2))
    with pytest.raises(ValueError, match="rl trains in one process, not in 2"):
        distributed.alone("rl")

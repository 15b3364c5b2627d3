"""Golden: a few steps of every training, and what the solvers of the small games find."""

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import torch
import train as retrain
from learned_training import LearnedOptions, Trainer
from safetensors import safe_open
from safetensors.numpy import load_file
from success_curves import CurveOptions, train_success_curves
from typer.testing import CliRunner

import bidzoo
from bidzoo.agents.bridge.trainer import Run
from bidzoo.agents.bridge.trainer import train as run
from bidzoo.agents.tabular.cfr import Options as CfrConfig
from bidzoo.agents.tabular.cfr import cfr, nash_conv
from bidzoo.agents.tabular.exact import solve
from bidzoo.agents.tabular.jps import Options as JpsConfig
from bidzoo.agents.tabular.jps import jps
from bidzoo.agents.tabular.strategy import random
from bidzoo.cli.main import app
from bidzoo.envs.signalling.compiled import compile_game, evaluate, uniform

PAIRS = ["sync=2", "minibatch=32", "burn_in=60", "capacity=600", "boards=8", "syncs=2"]
SMALL = {
    "comm 3": ("comm_v0", {"length": 3}),
    "mini_hanabi": ("mini_hanabi_v0", {}),
    "simple_bidding 4": ("simple_bidding_v0", {"size": 4}),
    "minibridge 3": ("minibridge_v0", {"size": 3}),
}
TIMES = ("seconds", "time")  # columns of curves that no seed decides


def train(folder, stage, *words, options=()):
    """``bidzoo train STAGE``, or ``experiments/train.py STAGE``: tensors, options and curves it wrote."""
    settings = [word for option in options for word in ("--set", option)]
    program, command = (retrain.app, []) if stage in retrain.ALGORITHMS else (app, ["train"])
    done = CliRunner().invoke(program, [*command, stage, *map(str, words), "--out", str(folder / stage), *settings])
    if done.exception is not None:
        raise done.exception
    return written(folder / stage)


def written(folder):
    """Weights and options in a folder; the lines of its curves."""
    parts = {}
    for path in sorted(folder.glob("*.safetensors")):
        if path.name != "checkpoint.safetensors":
            parts[f"{path.name} weights"] = dict(sorted(load_file(path).items()))
            with safe_open(path, "np") as file:
                parts[f"{path.name} about"] = sorted(_about(file.metadata() or {}))
    with (folder / "curves.csv").open() as file:
        rows = [{name: x for name, x in row.items() if name not in TIMES} for row in csv.DictReader(file)]
    return {**parts, "curves": rows}


def _about(metadata):
    """Names and values that say what a network is."""
    for name, text in metadata.items():
        try:
            yield [name, json.dumps(_lasting(json.loads(text)), sort_keys=True)]
        except json.JSONDecodeError:
            yield [name, text]


FLEETING = ("command", "version", "digest", "inputs")  # digests: of what the cases digest themselves
RECORDED = {"measured_against": "judged_against"}  # names under which the digests were recorded


def _lasting(value):
    """``value`` without what is ``FLEETING``."""
    if isinstance(value, dict):
        return {RECORDED.get(name, name): _lasting(x) for name, x in value.items() if name not in FLEETING}
    return value


def networks():
    """From recorded auctions to every bridge network, each a few steps long."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "auctions.npz"
        CliRunner().invoke(app, ["train", "record", "80", "--policy", "sayc", "--out", str(data)])
        with np.load(data) as recorded:
            found = {"auctions": {field: recorded[field] for field in sorted(recorded.files)}}
        small, steps = ["--width", 24, "--depth", 2, "--every", 2], ["steps=4", "batch=32", "learning_rate=0.003"]
        stages = {
            "sl": ([data, *small], steps),
            "belief": ([data, *small], steps),
            "evaluator": (["--cards", 8, "--suits", 8, "--hidden", 16, "--every", 2], ["steps=2", "batch=32"]),
        }
        start = folder / "sl" / "network.safetensors"
        measured = ["--every", 1, "--boards", 12, "--against", start]
        stages |= {
            "ppo": (["--start", start, *measured], ["iterations=2", "boards=16", "minibatch=64", "average=0.5"]),
            "rpi": (["--start", start, *measured], ["iterations=2", "boards=16", "minibatch=64", "average=0.5"]),
            "rl": (["--start", start, *measured], [*PAIRS, "value_width=16", "warm_up=1"]),
            "pi": (["--start", start, *measured], ["iterations=2", "boards=8", "searches=6", "r_max=12", "p_max=60"]),
            "a2c": (["--every", 1, "--boards", 0], PAIRS),
        }
        jps_start = folder / "a2c" / "network.safetensors"
        stages["jps"] = (["--every", 1, "--boards", 0, "--start", jps_start], [*PAIRS, "share=0.3", "responses=2"])
        for stage, (words, options) in stages.items():
            parts = train(folder, stage, *words, options=options)
            found |= {f"{stage} {part}": content for part, content in parts.items()}
        return found


def spades_curves():
    """Success curves of a little noisy self-play."""
    with TemporaryDirectory() as name:
        out = Path(name, "curves.npz")
        train_success_curves(CurveOptions(rounds=3000, passes=1, out=str(out)), lambda row: None)
        with np.load(out) as found:
            return {field: found[field] for field in sorted(found.files) if found[field].dtype.kind != "U"}


def learned_spades():
    """The learned Spades player after two small passes."""
    torch.set_num_threads(1)
    small = {"passes": 2, "games": 30, "first_games": 150, "batch": 64, "value_games": 300, "test_games": 20}
    with TemporaryDirectory() as name:
        player = run(Trainer(LearnedOptions(**small)), Run(name, every=1))
        return {"weights": dict(sorted(player.tensors.items()))}


def tabular(name, seed):
    """CFR, its average, JPS and sampled JPS: strategies, values, exploitability."""
    env_id, options = SMALL[name]
    form = compile_game(bidzoo.make_game(env_id, **options))
    last = cfr(form, CfrConfig(iterations=100, seed=seed))
    found = {
        "form": [form.id, form.prior, form.player, form.parent, form.action, form.first, form.count, form.leaf],
        "uniform": uniform(form),
        "random": random(form, seed),
        "cfr": last,
        "cfr average": cfr(form, CfrConfig(iterations=60, seed=seed, average=True)),
        "jps": jps(form, last, JpsConfig(seed=seed)),
        "jps sampled": jps(form, random(form, seed), JpsConfig(seed=seed, samples=2, depth=2)),
    }
    strategies = [found[key] for key in found if key != "form"]
    return {**found, "values": [[evaluate(form, one), nash_conv(form, one)] for one in strategies]}


def exact(name):
    """The proved optimum and its policy."""
    env_id, options = SMALL[name]
    form = compile_game(bidzoo.make_game(env_id, **options))
    policy = bidzoo.agents.make("exact").policy(bidzoo.make_game(env_id, **options))
    optimum, strategy = solve(form)
    return {
        "optimum": [str(optimum.value), optimum.total, optimum.deals],
        "strategy": strategy,
        "agent": policy.strategy,
    }


def learned(name, agent):
    """A2C or BAD after two short epochs."""
    torch.set_num_threads(1)
    env_id, options = SMALL[name]
    made = bidzoo.agents.make(agent, seed=1, epochs=2, updates=8, episodes=16)
    return {"policy": made.policy(bidzoo.make_game(env_id, **options)).strategy}


CASES = {"networks": networks, "spades curves": spades_curves, "learned spades": learned_spades}
for _name in SMALL:
    CASES[f"tabular {_name}"] = lambda a=_name: tabular(a, 2)
    CASES[f"exact {_name}"] = lambda a=_name: exact(a)
    for _agent in ("a2c", "bad"):
        CASES[f"{_agent} {_name}"] = lambda a=_name, b=_agent: learned(a, b)
LOCAL = dict.fromkeys(CASES.keys() - {f"exact {name}" for name in SMALL}, ("processor",))


@pytest.mark.parametrize("name", CASES)
def test_unchanged(undrawn, name, unchanged):
    unchanged(name)

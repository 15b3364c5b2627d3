"""``distil``: a student of another size comes to value calls as its teacher does."""

import numpy as np
import pytest
from train import app
from trainers.distil import Options, Trainer
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.network import Architecture
from bidzoo.core.bits import unpack
from bidzoo.envs.bridge.game import Bridge

SMALL = {"iterations": 2, "boards": 40, "minibatch": 64}
SHAPE = Architecture("openspiel480", 38, width=24, depth=2)


def trainer(start=None, shape=SHAPE, **options):
    game = Bridge(False, deals="validation")
    return Trainer(start or network.packaged_network("sl"), game, Options(**{**SMALL, **options}), shape)


def test_a_student_agrees_with_its_teacher():
    """On boards that it did not learn from; it is not told which of two calls far below the likeliest is better."""
    shape, teacher = Architecture("openspiel480", 38, width=96, depth=2), network.packaged_network("sl")
    run = trainer(shape=shape, iterations=30, boards=300, average=0.9, learning_rate=3e-3)
    actor = selfplay.actor_of(network.module_of(teacher), teacher.architecture)
    _, shown = selfplay.play(run.game, np.arange(40) + 10**6, 5, actor, actor, np.full(40, selfplay.BOTH), 0)
    seen, legal = unpack(shown.observation, 480), unpack(shown.legal, 38) > 0
    best = np.where(legal, teacher(seen), -np.inf).argmax(1)

    def agreement():
        return (np.where(legal, run.player()(seen), -np.inf).argmax(1) == best).mean()

    before, metrics = agreement(), [run.iterate(iteration) for iteration in range(30)]
    assert agreement() > max(0.65, before + 0.4)
    assert metrics[-1]["loss"] < 0.3 * metrics[0]["loss"] and metrics[-1]["agrees"] > 0.65
    assert run.games == 9000


def test_a_critic_teaches_its_calls_alone():
    shape = Architecture("openspiel480", 39, width=16, depth=1)
    run = trainer(network.network_of(shape, network.module(shape, 1)))
    assert run.iterate(0)["decisions"] > 0 and run.player().architecture == SHAPE


def test_a_run_in_parts_is_a_whole_one(goes_on):
    goes_on(lambda seed=0: trainer(seed=seed), 1)


def test_the_command(undrawn, tmp_path):
    small = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    words = ["distil", "--start", "sl", "--width", "16", "--depth", "1", "--out", str(tmp_path), "--every", "1"]
    result = CliRunner().invoke(app, [*words, "--boards", "10", *small], catch_exceptions=False)
    assert result.exit_code == 0 and "agrees" in result.output and "imps" in result.output
    made, about = network.load_weights(tmp_path / "network.safetensors")
    assert about["algorithm"] == "distil" and about["start"] == "sl" and made.architecture.width == 16
    refused = CliRunner().invoke(app, [*words, "--against", "expert-polish"])
    assert refused.exit_code != 0 and "expert-polish" in str(refused.exception)

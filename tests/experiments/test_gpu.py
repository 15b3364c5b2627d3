"""``experiments/gpu.sh``, which half an hour of a GPU is prepared with: every step of it, small, on the processor."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from bidzoo import agents
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.benchmarks.auctions import record

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("step", ["selfplay", "rpi", "ppo", "sl"])
def test_step(tmp_path, step):
    if step == "sl":
        record(Sayc(), 400, 1).save(tmp_path / "auctions.npz")
    # it keeps what it makes in the folder where it runs
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    names = {"SMALL": "1", "PYTHON": sys.executable, "OUT": str(tmp_path), "AUCTIONS": str(tmp_path / "auctions.npz")}
    command, environment = ["sh", "experiments/gpu.sh", step], {**os.environ, **names}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    if step == "selfplay":
        assert (tmp_path / "selfplay.json").exists()
    else:
        assert (tmp_path / f"{step}.csv").read_text().count("\n") >= 2
        policy = agents.make(str(tmp_path / f"{step}.safetensors"))
        assert np.isfinite(policy.network.tensors["layers.0.weight"]).all()

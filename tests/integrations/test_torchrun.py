"""``torchrun`` as a user types it: two processes of their own train what one trains, up to the rounding of sums."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

from bidzoo.agents.bridge.network import has_bfloat16, load_weights, packaged_network

pytestmark = pytest.mark.integration
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "--"]
OPTIONS = ["boards=30", "minibatch=37", "learning_rate=1e-3", "average=0.5", "iterations=1"]


@pytest.mark.timeout(300)
def test_two_processes_train_what_one_trains(tmp_path):
    tensors = []
    for name, launcher in (("one", ["-m"]), ("two", TORCHRUN)):
        words = [*launcher, "bidzoo", "train", "rpi", "--start", "sl-small", "--boards", "0", "--every", "1"]
        words += ["--out", f"{tmp_path / name}", *(f"--set={option}" for option in OPTIONS)]
        run = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stdout + run.stderr
        tensors.append(load_weights(tmp_path / name / "network.safetensors")[0].tensors)
    one, two = tensors
    start = packaged_network("sl-small").tensors
    for layer in [name for name in start if name.endswith("weight")][:-1]:  # the last one is in other units
        learned, apart = (np.linalg.norm(one[layer] - other[layer]) for other in (start, two))
        times = 3 if has_bfloat16("cpu") else 5  # sums of 8 bits are rounded apart sooner than those of 24
        assert 0 < times * apart < learned, layer

"""``experiments/gpu.sh``, which half an hour of a GPU is prepared with: every step of it, small, on the processor."""

import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo import agents
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.benchmarks.auctions import record
from bidzoo.cli.main import app

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > "$OUT/asked"
read -r status < "$OUT/answered"
exit "$status"
"""  # asks the test to do it: torch is imported once


def status_of(words):
    """Exit status of ``python *words``, run here."""
    try:
        if words[:2] == ["-m", "bidzoo"]:
            return CliRunner().invoke(app, words[2:], catch_exceptions=False).exit_code
        sys.argv[:] = words
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return end.code or 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
@pytest.mark.parametrize("step", ["selfplay", "a2c", "rl", "rl-paper", "distil", "rpi", "ppo", "sl"])
def test_step(tmp_path, monkeypatch, undrawn, step):
    if step == "sl":
        record(Sayc(), 400, 1).save(tmp_path / "auctions.npz")
    # it keeps what it makes in the folder where it runs
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    for name in ("asked", "answered"):
        os.mkfifo(name)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    names = {"SMALL": "1", "PYTHON": str(python), "OUT": str(tmp_path), "AUCTIONS": str(tmp_path / "auctions.npz")}
    command, environment = ["sh", "experiments/gpu.sh", step], {**os.environ, **names}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as sh:
        asks_no_more = Thread(target=lambda: (sh.wait(), Path("asked").write_text("")))
        asks_no_more.start()
        while words := Path("asked").read_text().splitlines():
            Path("answered").write_text(f"{status_of(words)}\n")
        asks_no_more.join()
        assert sh.returncode == 0, sh.stderr.read()
    if step == "selfplay":
        assert (tmp_path / "selfplay.json").exists()
    else:
        (*_, curve) = sorted(tmp_path.glob(f"{step}*.csv"))
        assert curve.read_text().count("\n") >= 2
        policy = agents.make(str(tmp_path / f"{step}.safetensors"))
        assert np.isfinite(policy.network.tensors["layers.0.weight"]).all()

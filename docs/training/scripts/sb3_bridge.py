"""MaskablePPO of sb3-contrib on the bridge auction: a learner in every seat, beside and against ``sayc``.

python docs/training/scripts/sb3_bridge.py runs/sb3-bridge

The folder gets Stable-Baselines3's logs (``progress.csv``, TensorBoard) and ``model.zip``. Two and a half million steps
take six minutes of one processor core.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecMonitor

import bidzoo
from bidzoo.benchmarks import printing, results
from bidzoo.benchmarks.match import duplicate
from bidzoo.wrappers.gymnasium import single_agent_vector
from bidzoo.wrappers.sb3 import SB3Policy, SB3VecEnv

STEPS, ROUNDS = 2_500_000, 10  # decisions of the learner, and measurements
GAME = bidzoo.make_game("bridge_bidding_v0", deals="validation")


def learner(tables: int = 64, seed: int = 0) -> MaskablePPO:
    """A model at all four seats of ``tables`` tables each; rewards are IMPs against par, divided by ten."""
    options = {"reward": "par", "reward_scale": 10, "partner": "sayc", "opponents": "sayc"}
    seats = [single_agent_vector("bridge_bidding_v0", tables, learner=seat, **options) for seat in range(4)]
    settings = {"n_steps": 16, "batch_size": 1024, "gamma": 1.0, "learning_rate": 1e-3, "seed": seed}
    return MaskablePPO("MlpPolicy", VecMonitor(SB3VecEnv(seats)), **settings)


def strength(model: MaskablePPO, boards: int, partner: str | None = None) -> results.Estimate:
    """IMPs a board over a pair of ``sayc``, of a pair of models or of one beside ``partner``."""
    player = SB3Policy(model, GAME, greedy=True)
    return duplicate(GAME, (player, partner or player), "sayc", np.arange(boards), seed=1).estimate


def train(model: MaskablePPO, out: Path, steps: int = STEPS, rounds: int = ROUNDS, boards: int = 2000) -> list[list]:
    """Learn in ``rounds`` parts; after each the steps so far, processor seconds and the strength."""
    model.set_logger(configure(str(out), ["csv", *["tensorboard"] * tensorboard()]))
    rows, began = [], time.process_time()
    for number in range(rounds):
        model.learn(steps // rounds, reset_num_timesteps=number == 0)
        rows.append([model.num_timesteps, time.process_time() - began, strength(model, boards)])
        print(f"{rows[-1][0]:9d} steps  {rows[-1][1]:5.0f} s  {rows[-1][2]} IMPs a board over sayc", flush=True)
    model.save(out / "model.zip")
    model.logger.close()
    return rows


def tensorboard() -> bool:
    """Whether TensorBoard is installed (``pip install "bidzoo[sb3]"`` brings it)."""
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError:
        return False
    return True


def main(out: str = "runs/sb3-bridge", steps: int = STEPS) -> None:
    """Train, print the strength, and write both as a result file."""
    torch.set_num_threads(1)
    model, began = learner(), time.perf_counter()
    columns = ["steps", "processor s", "IMPs a board over sayc"]
    note = "2000 validation boards, duplicate, double dummy; ± standard error, clustered by deal"
    curve = results.ResultTable("MaskablePPO on the bridge auction", columns, note=note)
    for row in train(model, Path(out), steps):
        curve.add(*row)
    final = results.ResultTable("After the last step", ["players", "IMPs a board over sayc"], note="10,000 such boards")
    final.add("a pair of models", strength(model, 10_000))
    final.add("a model beside sayc", strength(model, 10_000, "sayc"))
    final.add("pass", duplicate(GAME, "pass", "sayc", np.arange(10_000), seed=1).estimate)
    printing.show([final])
    seconds = time.perf_counter() - began
    results.save(Path(out, "sb3-bridge.json"), "sb3-bridge", [curve, final], seed=0, seconds=seconds)


if __name__ == "__main__":
    if len(sys.argv) > 2 or "--help" in sys.argv:
        sys.exit(f"usage: python {sys.argv[0]} [FOLDER]")
    main(*sys.argv[1:])

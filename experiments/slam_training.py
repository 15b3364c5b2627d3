"""A2C from `a2c-longer`, which never bids a slam: it tries calls that it never made, on deals many of which hold one.

    bidzoo deals estimate 500000 --seed 77011 --out estimated.npz
    python experiments/slam_training.py estimated.npz --out runs/a2c-slams

What a policy never tries it cannot learn, and a slam that is bid at random loses. So the run begins with flatter
chances and deals on which slams make in three strains or more, and goes on with fewer and fewer of these, at last with
none but the deals as they come. Every stage is a folder of ``--out``, with the options of ``bidzoo train a2c``;
stopped, the same command goes on.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from joint_search import trained

from bidzoo.agents.bridge.network import Network, load_weights, save_weights
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import I8, Bool
from bidzoo.envs.bridge.deals import DealSet

START = Path(__file__).parent / "weights" / "a2c-longer.safetensors"
SLAM, STRAINS = 12, 3  # tricks of a side, and in how many strains at least
COMMON = {"boards": 4000, "burn_in": 40_000, "capacity": 100_000, "entropy": 0.02, "differing": True}


class Stage(NamedTuple):
    """A run of ``bidzoo train a2c`` from the network of the one before."""

    name: str
    copies: int  # of the deals rich in slams
    others: int | None  # deals of all others, drawn by chance; None: all deals as they are
    syncs: int
    learning_rate: float
    average: float
    seed: int


STAGES = (
    Stage("slams", 5, 0, 30, 1e-4, 0.9, 43),
    Stage("third", 8, 200_000, 100, 1e-4, 0.95, 51),
    Stage("seventh", 6, 450_000, 100, 1e-4, 0.95, 52),
    Stage("all", 0, None, 160, 1e-4, 0.97, 53),
    Stage("slow", 0, None, 200, 3e-5, 0.98, 54),
    Stage("seventh-again", 6, 450_000, 80, 6e-5, 0.95, 61),
    Stage("all-again", 0, None, 100, 6e-5, 0.97, 62),
    Stage("slow-again", 0, None, 180, 2e-5, 0.98, 63),
)


def rich(tricks: I8) -> Bool:
    """Deals ``[n]`` on which a side takes 12 tricks in three strains or more, whoever of it declares: ``[n, 20]``."""
    table = tricks.reshape(-1, 4, 5)
    sides = np.stack([table[:, (0, 2)].min(1), table[:, (1, 3)].min(1)], 1)  # [n, 2, 5]
    found: Bool = ((sides >= SLAM).sum(2) >= STRAINS).any(1)
    return found


def flatter(network: Network, temperature: float) -> Network:
    """``network`` with the logits of its calls over ``temperature``; its value stays."""
    last = f"layers.{len(network.tensors) // 2 - 1}."
    tensors = dict(network.tensors)
    for part in ("weight", "bias"):
        tensors[last + part] = tensors[last + part].copy()
        tensors[last + part][:NUM_CALLS] /= np.float32(temperature)
    return Network(network.architecture, tensors)


def _deals(out: Path, copies: int, others: int | None) -> Path:
    return out / f"deals-{copies}-{'all' if others is None else others}.npz"


def main(
    deals: Annotated[Path, typer.Argument(help="Estimated deals (.npz).")],
    out: Annotated[Path, typer.Option(help="Folder of the stages.")] = Path("runs/a2c-slams"),
    temperature: Annotated[float, typer.Option(help="That flattens the start's chances.")] = 2.5,
    boards: Annotated[int, typer.Option(help="Validation boards of a measurement.")] = 4000,
) -> None:
    """Run the stages one after the other; the last one's network is the result."""
    hands, tricks = DealSet.load(deals)
    few, rng = np.flatnonzero(rich(tricks)), np.random.default_rng(3)
    out.mkdir(parents=True, exist_ok=True)
    start: Network
    start, metadata = load_weights(START)
    weights = out / "flatter.safetensors"
    save_weights(weights, flatter(start, temperature), metadata)
    for copies, others in dict.fromkeys((stage.copies, stage.others) for stage in STAGES):
        rows = np.arange(len(hands))
        if others is not None:
            more = rng.choice(len(hands), min(others, len(hands)), replace=False) if others else rows[:0]
            rows = np.sort(np.concatenate([np.tile(few, copies), more]))
        if not (drawn := _deals(out, copies, others)).exists():
            DealSet.of(hands[rows].copy(), tricks[rows].copy()).save(drawn, {"deals": f"drawn from {deals.name}"})
    for stage in STAGES:
        drawn = _deals(out, stage.copies, stage.others)
        words = ["--start", str(weights), "--deals", str(drawn), "--boards", str(boards), "--every", "20"]
        options = {name: getattr(stage, name) for name in ("syncs", "learning_rate", "average", "seed")}
        trained(out / stage.name, "a2c", *words, **COMMON, **options)
        weights = out / stage.name / "network.safetensors"


if __name__ == "__main__":
    typer.run(main)

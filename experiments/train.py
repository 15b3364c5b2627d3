"""Trains older baselines, policy iteration, students and the double-dummy evaluator, as ``bidzoo train`` the others.

    python experiments/train.py pbl --set communication=0

Stopped at any moment, the same command goes on where it was. The trainers are in ``experiments/trainers``.
"""

from typing import Annotated, Any

import typer

from bidzoo.cli.main import PLAIN, main
from bidzoo.cli.train import DEALS, MATCH, OPTIONS, Algorithm, command, wait

app = typer.Typer(
    **PLAIN,
    callback=wait,
    add_completion=False,
    help="Train the older baselines, policy iteration, students and the double-dummy evaluator.",
)
MORE: dict[str, Any] = {  # what these commands ask for beside ``OPTIONS``
    "enn_width": Annotated[int, typer.Option(help="Neurons in a layer of the estimation network.", min=1)],
    "pnn_width": Annotated[int, typer.Option(help="Neurons in a layer of the policy network.", min=1)],
    "cards": Annotated[int, typer.Option(help="Neurons of the first layer, for each suit.", min=1)],
    "suits": Annotated[int, typer.Option(help="Neurons of the second layer, for each suit.", min=1)],
    "hidden": Annotated[int, typer.Option(help="Neurons of the third and the fourth layer.", min=1)],
    "enn": Annotated[
        list[str] | None, typer.Option(help="An option of the first stage; --enn help.", metavar="NAME=VALUE")
    ],
    "pnn": Annotated[
        list[str] | None, typer.Option(help="An option of the second stage; --pnn help.", metavar="NAME=VALUE")
    ],
}
ALGORITHMS = {
    "baseline16": Algorithm(
        "Learn to bid without opponents by penetrative Q-learning, from scratch (Yeh and Lin 2016).",
        "trainers.partners:compose",
        {**DEALS, "every": 200},
    ),
    "baseline19": Algorithm(
        "Learn to estimate partner's cards, to bid with the estimate, then both by self-play: three stages in turn, "
        "--every measurements of each.",
        "trainers.baseline19:compose",
        {"data": ..., "enn_width": 96, "pnn_width": 144, **MATCH, "enn": None, "pnn": None, "every": 12},
    ),
    "pbl": Algorithm(
        "Learn to bid without opponents by policy-belief learning, from scratch; --set communication=0 (no auxiliary "
        "reward), and --set beliefs=false beside it (no belief module).",
        "trainers.partners:compose",
        {**DEALS, "every": 200},
    ),
    "pi": Algorithm(
        "Improve a supervised policy by policy iteration: it learns what searches of its own hesitant calls find.",
        "bidzoo.benchmarks.training:self_play",
        {"start": "sl", **MATCH, "every": 5},
    ),
    "distil": Algorithm(
        "Learn the values of a teacher's calls in a network of another size, from boards that the teacher bids.",
        "trainers.distil:compose",
        {"start": "rpi", "kind": "mlp", "width": 1024, "depth": 4, "activation": "relu", **MATCH, "every": 20},
    ),
    "evaluator": Algorithm(
        "Learn the double-dummy tricks of a deal, from the packaged training deals.",
        "trainers.evaluator:compose",
        {"deals": None, "cards": 128, "suits": 64, "hidden": 256, "start": None, "every": 3000, "device": "cpu"},
    ),
}

for _name, _algorithm in ALGORITHMS.items():
    app.command(_name, help=_algorithm.help)(command(_name, _algorithm, "trainers", {**OPTIONS, **MORE}))

if __name__ == "__main__":
    main(app)

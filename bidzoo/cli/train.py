"""``bidzoo train``: one command an algorithm. Stopped at any moment, the same command goes on where it was.

``ALGORITHMS`` is a table: each row names what the algorithm learns, how its run is composed and what its command asks
for. Every run prints a line a measurement, draws its curves, and writes where its weights come from. Algorithms of
older papers and of single agents are commands of ``experiments/train.py``.
"""

import inspect
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, NamedTuple

import typer

from bidzoo.cli.options import MOST_BOARDS, Device, Set, Threads, agent_names, output
from bidzoo.cli.settings import parse
from bidzoo.cli.showing import counted, progress, say
from bidzoo.cli.stopping import going_on, kept_until_the_end

app = typer.Typer(no_args_is_help=True, help="Train the agents that learn.")


@app.callback()
def wait() -> None:
    from bidzoo.core.compiling import wait_always

    wait_always()


def _text(help_text: str, *, names: bool = False, **more: Any) -> Any:
    return typer.Option(help=help_text, autocompletion=agent_names if names else None, **more)


OPTIONS: dict[str, Any] = {  # what the commands ask for, by name
    "data": Annotated[Path, typer.Argument(help="Recorded auctions: .npz, or OpenSpiel's text form of WBridge5's.")],
    "out": Annotated[Path, output("Folder of checkpoint, curves and weights.", folder=True)],
    "start": Annotated[str | None, _text("Weights to start from: a packaged name, an agent's or a file.")],
    "reference": Annotated[str, _text("Supervised policy of datum and anchor.")],
    "observation": Annotated[str, _text("Encoder: openspiel480, or bidder1375, which counts points and lengths.")],
    "kind": Annotated[
        Literal["mlp", "jps", "stages"],
        _text(
            "Kind of network: mlp; jps, which is 200 wide with skip connections; or stages, an mlp on bidder1375 "
            "with weights for each stage of the auction."
        ),
    ],
    "width": Annotated[int, _text("Neurons in a layer.", min=1)],
    "depth": Annotated[int, _text("Hidden layers of an mlp.", min=1)],
    "activation": Annotated[Literal["relu", "gelu"], _text("Activation of the layers.")],
    "side": Annotated[Literal["ns", "ew", "both"], _text("Side whose view is learned: ns where it played --opponent.")],
    "deals": Annotated[list[Path] | None, _text("Solved deals (.npz) beside the packaged ones; may be repeated.")],
    "settings": Set,
    "every": Annotated[
        int, _text("Steps between measurements. A checkpoint is written at each, and every minute.", min=1)
    ],
    "boards": Annotated[int, _text("Validation boards of a measurement; 0: none.", min=0)],
    "against": Annotated[
        list[str] | None, _text("Opponent of a measurement; may be repeated: the mean decides.", names=True)
    ],
    "opponent": Annotated[
        list[str] | None, _text("Agent to meet on a share of the boards (see --set); may be repeated.", names=True)
    ],
    "device": Device,
    "threads": Threads,
}
NETWORK = {"width": 512, "depth": 3, "device": "cpu"}
DEALS = {"deals": None, "boards": 4000, "device": "cpu"}
MATCH = {**DEALS, "against": ["sl"]}


class Algorithm(NamedTuple):
    """One command."""

    help: str
    compose: str  # module:function, which makes the stages of a run of ``choose`` and of those words that it names
    inputs: Mapping[str, Any]  # names of options with their defaults; of ``...`` a value is required


ALGORITHMS = {
    "sl": Algorithm(
        "Learn a recorded expert's calls (--width 2048 --depth 4 --activation gelu: the network of bmcs).",
        "bidzoo.benchmarks.training:calls",
        {"data": ..., "observation": "openspiel480", "kind": "mlp", **NETWORK, "activation": "relu", "every": 1500},
    ),
    "belief": Algorithm(
        "Learn who holds which card, from recorded auctions (bidzoo train record makes those of a policy).",
        "bidzoo.benchmarks.training:cards",
        {"data": ..., **NETWORK, "start": None, "side": "both", "every": 1000},
    ),
    "ppo": Algorithm(
        "Improve a supervised policy, or an earlier run's, by PPO with fictitious self-play.",
        "bidzoo.benchmarks.training:self_play",
        {"start": "sl", "reference": "sl", **MATCH, "opponent": None, "every": 10},
    ),
    "rpi": Algorithm(
        "Improve a policy by rollout policy iteration: learn what its likely calls gain.",
        "bidzoo.benchmarks.training:self_play",
        {"start": "ppo", **MATCH, "opponent": None, "every": 50},
    ),
    "rl": Algorithm(
        "Improve a policy by belief Monte Carlo search's RL; --set prioritised=false (No PR), --set hidden=false "
        "(No HI).",
        "bidzoo.benchmarks.training:self_play",
        {"start": "sl", **MATCH, "every": 50},
    ),
    "a2c": Algorithm(
        "Learn by actor-critic self-play from scratch, on 267 bits (joint policy search, section 7.2).",
        "bidzoo.benchmarks.training:self_play",
        {"start": None, **MATCH, "every": 20},
    ),
    "jps": Algorithm(
        "Learn by actor-critic with searched games; --set share=0 (non-search), --set depth=1 (1-search).",
        "bidzoo.benchmarks.training:self_play",
        {"start": "a2c-bridge", **MATCH, "against": ["a2c-bridge"], "every": 20},
    ),
}


DRAWING = 60.0  # seconds between two pictures of the curves, which take a second each


def command(
    name: str, algorithm: Algorithm, package: str = "bidzoo.agents.bridge", known: Mapping[str, Any] = OPTIONS
) -> Callable[..., None]:
    """The function behind the command ``name``, of the algorithm in the module of that name in ``package``.

    ``known``: the options that ``algorithm`` names, as in ``OPTIONS``.
    """
    inputs = {**algorithm.inputs, "out": Path("runs", name), "settings": None, "threads": 1}

    def run(**given: Any) -> None:
        def choose(options: type, texts: list[str] | None = given["settings"], **fixed: Any) -> Any:
            return parse(options, texts, **fixed)

        compose = resolve_name(algorithm.compose)
        values = {**given, "algorithm": import_module(f"{package}.{name}")}
        wanted = inspect.signature(compose).parameters.keys() & values
        for stage in compose(choose, **{word: values[word] for word in wanted}):
            if stage.folder:
                say(f"{stage.folder}:")
            run_stage(stage, given["out"] / stage.folder, stage.every or given["every"], given["threads"])

    names = sorted(inputs, key=list(known).index)
    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {word: inspect.Parameter.empty if inputs[word] is ... else inputs[word] for word in names}
    parameters = [inspect.Parameter(word, kind, default=defaults[word], annotation=known[word]) for word in names]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {word: known[word] for word in names}
    return run


def run_stage(stage: Any, out: Path, every: int, threads: int) -> None:
    """Run the ``training.Stage``: a line a measurement, a picture of the curves every minute and at the end."""
    from bidzoo import __version__
    from bidzoo.agents.bridge import distributed
    from bidzoo.agents.bridge.trainer import Run, train
    from bidzoo.benchmarks.results import command as command_line

    provenance = {**stage.provenance, "command": command_line(), "version": __version__}
    began, end, measured = time.monotonic(), stage.trainer.end, list[tuple[int, float]]()
    drawn = began

    def report(step: int, row: dict[str, float]) -> None:
        nonlocal drawn
        measured.append((step, time.monotonic() - began))
        (first, then), (_, now) = measured[0], measured[-1]
        left = f", {(now - then) / (step - first) * (end - step):.0f} s left" if step > first else ""
        metrics = "  ".join(f"{name} {value:.4g}" for name, value in list(row.items())[1:])
        say(f"{step:7d} of {end}  {now:.0f} s{left}  {metrics}")
        if time.monotonic() > drawn + DRAWING:
            _draw(out)
            drawn = time.monotonic()

    measure, inputs = stage.measurement
    with going_on(out), progress() as bar:
        unit = f"{stage.trainer.unit}s"
        run = Run(
            out,
            every,
            threads=threads,
            inputs=inputs,
            provenance=provenance,
            report=report,
            measure=measure,
            tick=lambda step: bar(unit, step, end),
        )
        train(stage.trainer, run)
        _draw(out)
    if distributed.world().rank == 0:
        names = [name for name in ("network.safetensors", "best.safetensors") if (out / name).exists()]
        say(f"{'finished' if measured else 'finished before'}; weights: {', '.join(str(out / n) for n in names)}")


def _draw(out: Path) -> None:
    """The curves as a picture, where matplotlib is installed; a line, where another program has it open on Windows."""
    if find_spec("matplotlib") is not None and (out / "curves.csv").exists():
        from bidzoo.agents.bridge.trainer import draw_curves

        try:
            draw_curves(out / "curves.csv")
        except PermissionError as problem:
            say(f"bidzoo: {problem.filename}: {problem.strerror}", err=True)


@app.command()
def record(
    count: Annotated[
        int,
        typer.Argument(
            min=1, max=MOST_BOARDS, metavar="N", help="Number of random boards, without double-dummy results."
        ),
    ],
    out: Annotated[Path, output("File of auctions to write (.npz).", ".npz", new=True)],
    policy: Annotated[str, _text("Agent, package.module:Name or file that bids all four hands.", names=True)] = "ppo",
    opponent: Annotated[
        list[str] | None,
        _text("Agent at E/W, while --policy is N/S; may be repeated: each board draws one.", names=True),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
) -> None:
    """Record auctions of an agent on random boards, in the format that sl and belief read.

    Stopped at any moment, the same command goes on where it was.
    """
    from bidzoo.agents.bridge.expert import refuse_held_out
    from bidzoo.benchmarks import auctions
    from bidzoo.benchmarks.bridge import contestant

    refuse_held_out(policy, *opponent or [])
    opponents = [contestant(name) for name in opponent or []]
    with kept_until_the_end(Path(f"{out}.journal")) as journal:
        with progress() as report:
            made = auctions.record(contestant(policy), count, seed, opponents, report, journal)
        made.save(out)
    against = f" against {', '.join(opponent)}" if opponent else ""
    say(f"{counted(count, 'auction')} of {policy}{against}, written to {out}")


for _name, _algorithm in ALGORITHMS.items():
    app.command(_name, help=_algorithm.help)(command(_name, _algorithm))

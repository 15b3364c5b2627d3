"""The network that knows double-dummy tricks: ``evaluator``, and how well it knows them."""

from pathlib import Path
from typing import Annotated

import typer

from bidzoo.commands.output import finish
from bidzoo.commands.train.options import Deals, Device, Every, Out, Set, Threads, parse
from bidzoo.commands.train.run import provenance, report, training_deals


def evaluator(
    out: Out = Path("runs/evaluator"),
    deals: Deals = None,
    cards: Annotated[int, typer.Option(min=1, help="First layer, for each suit.")] = 128,
    suits: Annotated[int, typer.Option(min=1, help="Second layer, for each suit.")] = 64,
    hidden: Annotated[int, typer.Option(min=1, help="Third and fourth layer.")] = 256,
    start: Annotated[Path | None, typer.Option(help="File of weights to begin with; default: nothing.")] = None,
    options: Set = None,
    every: Every = 3000,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Double-dummy tricks of a deal, from the packaged training deals."""
    from bidzoo.agents.bridge import evaluator, evaluator_training
    from bidzoo.agents.bridge.fit import Options
    from bidzoo.envs.bridge.deals import packaged

    chosen = parse(Options, options, architecture=evaluator.Suits(cards, suits, hidden))
    given, about = training_deals(deals)
    learn, check = evaluator_training.Cells(given), evaluator_training.Cells(packaged("validation"))
    known = evaluator.load(start)[0] if start else None
    about = provenance({**about, "start": start.name if start else "nothing"})
    evaluator_training.train(
        learn, check, chosen, out, about, report(out), start=known, every=every, device=device, threads=threads
    )


def measure_evaluator(
    weights: Annotated[Path | None, typer.Option(help="File of weights; default: the packaged ones.")] = None,
    policy: Annotated[str, typer.Option(help="Agent whose game contracts are judged.")] = "ppo",
    limit: Annotated[int | None, typer.Option(min=2, help="Test deals; default: all.")] = None,
    json: Annotated[Path, typer.Option(help="Result file.")] = Path("runs/evaluator.json"),
) -> None:
    """How well the double-dummy evaluator knows the tricks of the test deals."""
    from bidzoo.agents.bridge.evaluator import Evaluator
    from bidzoo.benchmarks import bridge_evaluator

    tables, seconds = bridge_evaluator.main(Evaluator(weights), policy, limit)
    finish("bridge-evaluator", tables, (), seconds, 0, json)

"""Networks fitted to recorded auctions: ``sl`` and ``belief``; how auctions are recorded, what training reached."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bidzoo.commands.output import finish
from bidzoo.commands.train.options import Data, Device, Every, Out, Set, Threads, parse
from bidzoo.commands.train.run import provenance, report

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


def record(
    count: Annotated[int, typer.Argument(min=1, metavar="N", help="Random boards, without double-dummy tables.")],
    out: Annotated[Path, typer.Option(help="File of auctions to write (.npz).")],
    policy: Annotated[str, typer.Option(help="Agent, packaged network or file that bids all four hands.")] = "ppo",
    seed: Annotated[int, typer.Option(min=0, help="Of the deals.")] = 0,
) -> None:
    """Auctions of an agent on random boards, in the format that sl and belief read."""
    from bidzoo.agents.bridge.record import record as bid

    bid(_player(policy), count, seed).save(out)
    typer.echo(f"{count} auctions of {policy}, written to {out}")


def _player(name: str) -> "Policy":
    from bidzoo.agents.bridge.neural import NetworkPolicy
    from bidzoo.benchmarks.bridge import contestant

    return NetworkPolicy(name, name=Path(name).stem) if Path(name).suffix else contestant(name)


def sl(
    data: Data,
    out: Out = Path("runs/sl"),
    kind: Annotated[str, typer.Option(help="mlp, or jps: 200 wide with skip connections.")] = "mlp",
    width: Annotated[int, typer.Option(min=1, help="Neurons a layer.")] = 512,
    depth: Annotated[int, typer.Option(min=1, help="Hidden layers of an mlp.")] = 3,
    activation: Annotated[str, typer.Option(help="relu or gelu.")] = "relu",
    options: Set = None,
    every: Every = 1500,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """The expert's calls (--width 2048 --depth 4 --activation gelu: the network of belief Monte Carlo search)."""
    from bidzoo.agents.bridge import supervised

    _fit(supervised.train, data, out, supervised.POLICY.outputs, (kind, width, depth, activation), options)(
        every=every, device=device, threads=threads
    )


def belief(
    data: Data,
    out: Out = Path("runs/belief"),
    width: Annotated[int, typer.Option(min=1, help="Neurons a layer.")] = 512,
    depth: Annotated[int, typer.Option(min=1, help="Hidden layers.")] = 3,
    start: Annotated[str | None, typer.Option(help="Packaged name or file to begin with; default: nothing.")] = None,
    options: Set = None,
    every: Every = 1000,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Who holds which card, from recorded auctions (bidzoo train record makes those of a policy)."""
    from bidzoo.agents.bridge import belief, weights

    known = weights.network(start) if start else None
    _fit(belief.train, data, out, belief.BELIEF.outputs, ("mlp", width, depth, "relu"), options)(
        start=known, every=every, device=device, threads=threads
    )


def _fit(
    train: Callable[..., Any], data: Path, out: Path, outputs: int, shape: tuple[Any, ...], options: list[str] | None
) -> Callable[..., Any]:
    from bidzoo.agents.bridge.fit import Options
    from bidzoo.agents.bridge.network import Architecture
    from bidzoo.envs.bridge.files.auctions import Auctions

    kind, width, depth, activation = shape
    architecture = Architecture("openspiel480", outputs, kind, width, depth, activation)
    chosen = parse(Options, options, architecture=architecture)
    auctions = Auctions.load(data)
    about = provenance({"data": f"{data.name}, {len(auctions.hands)} auctions"})
    return lambda **keywords: train(auctions, chosen, out, about, report(out), **keywords)


def measure(
    data: Data,
    played: Annotated[Path | None, typer.Option(help="Auctions of the policy the belief is about.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="Packaged network; may be repeated.")] = None,
    boards: Annotated[int, typer.Option(min=2, help="Test boards of each match.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the boards.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Result file; default: runs/bridge-training.json.")] = None,
) -> None:
    """What training reached, on test auctions and test deals."""
    from bidzoo.benchmarks import bridge_training
    from bidzoo.envs.bridge.files.auctions import Auctions

    own = Auctions.load(played) if played else None
    tables, seconds = bridge_training.main(Auctions.load(data), policy or ["sl", "ppo"], boards, seed, own)
    finish("bridge-training", tables, (), seconds, seed, json)

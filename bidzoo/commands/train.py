"""``bidzoo train``: one command a stage. Stopped at any moment, the same command goes on where it was."""

import time
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, help="Train the agents that learn.")

Data = Annotated[Path, typer.Argument(help="Recorded auctions: .npz, or OpenSpiel's text form of WBridge5's.")]
Out = Annotated[Path, typer.Option(help="Folder of checkpoint, curves and weights.")]
Start = Annotated[str, typer.Option(help="Weights to start from: a packaged name or a file.")]
Device = Annotated[str, typer.Option(help="Of torch: cpu, cuda.")]
Threads = Annotated[int, typer.Option(min=1, help="Of torch on the CPU; the same seed gives the same bytes with 1.")]
Every = Annotated[int, typer.Option(min=1, help="Steps between measurements and checkpoints.")]
Boards = Annotated[int, typer.Option(min=0, help="Validation boards of the match against --against; 0: none.")]
Against = Annotated[str, typer.Option(help="Whom the match is against: packaged name or file.")]
Deals = Annotated[
    list[Path] | None, typer.Option(help="Solved deals (.npz) beside the packaged ones; may be repeated.")
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the algorithm.")]


def parse(options: type, given: list[str] | None, **fixed: Any) -> Any:
    """``options(...)`` with ``NAME=VALUE`` texts; ValueError names the option and the choices."""
    known = {field.name: field for field in fields(options) if field.name not in fixed}
    chosen: dict[str, Any] = dict(fixed)
    for text in given or []:
        name, _, value = text.partition("=")
        if name not in known:
            raise ValueError(f"--set {text}: no option {name!r}; choose from {', '.join(known)}")
        default = known[name].default
        try:
            chosen[name] = _value(value, default)
        except ValueError as problem:
            raise ValueError(f"--set {text}: expected a value like {default!r}") from problem
    return options(**chosen)


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    return type(default)(text)


@app.command()
def sl(
    data: Data,
    out: Out = Path("runs/sl"),
    kind: Annotated[str, typer.Option(help="mlp, or jps: 200 wide with skip connections.")] = "mlp",
    width: Annotated[int, typer.Option(help="Neurons a layer.")] = 512,
    depth: Annotated[int, typer.Option(help="Hidden layers of an mlp.")] = 3,
    activation: Annotated[str, typer.Option(help="relu or gelu.")] = "relu",
    options: Set = None,
    every: Every = 1500,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """The expert's calls (``--kind mlp --width 2048 --depth 4 --activation gelu``: belief Monte Carlo search's)."""
    from bidzoo.agents.bridge import supervised

    _fit(supervised.train, data, out, supervised.POLICY.outputs, (kind, width, depth, activation), options)(
        every=every, device=device, threads=threads
    )


@app.command()
def belief(
    data: Data,
    out: Out = Path("runs/belief"),
    width: Annotated[int, typer.Option(help="Neurons a layer.")] = 512,
    depth: Annotated[int, typer.Option(help="Hidden layers.")] = 3,
    start: Annotated[str | None, typer.Option(help="Packaged name or file to begin with; default: nothing.")] = None,
    options: Set = None,
    every: Every = 1000,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Who holds which card, from recorded auctions (``bidzoo train record`` makes those of a policy)."""
    from bidzoo.agents.bridge import belief

    known = _network(start) if start else None
    _fit(belief.train, data, out, belief.BELIEF.outputs, ("mlp", width, depth, "relu"), options)(
        start=known, every=every, device=device, threads=threads
    )


@app.command()
def evaluator(
    out: Out = Path("runs/evaluator"),
    deals: Deals = None,
    cards: Annotated[int, typer.Option(help="First layer, for each suit.")] = 128,
    suits: Annotated[int, typer.Option(help="Second layer, for each suit.")] = 64,
    hidden: Annotated[int, typer.Option(help="Third and fourth layer.")] = 256,
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
    given, about = _training_deals(deals)
    learn, check = evaluator_training.Cells(given), evaluator_training.Cells(packaged("validation"))
    known = evaluator.load(start)[0] if start else None
    about["start"] = start.name if start else "nothing"
    evaluator_training.train(
        learn, check, chosen, out, _about(about), _report(out), start=known, every=every, device=device, threads=threads
    )


def _training_deals(files: list[Path] | None) -> tuple[Any, dict[str, str]]:
    """The packaged training deals and those of ``files``, and what the provenance says of them."""
    import numpy as np

    from bidzoo.envs.bridge.deals import DealSet, packaged

    names = ["packaged train split", *(path.name for path in files or [])]
    sets = [packaged("train"), *map(DealSet.load, files or [])]
    about = ", ".join(f"{len(found.hands)} of {name}" for name, found in zip(names, sets))
    hands, tricks = (np.concatenate(arrays) for arrays in zip(*sets))
    return DealSet.of(hands, tricks, about), {"deals": about}


@app.command("measure-evaluator")
def measure_evaluator(
    weights: Annotated[Path | None, typer.Option(help="File of weights; default: the packaged ones.")] = None,
    policy: Annotated[str, typer.Option(help="Agent whose game contracts are judged.")] = "ppo",
    limit: Annotated[int | None, typer.Option(min=2, help="Test deals; default: all.")] = None,
    json: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("runs/evaluator.json"),
) -> None:
    """How well the double-dummy evaluator knows the tricks of the test deals."""
    from bidzoo.agents.bridge.evaluator import Evaluator
    from bidzoo.benchmarks import bridge_evaluator, results

    tables, seconds = bridge_evaluator.main(Evaluator(weights), policy, limit)
    results.show(tables)
    results.save(json, "bridge-evaluator", tables, seed=0, seconds=seconds)
    typer.echo(f"written to {json}")


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
    about = {"data": f"{data.name}, {len(auctions.hands)} auctions"}
    return lambda **keywords: train(auctions, chosen, out, _about(about), _report(out), **keywords)


@app.command()
def record(
    count: Annotated[int, typer.Argument(min=1, metavar="N", help="Random boards, without double-dummy tables.")],
    out: Annotated[Path, typer.Option(help="File of auctions to write (.npz).")],
    policy: Annotated[str, typer.Option(help="Agent that bids all four hands.")] = "ppo",
    seed: Annotated[int, typer.Option(help="Of the deals.")] = 0,
) -> None:
    """Auctions of an agent on random boards, in the format that ``sl`` and ``belief`` read."""
    from bidzoo.agents.bridge.record import record as bid

    bid(_player(policy), count, seed).save(out)
    typer.echo(f"{count} auctions of {policy}, written to {out}")


@app.command()
def measure(
    data: Data,
    played: Annotated[Path | None, typer.Option(help="Auctions of the policy the belief is about.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="Packaged network; may be repeated.")] = None,
    boards: Annotated[int, typer.Option(min=2, help="Test boards of each match.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the boards.")] = 0,
    json: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("runs/bridge-training.json"),
) -> None:
    """What training reached, on test auctions and test deals."""
    from bidzoo.benchmarks import bridge_training, results
    from bidzoo.envs.bridge.files.auctions import Auctions

    own = Auctions.load(played) if played else None
    tables, seconds = bridge_training.main(Auctions.load(data), policy or ["sl", "ppo"], boards, seed, own)
    results.show(tables)
    results.save(json, "bridge-training", tables, seed=seed, seconds=seconds)
    typer.echo(f"written to {json}")


@app.command()
def ppo(
    out: Out = Path("runs/ppo"),
    start: Start = "sl",
    reference: Annotated[str, typer.Option(help="Supervised policy of datum and anchor.")] = "sl",
    deals: Deals = None,
    options: Set = None,
    every: Every = 10,
    boards: Boards = 4000,
    against: Against = "sl",
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """PPO with fictitious self-play from a supervised policy (or from where an earlier run came)."""
    from bidzoo.agents.bridge import ppo

    go = _play(ppo, parse(ppo.Options, options), out, start, deals, boards, against)
    known = None if reference == start else _network(reference)
    go(reference=known, every=every, device=device, threads=threads)


def _actor_critic(name: str, start: str | None, against: str, every: int, text: str) -> None:
    """The command of an actor-critic on duplicate pairs; ``name`` is its module's too."""

    def command(
        out: Out = Path("runs", name),
        start: Annotated[str | None, typer.Option(help="Weights to start from: packaged name or file.")] = start,
        deals: Deals = None,
        options: Set = None,
        every: Every = every,
        boards: Boards = 4000,
        against: Against = against,
        device: Device = "cpu",
        threads: Threads = 1,
    ) -> None:
        algorithm = import_module(f"bidzoo.agents.bridge.{name}")
        _play(algorithm, parse(algorithm.Options, options), out, start, deals, boards, against)(
            every=every, device=device, threads=threads
        )

    app.command(name, help=text)(command)


_actor_critic(
    "rl",
    "sl",
    "sl",
    50,
    "RL of belief Monte Carlo search; --set prioritised=false (No PR), --set hidden=false (No HI).",
)
_actor_critic(
    "a2c", None, "sl", 20, "Actor-critic self-play from nothing, 267 bits (joint policy search, section 7.2)."
)
_actor_critic(
    "jps",
    "a2c-bridge",
    "a2c-bridge",
    20,
    "Actor-critic with searched games; --set share=0 (non-search), --set depth=1 (1-search).",
)


def _play(
    algorithm: Any, options: Any, out: Path, start: str | None, deals: list[Path] | None, boards: int, against: str
) -> Callable[..., Any]:
    from bidzoo.agents.bridge.a2c import ACTOR_CRITIC
    from bidzoo.envs.bridge.game import Bridge

    first = None if start is None else _network(start)
    sees = (first.architecture if first else ACTOR_CRITIC).observation
    known, about_deals = _training_deals(deals)
    game = Bridge(False, observation=sees, deals=known)
    about = _about({"start": start, **about_deals, "judged_against": against})
    judge = _judge(against, boards) if boards else None
    return lambda **keywords: algorithm.train(first, game, options, out, about, _report(out), judge, **keywords)


def _network(name: str) -> Any:
    from bidzoo.agents.bridge import weights

    return weights.load(name)[0] if Path(name).suffix else weights.packaged(name)


def _player(name: str) -> Any:
    from bidzoo import agents
    from bidzoo.agents.bridge.neural import NetworkPolicy

    return NetworkPolicy(name, name=Path(name).stem) if Path(name).suffix else agents.make(name)


def _judge(against: str, boards: int) -> Callable[[Any], dict[str, float]]:
    """IMPs a board of a network over ``against`` on validation deals."""
    import numpy as np

    from bidzoo.agents.bridge.neural import NetworkPolicy
    from bidzoo.benchmarks.match import duplicate
    from bidzoo.envs.bridge.game import Bridge

    other, game = NetworkPolicy(_network(against), name=against), Bridge(False, deals="validation")

    def judge(network: Any) -> dict[str, float]:
        estimate = duplicate(game, NetworkPolicy(network), other, np.arange(boards), seed=1).estimate
        return {"imps": estimate.mean, "imps_error": estimate.error}

    return judge


@app.command("success-curves")
def success_curves(
    rounds: Annotated[int, typer.Option(help="Rounds of self-play a pass.")] = 2_000_000,
    seed: Annotated[int, typer.Option(help="Of the self-play.")] = 1,
    out: Annotated[Path, typer.Option(help="Table to write.")] = Path("bidzoo/data/spades/success-curves.npz"),
) -> None:
    """BIS's nil success curves for all 2955 sequences of earlier bids, from noisy self-play."""
    from bidzoo.agents.spades.curves_training import CurvesConfig, train_success_curves

    train_success_curves(CurvesConfig(rounds=rounds, seed=seed, out=str(out)), lambda row: typer.echo(row))


@app.command("spades-bidder")
def spades_bidder(seed: Annotated[int, typer.Option(help="Of games and weights.")] = 1) -> None:
    """The learned Spades bidder, by self-play on the bidding."""
    from bidzoo.agents.spades.learned_training import LearnedConfig, train_bidder

    train_bidder(LearnedConfig(seed=seed), lambda row: typer.echo(row))


def _report(out: Path) -> Callable[[int, dict[str, float]], None]:
    """One line a measurement, and the curves drawn again where matplotlib is installed."""
    begin, pictures = time.monotonic(), find_spec("matplotlib") is not None

    def report(step: int, row: dict[str, float]) -> None:
        figures = "  ".join(f"{name} {value:.4g}" for name, value in list(row.items())[1:])
        typer.echo(f"{step:7d}  {time.monotonic() - begin:6.0f} s  {figures}")
        if pictures:
            from bidzoo.agents.bridge.curves import draw

            draw(out / "curves.csv")

    return report


def _about(known: dict[str, Any]) -> dict[str, Any]:
    import shlex
    import sys

    import bidzoo

    return {**known, "command": shlex.join(["bidzoo", *sys.argv[1:]]), "version": bidzoo.__version__}

"""``bidzoo train``: one command a stage. Stopped at any moment, the same command goes on where it was.

Networks are fitted to recorded auctions (``sl``, ``belief``) or to solved deals (``evaluator``), or learn by self-play
on solved deals (``ppo``, ``rpi``, the actor-critics ``rl``, ``a2c`` and ``jps``; without opponents ``baseline16`` and
``pbl``).
Every run says a line a measurement, draws its curves, and writes where its weights come from.
"""

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bidzoo.cli.options import (
    Device,
    Threads,
    agent_names,
    counted,
    going_on,
    new_npz,
    parse,
    writable,
    writable_folder,
)
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS

if TYPE_CHECKING:
    from bidzoo.agents.bridge.network import Network
    from bidzoo.agents.bridge.trainer import Trainer
    from bidzoo.agents.policy import Policy
    from bidzoo.envs.bridge.deals import DealSet
    from bidzoo.envs.bridge.formats.auctions import Positions
    from bidzoo.envs.bridge.game import Bridge

app = typer.Typer(no_args_is_help=True, help="Train the agents that learn.")


@app.callback()
def wait() -> None:
    from bidzoo.core.kernels import wait_always

    wait_always()


Data = Annotated[Path, typer.Argument(help="Recorded auctions: .npz, or OpenSpiel's text form of WBridge5's.")]
Out = Annotated[Path, typer.Option(callback=writable_folder, help="Folder of checkpoint, curves and weights.")]
Start = Annotated[str | None, typer.Option(help="Weights to start from: a packaged name, an agent's or a file.")]
Every = Annotated[int, typer.Option(min=1, help="Steps between measurements and checkpoints.")]
Boards = Annotated[int, typer.Option(min=0, help="Validation boards of the match against --against; 0: none.")]
Against = Annotated[
    str,
    typer.Option(help="Opponent in that match: an agent, package.module:Name or a file.", autocompletion=agent_names),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(help="Opponent in that match; may be repeated: the mean decides.", autocompletion=agent_names),
]
Opponents = Annotated[
    list[str] | None,
    typer.Option(
        help="Agent to meet on a share of the boards (see --set); may be repeated.", autocompletion=agent_names
    ),
]
Width = Annotated[int, typer.Option(min=1, help="Neurons in a layer.")]
Depth = Annotated[int, typer.Option(min=1, help="Hidden layers.")]
Deals = Annotated[
    list[Path] | None, typer.Option(help="Solved deals (.npz) beside the packaged ones; may be repeated.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An option of the algorithm; --set help lists them."),
]


def _train(
    trainer: "Trainer",
    out: Path,
    every: int,
    threads: int,
    provenance: dict[str, Any],
    measure: Callable[[Any], dict[str, float]] | None = None,
    judge: dict[str, str] | None = None,
) -> None:
    """Run the training, with a line and new curves at each measurement.

    The weights' metadata holds ``provenance`` and the command. ``judge`` holds digests of the players and boards of
    ``measure``.
    """
    from bidzoo import __version__
    from bidzoo.agents.bridge import distributed
    from bidzoo.agents.bridge.trainer import Run, train
    from bidzoo.benchmarks.results import command

    all_provenance = {**provenance, "command": command(), "version": __version__}
    began, steps = time.monotonic(), list[int]()

    def report(step: int, row: dict[str, float]) -> None:
        steps.append(step)
        figures = "  ".join(f"{name} {value:.4g}" for name, value in list(row.items())[1:])
        typer.echo(f"{step:7d}  {time.monotonic() - began:6.0f} s  {figures}")
        _draw(out)

    run = Run(out, every, threads, None, judge or {}, all_provenance, report, measure)
    with going_on(out):
        train(trainer, run)
        _draw(out)  # a run killed as it drew them goes on to the end without a measurement
    if distributed.world().rank == 0:
        names = [name for name in ("network.safetensors", "best.safetensors") if (out / name).exists()]
        typer.echo(f"{'finished' if steps else 'finished before'}; weights: {', '.join(str(out / n) for n in names)}")


def _draw(out: Path) -> None:
    """The curves as a picture, where matplotlib is installed."""
    if find_spec("matplotlib") is not None and (out / "curves.csv").exists():
        from bidzoo.agents.bridge.trainer import draw_curves

        draw_curves(out / "curves.csv")


# ---- from recorded auctions --------------------------------------------------------------


@app.command()
def record(
    count: Annotated[
        int, typer.Argument(min=1, metavar="N", help="Number of random boards, without double-dummy results.")
    ],
    out: Annotated[Path, typer.Option(callback=new_npz, help="File of auctions to write (.npz).")],
    policy: Annotated[
        str,
        typer.Option(help="Agent, package.module:Name or file that bids all four hands.", autocompletion=agent_names),
    ] = "ppo",
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent at E/W, while --policy is N/S; may be repeated: each board draws one.",
            autocompletion=agent_names,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
) -> None:
    """Record auctions of an agent on random boards, in the format that sl and belief read."""
    from bidzoo.agents.bridge.expert import refuse_held_out
    from bidzoo.benchmarks.auctions import record as bid
    from bidzoo.benchmarks.bridge import contestant

    refuse_held_out(policy, *opponent or [])
    bid(contestant(policy), count, seed, [contestant(name) for name in opponent or []]).save(out)
    against = f" against {', '.join(opponent)}" if opponent else ""
    typer.echo(f"{counted(count, 'auction')} of {policy}{against}, written to {out}")


@app.command()
def sl(
    data: Data,
    out: Out = Path("runs/sl"),
    observation: Annotated[
        str, typer.Option(help="Encoder: openspiel480, or bidder1375, which counts points and lengths.")
    ] = "openspiel480",
    kind: Annotated[
        Literal["mlp", "jps", "stages"],
        typer.Option(
            help="Kind of network: mlp; jps, which is 200 wide with skip connections; or stages, an mlp on bidder1375 "
            "with weights for each stage of the auction."
        ),
    ] = "mlp",
    width: Width = 512,
    depth: Annotated[int, typer.Option(min=1, help="Hidden layers of an mlp.")] = 3,
    activation: Annotated[Literal["relu", "gelu"], typer.Option(help="Activation of the layers.")] = "relu",
    options: Set = None,
    every: Every = 1500,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Learn a recorded expert's calls (--width 2048 --depth 4 --activation gelu: the network of bmcs)."""
    from bidzoo.agents.bridge import sl
    from bidzoo.agents.bridge.network import Architecture
    from bidzoo.agents.bridge.trainer import Options

    architecture = Architecture(observation, NUM_CALLS, kind, width, depth, activation)
    chosen = parse(Options, options, architecture=architecture)
    training, validation, provenance = _positions(data)
    _train(sl.Trainer(training, validation, chosen, device=device), out, every, threads, provenance)


@app.command()
def expert(
    data: Annotated[Path, typer.Argument(help="Recorded auctions of systems (.npz).")],
    more: Annotated[
        Path | None, typer.Option(help="Recorded auctions of SAYC against SAYC, as sl takes them, to learn from too.")
    ] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Most auctions of --more to learn from.")] = None,
    start: Annotated[Path | None, typer.Option(help="Weights of experts to go on from; default: random ones.")] = None,
    out: Out = Path("runs/expert"),
    kind: Annotated[
        Literal["stages", "mlp"],
        typer.Option(help="Kind of network: stages, with weights for each stage of the auction, or mlp."),
    ] = "stages",
    width: Width = 448,
    depth: Depth = 3,
    options: Set = None,
    every: Every = 1000,
    threads: Threads = 1,
) -> None:
    """Learn the calls of four bidding systems, each against each."""
    from bidzoo.agents.bridge import expert, network
    from bidzoo.envs.bridge.formats.auctions import SystemAuctions, SystemPositions

    chosen = parse(expert.Options, options, architecture=expert.Experts(width, depth, kind))
    auctions = SystemAuctions.load(data)
    validation = SystemPositions(auctions, auctions.split("validation"))
    source = f"{data.name}, {len(auctions.stray)} auctions"
    if more is not None:
        sayc_auctions = SystemAuctions.load(more)
        sayc_auctions = sayc_auctions.first(most or len(sayc_auctions.stray))
        auctions = SystemAuctions.join([auctions, sayc_auctions])
        source = f"{source}; {more.name}, the first {len(sayc_auctions.stray)}"
    training = SystemPositions(auctions, auctions.split("train"))
    weights = network.load_weights(start, expert.ExpertNetwork)[0] if start else None
    _train(expert.Trainer(training, validation, chosen, weights), out, every, threads, {"data": source})


@app.command()
def belief(
    data: Data,
    out: Out = Path("runs/belief"),
    width: Width = 512,
    depth: Depth = 3,
    start: Start = None,
    side: Annotated[
        Literal["ns", "ew", "both"], typer.Option(help="Side whose view is learned: ns where it met --opponent.")
    ] = "both",
    options: Set = None,
    every: Every = 1000,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Learn who holds which card, from recorded auctions (bidzoo train record makes those of a policy)."""
    from bidzoo.agents.bridge import belief, network
    from bidzoo.agents.bridge.trainer import Options

    architecture = network.Architecture("openspiel480", 3 * NUM_CARDS, "mlp", width, depth)
    chosen = parse(Options, options, architecture=architecture)
    initial = network.weights_of(start) if start else None
    training, validation, provenance = _positions(data, {"ns": 0, "ew": 1}.get(side))
    _train(belief.Trainer(training, validation, chosen, initial, device), out, every, threads, provenance)


@app.command()
def baseline19(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder of the stages' folders: enn, pnn, self-play.")] = Path(
        "runs/baseline19"
    ),
    enn_width: Annotated[int, typer.Option(min=1, help="Neurons in a layer of the estimation network.")] = 96,
    pnn_width: Annotated[int, typer.Option(min=1, help="Neurons in a layer of the policy network.")] = 144,
    deals: Deals = None,
    enn: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the first stage; --enn help.")
    ] = None,
    pnn: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the second stage; --pnn help.")
    ] = None,
    options: Set = None,
    every: Annotated[int, typer.Option(min=1, help="Measurements and checkpoints of a stage.")] = 12,
    boards: Boards = 4000,
    against: Against = "sl",
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Learn to estimate partner's cards, to bid with the estimate, then both by self-play: three stages in turn."""
    from bidzoo.agents.bridge import baseline19, network
    from bidzoo.agents.bridge.expert import refuse_held_out
    from bidzoo.agents.bridge.trainer import Options
    from bidzoo.envs.bridge.game import Bridge

    refuse_held_out(against)
    widths = baseline19.Widths(enn_width, pnn_width)
    first, second = parse(Options, enn, architecture=widths.enn), parse(Options, pnn, architecture=widths)
    third = parse(baseline19.Options, options)
    training, validation, provenance = _positions(data)

    def run_stage(trainer: "Trainer", name: str, length: int, provenance: dict[str, Any], *judge: Any) -> Path:
        typer.echo(f"{name}:")
        _train(trainer, out / name, max(1, length // every), threads, provenance, *judge)
        return out / name / "network.safetensors"

    estimation = baseline19.Estimation(training, validation, first, device=device)
    enn_network: Network = network.load_weights(run_stage(estimation, "enn", first.steps, provenance))[0]
    policy = baseline19.Imitation(training, validation, second, enn_network, device)
    start = network.load_weights(run_stage(policy, "pnn", second.steps, provenance), baseline19.Networks)[0]
    training_deals, deals_provenance = _training_deals(deals)
    game = Bridge(False, observation=baseline19.OBSERVATION, deals=training_deals)
    deals_provenance = {**provenance, **deals_provenance, "start": "pnn", "judged_against": Path(against).name}
    self_play = baseline19.Trainer(start, game, third, device)
    run_stage(self_play, "self-play", third.iterations, deals_provenance, *_match([against], boards))


def _positions(data: Path, side: int | None = None) -> "tuple[Positions, Positions, dict[str, str]]":
    """Positions of the training and of the validation part, and their provenance."""
    from bidzoo.envs.bridge.formats.auctions import Auctions, Positions

    auctions = Auctions.load(data)
    training, validation = (Positions(auctions, auctions.split(part), side) for part in ("train", "validation"))
    for name, positions in (("training", training), ("validation", validation)):
        if not len(positions):
            raise ValueError(f"{data}: none of {len(auctions.hands)} auctions is a {name} one; record more")
    return training, validation, {"data": f"{data.name}, {len(auctions.hands)} auctions"}


# ---- by self-play on solved deals --------------------------------------------------------


@app.command()
def ppo(
    out: Out = Path("runs/ppo"),
    start: Start = "sl",
    reference: Annotated[str, typer.Option(help="Supervised policy of datum and anchor.")] = "sl",
    deals: Deals = None,
    options: Set = None,
    every: Every = 10,
    boards: Boards = 4000,
    against: Judges = None,
    opponent: Opponents = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Improve a supervised policy, or an earlier run's, by PPO with fictitious self-play."""
    from bidzoo.agents.bridge import ppo

    chosen = parse(ppo.Options, options)
    initial, game, provenance, measure, judge, opponents = _among_others(
        start, reference, deals, opponent, against, boards
    )
    reference_network = None if reference == start else _network(reference)
    trainer = ppo.Trainer(initial, game, chosen, device, reference_network, opponents)
    _train(trainer, out, every, threads, provenance, measure, judge)


@app.command()
def rpi(
    out: Out = Path("runs/rpi"),
    start: Start = "ppo",
    deals: Deals = None,
    options: Set = None,
    every: Every = 50,
    boards: Boards = 4000,
    against: Judges = None,
    opponent: Opponents = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Improve a policy by rollout policy iteration: learn what its likely calls gain."""
    from bidzoo.agents.bridge import rpi as algorithm

    chosen = parse(algorithm.Options, options)
    initial, game, provenance, measure, judge, opponents = _among_others(start, None, deals, opponent, against, boards)
    _train(algorithm.Trainer(initial, game, chosen, device, opponents), out, every, threads, provenance, measure, judge)


def _among_others(
    start: str | None,
    reference: str | None,
    deals: list[Path] | None,
    opponents: list[str] | None,
    against: list[str] | None,
    boards: int,
) -> "tuple[Network, Bridge, dict[str, Any], Callable[[Any], dict[str, float]] | None, dict[str, str], list[Policy]]":
    """What trains a learner that meets ``opponents`` and is measured over ``against`` on ``boards``.

    The network to start from, the game, the provenance, the measurement, digests of all players, and the opponents'
    policies.
    """
    from bidzoo.agents.bridge.expert import refuse_held_out
    from bidzoo.benchmarks.bridge import contestant
    from bidzoo.benchmarks.match import made_of

    refuse_held_out(reference, *opponents or [])
    policies, judge_names = [contestant(name) for name in opponents or []], against or ["sl"]
    initial, game, provenance = _self_play(start, deals, *judge_names)
    assert initial is not None
    if policies:
        provenance["opponents"] = ", ".join(Path(name).name for name in opponents or [])
    measure, judge = _match(judge_names, boards)
    judge |= {f"opponent {n}": made_of(policy) for n, policy in enumerate(policies, 1)}
    return initial, game, provenance, measure, judge, policies


def _on_duplicate_pairs(name: str, start: str | None, against: str, every: int, text: str) -> None:
    """The command, with defaults, of an algorithm that plays duplicate pairs; ``name`` is also that of its module."""

    @app.command(name, help=text)
    def command(
        out: Out = Path("runs", name),
        start: Start = start,
        deals: Deals = None,
        options: Set = None,
        every: Every = every,
        boards: Boards = 4000,
        against: Against = against,
        device: Device = "cpu",
        threads: Threads = 1,
    ) -> None:
        algorithm = import_module(f"bidzoo.agents.bridge.{name}")
        chosen = parse(algorithm.Options, options)
        initial, game, provenance = _self_play(start, deals, against)
        trainer = algorithm.Trainer(initial, game, chosen, device)
        _train(trainer, out, every, threads, provenance, *_match([against], boards))


_on_duplicate_pairs(
    *("pi", "sl", "sl", 5),
    "Improve a supervised policy by policy iteration: it learns what searches of its own hesitant calls find.",
)
_on_duplicate_pairs(
    *("rl", "sl", "sl", 50),
    "Improve a policy by belief Monte Carlo search's RL; --set prioritised=false (No PR), --set hidden=false (No HI).",
)
_on_duplicate_pairs(
    *("a2c", None, "sl", 20),
    "Learn by actor-critic self-play from nothing, on 267 bits (joint policy search, section 7.2).",
)
_on_duplicate_pairs(
    *("jps", "a2c-bridge", "a2c-bridge", 20),
    "Learn by actor-critic with searched games; --set share=0 (non-search), --set depth=1 (1-search).",
)


def _network(name: str) -> "Network":
    """The network of an agent, or else the packaged network of that name, or that of a file."""
    from bidzoo import agents
    from bidzoo.agents.bridge import network

    agent = agents.make(name) if name in agents.AGENTS else None
    found: Network = agent.network if isinstance(agent, network.NetworkPolicy) else network.weights_of(name)
    return found


def _self_play(
    start: str | None, deals: list[Path] | None, *against: str
) -> "tuple[Network | None, Bridge, dict[str, Any]]":
    """The network to start from, the game it is trained in, and their provenance."""
    from bidzoo.agents.bridge.a2c import ACTOR_CRITIC
    from bidzoo.agents.bridge.expert import refuse_held_out
    from bidzoo.envs.bridge.game import Bridge

    refuse_held_out(start, *against)
    initial = None if start is None else _network(start)
    observation = (initial.architecture if initial else ACTOR_CRITIC).observation
    training_deals, deals_provenance = _training_deals(deals)
    judges = ", ".join(Path(name).name for name in against)  # folders say nothing elsewhere
    names = {"start": start and Path(start).name, "judged_against": judges}
    return initial, Bridge(False, observation=observation, deals=training_deals), {**names, **deals_provenance}


def _training_deals(files: list[Path] | None, solved: bool = True) -> "tuple[DealSet, dict[str, str]]":
    """The packaged training deals with those of ``files``, and their provenance.

    Raises:
        ValueError: with ``solved``, a deal whose tricks are not all known; names file and deal.
    """
    import numpy as np

    from bidzoo.envs.bridge.deals import SPLITS, UNKNOWN, DealSet, packaged

    names = ["packaged train split", *(path.name for path in files or [])]
    for path in files or []:
        if str(path) in SPLITS:
            raise ValueError(f"--deals {path}: the packaged train set is always there; expected a file of others")
    sets = [packaged("train"), *map(DealSet.load, files or [])]
    for path, deal_set in zip(files or [], sets[1:]):
        for deal in np.flatnonzero((deal_set.tricks == UNKNOWN).any(1))[:1] if solved else ():
            raise ValueError(f"--deals {path}: deal {deal} has no complete double-dummy table")
    provenance = ", ".join(f"{len(deal_set.hands)} of {name}" for name, deal_set in zip(names, sets))
    hands, tricks = (np.concatenate(arrays) for arrays in zip(*sets))
    return DealSet.of(hands, tricks, provenance), {"deals": provenance}


def _match(against: Sequence[str], boards: int) -> tuple[Callable[[Any], dict[str, float]] | None, dict[str, str]]:
    """A measurement, IMPs a board of a network over ``against`` on validation deals, and digests of its match.

    The measurement is None without boards.
    """
    import numpy as np

    from bidzoo.agents.bridge.network import NetworkPolicy
    from bidzoo.benchmarks.bridge import contestant
    from bidzoo.benchmarks.match import duplicate, made_of
    from bidzoo.benchmarks.results import Estimate
    from bidzoo.envs.bridge.game import Bridge

    if not boards:
        return None, {}
    opponents, game = [contestant(name) for name in against], Bridge(False, deals="validation")

    def play(network: Any) -> dict[str, float]:
        matches = [
            duplicate(game, NetworkPolicy(network), opponent, np.arange(boards), seed=1) for opponent in opponents
        ]
        mean = Estimate.of(np.mean([match.imps for match in matches], axis=0), group=matches[0].deals)
        figures = {"imps": mean.mean, "imps_error": mean.error}
        if len(opponents) > 1:
            figures |= {f"imps_{opponent.name}": match.estimate.mean for opponent, match in zip(opponents, matches)}
        return figures

    return play, {"opponent": ", ".join(map(made_of, opponents)), "boards of the match": str(boards)}


def _partners(name: str, text: str) -> None:
    """The command of an algorithm without opponents; ``name`` is also that of its module and its agent."""

    @app.command(name, help=text)
    def command(
        out: Out = Path("runs", name),
        deals: Deals = None,
        options: Set = None,
        every: Every = 200,
        boards: Annotated[int, typer.Option(min=0, help="Validation boards that are measured; 0: none.")] = 4000,
        device: Device = "cpu",
        threads: Threads = 1,
    ) -> None:
        from bidzoo import agents
        from bidzoo.benchmarks.bridge_cost import mean_cost
        from bidzoo.envs.bridge.game import Bridge

        algorithm = import_module(f"bidzoo.agents.bridge.{name}")
        chosen = parse(algorithm.Options, options)
        training_deals, provenance = _training_deals(deals)
        game = Bridge(False, competition=False, reward="cost", deals=training_deals)

        def measure(networks: Any) -> dict[str, float]:
            cost = mean_cost(agents.make(name, weights=networks), boards)
            return {"imps": -cost.mean, "imps_error": cost.error}

        trainer = algorithm.Trainer(game, chosen, device)
        judge = {"boards that are measured": str(boards)}
        _train(trainer, out, every, threads, provenance, measure if boards else None, judge)


_partners("baseline16", "Learn to bid without opponents by penetrative Q-learning, from nothing (Yeh and Lin 2016).")
_partners(
    "pbl",
    "Learn to bid without opponents by policy-belief learning, from nothing; --set communication=0 (no auxiliary "
    "reward), and --set beliefs=false beside it (no belief module).",
)


# ---- double-dummy tricks -----------------------------------------------------------------


@app.command()
def evaluator(
    out: Out = Path("runs/evaluator"),
    deals: Deals = None,
    cards: Annotated[int, typer.Option(min=1, help="Neurons of the first layer, for each suit.")] = 128,
    suits: Annotated[int, typer.Option(min=1, help="Neurons of the second layer, for each suit.")] = 64,
    hidden: Annotated[int, typer.Option(min=1, help="Neurons of the third and the fourth layer.")] = 256,
    start: Annotated[Path | None, typer.Option(help="File of weights to start from; default: none.")] = None,
    options: Set = None,
    every: Every = 3000,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Learn the double-dummy tricks of a deal, from the packaged training deals."""
    from bidzoo.agents.bridge import evaluator, network
    from bidzoo.agents.bridge.trainer import Options
    from bidzoo.envs.bridge.deals import packaged

    chosen = parse(Options, options, architecture=evaluator.Suits(cards, suits, hidden))
    training_deals, provenance = _training_deals(deals, solved=False)  # it learns from every contract that is solved
    training, validation = evaluator.Cells(training_deals), evaluator.Cells(packaged("validation"))
    initial = network.load_weights(start, evaluator.SuitNetwork)[0] if start else None
    provenance["start"] = start.name if start else "nothing"
    _train(evaluator.Trainer(training, validation, chosen, initial, device), out, every, threads, provenance)


# ---- Spades ------------------------------------------------------------------------------


@app.command()
def success_curves(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of self-play in a pass.")] = 2_000_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the self-play.")] = 1,
    out: Annotated[Path, typer.Option(callback=new_npz, help="File to write.")] = Path("runs/success-curves.npz"),
) -> None:
    """Count BIS's nil success curves for all 2955 sequences of earlier bids, from noisy self-play."""
    from bidzoo.agents.spades.curves_training import CurveOptions, train_success_curves

    train_success_curves(CurveOptions(rounds=rounds, seed=seed, out=str(out)), lambda row: typer.echo(row))


@app.command()
def learned(
    out: Annotated[
        Path, typer.Option(callback=writable, help="Weights to write; a run that was stopped goes on from them.")
    ] = Path("runs/learned.safetensors"),
    options: Set = None,
) -> None:
    """Learn to bid and to play Spades, by policy iteration that plays on from every choice."""
    from bidzoo.agents.spades.learned_training import LearnedOptions, train_learned

    chosen = parse(LearnedOptions, options)
    passes = list[dict[str, float]]()

    def report(row: dict[str, float]) -> None:
        passes.append(row)
        typer.echo("  ".join(f"{name} {x:.4g}" for name, x in row.items()))

    with going_on(out):
        train_learned(chosen, out, report)
    typer.echo(f"{'finished' if passes else 'finished before'}; weights: {out}")

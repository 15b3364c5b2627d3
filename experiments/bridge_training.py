"""What supervised training reached: calls and cards in auctions never trained on, matches against ``sl``.

python experiments/bridge_training.py policies expert-auctions.npz --played ppo-auctions.npz
python experiments/bridge_training.py systems system-auctions.npz --plain expert-auctions.npz
python experiments/bridge_training.py baseline19 expert-auctions.npz
python experiments/bridge_training.py beliefs rl-auctions.npz --weights runs/belief/network.safetensors
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, TypeVar

import numpy as np
import typer
from expert_training import SystemAuctions, SystemPositions, right_calls
from trainers.baseline19 import cross_entropy, partners, recall

from bidzoo.agents.bridge import baseline19, belief, sl
from bidzoo.agents.bridge.baseline19 import Networks
from bidzoo.agents.bridge.expert import ExpertNetwork
from bidzoo.agents.bridge.network import Network, NetworkPolicy, load_weights, packaged_network, weights_of
from bidzoo.agents.policy import told_apart
from bidzoo.benchmarks.bridge import Boards, Contracts
from bidzoo.benchmarks.results import Estimate, Measured, ResultTable
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured
from bidzoo.core.kernels import Bool
from bidzoo.envs.bridge.bidder import SYSTEMS
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions

app = typer.Typer(no_args_is_help=True, help="Measure what supervised training reached.")
ROWS = 8192  # views of a timed round

PAPER_ACCURACY = 0.9437  # Belief Monte Carlo search, section VI-A, on WBridge5's auctions
PAPER_GAIN = {"rl": 0.87}  # section VI-B, IMPs a board over its supervised policy
FEWEST = 200  # positions of a length in the belief table

F = TypeVar("F", bound=str | Path)
N = TypeVar("N")


def by_name(files: Sequence[F], load: Callable[[F], N]) -> dict[str, N]:
    """The networks of ``files``, which are packaged names or paths; those of one name are told apart by numbers."""
    return dict(zip(told_apart([Path(file).stem for file in files]), map(load, files)))


def policy_tables(
    data: Auctions, policies: Sequence[str], boards: int, seed: int, played: Auctions | None = None
) -> Measured:
    """Tables, no figures.

    Args:
        data: the expert's auctions.
        policies: packaged networks and files.
        boards: of each match.
        seed: of the boards.
        played: auctions of the policy that the belief network models.
    """
    test = Positions(data, data.split("test"))
    networks: dict[str, Network] = by_name(policies, weights_of)
    tables = [calls(test, networks), beliefs(test, "the expert's auctions")]
    if played is not None:
        tables.append(beliefs(Positions(played, played.split("test")), "the policy's own auctions"))
    return [*tables, matches(networks, boards, seed)], []


def calls(test: Positions, networks: Mapping[str, Network], timed: bool = False) -> ResultTable:
    """How many of the expert's calls in auctions never trained on are each policy's likeliest; ``timed``: and how much
    processor time one takes."""
    deals = test.deals(np.arange(len(test)))
    note = f"{len(test):,} calls on {len(np.unique(deals)):,} deals; ± standard error over deals; cross-entropy in nats"
    columns = ("policy", "accuracy", "cross-entropy", *["processor µs a call"] * timed)
    table = ResultTable("Calls of the expert, test part", columns, note=note)
    for name, network in networks.items():
        if network.architecture.observation not in ("openspiel480", "bidder1375"):
            continue
        right, nats = sl.scores(test, network, len(test))
        accuracy = Estimate.of(right, PAPER_ACCURACY if name.startswith("sl") else None, group=deals)
        table.add(name, accuracy, Estimate.of(nats, group=deals), *[_microseconds(test, network)] * timed)
    return table


def _microseconds(test: Positions, network: Network) -> float:
    """Processor time of a call with its observation, the least of five rounds."""
    views, _, _ = test.at(np.arange(min(ROWS, len(test))))
    spent = []
    for _ in range(5):
        began = process_time()
        network(network.architecture.encoder(views))
        spent.append(process_time() - began)
    return 1e6 * min(spent) / len(views)


PHASES = ("no random call before", "after one", "all")  # which calls a column counts


def system_tables(player: ExpertNetwork, data: SystemAuctions, plain: SystemAuctions | None = None) -> Measured:
    """How many calls of each system in held-out auctions are ``player``'s likeliest; no figures.

    Args:
        player: the network of all systems.
        data: auctions of systems.
        plain: auctions of SAYC against SAYC, for a table beside those of the other supervised policies.
    """
    test = SystemPositions(data, data.split("test"))
    numbers = np.arange(len(test))
    right, deals = right_calls(test, player, numbers), test.deals(numbers)
    (ours, _), after_stray = test.systems(numbers), test.after_stray(numbers)
    note = f"{len(test):,} calls on {len(np.unique(deals)):,} deals; ± standard error over deals"
    table = ResultTable("Calls of the systems, test part", ("system", *PHASES), note=note)
    for name, in_system in [*((name, ours == k) for k, name in enumerate(SYSTEMS)), ("all", ours >= 0)]:
        cells = [rows & in_system for rows in (~after_stray, after_stray, ours >= 0)]
        table.add(name, *(Estimate.of(right[rows], group=deals[rows]) if rows.any() else None for rows in cells))
    if plain is None:
        return [table], []
    packaged_networks = {name: packaged_network(name) for name in ("sl", "sl-wide", "sl-small")}
    networks = {"expert-sayc": player.of_systems(0, 0), **packaged_networks}
    auctions = plain.auctions
    return [table, calls(Positions(auctions, auctions.split("test")), networks, timed=True)], []


def baseline19_tables(data: Auctions, files: Sequence[str | Path] = ()) -> Measured:
    """How well ``baseline19`` knows partner's cards and the expert's calls, in auctions never trained on; no figures.

    Beside it the networks of ``files``, of earlier stages, and ``belief`` and ``sl``.
    """
    test, networks = Positions(data, data.split("test")), {"baseline19": packaged_network("baseline19", Networks)}
    networks |= by_name(files, lambda file: load_weights(file, Networks)[0])
    deals = test.deals(np.arange(len(test)))
    note = (
        f"{len(test):,} positions on {len(np.unique(deals)):,} deals; ± standard error over deals; nats an output,"
        " 52 outputs; found: of partner's 13 cards, how many are among the 13 likeliest; uniform: every unseen card"
        " with each other player alike"
    )
    columns = ("network", "cross-entropy", "recall at 13")
    table = ResultTable("Partner's cards, the expert's auctions, test part", columns, note=note)
    views, _, _ = test.at(np.arange(len(test)))
    cards = partners(test, np.arange(len(test)))
    belief_chances = belief.Belief().probabilities
    chances = {
        name: baseline19.estimates(network.enn, network.architecture.encoder(views))
        for name, network in networks.items()
    }
    for name, chance in {**chances, "belief": belief_chances(views)[:, 0]}.items():
        nats, hits = cross_entropy(chance, cards), recall(chance, cards)
        table.add(name, Estimate.of(nats, group=deals), Estimate.of(hits, group=deals))
    table.add("uniform", belief.uniform_cross_entropy(), 1 / 3)
    return [table, calls(test, {**networks, "sl": packaged_network("sl")})], []


def beliefs(test: Positions, source: str, others: Mapping[str, Network] | None = None) -> ResultTable:
    """Cross-entropy of the belief network, and of ``others``, by the number of calls made (Figure 3 of belief Monte
    Carlo search); with others a last row for all positions."""
    networks = {"belief": packaged_network("belief"), **(others or {})}
    note = "nats an output, 156 outputs; uniform: every unseen card with each other player alike"
    table = ResultTable(f"Belief, {source}, test part", ("calls made", "positions", *networks, "uniform"), note=note)
    found = {name: belief.by_length(test, network, len(test)) for name, network in networks.items()}
    lengths, _ = found["belief"]
    deals = test.deals(np.arange(len(test)))

    def row(name: int | str, chosen: Bool) -> None:
        estimates = [Estimate.of(nats[chosen], group=deals[chosen]) for _, nats in found.values()]
        table.add(name, int(chosen.sum()), *estimates, belief.uniform_cross_entropy())

    for length in np.flatnonzero(np.bincount(lengths) >= FEWEST):
        row(int(length), lengths == length)
    if others:
        row("all", np.ones(len(lengths), np.bool_))
    return table


def matches(networks: Mapping[str, Network], boards: int, seed: int) -> ResultTable:
    """Duplicate matches against ``sl`` on test deals."""
    test_boards, sl = Boards(boards, seed), NetworkPolicy(packaged_network("sl"), name="sl")
    note = f"{test_boards}, double-dummy; ± standard error, clustered by deal"
    table = ResultTable("Against the supervised policy", ("policy", "IMPs a board over sl"), note=note)
    for name, network in networks.items():
        if name != "sl":
            ours = NetworkPolicy(network, name=name)
            contracts = [Contracts.of(test_boards.play(*room, seed)) for room in ((ours, sl), (sl, ours))]
            estimate = test_boards.estimate(contracts[0].imps(contracts[1]), PAPER_GAIN.get(name))
            table.rows.append({"policy": name, "IMPs a board over sl": estimate})
    return table


Data = Annotated[Path, typer.Argument(help="Recorded auctions: .npz, or OpenSpiel's text form of WBridge5's.")]


@app.command()
def policies(
    data: Data,
    played: Annotated[Path | None, typer.Option(help="Auctions of the policy the belief is about.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="Packaged network or file; may be repeated.")] = None,
    boards: Annotated[int, typer.Option(min=2, help="Test boards of each match.")] = 10_000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Measure policies and beliefs on test auctions, and matches of the policies on test deals."""
    own = Auctions.load(played) if played else None
    arguments = (Auctions.load(data), policy or ["sl", "ppo"], boards, seed, own)
    measured("bridge-training", seed, json, lambda _: policy_tables(*arguments))


@app.command()
def systems(
    data: Annotated[Path, typer.Argument(help="Recorded auctions of systems (.npz).")],
    plain: Annotated[Path | None, typer.Option(help="Recorded auctions of SAYC against SAYC.")] = None,
    weights: Annotated[Path | None, typer.Option(help="File of weights; default: the packaged ones.")] = None,
    json: Json = None,
) -> None:
    """Measure how many test calls of each system the expert network makes, before a random call and after."""
    expert = load_weights(weights, ExpertNetwork)[0] if weights else packaged_network("expert", ExpertNetwork)
    auctions = [SystemAuctions.load(file) for file in (data, plain) if file is not None]
    measured("expert", 0, json, lambda _: system_tables(expert, *auctions))


@app.command("baseline19")
def estimates(
    data: Data,
    stage: Annotated[
        list[Path] | None, typer.Option(help="Weights of both networks after an earlier stage; may be repeated.")
    ] = None,
    json: Json = None,
) -> None:
    """Measure how well baseline19 knows partner's cards and the expert's calls, on test auctions."""
    auctions = Auctions.load(data)
    measured("baseline19", 0, json, lambda _: baseline19_tables(auctions, stage or []))


@app.command("beliefs")
def trained_beliefs(
    data: Annotated[Path, typer.Argument(help="Recorded auctions (.npz).")],
    weights: Annotated[list[Path], typer.Option(help="Weights of a belief network; may be repeated.")],
    json: Json = None,
) -> None:
    """Measure belief networks beside the packaged one, on the test part of auctions."""
    auctions = Auctions.load(data)
    networks: dict[str, Network] = by_name(weights, lambda path: load_weights(path)[0])
    test = Positions(auctions, auctions.split("test"))
    measured("bridge-belief", 0, json, lambda _: ([beliefs(test, f"in {data.stem}", networks)], []))


if __name__ == "__main__":
    app()

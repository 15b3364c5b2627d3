"""What training starts from and what it reached: recorded auctions, held-out calls, beliefs, matches against ``sl``."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bidzoo.agents.bridge import belief, sl
from bidzoo.agents.bridge.network import Network, NetworkPolicy, network_named, packaged_network
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import Boards, Contracts
from bidzoo.benchmarks.results import Estimate, Figure, ResultTable
from bidzoo.core.kernels import States
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS
from bidzoo.wrappers.batch import Batch, Seating

# ---- data: auctions of a policy with itself on random deals, without double-dummy results ----------

_CHUNK = 8192  # boards at a time; bounds memory, changes no result


def record(policy: Policy, count: int, seed: int = 0) -> Auctions:
    """``count`` auctions of ``policy`` in all four seats; dealer and vulnerability by board number (Law 2)."""
    game = Bridge(play=True)  # random cards; only its auctions are played
    seating = Seating([policy] * 4, seed)
    parts = [_boards(game, seating, seed, at, min(at + _CHUNK, count)) for at in range(0, count, _CHUNK)]
    states = np.concatenate(parts)
    length = states["length"].astype(np.int64)
    calls = states["calls"][np.arange(MAX_CALLS) < length[:, None]]
    return Auctions.of(states["hands"], states["dealer"], states["vulnerable"], length, calls, policy.name)


def _boards(game: Bridge, seating: Seating, seed: int, first: int, end: int) -> States:
    """Tables of boards ``first ... end - 1`` after their auctions."""
    batch = Batch(game, end - first, autoreset=False)
    batch.reset(seed, np.arange(first, end))
    while (bidding := batch.states["phase"] == AUCTION).any():
        batch.step(seating.choose(batch, bidding))
    return batch.states[["hands", "dealer", "vulnerable", "length", "calls"]].copy()


PAPER_ACCURACY = 0.9437  # Belief Monte Carlo search, section VI-A, on WBridge5's auctions
PAPER_GAIN = {"rl": 0.87}  # section VI-B, IMPs a board over its supervised policy
FEWEST = 200  # positions of a length in the belief table


def main(
    data: Auctions, policies: Sequence[str], boards: int, seed: int, played: Auctions | None = None
) -> tuple[list[ResultTable], list[Figure]]:
    """Tables, no figures.

    Args:
        data: the expert's auctions.
        policies: packaged networks and files.
        boards: of each match.
        seed: of the boards.
        played: auctions of the policy to believe in.
    """
    test, networks = Positions(data, data.split("test")), {Path(name).stem: network_named(name) for name in policies}
    tables = [calls(test, networks), beliefs(test, "the expert's auctions")]
    if played is not None:
        tables.append(beliefs(Positions(played, played.split("test")), "the policy's own auctions"))
    return [*tables, matches(networks, boards, seed)], []


def calls(test: Positions, networks: Mapping[str, Network]) -> ResultTable:
    """How many of the expert's calls in auctions never trained on are each policy's likeliest."""
    note = f"{len(test)} calls; cross-entropy in nats a call"
    table = ResultTable("Calls of the expert, test part", ("policy", "accuracy", "cross-entropy"), note=note)
    for name, network in networks.items():
        if network.architecture.observation != "openspiel480":
            continue
        found = sl.measure(test, network, len(test))
        share = found["accuracy"]
        error = float(np.sqrt(share * (1 - share) / len(test)))
        estimate = Estimate(share, error, len(test), PAPER_ACCURACY if name.startswith("sl") else None)
        table.rows.append({"policy": name, "accuracy": estimate, "cross-entropy": found["cross_entropy"]})
    return table


def beliefs(test: Positions, source: str) -> ResultTable:
    """Cross-entropy of the belief network by the number of calls made (Figure 3 of belief Monte Carlo search)."""
    columns = ("calls made", "positions", "belief", "uniform")
    note = "nats an output, 156 outputs; uniform: every unseen card with each other player alike"
    table = ResultTable(f"Belief, {source}, test part", columns, note=note)
    n, mean, error = belief.by_length(test, packaged_network("belief"), len(test))
    for length in np.flatnonzero(n >= FEWEST):
        table.rows.append(
            {
                "calls made": int(length),
                "positions": int(n[length]),
                "belief": Estimate(float(mean[length]), float(error[length]), int(n[length])),
                "uniform": belief.uniform_cross_entropy(),
            }
        )
    return table


def matches(networks: Mapping[str, Network], boards: int, seed: int) -> ResultTable:
    """Duplicate matches against ``sl`` on test deals."""
    test_boards, sl = Boards(boards, seed), NetworkPolicy(packaged_network("sl"), name="sl")
    note = f"{test_boards}, double-dummy; ± standard error, boards of one deal as one"
    table = ResultTable("Against the supervised policy", ("policy", "IMPs a board over sl"), note=note)
    for name, network in networks.items():
        if name != "sl":
            ours = NetworkPolicy(network, name=name)
            ended = [Contracts.of(test_boards.play(*room, seed)) for room in ((ours, sl), (sl, ours))]
            estimate = test_boards.estimate(test_boards.match(*ended), PAPER_GAIN.get(name))
            table.rows.append({"policy": name, "IMPs a board over sl": estimate})
    return table

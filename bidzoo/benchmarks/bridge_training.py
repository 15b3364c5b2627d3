"""What training reached: held-out calls, belief by length of the auction, and matches against the supervised policy."""

import time
from collections.abc import Sequence

import numpy as np

from bidzoo.agents.bridge import belief, supervised, weights
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.benchmarks.bridge_boards import Boards, Contracts
from bidzoo.benchmarks.results import Estimate, Table
from bidzoo.envs.bridge.files.auctions import Auctions, Positions

PAPER_ACCURACY = 0.9437  # Belief Monte Carlo search, section VI-A, on WBridge5's auctions
PAPER_GAIN = {"rl": 0.87}  # section VI-B, IMPs a board over its supervised policy
FEWEST = 200  # positions of a length in the belief table


def main(
    data: Auctions, policies: Sequence[str], boards: int, seed: int, played: Auctions | None = None
) -> tuple[list[Table], float]:
    """Tables, and seconds taken. ``policies``: packaged networks; ``played``: auctions of the policy to believe in."""
    begin = time.monotonic()
    test = Positions(data, data.split("test"))
    tables = [calls(test, policies), beliefs(test, "the expert's auctions")]
    if played is not None:
        tables.append(beliefs(Positions(played, played.split("test")), "the policy's own auctions"))
    tables.append(matches(policies, boards, seed))
    return tables, time.monotonic() - begin


def calls(test: Positions, policies: Sequence[str]) -> Table:
    """How many of the expert's calls in auctions never trained on are each policy's likeliest."""
    columns = ("policy", "accuracy", "cross-entropy")
    table = Table("Calls of the expert, test part", columns, note=f"{len(test)} calls; cross-entropy in nats a call")
    for name in policies:
        network = weights.packaged(name)
        if network.architecture.observation != "openspiel480":
            continue
        found = supervised.measure(test, network, len(test))
        share = found["accuracy"]
        error = float(np.sqrt(share * (1 - share) / len(test)))
        estimate = Estimate(share, error, len(test), PAPER_ACCURACY if name.startswith("sl") else None)
        table.rows.append(
            {
                "policy": name,
                "accuracy": estimate,
                "cross-entropy": found["cross_entropy"],
            }
        )
    return table


def beliefs(test: Positions, source: str) -> Table:
    """Cross-entropy of the belief network by the number of calls made (Figure 3 of belief Monte Carlo search)."""
    columns = ("calls made", "positions", "belief", "uniform")
    note = "nats an output, 156 outputs; uniform: every unseen card with each other player alike"
    table = Table(f"Belief, {source}, test part", columns, note=note)
    n, mean, error = belief.by_length(test, weights.packaged("belief"), len(test))
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


def matches(policies: Sequence[str], boards: int, seed: int) -> Table:
    """Duplicate matches against ``sl`` on test deals."""
    arena, sl = Boards(boards, seed), NetworkPolicy(weights.packaged("sl"), name="sl")
    note = f"{arena}, double-dummy; ± standard error, boards of one deal as one"
    table = Table("Against the supervised policy", ("policy", "IMPs a board over sl"), note=note)
    for name in policies:
        if name != "sl":
            ours = NetworkPolicy(weights.packaged(name), name=name)
            ended = [Contracts.of(arena.play(*room, seed)) for room in ((ours, sl), (sl, ours))]
            estimate = arena.estimate(arena.match(*ended), PAPER_GAIN.get(name))
            table.rows.append({"policy": name, "IMPs a board over sl": estimate})
    return table

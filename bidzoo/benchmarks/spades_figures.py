"""What BIS does against itself: nils, Table 3's round types and Figures 2 to 7 of "Bidding in Spades"."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bidzoo.agents.spades.bidder import Bidder
from bidzoo.agents.spades.curves import SEQUENCES, chance_row, load_curves, sequence_bids
from bidzoo.agents.spades.curves_training import CurvesConfig, collect_nils
from bidzoo.agents.spades.goal import ROUND_TYPES, sum_type_row
from bidzoo.agents.spades.match import Games, play_games
from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.benchmarks.spades_rows import SRP, gains_by_partnership, nil_shares, seats_of_first
from bidzoo.kernels import F64, I64, Tables

# Table 3, average points of BIS+BIS : human+BIS
PAPER_TABLE_3 = {
    "BIS+BIS": (57.3, 47.7),
    "the other partnership": (50.7, 49.2),
    "nil vs. nil": (67.4, 60.5),
    "double nil": (64.5, -29.3),
    "no nil": (48.9, 43.6),
}
LEAST_ROUNDS = 30  # behind a point of a figure
FIGURE_3_BIDS = ((1, 3), (3, 3), (8, 3))  # partner's bid, then the right opponent's


def self_play(games: int, seed: int) -> Games:
    """BIS+SRP in all four seats."""
    bis = Bidder.named("bis")
    return play_games(games, (bis, bis), (SRP, SRP), seed)


def overview(log: Tables, games: Games) -> Table:
    """Nil rate and success, the sum of bids (Figure 5) and the branching factor (Figure 6)."""
    nil = log["bids"] == 0
    branches = games.branches * np.arange(games.branches.shape[1])
    rows: list[Mapping[str, Any]] = [
        {"what": "nil bids, % of bids", "value": Estimate.of(100.0 * nil.ravel(), 13.6)},
        {"what": "successful nils, %", "value": Estimate.of(100.0 * (log["won"][nil] == 0), 68.8)},
        {"what": "sum of the four bids", "value": Estimate.of(log["bids"].sum(axis=1, dtype=np.int64), 10.55)},
        {"what": "legal cards a play", "value": Estimate.of(branches.sum(axis=1) / games.branches.sum(axis=1), 3.6)},
    ]
    return Table(f"BIS+SRP against itself, {len(log):,} rounds", ("what", "value"), rows)


def nil_table(log: Tables) -> Table:
    """Table 3: average points by who bid nil."""
    gains, nil, mine = gains_by_partnership(log), log["bids"] == 0, seats_of_first(log)
    ours, theirs = (nil & mine).sum(axis=1), (nil & ~mine).sum(axis=1)
    kinds = {
        "BIS+BIS": (ours == 1) & (theirs == 0),
        "the other partnership": (ours == 0) & (theirs == 1),
        "nil vs. nil": (ours == 1) & (theirs == 1),
        "double nil": (ours == 2) | (theirs == 2),
        "no nil": (ours == 0) & (theirs == 0),
    }
    rows: list[Mapping[str, Any]] = []
    for name, chosen in kinds.items():
        row: dict[str, Any] = {"nil by": name, "rounds": int(chosen.sum())}
        if row["rounds"] >= LEAST_ROUNDS:
            row["points"], row["their points"] = (
                Estimate.of(gains[chosen, k], PAPER_TABLE_3[name][k]) for k in range(2)
            )
            if name != "no nil":
                row["nils made %"] = nil_shares(log[chosen], np.ones((row["rounds"], 4), np.bool_))[1]
        rows.append(row)
    note = "Ours: BIS+SRP in all seats. The paper's other partnership is a human and BIS."
    return Table(
        "Table 3: points a round by nil", ("nil by", "rounds", "points", "their points", "nils made %"), rows, note
    )


def type_table(log: Tables) -> Table:
    """Rounds and points of the five types without nil (appendix E)."""
    plain = log[(log["bids"] > 0).all(axis=1)]
    kinds = np.array([sum_type_row(int(total)) for total in plain["bids"].sum(axis=1, dtype=np.int64)])
    rows: list[Mapping[str, Any]] = []
    for k in range(5):
        chosen = kinds == k
        row: dict[str, Any] = {"type": ROUND_TYPES[k], "rounds": int(chosen.sum())}
        if row["rounds"] >= LEAST_ROUNDS:
            row["points"] = Estimate.of(plain["gains"][chosen].mean(axis=1))
        rows.append(row)
    return Table("Rounds without nil by sum of bids", ("type", "rounds", "points"), rows)


def figures(log: Tables, games: Games, rounds: int, seed: int) -> list[Figure]:
    """Figures 2 to 7; Figure 3 counts the nils of ``rounds`` more rounds."""
    bids = log["bids"].astype(np.int64)
    total, plain = bids.sum(axis=1), (bids > 0).all(axis=1)
    last = log["dealer"].astype(np.int64)  # the dealer bids last
    earlier = total - bids[np.arange(len(log)), last]
    branches = games.branches.sum(axis=0)[1:]
    points, means = _by(total[plain], log["gains"][plain].mean(axis=1))
    sums, aces = _by(earlier, 100.0 * (log["ace"] == last))
    shares = 100 * np.bincount(total, minlength=22)[:22] / len(log)
    return [
        figure_2(log),
        figure_3(rounds, seed),
        Figure(
            "Figure 4: points by sum of bids, rounds without nil",
            "line",
            points,
            {"BIS+SRP": means},
            "sum of bids",
            "points",
        ),
        Figure(
            "Figure 5: sum of the four bids",
            "bars",
            list(range(22)),
            {"BIS+SRP": shares.tolist()},
            "sum of bids",
            "% of rounds",
        ),
        Figure(
            "Figure 6: legal cards a play",
            "bars",
            list(range(1, len(branches) + 1)),
            {"BIS+SRP": (100 * branches / branches.sum()).tolist()},
            "legal cards",
            "% of plays",
        ),
        Figure(
            "Figure 7: the last bidder holds the ace of spades",
            "line",
            sums,
            {"BIS+SRP": aces},
            "sum of the three bids before",
            "%",
        ),
    ]


def figure_2(log: Tables) -> Figure:
    """Points of a round with and without a nil of the partnership, per cent of either."""
    nil = np.stack([(log["bids"][:, [k, k + 2]] == 0).any(axis=1) for k in range(2)], axis=1)
    edges = np.arange(-250, 260, 10)
    series = {}
    for name, chosen in (("nil", nil), ("no nil", ~nil)):
        counts = np.histogram(log["gains"][chosen], edges)[0]
        series[name] = (100 * counts / max(1, counts.sum())).tolist()
    return Figure("Figure 2: points of a round", "line", edges[:-1].tolist(), series, "points", "% of rounds")


def figure_3(rounds: int, seed: int) -> Figure:
    """Counted and learned success of nils of the third bidder after a 3 on the right, by partner's bid."""
    curves, width = load_curves(), 0.1
    nils = collect_nils(rounds, CurvesConfig.noise, curves, CurvesConfig.player, seed)
    rows = {sequence_bids(k): k for k in range(SEQUENCES)}
    middle = np.arange(width / 2, 1, width)
    series: dict[str, list[float]] = {}
    for bids in FIGURE_3_BIDS:
        here = nils.sequence == rows[bids]
        bins = np.minimum((nils.value[here] / width).astype(np.int64), len(middle) - 1)
        tried = np.bincount(bins, minlength=len(middle))
        kept = np.bincount(bins, nils.success[here], minlength=len(middle))
        counted = np.where(tried >= 5, 100 * kept / np.maximum(1, tried), np.nan)
        series[f"partner {bids[0]}, counted"] = [float(x) for x in counted]
        series[f"partner {bids[0]}, learned"] = [float(100 * chance_row(curves[0, rows[bids]], x)) for x in middle]
    note = "Bins of fewer than five nils are left out."
    return Figure(
        "Figure 3: success of nil", "line", middle.round(2).tolist(), series, "nil value", "% successful", note
    )


def _by(key: I64, values: F64) -> tuple[list[int], list[float]]:
    """Keys seen often enough, and the mean of ``values`` at each."""
    keys = [int(k) for k in np.unique(key) if (key == k).sum() >= LEAST_ROUNDS]
    return keys, [float(values[key == k].mean()) for k in keys]

"""What BIS does against itself: nils, Table 3's round types and the numbers behind Figures 2, 4, 5, 6 and 7."""

from typing import Any

import numpy as np

from bidzoo.agents.spades.bidder import Bidder
from bidzoo.agents.spades.goal import ROUND_TYPES, sum_type_row
from bidzoo.agents.spades.match import Games, play_games
from bidzoo.benchmarks.spades_rows import SRP, gains_by_partnership, mean_error, nil_record, rounds_log
from bidzoo.kernels import Tables

PAPER = {"nil_rate": 0.136, "nil_success": 0.688, "mean_sum_of_bids": 10.55, "branching_factor": 3.6}
# Table 3, average points of BIS+BIS : H+BIS
PAPER_TABLE_3 = {
    "first nil": (57.3, 47.7),
    "second nil": (50.7, 49.2),
    "nil vs. nil": (67.4, 60.5),
    "double nil": (64.5, -29.3),
    "no nil": (48.9, 43.6),
}


def self_play(games: int, seed: int, first: int = 0) -> Games:
    """BIS+SRP in all four seats."""
    bis = Bidder.named("bis")
    return play_games(games, (bis, bis), (SRP, SRP), seed, first)


def nil_table(log: Tables) -> list[dict[str, Any]]:
    """Table 3: average points by which partnership bid nil."""
    gains = gains_by_partnership(log)
    mine = (np.arange(4) + log["swapped"][:, None]) % 2 == 0
    nil = log["bids"] == 0
    ours, theirs = (nil & mine).sum(axis=1), (nil & ~mine).sum(axis=1)
    kinds = {
        "first nil": (ours == 1) & (theirs == 0),
        "second nil": (ours == 0) & (theirs == 1),
        "nil vs. nil": (ours == 1) & (theirs == 1),
        "double nil": (ours == 2) | (theirs == 2),
        "no nil": (ours == 0) & (theirs == 0),
    }
    rows = []
    for name, chosen in kinds.items():
        row: dict[str, Any] = {"type": name, "rounds": int(chosen.sum()), "paper_points": PAPER_TABLE_3[name]}
        if chosen.any():
            means = [mean_error(gains[chosen, k]) for k in range(2)]
            row |= {"points": [m for m, _ in means], "points_se": [e for _, e in means]}
            row |= {"nil": nil_record(log[chosen], np.ones((int(chosen.sum()), 4), np.bool_))["nil_success"]}
        rows.append(row)
    return rows


def round_types(log: Tables) -> dict[str, float]:
    """Share of rounds of each type without nil, by the sum of bids (appendix E)."""
    plain = log[(log["bids"] > 0).all(axis=1)]
    kinds = np.array([sum_type_row(int(total)) for total in plain["bids"].sum(axis=1, dtype=np.int64)])
    return {ROUND_TYPES[k]: float((kinds == k).sum() / len(log)) for k in range(5)}


def figures(games: Games) -> dict[str, Any]:
    """Every number of the self-play figures, for JSON."""
    log = rounds_log(games)
    bids = log["bids"].astype(np.int64)
    total = bids.sum(axis=1)
    nil_side = np.stack([(bids[:, [k, k + 2]] == 0).any(axis=1) for k in range(2)], axis=1)
    gains = log["gains"].astype(np.int64)
    edges = np.arange(-250, 260, 10)
    plain = ~nil_side.any(axis=1)
    branches = games.branches.sum(axis=0)
    last = (log["dealer"].astype(np.int64)) % 4  # the dealer bids last
    rows = np.arange(len(log))
    earlier = total - bids[rows, last]
    ace = log["ace"] == last
    return {
        "rounds": len(log),
        **nil_record(log, np.ones((len(log), 4), np.bool_)),
        "mean_sum_of_bids": mean_error(total.astype(float)),
        "branching_factor": float((branches * np.arange(len(branches))).sum() / branches.sum()),
        "paper": PAPER,
        "table_3": nil_table(log),
        "round_types": round_types(log),
        "figure_2": {
            "edges": edges.tolist(),
            "nil": np.histogram(gains[nil_side], edges)[0].tolist(),
            "non_nil": np.histogram(gains[~nil_side], edges)[0].tolist(),
        },
        "figure_4": _by(total[plain], gains[plain].mean(axis=1)),
        "figure_5": (np.bincount(total, minlength=30) / len(total)).tolist(),
        "figure_6": (branches / branches.sum()).tolist(),
        "figure_7": _by(earlier, ace.astype(float)),
    }


def _by(key: Any, values: Any) -> dict[str, tuple[float, float, int]]:
    """Mean, standard error and count of ``values`` for each value of ``key`` seen at least 30 times."""
    out = {}
    for k in np.unique(key):
        chosen = values[key == k]
        if len(chosen) >= 30:
            out[str(int(k))] = (*mean_error(chosen), len(chosen))
    return out

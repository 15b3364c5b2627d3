"""Makes the success curves: logistic regression on the nils of a noisy BIS (section 4.3 of the paper).

The paper counts two million rounds of online games; here four noisy BIS with SRP play. For each number of earlier
bids one regression gives the log odds of success from the nil value, the earlier bids and their products with the
nil value. The slope is kept positive, so every curve rises with the nil value.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.spades.bis import CURVES_FILE, FIRST, SEQUENCES, sequence_bids
from bidzoo.agents.spades.games import deals_seed, play_games
from bidzoo.agents.spades.lookup import exact_lookup, with_parts
from bidzoo.agents.spades.policy import Bidder, PlayerName, SpadesPolicy
from bidzoo.core.arrays import save_npz
from bidzoo.core.kernels import F32, F64, I64, Bool
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.envs.spades.game import Spades

LEAST_SLOPE = 0.1  # of any curve, log odds for the whole range of the nil value
_TOP_BID = 8  # higher bids count as this one
_CHUNK = 40_000  # rounds at a time


@dataclass(frozen=True)
class CurveOptions(Checked):
    """Every number of the training."""

    rounds: Count = 2_000_000  # a pass; the paper has as many
    passes: Count = 2  # the second pass bids by the curves of the first
    noise: Share = 0.25  # chance of an exploring bid
    strength: Weight = 1.0  # inverse regularisation of scikit-learn's LogisticRegression
    player: PlayerName = "srp"
    seed: Seed = 1
    out: str = f"bidzoo/data/spades/{CURVES_FILE}"


@dataclass(frozen=True)
class Nils:
    """``N`` nil bids."""

    sequence: I64  # [N]  row of the bids before
    value: F64  # [N]  nil value
    success: Bool  # [N]


def collect_nils(rounds: int, noise: float, curves: F32, player: PlayerName, seed: int) -> Nils:
    """The nils of ``rounds`` rounds from scratch scores, four noisy BIS at the table."""
    bidder = Bidder.named("bis", noise=noise, endgame=False)
    policy, game = SpadesPolicy(bidder, player, with_parts(exact_lookup(), curves=curves)), Spades("round")
    parts: list[tuple[I64, F64, Bool]] = []
    for first in range(0, rounds, _CHUNK):
        numbers = 2 * first + np.arange(min(_CHUNK, rounds - first))
        log = play_games((policy, policy), numbers, seed, game, note=True).log[:, 0]
        nil = log["bids"] == 0
        parts.append((log["sequence"][nil].astype(np.int64), log["nil_value"][nil].astype(float), log["won"][nil] == 0))
    return Nils(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def features(bids: tuple[int, ...]) -> list[float]:
    """Features of earlier bids, latest first: size, square, nil, and partner's Big 5."""
    out: list[float] = []
    for back, bid in enumerate(reversed(bids)):
        size = min(bid, _TOP_BID) - 3.0 if bid else 0.0
        out += [size, size * size / 4, float(bid == 0)]
        if back == 1:
            out += [float(bid == 5), float(bid == 1)]
    return out


def fit_curves(nils: Nils, strength: float) -> tuple[F32, dict[str, Any]]:
    """Curves ``[2, 2955, 2]`` and their log losses by number of earlier bids."""
    from sklearn.linear_model import LogisticRegression

    curves = np.zeros((2, SEQUENCES, 2), np.float32)
    report: dict[str, Any] = {}
    for length in range(4):
        first = FIRST[length]
        rows = (nils.sequence >= first) & (nils.sequence < first + 14**length)
        by_sequence = np.array([features(sequence_bids(first + k)) for k in range(14**length)]).reshape(14**length, -1)
        by_nil, value = by_sequence[nils.sequence[rows] - first], nils.value[rows, None]
        model = LogisticRegression(C=strength, max_iter=1000)
        model.fit(np.hstack([value, by_nil, value * by_nil]), nils.success[rows])
        weights, width = model.coef_[0], by_sequence.shape[1]
        curves[0, first : first + 14**length, 0] = model.intercept_[0] + by_sequence @ weights[1 : 1 + width]
        slope = weights[0] + by_sequence @ weights[1 + width :]
        curves[0, first : first + 14**length, 1] = np.maximum(LEAST_SLOPE, slope)
        report[f"{length} bids"] = {
            "nils": int(rows.sum()),
            "success": float(nils.success[rows].mean()),
            "log_loss": log_loss(curves[0], nils, rows),
            "slopes raised": int((slope < LEAST_SLOPE).sum()),
        }
    single = LogisticRegression(C=strength, max_iter=1000).fit(nils.value[:, None], nils.success)
    curves[1] = single.intercept_[0], single.coef_[0, 0]
    all_rows = np.ones(len(nils.value), np.bool_)
    report["single curve"] = {"log_loss": log_loss(curves[1], nils, all_rows)}
    report["all curves"] = {"log_loss": log_loss(curves[0], nils, all_rows)}
    return curves, report


def log_loss(curves: F32, nils: Nils, rows: Bool) -> float:
    """Mean log loss (nats) of curves ``[2955, 2]`` on some nils."""
    line = curves[nils.sequence[rows]]
    odds = line[:, 0] + line[:, 1] * nils.value[rows]
    return float(np.logaddexp(0, np.where(nils.success[rows], -odds, odds)).mean())


def train_success_curves(
    config: CurveOptions = CurveOptions(), report: Callable[[dict[str, Any]], None] = lambda _: None
) -> F32:
    """Curves ``[2, 2955, 2]`` trained as ``config`` says and written to ``config.out`` with their provenance."""
    import_module("sklearn.linear_model")  # if it is missing, fail before the self-play
    curves = np.zeros((2, SEQUENCES, 2), np.float32)
    scores: dict[str, Any] = {}
    for k in range(config.passes):
        nils = collect_nils(config.rounds, config.noise, curves, config.player, deals_seed("curves", config.seed, k))
        curves, scores = fit_curves(nils, config.strength)
        report({"pass": k + 1, "nils": len(nils.value), **scores})
    provenance = {
        "what": "success curves of BIS: log odds of a nil = intercept + slope * nilValue, by earlier bids",
        "source": "Bidding in Spades (ECAI 2020), section 4.3; self-play of noisy BIS",
        "command": "bidzoo train success-curves",
        "config": {name: value for name, value in asdict(config).items() if name != "out"},
        "scores": scores,
    }
    save_npz(Path(config.out), curves=curves, provenance=np.array(json.dumps(provenance)))
    return curves

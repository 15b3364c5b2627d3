"""Makes the success curves of BIS: logistic regression on the nils of a noisy BIS (section 4.3 of the paper).

    python experiments/success_curves.py --rounds 600000 --out success-curves.npz

The paper counts two million rounds of online games; here four noisy BIS with SRP play. For each number of earlier
bids one regression gives the log odds of success from the nil value, the earlier bids and their products with the
nil value. The slope is kept positive, so every curve rises with the nil value.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.agents.spades.bis import CURVES_FILE, FIRST, SEQUENCES, sequence_bids
from bidzoo.agents.spades.games import NOISE, Nils, collect_nils, deals_seed
from bidzoo.agents.spades.policy import PlayerName
from bidzoo.core.arrays import save_npz
from bidzoo.core.compiling import wait_always
from bidzoo.core.kernels import F32, Bool
from bidzoo.core.options import Checked, Count, Seed, Share, Weight

LEAST_SLOPE = 0.1  # of any curve, log odds for the whole range of the nil value
_TOP_BID = 8  # higher bids count as this one


@dataclass(frozen=True)
class CurveOptions(Checked):
    """Every number of the training."""

    rounds: Count = 2_000_000  # a pass; the paper has as many
    passes: Count = 2  # the second pass bids by the curves of the first
    noise: Share = NOISE  # chance of an exploring bid
    strength: Weight = 1.0  # inverse regularisation of scikit-learn's LogisticRegression
    player: PlayerName = "srp"
    seed: Seed = 1
    out: str = f"bidzoo/data/spades/{CURVES_FILE}"


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
        "command": "python experiments/success_curves.py",
        "config": {name: value for name, value in asdict(config).items() if name != "out"},
        "scores": scores,
    }
    save_npz(Path(config.out), curves=curves, provenance=np.array(json.dumps(provenance)))
    return curves


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of self-play in a pass.")] = 2_000_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the self-play.")] = 1,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("runs/success-curves.npz"),
) -> None:
    """Train the curves for all 2955 sequences of earlier bids."""
    wait_always()
    train_success_curves(CurveOptions(rounds=rounds, seed=seed, out=str(out)), print)


if __name__ == "__main__":
    typer.run(main)

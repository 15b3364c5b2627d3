"""How well the double-dummy evaluator knows the tricks of the test deals, beside two simple baselines.

python experiments/bridge_evaluator.py --json docs/results/evaluator.json
"""

import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from bidzoo.agents.bridge.evaluator import CLASSES, Evaluator
from bidzoo.benchmarks.bridge import is_game
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate, Measured, ResultTable
from bidzoo.cli.options import Json
from bidzoo.cli.showing import measured
from bidzoo.core.cards import NOTRUMP, held, high_card_points
from bidzoo.core.kernels import F64, I64, Bool
from bidzoo.core.threads import kernel_threads
from bidzoo.envs.bridge.deals import DealSet, packaged, random_deals
from bidzoo.envs.bridge.game import Bridge

BINS = 10
POINTS = (0, 10, 15, 18, 21, 24, 27, 31, 41)  # bounds of the bands of declarer's and dummy's high-card points
CELL = np.arange(20)
STRAIN, DECLARER = CELL % 5, CELL // 5
COUNTS = np.arange(CLASSES)


class Guess(NamedTuple):
    """Chances of 0 ... 13 tricks for every cell of some deals."""

    name: str
    chances: NDArray[Any]  # [n, 20, 14]

    @property
    def expected(self) -> F64:
        """Tricks ``[n, 20]``."""
        return np.asarray(self.chances @ COUNTS, np.float64)


def tables(evaluator: Evaluator, policy: str, limit: int | None = None) -> Measured:
    """Tables, no figures. ``policy``: agent whose contracts are evaluated; ``limit``: of test deals."""
    train = packaged("train")
    hands, tricks = packaged("test")
    test = DealSet(hands[:limit], tricks[:limit])
    cells = np.tile(CELL, len(test.hands))
    chances = evaluator.chances(np.repeat(test.hands, 20, axis=0), cells // 5, cells % 5)
    ours = Guess("evaluator", chances.astype(np.float64).reshape(-1, 20, CLASSES))
    guesses = (ours, Guess("points and trumps", regression(train, test)), Guess("strain alone", by_strain(train, test)))
    measured_tables = [
        accuracy(guesses, test),
        bias(ours, test),
        strength(ours, test),
        calibration(evaluator, policy, len(test.hands)),
        speed(evaluator),
    ]
    return measured_tables, []


# ---- baselines ---------------------------------------------------------------------------


def by_strain(train: DealSet, test: DealSet) -> F64:
    """Share of each trick count in a strain, in the training deals."""
    share = np.stack([np.bincount(train.tricks[:, s == STRAIN].ravel(), minlength=CLASSES) for s in range(5)])
    return np.broadcast_to((share / share.sum(1, keepdims=True))[STRAIN], (len(test.hands), 20, CLASSES))


def regression(train: DealSet, test: DealSet) -> F64:
    """Least squares on the pair's high-card points and trumps, a normal error around it; suits and notrump apart."""
    out = np.empty((len(test.hands), 20, CLASSES))
    for cells in (STRAIN < NOTRUMP, STRAIN == NOTRUMP):
        train_features, test_features = (features(deals.hands)[:, cells] for deals in (train, test))
        tricks = train.tricks[:, cells].astype(np.float64)
        weights = np.linalg.lstsq(train_features.reshape(-1, train_features.shape[2]), tricks.ravel(), rcond=None)[0]
        spread = (tricks - train_features @ weights).std()
        density = np.exp(-(((COUNTS - (test_features @ weights)[..., None]) / spread) ** 2) / 2)
        out[:, cells] = density / density.sum(2, keepdims=True)
    return out


def features(hands: I64) -> F64:
    """1, points of declarer and dummy, their trumps (0 at notrump): ``[n, 20, 3]``."""
    own = held(hands)
    pair = own + own[:, [2, 3, 0, 1]]
    suits = np.concatenate([pair.reshape(-1, 4, 13, 4).sum(2), np.zeros((len(hands), 4, 1), np.int64)], axis=2)
    points = _points(hands)[:, DECLARER]
    return np.stack([np.ones_like(points), points, suits[:, DECLARER, STRAIN]], axis=2).astype(np.float64)


def _points(hands: I64) -> I64:
    """High-card points of each seat with partner: ``[n, 4]``."""
    own = high_card_points(hands)
    return own + own[:, [2, 3, 0, 1]]


# ---- tables ------------------------------------------------------------------------------


def accuracy(guesses: tuple[Guess, ...], test: DealSet) -> ResultTable:
    """Accuracy and errors of every guess; the cells of a deal are one sample."""
    columns = ("tricks of", "cells", "by", "exact", "within one", "absolute error", "bias", "log-loss")
    note = "exact: the likeliest count is right; absolute error and bias (predicted less true) of the expectation, in "
    note += "tricks; log-loss in nats; errors over deals, whose 20 cells are one sample"
    table = ResultTable(f"Double-dummy evaluator, {len(test.hands)} test deals", columns, note=note)
    for title, cells in (("all", STRAIN <= NOTRUMP), ("suits", STRAIN < NOTRUMP), ("notrump", STRAIN == NOTRUMP)):
        true = test.tricks[:, cells].astype(np.int64)
        for guess in guesses:
            chances, expected = guess.chances[:, cells], guess.expected[:, cells]
            distance = np.abs(chances.argmax(2) - true)
            chance = np.take_along_axis(chances, true[..., None], 2)[..., 0]
            samples = (
                distance == 0,
                distance <= 1,
                np.abs(expected - true),
                expected - true,
                -np.log(np.maximum(chance, 1e-12)),
            )
            estimates = [Estimate.of(sample.mean(1), group=np.arange(len(sample))) for sample in samples]
            table.add(title, true.size, guess.name, *estimates)
    return table


def over_cells(error: F64, chosen: Bool) -> tuple[int, Estimate | None]:
    """Number and mean ``error`` ``[n, 20]`` of the cells ``chosen``; its standard error is over deals, two at least."""
    deals = np.nonzero(chosen)[0]
    if len(np.unique(deals)) < 2:
        return 0, None
    return len(deals), Estimate.of(error[chosen], group=deals)


def bias(guess: Guess, test: DealSet) -> ResultTable:
    """Mean error by the true count, and by the predicted one."""
    columns = ("tricks", "cells that took them", "bias there", "cells predicted near them", "bias there ")
    note = "bias: expectation less truth, in tricks. By the true count it cannot be 0: whatever is not seen pulls the "
    note += "expectation to the middle. By the prediction (rounded) it is what a calibrated evaluator has near 0"
    table = ResultTable("Bias by tricks", columns, note=note)
    error, near = guess.expected - test.tricks, np.rint(guess.expected)
    for t in COUNTS:
        table.add(int(t), *over_cells(error, test.tricks == t), *over_cells(error, near == t))
    return table


def strength(guess: Guess, test: DealSet) -> ResultTable:
    """Mean error by how strong declarer's side is."""
    columns = ("points of declarer and dummy", "cells", "bias", "absolute error")
    table = ResultTable("Bias by strength", columns, note="in tricks; errors over deals")
    error, points = guess.expected - test.tricks, _points(test.hands)[:, DECLARER]
    for low, high in pairwise(POINTS):
        inside = np.asarray((points >= low) & (points < high))
        count, mean = over_cells(error, inside)
        if count:
            table.add(f"{low} to {high - 1}", count, mean, over_cells(np.abs(error), inside)[1])
    return table


def calibration(evaluator: Evaluator, policy: str, boards: int) -> ResultTable:
    """Predicted chance to make against the share made, for the contracts of game or more that a policy reached."""
    columns = ("predicted chance to make", "contracts", "mean prediction", "made")
    game = Bridge(False, deals="test", shuffle=False, augment=False)
    final_states = play(game, [policy] * 4, np.arange(boards)).states
    is_game_contract = is_game(final_states["bid"])
    states, deals = final_states[is_game_contract], game.deal_numbers(np.arange(boards))[is_game_contract]
    strain, declarer, needed = states["bid"] % 5, states["declarer"], states["bid"] // 5 + 7
    made = states["tricks"][np.arange(len(states)), 5 * declarer + strain] >= needed
    chances = evaluator.chances(states["hands"], declarer, strain)
    chance = np.where(needed[:, None] <= COUNTS, chances, 0).sum(1, dtype=np.float64)
    note = f"contracts of game or more that four {policy} bid on {boards} test deals, double-dummy"
    table = ResultTable("Calibration", columns, note=note)
    bins = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    for k in range(BINS):
        in_bin = bins == k
        if in_bin.sum() > 1:
            name = f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}"
            table.add(
                name, int(in_bin.sum()), float(chance[in_bin].mean()), Estimate.of(made[in_bin], group=deals[in_bin])
            )
    table.add("all", len(chance), float(chance.mean()), Estimate.of(made, group=deals))
    return table


def speed(evaluator: Evaluator) -> ResultTable:
    """Cells a second on one thread, the best of several rounds."""
    note = "one thread, best of 20 calls; other work may have slowed it"
    table = ResultTable("Speed on one core", ("cells a call", "cells a second"), note=note)
    with kernel_threads(1):
        for n in (20, 200, 2000):
            cell = np.arange(n) % 20
            hands = random_deals(0, np.arange(n))
            seconds = []
            for _ in range(21):  # the first compiles
                begin = time.perf_counter()
                evaluator.chances(hands, cell // 5, cell % 5)
                seconds.append(time.perf_counter() - begin)
            table.add(n, round(n / min(seconds[1:])))
    return table


def main(
    weights: Annotated[Path | None, typer.Option(help="File of weights; default: the packaged ones.")] = None,
    policy: Annotated[str, typer.Option(help="Agent whose game contracts are predicted.")] = "ppo",
    limit: Annotated[int | None, typer.Option(min=2, help="Number of test deals; default: all.")] = None,
    json: Json = Path("runs/evaluator.json"),
) -> None:
    """Measure how well the double-dummy evaluator knows the tricks of the test deals."""
    measured("bridge-evaluator", 0, json, lambda _: tables(Evaluator(weights), policy, limit))


if __name__ == "__main__":
    typer.run(main)

"""Trains the learned Spades player, in passes of policy iteration (``bidzoo.agents.spades.policy_iteration``).

    python experiments/learned_training.py

The first pass plays BIS and SRP in all seats, ten times as fast as the networks; each later one plays half of its games
against BIS with SRP, half against itself. A fifth of all are single rounds of the other variants and decks. The value
of a score is the share of games that BIS wins from it against itself (``fit_values``); in rounds it is the points gap.
A run that was stopped goes on from its folder.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.agents.spades.games import deals_seed, paper_game, play_games, share_won
from bidzoo.agents.spades.learned import LEAST, NETWORK, SCORES
from bidzoo.agents.spades.lookup import shipped_lookup, with_parts
from bidzoo.agents.spades.policy import SpadesPolicy
from bidzoo.agents.spades.policy_iteration import (
    Bids,
    Cards,
    Options,
    both_ways,
    collect,
    fit,
    layers,
    minimise,
    player_of,
)
from bidzoo.benchmarks.training import Stage
from bidzoo.cli import options
from bidzoo.cli.settings import parse
from bidzoo.cli.train import run_stage
from bidzoo.core.arrays import Arrays
from bidzoo.core.compiling import wait_always
from bidzoo.core.kernels import F32, I64
from bidzoo.core.options import Checked, Count
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.state import VARIANTS

HALF, BITS = 11, 7  # significant bits of half precision, and of a weight
EVERY = 5  # one board in so many is a round of a variant


@dataclass(frozen=True)
class LearnedOptions(Options):
    """Every number of the training."""

    passes: Count = 3
    games: Count = 120_000  # a pass
    first_games: Count = 1_000_000  # ... of the first pass, whose rounds SRP plays out, ten times as fast
    value_games: Count = 200_000  # of BIS against itself, to learn the value of a score
    test_games: Count = 20_000


@dataclass(frozen=True)
class Shapes(Checked):
    """What the networks are made of."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name."""
        return {name: NETWORK[name].shape for name in NETWORK.names or ()}


@dataclass(frozen=True)
class LearnedNetworks:
    """Both networks, and the chance to win the game from each score, as a file of weights holds them."""

    architecture: Shapes
    tensors: dict[str, F32]
    form = "bidzoo spades learned 1"
    made_of = Shapes


# ---- the value of a score --------------------------------------------------------------------


def fit_values(config: LearnedOptions) -> F32:
    """Share of games won from each score ``[SCORES, SCORES]``, by log loss on the rounds of BIS against itself."""
    import torch

    torch.manual_seed(config.seed)
    games = play_games((SpadesPolicy("bis"),) * 2, 2 * np.arange(config.value_games), deals_seed("values", config.seed))
    gains = games.log["gains"].astype(np.int64)
    totals = np.cumsum(gains, axis=1)
    played = np.arange(gains.shape[1]) < games.rounds[:, None] - 1  # after the last round nothing remains to predict
    scores = np.concatenate([totals[played], totals[played][:, ::-1]])
    won = np.broadcast_to(share_won(games.winner)[:, None], played.shape)[played]
    target = torch.from_numpy(np.concatenate([won, 1 - won]).astype(np.float32))
    model = layers(_SCORE_INPUTS, 64, 64, 1)
    inputs = torch.from_numpy(_score_inputs(scores))

    def loss(rows: Any) -> Any:
        return (torch.nn.functional.binary_cross_entropy_with_logits(model(inputs[rows])[:, 0], target[rows]),)

    minimise(model, loss, len(inputs), 2, config.batch, 2e-3)
    points = np.arange(LEAST, LEAST + SCORES)
    pairs = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1).reshape(-1, 2)
    with torch.no_grad():
        ours, theirs = (torch.sigmoid(model(torch.from_numpy(_score_inputs(s)))[:, 0]) for s in (pairs, pairs[:, ::-1]))
    return np.ascontiguousarray(((ours + 1 - theirs) / 2).numpy().reshape(SCORES, SCORES))


_SCORE_INPUTS = 2 * (1 + 1 + 8)


def _score_inputs(scores: I64) -> F32:
    """Scores ``[N, 2]`` as inputs: points, bags, and how far above every 25 points of the last 200."""
    bends = np.clip(scores[:, :, None] - (LEAST + SCORES - 25 * np.arange(1, 9)), 0, 25) / 25
    parts = [scores[:, :, None] / 100, scores[:, :, None] % 10 / 10, bends]
    return np.ascontiguousarray(np.concatenate(parts, axis=-1).reshape(len(scores), -1), np.float32)


# ---- the passes ------------------------------------------------------------------------------


@cache
def all_games() -> tuple[Spades, ...]:
    """The paper's game, then rounds of the variants and decks."""
    rounds = [Spades(phase="round", variant=variant) for variant in VARIANTS]
    rounds += [Spades(phase="round", deck=deck) for deck in ("jokers", "jokers_deuces")]
    rounds += [Spades(phase="round", failed_nil=kind) for kind in ("partner", "nothing")]
    return (paper_game(), *rounds)


def play_pass(config: LearnedOptions, weights: dict[str, F32], step: int) -> tuple[Bids, Cards]:
    """Bids and cards that one pass learns from; in pass 0 BIS and SRP play."""
    learner = player_of(weights) if step else SpadesPolicy("bis", lookup=with_parts(shipped_lookup(), **weights))
    games = config.games if step else config.first_games
    numbers, seats = np.arange(games), both_ways(games)
    learners = np.where(numbers % 2, 15, seats)  # a board is played with BIS and SRP at the other side, then without
    kinds = np.where(numbers // 2 % EVERY, 0, 1 + numbers // 2 // EVERY % (len(all_games()) - 1))
    seed = deals_seed("passes", config.seed, step)
    return collect(config, (learner, SpadesPolicy("bis")), learners, seed, all_games(), kinds)


def rounded(array: F32, bits: int = BITS) -> F32:
    """``array``, each number the nearest (of two, the even) one of half precision with ``bits`` significant bits.

    ``bits``: less than ``HALF``.
    """
    half, drop = np.array(array, np.float16), HALF - bits
    whole = half.view(np.uint16).astype(np.uint32)
    whole += (1 << (drop - 1)) - 1 + (whole >> drop & 1)
    return (whole >> drop << drop).astype(np.uint16).view(np.float16).astype(np.float32)


class Trainer:
    """One run, as the loop of the bridge agents' trainers takes it: ``iterate`` plays a pass and learns from it."""

    algorithm, unit = "learned", "pass"
    games, local_steps = 0, 1
    inputs: Mapping[str, str] = {}
    modules: Mapping[str, Any] = {}  # each pass has optimisers of its own

    def __init__(self, options: LearnedOptions) -> None:
        import_module("torch")  # if it is missing, fail before the games
        self.options, self.end = options, options.passes
        self.provenance = {"algorithm": self.algorithm, **asdict(options)}
        self.weights: dict[str, F32] = {}

    def measure(self, player: LearnedNetworks) -> dict[str, float]:
        return {}

    def arrays(self) -> Arrays:
        return self.weights

    def restore(self, arrays: Arrays) -> None:
        self.weights = {name: np.asarray(array, np.float32) for name, array in arrays.items()}

    def player(self) -> LearnedNetworks:
        return LearnedNetworks(Shapes(), self.weights)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play a pass and learn from it; shares of the variance that the networks explain, and of test games won."""
        options, weights = self.options, self.weights or {"worth": fit_values(self.options)}
        weights, metrics = fit(options, *play_pass(options, weights, iteration), weights, iteration)
        self.weights = {name: rounded(array) for name, array in weights.items()}  # as they are saved
        policies, test_seed = (player_of(self.weights), SpadesPolicy("bis")), deals_seed("test", options.seed)
        won = share_won(play_games(policies, np.arange(options.test_games), test_seed).winner)
        return {**metrics, "wins_against_bis": float(won.mean())}


def main(
    settings: options.Set = None,
    every: Annotated[int, typer.Option(min=1, help="Passes between measurements and checkpoints.")] = 1,
    out: Annotated[Path, options.output("Folder of checkpoint, curves and weights.", folder=True)] = Path(
        "runs/learned"
    ),
    threads: options.Threads = 1,
) -> None:
    """Learn to bid and to play Spades, by policy iteration that plays on from every choice."""
    wait_always()
    trainer: Any = Trainer(parse(LearnedOptions, settings))
    run_stage(Stage(trainer, {}), out, every, threads)


if __name__ == "__main__":
    typer.run(main)

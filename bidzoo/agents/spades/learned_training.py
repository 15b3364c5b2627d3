"""Trains the learned bidder: Monte-Carlo control on whole games against BIS, SRP playing all cards.

Each pass plays games of an exploring bidder (first BIS itself, then the network) with a partner of its own kind
against two BIS, and fits the network to who won, by log loss. The greedy choice of the fit is the next bidder.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.options import Checked, Count, Seed, Share, Weight
from bidzoo.agents.spades.bidder import BIDDER, Bidder
from bidzoo.agents.spades.bis import bis_row
from bidzoo.agents.spades.book import book as shipped_book
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    FILE,
    HIDDEN,
    NETWORK,
    choice_bid_row,
    choose_row,
    features_row,
)
from bidzoo.agents.spades.match import play_games, rules
from bidzoo.agents.spades.srp import srp_row
from bidzoo.envs.spades.bidding import bid_row
from bidzoo.envs.spades.engine import begin_row
from bidzoo.envs.spades.play import play_row
from bidzoo.envs.spades.score import end_round_row
from bidzoo.envs.spades.state import BIDDING, OVER, STATE
from bidzoo.kernels import F32, I8, Tables, allocate, batched, below_row, key_row, next_row, prange, row

_CHUNK = 20_000  # games at a time
MOST_BIDS = 40  # of one partnership in one game that are learned from


@dataclass(frozen=True)
class LearnedConfig(Checked):
    """Every number of the training."""

    passes: Count = 5
    games: Count = 300_000  # a pass
    noise: Share = 0.2  # chance of a random choice
    epochs: Count = 2  # over the games of this pass and the last
    batch: Count = 4096
    rate: Weight = 2e-3  # Adam, falling to 0 along a cosine
    test_games: Count = 20_000
    seed: Seed = 1
    out: str = f"bidzoo/data/spades/{FILE}"


class Samples(NamedTuple):
    """``N`` bids of whole games."""

    x: F32  # [N, FEATURES]
    choice: I8  # [N]
    won: I8  # [N]  1: the bidder's side won the game


@row
def _explore_row(table: Any, hand: int, noise: float, bidder: Any, book: Any, key: Any, x: F32) -> tuple[int, int]:
    """BIS with random choices: its choice of the seven and the bid."""
    regular = features_row(table, hand, bidder, book, x)
    if below_row(key, 1 << 20) < noise * (1 << 20):
        choice = below_row(next_row(key), CHOICES)
        return choice, choice_bid_row(choice, regular)
    bid = bis_row(table, hand, bidder, book, next_row(key))
    return (0 if bid == 0 else min(CHOICES - 1, max(1, bid - regular + 3))), bid


@batched
def _collect(
    seed: int,
    first: int,
    network: bool,
    blank: Tables,
    tables: Tables,
    bidders: Tables,
    books: Tables,
    x: F32,
    choice: I8,
    won: I8,
) -> None:
    for g in prange(len(tables)):
        table, n = tables[g], 0
        begin_row(table, first + g, seed, blank[0])
        while table.phase != OVER:
            seat = int(table.turn)
            if table.phase == BIDDING:
                key = key_row(seed, first + g, (1 << 40) + 4 * int(table.rounds) + seat)
                hand = table.hands[seat]
                if (seat + g) % 2:
                    bid_row(table, bis_row(table, hand, bidders[1], books[0], key))
                    continue
                at = min(n, MOST_BIDS - 1)
                if network:
                    choice[g, at], bid = choose_row(table, hand, bidders[0], books[0], key, x[g, at])
                else:
                    choice[g, at], bid = _explore_row(
                        table, hand, bidders[0].noise, bidders[1], books[0], key, x[g, at]
                    )
                n += 1
                bid_row(table, bid)
                continue
            play_row(table, srp_row(table, table.held[seat], np.uint64(0)))
            if table.plays == 52:
                end_round_row(table)
        won[g] = (table.winner + g) % 2 == 0 if table.winner >= 0 else 0
        for k in range(n, MOST_BIDS):
            choice[g, k] = -1


def collect(config: LearnedConfig, weights: dict[str, F32] | None, step: int) -> Samples:
    """The samples of one pass; without ``weights`` BIS explores."""
    bidders, books = allocate(BIDDER, 2), allocate(shipped_book().dtype, 1)
    bidders[0], bidders[1] = Bidder.named("bis", noise=config.noise).record(), Bidder.named("bis").record()
    books[0] = with_network(weights) if weights else shipped_book()
    parts: list[Samples] = []
    for first in range(0, config.games, _CHUNK):
        games = min(_CHUNK, config.games - first)
        x = np.zeros((games, MOST_BIDS, FEATURES), np.float32)
        choice, won = np.full((games, MOST_BIDS), -1, np.int8), np.zeros(games, np.int8)
        tables = allocate(STATE, games)
        _collect(config.seed + step, first, weights is not None, rules(), tables, bidders, books, x, choice, won)
        rows = choice >= 0
        rows[:, -1] = False  # where a long game writes over itself
        parts.append(Samples(x[rows], choice[rows], np.broadcast_to(won[:, None], rows.shape)[rows]))
    return joined(parts)


def joined(parts: list[Samples]) -> Samples:
    """Samples one after the other."""
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def with_network(weights: dict[str, F32]) -> Any:
    """The shipped book with other weights."""
    record = shipped_book().copy()
    for name in NETWORK.names or ():
        record[name] = weights[name]
    return record


def fit(config: LearnedConfig, samples: Samples, start: dict[str, F32] | None) -> tuple[dict[str, F32], float]:
    """Weights fitted to the results, from ``start`` if given, and the last epoch's log loss."""
    import torch
    from torch import nn

    torch.manual_seed(config.seed)
    x, choice, won = samples
    model = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CHOICES)
    )
    if start is not None:
        for parameter, array in zip(model.parameters(), start.values(), strict=True):
            parameter.data = torch.from_numpy(array.copy())
    inputs, picked = torch.from_numpy(x), torch.from_numpy(choice.astype(np.int64))
    target = torch.from_numpy(won.astype(np.float32))
    steps = config.epochs * (len(x) // config.batch)
    optimizer = torch.optim.Adam(model.parameters(), config.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
    loss_of, total, count = nn.BCEWithLogitsLoss(), 0.0, 0
    for _ in range(config.epochs):
        total, count = 0.0, 0
        for rows in torch.randperm(len(x)).split(config.batch)[: len(x) // config.batch]:
            odds = model(inputs[rows]).gather(1, picked[rows, None])[:, 0]
            loss = loss_of(odds, target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total, count = total + loss.item(), count + 1
    arrays = [p.detach().numpy().copy() for p in model.parameters()]
    return dict(zip(NETWORK.names or (), arrays, strict=True)), total / max(1, count)


def train_bidder(
    config: LearnedConfig = LearnedConfig(), report: Callable[[dict[str, Any]], None] = lambda _: None
) -> dict[str, F32]:
    """Weights trained as ``config`` says, the best pass against BIS, written to ``config.out``."""
    from safetensors.numpy import save_file

    from bidzoo.agents.spades.choose import Player

    Path(config.out).parent.mkdir(parents=True, exist_ok=True)
    weights: dict[str, F32] | None = None
    before: list[Samples] = []
    best: tuple[float, dict[str, F32]] = (-1.0, {})
    history: list[dict[str, float]] = []
    for step in range(config.passes):
        samples = collect(config, weights, step)
        weights, loss = fit(config, joined([*before, samples]), weights)
        before = [samples] if step else []  # BIS's own games serve the first pass alone
        sides = Bidder.named("learned"), Bidder.named("bis")
        srp = Player("srp")
        games = play_games(config.test_games, sides, (srp, srp), 1000 + config.seed, book=with_network(weights))
        win = float(np.mean((games.winner == 0) + 0.5 * (games.winner < 0)))
        history.append({"pass": step + 1, "log_loss": loss, "wins against BIS": win})
        report(dict(history[-1]))
        if win > best[0]:
            best = (win, weights)
    provenance = {
        "what": "learned Spades bidder: log odds of winning by choice",
        "command": "python -m bidzoo.agents.spades.learned_training",
        "config": json.dumps({k: v for k, v in asdict(config).items() if k != "out"}),
        "history": json.dumps(history),
    }
    save_file({name: np.ascontiguousarray(array) for name, array in best[1].items()}, config.out, provenance)
    return best[1]


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in asdict(LearnedConfig()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    train_bidder(LearnedConfig(**vars(parser.parse_args())), report=lambda line: print(json.dumps(line), flush=True))

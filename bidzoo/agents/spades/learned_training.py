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

from bidzoo.agents.spades.bis import bis_row
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    NETWORK,
    NETWORK_FILE,
    choice_bid_row,
    choose_row,
    features_row,
)
from bidzoo.agents.spades.lookup import shipped_lookup, with_parts
from bidzoo.agents.spades.match import paper_game, play_games, share_won
from bidzoo.agents.spades.policy import Bidder, SpadesPolicy
from bidzoo.agents.spades.srp import srp_row
from bidzoo.core.kernels import F32, I8, I64, State, States, allocate, batched, below_row, key_row, next_row, row
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.storage import replace_file
from bidzoo.envs.spades.engine import act_row, begin_row
from bidzoo.envs.spades.state import FIRST_CARD, OVER, PLAY, STATE

_CHUNK = 20_000  # games at a time
MOST_BIDS = 40  # of one partnership in one game that are learned from


@dataclass(frozen=True)
class LearnedOptions(Checked):
    """Every number of the training."""

    passes: Count = 5
    games: Count = 300_000  # a pass
    noise: Share = 0.2  # chance of a random choice
    epochs: Count = 2  # over the games of this pass and the last
    batch: Count = 4096
    rate: Weight = 2e-3  # Adam, falling to 0 along a cosine
    test_games: Count = 20_000
    seed: Seed = 1
    out: str = f"bidzoo/data/spades/{NETWORK_FILE}"


class Samples(NamedTuple):
    """``N`` bids of whole games."""

    x: F32  # [N, FEATURES]
    choice: I8  # [N]
    won: I8  # [N]  1: the bidder's side won the game


@row
def _explore_row(
    state: State, hand: int, noise: float, bidder: State, lookup: State, key: np.uint64, x: F32
) -> tuple[int, int]:
    """BIS with random choices: its choice of the seven and the bid."""
    regular = features_row(state, hand, bidder, lookup, x)
    if below_row(key, 1 << 20) < noise * (1 << 20):
        choice = below_row(next_row(key), CHOICES)
        return choice, choice_bid_row(choice, regular)
    bid = bis_row(state, hand, bidder, lookup, next_row(key))
    return (0 if bid == 0 else min(CHOICES - 1, max(1, bid - regular + 3))), bid


@row
def _game_row(
    g: int, number: int, seed: int, network: bool, state: State, bidders: States, lookup: State, out: Samples
) -> None:
    """A begun game to its end; of its ``MOST_BIDS`` bids those that are learned from into row ``g`` of ``out``."""
    x, choice = out.x[g], out.choice[g]
    n = 0
    while state.phase != OVER:
        seat = int(state.turn)
        if state.phase == PLAY:
            act_row(state, FIRST_CARD + srp_row(state, state.held[seat]))
            continue
        hand, key = state.hands[seat], key_row(seed, number, (1 << 40) + 4 * int(state.rounds) + seat)
        if (seat + number) % 2:
            bid = bis_row(state, hand, bidders[1], lookup, key)
        else:
            at = min(n, MOST_BIDS - 1)
            n += 1
            if network:
                choice[at], bid = choose_row(state, hand, bidders[0], lookup, key, x[at])
            else:
                choice[at], bid = _explore_row(state, hand, bidders[0].noise, bidders[1], lookup, key, x[at])
        act_row(state, bid)
    out.won[g] = state.winner >= 0 and (state.winner + number) % 2 == 0


@batched
def _collect(
    start: int,
    stop: int,
    numbers: I64,
    seed: int,
    network: bool,
    blank: States,
    states: States,
    bidders: States,
    lookup: States,
    out: Samples,
) -> None:
    for g in range(start, stop):
        begin_row(states[g], numbers[g], seed, blank[0])
        _game_row(g, numbers[g], seed, network, states[g], bidders, lookup[0], out)


def collect(config: LearnedOptions, weights: dict[str, F32] | None, step: int) -> Samples:
    """The samples of one pass; without ``weights`` BIS explores."""
    bis = SpadesPolicy("bis", lookup=with_parts(shipped_lookup(), **(weights or {})))
    bidders = np.concatenate([Bidder.named("bis", noise=config.noise).record(), bis.bidder_record])
    blank, network = paper_game().blank, weights is not None
    parts: list[Samples] = []
    for first in range(0, config.games, _CHUNK):
        numbers = np.arange(first, min(first + _CHUNK, config.games))
        games = len(numbers)
        x, choice = np.zeros((games, MOST_BIDS, FEATURES), np.float32), np.full((games, MOST_BIDS), -1, np.int8)
        out = Samples(x, choice, np.zeros(games, np.int8))
        _collect(numbers, config.seed + step, network, blank, allocate(STATE, games), bidders, bis.lookup, out)
        rows = choice >= 0
        rows[:, -1] = False  # where a long game writes over itself
        parts.append(Samples(x[rows], choice[rows], np.broadcast_to(out.won[:, None], rows.shape)[rows]))
    return joined(parts)


def joined(parts: list[Samples]) -> Samples:
    """Samples one after the other."""
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def fit(config: LearnedOptions, samples: Samples, start: dict[str, F32] | None) -> tuple[dict[str, F32], float]:
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
    config: LearnedOptions = LearnedOptions(), report: Callable[[dict[str, Any]], None] = lambda _: None
) -> dict[str, F32]:
    """Weights trained as ``config`` says, the best pass against BIS, written to ``config.out``."""
    from safetensors.numpy import save

    weights: dict[str, F32] | None = None
    before: list[Samples] = []
    best: tuple[float, dict[str, F32]] = (-1.0, {})
    history: list[dict[str, float]] = []
    for step in range(config.passes):
        samples = collect(config, weights, step)
        weights, loss = fit(config, joined([*before, samples]), weights)
        before = [samples] if step else []  # BIS's own games serve the first pass alone
        pair = SpadesPolicy("learned", lookup=with_parts(shipped_lookup(), **weights)), SpadesPolicy("bis")
        win = float(share_won(play_games(pair, np.arange(config.test_games), 1000 + config.seed).winner).mean())
        history.append({"pass": step + 1, "log_loss": loss, "wins against BIS": win})
        report(dict(history[-1]))
        if win > best[0]:
            best = (win, weights)
    provenance = {
        "what": "learned Spades bidder: log odds of winning by choice",
        "command": "bidzoo train spades-bidder",
        "config": json.dumps({k: v for k, v in asdict(config).items() if k != "out"}),
        "history": json.dumps(history),
    }
    found = {name: np.ascontiguousarray(array) for name, array in best[1].items()}
    replace_file(Path(config.out), save(found, provenance))
    return best[1]

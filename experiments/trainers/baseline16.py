"""Trains ``baseline16``: Q-learning by the *penetrative Bellman equation*, calls explored by UCB1. Yeh and Lin 2016.

A call costs what the auction comes to if everybody goes on by the networks of today.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.baseline16 import Architecture, Networks
from bidzoo.agents.bridge.partners import CALLS
from bidzoo.agents.bridge.trainer import Metrics, descend
from bidzoo.core.arrays import Arrays
from bidzoo.core.kernels import F32, F64, I8, I64
from bidzoo.core.options import Count, Range, Seed, Share, Weight, Whole
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS
from trainers import partners
from trainers.partners import PartnerBoards, PartnerTrainer


@dataclass(frozen=True)
class Options(Architecture):
    """What a run depends on, beside the deals."""

    iterations: Count = 6000
    boards: Count = 256  # an iteration
    tried: Annotated[int, Range(1, CALLS)] = 4  # calls of a position; the paper: 1
    warm_up: Whole = 500  # iterations
    exploration: Weight = 0.1  # of the confidence bound; the paper's code: 0.1, of costs from 0 to 1
    learning_rate: Weight = 2e-3  # falls linearly to 0
    average: Share = 0.99  # of the averaged weights that stay, an iteration
    seed: Seed = 0


class Trainer(PartnerTrainer):
    """One run: ``iterate`` bids some boards and learns what their calls came to."""

    algorithm = "baseline16"
    kind = Networks
    options: Options

    def __init__(self, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``game``: without competition, on training deals."""
        import torch

        super().__init__(game, options, device)
        self.adam = torch.optim.Adam(self.model.parameters(), options.learning_rate, fused=True)
        self.modules["adam"] = self.adam
        self.counts = np.zeros((options.positions, CALLS), np.int64)  # how often each call was tried

    def arrays(self) -> Arrays:
        return {"counts": self.counts}

    def restore(self, arrays: Arrays) -> None:
        self.counts = np.array(arrays["counts"])

    def iterate(self, iteration: int) -> Metrics:
        """Bid, then learn; metrics: mean cost of the calls tried, IMPs, and the squared error of what was predicted."""
        import torch

        options = self.options
        numbers = iteration * options.boards + np.arange(options.boards, dtype=np.int64)
        boards = partners.deal(self.game, numbers, options.seed)
        self.games += options.boards
        error, costs, last = torch.zeros((), device=self.device), [], options.positions - 1
        board, calls = np.arange(options.boards), np.full((options.boards, last + 1), -1, np.int8)
        for t in range(last + 1):
            x = self.tensor(partners.observe(boards, board, t % 2, calls, t)).float()
            prediction = partners.run(self.model[str(t)], x)
            legal = partners.legal(calls, t)
            tried = confident(prediction.detach().cpu().numpy(), legal, self.counts[t], options.exploration)
            alone = t == last or iteration < options.warm_up
            tried = tried[:, : CALLS if alone else options.tried]
            self.counts[t] += np.bincount(tried[tried >= 0], minlength=CALLS)
            cost = self.penetrate(boards, board, calls, t, tried, alone)
            mask = self.tensor(tried >= 0)
            difference = prediction.gather(1, self.tensor(np.maximum(tried, 0))) - self.tensor(cost)
            error = error + (difference**2 * mask).sum() / mask.sum()
            costs.append(cost[tried >= 0].mean())
            calls[:, t] = tried[:, 0]
            going = ~partners.over(calls, t + 1)
            board, calls = board[going], calls[going]
            if len(board) == 0:
                break
        descend(self.adam, error, options.learning_rate * (1 - iteration / options.iterations))
        network.ema_update(self.average, self.model, options.average)
        return {"error": error.detach(), "tried_cost": MAX_IMPS * float(np.mean(costs))}

    def penetrate(
        self, boards: PartnerBoards, board: I64, calls: I8, length: int, tried: I64, alone: bool = False
    ) -> F32:
        """The penetrative Bellman equation: final costs, 0 ... 1, of calls ``tried`` ``[n, K]`` (-1: none) behind
        ``calls`` ``[n, T]``, if the best calls of the networks follow; with ``alone``, if passes do."""
        out = np.zeros(tried.shape, np.float32)
        row, place = np.nonzero(tried >= 0)
        auctions = calls[row]
        auctions[:, length] = tried[row, place]
        if alone:
            out[row, place] = partners.costs(boards, board[row], auctions) / MAX_IMPS
        else:
            out[row, place] = partners.bid_on(boards, board[row], auctions, length + 1, self.best) / MAX_IMPS
        return out

    def best(self, t: int, rows: I64, observation: I8, legal: I8) -> I64:
        """The legal call of least cost at position ``t``; ``[n]``."""
        import torch

        with torch.no_grad():
            cost = partners.run(self.model[str(t)], self.tensor(observation).float())
            call: I64 = cost.masked_fill(self.tensor(legal) == 0, torch.inf).argmin(1).cpu().numpy()
        return call


def confident(cost: F32, legal: I8, counts: I64, exploration: float) -> I64:
    """Calls ``[n, 36]`` in rising order of cost less the confidence bound of UCB1, illegal ones -1 at the end.

    ``counts`` ``[36]``: how often each was tried; one that never was comes first.
    """
    times: F64 = counts.astype(np.float64)
    bound = np.sqrt(2 * np.log(max(1.0, times.sum())) / np.maximum(times, 1))
    least = np.where(counts == 0, -np.inf, cost - exploration * bound)
    least[legal == 0] = np.inf
    order = np.argsort(least, axis=1, kind="stable")
    return np.where(np.take_along_axis(legal, order, 1) > 0, order, -1)

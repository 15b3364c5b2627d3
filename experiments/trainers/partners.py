"""Two partners who bid alone, their opponents passing: what ``baseline16`` and ``pbl`` learn in.

A pass ends the auction unless it is its first call. A contract costs the IMPs that it is below the best one of the two
hands, double dummy, as in ``Bridge(competition=False, reward="cost")``.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge import distributed, trainer
from bidzoo.agents.bridge.network import Shapes
from bidzoo.agents.bridge.partners import CALLS, INPUTS, calls_above, observe_row
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate
from bidzoo.benchmarks.training import Choose, Files, Measurement, Stage, training_set
from bidzoo.core.arrays import digest
from bidzoo.core.cards import NUM_BIDS
from bidzoo.core.kernels import F32, I8, I64, Bool, States, batched, row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import best_row, imps_row, score_row

# ---- boards ------------------------------------------------------------------------------


class PartnerBoards(NamedTuple):
    """``B`` boards."""

    hands: I64  # [B, 2]  of the two partners, the one who calls first in front
    vulnerable: I8  # [B]  whether they are
    cost: I8  # [B, 2, 36]  IMPs, by declarer and contract; passed out: 0


def check(game: Bridge) -> None:
    """ValueError unless ``game`` is one without competition that pays the cost."""
    first = game.deal(np.arange(4), 0)["turn"]
    if game.reward != "cost" or (first % 2 == 1).any():
        raise ValueError(f"two partners learn in Bridge(False, competition=False, reward='cost'), not in {game}")


def deal(game: Bridge, numbers: I64, seed: int) -> PartnerBoards:
    """Boards ``numbers`` ``[B]`` of a game without competition."""
    states, n = game.deal(numbers, seed), len(numbers)
    boards = PartnerBoards(np.empty((n, 2), np.int64), np.empty(n, np.int8), np.empty((n, 2, CALLS), np.int8))
    _deal(states, *boards)
    return boards


@batched
def _deal(start: int, stop: int, states: States, hands: I64, vulnerable: I8, cost: I8) -> None:
    for b in range(start, stop):
        state = states[b]
        vulnerable[b] = state.vulnerable & 1
        best = best_row(state.tricks, state.vulnerable)
        for player in range(2):
            seat = (state.turn + 2 * player) & 3
            hands[b, player] = state.hands[seat]
            cost[b, player, 0] = imps_row(best)
            for bid in range(NUM_BIDS):
                tricks = int(state.tricks[5 * seat + bid % 5])
                points = score_row(bid // 5 + 1, bid % 5, 1, tricks, vulnerable[b] != 0)
                cost[b, player, 1 + bid] = imps_row(best - points)


# ---- auctions: calls ``[n, T]``, 0 ... 35, of which the first ``length`` are made -----------------


@row
def cost_row(cost: I8, calls: I8) -> int:
    """IMPs that the auction ``calls`` ``[T]`` costs, all calls made and then -1; ``cost`` ``[2, 36]``."""
    last = 0
    for t in range(len(calls)):
        last = max(last, int(calls[t]))
    for t in range(len(calls)):
        if last > 0 and calls[t] > 0 and (calls[t] - last) % 5 == 0:  # the first to name the strain
            return int(cost[t % 2, last])
    return int(cost[0, 0])


@batched
def _observe(
    start: int, stop: int, board: I64, hands: I64, vulnerable: I8, player: int, calls: I8, length: int, out: I8
) -> None:
    for i in range(start, stop):
        b = board[i]
        observe_row(hands[b, player], vulnerable[b], player, calls[i], length, out[i])


@batched
def _costs(start: int, stop: int, board: I64, cost: I8, calls: I8, out: F32) -> None:
    for i in range(start, stop):
        out[i] = cost_row(cost[board[i]], calls[i])


def over(calls: I8, length: int) -> Bool:
    """Which auctions a pass has ended: ``[n]``."""
    return calls[:, length - 1] == 0 if length > 1 else np.zeros(len(calls), np.bool_)


def observe(boards: PartnerBoards, board: I64, player: int, calls: I8, length: int) -> I8:
    """Observations ``[n, 124]`` of ``player`` at rows ``board`` ``[n]`` of ``boards``, after ``length`` calls."""
    out = np.empty((len(board), INPUTS), np.int8)
    _observe(board, boards.hands, boards.vulnerable, player, calls, length, out)
    return out


def legal(calls: I8, length: int) -> I8:
    """Legal calls of auctions that go on: ``[n, 36]``."""
    return calls_above(calls[:, :length].max(1, initial=0)).astype(np.int8)


def costs(boards: PartnerBoards, board: I64, calls: I8) -> F32:
    """IMPs that auctions ``calls`` ``[n, T]`` (-1: not made) cost at rows ``board`` ``[n]``; ``[n]``."""
    out = np.empty(len(board), np.float32)
    _costs(board, boards.cost, calls, out)
    return out


def bid_on(boards: PartnerBoards, board: I64, calls: I8, length: int, choose: Callable[[int, I64, I8, I8], I64]) -> F32:
    """Bid auctions ``calls`` ``[n, T]`` to their end, in place, at most T calls; their costs ``[n]``, IMPs.

    ``choose(length, rows, observations, legal calls)`` gives the calls ``[m]`` of auctions ``rows`` ``[m]``.
    """
    rows = np.flatnonzero(~over(calls, length))
    for t in range(length, calls.shape[1]):
        if len(rows) == 0:
            break
        current = calls[rows]
        calls[rows, t] = choose(t, rows, observe(boards, board[rows], t % 2, current, t), legal(current, t))
        rows = rows[~over(calls[rows], t + 1)]
    return costs(boards, board, calls)


# ---- networks: layers with ReLU between them ---------------------------------------------


def stacks(shapes: Shapes, seed: int) -> Any:
    """Torch modules of the stacks in ``shapes``, by name: He's initialisation from ``seed``, last layers a tenth."""
    import torch

    modules: dict[str, list[Any]] = {}
    for key, shape in shapes.items():
        if key.endswith("weight"):
            modules.setdefault(key.split(".")[0], []).append(torch.nn.utils.skip_init(torch.nn.Linear, *shape[::-1]))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layers in modules.values():
            for n, layer in enumerate(layers):
                fan_in = 25 if n == 0 else layer.in_features  # of the bits some 16 are set
                gain = 0.1 if n + 1 == len(layers) else 1.0
                layer.weight.normal_(0.0, gain * (2.0 / fan_in) ** 0.5, generator=generator)
                layer.bias.zero_()
    return torch.nn.ModuleDict({name: torch.nn.ModuleList(layers) for name, layers in modules.items()})


def run(stack: Any, x: Any) -> Any:
    """Outputs of a torch stack."""
    for n, layer in enumerate(stack):
        x = layer(x) if n + 1 == len(stack) else layer(x).relu()
    return x


# ---- learning ----------------------------------------------------------------------------


class PartnerTrainer(trainer.Trainer):
    """A run from random weights: ``model`` learns, its moving ``average`` is measured and kept."""

    def __init__(self, game: Bridge, options: Any, device: str) -> None:
        """``game``: without competition, on training deals."""
        distributed.alone(self.algorithm)
        check(game)
        super().__init__(options, options.iterations, device)
        made_of = self.kind.made_of  # a part of the options
        self.architecture = made_of(**{field.name: getattr(options, field.name) for field in fields(made_of)})
        self.game, self.inputs = game, {"deals": digest(game.deals._asdict())}
        self.model = stacks(options.shapes, options.seed).to(device)
        self.average = deepcopy(self.model)
        self.modules = {"network": self.model, "average": self.average}


def mean_cost(policy: Policy, boards: int) -> Estimate:
    """Cost on the first ``boards`` validation boards of seed 1, IMPs."""
    game, numbers = Bridge(False, reward="cost", deals="validation", competition=False), np.arange(boards)
    episodes = play(game, [policy] * 4, numbers, 1)
    return Estimate.of(-episodes.reward[:, 0], group=game.deal_numbers(numbers, 1))


def compose(choose: Choose, algorithm: Any, deals: Files, boards: int, device: str) -> Iterator[Stage]:
    """A pair that bids without opponents, measured by its cost; ``algorithm``: ``baseline16`` or ``pbl``."""
    chosen = choose(algorithm.Options)
    training_deals, provenance = training_set(deals)
    game = Bridge(False, competition=False, reward="cost", deals=training_deals)
    one = algorithm.Trainer(game, chosen, device)

    def measure(networks: Any) -> dict[str, float]:
        cost = mean_cost(agents.make(one.algorithm, weights=networks), boards)
        return {"imps": -cost.mean, "imps_error": cost.error}

    inputs = {"boards that are measured": str(boards)}
    yield Stage(one, provenance, Measurement(measure if boards else None, inputs))

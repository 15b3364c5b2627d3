"""Two partners who bid alone, their opponents passing: what ``baseline16`` and ``pbl`` learn in, and how they play.

Their calls are 0 ... 35: pass, then the 35 bids. The partner who calls first is 0, the other 1. A pass ends the auction
unless it is its first call. A contract costs the IMPs that it is below the best one of the two hands, double dummy, as
in ``Bridge(competition=False, reward="cost")``.

Both agents see ``INPUTS`` bits, which know nothing of opponents. Where these bid all the same, an agent calls as if
they had passed; a bid that is too low by then is a pass. It never doubles.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.bridge import distributed, selfplay, trainer
from bidzoo.agents.bridge.dense import NONE, RELU, Linear, dense, pack
from bidzoo.agents.bridge.network import NetworkPolicy, Shapes
from bidzoo.core.arrays import digest
from bidzoo.core.bits import cards_row
from bidzoo.core.cards import FIRST_BID, NUM_BIDS, NUM_CALLS, NUM_CARDS, PASS
from bidzoo.core.kernels import F32, I8, I64, Bool, State, States, batched, row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import best_row, imps_row, score_row

CALLS = 1 + NUM_BIDS
_OWN = NUM_CARDS  # after the hand: bids I made, bids partner made, whether I called first, whether we are vulnerable
_PARTNER, _FIRST, _VULNERABLE, INPUTS = (
    _OWN + offset for offset in (NUM_BIDS, 2 * NUM_BIDS, 2 * NUM_BIDS + 1, 2 * NUM_BIDS + 2)
)
MASKED = np.float32(-1e9)  # logit of a call that is never made


# ---- boards ------------------------------------------------------------------------------


class PartnerBoards(NamedTuple):
    """``B`` boards."""

    hands: I64  # [B, 2]  of the two partners, the one who calls first in front
    vulnerable: I8  # [B]  whether they are
    cost: I8  # [B, 2, 36]  IMPs, by declarer and contract; passed out: 0


def check(game: Bridge) -> None:
    """ValueError unless ``game`` is one without competition that pays the cost."""
    first = selfplay.deal(game, np.arange(4), 0)["turn"]
    if game.reward != "cost" or (first % 2 == 1).any():
        raise ValueError(f"two partners learn in Bridge(False, competition=False, reward='cost'), not in {game}")


def deal(game: Bridge, numbers: I64, seed: int) -> PartnerBoards:
    """Boards ``numbers`` ``[B]`` of a game without competition."""
    states, n = selfplay.deal(game, numbers, seed), len(numbers)
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
def observe_row(hand: int, vulnerable: int, player: int, calls: I8, length: int, out: I8) -> None:
    """The observation of ``player`` into ``out`` ``[124]``."""
    out[:] = 0
    cards_row(hand, 0, out)
    for t in range(length):
        if calls[t] > 0:
            out[(_OWN if t % 2 == player else _PARTNER) + calls[t] - 1] = 1
    out[_FIRST] = player == 0
    out[_VULNERABLE] = vulnerable


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


def calls_above(highest: I8 | I64) -> Bool:
    """A pass, and the bids above ``highest`` ``[n]`` (0: none): ``[n, 36]``."""
    calls = np.arange(CALLS, dtype=np.int8)
    return (calls > highest[:, None]) | (calls == 0)


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


def stack_shapes(name: str, inputs: int, width: int, depth: int, outputs: int) -> Shapes:
    """``name.N.weight`` and ``name.N.bias`` of ``depth`` hidden layers and the last one."""
    sizes = [inputs, *[width] * depth, outputs]
    shapes: Shapes = {}
    for n, (ins, outs) in enumerate(pairwise(sizes)):
        shapes |= {f"{name}.{n}.weight": (outs, ins), f"{name}.{n}.bias": (outs,)}
    return shapes


class Stack:
    """Layers that run without torch."""

    def __init__(self, name: str, tensors: dict[str, F32]) -> None:
        """The tensors called ``name.N.weight`` and ``name.N.bias``."""
        depth = sum(key.startswith(f"{name}.") for key in tensors) // 2
        activations = [*[RELU] * (depth - 1), NONE]
        self._packed = pack(
            *[
                Linear(tensors[f"{name}.{n}.weight"].T, tensors[f"{name}.{n}.bias"], activation)
                for n, activation in enumerate(activations)
            ]
        )

    def __call__(self, x: I8 | F32) -> F32:
        """Outputs ``[B, outputs]`` of ``[B, inputs]``."""
        return dense(x, self._packed)


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


# ---- as players --------------------------------------------------------------------------


class Seen(NamedTuple):
    """What two partners among opponents know of ``B`` auctions."""

    observation: I8  # [B, 124]
    position: I64  # [B]  calls that the side has made
    highest: I64  # [B]  its highest bid, 1 ... 35; 0: none
    covered: I64  # [B]  the highest bid of all


@row
def see_row(view: State, observation: I8, numbers: I64) -> None:
    """The observation into ``observation`` ``[124]``; position, highest and covered into ``numbers`` ``[3]``."""
    calls = np.empty(len(view.calls), np.int8)
    position, highest, player = 0, 0, 0
    for t in range(view.length):
        who = (view.dealer + t - view.seat) & 3
        if who % 2 == 0:
            if position == 0:
                player = 0 if who == 0 else 1
            call = max(0, int(view.calls[t]) - FIRST_BID + 1)
            calls[position] = call
            position, highest = position + 1, max(highest, call)
    vulnerable = (view.vulnerable >> (view.seat & 1)) & 1
    observe_row(view.hand, vulnerable, player, calls, position, observation)
    numbers[0], numbers[1], numbers[2] = position, highest, view.bid + 1


@batched
def _see(start: int, stop: int, views: States, observation: I8, numbers: I64) -> None:
    for b in range(start, stop):
        see_row(views[b], observation[b], numbers[b])


def see(views: States) -> Seen:
    """What ``views`` ``[B]`` show of the own side's auction. Doubles count as passes."""
    observation, numbers = np.empty((len(views), INPUTS), np.int8), np.empty((len(views), 3), np.int64)
    _see(views, observation, numbers)
    return Seen(observation, *numbers.T.copy())


class PartnerPolicy(NetworkPolicy):
    """A policy that calls by networks of two partners whose opponents pass."""

    outputs = None  # 36 calls

    @abstractmethod
    def of_side(self, seen: Seen) -> F32:
        """Logits ``[B, 36]`` as if opponents passed."""

    def logits(self, views: States) -> F32:
        """Logits ``[B, 38]``: a bid that opponents made too low counts as a pass, a double is never made."""
        seen = see(views)
        outputs = self.of_side(seen)
        bids = np.arange(CALLS)
        covered = (bids > seen.highest[:, None]) & (bids <= seen.covered[:, None])
        out = np.full((len(views), NUM_CALLS), MASKED)
        out[:, FIRST_BID:] = outputs[:, 1:]
        out[:, PASS] = np.where(covered, outputs, outputs[:, :1]).max(1)
        return out


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

"""How ``baseline16`` and ``pbl`` play, who learned to bid as two partners alone, their opponents passing.

Their calls are 0 ... 35: pass, then the 35 bids. The partner who calls first is 0, the other 1.

Both agents see ``INPUTS`` bits, which know nothing of opponents. Where these bid all the same, an agent calls as if
they had passed; a bid that is too low by then is a pass. It never doubles. How they learn:
``experiments/trainers/partners.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bidzoo.agents.bridge.dense import NONE, RELU, Linear, dense, pack
from bidzoo.agents.bridge.network import NetworkPolicy, Shapes
from bidzoo.core.bits import cards_row
from bidzoo.core.cards import FIRST_BID, NUM_BIDS, NUM_CALLS, NUM_CARDS, PASS
from bidzoo.core.kernels import F32, I8, I64, Bool, State, States, batched, row

CALLS = 1 + NUM_BIDS
_OWN = NUM_CARDS  # after the hand: bids I made, bids partner made, whether I called first, whether we are vulnerable
_PARTNER, _FIRST, _VULNERABLE, INPUTS = (
    _OWN + offset for offset in (NUM_BIDS, 2 * NUM_BIDS, 2 * NUM_BIDS + 1, 2 * NUM_BIDS + 2)
)
MASKED = np.float32(-1e9)  # logit of a call that is never made


# ---- what they see -----------------------------------------------------------------------


@row
def observe_row(hand: int, vulnerable: int, player: int, calls: I8, length: int, out: I8) -> None:
    """The observation of ``player`` after the first ``length`` of ``calls`` ``[T]``, into ``out`` ``[124]``."""
    out[:] = 0
    cards_row(hand, 0, out)
    for t in range(length):
        if calls[t] > 0:
            out[(_OWN if t % 2 == player else _PARTNER) + calls[t] - 1] = 1
    out[_FIRST] = player == 0
    out[_VULNERABLE] = vulnerable


def calls_above(highest: I8 | I64) -> Bool:
    """A pass, and the bids above ``highest`` ``[n]`` (0: none): ``[n, 36]``."""
    calls = np.arange(CALLS, dtype=np.int8)
    return (calls > highest[:, None]) | (calls == 0)


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

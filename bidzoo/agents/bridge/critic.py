"""Value networks that teach: they may see what no player sees, since they never play.

``bmcs636``      all four hands (belief Monte Carlo search, section IV)
``scores778``    and contract scores: what every contract of the deal would score, in IMPs against a reference
any encoder      what the player sees
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.adan import adan
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.selfplay import Decisions
from bidzoo.agents.bridge.trainer import descend
from bidzoo.core.bits import unpack
from bidzoo.core.cards import NUM_BIDS
from bidzoo.core.kernels import F32, I8, I64, State, States, batched, row, rows_a_thread
from bidzoo.envs.bridge.observation import encode_value
from bidzoo.envs.bridge.score import imps_row, north_south_row

CARDS = network.TEACHERS["bmcs636"]
SCORES = 4 * NUM_BIDS + 2  # ours, ours doubled, theirs, theirs doubled, x 35 bids; passed out; what stands now
UNIT = 10.0  # IMPs
_CHUNK = 16384


def optimiser(kind: str, model: Any, rate: float) -> Any:
    """The optimiser ``"adam"`` or ``"adan"`` of a torch network."""
    import torch

    if kind == "adan":
        return adan(model.parameters(), rate)
    return torch.optim.Adam(model.parameters(), rate, fused=True)


class Critic:
    """Predicts what the side to call will have won at the end of the board."""

    def __init__(
        self, architecture: Architecture, learning_rate: float, seed: int, device: str, kind: str = "adam"
    ) -> None:
        """``kind``: of ``optimiser``."""
        self.architecture, self.learning_rate, self.device = architecture, learning_rate, device
        self.model = network.module(architecture, seed, last_scale=0.1).to(device)
        self.adam = optimiser(kind, self.model, learning_rate)

    def inputs(self, decisions: Decisions, reference: I64) -> I8:
        """Observations ``[n, inputs]``: bits, then scores in half IMPs over ``reference`` ``[n]`` (N/S points)."""
        name = self.architecture.observation
        if name not in network.TEACHERS:
            return unpack(decisions.observation, self.architecture.inputs)
        out = np.empty((len(decisions.call), self.architecture.inputs), np.int8)
        cards = np.empty((len(out), CARDS), np.int8)
        states = decisions.states
        encode_value(states, decisions.player, cards)
        out[:, :CARDS] = cards
        if name == "scores778":
            out[:, CARDS:] = np.rint(contract_scores(states, decisions.side, reference) * (2 * UNIT))
        return out

    def tensor(self, inputs: I8) -> Any:
        """``inputs`` in torch, bfloat16, scores in units of 10 IMPs."""
        import torch

        x = torch.from_numpy(inputs).to(self.device).to(torch.bfloat16)  # a byte an entry travels, not two
        if self.architecture.observation == "scores778":
            x[:, CARDS:] /= 2 * UNIT
        return x

    def value(self, x: Any) -> Any:
        """Predictions ``[n]``; with scores, a correction to what the standing contract would score."""
        out = network.forward(self.model, x)[:, 0]
        return out + x[:, -1].float() if self.architecture.observation == "scores778" else out

    def values(self, x: Any) -> F32:
        """``value`` as an array, without gradients."""
        import torch

        with torch.no_grad():
            values: F32 = torch.cat([self.value(part) for part in x.split(_CHUNK)]).cpu().numpy()
        return values

    def learn(self, x: Any, target: Any, weight: Any = None) -> Any:
        """One step of Adam on the mean squared error, weighted by row if given; the values before it."""
        value = self.value(x)
        error = (value - target) ** 2
        descend(self.adam, (error if weight is None else error * weight).mean(), self.learning_rate)
        return value.detach()


def explained(error: F32, target: F32) -> float:
    """Share of the variance of ``target`` that predictions with these errors explain."""
    return 1 - float(error.var()) / max(1e-9, float(target.var()))


# ---- contract scores ------------------------------------------------------------------------


@row
def contract_scores_row(state: State, side: int, reference: int, out: F32) -> None:
    """The contract scores of ``side`` into ``out`` ``[142]``, units of 10 IMPs; of two declarers the mean counts."""
    sign = (1.0 if side == 0 else -1.0) / UNIT
    for doubled in range(2):
        for theirs in range(2):
            declaring = (side + theirs) % 2
            for bid in range(NUM_BIDS):
                gain = 0
                for declarer in (declaring, declaring + 2):
                    tricks = int(state.tricks[5 * declarer + bid % 5])
                    gain += imps_row(north_south_row(bid, 1 + doubled, declarer, state.vulnerable, tricks) - reference)
                out[(2 * theirs + doubled) * NUM_BIDS + bid] = sign * (gain / 2.0)
    out[SCORES - 2] = sign * imps_row(-reference)
    out[SCORES - 1] = out[SCORES - 2]
    if state.bid >= 0:
        theirs = (state.bidder - side) % 2
        out[SCORES - 1] = out[(2 * theirs + (1 if state.stake > 1 else 0)) * NUM_BIDS + state.bid]


@batched
@rows_a_thread(512)
def _contract_scores(start: int, stop: int, states: States, side: I64, reference: I64, out: F32) -> None:
    for b in range(start, stop):
        contract_scores_row(states[b], side[b], reference[b], out[b])


def contract_scores(states: States, side: I64, reference: I64) -> F32:
    """Contract scores ``[n, 142]`` of ``side`` ``[n]``; ``reference`` ``[n]`` in N/S points."""
    out = np.empty((len(states), SCORES), np.float32)
    _contract_scores(states, side, reference, out)
    return out

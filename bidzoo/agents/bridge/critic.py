"""Value networks that teach: they may see what no player sees, since they never play.

``bmcs636``      all four hands (belief Monte Carlo search, section IV)
``scores778``    and what every contract would score on the double-dummy table
any encoder      what the player sees
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bidzoo.agents.bridge import network, scores
from bidzoo.agents.bridge.decisions import Decisions
from bidzoo.agents.bridge.network import Architecture
from bidzoo.envs.bridge.encode import encode_value
from bidzoo.kernels import F32, I8, I64, row

CARDS = network.TEACHERS["bmcs636"]
_CHUNK = 16384


class Critic:
    """Predicts what the side to call will have won at the end of the board."""

    def __init__(self, architecture: Architecture, learning_rate: float, seed: int, device: str) -> None:
        import torch

        self.architecture, self.device = architecture, device
        self.model = network.module(architecture, seed, last_scale=0.1).to(device)
        self.adam = torch.optim.Adam(self.model.parameters(), learning_rate, fused=True)

    def sight(self, decisions: Decisions, reference: I64) -> I8:
        """What is seen ``[n, inputs]``: bits, then scores in half IMPs over ``reference`` ``[n]`` (N/S points)."""
        name = self.architecture.observation
        if name not in network.TEACHERS:
            return decisions.observation
        seen = np.empty((len(decisions.call), self.architecture.inputs), np.int8)
        cards = np.empty((len(seen), CARDS), np.int8)
        tables = decisions.tables
        encode_value(tables, decisions.player, cards)
        seen[:, :CARDS] = cards
        if name == "scores778":
            sheets = scores.sheets(tables, decisions.side, reference)
            seen[:, CARDS:] = np.rint(sheets * (2 * scores.UNIT))
        return seen

    def inputs(self, seen: I8) -> Any:
        """``sight`` as a torch tensor, bfloat16, scores in units of 10 IMPs."""
        import torch

        x = torch.from_numpy(seen).to(self.device).to(torch.bfloat16)  # a byte an entry travels, not two
        if self.architecture.observation == "scores778":
            x[:, CARDS:] /= 2 * scores.UNIT
        return x

    def value(self, x: Any) -> Any:
        """Predictions ``[n]``; with scores, a correction to what the standing contract would score."""
        import torch

        with torch.autocast(x.device.type, torch.bfloat16):
            out = self.model(x)[:, 0].float()
        return out + x[:, -1].float() if self.architecture.observation == "scores778" else out

    def values(self, x: Any) -> F32:
        """``value`` as an array, without gradients."""
        import torch

        with torch.no_grad():
            found: F32 = torch.cat([self.value(part) for part in x.split(_CHUNK)]).cpu().numpy()
        return found

    def learn(self, x: Any, target: Any, weight: Any = None) -> Any:
        """One step of Adam on the mean squared error, weighted by row if given; the values before it."""
        value = self.value(x)
        error = (value - target) ** 2
        loss = (error if weight is None else error * weight).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()
        return value.detach()


@row
def advantages(board: I64, side: I64, value: F32, outcome: F32, decay: float, last: I64, out: F32) -> None:
    """Generalised advantage estimates (Schulman et al. 2016) without discount into ``out`` ``[n]``.

    A side's decisions on a board form one chain, at whose end it gets ``outcome``. ``last`` ``[B, 2]`` starts at -1.
    """
    for i in range(len(board) - 1, -1, -1):
        following = last[board[i], side[i]]
        if following < 0:
            out[i] = outcome[i] - value[i]
        else:
            out[i] = value[following] - value[i] + decay * out[following]
        last[board[i], side[i]] = i

"""``baseline16``: Q-learning of two partners who bid alone. Yeh and Lin 2016, *Automatic Bridge Bidding Using Deep
Reinforcement Learning*; the name is that of *Joint Policy Search*, which plays against it.

One network for each of the first four positions of the auction: the cost of each of 36 calls, from 0 to 1, which is 24
IMPs. By the *penetrative Bellman equation* a call costs what the auction comes to if everybody goes on by the networks
of today; calls are explored by the confidence bounds of UCB1 (Auer et al. 2002). docs/agents/baseline16.md says what
differs, ``experiments/trainers/baseline16.py`` trains.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bidzoo.agents.bridge import partners
from bidzoo.agents.bridge.network import Neurons, Shapes, Weights
from bidzoo.agents.bridge.partners import CALLS, INPUTS, PartnerPolicy, Seen, Stack
from bidzoo.core.kernels import F32, I8, I64
from bidzoo.core.options import Checked, Range
from bidzoo.envs.bridge.score import MAX_IMPS

RESIGN = 0.2  # cost of the best call above which a side passes once opponents have bid: JPS, appendix B


# ---- networks ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Architecture(Checked):
    """One network a position."""

    positions: Annotated[int, Range(1, 16)] = 4
    width: Neurons = 96  # 128 in the paper's code
    depth: Annotated[int, Range(1, 16)] = 2  # hidden layers

    @property
    def shapes(self) -> Shapes:
        """``T.N.weight`` and ``T.N.bias`` of position T, layer N."""
        shapes: Shapes = {}
        for t in range(self.positions):
            shapes |= partners.stack_shapes(str(t), INPUTS, self.width, self.depth, CALLS)
        return shapes


class Networks(Weights):
    """The networks of all positions."""

    form = "bidzoo bridge baseline16 1"
    made_of = Architecture

    def __init__(self, architecture: Architecture, tensors: dict[str, F32]) -> None:
        super().__init__(architecture, tensors)
        self._stacks = [Stack(str(t), tensors) for t in range(architecture.positions)]

    def __call__(self, observation: I8, position: I64) -> F32:
        """Costs of the calls ``[B, 36]`` at observations ``[B, 124]``; behind the last position only a pass costs 0."""
        out = np.ones((len(observation), CALLS), np.float32)
        out[:, 0] = 0
        for t, stack in enumerate(self._stacks):
            rows = np.flatnonzero(position == t)
            if len(rows):
                out[rows] = stack(observation[rows])
        return out


class Baseline16(PartnerPolicy):
    """Takes the call of least cost. Once opponents have bid it passes where every call costs more than ``RESIGN``."""

    name = "baseline16"
    kind = Networks

    def of_side(self, seen: Seen) -> F32:
        """Minus the costs, IMPs."""
        cost = self.network(seen.observation, seen.position)
        legal_cost = np.where(partners.calls_above(seen.highest), cost, np.inf)
        cost[(seen.covered > seen.highest) & (legal_cost.min(1) > RESIGN), 0] = 0
        return -MAX_IMPS * cost

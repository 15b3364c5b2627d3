"""``baseline19``: a network estimates partner's cards, another bids with the estimate. Rong, Qin and An 2019.

*Competitive Bridge Bidding with Deep Neural Networks*, which joint policy search calls baseline19. The ENN, estimation
neural network, says which cards partner holds: 52 sigmoids. The PNN, policy neural network, sees what its player sees,
and the 52 estimates. They have the skip connections of the paper, and are far smaller.
``experiments/trainers/baseline19.py`` trains them in the paper's three stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.agents.bridge.dense import DenseRow
from bidzoo.agents.bridge.network import Architecture, Network, NetworkPolicy, Neurons, Row, Shapes, Weights, sigmoid
from bidzoo.core.arrays import within
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS
from bidzoo.core.kernels import F32, I8
from bidzoo.core.options import Checked
from bidzoo.envs.bridge.features import OPENSPIEL480
from bidzoo.envs.game import Encoder

OBSERVATION = "openspiel480"
_HAND = OPENSPIEL480.start("hand")
OWN = slice(_HAND, _HAND + NUM_CARDS)  # entries of the observation that are the player's own cards


@dataclass(frozen=True)
class PolicyArchitecture(Architecture):
    """A network that sees 52 chances behind the observation."""

    @property
    def inputs(self) -> int:
        """Entries of the observation, and the chances."""
        return super().inputs + NUM_CARDS


@dataclass(frozen=True)
class Widths(Checked):
    """What the two networks are made of: ten layers each, skip connections around every second."""

    enn_width: Neurons = 96
    pnn_width: Neurons = 144

    observation = OBSERVATION
    outputs = NUM_CALLS

    @property
    def enn(self) -> Architecture:
        """Architecture of the estimation network."""
        return Architecture(OBSERVATION, NUM_CARDS, "jps", self.enn_width)

    @property
    def pnn(self) -> PolicyArchitecture:
        """Architecture of the policy network."""
        return PolicyArchitecture(OBSERVATION, NUM_CALLS, "jps", self.pnn_width)

    @property
    def encoder(self) -> Encoder:
        return self.enn.encoder

    @property
    def shapes(self) -> Shapes:
        """Shapes of both networks' tensors, as ``enn. ...`` and ``pnn. ...``."""
        parts = {"enn": self.enn, "pnn": self.pnn}
        return {
            f"{part}.{name}": shape
            for part, architecture in parts.items()
            for name, shape in architecture.shapes.items()
        }


class Networks(Network):
    """Both networks, which play as one network of calls."""

    form = "bidzoo bridge baseline19 1"
    made_of: type[Any] = Widths

    def __init__(self, architecture: Widths, tensors: dict[str, F32]) -> None:
        Weights.__init__(self, architecture, tensors)
        self.enn = Network(architecture.enn, within(tensors, "enn."))
        self.pnn = Network(architecture.pnn, within(tensors, "pnn."))

    def __call__(self, x: I8) -> F32:
        """Logits of the calls ``[B, 38]`` at observations ``[B, 480]``."""
        return self.pnn(np.concatenate([x, estimates(self.enn, x)], axis=1))

    def row(self) -> Row:
        return BothRow(self)


class BothRow:
    """The ``Row`` of both networks."""

    def __init__(self, networks: Networks) -> None:
        self._enn, self._seen = networks.enn.row(), np.zeros((1, networks.pnn.architecture.inputs), np.float32)
        self._pnn = DenseRow(networks.pnn.packed, self._seen)
        self.x, self.out = self._enn.x, self._pnn.out

    def run(self) -> None:
        self._enn.run()
        self._seen[:, :-NUM_CARDS], self._seen[:, -NUM_CARDS:] = self.x, _others(self.x, self._enn.out)
        self._pnn.run()


def estimates(enn: Network, x: I8) -> F32:
    """Chance that partner holds each card, ``[B, 52]``, at observations ``[B, 480]``; 0 for the player's own."""
    return _others(x, enn(x))


def _others(x: I8, logits: F32) -> F32:
    return np.where(x[:, OWN] > 0, np.float32(0), sigmoid(logits))


class Baseline19(NetworkPolicy):
    """A policy that calls by the PNN, which sees the estimates of the ENN."""

    name = "baseline19"
    kind = Networks

"""``pbl``: policy-belief learning of two partners who bid alone.

Tian et al. 2020, *Learning to Communicate Implicitly by Actions*. A *belief module* says how likely partner holds each
card, from the own hand and the calls; a *policy module* calls from what the player sees and from this belief. They
learn in turns: the beliefs by cross-entropy in auctions of the policy, the policy by policy gradient for minus the cost
of the contract and, ``communication`` times, how much nearer partner's belief about the caller's hand comes to it.
docs/agents/pbl.md says what differs, ``experiments/trainers/pbl.py`` trains.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bidzoo.agents.bridge import partners
from bidzoo.agents.bridge.network import Neurons, Shapes, Weights, sigmoid
from bidzoo.agents.bridge.partners import CALLS, INPUTS, PartnerPolicy, Seen, Stack
from bidzoo.core.cards import NUM_CARDS
from bidzoo.core.kernels import F32, I8
from bidzoo.core.options import Checked, Range

# ---- networks ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Architecture(Checked):
    """The two modules."""

    most_calls: Annotated[int, Range(2, 16)] = 8  # of both partners; from then on they pass
    beliefs: bool = True  # False: the policy alone
    width: Neurons = 128
    depth: Annotated[int, Range(1, 16)] = 2  # hidden layers of each

    @property
    def shapes(self) -> Shapes:
        """``policy.N.weight``, ``belief.N.weight`` and the biases of every layer N."""
        if not self.beliefs:
            return partners.stack_shapes("policy", INPUTS, self.width, self.depth, CALLS)
        return {
            **partners.stack_shapes("policy", INPUTS + NUM_CARDS, self.width, self.depth, CALLS),
            **partners.stack_shapes("belief", INPUTS, self.width, self.depth, NUM_CARDS),
        }


class Modules(Weights):
    """Policy module and belief module."""

    form = "bidzoo bridge pbl 1"
    made_of = Architecture

    def __init__(self, architecture: Architecture, tensors: dict[str, F32]) -> None:
        super().__init__(architecture, tensors)
        self._policy = Stack("policy", tensors)
        self._belief = Stack("belief", tensors) if architecture.beliefs else None

    def beliefs(self, observation: I8) -> F32:
        """How likely partner holds each card ``[B, 52]``; 0 for the own ones. Without a belief module ``[B, 0]``."""
        if self._belief is None:
            return np.empty((len(observation), 0), np.float32)
        return np.where(observation[:, :NUM_CARDS] == 0, sigmoid(self._belief(observation)), np.float32(0))

    def __call__(self, observation: I8) -> F32:
        """Logits of the calls ``[B, 36]`` at observations ``[B, 124]``."""
        return self._policy(np.concatenate([observation, self.beliefs(observation)], axis=1, dtype=np.float32))


class Pbl(PartnerPolicy):
    """The policy and its beliefs. When it has made all its calls it passes."""

    name = "pbl"
    kind = Modules

    def of_side(self, seen: Seen) -> F32:
        out = self.network(seen.observation)
        out[seen.position >= self.network.architecture.most_calls, 1:] = partners.MASKED
        return np.asarray(out, np.float32)

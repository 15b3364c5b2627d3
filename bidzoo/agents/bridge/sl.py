"""``sl``: the expert's calls, learned. Belief Monte Carlo search, section III; Kita et al. 2024, supervised stage.

Minimises the cross-entropy of the calls that the expert made, over the legal calls, in positions sampled at random.
The paper learns 94.37 % of the calls of WBridge5 with four layers of 2048; ours are those of another program.
"""

from typing import Any

import numpy as np

from bidzoo.agents.bridge.network import Network, NetworkPolicy
from bidzoo.agents.bridge.selfplay import log_chances
from bidzoo.agents.bridge.trainer import Fit
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I64, Bool
from bidzoo.envs.bridge.formats.auctions import Positions


class Supervised(NetworkPolicy):
    """The supervised policy network."""

    name = "sl"


class Wide(NetworkPolicy):
    """The same, taught to a network of 4 x 1024."""

    name = "sl-wide"


class Small(NetworkPolicy):
    """The same, taught to the network of joint policy search."""

    name = "sl-small"


class Trainer(Fit):
    """Fits the calls made in ``Positions`` of recorded auctions."""

    algorithm = "sl"

    def loss(self, numbers: I64) -> Any:
        """Cross-entropy of the calls, nats."""
        import torch

        views, legal, calls = self.learn.at(numbers)
        x = self.tensor(self.options.architecture.encoder(views))
        return torch.nn.functional.nll_loss(log_chances(self.learner, x, self.tensor(legal)), self.tensor(calls))

    def measure(self, player: Any) -> dict[str, float]:
        return measure(self.check, player)


def measure(positions: Positions, network: Network) -> dict[str, float]:
    """Share of the expert's calls that are the likeliest legal call, and their cross-entropy, nats a call."""
    right, nats = scores(positions, network)
    return {"accuracy": int(right.sum()) / len(right), "cross_entropy": float(nats.sum()) / len(right)}


def scores(positions: Positions, network: Network, limit: int = 50_000) -> tuple[Bool, F64]:
    """Whether each of the expert's calls is the likeliest legal call ``[n]``, and its cross-entropy, nats ``[n]``."""
    right, nats, count = [], [], min(limit, len(positions))
    for start in range(0, count, 8192):
        views, legal, calls = positions.at(np.arange(start, min(start + 8192, count)))
        logits = np.where(legal > 0, network(network.architecture.encoder(views))[:, :NUM_CALLS], -np.inf)
        logits -= logits.max(1, keepdims=True)
        chances: F32 = np.asarray(logits - np.log(np.exp(logits).sum(1, keepdims=True)), np.float32)
        right.append(chances.argmax(1) == calls)
        nats.append(-chances[np.arange(len(calls)), calls].astype(np.float64))
    return np.concatenate(right), np.concatenate(nats)

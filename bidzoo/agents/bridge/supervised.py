"""``sl``: the expert's calls, learned. Belief Monte Carlo search, section III; Kita et al. 2024, supervised stage.

Minimises the cross-entropy of the calls that the expert made, over the legal calls, in positions drawn at random.
The paper learns 94.37 % of the calls of WBridge5 with four layers of 2048; ours are those of another program.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge.fit import Options, fit
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.selfplay import log_softmax
from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.files.auctions import Auctions, Positions
from bidzoo.kernels import F32, I8, I64

POLICY = Architecture("openspiel480", NUM_CALLS)


class Supervised(NetworkPolicy):
    """The supervised policy network."""

    name = "sl"
    weights_name = "sl"


def train(data: Auctions, options: Options, out: str | Path, *arguments: Any, **keywords: Any) -> Network:
    """``fit`` on the training part of ``data``, measured on its validation part."""
    check = Positions(data, data.split("validation"))
    learn = Positions(data, data.split("train"))
    loss = partial(_loss, options.architecture)
    return fit("sl", options, learn, loss, partial(measure, check), out, *arguments, **keywords)


def _loss(architecture: Architecture, model: Any, positions: Positions, numbers: I64) -> Any:
    import torch

    device = next(model.parameters()).device
    views, legal, made = positions.at(numbers)
    x = torch.from_numpy(architecture.encoder(views)).to(device)
    chances = log_softmax(model, x, torch.from_numpy(legal).to(device))
    return torch.nn.functional.nll_loss(chances, torch.from_numpy(made).to(device))


def measure(positions: Positions, network: Network, limit: int = 50_000) -> dict[str, float]:
    """Share of the expert's calls that are the likeliest legal call, and their cross-entropy, nats a call."""
    right, nats, count = 0, 0.0, min(limit, len(positions))
    for start in range(0, count, 8192):
        views, legal, made = positions.at(np.arange(start, min(start + 8192, count)))
        chances = _log_softmax(network(network.architecture.encoder(views))[:, :NUM_CALLS], legal)
        right += int((chances.argmax(1) == made).sum())
        nats -= float(chances[np.arange(len(made)), made].sum(dtype=np.float64))
    return {"accuracy": right / count, "cross_entropy": nats / count}


def _log_softmax(logits: F32, legal: I8) -> F32:
    masked = np.where(legal > 0, logits, -np.inf)
    shifted = masked - masked.max(1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)), np.float32)

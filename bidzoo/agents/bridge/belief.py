"""``belief``: who holds which card, given one hand and the calls. Belief Monte Carlo search, sections V and VI-C.

156 sigmoids, partner, LHO and RHO x 52 cards, fitted by cross-entropy; the own cards are known to be nobody else's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import weights
from bidzoo.agents.bridge.fit import Options, fit
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.cards import HAND_SIZE, NUM_CARDS, held
from bidzoo.envs.bridge.files.auctions import Auctions, Positions
from bidzoo.kernels import F32, F64, I8, I64, Bool, Tables

WHO = (2, 1, 3)  # partner, LHO, RHO: seats after the viewer's
BELIEF = Architecture("openspiel480", 3 * NUM_CARDS)


class Belief:
    """Chances of the cards of the other three players."""

    def __init__(self, source: str | Path | Network | None = None) -> None:
        """``source``: a file, a network, or None for the packaged weights, read when first needed."""
        self._source = source

    @property
    def network(self) -> Network:
        """The network; ValueError unless it has 156 outputs."""
        if self._source is not None and not isinstance(self._source, Network):
            self._source = weights.load(self._source)[0]
        found = weights.packaged("belief") if self._source is None else self._source
        if found.architecture.outputs != 3 * NUM_CARDS:
            raise ValueError(f"belief network: {found.architecture.outputs} outputs, expected {3 * NUM_CARDS}")
        return found

    def probabilities(self, views: Tables) -> F32:
        """Chance that partner, LHO and RHO hold each card: ``[B, 3, 52]``; 0 for the viewer's own cards."""
        logits = self.network(self.network.architecture.encoder(views)).reshape(-1, 3, NUM_CARDS)
        chance = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        chance[np.broadcast_to(_own(views)[:, None], chance.shape)] = 0
        return np.asarray(chance, np.float32)


def _own(views: Tables) -> Bool:
    """Cards ``[B, 52]`` of the viewer."""
    return held(views["hand"]) == 1


def targets(positions: Positions, numbers: I64) -> I8:
    """Who held what: ``[B, 3, 52]``."""
    return held(positions.others(numbers)[:, [who - 1 for who in WHO]])


def train(data: Auctions, options: Options, out: str | Path, *arguments: Any, **keywords: Any) -> Network:
    """``fit`` on the training part of ``data``, measured on its validation part."""
    check = Positions(data, data.split("validation"))
    learn = Positions(data, data.split("train"))
    loss = partial(_loss, options.architecture)
    return fit("belief", options, learn, loss, partial(measure, check), out, *arguments, **keywords)


def _loss(architecture: Architecture, model: Any, positions: Positions, numbers: I64) -> Any:
    import torch

    device = next(model.parameters()).device
    views, _, _ = positions.at(numbers)
    x = torch.from_numpy(architecture.encoder(views)).to(device)
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(x.to(torch.bfloat16))
    logits = logits.float().reshape(-1, 3, NUM_CARDS)
    wanted = torch.from_numpy(targets(positions, numbers)).to(device).float()
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    unseen = torch.from_numpy(~_own(views)).to(device)[:, None]
    return (each * unseen).sum() / each.numel()


# ---- how good it is ----------------------------------------------------------------------


def cross_entropy(chance: F32, held: I8) -> F64:
    """Mean over the 156 outputs of each row's cross-entropy, nats: ``[B]``."""
    right = np.where(held > 0, chance, 1 - chance).astype(np.float64)
    return -np.log(np.maximum(right, 1e-12)).mean(axis=(1, 2))


def uniform_cross_entropy() -> float:
    """The same for deals sampled uniformly: every unseen card is with each other player with chance 1/3."""
    unseen = 3 * HAND_SIZE
    return float((-HAND_SIZE * 3 * np.log(1 / 3) - 2 * unseen * np.log(2 / 3)) / (3 * NUM_CARDS))


def by_length(positions: Positions, network: Network, limit: int = 100_000) -> tuple[I64, F64, F64]:
    """Figure 3: positions, mean cross-entropy and its standard error by the number of calls made before."""
    belief, count = Belief(network), min(limit, len(positions))
    lengths, nats = [], []
    for start in range(0, count, 8192):
        numbers = np.arange(start, min(start + 8192, count))
        views, _, _ = positions.at(numbers)
        lengths.append(views["length"].astype(np.int64))
        nats.append(cross_entropy(belief.probabilities(views), targets(positions, numbers)))
    length, value = np.concatenate(lengths), np.concatenate(nats)
    n = np.bincount(length)
    mean = np.bincount(length, value) / np.maximum(n, 1)
    square = np.bincount(length, value**2) / np.maximum(n, 1)
    return n, mean, np.sqrt(np.maximum(square - mean**2, 0) / np.maximum(n, 1))


def measure(positions: Positions, network: Network, limit: int = 20_000) -> dict[str, float]:
    """Mean cross-entropy of all positions."""
    n, mean, _ = by_length(positions, network, limit)
    return {"cross_entropy": float((n * mean).sum() / n.sum()), "uniform": uniform_cross_entropy()}

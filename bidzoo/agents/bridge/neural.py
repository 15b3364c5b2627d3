"""A network as a player: its softmax over the legal calls, greedy or drawn."""

from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import weights
from bidzoo.agents.bridge.network import Network
from bidzoo.cards import NUM_CALLS
from bidzoo.kernels import F32, F64, I8, I64, Tables, batched, prange
from bidzoo.streams import Streams


@batched
def _softmax(logits: F32, legal: I8, temperature: float, out: F32) -> None:
    for b in prange(len(legal)):
        highest = -np.inf
        for a in range(legal.shape[1]):
            if legal[b, a]:
                highest = max(highest, logits[b, a])
        total = 0.0
        for a in range(legal.shape[1]):
            out[b, a] = np.exp((logits[b, a] - highest) / temperature) if legal[b, a] else 0.0
            total += out[b, a]
        for a in range(legal.shape[1]):
            out[b, a] /= total


@batched
def _greedy(logits: F32, legal: I8, out: I64) -> None:
    for b in prange(len(legal)):
        best = -1
        for a in range(legal.shape[1]):
            if legal[b, a] and (best < 0 or logits[b, a] > logits[b, best]):
                best = a
        out[b] = best


@batched
def _draw(chance: F32, numbers: F64, out: I64) -> None:
    for b in prange(len(chance)):
        left = numbers[b, 0]
        for a in range(chance.shape[1]):
            if chance[b, a] > 0:
                out[b] = a  # the last one with a chance takes what rounding leaves
                left -= chance[b, a]
                if left < 0:
                    break


class NetworkPolicy:
    """Calls as a network says; its first 38 outputs are the logits of the calls."""

    name = "network"
    weights_name = ""  # of the packaged weights; set by the agents

    def __init__(
        self, weights: str | Path | Network | None = None, temperature: float = 0.0, name: str | None = None
    ) -> None:
        """Args:
        weights: a file, the name of a packaged network, a network, or None for the agent's own (read when first
            needed).
        temperature: of the softmax calls are drawn from; 0 takes the likeliest call.
        name: what result tables call it.
        """
        if not (np.isfinite(temperature) and temperature >= 0):
            raise ValueError(f"temperature {temperature}: expected 0 (greedy) or more")
        self.temperature = temperature
        self.name = name or type(self).name
        self._weights = weights
        self._network: Network | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self._weights or 'packaged weights'}, temperature {self.temperature}>"

    def __getstate__(self) -> dict[str, Any]:
        """Packaged weights do not travel to other processes: they are there."""
        return {**vars(self), "_network": None} if self._weights is None else vars(self)

    @property
    def network(self) -> Network:
        """The network, read now if it was not before; ValueError unless it has an output for every call."""
        if self._network is None:
            self._network = weights.network(self.weights_name if self._weights is None else self._weights)
        if self._network.architecture.outputs < NUM_CALLS:
            outputs = self._network.architecture.outputs
            raise ValueError(f"{self._weights or self.weights_name}: {outputs} outputs, expected {NUM_CALLS} calls")
        return self._network

    def logits(self, views: Tables) -> F32:
        """Logits ``[B, 38]`` of all calls, legal or not."""
        network = self.network
        return np.ascontiguousarray(network(network.architecture.encoder(views))[:, :NUM_CALLS])

    def probabilities(self, views: Tables, legal: I8) -> F32:
        """Chance of every call ``[B, 38]`` at temperature 1; 0 for illegal ones."""
        return self._chances(views, legal, 1.0)

    def _chances(self, views: Tables, legal: I8, temperature: float) -> F32:
        out = np.empty((len(legal), NUM_CALLS), np.float32)
        _softmax(self.logits(views), legal, temperature, out)
        return out

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """The likeliest legal call, or one drawn at ``temperature``; ``[B]``."""
        out = np.empty(len(legal), np.int64)
        if self.temperature == 0:
            _greedy(self.logits(views), legal, out)
        else:
            _draw(self._chances(views, legal, self.temperature), rng.random(1), out)
        return out

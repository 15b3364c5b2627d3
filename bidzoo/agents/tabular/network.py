"""What A2C and BAD share: bits that describe a public node, and a small network that NumPy also runs.

While episodes are played the network needs no gradients and its batches are small; a NumPy pass over the same
weights costs a tenth of torch's.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from bidzoo.envs.signals.compiled import Compiled
from bidzoo.kernels import F32, Bool


def history_features(game: Compiled) -> F32:
    """One bit for each (turn, action) that some decision lies behind, ``[M, H]``."""
    inner = np.flatnonzero((game.count > 0) & (game.parent >= 0))
    pairs = sorted({(int(game.depth[m]), int(game.action[m])) for m in inner})
    column = {pair: h for h, pair in enumerate(pairs)}
    features = np.zeros((len(game.player), len(pairs)), np.float32)
    for m in inner:
        features[m] = features[game.parent[m]]
        features[m, column[int(game.depth[m]), int(game.action[m])]] = 1.0
    return features


def type_features(game: Compiled) -> F32:
    """Player and type, one bit for each pair: ``[2, T, X + Y]``."""
    x_types, y_types = game.num_types
    features = np.zeros((2, game.shape[1], x_types + y_types), np.float32)
    features[0, np.arange(x_types), np.arange(x_types)] = 1.0
    features[1, np.arange(y_types), x_types + np.arange(y_types)] = 1.0
    return features


def legal_actions(game: Compiled) -> Bool:
    """Legal at each node, ``[M, A]``."""
    legal: Bool = game.child >= 0
    return legal


class Network:
    """Linear layers with ReLU between them; ``torch(x)`` has gradients, ``numpy(x)`` has none."""

    def __init__(self, sizes: Sequence[int], generator: Any) -> None:
        import torch

        layers: list[Any] = []
        for inputs, outputs in pairwise(sizes):
            layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
            torch.nn.init.orthogonal_(layer.weight, 2**0.5, generator=generator)
            torch.nn.init.zeros_(layer.bias)
            layers += [layer, torch.nn.ReLU()]
        self.torch = torch.nn.Sequential(*layers[:-1])
        self.weights = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in layers[::2]]

    def numpy(self, x: F32) -> F32:
        """Outputs ``[B, O]`` of inputs ``[B, I]``; the weights are torch's own memory."""
        for n, (weight, bias) in enumerate(self.weights):
            x = x @ weight.T + bias
            if n < len(self.weights) - 1:
                np.maximum(x, 0.0, out=x)
        return x


def draw(logits: F32, legal: Bool, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One action ``[B]`` from each row's softmax over its legal actions (Gumbel's maximum)."""
    noise = -np.log(-np.log(rng.random(logits.shape, np.float32) * (1.0 - 2e-7) + 1e-7))
    return np.where(legal, logits + noise, -np.inf).argmax(axis=1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread, so that results depend on nothing but the seed."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

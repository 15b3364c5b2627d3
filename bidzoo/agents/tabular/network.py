"""What A2C and BAD share: options, inputs, deals, a small network that NumPy also runs, and the loop over epochs.

While episodes are played the network needs no gradients and its batches are small; a NumPy pass over the same
weights costs a tenth of torch's.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from bidzoo.core.kernels import F32, F64, I64, Bool
from bidzoo.core.options import Checked, Count, Seed, Weight
from bidzoo.envs.signalling.compiled import Compiled, evaluate


@dataclass(frozen=True)
class NetworkOptions(Checked):
    """Numbers of both algorithms; the paper gives 100 epochs of 1000 updates, and that the best epoch is kept."""

    epochs: Count
    updates: Count = 200  # an epoch
    episodes: Count = 256  # an update
    hidden: tuple[Count, ...] = (80, 80)  # the trunk of BAD in the paper
    rate: Weight = 3e-3  # Adam, falling to 0
    entropy: Weight = 0.01  # of the reward's range, falling to 0
    value: Weight = 0.5
    seed: Seed = 0


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


class Features:
    """What networks are told about a game."""

    def __init__(self, game: Compiled) -> None:
        x_types, y_types = game.num_types
        self.game, self.history = game, history_features(game)
        self.legal: Bool = game.child >= 0  # [M, A]
        self.types = np.zeros((2, game.shape[1], x_types + y_types), np.float32)  # a bit for each player and type
        self.types[0, np.arange(x_types), np.arange(x_types)] = 1.0
        self.types[1, np.arange(y_types), x_types + np.arange(y_types)] = 1.0


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


def draw(logits: F32, legal: Bool, rng: np.random.Generator) -> I64:
    """One action ``[B]`` from each row's softmax over its legal actions (Gumbel's maximum)."""
    noise = -np.log(-np.log(rng.random(logits.shape, np.float32) * (1.0 - 2e-7) + 1e-7))
    return np.where(legal, logits + noise, -np.inf).argmax(axis=1)


def deal_types(game: Compiled, episodes: int, rng: np.random.Generator) -> I64:
    """Types of both players in ``episodes`` deals, ``[B, 2]``."""
    deal = rng.choice(game.prior.size, episodes, p=game.prior.ravel())
    return np.stack(np.unravel_index(deal, game.prior.shape), axis=1)


@contextmanager
def one_thread(name: str) -> Iterator[None]:
    """Torch on one thread, so that results depend on nothing but the seed; ImportError names who needs it."""
    if find_spec("torch") is None:
        raise ImportError(f"{name} trains with torch, which is not installed: pip install 'bidzoo[train]'")
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


Report = Callable[[int, float], None]  # epoch, value of its strategy


def best_epoch(
    game: Compiled,
    config: NetworkOptions,
    networks: Sequence[Network],
    loss: Callable[[float], Any],
    greedy: Callable[[], F64],
    report: Report | None,
) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs, evaluated exactly; ``report`` hears the value of each.

    ``loss(left)`` plays and gives what an update descends; ``left`` falls from 1 to 0 over the training.
    """
    import torch

    adam = torch.optim.Adam([weights for network in networks for weights in network.torch.parameters()], config.rate)
    best, most = greedy(), -np.inf
    for epoch in range(config.epochs):
        for update in range(config.updates):
            left = 1.0 - (epoch + update / config.updates) / config.epochs
            adam.param_groups[0]["lr"] = config.rate * left
            adam.zero_grad()
            loss(left).backward()
            adam.step()
        strategy = greedy()
        value = evaluate(game, strategy)
        if value > most:
            best, most = strategy, value
        if report is not None:
            report(epoch, value)
    return best

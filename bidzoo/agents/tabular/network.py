"""Shared parts of A2C and BAD: options, inputs, a small network with its gradients, and the loop over epochs.

A batch of episodes visits the same information sets again and again, the more so the better a policy knows what it
wants. The networks run once for each that is visited: a **row** is an information set, a **draw** an action taken
there. Gradients are sums over draws, so this changes no result but the time, and NumPy is all it needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from bidzoo.core.kernels import F32, F64, I64, Bool, row
from bidzoo.core.options import Checked, Count, Seed, Weight
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate


@dataclass(frozen=True)
class NetworkOptions(Checked):
    """Numbers of both algorithms; the paper gives 100 epochs of 1000 updates, and that the best epoch is kept."""

    epochs: Count  # the best one is kept
    updates: Count = 200  # an epoch
    episodes: Count = 256  # an update
    hidden: tuple[Count, ...] = (80, 80)  # the trunk of BAD in the paper
    rate: Weight = 3e-3  # Adam, falling to 0
    entropy: Weight = 0.01  # of the reward's range, falling to 0
    value: Weight = 0.5  # weight of the loss of the value
    seed: Seed = 0  # of weights and episodes


# ---- inputs ------------------------------------------------------------------------------


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
    """Inputs of the networks for a game: public numbers, and one bit for each player and type."""

    network: "Network"

    def __init__(self, game: Compiled) -> None:
        self.game, self.history = game, history_features(game)
        self.legal: Bool = game.child >= 0  # [M, A]
        self.bits = sum(game.num_types)

    def bit(self, nodes: I64, types: I64) -> I64:
        """The bit of the movers at ``nodes`` whose types are ``types``: ``[R]``."""
        return types + self.game.num_types[0] * self.game.player[nodes].astype(np.int64)


# ---- networks ----------------------------------------------------------------------------


@row
def _add_rows(rows: F32, indices: I64, out: F32) -> None:
    for r in range(len(indices)):
        for k in range(out.shape[1]):
            out[indices[r], k] += rows[r, k]


# multiplications of a product that OpenBLAS leaves to one thread; it rounds larger ones by their number
SMALL = 1 << 18


def product(a: F32, b: F32) -> F32:
    """``a @ b`` of ``[R, I]`` and ``[I, O]``, in blocks of rows: the same bytes for any number of threads."""
    rows = max(1, SMALL // b.size)
    blocks = len(a) // rows
    whole = blocks * rows
    out = np.empty((len(a), b.shape[1]), np.float32)
    np.matmul(a[:whole].reshape(blocks, rows, a.shape[1]), b, out=out[:whole].reshape(blocks, rows, b.shape[1]))
    np.matmul(a[whole:], b, out=out[whole:])
    return out


def product_over_rows(a: F32, b: F32) -> F32:
    """``a.T @ b`` of ``[R, I]`` and ``[R, O]``, as ``product``."""
    rows = max(1, SMALL // (a.shape[1] * b.shape[1]))
    blocks = len(a) // rows
    whole = blocks * rows
    left = a[:whole].reshape(blocks, rows, a.shape[1]).swapaxes(1, 2)
    parts: F32 = left @ b[:whole].reshape(blocks, rows, b.shape[1])
    return parts.sum(axis=0) + a[whole:].T @ b[whole:]


class Inputs(NamedTuple):
    """Inputs of ``R`` rows: numbers of ``D`` decisions, and of each row its decision and one bit that is set."""

    dense: F32  # [D, P]
    owner: I64  # [R]
    bit: I64  # [R]


class Network:
    """Linear layers with ReLU between them, and their gradients."""

    def __init__(self, sizes: Sequence[int], rng: np.random.Generator) -> None:
        shapes = list(pairwise(sizes))
        self.weights = np.concatenate(
            [part for shape in shapes for part in (_orthogonal(shape, rng), [0.0] * shape[1])]
        )
        self.weights = self.weights.astype(np.float32)
        self.gradients = np.zeros_like(self.weights)
        self.layers, self.layer_gradients = _layers(self.weights, shapes), _layers(self.gradients, shapes)

    def hidden(self, inputs: F32 | Inputs) -> list[F32]:
        """Outputs of the hidden layers ``[R, h]``, of inputs ``[R, P]`` or of ``Inputs``."""
        weight, bias = self.layers[0]
        if isinstance(inputs, Inputs):
            width = inputs.dense.shape[1]
            sums = (product(inputs.dense, weight[:width]) + bias)[inputs.owner] + weight[width:][inputs.bit]
        else:
            sums = product(inputs, weight) + bias
        outputs = [np.maximum(sums, 0.0)]
        for weight, bias in self.layers[1:-1]:
            x = product(outputs[-1], weight)
            x += bias
            outputs.append(np.maximum(x, 0.0, out=x))
        return outputs

    def output(self, hidden: Sequence[F32], columns: I64) -> F32:
        """The ``columns`` of the last layer, ``[R, C]``."""
        weight, bias = self.layers[-1]
        return product(hidden[-1], weight[:, columns]) + bias[columns]

    def __call__(self, inputs: F32 | Inputs) -> F32:
        """Outputs ``[R, O]``."""
        return self.output(self.hidden(inputs), np.arange(len(self.layers[-1][1])))

    def learn(self, inputs: F32 | Inputs, hidden: Sequence[F32], columns: I64, gradient: F32) -> None:
        """Add to ``gradients`` those of a loss with derivative ``gradient`` ``[R, C]`` by the outputs ``columns``."""
        weight, _ = self.layers[-1]
        for_weight, for_bias = self.layer_gradients[-1]
        for_weight[:, columns] += product_over_rows(hidden[-1], gradient)
        for_bias[columns] += gradient.sum(axis=0)
        gradient = product(gradient, weight[:, columns].T)
        for n in range(len(hidden) - 1, -1, -1):
            gradient *= hidden[n] > 0.0
            for_weight, for_bias = self.layer_gradients[n]
            if n > 0:
                for_weight += product_over_rows(hidden[n - 1], gradient)
                for_bias += gradient.sum(axis=0)
                gradient = product(gradient, self.layers[n][0].T)
        if isinstance(inputs, Inputs):
            width = inputs.dense.shape[1]
            _add_rows(gradient, inputs.bit, for_weight[width:])
            by_decision = np.zeros((len(inputs.dense), gradient.shape[1]), np.float32)
            _add_rows(gradient, inputs.owner, by_decision)
            for_weight[:width] += product_over_rows(inputs.dense, by_decision)
            for_bias += by_decision.sum(axis=0)
        else:
            for_weight += product_over_rows(inputs, gradient)
            for_bias += gradient.sum(axis=0)


def _orthogonal(shape: tuple[int, int], rng: np.random.Generator) -> F64:
    """Weights ``[I * O]`` whose columns (or rows) are orthogonal, of length root 2."""
    q, r = np.linalg.qr(rng.standard_normal((max(shape), min(shape))))
    q *= np.sign(np.diag(r))
    return 2**0.5 * (q if shape[0] >= shape[1] else q.T).ravel()


def _layers(flat: F32, shapes: Sequence[tuple[int, int]]) -> list[tuple[F32, F32]]:
    """Views of ``flat`` as weights ``[I, O]`` and biases ``[O]``."""
    layers, start = [], 0
    for inputs, outputs in shapes:
        bias = start + inputs * outputs
        layers.append((flat[start:bias].reshape(inputs, outputs), flat[bias : bias + outputs]))
        start = bias + outputs
    return layers


class Adam:
    """Kingma and Ba 2015, Algorithm 1, with their constants."""

    def __init__(self, network: Network) -> None:
        self.network, self.steps = network, 0
        self.mean, self.square = np.zeros_like(network.weights), np.zeros_like(network.weights)

    def step(self, rate: float) -> None:
        """Descend by the network's gradients, and set them to 0."""
        gradients = self.network.gradients
        self.steps += 1
        self.mean += np.float32(0.1) * (gradients - self.mean)
        self.square += np.float32(0.001) * (gradients * gradients - self.square)
        scale = np.sqrt(self.square / np.float32(1.0 - 0.999**self.steps)) + np.float32(1e-8)
        self.network.weights -= np.float32(rate / (1.0 - 0.9**self.steps)) * self.mean / scale
        gradients[:] = 0.0


# ---- actions -----------------------------------------------------------------------------


def chances(logits: F32, legal: Bool) -> F32:
    """Softmax over the legal actions ``[R, C]``; 0 for the others."""
    masked = np.where(legal, logits, np.float32(-1e9))
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def draw(chances: F32, rows: I64, rng: np.random.Generator) -> I64:
    """One column for each of ``rows`` ``[K]``, sampled by its ``chances`` ``[R, C]``."""
    cumulative = np.cumsum(chances, axis=1)
    cumulative[:, -1] = np.inf
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0.0).argmax(axis=1)
    columns = (rng.random((len(rows), 1), np.float32) >= cumulative[rows]).sum(axis=1)
    return np.minimum(columns, last[rows])


def policy_gradient(chances: F32, rows: I64, chosen: I64, gain: F32, entropy: float, weight: F32 | None = None) -> F32:
    """Derivative by the logits ``[R, C]`` of ``-sum(gain * log(chance of chosen)) - entropy * sum(weight * entropy)``.

    Both sums are over the draws ``[K]``: their ``rows`` and ``chosen`` columns; ``weight`` is 1 if not given.
    """
    count, width = chances.shape
    times = np.bincount(rows, weight, minlength=count).astype(np.float32)[:, None]
    gains = np.bincount(rows, gain, minlength=count).astype(np.float32)[:, None]
    logs = np.log(np.maximum(chances, np.float32(1e-30)))
    entropies = -(chances * logs).sum(axis=1, keepdims=True)
    gradient = np.asarray(chances * (gains + np.float32(entropy) * times * (logs + entropies)), np.float32)
    taken = np.bincount(rows * width + chosen, gain, minlength=count * width).reshape(count, width)
    np.subtract(gradient, taken, out=gradient)
    return gradient


Config = TypeVar("Config", bound=NetworkOptions)
Learner = TypeVar("Learner", bound=Features)


def best_epoch(
    kind: Callable[[Compiled, tuple[int, ...], np.random.Generator], Learner],
    learn: Callable[[Learner, Config, float, float, np.random.Generator], None],
    greedy: Callable[[Learner], F64],
    game: Solvable,
    config: Config,
    report: Callable[[int, float], None] | None,
) -> F64:
    """The best ``greedy`` strategy ``[M, T]`` of all epochs, evaluated exactly.

    ``learn`` plays and adds up the gradients of an update, given the learner (of ``kind``), ``config``, the range of
    the rewards, and a number that falls from 1 to 0 over the training. ``report`` hears epochs and values.
    """
    game = compile_game(game)
    rng = np.random.default_rng(config.seed)
    learner, scale = kind(game, config.hidden, rng), float(game.payoff.max() - game.payoff.min())
    adam = Adam(learner.network)
    best, best_value = greedy(learner), -np.inf
    for epoch in range(config.epochs):
        for update in range(config.updates):
            remaining = 1.0 - (epoch + update / config.updates) / config.epochs
            learn(learner, config, scale, remaining, rng)
            adam.step(config.rate * remaining)
        strategy = greedy(learner)
        value = evaluate(game, strategy)
        if value > best_value:
            best, best_value = strategy, value
        if report is not None:
            report(epoch, value)
    return best

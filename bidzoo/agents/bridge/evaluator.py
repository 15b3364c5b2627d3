"""How many tricks declarer takes with all cards seen: a network in place of a double-dummy solver.

A cell is a deal, a declarer and a strain. Seats are counted from declarer clockwise, and suits have no names, only a
kind: ``NT`` in a notrump cell, else ``TRUMP`` or ``SIDE``. Suits of a kind share the weights of the first two layers::

    h_s = relu(cards[kind] x_s)         x_s: who holds each of the 13 cards of suit s, 52 bits
    g_s = relu(suits[kind] h_s)         s = 0 ... 3: trumps first
    out = softmax(last relu(middle relu(sum_s places[s] g_s)))       chances of 0 ... 13 tricks

Suits are put in one order (training shuffles them) and each sum is taken in a fixed order, so renaming side suits,
turning seats together with declarer, the batch and the number of threads change no bit of the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.bridge import weights
from bidzoo.agents.bridge.dense import RELU, activate_row, one_row, pack
from bidzoo.cards import FULL_DECK, HAND_SIZE, NOTRUMP, NUM_CARDS
from bidzoo.kernels import F32, I64, Bool, batched, prange, row

FORMAT = "bidzoo double-dummy evaluator 1"
CLASSES = HAND_SIZE + 1  # tricks 0 ... 13
NT, SIDE, TRUMP = 0, 1, 2  # kinds of suits


@dataclass(frozen=True)
class Suits:
    """Widths of the network; stored beside its weights."""

    cards: int = 128  # of h, one a suit
    suits: int = 64  # of g, one a suit
    hidden: int = 256  # of the two layers over all suits

    def __post_init__(self) -> None:
        if min(self.cards, self.suits, self.hidden) < 1:
            raise ValueError(f"architecture: widths must be positive, got {self}")


def shapes(architecture: Suits) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the tensors, the same for NumPy and torch."""
    cards, suits, hidden = architecture.cards, architecture.suits, architecture.hidden
    return {
        "cards.weight": (3, cards, NUM_CARDS),
        "cards.bias": (3, cards),
        "suits.weight": (3, suits, cards),
        "suits.bias": (3, suits),
        "places.weight": (4, hidden, suits),
        "places.bias": (hidden,),
        "middle.weight": (hidden, hidden),
        "middle.bias": (hidden,),
        "last.weight": (CLASSES, hidden),
        "last.bias": (CLASSES,),
    }


class Layers(NamedTuple):
    """The tensors as ``dense.pack`` lays them out."""

    cards: F32
    cards_bias: F32
    suits: F32
    suits_bias: F32
    places: F32
    places_bias: F32
    middle: F32
    middle_bias: F32
    last: F32
    last_bias: F32


# ---- cells -------------------------------------------------------------------------------


@row
def suits_row(hands: I64, declarer: int, strain: int, out: I64) -> bool:
    """Whether this is a deal; its suits into ``out`` ``[4]``, trumps first, the others in the order of their codes.

    A code has two bits a rank, the lowest for the deuce: the holder, 0 declarer, 1 LHO, 2 dummy, 3 RHO.
    """
    union = np.int64(0)
    right = True
    out[:] = 0
    for who in range(4):
        hand = hands[(declarer + who) & 3]
        union |= hand
        count = 0
        for card in range(NUM_CARDS):
            if hand >> card & 1:
                count += 1
                out[card & 3] |= who << 2 * (card >> 2)
        right = right and count == HAND_SIZE
    first = 0
    if strain < NOTRUMP:
        out[0], out[strain] = out[strain], out[0]
        first = 1
    for end in range(3, first, -1):
        for s in range(first, end):
            if out[s] > out[s + 1]:
                out[s], out[s + 1] = out[s + 1], out[s]
    return right and union == FULL_DECK


@batched
def _suits(hands: I64, declarer: I64, strain: I64, out: I64, right: Bool) -> None:
    for b in prange(len(hands)):
        right[b] = suits_row(hands[b], declarer[b], strain[b], out[b])


def suits(hands: I64, declarer: I64, strain: I64) -> I64:
    """Codes ``[n, 4]`` of cells, see ``suits_row``; ValueError names the cell and what was expected of it."""
    hands = np.ascontiguousarray(hands, np.int64)
    declarer, strain = np.ascontiguousarray(declarer, np.int64), np.ascontiguousarray(strain, np.int64)
    n = len(hands)
    for name, array, shape in (("hands", hands, (n, 4)), ("declarer", declarer, (n,)), ("strain", strain, (n,))):
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    for name, array, end in (("declarer", declarer, 4), ("strain", strain, 5)):
        for cell in np.flatnonzero((array < 0) | (array >= end))[:1]:
            raise ValueError(f"cell {cell}: {name} {array[cell]}, expected 0 ... {end - 1}")
    out, right = np.empty((n, 4), np.int64), np.empty(n, np.bool_)
    _suits(hands, declarer, strain, out, right)
    for cell in np.flatnonzero(~right)[:1]:
        raise ValueError(f"cell {cell}: hands {hands[cell].tolist()}, expected four hands of 13 cards, one pack")
    return out


# ---- the network, without torch ----------------------------------------------------------


@row
def _chances_row(codes: I64, notrump: bool, net: Layers, out: F32) -> None:
    x, h = np.empty((1, NUM_CARDS), np.int8), np.empty((1, net.cards_bias.shape[1]), np.float32)
    g, z = np.empty((1, net.suits_bias.shape[1]), np.float32), net.places_bias.copy().reshape((1, -1))
    y, logits = np.empty((1, len(net.middle_bias)), np.float32), np.empty(len(net.last_bias), np.float32)
    used = np.empty(max(NUM_CARDS, h.size, g.size, z.size), np.uint32)
    for s in range(4):
        kind = NT if notrump else (TRUMP if s == 0 else SIDE)
        x[:] = 0
        for rank in range(HAND_SIZE):
            x[0, HAND_SIZE * (codes[s] >> 2 * rank & 3) + rank] = 1
        one_row(x, net.cards[kind], net.cards_bias[kind], used, h[0])
        activate_row(h[0], RELU)
        one_row(h, net.suits[kind], net.suits_bias[kind], used, g[0])
        activate_row(g[0], RELU)
        one_row(g, net.places[s], z[0], used, z[0])
    activate_row(z[0], RELU)
    one_row(z, net.middle, net.middle_bias, used, y[0])
    activate_row(y[0], RELU)
    one_row(y, net.last, net.last_bias, used, logits)
    out[:] = logits[:CLASSES]
    _softmax_row(out)


@row
def _softmax_row(x: F32) -> None:
    most, total = x.max(), 0.0
    for j in range(len(x)):
        x[j] = math.exp(x[j] - most)
        total += x[j]
    for j in range(len(x)):
        x[j] = x[j] / total


@batched
def _chances(codes: I64, strain: I64, net: Layers, out: F32) -> None:
    for b in prange(len(codes)):
        _chances_row(codes[b], strain[b] == NOTRUMP, net, out[b])


class SuitNetwork:
    """Weights that run on NumPy arrays."""

    def __init__(self, architecture: Suits, tensors: dict[str, F32]) -> None:
        """``tensors``: as ``shapes`` says."""
        self.architecture, self.tensors = architecture, tensors
        names = ("cards", "suits", "places", "middle", "last")
        packed = [pack(tensors[f"{name}.weight"].swapaxes(-1, -2), tensors[f"{name}.bias"]) for name in names]
        self._layers = Layers(*(array for layer in packed for array in layer))

    def __call__(self, codes: I64, strain: I64) -> F32:
        """Chances ``[n, 14]`` of cells with suits ``codes`` ``[n, 4]``, see ``suits``."""
        out = np.empty((len(codes), CLASSES), np.float32)
        _chances(codes, np.ascontiguousarray(strain, np.int64), self._layers, out)
        return out


def load(path: str | Path) -> tuple[SuitNetwork, dict[str, Any]]:
    """A network and its provenance; ValueError names file and tensor and what was expected of them."""
    architecture, tensors, provenance = weights.read(path, FORMAT, Suits, shapes)
    return SuitNetwork(architecture, tensors), provenance


@cache
def _packaged() -> SuitNetwork:
    """The network that comes with bidzoo, read once."""
    return load(weights.PACKAGED / "evaluator.safetensors")[0]


# ---- what search asks --------------------------------------------------------------------


class Evaluator:
    """Double-dummy tricks without a solver."""

    def __init__(self, source: str | Path | SuitNetwork | None = None) -> None:
        """``source``: a file, a network, or None for the packaged weights, read when first needed."""
        self._source = source

    @property
    def network(self) -> SuitNetwork:
        """The network; ValueError if the file holds none."""
        if self._source is not None and not isinstance(self._source, SuitNetwork):
            self._source = load(self._source)[0]
        return _packaged() if self._source is None else self._source

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Chance of 0 ... 13 tricks: ``[n, 14]``, each row adding up to 1.

        Args:
            hands: ``[n, 4]`` card bits of N E S W.
            declarer: ``[n]`` seats, N E S W = 0 ... 3.
            strain: ``[n]`` C D H S NT = 0 ... 4.

        Raises:
            ValueError: a cell that does not exist, with its number.
        """
        return self.network(suits(hands, declarer, strain), strain)

    def tricks(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Expected tricks ``[n]`` of the cells of ``chances``."""
        chances = self.chances(hands, declarer, strain)
        expected = np.zeros(len(chances), np.float32)
        for tricks in range(1, CLASSES):  # a matrix product would be summed in an order that depends on n
            expected += np.float32(tricks) * chances[:, tricks]
        return expected

    def table(self, hands: I64) -> F32:
        """Expected tricks ``[n, 20]``, ``5 * declarer + strain`` as in ``DealSet.tricks``."""
        cell = np.tile(np.arange(20), len(hands))
        return self.tricks(np.repeat(np.asarray(hands, np.int64), 20, axis=0), cell // 5, cell % 5).reshape(-1, 20)

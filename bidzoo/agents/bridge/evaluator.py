"""How many tricks declarer takes with all cards seen: a network in place of a double-dummy solver.

A cell is a deal, a declarer and a strain. Seats are counted from declarer clockwise, and suits have no names, only a
kind: ``NT`` in a notrump cell, else ``TRUMP`` or ``SIDE``. Suits of a kind share the weights of the first two layers::

    h_s = relu(cards[kind] x_s)         x_s: who holds each of the 13 cards of suit s, 52 bits
    g_s = relu(suits[kind] h_s)         s = 0 ... 3: trumps first
    out = softmax(last relu(middle relu(sum_s places[s] g_s)))       chances of 0 ... 13 tricks

Suits are put in one order (training shuffles them) and sums are those of integers, so renaming side suits,
turning seats together with declarer, the batch and the number of threads change no bit of the result.

``experiments/trainers/evaluator.py`` fits it to solved deals by the cross-entropy of the exact trick counts. *Estimated
deals* have tables sampled from its chances: hundreds of times as many as can be solved. What a policy learns from them
on average is right as far as the chances are; a single table is often wrong by a trick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bidzoo.agents.bridge.dense import NONE, RELU, Linear, dense, pack
from bidzoo.agents.bridge.network import Neurons, Shapes, Weighted, Weights
from bidzoo.core.cards import FULL_DECK, HAND_SIZE, NOTRUMP, NUM_CARDS
from bidzoo.core.kernels import F32, F64, I8, I64, U8, Bool, batched, row, rows_a_thread
from bidzoo.core.options import Checked
from bidzoo.core.storage import journaled
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.deals import TRICK_BYTES, DealSet, pack_tricks, random_deals, unpack_tricks

CLASSES = HAND_SIZE + 1  # tricks 0 ... 13
NT, SIDE, TRUMP = 0, 1, 2  # kinds of suits


@dataclass(frozen=True)
class Suits(Checked):
    """Widths of the network; stored beside its weights."""

    cards: Neurons = 128  # of h, one a suit
    suits: Neurons = 64  # of g, one a suit
    hidden: Neurons = 256  # of the two layers over all suits

    @property
    def shapes(self) -> Shapes:
        """Names and shapes of the tensors."""
        cards, suits, hidden = self.cards, self.suits, self.hidden
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
@rows_a_thread(512)
def _suits(start: int, stop: int, hands: I64, declarer: I64, strain: I64, out: I64, right: Bool) -> None:
    for b in range(start, stop):
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


_RANKS = np.arange(HAND_SIZE)


@batched
def _softmax(start: int, stop: int, logits: F32, out: F32) -> None:
    for b in range(start, stop):
        most, total = -np.inf, 0.0
        for j in range(CLASSES):
            most = max(most, logits[b, j])
        for j in range(CLASSES):
            out[b, j] = math.exp(logits[b, j] - np.float32(most))
            total += out[b, j]
        for j in range(CLASSES):
            out[b, j] = out[b, j] / total


class SuitNetwork(Weights):
    """Weights that run on NumPy arrays."""

    form = "bidzoo double-dummy evaluator 1"
    made_of = Suits

    def __init__(self, architecture: Suits, tensors: dict[str, F32]) -> None:
        super().__init__(architecture, tensors)

        def layer(name: str, kind: int | None = None, activation: int = RELU) -> Linear:
            weight, bias = (tensors[f"{name}.{part}"] for part in ("weight", "bias"))
            weight, bias = (weight, bias) if kind is None else (weight[kind], bias[kind])
            # of ``places`` [4, hidden, suits]: the four suits are added up one after the other
            return Linear(weight.swapaxes(-1, -2).reshape(-1, len(bias)), bias, activation)

        self._suits = [pack(layer("cards", kind), layer("suits", kind)) for kind in range(3)]
        self._whole = pack(layer("places"), layer("middle"), layer("last", activation=NONE))

    def __call__(self, codes: I64, strain: I64) -> F32:
        """Chances ``[n, 14]`` of cells with suits ``codes`` ``[n, 4]``, see ``suits``."""
        n, width = len(codes), self.architecture.suits
        x, features = np.zeros((n, 4, NUM_CARDS), np.float32), np.empty((n, 4, width), np.float32)
        np.put_along_axis(x, HAND_SIZE * (codes[:, :, None] >> 2 * _RANKS & 3) + _RANKS, 1, axis=2)
        notrump, all_four = np.asarray(strain) == NOTRUMP, slice(None)
        for kind, cells, suits in ((NT, notrump, all_four), (TRUMP, ~notrump, slice(1)), (SIDE, ~notrump, slice(1, 4))):
            inputs = x[cells, suits]
            outputs = dense(inputs.reshape(-1, NUM_CARDS), self._suits[kind])
            features[cells, suits] = outputs.reshape(*inputs.shape[:2], width)
        out = np.empty((n, CLASSES), np.float32)
        _softmax(dense(features.reshape(n, -1), self._whole), out)
        return out


# ---- for search --------------------------------------------------------------------------


class Evaluator(Weighted):
    """Double-dummy tricks without a solver."""

    name = "evaluator"
    kind = SuitNetwork

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Chance of 0 ... 13 tricks: ``[n, 14]``, each row adding up to 1.

        Args:
            hands: ``[n, 4]`` card bits of N E S W.
            declarer: ``[n]`` seats, N E S W = 0 ... 3.
            strain: ``[n]`` C D H S NT = 0 ... 4.

        Raises:
            ValueError: a cell that does not exist, with its number.
        """
        chances: F32 = self.network(suits(hands, declarer, strain), strain)
        return chances

    def tricks(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Expected tricks ``[n]`` of the cells of ``chances``."""
        chances = self.chances(hands, declarer, strain)
        expected = np.zeros(len(chances), np.float32)
        for tricks in range(1, CLASSES):  # a matrix product would be summed in an order that depends on n
            expected += np.float32(tricks) * chances[:, tricks]
        return expected

    def dd_tricks(self, hands: I64) -> F32:
        """Expected tricks ``[n, 20]``, ``5 * declarer + strain`` as in ``DealSet.tricks``."""
        cell = np.tile(np.arange(20), len(hands))
        return self.tricks(np.repeat(np.asarray(hands, np.int64), 20, axis=0), cell // 5, cell % 5).reshape(-1, 20)


# ---- estimated deals -----------------------------------------------------------------------

_CHUNK = 5000  # deals at a time; bounds memory, changes no result


def estimated_deals(
    evaluator: Evaluator,
    seed: int,
    count: int,
    report: Callable[[int], None] = lambda done: None,
    journal: Path | None = None,
) -> DealSet:
    """Deals ``0 ... count - 1`` of ``seed`` with tricks sampled for each; about 0.5 ms a deal and core.

    ``report`` hears how many are done. Killed at any moment, the same call goes on from the file ``journal``.
    """

    def rest(done: int) -> Iterator[U8]:
        for first in range(done, count, _CHUNK):
            rows = np.arange(first, min(first + _CHUNK, count))
            yield pack_tricks(sample_tricks(evaluator, random_deals(seed, rows), Streams.at(seed, rows)))

    weights = evaluator.network.digest if journal else ""
    header = {"bidzoo": "estimated deals", "format": 1, "seed": seed, "weights": weights}
    packed = journaled(journal, header, TRICK_BYTES, count, rest, report)
    return DealSet.of(random_deals(seed, np.arange(count)), unpack_tricks(packed), "estimated deals")


def sample_tricks(evaluator: Evaluator, hands: I64, rng: Streams) -> I8:
    """Double-dummy tricks ``[n, 20]`` of deals ``[n, 4]``, with one random number a strain."""
    cell = np.tile(np.arange(20), len(hands))
    luck = np.tile(rng.random(5), 4).reshape(-1, 1)
    return draw_tricks(evaluator, hands.repeat(20, axis=0), cell // 5, cell % 5, luck).reshape(-1, 20)


def draw_tricks(evaluator: Evaluator, hands: I64, declarer: I64, strain: I64, luck: F64) -> I8:
    """Tricks ``[n, draws]`` of the cells of ``Evaluator.chances``: quantiles of their chances.

    ``luck`` ``[n, draws]`` are random numbers of [0, 1), the share of results that are worse for N/S. So the two
    declarers of a side have the same luck, and the other side 1 minus it.
    """
    tricks = np.empty(luck.shape, np.int8)
    luck_of_declarer = np.where((declarer % 2 == 0)[:, None], luck, 1 - luck)
    chances = evaluator.chances(hands, declarer, strain).astype(np.float64)
    _quantiles(np.cumsum(chances, axis=1), luck_of_declarer, tricks)
    return tricks


@batched
def _quantiles(start: int, stop: int, cumulative: F64, luck: F64, tricks: I8) -> None:
    for b in range(start, stop):
        for d in range(luck.shape[1]):
            k = 0
            while k < HAND_SIZE and cumulative[b, k] < luck[b, d] * cumulative[b, HAND_SIZE]:
                k += 1
            tricks[b, d] = k

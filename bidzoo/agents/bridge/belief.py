"""``belief``: who holds which card, given one hand and the calls. Belief Monte Carlo search, sections V and VI-C.

156 sigmoids, partner, LHO and RHO x 52 cards, fitted by cross-entropy; the own cards are known to be nobody else's.
Deals that fit the hand are sampled from them, as if every unseen card chose its holder by itself, on condition
that everybody ends up with 13: exact, nothing is rejected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.network import Network, Weighted, sigmoid
from bidzoo.agents.bridge.trainer import Fit
from bidzoo.core.cards import HAND_SIZE, NUM_CARDS, held
from bidzoo.core.kernels import F32, F64, I8, I64, U64, Bool, States, batched, row, rows_a_thread
from bidzoo.core.options import Range
from bidzoo.core.streams import next_row, unit_row
from bidzoo.envs.bridge.formats.auctions import Positions

WHO = (2, 1, 3)  # partner, LHO, RHO: seats after the viewer's
OUTPUTS = 3 * NUM_CARDS


class Belief(Weighted):
    """Chances of the cards of the other three players."""

    name = "belief"
    outputs = Range(OUTPUTS, OUTPUTS)

    def probabilities(self, views: States) -> F32:
        """Chance that partner, LHO and RHO hold each card: ``[B, 3, 52]``; 0 for the viewer's own cards."""
        logits = self.network(self.network.architecture.encoder(views)).reshape(-1, 3, NUM_CARDS)
        return np.where(_own(views)[:, None], np.float32(0), sigmoid(logits))

    def by_seat(self, view: States) -> dict[int, F64]:
        """Chances ``[52]`` of each of the three seats, for one view ``[1]``."""
        chances = self.probabilities(view)[0].astype(np.float64)
        return {(int(view["seat"][0]) + who) % 4: each for who, each in zip(WHO, chances)}


def _own(views: States) -> Bool:
    """Cards ``[B, 52]`` of the viewer."""
    return held(views["hand"]) == 1


# ---- training and evaluation -------------------------------------------------------------


class Trainer(Fit):
    """Fits who held what in ``Positions`` of recorded auctions."""

    algorithm = "belief"

    def loss(self, numbers: I64) -> Any:
        """Mean cross-entropy of the 156 outputs, nats."""
        import torch

        views, _, _ = self.learn.at(numbers)
        x = self.tensor(self.options.architecture.encoder(views))
        logits = network.forward(self.learner, x).reshape(-1, 3, NUM_CARDS)
        target = self.tensor(targets(self.learn, numbers)).float()
        losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return (losses * self.tensor(~_own(views))[:, None]).sum() / losses.numel()

    def measure(self, player: Any) -> dict[str, float]:
        """Mean cross-entropy of the validation positions."""
        _, nats = by_length(self.check, player, 20_000)
        return {"cross_entropy": float(nats.mean()), "uniform": uniform_cross_entropy()}


def targets(positions: Positions, numbers: I64) -> I8:
    """Whether partner, LHO and RHO held each card: ``[B, 3, 52]``."""
    return held(positions.others(numbers)[:, [who - 1 for who in WHO]])


def cross_entropy(chance: F32, held: I8) -> F64:
    """Mean over the 156 outputs of each row's cross-entropy, nats: ``[B]``."""
    likelihood = np.where(held > 0, chance, 1 - chance).astype(np.float64)
    return -np.log(np.maximum(likelihood, 1e-12)).mean(axis=(1, 2))


def uniform_cross_entropy() -> float:
    """Cross-entropy of deals sampled uniformly: every unseen card is with each other player with chance 1/3."""
    unseen = 3 * HAND_SIZE
    return float((-HAND_SIZE * 3 * np.log(1 / 3) - 2 * unseen * np.log(2 / 3)) / OUTPUTS)


def by_length(positions: Positions, network: Network, limit: int = 100_000) -> tuple[I64, F64]:
    """Calls made before each of ``n`` positions, and its cross-entropy (Figure 3): ``[n]``."""
    belief, count = Belief(network), min(limit, len(positions))
    lengths, nats = [], []
    for start in range(0, count, 8192):
        numbers = np.arange(start, min(start + 8192, count))
        views, _, _ = positions.at(numbers)
        lengths.append(views["length"].astype(np.int64))
        nats.append(cross_entropy(belief.probabilities(views), targets(positions, numbers)))
    return np.concatenate(lengths), np.concatenate(nats)


# ---- sampled deals -----------------------------------------------------------------------

HIDDEN = 3 * HAND_SIZE
EPS = 1e-4  # chance of any unseen card with any player: no belief is certain


class SampledDeals:
    """A source of deals that fit one hand and a belief.

    The weighted number of ways to finish a deal is tabled once; then every deal is one walk through the cards.
    """

    def __init__(self, seat: int, hand: int, belief: F32) -> None:
        """``belief`` ``[3, 52]``: chance of each card with partner, LHO, RHO; they need not add up."""
        self.seat, self.hand = seat, hand
        self._cards = np.flatnonzero(hand >> np.arange(NUM_CARDS) & 1 == 0)  # [39]
        weights = np.maximum(np.asarray(belief, np.float64)[:, self._cards].T, EPS)
        self._weights = np.ascontiguousarray(weights / weights.sum(1, keepdims=True))  # [39, 3]
        self._ways = np.empty((HIDDEN + 1, HAND_SIZE + 1, HAND_SIZE + 1))
        ways_row(self._weights, self._ways)

    def sample(self, keys: U64) -> I64:
        """Deals ``[D, 4]`` (N E S W), one for each of ``keys`` ``[D]``, which move on."""
        unseen = np.empty((len(keys), 3), np.int64)
        _sample(keys, self._cards, self._weights, self._ways, unseen)
        hands = np.empty((len(keys), 4), np.int64)
        hands[:, self.seat] = self.hand
        for k, who in enumerate(WHO):
            hands[:, (self.seat + who) % 4] = unseen[:, k]
        return hands

    def log_chances(self, hands: I64) -> F64:
        """Log of the chance that each of ``hands`` ``[D, 4]`` is sampled, up to a constant: ``[D]``."""
        holders = held(hands[:, [(self.seat + who) % 4 for who in WHO]])[:, :, self._cards]  # [D, 3, 39]
        return np.where(holders, np.log(self._weights).T, 0).sum((1, 2))


@row
def ways_row(weights: F64, ways: F64) -> None:
    """Weighted completions into ``ways`` ``[40, 14, 14]``.

    ``ways[i, a, b]``: of cards ``i`` ... 38, when partner still takes ``a`` and LHO ``b`` of them, RHO the others.
    """
    ways[:, :, :] = 0
    ways[HIDDEN, 0, 0] = 1
    for i in range(HIDDEN - 1, -1, -1):
        for a in range(min(HAND_SIZE, HIDDEN - i) + 1):
            for b in range(min(HAND_SIZE, HIDDEN - i - a) + 1):
                total = 0.0
                if a > 0:
                    total += weights[i, 0] * ways[i + 1, a - 1, b]
                if b > 0:
                    total += weights[i, 1] * ways[i + 1, a, b - 1]
                ways[i, a, b] = total + weights[i, 2] * ways[i + 1, a, b]


@row
def sample_row(cards: I64, weights: F64, ways: F64, key: np.uint64, hands: I64) -> np.uint64:
    """One deal of ``cards`` ``[39]`` to partner, LHO and RHO into ``hands`` ``[3]``; the next key."""
    hands[:] = 0
    a = b = c = HAND_SIZE
    for i in range(HIDDEN):
        key = next_row(key)
        aim = unit_row(key) * ways[i, a, b]
        first = weights[i, 0] * ways[i + 1, a - 1, b] if a > 0 else 0.0
        second = weights[i, 1] * ways[i + 1, a, b - 1] if b > 0 else 0.0
        if a > 0 and (aim < first or b + c == 0):
            who, a = 0, a - 1
        elif b > 0 and (aim < first + second or c == 0):
            who, b = 1, b - 1
        else:
            who, c = 2, c - 1
        hands[who] |= np.int64(1) << cards[i]
    return key


@batched
@rows_a_thread(128)
def _sample(start: int, stop: int, keys: U64, cards: I64, weights: F64, ways: F64, hands: I64) -> None:
    for d in range(start, stop):
        keys[d] = sample_row(cards, weights, ways, keys[d], hands[d])

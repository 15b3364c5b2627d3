"""Trains the double-dummy evaluator by the cross-entropy of the exact trick counts of solved deals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.evaluator import CLASSES, NT, SIDE, TRUMP, SuitNetwork, Suits, suits
from bidzoo.agents.bridge.network import forward
from bidzoo.agents.bridge.trainer import Fit, Options
from bidzoo.benchmarks.training import Choose, Files, Stage, training_set
from bidzoo.core.arrays import digest
from bidzoo.core.cards import HAND_SIZE, NOTRUMP, NUM_CARDS
from bidzoo.core.kernels import F32, I8, I64, Bool
from bidzoo.envs.bridge.deals import RELABELLINGS, UNKNOWN, DealSet, packaged

_ALL = RELABELLINGS  # [24, 4]
_TRUMPS_FIRST = np.take_along_axis(_ALL, np.argsort(_ALL != 0, axis=1, kind="stable"), 1)
ORDERS = np.stack([_TRUMPS_FIRST, _ALL])  # [2, 24, 4]  without and with notrump: which suit comes where


class Cells:
    """The solved cells of some deals, each in every order of its suits; ``n`` cells have ``24 n`` numbers."""

    def __init__(self, *sets: DealSet) -> None:
        """``sets``: their deals, one after the other; cells that are not solved are omitted."""
        self.hands = np.concatenate([deals.hands for deals in sets])  # [deals, 4]
        tricks = np.concatenate([deals.tricks for deals in sets])  # [deals, 20]
        self.deal, self.cell = np.nonzero(tricks != UNKNOWN)  # [n] each
        self.tricks = tricks[self.deal, self.cell].astype(np.int64)  # [n]
        if not len(self.tricks):
            raise ValueError("no solved deals to learn from")

    def __len__(self) -> int:
        return len(ORDERS[0]) * len(self.tricks)

    @property
    def digest(self) -> str:
        """Digest of deals and tricks."""
        return digest({"hands": self.hands, "deal": self.deal, "cell": self.cell, "tricks": self.tricks})

    def at(self, numbers: I64) -> tuple[I64, Bool, I64]:
        """Codes ``[B, 4]`` of the suits, whether at notrump ``[B]``, tricks ``[B]``; notrump cells first."""
        order, row = np.divmod(numbers, len(self.tricks))
        notrump_first = np.argsort(self.cell[row] % 5 != NOTRUMP, kind="stable")
        order, row = order[notrump_first], row[notrump_first]
        codes, strain = self.suits(row)
        notrump = strain == NOTRUMP
        return np.take_along_axis(codes, ORDERS[notrump.astype(np.int64), order], 1), notrump, self.tricks[row]

    def suits(self, rows: I64) -> tuple[I64, I64]:
        """Codes ``[B, 4]`` in the evaluator's own order, and strains ``[B]``, of cells ``rows`` ``[B]``."""
        strain = self.cell[rows] % 5
        return suits(self.hands[self.deal[rows]], self.cell[rows] // 5, strain), strain


def bits(codes: I64) -> I8:
    """Who holds each card of suits ``[..., 4]``, ``13 * holder + rank``: ``[..., 4, 52]``."""
    holder = codes[..., None] >> 2 * np.arange(HAND_SIZE) & 3
    return (holder[..., None, :] == np.arange(4)[:, None]).astype(np.int8).reshape(*codes.shape, NUM_CARDS)


def module(architecture: Suits, seed: int) -> Any:
    """The network as a torch module; weights from ``seed``, the last layer small.

    Takes bits ``[B, 4, 52]`` and how many of the cells are at notrump, which come first; gives logits ``[B, 14]``.
    """
    import torch

    class Part(torch.nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(architecture.shapes[f"{name}.weight"]))
            self.bias = torch.nn.Parameter(torch.zeros(architecture.shapes[f"{name}.bias"]))

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cards, self.suits, self.places = Part("cards"), Part("suits"), Part("places")
            self.middle, self.last = Part("middle"), Part("last")

        def forward(self, x: Any, notrump: int) -> Any:
            parts = [(NT, x[:notrump]), (TRUMP, x[notrump:, :1]), (SIDE, x[notrump:, 1:])]
            for stage in (self.cards, self.suits):
                parts = [(kind, torch.relu(part @ stage.weight[kind].T + stage.bias[kind])) for kind, part in parts]
            (_, notrumps), (_, trump), (_, side) = parts
            suits = torch.cat([notrumps, torch.cat([trump, side], 1)])
            weight = self.places.weight.transpose(0, 1).flatten(1)  # [hidden, 4 * suits]
            first = torch.relu(torch.nn.functional.linear(suits.flatten(1), weight, self.places.bias))
            second = torch.relu(torch.nn.functional.linear(first, self.middle.weight, self.middle.bias))
            return torch.nn.functional.linear(second, self.last.weight, self.last.bias)

    model = Module()
    generator = torch.Generator().manual_seed(seed)
    fan_in = {"cards": HAND_SIZE, "places": 4 * architecture.suits}
    with torch.no_grad():
        for name, part in model.named_children():
            scale = (2 / fan_in.get(name, part.weight.shape[-1])) ** 0.5
            part.weight.normal_(0.0, 0.1 * scale if name == "last" else scale, generator=generator)
    return model


class Trainer(Fit):
    """Fits the tricks of ``Cells``."""

    algorithm = "evaluator"
    kind = SuitNetwork

    def module(self) -> Any:
        return module(self.options.architecture, self.options.seed)

    def loss(self, numbers: I64) -> Any:
        """Mean cross-entropy of the trick counts, nats."""
        import torch

        codes, notrump, tricks = self.learn.at(numbers)
        logits = forward(self.learner, self.tensor(bits(codes)), int(notrump.sum()))
        return torch.nn.functional.cross_entropy(logits, self.tensor(tricks))

    def measure(self, player: Any) -> dict[str, float]:
        return measure(self.check, player)


def chances(cells: Cells, network: SuitNetwork) -> F32:
    """Chances ``[n, 14]`` of all cells."""
    n = len(cells.tricks)
    parts = [network(*cells.suits(part)) for part in np.array_split(np.arange(n), n // 10_000 + 1)]
    return np.concatenate(parts)


def measure(cells: Cells, network: SuitNetwork) -> dict[str, float]:
    """Cross-entropy in nats a cell, share of cells whose likeliest count is right, mean error of the expectation."""
    probabilities, tricks = chances(cells, network), cells.tricks
    nats = -np.log(np.maximum(probabilities[np.arange(len(tricks)), tricks], 1e-12, dtype=np.float64))
    metrics = {"cross_entropy": float(nats.mean())}
    for name, selected in (("suits", cells.cell % 5 < NOTRUMP), ("notrump", cells.cell % 5 == NOTRUMP)):
        if selected.any():
            metrics[f"exact_{name}"] = float((probabilities.argmax(1) == tricks)[selected].mean())
    return {**metrics, "absolute_error": float(np.abs(probabilities @ np.arange(CLASSES) - tricks).mean())}


def compose(
    choose: Choose, deals: Files, cards: int, suits: int, hidden: int, start: str | None, device: str
) -> Iterator[Stage]:
    """A network fitted to the double-dummy tricks of deals."""
    chosen = choose(Options, architecture=Suits(cards, suits, hidden))
    training_deals, provenance = training_set(deals, solved=False)  # it learns from every contract that is solved
    training, validation = Cells(training_deals), Cells(packaged("validation"))
    initial = network.weights_of(start, SuitNetwork) if start else None
    provenance["start"] = Path(start).name if start else "nothing"
    yield Stage(Trainer(training, validation, chosen, initial, device), provenance)

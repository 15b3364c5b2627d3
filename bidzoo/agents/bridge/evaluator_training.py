"""Fits the double-dummy evaluator to solved deals by the cross-entropy of the exact trick counts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.bridge.evaluator import CLASSES, FORMAT, NT, SIDE, TRUMP, SuitNetwork, Suits, shapes, suits
from bidzoo.agents.bridge.fit import Kind, Options, fit
from bidzoo.cards import HAND_SIZE, NOTRUMP, NUM_CARDS
from bidzoo.envs.bridge.deals import RELABELLINGS, UNKNOWN, DealSet
from bidzoo.kernels import F32, I8, I64, Bool

_ALL = RELABELLINGS  # [24, 4]
_TRUMPS_FIRST = np.take_along_axis(_ALL, np.argsort(_ALL != 0, axis=1, kind="stable"), 1)
ORDERS = np.stack([_TRUMPS_FIRST, _ALL])  # [2, 24, 4]  without and with notrump: which suit comes where


class Cells:
    """The solved cells of some deals, each in every order of its suits; ``n`` cells have ``24 n`` numbers."""

    def __init__(self, *sets: DealSet) -> None:
        """``sets``: their deals, one after the other; cells that are not solved are left out."""
        self.hands = np.concatenate([deals.hands for deals in sets])  # [deals, 4]
        table = np.concatenate([deals.tricks for deals in sets])  # [deals, 20]
        self.deal, self.cell = np.nonzero(table != UNKNOWN)  # [n] each
        self.tricks = table[self.deal, self.cell].astype(np.int64)  # [n]
        if not len(self.tricks):
            raise ValueError("no solved deals to learn from")

    def __len__(self) -> int:
        return len(ORDERS[0]) * len(self.tricks)

    def at(self, numbers: I64) -> tuple[I64, Bool, I64]:
        """Codes ``[B, 4]`` of the suits, whether at notrump ``[B]``, tricks ``[B]``; notrump cells first."""
        order, row = np.divmod(numbers, len(self.tricks))
        first = np.argsort(self.cell[row] % 5 != NOTRUMP, kind="stable")
        order, row = order[first], row[first]
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
    """The network of ``evaluator`` as a torch module; weights from ``seed``, the last layer small.

    Takes bits ``[B, 4, 52]`` and how many of the cells are at notrump, which come first; gives logits ``[B, 14]``.
    """
    import torch

    found = shapes(architecture)

    class Part(torch.nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(found[f"{name}.weight"]))
            self.bias = torch.nn.Parameter(torch.zeros(found[f"{name}.bias"]))

    class Twin(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cards, self.suits, self.places = Part("cards"), Part("suits"), Part("places")
            self.middle, self.last = Part("middle"), Part("last")

        def forward(self, x: Any, notrump: int) -> Any:
            parts = [(NT, x[:notrump]), (TRUMP, x[notrump:, :1]), (SIDE, x[notrump:, 1:])]
            for stage in (self.cards, self.suits):
                parts = [(kind, torch.relu(part @ stage.weight[kind].T + stage.bias[kind])) for kind, part in parts]
            (_, without), (_, trump), (_, side) = parts
            four = torch.cat([without, torch.cat([trump, side], 1)])
            wide = self.places.weight.transpose(0, 1).flatten(1)  # [hidden, 4 * suits]
            first = torch.relu(torch.nn.functional.linear(four.flatten(1), wide, self.places.bias))
            second = torch.relu(torch.nn.functional.linear(first, self.middle.weight, self.middle.bias))
            return torch.nn.functional.linear(second, self.last.weight, self.last.bias)

    twin = Twin()
    generator = torch.Generator().manual_seed(seed)
    fan_in = {"cards": HAND_SIZE, "places": 4 * architecture.suits}
    with torch.no_grad():
        for name, part in twin.named_children():
            scale = (2 / fan_in.get(name, part.weight.shape[-1])) ** 0.5
            part.weight.normal_(0.0, 0.1 * scale if name == "last" else scale, generator=generator)
    return twin


KIND = Kind(module, SuitNetwork, FORMAT)


def train(learn: Cells, check: Cells, options: Options, out: str | Path, *arguments: Any, **keywords: Any) -> Any:
    """``fit`` on ``learn``, measured on ``check``: a ``SuitNetwork``."""
    return fit("evaluator", options, learn, _loss, partial(measure, check), out, *arguments, kind=KIND, **keywords)


def _loss(model: Any, cells: Cells, numbers: I64) -> Any:
    import torch

    device = next(model.parameters()).device
    codes, notrump, tricks = cells.at(numbers)
    x = torch.from_numpy(bits(codes)).to(device)
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(x.to(torch.bfloat16), int(notrump.sum()))
    return torch.nn.functional.cross_entropy(logits.float(), torch.from_numpy(tricks).to(device))


def chances(cells: Cells, network: SuitNetwork) -> F32:
    """Chances ``[n, 14]`` of all cells."""
    n = len(cells.tricks)
    parts = [network(*cells.suits(part)) for part in np.array_split(np.arange(n), n // 10_000 + 1)]
    return np.concatenate(parts)


def measure(cells: Cells, network: SuitNetwork) -> dict[str, float]:
    """Cross-entropy in nats a cell, share of cells whose likeliest count is right, mean error of the expectation."""
    found, tricks = chances(cells, network), cells.tricks
    nats = -np.log(np.maximum(found[np.arange(len(tricks)), tricks], 1e-12, dtype=np.float64))
    figures = {"cross_entropy": float(nats.mean())}
    for name, chosen in (("suits", cells.cell % 5 < NOTRUMP), ("notrump", cells.cell % 5 == NOTRUMP)):
        if chosen.any():
            figures[f"exact_{name}"] = float((found.argmax(1) == tricks)[chosen].mean())
    return {**figures, "absolute_error": float(np.abs(found @ np.arange(CLASSES) - tricks).mean())}

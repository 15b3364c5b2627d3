"""A first layer that learns from the entries of a row that are not 0: some 90 of 1663.

``Entries`` are the places of the ones, row by row. The layer adds up lines of its table in their order, and the
gradient of a line adds up the rows that have its entry, in theirs: no result depends on threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.kernels import F32, I8, I32, I64, compiled_batched

U16 = NDArray[np.uint16]


class Entries(NamedTuple):
    """Ones of ``B`` rows."""

    start: I64  # [B + 1]  those of row b are place[start[b] : start[b + 1]]
    place: U16  # [start[B]]

    @classmethod
    def of(cls, x: I8, more: I64) -> Entries:
        """Ones of ``x`` ``[B, F]``, and of each row the places ``more`` ``[B, K]`` beside them."""
        counts = np.count_nonzero(x, axis=1) + more.shape[1]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        place = np.empty(start[-1], np.uint16)
        _places(x, more, start, place)
        return cls(start, place)

    def by_line(self, lines: int) -> tuple[I64, I32]:
        """The other way round: the rows that have entry ``k`` are ``row[first[k] : first[k + 1]]``."""
        first = np.concatenate([[0], np.cumsum(np.bincount(self.place, minlength=lines))]).astype(np.int64)
        row = np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))
        return first, row[np.argsort(self.place, kind="stable")]


@compiled_batched
def _places(begin: int, end: int, x: I8, more: I64, start: I64, place: U16) -> None:
    for b in range(begin, end):
        at = start[b]
        for k in range(x.shape[1]):
            if x[b, k]:
                place[at] = k
                at += 1
        for k in range(more.shape[1]):
            place[at + k] = more[b, k]


@compiled_batched
def _add_up(begin: int, end: int, out: F32, start: I64, place: NDArray[Any], lines: F32, bias: F32) -> None:
    """``bias`` and ``lines`` ``[n, W]`` at the places of each row, into ``out`` ``[B, W]``."""
    for b in range(begin, end):
        to = out[b]
        for j in range(len(bias)):
            to[j] = bias[j]
        for i in range(start[b], start[b + 1]):
            line = lines[place[i]]
            for j in range(len(bias)):
                to[j] += line[j]


def first_layer(entries: Entries, table: Any, bias: Any) -> Any:
    """``bias`` and the lines of ``table`` at ``entries``, added up, in torch on the CPU: ``[B, W]``, with gradients."""
    import torch

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, table: Any, bias: Any) -> Any:
            context.shape = tuple(table.shape)
            out = np.empty((len(entries.start) - 1, table.shape[1]), np.float32)
            _add_up(out, entries.start, entries.place, table.detach().numpy(), bias.detach().numpy())
            return torch.from_numpy(out)

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            out, none = np.empty(context.shape, np.float32), np.zeros(context.shape[1], np.float32)
            _add_up(out, *entries.by_line(len(out)), np.ascontiguousarray(gradient.numpy()), none)
            return torch.from_numpy(out), gradient.sum(0)

    return Sum.apply(table, bias)

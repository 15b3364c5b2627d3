"""Optimum of Simple Bidding with five bids, in panels: types up to 16 in one gigabyte where the tables need 24.

Notation of ``ladder_tables``; the bids 1, 2, 4, 8, 16 are numbered 1 ... 5. Two facts shorten the ladder.

1. After bid 5 all pass, so ``W_5`` is additive in both sets, and so is ``W_4`` in the mover's: each type takes the
   better of passing and bidding 16. Hence below bid 4 the types that do not make the bids 2, 3 or 4 each take the
   better of passing and bidding 16, ``c_b(x, Y) = max(pass_b(x, Y), pass_5(x, Y))``, and with

       V_b(X, Y) = max over S in X of  W_4(Y, S) + sum of c_b(x, Y) over x in X - S      (``choose``)

   ``W_3 = V_3`` and ``W_2(X, Y) = max over S in X of W_3(Y, S) + V_2(X - S, Y)``.
2. Before bid 2 the second player has all types ``F``: only ``f_b(Y) = W_b(F, Y)`` matters, and

       f_1(Y) = max over S of  W_2(Y, S) + T(F - S, Y),    T(R, Y) = max over S in R of W_3(Y, S) + V_1(R - S, Y)

   after which the root is the best partition of ``F`` into ``f_1 ... f_5``.

``W_2`` and ``T`` are two convolutions of ``3**16`` additions for each of ``2**16`` sets. The sets of the player whose
turn follows bid 1 are cut into panels by their highest types; a panel needs one slice of ``T`` and one of ``W_3`` at a
time, everything else is computed again when it is needed. The panels are independent, so a run can be interrupted.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bidzoo.agents.tabular.folding import fold, fold_line, members, pass_rows
from bidzoo.agents.tabular.ladder import Ladder
from bidzoo.agents.tabular.panel_kernels import (
    BITS,
    LANES,
    WORST,
    meet_rows,
    split_row,
    store_lines,
    store_turned,
)
from bidzoo.kernels import I16, I64

FIVE = 5


class Panels:
    """``f_1 ... f_5`` of a Simple Bidding game with five bids; ``high`` types number the panels."""

    def __init__(self, ladder: Ladder, high: int = 4) -> None:
        if ladder.bids != FIVE or ladder.opening_pass:
            raise ValueError(f"{ladder.id}: panels are for Simple Bidding with five bids")
        if ladder.types - high < BITS:
            raise ValueError(f"{ladder.id}: {high} high types leave fewer than {BITS} for a panel")
        self.ladder, self.high, self.low = ladder, high, ladder.types - high
        self.sets, self.size, self.panels = 1 << ladder.types, 1 << self.low, 1 << high
        self.each = self._each()
        self.line = np.empty((self.size, LANES), np.int16)
        self.extra = np.empty(LANES, np.int16)

    def passes(self, bid: int, first: int) -> I16:
        """``pass_bid(x, Y)`` ``[n, 64]`` for ``Y = first ... first + 63``."""
        out = np.empty((self.ladder.types, LANES), np.int16)
        pass_rows(self.ladder.payoff[bid], self.ladder.types, first, out)
        return out

    def calm(self, bid: int, first: int) -> I16:
        """``c_bid(x, Y)``, likewise."""
        return np.maximum(self.passes(bid, first), self.passes(FIVE, first))

    def _each(self) -> I16:
        """``c_4(y, S)`` as ``[Z, n]``."""
        return np.concatenate([self.calm(4, first).T for first in range(0, self.sets, LANES)])

    def split(self, bid: int, top: int, first: int, out: I16) -> None:
        """``V_bid(X, Y)`` for ``X`` in panel ``top`` into ``out`` ``[2**low, 64]``."""
        split_row(self.each, self.calm(bid, first), top, first, self.line, self.extra, out)

    def easy(self) -> I64:
        """``f_3, f_4, f_5`` ``[3, Z]``."""
        out = np.zeros((3, self.sets), np.int64)
        block = np.empty((self.size, LANES), np.int16)
        for first in range(0, self.sets, LANES):
            at = slice(first, first + LANES)
            self.split(3, self.panels - 1, first, block)
            out[0, at] = block[-1]
            out[1, at] = self.calm(4, first).sum(axis=0)
            out[2, at] = self.passes(FIVE, first).sum(axis=0)
        return out

    def panel(self, top: int) -> tuple[I64, I64]:
        """``f_1`` of the sets of panel ``top`` ``[2**low]``; in the last panel ``f_2`` ``[Z]``, else empty."""
        lines = self._rest(top)
        best = np.full(self.size, WORST, np.int16)
        second = np.full(self.sets, WORST, np.int16)
        for first, block in self.second(top):
            meet_rows(block, lines, first, best)
            at = slice(first, first + LANES)
            second[at] = np.maximum(second[at], block[-1])
        last = top == self.panels - 1
        return best.astype(np.int64), second.astype(np.int64) if last else np.empty(0, np.int64)

    def second(self, top: int) -> Iterator[tuple[int, I16]]:
        """Blocks of ``Y = first ...``, several times each: ``W_2(X, Y)`` is the largest ``block[X, Y - first]``.

        ``X`` is in panel ``top``. ``block`` ``[2**low, 64]`` is written over by the next one.
        """
        rows = np.empty((self.sets // LANES, self.size, LANES), np.int16)
        block, calm, out = (np.empty((self.size, LANES), np.int16) for _ in range(3))
        part = top
        while True:
            for first in range(part * self.size, (part + 1) * self.size, LANES):  # W_3(Y, S), S in panel ``part``
                for panel in range(self.panels):
                    self.split(3, panel, first, block)
                    start = panel * self.size // LANES
                    store_turned(block, first - part * self.size, rows[start : start + self.size // LANES])
            for first in range(0, self.sets, LANES):  # bid 3 gets a set of panel ``part``
                self.split(2, top ^ part, first, calm)
                out[:] = WORST
                fold(rows[first // LANES], calm, out)
                yield first, out
            if part == 0:
                break
            part = (part - 1) & top

    def _rest(self, top: int) -> I16:
        """``T(F - S, Y)`` as ``[Y, S]`` for ``Y`` in panel ``top``."""
        rows = np.empty((self.size // LANES, self.sets, LANES), np.int16)
        block = np.empty((self.size, LANES), np.int16)
        for first in range(0, self.sets, LANES):  # W_3(Y, S)
            self.split(3, top, first, block)
            store_turned(block, first, rows)
        calm = np.empty((self.panels, self.size, LANES), np.int16)
        out = np.empty((self.panels, self.size, LANES), np.int16)
        lines = np.empty((self.size, self.sets), np.int16)
        for q in range(len(rows)):
            first = top * self.size + q * LANES
            out[:] = WORST
            for panel in range(self.panels):
                self.split(1, panel, first, calm[panel])
            given = rows[q].reshape(self.panels, self.size, LANES)
            for panel in range(self.panels):
                part = panel
                while True:
                    fold(given[part], calm[panel ^ part], out[panel])
                    if part == 0:
                        break
                    part = (part - 1) & panel
            store_lines(out.reshape(self.sets, LANES), q * LANES, lines)
        return lines


def openings(panels: Panels, directory: Path | None = None, report: Callable[[str], None] = lambda line: None) -> I64:
    """``f_1 ... f_5`` ``[5, Z]``; finished panels are kept in ``directory`` and not computed again.

    Raises:
        ValueError: a file in ``directory`` is not such a panel.
    """
    parts = []
    for top in range(panels.panels):
        parts.append(_panel(panels, top, directory))
        report(f"{panels.ladder.id}: panel {top + 1} of {panels.panels} done")
    first = np.concatenate([part[: panels.size] for part in parts])
    second = parts[-1][panels.size :]
    return np.concatenate([first[None], second[None], panels.easy()])


def _panel(panels: Panels, top: int, directory: Path | None) -> I64:
    """``f_1`` of panel ``top``, followed by ``f_2`` if it is the last."""
    if directory is None:
        return np.concatenate(panels.panel(top))
    path = directory / f"simple_bidding_{panels.ladder.types}_panel_{top:02d}_of_{panels.panels}.npy"
    length = panels.size + panels.sets * (top == panels.panels - 1)
    if path.exists():
        line = np.load(path, allow_pickle=False)
        if line.shape != (length,) or line.dtype != np.int64:
            raise ValueError(f"{path}: expected {length} int64 totals, found {line.dtype} {line.shape}")
        return line
    directory.mkdir(parents=True, exist_ok=True)
    line = np.concatenate(panels.panel(top))
    partial = path.with_suffix(".partial.npy")
    np.save(partial, line)
    partial.replace(path)
    return line


def best_total(firsts: I64) -> int:
    """Total of the best partition of all types into ``f_1 ... f_5``."""
    full = firsts.shape[1] - 1
    best = firsts[-1]
    for line in firsts[-2::-1]:
        out = np.full(full + 1, WORST, np.int64)
        fold_line(line, best, full, out)
        best = out
    return int(best[full])


class PanelRows:
    """``Rows`` of ``ladder_plan``: what is not kept is computed again, for one set of the mover at a time."""

    def __init__(self, panels: Panels, firsts: I64) -> None:
        self.panels, self.firsts = panels, firsts
        self.ladder, self.payoff = panels.ladder, panels.ladder.payoff

    def row(self, bid: int, mover: int) -> I64:
        """``W_bid(mover, S)`` for every set ``S`` ``[2**n]`` of the other player; ``bid`` 1 only for all types."""
        panels = self.panels
        if mover == panels.sets - 1:
            return self.firsts[bid - 1]
        top, at = divmod(mover, panels.size)
        out = np.full(panels.sets, WORST, np.int64)
        if bid == 2:
            for first, block in panels.second(top):
                out[first : first + LANES] = np.maximum(out[first : first + LANES], block[at])
            return out
        types = members(mover)
        block = np.empty((panels.size, LANES), np.int16)
        for first in range(0, panels.sets, LANES):
            here = slice(first, first + LANES)
            if bid == 3:
                panels.split(3, top, first, block)
                out[here] = block[at]
            else:
                each = panels.calm(4, first) if bid == 4 else panels.passes(FIVE, first)
                out[here] = each[types].sum(axis=0)
        return out

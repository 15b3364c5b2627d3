"""Optimum of Simple Bidding with five bids, in panels: types up to 16 in one gigabyte where the tables need 24.

    python experiments/panels.py simple_bidding_v0 --size 16 --directory checkpoints --plan plan.json

Notation of ``optimal_auction``; the bids 1, 2, 4, 8, 16 are numbered 1 ... 5. Two facts shorten
the recursion.

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

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from exact import Log, load_table, main, save_table
from optimal_auction import RisingAuction, U, best_plan, certified, choose, fold, pass_rows, transpose

from bidzoo.agents.tabular.exact import Optimum, best_splits
from bidzoo.core.kernels import I16, I64, row

COMMAND = "python experiments/panels.py"

# ---- kernels on lines of totals; ``K`` lanes, as in ``optimal_auction`` -------------------------------

LANES = 64
BITS = 6  # LANES == 2**BITS
WORST = -30000  # less than any total, and far from overflow


@row
def last_rows(each: I16, first: int, bits: int, out: I16) -> None:
    """``W_4(Y, S)`` for sets ``Y = first ... first + 2**bits - 1`` of the mover: sums over ``Y`` of ``each[S, y]``."""
    for s in range(out.shape[0]):
        base = 0
        for y in range(bits, each.shape[1]):
            if first >> y & 1:
                base += each[s, y]
        out[s, 0] = np.int16(base)
        for y in range(bits):
            for k in range(1 << y):
                out[s, (1 << y) + k] = np.int16(out[s, k] + each[s, y])


@row
def raise_rows(line: I16, extra: I16, out: I16) -> None:
    """``out[s] = max(out[s], line[s] + extra)`` for lines of lanes."""
    for s in range(out.shape[0]):
        for lane in range(out.shape[1]):
            k = U(lane)
            out[U(s), k] = max(out[U(s), k], np.int16(line[U(s), k] + extra[k]))


@row
def split_row(each: I16, calm: I16, top: int, first: int, line: I16, extra: I16, out: I16) -> None:
    """``V(X, Y)`` into ``out`` ``[2**low, K]`` for the sets ``X`` of panel ``top``, ``Y = first ...``.

    ``calm`` ``[n, K]`` is ``c(x, Y)``; ``each`` ``[Z, n]`` gives ``W_4`` (``last_rows``).
    ``line`` ``[2**low, K]`` and ``extra`` ``[K]`` are scratch.
    """
    size = out.shape[0]
    low = 0
    while 1 << low < size:
        low += 1
    out[:] = WORST
    part = top
    while True:
        last_rows(each[part * size : (part + 1) * size], first, BITS, line)
        extra[:] = 0
        for z in range(low, calm.shape[0]):
            if (top ^ part) >> (z - low) & 1:
                extra += calm[z]
        raise_rows(line, extra, out)
        if part == 0:
            break
        part = (part - 1) & top
    choose(calm[:low], out)


@row
def store_lines(block: I16, start: int, out: I16) -> None:
    """``block[R, k]`` into ``out[start + k, Z - 1 - R]``: one line for each set ``k``, in order of the complement."""
    for r in range(block.shape[0]):
        for k in range(block.shape[1]):
            out[start + k, block.shape[0] - 1 - r] = block[r, k]


@row
def meet_rows(block: I16, lines: I16, start: int, best: I16) -> None:
    """``best[X] = max(best[X], max over k of block[X, k] + lines[X, start + k])``."""
    lanes = block.shape[1]
    for x in range(block.shape[0]):
        top = best[x]
        for lane in range(lanes):
            top = max(top, np.int16(block[U(x), U(lane)] + lines[U(x), U(start + lane)]))
        best[x] = top


# ---- the recursion -----------------------------------------------------------------------

FIVE = 5


class Panels:
    """``f_1 ... f_5`` of a Simple Bidding game with five bids; ``high`` types number the panels."""

    def __init__(self, auction: RisingAuction, high: int = 4) -> None:
        if auction.bids != FIVE or auction.opening_pass:
            raise ValueError(f"{auction.id}: panels are for Simple Bidding with five bids")
        if auction.types - high < BITS:
            raise ValueError(f"{auction.id}: {high} high types leave fewer than {BITS} for a panel")
        self.auction, self.high, self.low = auction, high, auction.types - high
        self.sets, self.size, self.panels = 1 << auction.types, 1 << self.low, 1 << high
        self.each = self._each()
        self.line = np.empty((self.size, LANES), np.int16)
        self.extra = np.empty(LANES, np.int16)

    def passes(self, bid: int, first: int) -> I16:
        """``pass_bid(x, Y)`` ``[n, 64]`` for ``Y = first ... first + 63``."""
        out = np.empty((self.auction.types, LANES), np.int16)
        pass_rows(self.auction.payoff[bid], self.auction.types, first, out)
        return out

    def calm(self, bid: int, first: int) -> I16:
        """``c_bid(x, Y)`` ``[n, 64]`` for the same ``Y``."""
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
            lanes = slice(first, first + LANES)
            self.split(3, self.panels - 1, first, block)
            out[0, lanes] = block[-1]
            out[1, lanes] = self.calm(4, first).sum(axis=0)
            out[2, lanes] = self.passes(FIVE, first).sum(axis=0)
        return out

    def panel(self, top: int) -> tuple[I64, I64]:
        """``f_1`` of the sets of panel ``top`` ``[2**low]``; in the last panel ``f_2`` ``[Z]``, else empty."""
        lines = self._rest(top)
        best = np.full(self.size, WORST, np.int16)
        second = np.full(self.sets, WORST, np.int16)
        for first, block in self.second(top):
            meet_rows(block, lines, first, best)
            lanes = slice(first, first + LANES)
            second[lanes] = np.maximum(second[lanes], block[-1])
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
                    transpose(block, first - part * self.size, rows[start : start + self.size // LANES])
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
            transpose(block, first, rows)
        calm = np.empty((self.panels, self.size, LANES), np.int16)
        out = np.empty((self.panels, self.size, LANES), np.int16)
        lines = np.empty((self.size, self.sets), np.int16)
        for q in range(len(rows)):
            first = top * self.size + q * LANES
            out[:] = WORST
            for panel in range(self.panels):
                self.split(1, panel, first, calm[panel])
            rows_by_panel = rows[q].reshape(self.panels, self.size, LANES)
            for panel in range(self.panels):
                part = panel
                while True:
                    fold(rows_by_panel[part], calm[panel ^ part], out[panel])
                    if part == 0:
                        break
                    part = (part - 1) & panel
            store_lines(out.reshape(self.sets, LANES), q * LANES, lines)
        return lines


def openings(panels: Panels, directory: Path | None = None, report: Log = lambda line: None) -> I64:
    """``f_1 ... f_5`` ``[5, Z]``; finished panels are kept in ``directory`` and not computed again.

    Raises:
        ValueError: a file in ``directory`` is not such a panel.
    """
    parts = []
    for top in range(panels.panels):
        parts.append(_panel(panels, top, directory))
        report(f"{panels.auction.id}: panel {top + 1} of {panels.panels} done")
    first = np.concatenate([part[: panels.size] for part in parts])
    second = parts[-1][panels.size :]
    return np.concatenate([first[None], second[None], panels.easy()])


def _panel(panels: Panels, top: int, directory: Path | None) -> I64:
    """``f_1`` of panel ``top``, followed by ``f_2`` if it is the last."""
    if directory is None:
        return np.concatenate(panels.panel(top))
    path = directory / f"simple_bidding_{panels.auction.types}_panel_{top:02d}_of_{panels.panels}.npy"
    length = panels.size + panels.sets * (top == panels.panels - 1)
    if path.exists():
        return np.asarray(load_table(path, (length,), np.int64))
    line = np.concatenate(panels.panel(top))
    save_table(path, line)
    return line


def best_total(firsts: I64) -> int:
    """Total of the best partition of all types into ``f_1 ... f_5``."""
    return int(best_splits(list(firsts), firsts.shape[1] - 1)[0][-1])


class PanelRows:
    """``Rows`` that ``best_plan`` reads: what is not kept is computed again, for one set of the mover at a time."""

    def __init__(self, panels: Panels, firsts: I64) -> None:
        self.panels, self.firsts = panels, firsts
        self.auction, self.payoff = panels.auction, panels.auction.payoff

    def row(self, bid: int, mover: int) -> I64:
        """``W_bid(mover, S)`` for every set ``S`` ``[2**n]`` of the other player; ``bid`` 1 only for all types."""
        panels = self.panels
        if mover == panels.sets - 1:
            return np.asarray(self.firsts[bid - 1])
        top, index = divmod(mover, panels.size)
        out = np.full(panels.sets, WORST, np.int64)
        if bid == 2:
            for first, block in panels.second(top):
                out[first : first + LANES] = np.maximum(out[first : first + LANES], block[index])
            return out
        types = [x for x in range(panels.auction.types) if mover >> x & 1]
        block = np.empty((panels.size, LANES), np.int16)
        for first in range(0, panels.sets, LANES):
            lanes = slice(first, first + LANES)
            if bid == 3:
                panels.split(3, top, first, block)
                out[lanes] = block[index]
            else:
                each = panels.calm(4, first) if bid == 4 else panels.passes(FIVE, first)
                out[lanes] = each[types].sum(axis=0)
        return out


def solve(auction: RisingAuction, directory: Path | None = None, report: Log = lambda line: None) -> Optimum:
    """The optimum, computed and certified; finished panels are kept in ``directory``."""
    panels = Panels(auction)
    firsts = openings(panels, directory, report)
    report(f"{auction.id}: reading the plan")
    return certified(auction, best_total(firsts), best_plan(PanelRows(panels, firsts)))


if __name__ == "__main__":
    main(sys.argv[1:], solve, COMMAND)

"""Optimum of a rising auction, by dynamic programming over public-belief sets.

Let ``W_b(X, Y)`` be the best total reward when ``b`` is the last bid, the player to move has a type in the set ``X``
and the other one a type in ``Y``. A pure joint plan splits ``X``: some types pass, and each bid ``c > b`` gets a set
``S_c``, after which the other player is to move: ``W_c(Y, S_c)``. Pure plans suffice, and passing is additive:

    W_b(X, Y) = max over S in X of  G_b(S, Y) + sum of pass_b(x, Y) over x in X - S
    G_b(X, Y) = max over S in X of  W_{b+1}(Y, S) + G_{b+1}(X - S, Y)       best split of X among the bids above b

So two tables of ``4**n`` totals climb down the ladder of bids, each step one max-plus subset convolution for each of
the ``2**n`` sets ``Y``: ``6**n`` additions a bid, and exact, because totals are whole numbers.
The paper's Table 1 has no such row; its "Best Known" values are proved optimal here, Simple Bidding 16 apart
(``ladder_panels``).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bidzoo.agents.tabular.folding import choose, fold, pass_rows, sum_rows, turn
from bidzoo.agents.tabular.ladder import Ladder
from bidzoo.kernels import I16, I64

LANES = 32  # sets of the other player handled at once: a cache line of int16
RANGE = 32767
WORST = -32768  # no total: less than any
Report = Callable[[str], None]


def need(types: int) -> int:
    """Bytes of the three tables."""
    return 3 * 2 * 4 ** max(types, 5)


def shifted(ladder: Ladder) -> tuple[I64, int]:
    """Payoffs minus a constant that makes every total over any sets of deals fit int16, and the constant.

    Every deal is counted once in every plan, so the optimum falls by ``n * n`` times the constant.

    Raises:
        ValueError: no constant does.
    """
    best = ladder.rewards().max(axis=0)
    for shift in sorted(range(min(0, int(ladder.payoff.min())), max(0, int(ladder.payoff.max())) + 1), key=abs):
        high = np.maximum(best - shift, 0).sum()
        low = min(0, int(ladder.payoff.min()) - shift) * ladder.deals
        if high <= RANGE and low > -RANGE:
            return ladder.payoff - shift, shift
    raise ValueError(f"{ladder.id}: totals do not fit 16 bits, whatever constant is taken off")


class Tables:
    """``W_b`` for every last bid ``b`` (0: no bid yet).

    ``tables[b]`` ``[Z / 32, Z, 32]``: the other player's set is the middle index, the mover's the other two.
    With ``directory`` they are kept there, a run that was interrupted resumes from them, and memory holds three tables
    at a time. Without it they are in memory; if ``keep`` is false they are given up, and only ``value`` is left.
    """

    def __init__(
        self, ladder: Ladder, keep: bool = True, directory: Path | None = None, report: Report = lambda line: None
    ) -> None:
        self.ladder, self.keep, self.directory = ladder, keep, directory
        self.payoff, self.shift = shifted(ladder)
        self.width = max(ladder.types, 5)  # so that a block of lanes is full; the types beyond never score
        self.full = (1 << ladder.types) - 1
        self.tables: list[I16 | None] = [None] * (ladder.bids + 1)
        self.value = self._solve(report) + self.shift * ladder.deals

    def passes(self, bid: int, block: int) -> I16:
        """Totals ``[n, 32]`` of passing over ``bid`` for the other player's sets of ``block``."""
        out = np.zeros((self.width, LANES), np.int16)
        pass_rows(self.payoff[bid], self.ladder.types, block * LANES, out)
        return out

    def _solve(self, report: Report) -> int:
        sets, top = 1 << self.width, self.ladder.bids
        shape = (sets // LANES, sets, LANES)
        after, before = np.empty(shape, np.int16), np.empty(shape, np.int16)
        split = np.empty(shape, np.int16)
        line, out = np.empty(shape[1:], np.int16), np.empty(shape[1:], np.int16)
        bid = self._resume(after, split)
        if bid > top:
            bid = top
            for block in range(len(split)):
                sum_rows(self.passes(top, block), line)
                turn(line, block, after)
            split[:] = after  # one bid is left above the last but one, and all of X makes it
            self._store(top, after, split)
        while bid > (0 if self.ladder.opening_pass else 1):
            bid -= 1
            for block in range(len(split)):
                if bid < top - 1:
                    out[:] = WORST
                    fold(after[block], split[block], out)
                    split[block] = out
                line[:] = split[block]
                choose(self.passes(bid, block), line)
                turn(line, block, before)
            after, before = before, after
            self._store(bid, after, split)
            report(f"{self.ladder.id}: last bid {bid} of {top} done")
        return self._root(after, split)

    def _path(self, directory: Path, kind: str, bid: int) -> Path:
        return directory / f"{self.ladder.id.replace('(size=', '_').rstrip(')')}_{kind}_{bid:02d}.npy"

    def _store(self, bid: int, after: I16, split: I16) -> None:
        """Keep ``W_bid``, in memory or on disk; there also ``G_bid``, which a resumed run goes on from."""
        if self.directory is None:
            self.tables[bid] = after.copy() if self.keep else None
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        for kind, table in (("split", split), ("after", after)):
            path = self._path(self.directory, kind, bid)
            np.save(path.with_suffix(".partial.npy"), table)
            path.with_suffix(".partial.npy").replace(path)
        self._path(self.directory, "split", bid + 1).unlink(missing_ok=True)
        self.tables[bid] = self._load(bid)

    def _load(self, bid: int, kind: str = "after") -> I16:
        """A stored table, mapped; ValueError names the file if it is no such table."""
        assert self.directory is not None
        path = self._path(self.directory, kind, bid)
        table: I16 = np.load(path, mmap_mode="r", allow_pickle=False)
        shape = ((1 << self.width) // LANES, 1 << self.width, LANES)
        if table.shape != shape or table.dtype != np.int16:
            raise ValueError(f"{path}: expected int16 totals {shape}, found {table.dtype} {table.shape}")
        return table

    def _resume(self, after: I16, split: I16) -> int:
        """The last bid that was stored, its tables filled in; ``B + 1`` if there is none."""
        top = self.ladder.bids
        if self.directory is None:
            return top + 1
        stored = [bid for bid in range(top + 1) if self._path(self.directory, "after", bid).exists()]
        for bid in stored:
            self.tables[bid] = self._load(bid)
        if not stored:
            return top + 1
        after[:], split[:] = self._load(stored[0]), self._load(stored[0], "split")
        return stored[0]

    def _root(self, lowest: I16, split: I16) -> int:
        """Best split of all types among the opening calls."""
        sets = np.arange(self.full + 1)
        block, lane = divmod(self.full, LANES)
        first, rest = lowest[block, sets, lane].astype(np.int64), split[block, sets, lane].astype(np.int64)
        return int((first + rest[self.full ^ sets]).max())

    def row(self, bid: int, mover: int) -> I64:
        """``W_bid(mover, S)`` for every set ``S`` ``[2**n]`` of the other player."""
        table = self.tables[bid]
        if table is None:
            raise ValueError(f"{self.ladder.id}: the table of bid {bid} was not kept")
        return table[mover // LANES, : self.full + 1, mover % LANES].astype(np.int64)

"""Optimum of a rising auction, by dynamic programming over public-belief sets.

Let ``W_b(X, Y)`` be the best total reward when ``b`` is the last bid, the player to move has a type in the set ``X``
and the other one a type in ``Y``. A pure joint plan splits ``X``: some types pass, and each bid ``c > b`` gets a set
``S_c``, after which the other player is to move: ``W_c(Y, S_c)``. Pure plans suffice, and passing is additive:

    W_b(X, Y) = max over S in X of  G_b(S, Y) + sum of pass_b(x, Y) over x in X - S
    G_b(X, Y) = max over S in X of  W_{b+1}(Y, S) + G_{b+1}(X - S, Y)       best split of X among the bids above b

So two tables of ``4**n`` totals come down from the highest bid, each step one max-plus subset convolution for each of
the ``2**n`` sets ``Y``: ``6**n`` additions a bid, and exact, because totals are whole numbers. The paper's Table 1 has
no such row; its "Best Known" values are proved optimal here, Simple Bidding 16 apart (``panels.py``).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bidzoo.agents.tabular.exact import Optimum, Plan, split_set
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import I16, I64, allocate, row
from bidzoo.envs.signalling.rising_auction import PASS, AuctionGame, act_row, legal_row
from bidzoo.envs.signalling.state import OVER, STATE

MAX_TYPES = 16  # no engine goes further
MAX_BYTES = 8 << 30  # of tables


@dataclass(frozen=True)
class RisingAuction:
    """An auction of ``B`` bids between two players of ``n`` types, whose reward depends on the sum of the types.

    Rewards are whole numbers, so totals over the ``n * n`` equally likely deals are exact.
    """

    id: str  # "simple_bidding_v0(size=4)"
    types: int  # n
    payoff: I64  # [1 + B, 2n - 1]  reward of the last bid (row 0: nobody bid) at each sum of the types
    opening_pass: bool  # may the first player pass?

    @property
    def bids(self) -> int:
        """Number of bids ``B``."""
        return len(self.payoff) - 1

    @property
    def deals(self) -> int:
        """Number of equally likely deals."""
        return self.types**2

    @property
    def stem(self) -> str:
        """Stem of file names, ``"simple_bidding_v0_4"``."""
        return self.id.replace("(size=", "_").rstrip(")")

    def rewards(self) -> I64:
        """Reward of each last bid at each deal, ``[1 + B, n, n]``."""
        types = np.arange(self.types)
        return self.payoff[:, types[:, None] + types]

    @classmethod
    def of(cls, game: AuctionGame) -> "RisingAuction":
        """The auction that the kernels of ``game`` describe.

        Raises:
            ValueError: a reward is no whole number or depends on more than the sum.
        """
        n = game.num_types[0]
        state = allocate(STATE, 1)[0]
        state["extent"] = game.size
        legal = np.empty(game.num_actions, np.int8)
        game.rules.legal_row(state, legal)
        opening_pass = bool(legal[PASS])
        payoff = np.zeros((game.num_actions, 2 * n - 1), np.int64)
        for bid in range(0 if opening_pass else 1, game.num_actions):
            state["bid"] = bid
            rewards = np.array([[game.rules.reward_row(state, x, y) for y in range(n)] for x in range(n)])
            payoff[bid] = [*rewards[0], *rewards[1:, -1]]
            if (payoff[bid][np.add.outer(range(n), range(n))] != rewards).any():
                raise ValueError(f"{game}: the exact solver needs whole rewards of the sum of the types")
        return cls(str(game), n, payoff, opening_pass)


def play(auction: RisingAuction, plan: Plan) -> int:
    """Total reward of ``plan`` over all deals, each auction played out call by call.

    Raises:
        ValueError: the plan makes an illegal call, or has none for a history it reaches.
    """
    legal = np.empty(1 + auction.bids, np.int8)
    total = 0
    for types in np.ndindex(auction.types, auction.types):
        state = allocate(STATE, 1)[0]
        history: tuple[int, ...] = ()
        while state["turn"] != OVER:
            if history not in plan:
                raise ValueError(f"{auction.id}: the plan has no calls after {history}, reached by types {types}")
            call = int(plan[history][types[state["turn"]]])
            legal_row(state, auction.opening_pass, legal)
            if not (0 <= call <= auction.bids and legal[call]):
                raise ValueError(f"{auction.id}: illegal call {call} after {history}")
            act_row(state, call)
            history = (*history, call)
        total += int(auction.payoff[state["bid"], sum(types)])
    return total


def certified(auction: RisingAuction, total: int, plan: Plan | None) -> Optimum:
    """The optimum ``total``; ValueError unless its ``plan``, played out, scores that much."""
    if plan is not None and play(auction, plan) != total:
        raise ValueError(f"{auction.id}: the plan scores {play(auction, plan)}, the tables say {total}")
    return Optimum(auction.id, total, auction.deals, plan)


# ---- kernels ------------------------------------------------------------------------------
# A set of types is a bit mask, ``Z = 2**n`` sets. Every kernel works on ``K`` lanes at once, one for each of ``K`` sets
# of the other player: arrays ``[Z, K]`` of int16 (the callers see to it that no total leaves that range).

U = np.uint64  # unsigned indices spare numba the wrap-around of negative ones, and the loops vectorise
ONE = U(1)


@row
def fold(a: I16, b: I16, out: I16) -> None:
    """``out[X] = max(out[X], max over S in X of a[S] + b[X - S])``: max-plus subset convolution, ``3**n`` additions."""
    lanes = a.shape[1]
    for whole in range(a.shape[0]):
        x = U(whole)
        s = x
        while True:
            for lane in range(lanes):
                k = U(lane)
                out[x, k] = max(out[x, k], np.int16(a[s, k] + b[x ^ s, k]))
            if s == U(0):
                break
            s = (s - ONE) & x


@row
def choose(passes: I16, table: I16) -> None:
    """Let each type of the set pass instead: ``table[X] = max over S in X of table[S] + sum of passes over X - S``.

    ``passes`` ``[n, K]``, ``table`` ``[Z, K]``. One sweep a type, in place, because passes are additive.
    """
    lanes = table.shape[1]
    for z in range(passes.shape[0]):
        bit = ONE << U(z)
        for whole in range(table.shape[0]):
            x = U(whole)
            if x & bit:
                for lane in range(lanes):
                    k = U(lane)
                    table[x, k] = max(table[x, k], np.int16(table[x ^ bit, k] + passes[z, k]))


@row
def pass_rows(payoff: I64, types: int, first: int, out: I16) -> None:
    """Total of each type that passes: ``out[x, k] = sum of payoff[x + y]`` over ``y`` in set ``first + k``."""
    out[:] = 0
    for x in range(types):
        for y in range(types):
            for k in range(out.shape[1]):
                if (first + k) >> y & 1:
                    out[x, k] += np.int16(payoff[x + y])


@row
def sum_rows(each: I16, out: I16) -> None:
    """``out[X] = sum of each[x]`` over ``x`` in ``X``; ``each`` ``[n, K]``, ``out`` ``[2**n, K]``."""
    out[0] = 0
    for x in range(each.shape[0]):
        bit = 1 << x
        for s in range(bit):
            for k in range(out.shape[1]):
                out[bit + s, k] = np.int16(out[s, k] + each[x, k])


@row
def transpose(block: I16, start: int, out: I16) -> None:
    """Transpose ``block[X, k]``, of the other player's set ``start + k``, into ``out[X // K, start + k, X % K]``."""
    lanes = block.shape[1]
    for p in range(out.shape[0]):
        for k in range(lanes):
            for lane in range(lanes):
                out[p, start + k, lane] = block[p * lanes + lane, k]


# ---- tables -------------------------------------------------------------------------------

LANES = 32  # sets of the other player handled at once: a cache line of int16
RANGE = 32767
WORST = -32768  # no total: less than any


def table_bytes(types: int) -> int:
    """Bytes of the three tables."""
    return 3 * 2 << 2 * max(types, 5)  # 4**n each


def too_large(name: str, types: int) -> ValueError:
    """The error of a game whose tables do not fit."""
    return ValueError(f"{name}: three tables of 4**{types} totals need more than {MAX_BYTES >> 30} GiB")


def shifted(auction: RisingAuction) -> tuple[I64, int]:
    """Payoffs minus a constant that makes every total over any sets of deals fit int16, and the constant.

    Every deal is counted once in every plan, so the optimum falls by ``n * n`` times the constant.

    Raises:
        ValueError: no constant makes them fit.
    """
    best = auction.rewards().max(axis=0)
    for shift in sorted(range(min(0, int(auction.payoff.min())), max(0, int(auction.payoff.max())) + 1), key=abs):
        high = np.maximum(best - shift, 0).sum()
        low = min(0, int(auction.payoff.min()) - shift) * auction.deals
        if high <= RANGE and low > -RANGE:
            return auction.payoff - shift, shift
    raise ValueError(f"{auction.id}: totals do not fit 16 bits, whatever constant is taken off")


class Tables:
    """``W_b`` for every last bid ``b`` (0: no bid yet).

    ``tables[b]`` ``[Z / 32, Z, 32]``: the other player's set is the middle index, the mover's the other two. Unless
    ``keep`` they are discarded, and only ``value`` is left.
    """

    def __init__(self, auction: RisingAuction, keep: bool = True) -> None:
        self.auction, self.keep = auction, keep
        self.payoff, self.shift = shifted(auction)
        self.width = max(auction.types, 5)  # so that a block of lanes is full; the types beyond never score
        self.full = (1 << auction.types) - 1
        self.tables: list[I16 | None] = [None] * (auction.bids + 1)
        self.value = self._solve() + self.shift * auction.deals

    def passes(self, bid: int, block: int) -> I16:
        """Totals ``[n, 32]`` of passing over ``bid`` for the other player's sets of ``block``."""
        out = np.zeros((self.width, LANES), np.int16)
        pass_rows(self.payoff[bid], self.auction.types, block * LANES, out)
        return out

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a table."""
        sets = 1 << self.width
        return sets // LANES, sets, LANES

    def _solve(self) -> int:
        after, before, split = (np.empty(self.shape, np.int16) for _ in range(3))
        line, out = np.empty(self.shape[1:], np.int16), np.empty(self.shape[1:], np.int16)
        bid = self._begin(after, split)
        while bid > (0 if self.auction.opening_pass else 1):
            bid -= 1
            for block in range(len(split)):
                if bid < self.auction.bids - 1:
                    out[:] = WORST
                    fold(after[block], split[block], out)
                    split[block] = out
                line[:] = split[block]
                choose(self.passes(bid, block), line)
                transpose(line, block * LANES, before)
            after, before = before, after
            self._store(bid, after, split)
        return self._root(after, split)

    def _begin(self, after: I16, split: I16) -> int:
        """Fill in the tables of the last bid, which is returned."""
        top = self.auction.bids
        line = np.empty(self.shape[1:], np.int16)
        for block in range(len(split)):
            sum_rows(self.passes(top, block), line)
            transpose(line, block * LANES, after)
        split[:] = after  # one bid is left above the last but one, and all of X makes it
        self._store(top, after, split)
        return top

    def _store(self, bid: int, after: I16, split: I16) -> None:
        """Keep ``W_bid``; ``split`` is ``G_bid``."""
        self.tables[bid] = after.copy() if self.keep else None

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
            raise ValueError(f"{self.auction.id}: the table of bid {bid} was not kept")
        return table[mover // LANES, : self.full + 1, mover % LANES].astype(np.int64)


# ---- from totals to calls: the plan, read top down from ``W_b`` -----------------------------


class Rows(Protocol):
    """Source of ``W_b(X, S)`` for one ``b`` and ``X`` and all ``S``."""

    auction: RisingAuction
    payoff: I64  # [1 + B, 2n - 1]; may differ from the auction's by a constant

    def row(self, bid: int, mover: int) -> I64:
        """``W_bid(mover, S)`` for every set ``S`` ``[2**n]`` of the other player."""
        ...


def best_plan(rows: Rows) -> dict[tuple[int, ...], I64]:
    """Calls ``[n]`` of every type after every history that the plan reaches; -1 where a type does not get there.

    Among equally good splits the lowest calls take as many types as they can, pass first.
    """
    plan: dict[tuple[int, ...], I64] = {}
    full = (1 << rows.auction.types) - 1
    stack: list[tuple[tuple[int, ...], int, int]] = [((), full, full)]
    while stack:
        history, mover, other = stack.pop()
        lines = _options(rows, history, other)
        parts = split_set([line for _, line in lines], mover)
        calls = np.full(rows.auction.types, -1, np.int64)
        for (call, _), part in zip(lines, parts, strict=True):
            for x in range(rows.auction.types):
                if part >> x & 1:
                    calls[x] = call
            if part and (call != PASS or not history):
                stack.append(((*history, call), other, part))
        plan[history] = calls
    return plan


def _options(rows: Rows, history: tuple[int, ...], other: int) -> list[tuple[int, I64]]:
    """Legal calls, each with its total ``[2**n]`` for every set of types that makes it."""
    last = history[-1] if history else 0
    bids = [(bid, rows.row(bid, other)) for bid in range(last + 1, rows.auction.bids + 1)]
    if history:
        return [(PASS, pass_line(rows, last, other)), *bids]
    return [(PASS, rows.row(0, other)), *bids] if rows.auction.opening_pass else bids


def pass_line(rows: Rows, bid: int, other: int) -> I64:
    """Total of passing over ``bid`` for every set ``[2**n]`` of the mover, the other's type in ``other``."""
    types = np.arange(rows.auction.types)
    partners = types[(other >> types & 1) == 1]
    totals = rows.payoff[bid][types[:, None] + partners].sum(axis=1)
    line = np.zeros(1, np.int64)
    for total in totals:
        line = np.concatenate([line, line + total])
    return line


def auction_of(game: AuctionGame) -> RisingAuction:
    """The auction that the kernels of ``game`` describe; ValueError if it has too many types for any engine."""
    if game.num_types[0] > MAX_TYPES:
        raise too_large(str(game), game.num_types[0])
    return RisingAuction.of(game)


@when_compiled()
def solve_rising_auction(auction: RisingAuction) -> Optimum:
    """The optimum of a rising auction, computed.

    Raises:
        ValueError: too large for ``MAX_BYTES``; or the plan that was read off scores less, which would be a bug.
    """
    size = table_bytes(auction.types)
    if size > MAX_BYTES:
        raise too_large(auction.id, auction.types)
    keep = size // 3 * (auction.bids + 4) <= MAX_BYTES
    tables = Tables(auction, keep)
    return certified(auction, tables.value, best_plan(tables) if keep else None)

"""From totals to calls: the optimal plan of a rising auction, read top down from ``W_b``."""

from typing import Protocol

import numpy as np

from bidzoo.agents.tabular.folding import fold_line
from bidzoo.agents.tabular.ladder import PASS, Ladder
from bidzoo.kernels import I64

NOWHERE = -(1 << 40)  # less than any total


class Rows(Protocol):
    """Knows ``W_b(X, S)`` for given ``b`` and ``X`` and all ``S``."""

    ladder: Ladder
    payoff: I64  # [1 + B, 2n - 1]; may differ from the ladder's by a constant

    def row(self, bid: int, mover: int) -> I64:
        """``W_bid(mover, S)`` for every set ``S`` ``[2**n]`` of the other player."""
        ...


def best_plan(rows: Rows) -> dict[tuple[int, ...], I64]:
    """Calls ``[n]`` of every type after every history that the plan reaches; -1 where a type does not get there.

    Among equally good splits the lowest calls take as many types as they can, pass first.
    """
    plan: dict[tuple[int, ...], I64] = {}
    full = (1 << rows.ladder.types) - 1
    waiting: list[tuple[tuple[int, ...], int, int]] = [((), full, full)]
    while waiting:
        history, mover, other = waiting.pop()
        lines = _options(rows, history, other)
        parts = split_set([line for _, line in lines], mover)
        calls = np.full(rows.ladder.types, -1, np.int64)
        for (call, _), part in zip(lines, parts, strict=True):
            for x in range(rows.ladder.types):
                if part >> x & 1:
                    calls[x] = call
            if part and (call != PASS or not history):
                waiting.append(((*history, call), other, part))
        plan[history] = calls
    return plan


def _options(rows: Rows, history: tuple[int, ...], other: int) -> list[tuple[int, I64]]:
    """Legal calls, each with its total ``[2**n]`` for every set of types that makes it."""
    last = history[-1] if history else 0
    bids = [(bid, rows.row(bid, other)) for bid in range(last + 1, rows.ladder.bids + 1)]
    if history:
        return [(PASS, pass_line(rows, last, other)), *bids]
    return [(PASS, rows.row(0, other)), *bids] if rows.ladder.opening_pass else bids


def pass_line(rows: Rows, bid: int, other: int) -> I64:
    """Total of passing over ``bid`` for every set ``[2**n]`` of the mover, the other's type in ``other``."""
    types = np.arange(rows.ladder.types)
    partners = types[(other >> types & 1) == 1]
    each = rows.payoff[bid][types[:, None] + partners].sum(axis=1)
    line = np.zeros(1, np.int64)
    for total in each:
        line = np.concatenate([line, line + total])
    return line


def split_set(lines: list[I64], whole: int) -> list[int]:
    """The best partition of ``whole``, one part for each of ``lines`` ``[2**n]``; earlier parts as large as can be."""
    later = [lines[-1]]  # best split of every set among the lines from here on
    for line in lines[-2::-1]:
        out = np.full(len(line), NOWHERE)
        fold_line(line, later[0], whole, out)
        later.insert(0, out)
    parts = []
    for line, best, rest in zip(lines, later, [*later[1:], None], strict=True):
        if rest is None:
            parts.append(whole)
            break
        part = _largest(line, rest, whole, int(best[whole]))
        parts.append(part)
        whole ^= part
    return parts


def _largest(line: I64, rest: I64, whole: int, total: int) -> int:
    """The largest part of ``whole`` (then the highest number) with ``line[part] + rest[whole - part] == total``."""
    parts = np.arange(len(line))
    parts = parts[parts & ~whole == 0]
    parts = parts[line[parts] + rest[whole ^ parts] == total]
    return int(parts[np.lexsort((parts, np.bitwise_count(parts)))[-1]])

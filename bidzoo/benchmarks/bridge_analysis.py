"""``bidzoo bench bridge-analysis``: what an agent's calls mean and where its auctions end, as numbers and pictures.

Tables 7 and 8 of Tian et al. 2020 (JPS), Table V and Figures 4 to 6 of belief Monte Carlo search, for any agent.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bidzoo.agents.bridge.natural.hand import evaluate_row
from bidzoo.agents.bridge.natural.records import HAND
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import SEARCH_BOARDS, contestant
from bidzoo.benchmarks.bridge_boards import Boards
from bidzoo.benchmarks.match import slow
from bidzoo.benchmarks.results import Figure, Table
from bidzoo.cards import FIRST_BID, NUM_BIDS, NUM_CALLS, STRAINS, call_text
from bidzoo.envs.bridge.wording import suited
from bidzoo.kernels import I64, Bool, Tables, allocate, batched, prange

BALANCED = -1
LEVELS = tuple(str(level) for level in range(1, 8))


class Requirement(NamedTuple):
    """What SAYC asks of an opening bid."""

    low: int  # HCP
    high: int
    length: int  # cards in the suit, or BALANCED


# JPS, Table 8; 2NT and the three level, which it leaves out, from the ACBL's SAYC booklet.
SAYC = {
    "1C": Requirement(12, 40, 3),
    "1D": Requirement(12, 40, 3),
    "1H": Requirement(12, 40, 5),
    "1S": Requirement(12, 40, 5),
    "1NT": Requirement(15, 17, BALANCED),
    "2C": Requirement(22, 40, 0),
    "2D": Requirement(5, 11, 6),
    "2H": Requirement(5, 11, 6),
    "2S": Requirement(5, 11, 6),
    "2NT": Requirement(20, 21, BALANCED),
    "3C": Requirement(5, 11, 7),
    "3D": Requirement(5, 11, 7),
    "3H": Requirement(5, 11, 7),
    "3S": Requirement(5, 11, 7),
}
# BMCS, Table V: percent of the openings of its RL agent and of WBridge5.
PUBLISHED = {
    "1C": (74.25, 89.27),
    "1D": (76.76, 88.26),
    "1H": (73.91, 80.04),
    "1S": (75.47, 79.8),
    "1NT": (76.15, 85.71),
    "2C": (25.71, 32.53),
    "2D": (92.13, 94.89),
    "2H": (94.61, 93.51),
    "2S": (94.18, 95.35),
    "2NT": (53.53, 82.22),
    "3C": (33.5, 41.48),
    "3D": (49.38, 74.73),
    "3H": (50.49, 49.04),
    "3S": (65.35, 55.44),
}
# JPS, Table 7: percent of all calls, and of the final contracts.
PUBLISHED_CALLS = {"P": 57.31, "1C": 3.74, "1S": 3.23, "X": 3.16, "2H": 3.10, "2S": 2.84, "1NT": 2.84}
PUBLISHED_CONTRACTS = {
    "2H": 8.07,
    "2S": 7.83,
    "1NT": 7.71,
    "3D": 7.34,
    "3NT": 6.58,
    "4H": 5.90,
    "4S": 5.23,
}


@batched
def _evaluate(cards: I64, out: Tables) -> None:
    for b in prange(len(cards)):
        evaluate_row(cards[b], out[b])


class Openings(NamedTuple):
    """The opening bids of finished tables, with the hands that made them."""

    bid: I64  # [n]  0 ... 34
    hands: Tables  # [n]  HAND

    @classmethod
    def of(cls, tables: Tables) -> "Openings":
        """Of the tables where anybody bid."""
        bids = tables["calls"] >= FIRST_BID
        rows, turn = np.flatnonzero(bids.any(1)), bids.argmax(1)
        turn = turn[rows]
        seat = (tables["dealer"][rows] + turn) % 4
        cards = np.ascontiguousarray(tables["hands"][rows, seat])
        hands = allocate(HAND, len(rows))
        _evaluate(cards, hands)
        return cls(tables["calls"][rows, turn].astype(np.int64) - FIRST_BID, hands)

    def conform(self, call: str) -> Bool:
        """For each opening of ``call``: the hand has the points and the length that SAYC asks for."""
        need, hands = SAYC[call], self.hands[self.bid == _bid(call)]
        enough = (hands["hcp"] >= need.low) & (hands["hcp"] <= need.high)
        if need.length == BALANCED:
            return enough & (hands["balanced"] == 1)
        return enough & (need.length == 0 or hands["length"][:, _bid(call) % 5] >= need.length)


def _bid(call: str) -> int:
    return 5 * (int(call[0]) - 1) + STRAINS.index(call[1:])


def opening_table(openings: Openings) -> Table:
    """JPS, Table 8: points and lengths of every opening bid, middle 90 %."""
    columns = ["opening", "%", "HCP", "its suit", *("♠", "♥", "♦", "♣"), "balanced %"]
    table = Table(
        "Opening table (JPS, Table 8)",
        columns,
        note="HCP and the length of the suit: 5th to 95th percentile; the other suits: mean length",
    )
    for bid in range(NUM_BIDS):
        hands = openings.hands[openings.bid == bid]
        if len(hands):
            suit = bid % 5
            table.rows.append(
                {
                    "opening": suited(FIRST_BID + bid),
                    "%": 100 * len(hands) / len(openings.bid),
                    "HCP": _range(hands["hcp"]),
                    "its suit": _range(hands["length"][:, suit]) if suit < 4 else "",
                    **{name: float(hands["length"][:, 3 - s].mean()) for s, name in enumerate("♠♥♦♣")},
                    "balanced %": 100 * float(hands["balanced"].mean()),
                }
            )
    return table


def _range(values: I64) -> str:
    low, high = np.percentile(values, [5, 95], method="nearest").astype(int)
    return str(low) if low == high else f"{low}-{high}"


def conformity_table(openings: Openings) -> Table:
    """BMCS, Table V: percent of the openings that SAYC would make; the last row is over all of them."""
    table = Table(
        "Openings that conform to SAYC, % (BMCS, Table V)",
        ["opening", "openings", "conform %", "the paper's RL %", "WBridge5 %"],
        note="By HCP and length as in JPS, Table 8; 2NT: 20-21 balanced, three level: 5-11 HCP and seven cards",
    )
    good = total = 0
    for call in SAYC:
        conform = openings.conform(call)
        good, total = good + int(conform.sum()), total + len(conform)
        theirs, wbridge5 = PUBLISHED[call]
        row = {"opening": suited(FIRST_BID + _bid(call)), "openings": len(conform)}
        share = 100 * float(conform.mean()) if len(conform) else None
        table.rows.append({**row, "conform %": share, "the paper's RL %": theirs, "WBridge5 %": wbridge5})
    share = 100 * good / total if total else None
    table.rows.append({"opening": "all of these", "openings": total, "conform %": share})
    return table


def frequency_table(tables: Tables) -> Table:
    """JPS, Table 7: the most frequent calls and final contracts."""
    calls = tables["calls"]
    counts = np.bincount(calls[calls >= 0].astype(np.int64), minlength=NUM_CALLS)
    ends = np.bincount(tables["bid"].astype(np.int64) + 1, minlength=NUM_BIDS + 1)
    names = ["passed out", *(call_text(FIRST_BID + bid) for bid in range(NUM_BIDS))]
    first, last = np.argsort(-counts, kind="stable")[:12], np.argsort(-ends, kind="stable")[:12]
    table = Table(
        "Most frequent calls and final contracts, % (JPS, Table 7)",
        ["call", "calls %", "calls, paper", "contract", "contracts %", "contracts, paper"],
        note="The paper: its JPS agent at all four seats",
    )
    for call, end in zip(first, last, strict=True):
        table.rows.append(
            {
                "call": call_text(int(call)),
                "calls %": 100 * float(counts[call] / counts.sum()),
                "calls, paper": PUBLISHED_CALLS.get(call_text(int(call))),
                "contract": names[end],
                "contracts %": 100 * float(ends[end] / ends.sum()),
                "contracts, paper": PUBLISHED_CONTRACTS.get(names[end]),
            }
        )
    return table


def bid_heat(title: str, bids: I64, note: str) -> Figure:
    """Percent of ``bids`` (0 ... 34) by level and strain, as BMCS, Figures 4 and 5."""
    share = 100 * np.bincount(bids, minlength=NUM_BIDS).reshape(7, 5) / max(len(bids), 1)
    rows = {level: [float(x) for x in share[i]] for i, level in enumerate(LEVELS)}
    return Figure(title, "heat", ("♣", "♦", "♥", "♠", "NT"), rows, "strain", "level", note)


def length_bars(length: I64) -> Figure:
    """Percent of the auctions by number of calls, as BMCS, Figure 6."""
    counts = np.bincount(length)
    x = list(range(4, len(counts)))
    share = [100 * float(counts[n] / counts.sum()) for n in x]
    note = f"mean {length.mean():.1f} calls; both papers: mostly 6 to 15"
    return Figure("Length of the auction (BMCS, Figure 6)", "bars", x, {"auctions": share}, "calls", "%", note)


def analyse(policy: Policy, boards: int, seed: int = 0, workers: int = 1) -> tuple[list[Table], list[Figure]]:
    """Tables and figures of ``boards`` auctions between four of ``policy``, on test deals."""
    tables = Boards(boards, seed).play(policy, policy, seed, workers)
    openings = Openings.of(tables)
    bids = tables["bid"][tables["bid"] >= 0].astype(np.int64)
    figures = [
        bid_heat("Opening bids, % (BMCS, Figure 4)", openings.bid, f"{len(openings.bid):,} openings"),
        bid_heat("Final contracts, % (BMCS, Figure 5)", bids, f"{len(bids):,} contracts"),
        length_bars(tables["length"].astype(np.int64)),
    ]
    measured = [opening_table(openings), conformity_table(openings), frequency_table(tables)]
    return (
        [replace(table, title=f"{policy.name}: {table.title}") for table in measured],
        [replace(figure, title=f"{policy.name}: {figure.title}") for figure in figures],
    )


def main(
    entries: Sequence[str | Policy],
    boards: int = 10_000,
    seed: int = 0,
    workers: int = 1,
    search_boards: int = SEARCH_BOARDS,
) -> tuple[list[Table], list[Figure], float]:
    """Tables, figures and seconds of ``entries``; slow policies bid only ``search_boards``, and over ``workers``."""
    began = time.perf_counter()
    tables: list[Table] = []
    figures: list[Figure] = []
    for policy in map(contestant, entries):
        searches = slow([policy])
        count = min(boards, search_boards) if searches else boards
        measured, drawn = analyse(policy, count, seed, workers if searches else 1)
        tables += measured
        figures += drawn
    return tables, figures, time.perf_counter() - began

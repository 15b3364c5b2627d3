"""``bidzoo bench bridge-analysis``: what an agent's calls mean and where its auctions end, as numbers and pictures.

Tables 7 and 8 of Tian et al. 2020 (JPS), Table V and Figures 4 to 6 of belief Monte Carlo search, for any agent.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bidzoo.agents.bridge.natural.knowledge import evaluate
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge import Boards, Options, contestant
from bidzoo.benchmarks.match import Run, slow
from bidzoo.benchmarks.results import Figure, Measured, ResultTable, published
from bidzoo.core.cards import FIRST_BID, NUM_BIDS, NUM_CALLS, call_number, call_text
from bidzoo.core.kernels import I64, Bool, States
from bidzoo.envs.bridge.render import suited

BALANCED = -1
RARE = 0.5  # per cent of the openings: those below are one row
LEVELS = tuple(str(level) for level in range(1, 8))


class Requirement(NamedTuple):
    """What SAYC asks of an opening bid, and how many of those of two agents conform (BMCS, Table V)."""

    low: int  # HCP
    high: int
    length: int  # cards in the suit, or BALANCED
    rl: float  # percent of the paper's RL agent
    searching: float  # and of its RL-BMCS agent
    wbridge5: float
    jps: str | None  # what an agent of JPS opens so (JPS, Table 8)
    sayc: str | None  # what SAYC asks for, in the same words


# JPS, Table 8; 2NT and the three level, which it leaves out, from the ACBL's SAYC booklet.
SAYC = {row.pop("call"): Requirement(**row) for row in published("openings")}
# JPS, Table 7: percent of all calls, and of the final contracts.
PUBLISHED_CALLS = {"P": 57.31, "1C": 3.74, "1S": 3.23, "X": 3.16, "2H": 3.10, "2S": 2.84, "1NT": 2.84}
PUBLISHED_CONTRACTS = {"2H": 8.07, "2S": 7.83, "1NT": 7.71, "3D": 7.34, "3NT": 6.58, "4H": 5.90, "4S": 5.23}


class Openings(NamedTuple):
    """The opening bids of finished tables, with the hands that made them."""

    bid: I64  # [n]  0 ... 34
    hands: States  # [n]  HAND
    passed: States  # HAND, of those who could have opened before and passed

    @classmethod
    def of(cls, states: States) -> "Openings":
        """The openings of those ``states`` in which anybody bid."""
        bids = states["calls"] >= FIRST_BID
        rows = np.flatnonzero(bids.any(1))
        turn = bids[rows].argmax(1)
        seats = (states["dealer"][rows, None] + np.arange(4)) % 4
        hands = np.take_along_axis(states["hands"][rows], seats, 1)  # in the order of their turns
        passed = evaluate(hands[np.arange(4) < turn[:, None]])
        bid = states["calls"][rows, turn].astype(np.int64) - FIRST_BID
        return cls(bid, evaluate(hands[np.arange(len(rows)), turn]), passed)

    @property
    def weak(self) -> float:
        """Share of the hands under eight points that open, of those that may."""
        opened, passed = (int((hands["hcp"] < 8).sum()) for hands in (self.hands, self.passed))
        return opened / max(1, opened + passed)

    def conform(self, call: str) -> Bool:
        """For each opening of ``call``: the hand has the points and the length that SAYC asks for."""
        requirement, bid = SAYC[call], call_number(call) - FIRST_BID
        hands = self.hands[self.bid == bid]
        enough = (hands["hcp"] >= requirement.low) & (hands["hcp"] <= requirement.high)
        if requirement.length == BALANCED:
            return enough & (hands["balanced"] == 1)
        return enough & (requirement.length == 0 or hands["length"][:, bid % 5] >= requirement.length)


def opening_table(openings: Openings) -> ResultTable:
    """JPS, Table 8: points and lengths of every opening bid, middle 90 %."""
    table = ResultTable(
        "Opening table (JPS, Table 8)",
        ["opening", "%", "HCP", "its suit", "balanced %", "the paper's JPS", "SAYC"],
        note="HCP and the length of the suit: 5th to 95th percentile. The last two columns are the paper's words. "
        f"{100 * openings.weak:.1f} % of the hands under 8 HCP open where somebody does.",
    )
    shares = 100 * np.bincount(openings.bid, minlength=NUM_BIDS) / max(1, len(openings.bid))
    for bid in range(NUM_BIDS):
        hands = openings.hands[openings.bid == bid]
        if shares[bid] >= RARE:
            suit, said = bid % 5, SAYC.get(call_text(FIRST_BID + bid))
            table.add(
                suited(FIRST_BID + bid),
                float(shares[bid]),
                _range(hands["hcp"]),
                _range(hands["length"][:, suit]) if suit < 4 else "",
                100 * float(hands["balanced"].mean()),
                *((said.jps or "", said.sayc or "") if said else ("", "")),
            )
    table.rows.append({"opening": "others", "%": float(shares[shares < RARE].sum())})
    return table


def _range(values: I64) -> str:
    low, high = np.percentile(values, [5, 95], method="nearest").astype(int)
    return str(low) if low == high else f"{low}-{high}"


def conformity_table(openings: Openings) -> ResultTable:
    """BMCS, Table V: percent of the openings that SAYC would make; the last row is over all of them."""
    table = ResultTable(
        "Openings that conform to SAYC, % (BMCS, Table V)",
        ["opening", "openings", "conform %", "the paper's RL %", "its RL-BMCS %", "WBridge5 %"],
        note="By HCP and length as in JPS, Table 8; 2NT: 20-21 balanced, three level: 5-11 HCP and seven cards",
    )
    conforming = total = 0
    for call, requirement in SAYC.items():
        conform = openings.conform(call)
        conforming, total = conforming + int(conform.sum()), total + len(conform)
        share = 100 * float(conform.mean()) if len(conform) else None
        table.add(
            suited(call_number(call)), len(conform), share, requirement.rl, requirement.searching, requirement.wbridge5
        )
    share = 100 * conforming / total if total else None
    table.rows.append({"opening": "all of these", "openings": total, "conform %": share})
    return table


def frequency_table(states: States) -> ResultTable:
    """JPS, Table 7: the most frequent calls and final contracts."""
    calls = states["calls"]
    call_counts = np.bincount(calls[calls >= 0].astype(np.int64), minlength=NUM_CALLS)
    contract_counts = np.bincount(states["bid"].astype(np.int64) + 1, minlength=NUM_BIDS + 1)
    contract_names = ["passed out", *(call_text(FIRST_BID + bid) for bid in range(NUM_BIDS))]
    top_calls, top_contracts = (np.argsort(-counts, kind="stable")[:12] for counts in (call_counts, contract_counts))
    call_shares, contract_shares = (100 * counts / counts.sum() for counts in (call_counts, contract_counts))
    table = ResultTable(
        "Most frequent calls and final contracts, % (JPS, Table 7)",
        ["call", "calls %", "calls, paper", "contract", "contracts %", "contracts, paper"],
        note="The paper: its JPS agent at all four seats",
    )
    for call, k in zip(top_calls, top_contracts, strict=True):
        name, contract = call_text(int(call)), contract_names[k]
        published = PUBLISHED_CALLS.get(name), PUBLISHED_CONTRACTS.get(contract)
        table.add(name, float(call_shares[call]), published[0], contract, float(contract_shares[k]), published[1])
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


def analyse(policy: Policy, boards: int, seed: int = 0, workers: int = 1) -> Measured:
    """Tables and figures of ``boards`` auctions between four of ``policy``, on test deals."""
    states = Boards(boards, seed).play(policy, policy, seed, Run(workers))
    openings = Openings.of(states)
    bids = states["bid"][states["bid"] >= 0].astype(np.int64)
    figures = [
        bid_heat("Opening bids, % (BMCS, Figure 4)", openings.bid, f"{len(openings.bid):,} openings"),
        bid_heat("Final contracts, % (BMCS, Figure 5)", bids, f"{len(bids):,} contracts"),
        length_bars(states["length"].astype(np.int64)),
    ]
    tables = [opening_table(openings), conformity_table(openings), frequency_table(states)]
    return (
        [replace(table, title=f"{policy.name}: {table.title}") for table in tables],
        [replace(figure, title=f"{policy.name}: {figure.title}") for figure in figures],
    )


def main(
    entries: Sequence[str | Policy],
    boards: int = 10_000,
    seed: int = 0,
    workers: int = 1,
    search_boards: int = Options.search_boards,
) -> Measured:
    """Tables and figures of ``entries``; slow policies bid only ``search_boards``, and over ``workers``."""
    tables: list[ResultTable] = []
    figures: list[Figure] = []
    for policy in map(contestant, entries):
        count, processes = (min(boards, search_boards), workers) if slow([policy]) else (boards, 1)
        policy_tables, policy_figures = analyse(policy, count, seed, processes)
        tables += policy_tables
        figures += policy_figures
    return tables, figures

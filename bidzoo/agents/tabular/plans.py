"""Optimal plans of the rising auctions, Simple Bidding and MiniBridge: recorded, read, and played out over all deals.

``experiments/optimal_auction.py`` finds them and proves that no plan is better.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bidzoo.core.kernels import F64, I64, allocate
from bidzoo.core.options import integers
from bidzoo.core.schema import json_value, parse, shortened
from bidzoo.envs.signalling.compiled import Compiled
from bidzoo.envs.signalling.rising_auction import PASS, AuctionGame, act_row, legal_row
from bidzoo.envs.signalling.state import OVER, STATE

RECORDED = Path(__file__).parents[2] / "data" / "exact"
Plan = Mapping[tuple[int, ...], I64]  # history -> action [n] of each type of the player to move


@dataclass(frozen=True)
class Optimum:
    """The most any joint policy can score."""

    id: str
    total: int  # sum of the rewards over all deals
    deals: int  # equally likely
    plan: Plan | None  # of a rising auction, if there was room to keep its tables

    @property
    def value(self) -> Fraction:
        """Expected reward."""
        return Fraction(self.total, self.deals)


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


_PLAN = {"id": str, "total": int, "source": str, "calls": dict[str, list[int]]}


def read_plan(path: Path, auction: RisingAuction) -> Optimum:
    """The optimum whose plan ``experiments/exact.py`` wrote, played out.

    Raises:
        ValueError: another game's plan, or it does not score what the file says; names the file.
    """
    try:
        document = parse(_PLAN, json_value(path.read_bytes(), path), path)
        if document["id"] != auction.id:
            raise ValueError(f"the plan is for {document['id']}, expected {auction.id}")
        plan: dict[tuple[int, ...], I64] = {}
        for history, calls in document["calls"].items():
            if len(calls) != auction.types:
                raise ValueError(f"calls after {history!r}: {len(calls)}, expected one a type, {auction.types}")
            plan[tuple(map(int, history.split()))] = integers(f"calls after {history!r}", calls, -1, auction.bids)
        return certified(auction, document["total"], plan)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: not a plan of {auction.id} ({shortened(error)})") from error


def recorded(game: AuctionGame) -> Optimum | None:
    """The optimum of ``game`` by the plan that comes with bidzoo, if there is one."""
    path = RECORDED / f"{game.id.removesuffix('_v0')}_{game.size}.json"
    return read_plan(path, RisingAuction.of(game)) if path.exists() else None


def certified(auction: RisingAuction, total: int, plan: Plan | None) -> Optimum:
    """The optimum ``total``; ValueError unless its ``plan``, played out, scores that much."""
    if plan is not None and play(auction, plan) != total:
        raise ValueError(f"{auction.id}: the plan scores {play(auction, plan)}, the tables say {total}")
    return Optimum(auction.id, total, auction.deals, plan)


def strategy_of(game: Compiled, plan: Plan) -> F64:
    """``plan`` as a joint strategy ``[M, T]``; off the plan, the first legal action."""
    strategy = np.zeros(game.shape)
    histories: dict[int, tuple[int, ...]] = {0: ()}
    for m in range(len(game.player)):
        if game.leaf[m] >= 0:
            continue
        calls = plan.get(histories[m])
        for c in range(int(game.first[m]), int(game.first[m] + game.count[m])):
            histories[c] = (*histories[m], int(game.action[c]))
            strategy[c] = c == game.first[m] if calls is None else calls == game.action[c]
        if calls is not None:
            strategy[game.first[m], calls < 0] = 1.0
    return strategy

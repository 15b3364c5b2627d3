"""Boards of a bridge benchmark: test deals with their tables, or fresh deals whose contracts are solved on demand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.match_ledger import MatchLedger
from bidzoo.benchmarks.results import Estimate
from bidzoo.envs.bridge.deals import UNKNOWN, DealSet, packaged, random_deals
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.bridge.score import north_south
from bidzoo.envs.bridge.solving.generate import solve_contracts
from bidzoo.envs.bridge.solving.trick_cache import TrickCache
from bidzoo.kernels import F64, I8, I32, I64, Bool, Tables

FRESH = 0xF2E5  # added to the seed, so that fresh deals are those of no other command
SOLVED_AT_ONCE = 1000  # contracts between two reports; what a kill can cost is less, the cache has the rest


class Contracts(NamedTuple):
    """Where ``N`` auctions ended."""

    bid: I8  # [N]  0 ... 34, -1 passed out
    stake: I8  # [N]  1, 2, 4
    declarer: I8  # [N]  seat, -1 passed out

    @classmethod
    def of(cls, tables: Tables) -> "Contracts":
        """Of finished tables."""
        return cls(*(tables[name].astype(np.int8) for name in cls._fields))


class Boards:
    """``count`` boards, the same for every pair that plays them.

    Test deals come in order, each time with suits renamed and seats turned as ``(seed, board)`` says; fresh deals are
    ``random_deals`` and their double-dummy tricks unknown until ``solve``.
    """

    def __init__(self, count: int, seed: int = 0, fresh: bool = False) -> None:
        if count < 2:
            raise ValueError(f"boards {count}: expected 2 or more")
        self.seed, self.fresh = seed, fresh
        self.numbers: I64 = np.arange(count)
        if fresh:
            deals = DealSet.of(random_deals(seed + FRESH, self.numbers), np.zeros((count, 20), np.int8))
        else:
            deals = packaged("test")
        self.deal: I64 = self.numbers % len(deals.hands)
        self.game = Bridge(play=False, deals=deals, augment=not fresh, shuffle=False)
        self._tricks: I8 | None = None
        self._hands: I64 | None = None
        self._vulnerable: I8 | None = None

    def __str__(self) -> str:
        if self.fresh:
            return f"{len(self.numbers):,} random deals, seed {self.seed}"
        return f"{len(self.numbers):,} boards of {self.deal.max() + 1:,} test deals"

    def play(
        self,
        north_south: Policy,
        east_west: Policy,
        policy_seed: int = 0,
        workers: int = 1,
        backend: str | None = None,
        ledger: MatchLedger | None = None,
        report: Callable[[int], None] = lambda done: None,
    ) -> Tables:
        """Final tables ``[N]`` of one room, as ``match.play``; fresh ones hold no tricks."""
        policies = [north_south, east_west] * 2
        tables = play(
            self.game, policies, self.numbers, self.seed, policy_seed, workers, backend, ledger, report
        ).tables
        if self._tricks is None:
            self._hands, self._vulnerable = tables["hands"].copy(), tables["vulnerable"].astype(np.int8)
            self._tricks = np.full_like(tables["tricks"], UNKNOWN) if self.fresh else tables["tricks"].copy()
        return tables

    @property
    def tricks(self) -> I8:
        """Double-dummy tables ``[N, 20]`` once something was played, -1 where not known."""
        if self._tricks is None:
            raise ValueError("no board has been played yet, expected play() first")
        return self._tricks

    def solve(
        self,
        contracts: Sequence[Contracts],
        workers: int = 1,
        cache: str | Path | None = None,
        report: Callable[[int, int], None] = lambda done, total: None,
        backend: str | None = None,
    ) -> None:
        """Find the double-dummy tricks of all ``contracts`` that are not known; ``cache`` keeps them for later runs."""
        boards = np.tile(self.numbers, len(contracts))
        declarer = np.concatenate([c.declarer for c in contracts]).astype(np.int64)
        strain = np.concatenate([c.bid for c in contracts]).astype(np.int64) % 5
        cells = 20 * boards + 5 * declarer + strain
        cells = np.unique(cells[declarer >= 0])
        cells = cells[self.tricks.ravel()[cells] == UNKNOWN]
        if not len(cells) or self._hands is None:
            return
        if cache is not None:
            Path(cache).parent.mkdir(parents=True, exist_ok=True)
        memory = None if cache is None else TrickCache(cache)
        report(0, len(cells))
        for start in range(0, len(cells), SOLVED_AT_ONCE):
            some = cells[start : start + SOLVED_AT_ONCE]
            board, cell = np.divmod(some, 20)
            hands = self._hands[board]
            self.tricks[board, cell] = solve_contracts(hands, cell // 5, cell % 5, workers, memory, backend)
            report(min(start + SOLVED_AT_ONCE, len(cells)), len(cells))
        if memory is not None:
            memory.close()

    def made(self, contracts: Contracts) -> Bool:
        """The contract can be made ``[N]``; False where all passed."""
        level = contracts.bid // 5 + 1
        return (contracts.bid >= 0) & (self._won(contracts) >= 6 + level)

    def _won(self, contracts: Contracts) -> I64:
        cell = np.where(contracts.declarer < 0, 0, 5 * contracts.declarer.astype(np.int64) + contracts.bid % 5)
        return self.tricks[self.numbers, cell].astype(np.int64)

    def points(self, contracts: Contracts) -> I32:
        """North/South duplicate score ``[N]``; ValueError at a contract that has not been solved."""
        won = self._won(contracts)
        for board in np.flatnonzero((contracts.bid >= 0) & (won == UNKNOWN))[:1]:
            raise ValueError(f"board {board}: its contract is not solved, expected solve() first")
        if self._vulnerable is None:
            raise ValueError("no board has been played yet, expected play() first")
        bid, stake, declarer = (column.astype(np.int64) for column in contracts)
        return north_south(bid, stake, declarer, self._vulnerable.astype(np.int64), won)

    def match(self, first: Contracts, second: Contracts) -> I64:
        """IMPs a board ``[N]`` of the pair that was North/South in ``first`` and East/West in ``second``."""
        return imps(self.points(first) - self.points(second)).astype(np.int64)

    def estimate(self, samples: F64 | I64, paper: float | None = None) -> Estimate:
        """Mean over the boards; boards of one deal count as one sample for the error."""
        return Estimate.of(samples, paper, self.deal)

"""Rising auctions between two partners as whole numbers: what the exact solver reads and certifies.

Actions: 0 pass, ``1 ... B`` the bids in rising order; a pass ends the auction, except an opening pass where it is
legal. The reward of a contract depends on the sum of the two types alone. All rewards are whole numbers, so totals
over the ``n * n`` equally likely deals are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bidzoo.kernels import I64

PASS = 0
Plan = Mapping[tuple[int, ...], I64]  # history -> action [n] of each type of the player to move


@dataclass(frozen=True)
class Ladder:
    """One auction game of ``n`` types a player and ``B`` bids."""

    id: str  # "simple_bidding_v0(size=4)"
    types: int  # n
    payoff: I64  # [1 + B, 2n - 1]  reward of the last bid (row 0: nobody bid) at each sum of the types
    opening_pass: bool  # may the first player pass?

    @property
    def bids(self) -> int:
        """``B``."""
        return len(self.payoff) - 1

    @property
    def deals(self) -> int:
        """Equally likely deals."""
        return self.types**2

    def rewards(self) -> I64:
        """Reward of each last bid at each deal, ``[1 + B, n, n]``."""
        types = np.arange(self.types)
        return self.payoff[:, types[:, None] + types]


def simple_bidding(size: int) -> Ladder:
    """Simple Bidding with types ``0 ... size - 1`` (Definition 2 of Tian et al.; the opening pass is illegal)."""
    sums = np.arange(2 * size - 1)
    bids = 1 << np.arange((size - 1).bit_length() + 1)
    payoff = np.concatenate([np.zeros((1, len(sums)), np.int64), bids[:, None] * (sums >= bids[:, None])])
    return Ladder(f"simple_bidding_v0(size={size})", size, payoff, opening_pass=False)


def minibridge(size: int) -> Ladder:
    """MiniBridge with ``0 ... size`` hearts each (Definition 3 of Tian et al.); bids 1H < 1S < 2H < ..."""
    hearts = np.arange(2 * size + 1)
    rows = [np.zeros(len(hearts), np.int64)]
    for level in range(1, size + 1):
        rows += [np.where(made, 1 << (level - 1), -1) for made in (hearts >= size + level, hearts <= size - level)]
    return Ladder(f"minibridge_v0(size={size})", size + 1, np.array(rows), opening_pass=True)


GAMES = {"simple_bidding_v0": simple_bidding, "minibridge_v0": minibridge}


def play(ladder: Ladder, plan: Plan) -> int:
    """Total reward of ``plan`` over all deals, each auction played out call by call.

    Raises:
        ValueError: the plan makes an illegal call, or has none for a history it reaches.
    """
    rewards = ladder.rewards()
    total = 0
    for x in range(ladder.types):
        for y in range(ladder.types):
            history: tuple[int, ...] = ()
            last = 0
            while True:
                if history not in plan:
                    raise ValueError(f"{ladder.id}: the plan has no calls after {history}, reached by types {x}, {y}")
                call = int(plan[history][(x, y)[len(history) % 2]])
                if not (last < call <= ladder.bids or (call == PASS and (history or ladder.opening_pass))):
                    raise ValueError(f"{ladder.id}: illegal call {call} after {history}")
                if call == PASS and history:
                    break
                history += (call,)
                last = call
            total += int(rewards[last, x, y])
    return total

"""Simple Bidding: two partners bid powers of two up to what their numbers add up to.

Source: Definition 2 of Tian, Gong and Jiang 2020, "Joint Policy Search for Multi-agent Collaboration with Imperfect
Information" (arXiv 2008.06495).

With ``N = table.extent``: each player has a type in ``[0, N)``. Actions: 0 pass, ``k >= 1`` bids ``2**(k - 1)``; there
are ``bit_length(N - 1) + 1`` bids, so the highest is the first power of two that is at least ``N``. Bids rise, a pass
ends the auction, and **the opening pass is illegal**: Definition 2 does not say so, but only then does the game have
the states and information sets of the paper's Table 1. Both receive the last bid if the types add up to at least
that, else 0.
"""

from bidzoo.envs.signals import auction
from bidzoo.kernels import I8, Table, row


@row
def bids_row(size: int) -> int:
    """Number of bids of the game of ``size``: ``bit_length(size - 1) + 1``."""
    bids = 1
    while 1 << (bids - 1) < size:
        bids += 1
    return bids


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + bids]``."""
    auction.legal_row(table, len(out) - 1, False, out)


@row
def payoff_row(table: Table, x: int, y: int) -> float:
    """Common reward of a finished table with types ``x`` and ``y``."""
    contract = 1 << (int(table.bid) - 1)
    return float(contract) if x + y >= contract else 0.0

"""Two-suit MiniBridge: two partners name a suit and a level, knowing only their own hearts.

Source: Definition 3 of Tian, Gong and Jiang 2020, "Joint Policy Search for Multi-agent Collaboration with Imperfect
Information" (arXiv 2008.06495).

With ``N = table.extent``: a hand has ``N`` cards of two suits, so a type in ``[0, N]``, the number of hearts, says
everything. Actions: 0 pass, then 1H, 1S, 2H, 2S ... NH, NS = ``1 ... 2 * N``. Bids rise. **An opening pass is legal**
and the auction goes on; any later pass ends it. ``kH`` makes if the partners hold at least ``N + k`` hearts together,
``kS`` if they hold at most ``N - k``. Both receive ``2**(k - 1)`` if it makes, -1 if it fails, 0 after two passes.

Definition 3 prints the two suits the other way round; the rows and columns of the paper's Table 4 are hearts, and its
auctions score as stated here. The two readings are one game with types ``x`` and ``N - x`` exchanged.
"""

from bidzoo.envs.signals import auction
from bidzoo.kernels import I8, Table, row


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + 2 * N]``."""
    auction.legal_row(table, len(out) - 1, True, out)


@row
def payoff_row(table: Table, x: int, y: int) -> float:
    """Common reward of a finished table with ``x`` and ``y`` hearts."""
    bid, size, hearts = int(table.bid), int(table.extent), x + y
    if bid == 0:
        return 0.0
    level = (bid + 1) // 2
    made = hearts >= size + level if bid % 2 == 1 else hearts <= size - level
    return float(1 << (level - 1)) if made else -1.0

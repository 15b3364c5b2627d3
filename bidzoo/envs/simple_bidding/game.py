"""Simple Bidding as a ``Game``."""

from bidzoo.envs.signals.auction_game import AuctionGame
from bidzoo.envs.signals.game import whole
from bidzoo.envs.signals.state import SIMPLE_BIDDING
from bidzoo.envs.simple_bidding.rules import bids_row

MAX_SIZE = 1 << 16  # types are one-hot in the observation


class SimpleBidding(AuctionGame):
    """Numbers in ``[0, size)``, bids 1, 2, 4 ... up to at least ``size``."""

    id = "simple_bidding_v0"
    type_word = "number"

    def __init__(self, size: int = 4, observation: str | None = None) -> None:
        size = whole("simple_bidding_v0: size", size, 2, MAX_SIZE)
        bids = [1 << k for k in range(bids_row(size))]
        best = max(bid for bid in bids if bid <= 2 * (size - 1))
        super().__init__(
            SIMPLE_BIDDING, size, [str(bid) for bid in bids], ("closing",), (0.0, float(best)), observation
        )

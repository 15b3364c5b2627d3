"""MiniBridge as a ``Game``."""

from bidzoo.cards import SYMBOLS
from bidzoo.envs.signals.auction_game import AuctionGame
from bidzoo.envs.signals.game import whole
from bidzoo.envs.signals.state import MAX_TURNS, MINIBRIDGE
from bidzoo.kernels import Table

MAX_SIZE = (MAX_TURNS - 2) // 2  # two passes and every bid fit the history


class Minibridge(AuctionGame):
    """Hearts in ``[0, size]``, bids 1H, 1S ... up to level ``size``."""

    id = "minibridge_v0"
    type_word = "hearts"

    def __init__(self, size: int = 4, observation: str | None = None) -> None:
        size = whole("minibridge_v0: size", size, 1, MAX_SIZE)
        bids = [f"{level}{suit}" for level in range(1, size + 1) for suit in "HS"]
        super().__init__(MINIBRIDGE, size, bids, ("opening", "closing"), (-1.0, float(1 << (size - 1))), observation)

    def drawn_text(self, action: int) -> str:
        return _with_symbols(self.action_text(action))

    def drawn_result(self, table: Table, reward: float) -> str:
        return _with_symbols(self.result_text(table, reward))


def _with_symbols(text: str) -> str:
    """``"3♥ makes"`` for ``"3H makes"``."""
    return text.replace("H", SYMBOLS["H"]).replace("S", SYMBOLS["S"])

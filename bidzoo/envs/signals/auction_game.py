"""What Simple Bidding and MiniBridge share as a ``Game``: calls with names, and a contract."""

from collections.abc import Sequence

from bidzoo.envs.signals.auction import PASS
from bidzoo.envs.signals.game import SignalGame, whole
from bidzoo.kernels import Table
from bidzoo.layout import Field


class AuctionGame(SignalGame):
    """A rising auction over ``bid_names``; ``passes`` names the passes the encoder tells apart."""

    def __init__(
        self,
        code: int,
        size: int,
        bid_names: Sequence[str],
        passes: Sequence[str],
        reward_range: tuple[float, float],
        observation: str | None,
    ) -> None:
        self.call_names, self.pass_names = ("P", *bid_names), tuple(passes)
        super().__init__(
            code,
            size,
            f"size={size}",
            num_actions=len(self.call_names),
            max_turns=len(bid_names) + len(passes),
            reward_range=reward_range,
            observation=observation,
        )

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        passes, bids = self.pass_names, self.call_names[1:]
        made = tuple(f"{name} {side}" for name in bids for side in (own, other))
        return (
            Field("pass", len(passes), f"passes made: {', '.join(passes)}", passes),
            Field("bids", 2 * len(bids), f"each bid, lowest first: {own}, {other}", made),
        )

    def action_text(self, action: int) -> str:
        """``"P"`` or the name of the bid."""
        return self.call_names[whole("action", action, 0, self.num_actions - 1)]

    def action_number(self, text: str) -> int:
        word = text.strip().upper()
        word = "P" if word == "PASS" else word
        if word not in self.call_names:
            raise ValueError(f"not a call of {self}: {text!r} (expected {', '.join(self.call_names)})")
        return self.call_names.index(word)

    def result_text(self, table: Table, reward: float) -> str:
        if int(table["bid"]) == PASS:
            return "passed out"
        return f"{self.call_names[int(table['bid'])]} {'makes' if reward > 0 else 'fails'}"

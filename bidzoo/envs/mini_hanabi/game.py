"""Mini-Hanabi as a ``Game``."""

from bidzoo.envs.mini_hanabi.rules import ACTIONS, PAYOFF
from bidzoo.envs.signals.game import SignalGame, whole
from bidzoo.envs.signals.state import MINI_HANABI
from bidzoo.kernels import Table
from bidzoo.layout import Field


class MiniHanabi(SignalGame):
    """Two cards, one action each."""

    id = "mini_hanabi_v0"
    type_word = "card"

    def __init__(self, observation: str | None = None) -> None:
        super().__init__(
            MINI_HANABI,
            0,
            "",
            num_actions=ACTIONS,
            max_turns=2,
            reward_range=(float(PAYOFF.min()), float(PAYOFF.max())),
            observation=observation,
        )

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        names = tuple(str(action) for action in range(ACTIONS))
        return (
            Field("first", ACTIONS, "the action of player_0, once taken", names),
            Field("second", ACTIONS, "the action of player_1, once taken", names),
        )

    def action_text(self, action: int) -> str:
        """``"0"``, ``"1"`` or ``"2"``."""
        return str(whole("action", action, 0, ACTIONS - 1))

    def action_number(self, text: str) -> int:
        if text.strip() not in ("0", "1", "2"):
            raise ValueError(f"not an action of {self}: {text!r} (expected 0, 1 or 2)")
        return int(text)

    def result_text(self, table: Table, reward: float) -> str:
        return "reward"

"""Comm as a ``Game``."""

from bidzoo.envs.signals.game import SignalGame, whole
from bidzoo.envs.signals.state import COMM
from bidzoo.kernels import Table
from bidzoo.layout import Field

MAX_LENGTH = 14  # guesses fit the history's int16


class Comm(SignalGame):
    """``length`` bits, then one guess of ``2**length``."""

    id = "comm_v0"
    type_word = "secret"

    def __init__(self, length: int = 3, observation: str | None = None) -> None:
        length = whole("comm_v0: length", length, 1, MAX_LENGTH)
        super().__init__(
            COMM,
            length,
            f"length={length}",
            num_actions=1 << length,
            max_turns=length + 1,
            reward_range=(0.0, 1.0),
            observation=observation,
        )

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        digits = tuple(f"{place}={bit}" for place in range(1, self.size + 1) for bit in (0, 1))
        return (
            Field("message", len(digits), "each bit sent so far, in order: was it 0, was it 1", digits),
            Field("guess", len(digits), "the guess in binary, high digit first, once it is made", digits),
        )

    def action_text(self, action: int) -> str:
        """``"5"``: a bit or a guess."""
        return str(whole("action", action, 0, self.num_actions - 1))

    def action_number(self, text: str) -> int:
        if not (text.strip().isdecimal() and int(text) < self.num_actions):
            raise ValueError(f"not an action of {self}: {text!r} (expected 0 ... {self.num_actions - 1})")
        return int(text)

    def mover(self, turn: int) -> int:
        return 0 if turn < self.size else 1

    def history_text(self, table: Table) -> str:
        """``"101 -> 5"``: the message, then the guess."""
        actions = [int(action) for action in table["history"][: int(table["length"])]]
        message = "".join(str(bit) for bit in actions[: self.size])
        return f"{message} -> {actions[self.size]}" if len(actions) > self.size else message

    def result_text(self, table: Table, reward: float) -> str:
        return "right" if reward else "wrong"

"""Hint: one word of three tells a number of many, so numbers must share words.

player_0 is dealt a number, uniform in 0 ... size - 1, and says one of three words. player_1, who has nothing, guesses
the number. Both get ``size - 1`` less the distance between guess and number.
"""

from bidzoo.core.kernels import I8, State, row
from bidzoo.core.layout import Field
from bidzoo.core.options import whole
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER

WORDS = 3

# ---- rules: four kernels on one table's record, with ``size = state.extent`` ------------------


@row
def legal_row(state: State, out: I8) -> None:
    """Legal actions of the player to act into ``out``: the words, then the numbers."""
    choices = WORDS if state.length == 0 else state.extent
    for action in range(len(out)):
        out[action] = 1 if action < choices else 0


@row
def act_row(state: State, action: int) -> None:
    """Say the word, or guess and end."""
    state.history[state.length] = action
    state.length += 1
    state.turn = 1 if state.length == 1 else OVER


@row
def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table when player_0's number is ``x``; player_1 has only type 0."""
    return float(int(state.extent) - 1 - abs(int(state.history[1]) - x))


@row
def history_row(state: State, player: int, out: I8) -> None:
    """The word, then the guess, into ``out`` ``[WORDS + size]``, all zero before."""
    if state.length > 0:
        out[int(state.history[0])] = 1
    if state.length > 1:
        out[WORDS + int(state.history[1])] = 1


# ---- the game: sizes and words -----------------------------------------------------------------


class Hint(SignallingGame):
    """One word of three tells a number of many."""

    id = "hint_v0"
    rules = Rules(legal_row, act_row, reward_row, history_row)
    type_word = "number"
    size_option = "size"

    def __init__(self, size: int = 6, observation: str | None = None) -> None:
        size = whole("hint_v0: size", size, 2, 1000)
        super().__init__(size, (size, 1), max(WORDS, size), 2, (0.0, size - 1.0), observation)

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        """What the observation says after player and type."""
        return Field.of("word", "the word said", "abc"), Field.of("guess", "the guess", range(self.size))

    def action_text(self, action: int) -> str:
        """``"0"`` ...: words and numbers have the same actions."""
        return str(whole("action", action, 0, self.num_actions - 1))

    def action_number(self, text: str) -> int:
        """Inverse of ``action_text``."""
        if not text.strip().isdecimal():
            raise ValueError(f"not an action of {self}: {text!r} (expected 0 ... {self.num_actions - 1})")
        return whole("action", int(text), 0, self.num_actions - 1)

    def result_text(self, state: State, reward: float) -> str:
        """How a finished table came out."""
        return f"off by {self.size - 1 - int(reward)}" if reward < self.size - 1 else "right"

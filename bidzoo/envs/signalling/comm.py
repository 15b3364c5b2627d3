"""# Comm

A secret number is sent bit by bit over a public channel: the smallest game in which a convention must be agreed.

| | |
|---|---|
| Creation | `bidzoo.make("comm_v0", length=3)` |
| Agents | `player_0` (sends), `player_1` (guesses); partners |
| Actions | `Discrete(2**length)`: bits 0 and 1 for the sender, any number for the guesser |
| Observation | `{"observation": int8 [2 + 2**length + 4 * length], "action_mask": int8 [2**length]}` |
| Rewards | 1 to both if the guess is right, else 0; at the end only |

`player_0` is dealt a secret, uniform in 0 … 2^length − 1, and acts `length` times in a row, sending a bit each
time. Then `player_1`, who has no secret, guesses it. Any binary code is worth 1; uniform play is worth 2^−length.
This is Definition 1 of Tian, Gong and Jiang 2020, *Joint Policy Search* (arXiv 2008.06495).

## Options

| option | values | meaning |
|---|---|---|
| `length` | 1 … 14, default 3 | bits sent; the paper uses 3, 5, 6 and 7 |
| `observation` | `"history"` | the encoder below |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the secret, then 0: `(5, 0)`).
"""

from bidzoo.core.kernels import I8, State, row
from bidzoo.core.layout import Field
from bidzoo.core.options import whole
from bidzoo.envs.aec import TableEnv
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER

MAX_LENGTH = 14  # guesses fit the history's int16

# ---- rules, with ``L = state.extent`` -------------------------------------------------------


@row
def legal_row(state: State, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[2**L]``: two bits, or every guess."""
    choices = 2 if state.length < state.extent else len(out)
    for action in range(len(out)):
        out[action] = 1 if action < choices else 0


@row
def act_row(state: State, action: int) -> None:
    """Send bit ``action``, or guess it and end."""
    state.history[state.length] = action
    state.length += 1
    if state.length > state.extent:
        state.turn = OVER
    elif state.length == state.extent:
        state.turn = 1


@row
def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table when player_0's type is ``x``."""
    return 1.0 if int(state.history[state.extent]) == x else 0.0


@row
def history_row(state: State, player: int, out: I8) -> None:
    """Message and guess into ``out`` ``[4 * L]``, all zero before: two entries a binary digit, high digits first."""
    bits = int(state.extent)
    for turn in range(min(int(state.length), bits)):
        out[2 * turn + int(state.history[turn])] = 1
    if state.length > bits:
        guess = int(state.history[bits])
        for digit in range(bits):
            out[2 * (bits + digit) + (guess >> (bits - 1 - digit) & 1)] = 1


# ---- game -----------------------------------------------------------------------------------


class Comm(SignallingGame):
    """``length`` bits, then one guess of ``2**length``; player_1 has no secret, so its type is always 0."""

    id = "comm_v0"
    rules = Rules(legal_row, act_row, reward_row, history_row)
    type_word, size_option = "secret", "length"

    def __init__(self, length: int = 3, observation: str | None = None) -> None:
        length = whole("comm_v0: length", length, 1, MAX_LENGTH)
        super().__init__(length, (1 << length, 1), 1 << length, length + 1, (0.0, 1.0), observation)

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        digits = tuple(f"{place}={bit}" for place in range(1, self.size + 1) for bit in (0, 1))
        return (
            Field.of("message", "each bit sent so far, in order: was it 0, was it 1", digits),
            Field.of("guess", "the guess in binary, high digit first, once it is made", digits),
        )

    def mover(self, turn: int) -> int:
        return 0 if turn < self.size else 1

    def history_text(self, state: State) -> str:
        """``"101 -> 5"``: the message, then the guess."""
        actions = [int(action) for action in state["history"][: int(state["length"])]]
        message = "".join(str(bit) for bit in actions[: self.size])
        return f"{message} -> {actions[self.size]}" if len(actions) > self.size else message

    def result_text(self, state: State, reward: float) -> str:
        return "right" if reward else "wrong"


make_game = Comm


class raw_env(TableEnv, id="comm_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

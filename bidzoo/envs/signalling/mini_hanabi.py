"""# Mini-Hanabi

One action each: the first must both score and tell the partner which card its player holds.

| | |
|---|---|
| Creation | `bidzoo.make("mini_hanabi_v0")` |
| Agents | `player_0`, `player_1`; partners |
| Actions | `Discrete(3)` |
| Observation | `{"observation": int8 [10], "action_mask": int8 [3]}` |
| Rewards | the same to both, 0 … 10, from a table; at the end only |

Each player is dealt card 0 or 1. `player_0` acts, `player_1` sees the action and acts. The table is that of Foerster
et al. 2019, *Bayesian Action Decoder* (arXiv 1811.01458), and of OpenSpiel's `tiny_hanabi`; 10 is the optimum.

| cards | rewards; rows: action of `player_0`, columns: of `player_1` |
|---|---|
| 0, 0 | 10 0 0 / 4 8 4 / 10 0 0 |
| 0, 1 | 0 0 10 / 4 8 4 / 0 0 10 |
| 1, 0 | 0 0 10 / 4 8 4 / 0 0 0 |
| 1, 1 | 10 0 0 / 4 8 4 / 10 0 0 |

## Options

| option | values | meaning |
|---|---|---|
| `observation` | `"history"` | the encoder below |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the cards of both players, as `(1, 0)`).
"""

import numpy as np

from bidzoo.core.kernels import F64, I8, State, row
from bidzoo.core.layout import Field
from bidzoo.envs.aec import TableEnv
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER

# ---- rules ----------------------------------------------------------------------------------

CARDS, ACTIONS = 2, 3

PAYOFF: F64 = np.array(  # [card_0, card_1, action_0, action_1]
    [
        [[[10, 0, 0], [4, 8, 4], [10, 0, 0]], [[0, 0, 10], [4, 8, 4], [0, 0, 10]]],
        [[[0, 0, 10], [4, 8, 4], [0, 0, 0]], [[10, 0, 0], [4, 8, 4], [10, 0, 0]]],
    ],
    np.float64,
)


@row
def legal_row(state: State, out: I8) -> None:
    """Every action is legal: ``out`` ``[3]``."""
    out[:] = 1


@row
def act_row(state: State, action: int) -> None:
    """Take ``action``; the second one ends the game."""
    state.history[state.length] = action
    state.length += 1
    state.turn = 1 if state.length == 1 else OVER


@row
def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table with cards ``x`` and ``y``."""
    return float(PAYOFF[x, y, int(state.history[0]), int(state.history[1])])


@row
def history_row(state: State, player: int, out: I8) -> None:
    """Both actions into ``out`` ``[2 * 3]``, all zero before."""
    for turn in range(state.length):
        out[ACTIONS * turn + int(state.history[turn])] = 1


# ---- game -----------------------------------------------------------------------------------


class MiniHanabi(SignallingGame):
    """Two cards, one action each; the game of row "Mini-Hanabi" in Table 1 of Tian, Gong and Jiang 2020."""

    id = "mini_hanabi_v0"
    rules = Rules(legal_row, act_row, reward_row, history_row)
    type_word = "card"

    def __init__(self, observation: str | None = None) -> None:
        reward_range = (float(PAYOFF.min()), float(PAYOFF.max()))
        super().__init__(0, (CARDS, CARDS), ACTIONS, 2, reward_range, observation)

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        return (
            Field.of("first", "the action of player_0, once taken", range(ACTIONS)),
            Field.of("second", "the action of player_1, once taken", range(ACTIONS)),
        )

    def result_text(self, state: State, reward: float) -> str:
        return "reward"


make_game = MiniHanabi


class raw_env(TableEnv, id="mini_hanabi_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

"""# Mini-Hanabi

One action each: the first must both score and tell the partner which card its player holds.

| | |
|---|---|
| Import | `from bidzoo.envs import mini_hanabi_v0` |
| Creation | `bidzoo.make("mini_hanabi_v0")` |
| PettingZoo id | `bidzoo/mini_hanabi-v0` |
| Gymnasium id | `bidzoo/MiniHanabi-v0` |
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

## Observation

| field | entries | meaning |
|---|---|---|
| `player` | 2 | which agent this is |
| `type` | 2 | our card |
| `first` | 3 | the action of `player_0`, once taken |
| `second` | 3 | the action of `player_1`, once taken |

## Options

| option | values | meaning |
|---|---|---|
| `observation` | `"history"` | the encoder above |
| `render_mode` | `"ansi"`, `"svg"`, `"rgb_array"`, `"human"` | text, SVG, pixels `[H, W, 3]`, printed text |
| `illegal_action` | `"terminate"`, `"raise"` | the offender and its partners get the lowest reward; `ValueError` |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the cards of both players, as `(1, 0)`).

## Version history

- v0: first release
"""

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.mini_hanabi.game import MiniHanabi

make_game = MiniHanabi


class raw_env(TableEnv, id="mini_hanabi_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

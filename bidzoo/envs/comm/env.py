"""# Comm

A secret number is sent bit by bit over a public channel: the smallest game in which a convention must be agreed.

| | |
|---|---|
| Import | `from bidzoo.envs import comm_v0` |
| Creation | `bidzoo.make("comm_v0", length=3)` |
| PettingZoo id | `bidzoo/comm-v0` |
| Gymnasium id | `bidzoo/Comm-v0` |
| Agents | `player_0` (sends), `player_1` (guesses); partners |
| Actions | `Discrete(2**length)`: bits 0 and 1 for the sender, any number for the guesser |
| Observation | `{"observation": int8 [2 + 2**length + 4 * length], "action_mask": int8 [2**length]}` |
| Rewards | 1 to both if the guess is right, else 0; at the end only |

`player_0` is dealt a secret, uniform in 0 … 2^length − 1, and acts `length` times in a row, sending a bit each
time. Then `player_1`, who has no secret, guesses it. Any binary code is worth 1; uniform play is worth 2^−length.
This is Definition 1 of Tian, Gong and Jiang 2020, *Joint Policy Search* (arXiv 2008.06495).

## Observation

| field | entries | meaning |
|---|---|---|
| `player` | 2 | which agent this is |
| `type` | 2^length | the secret; all zero for `player_1` |
| `message` | 2 × length | for each bit sent so far, in order: was it 0, was it 1 |
| `guess` | 2 × length | the guess in binary, high digit first, once it is made |

## Options

| option | values | meaning |
|---|---|---|
| `length` | 1 … 14, default 3 | bits sent; the paper uses 3, 5, 6 and 7 |
| `observation` | `"history"` | the encoder above |
| `render_mode` | `"ansi"`, `"svg"`, `"rgb_array"`, `"human"` | text, SVG, pixels `[H, W, 3]`, printed text |
| `illegal_action` | `"terminate"`, `"raise"` | the offender and its partners get the lowest reward; `ValueError` |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the secret, then 0: `(5, 0)`).

## Version history

- v0: first release
"""

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.comm.game import Comm

make_game = Comm


class raw_env(TableEnv, id="comm_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

"""# MiniBridge

Bridge bidding with two suits: partners look for the right suit and level, and every word they say is a bid.

| | |
|---|---|
| Import | `from bidzoo.envs import minibridge_v0` |
| Creation | `bidzoo.make("minibridge_v0", size=4)` |
| PettingZoo id | `bidzoo/minibridge-v0` |
| Gymnasium id | `bidzoo/MiniBridge-v0` |
| Agents | `player_0` (opens), `player_1`; partners |
| Actions | `Discrete(1 + 2 * size)`: 0 pass, then 1H, 1S, 2H, 2S … |
| Observation | `{"observation": int8 [5 + 5 * size], "action_mask": int8 [1 + 2 * size]}` |
| Rewards | to both: 2^(level − 1) if the contract makes, −1 if it fails, 0 if passed out; at the end only |

A hand has `size` cards, hearts and spades; each player's number of hearts is independent and uniform in 0 … size.
Bids must rise and the players alternate. An opening pass is legal and the auction goes on; any later pass ends it. kH
makes if the partners hold at least size + k hearts together, kS if they hold at most size − k. This is Definition 3 of
Tian, Gong and Jiang 2020, *Joint Policy Search* (arXiv 2008.06495), with the suits as in its Table 4.

## Observation

| field | entries | meaning |
|---|---|---|
| `player` | 2 | which agent this is |
| `type` | size + 1 | our number of hearts |
| `pass` | 2 | `player_0` opened with a pass; the auction was closed by a pass |
| `bids` | 4 × size | for each bid, lowest first: made by us, made by our partner |

## Options

| option | values | meaning |
|---|---|---|
| `size` | 1 … 31, default 4 | cards a hand; the paper uses 3, 4 and 5 |
| `observation` | `"history"` | the encoder above |
| `render_mode` | `"ansi"`, `"svg"`, `"rgb_array"`, `"human"` | text, SVG, pixels `[H, W, 3]`, printed text |
| `illegal_action` | `"terminate"`, `"raise"` | the offender and its partners get the lowest reward; `ValueError` |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the hearts of both players, as `(3, 2)`).

## Version history

- v0: first release
"""

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.minibridge.game import Minibridge

make_game = Minibridge


class raw_env(TableEnv, id="minibridge_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

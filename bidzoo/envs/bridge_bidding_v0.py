"""# Bridge bidding

The auction of contract bridge for four players, scored from double-dummy tables.

| | |
|---|---|
| Creation | `bidzoo.make("bridge_bidding_v0")` |
| Agents | `player_0` … `player_3`: North, East, South, West; `player_0` and `player_2` are partners |
| Actions | `Discrete(38)`: 0 pass, 1 double, 2 redouble, 3 + 5 × (level − 1) + strain (C D H S NT) |
| Observation | `{"observation": int8 [480], "action_mask": int8 [38]}`; other encoders by option |
| Rewards | at the end of the board, zero-sum between the sides: points (−7600 … 7600), by option IMPs (−24 … 24) |

The dealer calls first and the turn passes clockwise. The auction ends after three passes behind a bid, or four
passes. Declarer is the first player of the side with the last bid who named its strain (Law 22). The tricks are
those of the deal's double-dummy table; nothing is solved while an episode runs.
"""

from functools import partial

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.bridge.game import Bridge

make_game = partial(Bridge, False)


class raw_env(TableEnv, id="bridge_bidding_v0", rules=make_game):
    """The auction at one table; see the module for actions and observations, ``Bridge`` for options."""


env = raw_env

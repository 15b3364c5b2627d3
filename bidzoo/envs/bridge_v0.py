"""# Bridge

Contract bridge for four players: the auction, then thirteen tricks.

| | |
|---|---|
| Creation | `bidzoo.make("bridge_v0")` |
| Agents | `player_0` … `player_3`: North, East, South, West; `player_0` and `player_2` are partners |
| Actions | `Discrete(90)`: calls 0 … 37 as in bridge bidding, 38 + card (4 × rank + suit) |
| Observation | `{"observation": int8 [571], "action_mask": int8 [90]}`; other encoders by option |
| Rewards | at the end of the board, zero-sum between the sides: points (−7600 … 7600), by option IMPs (−24 … 24) |

After the auction the player left of declarer leads, dummy's cards are seen by all, and declarer plays both hands:
the declaring agent acts on dummy's turns and dummy's own agent does not act. The contract is scored on the tricks
taken. Options are those of [bridge bidding](bridge_bidding_v0.md); deals are random unless `deals` names a set
(rewards against `par` need one with double-dummy tables).
"""

from functools import partial

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.bridge.game import Bridge

make_game = partial(Bridge, True)


class raw_env(TableEnv, id="bridge_v0", rules=make_game):
    """Auction and play at one table; see the module's page for actions, observations and options."""


env = raw_env

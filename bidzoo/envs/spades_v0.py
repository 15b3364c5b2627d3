"""# Spades

Spades for four players: rounds of bidding and thirteen tricks, scores and bags carried on to a goal.

| | |
|---|---|
| Creation | `bidzoo.make("spades_v0")` |
| Agents | `player_0` … `player_3`: North, East, South, West; `player_0` and `player_2` are partners |
| Actions | `Discrete(68)`: 0 nil, 1 … 13 tricks, 14 blind nil, 15 look at the hand, 16 + card (4 × rank + suit) |
| Observation | `{"observation": int8 [860], "action_mask": int8 [68]}`; see [observations](../observations/spades.md) |
| Rewards | at the end of the episode only; zero-sum between the sides |

The seat left of the dealer bids first and leads first; each seat bids once, clockwise, and partners may bid more
than 13 together. Suit must be followed; spades may not be led before one has been played, unless the leader holds
nothing else. The deal passes clockwise from round to round; the first dealer is `board % 4`. A game is over when a
round ends with a side at a goal: the highest score wins, and if two sides share it another round is played.
"""

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.spades.game import Spades

make_game = Spades


class raw_env(TableEnv, id="spades_v0", rules=make_game):
    """Spades at one table; see the module for actions and observations, ``Spades`` for options."""


env = raw_env

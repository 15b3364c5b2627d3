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

## Options

| option | values (default first) | meaning |
|---|---|---|
| `phase` | `"game"`, `"round"`, `"bidding"` | agents bid and play a game; one round; agents only bid, `player` plays |
| `episode` | `None`, `"game"`, `"round"` | `None`: what `phase` says, and a game for `"bidding"` |
| `player` | `"srp"`, `"wrp"`, `"uct"`, `"learned"`, `"random"`, a policy | who plays the cards with `phase="bidding"` |
| `variant` | `"partnership"`, `"cutthroat"`, `"mirror"`, `"whiz"`, `"suicide"` | see below |
| `deck` | `"standard"`, `"jokers"`, `"jokers_deuces"` | jokers for ♣2 and ♥2, above ♠A; and ♦2 and ♠2 between them |
| `win_goal`, `lose_goal` | 500, `None` | goals; the paper's experiments use 200 and −100 |
| `max_rounds` | 50 | the game ends after so many rounds in any case; equal scores are then a draw |
| `bag_penalty` | 110 | lost with ten bags: 110 in the paper (288 and 63 make 241), 100 by the common rule (251) |
| `failed_nil` | `"bags"`, `"partner"`, `"nothing"` | what the tricks of a failed nil are to its side |
| `blind_nil` | `False` | offer nil before the hand is seen, for 200 points |
| `blind_deficit` | 0 | points by which a side must trail to be offered it; with 0 also at equal scores |
| `reward` | `"win"`, `"points"` | who won; by how many points (cutthroat: beyond the mean of the others) |
| `observation` | `"full"`, `"bidding"` | encoder; `"bidding"` is the default of `phase="bidding"` |

With `phase="bidding"` there are 16 actions, the bids, and the next decision after the fourth bid is the first bid of
the next round. In an episode of one round, rewards and the winner come from the points of that round.

**Variants.** *Cutthroat*: four sides of one. *Mirror*: a bid is the number of spades held. *Whiz*: that or nil.
*Suicide*: in each partnership one bids nil and the other at least 4.

**Blind nil.** A seat that is offered it starts its turn with two actions, 14 (blind nil) and 15 (look); until then
its hand is hidden in its views and observations. After 15 it bids as usual.

**Bags** are always the units digit of the score (modulo 10, never negative), since all else is tens of points.

`reset(options=...)` takes `board` (0-based), `deal` or `hands` (PBN text, or four hands as card lists or bit masks;
a joker is written as the card it replaces), `dealer` (number or letter) and `scores` (one for each side); hands are
those of the first round.
"""

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.spades.game import Spades

make_game = Spades


class raw_env(TableEnv, id="spades_v0", rules=make_game):
    """Spades at one table; see the module's page for actions, observations and options."""


env = raw_env

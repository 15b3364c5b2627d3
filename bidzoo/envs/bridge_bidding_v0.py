"""# Bridge bidding

The auction of contract bridge for four players, scored from double-dummy tables.

| | |
|---|---|
| Creation | `bidzoo.make("bridge_bidding_v0")` |
| Agents | `player_0` … `player_3`: North, East, South, West; `player_0` and `player_2` are partners |
| Actions | `Discrete(38)`: 0 pass, 1 double, 2 redouble, 3 + 5 × (level − 1) + strain (C D H S NT) |
| Observation | `{"observation": int8 [480], "action_mask": int8 [38]}`; other encoders by option |
| Rewards | at the end of the board only, −7600 … 7600 points; zero-sum between the sides |

The dealer calls first and the turn passes clockwise. The auction ends after three passes behind a bid, or four
passes. Declarer is the first player of the side with the last bid who named its strain (Law 22). The tricks are
those of the deal's double-dummy table; nothing is solved while an episode runs.

## Options

| option | values (default first) | meaning |
|---|---|---|
| `observation` | `openspiel480`, `bmcs480`, `openspiel571`, `jps267`, `bidder1375` | the encoder |
| `reward` | `"score"`, `"par"`, `"duplicate"`, `"cost"` | points; IMPs against par; IMPs of two tables; see below |
| `reward_scale` | 1 | rewards are divided by it (24 in Joint Policy Search) |
| `deals` | `"train"`, `"validation"`, `"test"`, a file, a `DealSet` | a PBN or LIN file also gives the dealers |
| `augment` | `True` | rename suits and turn seats (96 exact variants of every deal), chosen by board |
| `shuffle` | `True` | a deal of the set chosen by board; else deals in order |
| `competition` | `True` | without it E/W pass throughout and are never asked: bridge without competition |
| `most_calls` | 0 | N/S pass of themselves after so many calls; 0: never |

What the encoders say: [bridge observations](../observations/bridge.md).

With `reward="duplicate"` an episode is two auctions of the same deal: at the second table every player sits one
seat further clockwise, so the sides are exchanged and the same pair holds both directions, as in both papers.

Bridge without competition (Yeh and Lin 2016, Tian et al. 2018) is `competition=False, reward="cost"`: partners bid
alone, and their loss is the cost of those papers, the IMPs between their contract and the best one of their two hands,
undoubled and double dummy (0 if none makes).

`reset(options=...)` takes `board` (0-based; dealer and vulnerability follow the 16-board cycle), `deal` (PBN text,
or four hands as card lists or bit masks), `dealer` (number or letter), `vulnerability`
(`"none" | "ns" | "ew" | "both"`) and `tricks` (a double-dummy table `[20]`, declarer N E S W × strain C D H S NT; the
solver makes that of a `deal` that comes without, in some 0.2 s).
"""

from functools import partial

from bidzoo.envs.aec import TableEnv
from bidzoo.envs.bridge.game import Bridge

make_game = partial(Bridge, False)


class raw_env(TableEnv, id="bridge_bidding_v0", rules=make_game):
    """The auction at one table; see the module's page for actions, observations and options."""


env = raw_env

"""# Simple Bidding

Two partners bid powers of two and want the last bid as high as their numbers allow.

| | |
|---|---|
| Creation | `bidzoo.make("simple_bidding_v0", size=4)` |
| Agents | `player_0` (opens), `player_1`; partners |
| Actions | `Discrete(1 + bids)`: 0 pass, k ≥ 1 bids 2^(k − 1); `bids` = bit_length(size − 1) + 1 |
| Observation | `{"observation": int8 [3 + size + 2 * bids], "action_mask": int8 [1 + bids]}` |
| Rewards | the last bid to both if their numbers add up to at least that, else 0; at the end only |

Each player is dealt a number, independent and uniform in 0 … size − 1. Bids must rise, the players alternate, and
a pass ends the auction. The opening pass is illegal: Definition 2 of Tian, Gong and Jiang 2020, *Joint Policy
Search* (arXiv 2008.06495) does not say so, but only then are the counts of states those of its Table 1.

## Options

| option | values | meaning |
|---|---|---|
| `size` | 2 … 65536, default 4 | how many numbers; the paper uses 4, 8 and 16 |
| `observation` | `"history"` | the encoder below |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the numbers of both players, as `(3, 1)`).
"""

from bidzoo.core.kernels import I8, State, row
from bidzoo.core.options import whole
from bidzoo.envs.aec import TableEnv
from bidzoo.envs.signalling import rising_auction
from bidzoo.envs.signalling.engine import Rules

MAX_SIZE = 1 << 16  # types are one-hot in the observation

# ---- rules ----------------------------------------------------------------------------------


@row
def legal_row(state: State, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + bids]``; an opening pass is none of them."""
    rising_auction.legal_row(state, False, out)


@row
def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table with types ``x`` and ``y``."""
    contract = 1 << (int(state.bid) - 1)
    return float(contract) if x + y >= contract else 0.0


@row
def history_row(state: State, player: int, out: I8) -> None:
    """Closing pass and bids into ``out`` ``[1 + 2 * bids]``."""
    rising_auction.history_row(state, player, 1, out)


# ---- game -----------------------------------------------------------------------------------


class SimpleBidding(rising_auction.AuctionGame):
    """Numbers in ``[0, size)``, bids 1, 2, 4 ... up to the first that is at least ``size``."""

    id = "simple_bidding_v0"
    rules = Rules(legal_row, rising_auction.act_row, reward_row, history_row)
    type_word = "number"

    def __init__(self, size: int = 4, observation: str | None = None) -> None:
        size = whole("simple_bidding_v0: size", size, 2, MAX_SIZE)
        bids = [1 << k for k in range((size - 1).bit_length() + 1)]
        best = max(bid for bid in bids if bid <= 2 * (size - 1))
        super().__init__(size, size, [str(bid) for bid in bids], ("closing",), (0.0, float(best)), observation)


make_game = SimpleBidding


class raw_env(TableEnv, id="simple_bidding_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

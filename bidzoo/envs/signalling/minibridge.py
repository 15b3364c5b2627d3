"""# MiniBridge

Bridge bidding with two suits: partners look for the right suit and level, and every word they say is a bid.

| | |
|---|---|
| Creation | `bidzoo.make("minibridge_v0", size=4)` |
| Agents | `player_0` (opens), `player_1`; partners |
| Actions | `Discrete(1 + 2 * size)`: 0 pass, then 1H, 1S, 2H, 2S … |
| Observation | `{"observation": int8 [5 + 5 * size], "action_mask": int8 [1 + 2 * size]}` |
| Rewards | to both: 2^(level − 1) if the contract makes, −1 if it fails, 0 if passed out; at the end only |

A hand has `size` cards, hearts and spades; each player's number of hearts is independent and uniform in 0 … size.
Bids must rise and the players alternate. An opening pass is legal and the auction goes on; any later pass ends it. kH
makes if the partners hold at least size + k hearts together, kS if they hold at most size − k. This is Definition 3 of
Tian, Gong and Jiang 2020, *Joint Policy Search* (arXiv 2008.06495), with the suits as in its Table 4.

## Options

| option | values | meaning |
|---|---|---|
| `size` | 1 … 31, default 4 | cards a hand; the paper uses 3, 4 and 5 |
| `observation` | `"history"` | the encoder below |

`reset(options=...)` takes `board` (which deal of the seed) and `types` (the hearts of both players, as `(3, 2)`).
"""

from bidzoo.core.cards import SYMBOLS
from bidzoo.core.kernels import I8, State, row
from bidzoo.core.options import whole
from bidzoo.envs.aec import TableEnv
from bidzoo.envs.signalling import rising_auction
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.state import MAX_TURNS

MAX_SIZE = (MAX_TURNS - 2) // 2  # two passes and every bid fit the history

# ---- rules, with ``N = state.extent`` -------------------------------------------------------
# A type is a number of hearts. Definition 3 prints the two suits the other way round; the rows and columns of the
# paper's Table 4 are hearts, and its auctions score as stated here. The two readings are one game with types ``x`` and
# ``N - x`` exchanged.


@row
def legal_row(state: State, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + 2 * N]``; an opening pass is one of them."""
    rising_auction.legal_row(state, True, out)


@row
def reward_row(state: State, x: int, y: int) -> float:
    """Common reward of a finished table with ``x`` and ``y`` hearts."""
    bid, size, hearts = int(state.bid), int(state.extent), x + y
    if bid == 0:
        return 0.0
    level = (bid + 1) // 2
    made = hearts >= size + level if bid % 2 == 1 else hearts <= size - level
    return float(1 << (level - 1)) if made else -1.0


@row
def history_row(state: State, player: int, out: I8) -> None:
    """Opening pass, closing pass and bids into ``out`` ``[2 + 4 * N]``."""
    rising_auction.history_row(state, player, 2, out)


# ---- game -----------------------------------------------------------------------------------


class Minibridge(rising_auction.AuctionGame):
    """Hearts in ``[0, size]``, bids 1H, 1S ... up to level ``size``."""

    id = "minibridge_v0"
    rules = Rules(legal_row, rising_auction.act_row, reward_row, history_row)
    type_word = "hearts"

    def __init__(self, size: int = 4, observation: str | None = None) -> None:
        size = whole("minibridge_v0: size", size, 1, MAX_SIZE)
        bids = [f"{level}{suit}" for level in range(1, size + 1) for suit in "HS"]
        reward_range = (-1.0, float(1 << (size - 1)))
        super().__init__(size, size + 1, bids, ("opening", "closing"), reward_range, observation)

    def drawn(self, text: str) -> str:
        """``"3♥ makes"`` for ``"3H makes"``."""
        return text.replace("H", SYMBOLS["H"]).replace("S", SYMBOLS["S"])


make_game = Minibridge


class raw_env(TableEnv, id="minibridge_v0", rules=make_game):
    """One table; see the module's page for actions, observations and options."""


env = raw_env

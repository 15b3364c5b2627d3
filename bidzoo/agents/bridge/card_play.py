"""Card play by perfect information Monte Carlo, so that bidders can play whole boards.

Each decision: deal the unseen cards at random as the public history allows, solve every deal double dummy, play the
card with most tricks on average (Levy 1989, "The million pound bridge program"; Ginsberg 2001, GIB). The bids are not
read as evidence. Among equal cards the lowest is played.
"""

import numpy as np

from bidzoo.agents.explanation import Explanation, explained
from bidzoo.agents.policy import Policy, part_of
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F64, I8, I64, U64, States, allocate
from bidzoo.core.options import whole
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.determinize import determinize
from bidzoo.envs.bridge.state import AUCTION, STATE

DEALS = 12  # sampled for a decision


class WithCards:
    """``bidder`` calls; the cards are played by perfect information Monte Carlo. For ``bridge_v0``."""

    slow = True

    def __init__(self, bidder: Policy, deals: int = DEALS) -> None:
        """``deals``: how many are sampled and solved for a decision."""
        self.bidder, self.deals, self.name = bidder, whole("deals", deals, 1, 2**31), bidder.name

    def __repr__(self) -> str:
        return f"<{self.name}: {self.bidder!r} and cards from {self.deals} deals>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Calls and cards ``[B]``; ``legal`` ``[B, 90]``."""
        out = np.empty(len(views), np.int64)
        calls = np.flatnonzero(views["phase"] == AUCTION)
        if len(calls):
            legal_calls = np.ascontiguousarray(legal[calls, :NUM_CALLS])
            out[calls] = part_of(self.bidder, views[calls], legal_calls, rng[calls])
        for b in map(int, np.flatnonzero(views["phase"] != AUCTION)):
            out[b] = self._card(views[b : b + 1], legal[b], rng[b : b + 1])
        return out

    def _card(self, view: States, legal: I8, rng: Streams) -> int:
        cards = np.flatnonzero(legal)
        if len(cards) == 1:
            return int(cards[0])
        means = self.tricks(view, rng).mean(axis=0)[cards - NUM_CALLS]
        return int(cards[int(np.argmax(means > means.max() - 1e-9))])

    def tricks(self, view: States, rng: Streams) -> F64:
        """Tricks still taken with each card in each deal sampled: ``[deals, 52]``; -1 where it cannot be played."""
        from bidzoo.envs.bridge.double_dummy import card_tricks

        keys: U64 = (rng.random(self.deals)[0] * 2.0**53).astype(np.uint64)
        states = allocate(STATE, self.deals)
        determinize(np.repeat(view, self.deals), keys, states)
        return card_tricks(states).astype(np.float64)

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """The bidder's explanation in the auction; in the play the mean tricks of each card."""
        if int(views["phase"][0]) == AUCTION:
            legal_calls = np.ascontiguousarray(legal[:, :NUM_CALLS])
            return explained(self.bidder, views, legal_calls, rng)
        values = {}
        if legal.sum() > 1:
            tricks = self.tricks(views, rng[:])
            spread = tricks.std(axis=0, ddof=1) / np.sqrt(self.deals) if self.deals > 1 else np.full(52, np.nan)
            for action in np.flatnonzero(legal[0]):
                card = int(action) - NUM_CALLS
                values[int(action)] = (float(tricks[:, card].mean()), float(spread[card]))
        text = f"Solves {self.deals} deals that fit the play and counts the tricks of each card."
        return Explanation(
            text=text if values else "Only one card can be played.",
            values=values,
            unit="tricks",
            facts=(("tricks still to play", str(13 - int(views["plays"][0]) // 4)),),
        )

"""Two bridge bidders: a class that sees all tables at once, and a plain function of one observation."""

import numpy as np

from bidzoo.core.cards import FIRST_BID, NOTRUMP, PASS, high_card_points
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo_hint.encoder import lengths

GAME_LEVEL = (5, 5, 4, 4, 3)  # of C D H S NT


class Opener:
    """Opens with twelve points, raises partner with a fit, and otherwise passes."""

    name = "opener"
    games = ("bridge_bidding_v0",)

    def __init__(self, points: int = 12) -> None:
        """``points``: the fewest high-card points of an opening bid."""
        self.points = points

    def __repr__(self) -> str:
        return f"<opener: from {self.points} points>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Calls ``[B]`` of ``views`` ``[B]``; ``legal`` ``[B, 38]``. Each call depends on its own row alone."""
        points, suit_lengths = high_card_points(views["hand"]), lengths(views["hand"])
        calls = [self.call(view, int(p), suits) for view, p, suits in zip(views, points, suit_lengths)]
        return np.array([call if mask[call] else PASS for call, mask in zip(calls, legal)], np.int64)

    def call(self, view: np.void, points: int, suits: I64) -> int:
        """The call of one hand, legal or not."""
        bid = int(view["bid"])
        if bid < 0:
            balanced = suits.min() >= 2 and suits.max() <= 5
            strain = NOTRUMP if balanced and 15 <= points <= 17 else int(suits.argmax())
            return FIRST_BID + strain if points >= self.points else PASS
        level, strain = bid // 5 + 1, bid % 5
        partner = (int(view["bidder"]) - int(view["seat"])) % 4 == 2
        fit = strain == NOTRUMP or suits[strain] >= 3
        if not (partner and level == 1 and fit):
            return PASS
        aim = GAME_LEVEL[strain] if points >= (10 if strain == NOTRUMP else 13) else 3 if points >= 10 else 2
        enough = points >= (8 if strain == NOTRUMP else 6)
        return FIRST_BID + 5 * (aim - 1) + strain if enough else PASS


def longest(observation: I8, mask: I8) -> int:
    """Bids the longest suit once, at the one level, if that is still legal."""
    hand = observation[-52:].reshape(13, 4)  # of openspiel480: own cards, rank by rank, C D H S
    call = FIRST_BID + int(hand.sum(axis=0).argmax())
    return call if mask[call] else PASS

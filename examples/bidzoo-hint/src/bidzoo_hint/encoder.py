"""What a simple bidder wants to know of its hand and of the auction, in 100 entries instead of 480."""

import numpy as np

from bidzoo.core.cards import SUITS, held, high_card_points
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.layout import Field, Layout
from bidzoo.envs.game import Encoder

BIDS = tuple(f"{level}{strain}" for level in range(1, 8) for strain in ("C", "D", "H", "S", "NT"))
LAYOUT = Layout(
    (
        Field.of("points", "high-card points", range(38)),
        Field.of("lengths", "cards in each suit, one at least as long as", SUITS, range(1, 7)),
        Field.of("bid", "the highest bid", BIDS),
        Field.of("bidder", "who made it", ("partner", "opponent", "we")),
    )
)


def lengths(hands: I64) -> I64:
    """Cards ``[B, 4]`` of each suit, C D H S, in ``hands`` ``[B]``."""
    return np.asarray(held(hands).reshape(len(hands), 13, 4).sum(axis=1), np.int64)


def encode(views: States, out: I8) -> None:
    """``views`` ``[B]`` of bridge into ``out`` ``[B, 100]``."""
    rows, parts = np.arange(len(views)), LAYOUT.split(out)
    out[:] = 0
    parts["points"][rows, high_card_points(views["hand"])] = 1
    parts["lengths"][:] = (lengths(views["hand"])[:, :, None] >= np.arange(1, 7)).reshape(len(views), -1)
    bid = np.flatnonzero(views["bid"] >= 0)
    parts["bid"][bid, views["bid"][bid]] = 1
    who = (views["bidder"][bid] - views["seat"][bid]) % 4
    parts["bidder"][bid, np.array([2, 1, 0, 1])[who]] = 1


SIMPLE = Encoder("simple100", LAYOUT, encode, LAYOUT.describe)

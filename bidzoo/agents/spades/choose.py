"""One kernel that bids for any bidder and one that plays for any player, chosen by the numbers in a record."""

from dataclasses import dataclass

import numpy as np

from bidzoo.agents.spades.bidder import BIS, IO, LEARNED, MS, RB, UNIFORM
from bidzoo.agents.spades.bis import bis_row
from bidzoo.agents.spades.learned import learned_row
from bidzoo.agents.spades.rules import io_row, ms_row, rb_row
from bidzoo.agents.spades.srp import srp_row
from bidzoo.agents.spades.uct import Desk, uct_bid_row, uct_card_row
from bidzoo.agents.spades.wrp import wrp_row
from bidzoo.bits import pick_row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.kernels import Table, allocate, row

PLAYER_KINDS = ("srp", "wrp", "uct", "random")
SRP, WRP, UCT_PLAYER, RANDOM = range(4)

PLAYER = np.dtype(
    [
        ("kind", "i8"),  # index into PLAYER_KINDS
        ("last", "i8"),  # UCT plays the last so many tricks, SRP those before
        ("iterations", "i8"),
        ("infer", "i8"),
        ("exploration", "f8"),
    ],
    align=True,
)
INFERENCES = ("none", "voids", "bids")


@dataclass(frozen=True)
class Player:
    """A playing algorithm. All but ``kind`` matters to UCT alone."""

    kind: str = "srp"
    last: int = 13  # UCT(X): X
    iterations: int = 300  # rollouts a card
    infer: str = "none"  # "none" deals unseen cards uniformly (the paper); "voids"; "bids": voids and bids
    exploration: float = 30.0  # C of Algorithm 2, points

    def record(self) -> Table:
        """The numbers as kernels read them."""
        if self.kind not in PLAYER_KINDS:
            raise ValueError(f"unknown player {self.kind!r}; choose from {', '.join(PLAYER_KINDS)}")
        if self.infer not in INFERENCES:
            raise ValueError(f"unknown inference {self.infer!r}; choose from {', '.join(INFERENCES)}")
        if not 0 <= self.last <= 13 or self.iterations < 1 or self.exploration < 0:
            raise ValueError(
                f"last {self.last}, iterations {self.iterations}, exploration {self.exploration}:"
                " expected 0 ... 13 tricks, 1 or more, 0 or more"
            )
        record = allocate(PLAYER, 1)
        record["kind"][0] = PLAYER_KINDS.index(self.kind)
        record["infer"][0] = INFERENCES.index(self.infer)
        for name in ("last", "iterations", "exploration"):
            record[name][0] = getattr(self, name)
        return record[0]


@row
def bid_choice_row(table: Table, hand: int, bidder: Table, book: Table, key: np.uint64, desk: Desk) -> int:
    """The bidding action of the seat to bid, which holds ``hand``; ``desk`` for UCT."""
    if bidder.kind == BIS:
        return bis_row(table, hand, bidder, book, key)
    if bidder.kind == RB:
        return rb_row(table, hand, bidder)
    if bidder.kind == MS:
        return ms_row(table, hand, bidder)
    if bidder.kind == IO:
        return io_row(table, hand)
    if bidder.kind == UNIFORM:
        return pick_row(legal_bids_row(table, hand), key)
    if bidder.kind == LEARNED:
        return learned_row(table, hand, bidder, book, key)
    return uct_bid_row(table, hand, bidder, book, key, desk)


@row
def card_choice_row(table: Table, held: int, player: Table, book: Table, key: np.uint64, desk: Desk) -> int:
    """The card of the seat to play, which holds ``held``; ``desk`` for UCT."""
    if player.kind == WRP:
        return wrp_row(table, held, key)
    if player.kind == RANDOM:
        return pick_row(legal_cards_row(table, held), key)
    if player.kind == UCT_PLAYER and 13 - table.plays // 4 <= player.last:
        return uct_card_row(table, held, player, book, key, desk)
    return srp_row(table, held, key)

"""The Spades agents as policies: a bidder and a player behind one ``act``."""

from typing import Any

import numpy as np

from bidzoo.agents.spades.bidder import BIDDER, Bidder
from bidzoo.agents.spades.book import book as shipped_book
from bidzoo.agents.spades.choose import PLAYER, Player, bid_choice_row, card_choice_row
from bidzoo.agents.spades.uct import Desk
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, PLAY, STATE, VIEW
from bidzoo.kernels import I8, I64, U64, Table, Tables, allocate, batched, prange
from bidzoo.streams import Streams


@batched
def _act(
    views: Tables, keys: U64, bidder: Tables, player: Tables, books: Tables, states: Tables, spare: Tables, out: I64
) -> None:
    for b in prange(len(views)):
        desk = Desk(states[2 * b : 2 * b + 2], spare[b : b + 1])
        if views[b].phase == BIDDING:
            out[b] = bid_choice_row(views[b], views[b].hand, bidder[0], books[0], keys[b], desk)
        elif views[b].phase == PLAY:
            out[b] = FIRST_CARD + card_choice_row(views[b], views[b].held_here, player[0], books[0], keys[b], desk)
        else:
            out[b] = 0


class SpadesPolicy:
    """Bids by one algorithm and plays by another; any variant of ``spades_v0``, any phase."""

    def __init__(self, bidder: str | Bidder = "bis", player: str | Player = "srp", book: Table | None = None) -> None:
        self.bidder = bid = Bidder.named(bidder) if isinstance(bidder, str) else bidder
        self.player = play = Player(player) if isinstance(player, str) else player
        self.name = f"{bid.kind}+{play.kind}"
        self._bidder, self._player = allocate(BIDDER, 1), allocate(PLAYER, 1)
        self._bidder[0], self._player[0] = bid.record(), play.record()
        source = shipped_book() if book is None else book
        self._books = allocate(source.dtype, 1)
        self._books[0] = source

    def __repr__(self) -> str:
        return f"<SpadesPolicy {self.name}>"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; ``legal`` is not needed, the rules are known. ``rng`` serves UCT and random."""
        out = np.zeros(len(views), np.int64)
        states, spare = allocate(STATE, 2 * len(views)), allocate(VIEW, len(views))
        _act(views, rng.keys, self._bidder, self._player, self._books, states, spare, out)
        return out


def bis(player: str = "srp", **components: Any) -> SpadesPolicy:
    """BIS; ``components`` switch parts of it off (fields of ``Bidder``)."""
    return SpadesPolicy(Bidder.named("bis", **components), player)


def rb(player: str = "srp") -> SpadesPolicy:
    """The rule-based bidder RB."""
    return SpadesPolicy("rb", player)


def ms(player: str = "srp") -> SpadesPolicy:
    """The bidder MS of the book Master Spades."""
    return SpadesPolicy("ms", player)


def io(player: str = "srp") -> SpadesPolicy:
    """The bidder IO of cardgames.io."""
    return SpadesPolicy("io", player)


def learned(player: str = "srp") -> SpadesPolicy:
    """The learned bidder: a network that moves BIS's bid (beyond the paper)."""
    return SpadesPolicy("learned", player)


def srp(bidder: str = "bis") -> SpadesPolicy:
    """The strong rule-based player."""
    return SpadesPolicy(bidder, "srp")


def wrp(bidder: str = "bis") -> SpadesPolicy:
    """The weak rule-based player."""
    return SpadesPolicy(bidder, "wrp")


def uct(
    bidder: str = "bis", last: int = 13, iterations: int = 300, infer: str = "none", exploration: float = 30.0
) -> SpadesPolicy:
    """UCT in the last ``last`` tricks, SRP before; ``bidder="uct"`` searches for its bids too."""
    return SpadesPolicy(bidder, Player("uct", last, iterations, infer, exploration))

"""What each Spades observation holds, entry by entry; kernels, spaces, docs and ``explain`` read it here.

Seats are relative, clockwise from the viewer: 0 me, 1 left-hand opponent (LHO), 2 partner, 3 right-hand
opponent (RHO). Sides likewise: ours, then theirs; in cutthroat the four seats.
"""

from itertools import product

from bidzoo.cards import NUM_CARDS
from bidzoo.envs.spades.deck import deck_card_text
from bidzoo.envs.spades.state import BLIND_NIL
from bidzoo.layout import Field, Layout

WHO = ("me", "LHO", "partner", "RHO")
BIDS = ("nil", *map(str, range(1, 14)), "blind nil")
SUITS = ("C", "D", "H", "S")
SHORT, ABOVE, BAG_COUNTS = 80, 32, 10  # entries a side
TRICK_COUNTS = 14
assert len(BIDS) == BLIND_NIL + 1


def sides_seen(sides: int) -> tuple[str, ...]:
    """The sides as the viewer names them."""
    return ("we", "they") if sides == 2 else ("me", "LHO", "across", "RHO")


def _score(sides: int) -> tuple[Field, ...]:
    names = sides_seen(sides)
    return (
        Field(
            "short",
            sides * SHORT,
            f"by side, one-hot of {SHORT}: tens of points short of the winning goal, rounded up; the last is more",
            tuple(f"{name} {10 * k}" for name, k in product(names, range(SHORT))),
        ),
        Field(
            "above",
            sides * ABOVE,
            f"by side, one-hot of {ABOVE}: tens of points above the losing goal, all 0 without one; the last is more",
            tuple(f"{name} {10 * k}" for name, k in product(names, range(ABOVE))),
        ),
        Field(
            "bags",
            sides * BAG_COUNTS,
            "by side, one-hot: bags towards the next ten",
            tuple(f"{name} {k}" for name, k in product(names, range(BAG_COUNTS))),
        ),
    )


def _cards(deck: int) -> tuple[str, ...]:
    return tuple(deck_card_text(deck, card) for card in range(NUM_CARDS))


def _shared() -> tuple[Field, ...]:
    return (
        Field("looked", 1, "I have seen my hand (else I may still bid a blind nil)", ("yes",)),
        Field("first", 4, "who bids and leads first", WHO),
        Field(
            "bids",
            4 * len(BIDS),
            "for each seat one-hot: nil, 1 ... 13, blind nil; all 0 before it bids",
            tuple(f"{who} {bid}" for who, bid in product(WHO, BIDS)),
        ),
    )


def bidding_layout(sides: int = 2, deck: int = 0) -> Layout:
    """What a bidder needs: its hand, the bids, the score."""
    hand = Field("hand", NUM_CARDS, "cards dealt to me, `4 * rank + suit`; all 0 before I have looked", _cards(deck))
    return Layout((hand, *_shared(), *_score(sides)))


def full_layout(sides: int = 2, deck: int = 0) -> Layout:
    """The whole game as one seat knows it; only the order within the earlier tricks is left out."""
    cards = _cards(deck)
    by_seat = tuple(f"{card} by {who}" for who, card in product(WHO, cards))
    return Layout(
        (
            Field("hand", NUM_CARDS, "cards I still hold, `4 * rank + suit`; all 0 before I have looked", cards),
            *_shared(),
            Field("phase", 2, "what is going on; all 0 when the game is over", ("bidding", "play")),
            Field("trick", 4 * NUM_CARDS, "cards of the current trick, 52 for each seat", by_seat),
            Field("earlier", 4 * NUM_CARDS, "cards of the earlier tricks, 52 for each seat", by_seat),
            Field("leader", 4, "who led to the current trick, or will lead", WHO),
            Field("led", 4, "suit led to the current trick; all 0 before the lead", SUITS),
            Field(
                "void",
                4 * 4,
                "for each seat the suits it has shown not to hold",
                tuple(f"{who} {suit}" for who, suit in product(WHO, SUITS)),
            ),
            Field(
                "won",
                4 * TRICK_COUNTS,
                "for each seat one-hot: tricks won, 0 ... 13",
                tuple(f"{who} {k}" for who, k in product(WHO, range(TRICK_COUNTS))),
            ),
            Field("broken", 1, "a spade has been played", ("yes",)),
            *_score(sides),
        )
    )

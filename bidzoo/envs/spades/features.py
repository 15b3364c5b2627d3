"""What each Spades observation holds, entry by entry; kernels, spaces, docs and ``explain`` read it here.

Seats are relative, clockwise from the viewer: 0 me, 1 left-hand opponent (LHO), 2 partner, 3 right-hand
opponent (RHO). Sides likewise: ours, then theirs; in cutthroat the four seats. In the global state, which is one for
all, seats are N E S W and sides N/S and E/W.
"""

from collections.abc import Sequence
from itertools import product

from bidzoo.cards import NUM_CARDS, SEAT_NAMES, SEATS, SIDES
from bidzoo.envs.spades.deck import deck_card_text
from bidzoo.envs.spades.state import BLIND_NIL
from bidzoo.layout import Field, Layout

WHO = ("me", "LHO", "partner", "RHO")
BIDS = ("nil", *map(str, range(1, 14)), "blind nil")
SUITS = ("C", "D", "H", "S")
SHORT, ABOVE, BAG_COUNTS = 80, 32, 10  # entries a side
TRICK_COUNTS = 14
SCORE_DIGITS = 25  # from 100 000 points at most, 10 000 rounds of 2413 at most
ROUND_DIGITS = 14  # 10 000 at most
assert len(BIDS) == BLIND_NIL + 1


def sides_seen(sides: int) -> tuple[str, ...]:
    """The sides as the viewer names them."""
    return ("we", "they") if sides == 2 else ("me", "LHO", "across", "RHO")


def sides_named(sides: int) -> tuple[str, ...]:
    """``N/S`` and ``E/W``, or the four seats."""
    return SIDES if sides == 2 else tuple(SEATS)


def _score(names: Sequence[str]) -> tuple[Field, ...]:
    sides = len(names)
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


_LOOKED = Field("looked", 1, "I have seen my hand (else I may still bid a blind nil)", ("yes",))


def _bids(who: Sequence[str]) -> tuple[Field, ...]:
    return (
        Field("first", 4, "who bids and leads first", tuple(who)),
        Field(
            "bids",
            4 * len(BIDS),
            "for each seat one-hot: nil, 1 ... 13, blind nil; all 0 before it bids",
            tuple(f"{name} {bid}" for name, bid in product(who, BIDS)),
        ),
    )


def _play(who: Sequence[str], cards: Sequence[str]) -> tuple[Field, ...]:
    by_seat = tuple(f"{card} by {name}" for name, card in product(who, cards))
    return (
        Field("phase", 2, "what is going on; all 0 when the game is over", ("bidding", "play")),
        Field("trick", 4 * NUM_CARDS, "cards of the current trick, 52 for each seat", by_seat),
        Field("earlier", 4 * NUM_CARDS, "cards of the earlier tricks, 52 for each seat", by_seat),
        Field("leader", 4, "who led to the current trick, or will lead", tuple(who)),
        Field("led", 4, "suit led to the current trick; all 0 before the lead", SUITS),
        Field(
            "void",
            4 * 4,
            "for each seat the suits it has shown not to hold",
            tuple(f"{name} {suit}" for name, suit in product(who, SUITS)),
        ),
        Field(
            "won",
            4 * TRICK_COUNTS,
            "for each seat one-hot: tricks won, 0 ... 13",
            tuple(f"{name} {k}" for name, k in product(who, range(TRICK_COUNTS))),
        ),
        Field("broken", 1, "a spade has been played", ("yes",)),
    )


def bidding_layout(sides: int = 2, deck: int = 0) -> Layout:
    """What a bidder needs: its hand, the bids, the score."""
    hand = Field("hand", NUM_CARDS, "cards dealt to me, `4 * rank + suit`; all 0 before I have looked", _cards(deck))
    return Layout((hand, _LOOKED, *_bids(WHO), *_score(sides_seen(sides))))


def full_layout(sides: int = 2, deck: int = 0) -> Layout:
    """The whole game as one seat knows it; only the order within the earlier tricks is left out."""
    cards = _cards(deck)
    hand = Field("hand", NUM_CARDS, "cards I still hold, `4 * rank + suit`; all 0 before I have looked", cards)
    return Layout((hand, _LOOKED, *_bids(WHO), *_play(WHO, cards), *_score(sides_seen(sides))))


def state_layout(play: bool, sides: int = 2, deck: int = 0) -> Layout:
    """The whole game, all hands open; ``play``: the agents play the cards themselves."""
    cards, names = _cards(deck), sides_named(sides)
    holding = "cards still with" if play else "cards dealt to"
    return Layout(
        (
            *(
                Field(seat, NUM_CARDS, f"{holding} {name}, `4 * rank + suit`", cards)
                for seat, name in zip(SEATS, SEAT_NAMES, strict=True)
            ),
            Field("looked", 4, "who has seen the own hand (the others may still bid a blind nil)", tuple(SEATS)),
            Field("turn", 4, "who acts next; all 0 when the game is over", tuple(SEATS)),
            *_bids(SEATS),
            *(_play(SEATS, cards) if play else ()),
            *_score(names),
            Field(
                "score",
                sides * (1 + SCORE_DIGITS),
                "by side: whether the score is negative, then its points in binary, low digit first",
                tuple(f"{name} {x}" for name in names for x in ("negative", *(1 << k for k in range(SCORE_DIGITS)))),
            ),
            Field(
                "rounds",
                ROUND_DIGITS,
                "rounds that ended, in binary, low digit first",
                tuple(str(1 << k) for k in range(ROUND_DIGITS)),
            ),
        )
    )

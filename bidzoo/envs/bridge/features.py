"""What each bridge observation holds, entry by entry; kernels, spaces, docs and ``explain`` read it here.

Seats are relative, clockwise from the viewer: 0 me, 1 left-hand opponent (LHO), 2 partner, 3 right-hand
opponent (RHO); in the global state, which is one for all, they are N E S W. Bids 1C ... 7NT = 0 ... 34; cards
``4 * rank + suit`` as in ``bidzoo.cards``.
"""

from collections.abc import Sequence
from itertools import product

from bidzoo.cards import (
    FIRST_BID,
    HAND_SIZE,
    NUM_BIDS,
    NUM_CALLS,
    NUM_CARDS,
    SEAT_NAMES,
    SEATS,
    SIDES,
    STRAINS,
    call_text,
    card_text,
)
from bidzoo.layout import Field, Layout

WHO = ("me", "LHO", "partner", "RHO")
BIDS = tuple(call_text(FIRST_BID + bid) for bid in range(NUM_BIDS))
CARDS = tuple(card_text(card) for card in range(NUM_CARDS))
KINDS = ("bid", "doubled", "redoubled")


def _by(kind: str) -> tuple[str, ...]:
    return tuple(f"{bid} {kind} by {who}" for bid, who in product(BIDS, WHO))


def _holding(name: str, whose: str) -> Field:
    return Field(name, NUM_CARDS, f"cards {whose}, `4 * rank + suit`, 2C first", CARDS)


_VULNERABLE = Field(
    "vulnerable", 2 * 2, "one-hot for our side, then for theirs", ("we are not", "we are", "they are not", "they are")
)
_HAND = _holding("hand", "dealt to me")


def _calls(who: Sequence[str]) -> tuple[Field, Field]:
    return (
        Field("passed", 4, "who passed before the first bid", tuple(who)),
        Field(
            "bids",
            NUM_BIDS * 3 * 4,
            "for each bid 12 entries: who bid it (4), doubled it (4), redoubled it (4)",
            tuple(f"{bid} {kind} by {name}" for bid, kind, name in product(BIDS, KINDS, who)),
        ),
    )


_PASSED, _BIDS = _calls(WHO)

# OpenSpiel's bridge_.h: "observation tensor" of the auction without its four type bits; also Pgx and arXiv 2011.14124.
OPENSPIEL480 = Layout((_VULNERABLE, _PASSED, _BIDS, _HAND))

# Belief Monte Carlo search, Table VI: the same entries, all bids before all doubles before all redoubles.
BMCS480 = Layout(
    (
        _VULNERABLE,
        _PASSED,
        Field("bid", NUM_BIDS * 4, "for each bid: who bid it", _by("bid")),
        Field("doubled", NUM_BIDS * 4, "for each bid: who doubled it", _by("doubled")),
        Field("redoubled", NUM_BIDS * 4, "for each bid: who redoubled it", _by("redoubled")),
        _HAND,
    )
)

# The same paper's value network, which sees all four hands.
BMCS636 = Layout(
    (
        *BMCS480.fields,
        _holding("LHO", "dealt to LHO"),
        _holding("partner", "dealt to partner"),
        _holding("RHO", "dealt to RHO"),
    )
)

# Joint policy search, appendix D and its figure "Input representation".
JPS267 = Layout(
    (
        _HAND,
        Field("own", NUM_BIDS, "bids I made", BIDS),
        Field("partner", NUM_BIDS, "bids partner made", BIDS),
        Field("left", NUM_BIDS, "bids LHO made", BIDS),
        Field("right", NUM_BIDS, "bids RHO made", BIDS),
        Field("doubled", NUM_BIDS, "bids that were doubled (and perhaps redoubled)", BIDS),
        Field("vulnerable", 2, "we are vulnerable, they are", ("we are", "they are")),
        Field(
            "legal",
            NUM_CALLS,
            "calls I may make now; all 0 when it is not my turn to call",
            tuple(call_text(call) for call in range(NUM_CALLS)),
        ),
    )
)

_TYPE = Field(
    "type",
    4,
    "what is going on; all 0 after the last trick, and still `auction` when a board ends without play",
    ("auction", "opening lead", "play on the declaring side", "play in defence"),
)


def _tricks(who: Sequence[str]) -> tuple[Field, Field]:
    on_table = tuple(f"{card} by {name}" for name, card in product(who, CARDS))
    return (
        Field("trick", 4 * NUM_CARDS, "cards of the current trick, 52 for each seat", on_table),
        Field("last trick", 4 * NUM_CARDS, "cards of the trick before", on_table),
    )


# OpenSpiel's layout once a card is played.
PLAY571 = Layout(
    (
        _TYPE,
        Field("level", 7, "level of the contract", tuple("1234567")),
        Field("strain", 5, "strain of the contract", STRAINS),
        Field("stake", 3, "undoubled, doubled, redoubled", ("undoubled", "doubled", "redoubled")),
        Field("declarer", 4, "who declares", WHO),
        Field("vulnerable", 2, "whether declarer's side is", ("declarer is not", "declarer is")),
        _holding("hand", "I still hold"),
        _holding("dummy", "dummy still holds"),
        *_tricks(WHO),
        Field(
            "made", HAND_SIZE, "declarer's tricks, slots 0 ... 12; 13 tricks: all 0", tuple(map(str, range(HAND_SIZE)))
        ),
        Field(
            "lost",
            HAND_SIZE,
            "the defence's tricks, slots 0 ... 12; 13 tricks: all 0",
            tuple(map(str, range(HAND_SIZE))),
        ),
    )
)

# Before a card is played: the 480 entries after the type, then zeros.
AUCTION571 = Layout(
    (_TYPE, *OPENSPIEL480.fields, Field("unused", PLAY571.size - OPENSPIEL480.size - _TYPE.size, "always 0"))
)

OPENSPIEL571 = Layout(
    (
        _TYPE,
        Field("situation", PLAY571.size - _TYPE.size, "the auction's layout before a card is played, then the play's"),
    )
)

# The global state, by parts; a game has those that bear on it.

DEAL_STATE = (
    Field("vulnerable", 2 * 2, "one-hot for N/S, then for E/W", ("N/S are not", "N/S are", "E/W are not", "E/W are")),
    *_calls(SEATS),
    *(_holding(seat, f"dealt to {name}") for seat, name in zip(SEATS, SEAT_NAMES, strict=True)),
    Field("dealer", 4, "who dealt", tuple(SEATS)),
    Field("turn", 4, "who acts next (declarer for dummy); all 0 when the board is over", tuple(SEATS)),
)
PLAY_STATE = (
    Field("next card", 4, "whose card comes next (also dummy's); all 0 out of the play", tuple(SEATS)),
    _holding("gone", "played so far"),
    *_tricks(SEATS),
    Field(
        "won",
        2 * (HAND_SIZE + 1),
        "one-hot: tricks won by N/S, 0 ... 13, then by E/W",
        tuple(f"{side} {k}" for side, k in product(SIDES, range(HAND_SIZE + 1))),
    ),
)
TRICKS_STATE = (
    Field(
        "tricks",
        4 * len(STRAINS) * (HAND_SIZE + 1),
        "double-dummy table, one-hot: tricks of each declarer (N E S W) in each strain, 0 ... 13; all 0 if not known",
        tuple(f"{seat} {strain} {k}" for seat, strain, k in product(SEATS, STRAINS, range(HAND_SIZE + 1))),
    ),
)
RESULT_DIGITS = 10  # of tens of points: 760 at most
DUPLICATE_STATE = (
    Field("second table", 1, "player 0 sits East, player 1 South ...: the sides have changed places", ("yes",)),
    Field(
        "result",
        1 + RESULT_DIGITS,
        "at the second table, N/S tens of points at the first: whether negative, then binary, low digit first",
        ("negative", *(str(10 << k) for k in range(RESULT_DIGITS))),
    ),
)


def state_layout(play: bool, double_dummy: bool, duplicate: bool) -> Layout:
    """The global state of a game in which cards are played, double-dummy tables count, deals are played twice."""
    return Layout(
        (
            *DEAL_STATE,
            *(PLAY_STATE if play else ()),
            *(TRICKS_STATE if double_dummy else ()),
            *(DUPLICATE_STATE if duplicate else ()),
        )
    )

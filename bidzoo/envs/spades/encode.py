"""A view of a Spades table as a vector of zeros and ones; ``features.py`` says what each entry means.

``bidding``  the hand, the bids and the score
``full``     the same, with the play

The global state is in ``encode_state.py``, of the same parts.
"""

from functools import partial

from bidzoo.bits import cards_row, spread_row
from bidzoo.cards import NUM_CARDS
from bidzoo.envs.game import Encoder
from bidzoo.envs.spades.explain import explain
from bidzoo.envs.spades.features import ABOVE, BAG_COUNTS, BIDS, SHORT, TRICK_COUNTS, bidding_layout, full_layout
from bidzoo.envs.spades.state import BLIND_NIL, NIL, NO_GOAL, OVER
from bidzoo.kernels import I8, Table, Tables, batched, prange, row

BIDDING_CODE, FULL_CODE = 0, 1

# Everything before the score is in the same place whatever the number of sides.
_FULL, _BIDDING = full_layout(), bidding_layout()
_HAND, _LOOKED, _FIRST, _PHASE = (_FULL.start(name) for name in ("hand", "looked", "first", "phase"))
_BIDDING_SCORE, _FULL_SCORE = _BIDDING.start("short"), _FULL.start("short")
_BIDS = _FULL.start("bids") - _FIRST  # from the bidding's first entry
_TRICK, _EARLIER, _LEADER = (_FULL.start(name) - _PHASE for name in ("trick", "earlier", "leader"))  # from the play's
_LED, _VOID, _WON, _BROKEN = (_FULL.start(name) - _PHASE for name in ("led", "void", "won", "broken"))
_NUM_BIDS = len(BIDS)


@row
def _own_row(record: Table, hand: int, seat: int, out: I8) -> None:
    """The hand and whether it has been seen, which begin both layouts."""
    cards_row(hand, _HAND, out)
    out[_LOOKED] = record.looked >> seat & 1


@row
def bids_row(record: Table, seat: int, at: int, out: I8) -> None:
    """Who bids first, and the bids, as ``seat`` counts seats, into zeroed ``out`` from ``at`` on."""
    out[at + (int(record.dealer) + 1 - seat) % 4] = 1
    for who in range(4):
        owner = (seat + who) % 4
        bid = int(record.bids[owner])
        if bid == NIL and record.blind >> owner & 1:
            bid = BLIND_NIL
        if bid >= 0:
            out[at + _BIDS + _NUM_BIDS * who + bid] = 1


@row
def score_row(record: Table, seat: int, at: int, out: I8) -> None:
    """Scores and bags of all sides, that of ``seat`` first, into zeroed ``out`` from ``at`` on."""
    sides = int(record.sides)
    above = at + sides * SHORT
    bags = above + sides * ABOVE
    for j in range(sides):
        side = (seat + j) % sides
        score = int(record.scores[side])
        short = (int(record.win_goal) - score + 9) // 10
        out[at + SHORT * j + min(max(short, 0), SHORT - 1)] = 1
        if record.lose_goal > NO_GOAL:
            out[above + ABOVE * j + min(max((score - int(record.lose_goal)) // 10, 0), ABOVE - 1)] = 1
        out[bags + BAG_COUNTS * j + int(record.bags[side])] = 1


@row
def play_row(record: Table, seat: int, at: int, out: I8) -> None:
    """The play so far, as ``seat`` counts seats, into zeroed ``out`` from ``at`` on."""
    if record.phase != OVER:
        out[at + record.phase] = 1
    plays = int(record.plays)
    current = plays - plays % 4
    for t in range(plays):
        who = (int(record.players[t]) - seat) % 4
        out[at + (_TRICK if t >= current else _EARLIER) + NUM_CARDS * who + int(record.played[t])] = 1
    out[at + _LEADER + (int(record.leader) - seat) % 4] = 1
    if record.led >= 0:
        out[at + _LED + record.led] = 1
    for who in range(4):
        owner = (seat + who) % 4
        spread_row(int(record.voids[owner]), 4, at + _VOID + 4 * who, out)
        out[at + _WON + TRICK_COUNTS * who + int(record.won[owner])] = 1
    out[at + _BROKEN] = record.broken


@row
def encode_row(record: Table, hand: int, held: int, seat: int, code: int, out: I8) -> None:
    """Observation ``code`` of ``seat`` into ``out`` ``[F]``; of a state or a view, whose hands are passed beside it.

    Of ``record`` only the public fields are read; ``hand`` and ``held`` are 0 for a seat that has not looked.
    """
    out[:] = 0
    if code == BIDDING_CODE:
        _own_row(record, hand, seat, out)
        bids_row(record, seat, _FIRST, out)
        score_row(record, seat, _BIDDING_SCORE, out)
    else:
        _own_row(record, held, seat, out)
        bids_row(record, seat, _FIRST, out)
        play_row(record, seat, _PHASE, out)
        score_row(record, seat, _FULL_SCORE, out)


@batched
def _encode(views: Tables, code: int, out: I8) -> None:
    for b in prange(len(views)):
        view = views[b]
        encode_row(view, view.hand, view.held_here, view.seat, code, out[b])


def _bidding(views: Tables, out: I8) -> None:
    """``bidding`` of ``views`` ``[B]``."""
    _encode(views, BIDDING_CODE, out)


def _full(views: Tables, out: I8) -> None:
    """``full`` of ``views`` ``[B]``."""
    _encode(views, FULL_CODE, out)


def encoders(sides: int, deck: int) -> dict[str, Encoder]:
    """The encoders of a game with so many sides and such a deck (index into ``DECKS``), by name."""
    bidding, full = bidding_layout(sides, deck), full_layout(sides, deck)
    return {
        "full": Encoder("full", full, _full, partial(explain, full), FULL_CODE),
        "bidding": Encoder("bidding", bidding, _bidding, partial(explain, bidding), BIDDING_CODE),
    }

"""A view of a Spades table as a vector of zeros and ones: its entries, how they are written, and what they say.

``bidding``  the hand, the bids and the score
``full``     the same, with the play

Seats are relative, clockwise from the viewer: 0 me, 1 left-hand opponent (LHO), 2 partner, 3 right-hand
opponent (RHO). Sides likewise: ours, then theirs; in cutthroat the four seats.

The global state, which is one for all, begins with all hands; then comes what ``full`` shows (``bidding`` where the
agents only bid) as North counts seats and sides, so that they are absolute: N E S W, N/S and E/W. Observations bound
the scores they show, so the points themselves follow in binary, and the rounds, which may end a game. Cards of later
rounds are chance, and no part of the state.
"""

from collections.abc import Sequence
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.bits import cards_row, gather, gather_signed, spread_row, spread_signed_row
from bidzoo.core.cards import NUM_CARDS, SEAT_NAMES, SEATS, SIDES, SUITS, SYMBOLS
from bidzoo.core.kernels import I8, State, States, batched, row
from bidzoo.core.layout import Field, Layout
from bidzoo.envs.game import Encoder
from bidzoo.envs.spades.deals import deck_card_text
from bidzoo.envs.spades.score import BAG_LIMIT
from bidzoo.envs.spades.state import BLIND_NIL, NIL, NO_GOAL, OVER

# ---- the entries; kernels, spaces, docs and ``explain`` read them here ---------------------------

WHO = ("me", "LHO", "partner", "RHO")
BIDS = ("nil", *map(str, range(1, 14)), "blind nil")
SHORT, ABOVE = 80, 32  # entries a side
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
    short = f"by side, one-hot of {SHORT}: tens of points short of the winning goal, rounded up; the last is more"
    above = f"by side, one-hot of {ABOVE}: tens of points above the losing goal, all 0 without one; the last is more"
    return (
        Field.of("short", short, names, range(0, 10 * SHORT, 10)),
        Field.of("above", above, names, range(0, 10 * ABOVE, 10)),
        Field.of("bags", "by side, one-hot: bags towards the next ten", names, range(BAG_LIMIT)),
    )


def _cards(deck: int) -> tuple[str, ...]:
    return tuple(deck_card_text(deck, card) for card in range(NUM_CARDS))


_LOOKED_FIELD = Field.of("looked", "I have seen my hand (else I may still bid a blind nil)", ("yes",))


def _bids(names: Sequence[str]) -> tuple[Field, ...]:
    bids = "for each seat one-hot: nil, 1 ... 13, blind nil; all 0 before it bids"
    return Field.of("first", "who bids and leads first", names), Field.of("bids", bids, names, BIDS)


def _play(names: Sequence[str], cards: Sequence[str]) -> tuple[Field, ...]:
    by_seat = [f"{card} by {name}" for name, card in product(names, cards)]
    return (
        Field.of("phase", "what is going on; all 0 when the game is over", ("bidding", "play")),
        Field.of("trick", "cards of the current trick, 52 for each seat", by_seat),
        Field.of("earlier", "cards of the earlier tricks, 52 for each seat", by_seat),
        Field.of("leader", "who led to the current trick, or will lead", names),
        Field.of("led", "suit led to the current trick; all 0 before the lead", SUITS),
        Field.of("void", "for each seat the suits it has shown not to hold", names, SUITS),
        Field.of("won", "for each seat one-hot: tricks won, 0 ... 13", names, range(TRICK_COUNTS)),
        Field.of("broken", "a spade has been played", ("yes",)),
    )


def bidding_layout(sides: int = 2, deck: int = 0) -> Layout:
    """What a bidder needs: its hand, the bids, the score."""
    hand = Field.of("hand", "cards dealt to me, `4 * rank + suit`; all 0 before I have looked", _cards(deck))
    return Layout((hand, _LOOKED_FIELD, *_bids(WHO), *_score(sides_seen(sides))))


def full_layout(sides: int = 2, deck: int = 0) -> Layout:
    """The whole game as one seat knows it; only the order within the earlier tricks is left out."""
    cards = _cards(deck)
    hand = Field.of("hand", "cards I still hold, `4 * rank + suit`; all 0 before I have looked", cards)
    return Layout((hand, _LOOKED_FIELD, *_bids(WHO), *_play(WHO, cards), *_score(sides_seen(sides))))


def state_layout(play: bool, sides: int = 2, deck: int = 0) -> Layout:
    """The whole game, all hands open; ``play``: the agents play the cards themselves."""
    cards, names = _cards(deck), sides_named(sides)
    held = "cards still with" if play else "cards dealt to"
    hands = zip(SEATS, SEAT_NAMES, strict=True)
    score = "by side: whether the score is negative, then its points in binary, low digit first"
    digits = ("negative", *(1 << k for k in range(SCORE_DIGITS)))
    rounds = "rounds that ended, in binary, low digit first"
    return Layout(
        (
            *(Field.of(seat, f"{held} {name}, `4 * rank + suit`", cards) for seat, name in hands),
            Field.of("looked", "who has seen the own hand (the others may still bid a blind nil)", SEATS),
            Field.of("turn", "who acts next; all 0 when the game is over", SEATS),
            *_bids(SEATS),
            *(_play(SEATS, cards) if play else ()),
            *_score(names),
            Field.of("score", score, names, digits),
            Field.of("rounds", rounds, (1 << k for k in range(ROUND_DIGITS))),
        )
    )


# ---- a view as a vector ------------------------------------------------------------------------

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
def bids_row(record: State, seat: int, offset: int, out: I8) -> None:
    """Who bids first, and the bids, as ``seat`` counts seats, into zeroed ``out`` from ``offset`` on."""
    out[offset + (int(record.dealer) + 1 - seat) % 4] = 1
    for who in range(4):
        owner = (seat + who) % 4
        bid = int(record.bids[owner])
        if bid == NIL and record.blind >> owner & 1:
            bid = BLIND_NIL
        if bid >= 0:
            out[offset + _BIDS + _NUM_BIDS * who + bid] = 1


@row
def score_row(record: State, seat: int, offset: int, out: I8) -> None:
    """Scores and bags of all sides, that of ``seat`` first, into zeroed ``out`` from ``offset`` on."""
    sides = int(record.sides)
    above = offset + sides * SHORT
    bags = above + sides * ABOVE
    for j in range(sides):
        side = (seat + j) % sides
        score = int(record.scores[side])
        short = (int(record.win_goal) - score + 9) // 10
        out[offset + SHORT * j + min(max(short, 0), SHORT - 1)] = 1
        if record.lose_goal > NO_GOAL:
            out[above + ABOVE * j + min(max((score - int(record.lose_goal)) // 10, 0), ABOVE - 1)] = 1
        out[bags + BAG_LIMIT * j + int(record.bags[side])] = 1


@row
def play_row(record: State, seat: int, offset: int, out: I8) -> None:
    """The play so far, as ``seat`` counts seats, into zeroed ``out`` from ``offset`` on."""
    if record.phase != OVER:
        out[offset + record.phase] = 1
    plays = int(record.plays)
    current = plays - plays % 4
    for t in range(plays):
        who = (int(record.players[t]) - seat) % 4
        out[offset + (_TRICK if t >= current else _EARLIER) + NUM_CARDS * who + int(record.played[t])] = 1
    out[offset + _LEADER + (int(record.leader) - seat) % 4] = 1
    if record.led >= 0:
        out[offset + _LED + record.led] = 1
    for who in range(4):
        owner = (seat + who) % 4
        spread_row(int(record.voids[owner]), 4, offset + _VOID + 4 * who, out)
        out[offset + _WON + TRICK_COUNTS * who + int(record.won[owner])] = 1
    out[offset + _BROKEN] = record.broken


@row
def encode_row(record: State, hand: int, held: int, seat: int, code: int, out: I8) -> None:
    """Observation ``code`` of ``seat`` into ``out`` ``[F]``; of a state or a view, whose hands are passed beside it.

    Of ``record`` only the public fields are read; ``hand`` and ``held`` are 0 for a seat that has not looked.
    """
    out[:] = 0
    full = code == FULL_CODE
    cards_row(held if full else hand, _HAND, out)
    out[_LOOKED] = record.looked >> seat & 1
    bids_row(record, seat, _FIRST, out)
    if full:
        play_row(record, seat, _PHASE, out)
    score_row(record, seat, _FULL_SCORE if full else _BIDDING_SCORE, out)


@batched
def _encode(start: int, stop: int, code: int, views: States, out: I8) -> None:
    for b in range(start, stop):
        view = views[b]
        encode_row(view, view.hand, view.held_here, view.seat, code, out[b])


@cache  # every game made asks for them, and OpenSpiel makes one for every state it reads
def encoders(sides: int, deck: int) -> dict[str, Encoder]:
    """The encoders of a game with so many sides and such a deck (index into ``DECKS``), by name."""
    layouts = (("full", full_layout(sides, deck), FULL_CODE), ("bidding", bidding_layout(sides, deck), BIDDING_CODE))
    return {
        name: Encoder(name, layout, partial(_encode, code), partial(explain, layout), code, bits=True)
        for name, layout, code in layouts
    }


# ---- the global state --------------------------------------------------------------------------

_PLAY_STATE, _BIDDING_STATE = state_layout(True), state_layout(False)
_LOOKED_STATE, _TURN_STATE, _FIRST_STATE, _PHASE_STATE = (
    _PLAY_STATE.start(name) for name in ("looked", "turn", "first", "phase")
)
_PLAY_SCORE_STATE, _BIDDING_SCORE_STATE = _PLAY_STATE.start("short"), _BIDDING_STATE.start("short")
_SIDE_SCORE = (_PLAY_STATE.start("score") - _PLAY_SCORE_STATE) // 2  # entries of ``score_row`` a side


@row
def state_row(state: State, play: bool, out: I8) -> None:
    """The state into ``out`` ``[S]``, with what is played if ``play``."""
    out[:] = 0
    for seat in range(4):
        cards_row(state.held[seat] if play else state.hands[seat], NUM_CARDS * seat, out)
    spread_row(int(state.looked), 4, _LOOKED_STATE, out)
    if state.turn >= 0:
        out[_TURN_STATE + state.turn] = 1
    bids_row(state, 0, _FIRST_STATE, out)
    if play:
        play_row(state, 0, _PHASE_STATE, out)
    offset = _PLAY_SCORE_STATE if play else _BIDDING_SCORE_STATE
    score_row(state, 0, offset, out)
    offset += _SIDE_SCORE * int(state.sides)
    for side in range(state.sides):
        spread_signed_row(int(state.scores[side]), SCORE_DIGITS, offset, out)
        offset += 1 + SCORE_DIGITS
    spread_row(int(state.rounds), ROUND_DIGITS, offset, out)


@batched
def _encode_state(start: int, stop: int, play: bool, states: States, out: I8) -> None:
    for b in range(start, stop):
        state_row(states[b], play, out[b])


def state_encoder(play: bool, sides: int, deck: int) -> Encoder:
    """The encoder of a game with so many sides and such a deck; ``play``: the agents play the cards."""
    layout = state_layout(play, sides, deck)
    return Encoder("state", layout, partial(_encode_state, play), partial(explain_state, layout))


# ---- what the entries of a vector say, in a Spades player's words ------------------------------

Vector = NDArray[Any]


def explain(layout: Layout, vector: Vector) -> str:
    """One observation ``[F]`` of either layout as text."""
    fields, parts = {field.name: field for field in layout.fields}, layout.read(vector)
    if not parts["first"].any():
        return "the game is over"
    lines = [
        f"my cards: {_read_hand(fields['hand'], parts['hand'])}" if parts["looked"][0] else "I have not seen my hand",
        f"bids: {_read_bids(parts, WHO)}",
    ]
    if "trick" in parts:
        lines += _read_play(fields, parts, WHO)
    return "\n".join([*lines, *_read_score(parts, sides_seen(_sides(parts)))])


def explain_state(layout: Layout, vector: Vector) -> str:
    """One global state ``[S]`` of ``state_layout`` as text."""
    fields, parts = {field.name: field for field in layout.fields}, layout.read(vector)
    turn, unseen = parts["turn"], [seat for seat, on in zip(SEATS, parts["looked"], strict=True) if not on]
    lines = [
        f"{SEATS[int(np.argmax(turn))]} to act" if turn.any() else "the game is over",
        *(f"{seat}: {_read_hand(fields[seat], parts[seat])}" for seat in SEATS),
        *([f"not yet looked: {' '.join(unseen)}"] if unseen else []),
        f"bids: {_read_bids(parts, SEATS)}",
    ]
    if "trick" in parts:
        lines += _read_play(fields, parts, SEATS)
    names = sides_named(_sides(parts))
    points = parts["score"].reshape(len(names), -1)
    scores = ", ".join(f"{name} {gather_signed(entries)}" for name, entries in zip(names, points, strict=True))
    return "\n".join([*lines, *_read_score(parts, names), f"score after {gather(parts['rounds'])} rounds: {scores}"])


def _sides(parts: dict[str, Vector]) -> int:
    return len(parts["bags"]) // BAG_LIMIT


def _read_hand(field: Field, cards: Vector) -> str:
    """``BJ SA SK HQ ...``: cards by suit, spades first, high cards first."""
    order = sorted(np.flatnonzero(cards), key=lambda card: (-(card % 4), -(card // 4)))
    return " ".join(field.labels[card] for card in order) or "none"


def _read_bids(parts: dict[str, Vector], names: Sequence[str]) -> str:
    first = int(np.argmax(parts["first"]))
    bids = parts["bids"].reshape(4, len(BIDS))
    order = [(first + i) % 4 for i in range(4)]
    texts = [f"{names[who]} {BIDS[int(np.argmax(bids[who]))]}" for who in order if bids[who].any()]
    return ", ".join(texts) or f"none; {names[first]} bids first"


def _on_table(field: Field, entries: Vector, first: int, names: Sequence[str]) -> str:
    cards = entries.reshape(4, -1)
    order = [(first + i) % 4 for i in range(4)]
    texts = [f"{names[who]} {field.labels[card].split()[0]}" for who in order for card in np.flatnonzero(cards[who])]
    return ", ".join(texts) or "no card"


def _read_play(fields: dict[str, Field], parts: dict[str, Vector], names: Sequence[str]) -> list[str]:
    leader = int(np.argmax(parts["leader"]))
    voids = [f"{names[i // 4]} {SYMBOLS[SUITS[i % 4]]}" for i in map(int, np.flatnonzero(parts["void"]))]
    won = parts["won"].reshape(4, TRICK_COUNTS).argmax(axis=1)
    return [
        f"trick led by {names[leader]}: {_on_table(fields['trick'], parts['trick'], leader, names)}",
        f"earlier: {_on_table(fields['earlier'], parts['earlier'], 0, names)}",
        f"tricks: {', '.join(f'{who} {k}' for who, k in zip(names, won, strict=True))}",
        f"void: {', '.join(voids) or 'nobody'}",
        f"spades are {'' if parts['broken'][0] else 'not '}broken",
    ]


def _read_score(parts: dict[str, Vector], names: Sequence[str]) -> list[str]:
    sides = len(names)
    short = parts["short"].reshape(sides, SHORT).argmax(axis=1)
    above, bags = parts["above"].reshape(sides, ABOVE), parts["bags"].reshape(sides, BAG_LIMIT).argmax(axis=1)
    lines = []
    for j, name in enumerate(names):
        more = " or more" if short[j] == SHORT - 1 else ""
        losing = f", {10 * int(above[j].argmax())} above the losing goal" if above[j].any() else ""
        lines.append(f"{name}: {10 * short[j]}{more} short of the goal, {bags[j]} bags{losing}")
    return lines

"""A view of a Spades table as a vector of zeros and ones; ``features.py`` says what each entry means.

``bidding``  the hand, the bids and the score
``full``     the same, with the play

The global state begins with all hands; then comes what ``full`` shows (``bidding`` where the agents only bid) as North
counts seats and sides, so that they are absolute. Observations bound the scores they show, so the points themselves
follow in binary, and the rounds, which may end a game. Cards of later rounds are chance, and no part of the state.
"""

from functools import partial

from bidzoo.core.bits import cards_row, spread_row, spread_signed_row
from bidzoo.core.cards import NUM_CARDS
from bidzoo.core.kernels import I8, State, States, batched, row
from bidzoo.envs.game import Encoder
from bidzoo.envs.spades.features import (
    ABOVE,
    BAG_COUNTS,
    BIDS,
    ROUND_DIGITS,
    SCORE_DIGITS,
    SHORT,
    TRICK_COUNTS,
    bidding_layout,
    explain,
    explain_state,
    full_layout,
    state_layout,
)
from bidzoo.envs.spades.state import BLIND_NIL, NIL, NO_GOAL, OVER

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
def bids_row(record: State, seat: int, at: int, out: I8) -> None:
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
def score_row(record: State, seat: int, at: int, out: I8) -> None:
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
def play_row(record: State, seat: int, at: int, out: I8) -> None:
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


def encoders(sides: int, deck: int) -> dict[str, Encoder]:
    """The encoders of a game with so many sides and such a deck (index into ``DECKS``), by name."""
    made = (("full", full_layout(sides, deck), FULL_CODE), ("bidding", bidding_layout(sides, deck), BIDDING_CODE))
    return {
        name: Encoder(name, layout, partial(_encode, code), partial(explain, layout), code)
        for name, layout, code in made
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
    at = _PLAY_SCORE_STATE if play else _BIDDING_SCORE_STATE
    score_row(state, 0, at, out)
    at += _SIDE_SCORE * int(state.sides)
    for side in range(state.sides):
        spread_signed_row(int(state.scores[side]), SCORE_DIGITS, at, out)
        at += 1 + SCORE_DIGITS
    spread_row(int(state.rounds), ROUND_DIGITS, at, out)


@batched
def _encode_state(start: int, stop: int, play: bool, states: States, out: I8) -> None:
    for b in range(start, stop):
        state_row(states[b], play, out[b])


def state_encoder(play: bool, sides: int, deck: int) -> Encoder:
    """The encoder of a game with so many sides and such a deck; ``play``: the agents play the cards."""
    layout = state_layout(play, sides, deck)
    return Encoder("state", layout, partial(_encode_state, play), partial(explain_state, layout))

"""The global state of a Spades table as a vector of zeros and ones; ``features.py`` says what each entry means.

All hands, and then what ``full`` shows (``bidding`` where the agents only bid) as North counts seats and sides, so that
they are absolute. Observations bound the scores they show, so the points themselves follow in binary, and the rounds,
which may end a game. Cards of later rounds are chance, and no part of the state.
"""

from functools import partial

from bidzoo.bits import cards_row, spread_row, spread_signed_row
from bidzoo.cards import NUM_CARDS
from bidzoo.envs.game import Encoder
from bidzoo.envs.spades.encode import bids_row, play_row, score_row
from bidzoo.envs.spades.explain import explain_state
from bidzoo.envs.spades.features import ROUND_DIGITS, SCORE_DIGITS, state_layout
from bidzoo.kernels import I8, Table, Tables, batched, prange, row

_PLAY, _BIDDING = state_layout(True), state_layout(False)
_LOOKED, _TURN, _FIRST, _PHASE = (_PLAY.start(name) for name in ("looked", "turn", "first", "phase"))
_PLAY_SCORE, _BIDDING_SCORE = _PLAY.start("short"), _BIDDING.start("short")
_SIDE_SCORE = (_PLAY.start("score") - _PLAY_SCORE) // 2  # entries of ``score_row`` a side


@row
def state_row(table: Table, play: bool, out: I8) -> None:
    """The state into ``out`` ``[S]``, with what is played if ``play``."""
    out[:] = 0
    for seat in range(4):
        cards_row(table.held[seat] if play else table.hands[seat], NUM_CARDS * seat, out)
    spread_row(int(table.looked), 4, _LOOKED, out)
    if table.turn >= 0:
        out[_TURN + table.turn] = 1
    bids_row(table, 0, _FIRST, out)
    at = _BIDDING_SCORE
    if play:
        play_row(table, 0, _PHASE, out)
        at = _PLAY_SCORE
    score_row(table, 0, at, out)
    at += _SIDE_SCORE * int(table.sides)
    for side in range(table.sides):
        spread_signed_row(int(table.scores[side]), SCORE_DIGITS, at, out)
        at += 1 + SCORE_DIGITS
    spread_row(int(table.rounds), ROUND_DIGITS, at, out)


@batched
def _encode(play: bool, tables: Tables, out: I8) -> None:
    for b in prange(len(tables)):
        state_row(tables[b], play, out[b])


def state_encoder(play: bool, sides: int, deck: int) -> Encoder:
    """The encoder of a game with so many sides and such a deck; ``play``: the agents play the cards."""
    layout = state_layout(play, sides, deck)
    return Encoder("state", layout, partial(_encode, play), partial(explain_state, layout))

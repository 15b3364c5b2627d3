"""The global state of a bridge table as a vector of zeros and ones; ``features.py`` says what each entry means.

The auction and the hands are those of ``openspiel480`` as North sees them, and the other three hands after North's, so
that seats are absolute. Passes after the last bid follow from whose turn it is, contract and declarer from the bids.

The double-dummy table is a function of the hands, but one that nobody computes by looking: where it pays (contracts
scored without play, par) it belongs to what a critic should see.
"""

from functools import partial

from bidzoo.bits import spread_signed_row
from bidzoo.cards import HAND_SIZE, STRAINS
from bidzoo.envs.bridge.encode import open_row
from bidzoo.envs.bridge.encode_play import tricks_row
from bidzoo.envs.bridge.explain import explain_state
from bidzoo.envs.bridge.features import DEAL_STATE, PLAY_STATE, RESULT_DIGITS, TRICKS_STATE, state_layout
from bidzoo.envs.game import Encoder
from bidzoo.kernels import I8, Table, Tables, batched, prange, row
from bidzoo.layout import Layout

_DEAL, _PLAY, _TRICKS = Layout(DEAL_STATE), Layout(PLAY_STATE), Layout(TRICKS_STATE)
_DEALER, _TURN, _DEAL_SIZE = _DEAL.start("dealer"), _DEAL.start("turn"), _DEAL.size
_GONE, _TRICK, _WON, _PLAY_SIZE = _PLAY.start("gone"), _PLAY.start("trick"), _PLAY.start("won"), _PLAY.size
_TRICKS_SIZE, _COUNTS, _CELLS = _TRICKS.size, HAND_SIZE + 1, 4 * len(STRAINS)


@row
def _play_row(table: Table, at: int, out: I8) -> None:
    if table.hand_to_play >= 0:
        out[at + table.hand_to_play] = 1
    for t in range(table.plays):
        out[at + _GONE + int(table.played[t])] = 1
    tricks_row(table, 0, at + _TRICK, out)
    for side in range(2):
        out[at + _WON + _COUNTS * side + int(table.won[side])] = 1


@row
def state_row(table: Table, play: bool, double_dummy: bool, duplicate: bool, out: I8) -> None:
    """The state into ``out`` ``[S]``, by the parts of ``state_layout``."""
    out[:] = 0
    open_row(table, 0, True, out)
    out[_DEALER + table.dealer] = 1
    if table.turn >= 0:
        out[_TURN + table.turn] = 1
    at = _DEAL_SIZE
    if play:
        _play_row(table, at, out)
        at += _PLAY_SIZE
    if double_dummy:
        for cell in range(_CELLS):
            if table.tricks[cell] >= 0:
                out[at + _COUNTS * cell + int(table.tricks[cell])] = 1
        at += _TRICKS_SIZE
    if duplicate and table.table == 1:
        out[at] = 1
        spread_signed_row(int(table.points[0]) // 10, RESULT_DIGITS, at + 1, out)


@batched
def _encode(play: bool, double_dummy: bool, duplicate: bool, tables: Tables, out: I8) -> None:
    for b in prange(len(tables)):
        state_row(tables[b], play, double_dummy, duplicate, out[b])


def state_encoder(play: bool, double_dummy: bool, duplicate: bool) -> Encoder:
    """The encoder of a game in which cards are played, double-dummy tables count, deals are played twice."""
    layout = state_layout(play, double_dummy, duplicate)
    return Encoder("state", layout, partial(_encode, play, double_dummy, duplicate), partial(explain_state, layout))

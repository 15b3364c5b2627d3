"""A view of a bridge table as a vector of zeros and ones; ``features.py`` says what each entry means.

``openspiel480``  the auction and the dealt hand, as OpenSpiel orders them (the default)
``bmcs480``       the same entries in the order of the belief Monte Carlo search paper
``openspiel571``  OpenSpiel's whole observation, auction and play
``jps267``        the joint policy search paper, appendix D

The value network of the belief Monte Carlo search paper sees all hands: ``encode_value``; so does a critic of all
players, with more beside them: ``encode_state.py``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray

from bidzoo.bits import cards_row
from bidzoo.cards import FIRST_BID, NUM_BIDS, NUM_CARDS, PASS
from bidzoo.envs.bridge import explain
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.encode_play import play_row
from bidzoo.envs.bridge.features import AUCTION571, BMCS480, BMCS636, JPS267, OPENSPIEL480, OPENSPIEL571
from bidzoo.envs.bridge.state import AUCTION, PLAY
from bidzoo.envs.game import Encoder
from bidzoo.kernels import I8, I64, Table, Tables, batched, prange, row
from bidzoo.layout import Layout

_OPENSPIEL480, _BMCS480, _OPENSPIEL571, _JPS267 = range(4)  # codes

# Where entry (bid, kind, who) of the auction stands: start + step * bid + block * kind + who.
_STEP, _BLOCK = 3 * 4, 4  # OpenSpiel interleaves
_BMCS_STEP, _BMCS_BLOCK = 4, NUM_BIDS * 4  # the paper's blocks
_PASSED, _BIDS = OPENSPIEL480.start("passed"), OPENSPIEL480.start("bids")  # the same in both orders
_HAND = OPENSPIEL480.start("hand")
_SIZE571 = AUCTION571.start("vulnerable")  # of the type, which the auction's entries follow
_LHO = BMCS636.start("LHO")
_OWN, _DOUBLED = JPS267.start("own"), JPS267.start("doubled")
_VULNERABLE267, _LEGAL = JPS267.start("vulnerable"), JPS267.start("legal")


@row
def _auction_row(record: Table, hand: int, seat: int, at: int, step: int, block: int, out: I8) -> None:
    """Vulnerability, calls and dealt hand into zeroed ``out`` from ``at`` on."""
    vulnerable = int(record.vulnerable)
    out[at + ((vulnerable >> (seat & 1)) & 1)] = 1
    out[at + 2 + ((vulnerable >> (1 - (seat & 1))) & 1)] = 1
    first = int(record.dealer) - seat
    last = at + _PASSED  # where the seats of a pass, double or redouble are marked
    opened = False
    for t in range(int(record.length)):
        call, who = int(record.calls[t]), (first + t) & 3
        if call >= FIRST_BID:
            opened = True
            last = at + _BIDS + step * (call - FIRST_BID)
            out[last + who] = 1
        elif call != PASS:
            out[last + block * call + who] = 1
        elif not opened:
            out[last + who] = 1
    cards_row(hand, at + _HAND, out)


@row
def open_row(table: Table, seat: int, interleaved: bool, out: I8) -> None:
    """The auction and all dealt hands, that of ``seat`` first, then clockwise, into zeroed ``out`` ``[636]``."""
    step, block = (_STEP, _BLOCK) if interleaved else (_BMCS_STEP, _BMCS_BLOCK)
    _auction_row(table, table.hands[seat], seat, 0, step, block, out)
    for who in range(1, 4):
        cards_row(table.hands[(seat + who) & 3], _LHO + NUM_CARDS * (who - 1), out)


@row
def _jps_row(record: Table, hand: int, seat: int, out: I8) -> None:
    """Joint policy search's entries into zeroed ``out`` ``[267]``."""
    cards_row(hand, 0, out)
    first, bid = int(record.dealer) - seat, 0
    for t in range(int(record.length)):
        call, who = int(record.calls[t]), (first + t) & 3
        if call >= FIRST_BID:
            bid = call - FIRST_BID
            segment = (who >> 1) + 2 * (who & 1)  # me, partner, LHO, RHO
            out[_OWN + NUM_BIDS * segment + bid] = 1
        elif call != PASS:
            out[_DOUBLED + bid] = 1
    vulnerable = int(record.vulnerable)
    out[_VULNERABLE267] = (vulnerable >> (seat & 1)) & 1
    out[_VULNERABLE267 + 1] = (vulnerable >> (1 - (seat & 1))) & 1
    if record.phase == AUCTION and record.turn == seat:
        legal_row(record, out[_LEGAL:])


@row
def encode_row(record: Table, hand: int, held: int, seat: int, code: int, out: I8) -> None:
    """Observation ``code`` of ``seat`` into ``out``, of the length of its layout.

    ``record`` is a state or a view: only its public fields are read. ``hand`` and ``held`` are the cards
    dealt to ``seat`` and still with it.
    """
    out[:] = 0
    if code == _OPENSPIEL480:
        _auction_row(record, hand, seat, 0, _STEP, _BLOCK, out)
    elif code == _BMCS480:
        _auction_row(record, hand, seat, 0, _BMCS_STEP, _BMCS_BLOCK, out)
    elif code == _JPS267:
        _jps_row(record, hand, seat, out)
    elif record.plays > 0:
        play_row(record, held, seat, out)
    else:
        out[1 if record.phase == PLAY else 0] = 1
        _auction_row(record, hand, seat, _SIZE571, _STEP, _BLOCK, out)


@batched
def encode(views: Tables, code: int, out: I8) -> None:
    """``encode_row`` of every view ``[B]`` into ``out`` ``[B, F]``."""
    for b in prange(len(views)):
        encode_row(views[b], views[b].hand, views[b].held_here, int(views[b].seat), code, out[b])


@batched
def encode_value(states: Tables, players: I64, out: I8) -> None:
    """``BMCS636`` for ``players`` ``[B]`` at ``states`` ``[B]`` into ``out`` ``[B, 636]``.

    After the 480 entries of ``bmcs480`` come the hands dealt to LHO, partner and RHO, in this order. Players
    move on a seat at the second table of a duplicate pair, as in ``engine``.
    """
    for b in prange(len(states)):
        out[b, :] = 0
        open_row(states[b], (int(players[b]) + int(states[b].table)) & 3, False, out[b])


def _fill(code: int, views: Tables, out: I8) -> None:
    encode(views, code, out)


def _encoder(name: str, layout: Layout, code: int, text: Callable[[NDArray[Any]], str]) -> Encoder:
    return Encoder(name, layout, partial(_fill, code), text, code)


ENCODERS = {
    encoder.name: encoder
    for encoder in (
        _encoder("openspiel480", OPENSPIEL480, _OPENSPIEL480, explain.openspiel480),
        _encoder("bmcs480", BMCS480, _BMCS480, explain.bmcs480),
        _encoder("openspiel571", OPENSPIEL571, _OPENSPIEL571, explain.openspiel571),
        _encoder("jps267", JPS267, _JPS267, explain.jps267),
    )
}

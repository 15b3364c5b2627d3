"""A view of a bridge table as a vector of zeros and ones; ``features.py`` says what each entry means.

``openspiel480``  the auction and the dealt hand, as OpenSpiel orders them (the default)
``bmcs480``       the same entries in the order of the belief Monte Carlo search paper
``openspiel571``  OpenSpiel's whole observation, auction and play
``jps267``        the joint policy search paper, appendix D
``bidder1375``    the auction, the hand, and what a bidder counts of them (``bidder.py``)

The value network of the belief Monte Carlo search paper sees all hands: ``encode_value``. So does a critic of all
players, with more beside them: ``state_encoder``.
"""

from functools import partial

from bidzoo.core.bits import cards_row, spread_signed_row
from bidzoo.core.cards import FIRST_BID, HAND_SIZE, NUM_BIDS, NUM_CARDS, PASS, STRAINS
from bidzoo.core.kernels import I8, I64, State, States, batched, row
from bidzoo.core.layout import Layout
from bidzoo.envs.bridge import features
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.bidder import BIDDER1375, bidder1375, bidder_row
from bidzoo.envs.bridge.features import (
    AUCTION571,
    BMCS480,
    BMCS636,
    DEAL_STATE,
    JPS267,
    OPENSPIEL480,
    OPENSPIEL571,
    PLAY571,
    PLAY_STATE,
    RESULT_DIGITS,
    TRICKS_STATE,
    explain_state,
    state_layout,
)
from bidzoo.envs.bridge.state import AUCTION, PLAY
from bidzoo.envs.game import Encoder

# ---- the play half of OpenSpiel's 571 entries --------------------------------------------

_DECLARING, _DEFENDING = 2, 3  # type entries
_LEVEL, _STRAIN, _STAKE = (PLAY571.start(name) for name in ("level", "strain", "stake"))
_DECLARER, _VULNERABLE = PLAY571.start("declarer"), PLAY571.start("vulnerable")
_HELD, _DUMMY = PLAY571.start("hand"), PLAY571.start("dummy")
_TRICK571 = PLAY571.start("trick")  # the last trick follows
_MADE, _LOST = PLAY571.start("made"), PLAY571.start("lost")


@row
def tricks_row(record: State, seat: int, offset: int, out: I8) -> None:
    """The cards of the current trick and of the one before, as ``seat`` counts seats, into zeroed entries."""
    plays = int(record.plays)
    current = plays - plays % 4
    for i in range(max(current - 4, 0), plays):
        trick = offset if i >= current else offset + 4 * NUM_CARDS
        out[trick + NUM_CARDS * ((int(record.players[i]) - seat) & 3) + int(record.played[i])] = 1


@row
def play571_row(record: State, held: int, seat: int, out: I8) -> None:
    """The observation of ``seat`` once a card is played, into zeroed ``out`` ``[571]``; layout ``PLAY571``."""
    bid, declarer = int(record.bid), int(record.declarer)
    if record.phase == PLAY:
        out[_DECLARING if (declarer - seat) & 1 == 0 else _DEFENDING] = 1
    out[_LEVEL + bid // 5] = 1
    out[_STRAIN + bid % 5] = 1
    out[_STAKE + int(record.stake) // 2] = 1
    out[_DECLARER + ((declarer - seat) & 3)] = 1
    out[_VULNERABLE + ((int(record.vulnerable) >> (declarer & 1)) & 1)] = 1
    cards_row(held, _HELD, out)
    cards_row(int(record.dummy), _DUMMY, out)
    tricks_row(record, seat, _TRICK571, out)
    made, lost = int(record.won[declarer & 1]), int(record.won[1 - (declarer & 1)])
    if made < HAND_SIZE:
        out[_MADE + made] = 1
    if lost < HAND_SIZE:
        out[_LOST + lost] = 1


# ---- the auction, and what a player sees -------------------------------------------------

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
def _auction_row(record: State, hand: int, seat: int, offset: int, step: int, block: int, out: I8) -> None:
    """Vulnerability, calls and dealt hand into zeroed ``out`` from ``offset`` on."""
    vulnerable = int(record.vulnerable)
    out[offset + ((vulnerable >> (seat & 1)) & 1)] = 1
    out[offset + 2 + ((vulnerable >> (1 - (seat & 1))) & 1)] = 1
    first = int(record.dealer) - seat
    last = offset + _PASSED  # where the seats of a pass, double or redouble are marked
    opened = False
    for t in range(int(record.length)):  # without branches, which random calls would make the processor guess wrong
        call, who = int(record.calls[t]), (first + t) & 3
        bids = call >= FIRST_BID
        opened = opened or bids
        last = offset + _BIDS + step * (call - FIRST_BID) if bids else last
        out[last + (0 if bids else block * call) + who] |= not opened or call != PASS
    cards_row(hand, offset + _HAND, out)


@row
def hands_row(state: State, seat: int, interleaved: bool, out: I8) -> None:
    """The auction and all dealt hands, that of ``seat`` first, then clockwise, into zeroed ``out`` ``[636]``."""
    step, block = (_STEP, _BLOCK) if interleaved else (_BMCS_STEP, _BMCS_BLOCK)
    _auction_row(state, state.hands[seat], seat, 0, step, block, out)
    for who in range(1, 4):
        cards_row(state.hands[(seat + who) & 3], _LHO + NUM_CARDS * (who - 1), out)


@row
def _jps_row(record: State, hand: int, seat: int, out: I8) -> None:
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
def whole571_row(record: State, hand: int, held: int, seat: int, out: I8) -> None:
    """OpenSpiel's whole observation into zeroed ``out`` ``[571]``."""
    if record.plays > 0:
        play571_row(record, held, seat, out)
    else:
        out[1 if record.phase == PLAY else 0] = 1
        _auction_row(record, hand, seat, _SIZE571, _STEP, _BLOCK, out)


_OPENSPIEL480, _BMCS480, _OPENSPIEL571, _JPS267, _BIDDER1375 = range(5)  # codes


@row
def encode_row(record: State, hand: int, held: int, seat: int, code: int, out: I8) -> None:
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
    elif code == _BIDDER1375:
        bidder_row(record, hand, seat, out)
    elif code == _OPENSPIEL571:
        whole571_row(record, hand, held, seat, out)


@batched
def _encode_views(start: int, stop: int, code: int, views: States, out: I8) -> None:
    for b in range(start, stop):
        view = views[b]
        encode_row(view, view.hand, view.held_here, int(view.seat), code, out[b])


@batched
def encode_value(start: int, stop: int, states: States, players: I64, out: I8) -> None:
    """``BMCS636`` for ``players`` ``[B]`` at ``states`` ``[B]`` into ``out`` ``[B, 636]``.

    After the 480 entries of ``bmcs480`` come the hands dealt to LHO, partner and RHO, in this order. Players
    move on a seat at the second table of a duplicate pair, as in ``engine``.
    """
    for b in range(start, stop):
        out[b, :] = 0
        hands_row(states[b], (int(players[b]) + int(states[b].leg)) & 3, False, out[b])


ENCODERS = {
    name: Encoder(name, layout, partial(_encode_views, code), explain, code, bits=True)
    for name, layout, explain, code in (
        ("openspiel480", OPENSPIEL480, features.openspiel480, _OPENSPIEL480),
        ("bmcs480", BMCS480, features.bmcs480, _BMCS480),
        ("openspiel571", OPENSPIEL571, features.openspiel571, _OPENSPIEL571),
        ("jps267", JPS267, features.jps267, _JPS267),
        ("bidder1375", BIDDER1375, bidder1375, _BIDDER1375),
    )
}


# ---- the global state --------------------------------------------------------------------
# The auction and the hands are those of ``openspiel480`` as North sees them, and the other three hands after North's,
# so that seats are absolute. Passes after the last bid follow from whose turn it is, contract and declarer from the
# bids.
#
# Double-dummy tricks are a function of the hands, but one that nobody computes by looking: where they pay (contracts
# scored without play, par) they belong to what a critic should see.

_DEAL, _PLAY, _TRICKS = Layout(DEAL_STATE), Layout(PLAY_STATE), Layout(TRICKS_STATE)
_DEALER, _TURN, _DEAL_SIZE = _DEAL.start("dealer"), _DEAL.start("turn"), _DEAL.size
_GONE, _TRICK_STATE, _WON, _PLAY_SIZE = _PLAY.start("gone"), _PLAY.start("trick"), _PLAY.start("won"), _PLAY.size
_TRICKS_SIZE, _COUNTS, _CELLS = _TRICKS.size, HAND_SIZE + 1, 4 * len(STRAINS)


@row
def _played_row(state: State, offset: int, out: I8) -> None:
    if state.hand_to_play >= 0:
        out[offset + state.hand_to_play] = 1
    for t in range(state.plays):
        out[offset + _GONE + int(state.played[t])] = 1
    tricks_row(state, 0, offset + _TRICK_STATE, out)
    for side in range(2):
        out[offset + _WON + _COUNTS * side + int(state.won[side])] = 1


@row
def state_row(state: State, play: bool, double_dummy: bool, duplicate: bool, out: I8) -> None:
    """The state into ``out`` ``[S]``, by the parts of ``state_layout``."""
    out[:] = 0
    hands_row(state, 0, True, out)
    out[_DEALER + state.dealer] = 1
    if state.turn >= 0:
        out[_TURN + state.turn] = 1
    offset = _DEAL_SIZE
    if play:
        _played_row(state, offset, out)
        offset += _PLAY_SIZE
    if double_dummy:
        for cell in range(_CELLS):
            if state.tricks[cell] >= 0:
                out[offset + _COUNTS * cell + int(state.tricks[cell])] = 1
        offset += _TRICKS_SIZE
    if duplicate and state.leg == 1:
        out[offset] = 1
        spread_signed_row(int(state.points[0]) // 10, RESULT_DIGITS, offset + 1, out)


@batched
def _encode(start: int, stop: int, play: bool, double_dummy: bool, duplicate: bool, states: States, out: I8) -> None:
    for b in range(start, stop):
        state_row(states[b], play, double_dummy, duplicate, out[b])


def state_encoder(play: bool, double_dummy: bool, duplicate: bool) -> Encoder:
    """The encoder of ``state_layout``, whose flags it takes."""
    layout = state_layout(play, double_dummy, duplicate)
    return Encoder("state", layout, partial(_encode, play, double_dummy, duplicate), partial(explain_state, layout))

"""The auction: who may call what, when it ends, and who becomes declarer.

Source: Laws of Duplicate Bridge 2017, Laws 2, 17-19 and 22, and the definition of declarer.
Calls: 0 pass, 1 double, 2 redouble, 3 + bid; bid = 5 * (level - 1) + strain, strains C D H S NT.
"""

from bidzoo.core.cards import DOUBLE, FIRST_BID, NUM_CALLS, PASS, REDOUBLE
from bidzoo.core.kernels import I8, State, row
from bidzoo.envs.bridge.state import AUCTION, OVER

_CALLS = (1 << NUM_CALLS) - 1


@row
def dealer_row(board: int) -> int:
    """Seat that deals: N, E, S, W in turn (Law 2). ``board`` counts from 0: board 0 is marked "1"."""
    return int(board % 4)


@row
def vulnerable_row(board: int) -> int:
    """Who is vulnerable, bit 0 N/S, bit 1 E/W: none, N/S, E/W, both, one later every fourth board (Law 2)."""
    return int((board + board // 4) % 4)


@row
def open_auction_row(state: State, dealer: int, vulnerable: int) -> None:
    """Start the auction; every public field but ``board`` and ``leg`` becomes as before the first call."""
    state.phase, state.turn = AUCTION, dealer
    state.dealer, state.vulnerable = dealer, vulnerable
    state.length, state.bid, state.bidder, state.stake, state.passes = 0, -1, -1, 1, 0
    state.declarer = -1
    state.calls[:] = -1
    state.plays, state.hand_to_play, state.leader = 0, -1, -1
    state.won[:] = 0
    state.played[:] = -1
    state.players[:] = -1
    state.dummy = 0


@row
def turn_row(state: State) -> int:
    """Seat to call: the dealer first, then clockwise (Law 17)."""
    return (int(state.dealer) + int(state.length)) & 3


@row
def over_row(state: State) -> bool:
    """Three passes after a bid, or four with none (Law 22)."""
    return bool(state.passes == (3 if state.bid >= 0 else 4))


@row
def legal_set_row(state: State) -> int:
    """Legal calls of the seat to call, as a set (Laws 18, 19); none once over."""
    on, bid, stake = not over_row(state), int(state.bid), int(state.stake)
    ours = (turn_row(state) - int(state.bidder)) & 1 == 0
    double = bid >= 0 and stake == 1 and not ours
    redouble = bid >= 0 and stake == 2 and ours
    higher = _CALLS & -(1 << (FIRST_BID + 1 + bid))
    return int(on) * (higher | 1 << PASS | int(double) << DOUBLE | int(redouble) << REDOUBLE)


@row
def legal_row(state: State, out: I8) -> None:
    """The same into ``out`` ``[38]``, 0 or 1."""
    legal = legal_set_row(state)
    for call in range(min(NUM_CALLS, len(out))):  # all; see ``cards_row``
        out[call] = (legal >> call) & 1


@row
def declarer_row(state: State) -> int:
    """First seat of the side with the last bid to name its strain (Laws, Definitions); -1 with no bid."""
    if state.bid < 0:
        return -1
    for t in range(state.length):
        call, seat = int(state.calls[t]), int((state.dealer + t) % 4)
        if call >= FIRST_BID and (call - FIRST_BID) % 5 == state.bid % 5 and (seat - state.bidder) % 2 == 0:
            return seat
    return -1


@row
def call_row(state: State, call: int) -> None:
    """Make a legal ``call``; the last one leaves the table ``OVER``, with its declarer."""
    if call >= FIRST_BID:
        state.bid, state.bidder, state.stake = call - FIRST_BID, turn_row(state), 1
    elif call != PASS:
        state.stake = 2 * state.stake
    state.passes = state.passes + 1 if call == PASS else 0
    state.calls[state.length] = call
    state.length += 1
    state.turn = turn_row(state)
    if over_row(state):
        state.phase, state.turn, state.declarer = OVER, -1, declarer_row(state)

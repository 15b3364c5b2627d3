"""Spades bidding: each seat bids once, clockwise from the left of the dealer.

Source: "Bidding in Spades", section 2; bids are 0 ... 13 and partners may bid more than 13 together.
Blind nil (appendix G.3): where the rules offer it, a seat's turn starts before it has seen its hand. It bids
``BLIND_NIL``, which also shows it the hand, or takes ``LOOK`` and then bids as usual.

mirror   a bid is the number of spades held (MSN Zone, "Spades variant games")
whiz     ... or nil (the same)
suicide  in each partnership one bids nil and the other at least 4 (Spades Royale, "Suicide")
"""

from bidzoo.core.bits import count_row
from bidzoo.core.kernels import State, row
from bidzoo.envs.spades.deals import SUIT_CARDS
from bidzoo.envs.spades.state import BLIND_NIL, LOOK, MIRROR, NIL, PLAY, SPADES, SUICIDE, WHIZ

ANY_BID = (1 << 14) - 1  # bits of the bids 0 ... 13
SUICIDE_LEAST = 4
_AT_LEAST_FOUR = ANY_BID & ~((1 << SUICIDE_LEAST) - 1)


@row
def legal_bids_row(state: State, hand: int) -> int:
    """Bits of the actions 0 ... 15 that the seat to bid may take, holding ``hand``; states and views."""
    seat = int(state.turn)
    if not state.looked >> seat & 1:
        return (1 << BLIND_NIL) | (1 << LOOK)
    if state.variant == MIRROR or state.variant == WHIZ:
        spades = count_row(hand & SUIT_CARDS[state.deck, SPADES])
        return (1 << spades) | ((1 << NIL) if state.variant == WHIZ else 0)
    if state.variant == SUICIDE:
        partner = int(state.bids[(seat + 2) % 4])
        if partner < 0:
            return _AT_LEAST_FOUR | (1 << NIL)
        return _AT_LEAST_FOUR if partner == NIL else 1 << NIL
    return ANY_BID


@row
def bid_row(state: State, action: int) -> None:
    """Make a legal bidding action of the seat to bid; after the fourth bid the left of the dealer leads."""
    seat = int(state.turn)
    state.looked |= 1 << seat
    if action == LOOK:
        return
    if action == BLIND_NIL:
        state.blind |= 1 << seat
        action = NIL
    state.bids[seat] = action
    state.turn = (seat + 1) % 4
    if state.bids[state.turn] >= 0:
        state.phase = PLAY

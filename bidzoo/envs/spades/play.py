"""The 13 tricks: follow suit, spades not led before they are broken, the strongest spade or card led wins.

Source: "Bidding in Spades", section 2.
"""

from bidzoo.core.kernels import State, row
from bidzoo.envs.spades.deals import SUIT_CARDS, SUITS, beats_row
from bidzoo.envs.spades.state import SPADES

SIDE_SUITS = (1 << SPADES) - 1  # bits of C D H


@row
def legal_cards_row(state: State, held: int) -> int:
    """The cards of ``held`` that the seat to play may play; states and views."""
    if state.led < 0:
        if state.broken:
            return held
        side_cards = held & ~SUIT_CARDS[state.deck, SPADES]
        return side_cards if side_cards else held  # spade tight
    follow = held & SUIT_CARDS[state.deck, state.led]
    return follow if follow else held


@row
def play_row(state: State, card: int) -> None:
    """Play a legal card of the seat to play; a completed trick goes to its taker, who leads next."""
    seat, suit = int(state.turn), int(SUITS[state.deck, card])
    bit = 1 << card
    state.held[seat] &= ~bit
    state.gone |= bit
    state.played[state.plays] = card
    state.players[state.plays] = seat
    state.plays += 1
    if suit == SPADES:
        if state.led < 0 and not state.broken:
            state.voids[seat] = SIDE_SUITS  # spade tight, or the lead were illegal
        state.broken = 1
    if state.led < 0:
        state.led = suit
        state.best = card
        state.taker = seat
    else:
        if suit != state.led:
            state.voids[seat] |= 1 << int(state.led)
        if beats_row(state.deck, card, state.best):
            state.best = card
            state.taker = seat
    state.turn = (seat + 1) % 4
    if state.plays % 4 == 0:
        state.won[state.taker] += 1
        state.leader = state.taker
        state.turn = state.taker
        state.led = -1
        state.best = -1
        state.taker = -1

"""The 13 tricks: follow suit, spades not led before they are broken, the strongest spade or card led wins.

Source: "Bidding in Spades", section 2.
"""

from bidzoo.envs.spades.deck import SUIT_CARDS, SUITS, beats_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import Table, row

SIDE_SUITS = (1 << SPADES) - 1  # bits of C D H


@row
def legal_cards_row(table: Table, held: int) -> int:
    """The cards of ``held`` that the seat to play may play; states and views."""
    if table.led < 0:
        if table.broken:
            return held
        others = held & ~SUIT_CARDS[table.deck, SPADES]
        return others if others else held  # spade tight
    follow = held & SUIT_CARDS[table.deck, table.led]
    return follow if follow else held


@row
def play_row(table: Table, card: int) -> None:
    """A legal card of the seat to play; a completed trick goes to its taker, who leads next."""
    seat, suit = int(table.turn), int(SUITS[table.deck, card])
    bit = 1 << card
    table.held[seat] &= ~bit
    table.gone |= bit
    table.played[table.plays] = card
    table.players[table.plays] = seat
    table.plays += 1
    if suit == SPADES:
        if table.led < 0 and not table.broken:
            table.voids[seat] = SIDE_SUITS  # spade tight, or the lead were illegal
        table.broken = 1
    if table.led < 0:
        table.led = suit
        table.best = card
        table.taker = seat
    else:
        if suit != table.led:
            table.voids[seat] |= 1 << int(table.led)
        if beats_row(table.deck, card, table.best):
            table.best = card
            table.taker = seat
    table.turn = (seat + 1) % 4
    if table.plays % 4 == 0:
        table.won[table.taker] += 1
        table.leader = table.taker
        table.turn = table.taker
        table.led = -1
        table.best = -1
        table.taker = -1

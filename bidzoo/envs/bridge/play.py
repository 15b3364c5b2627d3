"""The play: opening lead, dummy, following suit, winning tricks.

Source: Laws of Duplicate Bridge 2017, Laws 41, 44, 45. No claims, no revokes: an illegal card cannot be played.
"""

from bidzoo.cards import FULL_DECK, NUM_CARDS
from bidzoo.envs.bridge.state import OVER, PLAY
from bidzoo.kernels import I8, Table, row

SUIT_OF_CLUBS = FULL_DECK // 15  # every fourth bit; shift by a suit for its thirteen cards


@row
def lead_row(table: Table) -> None:
    """After an auction with a declarer: the seat on declarer's left leads (Law 41A)."""
    leader = (table.declarer + 1) % 4
    table.phase, table.turn, table.leader, table.hand_to_play = PLAY, leader, leader, leader


@row
def cards_row(table: Table) -> int:
    """Cards that may be played from ``hand_to_play``, as bits: follow suit if able (Law 44C)."""
    held = table.held[table.hand_to_play]
    if table.plays % 4 == 0:
        return int(held)
    led = int(table.played[table.plays - table.plays % 4]) % 4
    follow = held & (SUIT_OF_CLUBS << led)
    return int(follow if follow else held)


@row
def legal_cards_row(table: Table, out: I8) -> None:
    """``cards_row`` into ``out`` ``[52]``, 0 or 1; none unless the table is in play."""
    cards = cards_row(table) if table.phase == PLAY else 0
    for card in range(NUM_CARDS):
        out[card] = (cards >> card) & 1


@row
def beats_row(card: int, best: int, trump: int) -> bool:
    """``card`` takes the trick that ``best`` was winning: higher in its suit, or the first trump (Laws 44E, 44F)."""
    return card > best if card % 4 == best % 4 else card % 4 == trump


@row
def winner_row(table: Table) -> int:
    """Seat that wins the trick just completed."""
    best = table.plays - 4
    for t in range(best + 1, table.plays):
        if beats_row(int(table.played[t]), int(table.played[best]), table.bid % 5):
            best = t
    return int(table.players[best])


@row
def play_row(table: Table, card: int) -> None:
    """Play a legal ``card``; the 52nd leaves the table ``OVER``.

    Dummy's cards are faced after the opening lead (Law 41D), and declarer plays them (Law 45B).
    """
    seat, dummy = int(table.hand_to_play), int((table.declarer + 2) % 4)
    table.held[seat] &= ~(1 << card)
    table.played[table.plays], table.players[table.plays] = card, seat
    table.plays += 1
    table.dummy = table.held[dummy]
    table.hand_to_play = (seat + 1) % 4
    if table.plays % 4 == 0:
        winner = winner_row(table)
        table.won[winner % 2] += 1
        table.leader, table.hand_to_play = winner, winner
    if table.plays == NUM_CARDS:
        table.phase, table.turn, table.leader, table.hand_to_play = OVER, -1, -1, -1
    else:
        table.turn = table.declarer if table.hand_to_play == dummy else table.hand_to_play

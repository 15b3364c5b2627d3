"""What the player to move knows, as the players think of it. Read from public fields and the own hand only.

Seats are relative: 0 we, 1 left opponent, 2 partner, 3 right opponent. Ranks and masks as in ``suits``.
"""

from typing import NamedTuple

from bidzoo.agents.spades.suits import CARD, RANK, Suits, suits_row
from bidzoo.cards import FULL_DECK
from bidzoo.envs.spades.deck import SUITS
from bidzoo.envs.spades.state import NIL, PARTNER, SPADES
from bidzoo.kernels import Table, row

LEFT, ALLY, RIGHT = 1, 2, 3

# goals
KEEP_NIL, COVER, TAKE, AVOID = range(4)


class Sight(NamedTuple):
    """One decision. ``alive``: whose nil is not yet set; ``voids``: bits of suits a seat did not follow."""

    deck: int
    own: Suits
    unseen: Suits  # neither ours nor played
    lead_spades: bool  # spades may be led
    led: int  # -1 when we lead
    best_suit: int
    best: int  # rank of the card that is winning
    taker: int  # relative seat that played it; -1 when we lead
    after: int  # seats to play after us in this trick
    voids: Suits
    alive: Suits  # 1 or 0 a seat
    teams: bool  # partner is a partner
    counts: bool  # our own tricks count for our contract
    need: int  # tricks our contract still lacks
    their_need: int  # ... and the opponents'
    left: int  # tricks not yet completed
    bids: int  # sum of the four bids


@row
def sight_row(table: Table, held: int, memory: bool) -> Sight:
    """The sight of the seat to play, which holds ``held``; without ``memory`` played cards and voids are forgotten."""
    seat, deck = int(table.turn), int(table.deck)
    own = suits_row(deck, held)
    gone = int(table.gone) if memory else 0
    if not memory:
        for t in range(4 * (table.plays // 4), table.plays):
            gone |= 1 << int(table.played[t])
    unseen = suits_row(deck, FULL_DECK & ~held & ~gone)
    led, best_suit, best, taker = int(table.led), -1, -1, -1
    if led >= 0:
        best_suit, best = int(SUITS[deck, table.best]), int(RANK[deck, table.best])
        taker = (int(table.taker) - seat) % 4
    need, theirs, bids = 0, 0, 0
    for k in range(4):
        bid, won = int(table.bids[(seat + k) % 4]), int(table.won[(seat + k) % 4])
        bids += bid
        lacks = bid - won if bid != NIL else (-won if table.failed_nil == PARTNER else 0)
        if k == 0 or (k == ALLY and table.sides == 2):
            need += lacks
        else:
            theirs += lacks
    return Sight(
        deck,
        own,
        unseen,
        table.broken == 1 or (own[0] | own[1] | own[2]) == 0,
        led,
        best_suit,
        best,
        taker,
        3 - int(table.plays) % 4,
        (0, _voids_row(table, seat, 1, memory), _voids_row(table, seat, 2, memory), _voids_row(table, seat, 3, memory)),
        (
            _alive_row(table, seat),
            _alive_row(table, seat + 1),
            _alive_row(table, seat + 2),
            _alive_row(table, seat + 3),
        ),
        table.sides == 2,
        table.bids[seat] != NIL or table.failed_nil == PARTNER,
        need,
        theirs,
        13 - int(table.plays) // 4,
        bids,
    )


@row
def _voids_row(table: Table, seat: int, k: int, memory: bool) -> int:
    return int(table.voids[(seat + k) % 4]) if memory else 0


@row
def _alive_row(table: Table, seat: int) -> int:
    return 1 if table.bids[seat % 4] == NIL and table.won[seat % 4] == 0 else 0


@row
def card_row(sight: Sight, suit: int, rank: int) -> int:
    """Number of our card of that suit and rank."""
    return int(CARD[sight.deck, suit, rank])


@row
def partner_wins_row(sight: Sight) -> bool:
    """Partner's card is winning the trick."""
    return sight.teams and sight.taker == ALLY


@row
def winners_row(sight: Sight, suit: int) -> int:
    """Our cards of ``suit`` that beat the best card of the trick."""
    if suit == sight.best_suit:
        return sight.own[suit] >> (sight.best + 1) << (sight.best + 1)
    return sight.own[SPADES] if suit == SPADES else 0


@row
def losers_row(sight: Sight, suit: int) -> int:
    """Our cards of ``suit`` that do not."""
    return sight.own[suit] & ~winners_row(sight, suit)

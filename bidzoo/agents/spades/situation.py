"""The situation of the player to move: its hand, what it knows, and its goal for the tricks to come.

Read from public fields and the own hand only. A *suit mask* has one bit a rank; bit 0 is the weakest card of the suit
in this deck, so masks of any deck have no holes and a suit of ``SUIT_SIZE[deck, suit]`` ranks fills that many bits.
Suits C D H S = 0 ... 3. Seats are relative: 0 we, 1 left opponent, 2 partner, 3 right opponent. Source of goals and
round types: "Bidding in Spades", appendices D.1, D.2 and E.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.core.bits import count_row
from bidzoo.core.cards import FULL_DECK, NUM_CARDS
from bidzoo.core.kernels import State, row
from bidzoo.envs.spades.deals import STRENGTHS, SUITS
from bidzoo.envs.spades.state import DECKS, NIL, PARTNER, SPADES

# ---- hands as four suits of ranks ------------------------------------------------------------

Suits = tuple[int, int, int, int]  # a mask a suit
_WEAKEST = np.array(
    [[min(STRENGTHS[d, c] for c in range(NUM_CARDS) if SUITS[d, c] == s) for s in range(4)] for d in range(len(DECKS))],
    np.int64,
)
SUIT_SIZE = np.array([[int((SUITS[d] == s).sum()) for s in range(4)] for d in range(len(DECKS))], np.int64)
RANK = (STRENGTHS - np.take_along_axis(_WEAKEST, SUITS.astype(np.int64), axis=1)).astype(np.int64)  # [deck, card]
CARD = np.full((len(DECKS), 4, 17), -1, np.int64)  # [deck, suit, rank]
for _deck in range(len(DECKS)):
    CARD[_deck, SUITS[_deck], RANK[_deck]] = np.arange(NUM_CARDS)


@row
def _every_fourth(x: int) -> int:
    """Bits 0, 4, 8 ... 48 of ``x`` as bits 0 ... 12."""
    x &= 0x1111111111111
    x = (x | x >> 3) & 0x303030303030303
    x = (x | x >> 6) & 0xF000F000F000F
    x = (x | x >> 12) & 0xFF000000FF
    return (x | x >> 24) & 0xFFFF


@row
def _suit_row(deck: int, suit: int, cards: int) -> int:
    """Mask of one suit of a set of cards, of any deck."""
    mask = 0
    for rank in range(SUIT_SIZE[deck, suit]):
        mask |= (cards >> CARD[deck, suit, rank] & 1) << rank
    return mask


@row
def suits_row(deck: int, cards: int) -> Suits:
    """Suit masks of a set of cards."""
    if deck == 0:
        return _every_fourth(cards), _every_fourth(cards >> 1), _every_fourth(cards >> 2), _every_fourth(cards >> 3)
    return _suit_row(deck, 0, cards), _suit_row(deck, 1, cards), _suit_row(deck, 2, cards), _suit_row(deck, 3, cards)


@row
def high_row(mask: int) -> int:
    """Highest rank of a suit mask; -1 if empty."""
    if mask == 0:
        return -1
    rank = 0
    if mask >> 16:
        rank, mask = rank + 16, mask >> 16
    if mask >> 8:
        rank, mask = rank + 8, mask >> 8
    if mask >> 4:
        rank, mask = rank + 4, mask >> 4
    if mask >> 2:
        rank, mask = rank + 2, mask >> 2
    return rank + (mask >> 1)


# ---- situation -------------------------------------------------------------------------------

LEFT, ALLY, RIGHT = 1, 2, 3


class Situation(NamedTuple):
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
    remaining: int  # tricks not yet completed
    bids: int  # sum of the four bids


@row
def situation_row(state: State, held: int, memory: bool) -> Situation:
    """The situation of the seat to play, holding ``held``; without ``memory`` it forgets earlier tricks and voids."""
    seat, deck = int(state.turn), int(state.deck)
    own = suits_row(deck, held)
    gone = int(state.gone) if memory else 0
    if not memory:
        for t in range(4 * (state.plays // 4), state.plays):
            gone |= 1 << int(state.played[t])
    unseen = suits_row(deck, FULL_DECK & ~held & ~gone)
    led, best_suit, best, taker = int(state.led), -1, -1, -1
    if led >= 0:
        best_suit, best = int(SUITS[deck, state.best]), int(RANK[deck, state.best])
        taker = (int(state.taker) - seat) % 4
    voids = (int(state.voids[0]), int(state.voids[1]), int(state.voids[2]), int(state.voids[3]))
    need, theirs, bids = 0, 0, 0
    for k in range(4):
        bid, won = int(state.bids[(seat + k) % 4]), int(state.won[(seat + k) % 4])
        bids += bid
        lacks = bid - won if bid != NIL else (-won if state.failed_nil == PARTNER else 0)
        if k == 0 or (k == ALLY and state.sides == 2):
            need += lacks
        else:
            theirs += lacks
    return Situation(
        deck,
        own,
        unseen,
        state.broken == 1 or (own[0] | own[1] | own[2]) == 0,
        led,
        best_suit,
        best,
        taker,
        3 - int(state.plays) % 4,
        (0, voids[(seat + 1) % 4], voids[(seat + 2) % 4], voids[(seat + 3) % 4]) if memory else (0, 0, 0, 0),
        (alive_row(state, seat), alive_row(state, seat + 1), alive_row(state, seat + 2), alive_row(state, seat + 3)),
        state.sides == 2,
        state.bids[seat] != NIL or state.failed_nil == PARTNER,
        need,
        theirs,
        13 - int(state.plays) // 4,
        bids,
    )


@row
def alive_row(state: State, seat: int) -> int:
    """1 if the nil of ``seat`` (modulo 4) may still succeed, else 0."""
    return 1 if state.bids[seat % 4] == NIL and state.won[seat % 4] == 0 else 0


@row
def partner_wins_row(s: Situation) -> bool:
    """Partner's card is winning the trick."""
    return s.teams and s.taker == ALLY


@row
def winners_row(s: Situation, suit: int) -> int:
    """Our cards of ``suit`` that beat the best card of the trick."""
    if suit == s.best_suit:
        return s.own[suit] >> (s.best + 1) << (s.best + 1)
    return s.own[SPADES] if suit == SPADES else 0


@row
def losers_row(s: Situation, suit: int) -> int:
    """Our cards of ``suit`` that do not beat the best card of the trick."""
    return s.own[suit] & ~winners_row(s, suit)


@row
def boss_row(s: Situation, suit: int, rank: int) -> bool:
    """No unseen card of the suit is higher."""
    return s.unseen[suit] >> (rank + 1) == 0


@row
def may_cut_row(s: Situation, who: int, suit: int) -> bool:
    """``who`` is known to be void in ``suit`` and may hold a spade."""
    voids = s.voids[who]
    return suit != SPADES and voids >> suit & 1 == 1 and voids >> SPADES & 1 == 0 and s.unseen[SPADES] != 0


# ---- goal ------------------------------------------------------------------------------------

KEEP_NIL, COVER, TAKE, AVOID = range(4)  # goals
ROUND_TYPES = (
    "strong under", "under", "over", "14", "strong over",
    "we nil", "partner nil", "opponents nil", "nil vs. nil", "double nil",
)  # fmt: skip
STRONG_UNDER, UNDER, OVER, FOURTEEN, STRONG_OVER, WE_NIL, PARTNER_NIL, OPPONENTS_NIL, NIL_VS_NIL, DOUBLE_NIL = range(10)
# By round type without nil: tricks nobody needs, up to which a player with a safe contract tries to set the opponents.
SET_MARGIN = (0, 1, 2, 13, 13)


@row
def sure_takes_row(own: int, unseen: int) -> int:
    """Tricks that spades ``own`` take whatever happens (D.1): all ``unseen`` ones in one hand, we lead each time.

    One-suit two-person whist (Wästlund 2005): each unseen card beats at most one lower one of ours. Where we hold more
    cards, the highest draw all unseen ones and the others take a trick each.
    """
    free, sure, drawing = 0, 0, count_row(unseen)
    for rank in range(16, -1, -1):
        if unseen >> rank & 1:
            free += 1
        elif own >> rank & 1:
            if free and drawing:
                free -= 1
            else:
                sure += 1
            drawing -= drawing > 0
    return sure


@row
def round_type_row(state: State, seat: int) -> int:
    """Index into ``ROUND_TYPES`` of a partnership round, as ``seat`` sees it after the bidding (appendix E)."""
    ours = state.bids[seat] == NIL
    partners = state.bids[(seat + 2) % 4] == NIL
    theirs = (state.bids[(seat + 1) % 4] == NIL) + (state.bids[(seat + 3) % 4] == NIL)
    if theirs == 2:
        return DOUBLE_NIL
    if theirs == 1:
        return NIL_VS_NIL if ours or partners else OPPONENTS_NIL
    if ours:
        return WE_NIL
    if partners:
        return PARTNER_NIL
    return sum_type_row(state.bids[0] + state.bids[1] + state.bids[2] + state.bids[3])


@row
def sum_type_row(bids: int) -> int:
    """Type of a round without nil by its sum of bids: up to 8, 10, 13, exactly 14, more."""
    if bids <= 8:
        return STRONG_UNDER
    if bids <= 10:
        return UNDER
    if bids <= 13:
        return OVER
    return FOURTEEN if bids == 14 else STRONG_OVER


@row
def target_row(s: Situation) -> int:
    """Relative seat of an opponent whose nil may still be set; -1 if none. The left one first."""
    if s.alive[LEFT]:
        return LEFT
    if s.alive[RIGHT]:
        return RIGHT
    return ALLY if not s.teams and s.alive[ALLY] else -1


@row
def goal_row(s: Situation) -> int:
    """The goal of the moment: KEEP_NIL, COVER partner's nil, TAKE tricks or AVOID them (bags)."""
    if s.alive[0]:
        return KEEP_NIL
    if s.teams and s.alive[ALLY]:
        return COVER
    sure = sure_takes_row(s.own[SPADES], s.unseen[SPADES])
    safe = s.need <= (sure if s.counts else 0)
    if not safe and s.counts and s.need <= s.remaining:
        return TAKE
    if s.their_need <= 0 or s.their_need > s.remaining:
        return AVOID  # their contract is made or set: only bags remain
    free = s.remaining - max(0, s.need) - s.their_need
    return TAKE if free <= SET_MARGIN[sum_type_row(s.bids)] else AVOID


@row
def may_hunt_row(s: Situation) -> bool:
    """Our contract leaves room to go for an opponent's nil."""
    sure = sure_takes_row(s.own[SPADES], s.unseen[SPADES])
    return s.need - sure <= s.remaining - 1

"""The three rule-based bidders BIS is measured against: RB, MS and IO (section 5.1, appendix F).

They never bid a blind nil, so they are asked when the seat has looked at its hand.
"""

import numpy as np

from bidzoo.agents.spades.bis import factor_row, nearest_row
from bidzoo.agents.spades.situation import SUIT_SIZE, Suits, high_row, suits_row
from bidzoo.core.bits import count_row, lowest_row
from bidzoo.core.kernels import State, row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.state import NIL, SPADES, SUICIDE

# The paper gives neither RB's card values nor its rounding; these are calibrated (docs/agents/rb.md).
# Value of the A, K, Q of a side suit by its length, 0 ... 13.
SIDE_VALUES = np.array(
    [
        [0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.6, 0.5, 0.4, 0.3, 0.1, 0, 0],
        [0, 0.2, 0.7, 0.8, 0.7, 0.6, 0.4, 0.2, 0.1, 0, 0, 0, 0, 0],
        [0, 0, 0.1, 0.4, 0.3, 0.2, 0.1, 0, 0, 0, 0, 0, 0, 0],
    ]
)
# Value of the A, K, Q, J and of every lower spade by the number of spades.
SPADE_VALUES = np.array(
    [
        [0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0, 0.4, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0, 0.1, 0.4, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0, 0.1, 0.2, 0.4, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0, 0.1, 0.2, 0.25, 0.35, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0],
    ]
)


@row
def naive_nil_row(state: State, suits: Suits, bidder: State) -> bool:
    """Nil if the three lowest cards of each suit are at most 5, 8 and ten, with three spades at most (F.2)."""
    if state.sides == 2 and state.bids[(int(state.turn) + 2) % 4] == NIL:
        return False
    if count_row(suits[SPADES]) > 3:
        return False
    for suit in range(4):
        weakest = 13 - SUIT_SIZE[state.deck, suit] if suit != SPADES else 0  # decks without the deuce
        cards = suits[suit]
        for k in range(3):
            if lowest_row(cards) + weakest > bidder.nil_limits[k] - 2:  # rank 0 is the deuce
                return False
            cards &= cards - 1
    return True


@row
def finish_row(state: State, hand: int, nil: bool, takes: float) -> int:
    """Nil or ``takes`` rounded, as the variant allows."""
    if state.variant == SUICIDE and state.bids[(int(state.turn) + 2) % 4] < 0 and not nil:
        takes = max(takes, 4.0)
    bid = NIL if nil else max(1, int(np.floor(takes + 0.5)))
    return nearest_row(legal_bids_row(state, hand), bid)


@row
def rb_row(state: State, hand: int, bidder: State) -> int:
    """RB: the sum of the cards' values by the length of their suit, and the naive nil classifier."""
    suits = suits_row(state.deck, hand)
    takes = factor_row(state, bidder)
    for suit in range(3):
        length, size = count_row(suits[suit]), SUIT_SIZE[state.deck, suit]
        for k in range(3):
            takes += (suits[suit] >> (size - 1 - k) & 1) * SIDE_VALUES[k, length]
    spades, size = suits[SPADES], SUIT_SIZE[state.deck, SPADES]
    length, high = count_row(spades), 0
    for k in range(4):
        if spades >> (size - 1 - k) & 1:
            takes += SPADE_VALUES[k, length]
            high += 1
    takes += (length - high) * SPADE_VALUES[4, length]
    return finish_row(state, hand, naive_nil_row(state, suits, bidder), takes)


@row
def ms_row(state: State, hand: int, bidder: State) -> int:
    """MS, "simple bidding" of Master Spades: nine sure cards, long spades, short suits (5.1, F.1)."""
    suits = suits_row(state.deck, hand)
    takes, short = 0, False
    for suit in range(4):
        mask, size = suits[suit], SUIT_SIZE[state.deck, suit]
        length = count_row(mask)
        takes += (mask >> (size - 1) & 1) + ((mask >> (size - 2) & 1) & (length > 1))
        short |= suit != SPADES and length <= 1
    spades, size = suits[SPADES], SUIT_SIZE[state.deck, SPADES]
    length = count_row(spades)
    if spades >> (size - 3) & 1 and (length > 2 or (length == 2 and spades >> (size - 1) & 1)):
        takes += 1
    takes += max(0, length - 3)
    if length <= 1:
        takes -= 1
    if short and length == 3:
        takes += 1
    return finish_row(state, hand, naive_nil_row(state, suits, bidder), float(takes))


@row
def io_row(state: State, hand: int) -> int:
    """IO, the bidder of cardgames.io (5.1): high spades 1, low ones 0.4, A 1, AK 2, guarded K 0.5, rounded down."""
    suits = suits_row(state.deck, hand)
    spades, size = suits[SPADES], SUIT_SIZE[state.deck, SPADES]
    high = count_row(spades >> (size - 5))  # A ... T
    takes, top = high + 0.4 * (count_row(spades) - high), high > 0
    for suit in range(3):
        mask, size = suits[suit], SUIT_SIZE[state.deck, suit]
        ace, king = mask >> (size - 1) & 1, mask >> (size - 2) & 1
        top |= high_row(mask) >= size - 2
        takes += ace
        if king:
            takes += 1.0 if ace else (0.5 if count_row(mask) > 1 else 0.0)
    partner = int(state.bids[(int(state.turn) + 2) % 4]) if state.sides == 2 else -1
    nil = takes <= 3 and partner >= 4 and not top and count_row(spades) <= 3
    return finish_row(state, hand, nil, np.floor(takes + 0.01))  # ten times 0.4 is not below 4

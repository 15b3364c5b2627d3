"""The play: opening lead, dummy, following suit, winning tricks.

Source: Laws of Duplicate Bridge 2017, Laws 41, 44, 45. No claims, no revokes: an illegal card cannot be played.
"""

from bidzoo.core.bits import cards_row
from bidzoo.core.cards import FULL_DECK, NUM_CARDS
from bidzoo.core.kernels import I8, State, row
from bidzoo.envs.bridge.state import OVER, PLAY

SUIT_OF_CLUBS = FULL_DECK // 15  # every fourth bit; shift by a suit for its thirteen cards


@row
def lead_row(state: State) -> None:
    """After an auction with a declarer: the seat on declarer's left leads (Law 41A)."""
    leader = (state.declarer + 1) % 4
    state.phase, state.turn, state.leader, state.hand_to_play = PLAY, leader, leader, leader


@row
def playable_row(state: State) -> int:
    """Cards that may be played from ``hand_to_play``, as bits: follow suit if able (Law 44C)."""
    held = state.held[state.hand_to_play]
    if state.plays % 4 == 0:
        return int(held)
    led = int(state.played[state.plays - state.plays % 4]) % 4
    follow = held & (SUIT_OF_CLUBS << led)
    return int(follow if follow else held)


@row
def legal_cards_row(state: State, out: I8) -> None:
    """``playable_row`` into ``out`` ``[52]``, 0 or 1; none unless the table is in play."""
    cards_row(playable_row(state) if state.phase == PLAY else 0, 0, out)


@row
def beats_row(card: int, best: int, trump: int) -> bool:
    """``card`` takes the trick that ``best`` was winning: higher in its suit, or the first trump (Laws 44E, 44F)."""
    return card > best if card % 4 == best % 4 else card % 4 == trump


@row
def winner_row(state: State) -> int:
    """Seat that wins the trick just completed."""
    best = state.plays - 4
    for t in range(best + 1, state.plays):
        if beats_row(int(state.played[t]), int(state.played[best]), state.bid % 5):
            best = t
    return int(state.players[best])


@row
def play_row(state: State, card: int) -> None:
    """Play a legal ``card``; the 52nd leaves the table ``OVER``.

    Dummy's cards are faced after the opening lead (Law 41D), and declarer plays them (Law 45B).
    """
    seat, dummy = int(state.hand_to_play), int((state.declarer + 2) % 4)
    state.held[seat] &= ~(1 << card)
    state.played[state.plays], state.players[state.plays] = card, seat
    state.plays += 1
    state.dummy = state.held[dummy]
    state.hand_to_play = (seat + 1) % 4
    if state.plays % 4 == 0:
        winner = winner_row(state)
        state.won[winner % 2] += 1
        state.leader, state.hand_to_play = winner, winner
    if state.plays == NUM_CARDS:
        state.phase, state.turn, state.leader, state.hand_to_play = OVER, -1, -1, -1
    else:
        state.turn = state.declarer if state.hand_to_play == dummy else state.hand_to_play

"""Which card to part with when we cannot follow suit (appendix D). Cards come back as ``(suit, rank)``."""

from bidzoo.agents.spades.sight import Sight, losers_row
from bidzoo.agents.spades.suits import high_row
from bidzoo.bits import count_row, lowest_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import row


@row
def throw_row(sight: Sight) -> tuple[int, int]:
    """The card least likely to take a trick: low, from a short suit, no boss and no guarded second-best card."""
    best, suit, rank = 1000, -1, -1
    for k in range(3):
        mask = sight.own[k]
        if mask == 0:
            continue
        low, length = lowest_row(mask), count_row(mask)
        above = count_row(sight.unseen[k] >> (low + 1))
        worth = 4 * low + 3 * length
        if above == 0:
            worth += 60
        elif above <= 2 and length <= above + 1:
            worth += 24
        elif length == 2 and count_row(sight.unseen[k] >> (high_row(mask) + 1)) == 1:
            worth += 20  # would leave a second-best card alone
        if worth < best:
            best, suit, rank = worth, k, low
    if suit < 0:
        return SPADES, lowest_row(sight.own[SPADES])
    return suit, rank


@row
def danger_row(sight: Sight, suit: int, rank: int) -> int:
    """How likely a card is to take an unwanted trick: unseen cards under it against our own ways to duck."""
    under = count_row(sight.unseen[suit] & ((1 << rank) - 1))
    above = count_row(sight.unseen[suit] >> (rank + 1))
    lower = count_row(sight.own[suit] & ((1 << rank) - 1))
    return 4 * under - 3 * above - 5 * lower + rank


@row
def discard_row(sight: Sight) -> tuple[int, int]:
    """The most dangerous card that does not win the trick; a spade only under a spade or when nothing else is left."""
    worst, suit, rank = -1000, -1, -1
    for k in range(3):
        high = high_row(sight.own[k])
        if high >= 0:
            danger = danger_row(sight, k, high)
            if danger > worst:
                worst, suit, rank = danger, k, high
    losers = losers_row(sight, SPADES)
    if losers:
        high = high_row(losers)
        danger = danger_row(sight, SPADES, high) + 8
        if danger > worst:
            worst, suit, rank = danger, SPADES, high
    if suit >= 0:
        return suit, rank
    return SPADES, high_row(sight.own[SPADES]) if sight.after == 0 else lowest_row(sight.own[SPADES])

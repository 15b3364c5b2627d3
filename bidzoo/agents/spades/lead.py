"""The card a Spades player leads, by goal (appendix D). Cards come back as ``(suit, rank)``."""

from bidzoo.agents.spades.follow import boss_row, may_cut_row
from bidzoo.agents.spades.sight import ALLY, LEFT, RIGHT, Sight, size_row
from bidzoo.agents.spades.suits import count_row, high_row, low_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import row


@row
def opponent_cuts_row(sight: Sight, suit: int) -> bool:
    """An opponent is known to be able to cut ``suit``."""
    return may_cut_row(sight, LEFT, suit) or may_cut_row(sight, RIGHT, suit)


@row
def take_lead_row(sight: Sight, ally_short: int) -> tuple[int, int]:
    """Bosses while they last, partner's short suits (bits ``ally_short``), then low cards away from honours."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades):
            continue
        value, card = _spade_lead_row(sight) if k == SPADES else _side_lead_row(sight, k, ally_short >> k & 1 == 1)
        if value > best:
            best, suit, rank = value, k, card
    return suit, rank


@row
def _side_lead_row(sight: Sight, suit: int, ally_short: bool) -> tuple[int, int]:
    """How good a side suit is to lead, and the card."""
    mask, unseen = sight.own[suit], sight.unseen[suit]
    high, low, length = high_row(mask), low_row(mask), count_row(mask)
    cut = opponent_cuts_row(sight, suit)
    if ally_short and not cut:
        return 90 if boss_row(sight, suit, high) else 80, high if boss_row(sight, suit, high) else low
    if boss_row(sight, suit, high):
        out = count_row(unseen)
        if out == 0 and sight.unseen[SPADES]:
            return -20, low  # only spades can follow
        return (5 if cut else 60 + out), high
    value = 20 - 2 * length - low
    above = count_row(unseen >> (high + 1))
    if above == 1:
        value -= 12  # away from a second-best card
    if length <= 2 and sight.own[SPADES] and above > 1:
        value += 10  # to cut later
    if cut:
        value -= 25
    return value, low


@row
def _spade_lead_row(sight: Sight) -> tuple[int, int]:
    """How good a spade lead is, and the card: bosses draw spades for our side suits, others wait."""
    mask, unseen = sight.own[SPADES], sight.unseen[SPADES]
    high = high_row(mask)
    out = count_row(unseen)
    if boss_row(sight, SPADES, high):
        bosses = 0
        for k in range(3):
            bosses += sight.own[k] != 0 and boss_row(sight, k, high_row(sight.own[k]))
        if out == 0:
            return (-10, high)
        return (62 if count_row(mask) > out // 2 and bosses else 4), high
    return -14, low_row(mask)


@row
def low_lead_row(sight: Sight) -> tuple[int, int]:
    """The lead most likely to lose: many unseen cards above it, few below."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades):
            continue
        low = low_row(mask)
        above = count_row(sight.unseen[k] >> (low + 1))
        under = count_row(sight.unseen[k] & ((1 << low) - 1))
        value = 3 * above - 4 * under
        if above == 0:
            value -= 40
        if k == SPADES:
            value -= 3
        if value > best:
            best, suit, rank = value, k, low
    return suit, rank


@row
def cover_lead_row(sight: Sight) -> tuple[int, int]:
    """High cards that partner can play under, best in a suit partner no longer holds."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades):
            continue
        high = high_row(mask)
        above = count_row(sight.unseen[k] >> (high + 1))
        value = high - 6 * above + (6 if above == 0 else 0)
        if sight.voids[ALLY] >> k & 1:
            value += 30 if k != SPADES else 10
        if k == SPADES:
            value -= 4
        if value > best:
            best, suit, rank = value, k, high
    if sight.voids[ALLY] >> suit & 1:
        return suit, rank if sight.need > 0 else low_row(sight.own[suit])
    return suit, rank


@row
def hunt_lead_row(sight: Sight, target: int, ally_short: int) -> tuple[int, int]:
    """A low card in a suit the niler still follows; if there is none, a lead to take tricks."""
    best, suit, rank = -1000, -1, -1
    for k in range(4):
        mask = sight.own[k]
        if mask == 0 or (k == SPADES and not sight.lead_spades) or sight.voids[target] >> k & 1:
            continue
        low = low_row(mask)
        under = count_row(sight.unseen[k] & ((1 << low) - 1))
        value = count_row(sight.unseen[k]) - 4 * under
        if low < size_row(sight, k) // 2 and value > best:
            best, suit, rank = value, k, low
    if suit < 0:
        return take_lead_row(sight, ally_short)
    return suit, rank

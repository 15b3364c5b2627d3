"""The card a Spades player adds to a trick, by goal (appendix D). Cards come back as ``(suit, rank)``."""

from bidzoo.agents.spades.discard import discard_row, throw_row
from bidzoo.agents.spades.goal import sure_takes_row
from bidzoo.agents.spades.sight import ALLY, LEFT, RIGHT, Sight, losers_row, partner_wins_row, winners_row
from bidzoo.agents.spades.suits import high_row
from bidzoo.bits import count_row, lowest_row
from bidzoo.envs.spades.state import SPADES
from bidzoo.kernels import row

COVERS_UNSEEN = 3  # higher unseen cards that make a cover likely


@row
def equal_row(mask: int, unseen: int, rank: int) -> int:
    """The lowest card of ``mask`` that is as good as ``rank``: no unseen card lies between."""
    lowest = rank
    for k in range(rank - 1, -1, -1):
        if unseen >> k & 1:
            break
        if mask >> k & 1:
            lowest = k
    return lowest


@row
def boss_row(sight: Sight, suit: int, rank: int) -> bool:
    """No unseen card of the suit is higher."""
    return sight.unseen[suit] >> (rank + 1) == 0


@row
def may_cut_row(sight: Sight, who: int, suit: int) -> bool:
    """``who`` is known to be void in ``suit`` and may hold a spade."""
    voids = sight.voids[who]
    return suit != SPADES and voids >> suit & 1 == 1 and voids >> SPADES & 1 == 0 and sight.unseen[SPADES] != 0


@row
def low_follow_row(sight: Sight) -> tuple[int, int]:
    """The lowest card of the suit led; from a low doubleton under a boss the higher one first (D.3)."""
    mask = sight.own[sight.led]
    low = lowest_row(mask)
    if count_row(mask) == 2 and sight.led != SPADES and sight.teams and sight.own[SPADES]:
        high = high_row(mask)
        if high <= 8 and high < sight.best and sight.best_suit == sight.led and boss_row(sight, sight.led, sight.best):
            return sight.led, high
    return sight.led, low


@row
def take_follow_row(sight: Sight) -> tuple[int, int]:
    """Follow suit to win the trick where that is cheap or sure."""
    suit = sight.led
    unseen = sight.unseen[suit]
    winners = winners_row(sight, suit)
    if winners == 0:
        return low_follow_row(sight)
    top = high_row(winners)
    if partner_wins_row(sight):
        if sight.after == 0 or sight.best_suit == SPADES != suit:
            return low_follow_row(sight)
        threats = unseen >> (sight.best + 1)
        between = threats & ((1 << (top - sight.best)) - 1)
        if between == 0 or may_cut_row(sight, LEFT, suit):
            return low_follow_row(sight)
        return suit, equal_row(winners, unseen, top)
    if sight.after == 0:
        return suit, lowest_row(winners)
    if may_cut_row(sight, LEFT, suit):
        return low_follow_row(sight)
    boss = boss_row(sight, suit, top)
    if sight.after == 2 and (suit == SPADES or not boss):
        return low_follow_row(sight)
    return suit, equal_row(winners, unseen, top)


@row
def take_void_row(sight: Sight) -> tuple[int, int]:
    """Cut with the cheapest spade that wins unless partner's card is good, else throw a card away."""
    winners = winners_row(sight, SPADES)
    if winners == 0:
        return throw_row(sight)
    if partner_wins_row(sight):
        good = sight.best_suit == SPADES or boss_row(sight, sight.led, sight.best)
        if sight.after == 0 or (good and not may_cut_row(sight, LEFT, sight.led)):
            return throw_row(sight)
    if sight.after and may_cut_row(sight, LEFT, sight.led):
        top = high_row(winners)
        if boss_row(sight, SPADES, top):
            return SPADES, equal_row(winners, sight.unseen[SPADES], top)
    return SPADES, lowest_row(winners)


@row
def take_row(sight: Sight) -> tuple[int, int]:
    """Any card but the lead, when we want the trick."""
    return take_follow_row(sight) if sight.own[sight.led] else take_void_row(sight)


@row
def avoid_row(sight: Sight) -> tuple[int, int]:
    """Any card but the lead, when we want no trick: the highest that loses, else the lowest or a forced high one."""
    suit = sight.led
    if sight.own[suit] == 0:
        return discard_row(sight)
    losers = losers_row(sight, suit)
    if losers:
        return suit, high_row(losers)
    low = lowest_row(sight.own[suit])
    if sight.after == 0 or boss_row(sight, suit, low):
        return suit, high_row(sight.own[suit])
    return suit, low


@row
def keep_nil_row(sight: Sight) -> tuple[int, int]:
    """Any card but the lead, to keep our nil: as to avoid tricks, but the partner who plays last may cover us.

    Forced over the card led in second seat, we part with a high card that several unseen ones can still beat.
    """
    suit = sight.led
    if sight.teams and sight.after == 2 and sight.own[suit] and losers_row(sight, suit) == 0:
        mask = sight.own[suit]
        while mask:
            high = high_row(mask)
            if count_row(sight.unseen[suit] >> (high + 1)) >= COVERS_UNSEEN:
                return suit, high
            mask ^= 1 << high
    return avoid_row(sight)


@row
def cover_row(sight: Sight) -> tuple[int, int]:
    """Play over partner who bid nil: high before partner plays, over partner's card after."""
    suit = sight.led
    follows = sight.own[suit] != 0
    trump = suit if follows else SPADES
    winners = winners_row(sight, trump)
    if sight.after >= 2:  # partner plays after us
        safe = sight.voids[ALLY] >> suit & 1 or count_row(sight.unseen[sight.best_suit] >> (sight.best + 1)) <= 1
        if winners == 0 or safe:
            return take_row(sight) if winners and sight.need > 0 else _save_row(sight)
        if follows:
            return suit, equal_row(winners, sight.unseen[suit], high_row(winners))
        return SPADES, lowest_row(winners)
    if sight.taker == ALLY:
        if winners == 0:
            return _save_row(sight)
        if follows and sight.after:
            return suit, equal_row(winners, sight.unseen[suit], high_row(winners))
        return trump, lowest_row(winners)
    sure = sure_takes_row(sight.own[SPADES], sight.unseen[SPADES])
    return take_row(sight) if sight.need > sure else _save_row(sight)


@row
def _save_row(sight: Sight) -> tuple[int, int]:
    """The lowest card: high ones will be needed to cover."""
    if sight.own[sight.led]:
        return sight.led, lowest_row(sight.own[sight.led])
    return throw_row(sight)


@row
def _coverer_will_win_row(sight: Sight, target: int) -> bool:
    """The niler on our right wins so far, but the coverer on our left is next and has higher cards to cover with."""
    return target == RIGHT and sight.after == 1 and sight.teams and not boss_row(sight, sight.best_suit, sight.best)


@row
def hunt_row(sight: Sight, target: int) -> tuple[int, int]:
    """Any card but the lead, against the nil of ``target``: never over a niler who wins, low before the niler plays."""
    suit = sight.led
    follows = sight.own[suit] != 0
    losers = losers_row(sight, suit)
    if sight.taker == target and not _coverer_will_win_row(sight, target):
        if not follows:
            return discard_row(sight)
        if losers:
            return suit, high_row(losers)
        return suit, high_row(sight.own[suit])
    to_come = sight.after > 0 and target == LEFT
    if to_come and not sight.voids[LEFT] >> suit & 1:
        beatable = sight.best_suit == suit and not boss_row(sight, suit, sight.best)
        if beatable or partner_wins_row(sight):
            if not follows:
                return discard_row(sight)
            return suit, high_row(losers) if losers else lowest_row(sight.own[suit])
    if follows and winners_row(sight, suit) == 0:
        return suit, high_row(losers)  # low cards are for leading at the niler
    return take_row(sight)

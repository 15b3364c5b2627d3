"""What a Spades player wants of the tricks to come (appendices D.1, D.2 and E)."""

from bidzoo.agents.spades.sight import ALLY, AVOID, COVER, KEEP_NIL, LEFT, RIGHT, TAKE, Sight
from bidzoo.envs.spades.state import NIL, SPADES
from bidzoo.kernels import Table, row

ROUND_TYPES = (
    "strong under",
    "under",
    "over",
    "14",
    "strong over",
    "we nil",
    "partner nil",
    "opponents nil",
    "nil vs. nil",
    "double nil",
)
STRONG_UNDER, UNDER, OVER, FOURTEEN, STRONG_OVER, WE_NIL, PARTNER_NIL, OPPONENTS_NIL, NIL_VS_NIL, DOUBLE_NIL = range(10)
# By round type without nil: tricks nobody needs, up to which a player with a safe contract tries to set the opponents.
SET_MARGIN = (0, 1, 2, 13, 13)


@row
def sure_takes_row(own: int, unseen: int) -> int:
    """Tricks that spades ``own`` take whatever happens (D.1): all ``unseen`` ones in one hand, we lead each time.

    Wästlund's normal strategy for one-suit two-person whist: each unseen card beats at most one lower one of ours.
    """
    free, sure = 0, 0
    for rank in range(16, -1, -1):
        if unseen >> rank & 1:
            free += 1
        elif own >> rank & 1:
            if free:
                free -= 1
            else:
                sure += 1
    return sure


@row
def round_type_row(table: Table, seat: int) -> int:
    """Index into ``ROUND_TYPES`` of a partnership round, as ``seat`` sees it after the bidding (appendix E)."""
    ours = table.bids[seat] == NIL
    partners = table.bids[(seat + 2) % 4] == NIL
    theirs = (table.bids[(seat + 1) % 4] == NIL) + (table.bids[(seat + 3) % 4] == NIL)
    if theirs == 2:
        return DOUBLE_NIL
    if theirs == 1:
        return NIL_VS_NIL if ours or partners else OPPONENTS_NIL
    if ours:
        return WE_NIL
    if partners:
        return PARTNER_NIL
    return sum_type_row(table.bids[0] + table.bids[1] + table.bids[2] + table.bids[3])


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
def target_row(sight: Sight) -> int:
    """Relative seat of an opponent whose nil may still be set; -1 if none. The left one first."""
    if sight.alive[LEFT]:
        return LEFT
    if sight.alive[RIGHT]:
        return RIGHT
    return ALLY if not sight.teams and sight.alive[ALLY] else -1


@row
def goal_row(sight: Sight) -> int:
    """KEEP_NIL, COVER partner's nil, TAKE tricks or AVOID them (bags)."""
    if sight.alive[0]:
        return KEEP_NIL
    if sight.teams and sight.alive[ALLY]:
        return COVER
    sure = sure_takes_row(sight.own[SPADES], sight.unseen[SPADES])
    safe = sight.need <= (sure if sight.counts else 0)
    if not safe and sight.counts and sight.need <= sight.left:
        return TAKE
    if sight.their_need <= 0 or sight.their_need > sight.left:
        return AVOID  # their contract is made or set: only bags are left
    free = sight.left - max(0, sight.need) - sight.their_need
    return TAKE if free <= SET_MARGIN[sum_type_row(sight.bids)] else AVOID


@row
def may_hunt_row(sight: Sight) -> bool:
    """Our contract leaves room to go for an opponent's nil."""
    sure = sure_takes_row(sight.own[SPADES], sight.unseen[SPADES])
    return sight.need - sure <= sight.left - 1

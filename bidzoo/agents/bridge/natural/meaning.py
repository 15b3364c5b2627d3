"""What a call promises where it is made: the one function that chooses calls and understands them."""

from bidzoo.agents.bridge.natural.competition import advance_overcall_row, answer_double_row, convert_row, overcall_row
from bidzoo.agents.bridge.natural.knowledge import named_row
from bidzoo.agents.bridge.natural.openings import (
    answer_feature_row,
    answer_preempt_row,
    answer_strong_row,
    opening_row,
    rebid_strong_row,
)
from bidzoo.agents.bridge.natural.place import place_row
from bidzoo.agents.bridge.natural.rebid import answer_jacoby_row, rebid_row
from bidzoo.agents.bridge.natural.records import NEVER, R, clear_row, suit_row
from bidzoo.agents.bridge.natural.responses import (
    after_blackwood_row,
    answer_blackwood_row,
    answer_notrump_row,
    complete_row,
    relayed_row,
    respond_row,
)
from bidzoo.core.cards import FIRST_BID, NOTRUMP, PASS
from bidzoo.core.kernels import State, row


@row
def meaning_row(k: State, call: int, m: State) -> None:
    """What ``call`` of the seat to act promises after the auction ``k``; ``m.priority`` NEVER if nothing."""
    strain = (call - FIRST_BID) % 5 if call >= FIRST_BID else -1
    level = (call - FIRST_BID) // 5 + 1 if call >= FIRST_BID else 0
    clear_row(m, strain)
    if call == PASS:
        _pass_row(k, m)
    elif k.opener < 0:
        opening_row(k, level, strain, m)
    elif not _answer_row(k, level, strain, m):
        _natural_row(k, call, level, strain, m)
    if m.priority == NEVER and strain >= 0 and strain < NOTRUMP:  # not one of ours: whoever made it has the suit
        suit_row(m, strain, 4, 13)
        m.natural = 1


@row
def _pass_row(k: State, m: State) -> None:
    m.rule, m.priority = R.PASS, 0
    if k.must[k.seat % 2] == k.seat:
        m.priority = NEVER
        if k.rule[k.partner] == R.TAKEOUT and k.stake == 2:
            convert_row(k, m)
    elif k.opener < 0:
        m.hcp_high = 11
    elif k.opener == k.partner and k.turns[k.seat] == 0 and k.rule[k.partner] == R.SUIT_OPENING and k.bidder != k.right:
        m.points_high = 5 if k.stake == 1 else 9
    elif k.opener == k.partner and k.turns[k.seat] == 0 and k.rule[k.partner] == R.NOTRUMP_OPENING:
        m.hcp_high = max(24 - k.hcp_high[k.partner], 0)


@row
def _answer_row(k: State, level: int, strain: int, m: State) -> bool:
    """Answers to conventions; False if partner asked nothing, or an opponent got in the way."""
    if k.bidder != k.partner or k.stake != 1 or strain < 0:
        return False
    asked = k.rule[k.partner]
    if asked in (R.STAYMAN, R.TRANSFER, R.RELAY):
        complete_row(k, level, strain, m)
    elif asked == R.BLACKWOOD:
        answer_blackwood_row(level, strain, m)
    elif asked == R.RELAYED:
        relayed_row(level, strain, m)
    elif asked == R.JACOBY and k.game[k.seat % 2] and level + strain < 8:
        answer_jacoby_row(k, level, strain, m)
    elif asked == R.ACES:
        after_blackwood_row(k, level, strain, m)
    elif asked == R.STRONG:
        answer_strong_row(k, level, strain, m)
    elif asked == R.FEATURE_ASK:
        answer_feature_row(k, level, strain, m)
    elif asked in (R.WEAK_TWO, R.PREEMPT):
        answer_preempt_row(k, level, strain, m)
    elif asked in (R.NOTRUMP_OPENING, R.NOTRUMP_OVERCALL):
        answer_notrump_row(k, level, strain, m)
    elif k.opener == k.seat and k.turns[k.seat] == 1 and k.rule[k.seat] == R.STRONG:
        rebid_strong_row(k, level, strain, m)
    else:
        return False
    return True


@row
def _natural_row(k: State, call: int, level: int, strain: int, m: State) -> None:
    stops = named_row(k)
    if k.preempted[k.seat] and k.must[k.seat % 2] != k.seat:
        return
    if (k.opener - k.seat) % 2 == 0:
        if k.opener == k.partner and k.turns[k.seat] == 0 and k.rule[k.partner] == R.SUIT_OPENING:
            respond_row(k, call, level, strain, stops, m)
        elif k.rule[k.partner] == R.TAKEOUT:
            _doubled_row(k, call, level, strain, stops, m)
        elif (
            k.opener == k.seat
            and k.turns[k.seat] == 1
            and k.bidder == k.partner
            and (k.rule[k.partner] == R.NEW_SUIT or (k.rule[k.partner] == R.NOTRUMP and k.bid == 4))
            and strain >= 0
        ):
            rebid_row(k, level, strain, m)
        else:
            place_row(k, call, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.actions[k.partner] == 0:
        overcall_row(k, call, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.rule[k.partner] == R.TAKEOUT:
        _doubled_row(k, call, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.actions[k.partner] == 1 and strain >= 0 and k.rule[k.partner] != R.PENALTY:
        advance_overcall_row(k, level, strain, stops, m)
    else:
        place_row(k, call, level, strain, stops, m)


@row
def _doubled_row(k: State, call: int, level: int, strain: int, stops: int, m: State) -> None:
    if strain >= 0:
        answer_double_row(k, level, strain, stops, k.must[k.seat % 2] != k.seat, m)

"""``sayc``: a natural bidder that makes the best call whose promise its hand keeps, and reads others the same way.

What a call promises where it is made is one function, ``meaning_row``, which chooses calls and understands them.
"""

import numpy as np

from bidzoo.agents.bridge.natural import competition, openings, rebids
from bidzoo.agents.bridge.natural.knowledge import (
    HAND,
    KNOWLEDGE,
    LOWEST,
    MEANING,
    MOST_HCP,
    MOST_POINTS,
    NO_SUIT,
    RULES,
    R,
    begin_row,
    clear_row,
    evaluate_row,
    keeps_row,
    learn_row,
    named_row,
    suit_row,
)
from bidzoo.agents.explanation import Explanation
from bidzoo.core.calls import Call
from bidzoo.core.cards import FIRST_BID, NOTRUMP, NUM_CALLS, PASS, SEATS, SUITS, SYMBOLS
from bidzoo.core.kernels import I8, I64, U64, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import Answer, AtTable
from bidzoo.envs.bridge.render import suited


class Pass(AtTable):
    """``pass``: never bids, the zero of every bidding scale; plays ``bridge_bidding_v0``."""

    name = "pass"

    def __repr__(self) -> str:
        return "<pass: never bids>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """A pass for every row."""
        return np.zeros(len(legal), np.int64)

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return Call(lambda: PASS)


# ---- what calls promise ------------------------------------------------------------------


@row
def meaning_row(k: State, call: int, m: State) -> None:
    """What ``call`` of the seat to act promises after the auction ``k``; ``m.priority`` LOWEST if nothing."""
    strain = (call - FIRST_BID) % 5 if call >= FIRST_BID else -1
    level = (call - FIRST_BID) // 5 + 1 if call >= FIRST_BID else 0
    clear_row(m, strain)
    if call == PASS:
        _pass_row(k, m)
    elif k.opener < 0:
        openings.opening_row(k, level, strain, m)
    elif not _answer_row(k, level, strain, m):
        _natural_row(k, call, level, strain, m)
    if m.priority == LOWEST and strain >= 0 and strain < NOTRUMP:  # not one of ours: whoever made it has the suit
        suit_row(m, strain, 4, 13)
        m.natural = 1


@row
def _pass_row(k: State, m: State) -> None:
    m.rule, m.priority = R.PASS, 0
    if k.must[k.seat % 2] == k.seat:
        m.priority = LOWEST
        if k.rule[k.partner] == R.TAKEOUT and k.stake == 2:
            competition.convert_row(k, m)
    elif k.opener < 0:
        m.hcp_high = 11
    elif k.opener == k.partner and k.bidder == k.partner and k.turns[k.seat] == 0:
        if k.rule[k.partner] == R.SUIT_OPENING:
            m.points_high = 5 if k.stake == 1 else 9
        elif k.rule[k.partner] == R.NOTRUMP_OPENING and k.stake == 1:
            m.hcp_high = max(24 - k.hcp_high[k.partner], 0)


@row
def _answer_row(k: State, level: int, strain: int, m: State) -> bool:
    """Answers to conventions; False if partner asked nothing, or an opponent got in the way."""
    if k.bidder != k.partner or k.stake != 1 or strain < 0:
        return False
    rule = k.rule[k.partner]
    if rule in (R.STAYMAN, R.TRANSFER, R.RELAY):
        openings.complete_row(k, level, strain, m)
    elif rule == R.BLACKWOOD:
        openings.answer_blackwood_row(level, strain, m)
    elif rule == R.RELAYED:
        openings.relayed_row(level, strain, m)
    elif rule == R.JACOBY and k.game[k.seat % 2] and level + strain < 8:
        rebids.answer_jacoby_row(k, level, strain, m)
    elif rule == R.ACES:
        openings.after_blackwood_row(k, level, strain, m)
    elif rule == R.STRONG:
        openings.answer_strong_row(level, strain, m)
    elif rule == R.FEATURE_ASK:
        openings.answer_feature_row(k, level, strain, m)
    elif rule in (R.WEAK_TWO, R.PREEMPT):
        openings.answer_preempt_row(k, level, strain, m)
    elif rule in (R.NOTRUMP_OPENING, R.NOTRUMP_OVERCALL):
        openings.answer_notrump_row(k, level, strain, m)
    elif k.opener == k.seat and k.turns[k.seat] == 1 and k.rule[k.seat] == R.STRONG:
        openings.rebid_strong_row(k, level, strain, m)
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
            openings.respond_row(k, call, level, strain, stops, m)
        elif k.rule[k.partner] == R.TAKEOUT:
            _doubled_row(k, level, strain, stops, m)
        elif (
            k.opener == k.seat
            and k.turns[k.seat] == 1
            and k.bidder == k.partner
            and (k.rule[k.partner] == R.NEW_SUIT or (k.rule[k.partner] == R.NOTRUMP and k.bid == 4))
            and strain >= 0
        ):
            rebids.rebid_row(k, level, strain, m)
        else:
            rebids.place_row(k, call, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.actions[k.partner] == 0:
        competition.overcall_row(k, call, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.rule[k.partner] == R.TAKEOUT:
        _doubled_row(k, level, strain, stops, m)
    elif k.actions[k.seat] == 0 and k.actions[k.partner] == 1 and strain >= 0 and k.rule[k.partner] != R.PENALTY:
        competition.advance_overcall_row(k, level, strain, stops, m)
    else:
        rebids.place_row(k, call, level, strain, stops, m)


@row
def _doubled_row(k: State, level: int, strain: int, stops: int, m: State) -> None:
    if strain >= 0:
        competition.answer_double_row(k, level, strain, stops, k.must[k.seat % 2] != k.seat, m)


# ---- the choice --------------------------------------------------------------------------


@row
def replay_row(view: State, knowledge: State, meaning: State) -> None:
    """Write what the auction of ``view`` has shown into ``knowledge``; ``meaning`` is scratch."""
    begin_row(knowledge, view.dealer, view.vulnerable)
    for t in range(view.length):
        call = int(view.calls[t])
        meaning_row(knowledge, call, meaning)
        learn_row(knowledge, call, meaning)


@row
def choose_row(knowledge: State, hand: State, legal: I8, meaning: State) -> int:
    """The call of highest priority whose promise ``hand`` keeps; of equals the cheapest."""
    best, priority = -1, -1
    for call in range(NUM_CALLS):
        if legal[call]:
            meaning_row(knowledge, call, meaning)
            remainder = call == PASS and meaning.priority == 0  # pass is what is left; its promise follows from that
            if meaning.priority > priority and (remainder or keeps_row(hand, meaning)):
                best, priority = call, meaning.priority
    return best if best >= 0 else last_resort_row(knowledge, hand, legal)


@row
def last_resort_row(knowledge: State, hand: State, legal: I8) -> int:
    """The cheapest bid of the strain with most cards between the two hands; pass if every bid is too high."""
    best, most = PASS, -1
    for call in range(FIRST_BID, NUM_CALLS):
        strain = (call - FIRST_BID) % 5
        if legal[call] and call < knowledge.bid + FIRST_BID + 6 and strain < 4:
            cards = 2 * (hand.length[strain] + knowledge.low[knowledge.partner, strain])
            if cards > most:
                best, most = call, cards
    return best


@row
def call_row(view: State, legal: I8, knowledge: State, hand: State, meaning: State) -> int:
    """The call of the seat to act, of those that are ``legal`` ``[A]``; the other records are scratch."""
    replay_row(view, knowledge, meaning)
    evaluate_row(view.hand, hand)
    return int(choose_row(knowledge, hand, legal, meaning))


@row
def _choose_one(views: States, legal: I8, knowledge: States, hands: States, meanings: States) -> int:
    return int(call_row(views[0], legal[0], knowledge[0], hands[0], meanings[0]))


@batched
@rows_a_thread(128)
def _choose(
    start: int, stop: int, views: States, legal: I8, knowledge: States, hands: States, meanings: States, out: I64
) -> None:
    for b in range(start, stop):
        out[b] = call_row(views[b], legal[b], knowledge[b], hands[b], meanings[b])


class Sayc(AtTable):
    """Standard American (ACBL SAYC), natural in competition."""

    name = "sayc"

    def __repr__(self) -> str:
        return "<sayc: natural rules>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Calls ``[B]``; the same for the same view, whatever the random numbers."""
        n = len(views)
        out = np.empty(n, np.int64)
        _choose(views, legal, allocate(KNOWLEDGE, n), allocate(HAND, n), allocate(MEANING, n), out)
        return out

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return Call(_choose_one, views, legal, *(allocate(record, 1) for record in (KNOWLEDGE, HAND, MEANING)))

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """What every call of the auction promised, what each seat has shown, and why this call is made now."""
        view, knowledge, hand, meaning = views[0], *(allocate(record, 1)[0] for record in (KNOWLEDGE, HAND, MEANING))
        lines = []
        begin_row(knowledge, view["dealer"], view["vulnerable"])
        for t in range(int(view["length"])):
            seat, call = int(knowledge["seat"]), int(view["calls"][t])
            meaning_row(knowledge, call, meaning)
            lines.append(f"{SEATS[seat]} {suited(call)}: {promise(meaning)}")
            learn_row(knowledge, call, meaning)
        evaluate_row(view["hand"], hand)
        call = choose_row(knowledge, hand, legal[0], meaning)
        for who, name in ((2, "partner"), (1, "LHO"), (3, "RHO")):
            lines.append(f"{name} has shown {shown(knowledge, (int(view['seat']) + who) % 4)}")
        meaning_row(knowledge, call, meaning)
        kept = keeps_row(hand, meaning) or (call == PASS and meaning["priority"] == 0)
        resort = "" if kept else "since no promise fits this hand; partner reads it as "
        lines.append(f"my call: {suited(call)}, {resort}{promise(meaning)}")
        return Explanation("\n".join(lines))


# ---- promises in words -------------------------------------------------------------------

_RULES = tuple(RULES.values())
_SUITS = [SYMBOLS[suit] for suit in SUITS]


def between(low: int, high: int, most: int) -> str:
    """``"12-14"``, ``"12+"``, ``"0-5"``; empty if it says nothing."""
    if low <= 0 and high >= most:
        return ""
    return f"{low}+" if high >= most else str(low) if low == high else f"{max(low, 0)}-{high}"


def lengths(low: State, high: State) -> str:
    """``"5+♠, 2-3♥"``, highest suit first; suits of which nothing is known are left out."""
    parts = [between(int(low[suit]), int(high[suit]), 13) + _SUITS[suit] for suit in (3, 2, 1, 0)]
    return ", ".join(part for part in parts if len(part) > 1)


def promise(m: State) -> str:
    """What a ``MEANING`` record says, such as ``"raise: 6-9 points in support, 3+♥"``."""
    parts = []
    for low, high, most, unit in (
        (m["hcp_low"], m["hcp_high"], MOST_HCP, "HCP"),
        (m["points_low"], m["points_high"], MOST_POINTS, "points" if m["trump"] == NO_SUIT else "points in support"),
    ):
        text = between(int(low), int(high), most)
        parts += [f"{text} {unit}"] if text else []
    if m["balanced"]:
        parts.append("balanced")
    parts += [text for text in [lengths(m["low"], m["high"])] if text]
    stoppers = [_SUITS[suit] for suit in (3, 2, 1, 0) if int(m["stops"]) >> suit & 1]
    if stoppers:
        parts.append(f"{''.join(stoppers)} stopped")
    if m["either"]:
        suits = " or ".join(_SUITS[suit] for suit in (3, 2, 1, 0) if int(m["either"]) >> suit & 1)
        parts.append(f"{int(m['either_low'])}+ in {suits}")
    if m["aces"]:
        numbers = [str(n) for n in range(5) if int(m["aces"]) >> n & 1]
        parts.append(f"{' or '.join(numbers)} ace{'s' * (numbers != ['1'])}")
    if m["quality"] and 0 <= m["strain"] < NOTRUMP:
        parts.append(f"{int(m['quality'])}+ HCP in {_SUITS[int(m['strain'])]}")
    force = ("", "forcing", "forcing to game")[int(m["force"])]
    text = _RULES[int(m["rule"])] + (": " if parts else "") + ", ".join(parts)
    return text + (f"; {force}" if force else "")


def shown(k: State, seat: int) -> str:
    """What ``seat`` has shown, such as ``"12-21 HCP, 5+♠"``."""
    points = between(int(k["hcp_low"][seat]), int(k["hcp_high"][seat]), MOST_HCP)
    parts = [f"{points} HCP"] if points else []
    parts += [text for text in [lengths(k["low"][seat], k["high"][seat])] if text]
    return ", ".join(parts) or "nothing yet"

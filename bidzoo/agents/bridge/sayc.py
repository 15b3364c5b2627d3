"""``sayc``: a natural bidder that makes the best call whose promise its hand keeps, and reads others the same way."""

import numpy as np

from bidzoo.agents.bridge.natural.knowledge import begin_row, evaluate_row, keeps_row, learn_row
from bidzoo.agents.bridge.natural.meaning import meaning_row
from bidzoo.agents.bridge.natural.records import HAND, KNOWN, MEANING, MOST_HCP, MOST_POINTS, NO_SUIT, RULES
from bidzoo.agents.explanation import Explanation
from bidzoo.core.cards import FIRST_BID, NOTRUMP, NUM_CALLS, PASS, SEATS, SUITS, SYMBOLS
from bidzoo.core.kernels import I8, I64, State, States, allocate, batched, row
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.render import suited


class Pass:
    """``pass``: never bids, the zero of every bidding scale; plays ``bridge_bidding_v0``."""

    name = "pass"

    def __repr__(self) -> str:
        return "<pass: never bids>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """0 for every row."""
        return np.zeros(len(legal), np.int64)


@row
def replay_row(view: State, known: State, meaning: State) -> None:
    """What the auction of ``view`` has shown, into ``known``; ``meaning`` is scratch."""
    begin_row(known, view.dealer, view.vulnerable)
    for t in range(view.length):
        call = int(view.calls[t])
        meaning_row(known, call, meaning)
        learn_row(known, call, meaning)


@row
def choose_row(known: State, hand: State, legal: I8, meaning: State) -> int:
    """The call of highest priority whose promise ``hand`` keeps; of equals the cheapest."""
    best, priority = -1, -1
    for call in range(NUM_CALLS):
        if legal[call]:
            meaning_row(known, call, meaning)
            remainder = call == PASS and meaning.priority == 0  # pass is what is left; its promise follows from that
            if meaning.priority > priority and (remainder or keeps_row(hand, meaning)):
                best, priority = call, meaning.priority
    return best if best >= 0 else last_resort_row(known, hand, legal)


@row
def last_resort_row(known: State, hand: State, legal: I8) -> int:
    """The cheapest bid of the strain with most cards between the two hands; pass if every bid is too high."""
    best, most = PASS, -1
    for call in range(FIRST_BID, NUM_CALLS):
        strain = (call - FIRST_BID) % 5
        if legal[call] and call < known.bid + FIRST_BID + 6 and strain < 4:
            cards = 2 * (hand.length[strain] + known.low[known.partner, strain])
            if cards > most:
                best, most = call, cards
    return best


@row
def situation_row(view: State, legal: I8, known: State, hand: State, meaning: State) -> int:
    """``choose_row`` after the auction of ``view``; the records keep what it shows and what the hand is worth."""
    replay_row(view, known, meaning)
    evaluate_row(view.hand, hand)
    return choose_row(known, hand, legal, meaning)


@batched
def _choose(
    start: int, stop: int, views: States, legal: I8, known: States, hands: States, meanings: States, out: I64
) -> None:
    for b in range(start, stop):
        out[b] = situation_row(views[b], legal[b], known[b], hands[b], meanings[b])


class Sayc:
    """Standard American (ACBL SAYC), natural in competition."""

    name = "sayc"

    def __repr__(self) -> str:
        return "<sayc: natural rules>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Calls ``[B]``; the same for the same view, whatever the random numbers."""
        n = len(views)
        out = np.empty(n, np.int64)
        _choose(views, legal, allocate(KNOWN, n), allocate(HAND, n), allocate(MEANING, n), out)
        return out

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """What every call of the auction promised, what each seat has shown, and why this call is made now."""
        view, known, hand, meaning = views[0], *(allocate(record, 1)[0] for record in (KNOWN, HAND, MEANING))
        lines = []
        begin_row(known, view["dealer"], view["vulnerable"])
        for t in range(int(view["length"])):
            seat, call = int(known["seat"]), int(view["calls"][t])
            meaning_row(known, call, meaning)
            lines.append(f"{SEATS[seat]} {suited(call)}: {promise(meaning)}")
            learn_row(known, call, meaning)
        call = situation_row(view, legal[0], known, hand, meaning)
        for who, name in ((2, "partner"), (1, "LHO"), (3, "RHO")):
            lines.append(f"{name} has shown {shown(known, (int(view['seat']) + who) % 4)}")
        meaning_row(known, call, meaning)
        lines.append(f"my call: {suited(call)}, {promise(meaning)}")
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
    stopped = [_SUITS[suit] for suit in (3, 2, 1, 0) if int(m["stops"]) >> suit & 1]
    if stopped:
        parts.append(f"{''.join(stopped)} stopped")
    if m["either"]:
        parts.append("4+ in " + " or ".join(_SUITS[suit] for suit in (3, 2) if int(m["either"]) >> suit & 1))
    if m["aces"]:
        numbers = [str(n) for n in range(5) if int(m["aces"]) >> n & 1]
        parts.append(f"{' or '.join(numbers)} aces")
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

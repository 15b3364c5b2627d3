"""``sayc``: a natural bidder that makes the best call whose promise its hand keeps, and reads others the same way."""

import numpy as np

from bidzoo.agents.bridge.natural.hand import evaluate_row, keeps_row
from bidzoo.agents.bridge.natural.knowledge import begin_row, learn_row
from bidzoo.agents.bridge.natural.meaning import meaning_row
from bidzoo.agents.bridge.natural.records import HAND, KNOWN, MEANING
from bidzoo.agents.bridge.natural.words import promise, shown
from bidzoo.cards import FIRST_BID, NUM_CALLS, PASS, SEATS
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.wording import suited
from bidzoo.kernels import I8, I64, Table, Tables, allocate, batched, prange, row
from bidzoo.streams import Streams


@row
def replay_row(view: Table, known: Table, meaning: Table) -> None:
    """What the auction of ``view`` has shown, into ``known``; ``meaning`` is scratch."""
    begin_row(known, view.dealer, view.vulnerable)
    for t in range(view.length):
        call = int(view.calls[t])
        meaning_row(known, call, meaning)
        learn_row(known, call, meaning)


@row
def choose_row(known: Table, hand: Table, legal: I8, meaning: Table) -> int:
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
def last_resort_row(known: Table, hand: Table, legal: I8) -> int:
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
def situation_row(view: Table, legal: I8, known: Table, hand: Table, meaning: Table) -> int:
    """``choose_row`` after the auction of ``view``; the records keep what it shows and what the hand is worth."""
    replay_row(view, known, meaning)
    evaluate_row(view.hand, hand)
    return choose_row(known, hand, legal, meaning)


@batched
def _choose(views: Tables, legal: I8, known: Tables, hands: Tables, meanings: Tables, out: I64) -> None:
    for b in prange(len(views)):
        out[b] = situation_row(views[b], legal[b], known[b], hands[b], meanings[b])


class Sayc:
    """Standard American (ACBL SAYC), natural in competition."""

    name = "sayc"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Calls ``[B]``; the same for the same view, whatever the random numbers."""
        n = len(views)
        out = np.empty(n, np.int64)
        _choose(views, legal, allocate(KNOWN, n), allocate(HAND, n), allocate(MEANING, n), out)
        return out

    def explain(self, view: Table) -> str:
        """What every call of the auction promised, what each seat has shown, and why this call is made now."""
        known, hand, meaning = allocate(KNOWN, 1), allocate(HAND, 1), allocate(MEANING, 1)
        legal = np.zeros(NUM_CALLS, np.int8)
        lines = []
        begin_row(known[0], view["dealer"], view["vulnerable"])
        for t in range(int(view["length"])):
            seat, call = int(known[0]["seat"]), int(view["calls"][t])
            meaning_row(known[0], call, meaning[0])
            lines.append(f"{SEATS[seat]} {suited(call)}: {promise(meaning[0])}")
            learn_row(known[0], call, meaning[0])
        auction.legal_row(view, legal)
        call = situation_row(view, legal, known[0], hand[0], meaning[0])
        for who, name in ((2, "partner"), (1, "LHO"), (3, "RHO")):
            lines.append(f"{name} has shown {shown(known[0], (int(view['seat']) + who) % 4)}")
        meaning_row(known[0], call, meaning[0])
        lines.append(f"my call: {suited(call)}, {promise(meaning[0])}")
        return "\n".join(lines)

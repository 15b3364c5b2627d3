"""``sayc``: a natural bidder that makes the best call whose promise its hand keeps, and reads others the same way."""

import numpy as np

from bidzoo.agents.bridge.natural.hand import evaluate_row, keeps_row
from bidzoo.agents.bridge.natural.knowledge import begin_row, learn_row
from bidzoo.agents.bridge.natural.meaning import meaning_row
from bidzoo.agents.bridge.natural.records import HAND, KNOWN, MEANING
from bidzoo.cards import FIRST_BID, NUM_CALLS, PASS
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


@batched
def _choose(views: Tables, legal: I8, known: Tables, hands: Tables, meanings: Tables, out: I64) -> None:
    for b in prange(len(views)):
        replay_row(views[b], known[b], meanings[b])
        evaluate_row(views[b].hand, hands[b])
        out[b] = choose_row(known[b], hands[b], legal[b], meanings[b])


class Sayc:
    """Standard American (ACBL SAYC), natural in competition."""

    name = "sayc"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Calls ``[B]``; the same for the same view, whatever the random numbers."""
        n = len(views)
        out = np.empty(n, np.int64)
        _choose(views, legal, allocate(KNOWN, n), allocate(HAND, n), allocate(MEANING, n), out)
        return out

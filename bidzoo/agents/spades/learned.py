"""Spades learned as a whole (beyond the paper): a network that values bids, and one that values cards.

A bid is one of seven: nil, or the rounded takes of BIS moved by -2 ... 3 tricks. The network of bids sees the hand as
BIS does (takes, nil value, success chance), its shape and honours, the earlier bids, scores and bags. The network of
cards sees what the seat to play knows, and the card that SRP would play. Both give the chance of winning the game, up
to a number that is the same for all choices. With search it tries its cards at the table. ``policy_iteration``
makes the weights.
"""

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import (
    BIG_FIVE,
    BIG_SIX,
    chance_row,
    factor_row,
    hand_nil_value_row,
    hand_takes_row,
    nearest_row,
    sequence_row,
    signal_row,
)
from bidzoo.agents.spades.situation import (
    RANK,
    SUIT_SIZE,
    Situation,
    situation_row,
    suits_row,
    sure_takes_row,
    winners_row,
)
from bidzoo.agents.spades.srp import srp_row
from bidzoo.agents.spades.uct import BIDS, Workspace, open_workspace_row, rollout_row, sample_world_row
from bidzoo.core.arrays import Tensor, load_tensors
from bidzoo.core.bits import count_row
from bidzoo.core.kernels import F32, F64, I8, I16, I64, State, row
from bidzoo.core.layout import Field, Layout
from bidzoo.core.streams import below_row, next_row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.deals import SUITS
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import BAG_LIMIT, gap_row, score_row
from bidzoo.envs.spades.state import NIL, NOTHING, PARTNER, SPADES

FEATURES, HIDDEN, CHOICES = 48, 64, 7  # of the network of bids
SLOTS = 55  # cards, by place of the suit and number of higher ones still in play; spades are last, 16 in some decks
KINDS = 9  # properties of a card, see ``kinds_row``
INPUTS, WIDE, NARROW = 776, 192, 32  # of the network of cards
SCORES, LEAST = 299, -99  # scores of a game from -100 to 200 that is not over, and the least of them
GOAL = LEAST + SCORES
POINT = 0.002  # value of a point in other games
NETWORK_FILE = "learned.safetensors"
NETWORK = np.dtype(
    [
        ("w1", "f4", (HIDDEN, FEATURES)),
        ("b1", "f4", (HIDDEN,)),
        ("w2", "f4", (HIDDEN, HIDDEN)),
        ("b2", "f4", (HIDDEN,)),
        ("w3", "f4", (CHOICES, HIDDEN)),
        ("b3", "f4", (CHOICES,)),
        ("worth", "f4", (SCORES, SCORES)),
        ("card_w1", "f4", (INPUTS, WIDE)),
        ("card_b1", "f4", (WIDE,)),
        ("card_w2", "f4", (WIDE, NARROW)),
        ("card_b2", "f4", (NARROW,)),
        ("card_w3", "f4", (SLOTS + KINDS, NARROW)),
        ("card_b3", "f4", (SLOTS + KINDS,)),
    ],
    align=True,
)


def load_network(path: str | Path | None = None) -> dict[str, F32]:
    """Weights by name, shipped or of a file; ValueError names the tensor that is not as expected."""
    plan = {name: Tensor(NETWORK[name].shape, ("F16",)) for name in NETWORK.names or ()}
    file = Path(path or str(files("bidzoo.data") / "spades" / NETWORK_FILE))
    tensors = load_tensors(file, "a learned Spades player", lambda _: plan)
    return {name: array.astype(np.float32) for name, array in tensors.items()}


# ---- bids ------------------------------------------------------------------------------------


@row
def choice_bid_row(choice: int, regular: int) -> int:
    """The bid of a choice: nil, or ``regular`` moved by -2 ... 3, from 1 to 13."""
    return NIL if choice == 0 else min(13, max(1, regular + choice - 3))


@row
def covered_row(state: State) -> bool:
    """Partner has bid Big 5, as the network was trained to read it.

    It was trained when BIS still meant 5 as an offer to cover where it was far behind and no blind nil could be bid.
    """
    five = signal_row(state) == BIG_FIVE or (signal_row(state) == BIG_SIX and not state.blind_nil)
    return five and state.bids[(int(state.turn) + 2) % 4] == BIG_FIVE


@row
def seen_goal_row(state: State) -> int:
    """The goal as the networks see it, which have learned the game to ``GOAL``; one round alone is seen as it is."""
    return int(state.win_goal) if state.max_rounds == 1 else GOAL


@row
def seen_score_row(state: State, side: int) -> int:
    """Points of ``side`` as the networks see them, on the way to the goal that they see.

    Of a longer game they see the last points, of which nobody has fewer than none; of a shorter one the end.
    """
    points, goal = int(state.scores[side]), seen_goal_row(state)
    if state.win_goal == goal:
        return points
    return max(points - int(state.win_goal) + goal, 0)


@row
def features_row(state: State, hand: int, bidder: State, lookup: State, out: F32) -> int:
    """Write the inputs of the network of bids into ``out`` ``[FEATURES]``; return the rounded takes of BIS."""
    seat, suits = int(state.turn), suits_row(state.deck, hand)
    takes = hand_takes_row(state, hand, lookup) + factor_row(state, bidder)
    value = hand_nil_value_row(state, hand, lookup, covered_row(state))
    out[:] = 0
    out[0], out[1], out[2] = takes / 3, value, chance_row(lookup.curves[0, sequence_row(state)], value)
    regular = max(1, int(np.floor(takes + 0.5)))
    out[3] = takes + 0.5 - np.floor(takes + 0.5)
    offset, number = 4, 0
    for back in range(3):  # left opponent, partner, right opponent
        bid = int(state.bids[(seat + 1 + back) % 4])
        if bid >= 0:
            number += 1
            out[offset] = 1
            out[offset + 1] = bid == NIL
            out[offset + 2] = bid / 3
            out[offset + 3] = 1 if bid == 5 and back == 1 else 0
        offset += 4
    out[offset + number] = 1
    offset += 4
    side, rival = seat % state.sides, (seat + 1) % state.sides
    for k in range(2, state.sides):  # in cutthroat the leader of the others
        other = (seat + k) % state.sides
        if state.scores[other] > state.scores[rival]:
            rival = other
    ours, theirs = float(seen_score_row(state, side)), float(seen_score_row(state, rival))
    goal = float(seen_goal_row(state))
    out[offset], out[offset + 1], out[offset + 2] = ours / 100, theirs / 100, (ours - theirs) / 100
    out[offset + 3], out[offset + 4] = state.bags[side] / BAG_LIMIT, state.bags[rival] / BAG_LIMIT
    out[offset + 5] = 1 if goal - ours <= 100 else 0
    out[offset + 6] = 1 if goal - theirs <= 100 else 0
    out[offset + 7] = max(-1.0, min(1.0, (ours + 10 * max(1, state.bids[(seat + 2) % 4]) + 10 * takes - goal) / 50))
    their_bids = max(0, int(state.bids[(seat + 1) % 4])) + max(0, int(state.bids[(seat + 3) % 4]))
    out[offset + 8] = max(-1.0, min(1.0, (theirs + 10 * their_bids - goal) / 50))
    offset += 9
    length, size = count_row(suits[SPADES]), SUIT_SIZE[state.deck, SPADES]
    out[offset] = length / 4
    for k in range(4):
        out[offset + 1 + k] = suits[SPADES] >> (size - 1 - k) & 1
    offset += 5
    shortest = 14
    for suit in range(3):
        length, size = count_row(suits[suit]), SUIT_SIZE[state.deck, suit]
        out[offset] += suits[suit] >> (size - 1) & 1
        out[offset + 1] += suits[suit] >> (size - 2) & 1
        out[offset + 2] += suits[suit] >> (size - 3) & 1
        out[offset + 3 + min(length, 6)] += 1
        shortest = min(shortest, length)
    out[offset + 10] = shortest / 3
    return regular


@row
def forward_row(x: F32, lookup: State, hidden: F32, out: F32) -> None:
    """Values of the choices into ``out`` ``[CHOICES]``; ``hidden`` ``[2, HIDDEN]`` is overwritten."""
    for j in range(HIDDEN):
        total = lookup.b1[j]
        for k in range(FEATURES):
            total += lookup.w1[j, k] * x[k]
        hidden[0, j] = max(total, np.float32(0))
    for j in range(HIDDEN):
        total = lookup.b2[j]
        for k in range(HIDDEN):
            total += lookup.w2[j, k] * hidden[0, k]
        hidden[1, j] = max(total, np.float32(0))
    for j in range(CHOICES):
        total = lookup.b3[j]
        for k in range(HIDDEN):
            total += lookup.w3[j, k] * hidden[1, k]
        out[j] = total


@row
def learned_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64) -> int:
    """The bid of the seat to bid, which holds ``hand`` and has looked at it; a blind nil is never bid.

    With chance ``bidder.noise`` it is any of the choices.
    """
    x, values, hidden = np.empty(FEATURES, np.float32), np.empty(CHOICES, np.float32), np.empty((2, HIDDEN), np.float32)
    regular = features_row(state, hand, bidder, lookup, x)
    if below_row(key, 1 << 20) < bidder.noise * (1 << 20):
        best = below_row(next_row(key), CHOICES)
    else:
        forward_row(x, lookup, hidden, values)
        best = int(np.argmax(values))
    return nearest_row(legal_bids_row(state, hand), choice_bid_row(best, regular))


# ---- the value of a score --------------------------------------------------------------------


@row
def win_chance_row(state: State, side: int, lookup: State) -> float:
    """Chance that ``side`` wins the game between equals, after the last card of a round; scores ``state``.

    The network's table covers the paper's game, from -100 to 200 points; in other games the points gap is used.
    """
    if state.max_rounds == 1 or state.sides != 2 or state.win_goal != GOAL or state.lose_goal != LEAST - 1:
        return POINT * gap_row(state, side)
    score_row(state)
    ours, theirs = int(state.scores[side]), int(state.scores[1 - side])
    if max(ours, theirs) >= GOAL or min(ours, theirs) < LEAST:
        if ours == theirs:
            return 0.5
        return 1.0 if ours > theirs else 0.0
    return float(lookup.worth[ours - LEAST, theirs - LEAST])


# ---- cards -----------------------------------------------------------------------------------
# Side suits stand in the order of what we hold of them, so that the network need not learn a pattern three times. A
# card is identified by how many higher ones of its suit are in play: the highest is 0 whatever its rank.

_SUITS_BY_PLACE = ("longest side suit", "second side suit", "third side suit", "spades")
_WHO = ("me", "LHO", "partner", "RHO")
CARD_INPUTS = Layout(
    (
        Field("own", SLOTS, "cards that we hold, by slot"),
        Field.of("live", "number of cards of each suit that are in play", _SUITS_BY_PLACE, range(17)),
        Field("trick", 3 * SLOTS, "cards of the trick, by who played them (LHO, partner, RHO) and slot"),
        Field.of("taker", "who takes the trick so far", _WHO),
        Field.of("led", "suit that was led", (*_SUITS_BY_PLACE, "none")),
        Field.of("shown", "cards that each other player has played of each suit", _WHO[1:], _SUITS_BY_PLACE, range(9)),
        Field.of("voids", "suits that each other player is known not to hold", _WHO[1:], _SUITS_BY_PLACE),
        Field.of("bids", "bid of each player", _WHO, range(14)),
        Field.of("won", "tricks of each player", _WHO, range(14)),
        Field("alive", 16, "whose nil still stands, one bit a player"),
        Field.of("need", "tricks that each side still needs, plus 14", ("we", "they"), range(28)),
        Field.of("left", "tricks that are left", range(14)),
        Field.of("sure", "tricks that our spades take whatever happens", range(14)),
        Field.of("bags", "bags of each side", ("we", "they"), range(BAG_LIMIT)),
        Field.of("short", "tens of points that each side lacks to the goal", ("we", "they"), range(31)),
        Field("reached", 4, "which sides reach the goal by making their bids, one bit a side"),
        Field.of(
            "rules",
            "of the game",
            ("teams", "spades broken", "scores matter", "failed nil: partner", "failed nil: nothing", "bags count"),
        ),
        Field("srp", SLOTS, "the card that SRP plays, by slot"),
    )
)
_OWN, _LIVE, _TRICK, _TAKER, _LED, _SHOWN, _VOIDS, _BIDS, _WON, _ALIVE, _NEED, _LEFT, _SURE, _BAGS, _SHORT = (
    CARD_INPUTS.start(field.name) for field in CARD_INPUTS.fields[:-3]
)
_REACHED, _RULES, _SRP = (CARD_INPUTS.start(name) for name in ("reached", "rules", "srp"))
assert CARD_INPUTS.size == INPUTS
MOST_USED = 80  # inputs that are not 0 at once; 68 at most


class Seen(NamedTuple):
    """Inputs of the network of cards, and the legal cards, of one decision."""

    used: I16  # [MOST_USED]  inputs that are 1
    cards: I8  # [13]  legal cards
    slots: I8  # [13]  ... as outputs
    kinds: I16  # [13]  ... bits of their kinds


@row
def new_seen_row() -> Seen:
    """Arrays for one decision."""
    return Seen(np.empty(MOST_USED, np.int16), np.empty(13, np.int8), np.empty(13, np.int8), np.empty(13, np.int16))


@row
def see_row(state: State, held: int, seen: Seen) -> tuple[int, int]:
    """Write the inputs of the seat with ``held`` into ``seen``; return the numbers of ones and of legal cards.

    The inputs are entries of ``CARD_INPUTS``. A seat with one legal card needs none.
    """
    s = situation_row(state, held, True)
    place, live = np.empty(4, np.int64), np.empty(4, np.int64)
    _suits_row(state, s, place, live)
    used, n, number = seen.used, 0, 0
    legal, card_of_srp = legal_cards_row(state, held), srp_row(state, held)
    for card in range(52):
        if held >> card & 1:
            slot = slot_row(s.deck, card, place, live)
            used[n] = _OWN + slot
            n += 1
            if legal >> card & 1:
                seen.cards[number], seen.slots[number] = card, slot
                seen.kinds[number] = kinds_row(s, card, card_of_srp, live)
                number += 1
    if number == 1:
        return 0, 1
    used[n] = _SRP + slot_row(s.deck, card_of_srp, place, live)
    n = _see_trick_row(state, s, place, live, used, n + 1)
    n = _see_players_row(state, s, place, used, n)
    n = _see_score_row(state, s, used, n)
    return n, number


@row
def _suits_row(state: State, s: Situation, place: I64, live: I64) -> None:
    """Of each suit ``[4]``: its place in the inputs, and the ranks that are in play or in the trick, as bits.

    Side suits stand by how many of them we hold, then by our ranks, then by the ranks that we have not seen.
    """
    weight = np.empty(4, np.int64)
    for suit in range(4):
        live[suit] = s.own[suit] | s.unseen[suit]
        weight[suit] = count_row(s.own[suit]) << 40 | s.own[suit] << 20 | s.unseen[suit]
    for t in range(4 * (int(state.plays) // 4), state.plays):
        live[SUITS[s.deck, state.played[t]]] |= 1 << RANK[s.deck, state.played[t]]
    for suit in range(3):
        place[suit] = 0
        for other in range(3):
            place[suit] += weight[other] > weight[suit] or (weight[other] == weight[suit] and other < suit)
    place[SPADES] = 3


@row
def _see_trick_row(state: State, s: Situation, place: I64, live: I64, used: I16, n: int) -> int:
    """Add what is in play and the current trick to the ``n`` inputs in ``used``; return their new number."""
    seat = int(state.turn)
    for suit in range(4):
        used[n] = _LIVE + 17 * place[suit] + count_row(live[suit])
        n += 1
    for t in range(4 * (int(state.plays) // 4), state.plays):
        who = (int(state.players[t]) - seat) % 4 - 1
        used[n] = _TRICK + SLOTS * who + slot_row(s.deck, int(state.played[t]), place, live)
        n += 1
    used[n] = _TAKER + max(0, s.taker)
    used[n + 1] = _LED + (4 if s.led < 0 else place[s.led])
    return n + 2


@row
def _see_players_row(state: State, s: Situation, place: I64, used: I16, n: int) -> int:
    """Add bids, tricks, nils, and what others have played and do not hold, as ``_see_trick_row``."""
    seat = int(state.turn)
    shown = np.zeros((4, 4), np.int64)  # cards by seat and suit
    for t in range(state.plays):
        shown[(int(state.players[t]) - seat) % 4, SUITS[s.deck, state.played[t]]] += 1
    alive = 0
    for who in range(4):
        bid, won = int(state.bids[(seat + who) % 4]), int(state.won[(seat + who) % 4])
        alive |= s.alive[who] << who
        used[n] = _BIDS + 14 * who + bid
        used[n + 1] = _WON + 14 * who + won
        n += 2
        if who == 0:
            continue
        for suit in range(4):
            used[n] = _SHOWN + 36 * (who - 1) + 9 * place[suit] + min(8, shown[who, suit])
            n += 1
            if s.voids[who] >> suit & 1:
                used[n] = _VOIDS + 4 * (who - 1) + place[suit]
                n += 1
    used[n] = _ALIVE + alive
    return n + 1


@row
def _see_score_row(state: State, s: Situation, used: I16, n: int) -> int:
    """Add the tricks that are needed, the scores and the rules, as ``_see_trick_row``."""
    seat = int(state.turn)
    used[n] = _NEED + min(27, max(0, s.need + 14))
    used[n + 1] = _NEED + 28 + min(27, max(0, s.their_need + 14))
    used[n + 2] = _LEFT + s.remaining
    used[n + 3] = _SURE + sure_takes_row(s.own[SPADES], s.unseen[SPADES])
    n += 4
    rounds = state.max_rounds != 1  # the score matters
    reached = 0
    for k in range(2):
        side = (seat + k) % state.sides
        used[n] = _BAGS + BAG_LIMIT * k + int(state.bags[side])
        n += 1
        if rounds:
            short = GOAL - seen_score_row(state, side)
            used[n] = _SHORT + 31 * k + min(30, max(0, (short + 9) // 10))
            n += 1
            for other in range(side, 4, int(state.sides)):
                short -= 10 * int(state.bids[other])
            reached |= (short <= 0) << k
    used[n] = _REACHED + reached
    n += 1
    rules = (s.teams, state.broken == 1, rounds, state.failed_nil == PARTNER, state.failed_nil == NOTHING, s.counts)
    for k in range(6):
        if rules[k]:
            used[n] = _RULES + k
            n += 1
    return n


@row
def kinds_row(s: Situation, card: int, card_of_srp: int, live: I64) -> int:
    """Properties of a legal ``card`` as bits: the network learns one value a property for all cards."""
    suit, rank = int(SUITS[s.deck, card]), int(RANK[s.deck, card])
    other_suit, other = int(SUITS[s.deck, card_of_srp]), int(RANK[s.deck, card_of_srp])
    own, low, high = s.own[suit], min(rank, other), max(rank, other)
    between = (live[suit] & ~own) >> low & ((1 << (high - low)) - 1)  # cards of others between it and SRP's
    highest = live[suit] >> (rank + 1) == 0
    kinds = (
        card == card_of_srp,
        suit == other_suit and between == 0,  # as good as SRP's card
        s.led >= 0 and winners_row(s, suit) >> rank & 1 == 1,  # is winning the trick
        highest,
        own >> (rank + 1) == 0,  # our highest of the suit
        own & ((1 << rank) - 1) == 0,  # our lowest
        s.led >= 0 and suit == SPADES and s.led != SPADES,  # a cut
        s.led >= 0 and suit != s.led and suit != SPADES,  # thrown away
        highest and own & ~(1 << rank) == live[suit] & ~(1 << rank),  # nobody else has one
    )
    bits = 0
    for k in range(KINDS):
        bits |= kinds[k] << k
    return bits


@row
def slot_row(deck: int, card: int, place: I64, live: I64) -> int:
    """The slot of ``card``, whose suit stands at ``place`` and of which ``live`` ranks are in play."""
    suit = int(SUITS[deck, card])
    return 13 * place[suit] + count_row(live[suit] >> (RANK[deck, card] + 1))


@row
def values_row(seen: Seen, n: int, number: int, lookup: State, out: F32) -> None:
    """Values of the ``number`` legal cards into ``out``, from ``n`` inputs."""
    wide, narrow, active = np.empty(WIDE, np.float32), np.empty(NARROW, np.float32), np.empty(WIDE, np.int64)
    for j in range(WIDE):
        wide[j] = lookup.card_b1[j]
    add_rows(lookup.card_w1, seen.used, n, wide)
    positive = 0
    for k in range(WIDE):
        active[positive] = k  # overwritten next time unless unit k is positive
        positive += wide[k] > 0
    for j in range(NARROW):
        narrow[j] = lookup.card_b2[j]
    add_scaled_rows(lookup.card_w2, active, positive, wide, narrow)
    kind_values = np.empty(KINDS, np.float32)
    for k in range(KINDS):
        kind_values[k] = weigh_row(narrow, SLOTS + k, lookup)
    for i in range(number):
        out[i] = weigh_row(narrow, int(seen.slots[i]), lookup)
        for k in range(KINDS):
            if seen.kinds[i] >> k & 1:
                out[i] += kind_values[k]


@row
def weigh_row(narrow: F32, k: int, lookup: State) -> float:
    """Output ``k`` of the network of cards."""
    total = lookup.card_b3[k]
    for j in range(NARROW):
        total += max(narrow[j], np.float32(0)) * lookup.card_w3[k, j]
    return total


@row
def add_rows(weight: F32, rows: I16, n: int, out: F32) -> None:
    """The first ``n`` ``rows`` of ``weight`` added to ``out``, four at a time."""
    for i in range(0, n - 3, 4):
        a, b, c, d = weight[rows[i]], weight[rows[i + 1]], weight[rows[i + 2]], weight[rows[i + 3]]
        for j in range(WIDE):
            out[j] = out[j] + a[j] + b[j] + c[j] + d[j]
    for i in range(n - n % 4, n):
        a = weight[rows[i]]
        for j in range(WIDE):
            out[j] += a[j]


@row
def add_scaled_rows(weight: F32, rows: I64, n: int, x: F32, out: F32) -> None:
    """``add_rows`` with each row times its ``x``."""
    for i in range(0, n - 3, 4):
        a, b, c, d = weight[rows[i]], weight[rows[i + 1]], weight[rows[i + 2]], weight[rows[i + 3]]
        p, q, r, s = x[rows[i]], x[rows[i + 1]], x[rows[i + 2]], x[rows[i + 3]]
        for j in range(NARROW):
            out[j] = out[j] + p * a[j] + q * b[j] + r * c[j] + s * d[j]
    for i in range(n - n % 4, n):
        a, p = weight[rows[i]], x[rows[i]]
        for j in range(NARROW):
            out[j] += p * a[j]


@row
def think_row(state: State, held: int, lookup: State, seen: Seen, values: F32) -> tuple[int, int]:
    """The number of legal cards of the seat to play, which holds ``held``, and which of them has the highest value."""
    n, number = see_row(state, held, seen)
    if number == 1:
        values[0] = 0
        return 1, 0
    values_row(seen, n, number, lookup, values)
    return number, int(np.argmax(values[:number]))


@row
def learned_card_row(state: State, held: int, lookup: State) -> int:
    """The card of the highest value for the seat to play, which holds ``held``."""
    seen = new_seen_row()
    _, best = think_row(state, held, lookup, seen, np.empty(13, np.float32))
    return int(seen.cards[best])


# ---- search at the table ---------------------------------------------------------------------
# The network's card and the others are played out on the same deals. The unseen cards are dealt as the voids and bids
# make them likely (``uct.sample_world_row``). On every deal SRP plays the round out from each card, and the value of
# the score it leads to is compared with that of the network's card. That one is played unless another was better by
# ``certain`` standard errors: on one deal two cards mostly lead to the same score, so the differences say much more
# than the means.


@row
def searched_card_row(
    state: State, held: int, player: State, lookup: State, key: np.uint64, workspace: Workspace
) -> int:
    """The card of the search for the seat to play, which holds ``held``."""
    seen = new_seen_row()
    number, baseline = think_row(state, held, lookup, seen, np.empty(13, np.float32))
    if number == 1:
        return int(seen.cards[0])
    gains, errors = np.empty(13), np.empty(13)
    compare_row(state, held, player.worlds, seen, number, baseline, lookup, key, workspace, gains, errors)
    best = baseline
    for i in range(number):
        if gains[i] > gains[best] and gains[i] > player.certain * errors[i]:
            best = i
    return int(seen.cards[best])


@row
def compare_row(
    state: State,
    held: int,
    worlds: int,
    seen: Seen,
    number: int,
    baseline: int,
    lookup: State,
    key: np.uint64,
    workspace: Workspace,
    gains: F64,
    errors: F64,
) -> None:
    """Mean gain in value of each of ``number`` cards over card ``baseline`` on the same ``worlds``; standard errors."""
    values, side = np.empty(13), int(state.turn) % int(state.sides)
    equivalent = np.full(13, -1)  # an earlier card that is as good: nobody holds one between them
    for i in range(number):
        gains[i] = 0
        errors[i] = 0  # squares until the end
        for j in range(i):
            suits = SUITS[state.deck, seen.cards[i]], SUITS[state.deck, seen.cards[j]]
            if suits[0] == suits[1] and seen.slots[j] == seen.slots[i] + 1:
                equivalent[i] = j
    open_workspace_row(state, held, BIDS, workspace.views[0])
    for _ in range(worlds):
        key = sample_world_row(state, BIDS, lookup, key, workspace)
        for i in range(number):
            if equivalent[i] >= 0:
                values[i] = values[equivalent[i]]
                continue
            workspace.states[1] = workspace.states[0]
            trial = workspace.states[1]
            play_row(trial, int(seen.cards[i]))
            rollout_row(trial)
            values[i] = win_chance_row(trial, side, lookup)
        for i in range(number):
            gain = values[i] - values[baseline]
            gains[i] += gain / worlds
            errors[i] += gain * gain / worlds
    for i in range(number):
        errors[i] = np.sqrt(max(0.0, errors[i] - gains[i] * gains[i]) / worlds)

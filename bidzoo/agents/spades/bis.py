"""BIS, "Bidding in Spades": Algorithm 1 of Cohensius, Meir, Oved and Stern (ECAI 2020).

takes and nil value of the hand → success chance of nil by the curve of the earlier bids → nil if its expected
score beats the threshold, else the takes → changes near the end of a game and by the conventions.
"""

from importlib.resources import files
from pathlib import Path

import numpy as np

from bidzoo.agents.spades.situation import SUIT_SIZE, Suits, high_row, suits_row
from bidzoo.core.arrays import Floats, Plan, Text, load_npz
from bidzoo.core.bits import count_row
from bidzoo.core.kernels import F32, F64, State, row
from bidzoo.core.streams import below_row, next_row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.deals import SUIT_CARDS
from bidzoo.envs.spades.score import BAG_LIMIT
from bidzoo.envs.spades.state import BLIND_NIL, CUTTHROAT, LOOK, NIL, SPADES, SUICIDE, WHIZ

# ---- takes and nil value ---------------------------------------------------------------------
# ``regularTakes`` and ``nilValue`` (sections 4.1 and 4.2): the value of a hand before the play.

HONOURS = 4  # spades A K Q J
FREE_SPADES = 4  # a spade beyond the fourth is a take (4.1.3)
VOID_FACTOR = 1.15  # "almost"-independence (4.2)


@row
def spade_takes_row(mask: int, size: int) -> int:
    """Takes by high and long spades (4.1.2, 4.1.3): protected honours, and each spade beyond the fourth."""
    length = count_row(mask)
    takes = max(0, length - FREE_SPADES)
    for k in range(HONOURS):
        takes += (mask >> (size - 1 - k) & 1) & (length > k)
    return min(takes, length)


@row
def side_takes_row(mask: int, size: int, clear: F64) -> float:
    """Takes by the A, K and Q of a side suit (4.1.1); ``clear`` ``[held, trick]`` of Table 1."""
    length, takes = count_row(mask), 0.0
    for k in range(3):
        if mask >> (size - 1 - k) & 1 and length > k:
            takes += clear[length, k]
    return takes


@row
def cuts_row(deck: int, suits: Suits, clear: F64, cuts: int) -> float:
    """The best ``cuts`` cuts in short side suits (4.1.4): tricks that nobody else can cut."""
    total, taken = 0.0, 0
    used0, used1, used2 = count_row(suits[0]), count_row(suits[1]), count_row(suits[2])
    while taken < cuts:
        best, best_suit = 0.0, -1
        for suit in range(3):
            trick = (used0, used1, used2)[suit]
            if trick < 3:
                chance = clear[SUIT_SIZE[deck, suit] - 12, count_row(suits[suit]), trick]
                if chance > best:
                    best, best_suit = chance, suit
        if best_suit < 0:
            break
        total += best
        taken += 1
        used0, used1, used2 = used0 + (best_suit == 0), used1 + (best_suit == 1), used2 + (best_suit == 2)
    return total


@row
def takes_row(deck: int, suits: Suits, clear: F64) -> float:
    """Expected takes of a regular bid, before the factor for earlier bids.

    ``clear`` ``[2, held, trick]`` for suits of 12 and 13 cards and the number of opponents who may cut. Each
    spade counts once, where it takes most: the lowest ones are tried as cuts, from none to all.
    """
    takes = 0.0
    for suit in range(3):
        size = SUIT_SIZE[deck, suit]
        takes += side_takes_row(suits[suit], size, clear[size - 12])
    spades, size, best = suits[SPADES], SUIT_SIZE[deck, SPADES], 0.0
    for cuts in range(count_row(suits[SPADES]) + 1):
        best = max(best, spade_takes_row(spades, size) + cuts_row(deck, suits, clear, cuts))
        spades &= spades - 1
    return takes + best


@row
def nil_value_row(deck: int, suits: Suits, side: F64, trumps: F64, covered: bool) -> float:
    """``nilValue``: the product of the suits' ``Pr(cnil)``, times 1.15 with a void side suit or no spade, at most 1.

    ``side`` ``[2, 2 ** 13]`` (suits of 12 and 13 cards), ``trumps`` ``[2 ** 16]``. ``covered``: partner has shown
    the ace or king of spades (Big 5), so a king or queen as our highest spade is not counted.
    """
    value, void = 1.0, False
    for suit in range(3):
        void |= suits[suit] == 0
        value *= side[SUIT_SIZE[deck, suit] - 12, suits[suit]]
    spades, size = suits[SPADES], SUIT_SIZE[deck, SPADES]
    void |= spades == 0
    top = high_row(spades)
    if covered and count_row(spades) <= 3 and (top == size - 2 or top == size - 3):
        spades &= ~(1 << top)
    value *= trumps[spades]
    return min(1.0, value * VOID_FACTOR) if void else value


@row
def covers_row(deck: int, suits: Suits, ranks: int, king: bool) -> bool:
    """Ace (or king, if ``king``) of spades, and in each side suit a void or one of the ``ranks`` top cards (G.2)."""
    size = SUIT_SIZE[deck, SPADES]
    top = suits[SPADES] >> (size - 2)
    if not (top & 2 or (king and top & 1)):
        return False
    low = False
    for suit in range(3):
        low |= suits[suit] != 0 and high_row(suits[suit]) < SUIT_SIZE[deck, suit] - ranks
    return not low


# ---- success curves --------------------------------------------------------------------------
# The chance that a nil succeeds, by nil value and the bids before it (section 4.3): a logistic function of the nil
# value, one for each of the 2955 sequences of 0 ... 3 earlier bids. ``experiments/success_curves.py`` makes the table.

SEQUENCES = 1 + 14 + 14**2 + 14**3
FIRST = (0, 1, 1 + 14, 1 + 14 + 14**2)  # row of the first sequence of 0, 1, 2, 3 bids
CURVES_FILE = "success-curves.npz"


@row
def sequence_row(state: State) -> int:
    """Row of the bids already made, in bidding order (the right opponent's is last)."""
    index, length = 0, 0
    for k in range(3, 0, -1):
        bid = int(state.bids[(int(state.turn) - k) % 4])
        if bid >= 0:
            index = 14 * index + bid
            length += 1
    return index + FIRST[length]


@row
def chance_row(curve: F32, nil_value: float) -> float:
    """Success chance of a nil; ``curve`` ``[2]`` holds intercept and slope in log odds."""
    return 1.0 / (1.0 + np.exp(-(curve[0] + curve[1] * nil_value)))


def sequence_bids(index: int) -> tuple[int, ...]:
    """The bids of row ``index``, in bidding order."""
    length = sum(index >= first for first in FIRST) - 1
    index -= FIRST[length]
    return tuple(index // 14**k % 14 for k in range(length - 1, -1, -1))


def load_curves() -> F32:
    """Intercept and slope ``[2, 2955, 2]``: row 0 by sequence, row 1 the single curve of section 5.3.1."""
    plan: Plan = {"curves": Floats((2, SEQUENCES, 2)), "provenance": Text()}
    path = Path(str(files("bidzoo.data") / "spades" / CURVES_FILE))
    return load_npz(path, "an .npz of success curves", plan)["curves"]


# ---- near the end of a game ------------------------------------------------------------------
# From most points to most wins (sections 4.4, G.1 and appendix E). A side *can win* if fulfilling its contract takes it
# to the winning goal. A bid not yet made counts as ``USUAL_BID``; the paper's mean sum of bids is 10.55.

USUAL_BID = 2.64
SURE_SET, HIGH_SUM = 14, 11  # sums of four bids
SMALL_GAP, MOST_TRICKS = 20, 2  # points behind that up to two more tricks make good
RISKY_NIL = 0.3  # success chance that is enough for a desperate nil
BAG_ROOM = 2


@row
def bid_points_row(bid: int) -> float:
    """Points of a bid that is fulfilled; -1 is a bid not yet made."""
    if bid < 0:
        return 10 * USUAL_BID
    return 100.0 if bid == NIL else 10.0 * bid


@row
def endgame_row(state: State, bid: int, regular: int, takes: float, nil_chance: float) -> int:
    """``bid`` (a nil or the ``regular`` bid) adapted to the score; ``takes`` before rounding."""
    seat = int(state.turn)
    ours, theirs = float(state.scores[seat % 2]), float(state.scores[(seat + 1) % 2])
    left, partner = int(state.bids[(seat + 1) % 4]), int(state.bids[(seat + 2) % 4])
    right = int(state.bids[(seat + 3) % 4])
    ours += bid_points_row(partner)
    theirs += bid_points_row(left) + bid_points_row(right)
    last, goal = left >= 0, float(state.win_goal)
    if theirs >= goal and theirs > ours + bid_points_row(bid):
        if bid != NIL:
            return _seeking_row(left, partner, right, bid, takes, theirs - ours - 10 * bid, nil_chance)
        return bid
    if last and ours + 10 * regular >= goal and ours + 10 * regular > theirs:
        if bid == NIL:
            bid = regular
        points = ours + 10 * (bid - 1)
        if bid > 1 and points >= goal and points > theirs and state.bags[seat % 2] + BAG_ROOM < BAG_LIMIT:
            return bid - 1
    return bid


@row
def _seeking_row(left: int, partner: int, right: int, bid: int, takes: float, gap: float, nil_chance: float) -> int:
    """A regular bid when the opponents are about to win by ``gap`` points: the four cases of G.1."""
    if left == NIL or right == NIL:
        return max(1, int(np.floor(takes)))  # takes - 0.5, rounded
    other_bids = left + partner + right
    if left >= 0 and partner != NIL and other_bids + bid >= HIGH_SUM:
        return min(13, max(1, SURE_SET - other_bids))
    if gap < SMALL_GAP:
        return min(13, bid + min(MOST_TRICKS, int(gap // 10) + 1))
    if nil_chance >= RISKY_NIL and partner != NIL:
        return NIL
    return bid


# ---- Algorithm 1 -----------------------------------------------------------------------------

BIG_FIVE, BIG_SIX = 5, 6
FAR_BEHIND = 100  # points; then Big 6 replaces Big 5
COVERED_THRESHOLD = -10.0  # nil threshold after partner's Big 5, points
SUICIDE_THRESHOLD = -20.0  # one of us must bid nil
EASY_SUM = 11  # three bids below this are an easy contract (G.3)


@row
def factor_row(state: State, bidder: State) -> float:
    """Correction of the takes for earlier bids: ``bias`` of the turn plus ``slope`` for each trick above their mean."""
    number, total = 0, 0  # of the bids before this one
    for seat in range(4):
        if state.bids[seat] >= 0:
            number += 1
            total += int(state.bids[seat])
    return bidder.bias[number] + bidder.slope * (total - USUAL_BID * number)


@row
def hand_takes_row(state: State, hand: int, lookup: State) -> float:
    """``CalcRegularTakes`` before the factor; an opponent who bid nil will not cut (appendix A)."""
    seat, cutters = int(state.turn), 0
    for k in range(1, 4):
        if (k != 2 or state.variant == CUTTHROAT) and state.bids[(seat + k) % 4] != NIL:
            cutters += 1
    return takes_row(state.deck, suits_row(state.deck, hand), lookup.clear[cutters])


@row
def hand_nil_value_row(state: State, hand: int, lookup: State, covered: bool) -> float:
    """``CalcNilValue``; in cutthroat nobody covers."""
    suits = suits_row(state.deck, hand)
    if state.variant == CUTTHROAT:
        return nil_value_row(state.deck, suits, lookup.side_alone, lookup.spades_alone[state.deck], False)
    return nil_value_row(state.deck, suits, lookup.side, lookup.spades[state.deck], covered)


@row
def signal_row(state: State) -> int:
    """The reserved bid now in force: 6 if we are far behind, else 5; 0 without partners (G.2).

    The paper replaces Big 5 by Big 6 whenever the side is far behind, also where the rules have no blind nil. Partner
    can do nothing with a 6 there.
    """
    if state.sides != 2 or state.variant != 0:
        return 0
    side = int(state.turn) % 2
    return BIG_SIX if state.scores[1 - side] - state.scores[side] > FAR_BEHIND else BIG_FIVE


@row
def offered_row(state: State) -> bool:
    """Partner, bidding before us as the first of the side, has offered to cover our nil by Big 5 (G.2)."""
    return signal_row(state) == BIG_FIVE and state.bids[(int(state.turn) + 2) % 4] == BIG_FIVE


@row
def threshold_row(state: State, bidder: State, takes: float, covered: bool) -> float:
    """``CalcNilThreshold`` in points: a constant, or for BIS* the expected score of the regular bid (5.3.3)."""
    if state.variant == SUICIDE:
        return SUICIDE_THRESHOLD
    threshold = bidder.nil_threshold
    if bidder.bid_sensitive and state.sides == 2:
        partner = bid_points_row(int(state.bids[(int(state.turn) + 2) % 4]))
        team = 0.82 * (10 * takes + partner) - 0.18 * (10 * takes + partner)
        threshold = team - 0.68 * partner + 0.32 * partner  # partner alone covers and makes the contract less often
    if covered:
        threshold = min(threshold, COVERED_THRESHOLD)
    return threshold


@row
def bis_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64) -> int:
    """The bid of the seat to bid, which holds ``hand`` (ignored before it has looked)."""
    seat = int(state.turn)
    if not state.looked >> seat & 1:
        return BLIND_NIL if bidder.blind and blind_row(state, bidder) else LOOK
    partner = int(state.bids[(seat + 2) % 4]) if state.sides == 2 else -1
    signal = signal_row(state) if bidder.conventions else 0
    covered = bidder.conventions == 1 and offered_row(state)
    raw = hand_takes_row(state, hand, lookup)
    takes = raw + factor_row(state, bidder)
    value = hand_nil_value_row(state, hand, lookup, covered)
    chance = value if state.sides == 4 else chance_row(lookup.curves[bidder.single_curve, sequence_row(state)], value)
    regular = max(1, int(np.floor(takes + 0.5)))
    threshold = threshold_row(state, bidder, takes, covered)
    if state.variant == WHIZ:  # the regular bid is the number of spades: dearer where the hand takes fewer
        threshold -= 20 * max(0.0, count_row(hand & SUIT_CARDS[state.deck, SPADES]) - takes)
    bid = NIL if partner != NIL and 200 * chance - 100 > threshold else regular
    if below_row(key, 1 << 20) < bidder.noise * (1 << 20):
        return nearest_row(legal_bids_row(state, hand), noisy_row(regular, key))
    if bidder.endgame and state.sides == 2 and state.variant == 0:
        bid = endgame_row(state, bid, regular, takes, chance)
    if signal and partner < 0 and bid != NIL:
        bid = convention_row(state, hand, bid, signal)
    return nearest_row(legal_bids_row(state, hand), bid)


@row
def convention_row(state: State, hand: int, bid: int, signal: int) -> int:
    """The first partner's bid: the signal with a good covering hand, one less if it would say so falsely (G.2)."""
    suits = suits_row(state.deck, hand)
    if signal == BIG_FIVE:
        good = 4 <= bid <= 6 and covers_row(state.deck, suits, 4, True)
    else:
        good = bid >= 4 and covers_row(state.deck, suits, 5, False)
    if good:
        return signal
    return bid - 1 if bid == signal else bid


@row
def blind_row(state: State, bidder: State) -> bool:
    """Blind nil: partner asked for it (Big 6), or the opponents are about to win with an easy contract (G.3)."""
    seat = int(state.turn)
    partner = int(state.bids[(seat + 2) % 4]) if state.sides == 2 else -1
    if state.sides != 2 or partner == NIL:
        return False
    if bidder.conventions and partner == BIG_SIX and signal_row(state) == BIG_SIX:
        return True
    left, right = int(state.bids[(seat + 1) % 4]), int(state.bids[(seat + 3) % 4])
    if left <= 0 or right <= 0 or partner < 0:
        return False
    theirs = state.scores[(seat + 1) % 2] + 10 * (left + right)
    ours = state.scores[seat % 2] + 10 * (partner + 3)
    return theirs >= state.win_goal and theirs > ours and left + partner + right < EASY_SUM


@row
def noisy_row(regular: int, key: np.uint64) -> int:
    """An exploring bid: half the time nil, else the regular bid moved by -2 ... 3 tricks."""
    key = next_row(key)
    if below_row(key, 2):
        return NIL
    return min(13, max(1, regular - 2 + below_row(next_row(key), 6)))


@row
def nearest_row(legal: int, bid: int) -> int:
    """``bid`` if legal, else the nearest legal one, the higher of two."""
    for step in range(14):
        if bid + step <= 13 and legal >> (bid + step) & 1:
            return bid + step
        if bid - step >= 0 and legal >> (bid - step) & 1:
            return bid - step
    return bid

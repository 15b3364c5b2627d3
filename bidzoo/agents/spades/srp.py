"""SRP and WRP, the strong and the weak rule-based player (section 5.1, appendix D).

The paper names SRP's ideas (sure takes, goals by round type, covering and setting a nil, bags, the high-low doubleton)
but not its rules; these are ours. Of WRP it says no more than that it plays like an average recreational human. Ours
follows SRP's rules of thumb, but it forgets the cards of earlier tricks, has no goal beyond its contract and goes for
an opponent's nil whatever its contract still lacks.

The goal of the moment (``situation.goal_row``) says which card is led (``lead``) or added to the trick. Cards come back
as ``(suit, rank)``.
"""

from bidzoo.agents.spades.lead import FOR_NIL, FOR_NOTHING, FOR_TRICKS, nil_lead_row, weighed_lead_row
from bidzoo.agents.spades.situation import (
    ALLY,
    AVOID,
    CARD,
    COVER,
    KEEP_NIL,
    LEFT,
    RANK,
    RIGHT,
    TAKE,
    Situation,
    boss_row,
    goal_row,
    high_row,
    losers_row,
    may_cut_row,
    may_hunt_row,
    partner_wins_row,
    situation_row,
    sure_takes_row,
    target_row,
    winners_row,
)
from bidzoo.core.bits import count_row, lowest_row
from bidzoo.core.kernels import State, States, batched, row, rows_a_thread
from bidzoo.envs.spades.deals import SUITS
from bidzoo.envs.spades.engine import act_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, PLAY, SPADES

# ---- a card of another suit ------------------------------------------------------------------


@row
def throw_row(s: Situation) -> tuple[int, int]:
    """The card least likely to take a trick: low, from a short suit, no boss and no guarded second-best card."""
    best, suit, rank = 1000, -1, -1
    for k in range(3):
        mask = s.own[k]
        if mask == 0:
            continue
        low, length = lowest_row(mask), count_row(mask)
        above = count_row(s.unseen[k] >> (low + 1))
        value = 4 * low + 3 * length
        if above == 0:
            value += 60
        elif above <= 2 and length <= above + 1:
            value += 24
        elif length == 2 and count_row(s.unseen[k] >> (high_row(mask) + 1)) == 1:
            value += 20  # would leave a second-best card alone
        if value < best:
            best, suit, rank = value, k, low
    if suit < 0:
        return SPADES, lowest_row(s.own[SPADES])
    return suit, rank


@row
def danger_row(s: Situation, suit: int, rank: int) -> int:
    """Danger that a card takes an unwanted trick: unseen cards under it against our own ways to duck."""
    under = count_row(s.unseen[suit] & ((1 << rank) - 1))
    above = count_row(s.unseen[suit] >> (rank + 1))
    lower = count_row(s.own[suit] & ((1 << rank) - 1))
    return 4 * under - 3 * above - 5 * lower + rank


@row
def discard_row(s: Situation) -> tuple[int, int]:
    """The most dangerous card that does not win the trick; a spade only under a spade or when nothing else remains."""
    worst, suit, rank = -1000, -1, -1
    for k in range(3):
        high = high_row(s.own[k])
        if high >= 0:
            danger = danger_row(s, k, high)
            if danger > worst:
                worst, suit, rank = danger, k, high
    losers = losers_row(s, SPADES)
    if losers:
        high = high_row(losers)
        danger = danger_row(s, SPADES, high) + 8
        if danger > worst:
            worst, suit, rank = danger, SPADES, high
    if suit >= 0:
        return suit, rank
    return SPADES, high_row(s.own[SPADES]) if s.after == 0 else lowest_row(s.own[SPADES])


# ---- any card but the lead -------------------------------------------------------------------

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
def low_follow_row(s: Situation) -> tuple[int, int]:
    """The lowest card of the suit led; from a low doubleton under a boss the higher one first (D.3)."""
    mask = s.own[s.led]
    low = lowest_row(mask)
    if count_row(mask) == 2 and s.led != SPADES and s.teams and s.own[SPADES]:
        high = high_row(mask)
        if high <= 8 and high < s.best and s.best_suit == s.led and boss_row(s, s.led, s.best):
            return s.led, high
    return s.led, low


@row
def take_follow_row(s: Situation) -> tuple[int, int]:
    """Follow suit to win the trick where that is cheap or sure."""
    suit = s.led
    unseen = s.unseen[suit]
    winners = winners_row(s, suit)
    if winners == 0:
        return low_follow_row(s)
    top = high_row(winners)
    if partner_wins_row(s):
        if s.after == 0 or s.best_suit == SPADES != suit:
            return low_follow_row(s)
        threats = unseen >> (s.best + 1)
        between = threats & ((1 << (top - s.best)) - 1)
        if between == 0 or may_cut_row(s, LEFT, suit):
            return low_follow_row(s)
        return suit, equal_row(winners, unseen, top)
    if s.after == 0:
        return suit, lowest_row(winners)
    if may_cut_row(s, LEFT, suit):
        return low_follow_row(s)
    boss = boss_row(s, suit, top)
    if s.after == 2 and (suit == SPADES or not boss):
        return low_follow_row(s)
    return suit, equal_row(winners, unseen, top)


@row
def take_void_row(s: Situation) -> tuple[int, int]:
    """Cut with the cheapest spade that wins unless partner's card is good, else throw a card away."""
    winners = winners_row(s, SPADES)
    if winners == 0:
        return throw_row(s)
    if partner_wins_row(s):
        good = s.best_suit == SPADES or boss_row(s, s.led, s.best)
        if s.after == 0 or (good and not may_cut_row(s, LEFT, s.led)):
            return throw_row(s)
    if s.after and may_cut_row(s, LEFT, s.led):
        top = high_row(winners)
        if boss_row(s, SPADES, top):
            return SPADES, equal_row(winners, s.unseen[SPADES], top)
    return SPADES, lowest_row(winners)


@row
def take_trick_row(s: Situation) -> tuple[int, int]:
    """Any card but the lead, when we want the trick."""
    return take_follow_row(s) if s.own[s.led] else take_void_row(s)


@row
def avoid_row(s: Situation) -> tuple[int, int]:
    """Any card but the lead, when we want no trick: the highest that loses, else the lowest or a forced high one."""
    suit = s.led
    if s.own[suit] == 0:
        return discard_row(s)
    losers = losers_row(s, suit)
    if losers:
        return suit, high_row(losers)
    low = lowest_row(s.own[suit])
    if s.after == 0 or boss_row(s, suit, low):
        return suit, high_row(s.own[suit])
    return suit, low


@row
def keep_nil_row(s: Situation) -> tuple[int, int]:
    """Any card but the lead, to keep our nil: as to avoid tricks, but the partner who plays last may cover us.

    Forced over the card led in second seat, we part with a high card that several unseen ones can still beat.
    """
    suit = s.led
    if s.teams and s.after == 2 and s.own[suit] and losers_row(s, suit) == 0:
        mask = s.own[suit]
        while mask:
            high = high_row(mask)
            if count_row(s.unseen[suit] >> (high + 1)) >= COVERS_UNSEEN:
                return suit, high
            mask ^= 1 << high
    return avoid_row(s)


@row
def cover_row(s: Situation) -> tuple[int, int]:
    """Play over partner who bid nil: high before partner plays, over partner's card after."""
    suit = s.led
    follows = s.own[suit] != 0
    trump = suit if follows else SPADES
    winners = winners_row(s, trump)
    if s.after >= 2:  # partner plays after us
        safe = s.voids[ALLY] >> suit & 1 or count_row(s.unseen[s.best_suit] >> (s.best + 1)) <= 1
        if winners == 0 or safe:
            return take_trick_row(s) if winners and s.need > 0 else _save_row(s)
        if follows:
            return suit, equal_row(winners, s.unseen[suit], high_row(winners))
        return SPADES, lowest_row(winners)
    if s.taker == ALLY:
        if winners == 0:
            return _save_row(s)
        if follows and s.after:
            return suit, equal_row(winners, s.unseen[suit], high_row(winners))
        return trump, lowest_row(winners)
    sure = sure_takes_row(s.own[SPADES], s.unseen[SPADES])
    return take_trick_row(s) if s.need > sure else _save_row(s)


@row
def _save_row(s: Situation) -> tuple[int, int]:
    """The lowest card: high ones will be needed to cover."""
    if s.own[s.led]:
        return s.led, lowest_row(s.own[s.led])
    return throw_row(s)


@row
def hunt_row(s: Situation, target: int) -> tuple[int, int]:
    """Any card but the lead, against the nil of ``target``: never over a niler who wins, low before the niler plays."""
    suit = s.led
    follows = s.own[suit] != 0
    losers = losers_row(s, suit)
    # the niler on our right wins so far, but the coverer on our left is next and has higher cards to cover with
    covered = target == RIGHT and s.after == 1 and s.teams and not boss_row(s, s.best_suit, s.best)
    if s.taker == target and not covered:
        if not follows:
            return discard_row(s)
        if losers:
            return suit, high_row(losers)
        return suit, high_row(s.own[suit])
    to_come = s.after > 0 and target == LEFT
    if to_come and not s.voids[LEFT] >> suit & 1:
        beatable = s.best_suit == suit and not boss_row(s, suit, s.best)
        if beatable or partner_wins_row(s):
            if not follows:
                return discard_row(s)
            return suit, high_row(losers) if losers else lowest_row(s.own[suit])
    if follows and winners_row(s, suit) == 0:
        return suit, high_row(losers)  # low cards are for leading at the niler
    return take_trick_row(s)


# ---- the players -----------------------------------------------------------------------------


@row
def short_suits_row(state: State) -> int:
    """Before a lead: bits of side suits partner is void in, or signalled to be by high-low (D.3)."""
    ally = (int(state.turn) + ALLY) % 4
    short = int(state.voids[ally])
    if short >> SPADES & 1 or state.sides != 2:
        return 0
    for suit in range(3):
        first, second = -1, -1  # ranks with which partner followed
        for lead in range(0, int(state.plays), 4):
            place = (ally - int(state.players[lead])) % 4
            card = int(state.played[lead + place])
            if place and SUITS[state.deck, state.played[lead]] == suit and SUITS[state.deck, card] == suit:
                rank = int(RANK[state.deck, card])
                if first < 0:
                    first = rank
                else:
                    second = rank if second < 0 else 99  # a third card: no doubleton
        if 0 <= second < first:
            short |= 1 << suit
    return short & 7


@row
def goal_card_row(s: Situation, goal: int, target: int, ally_short: int) -> int:
    """The card to lead or to add to the trick; ``target``: whose nil to set, or -1."""
    leads = s.led < 0
    if goal == KEEP_NIL:
        suit, rank = nil_lead_row(s, False) if leads else keep_nil_row(s)
    elif goal == COVER:
        suit, rank = nil_lead_row(s, True) if leads else cover_row(s)
    elif leads:
        purpose = FOR_NIL if target >= 0 else (FOR_NOTHING if goal == AVOID else FOR_TRICKS)
        suit, rank = weighed_lead_row(s, purpose, ally_short)
    elif target >= 0:
        suit, rank = hunt_row(s, target)
    else:
        suit, rank = avoid_row(s) if goal == AVOID else take_trick_row(s)
    return int(CARD[s.deck, suit, rank])


@row
def srp_row(state: State, held: int) -> int:
    """The card SRP plays for the seat to play, which holds ``held``."""
    legal = legal_cards_row(state, held)
    if legal & (legal - 1) == 0:
        return lowest_row(legal)
    s = situation_row(state, held, True)
    goal, target = goal_row(s), target_row(s)
    if target >= 0 and not may_hunt_row(s):
        target = -1
    short = short_suits_row(state) if s.led < 0 and (goal == TAKE or target >= 0) else 0
    return goal_card_row(s, goal, target, short)


@row
def wrp_row(state: State, held: int) -> int:
    """The card WRP plays for the seat to play, which holds ``held``."""
    s = situation_row(state, held, False)
    if s.alive[0]:
        goal = KEEP_NIL
    elif s.teams and s.alive[ALLY]:
        goal = COVER
    else:
        goal = TAKE if s.need > 0 else AVOID
    return goal_card_row(s, goal, target_row(s), 0)


@batched
@rows_a_thread(16)
def _finish(start: int, stop: int, states: States, strong: bool) -> None:
    for b in range(start, stop):
        while states[b].phase == PLAY:
            held = states[b].held[states[b].turn]
            act_row(states[b], FIRST_CARD + (srp_row(states[b], held) if strong else wrp_row(states[b], held)))


class RuleBasedModule:
    """SRP or WRP as a playing module of ``phase="bidding"``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def finish(self, states: States) -> None:
        _finish(states, self.name == "srp")


SRP, WRP = RuleBasedModule("srp"), RuleBasedModule("wrp")

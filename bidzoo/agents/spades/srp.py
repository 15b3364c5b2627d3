"""SRP and WRP, the strong and the weak rule-based player (section 5.1, appendix D).

The paper names SRP's ideas (sure takes, goals by round type, covering and setting a nil, bags, the high-low doubleton)
but not its rules; these are ours. Of WRP it says no more than that it plays like an average recreational human. Ours
follows SRP's rules of thumb, but it forgets the cards of earlier tricks, has no goal beyond its contract and does not
go for an opponent's nil.
"""

from bidzoo.agents.spades.follow import avoid_row, cover_row, hunt_row, keep_nil_row, take_row
from bidzoo.agents.spades.hand import CARD, RANK
from bidzoo.agents.spades.lead import FOR_NIL, FOR_NOTHING, FOR_TRICKS, nil_lead_row, weighed_lead_row
from bidzoo.agents.spades.situation import (
    ALLY,
    AVOID,
    COVER,
    KEEP_NIL,
    TAKE,
    Situation,
    goal_row,
    may_hunt_row,
    situation_row,
    target_row,
)
from bidzoo.core.bits import lowest_row
from bidzoo.core.kernels import State, States, batched, row
from bidzoo.envs.spades.deals import SUITS
from bidzoo.envs.spades.engine import act_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, PLAY, SPADES


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
        suit, rank = avoid_row(s) if goal == AVOID else take_row(s)
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
    return goal_card_row(s, goal, -1, 0)


@batched
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
        """Play out every table in ``PLAY``."""
        _finish(states, self.name == "srp")


SRP, WRP = RuleBasedModule("srp"), RuleBasedModule("wrp")

"""SRP, the strong rule-based player (section 5.1, appendix D).

The paper names SRP's ideas (sure takes, goals by round type, covering and setting a nil, bags, the high-low
doubleton) but not its rules; these are ours.
"""

import numpy as np

from bidzoo.agents.spades.follow import avoid_row, cover_row, hunt_row, keep_nil_row, take_row
from bidzoo.agents.spades.goal import goal_row, may_hunt_row, target_row
from bidzoo.agents.spades.lead import FOR_NIL, FOR_NOTHING, FOR_TRICKS, cover_lead_row, low_lead_row, weighed_lead_row
from bidzoo.agents.spades.sight import ALLY, AVOID, COVER, KEEP_NIL, TAKE, Sight, card_row, sight_row
from bidzoo.agents.spades.suits import RANK
from bidzoo.bits import lowest_row
from bidzoo.envs.spades.deck import SUITS
from bidzoo.envs.spades.engine import act_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, PLAY, SPADES
from bidzoo.kernels import Table, Tables, batched, prange, row


@row
def short_suits_row(table: Table) -> int:
    """Bits of side suits partner is void in, or signalled to be by high-low (D.3)."""
    ally = (int(table.turn) + ALLY) % 4
    short = int(table.voids[ally])
    if short >> SPADES & 1 or table.sides != 2:
        return 0
    a0, a1, a2, b0, b1, b2 = -1, -1, -1, -1, -1, -1
    for t in range(table.plays):
        if table.players[t] != ally or table.played[t] < 0:
            continue
        card = int(table.played[t])
        suit, rank = int(SUITS[table.deck, card]), int(RANK[table.deck, card])
        if suit == SUITS[table.deck, table.played[4 * (t // 4)]] and suit != SPADES and t % 4:
            if suit == 0:
                a0, b0 = (rank, b0) if a0 < 0 else (a0, rank if b0 < 0 else 99)
            elif suit == 1:
                a1, b1 = (rank, b1) if a1 < 0 else (a1, rank if b1 < 0 else 99)
            else:
                a2, b2 = (rank, b2) if a2 < 0 else (a2, rank if b2 < 0 else 99)
    short |= (0 <= b0 < a0) | (0 <= b1 < a1) << 1 | (0 <= b2 < a2) << 2
    return short & 7


@row
def lead_choice_row(sight: Sight, goal: int, target: int, ally_short: int) -> tuple[int, int]:
    """Suit and rank to lead."""
    if goal == KEEP_NIL:
        return low_lead_row(sight)
    if goal == COVER:
        return cover_lead_row(sight)
    purpose = FOR_NIL if target >= 0 else (FOR_NOTHING if goal == AVOID else FOR_TRICKS)
    return weighed_lead_row(sight, purpose, ally_short)


@row
def follow_choice_row(sight: Sight, goal: int, target: int) -> tuple[int, int]:
    """Suit and rank to add to the trick."""
    if goal == KEEP_NIL:
        return keep_nil_row(sight)
    if goal == COVER:
        return cover_row(sight)
    if target >= 0:
        return hunt_row(sight, target)
    return avoid_row(sight) if goal == AVOID else take_row(sight)


@row
def srp_row(table: Table, held: int, key: np.uint64) -> int:
    """The card SRP plays for the seat to play, which holds ``held``; views and states. ``key`` is not used."""
    legal = legal_cards_row(table, held)
    if legal & (legal - 1) == 0:
        return lowest_row(legal)
    sight = sight_row(table, held, True)
    goal = goal_row(sight)
    target = target_row(sight)
    if target >= 0 and not may_hunt_row(sight):
        target = -1
    if sight.led < 0:
        short = short_suits_row(table) if goal == TAKE or target >= 0 else 0
        suit, rank = lead_choice_row(sight, goal, target, short)
    else:
        suit, rank = follow_choice_row(sight, goal, target)
    return card_row(sight, suit, rank)


@batched
def _finish(tables: Tables) -> None:
    for b in prange(len(tables)):
        while tables[b].phase == PLAY:
            card = srp_row(tables[b], tables[b].held[tables[b].turn], np.uint64(0))
            act_row(tables[b], FIRST_CARD + card)


class SrpModule:
    """SRP as a playing module of ``phase="bidding"``."""

    name = "srp"

    def finish(self, tables: Tables) -> None:
        """Play out every table in ``PLAY``."""
        _finish(tables)


PLAYER = SrpModule()

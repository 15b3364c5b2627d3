"""WRP, the weak rule-based player (section 5.1): about an average recreational human.

The paper says no more about it. Ours plays by SRP's rules of thumb, but it forgets the cards of earlier tricks,
has no goal beyond its contract and does not go for an opponent's nil.
"""

import numpy as np

from bidzoo.agents.spades.sight import ALLY, AVOID, COVER, KEEP_NIL, TAKE, card_row, sight_row
from bidzoo.agents.spades.srp import follow_choice_row, lead_choice_row
from bidzoo.envs.spades.engine import act_row
from bidzoo.envs.spades.state import FIRST_CARD, PLAY
from bidzoo.kernels import Table, Tables, batched, prange, row


@row
def wrp_row(table: Table, held: int, key: np.uint64) -> int:
    """The card WRP plays for the seat to play, which holds ``held``; views and states. ``key`` is not used."""
    sight = sight_row(table, held, False)
    if sight.alive[0]:
        goal = KEEP_NIL
    elif sight.teams and sight.alive[ALLY]:
        goal = COVER
    else:
        goal = TAKE if sight.need > 0 else AVOID
    if sight.led < 0:
        suit, rank = lead_choice_row(sight, goal, -1, 0)
    else:
        suit, rank = follow_choice_row(sight, goal, -1)
    return card_row(sight, suit, rank)


@batched
def _finish(tables: Tables) -> None:
    for b in prange(len(tables)):
        while tables[b].phase == PLAY:
            card = wrp_row(tables[b], tables[b].held[tables[b].turn], np.uint64(0))
            act_row(tables[b], FIRST_CARD + card)


class WrpModule:
    """WRP as a playing module of ``phase="bidding"``."""

    name = "wrp"

    def finish(self, tables: Tables) -> None:
        """Play out every table in ``PLAY``."""
        _finish(tables)


PLAYER = WrpModule()

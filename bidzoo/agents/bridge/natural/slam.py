"""Blackwood: answers, and the contract they lead to."""

from bidzoo.agents.bridge.natural.knowledge import cheapest_row
from bidzoo.agents.bridge.natural.promise import hcp_row
from bidzoo.agents.bridge.natural.records import R_ACES, R_CORRECTION, R_SLAM
from bidzoo.cards import NOTRUMP
from bidzoo.kernels import Table, row


@row
def answer_blackwood_row(level: int, strain: int, m: Table) -> None:
    """5C none or four aces, 5D one, 5H two, 5S three."""
    if level == 5 and strain < NOTRUMP:
        hcp_row(m, R_ACES, 90, 0, 40)
        m.aces = 0b10001 if strain == 0 else 1 << strain


@row
def after_blackwood_row(k: Table, level: int, strain: int, m: Table) -> None:
    """Six with three aces, seven with all and the points for it, else the cheapest bid of the trump suit."""
    trump, shown = k.agreed[k.seat % 2], k.aces[k.partner]
    if trump < 0 or strain != trump:
        return
    if level == 7:
        hcp_row(m, R_SLAM, 95, 0, 40)
        m.aces, m.trump, m.points_low = 1 << max(4 - shown, 0), trump, 38 - k.points_low[k.partner]
    elif level == 6:
        hcp_row(m, R_SLAM, 90, 0, 40)
        for own in range(5):
            if own + shown >= 3:
                m.aces |= 1 << own
        if m.aces == 0:
            m.priority = -1
    if level == cheapest_row(k, strain) and (level == 5 or m.priority < 0):
        hcp_row(m, R_CORRECTION, 50, 0, 40)
        m.aces = 0
    m.natural = 1

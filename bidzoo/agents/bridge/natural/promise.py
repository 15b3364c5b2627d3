"""Words in which the rules are written: each narrows what a call promises."""

from bidzoo.agents.bridge.natural.records import MOST_HCP, MOST_POINTS, NEVER, NO_SUIT, R_NATURAL
from bidzoo.kernels import Table, row


@row
def clear_row(m: Table, strain: int) -> None:
    """Nothing promised, and not to be made."""
    m.rule, m.priority = R_NATURAL, NEVER
    m.hcp_low, m.hcp_high, m.points_low, m.points_high = 0, MOST_HCP, 0, MOST_POINTS
    m.low[:] = 0
    m.high[:] = 13
    m.trump, m.balanced, m.longest, m.better, m.worse = NO_SUIT, 0, NO_SUIT, NO_SUIT, NO_SUIT
    m.by, m.tie, m.either, m.either_low, m.strong = 0, 0, 0, 4, MOST_HCP + 1
    m.quality, m.strain, m.stops, m.aces = 0, strain, 0, 0
    m.natural, m.force, m.agrees = 0, 0, NO_SUIT


@row
def hcp_row(m: Table, rule: int, priority: int, low: int, high: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` high-card points."""
    m.rule, m.priority, m.hcp_low, m.hcp_high = rule, priority, low, high


@row
def points_row(m: Table, rule: int, priority: int, low: int, high: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` points counting length."""
    m.rule, m.priority, m.points_low, m.points_high = rule, priority, low, high


@row
def support_points_row(m: Table, rule: int, priority: int, low: int, high: int, trump: int) -> None:
    """Made by ``rule`` with ``priority`` on ``low`` ... ``high`` points in support of ``trump``, and agrees it."""
    m.rule, m.priority, m.points_low, m.points_high = rule, priority, low, high
    m.trump, m.agrees, m.natural = trump, trump, 1


@row
def suit_row(m: Table, suit: int, low: int, high: int) -> None:
    """``low`` ... ``high`` cards of ``suit``."""
    m.low[suit], m.high[suit] = low, high


@row
def notrump_row(m: Table, rule: int, priority: int, low: int, high: int, stops: int) -> None:
    """A natural notrump bid on ``low`` ... ``high`` high-card points with ``stops`` (bit mask) stopped."""
    m.rule, m.priority, m.hcp_low, m.hcp_high = rule, priority, low, high
    m.stops, m.natural = stops, 1

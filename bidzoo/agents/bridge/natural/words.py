"""Promises in a player's words."""

from bidzoo.agents.bridge.natural.records import MOST_HCP, MOST_POINTS, NO_SUIT, RULES
from bidzoo.cards import NOTRUMP, SUITS, SYMBOLS
from bidzoo.kernels import Table

_SUITS = [SYMBOLS[suit] for suit in SUITS]


def between(low: int, high: int, most: int) -> str:
    """``"12-14"``, ``"12+"``, ``"0-5"``; empty if it says nothing."""
    if low <= 0 and high >= most:
        return ""
    return f"{low}+" if high >= most else str(low) if low == high else f"{max(low, 0)}-{high}"


def lengths(low: Table, high: Table) -> str:
    """``"5+♠, 2-3♥"``, highest suit first; suits of which nothing is known are left out."""
    parts = [between(int(low[suit]), int(high[suit]), 13) + _SUITS[suit] for suit in (3, 2, 1, 0)]
    return ", ".join(part for part in parts if len(part) > 1)


def promise(m: Table) -> str:
    """What a ``MEANING`` record says, such as ``"raise: 6-9 points in support, 3+♥"``."""
    parts = []
    for low, high, most, unit in (
        (m["hcp_low"], m["hcp_high"], MOST_HCP, "HCP"),
        (m["points_low"], m["points_high"], MOST_POINTS, "points" if m["trump"] == NO_SUIT else "points in support"),
    ):
        text = between(int(low), int(high), most)
        parts += [f"{text} {unit}"] if text else []
    if m["balanced"]:
        parts.append("balanced")
    parts += [text for text in [lengths(m["low"], m["high"])] if text]
    stopped = [_SUITS[suit] for suit in (3, 2, 1, 0) if int(m["stops"]) >> suit & 1]
    if stopped:
        parts.append(f"{''.join(stopped)} stopped")
    if m["either"]:
        parts.append("4+ in " + " or ".join(_SUITS[suit] for suit in (3, 2) if int(m["either"]) >> suit & 1))
    if m["aces"]:
        numbers = [str(n) for n in range(5) if int(m["aces"]) >> n & 1]
        parts.append(f"{' or '.join(numbers)} aces")
    if m["quality"] and 0 <= m["strain"] < NOTRUMP:
        parts.append(f"{int(m['quality'])}+ HCP in {_SUITS[int(m['strain'])]}")
    force = ("", "forcing", "forcing to game")[int(m["force"])]
    text = RULES[int(m["rule"])] + (": " if parts else "") + ", ".join(parts)
    return text + (f"; {force}" if force else "")


def shown(k: Table, seat: int) -> str:
    """What ``seat`` has shown, such as ``"12-21 HCP, 5+♠"``."""
    points = between(int(k["hcp_low"][seat]), int(k["hcp_high"][seat]), MOST_HCP)
    parts = [f"{points} HCP"] if points else []
    parts += [text for text in [lengths(k["low"][seat], k["high"][seat])] if text]
    return ", ".join(parts) or "nothing yet"

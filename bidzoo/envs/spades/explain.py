"""Spades observations as text: what the entries of a vector say, in a Spades player's words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.bits import gather, gather_signed
from bidzoo.cards import SEATS, SYMBOLS
from bidzoo.envs.spades.features import (
    ABOVE,
    BAG_COUNTS,
    BIDS,
    SHORT,
    SUITS,
    TRICK_COUNTS,
    WHO,
    sides_named,
    sides_seen,
)
from bidzoo.layout import Field, Layout

Vector = NDArray[Any]


def explain(layout: Layout, vector: Vector) -> str:
    """One observation ``[F]`` of either layout as text."""
    fields, parts = _parts(layout, vector)
    if not parts["first"].any():
        return "the game is over"
    lines = [
        f"my cards: {_hand(fields['hand'], parts['hand'])}" if parts["looked"][0] else "I have not seen my hand",
        f"bids: {_bids(parts, WHO)}",
    ]
    if "trick" in parts:
        lines += _play(fields, parts, WHO)
    return "\n".join([*lines, *_score(parts, sides_seen(_sides(parts)))])


def explain_state(layout: Layout, vector: Vector) -> str:
    """One global state ``[S]`` of ``features.state_layout`` as text."""
    fields, parts = _parts(layout, vector)
    turn, unseen = parts["turn"], [seat for seat, on in zip(SEATS, parts["looked"], strict=True) if not on]
    lines = [
        f"{SEATS[int(np.argmax(turn))]} to act" if turn.any() else "the game is over",
        *(f"{seat}: {_hand(fields[seat], parts[seat])}" for seat in SEATS),
        *([f"not yet looked: {' '.join(unseen)}"] if unseen else []),
        f"bids: {_bids(parts, SEATS)}",
    ]
    if "trick" in parts:
        lines += _play(fields, parts, SEATS)
    names = sides_named(_sides(parts))
    points = parts["score"].reshape(len(names), -1)
    scored = ", ".join(f"{name} {gather_signed(entries)}" for name, entries in zip(names, points, strict=True))
    return "\n".join([*lines, *_score(parts, names), f"score after {gather(parts['rounds'])} rounds: {scored}"])


def _parts(layout: Layout, vector: Vector) -> tuple[dict[str, Field], dict[str, Vector]]:
    vector = np.asarray(vector)
    if vector.shape != (layout.size,):
        raise ValueError(f"expected one vector of {layout.size} entries, got shape {vector.shape}")
    return {field.name: field for field in layout.fields}, layout.split(vector)


def _sides(parts: dict[str, Vector]) -> int:
    return len(parts["bags"]) // BAG_COUNTS


def _hand(field: Field, cards: Vector) -> str:
    """``BJ SA SK HQ ...``: cards by suit, spades first, high cards first."""
    order = sorted(np.flatnonzero(cards), key=lambda card: (-(card % 4), -(card // 4)))
    return " ".join(field.labels[card] for card in order) or "none"


def _bids(parts: dict[str, Vector], names: Sequence[str]) -> str:
    first = int(np.argmax(parts["first"]))
    made = parts["bids"].reshape(4, len(BIDS))
    order = [(first + i) % 4 for i in range(4)]
    told = [f"{names[who]} {BIDS[int(np.argmax(made[who]))]}" for who in order if made[who].any()]
    return ", ".join(told) or f"none; {names[first]} bids first"


def _on_table(field: Field, entries: Vector, first: int, names: Sequence[str]) -> str:
    cards = entries.reshape(4, -1)
    order = [(first + i) % 4 for i in range(4)]
    shown = [f"{names[who]} {field.labels[card].split()[0]}" for who in order for card in np.flatnonzero(cards[who])]
    return ", ".join(shown) or "no card"


def _play(fields: dict[str, Field], parts: dict[str, Vector], names: Sequence[str]) -> list[str]:
    leader = int(np.argmax(parts["leader"]))
    voids = [f"{names[i // 4]} {SYMBOLS[SUITS[i % 4]]}" for i in map(int, np.flatnonzero(parts["void"]))]
    won = parts["won"].reshape(4, TRICK_COUNTS).argmax(axis=1)
    return [
        f"trick led by {names[leader]}: {_on_table(fields['trick'], parts['trick'], leader, names)}",
        f"earlier: {_on_table(fields['earlier'], parts['earlier'], 0, names)}",
        f"tricks: {', '.join(f'{who} {k}' for who, k in zip(names, won, strict=True))}",
        f"void: {', '.join(voids) or 'nobody'}",
        f"spades are {'' if parts['broken'][0] else 'not '}broken",
    ]


def _score(parts: dict[str, Vector], names: Sequence[str]) -> list[str]:
    sides = len(names)
    short = parts["short"].reshape(sides, SHORT).argmax(axis=1)
    above, bags = parts["above"].reshape(sides, ABOVE), parts["bags"].reshape(sides, BAG_COUNTS).argmax(axis=1)
    lines = []
    for j, name in enumerate(names):
        more = " or more" if short[j] == SHORT - 1 else ""
        lost = f", {10 * int(above[j].argmax())} above the losing goal" if above[j].any() else ""
        lines.append(f"{name}: {10 * short[j]}{more} short of the goal, {bags[j]} bags{lost}")
    return lines

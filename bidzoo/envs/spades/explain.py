"""Spades observations as text: what the entries of a vector say, in a Spades player's words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import SYMBOLS
from bidzoo.envs.spades.features import ABOVE, BAG_COUNTS, BIDS, SHORT, SUITS, TRICK_COUNTS, WHO, sides_seen
from bidzoo.layout import Field, Layout

Vector = NDArray[Any]


def explain(layout: Layout, vector: Vector) -> str:
    """One observation ``[F]`` of either layout as text."""
    vector = np.asarray(vector)
    if vector.shape != (layout.size,):
        raise ValueError(f"expected one vector of {layout.size} entries, got shape {vector.shape}")
    parts = layout.split(vector)
    fields = {field.name: field for field in layout.fields}
    if not parts["first"].any():
        return "the game is over"
    lines = [
        f"my cards: {_hand(fields['hand'], parts['hand'])}" if parts["looked"][0] else "I have not seen my hand",
        f"bids: {_bids(parts)}",
    ]
    if "trick" in parts:
        lines += _play(fields, parts)
    return "\n".join([*lines, *_score(parts)])


def _hand(field: Field, cards: Vector) -> str:
    """``BJ SA SK HQ ...``: cards by suit, spades first, high cards first."""
    order = sorted(np.flatnonzero(cards), key=lambda card: (-(card % 4), -(card // 4)))
    return " ".join(field.labels[card] for card in order) or "none"


def _bids(parts: dict[str, Vector]) -> str:
    first = int(np.argmax(parts["first"]))
    made = parts["bids"].reshape(4, len(BIDS))
    order = [(first + i) % 4 for i in range(4)]
    told = [f"{WHO[who]} {BIDS[int(np.argmax(made[who]))]}" for who in order if made[who].any()]
    return ", ".join(told) or f"none; {WHO[first]} bids first"


def _on_table(field: Field, entries: Vector, first: int) -> str:
    cards = entries.reshape(4, -1)
    order = [(first + i) % 4 for i in range(4)]
    shown = [f"{WHO[who]} {field.labels[card].split()[0]}" for who in order for card in np.flatnonzero(cards[who])]
    return ", ".join(shown) or "no card"


def _play(fields: dict[str, Field], parts: dict[str, Vector]) -> list[str]:
    leader = int(np.argmax(parts["leader"]))
    voids = [f"{WHO[i // 4]} {SYMBOLS[SUITS[i % 4]]}" for i in np.flatnonzero(parts["void"])]
    won = parts["won"].reshape(4, TRICK_COUNTS).argmax(axis=1)
    return [
        f"trick led by {WHO[leader]}: {_on_table(fields['trick'], parts['trick'], leader)}",
        f"earlier: {_on_table(fields['earlier'], parts['earlier'], 0)}",
        f"tricks: {', '.join(f'{who} {k}' for who, k in zip(WHO, won, strict=True))}",
        f"void: {', '.join(voids) or 'nobody'}",
        f"spades are {'' if parts['broken'][0] else 'not '}broken",
    ]


def _score(parts: dict[str, Vector]) -> list[str]:
    sides = len(parts["bags"]) // BAG_COUNTS
    short = parts["short"].reshape(sides, SHORT).argmax(axis=1)
    above, bags = parts["above"].reshape(sides, ABOVE), parts["bags"].reshape(sides, BAG_COUNTS).argmax(axis=1)
    lines = []
    for j, name in enumerate(sides_seen(sides)):
        more = " or more" if short[j] == SHORT - 1 else ""
        lost = f", {10 * int(above[j].argmax())} above the losing goal" if above[j].any() else ""
        lines.append(f"{name}: {10 * short[j]}{more} short of the goal, {bags[j]} bags{lost}")
    return lines

"""Counts the chances that the Spades bidders look up, and writes the packaged file.

    python experiments/spades_chances.py

Cohensius, Meir, Oved and Stern, "Bidding in Spades" (ECAI 2020), sections 4.1.1, 4.1.4, 4.2 and appendix A. The paper
estimates these chances by simulation, nil safety (its ``cnil``) from 100 000 deals; they are counted here.
"""

import json
from functools import cache
from math import comb, factorial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bidzoo.agents.spades.lookup import CHANCES_FILE
from bidzoo.core.arrays import save_npz
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F64, row

UNSEEN, HAND = 39, 13  # cards in the three other hands, and in one of them


@cache
def lengths_chance(suit: int, first: int, second: int) -> float:
    """Chance that two named hidden hands hold ``first`` and ``second`` of ``suit`` unseen cards of a suit."""
    if first + second > suit or first > HAND or second > HAND:
        return 0.0
    ways = comb(suit, first) * comb(UNSEEN - suit, HAND - first)
    rest = suit - first
    ways *= comb(rest, second) * comb(UNSEEN - HAND - rest, HAND - second)
    return ways / (comb(UNSEEN, HAND) * comb(UNSEEN - HAND, HAND))


@cache
def clear_chance(opponents: int, held: int, trick: int, suit_size: int = 13) -> float:
    """Chance that each of ``opponents`` holds more than ``trick`` cards of a suit of which we hold ``held``.

    Table 1 (2 opponents), Table 5 (1), Table 6 (3); ``trick`` 0, 1, 2 is their column.
    """
    unseen = suit_size - held
    total = 0.0
    for first in range(trick + 1, unseen + 1):
        for second in range(0 if opponents == 1 else trick + 1, unseen + 1 - first):
            if opponents == 3 and unseen - first - second <= trick:
                continue
            total += lengths_chance(unseen, first, second)
    return total


def clear_chances(suit_size: int = 13) -> F64:
    """``clear_chance`` as ``[opponents, held, trick]``: 4 x 14 x 3; 1 where no opponent can cut."""
    chances = np.ones((4, 14, 3))
    for opponents in (1, 2, 3):
        for held in range(min(suit_size, HAND) + 1):
            for trick in range(3):
                chances[opponents, held, trick] = clear_chance(opponents, held, trick, suit_size)
    return chances


# ---- nil safety ------------------------------------------------------------------------------
# Only our three lowest cards of a suit are dangerous. They cut the unseen cards into four bands; all ways to share the
# bands among left and right opponent and partner are counted. A card is *set* when both opponents can play under it and
# partner cannot cover it:
#
# 1. lowest card: each opponent is void or has a smaller card; partner is not void and has no higher one;
# 2. second: each opponent has at most one card or two smaller ones; partner has two cards, not two higher ones;
# 3. third: each opponent has at most two cards or three smaller ones; partner has three cards, none higher.
#
# In spades partner cannot cut, so being short does not help, and a fourth spade denies nil. ``alone`` (cutthroat) turns
# partner into a third opponent.

LOW = 3  # dangerous cards of a suit
_FACTORIAL = np.array([float(factorial(n)) for n in range(UNSEEN + 1)])


@row
def _set_at(k: int, under: float, length: float) -> bool:
    """An opponent with ``under`` smaller cards of ``length`` can play under our ``k``-th card, k from 1."""
    return length < k or under >= k


@row
def _exposed(low: int, left: F64, right: F64, partner: F64, trump: bool, alone: bool) -> bool:
    """One of our ``low`` lowest cards is set by hands of these numbers of cards in the bands ``[4]``."""
    lengths = (left.sum(), right.sum(), partner.sum())
    under_left, under_right, under_partner = 0.0, 0.0, 0.0
    for k in range(1, low + 1):
        under_left += left[k - 1]
        under_right += right[k - 1]
        under_partner += partner[k - 1]
        if not (_set_at(k, under_left, lengths[0]) and _set_at(k, under_right, lengths[1])):
            continue
        higher = lengths[2] - under_partner
        if alone:
            if _set_at(k, under_partner, lengths[2]):
                return True
            continue
        needed = 2 if k == 2 else 1
        if higher < needed and (trump or lengths[2] >= k):
            return True
    return False


@row
def nil_safety_row(bands: F64, low: int, trump: bool, alone: bool, factorial: F64, hands: F64) -> float:
    """Chance that none of our ``low`` lowest is set; ``bands`` ``[4]`` unseen cards, ``hands`` ``[3, 4]`` scratch."""
    unseen = bands.sum()
    size = UNSEEN - unseen
    ways, total = 0.0, 0.0
    left, right, partner = hands[0], hands[1], hands[2]
    hands[:] = 0
    choice = np.ones(5)
    band = 0
    right[0] = -1
    while band >= 0:
        right[band] += 1  # the next share of this band, left outermost
        if left[band] + right[band] > bands[band]:
            left[band] += 1
            right[band] = 0
            if left[band] > bands[band]:
                left[band] = 0
                right[band] = 0
                partner[band] = 0
                band -= 1
                continue
        partner[band] = bands[band] - left[band] - right[band]
        choice[band + 1] = (
            choice[band]
            * factorial[int(bands[band])]
            / (factorial[int(left[band])] * factorial[int(right[band])] * factorial[int(partner[band])])
        )
        if band < 3:
            band += 1
            right[band] = -1
            continue
        rest = (HAND - left.sum(), HAND - right.sum(), HAND - partner.sum())
        if min(rest) < 0:
            continue
        deals = choice[4] * factorial[int(size)]
        deals /= factorial[int(rest[0])] * factorial[int(rest[1])] * factorial[int(rest[2])]
        total += deals
        if not _exposed(low, left, right, partner, trump, alone):
            ways += deals
    return ways / total


def nil_safety(cards: int, trump: bool, suit_size: int = 13, alone: bool = False) -> float:
    """``Pr(cnil)`` of one suit; bit ``k`` of ``cards`` is our ``k``-th smallest rank of ``suit_size``."""
    held = [k for k in range(suit_size) if cards >> k & 1]
    if not held:
        return 1.0
    if trump and len(held) > LOW:
        return 0.0
    low = held[:LOW]
    edges = [-1, *low, suit_size]
    inner = [edges[k + 1] - edges[k] - 1 for k in range(len(low))]
    bands = np.zeros(4)
    bands[: len(low)] = inner
    bands[3] = suit_size - len(held) - sum(inner)  # above the dangerous cards
    return float(nil_safety_row(bands, len(low), trump, alone, _FACTORIAL, np.zeros((3, 4))))


def nil_safeties(trump: bool, suit_size: int = 13, alone: bool = False) -> F64:
    """``nil_safety`` of every holding, ``[2 ** suit_size]``; equal bands are counted once."""
    safeties = np.empty(1 << suit_size)
    by_bands: dict[tuple[int, int], float] = {}
    for cards in range(1 << suit_size):
        length = cards.bit_count()
        if length > HAND:
            safeties[cards] = 0.0
            continue
        low, rest = 0, cards
        for _ in range(min(LOW, length)):
            low |= rest & -rest
            rest &= rest - 1
        key = (low, length)
        if key not in by_bands:
            by_bands[key] = nil_safety(cards, trump, suit_size, alone)
        safeties[cards] = by_bands[key]
    return safeties


@when_compiled()
def chances() -> dict[str, F64]:
    """The fields of ``lookup.CHANCES``; 0 for holdings beyond the size of a suit."""
    fields: dict[str, F64] = {
        "clear": np.stack([clear_chances(size) for size in (12, 13)], axis=1),
        "side": np.zeros((2, 1 << 13)),
        "side_alone": np.zeros((2, 1 << 13)),
        "spades": np.zeros((3, 1 << 16)),
        "spades_alone": np.zeros((3, 1 << 16)),
    }
    for name, trump, sizes in (("side", False, (12, 13)), ("spades", True, (13, 15, 16))):
        for k, size in enumerate(sizes):
            fields[name][k, : 1 << size] = nil_safeties(trump, size)
            fields[f"{name}_alone"][k, : 1 << size] = nil_safeties(trump, size, alone=True)
    return fields


def main(out: Annotated[Path, typer.Option(help="File to write.")] = CHANCES_FILE) -> None:
    """Count the chances and write them; the same bytes every time."""
    provenance = {"command": "python experiments/spades_chances.py"}
    save_npz(out, provenance=np.array(json.dumps(provenance)), **chances())


if __name__ == "__main__":
    typer.run(main)

"""Everything the Spades bidders look up, in one record: exact chances, the success curves, the learned network.

Source: Cohensius, Meir, Oved and Stern, "Bidding in Spades" (ECAI 2020), sections 4.1.1, 4.1.4, 4.2 and appendix A. The
paper estimates the chances by simulation; ``experiments/spades_chances.py`` counts them.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.agents.spades.bis import SEQUENCES, load_curves
from bidzoo.agents.spades.learned import NETWORK, load_network
from bidzoo.core.arrays import Floats, Plan, Text, load_npz
from bidzoo.core.kernels import State, allocate
from bidzoo.envs.spades.state import DECKS

CHANCES_FILE = Path(__file__).parents[2] / "data" / "spades" / "chances.npz"
LOOKUP = np.dtype(
    [
        ("clear", "f8", (4, 2, 14, 3)),  # chance that nobody cuts: opponents, suits of 12 and 13 cards, held, trick
        ("side", "f8", (2, 1 << 13)),  # Pr(cnil), section 4.2, of every holding in a side suit of 12 and 13 cards
        ("side_alone", "f8", (2, 1 << 13)),  # the same with three opponents (cutthroat)
        ("spades", "f8", (len(DECKS), 1 << 16)),  # Pr(cnil) of the spades of each deck
        ("spades_alone", "f8", (len(DECKS), 1 << 16)),
        ("curves", "f4", (2, SEQUENCES, 2)),  # success curves: by earlier bids, and a single one for all
        *((name, field[0].base, field[0].shape) for name, field in (NETWORK.fields or {}).items()),  # learned bidder
    ],
    align=True,
)


CHANCES = ("clear", "side", "side_alone", "spades", "spades_alone")
_PLAN: Plan = {**{name: Floats(LOOKUP[name].shape, np.float64) for name in CHANCES}, "provenance": Text()}


@cache
def exact_lookup() -> State:
    """The record without success curves and network."""
    fields = load_npz(CHANCES_FILE, "an .npz of chances in Spades", _PLAN)
    return with_parts(allocate(LOOKUP, 1)[0], **{name: fields[name] for name in CHANCES})


@cache
def shipped_lookup() -> State:
    """The record with the shipped success curves and network."""
    return with_parts(exact_lookup(), curves=load_curves(), **load_network())


def with_parts(lookup: State, **parts: Any) -> State:
    """A copy with other parts: ``curves`` ``[2, SEQUENCES, 2]`` (intercept and slope, in log odds), network weights."""
    copy = lookup.copy()
    for name, part in parts.items():
        copy[name] = part
    return copy

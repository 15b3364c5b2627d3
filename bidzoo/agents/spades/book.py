"""Everything the Spades bidders look up, in one record: built once from exact counts and the shipped curves."""

from functools import cache

import numpy as np

from bidzoo.agents.spades.chances import clear_table
from bidzoo.agents.spades.cover import covered_table
from bidzoo.agents.spades.curves import SEQUENCES, load_curves
from bidzoo.agents.spades.learned import NETWORK, load_network
from bidzoo.envs.spades.state import DECKS
from bidzoo.kernels import F32, Table, allocate

BOOK = np.dtype(
    [
        ("clear", "f8", (4, 2, 14, 3)),  # chances.clear_table by opponents, suits of 12 and 13 cards
        ("side", "f8", (2, 1 << 13)),  # Pr(cnil) of a side suit of 12 and 13 cards
        ("side_alone", "f8", (2, 1 << 13)),  # the same with three opponents (cutthroat)
        ("spades", "f8", (len(DECKS), 1 << 16)),  # Pr(cnil) of the spades of each deck
        ("spades_alone", "f8", (len(DECKS), 1 << 16)),
        ("curves", "f4", (2, SEQUENCES, 2)),  # success curves: by earlier bids, and a single one for all
        *((name, field[0].base, field[0].shape) for name, field in (NETWORK.fields or {}).items()),  # learned bidder
    ],
    align=True,
)
_TRUMPS = (13, 15, 16)


@cache
def exact_book() -> Table:
    """The record without success curves."""
    book = allocate(BOOK, 1)[0]
    for k, size in enumerate((12, 13)):
        book["clear"][:, k] = clear_table(size)
        book["side"][k, : 1 << size] = covered_table(False, size)
        book["side_alone"][k, : 1 << size] = covered_table(False, size, alone=True)
    for deck, size in enumerate(_TRUMPS):
        book["spades"][deck, : 1 << min(size, 16)] = covered_table(True, size)
        book["spades_alone"][deck, : 1 << size] = covered_table(True, size, alone=True)
    return book


@cache
def book() -> Table:
    """The record with the shipped success curves and network."""
    record = with_curves(load_curves())
    for name, weights in load_network().items():
        record[name] = weights
    return record


def with_curves(curves: F32) -> Table:
    """The record with other success curves ``[2, SEQUENCES, 2]`` (intercept and slope, in log odds)."""
    record = exact_book().copy()
    record["curves"] = curves
    return record

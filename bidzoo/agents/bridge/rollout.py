"""Auctions replayed and played on without a game: only the laws of the auction, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from bidzoo.agents.bridge.selfplay import legal_calls
from bidzoo.envs.bridge.auction import call_row, open_row
from bidzoo.envs.bridge.knowledge import public_row, views
from bidzoo.envs.bridge.state import AUCTION, STATE, VIEW
from bidzoo.kernels import I64, Table, Tables, allocate, batched, prange


@batched
def make_calls(tables: Tables, calls: I64) -> None:
    """Make legal ``calls`` ``[B]`` at ``tables`` ``[B]``, in place; -1 makes none."""
    for b in prange(len(tables)):
        if calls[b] >= 0:
            call_row(tables[b], calls[b])


def before_each_call(view: Table) -> Tables:
    """The table as it stood before each call of one view's auction, and now: ``[length + 1]``, no cards in them."""
    tables = allocate(STATE, int(view["length"]) + 1)
    public_row(view, tables[0])
    open_row(tables[0], int(view["dealer"]), int(view["vulnerable"]))
    for t in range(len(tables) - 1):
        tables[t + 1] = tables[t]
        call_row(tables[t + 1], int(view["calls"][t]))
    return tables


def table_of(view: Table) -> Tables:
    """The table of one view as it stands, no cards in it: ``[1]``."""
    tables = allocate(STATE, 1)
    public_row(view, tables[0])
    return tables


def seen_by(table: Tables, seat: int, hands: I64) -> Tables:
    """What ``seat`` sees of ``table`` ``[1]`` with each of ``hands`` ``[n]``: views ``[n]``."""
    seen = allocate(VIEW, 1)
    views(table, np.array([seat]), seen)
    seen = np.repeat(seen, len(hands))
    seen["hand"] = seen["held_here"] = hands
    return seen


def play_out(tables: Tables, policy: Any) -> None:
    """``tables`` ``[B]`` to the end of the auction, in place; everybody makes the call ``policy`` finds likeliest."""
    while len(active := np.flatnonzero(tables["phase"] == AUCTION)):
        here = tables[active]
        seen = allocate(VIEW, len(here))
        views(here, here["turn"].astype(np.int64), seen)
        calls = np.full(len(tables), -1, np.int64)
        calls[active] = policy.probabilities(seen, legal_calls(here)).argmax(1)
        make_calls(tables, calls)

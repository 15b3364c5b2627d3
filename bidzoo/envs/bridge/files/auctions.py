"""Recorded auctions, as data to learn from: two file formats, replayed under our laws while they are read.

``.npz``  ``owner`` uint8 ``[n, 13]`` (as in ``deal_file``), ``dealer`` ``[n]``, ``vulnerable`` ``[n, 2]`` (N/S, E/W),
          ``length`` ``[n]`` calls of each auction, ``calls`` ``[sum(length)]`` one auction behind the other.
other     OpenSpiel's text form of the WBridge5 data set: ``auction_text``.

A *position* is one call of one auction: what its caller knew, and the call.
"""

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import NUM_CALLS, call_text
from bidzoo.envs.bridge import auction, deals
from bidzoo.envs.bridge.files import deal_file
from bidzoo.envs.bridge.state import STATE, VIEW
from bidzoo.kernels import I8, I64, Table, Tables, allocate, batched, next_row, prange, row

Split = Literal["train", "validation", "test"]
_PERCENT = {"test": (0, 1), "validation": (1, 2), "train": (2, 100)}  # of all deals, by a hash of the cards


class Auctions(NamedTuple):
    """``n`` complete auctions with their deals."""

    hands: I64  # [n, 4]  cards of N E S W, one bit each
    dealer: I8  # [n]
    vulnerable: I8  # [n]  bit 0 N/S, bit 1 E/W
    start: I64  # [n + 1]  auction i is calls[start[i] : start[i + 1]]
    calls: I8  # [start[n]]

    @classmethod
    def load(cls, path: str | Path) -> "Auctions":
        """The auctions of a file in either format; ValueError names file, board, call and what was expected."""
        path = Path(path)
        if path.suffix == ".npz":
            return _read_npz(path)
        from bidzoo.envs.bridge.files import auction_text

        return auction_text.read(path)

    @classmethod
    def of(cls, hands: I64, dealer: I8, vulnerable: I8, length: I64, calls: I8, source: str) -> "Auctions":
        """Checked auctions: possible deals, legal calls, every auction complete."""
        deals.check(hands, np.full((len(hands), 20), deals.UNKNOWN, np.int8), source)
        start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)]).astype(np.int64)
        found = cls(hands, dealer.astype(np.int8), vulnerable.astype(np.int8), start, calls)
        _check(found, source)
        return found

    def save(self, path: str | Path) -> None:
        """Write the ``.npz`` form, whole or not at all."""
        content = io.BytesIO()
        np.savez_compressed(
            content,
            owner=deal_file.pack_hands(self.hands),
            dealer=self.dealer.astype(np.uint8),
            vulnerable=(self.vulnerable[:, None] >> np.arange(2) & 1).astype(np.uint8),
            length=np.diff(self.start).astype(np.uint16),
            calls=self.calls.astype(np.uint8),
        )
        deal_file.replace_file(Path(path), content.getvalue())

    def split(self, which: Split) -> I64:
        """Numbers of the auctions of one part; a deal is in the same part wherever it occurs."""
        percent = np.empty(len(self.hands), np.int64)
        _percentile(self.hands, percent)
        low, high = _PERCENT[which]
        return np.flatnonzero((percent >= low) & (percent < high))


class Positions:
    """Every call of some auctions of a data set, by number."""

    def __init__(self, data: Auctions, auctions: I64) -> None:
        self.data = data
        lengths = np.diff(data.start)[auctions]
        self._auction = np.repeat(auctions, lengths)
        before = np.cumsum(lengths) - lengths
        self._turn = np.arange(len(self._auction)) - np.repeat(before, lengths)

    def __len__(self) -> int:
        return len(self._auction)

    def at(self, numbers: I64) -> tuple[Tables, I8, I64]:
        """Views ``[B]``, legal calls ``[B, 38]`` and the calls made ``[B]`` at positions ``numbers`` ``[B]``."""
        views = allocate(VIEW, len(numbers))
        legal = np.empty((len(numbers), NUM_CALLS), np.int8)
        made = np.empty(len(numbers), np.int64)
        _positions(self._auction[numbers], self._turn[numbers], self.data, views, legal, made)
        return views, legal, made

    def others(self, numbers: I64) -> I64:
        """Hands of LHO, partner and RHO of the caller at positions ``numbers``: ``[B, 3]`` card bits."""
        auctions = self._auction[numbers]
        seat = (self.data.dealer[auctions] + self._turn[numbers]) % 4
        return self.data.hands[auctions[:, None], (seat[:, None] + np.arange(1, 4)) % 4]


# ---- kernels -----------------------------------------------------------------------------


@row
def replay_row(table: Table, data: Auctions, index: int, turns: int) -> None:
    """The first ``turns`` calls of auction ``index`` at a state or a view."""
    auction.open_row(table, int(data.dealer[index]), int(data.vulnerable[index]))
    for t in range(turns):
        auction.call_row(table, int(data.calls[data.start[index] + t]))


@batched
def _positions(auctions: I64, turns: I64, data: Auctions, views: Tables, legal: I8, made: I64) -> None:
    for b in prange(len(auctions)):
        view = views[b]
        replay_row(view, data, auctions[b], turns[b])
        view.seat = view.turn
        view.hand = data.hands[auctions[b], view.seat]
        view.held_here = view.hand
        auction.legal_row(view, legal[b])
        made[b] = data.calls[data.start[auctions[b]] + turns[b]]


@row
def _first_fault(table: Table, data: Auctions, index: int, legal: I8) -> int:
    """Turn of the first illegal call; the length of the auction if it does not end there; -1 if all is well."""
    auction.open_row(table, int(data.dealer[index]), int(data.vulnerable[index]))
    length = data.start[index + 1] - data.start[index]
    for t in range(length):
        auction.legal_row(table, legal)
        call = int(data.calls[data.start[index] + t])
        if call < 0 or call >= NUM_CALLS or legal[call] == 0:
            return t
        auction.call_row(table, call)
    return -1 if auction.over_row(table) else int(length)


@batched
def _faults(out: I64, data: Auctions, tables: Tables, legal: I8) -> None:
    for block in prange(len(tables)):
        for index in range(block, len(out), len(tables)):
            out[index] = _first_fault(tables[block], data, index, legal[block])


@batched
def _percentile(hands: I64, out: I64) -> None:
    for b in prange(len(hands)):
        key = np.uint64(0)
        for seat in range(4):
            key = next_row(key ^ np.uint64(hands[b, seat]))
        out[b] = np.int64(key % np.uint64(100))


_BLOCKS = 1024


def _check(data: Auctions, source: str) -> None:
    faults = np.empty(len(data.hands), np.int64)
    tables, legal = allocate(STATE, _BLOCKS), np.zeros((_BLOCKS, NUM_CALLS), np.int8)
    _faults(faults, data, tables, legal)
    for index in np.flatnonzero(faults >= 0)[:1]:
        turn, calls = faults[index], data.calls[data.start[index] : data.start[index + 1]]
        if turn == len(calls):
            raise ValueError(f"{source}: board {index}: the auction of {len(calls)} calls does not end")
        call = call_text(int(calls[turn])) if 0 <= calls[turn] < NUM_CALLS else f"{calls[turn]} (no call)"
        raise ValueError(f"{source}: board {index}, call {turn}: {call} is not legal here")


# ---- the .npz format ---------------------------------------------------------------------

_FIELDS = {"owner": (deal_file.OWNER_BYTES,), "dealer": (), "vulnerable": (2,), "length": (), "calls": ()}


def _read_npz(path: Path) -> Auctions:
    fields = _arrays(path)
    for name, shape in _FIELDS.items():
        if name not in fields:
            raise ValueError(f"{path}: {name}: missing; the file holds {', '.join(fields) or 'nothing'}")
        field = fields[name]
        if field.dtype.kind not in "iu" or field.ndim != 1 + len(shape) or field.shape[1:] != shape:
            expected = ", ".join(["n", *map(str, shape)])
            raise ValueError(f"{path}: {name}: {field.dtype} {list(field.shape)}, expected integers [{expected}]")
        if name != "calls" and len(field) != len(fields["owner"]):
            raise ValueError(f"{path}: {name}: {len(field)} boards, expected {len(fields['owner'])} as in owner")
    length, total = fields["length"].astype(np.int64), len(fields["calls"])
    if length.sum() != total:
        raise ValueError(f"{path}: calls: {total} calls, expected {length.sum()}, the sum of length")
    for name, limit in (("dealer", 3), ("vulnerable", 1)):
        for value in fields[name][(fields[name] < 0) | (fields[name] > limit)][:1]:
            raise ValueError(f"{path}: {name}: {value}, expected 0 ... {limit}")
    return Auctions.of(
        deal_file.unpack_hands(fields["owner"].astype(np.uint8)),
        fields["dealer"],
        fields["vulnerable"] @ np.array([1, 2]),
        length,
        fields["calls"].astype(np.int8),
        str(path),
    )


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("no zip archive")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as problem:
        raise ValueError(f"{path}: not a file of auctions ({problem}); expected an .npz") from problem

"""Recorded auctions, as data to learn from: two file formats, replayed under our laws while they are read.

``.npz``  ``owner`` uint8 ``[n, 13]`` (as in a deal file), ``dealer`` ``[n]``, ``vulnerable`` ``[n, 2]`` (N/S, E/W),
          ``length`` ``[n]`` calls of each auction, ``calls`` ``[sum(length)]`` one auction behind the other.
other     OpenSpiel's text form of the WBridge5 data set: one board a line, numbers between blanks. 52 cards as they
          are dealt (N E S W in turn), the calls as ``52 + call``, then the 52 cards as they are played, or none after
          four passes. North deals and nobody is vulnerable; the play is not read beyond being 52 different cards.

A *position* is one call of one auction: what its caller knew, and the call.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.arrays import Numbers, Plan, digest, load_npz, save_npz
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, SEATS, call_text, card_text, hand_cards
from bidzoo.core.kernels import I8, I64, State, States, allocate, batched, row
from bidzoo.core.schema import shown
from bidzoo.core.streams import next_row
from bidzoo.envs.bridge import auction, deals
from bidzoo.envs.bridge.board import Board, check_board
from bidzoo.envs.bridge.state import MAX_CALLS, OVER, STATE, VIEW

# percentiles of each split, by a hash of the cards
_PERCENT: dict[deals.Split, tuple[int, int]] = {"test": (0, 1), "validation": (1, 2), "train": (2, 100)}


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
        if path.suffix != ".npz":
            return read_text(path)
        return from_fields(load_npz(path, "an .npz of auctions", PLAN), str(path))

    @classmethod
    def of(cls, hands: I64, dealer: I8, vulnerable: I8, length: I64, calls: I8, source: str) -> "Auctions":
        """Checked auctions: possible deals, legal calls, every auction complete."""
        deals.check(hands, np.full((len(hands), 20), deals.UNKNOWN, np.int8), source)
        start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        auctions = cls(hands, dealer.astype(np.int8), vulnerable.astype(np.int8), start.astype(np.int64), calls)
        _check(auctions, source)
        return auctions

    def save(self, path: str | Path) -> None:
        """Write the ``.npz`` form, whole or not at all."""
        save_npz(
            Path(path),
            owner=deals.pack_hands(self.hands),
            dealer=self.dealer.astype(np.uint8),
            vulnerable=(self.vulnerable[:, None] >> np.arange(2) & 1).astype(np.uint8),
            length=np.diff(self.start).astype(np.uint16),
            calls=self.calls.astype(np.uint8),
        )

    def split(self, part: deals.Split) -> I64:
        """Numbers of the auctions of one part; a deal is in the same part wherever it occurs."""
        percent = np.empty(len(self.hands), np.int64)
        _percentile(self.hands, percent)
        low, high = _PERCENT[part]
        return np.flatnonzero((percent >= low) & (percent < high))


class Positions:
    """Every call of some auctions of a data set, by number."""

    def __init__(self, data: Auctions, auctions: I64, side: int | None = None) -> None:
        """``auctions``: their numbers; ``side``: 0 calls of N/S alone, 1 those of E/W, None all."""
        self.data, self.side = data, side
        lengths = np.diff(data.start)[auctions]
        auction = np.repeat(auctions, lengths)
        starts = np.cumsum(lengths) - lengths
        turn = np.arange(len(auction)) - np.repeat(starts, lengths)
        rows = slice(None) if side is None else (data.dealer[auction] + turn) % 2 == side
        self._auction, self._turn = auction[rows], turn[rows]

    def __len__(self) -> int:
        return len(self._auction)

    @property
    def digest(self) -> str:
        """Digest of the auctions and of the choice of positions from them."""
        side = {} if self.side is None else {"side": np.array(self.side)}
        return digest({**self.data._asdict(), "auctions": self._auction, **side})

    def at(self, numbers: I64) -> tuple[States, I8, I64]:
        """Views ``[B]``, legal calls ``[B, 38]`` and the calls made ``[B]`` at positions ``numbers`` ``[B]``."""
        views = allocate(VIEW, len(numbers))
        legal = np.empty((len(numbers), NUM_CALLS), np.int8)
        calls = np.empty(len(numbers), np.int64)
        _positions(self._auction[numbers], self._turn[numbers], self.data, views, legal, calls)
        return views, legal, calls

    def deals(self, numbers: I64) -> I64:
        """Deals of the positions ``numbers`` ``[B]``, as numbers that are equal where the four hands are."""
        deal: I64 = np.unique(self.data.hands, axis=0, return_inverse=True)[1].ravel()
        return deal[self._auction[numbers]]

    def others(self, numbers: I64) -> I64:
        """Hands of LHO, partner and RHO of the caller at positions ``numbers``: ``[B, 3]`` card bits."""
        auctions = self._auction[numbers]
        seat = (self.data.dealer[auctions] + self._turn[numbers]) % 4
        return self.data.hands[auctions[:, None], (seat[:, None] + np.arange(1, 4)) % 4]


# ---- kernels -----------------------------------------------------------------------------


@row
def replay_row(state: State, data: Auctions, index: int, turns: int) -> None:
    """Make the first ``turns`` calls of auction ``index`` on a state or a view."""
    auction.open_auction_row(state, int(data.dealer[index]), int(data.vulnerable[index]))
    for t in range(turns):
        auction.call_row(state, int(data.calls[data.start[index] + t]))


@batched
def _positions(
    start: int, stop: int, auctions: I64, turns: I64, data: Auctions, views: States, legal: I8, calls: I64
) -> None:
    for b in range(start, stop):
        view = views[b]
        replay_row(view, data, auctions[b], turns[b])
        view.seat = view.turn
        view.hand = data.hands[auctions[b], view.seat]
        view.held_here = view.hand
        auction.legal_row(view, legal[b])
        calls[b] = data.calls[data.start[auctions[b]] + turns[b]]


@row
def _first_fault(state: State, data: Auctions, index: int, legal: I8) -> int:
    """Turn of the first illegal call; the length of the auction if it does not end there; -1 if all is well."""
    auction.open_auction_row(state, int(data.dealer[index]), int(data.vulnerable[index]))
    length = data.start[index + 1] - data.start[index]
    for t in range(length):
        auction.legal_row(state, legal)
        call = int(data.calls[data.start[index] + t])
        if call < 0 or call >= NUM_CALLS or legal[call] == 0:
            return t
        auction.call_row(state, call)
    return -1 if auction.over_row(state) else int(length)


@batched
def _faults(start: int, stop: int, states: States, data: Auctions, legal: I8, out: I64) -> None:
    for block in range(start, stop):
        for index in range(block, len(out), len(states)):
            out[index] = _first_fault(states[block], data, index, legal[block])


@batched
def _percentile(start: int, stop: int, hands: I64, out: I64) -> None:
    for b in range(start, stop):
        key = np.uint64(0)
        for seat in range(4):
            key = next_row(key ^ np.uint64(hands[b, seat]))
        out[b] = np.int64(key % np.uint64(100))


_BLOCKS = 1024


def _check(data: Auctions, source: str) -> None:
    faults = np.empty(len(data.hands), np.int64)
    states, legal = allocate(STATE, _BLOCKS), np.zeros((_BLOCKS, NUM_CALLS), np.int8)
    _faults(states, data, legal, faults)
    for index in np.flatnonzero(faults >= 0)[:1]:
        turn, calls = faults[index], data.calls[data.start[index] : data.start[index + 1]]
        if turn == len(calls):
            raise ValueError(f"{source}: board {index}: the auction of {len(calls)} calls does not end")
        call = call_text(int(calls[turn])) if 0 <= calls[turn] < NUM_CALLS else f"{calls[turn]} (no call)"
        raise ValueError(f"{source}: board {index}, call {turn}: {call} is not legal here")


# ---- the .npz format ---------------------------------------------------------------------

PLAN: Plan = {
    "owner": Numbers(("n", deals.OWNER_BYTES), 0, 255),
    "dealer": Numbers(("n",), 0, 3, np.int8),
    "vulnerable": Numbers(("n", 2), 0, 1, np.int8),
    "length": Numbers(("n",), 4, MAX_CALLS, np.int64),
    "calls": Numbers(("calls",), 0, NUM_CALLS - 1, np.int8),
}


def from_fields(fields: Mapping[str, NDArray[Any]], source: str) -> Auctions:
    """The auctions of the arrays that ``PLAN`` names; ValueError names ``source`` and what is wrong."""
    length, total = fields["length"], len(fields["calls"])
    if length.sum() != total:
        raise ValueError(f"{source}: calls: {total} calls, expected {length.sum()}, the sum of length")
    return Auctions.of(
        deals.unpack_hands(fields["owner"]),
        fields["dealer"],
        fields["vulnerable"] @ np.array([1, 2]),
        length,
        fields["calls"],
        source,
    )


# ---- of files of boards ------------------------------------------------------------------


def of_boards(boards: Iterable[Board], source: str) -> tuple[Auctions, list[dict[str, Any]], dict[str, int]]:
    """The auctions of ``boards`` that can be learned from, the alerts in them, and why others are left out.

    Returns:
        The auctions; of each alerted call auction, turn, seat, call and what was said of it; counts by reason.

    Raises:
        ValueError: there are none.
    """
    found: dict[tuple[Any, ...], None] = {}
    alerts: list[dict[str, Any]] = []
    why = dict.fromkeys(("without an auction", "without four hands", "without a dealer", "of unknown vulnerability"), 0)
    why |= {"with an auction that does not end": 0, "recorded twice": 0}
    for board in boards:
        lacking = (not board.auction, not board.complete, board.dealer is None, board.vulnerable is None)
        reason = next((name for name, lacks in zip(why, lacking) if lacks), None)
        calls = tuple(call.call for call in board.auction)
        key = (board.hands, board.dealer, board.vulnerable, calls, board.names)
        if reason is None and not check_board(replace(board, play=(), claimed=False, result=None)).bid_over:
            reason = "with an auction that does not end"
        elif reason is None and key in found:
            reason = "recorded twice"
        if reason is not None:
            why[reason] += 1
            continue
        for turn, call in enumerate(board.auction):
            if call.alert:
                seat = SEATS[((board.dealer or 0) + turn) % 4]
                where = {"auction": len(found), "turn": turn, "seat": seat}
                alerts.append({**where, "call": call_text(call.call), "text": call.note})
        found[key] = None
    if not found:
        reasons = ", ".join(f"{count} {name}" for name, count in why.items() if count)
        raise ValueError(f"{source}: no auction to learn from, expected at least one; left out: {reasons or 'nothing'}")
    hands, dealer, vulnerable, calls_of, _ = zip(*found)
    made = Auctions.of(
        np.array(hands, np.int64),
        np.array(dealer),
        np.array(vulnerable),
        np.array([len(calls) for calls in calls_of], np.int64),
        np.concatenate(calls_of).astype(np.int8),
        source,
    )
    return made, alerts, why


# ---- OpenSpiel's text form ---------------------------------------------------------------


def read_text(path: Path) -> Auctions:
    """The auctions of a file; ValueError names file, line, number and what was expected."""
    hands, lengths, calls = [], [], []
    with path.open(encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path}: line {number}"
                board_hands, board_calls = _board(_numbers(line, where), where)
                hands.append(board_hands)
                lengths.append(len(board_calls))
                calls.append(board_calls)
    if not hands:
        raise ValueError(f"{path}: no boards; expected one a line")
    nobody = np.zeros(len(hands), np.int8)
    joined = np.concatenate(calls).astype(np.int8)
    return Auctions.of(np.array(hands, np.int64), nobody, nobody, np.array(lengths, np.int64), joined, str(path))


def _numbers(line: str, where: str) -> I64:
    columns = line.split()
    for place, word in enumerate(columns, 1):
        if not (word.isascii() and word.isdigit() and len(word) < 5 and int(word) < NUM_CARDS + NUM_CALLS):
            raise ValueError(f"{where}, number {place}: {shown(word)}, expected 0 ... {NUM_CARDS + NUM_CALLS - 1}")
    return np.array(columns, np.int64)


def _board(numbers: I64, where: str) -> tuple[list[int], I64]:
    """The hands of N E S W, and the calls of one board."""
    deal, rest = numbers[:NUM_CARDS], numbers[NUM_CARDS:]
    _pack(deal, f"{where}, deal")
    play = rest[rest < NUM_CARDS]
    calls = rest[: len(rest) - len(play)] - NUM_CARDS
    for place in np.flatnonzero(calls < 0)[:1]:
        raise ValueError(f"{where}, number {NUM_CARDS + place + 1}: card {rest[place]} within the auction")
    if len(play):
        _pack(play, f"{where}, play")
    return [int((1 << deal[seat::4]).sum()) for seat in range(4)], calls


def _pack(cards: I64, where: str) -> None:
    """ValueError unless ``cards`` are the 52 of one pack."""
    if len(cards) != NUM_CARDS:
        raise ValueError(f"{where}: {len(cards)} cards, expected {NUM_CARDS}")
    for card in cards[cards >= NUM_CARDS][:1]:
        raise ValueError(f"{where}: {card} is no card, expected 0 ... {NUM_CARDS - 1}")
    counts = np.bincount(cards, minlength=NUM_CARDS)
    for card in np.flatnonzero(counts != 1)[:1]:
        raise ValueError(f"{where}: {card_text(int(card))} {counts[card]} times, expected once")


def write_text(path: Path, states: States) -> None:
    """Finished tables ``[n]`` in this form, which OpenSpiel's bridge takes action by action.

    Raises:
        ValueError: a table is not over, or the form has no place for its dealer or vulnerability; names the board.
    """
    lines = []
    for state in states:
        if int(state["phase"]) != OVER:
            raise ValueError(f"board {state['board']}: not over, expected finished tables")
        if state["dealer"] or state["vulnerable"]:
            raise ValueError(
                f"board {state['board']}: expected North to deal and nobody vulnerable, the form's only case"
            )
        hands = [hand_cards(int(hand)) for hand in state["hands"]]
        deal = [card for cards in zip(*hands, strict=True) for card in cards]
        calls = state["calls"][: state["length"]] + NUM_CARDS
        play = state["played"][: state["plays"]]
        lines.append(" ".join(str(int(number)) for number in (*deal, *calls, *play)))
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")

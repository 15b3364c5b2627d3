"""The boards of a match, drawn from ``(seed, board)`` or read from a file, and their results, on disk.

Results are kept board by board: as JSON lines to replay and resume from, and as PBN to look at. Both files survive
being killed at any moment: when the match is taken up again, a torn last line of the JSON file is cut off and the PBN
file is made anew from it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from bidzoo.core.cards import (
    HAND_SIZE,
    NUM_CARDS,
    PBN_VULNERABLE,
    SEATS,
    call_number,
    card_number,
    check_deal,
    hand_number,
)
from bidzoo.core.kernels import I8, I64
from bidzoo.core.options import Count, Length, Range, Weight
from bidzoo.core.schema import json_value, parse, shortened
from bidzoo.core.storage import Closing, Lines, append_file, replace_file, sweep
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import Board, Call
from bidzoo.envs.bridge.deals import UNKNOWN, dealt, read_boards
from bidzoo.envs.bridge.formats import pbn
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_POINTS, imps
from bidzoo.envs.game import Table

ROOMS = ("open", "closed")


class DealtBoard(NamedTuple):
    """A board before the first call."""

    board: int  # with a seed it addresses the policies' random numbers; marked board + 1 at the table
    dealer: int
    vulnerable: int  # bit 0 N/S, bit 1 E/W
    hands: I64  # [4]
    tricks: I8  # [20]  double-dummy table, -1 unknown

    @property
    def number(self) -> int:
        """The number that the board is marked with: 1, 2, ..."""
        return self.board + 1

    def table(self, game: Bridge) -> Table:
        """A table of ``game`` before the first call on this board."""
        table, cards = Table(game), {"deal": self.hands, "tricks": self.tricks}
        table.begin(self.board, 0, {**cards, "dealer": self.dealer, "vulnerability": self.vulnerable})
        return table


def seeded(game: Bridge, boards: Iterable[int], seed: int = 0) -> list[DealtBoard]:
    """``boards`` of ``seed`` as ``game`` deals them: the same cards as in any other match on those numbers."""
    numbers = np.array(list(boards), np.int64)
    states = game.new(len(numbers))
    game.begin(states, numbers, seed, game.buffers(len(numbers)))
    return [
        DealtBoard(int(t["board"]), int(t["dealer"]), int(t["vulnerable"]), t["hands"].copy(), t["tricks"].copy())
        for t in states
    ]


def from_file(path: str | Path, solve: bool) -> list[DealtBoard]:
    """The boards of a PBN or LIN file; ``solve``: double-dummy tricks that it does not tag are solved.

    Raises:
        ValueError: no board with four hands, or one number twice.
    """
    boards: dict[int, DealtBoard] = {}
    for position, board, cards in dealt(read_boards(path, strict=True), str(path)):
        number = position if board.number is None else board.number
        if number < 1 or number - 1 in boards:
            raise ValueError(f"{path}: board {number}: expected numbers from 1, each once")
        dealer = auction.dealer_row(number - 1) if board.dealer is None else board.dealer
        vulnerable = auction.vulnerable_row(number - 1) if board.vulnerable is None else board.vulnerable
        hands, tricks = np.array(cards, np.int64), np.array(board.tricks or [UNKNOWN] * 20, np.int8)
        if solve and (tricks == UNKNOWN).any():
            from bidzoo.envs.bridge.double_dummy import dd_tricks_of

            tricks = dd_tricks_of(hands)
        boards[number - 1] = DealtBoard(number - 1, dealer, vulnerable, hands, tricks)
    return list(boards.values())


# ---- results ---------------------------------------------------------------------------------


def _call(words: Sequence[str]) -> Call:
    if words[1:] and (len(words) != 3 or words[1] != "!"):
        raise ValueError(f"call {words}, expected a call, or a call, '!' and what it means")
    return Call(call_number(words[0]), len(words) > 1, "".join(words[2:]))


_Seat = Literal["N", "E", "S", "W"]


@dataclass(frozen=True)
class Result:
    """The result of a board at one table, in the words of its line; a board that was not finished has no ``points``."""

    room: Literal["open", "closed"]
    number: Count  # as marked
    dealer: _Seat
    vulnerable: Literal["None", "NS", "EW", "All"]
    hands: Annotated[list[str], Length(4, 4)]  # as in PBN
    names: Annotated[list[str], Length(2, 2)]  # N/S, E/W
    calls: list[Annotated[list[str], Length(1, 3)]]  # a call; if it was alerted, "!" and what it means
    cards: Annotated[list[str], Length(0, NUM_CARDS)]
    contract: str | None
    declarer: _Seat | None
    taken: Annotated[int, Range(0, HAND_SIZE)] | None  # tricks of declarer, played or double dummy
    points: Annotated[int, Range(-MAX_POINTS, MAX_POINTS)] | None  # of N/S
    double_dummy: bool  # taken and points are of the solved deal, whatever was played
    faults: list[str]  # why it was not finished, and those before
    seconds: Weight

    def line(self) -> str:
        """One line of JSON with everything needed to replay the board."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of(cls, values: Any) -> "Result":
        """Inverse of ``line`` after ``json_value``; ValueError names the field that does not fit."""
        result: Result = parse(cls, values, "result")
        pbn.dumps([result.board()])  # one that PBN cannot express is refused
        return result

    def board(self) -> Board:
        """The result as a PBN game."""
        (north, east, south, west), (ns, ew) = map(hand_number, self.hands), self.names
        check_deal([north, east, south, west])
        tags = {"Event": "bidzoo", "Room": self.room.capitalize(), "Scoring": "IMP"}
        if self.points is not None:
            tags["Score"] = f"NS {self.points}"
            if self.double_dummy:
                tags["ResultSource"] = "double dummy"
        elif self.faults:
            tags["Unplayed"] = self.faults[-1]
        return Board(
            number=self.number,
            dealer=SEATS.index(self.dealer),
            vulnerable=PBN_VULNERABLE.index(self.vulnerable),
            hands=(north, east, south, west),
            auction=tuple(map(_call, self.calls)),
            contract=self.contract,
            declarer=None if self.declarer is None else SEATS.index(self.declarer),
            play=() if self.double_dummy else tuple(map(card_number, self.cards)),  # a game must agree with its result
            result=self.taken,
            names=(ns, ew, ns, ew),
            tags=tags,
        )


class Record(Closing):
    """The results of a match, kept in ``path`` (JSON lines) and in a ``.pbn`` file beside it; None: in memory only.

    Args:
        match: the settings of the match; an existing file must have been begun with the same ones, and is continued.

    Raises:
        ValueError: the file is another match, damaged before its last line, or being written by another process.
    """

    def __init__(self, path: str | Path | None, match: Mapping[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self._pbn = self.path and self.path.with_suffix(".pbn")
        self.results: dict[tuple[str, int], Result] = {}
        self._header = json.dumps({"match": dict(match)}, sort_keys=True)
        self._lock = Lock()
        self._lines: Lines | None = None
        if self.path is None:
            return
        self._lines = Lines(self.path)
        try:
            if self._lines.at_opening:
                self._read(self.path, self._lines.at_opening)
            else:
                self._lines.append(self._header.encode())
            self.write_pbn()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._lines:
            self._lines.close()

    def _read(self, path: Path, lines: Sequence[bytes]) -> None:
        if lines[0] != self._header.encode():
            raise ValueError(
                f"{path}:1: {lines[0][:300].decode(errors='replace')}, expected {self._header} (or a new file)"
            )
        for number, line in enumerate(lines[1:], 2):
            try:
                result = Result.of(json_value(line, "line"))
            except ValueError as problem:
                start = line[:80].decode(errors="replace")
                raise ValueError(f"{path}:{number}: {start!r}: not a result ({shortened(problem)})") from problem
            self.results[result.room, result.number] = result

    def add(self, result: Result) -> None:
        """Add a result, which is on disk when this returns; a board played again replaces its first result."""
        with self._lock:  # both rooms report here
            game, line = pbn.dumps([result.board()]).partition("\n\n")[2], result.line().encode()
            Result.of(json_value(line, f"{self.path}, to be added"))  # what its own reader refuses is not written
            self.results[result.room, result.number] = result
            if self._pbn and self._lines:
                self._lines.append(line)
                append_file(self._pbn, f"\n{game}".encode())

    def write_pbn(self) -> None:
        """Write the PBN file anew: by number, open room first, only the last result of a board."""
        if self._pbn:
            sweep(self._pbn)
            ordered = sorted(self.results.values(), key=lambda r: (r.number, r.room != "open"))
            replace_file(self._pbn, pbn.dumps([result.board() for result in ordered]).encode())

    def played(self, room: str, number: int) -> bool:
        """Whether board ``number`` has a score in ``room``."""
        result = self.results.get((room, number))
        return result is not None and result.points is not None

    def imps(self) -> dict[int, int]:
        """IMPs of the first pair (N/S in the open room) on each board that both rooms played, by number."""
        swings = {}
        for number in sorted({number for _, number in self.results}):
            rooms = [self.results.get((room, number)) for room in ROOMS]
            points = [result.points for result in rooms if result and result.points is not None]
            if len(points) == 2:
                swings[number] = int(imps(points[0] - points[1]))
        return swings

"""Results of a match on disk, board by board: JSON lines to replay and resume from, and PBN to look at.

Both files grow board by board and survive being killed at any moment: when the match is taken up again, a torn last
line of the JSON file is cut off and the PBN file is made anew from it.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Any

from bidzoo.core.cards import SEATS, call_number, call_text, card_number, card_text, hand_number, hand_text
from bidzoo.core.storage import replace_file, whole_lines
from bidzoo.envs.bridge.board import VULNERABLE, Board, Call
from bidzoo.envs.bridge.formats import pbn
from bidzoo.envs.bridge.score import imps

ROOMS = ("open", "closed")


def _hands(texts: Sequence[str]) -> tuple[int, int, int, int]:
    north, east, south, west = map(hand_number, texts)
    return north, east, south, west


_TEXT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {  # what JSON has as text: written, read
    "dealer": (lambda seat: SEATS[seat], SEATS.index),
    "vulnerable": (lambda number: VULNERABLE[number], VULNERABLE.index),
    "hands": (lambda hands: [hand_text(hand) for hand in hands], _hands),
    "names": (list, tuple),
    "calls": (
        lambda calls: [[call_text(c.call), *(["!", c.note] if c.alert else [])] for c in calls],
        lambda calls: tuple(Call(call_number(c[0]), len(c) > 1, c[2] if len(c) > 1 else "") for c in calls),
    ),
    "cards": (lambda cards: [card_text(card) for card in cards], lambda texts: tuple(map(card_number, texts))),
    "declarer": (
        lambda seat: None if seat is None else SEATS[seat],
        lambda text: None if text is None else SEATS.index(text),
    ),
    "faults": (list, tuple),
}


@dataclass(frozen=True)
class Result:
    """A board at one table. ``points`` None: unplayed, ``faults`` say why."""

    room: str  # "open", "closed"
    number: int  # as marked
    dealer: int
    vulnerable: int
    hands: tuple[int, int, int, int]
    names: tuple[str, str]  # N/S, E/W
    calls: tuple[Call, ...] = ()
    cards: tuple[int, ...] = ()
    contract: str | None = None
    declarer: int | None = None
    taken: int | None = None  # tricks of declarer, played or double dummy
    points: int | None = None  # of N/S
    double_dummy: bool = False  # taken and points are of the solved deal, whatever was played
    faults: tuple[str, ...] = ()
    seconds: float = 0.0

    def line(self) -> str:
        """One line of JSON with everything needed to replay the board."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {name: write(plain[name]) for name, (write, _) in _TEXT.items()}
        return json.dumps(plain | texts, ensure_ascii=False)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Result":
        """Inverse of ``line`` after ``json.loads``."""
        return cls(**{**plain, **{name: read(plain[name]) for name, (_, read) in _TEXT.items()}})

    def board(self) -> Board:
        """As a PBN game."""
        ns, ew = self.names
        tags = {"Event": "bidzoo", "Room": self.room.capitalize(), "Scoring": "IMP"}
        if self.points is not None:
            tags["Score"] = f"NS {self.points}"
            if self.double_dummy:
                tags["ResultSource"] = "double dummy"
        elif self.faults:
            tags["Unplayed"] = self.faults[-1]
        return Board(
            number=self.number,
            dealer=self.dealer,
            vulnerable=self.vulnerable,
            hands=self.hands,
            auction=self.calls,
            contract=self.contract,
            declarer=self.declarer,
            play=() if self.double_dummy else self.cards,  # a game must agree with its result
            result=self.taken,
            names=(ns, ew, ns, ew),
            tags=tags,
        )


class Record:
    """The results of a match in ``path`` (JSON lines) and beside it (``.pbn``); None keeps them in memory.

    Args:
        match: what is played; an existing file must have been begun with the same, and is continued.

    Raises:
        ValueError: the file is another match, or damaged before its last line.
    """

    def __init__(self, path: str | Path | None, match: Mapping[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.results: dict[tuple[str, int], Result] = {}
        self._header = json.dumps({"match": dict(match)}, sort_keys=True)
        self._turn = Lock()
        if self.path is None:
            return
        lines = whole_lines(self.path) if self.path.exists() else []
        if lines:
            self._read(self.path, lines)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _append(self.path, self._header + "\n")
        self.write_pbn()

    def _read(self, path: Path, lines: Sequence[bytes]) -> None:
        header = lines[0].decode()
        if header != self._header:
            raise ValueError(f"{path}:1: {header[:300]}, expected {self._header} (or a new file)")
        for number, line in enumerate(lines[1:], 2):
            try:
                result = Result.of(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError) as problem:
                start = line[:80].decode(errors="replace")
                raise ValueError(f"{path}:{number}: {start!r}: not a result ({problem})") from problem
            self.results[result.room, result.number] = result

    def add(self, result: Result) -> None:
        """One more board, on disk when this returns; a board played again replaces its first result."""
        with self._turn:  # both rooms report here
            self.results[result.room, result.number] = result
            if self.path is not None:
                _append(self.path, result.line() + "\n")
                _append(self.pbn_path(self.path), "\n" + pbn.dumps([result.board()]).partition("\n\n")[2])

    def write_pbn(self) -> None:
        """The PBN file anew: by number, open room first, only the last result of a board."""
        if self.path is not None:
            ordered = sorted(self.results.values(), key=lambda r: (r.number, r.room != "open"))
            replace_file(self.pbn_path(self.path), pbn.dumps([result.board() for result in ordered]).encode())

    @staticmethod
    def pbn_path(path: Path) -> Path:
        """``match.pbn`` beside ``match.jsonl``."""
        return path.with_suffix(".pbn")

    def played(self, room: str, number: int) -> bool:
        """That board has a score in that room."""
        result = self.results.get((room, number))
        return result is not None and result.points is not None

    def imps(self) -> dict[int, int]:
        """IMPs of the first pair (N/S in the open room) on each board that both rooms played, by number."""
        won = {}
        for number in sorted({number for _, number in self.results}):
            rooms = [self.results.get((room, number)) for room in ROOMS]
            points = [result.points for result in rooms if result and result.points is not None]
            if len(points) == 2:
                won[number] = int(imps(points[0] - points[1]))
        return won


def _append(path: Path, text: str) -> None:
    """Add ``text``; it is on disk when this returns."""
    with open(path, "ab") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())

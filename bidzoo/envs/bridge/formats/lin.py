"""Boards from and to LIN files, the form Bridge Base Online shows and stores hands in.

A file is entries ``key|value|``. Read here: ``pn`` names S W N E, ``md`` dealer (1-4 = S W N E) and hands S W N E,
``ah`` or ``qx`` board number, ``sv`` vulnerability, ``mb`` call (``!`` alerts), ``an`` its explanation, ``pc``
card, ``mc`` declarer's tricks after a claim; the other keys lay out a page and are skipped. There is no standard.
endplay's reader (0.5.12), the reference in the tests, wants ``pn`` on every board, lets illegal calls and cards pass
and miscounts the tricks of a whole play.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bidzoo.core.cards import (
    NUM_CARDS,
    RANKS,
    SEAT_NAMES,
    SUITS,
    call_number,
    call_text,
    card_number,
    card_text,
    hand_bits,
    hand_text,
)
from bidzoo.core.schema import shortened
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import (
    LARGEST_BOARD,
    MOST_TRICKS,
    Board,
    BoardReplay,
    Call,
    check_hands,
    check_note,
    check_result,
    check_text,
    decode,
    whole_number,
)

_SEATS = (2, 3, 0, 1)  # S W N E, the order of names, hands and dealers
_VULNERABLE = "oneb"  # by number: bit 0 N/S, bit 1 E/W


class _Entry(NamedTuple):
    key: str
    value: str
    line: int


def read(path: str | Path) -> list[Board]:
    """The boards of a file; ValueError names file, line, key and what was expected."""
    return loads(decode(Path(path).read_bytes(), str(path)), str(path))


def loads(text: str, source: str = "text") -> list[Board]:
    """The boards of a LIN text; ``source`` is what errors call it."""
    boards = []
    group: list[_Entry] = []
    dealt = False  # the group has its deal
    names = ["", "", "", ""]  # they hold until given again: a match names its players once
    for entry in [*_entries(text, source), _Entry("md", "", 0)]:
        if entry.key in ("qx", "pn", "md") and dealt:
            hand = _Hand(names, source)
            boards.append(hand.board(group))
            names, group, dealt = hand.names, [], False
        group.append(entry)
        dealt = dealt or entry.key == "md"
    for entry in group[:-1]:
        if entry.key in ("mb", "an", "pc", "mc"):
            raise ValueError(
                f"{source}:{entry.line}: {entry.key}: {entry.value[:40]!r} without a deal, expected md first"
            )
    return boards


def _entries(text: str, source: str) -> list[_Entry]:
    """Keys with their values; line breaks between entries mean nothing."""
    parts = text.split("|")
    entries, line = [], 1
    for i in range(0, len(parts) - 2, 2):
        key = parts[i].strip().lower()
        line += parts[i].count("\n")
        if not re.fullmatch(r"\w+", key):
            raise ValueError(f"{source}:{line}: {key[:40]!r} is not a key, expected key|value| such as sv|o|")
        entries.append(_Entry(key, parts[i + 1], line))
        line += parts[i + 1].count("\n")
    rest = parts[-1].strip()
    if len(parts) % 2 == 0 or rest:
        line = 1 + text[: len(text) - len(parts[-1].lstrip())].count("\n")
        raise ValueError(f"{source}:{line}: {rest[-40:]!r} at the end, expected key|value|")
    return entries


class _Hand:
    """One hand, as its entries so far tell it."""

    def __init__(self, names: list[str], source: str) -> None:
        self.names, self.source = names, source
        self.number: int | None = None
        self.vulnerable: int | None = None
        self.dealer = 0
        self.hands = (0, 0, 0, 0)
        self.room = 0  # 1: the second four of eight names
        self.calls: list[Call] = []
        self.cards: list[int] = []
        self.claim: int | None = None
        self.replay: BoardReplay | None = None

    def board(self, entries: list[_Entry]) -> Board:
        """The board of all entries."""
        for entry in sorted(
            entries, key=lambda entry: entry.key not in ("md", "sv", "ah", "qx", "pn")
        ):  # the deal first
            try:
                self.take(entry.key, entry.value)
            except ValueError as error:
                raise ValueError(f"{self.source}:{entry.line}: {entry.key}: {shortened(error)}") from error
        bid_over = self.replay is not None and self.replay.bid_over
        if self.vulnerable is None and self.number is not None:
            self.vulnerable = auction.vulnerable_row(self.number - 1)
        south, west, north, east = self.names[4 * self.room :][:4]
        return Board(
            number=self.number,
            dealer=self.dealer,
            vulnerable=self.vulnerable,
            hands=self.hands,
            auction=tuple(self.calls),
            contract=self.replay.contract if self.replay is not None and bid_over else None,
            declarer=self.replay.declarer if self.replay is not None else None,
            play=tuple(self.cards),
            claimed=self.claim is not None,
            result=self.claim if self.replay is None or self.replay.result is None else self.replay.result,
            names=(north, east, south, west),
        )

    def take(self, key: str, value: str) -> None:
        """Read one entry."""
        if key == "pn":
            names = [name.strip() for name in value.split(",")] + [""] * 4
            self.names = names[: 8 if len(names) >= 12 else 4]
        elif key in ("ah", "qx"):
            text = value.rstrip()
            digits = text[len(text.rstrip("0123456789")) :]
            self.number = whole_number(digits, 1, LARGEST_BOARD) or self.number
            if len(digits) > len(str(LARGEST_BOARD)):
                raise ValueError(f"{value!r}, expected a number from 1 to {LARGEST_BOARD}")
            self.room = int(key == "qx" and value[:1] == "c" and len(self.names) == 8) or self.room
        elif key == "sv":
            if value.lower() not in (*_VULNERABLE, "0", ""):
                raise ValueError(f"{value!r}, expected o, n, e or b")
            self.vulnerable = max(_VULNERABLE.find(value.lower()), 0)
        elif key == "md":
            self.dealer, self.hands = _deal(value)
        elif key == "mb":
            self.call(value.strip())
        elif key == "an":
            if not self.calls:
                raise ValueError(f"{value!r} before any call, expected mb first")
            check_note(value)
            self.calls[-1] = replace(self.calls[-1], note=value)
        elif key == "pc":
            self.card(value)
        elif key == "mc":
            self.claim = whole_number(value, 0, MOST_TRICKS)
            if self.claim is None:
                raise ValueError(f"{value!r}, expected 0 ... {MOST_TRICKS} tricks")
            self.check_claim(self.claim)

    def check_claim(self, won: int) -> None:
        """ValueError unless declarer can have taken ``won`` tricks after the calls and cards so far."""
        if self.replay is None or not self.replay.bid_over:
            return
        if self.replay.declarer is None:
            raise ValueError(f"{won} tricks, expected none: the board is passed out")
        check_result(won, self.replay.possible_results)

    def call(self, word: str) -> None:
        """Make one call; ``!`` after it is an alert."""
        if self.replay is None:
            self.replay = BoardReplay(self.dealer, self.vulnerable, self.hands)
        call = call_number(word.rstrip("!"))
        self.replay.call(call)
        self.calls.append(Call(call, alert=word.endswith("!")))

    def card(self, text: str) -> None:
        """Play one card."""
        if self.replay is None or not self.replay.bid_over or 0 in self.hands:
            raise ValueError(f"{text!r} is played, expected four hands and a finished auction first")
        if not self.cards:
            self.replay.start_play()
        card = card_number(text)
        self.replay.card(card)
        self.cards.append(card)
        if self.claim is not None:
            self.check_claim(self.claim)


def _deal(value: str) -> tuple[int, tuple[int, int, int, int]]:
    """Dealer and hands of ``3SAK2H..D..C..,...``; the last hand may be left out."""
    if value[:1] not in tuple("1234"):
        raise ValueError(f"dealer {value[:1]!r}, expected 1 ... 4 for S W N E")
    texts = value[1:].rstrip(",").split(",")
    if len(texts) not in (3, 4):
        raise ValueError(f"{len(texts)} hands, expected 3 or 4")
    hands = [0] * 4
    for seat, text in zip(_SEATS, texts):
        hands[seat] = _cards(text)
    return _SEATS[int(value[0]) - 1], check_hands(tuple(hands))


def _cards(text: str) -> int:
    """Hand of ``SAK2HQ..DC..``; a suit may be missing."""
    cards, suit = [], ""
    for letter in text.strip().upper().replace("10", "T"):
        if letter in SUITS:
            suit = letter
        elif letter in RANKS and suit:
            cards.append(card_number(letter + suit))
        else:
            raise ValueError(f"{letter!r} in hand {text!r}, expected S, H, D or C and ranks {RANKS}")
    return hand_bits(cards)


# ---- writing -----------------------------------------------------------------------------


def write(path: str | Path, boards: list[Board]) -> None:
    """Write ``boards`` to a file, whole or not at all."""
    replace_file(Path(path), dumps(boards).encode())


def dumps(boards: list[Board]) -> str:
    """LIN text of ``boards``, one to a line; double-dummy tables and tags have no place in it.

    Raises:
        ValueError: no dealer or a hidden hand, cards without a finished auction, or a ``|``, a ``,`` or a line break
            where LIN cannot hold it; names the board.
    """
    return "".join(_line(board) + "\n" for board in boards)


def _line(board: Board) -> str:
    if board.hands is None or not board.complete or board.dealer is None:
        raise ValueError(f"board {board.number}: no dealer or a hand not shown, expected both for LIN")
    _check_play(board)
    hands = ",".join(_hand(board.hands[seat]) for seat in _SEATS)
    pairs = [("pn", ",".join(_player(board, seat) for seat in _SEATS)), ("st", "")]
    pairs += [("md", f"{_SEATS.index(board.dealer) + 1}{hands}"), ("rh", "")]
    pairs += [("ah", f"Board {board.number}")] if board.number is not None else []
    pairs += [("sv", _VULNERABLE[board.vulnerable])] if board.vulnerable is not None else []
    for call in board.auction:
        word = call_text(call.call).replace("NT", "N").replace("XX", "R").replace("X", "D")
        pairs.append(("mb", word + "!" * call.alert))
        pairs += [("an", _checked_text(call.note, "an", "|", board))] if call.note else []
    pairs.append(("pg", ""))
    for t, card in enumerate(board.play, 1):
        pairs.append(("pc", card_text(card)[::-1]))
        pairs += [("pg", "")] if t % 4 == 0 else []
    if board.result is not None and len(board.play) < NUM_CARDS:
        pairs.append(("mc", str(board.result)))
    return "".join(f"{key}|{value}|" for key, value in pairs)


def _hand(hand: int) -> str:
    """``SAK2HQ..DC..``."""
    return "".join(suit + ranks for suit, ranks in zip("SHDC", hand_text(hand).split(".")))


def _check_play(board: Board) -> None:
    """ValueError if there are cards, but no finished auction before them to tell who leads."""
    replay = BoardReplay(board.dealer or 0, board.vulnerable, board.hands)
    for call in board.auction:
        replay.call(call.call)
    if board.play and not replay.bid_over:
        raise ValueError(f"board {board.number}: cards are played, expected a finished auction before them for LIN")


def _player(board: Board, seat: int) -> str:
    name = _checked_text(board.names[seat], SEAT_NAMES[seat], "|,", board)
    if name != name.strip():
        raise ValueError(
            f"board {board.number}: {SEAT_NAMES[seat]}: {name[:80]!r}, expected no spaces around it in LIN"
        )
    return name


def _checked_text(text: str, name: str, forbidden: str, board: Board) -> str:
    """``text``; ValueError if it holds a separator of fields, or is not one line."""
    for letter in forbidden:
        if letter in text:
            raise ValueError(f"board {board.number}: {name}: {text[:80]!r} holds {letter!r}, expected none in LIN")
    check_text(f"board {board.number}: {name}", text)
    check_note(text)
    return text

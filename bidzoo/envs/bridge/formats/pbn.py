"""Boards from and to PBN files (Portable Bridge Notation 2.1).

A file is a list of games, separated by empty lines; a game is a list of tags ``[Name "value"]``, each perhaps
followed by the words of its section. ``%`` in the first column, ``; ...`` and ``{ ... }`` hold no game data.

The reader is our own. endplay's (0.5.12) does not name the line of a wrong value, knows no byte order mark and no
``##`` inheritance, keeps the notes of one game for the next, and takes illegal auctions and cards without a word;
it serves as the reference in the tests. Sections other than auction, play and double-dummy tables are skipped.

What a game says twice must agree: contract and declarer with the auction, the result with the cards, a double-dummy
table with itself and with ``DoubleDummyTricks``. Reading takes time in proportion to the text; a note has at most
``LONGEST_NOTE`` characters, and what a file inherits by ``#`` and ``##`` counts up to ``MOST_INHERITED``. The standard
has no way to write some texts (a name ``?`` means no name); ``dumps`` refuses those.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bidzoo.core.cards import (
    NUM_CARDS,
    PASS,
    PBN_VULNERABLE,
    SEAT_NAMES,
    SEATS,
    STRAINS,
    call_number,
    call_text,
    card_number,
    card_text,
    deal_hands,
    deal_text,
    seat_number,
    vulnerability_number,
)
from bidzoo.core.schema import shortened
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import (
    ANY_RESULT,
    LARGEST_BOARD,
    LONGEST_NOTE,
    MOST_TRICKS,
    Board,
    BoardReplay,
    Call,
    Hands,
    check_hands,
    check_note,
    check_result,
    check_text,
    contract_numbers,
    contract_text,
    decode,
    whole_number,
)

# ---- tags and sections (2-3 of the standard), as text, whatever they mean -------------------


class Word(NamedTuple):
    """One word of a section."""

    text: str
    line: int


class Tag(NamedTuple):
    """One tag pair and the section after it."""

    name: str
    value: str
    line: int
    words: list[Word]


MOST_INHERITED = 20_000_000  # characters that the games of one file get by # and ##, a word counting as 32

_TOKEN = re.compile(
    r"""\s+ | ;.* | (?P<mark>[\[\]{}]) | "(?P<string>(?:[^"\\]|\\.)*)" | (?P<word>[^\s\[\]{};"]+)""", re.X
)
_ESCAPED = re.compile(r'\\(["\\])')


def games(text: str, source: str) -> Iterator[list[Tag]]:
    """Games of a PBN text, in order; ValueError names ``source``, line and what was expected."""
    reader = _Reader(source)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if line.startswith("%") and not reader.comment:
            continue
        if not line.strip() and not reader.comment:
            if reader.tags:
                yield reader.finish(number)
            continue
        reader.line(number, line)
    if reader.comment:
        raise ValueError(f"{source}:{reader.comment}: comment is never closed, expected a brace")
    if reader.tags or reader.pair is not None:
        yield reader.finish(number)


class _Reader:
    """The state of reading a file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tags: list[Tag] = []  # of the game so far
        self.comment = 0  # line where an open comment began
        self.pair: list[str] | None = None  # name and value of an open tag

    def finish(self, number: int) -> list[Tag]:
        """The game so far; the next one begins."""
        if self.pair is not None:
            raise self.error(number, f"tag {' '.join(self.pair)!r} is never closed, expected ]")
        game, self.tags = self.tags, []
        return game

    def error(self, number: int, message: str) -> ValueError:
        return ValueError(f"{self.source}:{number}: {shortened(message)}")

    def line(self, number: int, line: str) -> None:
        position = 0
        while position < len(line):
            if self.comment:
                position = line.find("}", position) + 1
                if not position:
                    return
                self.comment = 0
                continue
            token = _TOKEN.match(line, position)
            if token is None:
                raise self.error(number, f"{line[position:][:40]!r} has no end, expected a closing quote")
            position = token.end()
            self._token(number, token)

    def _token(self, number: int, token: re.Match[str]) -> None:
        mark, string, word = token["mark"], token["string"], token["word"]
        if mark == "{":
            self.comment = number
        elif self.pair is not None:
            self._in_tag(number, token)
        elif mark == "[":
            self.pair = []
        elif mark is not None:
            raise self.error(number, f'{mark!r} closes nothing, expected [Name "value"]')
        elif string is not None or word is not None:
            if not self.tags:
                raise self.error(number, f'{token[0][:40]!r} before any tag, expected [Name "value"]')
            self.tags[-1].words.append(Word(word if string is None else string, number))

    def _in_tag(self, number: int, token: re.Match[str]) -> None:
        assert self.pair is not None
        if token["word"] is not None and not self.pair:
            self.pair.append(token["word"])
        elif token["string"] is not None and len(self.pair) == 1:
            self.pair.append(_ESCAPED.sub(r"\1", token["string"]))
        elif token["mark"] == "]" and len(self.pair) == 2:
            self.tags.append(Tag(self.pair[0], self.pair[1], number, []))
            self.pair = None
        elif token[0].strip() and not token[0].startswith(";"):
            raise self.error(number, f'{token[0][:40]!r} in a tag, expected [Name "value"]')


# ---- what the tags of one game say of its board ------------------------------------------

_NO_VALUE, _UNKNOWN = ("", "?", "-"), ("-", "?", "*")
_TAG_NAME = re.compile(r"[A-Za-z0-9_]+")
_NOTE = re.compile(r"=(\d+)=")
_BOARD_TAGS = {
    "Board", "Dealer", "Vulnerable", "Deal", "Auction", "Contract", "Declarer", "Play", "Result", "Note",
    "OptimumResultTable", "DoubleDummyTricks", *SEAT_NAMES,
}  # fmt: skip
_ORDERS = (("NS", "EW"), ("EW", "NS"))  # declarer's side first
_RESULT_COLUMNS = ("Declarer", "Denomination", "Result")  # of an OptimumResultTable


class PbnGame:
    """The tags of one game, and what they say of the board; each is checked against the laws and the others."""

    def __init__(self, tags: dict[str, Tag], notes: dict[str, dict[str, str]], source: str) -> None:
        self.tags, self.notes, self.source = tags, notes, source

    def board(self) -> Board:
        """The board that the tags describe."""
        number = self.number()
        dealer = self.seat("Dealer")
        vulnerable = self.vulnerable()
        if number is not None:
            dealer = auction.dealer_row(number - 1) if dealer is None else dealer
            vulnerable = auction.vulnerable_row(number - 1) if vulnerable is None else vulnerable
        hands = self.hands()
        dealer, calls, replay = self.auction(dealer, vulnerable, hands)
        contract, declarer = self.contract(replay)
        cards, claimed, won = self.play(replay, contract, declarer, hands)
        north, east, south, west = (self.value(name) for name in SEAT_NAMES)
        return Board(
            number=number,
            dealer=dealer,
            vulnerable=vulnerable,
            hands=hands,
            auction=calls,
            contract=contract,
            declarer=declarer,
            play=cards,
            claimed=claimed,
            result=self.result(contract, declarer, won),
            tricks=self.tricks(),
            names=(north, east, south, west),
            tags={name: tag.value for name, tag in self.tags.items() if self.is_extra(tag)},
        )

    @contextmanager
    def reading(self, name: str, word: Word | None = None) -> Iterator[None]:
        """A ValueError in here names file, line and tag."""
        try:
            yield
        except ValueError as error:
            line = (word or self.tags[name]).line
            raise ValueError(f"{self.source}:{line}: {name}: {shortened(error)}") from error

    def is_extra(self, tag: Tag) -> bool:
        """Whether this is a plain tag that has a value and no field of its own."""
        return tag.name not in _BOARD_TAGS and not tag.words and tag.value not in ("", "?")

    def value(self, name: str) -> str:
        """Value of a tag, ``""`` if it says nothing."""
        tag = self.tags.get(name)
        return "" if tag is None or tag.value.strip() in _NO_VALUE else tag.value.strip()

    def number(self) -> int | None:
        text = self.value("Board")
        number = whole_number(text, 1, LARGEST_BOARD)
        with self.reading("Board"):
            if text and number is None:
                raise ValueError(f"{text!r}, expected a number from 1 to {LARGEST_BOARD}")
        return number

    def seat(self, name: str) -> int | None:
        text = self.value(name).removeprefix("^")
        with self.reading(name):
            return seat_number(text) if text else None

    def vulnerable(self) -> int | None:
        text = self.tags["Vulnerable"].value.strip() if "Vulnerable" in self.tags else ""
        if text in ("", "?"):
            return None
        with self.reading("Vulnerable"):
            return vulnerability_number(text)

    def hands(self) -> Hands | None:
        text = self.value("Deal")
        with self.reading("Deal"):
            return check_hands(deal_hands(text)) if text else None

    def auction(
        self, dealer: int | None, vulnerable: int | None, hands: Hands | None
    ) -> tuple[int | None, tuple[Call, ...], BoardReplay | None]:
        """Dealer, calls, and the table after them (none without an auction)."""
        if not self.value("Auction"):
            return dealer, (), None
        tag, first = self.tags["Auction"], self.seat("Auction")
        with self.reading("Auction"):
            if first is None or (dealer is not None and first != dealer):
                raise ValueError(f"begins with {tag.value}, expected the dealer, {SEATS[dealer or 0]}")
        replay = BoardReplay(first, vulnerable, hands)
        calls: list[int] = []
        notes: list[dict[str, str]] = []  # of each call, by number
        for word in tag.words:
            if word.text in ("*", "+"):  # broken off; to be continued
                break
            with self.reading("Auction", word):
                self._auction_word(word.text, calls, notes, replay)
        return first, tuple(map(self._with_notes, calls, notes)), replay

    def _auction_word(self, word: str, calls: list[int], notes: list[dict[str, str]], replay: BoardReplay) -> None:
        note = _NOTE.fullmatch(word)
        if note:
            if not calls:
                raise ValueError(f"note {word} before any call")
            if note[1] not in self.notes["Auction"]:
                raise ValueError(f'note {word} is not there, expected [Note "{note[1]}:..."]')
            notes[-1][note[1]] = self.notes["Auction"][note[1]]
        elif word.upper() == "AP":
            while not replay.bid_over:
                replay.call(PASS)
                calls.append(PASS)
                notes.append({})
        elif not _is_mark(word) and word != "-":
            call = call_number(word.rstrip("!?"))
            replay.call(call)
            calls.append(call)
            notes.append({})

    def _with_notes(self, call: int, notes: dict[str, str]) -> Call:
        """``call`` with the texts of its notes; a note makes it an alert."""
        text = "; ".join(filter(None, notes.values()))
        with self.reading("Auction"):
            check_note(text)
        return Call(call, alert=bool(notes), note=text)

    def contract(self, replay: BoardReplay | None) -> tuple[str | None, int | None]:
        """Contract and declarer, as tagged or as the auction ends; both, if given, must agree."""
        declarer, text = self.seat("Declarer"), self.value("Contract")
        with self.reading("Contract"):
            contract = contract_text(*contract_numbers(text)) if text else None
        if replay is None or not replay.bid_over:
            with self.reading("Declarer"):
                if contract == "Pass" and declarer is not None:
                    raise ValueError(f"{SEATS[declarer]}, expected none with the contract Pass")
            return contract, declarer
        with self.reading("Contract"):
            if contract not in (None, replay.contract):
                raise ValueError(f"{contract}, expected {replay.contract} by the auction")
        with self.reading("Declarer"):
            if declarer is not None and declarer != replay.declarer:
                expected = "nobody" if replay.declarer is None else SEATS[replay.declarer]
                raise ValueError(f"{SEATS[declarer]}, expected {expected} by the auction")
        return replay.contract, replay.declarer

    def play(
        self, replay: BoardReplay | None, contract: str | None, declarer: int | None, hands: Hands | None
    ) -> tuple[tuple[int, ...], bool, range]:
        """Cards in the order played, whether the rest was claimed, and what tricks declarer can have taken."""
        if "Play" not in self.tags:
            return (), False, ANY_RESULT
        tag, (columns, claimed) = self.tags["Play"], self._columns(self.tags["Play"])
        if not columns:
            return (), claimed, ANY_RESULT
        first = self.seat("Play")
        with self.reading("Play"):
            if contract is None or contract == "Pass" or declarer is None or hands is None or 0 in hands:
                raise ValueError("cards are played, expected four hands, a contract and its declarer")
            leader = (declarer + 1) % 4
            if first != leader:
                raise ValueError(f"begins with {tag.value}, expected the leader, {SEATS[leader]}")
        if replay is None or not replay.bid_over:
            replay = BoardReplay(0, None, hands)
            replay.settle(contract, declarer)
        replay.start_play()
        cards: list[int] = []
        for start in range(0, len(columns), 4):
            for _ in range(4):
                column = start + (int(replay.state["hand_to_play"]) - leader) % 4
                word, card = columns[column] if column < len(columns) else (None, None)
                if word is None or card is None:
                    return tuple(cards), claimed, replay.possible_results
                with self.reading("Play", word):
                    replay.card(card)
                cards.append(card)
        return tuple(cards), claimed, replay.possible_results

    def _columns(self, tag: Tag) -> tuple[list[tuple[Word, int | None]], bool]:
        """The cells of the play section, row by row, ``None`` for a card not shown; and whether it ends in a claim."""
        cells: list[tuple[Word, int | None]] = []
        for word in tag.words:
            if word.text in ("*", "+"):
                return cells, word.text == "*"
            if not _is_mark(word.text):
                with self.reading("Play", word):
                    cells.append((word, None if word.text == "-" else card_number(word.text.rstrip("!?"))))
        return cells, False

    def result(self, contract: str | None, declarer: int | None, possible: range) -> int | None:
        """Declarer's tricks, as tagged (``9``, ``NS 9``, ``EW 4``, ``EW 4 NS 9``) or as played."""
        text = self.value("Result").removeprefix("^")
        if not text:
            return possible[0] if len(possible) == 1 else None
        with self.reading("Result"):
            if contract == "Pass":
                raise ValueError(f"{text!r}, expected none with the contract Pass")
            won = whole_number(text, 0, MOST_TRICKS)
            if won is None:
                won = _tricks_of_sides(text, declarer)
            check_result(won, possible)
        return won

    def tricks(self) -> tuple[int, ...] | None:
        """Double-dummy tricks ``[20]``, -1 where not known, as tagged in one of two ways or in both."""
        table, digits = self._optimum_result_table(), self._double_dummy_tricks()
        if table is None or digits is None:
            return table or digits
        with self.reading("DoubleDummyTricks"):
            for cell, (expected, number) in enumerate(zip(table, digits)):
                if -1 not in (expected, number) and expected != number:
                    contract = f"{SEATS[cell // 5]} in {STRAINS[cell % 5]}"
                    raise ValueError(f"{contract}: {number}, expected {expected} by the OptimumResultTable")
        return tuple(map(max, table, digits))

    def _double_dummy_tricks(self) -> tuple[int, ...] | None:
        """Tricks of twenty hexadecimal digits, N S E W by NT S H D C."""
        digits = self.value("DoubleDummyTricks")
        if not digits:
            return None
        with self.reading("DoubleDummyTricks"):
            if not re.fullmatch(r"[0-9a-dA-D*-]{20}", digits):
                expected = "20 of 0-9, a-d for 10-13, * for unknown (N S E W by NT S H D C)"
                raise ValueError(f"{digits!r}, expected {expected}")
        tricks = [-1] * 20
        for i, digit in enumerate(digits):
            tricks[5 * SEATS.index("NSEW"[i // 5]) + 4 - i % 5] = -1 if digit in _UNKNOWN else int(digit, 16)
        return tuple(tricks)

    def _optimum_result_table(self) -> tuple[int, ...] | None:
        """Tricks of the standard's table (section 5.7), a row a contract."""
        tag = self.tags.get("OptimumResultTable")
        if tag is None or not tag.words:
            return None
        heads = [re.sub(r"\\.*", "", head.strip()).lstrip("+-") for head in tag.value.split(";") if head.strip()]
        heads = heads or list(_RESULT_COLUMNS)
        with self.reading(tag.name):
            if not set(_RESULT_COLUMNS) <= set(heads):
                raise ValueError(f"columns {tag.value!r}, expected {', '.join(_RESULT_COLUMNS)}")
        tricks = [-1] * 20
        for start in range(0, len(tag.words), len(heads)):
            words = tag.words[start : start + len(heads)]
            with self.reading(tag.name, words[0]):
                if len(words) < len(heads):
                    raise ValueError(f"row of {len(words)} words, expected {len(heads)}")
                seat, strain, won = (words[heads.index(name)].text.upper() for name in _RESULT_COLUMNS)
                strain = "NT" if strain == "N" else strain
                if strain not in STRAINS:
                    raise ValueError(f"{strain!r} is not a strain, expected one of {' '.join(STRAINS)}")
                number = whole_number(won, 0, MOST_TRICKS)
                if number is None and won not in _UNKNOWN:
                    raise ValueError(f"{won!r} tricks, expected 0 ... {MOST_TRICKS}")
                cell = 5 * seat_number(seat) + STRAINS.index(strain)
                if number is not None and tricks[cell] not in (-1, number):
                    raise ValueError(f"{seat} in {strain} takes {number}, expected {tricks[cell]} as in a row before")
                tricks[cell] = tricks[cell] if number is None else number
        return tuple(tricks)


def _tricks_of_sides(text: str, declarer: int | None) -> int:
    """Declarer's tricks of a result that names the sides."""
    sides = {side: int(won) for side, won in re.findall(r"(NS|EW) ([0-9]{1,2})\b", text)}
    written = [" ".join(f"{side} {sides[side]}" for side in order if side in sides) for order in _ORDERS]
    if text not in written or max(sides.values()) > MOST_TRICKS:
        raise ValueError(f"{text!r}, expected 0 ... {MOST_TRICKS} tricks")
    if len(sides) == 2 and sum(sides.values()) != MOST_TRICKS:
        raise ValueError(f"{text!r}, expected {MOST_TRICKS} tricks in all")
    if declarer is None:
        raise ValueError(f"{text!r} without a declarer, expected the tricks alone")
    ours, theirs = _ORDERS[declarer % 2]
    return sides[ours] if ours in sides else MOST_TRICKS - sides[theirs]


def _is_mark(word: str) -> bool:
    """A comment on a call or card that changes nothing: ``$3``, ``!``, ``^R``, or its note ``=1=``."""
    return word[:1] in ("$", "^") or not word.strip("!?") or _NOTE.fullmatch(word) is not None


# ---- reading -----------------------------------------------------------------------------


def read(path: str | Path) -> list[Board]:
    """The boards of a file; ValueError names file, line, tag and what was expected."""
    return loads(decode(Path(path).read_bytes(), str(path)), str(path))


def loads(text: str, source: str = "text") -> list[Board]:
    """The boards of a PBN text; ``source`` is what errors call it."""
    boards = []
    previous: dict[str, Tag] = {}  # tags of the game before: "#" stands for its value
    persistent: dict[str, Tag] = {}  # tags given as "##value": they hold until given again
    inherited = 0
    for tags in games(text, source):
        game: dict[str, Tag] = {}
        for tag in tags:
            if tag.value == "#":
                if tag.name not in previous:
                    raise ValueError(f"{source}:{tag.line}: {tag.name[:40]}: '#', expected that tag in the game before")
                tag = previous[tag.name]._replace(line=tag.line)
                inherited += _size(tag)
            elif tag.value.startswith("##"):
                tag = persistent[tag.name] = tag._replace(value=tag.value[2:])
            if tag.name in ("Board", "Deal") and tag.name in game:
                raise ValueError(f"{source}:{tag.line}: {tag.name}: a second one, expected an empty line between games")
            if tag.name != "Note":
                game.setdefault(tag.name, tag)  # a tag given twice: the first one counts (section 3.3)
        inherited += sum(map(_size, persistent.values()))
        if inherited > MOST_INHERITED:
            expected = f"at most {MOST_INHERITED:,} characters by # and ##"
            raise ValueError(
                f"{source}:{tags[0].line}: {tags[0].name}: games inherit {inherited:,}, expected {expected}"
            )
        game = {**persistent, **game}
        boards.append(PbnGame(game, _notes(tags, source), source).board())
        previous = game
    return boards


def _size(tag: Tag) -> int:
    """The cost of reading ``tag`` once more, in characters."""
    return 8 + len(tag.value) + 32 * len(tag.words)


def _notes(tags: list[Tag], source: str) -> dict[str, dict[str, str]]:
    """Text of each note, by the section it follows (``Auction`` or ``Play``) and number."""
    notes: dict[str, dict[str, str]] = {"Auction": {}, "Play": {}}
    section = "Auction"
    for tag in tags:
        if tag.name in notes:
            section = tag.name
        elif tag.name == "Note":
            number, colon, text = tag.value.partition(":")
            if not colon or not number.strip().isdigit():
                raise ValueError(
                    f"{source}:{tag.line}: Note: {tag.value[:40]!r}, expected a number, a colon and the text"
                )
            notes[section][number.strip()] = text.strip()
    return notes


# ---- writing -----------------------------------------------------------------------------


def write(path: str | Path, boards: list[Board]) -> None:
    """Write ``boards`` to a file, whole or not at all."""
    replace_file(Path(path), dumps(boards).encode())


def dumps(boards: list[Board]) -> str:
    """PBN text of ``boards``; reading it gives them back.

    Raises:
        ValueError: cards played of hands not shown, or a text that PBN cannot hold (a name ``?``, a line break);
            names board and tag.
    """
    return "% PBN 2.1\n\n" + "\n".join(_game(board) for board in boards)


def _game(board: Board) -> str:
    """One game: the tags of the standard's mandatory set first, in its order (section 3.4)."""
    tag, extra = partial(_tag, board), dict(board.tags)
    lines = [_extra_tag(board, name, extra.pop(name, None)) for name in ("Event", "Site", "Date")]
    lines.append(tag("Board", "?" if board.number is None else str(board.number)))
    lines += [_name(board, seat) for seat in (3, 0, 1, 2)]
    lines.append(tag("Dealer", _seat(board.dealer)))
    lines.append(tag("Vulnerable", "?" if board.vulnerable is None else PBN_VULNERABLE[board.vulnerable]))
    lines.append(tag("Deal", deal_text(board.hands) if board.hands else "?"))
    lines.append(_extra_tag(board, "Scoring", extra.pop("Scoring", None)))
    passed_out = board.contract == "Pass"
    if passed_out and (board.declarer is not None or board.result is not None):
        raise ValueError(f"{_place(board)}: Contract: Pass, expected no declarer and no result with it")
    lines.append(tag("Declarer", "" if passed_out else _seat(board.declarer)))
    lines.append(tag("Contract", board.contract or "?"))
    lines.append(tag("Result", "" if passed_out else "?" if board.result is None else str(board.result)))
    lines += [_extra_tag(board, name, value) for name, value in extra.items()]
    lines += _auction(board) + _play(board)
    if board.tricks is not None:
        lines.append('[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]')
        for seat, strain in product((0, 2, 1, 3), (4, 3, 2, 1, 0)):
            won = board.tricks[5 * seat + strain]
            lines.append(f"{SEATS[seat]} {STRAINS[strain]:>2} {won if won >= 0 else '-':>2}")
    return "\n".join(lines) + "\n"


def _place(board: Board) -> str:
    return f"board {'?' if board.number is None else board.number}"


def _tag(board: Board, name: str, value: str) -> str:
    """A tag pair; ValueError if reading it would give another value."""
    if value == "#" or value.startswith("##"):
        raise ValueError(
            f"{_place(board)}: {name}: {value[:80]!r} means another game's value in PBN, expected other words"
        )
    check_text(f"{_place(board)}: {name}", value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _name(board: Board, seat: int) -> str:
    name = board.names[seat]
    if name != name.strip() or name in _NO_VALUE[1:]:
        expected = "a name that does not mean 'unknown' in PBN, without spaces around it"
        raise ValueError(f"{_place(board)}: {SEAT_NAMES[seat]}: {name[:80]!r}, expected {expected}")
    return _tag(board, SEAT_NAMES[seat], name)


def _extra_tag(board: Board, name: str, value: str | None) -> str:
    """A tag that has no field of its own; None: the standard wants it, and we do not know it."""
    if value is None:
        return _tag(board, name, "?")
    if name in _BOARD_TAGS or not _TAG_NAME.fullmatch(name):
        raise ValueError(f"{_place(board)}: tag {name[:80]!r}, expected a word of letters, without a field in Board")
    if value in ("", "?"):
        raise ValueError(f"{_place(board)}: {name}: {value!r} means 'unknown' in PBN, expected a value")
    return _tag(board, name, value)


def _seat(seat: int | None) -> str:
    return "?" if seat is None else SEATS[seat]


def _auction(board: Board) -> list[str]:
    """The auction section, four calls to a line, and its notes."""
    if not board.auction or board.dealer is None:
        return []
    words: list[str] = []
    notes: list[str] = []
    for call in board.auction:
        text = "Pass" if call.call == 0 else call_text(call.call)
        if call.alert or call.note:
            notes.append(_note(board, len(notes) + 1, call.note))
            text += f" ={len(notes)}="
        words.append(text)
    if board.contract is None:
        words.append("+")
    rows = [" ".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return [_tag(board, "Auction", SEATS[board.dealer]), *rows, *notes]


def _note(board: Board, number: int, text: str) -> str:
    if text != text.strip() or len(text) > LONGEST_NOTE:
        expected = f"at most {LONGEST_NOTE} characters, without spaces around them"
        raise ValueError(f"{_place(board)}: Note: {text[:80]!r} ({len(text)} characters), expected {expected}")
    return _tag(board, "Note", f"{number}:{text}")


def _play(board: Board) -> list[str]:
    """The play section: a trick to a line, the columns in the order of the opening lead."""
    if board.declarer is None or not (board.play or board.claimed):
        return []
    if not board.complete:
        raise ValueError(f"{_place(board)}: play: cards are played, expected four hands")
    first = (board.declarer + 1) % 4
    lines = [_tag(board, "Play", SEATS[first])]
    for start in range(0, len(board.play), 4):
        row = ["-"] * 4
        for card in board.play[start : start + 4]:
            holder = next(seat for seat, hand in enumerate(board.hands or ()) if hand >> card & 1)
            row[(holder - first) % 4] = card_text(card)[::-1]
        lines.append(" ".join(row))
    if len(board.play) < NUM_CARDS:
        lines.append("*" if board.claimed else "+")
    return lines

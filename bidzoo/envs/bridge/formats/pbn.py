"""Boards from and to PBN files (Portable Bridge Notation 2.1).

A file is a list of games, separated by empty lines; a game is a list of tags ``[Name "value"]``, each perhaps
followed by the words of its section. ``%`` in the first column, ``; ...`` and ``{ ... }`` hold no game data, nor do
lines before the first tag of a game.

Programs and mail leave empty lines within a game, one after each line even. So after an empty line a new game begins
where a tag comes for the second time, and a section goes on if the words fit it. A game without ``Board`` and ``Deal``
is no board. The names of the tags that are read may stand in upper or lower case.

The reader is our own. endplay's (0.5.12) does not name the line of a wrong value, knows no byte order mark and no
``##`` inheritance, keeps the notes of one game for the next, and takes illegal auctions and cards without a word;
it serves as the reference in the tests. Sections other than auction, play and double-dummy tables are skipped.

What a game says twice must agree: contract and declarer with the auction, the result with the cards, a double-dummy
table with itself and with ``DoubleDummyTricks``. What does not is left out and named, the rest of the board stays;
nothing is inferred. Reading takes time in proportion to the text; a note has at most ``LONGEST_NOTE`` characters, and
what a file inherits by ``#`` and ``##`` counts up to ``MOST_INHERITED``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
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
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import (
    LARGEST_BOARD,
    LONGEST_NOTE,
    MOST_TRICKS,
    Board,
    BoardReplay,
    Call,
    Fault,
    Faults,
    Hands,
    check_board,
    check_hands,
    check_note,
    check_text,
    contract_numbers,
    contract_text,
    decode,
    name_no_boards,
    text_lines,
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
_MARK = re.compile(r'[\[\]{};"]')
_BRACE = re.compile(r"[{}]")
_WHOLE_TAG = re.compile(r'\s*\[\s*([^\s\[\]{};"]+)\s*"([^"\\]*)"\s*\]\s*')  # a line that is one tag
_TAG_BEGINS = re.compile(r'\s*\[\s*\w+\s*"')
_MARKS = r"(?:[!?*]|=\d+=|\$\d+)*"  # of a call or a card: an alert, notes, an opinion
_SECTION_WORDS = {  # that show after an empty line that a section goes on
    "Auction": rf"(?:[1-7](?:NT?|[CDHS])|P(?:ass)?|AP|All|AllPass|All-Pass|X|XX|D|DBL|R|RDBL|[-+_]*){_MARKS}",
    "Play": rf"(?:[SHDC](?:[2-9TJQKA]|10)|[-+]){_MARKS}|\*",
    "OptimumResultTable": r"[NESW]|NT|[SHDC]|\d{1,2}|[-?*]",
}
_FITS = {name: re.compile(words, re.I) for name, words in _SECTION_WORDS.items()}


def games(text: str, faults: Faults) -> Iterator[list[Tag]]:
    """Games of a PBN text, in order: blocks between empty lines, put together until a tag comes again."""
    game, names = list[Tag](), set[str]()
    for block in _blocks(text, faults):
        new = {tag.name for tag in block if tag.name != "Note"}
        if not names.isdisjoint(new) or ("Event" in new and "Deal" in names):
            yield game
            game, names = [], set()
        game += block
        names |= new
    if game:
        yield game


def _blocks(text: str, faults: Faults) -> Iterator[list[Tag]]:
    """The tags of a PBN text, as far as no empty line stands between them."""
    reader = _Reader(text_lines(text), faults)
    while reader.number < len(reader.lines):
        line = reader.lines[reader.number]
        if reader.column == 0 and not line.strip():
            if reader.tags:
                yield reader.finish(reader.number + 1)
        elif reader.column or not line.startswith("%"):
            reader.line(line)
            continue
        reader.number += 1
    if reader.tags or reader.pair is not None:
        yield reader.finish(reader.number)


class _Reader:
    """The state of reading a file."""

    def __init__(self, lines: list[str], faults: Faults) -> None:
        self.lines, self.faults = lines, faults
        self.number, self.column = 0, 0  # of the next token, from 0
        self.tags: list[Tag] = []  # since the last empty line
        self.open: Tag | None = None  # the last tag, while the words of its section may follow
        self.pair: list[str] | None = None  # name and value of an open tag

    def finish(self, number: int) -> list[Tag]:
        """The tags so far; an empty line follows, or the end."""
        if self.pair is not None:
            self.fault(number, f"tag {' '.join(self.pair)!r} is never closed, expected ]", "the tag")
        tags, self.tags, self.pair = self.tags, [], None
        return tags

    def add(self, name: str, value: str, number: int) -> None:
        """One more tag, under the standard's spelling of its name."""
        self.open = Tag(_SPELLINGS.get(name.lower(), name), value, number, [])
        self.tags.append(self.open)

    def fault(self, number: int, reason: str, lost: str) -> None:
        self.faults.add(number, reason, lost)
        self.pair = None

    def line(self, line: str) -> None:
        """Read to the end of a line, or of a comment on a later one."""
        number, simple = self.number + 1, self.pair is None and self.column == 0
        whole = _WHOLE_TAG.fullmatch(line) if simple else None
        if simple and not whole and not self.tags and self.open is not None:  # after an empty line
            words, fits = re.sub(r"[;{\[].*", "", line).split(), _FITS.get(self.open.name)
            goes_on = all(map(fits.fullmatch, words)) if fits else self.open.name.endswith("Table")
            self.open = self.open if goes_on or not words else None
        if whole:
            self.add(whole[1], whole[2], number)
        elif simple and not _MARK.search(line):
            if self.open is not None:
                self.open.words.extend(Word(word, number) for word in line.split())
        else:
            while self.column < len(line):
                token = _TOKEN.match(line, self.column)
                if token is None:
                    text = line[self.column :][:40]
                    self.fault(number, f"{text!r} has no end, expected a closing quote", "the rest of the line")
                    break
                self.column = token.end()
                if token["mark"] == "{":
                    self.comment(number)
                    if self.number >= number or self.column == 0:
                        return
                else:
                    self.token(number, token)
        self.number, self.column = number, 0

    def comment(self, number: int) -> None:
        """Go to the end of the comment that has begun. Braces may be nested on its lines.

        One that runs over lines with tags to another comment, or to the end of the file, is not closed.
        """
        depth, closed, tags_begin, first = 1, None, False, 0
        for at in range(self.number, len(self.lines)):
            line, column = self.lines[at], self.column if at == self.number else 0
            if at > self.number and (not line.strip() or _TAG_BEGINS.match(line)):
                if closed is not None:
                    break
                first, tags_begin = first or at, tags_begin or bool(line.strip())
            for brace in _BRACE.finditer(line, column):
                if brace[0] == "}":
                    depth -= 1
                    closed = closed or (at, brace.end())
                    if depth == 0 or tags_begin:
                        self.number, self.column = (at, brace.end()) if depth == 0 else closed
                        return
                elif tags_begin:
                    break
                else:
                    depth += 1
            else:
                continue
            break
        if closed is not None:
            self.number, self.column = closed
            return
        self.fault(number, "comment is never closed, expected a brace", "all to the next tag or empty line")
        if self.open is not None:
            self.open.words.append(Word("{", number))
        self.number, self.column = first or len(self.lines), 0

    def token(self, number: int, token: re.Match[str]) -> None:
        mark, string, word = token["mark"], token["string"], token["word"]
        if self.pair is not None and mark != "[":
            self.in_tag(number, token)
        elif mark == "[":
            if self.pair is not None:
                self.fault(number, f"'[' in a tag, expected [Name \"value\"], not {' '.join(self.pair)!r}", "the tag")
            self.pair = []
        elif mark is not None:
            self.fault(number, f'{mark!r} closes nothing, expected [Name "value"]', f"the {mark}")
        elif self.open is not None and (string is not None or word is not None):
            self.open.words.append(Word(word if string is None else string, number))

    def in_tag(self, number: int, token: re.Match[str]) -> None:
        assert self.pair is not None
        if token["word"] is not None and not self.pair:
            self.pair.append(token["word"])
        elif token["string"] is not None and len(self.pair) == 1:
            self.pair.append(_ESCAPED.sub(r"\1", token["string"]))
        elif token["mark"] == "]" and len(self.pair) == 2:
            self.add(self.pair[0], self.pair[1], number)
            self.pair = None
        elif token[0].strip() and not token[0].startswith(";"):
            self.fault(number, f'{token[0][:40]!r} in a tag, expected [Name "value"]', "the rest of the line")
            self.column = len(self.lines[self.number])


# ---- what the tags of one game say of its board ------------------------------------------

_NO_VALUE, _UNKNOWN = ("", "?", "-"), ("-", "?", "*")
_TAG_NAME = re.compile(r'[^\s\[\]{};"]+')
_CALL = re.compile(rf"([^!?*=$]*)({_MARKS})")
_BLANK = re.compile(r"[-_?.…]+")  # a call that is not made yet, or is asked for
_CARD_MARKS = re.compile(r"(?:[!?]|=\d+=|\$\d+)+$")
_ALL_PASS = ("AP", "ALL", "ALLPASS", "ALL-PASS")  # "all pass" is two words, the second one a pass too many
_BOARD_TAGS = {
    "Board", "Dealer", "Vulnerable", "Deal", "Auction", "Contract", "Declarer", "Play", "Result", "Note",
    "OptimumResultTable", "DoubleDummyTricks", "Ability", *SEAT_NAMES,
}  # fmt: skip
_SPELLINGS = {name.lower(): name for name in (*_BOARD_TAGS, "Event", "Site", "Date", "Scoring", "Room")}
_WRITTEN = ("Board", "Dealer", "Vulnerable", "Deal", "Declarer", "Contract", "Result")  # in every game that we write
_ORDERS = (("NS", "EW"), ("EW", "NS"))  # declarer's side first
_COLUMNS = (  # of an OptimumResultTable: the standard's name, and others in use
    ("declarer", "seat", "hand"),
    ("denomination", "suit", "strain", "denom", "trump", "trumps"),
    ("result", "tricks", "made"),
)


class PbnGame:
    """The tags of one game, and what they say of the board; each is checked against the laws and the others."""

    def __init__(self, tags: dict[str, Tag], notes: dict[str, str], faults: Faults) -> None:
        self.tags, self.notes, self.faults = tags, notes, faults
        self.kept: dict[str, str] = {}  # values that are no numbers: they stay text

    def board(self) -> Board | None:
        """The board that the tags describe; None if its cards are wrong, or if it is none."""
        if self.tags.keys().isdisjoint(("Board", "Deal")):
            told = next((tag for tag in self.tags.values() if tag.name in _BOARD_TAGS), None)
            if told is not None:
                self.faults.add(told.line, f"{told.name}: a game without Board and Deal, expected one of them", "board")
            return None
        number = self.number()
        self.faults.board = str(number or self.kept.get("Board", ""))
        hands = None
        if text := self.value("Deal"):
            with self.faults.reading(self.tags["Deal"].line, "Deal", "board"):
                if "x" in text.lower():
                    raise ValueError(f"{text[:80]!r}: x for a small card is not supported, expected all ranks")
                hands = check_hands(deal_hands(text))
            if hands is None:
                return None
        dealer, vulnerable, begins = self.seat("Dealer"), self.vulnerable(), self.seat("Auction")
        if self.unsaid("Dealer"):
            dealer = self.first_caller(begins)
        if number is not None:
            dealer = auction.dealer_row(number - 1) if self.unsaid("Dealer") and dealer is None else dealer
            vulnerable = auction.vulnerable_row(number - 1) if self.unsaid("Vulnerable") else vulnerable
        dealer, calls, replay = self.auction(begins, dealer, vulnerable, hands)
        if self.is_outvoted(replay):
            calls, replay = (), BoardReplay(dealer or 0, vulnerable, hands)
        contract, declarer, agreed = self.contract(replay)
        cards, claimed = self.play(replay, contract, declarer) if agreed else ((), False)
        result = self.result(replay, contract, declarer) if agreed else None
        north, east, south, west = (self.value(name) for name in SEAT_NAMES)
        extra = {name: tag.value for name, tag in self.tags.items() if self.is_extra(tag)}
        return Board(
            number=number,
            dealer=dealer,
            vulnerable=vulnerable,
            hands=hands,
            auction=calls if agreed else (),
            contract=contract,
            declarer=declarer,
            play=cards,
            claimed=claimed,
            result=result,
            tricks=self.tricks(),
            names=(north, east, south, west),
            tags=extra | self.kept,
        )

    def is_extra(self, tag: Tag) -> bool:
        """Whether this is a plain tag that has a value and no field of its own."""
        return tag.name not in _BOARD_TAGS and not tag.words and tag.value not in ("", "?")

    def value(self, name: str) -> str:
        """Value of a tag, ``""`` if it says nothing."""
        tag = self.tags.get(name)
        return "" if tag is None or tag.value.strip() in _NO_VALUE else tag.value.strip()

    def unsaid(self, name: str) -> bool:
        """Whether a tag is missing or empty; ``?`` says that its value is not known."""
        return name not in self.tags or not self.tags[name].value.strip()

    def number(self) -> int | None:
        """Number of the board; a text that is none, such as ``1-3`` of a lesson, stays a tag."""
        text = self.value("Board")
        number = whole_number(text, 1, LARGEST_BOARD)
        if number is None and text.isdecimal() and text.strip("0"):
            expected = f"a number from 1 to {LARGEST_BOARD}"
            self.faults.add(self.tags["Board"].line, f"Board: {text!r}, expected {expected}", "number")
        elif number is None and text:
            self.kept["Board"] = text
        return number

    def seat(self, name: str) -> int | None:
        text = self.value(name).removeprefix("^")
        if text:
            with self.faults.reading(self.tags[name].line, name, name.lower()):
                return seat_number(text)
        return None

    def vulnerable(self) -> int | None:
        text = self.tags["Vulnerable"].value.strip() if "Vulnerable" in self.tags else ""
        if text not in ("", "?"):
            with self.faults.reading(self.tags["Vulnerable"].line, "Vulnerable", "vulnerability"):
                return vulnerability_number(re.sub(r"[\s/&+.-]", "", text) or text)
        return None

    def first_caller(self, begins: int | None) -> int | None:
        """Who makes the first call of the auction, whose words begin with the seat ``begins``; None where none is."""
        if begins is None or (before := _blanks_before(self.tags["Auction"])) == len(self.tags["Auction"].words):
            return None
        return (begins + before) % 4

    def auction(
        self, begins: int | None, dealer: int | None, vulnerable: int | None, hands: Hands | None
    ) -> tuple[int | None, tuple[Call, ...], BoardReplay]:
        """Dealer, calls, and the table after them."""
        tag = self.tags.get("Auction")
        if tag is None or begins is None:
            return dealer, (), BoardReplay(dealer or 0, vulnerable, hands)
        line, calls, notes = tag.line, list[int](), list[dict[str, str]]()  # an alert has one note at least
        before = _blanks_before(tag)
        start = (begins + before) % 4
        try:
            if dealer is not None and start != dealer and before < len(tag.words):
                raise ValueError(f"begins with {SEATS[start]}, expected the dealer, {SEATS[dealer]}")
            replay = BoardReplay(start, vulnerable, hands)
            last = len(tag.words)  # words that are no blanks
            while last > before and (_BLANK.fullmatch(tag.words[last - 1].text) or tag.words[last - 1].text in "*+"):
                last -= 1
            for word in tag.words[before:last]:
                line = word.line
                if word.text in ("*", "+"):  # broken off; to be continued
                    break
                self.auction_word(word.text, replay, calls, notes)
        except ValueError as error:
            self.faults.add(line, f"Auction: {error}", "auction")
            return dealer, (), BoardReplay(dealer or 0, vulnerable, hands)
        made = tuple(Call(call, bool(of), self.joined(of.values(), tag.line)) for call, of in zip(calls, notes))
        return start if dealer is None else dealer, made, replay

    def auction_word(self, text: str, replay: BoardReplay, calls: list[int], notes: list[dict[str, str]]) -> None:
        """One call with its marks, or marks of the call before; a pass after the end is one too many."""
        match = _CALL.fullmatch(text)
        word, marks = (match[1].upper(), match[2]) if match else (text, "")
        if word[:1] == "^":
            raise ValueError(f"the irregularity {text} is not supported, expected a call")
        made = [PASS] * 4 if word in _ALL_PASS else [] if word in ("", "-") else [call_number(word)]
        if word == "-" and not replay.bid_over:
            raise ValueError("'-' within the auction, expected a call")
        for call in made:
            if not (replay.bid_over and call == PASS):
                replay.call(call)
                calls.append(call)
                notes.append({})
        for number in re.findall(r"=(\d+)=", marks):
            if not calls:
                raise ValueError(f"note {text} before any call")
            notes[-1][number] = self.notes.get(number, "")
        if "*" in marks and calls:
            notes[-1].setdefault("*", "")

    def joined(self, notes: Iterable[str], line: int) -> str:
        """The texts of a call's notes."""
        text = "; ".join(filter(None, notes))
        with self.faults.reading(line, "Auction", "note"):
            check_note(text)
            return text
        return ""

    def is_outvoted(self, replay: BoardReplay) -> bool:
        """Whether contract, declarer and the seat that leads agree with each other against the auction, a fault."""
        try:
            contract = contract_text(*contract_numbers(self.value("Contract")))
            declarer, leader = (seat_number(self.value(name).removeprefix("^")) for name in ("Declarer", "Play"))
        except ValueError:
            return False
        if contract == "Pass" or leader != (declarer + 1) % 4 or not self.tags["Play"].words:
            return False
        with self.faults.reading(self.tags["Auction"].line if replay.bid_over else 0, "Auction", "auction"):
            if replay.bid_over and (replay.contract, replay.declarer) != (contract, declarer):
                ends = "Pass" if replay.declarer is None else f"{replay.contract} by {SEATS[replay.declarer]}"
                raise ValueError(f"{ends}, expected {contract} by {SEATS[declarer]} as contract, declarer and lead say")
            return False
        return True

    def contract(self, replay: BoardReplay) -> tuple[str | None, int | None, bool]:
        """Contract and declarer, as tagged or as the auction ends, and whether these agree."""
        declarer, text, contract = self.seat("Declarer"), self.value("Contract"), None
        if text:
            with self.faults.reading(self.tags["Contract"].line, "Contract", "contract"):
                contract = contract_text(*contract_numbers(text))
        if not replay.bid_over:
            return contract, None if contract == "Pass" else declarer, True
        declarer = None if replay.contract == "Pass" else declarer
        for name, said in (("Contract", (contract, None)), ("Declarer", (None, declarer))):
            try:
                replay.check_contract(*said)
            except ValueError as error:
                self.faults.add(self.tags[name].line, f"{name}: {error}", "auction, contract, play and result")
                return None, None, False
        return replay.contract, replay.declarer, True

    def play(self, replay: BoardReplay, contract: str | None, declarer: int | None) -> tuple[tuple[int, ...], bool]:
        """Cards in the order played, and whether the rest was claimed."""
        tag, first, cards, before = self.tags.get("Play"), self.seat("Play"), list[int](), replay.state.copy()
        if tag is None or (first is None and self.value("Play")):
            return (), False
        line = tag.line
        try:
            columns, claimed = _columns(tag)
            if not columns:
                return (), claimed and declarer is not None and contract is not None
            replay.start_play(contract, declarer)
            leader = ((declarer or 0) + 1) % 4
            if first != leader:
                raise ValueError(f"begins with {tag.value}, expected the leader, {SEATS[leader]}")
            while len(cards) < len(columns):
                column = len(cards) // 4 * 4 + (int(replay.state["hand_to_play"]) - leader) % 4
                text, line = columns[column] if column < len(columns) else Word("-", line)
                if text == "-":
                    break
                card = card_number(text)
                replay.card(card)
                cards.append(card)
            if len(cards) < sum(word.text != "-" for word in columns):
                raise ValueError("a card after one that is not shown, expected none")
        except ValueError as error:
            self.faults.add(line, f"Play: {error}", "play")
            replay.state = before
            return (), False
        return tuple(cards), claimed and len(cards) < NUM_CARDS

    def result(self, replay: BoardReplay, contract: str | None, declarer: int | None) -> int | None:
        """Declarer's tricks, as tagged (``9``, ``NS 9``, ``EW 4``, ``EW 4 NS 9``) or as played."""
        text = self.value("Result").removeprefix("^").strip()
        if not text or (contract == "Pass" and not re.sub(r"NS|EW|[0 ]", "", text)):
            return replay.result
        won = whole_number(text, 0, MOST_TRICKS)
        with self.faults.reading(self.tags["Result"].line, "Result", "result"):
            if contract == "Pass":
                raise ValueError(f"{text!r}, expected none with the contract Pass")
            if won is None:
                won = _tricks_of_sides(text, declarer)
            if won is None:  # whose tricks they are cannot be told
                self.kept["Result"] = text
            else:
                replay.check_result(won)
            return won
        return replay.result

    def tricks(self) -> tuple[int, ...] | None:
        """Double-dummy tricks ``[20]``, -1 where not known, as tagged in one of three ways or in several."""
        table, digits = self.tags.get("OptimumResultTable"), self.value("DoubleDummyTricks")
        abilities = self.value("Ability")
        name, line, tricks = "OptimumResultTable", 0, [-1] * 20
        try:
            if table is not None and table.words:
                line = table.line
                places, size = _places(table.value)
                for start in range(0, len(table.words), size):
                    line = table.words[start].line
                    cell, won = _row([word.text for word in table.words[start : start + size]], places, size)
                    _set(tricks, cell, won, "as in a row before")
            if digits:
                name, line = "DoubleDummyTricks", self.tags["DoubleDummyTricks"].line
                if not re.fullmatch(r"[0-9a-dA-D*-]{20}", digits):
                    expected = "20 of 0-9, a-d for 10-13, * for unknown (N S E W by NT S H D C)"
                    raise ValueError(f"{digits!r}, expected {expected}")
                for i, digit in enumerate(digits):
                    won = -1 if digit in _UNKNOWN else int(digit, 16)
                    _set(tricks, 5 * SEATS.index("NSEW"[i // 5]) + 4 - i % 5, won, "by the OptimumResultTable")
            if abilities:
                name, line = "Ability", self.tags["Ability"].line
                for cell, won in _ability(abilities):
                    _set(tricks, cell, won, "by another table")
        except ValueError as error:
            self.faults.add(line, f"{name}: {error}", "double-dummy table")
            return None
        return tuple(tricks) if digits or abilities or (table is not None and table.words) else None


def _columns(tag: Tag) -> tuple[list[Word], bool]:
    """The cells of the play section, row by row, ``-`` for a card not shown; and whether it ends in a claim."""
    cells, claimed, last = list[Word](), False, 4 * NUM_CARDS
    for text, line in tag.words:
        if text[:1] == "^":
            raise ValueError(f"the irregularity {text} is not supported, expected a card")
        card = "-" if text in ("*", "+") else _CARD_MARKS.sub("", text)
        if len(cells) >= last:
            break
        if text in ("*", "+"):  # the row is read to its end: a card may have been led before
            claimed, last = text == "*", len(cells) // 4 * 4 + 4
        if card:
            cells.append(Word(card, line))
    while cells and cells[-1].text == "-":
        cells.pop()
    return cells, claimed


def _places(value: str) -> tuple[list[int], int]:
    """Where declarer, strain and tricks stand in a row of a table, and the length of a row."""
    heads = [re.sub(r"[\\\x00-\x1f].*", "", head).lstrip("+-").lower() for head in re.split(r"[;,\s]+", value)]
    heads = list(filter(None, heads)) or [names[0] for names in _COLUMNS]
    places = [next((place for place, head in enumerate(heads) if head in names), -1) for names in _COLUMNS]
    if -1 in places:
        raise ValueError(f"columns {value!r}, expected Declarer, Denomination, Result")
    return places, len(heads)


def _row(words: list[str], places: list[int], size: int) -> tuple[int, int]:
    """Cell and tricks of one row of a table."""
    if len(words) < size:
        raise ValueError(f"row of {len(words)} words, expected {size}")
    seat, strain, won = (words[place].upper() for place in places)
    strain = "NT" if strain == "N" else strain
    if strain not in STRAINS:
        raise ValueError(f"{strain!r} is not a strain, expected one of {' '.join(STRAINS)}")
    number = whole_number(won, 0, MOST_TRICKS)
    if number is None and won not in _UNKNOWN:
        raise ValueError(f"{won!r} tricks, expected 0 ... {MOST_TRICKS}")
    return 5 * seat_number(seat) + STRAINS.index(strain), -1 if number is None else number


def _ability(text: str) -> list[tuple[int, int]]:
    """Cells and tricks of ``N:74659 E:49784 ...``: a seat, or both of a side, and tricks in NT S H D C, hexadecimal."""
    seats, cells = "", list[tuple[int, int]]()
    for word in text.split():
        match = re.fullmatch(r"(NS|EW|[NESW]):([0-9A-D*?-]{5})", word.upper())
        if match is None or any(seat in seats for seat in match[1]):
            raise ValueError(f"{text!r}, expected such as N:74659 E:49784, for a seat its tricks in NT S H D C")
        seats += match[1]
        for seat in match[1]:
            for place, digit in enumerate(match[2]):
                cells.append((5 * SEATS.index(seat) + 4 - place, -1 if digit in _UNKNOWN else int(digit, 16)))
    return cells


def _one_letter_off(word: str, other: str) -> bool:
    """Whether one letter more, less or other, or two exchanged, make one word the other."""
    if abs(len(word) - len(other)) > 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(word, other)) if a != b), min(len(word), len(other)))
    rest, of = word[same:], other[same:]
    return rest[1:] in (of[1:], of) or rest == of[1:] or (rest[:2] == of[1::-1] and rest[2:] == of[2:])


def _set(tricks: list[int], cell: int, won: int, why: str) -> None:
    if -1 not in (tricks[cell], won) and tricks[cell] != won:
        where = f"{SEATS[cell // 5]} in {STRAINS[cell % 5]}"
        raise ValueError(f"{where} takes {won}, expected {tricks[cell]} {why}")
    tricks[cell] = max(tricks[cell], won)


def _tricks_of_sides(text: str, declarer: int | None) -> int | None:
    """Declarer's tricks of a result that names the sides; None without a declarer."""
    sides = {side: int(won) for side, won in re.findall(r"(NS|EW) ([0-9]{1,2})\b", text)}
    written = [" ".join(f"{side} {sides[side]}" for side in order if side in sides) for order in _ORDERS]
    if text not in written or max(sides.values()) > MOST_TRICKS:
        raise ValueError(f"{text!r}, expected 0 ... {MOST_TRICKS} tricks")
    if len(sides) == 2 and sum(sides.values()) != MOST_TRICKS:
        raise ValueError(f"{text!r}, expected {MOST_TRICKS} tricks in all")
    if declarer is None:
        return None
    ours, theirs = _ORDERS[declarer % 2]
    return sides[ours] if ours in sides else MOST_TRICKS - sides[theirs]


# ---- reading -----------------------------------------------------------------------------


def read(path: str | Path, strict: bool = False, faults: list[Fault] | None = None) -> list[Board]:
    """The boards of a file, as ``loads``."""
    return loads(decode(Path(path).read_bytes(), str(path)), str(path), strict, faults)


def loads(text: str, source: str = "text", strict: bool = False, faults: list[Fault] | None = None) -> list[Board]:
    """The boards of a PBN text.

    Args:
        text: of the file.
        source: what errors call it.
        strict: what is wrong is an error; otherwise it is left out and named, and the rest stays.
        faults: takes what is left out; without it, a warning names it.

    Raises:
        ValueError: the first fault, if ``strict``; it names file, line, tag and what was expected.
    """
    collected = Faults(source, strict, faults)
    boards, inheritance = list[Board](), _Inheritance(collected)
    for tags in games(text, collected):
        for part in [tags] if strict else _parted(tags):
            collected.board = next((tag.value for tag in part if tag.name == "Board"), "")
            game = inheritance.game(part)
            if game is not None:
                _name_near_misses(part, game, collected)
            board = None if game is None else PbnGame(game, _notes(part, collected), collected).board()
            boards += [] if board is None else [board]
    if not boards and not collected.kept:
        name_no_boards(text, collected, "%;", 'tags such as [Board "1"] and [Deal "N:..."]')
    collected.warn(boards)
    return boards


def _parted(tags: list[Tag]) -> list[list[Tag]]:
    """The games of ``tags``: a second number, or deal where none has a number, begins one without an empty line.

    So do an ``Event`` before it, and the tags right before it that the game has already.
    """
    starts, event, last = [0], -1, -1
    begins = "Board" if any(tag.name == "Board" for tag in tags) else "Deal"
    seen = Counter[str]()  # names of the game's tags
    for place, tag in enumerate(tags):
        event = place if tag.name == "Event" else event
        if tag.name == begins:
            if last >= 0:
                first = place
                while first > last + 1 and seen[tags[first - 1].name] > 1:
                    first -= 1
                    seen[tags[first].name] -= 1
                starts.append(max(event, last + 1) if event > last else first)
                seen = Counter(tag.name for tag in tags[starts[-1] : place])
            last = place
        seen[tag.name] += tag.name != "Note"  # which a game may have many of
    return [tags[start:stop] for start, stop in zip(starts, [*starts[1:], len(tags)])]


def _name_near_misses(tags: list[Tag], game: dict[str, Tag], faults: Faults) -> None:
    """Name a tag that ``game`` lacks if one of its own ``tags`` is spelt almost like it."""
    missing = [name for name in _WRITTEN if name not in game]
    for tag in tags if missing else ():
        for name in missing if tag.name.lower() not in _SPELLINGS else ():
            if _one_letter_off(tag.name.lower(), name.lower()):
                faults.add(tag.line, f"{tag.name}: no tag of a board, expected {name}", name.lower())


_ONCE = ("Dealer", "Vulnerable", *SEAT_NAMES)  # a second one is perhaps of another game
_OF_DEAL = ("Board", "Dealer", "Vulnerable", "Deal", "OptimumResultTable", "DoubleDummyTricks")


class _Inheritance:
    """What a game takes over from those before it."""

    def __init__(self, faults: Faults) -> None:
        self.faults, self.cost = faults, 0
        self.previous: dict[str, Tag] = {}  # tags of the game before: "#" stands for its value
        self.persistent: dict[str, Tag] = {}  # tags given as "##value": they hold until given again
        self.second = False  # the game before was a second room

    def game(self, tags: list[Tag]) -> dict[str, Tag] | None:
        """The tags of a game by name; None if it is not clear which cards are its."""
        game: dict[str, Tag] = {}
        clear = True
        for tag in tags:
            if tag.value == "#" and tag.name not in self.previous:
                lost = "board" if tag.name == "Deal" else tag.name[:40]
                self.faults.add(tag.line, f"{tag.name[:40]}: '#', expected that tag in the game before", lost)
                clear = clear and lost != "board"
                continue
            if tag.value == "#":
                tag = self.previous[tag.name]._replace(line=tag.line)
                self.cost += _size(tag)
            elif tag.value.startswith("##"):
                tag = self.persistent[tag.name] = tag._replace(
                    value=tag.value.lstrip("#")
                )  # no value of a game begins so
            if tag.name in ("Board", "Deal") and tag.name in game:
                expected = "expected an empty line between games"
                self.faults.add(tag.line, f"{tag.name}: a second one, {expected}", "board")
                clear = False
            elif tag.name in _ONCE and tag.value != game.get(tag.name, tag).value:
                expected = f"{game[tag.name].value[:40]!r} again"
                self.faults.add(tag.line, f"{tag.name}: {tag.value[:40]!r}, expected {expected}", "the second one")
            if tag.name != "Note":
                game.setdefault(tag.name, tag)  # a tag given twice: the first one counts (section 3.3)
        game |= self._of_first_room(game)
        self.cost += sum(map(_size, self.persistent.values()))
        if self.cost > MOST_INHERITED:
            inherit = f"{tags[0].name}: games inherit {self.cost:,}, expected at most {MOST_INHERITED:,} characters"
            raise ValueError(f"{self.faults.source}:{tags[0].line}: {inherit} by # and ##")
        self.previous = {**self.persistent, **game}
        return self.previous if clear else None

    def _of_first_room(self, game: dict[str, Tag]) -> dict[str, Tag]:
        """Tags of the deal, if ``game`` is the second room of the game before and says none itself."""
        values = [{name: tag.value for name, tag in tags.items()} for tags in (self.previous, game)]
        first, second = ({name: of[name].lower() for name in ("Room", "Board") if name in of} for of in values)
        self.second = (
            not self.second
            and "Deal" in self.previous
            and "Deal" not in game
            and first.get("Room", second.get("Room")) != second.get("Room", first.get("Room"))
            and second.get("Board", first.get("Board")) == first.get("Board")
        )
        taken = {name: self.previous[name] for name in _OF_DEAL if self.second and name in self.previous}
        self.cost += sum(map(_size, taken.values()))
        return {name: tag for name, tag in taken.items() if name not in game}


def _size(tag: Tag) -> int:
    """The cost of reading ``tag`` once more, in characters."""
    return 8 + len(tag.value) + 32 * len(tag.words)


def _blanks_before(tag: Tag) -> int:
    """Number of words of an auction before the first call."""
    return next((i for i, word in enumerate(tag.words) if word.text.strip("-") or not word.text), len(tag.words))


def _notes(tags: list[Tag], faults: Faults) -> dict[str, str]:
    """Text of each note of the auction by its number; those after ``[Play]`` are of cards."""
    notes: dict[str, str] = {}
    of_auction = True
    for tag in tags:
        if tag.name in ("Auction", "Play"):
            of_auction = tag.name == "Auction"
        elif tag.name == "Note":
            number, colon, text = tag.value.partition(":")
            if not colon or not number.strip().isdigit():
                reason = f"Note: {tag.value[:40]!r}, expected a number, a colon and the text"
                faults.add(tag.line, reason, "note")
            elif of_auction:
                notes[number.strip()] = text.strip()
    return notes


# ---- writing -----------------------------------------------------------------------------


def write(path: str | Path, boards: list[Board]) -> None:
    """Write ``boards`` to a file, whole or not at all."""
    replace_file(Path(path), dumps(boards).encode())


def dumps(boards: list[Board]) -> str:
    """PBN text of ``boards``; reading it gives them back, but for a call with a note, which is alerted then.

    Raises:
        ValueError: what ``check_board`` refuses, or a text that PBN cannot hold (a name ``?``, a line break); names
            board and tag.
    """
    return "% PBN 2.1\n\n" + "\n".join(_game(board) for board in boards)


def _game(board: Board) -> str:
    """One game: the tags of the standard's mandatory set first, in its order (section 3.4)."""
    try:
        replay = check_board(board)
    except ValueError as error:
        raise ValueError(f"{_place(board)}: {error}") from error
    tag, extra = partial(_tag, board), dict(board.tags)
    lines = [_extra_tag(board, name, extra.pop(name, None)) for name in ("Event", "Site", "Date")]
    number = _text_of(board, "Board", extra) if board.number is None else str(board.number)
    lines.append(tag("Board", number))
    lines += [_name(board, seat) for seat in (3, 0, 1, 2)]
    lines.append(tag("Dealer", _seat(board.dealer)))
    lines.append(tag("Vulnerable", "?" if board.vulnerable is None else PBN_VULNERABLE[board.vulnerable]))
    lines.append(tag("Deal", deal_text(board.hands) if board.hands else "?"))
    lines.append(_extra_tag(board, "Scoring", extra.pop("Scoring", None)))
    declarer = replay.declarer if replay.bid_over else board.declarer
    passed_out = "Pass" in (board.contract, replay.contract if replay.bid_over else None)
    result = None if board.result is None else str(board.result)
    if result is None and declarer is None and not passed_out:
        result = _text_of(board, "Result", extra)
    lines.append(tag("Declarer", "" if passed_out else _seat(board.declarer)))
    lines.append(tag("Contract", board.contract or "?"))
    lines.append(tag("Result", "" if passed_out else result or "?"))
    lines += [_extra_tag(board, name, value) for name, value in extra.items()]
    lines += _auction(board) + _play(board, replay)
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


def _text_of(board: Board, name: str, extra: dict[str, str]) -> str:
    """What a reader keeps as a tag where it finds no number in ``name``; ``?`` if there is nothing."""
    if name not in extra:
        return "?"
    text = extra.pop(name)
    try:
        if text != text.strip() or text in _NO_VALUE or text.strip("0").isdecimal():
            raise ValueError(f"{text[:80]!r}, expected a text that is no number")
        if name == "Result":
            _tricks_of_sides(text, None)
    except ValueError as error:
        raise ValueError(f"{_place(board)}: {name}: {error}") from error
    return text


def _name(board: Board, seat: int) -> str:
    name = board.names[seat]
    if name != name.strip() or name in _NO_VALUE[1:]:
        expected = "a name that does not mean 'unknown' in PBN, without spaces around it"
        raise ValueError(f"{_place(board)}: {SEAT_NAMES[seat]}: {name[:80]!r}, expected {expected}")
    return _tag(board, SEAT_NAMES[seat], f" {name}" if name == "#" or name.startswith("##") else name)


def _extra_tag(board: Board, name: str, value: str | None) -> str:
    """A tag that has no field of its own; None: the standard wants it, and we do not know it."""
    if value is None:
        return _tag(board, name, "?")
    if name in _BOARD_TAGS or _SPELLINGS.get(name.lower(), name) != name or not _TAG_NAME.fullmatch(name):
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


def _play(board: Board, replay: BoardReplay) -> list[str]:
    """The play section: a trick to a line, the columns in the order of the opening lead."""
    if not (board.play or board.claimed):
        return []
    first = (int(replay.state["declarer"]) + 1) % 4
    lines = [_tag(board, "Play", SEATS[first])]
    for start in range(0, len(board.play), 4):
        row = ["-"] * 4
        for place, card in enumerate(board.play[start : start + 4], start):
            row[(int(replay.state["players"][place]) - first) % 4] = card_text(card)[::-1]
        lines.append(" ".join(row))
    if len(board.play) < NUM_CARDS:
        lines.append("*" if board.claimed else "+")
    return lines

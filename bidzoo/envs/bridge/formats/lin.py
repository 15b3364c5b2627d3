"""Boards from and to LIN files, the form Bridge Base Online shows and stores hands in.

A file is entries ``key|value|``. Read here: ``pn`` names S W N E, ``md`` dealer (1-4 = S W N E) and hands S W N E,
``ah`` or ``qx`` board number, ``sv`` vulnerability, ``mb`` calls (``!`` alerts), ``an`` the explanation of the last,
``pc`` card, ``mc`` declarer's tricks after a claim (``-1``: not known); of a team match ``vg`` its boards and ``rs``
their results, open room and closed room in turn. The other keys lay out a page and are skipped. A line may be
percent-encoded, or its bars alone, or be the address of a hand viewer, with ``lin=`` or with the parts of a board
(``n= e= s= w=`` hands, ``nn= en= sn= wn=`` names, ``d=`` dealer, ``v=`` vulnerability, ``b=`` number, ``a=`` auction,
``p=`` play, ``c=`` tricks claimed). In a text that begins otherwise, such as HTML or Markdown, addresses and runs of
entries are read wherever they stand, and the rest is skipped. There is no standard.

endplay's reader (0.5.12), the reference in the tests, wants ``pn`` on every board, lets illegal calls and cards pass
and miscounts the tricks of a whole play.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

from bidzoo.core.cards import (
    NUM_CARDS,
    PASS,
    RANKS,
    SEAT_NAMES,
    SUITS,
    call_number,
    call_text,
    card_number,
    card_text,
    hand_bits,
    hand_text,
    seat_number,
)
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import (
    LARGEST_BOARD,
    MOST_TRICKS,
    Board,
    BoardReplay,
    Call,
    Fault,
    Faults,
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

_SEATS = (2, 3, 0, 1)  # S W N E, the order of names, hands and dealers
_DEALERS = ("1", "2", "3", "4")
_VULNERABLE = "oneb"  # by number: bit 0 N/S, bit 1 E/W
_CALL = re.compile(r"([1-7](?:NT|[CDHSN])|RDBL|DBL|XX|PASS|AP|[XRDP])(!*)", re.IGNORECASE)
_RESULT = re.compile(r"([1-7])(C|D|H|S|N|NT)([NESW])(X{0,2})(=|[+-]\d+)", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*(?:https?://|www\.|lin=)", re.IGNORECASE)
_LINK = re.compile(  # within other text: in quotes, in the parentheses of Markdown, or up to a space
    r"""(["'])(?P<quoted>(?:https?://|www\.)[^"'<>]*)\1
    | \]\((?P<linked>(?:https?://|www\.)(?:[^()<>]|\([^()<>]*\))*)\)
    | (?P<bare>(?:https?://|www\.)[^\s"'<>`]*[^\s"'<>`.,;)\]])""",
    re.IGNORECASE | re.VERBOSE,
)
_VIEWED = re.compile(r"[?&](?:lin|[nesw])=", re.IGNORECASE)  # in an address that shows a board
_ENTRIES = r"(?:pn|qx|st|md|vg|rs|ah|sv|rh|mb|an|pg|pc|mc)\|"
_RUN = re.compile(rf"(?<![a-z0-9%|])({_ENTRIES}[^<>`]*\|)", re.IGNORECASE)  # of entries within other text
_LIN_LINE = re.compile(r"\s*[a-z0-9]{2}\|", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(?:qx|pn|st|md|vg|rs)\|", re.IGNORECASE)  # a line of new entries, whatever was before
_ROOMS = {"o": "Open", "c": "Closed"}


class _Entry(NamedTuple):
    key: str
    value: str
    line: int


def read(path: str | Path, strict: bool = False, faults: list[Fault] | None = None) -> list[Board]:
    """The boards of a file, as ``loads``."""
    return loads(decode(Path(path).read_bytes(), str(path)), str(path), strict, faults)


def loads(text: str, source: str = "text", strict: bool = False, faults: list[Fault] | None = None) -> list[Board]:
    """The boards of a LIN text.

    Args:
        text: of the file.
        source: what errors call it.
        strict: what is wrong is an error; otherwise it is left out and named, and the rest stays.
        faults: takes what is left out; without it, a warning names it.

    Raises:
        ValueError: the first fault, if ``strict``; it names file, line, key and what was expected.
    """
    collected = Faults(source, strict, faults)
    boards, group, dealt = list[Board](), list[_Entry](), False  # the group has its deal
    names = ["", "", "", ""]  # they hold until given again: a match names its players once
    results, first = list[str](), 0  # of a team match, and its first board
    entries = _entries(text, collected)
    end = (_Entry("md", "", 0), False)
    for entry, deal_follows in [*zip(entries, _before_deal(entries)), end]:
        if dealt and (entry.key in ("qx", "pn", "md") or (deal_follows and _begins_board(entry.key, group))):
            hand = _Hand(names, results, first, collected)
            board = hand.board(group)
            boards += [] if board is None else [board]
            names, group, dealt, first = hand.names, [], False, first or hand.number or 0
        if entry.key == "vg":
            results, first = [], whole_number([*entry.value.split(","), *"   "][3].strip(), 1, LARGEST_BOARD) or 0
        elif entry.key == "rs":
            results = results + entry.value.split(",")
        group.append(entry)
        dealt = dealt or entry.key == "md"
    for entry in group[:-1]:
        if entry.key in ("mb", "an", "pc", "mc"):
            reason = f"{entry.key}: {entry.value[:40]!r} without a deal, expected md first"
            collected.add(entry.line, reason, "the entries")
            break
    if not boards and not collected.kept:
        name_no_boards(text, collected, "", "entries key|value| with a deal, md|...|")
    collected.warn(boards)
    return boards


def _before_deal(entries: list[_Entry]) -> list[bool]:
    """Whether a deal follows each entry before any other entry of a board but a heading."""
    follows, found = [False] * len(entries), False
    for i in range(len(entries) - 1, -1, -1):
        key = entries[i].key
        follows[i] = found
        found = key == "md" or (found and key not in ("qx", "pn", "mb", "an", "pc", "mc"))
    return follows


def _begins_board(key: str, group: list[_Entry]) -> bool:
    """Whether a heading with ``key`` before a deal belongs to that one, not to the board of ``group``."""
    return key in ("ah", "sv", "st", "rh") and any(entry.key in (key, "mb", "pc", "mc") for entry in group)


def _entries(text: str, found: Faults) -> list[_Entry]:
    """Keys with their values; line breaks between entries mean nothing."""
    entries: list[_Entry] = []
    piece: list[str] = []  # lines whose entries belong together
    number = 1
    for number, line in _lin_lines(text_lines(text), found):
        if piece and _BEGINS.match(line):
            _add_entries("\n".join(piece), number - len(piece), found, entries)
            piece = []
        piece.append(line)
    _add_entries("\n".join(piece), number - len(piece) + 1, found, entries)
    return entries


def _lin_lines(lines: list[str], found: Faults) -> Iterator[tuple[int, str]]:
    """Number and LIN of each line; where a line holds several addresses, of each of them."""
    first = next((line for line in lines if line.strip()), "")
    is_lin = bool(_ADDRESS.match(first) or _LIN_LINE.match(_decoded(first)))
    for number, line in enumerate(lines, 1):
        if _ADDRESS.match(line):
            yield number, _of_address(line.strip().replace("&amp;", "&"), number, found)
        elif links := [link for link in _links(line) if _VIEWED.search(link)]:
            yield from ((number, _of_address(link, number, found)) for link in links)
        elif is_lin:
            yield number, _decoded(line)
        else:
            plain = _decoded(unescape(re.sub(r"<[^<>]*>", lambda tag: tag[0] if "|" in tag[0] else " ", line)))
            run = _RUN.search(plain)
            yield number, run[1] if run else ""


def _links(line: str) -> Iterator[str]:
    """Addresses within a line of other text."""
    for match in _LINK.finditer(line) if "://" in line or "www." in line.lower() else ():
        yield unescape(next(filter(None, match.group("quoted", "linked", "bare"))))


def _of_address(address: str, number: int, found: Faults) -> str:
    """The LIN that the address of a hand viewer shows: what follows ``lin=``, or made of its parts."""
    before, *after = re.split(r"(?:[?&]|^\s*)lin=", address, maxsplit=1, flags=re.IGNORECASE)
    if after and after[0]:
        return _decoded(after[0] if "|" in after[0] else re.split("[&#]", after[0])[0])
    pairs = (part.partition("=") for part in address.partition("?")[2].partition("#")[0].split("&"))
    parts = {name.lower(): re.sub(r"[|\s]+", " ", unquote_plus(value)).strip() for name, _, value in pairs}
    if not any(parts.get(seat) for seat in "nesw"):
        expected = "expected the address of a hand viewer with lin= or n= e= s= w="
        found.add(number, f"{before[:40]!r}, {expected}", "the line")
        return ""
    board = parts.get("b", "")
    dealer = "swne".find(parts.get("d", "")[:1].lower() or "?") + 1
    if not dealer and (row := whole_number(board, 1, LARGEST_BOARD)):
        dealer = _SEATS.index(auction.dealer_row(row - 1)) + 1  # a viewer that is told none takes the number's
    hands = ",".join(parts.get(seat, "").replace("-", "").replace(" ", "") for seat in "swne")
    names = ",".join(" ".join(parts.get(f"{seat}n", "").replace(",", " ").split()) for seat in "swne")
    entries = [("pn", names), ("ah", board), ("md", f"{dealer}{hands}")]
    entries += [("sv", parts["v"][:1])] if "v" in parts else []
    for note, calls in re.findall(r"\(([^()]*)\)|([^()]+)", parts.get("a", "")):
        entries += [("mb", calls.rstrip(" -?_").replace(" ", ""))] if calls.strip(" -?_") else []
        entries += [("an", note)] if note else []
    entries += [("pc", parts["p"])] if parts.get("p") else []
    entries += [("mc", parts["c"])] if parts.get("c") else []
    return "".join(f"{key}|{value}|" for key, value in entries)


def _decoded(line: str) -> str:
    """A line as LIN: of a percent-encoded one, or one whose bars are encoded, what it stands for."""
    codes = re.findall("%..?", line)
    whole = not re.search(r"\s", line.strip()) and all(re.fullmatch("%[0-9A-Fa-f]{2}", code) for code in codes)
    bars = "|" not in line and "%7c" in line.lower()
    if not codes or not (whole or bars):
        return line
    plain = _one_line(unquote(line))
    return _one_line(unquote(plain)) if "|" not in plain and "%7c" in plain.lower() else plain  # encoded twice


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n\0]+", " ", text).strip()


def _add_entries(text: str, line: int, found: Faults, entries: list[_Entry]) -> None:
    """The entries of one piece of a file, from ``line``; what follows a wrong key is left out."""
    parts, begun, i = text.split("|"), line, 0
    while i < len(parts) - 2:
        key = parts[i].strip().lower()
        line += parts[i].count("\n")
        if not key and (not parts[i + 1].strip() or parts[i + 1].strip().lower() in _KEYS):
            # two bars too many, or one
            line += parts[i + 1].count("\n") * (not parts[i + 1].strip())
            i += 1 if parts[i + 1].strip() else 2
            continue
        if not re.fullmatch("[a-z0-9]{2}", key):
            reason = f"{key[:40]!r} is not a key, expected key|value| such as sv|o|"
            found.add(line, reason, "the entries from there to the next board")
            return
        entries.append(_Entry(key, parts[i + 1], line))
        line += parts[i + 1].count("\n")
        i += 2
    rest = parts[-1].strip()
    if ((len(parts) - i) % 2 == 0 and parts[i].strip()) or rest:
        line = begun + text[: len(text) - len(parts[-1].lstrip())].count("\n")
        found.add(line, f"{rest[-40:]!r} at the end, expected key|value|", "the last entry")


_KEYS = ("pn", "st", "md", "rh", "ah", "sv", "mb", "an", "pg", "pc", "mc", "qx", "vg", "rs", "nt", "pw", "bn")
_FIRST = ("pn", "ah", "qx", "sv", "md")  # entries that say what board it is
_LOST = {
    "md": "board",
    "sv": "vulnerability",
    "mb": "auction, contract, play and result",
    "an": "note",
    "pc": "play",
    "mc": "result",
    "ah": "number",
    "qx": "number",
}


class _Hand:
    """One hand, as its entries so far tell it."""

    def __init__(self, names: list[str], results: list[str], first: int, faults: Faults) -> None:
        self.names, self.results, self.first, self.faults = names, results, first, faults
        self.number: int | None = None
        self.vulnerable: int | None = None
        self.dealer: int | None = None
        self.hands = (0, 0, 0, 0)
        self.room = ""  # o or c
        self.headings: dict[str, str] = {}  # number and vulnerability as written
        self.calls: list[Call] = []
        self.broken_off = False  # a blank stands for the next call
        self.cards: list[int] = []
        self.claim: _Entry | None = None
        self.replay: BoardReplay | None = None

    def board(self, entries: list[_Entry]) -> Board | None:
        """The board of all entries; None if its cards are wrong."""
        self.faults.board = ""
        skipped: tuple[str, ...] = ()
        for entry in sorted(entries, key=lambda entry: _FIRST.index(entry.key) if entry.key in _FIRST else len(_FIRST)):
            if entry.key in skipped:
                continue
            seat = entry.value.strip()[:1]
            if entry.key == "md" and seat not in (*_DEALERS, "0"):  # 0: nobody says
                self.faults.add(entry.line, f"md: dealer {seat!r}, expected 1 ... 4 for S W N E", "dealer")
            try:
                self.take(entry)
            except ValueError as error:
                self.faults.add(entry.line, f"{entry.key}: {error}", _LOST[entry.key])
                if entry.key == "md":
                    return None
                if entry.key in ("mb", "pc"):
                    calls, skipped = self.calls, ("pc",) if entry.key == "pc" else ("mb", "an", "pc", "mc")
                    self.calls, self.cards, self.replay = calls if entry.key == "pc" else [], [], None
                    for call in self.calls:
                        self.table().call(call.call)
        return self.finished(next(entry.line for entry in entries if entry.key == "md"))

    def finished(self, line: int) -> Board:
        """The board once all entries are taken."""
        replay = self.replay or BoardReplay(self.dealer or 0, None, self.hands)
        contract, declarer = (replay.contract, replay.declarer) if replay.bid_over else (None, None)
        result = replay.result
        if self.claim is not None:
            with self.faults.reading(self.claim.line, "mc", "result"):
                result = self.claimed(replay, contract)
        if text := self.result_of_match():
            with self.faults.reading(line, "rs", "result in rs"):
                said = _match_result(text)
                replay.check_contract(*said[:2])
                if result not in (None, said[2]):
                    raise ValueError(f"{text!r}, expected {result} tricks")
                if said[2] is not None:
                    replay.check_result(said[2])
                contract, declarer, result = said
        if self.vulnerable is None and self.number is not None:
            self.vulnerable = auction.vulnerable_row(self.number - 1)
        south, west, north, east = self.names[4 * (self.room == "c" and len(self.names) == 8) :][:4]
        return Board(
            number=self.number,
            dealer=self.dealer,
            vulnerable=self.vulnerable,
            hands=self.hands,
            auction=tuple(self.calls),
            contract=contract,
            declarer=declarer,
            play=tuple(self.cards),
            claimed=self.claim is not None
            and replay.declarer is not None
            and result is not None
            and len(self.cards) < NUM_CARDS,
            result=result,
            names=(north, east, south, west),
            tags={"Room": _ROOMS[self.room]} if self.room else {},
        )

    def claimed(self, replay: BoardReplay, contract: str | None) -> int | None:
        """Declarer's tricks by ``mc``."""
        value = self.claim.value.strip() if self.claim else ""
        won = whole_number(value, 0, MOST_TRICKS)
        if won is None:
            raise ValueError(f"{value!r}, expected 0 ... {MOST_TRICKS} tricks")
        if contract == "Pass":
            if won:
                raise ValueError(f"{won} tricks, expected none: the board is passed out")
            return None
        replay.check_result(won)
        return won

    def result_of_match(self) -> str:
        """What ``rs`` says of this room, as ``4HSx-1``; ``""`` if nothing."""
        place = 2 * ((self.number or 0) - (self.first or self.number or 0)) + (self.room == "c")
        known = self.room and self.number is not None and 0 <= place < len(self.results)
        text = self.results[place].strip() if known else ""
        return "" if text in ("-", "?") else text

    def table(self) -> BoardReplay:
        if self.replay is None:
            if self.dealer is None:
                raise ValueError("expected a dealer, 1 ... 4 for S W N E, in md")
            self.replay = BoardReplay(self.dealer, self.vulnerable, self.hands)
        return self.replay

    def take(self, entry: _Entry) -> None:
        """Read one entry."""
        key, value = entry.key, entry.value
        if key in ("ah", "sv") and self.headings.setdefault(key, value.strip()) != value.strip():
            raise ValueError(f"{value!r}, expected {self.headings[key]!r} again, or another deal before it")
        if key == "pn":
            names = ["" if name in ("-", "?") else name for name in map(_one_line, value.split(","))] + [""] * 4
            self.names = names[: 8 if len(names) >= 12 else 4]
        elif key in ("ah", "qx"):
            self.take_number(key, unquote(value))
        elif key == "sv":
            word = value.strip().lower()
            if word not in (*_VULNERABLE, "0", "-", ""):
                raise ValueError(f"{value!r}, expected o, n, e or b")
            self.vulnerable = max(_VULNERABLE.find(word), 0)
        elif key == "md":
            self.take_deal(value.strip())
        elif key == "mb":
            self.call(value.strip())
        elif key == "an":
            note = _one_line(value)
            if not self.calls:
                raise ValueError(f"{value!r} before any call, expected mb first")
            check_note(note)
            if note:  # what is explained is alerted
                self.calls[-1] = replace(self.calls[-1], alert=True, note=note)
        elif key == "pc":
            for text in re.findall("[SHDC](?:10|[^1])", value.strip(), re.IGNORECASE) or [value]:
                self.card(text)
        elif key == "mc" and value.strip() not in ("", "-1"):
            self.claim = entry

    def take_number(self, key: str, text: str) -> None:
        """``Board 7``, ``o7``; of several numbers the one after the word ``board``, or none."""
        numbers = re.findall(r"board\W{0,3}(\d+)", text, re.IGNORECASE) or re.findall(r"\d+", text)
        if len(numbers) == 1:
            if len(numbers[0]) > len(str(LARGEST_BOARD)):
                raise ValueError(f"{text!r}, expected a number from 1 to {LARGEST_BOARD}")
            self.number = whole_number(numbers[0], 1, LARGEST_BOARD) or self.number
            self.faults.board = str(self.number or "")
        if key == "qx" and text[:1].lower() in _ROOMS:
            self.room = text[:1].lower()

    def take_deal(self, value: str) -> None:
        """Dealer and hands of ``3SAK2H..D..C..,...``; hands may be left out."""
        seat = value[:1]
        self.dealer = _SEATS[int(seat) - 1] if seat in _DEALERS else None
        texts = value.removeprefix(seat if seat.isdecimal() else "").split(",")
        while len(texts) > 4 and not texts[-1].strip():
            texts.pop()
        if len(texts) > 4:
            raise ValueError(f"{len(texts)} hands, expected at most 4")
        hands = [0] * 4
        for place, text in zip(_SEATS, texts):
            hands[place] = _cards(text)
        self.hands = check_hands(tuple(hands))

    def call(self, word: str) -> None:
        """Make the calls of ``word``; ``!`` after one is an alert, a pass after the end one too many.

        A blank breaks the auction off.
        """
        if word and not word.strip("-?_"):
            self.broken_off = True
            return
        if word and self.broken_off:
            raise ValueError(f"{word!r} after a call that is not made")
        made = _CALL.findall(word)
        if "".join(text + marks for text, marks in made) != word:
            made = [(word.rstrip("!"), "!" * word.endswith("!"))]
        for text, marks in made:
            for call in [PASS] * 4 if text.upper() == "AP" else [call_number(text)]:
                if not (self.table().bid_over and call == PASS):
                    self.table().call(call)
                    self.calls.append(Call(call, alert=bool(marks)))

    def card(self, text: str) -> None:
        """Play one card."""
        if self.replay is None or not self.replay.bid_over:
            raise ValueError(f"{text!r} is played, expected a finished auction first")
        if not self.cards:
            self.replay.start_play()
        card = card_number(text)
        self.replay.card(card)
        self.cards.append(card)


def _match_result(text: str) -> tuple[str, int | None, int | None]:
    """Contract, declarer and tricks of ``4HSx-1`` or ``P``."""
    match = _RESULT.fullmatch(text)
    if text.upper() in ("P", "PASS"):
        return "Pass", None, None
    won = 6 + int(match[1]) + int(match[5].replace("=", "0")) if match else -1
    if match is None or not 0 <= won <= MOST_TRICKS:
        raise ValueError(f"{text!r}, expected a result such as 4HSx-1 or P")
    strain = match[2].upper().replace("NT", "N").replace("N", "NT")
    return contract_text(*contract_numbers(f"{match[1]}{strain}{match[4]}")), seat_number(match[3]), won


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
    """LIN text of ``boards``, one to a line; reading it gives them back, but for what LIN has no place for.

    That is double-dummy tables and tags, whether a result before the last card was claimed (in LIN it was), and
    whether an explained call was alerted (in LIN it is).

    Raises:
        ValueError: what else LIN cannot hold: no dealer or a hidden hand, a contract that no finished auction tells,
            cards without a finished auction, a ``|``, a ``,`` or a line break where it means something; names the
            board.
    """
    return "".join(_line(board) + "\n" for board in boards)


_HELD = ("number", "dealer", "vulnerable", "hands", "contract", "declarer", "play", "result", "names")


def _line(board: Board) -> str:
    """The line of one board, read again to see that it is the same."""
    line = _written(board)
    (again,) = loads(line, strict=True)
    differing = next((name for name in _HELD if getattr(board, name) != getattr(again, name)), None)
    if differing is not None:
        said, held = getattr(board, differing), getattr(again, differing)
        because = " without a finished auction" if differing in ("contract", "declarer") else ""
        raise ValueError(
            f"board {board.number}: {differing}: {said!r}, expected {held!r}: LIN has no place for it{because}"
        )
    return line


def _written(board: Board) -> str:
    if board.hands is None or not board.complete or board.dealer is None:
        raise ValueError(f"board {board.number}: no dealer or a hand not shown, expected both for LIN")
    try:
        replay = check_board(board)
    except ValueError as error:
        raise ValueError(f"board {board.number}: {error}") from error
    if board.play and replay.settled:
        raise ValueError(f"board {board.number}: cards are played, expected a finished auction before them for LIN")
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


def _player(board: Board, seat: int) -> str:
    name = _checked_text(board.names[seat], SEAT_NAMES[seat], "|,", board)
    if name in ("-", "?"):
        raise ValueError(f"board {board.number}: {SEAT_NAMES[seat]}: {name!r} means 'unknown' in LIN, expected a name")
    return name


def _checked_text(text: str, name: str, forbidden: str, board: Board) -> str:
    """``text``; ValueError if it holds a separator of fields, or is not one line."""
    for letter in forbidden:
        if letter in text:
            raise ValueError(f"board {board.number}: {name}: {text[:80]!r} holds {letter!r}, expected none in LIN")
    if text != text.strip():
        raise ValueError(f"board {board.number}: {name}: {text[:80]!r}, expected no spaces around it in LIN")
    check_text(f"board {board.number}: {name}", text)
    return text

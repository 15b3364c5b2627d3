"""The messages of the protocol: how each is written as a line of text, and how a line is read.

The protocol (Blue Chip Bridge, version 18, August 2005) is lines of text. Above each message stands its line, as other
programs' lines are read and as ours is written. Programs write with some freedom, so ``parse`` takes any case, any
spaces, final full stops or none, ``10`` for ``T`` and the variants that are in use; ``text`` writes the specification's
form (``North passes``) or, with ``upper``, WBridge5's (``NORTH PASSES``).
Seats are 0 ... 3; ``DUMMY`` stands where the protocol says "dummy" instead of a seat.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, dataclass_transform, get_type_hints

from bidzoo.core.cards import (
    DOUBLE,
    HAND_SIZE,
    PASS,
    REDOUBLE,
    SEAT_NAMES,
    SPOKEN_VULNERABLE,
    SUITS,
    SYMBOLS,
    call_number,
    call_text,
    card_number,
    card_text,
    hand_in_words,
    suit_text,
    vulnerability_number,
)

VERSION = 18
CODEC = "latin-1"  # the protocol is ASCII; every byte decodes, and what is not ASCII survives in names and notes
LONGEST_NAME = 100
LONGEST_NOTE = 800  # characters: a line has 1024 bytes
DUMMY = 4
NAMES = (*SEAT_NAMES, "Dummy")
_SEATS = {name.lower(): seat for seat, name in enumerate(NAMES)}
_SUITS = str.maketrans({symbol: letter for letter, symbol in SYMBOLS.items()})
_VERBS = {PASS: "passes", DOUBLE: "doubles", REDOUBLE: "redoubles"}


# ---- values ----------------------------------------------------------------------------------


def team_name(name: str) -> str:
    """``name`` if it can stand between quotes on a line, and as a player's name in the PBN file of the match."""
    if not name or len(name) > LONGEST_NAME or '"' in name or not name.isprintable() or name != name.strip():
        raise ValueError(f"team name {name[:200]!r}: expected 1 ... {LONGEST_NAME} printable characters without quotes")
    if name != name.encode(CODEC, "replace").decode(CODEC):
        raise ValueError(f"team name {name!r}: expected letters of Latin-1, the protocol has no others")
    if name in ("#", "?", "-") or name.startswith("##"):
        raise ValueError(f"team name {name!r}: expected one that does not mean 'unknown' or 'as before' in PBN files")
    return name


def note_text(words: str) -> str:
    """``words`` as an explanation that every line and file can hold: printable, at most ``LONGEST_NOTE`` characters."""
    printable = "".join(letter if letter.isprintable() else " " for letter in words.translate(_SUITS))
    return " ".join(printable.encode(CODEC, "replace").decode(CODEC).split())[:LONGEST_NOTE].rstrip()


def hand_words(hand: int, suits: str) -> str:
    """``"S A K 4. H -. D Q J. C T 9 2."``: suits in the order given, high cards first, ``-`` for a void."""
    return " ".join(f"{letter} {' '.join(suit_text(hand, SUITS.index(letter))) or '-'}." for letter in suits)


def hand_of(words: str) -> int:
    """The 13 cards of ``"S A K 4. H -. D Q J. C T 9 2 ..."``, suits in any order; ValueError names what is wrong."""
    hand = hand_in_words(words.replace(".", " "))
    if hand.bit_count() != HAND_SIZE:
        raise ValueError(f"cards {words.strip()!r}: {hand.bit_count()} cards, expected {HAND_SIZE}")
    return hand


class _Kind(NamedTuple):
    """A kind of value and its text on a line."""

    pattern: str  # regular expression of the text; ``~`` is any number of spaces, a space one or more
    read: Callable[[Any], Any]  # from the matched text, or from None if an optional part is missing
    write: Callable[[Any, bool], str] = lambda value, upper: str(value)


def _seat(word: str) -> int:
    return _SEATS[word.lower()]


def _name(seat: int, upper: bool) -> str:
    return NAMES[seat].upper() if upper and seat != DUMMY else NAMES[seat]


def _seat_or_any(word: str) -> int | None:
    if word.lower() not in ("anypl", *map(str.lower, SEAT_NAMES)):
        raise ValueError(f"seat {word!r}, expected North, East, South, West or ANYPL")
    return _SEATS.get(word.lower())


def _call(words: str) -> int:
    verb, *bid = words.split()
    return call_number(bid[0]) if bid else next(call for call, word in _VERBS.items() if word == verb.lower())


def _call_words(call: int, upper: bool) -> str:
    verb = _VERBS.get(call)
    return f"bids {call_text(call)}" if verb is None else verb.upper() if upper else verb


def _read_clocks(words: str) -> tuple[int, int]:
    minutes, seconds, *total = map(int, re.findall(r"\d+", words))
    return 60 * minutes + seconds, 3600 * total[0] + 60 * total[1] + total[2]


def _write_clocks(seconds: tuple[int, int], upper: bool) -> str:
    minutes, total = seconds[0] // 60, seconds[1] // 60
    return f"this board  {minutes:02}:{seconds[0] % 60:02},  total  {total // 60}:{total % 60:02}:{seconds[1] % 60:02}"


_ANY_SEAT = "north|east|south|west"
_CLOCKS = r"this board~\[?\d{1,6}:\d\d\]?~,~total~\[?\d{1,6}:\d\d:\d\d\]?"

_Team = Annotated[str, _Kind('[^"]*', str, lambda name, upper: team_name(name))]
_SeatOrAny = Annotated[
    int | None, _Kind(r"\w+", _seat_or_any, lambda seat, up: "ANYPL" if seat is None else _name(seat, up))
]
_Seat = Annotated[int, _Kind(_ANY_SEAT, _seat, _name)]
_Hand = Annotated[int, _Kind(f"{_ANY_SEAT}|dummy", _seat, _name)]  # a seat or ``DUMMY``
_Owner = Annotated[
    int, _Kind(f"{_ANY_SEAT}|dummy", _seat, lambda seat, up: "dummy" if seat == DUMMY and not up else _name(seat, up))
]
_Number = Annotated[int, _Kind(r"\d{1,9}", int)]
_Trick = Annotated[int, _Kind(r"\d\d?", int)]
Stage = Literal["for teams", "to start", "for deal", "for cards", "for dummy"]
_Stage = Annotated[
    Stage, _Kind("for teams|to start|for deal|for cards|for dummy", lambda words: " ".join(words.lower().split()))
]
_Vulnerable = Annotated[int, _Kind(r"[a-z/]+", vulnerability_number, lambda number, upper: SPOKEN_VULNERABLE[number])]
_Cards = Annotated[int, _Kind(".*", hand_of, lambda hand, upper: hand_words(hand, "CDHS" if upper else "SHDC"))]
_Card = Annotated[
    int, _Kind(r"\w+", card_number, lambda card, upper: card_text(card).lower() if upper else card_text(card))
]
_Call = Annotated[int, _Kind(r"passes|doubles|redoubles|bids \w+", _call, _call_words)]
_Alert = Annotated[bool, _Kind("alert", lambda word: word is not None)]
_Note = Annotated[str, _Kind(".*?", lambda words: note_text(words or ""), lambda note, upper: note_text(note))]
_Clocks = Annotated[tuple[int, int], _Kind(_CLOCKS, _read_clocks, _write_clocks)]
_Action = Annotated[Literal["bid", "card"], _Kind("bid|card", str.lower)]


# ---- messages --------------------------------------------------------------------------------

T = TypeVar("T")


class _Line(NamedTuple):
    kinds: dict[str, _Kind]  # by field
    pattern: re.Pattern[str]  # with a group for each field
    template: str
    upper: str


_LINES: dict[type[Any], _Line] = {}


@dataclass_transform(frozen_default=True)
def _line(template: str, pattern: str = "", upper: str = "") -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass a line: as we write it, and, where these differ, as it is read and in WBridge5's form."""

    def register(message: type[T]) -> type[T]:
        cls = dataclass(frozen=True)(message)
        kinds = {name: hint.__metadata__[0] for name, hint in get_type_hints(cls, include_extras=True).items()}
        groups = (pattern or template).format(**{name: f"(?P<{name}>{kind.pattern})" for name, kind in kinds.items()})
        spaced = groups.replace("~", r"\s*").replace(" ", r"\s+")
        compiled = re.compile(rf"\s*{spaced}[\s.]*", re.IGNORECASE | re.ASCII)
        _LINES[cls] = _Line(kinds, compiled, template, upper or template)
        return cls

    return register


@_line(
    'Connecting "{team}" as {seat} using protocol version {version}',
    'connecting~"{team}"~as {seat} using protocol version~{version}',
)
class Connect:
    """A program asks for a seat; None: any."""

    team: _Team
    seat: _SeatOrAny
    version: _Number = VERSION


@_line('{seat} ("{team}") seated', r'{seat}~\(?~"{team}"~\)?~seated')
class Seated:
    """The table manager gives a program its seat."""

    seat: _Seat
    team: _Team


@_line(
    'Teams : N/S : "{north_south}" E/W : "{east_west}"',
    'teams~:?~N/S~:?~"{north_south}"~[.,]?~E/W~:?~"{east_west}"',
    'Teams: N/S "{north_south}" E/W "{east_west}"',
)
class Teams:
    """The names of the two teams."""

    north_south: _Team
    east_west: _Team


@_line("{seat} ready {stage}")
class Ready:
    """``seat`` is ready for the next stage."""

    seat: _Seat
    stage: _Stage


@_line("{seat} ready for {of}'s bid", "{seat} ready for {of}~'?s bid")
class ReadyForCall:
    """``seat`` is ready for the call of ``of``."""

    seat: _Seat
    of: _Seat


@_line("{seat} ready for {of}'s card to trick {trick}", "{seat} ready for {of}~'?s card to trick {trick}")
class ReadyForCard:
    """``seat`` is ready for the card of ``of`` to trick 1 ... 13."""

    seat: _Seat
    of: _Owner
    trick: _Trick


@_line("Start of board", upper="start of board")
class StartOfBoard:
    """A board begins, also if the one before was not finished."""


@_line(
    "Board number {number}. Dealer {dealer}. {vulnerable} vulnerable.",
    r"board number {number}~\.~dealer {dealer}~\.~{vulnerable} vulnerable",
)
class Deal:
    """Number as marked (1, 2, ...), dealer and vulnerability (bit 0 N/S, bit 1 E/W)."""

    number: _Number
    dealer: _Seat
    vulnerable: _Vulnerable


@_line("{seat}'s cards : {hand}", "{seat}~'?s cards~:{hand}", "{seat}'s cards: {hand}")
class Cards:
    """The 13 cards (bits) of a seat, told to it alone, or of dummy."""

    seat: _Hand
    hand: _Cards


@_line("{seat} {call} Alert. {note}", r"{seat} {call}~\.?(?: {alert}~[.:]?{note})?")
class CallMade:
    """A call, with what the caller's side must disclose to the opponents."""

    seat: _Seat
    call: _Call
    alert: _Alert = False
    note: _Note = ""


@_line("{seat} to lead")
class ToLead:
    """``seat`` leads to the next trick; sent to the program that plays that hand."""

    seat: _Hand


@_line("{seat} plays {card}")
class Play:
    """A card from the hand of ``seat``."""

    seat: _Hand
    card: _Card


@_line(
    "Timing - N/S : {north_south}.  E/W : {east_west}.",
    "timing~-?~N/S~:~{north_south}~[.,]?~E/W~:~{east_west}",
)
class Timing:
    """Seconds that each side used, on this board and in all."""

    north_south: _Clocks
    east_west: _Clocks


@_line("Illegal {action}")
class Illegal:
    """The table manager refuses a call or a card."""

    action: _Action


@_line("End of session")
class EndOfSession:
    """No more boards."""


Message = (
    Connect | Seated | Teams | Ready | ReadyForCall | ReadyForCard | StartOfBoard | Deal | Cards | CallMade | ToLead
    | Play | Timing | Illegal | EndOfSession
)  # fmt: skip


# ---- writing and reading ---------------------------------------------------------------------


def text(message: Message, upper: bool = False) -> str:
    """The line that says ``message``; ``upper``: as WBridge5 writes and OpenSpiel's bot reads it."""
    line = _LINES[type(message)]
    template = line.upper if upper else line.template
    if isinstance(message, CallMade) and not message.alert:
        template = template.partition(" Alert.")[0]
    texts = {name: kind.write(getattr(message, name), upper) for name, kind in line.kinds.items()}
    return template.format(**texts).rstrip()


def parse(line: str) -> Message:
    """The message on ``line``; a ValueError quotes any other line."""
    for message_type, form in _LINES.items():
        match = form.pattern.fullmatch(line)
        if match:
            try:
                message: Message = message_type(
                    **{name: form.kinds[name].read(word) for name, word in match.groupdict().items()}
                )
            except ValueError as problem:
                raise ValueError(f"{line[:200]!r}: {problem}") from None
            return message
    raise ValueError(f"{line[:200]!r} is no message of the protocol")


def same_seat(name: int, seat: int, dummy: int) -> bool:
    """Whether ``name``, a seat or ``DUMMY``, stands for ``seat``."""
    return name == seat or (name == DUMMY and seat == dummy)

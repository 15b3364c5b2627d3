"""Lines of the protocol read back into messages."""

import re
from collections.abc import Callable

from bidzoo.cards import HAND_SIZE, RANKS, SUITS, call_number, card_number, card_text
from bidzoo.wrappers.bluechip.message import (
    DUMMY,
    NAMES,
    Call,
    Cards,
    Connect,
    Deal,
    EndOfSession,
    Illegal,
    Message,
    Play,
    Ready,
    ReadyForCall,
    ReadyForCard,
    Seated,
    Stage,
    StartOfBoard,
    Teams,
    Timing,
    ToLead,
)

_SEATS = {name.lower(): number for number, name in enumerate(NAMES)}
_VERBS = {"passes": "P", "doubles": "X", "redoubles": "XX"}
_VULNERABLE = {"neither": 0, "none": 0, "n/s": 1, "e/w": 2, "both": 3, "all": 3}
_STAGES: dict[str, Stage] = {
    "for teams": "for teams",
    "to start": "to start",
    "for deal": "for deal",
    "for cards": "for cards",
    "for dummy": "for dummy",
}
_PATTERNS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Message]]] = []
_Maker = Callable[[re.Match[str]], Message]


def _form(pattern: str) -> Callable[[_Maker], _Maker]:
    """Register a form: ``~`` may be spaces or nothing, a space is one or more, ``SEAT`` and ``HAND`` are names."""
    seats = "(north|east|south|west)"
    spaced = pattern.replace("SEAT", seats).replace("HAND", seats[:-1] + "|dummy)")
    spaced = spaced.replace("~", r"\s*").replace(" ", r"\s+")

    def register(make: _Maker) -> _Maker:
        _PATTERNS.append((re.compile(rf"\s*{spaced}[\s.]*", re.IGNORECASE | re.ASCII), make))
        return make

    return register


def _seat(word: str) -> int:
    return _SEATS[word.lower()]


@_form(r'connecting~"([^"]*)"~as (\w+) using protocol version~(\d{1,9})')
def _connect(found: re.Match[str]) -> Message:
    place = found[2].lower()
    if place != "anypl" and place not in _SEATS:
        raise ValueError(f"seat {found[2]!r}, expected North, East, South, West or ANYPL")
    return Connect(found[1], None if place == "anypl" else _SEATS[place], int(found[3]))


@_form(r'SEAT~\(?~"([^"]*)"~\)?~seated')
def _seated(found: re.Match[str]) -> Message:
    return Seated(_seat(found[1]), found[2])


@_form(r'teams~:?~N/S~:?~"([^"]*)"~[.,]?~E/W~:?~"([^"]*)"')
def _teams(found: re.Match[str]) -> Message:
    return Teams(found[1], found[2])


@_form("SEAT ready (for teams|to start|for deal|for cards|for dummy)")
def _ready(found: re.Match[str]) -> Message:
    return Ready(_seat(found[1]), _STAGES[" ".join(found[2].lower().split())])


@_form("SEAT ready for SEAT~'?s bid")
def _ready_for_call(found: re.Match[str]) -> Message:
    return ReadyForCall(_seat(found[1]), _seat(found[2]))


@_form(r"SEAT ready for HAND~'?s card to trick (\d\d?)")
def _ready_for_card(found: re.Match[str]) -> Message:
    return ReadyForCard(_seat(found[1]), _seat(found[2]), int(found[3]))


@_form("start of board")
def _start(found: re.Match[str]) -> Message:
    return StartOfBoard()


@_form(r"board number (\d{1,9})~\.~dealer SEAT~\.~(neither|none|n/s|e/w|both|all) vulnerable")
def _deal(found: re.Match[str]) -> Message:
    return Deal(int(found[1]), _seat(found[2]), _VULNERABLE[found[3].lower()])


@_form(r"HAND~'?s cards~:(.*)")
def _cards(found: re.Match[str]) -> Message:
    return Cards(_seat(found[1]), hand_of(found[2]))


@_form(r"SEAT (passes|doubles|redoubles|bids (\w+))~\.?(?: (alert)~[.:]?(.*?))?")
def _call(found: re.Match[str]) -> Message:
    call = call_number(found[3] or _VERBS[found[2].lower()])
    return Call(_seat(found[1]), call, found[4] is not None, " ".join((found[5] or "").split()))


@_form("HAND to lead")
def _to_lead(found: re.Match[str]) -> Message:
    return ToLead(_seat(found[1]))


@_form(r"HAND plays (\w+)")
def _play(found: re.Match[str]) -> Message:
    return Play(_seat(found[1]), card_number(found[2]))


_CLOCKS = r"this board~\[?(\d{1,6}):(\d\d)\]?~,~total~\[?(\d{1,6}):(\d\d):(\d\d)\]?"


@_form(f"timing~-?~N/S~:~{_CLOCKS}~[.,]?~E/W~:~{_CLOCKS}")
def _timing(found: re.Match[str]) -> Message:
    ns, ew = ([int(field) for field in found.groups()[i : i + 5]] for i in (0, 5))
    board = (60 * ns[0] + ns[1], 60 * ew[0] + ew[1])
    return Timing(board, (3600 * ns[2] + 60 * ns[3] + ns[4], 3600 * ew[2] + 60 * ew[3] + ew[4]))


@_form("illegal (bid|card)")
def _illegal(found: re.Match[str]) -> Message:
    return Illegal("bid" if found[1].lower() == "bid" else "card")


@_form("end of session")
def _end(found: re.Match[str]) -> Message:
    return EndOfSession()


def hand_of(words: str) -> int:
    """The 13 cards of ``"S A K 4. H -. D Q J. C T 9 2 ..."``, suits in any order; ValueError names what is wrong."""
    hand, seen = 0, ""
    for part in words.upper().replace("10", "T").split("."):
        letters = part.split()
        if not letters:
            continue
        suit, ranks = letters[0][0], letters[0][1:] + "".join(letters[1:])
        if suit not in SUITS or suit in seen:
            raise ValueError(f"cards {words.strip()!r}: {suit!r}, expected each of S H D C once")
        seen += suit
        for rank in ranks.replace("-", ""):
            if rank not in RANKS:
                raise ValueError(f"cards {words.strip()!r}: {rank!r} is not a rank (expected one of {RANKS} or -)")
            card = 4 * RANKS.index(rank) + SUITS.index(suit)
            if hand >> card & 1:
                raise ValueError(f"cards {words.strip()!r}: {card_text(card)} appears twice")
            hand |= 1 << card
    if hand.bit_count() != HAND_SIZE or len(seen) != 4:
        raise ValueError(f"cards {words.strip()!r}: {hand.bit_count()} cards in {len(seen)} suits, expected 13 in 4")
    return hand


def parse(line: str) -> Message:
    """The message on ``line``; ValueError that quotes it."""
    for pattern, make in _PATTERNS:
        found = pattern.fullmatch(line)
        if found:
            try:
                return make(found)
            except ValueError as problem:
                raise ValueError(f"{line[:200]!r}: {problem}") from None
    raise ValueError(f"{line[:200]!r} is no message of the protocol")


def same_seat(said: int, seat: int, dummy: int) -> bool:
    """``said`` names ``seat``, by its own name or as dummy."""
    return said == seat or (said == DUMMY and seat == dummy)

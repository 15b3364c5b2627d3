"""What is said at a table, and its text, both ways.

The protocol (Blue Chip Bridge, version 18, August 2005) is lines of text. Programs write them with some freedom, so
``parse`` takes any case, any spaces, final full stops or none, ``10`` for ``T`` and the variants that are in use;
``text`` writes the specification's form (``North passes``) or, with ``upper``, WBridge5's (``NORTH PASSES``).
Seats are 0 ... 3; ``DUMMY`` stands where the protocol says "dummy" instead of a seat.
"""

from dataclasses import dataclass
from typing import Literal

from bidzoo.cards import DOUBLE, PASS, REDOUBLE, SEAT_NAMES, SIDES, SUITS, call_text, card_text, suit_text

VERSION = 18
LONGEST_NAME = 100
DUMMY = 4
NAMES = (*SEAT_NAMES, "Dummy")
VULNERABLE = ("Neither", "N/S", "E/W", "Both")  # by number: bit 0 N/S, bit 1 E/W
Stage = Literal["for teams", "to start", "for deal", "for cards", "for dummy"]


@dataclass(frozen=True)
class Connect:
    """A program asks for a seat; None: any."""

    team: str
    seat: int | None
    version: int = VERSION


@dataclass(frozen=True)
class Seated:
    """The table manager's welcome."""

    seat: int
    team: str


@dataclass(frozen=True)
class Teams:
    """Who plays whom."""

    north_south: str
    east_west: str


@dataclass(frozen=True)
class Ready:
    """``seat`` is ready for the next stage."""

    seat: int
    stage: Stage


@dataclass(frozen=True)
class ReadyForCall:
    """``seat`` is ready for the call of ``of``."""

    seat: int
    of: int


@dataclass(frozen=True)
class ReadyForCard:
    """``seat`` is ready for the card of ``of`` to trick 1 ... 13."""

    seat: int
    of: int
    trick: int


@dataclass(frozen=True)
class StartOfBoard:
    """A board begins, also if the one before was not finished."""


@dataclass(frozen=True)
class Deal:
    """Number as marked (1, 2, ...), dealer and vulnerability (bit 0 N/S, bit 1 E/W)."""

    number: int
    dealer: int
    vulnerable: int


@dataclass(frozen=True)
class Cards:
    """The 13 cards (bits) of a seat, told to it alone, or of dummy."""

    seat: int
    hand: int


@dataclass(frozen=True)
class Call:
    """A call, with what the caller's side must disclose to the opponents."""

    seat: int
    call: int
    alert: bool = False
    note: str = ""


@dataclass(frozen=True)
class ToLead:
    """Who leads to the next trick, told to whoever plays that hand."""

    seat: int


@dataclass(frozen=True)
class Play:
    """A card from the hand of ``seat``."""

    seat: int
    card: int


@dataclass(frozen=True)
class Timing:
    """Seconds that N/S and E/W used, on this board and in all."""

    board: tuple[int, int]
    total: tuple[int, int]


@dataclass(frozen=True)
class Illegal:
    """The table manager refuses a call or a card."""

    what: Literal["bid", "card"]


@dataclass(frozen=True)
class EndOfSession:
    """No more boards."""


Message = (
    Connect | Seated | Teams | Ready | ReadyForCall | ReadyForCard | StartOfBoard | Deal | Cards | Call | ToLead
    | Play | Timing | Illegal | EndOfSession
)  # fmt: skip

_VERBS = {PASS: "passes", DOUBLE: "doubles", REDOUBLE: "redoubles"}


def team_name(name: str) -> str:
    """``name`` if it can stand between quotes on a line."""
    if not name or len(name) > LONGEST_NAME or '"' in name or not name.isprintable():
        raise ValueError(f"team name {name[:200]!r}: expected 1 ... {LONGEST_NAME} printable characters without quotes")
    return name


def hand_words(hand: int, suits: str) -> str:
    """``"S A K 4. H -. D Q J. C T 9 2."``: suits in the order given, high cards first, ``-`` for a void."""
    parts = []
    for letter in suits:
        parts.append(f"{letter} {' '.join(suit_text(hand, SUITS.index(letter))) or '-'}.")
    return " ".join(parts)


def text(message: Message, upper: bool = False) -> str:
    """The line that says ``message``; ``upper``: as WBridge5 writes and OpenSpiel's bot reads it."""
    name = [word.upper() for word in NAMES[:4]] + ["Dummy"] if upper else list(NAMES)
    match message:
        case Connect(team, seat, version):
            place = "ANYPL" if seat is None else name[seat]
            return f'Connecting "{team_name(team)}" as {place} using protocol version {version}'
        case Seated(seat, team):
            return f'{name[seat]} ("{team_name(team)}") seated'
        case Teams(north_south, east_west):
            ns, ew = team_name(north_south), team_name(east_west)
            return f'Teams: N/S "{ns}" E/W "{ew}"' if upper else f'Teams : N/S : "{ns}" E/W : "{ew}"'
        case Ready(seat, stage):
            return f"{name[seat]} ready {stage}"
        case ReadyForCall(seat, of):
            return f"{name[seat]} ready for {name[of]}'s bid"
        case ReadyForCard(seat, of, trick):
            whose = "dummy" if of == DUMMY and not upper else name[of]
            return f"{name[seat]} ready for {whose}'s card to trick {trick}"
        case StartOfBoard():
            return "start of board" if upper else "Start of board"
        case Deal(number, dealer, vulnerable):
            return f"Board number {number}. Dealer {name[dealer]}. {VULNERABLE[vulnerable]} vulnerable."
        case Cards(seat, hand):
            order, colon = ("CDHS", ":") if upper else ("SHDC", " :")
            return f"{name[seat]}'s cards{colon} {hand_words(hand, order)}"
        case Call(seat, call, alert, note):
            verb = _VERBS.get(call)
            words = (verb.upper() if upper else verb) if verb else f"bids {call_text(call)}"
            disclosed = " ".join(note.split())
            return f"{name[seat]} {words}" + (f" Alert. {disclosed}".rstrip() if alert else "")
        case ToLead(seat):
            return f"{name[seat]} to lead"
        case Play(seat, card):
            return f"{name[seat]} plays {card_text(card).lower() if upper else card_text(card)}"
        case Timing(board, total):
            sides = (f"{side} : this board  {_clock(board[i], 2)},  total  {_clock(total[i], 3)}" for i, side in _SIDES)
            return "Timing - " + ".  ".join(sides) + "."
        case Illegal(what):
            return f"Illegal {what}"
        case EndOfSession():
            return "End of session"


_SIDES = tuple(enumerate(SIDES))


def _clock(seconds: int, fields: int) -> str:
    minutes, rest = divmod(seconds, 60)
    if fields == 2:
        return f"{minutes:02}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"

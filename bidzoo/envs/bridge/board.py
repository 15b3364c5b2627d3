"""One board as files of played bridge hold it: the deal, and as much of auction, play and result as is known.

``pbn`` and ``lin`` read and write lists of these. What both check is here, once for reader and writer: ``BoardReplay``
follows a board step by step, ``check_board`` takes it through all of them before it is written. ``Faults`` are what a
reader leaves out of a file.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bidzoo.core.cards import (
    FIRST_BID,
    FULL_DECK,
    HAND_SIZE,
    NUM_CALLS,
    NUM_CARDS,
    PASS,
    SEATS,
    call_number,
    call_text,
    card_text,
    check_deal,
)
from bidzoo.core.kernels import I8, State, allocate
from bidzoo.core.options import is_whole
from bidzoo.core.schema import shortened
from bidzoo.envs.bridge import auction, play
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY, STATE

UNKNOWN_HAND = 0
Hands = tuple[int, int, int, int]  # card bits of N E S W
MOST_TRICKS = HAND_SIZE
LARGEST_BOARD = 999_999_999
LONGEST_NOTE = 4096  # characters of a call's note


@dataclass(frozen=True)
class Call:
    """One call of an auction."""

    call: int  # 0 ... 37
    alert: bool = False
    note: str = ""  # what the bidder's side says it means


@dataclass(frozen=True)
class Board:
    """The contents of a file on one board; ``None`` and empty mean that it does not say."""

    number: int | None = None
    dealer: int | None = None  # seat
    vulnerable: int | None = None  # bit 0 N/S, bit 1 E/W
    hands: Hands | None = None  # card bits; 0 for a hand that is not shown
    auction: tuple[Call, ...] = ()
    contract: str | None = None  # "4SX", "3NT", "Pass"
    declarer: int | None = None  # seat
    play: tuple[int, ...] = ()  # cards in the order played
    claimed: bool = False
    result: int | None = None  # tricks won by declarer
    tricks: tuple[int, ...] | None = None  # double dummy [20], 5 * declarer + strain; -1 unknown
    names: tuple[str, str, str, str] = ("", "", "", "")  # N E S W
    tags: Mapping[str, str] = field(default_factory=dict)  # everything else, as text (PBN tag: value)

    @property
    def complete(self) -> bool:
        """All 52 cards are known."""
        return self.hands is not None and UNKNOWN_HAND not in self.hands


def contract_text(bid: int, stake: int) -> str:
    """``"4SX"``; ``"Pass"`` for bid -1."""
    return "Pass" if bid < 0 else call_text(FIRST_BID + bid) + {1: "", 2: "X", 4: "XX"}[stake]


def contract_numbers(text: str) -> tuple[int, int]:
    """Bid (0 ... 34, -1 if passed out) and stake (1, 2, 4) of a contract's text; ValueError if it is none."""
    word = text.strip().upper()
    if re.fullmatch(r"P|AP|(ALL ?)?PASS(ED)?( ?OUT)?", word):
        return -1, 1
    bare = word.rstrip("X*")
    stake = {0: 1, 1: 2, 2: 4}.get(len(word) - len(bare))
    try:
        bid = call_number(bare) - FIRST_BID
    except ValueError:
        bid = -1
    if stake is None or bid < 0:
        raise ValueError(f"{text!r} is not a contract (expected Pass or such as 1C, 3NT, 4SX, 6DXX)")
    return bid, stake


def outcome(state: State) -> tuple[str | None, int | None, int | None]:
    """Contract, declarer and its tricks, played or else double dummy, at a table; each None until it is known."""
    phase, bid, declarer, stake = (int(state[name]) for name in ("phase", "bid", "declarer", "stake"))
    contract = None if phase == AUCTION else contract_text(bid, stake)
    if contract is None or bid < 0:
        return contract, None, None
    tricks = int(state["won"][declarer % 2] if state["plays"] else state["tricks"][5 * declarer + bid % 5])
    return contract, declarer, tricks if phase == OVER and tricks >= 0 else None


def check_hands(hands: tuple[int, ...]) -> Hands:
    """Four hands of 13 different cards; a single hand that is not shown gets the cards that are left."""
    sizes = [int(hand).bit_count() for hand in hands if hand]
    if len(sizes) > 1 and sizes[0] < HAND_SIZE and len(set(sizes)) == 1:
        raise ValueError(f"an end position of {sizes[0]} cards a hand is not supported, expected hands of {HAND_SIZE}")
    check_deal(hands, hidden=True)
    left = FULL_DECK - sum(hands)
    north, east, south, west = (hand or (left if left.bit_count() == HAND_SIZE else UNKNOWN_HAND) for hand in hands)
    return north, east, south, west


# ---- what a reader leaves out ------------------------------------------------------------


class Fault(NamedTuple):
    """Something in a file that its reader left out."""

    source: str  # file
    line: int  # 0: ``source`` says where
    board: str  # number, as far as it is known
    reason: str  # field, what it says, what was expected
    lost: str  # "board", or the parts of it: "auction and play"

    def __str__(self) -> str:
        whose = "" if self.lost == "board" else f" of board {self.board}" if self.board else ""
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place}: {self.reason}; left out: {self.lost}{whose}"


class Faults:
    """Where a reader reports what is wrong.

    Args:
        source: what errors call the file.
        strict: the first fault is a ValueError.
        kept: takes the faults; without it, a warning names them when the reader calls ``warn``.
    """

    def __init__(self, source: str, strict: bool, kept: list[Fault] | None) -> None:
        self.source, self.strict, self.board = source, strict, ""
        self._silent, self.kept = kept is not None, [] if kept is None else kept

    def add(self, line: int, reason: object, lost: str) -> None:
        """Leave ``lost`` out; ValueError with file and line if the reading is strict."""
        if self.strict:
            raise ValueError(f"{self.source}:{line}: {shortened(reason)}")
        self.kept.append(Fault(self.source, line, self.board, shortened(reason), lost))

    @contextmanager
    def reading(self, line: int, field: str, lost: str) -> Iterator[None]:
        """A ValueError in here is a fault of ``field``."""
        try:
            yield
        except ValueError as error:
            self.add(line, f"{field}: {shortened(error)}", lost)

    def warn(self, boards: Sequence[Board]) -> None:
        """Say what was left out, unless the caller keeps the faults."""
        if not self._silent and self.kept:
            warnings.warn(summary(self.source, len(boards), self.kept), stacklevel=4)


_MOST_NAMED = 20  # faults in a summary


def summary(source: str, boards: int, faults: Sequence[Fault]) -> str:
    """``"club.pbn: 3,940 boards, 2 left out, 1 in part: ..."``, then a line for each fault."""
    gone = sum(fault.lost == "board" for fault in faults)
    parts = len(faults) - gone
    counts = [f"{boards:,} board{'s' * (boards != 1)}", f"{gone:,} left out"]
    counts += [f"{parts:,} part{'s' * (parts != 1)} of others left out"] if parts else []
    named = [f"  {fault}" for fault in faults[:_MOST_NAMED]]
    named += [f"  ... and {len(faults) - _MOST_NAMED:,} more"] if len(faults) > _MOST_NAMED else []
    return "\n".join([f"{source}: {', '.join(counts)}" + ":" * bool(faults), *named])


# ---- text, the same in all formats -------------------------------------------------------


def decode(content: bytes, source: str) -> str:
    """Text of a file: UTF-8 or UTF-16, with or without a byte order mark, else Windows-1252 or Latin-1.

    PBN prescribes Latin-1; programs on Windows write their own letters for its control characters.
    """
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(content) > 3 and 0 in content[:2] and any(content[:2]))
    encodings = ["utf-16" if content[0] > 0x7F else "utf-16-le" if content[0] else "utf-16-be"] if wide else []
    for encoding in (*encodings, "utf-8-sig", "cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise ValueError(f"{source}: byte {content.index(0)} is 0, expected a text file")


_LINE_END = re.compile(r"\r+\n|\r|\n")


def text_lines(text: str) -> list[str]:
    """Lines of a text, whatever ends them; CR CR LF, which programs write that open a CRLF text as text, is one end.

    A byte order mark before a line is none of its text: files that were put together hold one within.
    """
    return [line.lstrip("\ufeff") for line in _LINE_END.split(text)]


def name_no_boards(text: str, faults: Faults, comments: str, expected: str) -> None:
    """Name the first line of a file without boards, if it has lines that do not begin with one of ``comments``.

    A page that says why there is no file, a pointer to it, or hands in another format are no empty list of boards.
    """
    for number, line in enumerate(text_lines(text), 1):
        if line.strip() and line.strip()[0] not in comments:
            faults.add(number, f"{line.strip()[:40]!r}, expected {expected}", "all of the file")
            return


def whole_number(text: str, low: int, high: int) -> int | None:
    """The number that ``text`` writes in digits, if it is ``low`` ... ``high``."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_BOARD)) and low <= int(text) <= high):
        return None
    return int(text)


def check_note(text: str) -> None:
    """ValueError if the explanation of a call is too long."""
    if len(text) > LONGEST_NOTE:
        raise ValueError(f"a note of {len(text)} characters, expected at most {LONGEST_NOTE}")


def check_text(where: str, text: str) -> None:
    """ValueError if ``text`` cannot stand on one line of a text file."""
    odd = next((letter for letter in text if letter in "\r\n\0" or "\ud800" <= letter <= "\udfff"), None)
    if odd is not None:
        raise ValueError(f"{where}: {text[:80]!r} holds {odd!r}, expected one line of text")


# ---- auction and play --------------------------------------------------------------------


class BoardReplay:
    """A table that follows an auction and its play call by call; ValueError at whatever the laws forbid."""

    def __init__(self, dealer: int, vulnerable: int | None, hands: Hands | None) -> None:
        """Before the first call. Without all four hands only the auction can be followed."""
        self.state = allocate(STATE, 1)[0]
        auction.open_auction_row(self.state, dealer, vulnerable or 0)
        if hands is not None:
            self.state["hands"][:] = hands
            self.state["held"][:] = hands
        self._legal_calls: I8 = np.zeros(NUM_CALLS, np.int8)
        self._legal_cards: I8 = np.zeros(NUM_CARDS, np.int8)
        self.settled = False  # the contract is not of the auction
        self._hidden = [not hand for hand in hands or [0] * 4]
        self._elsewhere = sum(hands or ())  # cards that no hidden hand can hold: shown, or played before

    @property
    def bid_over(self) -> bool:
        """The auction has ended."""
        return bool(self.state["phase"] in (PLAY, OVER))

    @property
    def contract(self) -> str:
        """The contract so far."""
        return contract_text(int(self.state["bid"]), int(self.state["stake"]))

    @property
    def declarer(self) -> int | None:
        """The declarer once the auction is over, if anybody bid."""
        return None if self.state["declarer"] < 0 else int(self.state["declarer"])

    def call(self, call: int) -> None:
        """Make one more call."""
        auction.legal_row(self.state, self._legal_calls)
        if not self._legal_calls[call]:
            calls = " ".join(call_text(int(c)) for c in self.state["calls"][: self.state["length"]]) or "nothing"
            expected = "nothing, the auction is over" if self.bid_over else self._expected_call()
            raise ValueError(f"{call_text(call)} is not legal after {calls}, expected {expected}")
        auction.call_row(self.state, call)

    def _expected_call(self) -> str:
        legal_texts = [call_text(int(call)) for call in np.flatnonzero(self._legal_calls)]
        doubles = [word for word in legal_texts if word in ("X", "XX")]
        bids = [f"a bid from {word}" for word in legal_texts[1 + len(doubles) :][:1]]
        return ", ".join([call_text(PASS), *doubles, *bids])

    def check_contract(self, contract: str | None, declarer: int | None) -> None:
        """ValueError if an auction that is over has led to another contract or declarer than these, so far as said."""
        if self.bid_over and contract not in (None, self.contract):
            raise ValueError(f"{contract}, expected {self.contract} by the auction")
        if self.bid_over and declarer not in (None, self.declarer):
            expected = "nobody" if self.declarer is None else SEATS[self.declarer]
            raise ValueError(f"{SEATS[declarer or 0]}, expected {expected} by the auction")

    def start_play(self, contract: str | None = None, declarer: int | None = None) -> None:
        """Make the table ready for the opening lead; contract and declarer count if the auction is not known."""
        if self.bid_over:
            contract, declarer = self.contract, self.declarer
        else:
            self.settled = True
        if contract in (None, "Pass") or declarer is None:
            raise ValueError("cards are played, expected a contract and its declarer first")
        self.state["bid"], self.state["stake"] = contract_numbers(contract or "")
        self.state["declarer"] = declarer
        play.lead_row(self.state)

    def card(self, card: int) -> None:
        """Play one more card, from the hand whose turn it is; one that is not shown may hold any card left."""
        seat = int(self.state["hand_to_play"])
        if seat >= 0 and self._hidden[seat]:
            legal, expected = not self._elsewhere >> card & 1, "a card that is not shown and not played"
            self._elsewhere |= 1 << card
        else:
            play.legal_cards_row(self.state, self._legal_cards)
            legal = bool(self._legal_cards[card])
            expected = "" if legal else " ".join(card_text(int(c)) for c in np.flatnonzero(self._legal_cards))
        if not legal:
            raise ValueError(
                f"{card_text(card)} cannot be played by {SEATS[seat]}, expected {expected or 'no more cards'}"
            )
        play.play_row(self.state, card)

    def check_result(self, won: int) -> None:
        """ValueError unless the cards played leave declarer ``won`` tricks."""
        if won not in self.possible_results:
            expected = " ... ".join(map(str, sorted({self.possible_results[0], self.possible_results[-1]})))
            raise ValueError(f"{won} tricks, expected {expected} by the cards played")

    @property
    def possible_results(self) -> range:
        """The numbers of tricks that declarer can end with, given the tricks played so far."""
        won, played = int(self.state["won"][self.state["declarer"] % 2]), int(self.state["plays"]) // 4
        return range(won, won + MOST_TRICKS - played + 1)

    @property
    def result(self) -> int | None:
        """Tricks won by declarer once all cards are played."""
        return int(self.state["won"][self.state["declarer"] % 2]) if self.state["plays"] == NUM_CARDS else None


def check_board(board: Board) -> BoardReplay:
    """The table after all calls and cards of ``board``; a reader takes every board that passes.

    Raises:
        ValueError: what the laws forbid, or one field of another; names field and what was expected.
    """
    for name, number, least, most in (
        ("Board", board.number, 1, LARGEST_BOARD),
        ("Dealer", board.dealer, 0, 3),
        ("Vulnerable", board.vulnerable, 0, 3),
        ("Declarer", board.declarer, 0, 3),
        ("Result", board.result, 0, MOST_TRICKS),
        *(("double-dummy table", won, -1, MOST_TRICKS) for won in board.tricks or ()),
    ):
        if number is not None and not is_whole(number, least, most):
            raise ValueError(f"{name}: {number!r}, expected {least} ... {most}")
    if board.tricks is not None and len(board.tricks) != 20:
        raise ValueError(f"double-dummy table: {len(board.tricks)} numbers, expected 20")
    if len(board.names) != 4:
        raise ValueError(f"names: {len(board.names)}, expected those of N E S W")
    hands = None if board.hands is None else check_hands(board.hands)
    if board.auction and board.dealer is None:
        raise ValueError("Auction: expected a dealer with it")
    replay, field = BoardReplay(board.dealer or 0, board.vulnerable, hands), "Auction"
    contract, declarer = board.contract, board.declarer
    try:
        for call in board.auction:
            if not is_whole(call.call, 0, NUM_CALLS - 1):
                raise ValueError(f"call {call.call!r}, expected 0 ... {NUM_CALLS - 1}")
            replay.call(call.call)
            check_note(call.note)
        field = "Contract"
        if contract is not None and contract_text(*contract_numbers(contract)) != contract:
            raise ValueError(f"{contract!r}, expected such as 4SX or Pass")
        replay.check_contract(contract, declarer)
        if "Pass" in (contract, replay.bid_over and replay.contract) and (declarer, board.result) != (None, None):
            raise ValueError("Pass, expected no declarer and no result with it")
        field = "Play"
        if board.play or board.claimed:
            replay.start_play(contract, declarer)
        for card in board.play:
            if not is_whole(card, 0, NUM_CARDS - 1):
                raise ValueError(f"card {card!r}, expected 0 ... {NUM_CARDS - 1}")
            replay.card(card)
        if board.claimed and len(board.play) == NUM_CARDS:
            raise ValueError(f"claimed, expected fewer than {NUM_CARDS} cards before")
        field = "Result"
        if board.result is not None:
            replay.check_result(board.result)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from error
    return replay

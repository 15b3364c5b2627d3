"""One board as files of played bridge hold it: the deal, and as much of auction, play and result as is known.

``pbn`` and ``lin`` read and write lists of these; the checks that both make are here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
from bidzoo.core.kernels import I8, allocate
from bidzoo.envs.bridge import auction, play
from bidzoo.envs.bridge.state import OVER, PLAY, STATE

UNKNOWN_HAND = 0
Hands = tuple[int, int, int, int]  # card bits of N E S W
MOST_TRICKS = HAND_SIZE
ANY_RESULT = range(MOST_TRICKS + 1)  # declarer's tricks while no card is known
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
    if word in ("PASS", "P", "AP"):
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


def check_hands(hands: tuple[int, ...]) -> Hands:
    """Four hands of 13 different cards; a single hand that is not shown gets the cards that are left."""
    check_deal(hands, hidden=True)
    left = FULL_DECK - sum(hands)
    north, east, south, west = (hand or (left if left.bit_count() == HAND_SIZE else UNKNOWN_HAND) for hand in hands)
    return north, east, south, west


def check_result(won: int, possible: range) -> None:
    """ValueError unless the cards played leave declarer ``won`` tricks (see ``BoardReplay.possible_results``)."""
    if won not in possible:
        expected = " ... ".join(map(str, sorted({possible[0], possible[-1]})))
        raise ValueError(f"{won} tricks, expected {expected} by the cards played")


# ---- text, the same in all formats -------------------------------------------------------


def decode(content: bytes, source: str) -> str:
    """Text of a file: UTF-8 with or without a byte order mark, else Latin-1, which PBN prescribes."""
    if b"\0" in content:
        raise ValueError(f"{source}: byte {content.index(0)} is 0, expected a text file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


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
        words = [call_text(int(call)) for call in np.flatnonzero(self._legal_calls)]
        doubles = [word for word in words if word in ("X", "XX")]
        bids = [f"a bid from {word}" for word in words[1 + len(doubles) :][:1]]
        return ", ".join([call_text(PASS), *doubles, *bids])

    def settle(self, contract: str, declarer: int) -> None:
        """Go straight to the play of a contract whose auction is not known."""
        bid, stake = contract_numbers(contract)
        self.state["bid"], self.state["stake"], self.state["declarer"] = bid, stake, declarer

    def start_play(self) -> None:
        """Make the table ready for the opening lead."""
        if self.state["bid"] < 0 or self.state["declarer"] < 0:
            raise ValueError("cards are played, expected a contract and its declarer first")
        play.lead_row(self.state)

    def card(self, card: int) -> None:
        """Play one more card, from the hand whose turn it is."""
        seat = int(self.state["hand_to_play"])
        play.legal_cards_row(self.state, self._legal_cards)
        if not self._legal_cards[card]:
            expected = " ".join(card_text(int(c)) for c in np.flatnonzero(self._legal_cards)) or "no more cards"
            raise ValueError(f"{card_text(card)} cannot be played by {SEATS[seat]}, expected {expected}")
        play.play_row(self.state, card)

    @property
    def possible_results(self) -> range:
        """The numbers of tricks that declarer can end with, given the tricks played so far."""
        won, played = int(self.state["won"][self.state["declarer"] % 2]), int(self.state["plays"]) // 4
        return range(won, won + MOST_TRICKS - played + 1)

    @property
    def result(self) -> int | None:
        """Tricks won by declarer once all cards are played."""
        return int(self.state["won"][self.state["declarer"] % 2]) if self.state["plays"] == NUM_CARDS else None

"""Cards, seats, strains and calls: numbers and text, and how other programs number them.

Cards: ``card = 4 * rank + suit``; rank 0 = deuce ... 12 = ace, suit C D H S = 0 ... 3 (OpenSpiel's bridge).
A hand is an ``int64`` with bit ``card`` set. Seats N E S W = 0 ... 3; partners share parity.
Bridge calls: 0 pass, 1 double, 2 redouble, ``3 + 5 * (level - 1) + strain``, strains C D H S NT = 0 ... 4.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bidzoo.core.kernels import I8, I64
from bidzoo.core.options import choose_from, is_whole

RANKS, SUITS, SEATS = "23456789TJQKA", "CDHS", "NESW"
SEAT_NAMES = ("North", "East", "South", "West")
SIDES = ("N/S", "E/W")
STRAINS = ("C", "D", "H", "S", "NT")
CLUBS, DIAMONDS, HEARTS, SPADES, NOTRUMP = range(5)
# Who is vulnerable, by number (bit 0 N/S, bit 1 E/W): as an option, in PBN, in the table manager's lines, in sentences.
VULNERABILITIES, PBN_VULNERABLE, SPOKEN_VULNERABLE, VULNERABLE_TEXT = zip(
    ("none", "None", "Neither", "nobody"),
    ("ns", "NS", "N/S", "N/S"),
    ("ew", "EW", "E/W", "E/W"),
    ("both", "All", "Both", "everybody"),
)
_VULNERABLE = {
    word.lower(): number % 4 for number, word in enumerate(VULNERABILITIES + PBN_VULNERABLE + SPOKEN_VULNERABLE)
}
_VULNERABLE |= {"love": 0, "-": 0, "nsew": 3, "ewns": 3}
SYMBOLS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_LETTERS = {ord(symbol): letter for letter, symbol in SYMBOLS.items()}
NUM_CARDS, HAND_SIZE = 52, 13
FULL_DECK = (1 << NUM_CARDS) - 1

PASS, DOUBLE, REDOUBLE, FIRST_BID = 0, 1, 2, 3
NUM_BIDS = 35
NUM_CALLS = FIRST_BID + NUM_BIDS

# This numbering -> another program's, by card; invert with ``np.argsort``.
_RANK, _SUIT = np.divmod(np.arange(NUM_CARDS), 4)
TO_OPENSPIEL_SPADES = (13 * _SUIT + _RANK).astype(np.int8)  # 13 * suit + rank, suits C D H S
TO_PGX = (13 * (3 - _SUIT) + (_RANK + 1) % 13).astype(np.int8)  # 13 * suit + rank, suits S H D C, ace first
TO_JPS = (13 * _SUIT + (12 - _RANK)).astype(np.int8)  # 13 * suit + rank, suits C D H S, ace first


def card_text(card: int) -> str:
    """``"AS"`` for the ace of spades: rank, then suit."""
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"not a card number: {card} (expected 0 ... {NUM_CARDS - 1})")
    return RANKS[card // 4] + SUITS[card % 4]


def card_number(text: str) -> int:
    """Card of ``"AS"`` or ``"SA"``; ``10`` may stand for ``T``."""
    letters = text.upper().replace("10", "T")
    if len(letters) == 2:
        for word in (letters, letters[::-1]):
            if word[0] in RANKS and word[1] in SUITS:
                return 4 * RANKS.index(word[0]) + SUITS.index(word[1])
    raise ValueError(f"not a card: {text!r} (expected a rank of {RANKS} and a suit of {SUITS})")


def card_symbol(card: int) -> str:
    """``"♠A"``."""
    return SYMBOLS[SUITS[card % 4]] + RANKS[card // 4]


def hand_cards(hand: int) -> list[int]:
    """Cards of a hand, lowest number first."""
    return [card for card in range(NUM_CARDS) if hand >> card & 1]


def hand_bits(cards: Iterable[int]) -> int:
    """Hand holding ``cards``; a card twice is an error."""
    numbers = [int(card) for card in cards]
    return _hand_of(numbers, " ".join(map(card_text, numbers)))


def _hand_of(cards: Iterable[int], quoted: str) -> int:
    """Hand holding ``cards``; errors name it as ``quoted``."""
    hand = 0
    for card in cards:
        if hand >> card & 1:
            raise ValueError(f"hand {quoted}: {card_text(card)} appears twice")
        hand |= 1 << card
    return hand


def hand_text(hand: int) -> str:
    """PBN form, ``"AK.QJ2..T98"``: spades, hearts, diamonds, clubs, high cards first."""
    return ".".join(suit_text(hand, suit) for suit in (3, 2, 1, 0))


def suit_text(hand: int, suit: int) -> str:
    """``"AK4"``: ranks of the cards of ``suit`` in ``hand``, high cards first."""
    return "".join(RANKS[rank] for rank in range(12, -1, -1) if hand >> (4 * rank + suit) & 1)


def hand_symbols(hand: int) -> str:
    """``"♠AK ♥QJ2 ♦- ♣T98"``."""
    return " ".join(SYMBOLS[SUITS[suit]] + (suit_text(hand, suit) or "-") for suit in (3, 2, 1, 0))


def hand_number(text: str) -> int:
    """Hand of a PBN text such as ``"AK.QJ2..T98"``; any number of cards."""
    return _hand_of_suits(text, text.strip().upper().replace("10", "T").split("."))


def hand_in_words(text: str) -> int:
    """Hand as ``hand_number`` reads it, or as people write it: ``"AK QJ2 - T98"``, ``"♠AK ♥QJ2 ♦- ♣T98"``.

    Suits with a letter or symbol come in any order, and an empty one is a void, too.
    """
    if "." in text:
        return hand_number(text)
    letters = text.upper().translate(_LETTERS).replace("10", "T")
    suits = re.findall(r"([CDHS]):?([^CDHS]*)", letters)
    if not suits:
        return _hand_of_suits(text, letters.split())
    if sorted(suit for suit, _ in suits) != sorted(SUITS) or letters.split()[0][0] not in SUITS:
        raise ValueError(f"hand {text!r}: expected the suits S H D C, each once, and its cards behind it")
    ranks = {suit: re.sub(r"[\s,]", "", cards) for suit, cards in suits}
    return _hand_of_suits(text, [ranks[suit] for suit in reversed(SUITS)])


def _hand_of_suits(text: str, suits: Sequence[str]) -> int:
    """Hand of the ranks of spades, hearts, diamonds and clubs; ``text`` is what errors quote."""
    if len(suits) != 4:
        raise ValueError(f"hand {text!r} has {len(suits)} suits, expected 4 (spades.hearts.diamonds.clubs)")
    cards = []
    for suit, ranks in zip((3, 2, 1, 0), suits, strict=True):
        for rank in ranks.replace("-", ""):
            if rank not in RANKS:
                raise ValueError(f"hand {text!r}: {rank!r} is not a rank (expected one of {RANKS})")
            cards.append(4 * RANKS.index(rank) + suit)
    return _hand_of(cards, repr(text))


def deal_text(hands: Iterable[int]) -> str:
    """PBN form of a deal, hands of N E S W: ``"N:AK.QJ2..T98 ..."``; ``-`` is a hand not shown (0)."""
    return "N:" + " ".join(hand_text(hand) if hand else "-" for hand in map(int, hands))


_SUIT_LETTERS = re.compile(r"^S([^.]*)\.H([^.]*)\.D([^.]*)\.C([^.]*)$", re.IGNORECASE)


def deal_hands(text: str) -> tuple[int, ...]:
    """Hands of N E S W of a PBN deal: the first seat, a colon, four hands clockwise; 0 for one not shown (``-``).

    Some programs leave the place of a hidden hand empty, and some write each suit's letter before its cards.
    """
    first, colon, rest = text.strip().partition(":")
    texts, places = rest.split(), rest.split(" ")
    if len(texts) < len(places) <= 4 and places[0]:  # after a space it is not sure whose the first hand is
        texts = [*places, "", "", ""][:4]
    hands = [0 if hand in ("", "-") else hand_number(_SUIT_LETTERS.sub(r"\1.\2.\3.\4", hand)) for hand in texts]
    if not colon or len(hands) != 4:
        raise ValueError(f'{text!r} is not a PBN deal, expected a seat, a colon and four hands: "N:AK.QJ2..T98 ..."')
    seat = seat_number(first.strip())
    return (*hands[-seat:], *hands[:-seat])


def check_deal(hands: Iterable[int], hidden: bool = False) -> None:
    """ValueError unless the ``hands`` of N E S W are 13 cards of one pack each, or with ``hidden`` perhaps none."""
    hands, holder = [int(hand) for hand in hands], dict[int, str]()
    if len(hands) != 4:
        raise ValueError(f"{len(hands)} hands given (expected four: N, E, S, W)")
    for seat, hand in zip(SEATS, hands, strict=True):
        if hand < 0 or hand > FULL_DECK:
            raise ValueError(f"{seat} has bits beyond the 52 cards: {hand:#x}")
        for card in hand_cards(hand):
            if card in holder:
                holders = f"held by {holder[card]} and by {seat}"
                raise ValueError(f"{card_text(card)} is {holders}, expected {NUM_CARDS} different cards")
            holder[card] = seat
    for seat, hand in zip(SEATS, hands, strict=True):
        if hand.bit_count() != HAND_SIZE and not (hidden and hand == 0):
            raise ValueError(f"{seat} holds {hand.bit_count()} cards, expected {HAND_SIZE}")


def call_text(call: int) -> str:
    """``P``, ``X``, ``XX``, ``1C`` ... ``7NT``."""
    if not 0 <= call < NUM_CALLS:
        raise ValueError(f"not a call: {call} (expected 0 ... {NUM_CALLS - 1})")
    if call < FIRST_BID:
        return ("P", "X", "XX")[call]
    level, strain = divmod(call - FIRST_BID, 5)
    return f"{level + 1}{STRAINS[strain]}"


def call_number(text: str) -> int:
    """Call of ``P``/``PASS``, ``X``/``D``/``DBL``, ``XX``/``R``/``RDBL``, ``1C`` ... ``7NT`` (or ``7N``, ``1♣``)."""
    word = text.strip().upper().translate(_LETTERS)
    for call, names in enumerate((("P", "PASS"), ("X", "D", "DBL"), ("XX", "R", "RDBL"))):
        if word in names:
            return call
    strain = "NT" if word[1:] == "N" else word[1:]
    if word[:1] in tuple("1234567") and strain in STRAINS:
        return FIRST_BID + 5 * (int(word[0]) - 1) + STRAINS.index(strain)
    raise ValueError(f"not a call: {text!r} (expected P, X, XX or a bid such as 1C or 7NT)")


def seat_number(seat: int | str) -> int:
    """Seat 0 ... 3 of a number or a letter or name (``"N"``, ``"west"``)."""
    if isinstance(seat, str):
        for number, name in enumerate(SEAT_NAMES):
            if seat.upper() in (name[0], name.upper()):
                return number
    elif is_whole(seat, 0, 3):
        return int(seat)
    raise ValueError(f"not a seat: {seat!r} (expected N, E, S, W or 0 ... 3)")


def vulnerability_number(value: Any) -> int:
    """Number of ``"none"``, ``"NS"``, ``"E/W"``, ``"all"``, in capitals or not: bit 0 N/S, bit 1 E/W.

    Raises:
        ValueError: no such word; names the choices.
    """
    word = str(value).lower()
    if word not in _VULNERABLE:
        raise ValueError(f"not a vulnerability: {value!r}; {choose_from(value, VULNERABILITIES)}")
    return _VULNERABLE[word]


def held(hands: I64) -> I8:
    """Which cards ``hands`` ``[...]`` hold, 0 or 1: ``[..., 52]``."""
    return (hands[..., None] >> np.arange(NUM_CARDS) & 1).astype(np.int8)


def high_card_points(hands: I64) -> I64:
    """Milton Work's points, A K Q J = 4 3 2 1, of ``hands`` in their shape."""
    suits = np.array([bits.bit_count() for bits in range(16)])  # of the four cards of a rank
    return np.asarray(sum(worth * suits[hands >> 4 * (worth + 8) & 15] for worth in (1, 2, 3, 4)), np.int64)

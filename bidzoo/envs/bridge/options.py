"""The ``reset`` options of bridge, checked: every wrong value is a ValueError that names it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bidzoo.cards import (
    FULL_DECK,
    HAND_SIZE,
    SEATS,
    STRAINS,
    card_number,
    card_text,
    hand_bits,
    hand_cards,
    hand_number,
    seat_number,
)
from bidzoo.envs.game import refuse_typos
from bidzoo.kernels import I8, I64

VULNERABILITIES = ("none", "ns", "ew", "both")  # bit 0 N/S, bit 1 E/W


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of bridge among ``options``, converted; other names are left out.

    ``board`` int from 0, ``deal`` int64 ``[4]``, ``tricks`` int8 ``[20]``, ``dealer`` and
    ``vulnerability`` 0 ... 3.
    """
    readers = {
        "board": _board,
        "deal": _deal,
        "tricks": _tricks,
        "dealer": _dealer,
        "vulnerability": _vulnerability,
    }
    refuse_typos(options, readers)
    found = {}
    for name, read in readers.items():
        if options.get(name) is not None:
            try:
                found[name] = read(options[name])
            except (ValueError, TypeError) as error:
                raise ValueError(f"option {name!r}: {error}") from error
    return found


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{value!r} is not {what}")
    return int(value)


def _board(value: Any) -> int:
    board = _whole(value, "a board number (expected an integer from 0)")
    if board < 0:
        raise ValueError(f"{board} is not a board number (expected an integer from 0)")
    return board


def _dealer(value: Any) -> int:
    return seat_number(value if isinstance(value, str) else _whole(value, "a seat (expected N, E, S, W or 0 ... 3)"))


def _vulnerability(value: Any) -> int:
    if not isinstance(value, str) or value.lower() not in VULNERABILITIES:
        raise ValueError(f"{value!r} is not one of {', '.join(VULNERABILITIES)}")
    return VULNERABILITIES.index(value.lower())


def _tricks(value: Any) -> I8:
    table = np.asarray(value)
    if table.size != 20 or table.dtype.kind not in "iu":
        raise ValueError(f"{value!r} is not 20 integers (declarer N E S W by strain C D H S NT)")
    table = table.reshape(20)
    for cell in np.flatnonzero((table < 0) | (table > HAND_SIZE))[:1]:
        where = f"{SEATS[cell // 5]} in {STRAINS[cell % 5]}"
        raise ValueError(f"{where} takes {table[cell]} tricks (expected 0 ... {HAND_SIZE})")
    return table.astype(np.int8)


def _deal(value: Any) -> I64:
    hands = _pbn(value) if isinstance(value, str) else [_hand(hand) for hand in value]
    if len(hands) != 4:
        raise ValueError(f"{len(hands)} hands given (expected four: N, E, S, W)")
    seen: dict[int, int] = {}
    for seat, hand in enumerate(hands):
        if hand & ~FULL_DECK or hand < 0:
            raise ValueError(f"{SEATS[seat]} has bits beyond the 52 cards: {hand:#x}")
        for card in hand_cards(hand):
            if card in seen:
                raise ValueError(f"{card_text(card)} is held by {SEATS[seen[card]]} and by {SEATS[seat]}")
            seen[card] = seat
    for seat, hand in enumerate(hands):
        if hand.bit_count() != HAND_SIZE:
            raise ValueError(f"{SEATS[seat]} holds {hand.bit_count()} cards (expected {HAND_SIZE})")
    return np.array(hands, np.int64)


def _pbn(text: str) -> list[int]:
    first, colon, rest = text.strip().partition(":")
    if not colon:
        raise ValueError(f'{text!r} is not a PBN deal (expected the first seat, a colon and four hands: "N:AK.QJ2...")')
    seat, hands = seat_number(first), [hand_number(hand) for hand in rest.split()]
    if len(hands) != 4:
        raise ValueError(f"{text!r} has {len(hands)} hands (expected four)")
    return hands[-seat:] + hands[:-seat]  # the text starts at ``seat`` and goes clockwise


def _hand(hand: Any) -> int:
    if isinstance(hand, int | np.integer):
        return int(hand)
    if isinstance(hand, str):
        return hand_number(hand)
    if not isinstance(hand, Iterable):
        raise ValueError(f"{hand!r} is not a hand (expected cards, a PBN hand or a bit mask)")
    return hand_bits(
        card_number(card) if isinstance(card, str) else _whole(card, "a card (expected 0 ... 51 or text such as AS)")
        for card in hand
    )

"""Deals with double-dummy tables: the arrays, the packaged sets, random deals and exact augmentation.

A double-dummy table is ``tricks[5 * declarer + strain]``: the tricks declarer (N E S W = 0 ... 3) takes in a
strain (C D H S NT = 0 ... 4) when all four players see all cards and nobody errs; ``-1`` where it is not known.
"""

import hashlib
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bidzoo.cards import FULL_DECK, HAND_SIZE, NUM_CARDS, SEATS, STRAINS
from bidzoo.envs.bridge.files import deal_file
from bidzoo.kernels import I8, I64, batched, below_row, column, key_row, next_row, prange, row

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
DATA = Path(__file__).parents[2] / "data"

UNKNOWN = -1  # tricks
STREAM = 0xDEA1  # of the cards of a random deal, in ``key_row(seed, index, STREAM)``

NUM_RELABELLINGS, NUM_ROTATIONS = 24, 4
RELABELLINGS = np.array(list(permutations(range(4))), np.int64)  # [24, 4]  what suit C D H S becomes
_SUIT_LANE = 0x1111111111111  # the clubs of all thirteen ranks


class DealSet(NamedTuple):
    """``n`` deals and their double-dummy tables; the arrays of loaded sets are read-only."""

    hands: I64  # [n, 4]   cards of N E S W, one bit each
    tricks: I8  # [n, 20]  double-dummy tables

    @classmethod
    def of(cls, hands: I64, tricks: I8 | None = None, source: str = "deals") -> "DealSet":
        """Checked deals ``[n, 4]`` with tables ``[n, 20]`` (all unknown if not given).

        Raises:
            ValueError: an impossible deal or table; names ``source``, the field, the deal and what was expected.
        """
        hands = np.array(hands, np.int64)
        tricks = np.full((len(hands), 20), UNKNOWN, np.int8) if tricks is None else np.array(tricks, np.int8)
        check(hands, tricks, source)
        hands.flags.writeable = tricks.flags.writeable = False
        return cls(hands, tricks)

    @classmethod
    def load(cls, path: str | Path) -> "DealSet":
        """The deals of a file written by ``save``; ValueError if it is anything else."""
        hands, tricks, _ = deal_file.read(Path(path))
        return cls.of(hands, tricks, str(path))

    def save(self, path: str | Path, provenance: dict[str, Any] | None = None) -> None:
        """Write the checked deals whole or not at all; ``provenance`` says where they come from."""
        check(self.hands, self.tricks, "deals")
        deal_file.write(Path(path), self.hands, self.tricks, provenance or {})

    @property
    def solved(self) -> int:
        """Deals whose table is fully known."""
        return int((self.tricks != UNKNOWN).all(1).sum())

    def checksum(self) -> str:
        """SHA-256 of the deals and tables, whatever the file format."""
        digest = hashlib.sha256(np.ascontiguousarray(self.hands, "<i8").tobytes())
        digest.update(np.ascontiguousarray(self.tricks, "i1").tobytes())
        return digest.hexdigest()


@cache
def packaged(split: Split) -> DealSet:
    """The deals that come with bidzoo; the three splits share no deal (``bidzoo/data/README.md``)."""
    if split not in SPLITS:
        raise ValueError(f"no packaged deals called {split!r}; choose from {', '.join(SPLITS)}")
    return DealSet.load(DATA / f"deals-{split}.npz")


def check(hands: I64, tricks: I8, source: str) -> None:
    """ValueError unless every row is a deal of 13 cards a seat and a table of 0 ... 13 tricks (or -1)."""
    if hands.ndim != 2 or hands.shape[1] != 4:
        raise ValueError(f"{source}: hands has shape {hands.shape}, expected [n, 4]")
    if tricks.shape != (len(hands), 20):
        raise ValueError(f"{source}: tricks has shape {tricks.shape}, expected [{len(hands)}, 20]")
    cards = np.unpackbits(
        np.ascontiguousarray(hands, "<i8").view(np.uint8).reshape(-1, 4, 8), axis=2, bitorder="little"
    )
    for deal, seat in np.argwhere(cards.sum(2, dtype=np.int64) != HAND_SIZE)[:1]:
        raise ValueError(
            f"{source}: hands: deal {deal}: {SEATS[seat]} holds {cards[deal, seat].sum()} cards, expected {HAND_SIZE}"
        )
    for (deal,) in np.argwhere(np.bitwise_or.reduce(hands, axis=1) != FULL_DECK)[:1]:
        raise ValueError(f"{source}: hands: deal {deal}: the hands are not the {NUM_CARDS} cards of one pack")
    for deal, cell in np.argwhere((tricks < UNKNOWN) | (tricks > HAND_SIZE))[:1]:
        where = f"declarer {SEATS[cell // 5]} in {STRAINS[cell % 5]}"
        raise ValueError(
            f"{source}: tricks: deal {deal}: {where} takes {tricks[deal, cell]} tricks, "
            f"expected 0 ... {HAND_SIZE}, or {UNKNOWN} for unknown"
        )


# ---- random deals ------------------------------------------------------------------------


@row
def random_deal_row(seed: int, index: int, hands_out: I64) -> None:
    """Deal number ``index`` of ``seed`` into ``hands_out`` ``[4]``, every deal equally likely (Fisher-Yates)."""
    key = key_row(seed, index, STREAM)
    pack = np.arange(52)
    for seat in range(4):
        hands_out[seat] = 0
    for place in range(51, -1, -1):
        key = next_row(key)
        other = below_row(key, place + 1)
        card = pack[other]
        pack[other] = pack[place]
        hands_out[place // 13] |= np.int64(1) << card


@batched
def _random_deals(seed: int, indices: I64, hands_out: I64) -> None:
    for b in prange(len(indices)):
        random_deal_row(seed, indices[b], hands_out[b])


def random_deals(seed: int, indices: I64) -> I64:
    """Hands ``[n, 4]`` of deals ``indices`` ``[n]``; each depends on ``(seed, index)`` alone."""
    indices = np.ascontiguousarray(indices, np.int64)
    if indices.ndim != 1:
        raise ValueError(f"indices of shape {indices.shape}: expected [n]")
    hands = np.empty((len(indices), 4), np.int64)
    _random_deals(seed, indices, hands)
    return hands


# ---- exact augmentation ------------------------------------------------------------------


@row
def augment_row(hands: I64, tricks: I8, relabelling: int, rotation: int, hands_out: I64, tricks_out: I8) -> None:
    """The same deal with suits renamed and seats turned, and its exact table, into other arrays.

    Suit ``s`` becomes ``RELABELLINGS[relabelling, s]`` and seat ``p`` becomes ``(p + rotation) % 4``. The
    double-dummy result does not know the names of suits or seats, so 24 x 4 tables come from one.

    Args:
        hands, hands_out: ``[4]`` card bits.
        tricks, tricks_out: ``[20]`` tables; -1 moves along.
        relabelling: 0 ... 23; 0 leaves the suits alone.
        rotation: 0 ... 3; 0 leaves the seats alone.
    """
    clubs, diamonds = RELABELLINGS[relabelling, 0], RELABELLINGS[relabelling, 1]
    hearts, spades = RELABELLINGS[relabelling, 2], RELABELLINGS[relabelling, 3]
    for seat in range(4):
        hand = hands[seat]
        turned = (seat + rotation) & 3
        hands_out[turned] = (
            (hand & _SUIT_LANE) << clubs
            | (hand >> 1 & _SUIT_LANE) << diamonds
            | (hand >> 2 & _SUIT_LANE) << hearts
            | (hand >> 3 & _SUIT_LANE) << spades
        )
        tricks_out[5 * turned + clubs] = tricks[5 * seat]
        tricks_out[5 * turned + diamonds] = tricks[5 * seat + 1]
        tricks_out[5 * turned + hearts] = tricks[5 * seat + 2]
        tricks_out[5 * turned + spades] = tricks[5 * seat + 3]
        tricks_out[5 * turned + 4] = tricks[5 * seat + 4]


@batched
def _augment(hands: I64, tricks: I8, relabelling: I64, rotation: I64, hands_out: I64, tricks_out: I8) -> None:
    for b in prange(len(hands)):
        augment_row(hands[b], tricks[b], relabelling[b], rotation[b], hands_out[b], tricks_out[b])


def augment(deals: DealSet, relabelling: I64 | int, rotation: I64 | int) -> DealSet:
    """``augment_row`` of every deal; ``relabelling`` and ``rotation`` ``[n]`` or one number for all."""
    suits = _choices("relabelling", relabelling, NUM_RELABELLINGS, len(deals.hands))
    turns = _choices("rotation", rotation, NUM_ROTATIONS, len(deals.hands))
    out = DealSet(np.empty_like(deals.hands), np.empty_like(deals.tricks))
    _augment(deals.hands, deals.tricks, suits, turns, out.hands, out.tricks)
    return out


def _choices(name: str, chosen: I64 | int, end: int, n: int) -> I64:
    """``chosen`` for each of ``n`` deals; ValueError outside ``0 ... end - 1``."""
    values = column(name, chosen, n)
    for bad in values[(values < 0) | (values >= end)][:1]:
        raise ValueError(f"{name} {bad} does not exist (expected 0 ... {end - 1})")
    return values

"""Deals and their double-dummy tricks: packaged, from files, random; and the board a table plays.

Double-dummy tricks are ``tricks[5 * declarer + strain]``: what declarer (N E S W = 0 ... 3) takes in a strain
(C D H S NT = 0 ... 4) when all four players see all cards and nobody errs; ``-1`` where it is not known.
"""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zipfile import is_zipfile

import numpy as np

from bidzoo.core.arrays import Numbers, Plan, Text, load_npz, save_npz
from bidzoo.core.cards import FULL_DECK, HAND_SIZE, SEATS, STRAINS, check_deal
from bidzoo.core.kernels import I8, I64, U8, State, assign_row, batched, row, rows_a_thread
from bidzoo.core.options import column, integers
from bidzoo.core.schema import json_text, json_value, parse
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import Board, Fault, Hands
from bidzoo.envs.bridge.formats import FORMATS
from bidzoo.envs.bridge.play import SUIT_OF_CLUBS

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
DATA = Path(__file__).parents[2] / "data"

UNKNOWN = -1  # tricks
_CARDS, _CHOICE = 0xDEA1, 0xB71D6E  # streams of ``key_row``: the cards of a random deal; the choice of a board's deal

NUM_RELABELLINGS, NUM_ROTATIONS = 24, 4
RELABELLINGS = np.array(list(permutations(range(4))), np.int64)  # [24, 4]  what suit C D H S becomes


class DealSet(NamedTuple):
    """``n`` deals and their double-dummy tricks; the arrays of loaded sets are read-only."""

    hands: I64  # [n, 4]   cards of N E S W, one bit each
    tricks: I8  # [n, 20]  double dummy

    @classmethod
    def of(cls, hands: I64, tricks: I8 | None = None, source: str = "deals") -> "DealSet":
        """Checked deals ``[n, 4]`` with tricks ``[n, 20]`` (all unknown if not given).

        Raises:
            ValueError: impossible cards or tricks; names ``source``, the field, the deal and what was expected.
        """
        hands = integers(f"{source}: hands", hands, 0, FULL_DECK)
        tricks = np.full((len(hands), 20), UNKNOWN) if tricks is None else tricks
        tricks = integers(f"{source}: tricks", tricks, -128, 127).astype(np.int8)
        check(hands, tricks, source)
        hands.flags.writeable = tricks.flags.writeable = False
        return cls(hands, tricks)

    def __repr__(self) -> str:
        return f"<DealSet of {len(self.hands):,} deals, {self.solved:,} solved>"

    @classmethod
    def load(cls, path: str | Path) -> "DealSet":
        """The deals of a file written by ``save``; ValueError if it is anything else."""
        hands, tricks, _ = read_deals(Path(path))
        return cls.of(hands, tricks, str(path))

    def save(self, path: str | Path, provenance: dict[str, Any] | None = None) -> None:
        """Write the checked deals whole or not at all; ``provenance`` says where they come from.

        Same deals, same provenance: same bytes.
        """
        check(self.hands, self.tricks, "deals")
        text = np.array(json_text(provenance or {}, sort_keys=True))
        owner, tricks = pack_hands(self.hands), pack_tricks(self.tricks)
        save_npz(Path(path), format=np.array(FORMAT), provenance=text, owner=owner, tricks=tricks)

    @property
    def solved(self) -> int:
        """The number of deals whose tricks are all known."""
        return int((self.tricks != UNKNOWN).all(1).sum())

    def checksum(self) -> str:
        """SHA-256 of cards and tricks, whatever the file format."""
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
    """ValueError unless every row is a deal of 13 cards a seat and has 0 ... 13 tricks in each contract (or -1)."""
    if hands.ndim != 2 or hands.shape[1] != 4:
        raise ValueError(f"{source}: hands has shape {hands.shape}, expected [n, 4]")
    if tricks.shape != (len(hands), 20):
        raise ValueError(f"{source}: tricks has shape {tricks.shape}, expected [{len(hands)}, 20]")
    cards = np.unpackbits(np.ascontiguousarray(hands, "<i8").view(np.uint8).reshape(-1, 4, 8), axis=2).sum(2)
    valid = (cards == HAND_SIZE).all(1) & (np.bitwise_or.reduce(hands, axis=1) == FULL_DECK)
    for deal in np.flatnonzero(~valid)[:1]:
        try:
            check_deal(hands[deal])
        except ValueError as error:
            raise ValueError(f"{source}: hands: deal {deal}: {error}") from error
    for deal, cell in np.argwhere((tricks < UNKNOWN) | (tricks > HAND_SIZE))[:1]:
        contract = f"declarer {SEATS[cell // 5]} in {STRAINS[cell % 5]}"
        raise ValueError(
            f"{source}: tricks: deal {deal}: {contract} takes {tricks[deal, cell]} tricks, "
            f"expected 0 ... {HAND_SIZE}, or {UNKNOWN} for unknown"
        )


# ---- deal files --------------------------------------------------------------------------
# 23 bytes a deal before compression, an ``.npz`` without pickles.
#
# ``owner`` uint8 ``[n, 13]``: byte ``r`` holds the seats of the four cards of rank ``r``, two bits each, clubs lowest.
# ``tricks`` uint8 ``[n, 10]``: two of the 20 double-dummy tricks to a byte, low four bits first; 14 = not known.
# ``format``: 1. ``provenance``: a JSON text, where the deals come from. Both may be missing in files made elsewhere.

FORMAT = 1
OWNER_BYTES, TRICK_BYTES = 13, 10
_UNKNOWN_IN_FILE = 14
_PLAN: Plan = {
    "format": Numbers((), FORMAT, FORMAT, required=False),
    "provenance": Text(),
    "owner": Numbers(("n", OWNER_BYTES), 0, 255),
    "tricks": Numbers(("n", TRICK_BYTES), 0, 255),
}

_SEAT_OF = np.arange(256)[:, None] >> 2 * np.arange(4) & 3  # [256, 4]  byte, suit
_NIBBLES = ((_SEAT_OF[:, None] == np.arange(4)[:, None]) << np.arange(4)).sum(2)  # [256, 4]  byte, seat: suits held
_SPREAD = ((np.arange(16)[:, None] >> np.arange(4) & 1) << 2 * np.arange(4)).sum(1)  # [16]  bit s at bit 2s


def pack_hands(hands: I64) -> U8:
    """``owner`` bytes ``[n, 13]`` of deals ``[n, 4]``."""
    suits = hands[:, None, :] >> 4 * np.arange(OWNER_BYTES)[:, None] & 15  # [n, rank, seat]
    return (_SPREAD[suits] * np.arange(4)).sum(2).astype(np.uint8)


def unpack_hands(owner: U8) -> I64:
    """Deals ``[n, 4]`` of bytes ``[n, 13]``."""
    hands = np.zeros((len(owner), 4), np.int64)
    for rank in range(OWNER_BYTES):
        hands |= _NIBBLES[owner[:, rank]] << 4 * rank
    return hands


def pack_tricks(tricks: I8) -> U8:
    """Bytes ``[n, 10]`` of tricks ``[n, 20]``."""
    numbers = np.where(tricks < 0, _UNKNOWN_IN_FILE, tricks).astype(np.uint8)
    return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)


def unpack_tricks(numbers: U8) -> I8:
    """Tricks ``[n, 20]`` of bytes ``[n, 10]``; 15 tricks stay 15, for the check to find."""
    tricks = np.empty((len(numbers), 20), np.int8)
    tricks[:, ::2], tricks[:, 1::2] = numbers & 15, numbers >> 4
    tricks[tricks == _UNKNOWN_IN_FILE] = UNKNOWN
    return tricks


ESTIMATED = {"tables": "drawn, not solved"}  # in the provenance of deals whose tables a network has drawn


def is_estimated(provenance: Mapping[str, Any]) -> bool:
    """Whether the tables of a deal file are estimates: to train on, not to measure by."""
    return provenance.items() >= ESTIMATED.items()


def read_deals(path: Path) -> tuple[I64, I8, dict[str, Any]]:
    """Hands ``[n, 4]``, tricks ``[n, 20]`` and provenance of a deal file; shapes are checked, the deals are not."""
    if path.suffix.lower() in FORMATS:
        raise ValueError(f"{path}: a file of boards, expected deals (.npz), which `bidzoo deals import` makes of it")
    if path.suffix.lower() != ".npz" and path.is_file() and not is_zipfile(path):
        raise _other_format(path, ".npz (deals)")
    fields = load_npz(path, "an .npz deal file", _PLAN)
    text, where = str(fields.get("provenance", "{}")), f"{path}: provenance"
    provenance = parse(dict[str, Any], json_value(text, where), where)
    return unpack_hands(fields["owner"]), unpack_tricks(fields["tricks"]), provenance


# ---- files of boards ---------------------------------------------------------------------


def read_boards(path: str | Path, strict: bool = False, faults: list[Fault] | None = None) -> list[Board]:
    """Boards of a PBN or LIN file, by its name's ending; what is wrong is left out and named, as ``pbn.loads`` says."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise _other_format(path)
    return FORMATS[ending].read(path, strict, faults)


def _other_format(path: str | Path, *also: str) -> ValueError:
    """What is said of a file in another format, such as .dlm and .dup of dealing machines."""
    formats = ", ".join([f"{', '.join(FORMATS)} (boards)", *also])
    return ValueError(f"{path}: ending {Path(path).suffix!r}; these formats are read: {formats}")


def listed(numbers: Sequence[object]) -> str:
    """``"1, 2, 3"``, of more than twenty the first."""
    return ", ".join(map(str, numbers[:20])) + ", ..." * (len(numbers) > 20)


def dealt(boards: Sequence[Board], source: str) -> list[tuple[int, Board, Hands]]:
    """Place from 1, board and hands of those ``boards`` whose four hands are known; a warning names the others.

    Raises:
        ValueError: there are none.
    """
    entries = [(place, board, board.hands) for place, board in enumerate(boards, 1) if board.hands and board.complete]
    missing = [board.number or place for place, board in enumerate(boards, 1) if not board.complete]
    if not boards:
        raise ValueError(f"{source}: no boards, expected at least one")
    if missing:
        message = f"{source}: {len(missing):,} board{'s' * (len(missing) > 1)} left out, "
        message += f"hands are missing: {listed(missing)}"
        if not entries:
            raise ValueError(f"{message}; expected all four of at least one board")
        warnings.warn(message, stacklevel=3)
    return entries


def deals_of(boards: Sequence[Board], source: str, contradictions: list[str] | None = None) -> DealSet:
    """The different deals of ``boards``, in their order, each with all double-dummy tricks that are tagged of it.

    Raises:
        ValueError: as of ``dealt``, or two boards that give one deal different tricks, unless ``contradictions`` takes
            these; the first ones count then.
    """
    tricks: dict[tuple[int, ...], I64] = {}
    for place, board, hands in dealt(boards, source):
        name = f"{source}: board {board.number or place}"
        new = np.array(board.tricks or [UNKNOWN] * 20)
        old = tricks.setdefault(hands, np.full(20, UNKNOWN))
        if ((new != old) & (new != UNKNOWN) & (old != UNKNOWN)).any():
            problem = f"{name}: double-dummy table: {new.tolist()}, expected {old.tolist()} as given before"
            if contradictions is None:
                raise ValueError(problem)
            contradictions.append(problem)
        tricks[hands] = np.where(new == UNKNOWN, old, new)
    return DealSet.of(np.array(list(tricks)), np.array(list(tricks.values()), np.int8), source)


# Of 70,500 random deals, solved: the share without a result below 0, 1 ... 7 in any contract; at most 14 tricks were
# taken by one side and the other in one strain.
_NONE_BELOW = (1, 0.94, 0.80, 0.57, 0.28, 0.070, 0.0035, 0)
_MOST_OF_BOTH, _UNLIKELY = 14, 1e-4


def clamped(tricks: I8) -> str:
    """What shows that tables ``[n, 20]`` of one file are not double-dummy results; ``""`` if nothing does at sight.

    Some programs write 1 for "fewer than 7", or never go below 4 or 6.
    """
    tables = np.unique(tricks[(tricks != UNKNOWN).all(1)], axis=0).reshape(-1, 4, 5)
    if not len(tables):
        return ""
    both = tables[:, ::2].max(1) + tables[:, 1::2].max(1)  # [n, 5]
    low, least = np.unique(tables[tables < 7]), int(tables.min())
    if len(low) == 1 and low[0] < 6 and both.min() <= 8:
        return f"every result below 7 is {low[0]}"
    if both.max() > _MOST_OF_BOTH or _NONE_BELOW[min(least, 7)] ** len(tables) < _UNLIKELY:
        taken = f", and N/S and E/W take {both.max()} tricks in one strain" * bool(both.max() > _MOST_OF_BOTH)
        return f"no result is below {least}{taken}"
    return ""


def alike(hands: I64) -> I64:
    """For each of the deals ``[n, 4]`` the index of the first one of the same cards."""
    _, first, inverse = np.unique(hands, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.reshape(-1)], np.int64)


# ---- random deals ------------------------------------------------------------------------


@row
def random_deal_row(seed: int, index: int, pack: I8, hands_out: I64) -> None:
    """Deal number ``index`` of ``seed`` into ``hands_out`` ``[4]``, every deal equally likely (Fisher-Yates).

    ``pack`` ``[52]`` is memory to shuffle in.
    """
    key = key_row(seed, index, _CARDS)
    for card in range(52):
        pack[card] = card
    for seat in range(4):
        hands_out[seat] = 0
    for place in range(51, -1, -1):
        key = next_row(key)
        other = below_row(key, place + 1)
        hands_out[place // 13] |= np.int64(1) << int(pack[other])
        pack[other] = pack[place]


@batched
@rows_a_thread(512)
def _random_deals(start: int, stop: int, seed: int, indices: I64, hands_out: I64) -> None:
    pack = np.empty(52, np.int8)
    for b in range(start, stop):
        random_deal_row(seed, indices[b], pack, hands_out[b])


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
    """The same deal with suits renamed and seats turned, and its exact tricks, into other arrays.

    Suit ``s`` becomes ``RELABELLINGS[relabelling, s]`` and seat ``p`` becomes ``(p + rotation) % 4``. The
    double-dummy result does not know the names of suits or seats, so 24 x 4 deals come from one. ``hands`` ``[4]``,
    ``tricks`` ``[20]`` (-1 stays -1).
    """
    clubs, diamonds = RELABELLINGS[relabelling, 0], RELABELLINGS[relabelling, 1]
    hearts, spades = RELABELLINGS[relabelling, 2], RELABELLINGS[relabelling, 3]
    for seat in range(4):
        hand = hands[seat]
        turned = (seat + rotation) & 3
        hands_out[turned] = (
            (hand & SUIT_OF_CLUBS) << clubs
            | (hand >> 1 & SUIT_OF_CLUBS) << diamonds
            | (hand >> 2 & SUIT_OF_CLUBS) << hearts
            | (hand >> 3 & SUIT_OF_CLUBS) << spades
        )
        tricks_out[5 * turned + clubs] = tricks[5 * seat]
        tricks_out[5 * turned + diamonds] = tricks[5 * seat + 1]
        tricks_out[5 * turned + hearts] = tricks[5 * seat + 2]
        tricks_out[5 * turned + spades] = tricks[5 * seat + 3]
        tricks_out[5 * turned + 4] = tricks[5 * seat + 4]


@batched
def _augment(
    start: int, stop: int, hands: I64, tricks: I8, relabelling: I64, rotation: I64, hands_out: I64, tricks_out: I8
) -> None:
    for b in range(start, stop):
        augment_row(hands[b], tricks[b], relabelling[b], rotation[b], hands_out[b], tricks_out[b])


def augment(deals: DealSet, relabelling: I64 | int, rotation: I64 | int) -> DealSet:
    """``augment_row`` of every deal; ``relabelling`` and ``rotation`` ``[n]`` or one number for all."""
    suits = column("relabelling", relabelling, len(deals.hands), 0, NUM_RELABELLINGS - 1)
    turns = column("rotation", rotation, len(deals.hands), 0, NUM_ROTATIONS - 1)
    out = DealSet(np.empty_like(deals.hands), np.empty_like(deals.tricks))
    _augment(deals.hands, deals.tricks, suits, turns, out.hands, out.tricks)
    return out


# ---- the board a table plays -------------------------------------------------------------


class Source(NamedTuple):
    """Where boards come from: ``n`` deals, or random cards if there are none."""

    hands: I64  # [n, 4]
    tricks: I8  # [n, 20]
    dealer: I8  # [n], -1 where a file of boards does not say; [0] and -1: by the cycle
    vulnerable: I8  # [n] or [0], bit 0 N/S, bit 1 E/W, or -1
    augment: bool = True  # rename suits and turn seats at random
    shuffle: bool = True  # deals at random, else in order

    @classmethod
    def of(cls, deals: DealSet) -> "Source":
        """``deals`` with dealers and vulnerabilities by the cycle."""
        return cls(*deals, np.empty(0, np.int8), np.empty(0, np.int8))

    @classmethod
    def load(cls, path: str | Path) -> "Source":
        """The boards of a PBN or LIN file in its order, each with all that any board says of its deal's tricks.

        Tables that are no double-dummy results at sight are left out; a warning says so.

        Raises:
            ValueError: anything wrong in the file, or as of ``deals_of``; names file, board and field.
        """
        boards = read_boards(path, strict=True)
        deals = deals_of(boards, str(path))
        if problem := clamped(deals.tricks):
            warnings.warn(f"{path}: double-dummy tables left out: {problem}", stacklevel=3)
            deals = DealSet.of(deals.hands)
        boards = [board for board in boards if board.complete]
        numbers = {tuple(hands): deal for deal, hands in enumerate(deals.hands.tolist())}
        rows = [numbers[board.hands] for board in boards if board.hands]
        return cls(
            *DealSet.of(deals.hands[rows], deals.tricks[rows], str(path)),
            np.array([-1 if board.dealer is None else board.dealer for board in boards], np.int8),
            np.array([-1 if board.vulnerable is None else board.vulnerable for board in boards], np.int8),
        )


@row
def deal_number_row(board: int, seed: int, source: Source) -> int:
    """The number of the deal of ``source`` (one at least) that ``(seed, board)`` is dealt from."""
    n = len(source.hands)
    return below_row(key_row(seed, board, _CHOICE), n) if source.shuffle else board % n


@row
def deal_row(state: State, board: int, seed: int, source: Source) -> None:
    """Cards, double-dummy tricks, dealer and vulnerability of ``(seed, board)``."""
    state.dealer, state.vulnerable = auction.dealer_row(board), auction.vulnerable_row(board)
    if len(source.hands) == 0:
        random_deal_row(seed, board, state.played, state.hands)
        state.tricks[:] = -1
        return
    index, relabelling, rotation = deal_number_row(board, seed, source), 0, 0
    if source.augment:
        key = next_row(key_row(seed, board, _CHOICE))
        relabelling = below_row(key, 24)
        rotation = below_row(next_row(key), 4)
    augment_row(source.hands[index], source.tricks[index], relabelling, rotation, state.hands, state.tricks)
    if len(source.dealer) > 0:
        dealer, vulnerable = int(source.dealer[index]), int(source.vulnerable[index])
        if dealer >= 0:
            state.dealer = (dealer + rotation) % 4
        if vulnerable >= 0:  # a turn by one or three seats exchanges the sides
            state.vulnerable = vulnerable if rotation % 2 == 0 else vulnerable >> 1 | (vulnerable & 1) << 1


@row
def open_row(state: State, dealer: int, vulnerable: int) -> None:
    """Put the dealt cards into the players' hands and open the auction."""
    assign_row(state.held, state.hands)
    auction.open_auction_row(state, dealer, vulnerable)

"""Sets of small numbers (cards of a hand, ranks of a suit, legal actions) as the bits of one integer."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.kernels import I8, U8, U64, row
from bidzoo.core.streams import below_row


@row
def count_row(bits: int) -> int:
    """How many numbers the set holds."""
    count = 0
    while bits:  # compiled, this loop is one instruction of the processor
        bits &= bits - 1
        count += 1
    return count


@row
def lowest_row(bits: int) -> int:
    """The lowest number of the set; -1 if it is empty."""
    return count_row((bits & -bits) - 1) if bits else -1


@row
def nth_row(bits: int, n: int) -> int:
    """The number of the set that has ``n`` lower ones in it; the set holds more than ``n``, all below 64."""
    position = 0
    for half in (32, 16, 8, 4, 2, 1):  # without branches, which random sets would make the processor guess wrong
        lower = count_row(bits & ((1 << half) - 1))
        past = n >= lower
        n -= lower if past else 0
        position += half if past else 0
        bits >>= half if past else 0
    return position


@row
def pick_row(bits: int, key: np.uint64) -> int:
    """One number of the set, all equally likely; -1 if it is empty."""
    return nth_row(bits, below_row(key, count_row(bits))) if bits else -1


_SPREAD, _56 = np.uint64(0x0102040810204080), np.uint64(56)


@row
def pack_row(words: U64, out: U8) -> None:
    """Eight entries of 0 or 1, the bytes of each of ``words`` ``[N]``, as bits of a byte of ``out`` ``[N]``.

    The product has entry ``i`` at bit ``56 + i``, and each other pair of entry and shift at a place of its own below.
    """
    for n in range(len(out)):
        out[n] = (words[n] * _SPREAD) >> _56


if not TYPE_CHECKING:  # plain NumPy reports the wrap-around
    pack_row.py_func = np.errstate(over="ignore")(pack_row.py_func)


@row
def unpack_row(packed: U8, out: I8) -> None:
    """What ``pack_row`` packed: eight entries of ``out`` ``[8 * N]`` from each byte of ``packed`` ``[N]``."""
    for n in range(len(packed)):
        for k in range(8):
            out[8 * n + k] = (packed[n] >> k) & 1


def packed_size(entries: int) -> int:
    """Bytes that hold so many entries."""
    return -(-entries // 8)


def unpack(packed: U8, size: int) -> I8:
    """The first ``size`` entries ``[B, size]`` of rows ``[B, N]`` that ``pack_row`` packed."""
    return np.unpackbits(packed, axis=1, count=size, bitorder="little").view(np.int8)


_WORD = 63  # entries that are looked at together, as the bits of one integer


@row
def _word_row(entries: I8, first: int) -> int:
    """The nonzero ``entries`` from ``first`` on, as a set of at most ``_WORD``."""
    bits = 0
    for k in range(min(_WORD, len(entries) - first)):
        bits |= int(entries[first + k]) << k
    return bits


@row
def choose_row(legal: I8, key: np.uint64) -> int:
    """One of the ``n`` legal actions of a mask ``[A]``, the ``floor(u * n)``-th for ``key``; -1 if there is none."""
    first, bits = 0, _word_row(legal, 0)
    word_count = count = count_row(bits)
    for action in range(_WORD, len(legal)):
        count += int(legal[action])
    nth = below_row(key, count)
    while nth >= word_count and first + _WORD < len(legal):
        nth, first = nth - word_count, first + _WORD
        bits = _word_row(legal, first)
        word_count = count_row(bits)
    return first + nth_row(bits, nth) if count else -1


@row
def cards_row(hand: int, offset: int, out: I8) -> None:
    """52 entries of ``out`` from ``offset`` on: 1 where ``hand`` has the card."""
    for card in range(min(52, len(out) - offset)):  # 52, but unknown to the compiler, which then keeps the loop small
        out[offset + card] = (hand >> card) & 1


@row
def spread_row(bits: int, size: int, offset: int, out: I8) -> None:
    """``size`` entries of ``out`` from ``offset`` on: 1 where the set has the number."""
    for i in range(size):
        out[offset + i] = (bits >> i) & 1


@row
def spread_signed_row(value: int, digits: int, offset: int, out: I8) -> None:
    """``1 + digits`` entries from ``offset`` on: whether ``value`` is negative; its size in binary, low digit first."""
    out[offset] = value < 0
    spread_row(abs(value), digits, offset + 1, out)


def gather(entries: NDArray[Any]) -> int:
    """The set that ``spread_row`` wrote, as bits."""
    return int((entries.astype(np.int64) << np.arange(len(entries))).sum())


def gather_signed(entries: NDArray[Any]) -> int:
    """The number that ``spread_signed_row`` wrote."""
    return gather(entries[1:]) * (-1 if entries[0] else 1)

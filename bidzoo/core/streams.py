"""Random numbers for a batch of tables, one independent stream a row.

Randomness is addressed, not consumed: ``key_row(seed, board, stream)`` is the same number whatever the batch, the
thread count or the order of play. A policy that draws from ``Streams`` gives each table the same numbers whichever
tables stand beside it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bidzoo.core.kernels import F64, I64, U64, batched, row
from bidzoo.core.options import whole

# SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_11, _27, _30, _31, _32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@row
def next_row(key: np.uint64) -> np.uint64:
    """The random 64-bit number after ``key``; iterate it for a stream."""
    z = key + _GAMMA
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


if not TYPE_CHECKING:  # plain NumPy reports the wrap-around that the generator is made of
    next_row.py_func = np.errstate(over="ignore")(next_row.py_func)


@row
def key_row(seed: int, board: int, stream: int) -> np.uint64:
    """First random number of the stream addressed by three integers."""
    return next_row(next_row(next_row(np.uint64(seed)) ^ np.uint64(board)) ^ np.uint64(stream))


@row
def unit_row(key: np.uint64) -> float:
    """``key`` as a number in ``[0, 1)``, of 53 bits."""
    return (key >> _11) * (1.0 / (1 << 53))


@row
def below_row(key: np.uint64, n: int) -> int:
    """``key`` as an integer in ``[0, n)``, ``n`` < 2**32 (multiply-shift)."""
    return int(np.int64(((key >> _32) * np.uint64(n)) >> _32))  # signed: uint64 and int64 would mix to float64


_POLICIES = np.uint64(0xA07C1E5B0A2D)  # keeps these numbers apart from those that the kernels deal with


@row
def stream_row(seed: int, board: int, stream: int) -> np.uint64:
    """Key of one stream; its first number is ``unit_row(next_row(key))``."""
    return next_row(key_row(seed, board, stream) ^ _POLICIES)


@batched
def _keys(start: int, stop: int, seed: int, boards: I64, stream: I64, out: U64) -> None:
    for b in range(start, stop):
        out[b] = stream_row(seed, boards[b], stream[b])


@batched
def _uniform(start: int, stop: int, keys: U64, out: F64) -> None:
    for b in range(start, stop):
        for k in range(out.shape[1]):
            keys[b] = next_row(keys[b])
            out[b, k] = unit_row(keys[b])


def random_seed() -> int:
    """A random seed, for where none is given."""
    return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])


def checked_seed(seed: Any, name: str = "seed") -> int:
    """``seed`` as an int; ValueError by that ``name`` unless it is an integer from 0 to 2**63 - 1."""
    return seed if type(seed) is int and 0 <= seed < 1 << 63 else whole(name, seed, 0, 2**63 - 1)


def reset_seed(seed: Any, is_new: bool) -> int | None:
    """The seed from which ``reset(seed)`` of an environment deals; None where that of before goes on.

    A new environment draws its own here and not when it is made, so that copies of it do not deal the same boards.
    """
    if seed is not None:
        return checked_seed(seed)
    return random_seed() if is_new else None


class Streams:
    """``B`` random streams, addressed by seed, board and a third number (turn, table, seat ...)."""

    def __init__(self, keys: U64) -> None:
        self.keys = keys

    @classmethod
    def at(cls, seed: int, boards: I64, stream: I64 | int = 0) -> "Streams":
        """Streams of ``boards`` ``[B]``; ``stream`` ``[B]`` or one number."""
        boards = np.ascontiguousarray(boards, np.int64)
        if not isinstance(stream, np.ndarray) or stream.shape != boards.shape:
            stream = np.broadcast_to(stream, boards.shape)
        keys = np.empty(len(boards), np.uint64)
        _keys(seed, boards, np.ascontiguousarray(stream, np.int64), keys)
        return cls(keys)

    @classmethod
    def one(cls, seed: int, board: int, stream: int) -> "Streams":
        """``at`` of one board."""
        return cls(np.array([stream_row(seed, board, stream)], np.uint64))

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, rows: slice | Sequence[int] | I64) -> "Streams":
        """Streams of some rows; numbers drawn there are not consumed here."""
        return Streams(self.keys[rows].copy())

    def random(self, k: int = 1) -> F64:
        """``k`` numbers a row, uniform in [0, 1): ``[B, k]``."""
        out = np.empty((len(self.keys), k))
        _uniform(self.keys, out)
        return out

    def generator(self, b: int) -> np.random.Generator:
        """A NumPy generator for row ``b``, for code that needs more than uniforms."""
        return np.random.Generator(np.random.Philox(key=int(self.keys[b])))

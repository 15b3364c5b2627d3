"""Numba conventions, stated once.

A **table** is one record of a structured array; the state of ``B`` tables is that array, ``[B]``.

``@row``      one table: a plain function of records, numbers and arrays; called from other kernels.
``@batched``  all tables: a ``prange`` over rows, no other logic; its first array has one entry a row.

Kernels write into what they are given; they never allocate results, print or raise.
Randomness is addressed, not consumed: ``key_row(seed, board, stream)`` is the same number whatever
the batch, the thread count or the order of play.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import config, njit, prange, types
from numpy.typing import ArrayLike, NDArray

F = TypeVar("F", bound=Callable[..., Any])

I8 = NDArray[np.int8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Table = Any  # one record: ``table.field`` reads and writes, compiled or not
Tables = NDArray[np.void]  # [B] records

FEW = 256  # rows

__all__ = [
    "F32",
    "F64",
    "I8",
    "I16",
    "I32",
    "I64",
    "U64",
    "Bool",
    "Table",
    "Tables",
    "allocate",
    "batched",
    "below_row",
    "column",
    "key_row",
    "next_row",
    "prange",
    "row",
    "unit_row",
]

if TYPE_CHECKING:  # numba is untyped: checkers see the plain signatures

    def row(function: F) -> F: ...
    def batched(function: F) -> F: ...

else:

    def row(function: F) -> F:
        """``function`` compiled; a constant passed to it counts as a number, or numba would compile a form for each."""
        kernel = njit(cache=True, nogil=True, error_model="numpy")(function)
        if not config.DISABLE_JIT:
            plain, resolve = types.unliteral, kernel.get_call_template
            kernel.get_call_template = lambda args, kws: resolve(
                tuple(map(plain, args)), {name: plain(given) for name, given in kws.items()}
            )
        return kernel

    def batched(function: F) -> F:
        """``function`` on all cores, or on this one where fewer than ``FEW`` rows would not repay the threads."""
        alone = FunctionType(function.__code__, function.__globals__, function.__name__)
        alone.__qualname__ = f"{function.__qualname__}_alone"  # numba's cache goes by this name, not by options
        parallel = njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function)
        serial = njit(cache=True, nogil=True, error_model="numpy")(alone)

        @wraps(function)
        def dispatch(*arguments: Any) -> None:
            rows = next(len(a) for a in arguments if isinstance(a, np.ndarray))
            (parallel if rows >= FEW else serial)(*arguments)

        return dispatch


def allocate(dtype: np.dtype[np.void], tables: int) -> Tables:
    """Zeroed records ``[tables]``; attribute access also works uncompiled (NUMBA_DISABLE_JIT=1)."""
    records: Tables = np.zeros(tables, dtype)
    return records.view(np.recarray) if config.DISABLE_JIT else records


def column(name: str, given: ArrayLike, rows: int) -> I64:
    """``given``, one number or one a row, as ``[rows]``; ValueError names another shape."""
    if np.shape(given) not in ((), (rows,)):
        raise ValueError(f"{name} of shape {np.shape(given)}: expected one number, or [{rows}]")
    return np.ascontiguousarray(np.broadcast_to(given, rows), np.int64)


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


if config.DISABLE_JIT:  # NumPy reports the wrap-around that the generator is made of
    next_row = np.errstate(over="ignore")(next_row)


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

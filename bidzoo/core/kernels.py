"""Numba conventions, stated once.

A **state** is one record of a structured array; the states of ``B`` tables are that array, ``[B]``.

``@row``      one table: a plain function of records, numbers and arrays; called from other kernels.
``@batched``  rows ``start`` to ``stop`` of all tables, no other logic; its first array has one entry a row.

Kernels write into what they are given; they never allocate results, print or raise. One of ours that makes an array for
its own use calls ``np.empty`` or the like; all others are compiled without numba's counts of references to arrays.
Randomness is addressed, not consumed: ``key_row(seed, board, stream)`` is the same number whatever
the batch, the thread count or the order of play.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numba import config, njit, types
from numba.extending import typeof_impl
from numpy.typing import ArrayLike, NDArray

from bidzoo.core import compiling
from bidzoo.core.cache import KernelCache
from bidzoo.core.compiling import Body
from bidzoo.core.threads import spread

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

I8 = NDArray[np.int8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
State = Any  # one record: ``state.field`` reads and writes, compiled or not
States = NDArray[np.void]  # [B] records

compiling.find_cache()


class _Thread(threading.local):
    plain = False  # a kernel runs as plain Python, and so do the kernels that it calls
    checked = False  # all kernels are to run as plain Python (``in_plain_python``)
    patient = True  # plain Python will do until the compiled form is there (not in ``when_compiled``)


_thread = _Thread()
LOOK_AGAIN = 0.2  # seconds between two looks for a compiled form
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # of numba
_MAKE_ARRAYS = {"arange", "empty", "full", "ones", "zeros"}  # what our kernels call where they need memory of their own
MANY = 64  # rows: too many for plain Python


class Kernel:
    """A function that runs compiled, or as plain Python while its compiled form is being made (``compiling``)."""

    def __init__(self, function: Callable[..., Any], plain: bool) -> None:
        self.py_func, self.key = function, (function.__module__, function.__qualname__)
        # numba counts references to arrays, two atomic additions for every view: half the time of a step
        ours = function.__module__.startswith("bidzoo.")
        self.options = {**OPTIONS, "_nrt": not ours or bool(_MAKE_ARRAYS & {*function.__code__.co_names})}
        self.compiled = njit(**self.options)(function)
        self._plain, self._last_look = plain, -LOOK_AGAIN
        self._run = self._as_python if config.DISABLE_JIT else self._first
        update_wrapper(self, function)
        if not config.DISABLE_JIT:
            self.compiled._cache = KernelCache(function, "kernel", self.options)
            compiling.KERNELS[self.key] = self

    @cached_property
    def body(self) -> Body:
        """The form that other kernels call."""
        return Body(self.compiled.py_func, self.options)

    def __call__(self, *arguments: Any) -> Any:
        if _thread.plain:
            return self.py_func(*arguments)
        return (self._as_python if _thread.checked else self._run)(*arguments)

    def __reduce__(self) -> Any:
        return compiling.kernel_named, self.key

    def wait_for(self, *arguments: Any) -> bool:
        """Run compiled from now on, announced if a call with ``arguments`` has to wait; False if it did so before."""
        if self._run != self._first:
            return False
        compiling.announce(self, arguments)
        self._run = self.compiled
        return True

    def _first(self, *arguments: Any) -> Any:
        """Run compiled as soon as the compiled form is there, and as plain Python until then."""
        if not (self._plain and _thread.patient):
            self.wait_for(*arguments)
        elif (now := time.monotonic()) - self._last_look >= LOOK_AGAIN:
            self._last_look = now
            if compiling.ready(self, arguments):
                self._run = self.compiled
        return (self.compiled if self._run is self.compiled else self._as_python)(*arguments)

    def _as_python(self, *arguments: Any) -> Any:
        """Run as plain Python, and return what compiled code returns: numbers of Python, not of NumPy."""
        _thread.plain = True
        try:
            return _to_python(self.py_func(*map(_with_attributes, arguments)))
        finally:
            _thread.plain = False


def _with_attributes(value: Any) -> Any:
    """``value``, its records with fields as attributes, as compiled code sees them."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value.view(np.recarray)
    if isinstance(value, np.void):
        return value.view(np.dtype((np.record, value.dtype)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_with_attributes, value))
    return value


def _to_python(value: Any) -> Any:
    """Numbers, alone or in a tuple, as compiled code gives them to Python."""
    if isinstance(value, np.number | np.bool_):
        return value.item()
    if isinstance(value, tuple):
        values = map(_to_python, value)
        return type(value)(*values) if hasattr(value, "_fields") else tuple(values)
    return value


@contextmanager
def when_compiled() -> Iterator[None]:
    """Make kernels wait for their compiled form: the work would take minutes as plain Python."""
    before, _thread.patient = _thread.patient, False
    try:
        yield
    finally:
        _thread.patient = before


@contextmanager
def in_plain_python() -> Iterator[None]:
    """Make kernels run as plain Python, where indices are checked."""
    before, _thread.checked = _thread.checked, True
    try:
        yield
    finally:
        _thread.checked = before


def wait_always() -> None:
    """Make kernels of every thread wait for their compiled form from now on, for work that is long or measured."""
    _Thread.patient = False


# a kernel that another kernel calls is typed as its body
typeof_impl.register(Kernel, lambda kernel, context: types.Dispatcher(kernel.body))


if TYPE_CHECKING:  # numba is untyped: checkers see the plain signatures

    def row(function: F) -> F: ...
    def batched(function: Callable[Concatenate[int, int, P], None]) -> Callable[P, None]: ...
    def compiled_batched(function: Callable[Concatenate[int, int, P], None]) -> Callable[P, None]: ...

else:

    def row(function: F) -> Kernel:
        """``function`` as a kernel."""
        return Kernel(function, plain=True)

    def batched(function: F) -> F:
        """``function(start, stop, ...)``, called without the first two: all rows of its first array, on the threads."""
        return _batched(row(function))

    def compiled_batched(function: F) -> F:
        """``batched`` of what cannot run as plain Python."""
        return _batched(Kernel(function, plain=False))

    def _batched(kernel: Kernel) -> Callable[..., None]:
        @wraps(kernel.py_func)
        def dispatch(*arguments: Any) -> None:
            rows = next(len(a) for a in arguments if isinstance(a, np.ndarray))
            if rows < MANY or kernel.wait_for(0, rows, *arguments):  # the caller alone compiles
                kernel(0, rows, *arguments)
            else:
                spread(kernel, rows, arguments)

        return dispatch


def allocate(dtype: np.dtype[np.void], tables: int) -> States:
    """Zeroed records ``[tables]``; attribute access also works uncompiled (NUMBA_DISABLE_JIT=1)."""
    records: States = np.zeros(tables, dtype)
    return records.view(np.recarray) if config.DISABLE_JIT else records


def without_padding(states: States) -> States:
    """``states`` with zeros between their fields: what lies there is chance, and would go into files."""
    clean = np.zeros(states.shape, states.dtype)
    for name in states.dtype.names or ():
        clean[name] = states[name]
    return clean


def integers(name: str, value: ArrayLike, least: int, most: int) -> I64:
    """``value`` as int64; ValueError names what is no integer, or the first one not from ``least`` to ``most``."""
    values = np.asarray(value)
    if values.size and values.dtype.kind not in "biu":
        raise ValueError(f"{name} {value!r}: expected integers from {least} to {most}")
    if values.size and not least <= int(values.min()) <= int(values.max()) <= most:
        wrong = next(number for number in values.ravel().tolist() if not least <= number <= most)
        raise ValueError(f"{name} {wrong}: expected {least} ... {most}")
    return values.astype(np.int64)


def column(name: str, value: ArrayLike, rows: int, least: int, most: int) -> I64:
    """``integers`` of one number, or of one a row, as ``[rows]``; ValueError names any other shape, too."""
    values = integers(name, value, least, most)
    if values.shape not in ((), (rows,)):
        raise ValueError(f"{name} of shape {values.shape}: expected one number, or [{rows}]")
    return np.ascontiguousarray(np.broadcast_to(values, rows))


@row
def assign_row(out: NDArray[Any], values: NDArray[Any]) -> None:
    """``out[:] = values``, of one length, without an error: numba's takes seconds to compile, in every process."""
    for i in range(len(out)):
        out[i] = values[i]


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

"""Kernels: functions over records and arrays that run compiled, by conventions stated once.

A **state** is one record of a structured array; the states of ``B`` tables are that array, ``[B]``.

``@row``      one table: a plain function of records, numbers and arrays; called from other kernels.
``@batched``  rows ``start`` to ``stop`` of all tables, no other logic; its first array has one entry a row.

Kernels write into what they are given; they never allocate results, print or raise. One of ours that makes an array for
its own use calls ``np.empty`` or the like; all others are compiled without numba's counts of references to arrays.

numba is imported when kernels have been called for a while, not before (``compiling``).
"""

import os
import time
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import compiling, plain
from bidzoo.core.threads import SHARE, spread

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

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
LOOK_AGAIN = 0.2  # seconds between two looks for a compiled form
MANY = 64  # rows: plain Python takes some 10 ms, more are timed
PATIENCE = (
    5.0  # processor seconds that a kernel may take as plain Python for such batches, before it waits to be compiled
)
KERNELS: dict[tuple[str, str], "Kernel"] = {}  # by module and qualified name
_TYPES: dict[tuple[Any, ...], Any] = {}  # numba's, of arrays, records and integers
_TUPLES: dict[int, tuple[tuple[Any, ...], Any]] = {}  # tuples of late with their types, by ``id``
MOST_TUPLES = 64


class Kernel:
    """A function that runs compiled, or as plain Python while its compiled form is being made (``compiling``)."""

    __wrapped__: Callable[..., Any]  # the function, which numba compiles

    def __init__(self, function: Callable[..., Any], as_python: bool = True) -> None:
        self.py_func, self.key = function, (function.__module__, function.__qualname__)
        self.share: int = getattr(function, "share", SHARE)  # rows that a thread takes at least, see ``in_shares_of``
        self._has_python, self._last_look, self._plain_seconds = as_python, -LOOK_AGAIN, 0.0
        self._run = self._as_python if UNCOMPILED else self._first
        update_wrapper(self, function)
        KERNELS[self.key] = self

    @cached_property
    def compiled(self) -> Any:
        """The form that Python calls, a dispatcher of numba's."""
        from bidzoo.core import linking

        return linking.entry(self.__wrapped__)

    @cached_property
    def body(self) -> Any:
        """The form that other kernels call."""
        from bidzoo.core import linking

        return linking.callee(self.__wrapped__, lambda: self.compiled)

    @property
    def _numba_type_(self) -> Any:  # what numba asks where a kernel names this one
        return self.body._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        if plain.thread.inside:
            return self.py_func(*map(plain.widen, arguments))
        return (self._as_python if plain.thread.wanted else self._run)(*arguments)

    def __reduce__(self) -> Any:
        return kernel_named, self.key

    @property
    def is_starting(self) -> bool:
        """Whether the compiled form may still have to be made."""
        return self._run == self._first

    def start(self, rows: int, *arguments: Any) -> None:
        """All ``rows``, by the caller alone: as plain Python if that soon ends, until the compiled form is there."""
        done, pace = 0, 0.0  # seconds a row
        if rows > MANY and self._may_be_plain:
            self._go_over(0, rows, *arguments)  # imports numba
        while self.is_starting and self._may_be_plain and done < rows:
            if self._plain_seconds + pace * (rows - done) > PATIENCE:
                break
            stop, began = min(done + MANY, rows), time.thread_time()
            self(done, stop, *arguments)
            seconds = time.thread_time() - began
            done, pace, self._plain_seconds = stop, seconds / (stop - done), self._plain_seconds + seconds
        if done < rows:
            self._wait_for(done, rows, *arguments)
            self(done, rows, *arguments)

    def _wait_for(self, *arguments: Any) -> None:
        """Run compiled from now on, announced if a call with ``arguments`` has to wait."""
        if self.is_starting:
            if (signature := self._missing(arguments)) is not None:
                compiling.announce()
                with compiling.few_collections():
                    self.compiled.compile(signature)
            self._run = self.compiled

    def _first(self, *arguments: Any) -> Any:
        """Run compiled as soon as the compiled form is there and worth loading, and as plain Python until then."""
        if not self._may_be_plain:
            self._wait_for(*arguments)
        elif not compiling.is_brief():
            self._go_over(*arguments)
        return (self._as_python if self.is_starting else self.compiled)(*arguments)

    @property
    def _may_be_plain(self) -> bool:
        """Whether plain Python will do until the compiled form is there."""
        return self._has_python and compiling.patient()

    def _go_over(self, *arguments: Any) -> None:
        """Run compiled from now on if there is a compiled form; the disk is looked at every ``LOOK_AGAIN`` at most."""
        if (now := time.monotonic()) - self._last_look >= LOOK_AGAIN:
            self._last_look = now
            if self._is_ready(arguments):
                self._run = self.compiled

    def _is_ready(self, arguments: tuple[Any, ...]) -> bool:
        """Whether to call the compiled form with such ``arguments`` now; if not, it is compiled in the background."""
        signature = self._missing(arguments)
        return signature is None or not compiling.in_background((*self.key, self.compiled._cache.digest, signature))

    def _missing(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The types of ``arguments`` if there is no compiled form for them yet, in this process or on disk."""
        if compiling.policy() == "now" or not hasattr(self.compiled._cache, "holds"):  # nothing is kept: no use to wait
            return None
        signature = tuple(map(self.compiled.typeof_pyval, arguments))
        if signature in self.compiled.overloads:
            return None
        kept = self.compiled._cache
        return None if kept.holds(signature, self.compiled.targetctx.codegen()) else signature

    def entry(self, *arguments: Any) -> Callable[..., Any] | None:
        """The compiled form for just such ``arguments``, at whose types it does not look; None if there is none yet."""
        if plain.thread.wanted or self._run is not self.__dict__.get("compiled"):
            return None
        form = self.compiled.overloads.get(tuple(map(self._type_of, arguments)))
        return None if form is None else form.entry_point

    def _type_of(self, argument: Any) -> Any:
        """numba's type of ``argument``, on which it spends a millisecond and more if that is a record of our games."""
        key: tuple[Any, ...]
        if isinstance(argument, np.ndarray | np.void):
            dtype = argument.dtype
            key = type(argument), dtype, dtype.isalignedstruct, argument.ndim, argument.flags.num
        elif type(argument) is int and argument.bit_length() < 64:
            key = (int,)
        elif isinstance(argument, tuple):  # the rules of a game, the same object at every call
            known = _TUPLES.get(id(argument))
            if known is None or known[0] is not argument:
                if len(_TUPLES) == MOST_TUPLES:
                    _TUPLES.clear()
                known = _TUPLES[id(argument)] = argument, self.compiled.typeof_pyval(argument)
            return known[1]
        else:
            return self.compiled.typeof_pyval(argument)
        if key not in _TYPES:
            _TYPES[key] = self.compiled.typeof_pyval(argument)
        return _TYPES[key]

    def _as_python(self, *arguments: Any) -> Any:
        return plain.run(self.py_func, arguments)


class Call:
    """Calls of ``function``, often a kernel, with ``first`` and then arguments whose types stay.

    numba finds the compiled form of a kernel by the types of its arguments; here that is done once. A call then takes a
    quarter of the time, one with records and tuples of arrays a tenth.
    """

    def __init__(self, function: Callable[..., Any], *first: Any) -> None:
        self._function, self._first = function, first

    def run(self, *arguments: Any) -> Any:
        """``function(*first, *arguments)``."""
        if (found := self._found(arguments)) is not None:
            vars(self)["run"] = found  # in place of this method, as of a cached property
            return found(*arguments)
        result = self._function(*self._first, *arguments)
        if (found := self._found(arguments)) is not None:
            vars(self)["run"] = found
        return result

    def _found(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What does the same for arguments of such types; None if there is nothing compiled yet."""
        if any(isinstance(each, np.generic) for each in arguments):  # the next may have another width
            return None
        first = self._first
        rows: tuple[int, ...] = ()
        kernel = getattr(self._function, "kernel", self._function)
        if not isinstance(kernel, Kernel):
            return partial(self._function, *first)
        if kernel is not self._function:  # it is batched
            rows = 0, len(first[0])
        if (entry := kernel.entry(*rows, *first, *arguments)) is None:
            return None
        if rows and rows[1] >= 2 * kernel.share:
            return partial(_spread_from, entry, kernel.share, first)
        return partial(entry, *rows, *first)


def _spread_from(entry: Callable[..., None], share: int, first: tuple[Any, ...], *arguments: Any) -> None:
    spread(entry, len(first[0]), first + arguments, share)


def kernel_named(module: str, name: str) -> Kernel:
    """The kernel of that module and qualified name."""
    import_module(module)
    return KERNELS[module, name]


if TYPE_CHECKING:  # checkers see the plain signatures

    def row(function: F) -> F: ...
    def in_shares_of(rows: int) -> Callable[[F], F]: ...
    def batched(function: Callable[Concatenate[int, int, P], None]) -> Callable[P, None]: ...
    def compiled_batched(function: Callable[Concatenate[int, int, P], None]) -> Callable[P, None]: ...

else:

    def row(function: F) -> Kernel:
        """``function`` as a kernel."""
        return Kernel(function)

    def batched(function: F) -> F:
        """``function(start, stop, ...)``, called without the first two: all rows of its first array, on the threads."""
        return _batched(Kernel(function))

    def compiled_batched(function: F) -> F:
        """``batched`` of what cannot run as plain Python."""
        return _batched(Kernel(function, as_python=False))

    def in_shares_of(rows: int) -> Callable[[F], F]:
        """Below ``batched``, for kernels whose rows take long: a thread takes at least ``rows``, some 50 microseconds.

        Without it a thread takes at least ``threads.SHARE`` rows, as is right for those of a game.
        """

        def mark(function: F) -> F:
            function.share = rows  # type: ignore[attr-defined]
            return function

        return mark

    def _batched(kernel: Kernel) -> Callable[..., None]:
        @wraps(kernel.py_func)
        def dispatch(*arguments: Any) -> None:
            rows = next(len(a) for a in arguments if isinstance(a, np.ndarray))
            if rows < MANY or plain.thread.wanted or UNCOMPILED:
                kernel(0, rows, *arguments)
            elif kernel.is_starting:
                kernel.start(rows, *arguments)
            else:
                spread(kernel.entry(0, rows, *arguments) or kernel, rows, arguments, kernel.share)

        dispatch.kernel = kernel  # type: ignore[attr-defined]
        return dispatch


def allocate(dtype: np.dtype[np.void], tables: int) -> States:
    """Zeroed records ``[tables]``; attribute access also works uncompiled (NUMBA_DISABLE_JIT=1)."""
    records: States = np.zeros(tables, dtype)
    return records.view(np.recarray) if UNCOMPILED else records


def without_padding(states: States) -> States:
    """``states`` with zeros between their fields: what lies there is chance, and would go into files."""
    clean = np.zeros(states.shape, states.dtype)
    for name in states.dtype.names or ():
        clean[name] = states[name]
    return clean


@row
def assign_row(out: NDArray[Any], values: NDArray[Any]) -> None:
    """``out[:] = values``, of one length, without an error: numba's takes seconds to compile, in every process."""
    for i in range(len(out)):
        out[i] = values[i]

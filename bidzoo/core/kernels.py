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
from enum import Enum, auto
from functools import cached_property, update_wrapper, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import compiling, plain
from bidzoo.core.threads import ROWS, spread

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

LOOK_AGAIN = 0.2  # seconds between two looks for a compiled form
MANY = 64  # rows: plain Python takes some 10 ms, more are timed
PATIENCE = 5.0  # processor seconds of plain Python for such batches, before a kernel waits to be compiled
KERNELS: dict[tuple[str, str], "Kernel"] = {}  # by module and qualified name


class Form(Enum):
    """What a call of a kernel runs.

    ========== ============================================================ =======================================
    form       a call                                                       what comes after
    ========== ============================================================ =======================================
    STARTING   plain Python if the work may be slow, else it waits for the  COMPILED, once the compiled form has been
               compiler                                                     found on disk or made
    COMPILED   numba's dispatcher                                           nothing
    UNCOMPILED plain Python: ``NUMBA_DISABLE_JIT`` is set                   nothing
    ========== ============================================================ =======================================
    """

    STARTING = auto()
    COMPILED = auto()
    UNCOMPILED = auto()


STARTING, COMPILED = Form.STARTING, Form.COMPILED  # an attribute of an enumeration takes longer than a kernel
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Kernel:
    """A function that runs compiled, or as plain Python while its compiled form is being made (``compiling``)."""

    __wrapped__: Callable[..., Any]  # the function, which numba compiles

    def __init__(self, function: Callable[..., Any], as_python: bool = True) -> None:
        self.py_func, self.key = function, (function.__module__, function.__qualname__)
        self.rows: int = getattr(function, "rows", ROWS)  # that a thread does at least, see ``rows_a_thread``
        self.form = Form.UNCOMPILED if UNCOMPILED else STARTING
        self._has_python, self._last_look, self._plain_seconds = as_python, -LOOK_AGAIN, 0.0
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
        if not plain.thread.wanted:
            if self.form is STARTING:
                self._look(arguments)
            if self.form is COMPILED:
                return self.compiled(*arguments)
        return plain.run(self.py_func, arguments)

    def __reduce__(self) -> Any:
        return kernel_named, self.key

    def run_rows(self, rows: int, *arguments: Any) -> None:
        """A call for rows 0 to ``rows`` while the kernel is starting, by the caller alone.

        Plain Python does ``MANY`` at a time, as long as that will have taken ``PATIENCE`` at most and there is no
        compiled form, which does the rest.
        """
        done, pace = 0, 0.0  # seconds a row
        while done < rows and self.form is STARTING:
            if not self._may_be_plain or self._plain_seconds + pace * (rows - done) > PATIENCE:
                self._wait((0, rows, *arguments))
                break
            if rows > MANY:
                self._look_on_disk((0, rows, *arguments))  # imports numba
            stop, began = min(done + MANY, rows), time.thread_time()
            self(done, stop, *arguments)
            seconds = time.thread_time() - began
            done, pace, self._plain_seconds = stop, seconds / (stop - done), self._plain_seconds + seconds
        if done < rows:
            self(done, rows, *arguments)

    @property
    def _may_be_plain(self) -> bool:
        """Whether plain Python will do until the compiled form is there."""
        return self._has_python and compiling.patient()

    # ---- from STARTING to COMPILED --------------------------------------------------------------

    def _look(self, arguments: tuple[Any, ...]) -> None:
        """Become compiled for a call with ``arguments`` if that is worth it, or if plain Python will not do."""
        if not self._may_be_plain:
            self._wait(arguments)
        elif not compiling.is_brief():
            self._look_on_disk(arguments)

    def _look_on_disk(self, arguments: tuple[Any, ...]) -> None:
        """Become compiled if the compiled form is there; the disk is looked at every ``LOOK_AGAIN`` at most."""
        if (now := time.monotonic()) - self._last_look >= LOOK_AGAIN:
            self._last_look = now
            if self._is_ready(arguments):
                self.form = COMPILED

    def _is_ready(self, arguments: tuple[Any, ...]) -> bool:
        """Whether to call the compiled form with such ``arguments`` now; if not, it is compiled in the background."""
        signature = self._missing(arguments)
        if signature is None:
            return True
        if compiling.in_background((*self.key, self.compiled._cache.digest, signature)):
            return False
        compiling.announce()
        return True

    def _wait(self, arguments: tuple[Any, ...]) -> None:
        """Become compiled, which is announced if a call with ``arguments`` has to wait for it."""
        if (signature := self._missing(arguments)) is not None:
            compiling.announce()
            with compiling.few_collections():
                self.compiled.compile(signature)
        self.form = COMPILED

    def _missing(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The types of ``arguments`` if there is no compiled form for them yet, in this process or on disk."""
        if compiling.policy() == "now" or not hasattr(self.compiled._cache, "holds"):  # nothing is kept: no use to wait
            return None
        signature = tuple(map(self.compiled.typeof_pyval, arguments))
        if signature in self.compiled.overloads:
            return None
        kept = self.compiled._cache
        return None if kept.holds(signature, self.compiled.targetctx.codegen()) else signature


def kernel_named(module: str, name: str) -> Kernel:
    """The kernel of that module and qualified name.

    Raises:
        ValueError: none in this process, as where a worker is sent rules of a notebook's cell.
    """
    import_module(module)
    if (module, name) not in KERNELS:
        where = "a notebook or of the script that was started" if module == "__main__" else f"{module} as it is here"
        raise ValueError(
            f"no kernel {name} in this process: compiled rules of {where}; for workers, import them from a module"
        )
    return KERNELS[module, name]


if TYPE_CHECKING:  # checkers see the plain signatures

    def row(function: F) -> F: ...
    def rows_a_thread(rows: int) -> Callable[[F], F]: ...
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

    def rows_a_thread(rows: int) -> Callable[[F], F]:
        """Below ``batched``, where rows take long or little: a thread does at least ``rows``, some 200 microseconds.

        Without it a thread does at least ``threads.ROWS``, as is right for steps of bridge and Spades.
        """

        def mark(function: F) -> F:
            function.rows = rows  # type: ignore[attr-defined]
            return function

        return mark

    def _batched(kernel: Kernel) -> Callable[..., None]:
        @wraps(kernel.py_func)
        def dispatch(*arguments: Any) -> None:
            rows = next(len(a) for a in arguments if isinstance(a, np.ndarray))
            if rows < MANY or plain.thread.wanted or UNCOMPILED:
                kernel(0, rows, *arguments)
            elif kernel.form is STARTING:
                kernel.run_rows(rows, *arguments)
            else:
                spread(kernel.compiled, rows, arguments, kernel.rows)

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

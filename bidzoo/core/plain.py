"""Kernels as plain Python: until their compiled form is there, and where indices are to be checked.

Compiled code computes with 64 bits whatever the width of a field; NumPy computes with the field's, and a shift beyond
it is 0 without a word. So here a number that a record's field or an argument holds in fewer bits is Python's integer.
Elements of arrays stay NumPy's: ``int(state.calls[t])`` before a shift or a product (``tests/core/test_plain.py``).
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np


class _Thread(threading.local):
    inside = False  # a kernel runs as plain Python, and so do the kernels that it calls
    wanted = False  # all kernels are to run as plain Python (``in_plain_python``)


thread = _Thread()
seconds = 0.0  # for which kernels have run as plain Python, all together


@contextmanager
def in_plain_python() -> Iterator[None]:
    """Make kernels run as plain Python, where indices are checked."""
    before, thread.wanted = thread.wanted, True
    try:
        yield
    finally:
        thread.wanted = before


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel's ``function`` and return what compiled code returns: numbers of Python, not of NumPy."""
    global seconds
    thread.inside, began = True, perf_counter()
    try:
        return _to_python(function(*map(_as_compiled, arguments)))
    finally:
        thread.inside = False
        seconds += perf_counter() - began


class Record(np.void):  # type: ignore[misc]  # NumPy subclasses it, too
    """A record with fields as attributes, those of records in it too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _as_compiled(self[name])
        except ValueError as problem:
            raise AttributeError(f"record has no attribute {name!r}", name=name, obj=self) from problem

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self[name] = value
        except ValueError as problem:
            if name in (self.dtype.names or ()):
                raise
            raise AttributeError(f"record has no attribute {name!r}", name=name, obj=self) from problem


NARROW = frozenset({np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32})


def widen(value: Any) -> Any:
    """``value``, a number of fewer than 64 bits as Python's integer."""
    return int(value) if type(value) in NARROW else value


def _as_compiled(value: Any) -> Any:
    """``value``, its records with fields as attributes, as compiled code sees them."""
    if isinstance(value, np.ndarray | np.void) and value.dtype.names:
        return value.view(np.dtype((Record, value.dtype)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_as_compiled, value))
    return widen(value)


def _to_python(value: Any) -> Any:
    """Numbers, alone or in a tuple, as compiled code gives them to Python."""
    if isinstance(value, np.number | np.bool_):
        return value.item()
    if isinstance(value, tuple):
        values = map(_to_python, value)
        return type(value)(*values) if hasattr(value, "_fields") else tuple(values)
    return value

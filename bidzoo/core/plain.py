"""Kernels as plain Python: until their compiled form is there, and where indices are to be checked."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class _Thread(threading.local):
    inside = False  # a kernel runs as plain Python, and so do the kernels that it calls
    wanted = False  # all kernels are to run as plain Python (``in_plain_python``)


thread = _Thread()


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
    thread.inside = True
    try:
        return _to_python(function(*map(_with_attributes, arguments)))
    finally:
        thread.inside = False


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

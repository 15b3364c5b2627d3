"""Calls of one kernel that come again and again with arguments of the same types.

numba looks at the type of every argument of every call, to find the compiled form that is made for them. For a kernel
of one table that takes three to ten times as long as what the kernel does. A ``Call`` does it once.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bidzoo.core import plain
from bidzoo.core.kernels import COMPILED, Kernel
from bidzoo.core.threads import spread


class Call:
    """Calls of ``function``, often a kernel, with ``first`` and then arguments whose types stay."""

    def __init__(self, function: Callable[..., Any], *first: Any) -> None:
        self._function, self._first = function, first

    def run(self, *arguments: Any) -> Any:
        """``function(*first, *arguments)``."""
        kernel = getattr(self._function, "kernel", self._function)
        was_compiled = isinstance(kernel, Kernel) and kernel.form is COMPILED
        result = self._function(*self._first, *arguments)
        if (direct := self._direct(kernel, arguments, was_compiled)) is not None:
            vars(self)["run"] = direct  # in place of this method, as of a cached property
        return result

    def _direct(self, kernel: Any, arguments: tuple[Any, ...], was_compiled: bool) -> Callable[..., Any] | None:
        """What does the same without a look at types; None if ``function`` has just run as plain Python.

        Where a function is no kernel, that is the function. A kernel that ``was_compiled`` before it ran, and has one
        form, has run in just this one. Otherwise, as where another thread has had it compiled meanwhile, the form for
        ``arguments`` is looked for.
        """
        if any(isinstance(each, np.generic) for each in arguments):  # the next may have another width
            return None
        if not isinstance(kernel, Kernel):
            return partial(self._function, *self._first)
        if kernel.form is not COMPILED or plain.thread.wanted:
            return None
        rows: tuple[int, ...] = () if kernel is self._function else (0, len(self._first[0]))  # a batched one has them
        forms = kernel.compiled.overloads
        if was_compiled and len(forms) == 1:
            (form,) = forms.values()
        else:
            form = forms.get(tuple(map(kernel.compiled.typeof_pyval, (*rows, *self._first, *arguments))))
        if form is None:
            return None
        entry = form.entry_point
        if rows and rows[1] >= 2 * kernel.rows:
            return partial(_spread, entry, rows[1], kernel.rows, self._first)
        return partial(entry, *rows, *self._first)


def _spread(entry: Callable[..., None], rows: int, least: int, first: tuple[Any, ...], *arguments: Any) -> None:
    spread(entry, rows, first + arguments, least)

"""What a kernel is compiled to: a form that Python calls, and one that other kernels call.

What is asked of numba, and what it buys: least of 4 to 10 runs in turns on a busy machine with two cores, processor
time of a step of 4,096 tables in MiniBridge, bridge and Spades, and of compiling ``reset`` and ``step``.

========================= ======================== =====================
asked                     a step, microseconds     compiling, seconds
========================= ======================== =====================
nothing (plain ``njit``)  328, 980, 1369           5.0, 19.0, 11.9
options                   191, 715, 889            3.8, 13.4, 8.6
options and bodies        144, 548, 583            2.8, 8.1, 6.3
========================= ======================== =====================

The **options** leave out what no caller of ours uses: counts of references to arrays, two atomic additions for every
view, and a wrapper for C. numba does not document them; a version that has them no longer goes without.

A **body** is a kernel as other kernels call it. numba takes a callee to machine code with an entry from Python, and
then optimises all of it anew in each caller, and in each of theirs. A body stops before that: it is LLVM code, typed,
lowered and kept once. What Python calls links the bodies it needs and alone is optimised, as one piece. Bodies are made
of numba's own classes with steps left out, which ``tests/core/test_kernels.py`` checks for the versions in ``TRIED``.
For every other version, and with ``BIDZOO_LINKING=plain``, a kernel is a dispatcher for Python and for other kernels,
with the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numba
from numba import config, njit, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUTargetOptions

VARIABLE = "BIDZOO_LINKING"
TRIED = (0, 61), (0, 68)  # first and last version of numba
BODIES = TRIED[0] <= numba.version_info.short <= TRIED[1] and os.environ.get(VARIABLE) != "plain"

PUBLIC = {"nogil": True, "error_model": "numpy"}  # options that numba documents
_MAKE_ARRAYS = {"arange", "empty", "full", "ones", "zeros"}  # what our kernels call where they need memory of their own


def options(function: Callable[..., Any]) -> dict[str, Any]:
    """numba's options for ``function``."""
    ours = function.__module__.startswith("bidzoo.")
    counts = not ours or bool(_MAKE_ARRAYS & {*function.__code__.co_names})
    internal = {"no_cfunc_wrapper": True, "_nrt": counts}
    return PUBLIC | {name: value for name, value in internal.items() if hasattr(CPUTargetOptions, name)}


def entry(function: Callable[..., Any]) -> Any:
    """``function`` as Python calls it, a dispatcher of numba's."""
    if config.DISABLE_JIT:
        return function
    dispatcher = njit(**options(function))(function)
    _keep(dispatcher, function, "kernel")
    if not BODIES and (template := getattr(dispatcher, "get_call_template", None)):
        dispatcher.get_call_template = lambda args, kws: template(*_numbers(args, kws))
    if hasattr(dispatcher._cache, "holds") and not options(function).get("_nrt", True):
        dispatcher._cache.load_overload = partial(_load, dispatcher._cache)
    return dispatcher


def _load(cache: Any, signature: Any, target_context: Any) -> Any:
    """Kept code that counts no references, without half a second for registries that only a compiler reads."""
    from bidzoo.core.cache import reached

    if any(options(each)["_nrt"] for each in reached(cache.made_of)):  # what it calls may count: link it to the runtime
        from numba.core.runtime import rtsys

        rtsys.initialize(target_context)
    return cache._load_overload(signature, target_context)


def callee(function: Callable[..., Any], called: Callable[[], Any]) -> Any:
    """``function`` as kernels call it; what is ``called`` from Python where there are no bodies."""
    return Body(function) if BODIES else called()


def _numbers(args: tuple[Any, ...], kws: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Types of arguments in which a constant counts as a number, or numba would compile a form for each."""
    return tuple(map(types.unliteral, args)), {name: types.unliteral(argument) for name, argument in kws.items()}


def _keep(dispatcher: Any, function: Callable[..., Any], form: str) -> None:
    """Keep compiled code between processes, under a digest of all that it was made of, or not at all."""
    try:
        from bidzoo.core.cache import KEEPS, KernelCache

        if KEEPS:
            dispatcher._cache = KernelCache(function, form, options(function))
    except (ImportError, AttributeError, TypeError):  # a version of numba whose cache is another
        if BODIES:
            raise


if hasattr(os, "register_at_fork"):  # a child that is forked while another thread compiles would wait for it for ever
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

if BODIES:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

    class _Code(JITCodeLibrary):
        """Linked with what it calls, as every library; neither optimised as a whole nor made machine code."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def serialize_using_object_code(self) -> Any:  # there is none
            self._ensure_finalized()
            return self.name, "bitcode", self._get_module_for_linking().as_bitcode()

    class _Target(CPUTarget):
        """numba's target for this machine, which makes ``_Code``."""

        typing_context = cpu_target.typing_context
        target_context = copy(cpu_target.target_context)  # shares the functions that numba has registered

    _codegen = _Target.target_context._internal_codegen = copy(cpu_target.target_context.codegen())
    _codegen._library_class = _Code
    _codegen.set_env = lambda name, environment: None  # it would write to an address in machine code

    class Body(CPUDispatcher):
        """``function`` as kernels call it."""

        targetdescr = _Target("cpu")

        def __init__(self, function: Callable[..., Any]) -> None:
            only_linked = {"nopython": True, **options(function), "no_cpython_wrapper": True}
            super().__init__(function, targetoptions=only_linked)
            _keep(self, function, "body")

        def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            return super().get_call_template(*_numbers(args, kws))

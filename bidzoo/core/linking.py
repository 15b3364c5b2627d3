"""What a kernel is to the kernels that call it: LLVM code, and no more.

numba takes a callee to machine code with an entry from Python, and then optimises all of it anew in each caller, and
in each of theirs. A **body** stops before that: it is typed, lowered and kept in numba's cache once. What Python calls
links the bodies it needs and alone is optimised, as one piece.

The classes are numba's own with these steps left out; ``tests/test_kernels.py`` sees that they are.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
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


class _Files(CompileResultCacheImpl):
    def get_filename_base(self, fullname: str, abiflags: str) -> Any:
        return super().get_filename_base(f"{fullname}.body", abiflags)


class _Cache(FunctionCache):
    _impl_class = _Files


class _Target(CPUTarget):
    """numba's target for this machine, which makes ``_Code``."""

    typing_context = cpu_target.typing_context
    target_context = copy(cpu_target.target_context)  # functions that one knows the other knows


_codegen = _Target.target_context._internal_codegen = copy(cpu_target.target_context.codegen())
_codegen._library_class = _Code
_codegen.set_env = lambda name, environment: None  # a place in machine code


class Body(CPUDispatcher):
    """``function`` as kernels call it, compiled with ``options``."""

    targetdescr = _Target("cpu")

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options, "no_cpython_wrapper": True})
        self._cache = _Cache(function)

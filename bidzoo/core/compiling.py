"""Compilation of kernels in a background process, and the form in which one kernel calls another.

numba takes 15 to 50 seconds to compile a game or an agent, once a machine. Meanwhile kernels run as plain Python, with
the same bytes: a process of low priority compiles into numba's cache what was called, and ``Kernel`` goes over to the
compiled form when it finds it there. What would take minutes uncompiled waits instead, and says so in one line.

``BIDZOO_COMPILE=now`` waits always (tests, benchmarks, clusters); ``bidzoo compile`` prepares everything beforehand.

numba takes a callee to machine code with an entry from Python, and then optimises all of it anew in each caller, and
in each of theirs. A **body** stops before that: it is LLVM code, typed, lowered and kept in numba's cache once. What
Python calls links the bodies it needs and alone is optimised, as one piece.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba import config, njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

from bidzoo.core.cache import KernelCache

if TYPE_CHECKING:
    from bidzoo.core.kernels import Kernel

VARIABLE = "BIDZOO_COMPILE"
POLICIES = ("background", "now")
# each game and agent has kernels of its own, so another program may have to say it again
SAID = "bidzoo: compiling kernels that are new to this machine, up to a minute; `bidzoo compile` prepares all of them"

KERNELS: dict[tuple[str, str], Kernel] = {}  # by module and qualified name
_requested: set[tuple[str, str, str, Any]] = set()
_announced = False
_worker: subprocess.Popen[bytes] | None = None


def policy() -> str:
    """``BIDZOO_COMPILE``; ValueError for another word."""
    word = os.environ.get(VARIABLE) or POLICIES[0]
    if word not in POLICIES:
        raise ValueError(f"{VARIABLE}={word!r}: expected {' or '.join(POLICIES)}")
    return word


def _probe() -> None:
    """Never compiled: ``njit`` raises at once if numba could not cache it."""


def find_cache() -> None:
    """Let numba cache what it compiles: beside the sources, in the user's cache, or in a temporary folder."""
    try:
        njit(cache=True)(_probe)
    except RuntimeError:  # a read-only installation without a home: the usual container
        config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="bidzoo-")
        print(
            f"bidzoo: compiled kernels go to {config.CACHE_DIR}; set NUMBA_CACHE_DIR to a folder that stays",
            file=sys.stderr,
        )


def kernel_named(module: str, name: str) -> Kernel:
    """The kernel of that module and qualified name."""
    import_module(module)
    return KERNELS[module, name]


def ready(kernel: Kernel, arguments: tuple[Any, ...]) -> bool:
    """Whether to call the compiled form with such ``arguments`` now; if not, it is compiled in the background."""
    if policy() == "now":
        return True
    signature = _signature(kernel, arguments)
    if signature is None or _is_cached(kernel, signature):
        return True
    key = (*kernel.key, kernel.compiled._cache.digest, signature)
    if key not in _requested:
        _requested.add(key)
        return not _ask(key)
    return _worker is None or _worker.poll() is not None  # the process has ended: better slow than never


def announce(kernel: Kernel, arguments: tuple[Any, ...]) -> None:
    """Say once that kernels are compiled, if that is what a call with ``arguments`` will wait for."""
    global _announced
    if _announced or policy() == "now":
        return
    signature = _signature(kernel, arguments)
    if signature is not None and not _is_cached(kernel, signature):
        _announced = True
        print(SAID, file=sys.stderr, flush=True)


def _signature(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Types of ``arguments``; None if the kernel has been compiled for them in this process."""
    signature = tuple(kernel.compiled.typeof_pyval(argument) for argument in arguments)
    return None if signature in kernel.compiled.overloads else signature


def _is_cached(kernel: Kernel, signature: tuple[Any, ...]) -> bool:
    """Return whether numba's cache on disk has the compiled form."""
    return kernel.compiled._cache.holds(signature, kernel.compiled.targetctx.codegen())


# ---- a kernel as others call it ------------------------------------------------------------
# These classes are numba's own with steps left out; ``tests/core/test_kernels.py`` sees that they are.


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
    """``function`` as kernels call it, compiled with ``options``."""

    targetdescr = _Target("cpu")

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options, "no_cpython_wrapper": True})
        self._cache = KernelCache(function, "body", options)

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """A constant counts as a number, or numba would compile a form for each."""
        named = {name: types.unliteral(argument) for name, argument in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), named)


# ---- the process that compiles -------------------------------------------------------------


def _ask(key: tuple[str, str, str, Any]) -> bool:
    """Hand ``key`` to the process that compiles; False if it cannot be started or reached."""
    global _worker
    job = pickle.dumps(key)
    try:
        if _worker is None:
            _worker = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, VARIABLE: "now", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is not for it: it ends with its work
            )
        assert _worker.stdin is not None
        _worker.stdin.write(len(job).to_bytes(8, "little") + job)
        _worker.stdin.flush()
    except OSError:
        return False
    return True


def _forget() -> None:
    global _worker
    _worker = None
    _requested.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _serve() -> None:
    """Compile what standard input asks for, one process at a time for all that share the cache; then end."""
    if hasattr(os, "nice"):
        os.nice(10)
    from bidzoo.core.compiling import kernel_named  # by its full name, since this module runs as __main__

    while size := sys.stdin.buffer.read(8):
        module, name, digest, signature = pickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "little")))
        kernel = kernel_named(module, name)
        if kernel.compiled._cache.digest != digest:
            return  # a source has changed since the asking process read it: that one compiles for itself
        with _turn(Path(kernel.compiled._cache.cache_path)):
            kernel.compiled.compile(signature)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Keep other processes from compiling into ``folder`` meanwhile: what two ask for, the second one loads."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "bidzoo-compiling.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    _serve()

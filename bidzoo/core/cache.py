"""Where compiled kernels are kept between processes, each under a digest of all that it was made of.

numba's cache looks at a kernel's own file; but what a kernel calls is linked into it. Here a kernel's files bear the
**digest** of its function and of every function that it calls, however far down: bytecode, constants, global values,
options, and the machinery that compiles. It is taken from what this process has imported, so an old kernel is never
found and none is kept under a new name. A comment makes none anew; what two versions of a source made lies side by
side.

A file begins with a checksum of its name and content. What is damaged, whatever damaged it, counts as not kept: the
kernel is compiled and kept anew. Nothing reaches the loader of code that is not what was written.
"""

import os
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.misc.appdirs import AppDirs

KEPT = 86_400  # seconds for which the files of other versions of a kernel are kept

_MACHINERY = tuple(Path(__file__).with_name(name) for name in ("cache.py", "linking.py"))
_DIGITS = 16  # of a digest, in the names of files: paths of more than 259 characters are too long for Windows
_LONGEST = 120  # characters of the longest path of a file, as it is written, after that of the folder of this module
_COMPILED_BY_NAME = {"builtins", "math", "numba", "numpy"}  # numba's own forms of them: its version tells all
READ_ONLY = "BIDZOO_READ_ONLY_CACHE"  # what ``NUMBA_CACHE_DIR`` was, where ``find_cache`` has replaced it
_unwritable = False
_where = ""


def find_cache() -> bool:
    """Let numba keep what it compiles, and return whether it can.

    The folder is ``NUMBA_CACHE_DIR``, that beside the sources, the user's cache, or a temporary one: the first that can
    be written, and on Windows the user's cache where the first one's path is too long. ``say_where`` tells of it where
    it is not the one that was given, where it is a temporary one and where a path is too long.
    """
    global _where
    given = numba.config.CACHE_DIR
    try:
        if not (given or _has_home() or os.access(Path(__file__).parent, os.W_OK)):
            raise RuntimeError("no home")  # numba would make a folder called ~
        folder = njit(cache=True)(find_cache)._cache.cache_path  # compiles nothing
        if given and not Path(folder).is_relative_to(given):
            place = folder if Path(folder).name == "__pycache__" else Path(folder).parent  # of all modules
            _where = f"NUMBA_CACHE_DIR {given} cannot be written, so compiled kernels go to {place}"
        if sys.platform == "win32" and len(folder) + _LONGEST > 259:
            users = AppDirs("numba", False).user_cache_dir
            _keep_in(users, given)
            _where = f"{folder}: path too long for compiled kernels, which go to {users}"
    except RuntimeError:  # a read-only installation without a home: the usual container
        try:
            folder = _temporary()
        except OSError:
            _where = "compiled kernels can be kept nowhere, so every process compiles them; set NUMBA_CACHE_DIR"
            say_where()
            return False
        _keep_in(folder, given)
        way = f"NUMBA_CACHE_DIR {given} cannot be written" if given else "set NUMBA_CACHE_DIR to a folder that stays"
        _where = f"compiled kernels go to {folder}; {way}"
    return True


def _keep_in(folder: str, given: str) -> None:
    """Let this process and its children keep kernels in ``folder``, though ``NUMBA_CACHE_DIR`` was ``given``."""
    os.environ[READ_ONLY] = given
    numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder


def _has_home() -> bool:
    return os.path.isabs(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~"))


def _temporary() -> str:
    """This user's folder for compiled kernels among the temporary ones, which nobody else can write to."""
    if hasattr(os, "getuid"):
        path = Path(tempfile.gettempdir(), f"bidzoo-{os.getuid()}")
        with suppress(OSError):
            path.mkdir(0o700, exist_ok=True)
            status = path.lstat()
            if S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077:
                return str(path)
    return tempfile.mkdtemp(prefix="bidzoo-")


def say_where() -> None:
    """Say once where kernels go, if it is a folder that nobody would expect."""
    global _where
    if _where:
        print(f"bidzoo: {_where}", file=sys.stderr, flush=True)
        _where = ""


KEEPS = find_cache()


class _SealedFile(IndexDataCacheFile):
    """numba's index and data files, each behind a checksum; where one is damaged or cannot be read, nothing is kept.

    They are written to ``folder``; what is not there is looked for in ``other``, too.
    """

    def __init__(self, folder: str, name: str, stamp: str, other: "_SealedFile | None" = None) -> None:
        super().__init__(folder, name, stamp)
        self._other = other

    def holds(self, key: Any) -> bool:
        """Whether the code of that key is there as it was written."""
        name = self._load_index().get(key)  # the index is written first
        if name is not None and self._read(name) is not None:
            return True
        return self._other is not None and self._other.holds(key)

    def load(self, key: Any) -> Any:
        """The code of that key, None if it is nowhere."""
        data = super().load(key)
        return self._other.load(key) if data is None and self._other is not None else data

    def _load_index(self) -> dict[Any, str]:
        content = self._read(self._index_name)
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_name, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        content = self._read(name)
        if content is None:
            raise OSError(f"{name} is damaged")  # for numba's ``load``, to which it is a file that is not there
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, data)

    def _read(self, name: str) -> bytes | None:
        try:
            sealed = Path(self._cache_path, name).read_bytes()
        except OSError:
            return None
        checksum, content = sealed[:_CHECKSUM], sealed[_CHECKSUM:]
        return content if checksum == _checksum(name, content) else None

    def _write(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(str(Path(self._cache_path, name))) as file:
            file.write(_checksum(name, content) + content)


_CHECKSUM = 32  # bytes


def _checksum(name: str, content: bytes) -> bytes:
    return sha256(name.encode() + b"\0" + content).digest()


class KernelCache(FunctionCache):
    """numba's cache for ``function`` compiled with ``options`` to code of one ``form``."""

    def __init__(self, function: Callable[..., Any], form: str, options: dict[str, Any]) -> None:
        super().__init__(function)
        self.made_of, self._made_how = function, (form, sorted(options.items()))
        del self._cache_file  # made when it is needed: by then all that the kernel calls has been defined

    @cached_property
    def digest(self) -> str:
        """Of all that the kernel is made of."""
        return digest(self.made_of, *self._made_how)

    @cached_property
    def _cache_file(self) -> _SealedFile:
        names, first = (f"{self._stem}{self.digest[:_DIGITS]}", self.digest), self._first_folder
        other = None if first == self.cache_path else _SealedFile(first, *names)
        return _SealedFile(self.cache_path, *names, other)

    @property
    def _first_folder(self) -> str:
        """The first one of ``find_cache``: where it cannot be written, an image may have compiled kernels there."""
        source = Path(self.made_of.__code__.co_filename)
        given = os.environ.get(READ_ONLY, numba.config.CACHE_DIR)
        folder = Path(given, self._impl.locator.get_suitable_cache_subpath(str(source)))
        return str(folder if given else source.parent / "__pycache__")

    @property
    def _stem(self) -> str:
        """How the names of all files of this kernel begin, whatever it was made of."""
        name = re.sub("[<>]", "", self.made_of.__qualname__)
        return f"{Path(self.made_of.__code__.co_filename).stem}.{name}.{self._made_how[0]}-"

    def holds(self, signature: tuple[Any, ...], codegen: Any) -> bool:
        """Whether the form for arguments of these types is on disk, undamaged."""
        is_kept = self._cache_file.holds(self._index_key(signature, codegen))
        if not is_kept:
            say_where()
        return is_kept

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep compiled code; if that fails, as on a full disk, say so once and go on without."""
        global _unwritable
        say_where()
        try:
            super().save_overload(signature, data)
            self._sweep()
        except OSError as problem:
            if not _unwritable:
                _unwritable = True
                print(
                    f"bidzoo: compiled kernels cannot be kept in {self.cache_path} ({problem.strerror or problem}), "
                    "so every process compiles them; set NUMBA_CACHE_DIR to a folder with space",
                    file=sys.stderr,
                )

    def _sweep(self) -> None:
        """Remove what other versions of the sources have left."""
        for path in Path(self.cache_path).glob(f"{self._stem}*"):
            with suppress(OSError):  # another process removes them, too, or on Windows has them open
                if self.digest[:_DIGITS] not in path.name and path.stat().st_mtime < time.time() - KEPT:
                    path.unlink()


def digest(function: Callable[..., Any], *how: Any) -> str:
    """Digest of all that ``function`` does, whatever it calls included, compiled with options ``how``."""
    numbers = {each: number for number, each in enumerate(reached(function))}
    content = sha256(repr((how, _machinery())).encode())
    for each in numbers:
        said, calls = _content(each)
        content.update(f"{said}{[numbers[callee] for callee in calls]}\n".encode())
    return content.hexdigest()


@cache
def reached(function: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """``function`` and every function that it calls, however far down, in the order of discovery."""
    functions = [function]
    for each in functions:  # which grows
        functions += [callee for callee in dict.fromkeys(_content(each)[1]) if callee not in functions]
    return tuple(functions)


@cache
def _machinery() -> tuple[str, ...]:
    """Versions, and digests of the files that say how a kernel is compiled."""
    tag = sys.implementation.cache_tag
    return numba.__version__, np.__version__, tag, *(_of_file(str(path)) for path in _MACHINERY)


@cache
def _of_file(path: str) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()


@cache
def _content(function: FunctionType) -> tuple[str, list[FunctionType]]:
    """What ``function`` says itself, and which functions it names."""
    code, calls = function.__code__, list[FunctionType]()
    said = [function.__module__, function.__qualname__, repr(function.__defaults__), _of_code(code, function.__doc__)]
    names = sorted(set(_names(code)))
    values = {name: function.__globals__[name] for name in names if name in function.__globals__}
    values |= {name: cell.cell_contents for name, cell in zip(code.co_freevars, function.__closure__ or ())}
    for name, value in [*values.items()]:
        if isinstance(value, ModuleType):
            values |= {f"{name}.{part}": getattr(value, part) for part in names if hasattr(value, part)}
    for name, value in values.items():
        said.append(f"{name} = {_of_value(value, calls)}")
    return "\n".join(said), calls


def _names(code: CodeType) -> Iterator[str]:
    """Names of globals and attributes in ``code`` and the functions within."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _of_code(code: CodeType, doc: str | None = None) -> str:
    """Bytecode and constants, without the words of ``doc`` and the numbers of lines."""
    constants = [_of_code(c) if isinstance(c, CodeType) else _of_value(c, []) for c in code.co_consts[bool(doc) :]]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    numbers = code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    return repr((code.co_code.hex(), code.co_exceptiontable.hex(), names, numbers, constants))


def _of_value(value: Any, calls: list[FunctionType]) -> str:
    """A global value as numba compiles it in; functions go into ``calls``."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ndarray):
        return f"{value.dtype!r} {value.shape} {sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list | set | frozenset):
        parts = [_of_value(part, calls) for part in value]
        return f"{type(value)} {sorted(parts) if isinstance(value, set | frozenset) else parts}"
    if isinstance(value, type):
        return f"{value} {getattr(value, '_fields', '')}"
    function = getattr(value, "__wrapped__", value)  # of a kernel, a dispatcher of numba's, an intrinsic
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    if isinstance(function, FunctionType) and package not in _COMPILED_BY_NAME:
        calls.append(function)
        if hasattr(value, "py_func"):  # the options of a kernel follow from its function
            return repr(getattr(value, "targetoptions", None))
        return _of_file(function.__code__.co_filename)  # an intrinsic writes LLVM code: it may use anything in its file
    return f"{type(value)} {re.sub('0x[0-9a-f]+', '', repr(value))}"

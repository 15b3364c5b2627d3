"""Names for games and agents: bidzoo's own, those registered, those that installed packages announce.

An entry holds a text, ``package.module:Name``; what it names is imported when it is asked for. The code of other
people may do anything: what it raises keeps its traceback from their first frame on, and an attempt to end the process
is an error like any other.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from re import fullmatch
from traceback import TracebackException, walk_tb
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from warnings import warn

from bidzoo.core.options import choose_from

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints
    from types import FrameType


@dataclass(frozen=True)
class Entry:
    """Where a game or an agent lives, and what it is."""

    target: str | Callable[..., Any]  # what makes it, or its path: "package.module:Name"
    summary: str = ""
    source: str = "bidzoo"


E = TypeVar("E", bound=Entry)


class Names(Generic[E]):
    """Entries by name. Of two that have one name the first counts: bidzoo's, the registered, the announced.

    Args:
        kind: ``"game"`` or ``"agent"``; packages announce them under the entry points ``bidzoo.games``, ``.agents``.
        own: bidzoo's.
        announced: makes the entry of a name, a path and a source.
        form: pattern of the names.
        advice: end of the warning about a name that a package cannot have; knows ``{path}``.
    """

    def __init__(
        self, kind: str, own: dict[str, E], announced: Callable[[str, str, str], E], form: str, advice: str
    ) -> None:
        self.kind, self.own, self._announced, self._form, self._advice = kind, own, announced, form, advice
        self.registered: dict[str, E] = {}
        self.announced: dict[str, E] = {}  # as last looked for

    def known(self) -> dict[str, E]:
        """All entries, bidzoo's first, without another look for packages."""
        return {**self.own, **self.announced, **self.registered}

    def look(self) -> dict[str, E]:
        """All entries. The metadata of installed packages are read, their code is not."""
        announced: dict[str, E] = {}
        for point in _entry_points(f"bidzoo.{self.kind}s", _folders()):
            source = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
            owner = self.own.get(point.name) or announced.get(point.name)
            if owner or not fullmatch(self._form, point.name):
                taken = f", which {owner.source} has" if owner else ""
                advice = self._advice.format(path=point.value)
                warn(f"{source} announces {self.kind} {point.name!r}{taken}: {advice}", stacklevel=3)
            else:
                announced[point.name] = self._announced(point.name, point.value, source)
        self.announced = announced
        return self.known()

    def register(self, name: str, entry: E) -> None:
        """Take ``entry`` in. ValueError: the name is taken; the same entry may come again, as from a notebook."""
        previous = self.own.get(name) or self.registered.get(name)
        if previous is not None and (name in self.own or place(previous.target) != place(entry.target)):
            raise ValueError(f"{self.kind} {name!r} is there already, from {previous.source}; choose another name")
        self.registered[name] = entry


@lru_cache(maxsize=8)
def _entry_points(group: str, folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """What installed packages announce; all their metadata, 20 ms, are read again if ``folders`` change."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _folders() -> tuple[tuple[str, int], ...]:
    """Where packages are looked for, and when each folder was changed last."""
    return tuple((folder, os.stat(folder or ".").st_mtime_ns) for folder in sys.path if os.path.isdir(folder or "."))


def place(target: str | Callable[..., Any]) -> str:
    """Where ``target`` stands, as a path."""
    name = getattr(target, "__qualname__", target)
    return target if isinstance(target, str) else f"{getattr(target, '__module__', '')}:{name}"


working_folder = ""  # of a command, where a module that its words name may lie


def _imported(name: str) -> Any:
    """The module ``name``, which is looked for in the working folder last.

    The folder is not among those of all modules until then: whatever lies there, perhaps by another person, would be
    imported for an optional package of a library, such as numba's ``coverage``, that is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != name.partition(".")[0] or working_folder in ("", *sys.path):
            raise
    sys.path.append(working_folder)  # for good: its modules import each other, and workers import them
    return import_module(name)


def load(target: str | Callable[..., Any], who: str) -> Any:
    """What ``target`` names; what is no text is returned as it is. ``who`` heads the errors.

    Raises:
        ValueError: no such module, nothing of that name in it (names the nearest), or its code fails.
        ImportError: the module needs one that is missing.
    """
    if not isinstance(target, str):
        _packages.add(str(getattr(target, "__module__", "")).partition(".")[0])
        return target
    name, _, path = target.partition(":")
    _packages.add(name.partition(".")[0])
    try:
        loaded: Any = _imported(name)
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{name}.".startswith(f"{problem.name}."):
            raise
        raise ValueError(f"{who}: no module {problem.name!r} in this folder or installed") from problem
    except (KeyboardInterrupt, ImportError):
        raise
    except BaseException as problem:
        if name.partition(".")[0] == OURS:
            raise
        raise ValueError(f"{who}: {name} cannot be loaded: {_in_words(problem)}") from problem
    for attribute in path.split("."):
        if not hasattr(loaded, attribute):
            names = [key for key, value in vars(loaded).items() if getattr(value, "__module__", "") == name]
            where = getattr(sys.modules[name], "__file__", None) or "Python itself"
            raise ValueError(f"{who}: nothing called {attribute!r} in {where}; {choose_from(attribute, names)}")
        loaded = getattr(loaded, attribute)
    return loaded


# ---- errors of other people's code -----------------------------------------------------------

OURS = "bidzoo"
_FOLDER, _STANDARD_LIBRARY = str(Path(__file__).parents[1]), sysconfig.get_path("stdlib")
_packages: set[str] = set()  # that were loaded from, ours among them


@contextmanager
def outside(doing: Callable[[], str], options: Mapping[str, Any] = {}) -> Iterator[None]:
    """Calls of other people's code: what comes out of it gets ``doing()`` as a note (``"agent 'x', board 3"``).

    Where it makes something with ``options``, a ValueError refuses these: it is no slip of the code, and ``refusal_of``
    has it in one line.

    Raises:
        RuntimeError: it tried to end the process.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Exception as problem:
        if (text := _traceback(problem)) is not None and not hasattr(problem, "outside"):
            problem.outside = (doing(), text)  # type: ignore[attr-defined]  # from a worker no traceback comes
            if options and type(problem) is ValueError:
                given = ", ".join(f"{name}={value}" for name, value in options.items())
                problem.refusal = f"{doing()} with {given}: {problem}"  # type: ignore[attr-defined]
            problem.add_note(problem.outside[0])  # type: ignore[attr-defined]
        raise
    except BaseException as problem:
        raise RuntimeError(f"{doing()}: {_in_words(problem)}") from problem


def refusal_of(problem: BaseException) -> str | None:
    """The line by which other people's code refuses the options that it was given; None if ``problem`` is no such."""
    refusal: str | None = getattr(problem, "refusal", None)
    return refusal


def traceback_of(problem: BaseException) -> str | None:
    """The traceback of what other people's code raised, from their first frame on, headed by what it was asked for.

    None if no frame is user code: ``problem`` is one of bidzoo or of a library.
    """
    each: BaseException | None = problem
    while each is not None:
        doing, text = getattr(each, "outside", ("" if each is problem else str(problem), _traceback(each)))
        if text is not None:
            return f"{doing}\n{text}" if doing else str(text)
        each = each.__cause__
    return None


def _traceback(problem: BaseException) -> str | None:
    frames = [frame for frame, _ in walk_tb(problem.__traceback__)]
    first = next((k for k, frame in enumerate(frames) if _is_theirs(frame)), None)
    if first is None:
        return None
    told = TracebackException.from_exception(problem)
    del told.stack[:first]
    return "".join(told.format()).rstrip()


def _is_theirs(frame: FrameType) -> bool:
    """Of a package that was loaded from by name; or of a file that is neither ours nor a library's."""
    package, file = str(frame.f_globals.get("__name__", "")).partition(".")[0], frame.f_code.co_filename
    if package == OURS or package in _packages:
        return package != OURS
    libraries = not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
    return not (libraries or file.startswith(("<", _FOLDER, _STANDARD_LIBRARY)))


def _in_words(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__

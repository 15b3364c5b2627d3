"""Names that somebody got wrong, and the names of the options that a callable takes."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def choose_from(name: Any, known: Iterable[str]) -> str:
    """What to say of a wrong ``name``: ``"did you mean 'bis'? choose from ..."``, the nearest only if one is near."""
    from difflib import get_close_matches

    names = [str(one) for one in known]
    near = get_close_matches(str(name).lower(), names, 1)
    return f"{f'did you mean {near[0]!r}? ' if near else ''}choose from {', '.join(names) or 'none'}"


def takes(kind: type) -> Callable[[F], F]:
    """Mark a callable whose ``**options`` are the fields of the dataclass ``kind``, for ``options_of``."""

    def mark(function: F) -> F:
        function.takes = kind  # type: ignore[attr-defined]
        return function

    return mark


def options_of(function: Callable[..., Any]) -> dict[str, Any] | None:
    """Names and defaults of what ``function`` takes by name (``Parameter.empty``: none); None if it takes any name."""
    named = signature(function).parameters.values()
    given = {one.name: one.default for one in named if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    if all(one.kind is not one.VAR_KEYWORD for one in named):
        return given
    kind = getattr(function, "takes", None)
    if kind is None:
        return None
    more = {f.name: Parameter.empty if f.default is MISSING else f.default for f in fields(kind)}
    return {name: default for name, default in given.items() if name not in more} | more


def check_names(what: str, function: Callable[..., Any], given: Iterable[str]) -> None:
    """TypeError for the first of ``given`` that is no option of ``function``; names the nearest and the choices."""
    known = options_of(function)
    for name in given:
        if known is not None and name not in known:
            raise TypeError(f"{what} has no option {name!r}; {choose_from(name, known)}")

"""Options: the names that a callable takes, and values within their ranges, which the types of a dataclass state.

@dataclass(frozen=True)
class Options(Checked):
    boards: Count = 4096
    share: Share = 0.05
    reward: Literal["datum", "score"] = "datum"
"""

import math
import re
import sys
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial, wraps
from inspect import Parameter, getdoc, getmro, getsource, isclass, signature, unwrap
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

F = TypeVar("F", bound=Callable[..., Any])

# ---- names ---------------------------------------------------------------------------------


def choose_from(name: Any, choices: Iterable[str]) -> str:
    """End of an error on a wrong ``name``: ``"did you mean 'bis'? choose from ..."``, the nearest if there is one."""
    names = [str(choice) for choice in choices]
    meant = near(name, names).removeprefix("; ")
    return f"{f'{meant} ' if meant else ''}choose from {', '.join(names) or 'none'}"


def index_of(name: str, value: Any, choices: Sequence[str]) -> int:
    """Index of ``value`` in ``choices``; ValueError names the nearest and the choices."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; {choose_from(value, choices)}")
    return choices.index(value)


def near(name: Any, choices: Sequence[str]) -> str:
    """``"; did you mean 'bis'?"``, empty if nothing is near."""
    from difflib import get_close_matches

    closest = get_close_matches(name.lower(), choices, 1) if isinstance(name, str) else ()
    return f"; did you mean {closest[0]!r}?" if closest else ""


def takes(kind: type) -> Callable[[F], F]:
    """Mark a callable whose ``**options`` are the fields of the dataclass ``kind``, for ``options_of``."""

    def mark(function: F) -> F:
        function.takes = kind  # type: ignore[attr-defined]
        return function

    return mark


def options_of(function: Callable[..., Any]) -> dict[str, Any] | None:
    """Names and defaults of what ``function`` takes by name (``Parameter.empty``: none); None if it takes any name."""
    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # some functions of C have none
        return None
    defaults = {p.name: p.default for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    if all(p.kind is not p.VAR_KEYWORD for p in parameters):
        return defaults
    kind = getattr(function, "takes", None)
    if kind is None:
        return None
    chosen = getattr(function, "options", None)  # of a class with defaults of its own
    defaults_of = chosen if isinstance(chosen, kind) else kind
    option_fields = {f.name: getattr(defaults_of, f.name, Parameter.empty) for f in fields(kind)}
    return {name: default for name, default in defaults.items() if name not in option_fields} | option_fields


def kinds_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Declared types of what ``function`` takes by name; none where they cannot be read."""
    body = unwrap(function.func if isinstance(function, partial) else function)
    try:
        kinds = get_type_hints(body.__init__ if isclass(body) else body, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names for type checkers alone; no function of Python
        kinds = {}
    taken = getattr(function, "takes", None)
    return kinds | (get_type_hints(taken, include_extras=True) if taken else {})


def words_of(function: Callable[..., Any]) -> dict[str, str]:
    """What each option of ``function`` means, where its source says so, and which values it takes."""
    body = unwrap(function.func if isinstance(function, partial) else function)
    taken = getattr(function, "takes", body)
    told: dict[str, str] = {}
    for base in reversed(getmro(taken)) if isclass(taken) else ():
        with suppress(OSError, TypeError):  # a class of C, or of a program without its source
            told |= dict(re.findall(r"(?m)^    (\w+): [^#\n]+#\s*(.+)$", getsource(base)))  # the comment behind a field
    for text in (getdoc(body), getdoc(body.__init__) if isclass(body) else None):
        arguments = (text or "").partition("Args:\n")[2].partition("\n\n")[0]
        told |= {name: words for _, name, words in re.findall(r"(?m)^( *)(\w+): (.+(?:\n\1 +.+)*)", arguments)}
    words = {}
    for name, kind in kinds_of(function).items():
        meaning = " ".join(told.get(name, "").replace("``", "").rstrip(".").split())
        values = expected(kind).replace("null", "None")
        words[name] = f"{meaning} ({values})" if meaning and values else meaning or values
    return words


class UnknownOptionError(TypeError):
    """An option that what is made does not have."""


def check_options(owner: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Names and values of ``options`` are such as ``function`` takes; ``owner`` heads the error on a name.

    Raises:
        UnknownOptionError: no option of that name; names the nearest and the choices.
        ValueError: a value that the option's declared type does not allow; says what was expected.
    """
    choices = options_of(function)
    for name in options:
        if choices is not None and name not in choices:
            raise UnknownOptionError(f"{owner} has no option {name!r}; {choose_from(name, choices)}")
    kinds = kinds_of(function)
    for name, value in options.items():
        check_value(name, kinds.get(name, Any), value)


def checked(function: F) -> F:
    """``function``, whose arguments must be of their declared types; ValueError names one that is not."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        kinds = kinds_of(function)
        for name, value in signature(function).bind(*arguments, **options).arguments.items():
            check_value(name, kinds.get(name, Any), value)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]


def literal(text: str) -> Any:
    """A number, a tuple, a truth or None of Python, else the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def is_plain(value: Any) -> bool:
    """Return whether ``value`` is a function of two required arguments, observation and mask: it may be a policy."""
    if isclass(value) or not callable(value) or hasattr(value, "act"):
        return False
    try:
        parameters = signature(value).parameters.values()
    except ValueError:  # some functions of C have none
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) == 2


# ---- values --------------------------------------------------------------------------------


class Range(NamedTuple):
    """Numbers from ``least`` to ``most``, both included."""

    least: float
    most: float = math.inf

    def __contains__(self, value: Any) -> bool:
        return bool(self.least <= value <= self.most)

    def __str__(self) -> str:
        return f"from {self.least}" + ("" if self.most == math.inf else f" to {self.most}")


class Length(NamedTuple):
    """Lengths of a list or a text from ``least`` to ``most``, both included."""

    least: int
    most: float = math.inf

    def __contains__(self, value: Any) -> bool:
        return bool(self.least <= len(value) <= self.most)

    def __str__(self) -> str:
        if self.least == self.most:
            return f"of length {self.least}"
        return f"of length {self.least} or more" + ("" if self.most == math.inf else f", up to {self.most}")


FINITE = Range(-sys.float_info.max, sys.float_info.max)


class NotFinite:
    """Kind of NaN and the infinities: the error of a single sample, the loss of a run that came to nothing."""


Count = Annotated[int, Range(1)]
Whole = Annotated[int, Range(0)]
Seed = Annotated[int, Range(0, 2**63 - 1)]
Share = Annotated[float, Range(0, 1)]
Weight = Annotated[float, Range(0)]  # and a rate: what cannot be negative


def is_whole(value: Any, least: float = -math.inf, most: float = math.inf) -> bool:
    """Return whether ``value`` is an integer from ``least`` to ``most``, Python's or NumPy's; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def whole(name: str, value: Any, least: int, most: int) -> int:
    """``value`` as an int; ValueError unless it is an integer from ``least`` to ``most``."""
    if not is_whole(value, least, most):
        raise ValueError(f"{name} {value!r}: expected an integer from {least} to {most}")
    return int(value)


def integers(name: str, value: ArrayLike, least: int, most: int) -> NDArray[np.int64]:
    """``value`` as int64; ValueError names what is no integer, or the first one not from ``least`` to ``most``."""
    values = np.asarray(value)
    if values.size and values.dtype.kind not in "biu":
        raise ValueError(f"{name} {value!r}: expected integers from {least} to {most}")
    if values.size and not least <= int(values.min()) <= int(values.max()) <= most:
        wrong = next(number for number in values.ravel().tolist() if not least <= number <= most)
        raise ValueError(f"{name} {wrong}: expected {least} ... {most}")
    return values.astype(np.int64)


def column(name: str, value: ArrayLike, rows: int, least: int, most: int) -> NDArray[np.int64]:
    """``integers`` of one number, or of one a row, as ``[rows]``; ValueError names any other shape, too."""
    values = integers(name, value, least, most)
    if values.shape not in ((), (rows,)):
        raise ValueError(f"{name} of shape {values.shape}: expected one number, or [{rows}]")
    return np.array(np.broadcast_to(values, rows), order="C")  # a copy: of one row the other could only be read


def truth(name: str, value: Any) -> bool:
    """``value`` as a bool; ValueError unless it is a truth value, Python's or NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} {value!r}: expected {NAMES[bool]}")
    return bool(value)


class Checked:
    """Base of a dataclass of options."""

    def __post_init__(self) -> None:
        """ValueError names the first option whose value its type does not allow, and what was expected."""
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            check_value(name, kind, getattr(self, name))


def check_value(name: str, kind: Any, value: Any) -> None:
    """ValueError unless ``value`` is of the type ``kind``; ``name`` heads it."""
    if fits(kind, value):
        return
    names = [choice for choice in _choices(kind) if isinstance(choice, str)]
    raise ValueError(f"{name} {value!r}: expected {expected(kind).replace('null', 'None')}{near(value, names)}")


def _choices(kind: Any) -> tuple[Any, ...]:
    """The values of a ``Literal``, or of those in a union."""
    if get_origin(kind) in (Union, UnionType):
        return tuple(choice for member in get_args(kind) for choice in _choices(member))
    return get_args(kind) if get_origin(kind) is Literal else ()


NAMES = {
    bool: "True or False",
    int: "an integer",
    float: "a number",
    str: "a text",
    NoneType: "null",
    NotFinite: "NaN",
    Path: "a path",
    Callable: "a function",
}


def expected(kind: Any) -> str:
    """The values of a type in words; empty where every value goes."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        entry, comma, each = expected(arguments[0]).partition(", each")
        return f"{entry} {arguments[1]}{comma}{each}"
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin in (Union, UnionType):
        return " or ".join(filter(None, map(expected, arguments)))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return f"a tuple of {', '.join(map(expected, arguments))}"
    if origin in (tuple, list):
        return f"a {origin.__name__}, each {expected(arguments[0])}"
    if origin is dict or isinstance(kind, dict):
        return "an object"
    if origin is not None or kind in NAMES:
        return NAMES.get(origin or kind) or expected(origin)
    return f"a {kind.__name__}" if isclass(kind) and kind is not Any else ""


def fits(kind: Any, value: Any) -> bool:
    """Return whether ``value`` is of the type ``kind`` and within its range."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return fits(arguments[0], value) and value in arguments[1]
    if origin is Literal:
        return any(type(value) is type(literal) and value == literal for literal in arguments)
    if origin in (Union, UnionType):
        return any(fits(member, value) for member in arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(arguments) and all(map(fits, arguments, value))
    if origin in (tuple, list):
        return isinstance(value, origin) and all(fits(arguments[0], item) for item in value)
    if kind is int:
        return is_whole(value)
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool) and value in FINITE
    if kind is NotFinite:
        return isinstance(value, float) and not math.isfinite(value)
    if kind is Any or isinstance(kind, TypeVar):
        return True
    try:
        return isinstance(value, origin or kind)
    except TypeError:  # a protocol that cannot be asked
        return True

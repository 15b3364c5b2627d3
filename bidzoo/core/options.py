"""Numbers within their ranges: a single one, and the options of an algorithm, whose types state their ranges.

@dataclass(frozen=True)
class Options(Checked):
    boards: Count = 4096
    share: Share = 0.05
    reward: Literal["datum", "score"] = "datum"
"""

import math
from numbers import Integral, Real
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints


class Range(NamedTuple):
    """Both ends count."""

    least: float
    most: float = math.inf

    def __str__(self) -> str:
        return f"from {self.least}" + ("" if self.most == math.inf else f" to {self.most}")


Count = Annotated[int, Range(1)]
Whole = Annotated[int, Range(0)]
Seed = Annotated[int, Range(0, 2**63 - 1)]
Share = Annotated[float, Range(0, 1)]
Weight = Annotated[float, Range(0)]  # and a rate: what cannot be negative


def is_whole(value: Any, least: float = -math.inf, most: float = math.inf) -> bool:
    """An integer from ``least`` to ``most``, Python's or NumPy's; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def whole(name: str, value: Any, least: int, most: int) -> int:
    """``value`` as an int; ValueError unless it is an integer from ``least`` to ``most``."""
    if not is_whole(value, least, most):
        raise ValueError(f"{name} {value!r}: expected an integer from {least} to {most}")
    return int(value)


class Checked:
    """Base of a dataclass of options."""

    def __post_init__(self) -> None:
        """ValueError names the first option whose value its type does not allow, and what was expected."""
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            if not _fits(kind, value):
                raise ValueError(f"{name} {value!r}: expected {expected(kind)}")


def expected(kind: Any) -> str:
    """The values of a type in words; empty where every value goes."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"{expected(arguments[0])} {arguments[1]}"
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is tuple:
        return f"a tuple, each {expected(arguments[0])}"
    return {bool: "True or False", int: "an integer", float: "a number", str: "a text"}.get(kind, "")


def _fits(kind: Any, value: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(arguments[0], value) and arguments[1].least <= value <= arguments[1].most
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(arguments[0], one) for one in value)
    if kind is int:
        return is_whole(value)
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    return kind is Any or isinstance(value, kind)

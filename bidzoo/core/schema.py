"""JSON from outside: read within limits, and made into the types that say what is expected.

A *kind* is a type of ``options.fits``, or of several values: ``list[kind]``, ``tuple[kind, ...]``, ``dict[str, kind]``,
unions, a ``TypedDict`` or a dict of fields (``NotRequired`` may be missing), a dataclass or a named tuple. Errors name
the place, what was found there and what is expected.
"""

import codecs
import csv
import json
import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from bidzoo.core.options import expected, fits

DEPTH = 64  # of lists and objects within each other
DIGITS = 20  # of an integer: 2**64 has so many
LONGEST_ERROR = 400  # characters

_MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_short = reprlib.Repr()
_short.maxstring, _short.maxother, _short.maxlist, _short.maxdict = 80, 80, 24, 8


def shown(value: Any) -> str:
    """``value`` in an error: not more than a line of it."""
    return _short.repr(value)


def visible(text: str) -> str:
    """``text`` with its control characters spelt out (``\\x1b``), so that a name cannot steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


_LETTERS = dict(zip("♠♥♦♣♤♡♢♧−─│×–·’", "SHDC" * 2 + "--|x--'")) | {"±": "+-", "…": "...", "→": "->"}


def _in_letters(problem: UnicodeError) -> tuple[str, int]:
    assert isinstance(problem, UnicodeEncodeError)
    return "".join(_LETTERS.get(c, "?") for c in problem.object[problem.start : problem.end]), problem.end


LETTERS = "bidzoo.letters"  # how streams of an encoding without suits take them: as letters
codecs.register_error(LETTERS, _in_letters)


def printable(text: str, stream: Any) -> str:
    """``text`` as the encoding of ``stream`` has it, with letters for suits and the like that it lacks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, LETTERS).decode(encoding)


def shortened(problem: object) -> str:
    """The text of an error, without the middle of a very long one."""
    text = str(problem)
    half = LONGEST_ERROR // 2
    return text if len(text) <= LONGEST_ERROR else f"{text[:half]} ... {text[-half:]}"


# ---- text ----------------------------------------------------------------------------------


def json_value(content: bytes | str, where: str | Path) -> Any:
    """The value that ``content`` writes in JSON.

    Raises:
        ValueError: it is not UTF-8 or not JSON, an object names a field twice, lists stand in each other more than
            ``DEPTH`` deep, or an integer has more than ``DIGITS`` digits; begins with ``where``.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        text.encode("utf-8")
        _check_depth(text)
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (UnicodeError, ValueError) as problem:
        raise ValueError(f"{where}: not JSON ({problem})") from problem
    return value


def answered_json(content: bytes, where: str | Path) -> Any:
    """The value of JSON that a server answered, within the limits of ``json_value``.

    Two things that would make an answer useless that is otherwise whole are let be: bytes and characters that are no
    text, such as one half of a pair that was cut in two, become U+FFFD in ``sound_text``, and an integer of too many
    digits is None.

    Raises:
        ValueError: as of ``json_value``; begins with ``where``.
    """
    try:
        text = content.decode("utf-8", "replace")
        _check_depth(text)
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= DIGITS else None)
    except ValueError as problem:
        raise ValueError(f"{where}: not JSON ({problem})") from problem


def sound_text(text: str) -> str:
    """``text`` with U+FFFD for each half of a pair that stands alone, so that it can be written as UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_text(value: Any, **options: Any) -> str:
    """``json.dumps`` of what ``json_value`` reads again: names of files may hold bytes that are no text (U+FFFD)."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value if (sound := sound_text(text)) == text else json.loads(sound), **options)


def json_lines(content: bytes, path: Path) -> Iterator[tuple[int, Any]]:
    """Number, from 1, and value of every line; ValueError as of ``json_value``, names the line."""
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n") if content else (), 1):
        yield number, json_value(line, f"{path}:{number}")


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file by the names in its first one; ValueError for what is no CSV or no UTF-8."""
    with path.open(newline="", encoding="utf-8") as file:
        try:
            return list(csv.DictReader(file))
        except csv.Error as problem:
            raise ValueError(f"{path}: not CSV ({problem})") from problem


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _check_depth(text: str) -> None:
    depth = 0
    for mark in _MARKS.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth > DEPTH:
                raise ValueError(f"lists and objects {depth} deep, expected at most {DEPTH}")
        elif mark[0] in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field {shown(duplicate)} twice in one object")
    return value


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS:
        raise ValueError(f"integer {text[:DIGITS]}... of {len(text.lstrip('-'))} digits, expected at most {DIGITS}")
    return int(text)


# ---- values --------------------------------------------------------------------------------


class _WrongError(Exception):
    """What is wrong with the value at ``path``."""

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(path, fault)
        self.path, self.fault = path, fault


def parse(kind: Any, value: Any, where: str | Path) -> Any:
    """``value`` of ``json_value`` as one of ``kind``; ValueError names the field, what it is and what is expected."""
    try:
        return _parse(kind, value, "")
    except _WrongError as error:
        place = f"{where}: {error.path}" if error.path else where
        raise ValueError(f"{place}: {shortened(error.fault)}") from error


def _mismatch(kind: Any, value: Any, path: str) -> _WrongError:
    return _WrongError(path, f"{shown(value)}, expected {expected(kind) or 'a value'}")


def _parse(kind: Any, value: Any, path: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated and get_origin(arguments[0]) is not None:
        result = _parse(arguments[0], value, path)
        if result not in arguments[1]:
            raise _mismatch(kind, value, path)
        return result
    if origin in (Union, UnionType) and any(map(_has_parts, arguments)):
        return _one_of(arguments, kind, value, path)
    if origin in (list, tuple):
        if not isinstance(value, list):
            raise _mismatch(kind, value, path)
        return origin(_parse(arguments[0], item, f"{path}[{index}]") for index, item in enumerate(value))
    if origin is dict:
        return {
            name: _parse(arguments[1], item, _field_path(path, name)) for name, item in _dict(value, kind, path).items()
        }
    if is_typeddict(kind):
        return _fields(get_type_hints(kind, include_extras=True), _dict(value, kind, path), path)
    if isinstance(kind, Mapping):
        return _fields(kind, _dict(value, kind, path), path)
    if _is_record(kind):
        return _record(kind, _dict(value, kind, path), path)
    if not fits(kind, value):
        raise _mismatch(kind, value, path)
    return value


def _has_parts(kind: Any) -> bool:
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_origin(plain) in (list, tuple, dict) or isinstance(plain, Mapping) or _is_record(plain)


def _one_of(kinds: tuple[Any, ...], kind: Any, value: Any, path: str) -> Any:
    """``value`` as the first of ``kinds`` that it fits; one with parts gets the error of the only kind with parts."""
    errors = []
    for choice in kinds:
        try:
            return _parse(choice, value, path)
        except _WrongError as error:
            errors.append((choice, error))
    part_errors = [error for choice, error in errors if _has_parts(choice)]
    if isinstance(value, dict | list) and len(part_errors) == 1 and part_errors[0].path != path:
        raise part_errors[0]
    raise _mismatch(kind, value, path)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields") or is_typeddict(kind))


def _dict(value: Any, kind: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mismatch(kind, value, path)
    return value


def _field_path(path: str, name: str) -> str:
    name = name if name.isidentifier() and len(name) <= _short.maxstring else shown(name)
    return f"{path}.{name}" if path else name


def _fields(kinds: Mapping[str, Any], value: dict[str, Any], path: str) -> dict[str, Any]:
    for name in sorted(value.keys() - kinds.keys()):
        raise _WrongError(_field_path(path, name), f"unknown field, expected {', '.join(kinds)}")
    for name, kind in kinds.items():
        if name not in value and get_origin(kind) is not NotRequired:
            raise _WrongError(_field_path(path, name), f"missing, expected {expected(kind) or 'a value'}")
    return {name: _parse(_plain(kinds[name]), item, _field_path(path, name)) for name, item in value.items()}


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is NotRequired else kind


def _record(kind: Any, value: dict[str, Any], path: str) -> Any:
    kinds = get_type_hints(kind, include_extras=True)
    optional = (
        {field.name for field in fields(kind) if field.default is not MISSING or field.default_factory is not MISSING}
        if is_dataclass(kind)
        else set(kind._field_defaults)
    )
    values = _fields(
        {name: NotRequired[kinds[name]] if name in optional else kinds[name] for name in kinds}, value, path
    )
    try:
        return kind(**values)
    except ValueError as problem:
        raise _WrongError(path, str(problem)) from problem

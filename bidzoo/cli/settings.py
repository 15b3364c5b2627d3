"""Options of one game or algorithm on a command line: ``--set NAME=VALUE``, and ``--set help``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from textwrap import wrap
from typing import Any

import typer

from bidzoo.cli.showing import say
from bidzoo.core.options import choose_from, literal, words_of


def parse(options: type, texts: list[str] | None, option: str = "--set", **fixed: Any) -> Any:
    """``options(...)`` with ``NAME=VALUE`` texts; ValueError names the option and the choices. ``help`` prints them."""
    defaults = {field.name: field.default for field in fields(options) if field.name not in fixed}
    chosen = settings(defaults, texts, lambda: words_of(options), option)
    try:
        return options(**fixed, **chosen)
    except ValueError as problem:
        raise ValueError(f"{option}: {problem}") from problem


def settings(
    defaults: Mapping[str, Any],
    texts: list[str] | None,
    words: Callable[[], Mapping[str, str]] = dict,
    option: str = "--set",
) -> dict[str, Any]:
    """As ``parse``: the values of ``NAME=VALUE`` texts, each of its default's type; help asks for ``words`` on them."""
    if "help" in (texts or []):
        show_options(defaults, words())
        raise typer.Exit
    chosen: dict[str, Any] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in defaults:
            raise ValueError(f"{option} {text}: no option {name!r}; {choose_from(name, defaults)}")
        try:
            chosen[name] = _value(value, defaults[name])
        except ValueError as problem:
            expectation = "True or False" if isinstance(defaults[name], bool) else f"a value like {defaults[name]!r}"
            raise ValueError(f"{option} {text}: expected {expectation}") from problem
    return chosen


def show_options(defaults: Mapping[str, Any], words: Mapping[str, str]) -> None:
    """Print ``NAME=DEFAULT`` and beside it, in lines of 78 columns, the ``words`` on it."""
    say("options and defaults:" if defaults else "no options")
    left = {name: f"{name}={default}" for name, default in defaults.items()}
    width = min(22, max(map(len, left.values()), default=0))
    for name, default in left.items():
        right = wrap(words.get(name, ""), 76 - width)
        first = [default] if len(default) > width or not right else [f"{default:{width}}  {right.pop(0)}"]
        say("\n".join([*first, *(f"{'':{width}}  {line}" for line in right)]))


def game_settings(env_id: str, texts: list[str] | None, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """``settings`` of the options of a game, less those ``left_out``."""
    from bidzoo import registry

    defaults = {name: default for name, default in registry.options(env_id).items() if name not in left_out}
    return settings(defaults, texts, lambda: registry.option_words(env_id))


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    if default is None:
        return literal(text)
    if not isinstance(default, str | int | float):
        value = literal(text)
        if not isinstance(value, list | tuple | type(default)):
            raise ValueError(text)
        return type(default)(value)
    return type(default)(text)

"""Options that several training commands have, and ``--set NAME=VALUE`` for those of one algorithm."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from bidzoo.agents.options import expected


def _device(name: str) -> str:
    import torch

    try:
        kind = torch.device(name).type
    except RuntimeError as problem:
        raise typer.BadParameter(f"{name!r} is no device of torch; expected cpu, cuda or cuda:0") from problem
    if kind == "cuda" and not torch.cuda.is_available():
        raise typer.BadParameter(f"{name!r}: torch finds no GPU here")
    return name


Data = Annotated[Path, typer.Argument(help="Recorded auctions: .npz, or OpenSpiel's text form of WBridge5's.")]
Out = Annotated[Path, typer.Option(help="Folder of checkpoint, curves and weights.")]
Start = Annotated[str, typer.Option(help="Weights to start from: a packaged name or a file.")]
Device = Annotated[str, typer.Option(callback=_device, help="Of torch: cpu, cuda.")]
Threads = Annotated[int, typer.Option(min=1, help="Of torch on the CPU; the same seed gives the same bytes with 1.")]
Every = Annotated[int, typer.Option(min=1, help="Steps between measurements and checkpoints.")]
Boards = Annotated[int, typer.Option(min=0, help="Validation boards of the match against --against; 0: none.")]
Against = Annotated[str, typer.Option(help="Whom the match is against: packaged name or file.")]
Deals = Annotated[
    list[Path] | None, typer.Option(help="Solved deals (.npz) beside the packaged ones; may be repeated.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An option of the algorithm; --set help lists them."),
]


def parse(options: type, given: list[str] | None, **fixed: Any) -> Any:
    """``options(...)`` with ``NAME=VALUE`` texts; ValueError names the option and the choices. ``help`` prints them."""
    kinds = get_type_hints(options, include_extras=True)
    known = {field.name: field.default for field in fields(options) if field.name not in fixed}
    return options(**fixed, **settings(known, given, {name: expected(kinds[name]) for name in known}))


def settings(known: Mapping[str, Any], given: list[str] | None, words: Mapping[str, str] = {}) -> dict[str, Any]:
    """The values of ``NAME=VALUE`` texts, each of its default's kind; as ``parse``, ``words`` being what help adds."""
    if "help" in (given or []):
        typer.echo("\n".join(f"{name}={default}  {words.get(name, '')}".rstrip() for name, default in known.items()))
        raise typer.Exit
    chosen: dict[str, Any] = {}
    for text in given or []:
        name, _, value = text.partition("=")
        if name not in known:
            raise ValueError(f"--set {text}: no option {name!r}; choose from {', '.join(known)}")
        try:
            chosen[name] = _value(value, known[name])
        except ValueError as problem:
            raise ValueError(f"--set {text}: expected a value like {known[name]!r}") from problem
    return chosen


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    if default is None:
        return int(text) if text.removeprefix("-").isdecimal() else text
    return type(default)(text)

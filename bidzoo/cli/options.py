"""What commands share: bars and tables, options, ``--set NAME=VALUE`` for one game or algorithm, and Ctrl-C."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bidzoo.core import jobs
from bidzoo.core.options import choose_from, expected
from bidzoo.core.storage import check_writable

if TYPE_CHECKING:
    from bidzoo.benchmarks.results import Measured, Report


# ---- what commands show: bars while they work, then tables, which also go into a result file --------


@contextmanager
def progress() -> "Iterator[Report]":
    """``report(what, done, total)``, shown on standard error as one bar for each ``what`` with the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_interactive:  # nothing would be seen but an empty line at the end
        yield lambda what, done, total: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars: dict[str, Any] = {}
    shown = Progress(*columns, console=console, transient=True)

    def report(what: str, done: int, total: int) -> None:
        if what not in bars:
            shown.start()
            bars[what] = shown.add_task(what, total=total)
        shown.update(bars[what], completed=done)

    try:
        yield report
    finally:
        if bars:
            shown.stop()


def measured(suite: str, seed: int, json: Path | None, work: "Callable[[Report], Measured]") -> "Measured":
    """``work(report)``: its tables are shown and go with its figures into ``json`` (default ``runs/<suite>.json``)."""
    from bidzoo.benchmarks import results

    path = json or Path("runs", f"{suite}.json")
    check_writable(path)
    began = time.perf_counter()
    with progress() as report:
        tables, figures = work(report)
    seconds = time.perf_counter() - began
    results.show(tables)
    results.save(path, suite, tables, seed=seed, seconds=seconds, figures=figures)
    typer.echo(f"{suite}: {seconds:.0f} s, written to {path}")
    return tables, figures


# ---- options --------------------------------------------------------------------------------


def writable(path: Path | None) -> Path | None:
    """An option's file can be written: a command that writes it in the end finds out before it begins."""
    if path is not None:
        check_writable(path)
    return path


def new_file(path: Path | None) -> Path | None:
    """As ``writable``, and the file is not there yet: what takes long to make is not overwritten."""
    writable(path)
    if path is not None and path.exists():
        raise ValueError(f"{path}: exists, expected a new file; choose another name, or remove it")
    return path


def npz(path: Path) -> Path:
    """As ``writable``, and the file is an ``.npz``: nothing reads it by another name."""
    if path.suffix != ".npz":
        raise typer.BadParameter(f"{path}: ending {path.suffix!r}, expected .npz")
    check_writable(path)
    return path


def new_npz(path: Path) -> Path:
    """Both ``npz`` and ``new_file``."""
    new_file(npz(path))
    return path


def writable_folder(path: Path | None) -> Path | None:
    """As ``writable``, for a folder."""
    if path is not None:
        check_writable(path, folder=True)
    return path


def not_empty(text: str | None) -> str | None:
    """No name in an option's text is empty: an empty one is a slip, such as a shell variable that is not set."""
    if text is not None and not all(name.strip() for name in text.split(",")):
        raise typer.BadParameter(f"{text!r} has an empty name; without the option the default counts")
    return text


def counted(number: int, what: str) -> str:
    """``"1 board"``, ``"1,000 boards"``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def agent_names(incomplete: str) -> list[str]:
    """What the shell offers for an agent: also after the last comma of several."""
    from bidzoo import agents

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in agents.available() if name.startswith(last)]


def game_names(incomplete: str) -> list[str]:
    """What the shell offers for an environment."""
    from bidzoo import registry

    return [name for name in registry.available() if name.startswith(incomplete)]


def _device(name: str) -> str:
    import torch

    try:
        kind = torch.device(name).type
    except RuntimeError as problem:
        raise typer.BadParameter(f"{name!r} is no device of torch; expected cpu, cuda or cuda:0") from problem
    if kind == "cuda" and not torch.cuda.is_available():
        raise typer.BadParameter(f"{name!r}: torch finds no GPU here")
    from bidzoo.agents.bridge.distributed import device_of

    return device_of(name)


Seed = Annotated[int, typer.Option(min=0, help="Seed of deals and policies.")]
Workers = Annotated[int, typer.Option(min=1, help="Number of processes; it changes no result.")]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")]
Json = Annotated[Path | None, typer.Option("--json", help="Result file; default: runs/, named after the suite.")]
Device = Annotated[str, typer.Option(callback=_device, help="Device of torch: cpu, cuda.")]
Threads = Annotated[
    int, typer.Option(min=1, help="Threads of torch on the CPU; with 1 the same seed gives the same bytes.")
]


# ---- --set NAME=VALUE -----------------------------------------------------------------------


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
            raise ValueError(f"--set {text}: no option {name!r}; {choose_from(name, known)}")
        try:
            chosen[name] = _value(value, known[name])
        except ValueError as problem:
            wanted = "True or False" if isinstance(known[name], bool) else f"a value like {known[name]!r}"
            raise ValueError(f"--set {text}: expected {wanted}") from problem
    return chosen


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    if default is None:
        return int(text) if text.removeprefix("-").isdecimal() else text
    return type(default)(text)


# ---- Ctrl-C ---------------------------------------------------------------------------------
# It ends a command within two seconds, with its workers, whatever it is doing, and says how to go on. Python hears it
# only between two steps of its own, which a long kernel keeps waiting. A thread hears it at once and ends the process
# when its time is up. Nothing is lost by that: files appear whole or not at all.

GRACE = 1.5  # seconds in which the command may end by itself
STATUS = 130  # of a process that Ctrl-C ended, as shells have it

_going_on = ""


@contextmanager
def going_on(kept: Path | str) -> Iterator[None]:
    """In here a stopped command goes on from ``kept`` when it is given again."""
    global _going_on
    _going_on = f"the same command goes on from {kept}"
    try:
        yield
    finally:
        if not isinstance(sys.exception(), KeyboardInterrupt):
            _going_on = ""


def watch() -> None:
    """From now on Ctrl-C ends this process, if need be from outside of its main thread."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard,), name="Ctrl-C", daemon=True).start()


def _listen(heard: int) -> None:
    while signal.SIGINT not in os.read(heard, 1):
        pass
    threading.Event().wait(GRACE)
    try:
        end_workers()
    finally:
        os._exit(STATUS)


@cache
def end_workers() -> None:
    """End the workers now; one line, once, says what is kept."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a bar hides the cursor
    sys.stderr.write(f"\nbidzoo: stopped; {_going_on or 'nothing is kept'}\n")
    sys.stderr.flush()
    jobs.kill_workers()

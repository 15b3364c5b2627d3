"""What commands show: words, bars while they work, then tables, and the files of runs/ that these go into."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bidzoo.core.jobs import meanwhile
from bidzoo.core.schema import visible
from bidzoo.core.storage import check_writable, named

if TYPE_CHECKING:
    from bidzoo.benchmarks.results import Measured, Report
    from bidzoo.envs.bridge.board import Fault

SILENCE = 8.0  # seconds after which a command that works says what it is at, where no bar is seen
WORKING = "working"


class _Output:
    """What this process has printed, and what it is at."""

    last = 0.0  # time of the last line, by ``time.monotonic``
    doing = WORKING
    bars = watched = False
    console: Any = None  # of the bars, while they are drawn


def say(text: object, err: bool = False) -> None:
    """Print ``text``, which may hold names out of files, on standard output, or on standard error."""
    _Output.last = time.monotonic()
    if err and _Output.console is not None:  # bars are being drawn: a line of its own, above them
        _Output.console.print(visible(str(text)), markup=False, highlight=False, emoji=False)
    else:
        with named(f"standard {'error' if err else 'output'}"):
            print(visible(str(text)), file=sys.stderr if err else sys.stdout, flush=True)


@contextmanager
def never_silent() -> "Iterator[None]":
    """Within this context standard error says every ``SILENCE`` seconds what goes on, unless something else does."""
    if _Output.watched:
        yield
        return

    def speak(seconds: float) -> None:
        if not _Output.bars and time.monotonic() - _Output.last >= SILENCE:
            say(f"{_Output.doing}, {seconds:.0f} s", err=True)

    _Output.watched, _Output.last = True, time.monotonic()
    try:
        with meanwhile(speak, SILENCE / 8, SILENCE / 8):
            yield
    finally:
        _Output.watched = False


@contextmanager
def doing(what: str) -> "Iterator[None]":
    """Within this context ``what`` is what ``never_silent`` says."""
    outer, _Output.doing = _Output.doing, what
    try:
        yield
    finally:
        _Output.doing = outer


def solving(what: str = "") -> AbstractContextManager[None]:
    """``doing`` for the double-dummy solver, which says nothing of a single deal."""
    return doing(f"solving{what} (most deals take 0.2 s, a symmetric one minutes)")


@contextmanager
def progress() -> "Iterator[Report]":
    """``report(label, done, total)``: how far a command is, on standard error.

    On a terminal one bar for each ``label``, with the time since the start and the time left; elsewhere, and before
    the first report, what ``never_silent`` says.
    """
    known = _Output.doing

    def line(label: str, done: int, total: int) -> None:
        _Output.doing = f"{label if known == WORKING else known}: {done:,} of {total:,}"

    seen = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    with doing(known), never_silent(), _bars() if seen else nullcontext(line) as report:
        yield report


@contextmanager
def _bars() -> "Iterator[Report]":
    from rich import progress as rich
    from rich.console import Console

    bars: dict[str, Any] = {}
    text = rich.TextColumn("{task.description}", markup=False)
    columns = (rich.BarColumn, rich.MofNCompleteColumn, rich.TimeElapsedColumn, rich.TimeRemainingColumn)
    display = rich.Progress(text, *(column() for column in columns), console=Console(stderr=True), transient=True)

    def report(label: str, done: int, total: int) -> None:
        if label not in bars:
            _Output.bars, _Output.console = True, display.console
            display.start()
            bars[label] = display.add_task(label, total=total)
        display.update(bars[label], completed=done, total=total)

    try:
        yield report
    finally:
        if bars:
            display.stop()
        _Output.bars, _Output.console = False, None


def measured(
    suite: str, seed: int, json: Path | None, *works: "Callable[[Report], Measured]", every: bool = True
) -> "Measured":
    """What ``works`` return for ``report``: each one's tables are shown when they are ready, as ``printing.show`` does.

    All go with their figures into ``json``; without one, into a file in runs/ that other options do not write over.
    """
    from bidzoo.benchmarks import printing, results

    path = json or in_runs(suite, sys.argv[1:], ending=".json")
    check_writable(path)
    began, tables, figures = time.perf_counter(), list[results.ResultTable](), list[results.Figure]()
    for work in works:
        with progress() as report:
            result = work(report)
        printing.show(result[0], every)
        tables += result[0]
        figures += result[1]
    seconds = time.perf_counter() - began
    results.save(path, suite, tables, seed=seed, seconds=seconds, figures=figures)
    say(f"{suite}: {seconds:.0f} s, written to {path}")
    return tables, figures


LEFT_OUT = 3  # status of a command that did its work without what it left out of a file


def finish(source: object, boards: int, faults: "list[Fault]") -> None:
    """Name what was left out of a file of boards and end the command with a status that says so, if anything was."""
    from bidzoo.envs.bridge.board import summary

    if faults:
        say(summary(str(source), boards, faults), err=True)
        raise typer.Exit(LEFT_OUT)


def counted(number: int, noun: str) -> str:
    """``"1 board"``, ``"1,000 boards"``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def in_runs(suite: str, *asked: object, ending: str = "") -> Path:
    """The file or folder in runs/ of the command that was asked for this alone."""
    return Path("runs", f"{suite}-{sha256(repr(asked).encode()).hexdigest()[:12]}{ending}")


def plain_name(text: str) -> str:
    """``text`` without what no file's name should hold, as the beginning of one."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")[:60]

"""What commands show: bars while they work, then tables, which also go into a result file."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from bidzoo.benchmarks.results import Figure, Table


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """``report(what, done, total)``, shown on standard error as one bar for each ``what`` with the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars: dict[str, Any] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:

        def report(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = shown.add_task(what, total=total)
            shown.update(bars[what], completed=done)

        yield report


def finish(
    suite: str, tables: "Sequence[Table]", figures: "Sequence[Figure]", seconds: float, seed: int, json: Path | None
) -> None:
    """Show ``tables`` and write the result file ``json``; default: ``runs/<suite>.json``."""
    from bidzoo.benchmarks import results

    results.show(tables)
    path = json or Path("runs", f"{suite}.json")
    results.save(path, suite, tables, seed=seed, seconds=seconds, figures=figures)
    typer.echo(f"{suite}: {seconds:.0f} s, written to {path}")

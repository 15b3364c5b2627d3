"""``bidzoo report``: one HTML page of all results."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    files: Annotated[list[Path] | None, typer.Argument(help="Result files; default: all in runs/.")] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("runs/report.html"),
) -> None:
    """Turn result files into one self-contained HTML page."""
    from bidzoo.benchmarks import report

    count = report.main(files or sorted(Path("runs").glob("*.json")), out)
    typer.echo(f"{count} result files in {out}")

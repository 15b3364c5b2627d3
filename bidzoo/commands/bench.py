"""``bidzoo bench``: measure agents and environments."""

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(invoke_without_command=True, help="Measure agents and environments.")

Json = Annotated[Path | None, typer.Option("--json", help="Where the result file goes.")]
Seed = Annotated[int, typer.Option(help="Of deals and policies.")]


def _finish(suite: str, result: tuple[Any, float], seed: int, json: Path | None) -> None:
    from bidzoo.benchmarks import results

    tables, seconds = result
    results.show(tables)
    path = json or Path("runs") / f"{suite}.json"
    results.save(path, suite, tables, seed=seed, seconds=seconds)
    typer.echo(f"{suite}: {seconds:.0f} s, written to {path}")


@app.callback()
def main_job(
    context: typer.Context,
    pbn: Annotated[Path | None, typer.Option(help="Boards to play; default: the packaged sample.")] = None,
    boards: Annotated[int, typer.Option(help="Boards of the test split in the duplicate match.")] = 2000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Without a subcommand: the reference policies on real deals, the small games, the throughput."""
    if context.invoked_subcommand is not None:
        return
    from bidzoo.benchmarks import tour

    _finish("bench", tour.main(pbn, boards, seed), seed, json)


@app.command()
def throughput(
    seconds: Annotated[float, typer.Option(help="Length of a slice.")] = 0.4,
    rounds: Annotated[int, typer.Option(help="Slices of each contestant; the median counts.")] = 5,
    game: Annotated[list[str] | None, typer.Option(help="Only this environment; may be repeated.")] = None,
    peers: Annotated[bool, typer.Option(help="Also OpenSpiel, Pgx, RLCard, PettingZoo where installed.")] = True,
    json: Json = None,
) -> None:
    """Decisions a second of every environment, beside other suites, all in one run."""
    from bidzoo.benchmarks import throughput

    _finish("throughput", throughput.main(seconds, rounds, game, peers), 1, json)

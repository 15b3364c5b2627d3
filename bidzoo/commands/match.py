"""``bidzoo match``: a duplicate match between two agents, and its records; ``bidzoo replay``: any such file again."""

from pathlib import Path
from typing import Annotated

import typer

from bidzoo.commands.output import progress


def match(
    ours: Annotated[str, typer.Argument(metavar="A", help="An agent's name, or NAME=FILE for own weights.")],
    theirs: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    boards: Annotated[int | None, typer.Option(min=1, help="Default: every deal once.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the deals and of the agents' random numbers.")] = 0,
    deals: Annotated[
        str, typer.Option("--deals", "--pbn", help="train, validation, test, or a .pbn, .lin or .npz file with tables.")
    ] = "test",
    out: Annotated[
        Path | None, typer.Option(help="Records: .jsonl or .parquet; for bridge software .pbn or .lin.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they change no result.")] = 1,
) -> None:
    """Play a duplicate match: every board at two tables with the sides exchanged, scored double dummy, in IMPs.

    The boards of a file are played in their order as they stand. The deals of a packaged set come in order, with suits
    renamed and seats turned as (seed, board) says.
    """
    import numpy as np

    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.bridge import contestant
    from bidzoo.benchmarks.match import duplicate
    from bidzoo.benchmarks.results import Estimate
    from bidzoo.envs.bridge.deals import SPLITS
    from bidzoo.envs.bridge.game import Bridge

    if out is not None:
        records.check_ending(out)
    first, second = contestant(ours), contestant(theirs)
    game = Bridge(play=False, deals=deals, shuffle=False, augment=deals in SPLITS)
    different = len(game.deals.hands)
    numbers = np.arange(boards or different)
    with progress() as report:
        tables = 2 * len(numbers)
        played = duplicate(
            game, first, second, numbers, seed, seed, workers, report=lambda done: report("tables", done, tables)
        )
    mean = Estimate.of(played.imps, group=numbers % different)
    typer.echo(
        f"{first.name} against {second.name}: {played.imps.sum():+,} IMPs on {len(numbers):,} boards of"
        f" {min(different, len(numbers)):,} deals, {mean} a board"
    )
    if out is not None:
        records.write(out, records.of_match(game, played, first.name, second.name, seed, seed))
        typer.echo(f"{2 * len(numbers):,} records written to {out}")


def replay(
    file: Annotated[Path, typer.Argument(help="A .jsonl or .parquet file of records, or any .pbn or .lin file.")],
) -> None:
    """Make every call and play every card of a file again under the laws, and find scores and IMPs anew."""
    from bidzoo.benchmarks import replay as again
    from bidzoo.benchmarks import results

    results.show([again.total(again.results(file))])

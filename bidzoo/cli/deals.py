"""``bidzoo deals``: make, import and look at files of deals with double-dummy tables."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bidzoo.cli.options import Workers, counted, going_on, new_file, new_npz, npz, progress, say

app = typer.Typer(no_args_is_help=True, help="Deals with double-dummy tables: generate, import, look at.")


PROVENANCE_LABELS = {"solved": "solved on import"}  # a file may bring double-dummy tables with it, solved or not

Count = Annotated[int, typer.Argument(min=1, metavar="N", help="Number of deals.")]
Out = Annotated[Path, typer.Option("--out", callback=npz, help="Deal file to write (.npz).")]
New = Annotated[Path, typer.Option("--out", callback=new_npz, help="Deal file to write (.npz).")]
Seed = Annotated[int, typer.Option(min=0, help="Deal i is a function of (seed, i).")]


@app.command()
def generate(count: Count, out: Out, seed: Seed = 0, workers: Workers = 1) -> None:
    """Deal N random hands and solve them; stopped at any moment, the same command goes on where it was."""
    from bidzoo.envs.bridge.double_dummy import generate as solve

    with going_on(f"{out}.journal"), progress() as report:
        solve(count, seed, out, workers, lambda done: report("solving", done, count))
    _show(out)


@app.command()
def estimate(
    count: Count,
    out: New,
    seed: Seed = 0,
    weights: Annotated[
        Path | None, typer.Option(help="Weights of the double-dummy network; default: the packaged ones.")
    ] = None,
) -> None:
    """Deal N random hands and sample their tricks from the double-dummy network: to train on, not to measure by."""
    from bidzoo.agents.bridge.evaluator import Evaluator, estimated_deals

    provenance = {"deals": "random_deals(seed, index)", "seed": seed, "count": count, "tables": "drawn, not solved"}
    estimated_deals(Evaluator(weights), seed, count).save(out, provenance)
    _show(out)


def _npz_or_pbn(path: Path) -> Path:
    if path.suffix == ".npz":
        return npz(path)
    if path.suffix != ".pbn":
        raise typer.BadParameter(f"{path}: ending {path.suffix!r}, expected .npz or .pbn")
    new_file(path)
    return path


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .pbn or .lin file, or deals (.npz) to solve.")],
    out: Annotated[
        Path,
        typer.Option(callback=_npz_or_pbn, help="Deal file (.npz) to write; .pbn keeps dealers and vulnerabilities."),
    ],
    solve: Annotated[bool, typer.Option("--solve", help="Solve what the file does not know.")] = False,
    workers: Workers = 1,
) -> None:
    """Take the deals, and the double-dummy tables if tagged, from a PBN or LIN file."""
    from dataclasses import replace

    from bidzoo.envs.bridge.deals import DealSet, deals_of, read_boards, read_deals
    from bidzoo.envs.bridge.double_dummy import solve_tricks
    from bidzoo.envs.bridge.formats import pbn

    boards = [] if file.suffix == ".npz" else read_boards(file)
    if not boards and out.suffix == ".pbn":
        raise ValueError(f"{out}: {file} says no dealers to keep, expected an ending .npz")
    deals = deals_of(boards, str(file)) if boards else DealSet.load(file)
    if out.exists() and read_deals(out)[2].get("solved", True):  # an import that solved nothing is soon repeated
        new_file(out)
    if solve:
        missing = (deals.tricks < 0).any(1)
        tricks = deals.tricks.copy()
        tricks[missing] = solve_tricks(deals.hands[missing], workers)
        deals = DealSet.of(deals.hands, tricks, str(file))
    if out.suffix == ".pbn":
        tricks_of = {tuple(hands): tuple(tricks) for hands, tricks in zip(deals.hands.tolist(), deals.tricks.tolist())}
        pbn.write(out, [replace(board, tricks=tricks_of[board.hands or ()]) for board in boards if board.complete])
    else:
        deals.save(out, {"deals": f"imported from {file.name}", "solved": solve})
    _show(out)
    unsolved = [place for place, tricks in enumerate(deals.tricks) if (tricks < 0).any()]
    if unsolved:
        numbers = {board.hands: board.number or place for place, board in reversed(list(enumerate(boards, 1)))}
        first = numbers.get(tuple(deals.hands[unsolved[0]].tolist()), unsolved[0])
        say(
            f"{counted(len(unsolved), 'deal')} without a complete double-dummy table, the first is "
            f"{'board' if boards else 'deal'} {first}; environments and matches that score double dummy need them: "
            "import again with --solve",
            err=True,
        )


@app.command()
def info(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|train|validation|test|packaged",
            help="A .npz, .pbn or .lin file, a packaged set, or all packaged sets.",
        ),
    ],
) -> None:
    """Say what deals a file holds: counts, provenance, checksum, mean points and tricks."""
    from bidzoo.envs.bridge.deals import DATA, SPLITS

    splits = SPLITS if file == "packaged" else [split for split in SPLITS if split == file]
    for path in [DATA / f"deals-{split}.npz" for split in splits] or [Path(file)]:
        _show(path)


def _show(path: Path) -> None:
    import numpy as np

    from bidzoo.core.cards import SEATS, STRAINS
    from bidzoo.envs.bridge.deals import READERS, DealSet, deals_of, read_boards, read_deals, summary

    provenance: dict[str, Any] = {}
    if path.suffix.lower() in READERS:
        deals = deals_of(read_boards(path), str(path))
    else:
        hands, tricks, provenance = read_deals(path)
        deals = DealSet.of(hands, tricks, str(path))
    numbers = summary(deals)
    lines = {
        "deals": f"{numbers.deals} ({numbers.different} different, {numbers.solved} solved)",
        **{f"provenance: {PROVENANCE_LABELS.get(name, name)}": value for name, value in provenance.items()},
        "SHA-256 of the deals": deals.checksum(),
        "mean points": "  ".join(f"{seat} {x:.2f}" for seat, x in zip(SEATS, numbers.points)),
    }
    if not np.isnan(numbers.tricks).any():
        lines["mean tricks"] = "  ".join(f"{strain} {x:.2f}" for strain, x in zip(STRAINS, numbers.tricks))
    say(path)
    for name, value in lines.items():
        say(f"  {name + ':':22} {value}")

"""``bidzoo deals``: make, import and look at files of deals with double-dummy tables."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import typer

from bidzoo.cli.options import MOST_BOARDS, Strict, Workers, check_new, output
from bidzoo.cli.showing import LEFT_OUT, counted, finish, progress, say, solving
from bidzoo.cli.stopping import going_on, kept_until_the_end
from bidzoo.core.schema import json_text
from bidzoo.core.storage import replace_file

if TYPE_CHECKING:
    from bidzoo.core.kernels import I8, I64
    from bidzoo.envs.bridge.board import Board, Fault
    from bidzoo.envs.bridge.deals import DealSet

app = typer.Typer(no_args_is_help=True, help="Deals with double-dummy tables: generate, import, inspect.")


PROVENANCE_LABELS = {"solved": "solved on import"}  # a file may bring double-dummy tables with it, solved or not

Count = Annotated[int, typer.Argument(min=1, max=MOST_BOARDS, metavar="N", help="Number of deals.")]
Out = Annotated[Path, output("Deal file to write (.npz).", ".npz")]
New = Annotated[Path, output("Deal file to write (.npz).", ".npz", new=True)]
LeftOut = Annotated[Path | None, output("Write what was left out to this file.", ".json")]
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
    """Deal N random hands and sample their tricks from the double-dummy network: to train on, not to measure by.

    Stopped at any moment, the same command goes on where it was.
    """
    from bidzoo.agents.bridge.evaluator import Evaluator, estimated_deals
    from bidzoo.envs.bridge.deals import ESTIMATED

    provenance = {"deals": "random_deals(seed, index)", "seed": seed, "count": count, **ESTIMATED}
    with kept_until_the_end(Path(f"{out}.journal")) as journal:
        with progress() as report:
            deals = estimated_deals(Evaluator(weights), seed, count, lambda done: report("deals", done, count), journal)
        deals.save(out, provenance)
    _show(out)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .pbn or .lin file, or deals (.npz) to solve.")],
    out: Annotated[Path, output("Deal file (.npz) to write; .pbn keeps the boards as they are.", ".npz", ".pbn")],
    solve: Annotated[bool, typer.Option("--solve", help="Solve deals that have no table in the file.")] = False,
    check: Annotated[int, typer.Option(min=0, help="Double-dummy tables of the file to check by solving them.")] = 10,
    wrong_tables: Annotated[
        Literal["solve", "refuse"],
        typer.Option(help="If the solver contradicts a table: solve all tables of the file again, or refuse the file."),
    ] = "solve",
    strict: Strict = False,
    json: LeftOut = None,
    workers: Workers = 1,
) -> None:
    """Take the boards of a PBN or LIN file, and its double-dummy tables if the solver does not contradict them.

    What is wrong in the file is left out and named; the status is then 3.
    """
    from bidzoo.envs.bridge.board import summary
    from bidzoo.envs.bridge.deals import listed

    of_deals = file.suffix.lower() == ".npz"
    if of_deals and out.suffix == ".pbn":
        raise ValueError(f"{out}: {file} says no dealers to keep, expected an ending .npz")
    faults: list[Fault] = []
    source = _deals_of_file(file) if of_deals else _boards_of_file(file, strict, faults)
    left_out = source.hidden if out.suffix == ".npz" else []  # a .pbn keeps all boards
    if left_out and not len(source.deals.hands):
        raise ValueError(f"{file}: hands are missing: {listed(left_out)}; expected all four of at least one board")
    _check_out(out)
    tables = _checked(source, check, wrong_tables, workers) if source.boards else _Tables(0)
    deals = _completed(source, solve, bool(tables.reason), workers)
    if json is not None:
        _report(json, file, len(source.boards), faults, {"hands_missing": source.hidden, "tables": tables._asdict()})
    if out.suffix == ".pbn":
        _save_boards(out, source.boards, deals, believed=not tables.reason)
    else:
        deals.save(out, {"deals": f"imported from {file.name}", "solved": solve})
    _show(out)
    _say_what_is_unsolved(deals, source)
    if left_out:
        say(f"{file}: {counted(len(left_out), 'board')} left out, hands are missing: {listed(left_out)}", err=True)
    if source.boards and not faults:
        say(summary(str(file), len(source.boards), []), err=True)
    finish(file, len(source.boards), faults)
    if left_out:
        raise typer.Exit(LEFT_OUT)


class _Source(NamedTuple):
    """What is imported."""

    file: Path
    kind: str  # what the numbers count: "deal" or "board"
    boards: "list[Board]"  # none of a file of deals
    deals: "DealSet"  # the different ones whose four hands are known, with the tables of the file
    numbers: Sequence[int]  # of the deals
    hidden: list[int]  # numbers of the boards of which hands are missing
    contradictions: list[str]  # two tables of one deal


def _deals_of_file(file: Path) -> _Source:
    from bidzoo.envs.bridge.deals import DealSet

    deals = DealSet.load(file)
    return _Source(file, "deal", [], deals, range(len(deals.hands)), [], [])


def _boards_of_file(file: Path, strict: bool, faults: "list[Fault]") -> _Source:
    """The boards of a .pbn or .lin file; ``faults`` takes what is wrong in it.

    Raises:
        ValueError: there are none.
    """
    from bidzoo.envs.bridge.board import summary
    from bidzoo.envs.bridge.deals import DealSet, deals_of, read_boards

    boards = read_boards(file, strict, faults)
    if not boards:
        raise ValueError(summary(str(file), 0, faults) if faults else f"{file}: no boards, expected at least one")
    whole = [(board.number or place, board) for place, board in enumerate(boards, 1) if board.complete]
    hidden = [board.number or place for place, board in enumerate(boards, 1) if not board.complete]
    if not whole:
        return _Source(file, "board", boards, DealSet.of(np.empty((0, 4), np.int64)), [], hidden, [])
    contradictions: list[str] = []
    deals = deals_of([board for _, board in whole], str(file), contradictions)
    first = {board.hands: number for number, board in reversed(whole)}  # several boards may have one deal
    numbers = [first[tuple(hands)] for hands in deals.hands.tolist()]
    return _Source(file, "board", boards, deals, numbers, hidden, contradictions)


def _check_out(out: Path) -> None:
    """ValueError if ``out`` is a file that took long to make: an import that solved nothing is soon repeated."""
    from bidzoo.envs.bridge.deals import read_deals

    if out.exists() and (out.suffix == ".pbn" or read_deals(out)[2].get("solved", True)):
        check_new(out)


def _completed(source: _Source, solve: bool, anew: bool, workers: int) -> "DealSet":
    """The deals; those without a whole table are solved if ``solve``, those with one if ``anew``."""
    from bidzoo.envs.bridge.deals import DealSet

    hands, tricks = source.deals.hands, source.deals.tricks.copy()
    rows = np.flatnonzero(((tricks >= 0).any(1) & anew) | ((tricks < 0).any(1) & solve))
    tricks[rows] = _solved(hands[rows], workers)
    return DealSet.of(hands, tricks, str(source.file))


def _save_boards(out: Path, boards: "list[Board]", deals: "DealSet", believed: bool) -> None:
    """Boards as they are, with the tables of ``deals``; of other boards their own, where these are ``believed``."""
    from dataclasses import replace

    from bidzoo.envs.bridge.formats import pbn

    tables = {tuple(hands): tuple(row) for hands, row in zip(deals.hands.tolist(), deals.tricks.tolist())}
    known = {hands: row if max(row) >= 0 else None for hands, row in tables.items()}
    pbn.write(out, [replace(b, tricks=known.get(b.hands or (), b.tricks if believed else None)) for b in boards])


def _say_what_is_unsolved(deals: "DealSet", source: _Source) -> None:
    unsolved = np.flatnonzero((deals.tricks < 0).any(1))
    if len(unsolved):
        first = f"{source.kind} {source.numbers[unsolved[0]]}"
        say(
            f"{counted(len(unsolved), 'deal')} without a complete double-dummy table, the first is {first}; "
            "environments and matches that score double dummy need them: import again with --solve",
            err=True,
        )


def _report(path: Path, source: object, boards: int, faults: "list[Fault]", more: dict[str, Any]) -> None:
    """What was read and what was left out, as JSON."""
    gone = [fault._asdict() for fault in faults if fault.lost == "board"]
    parts = [fault._asdict() for fault in faults if fault.lost != "board"]
    document = {"file": str(source), "boards": boards, "left_out": gone, "parts_left_out": parts, **more}
    replace_file(path, (json_text(document, indent=1, ensure_ascii=False) + "\n").encode())


class _Tables(NamedTuple):
    """What came of the double-dummy tables of a file."""

    tagged: int  # deals with one
    checked: tuple[int, ...] = ()  # numbers of the boards that were solved
    wrong: tuple[int, ...] = ()  # of those, the ones that the solver contradicts
    reason: str = ""  # why the tables are not believed


def _checked(source: _Source, check: int, wrong_tables: str, workers: int) -> _Tables:
    """Whether the tables of a file are to be believed: by what they look like, and by solving ``check`` of them.

    Raises:
        ValueError: they are not, and ``wrong_tables`` refuses them.
    """
    from bidzoo.envs.bridge.deals import clamped, listed
    from bidzoo.envs.bridge.double_dummy import contradiction, most_suspect

    file, hands, tricks, numbers = source.file, source.deals.hands, source.deals.tricks, source.numbers
    tagged, reason = int((tricks >= 0).any(1).sum()), clamped(tricks) or "; ".join(source.contradictions[:1])
    rows = most_suspect(tricks, 0 if reason else check)
    solved = _solved(hands[rows], workers)
    wrong = [row for row, table in zip(rows, solved) if contradiction(tricks[row], table)]
    found = _Tables(tagged, tuple(numbers[row] for row in rows), tuple(numbers[row] for row in wrong), reason)
    agreed = "all agree"
    if wrong:
        first = contradiction(tricks[wrong[0]], solved[rows.tolist().index(wrong[0])])
        agreed = f"{len(wrong)} disagree: {listed(found.wrong)}; board {found.wrong[0]}: {first}"
        found = found._replace(reason=agreed)
    if tagged and not reason:
        boards = f" (boards {listed(found.checked)}): {agreed}" if len(rows) else ""
        say(f"{file}: {len(rows)} of {counted(tagged, 'double-dummy table')} checked by solving{boards}", err=True)
    if found.reason:
        if wrong_tables == "refuse":
            raise ValueError(f"{file}: double-dummy tables are not believed: {found.reason}")
        kept = f"{file}: double-dummy tables are not believed: {found.reason}; all {tagged} are solved anew"
        say(kept, err=True)
    return found


def _solved(hands: "I64", workers: int) -> "I8":
    from bidzoo.envs.bridge.double_dummy import solve_tricks

    if not len(hands):
        return np.empty((0, 20), np.int8)
    with solving(f" {counted(len(hands), 'deal')}"), progress() as report:
        return solve_tricks(hands, workers, report=lambda done: report("solving", done, len(hands)))


@app.command()
def auctions(
    files: Annotated[list[Path], typer.Argument(help="PBN and LIN files, or folders of them.")],
    out: Annotated[Path, output("Recorded auctions to write (.npz).", ".npz", new=True)],
    strict: Strict = False,
    json: LeftOut = None,
) -> None:
    """Make auctions for bidzoo train of the records of a club or a site, and a file of their alerts beside."""
    from bidzoo.envs.bridge.deals import read_boards
    from bidzoo.envs.bridge.formats import FORMATS
    from bidzoo.envs.bridge.formats.auctions import of_boards

    paths = [path for file in files for path in ([file] if not file.is_dir() else sorted(file.rglob("*")))]
    known = [path for path in paths if path in files or path.suffix.lower() in FORMATS]
    if not known:
        raise ValueError(
            f"{', '.join(map(str, files))}: no files of boards; these formats are read: {', '.join(FORMATS)}"
        )
    faults: list[Fault] = []
    boards: list[Board] = []
    unread: list[str] = []
    with progress() as report:
        for number, path in enumerate(known):
            report("files", number, len(known))
            before = len(boards) + len(faults)
            try:
                boards += read_boards(path, strict, faults)
                unread += [f"{path}: no boards"] if len(boards) + len(faults) == before else []
            except ValueError as error:
                if strict or path in files:
                    raise
                unread.append(str(error))
    made, alerts, reasons = of_boards(boards, ", ".join(map(str, files)))
    beside = out.with_suffix(".alerts.jsonl")
    replace_file(beside, "".join(dumps(alert, ensure_ascii=False) + "\n" for alert in alerts).encode())
    if json is not None:
        more = {"auctions": len(made.hands), "auctions_left_out": reasons, "not_read": unread}
        _report(json, [str(file) for file in files], len(boards), faults, more)
    made.save(out)  # last: where it is, the same command has nothing left to do
    why = "; ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
    say(
        f"{counted(len(made.hands), 'auction')} of {counted(len(boards), 'board')} in {counted(len(known), 'file')}, "
        f"written to {out}; {counted(len(alerts), 'alert')} to {beside}"
    )
    say(f"left out: {why or 'nothing'}", err=True)
    for problem in unread:
        say(f"not read: {problem}", err=True)
    finish(", ".join(map(str, files)), len(boards), faults)
    if unread:
        raise typer.Exit(LEFT_OUT)


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
        faults: list[Fault] = []
        boards = _show(path, faults)
        finish(path, boards, faults)


def _show(path: Path, faults: "list[Fault] | None" = None) -> int:
    from bidzoo.core.cards import SEATS, STRAINS, high_card_points
    from bidzoo.envs.bridge.deals import (
        UNKNOWN,
        DealSet,
        clamped,
        deals_of,
        is_estimated,
        read_boards,
        read_deals,
    )
    from bidzoo.envs.bridge.formats import FORMATS

    provenance: dict[str, Any] = {}
    boards, known = 0, "solved"
    if path.suffix.lower() in FORMATS:
        read = read_boards(path, faults=faults)
        if not read and not faults:
            raise ValueError(f"{path}: no boards, expected at least one")
        boards, known = len(read), "with a table as the file has it"
        whole = [board for board in read if board.complete]
        if len(whole) < boards:
            say(f"{path}: {counted(boards - len(whole), 'board')} of {boards:,} with hands not shown", err=True)
        if not whole:
            return boards
        deals = deals_of(whole, str(path))
        if problem := clamped(deals.tricks):
            known += f", which is no double-dummy result: {problem}"
    else:
        hands, tricks, provenance = read_deals(path)
        if is_estimated(provenance):
            known = "with an estimated table"
        elif not provenance.get("solved", True):
            known = "with a table as the imported file had it"
        deals = DealSet.of(hands, tricks, str(path))
    different, points = len(np.unique(deals.hands, axis=0)), high_card_points(deals.hands).mean(0)
    means = np.ma.masked_equal(deals.tricks, UNKNOWN).reshape(-1, 5).mean(0)  # over declarers and known results
    lines = {
        "deals": f"{len(deals.hands)} ({different} different, {deals.solved} {known})",
        **{f"provenance: {PROVENANCE_LABELS.get(name, name)}": value for name, value in provenance.items()},
        "SHA-256 of the deals": deals.checksum(),
        "mean points": "  ".join(f"{seat} {x:.2f}" for seat, x in zip(SEATS, points)),
    }
    if not np.ma.is_masked(means):
        lines["mean tricks"] = "  ".join(f"{strain} {x:.2f}" for strain, x in zip(STRAINS, means))
    say(str(path))
    for name, value in lines.items():
        say(f"  {name + ':':22} {value}")
    return boards

"""What a match of bridge is worth when the cards are played, beside the same auctions scored double dummy.

    for seed in 20261121 20261122 20261123 20261124 20261127; do
        bidzoo match rpi sayc --env bridge_v0 --boards 50 --seed $seed --out runs/played-$seed.jsonl
    done
    python experiments/played_cards.py runs/played-*.jsonl --json docs/results/bridge-played.json

Both sides' cards are played by the same player (perfect information Monte Carlo), who sees its own hand and dummy.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bidzoo.benchmarks import records
from bidzoo.benchmarks.records import Record
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json
from bidzoo.cli.showing import measured
from bidzoo.core.cards import VULNERABILITIES, seat_number
from bidzoo.core.kernels import I64
from bidzoo.envs.bridge.board import contract_numbers
from bidzoo.envs.bridge.score import imps, north_south


def exact_tricks(record: Record) -> int:
    """Tricks of the declarer of ``record`` with best play of all four hands, -1 if all passed."""
    bid, _ = contract_numbers(record["contract"])
    return -1 if bid < 0 else record["double_dummy"][5 * seat_number(record["declarer"]) + bid % 5]


def exact_scores(tables: Sequence[Record]) -> I64:
    """Points of North/South ``[n]`` for that many tricks at each of ``tables``."""
    bid, stake = np.array([contract_numbers(table["contract"]) for table in tables]).T
    declarer = np.array([seat_number(table["declarer"]) if table["declarer"] else -1 for table in tables])
    vulnerable = np.array([VULNERABILITIES.index(table["vulnerability"]) for table in tables])
    return north_south(bid, stake, declarer, vulnerable, np.array(list(map(exact_tricks, tables)))).astype(np.int64)


def doubled_by_first(record: Record) -> bool | None:
    """Whether the match's first pair doubled the final contract; None if nobody did."""
    if not record["contract"].endswith("X"):
        return None
    first_is_north_south: bool = record["room"] == "open"
    return first_is_north_south != (seat_number(record["declarer"]) % 2 == 0)


def tables(files: list[Path], report: Report) -> Measured:
    """One table; no figures.

    Raises:
        ValueError: a board does not have its two tables, or its cards were not played.
    """
    rooms: dict[tuple[int, int], dict[str, Record]] = {}
    players: set[str] = set()  # of the match
    for done, path in enumerate(files):
        for record in records.read(path):
            if record["declarer"] and not record["cards"]:
                raise ValueError(f"{path}: board {record['board']} was not played; match it with --env bridge_v0")
            tables = rooms.setdefault((record["seed"], record["board"]), {})
            players = players or {*record["players"]}
            if record["room"] in tables or {*record["players"]} != players:
                where = f"{path}: board {record['board']} of seed {record['seed']}"
                raise ValueError(f"{where} is there twice, or of other players; expected one match")
            tables[record["room"]] = record
        report("files", done + 1, len(files))
    halves = [board for board, tables in rooms.items() if len(tables) < 2]
    if halves:
        raise ValueError(f"seed, board {halves[0]}: expected two tables")
    boards = list(rooms.values())
    deals: I64 = np.unique([tables["open"]["deal"] for tables in boards], return_inverse=True)[1]
    played = np.array([tables["open"]["imps"] for tables in boards])
    opened, closed = (exact_scores([tables[room] for tables in boards]) for room in ("open", "closed"))
    exact = imps(opened - closed).astype(np.int64)
    doubles = [{doubled_by_first(table) for table in tables.values()} for tables in boards]
    first, second = boards[0]["open"]["players"][:2]
    rows = {
        "all": np.ones(len(boards), bool),
        f"doubled by the first, {first}": np.array([True in found for found in doubles]),
        f"doubled by the second, {second}": np.array([False in found for found in doubles]),
        "not doubled": np.array([found == {None} for found in doubles]),
    }
    more = [
        table["tricks"] - exact_tricks(table) for tables in boards for table in tables.values() if table["declarer"]
    ]
    table = ResultTable(
        f"{first} against {second}, cards played: IMPs a board",
        ["boards", "number", "played", "double dummy, the same auctions", "difference"],
        note=f"a declarer takes {np.mean(more or [0]):+.2f} tricks on those of best play; doubled by both: in two rows",
    )
    for name, chosen in rows.items():
        if not chosen.any():
            continue
        columns = (played, exact, played - exact)
        table.add(name, int(chosen.sum()), *(Estimate.of(column[chosen], group=deals[chosen]) for column in columns))
    return [table], []


def main(
    files: Annotated[list[Path], typer.Argument(help="Records of `bidzoo match --env bridge_v0 --out FILE.jsonl`.")],
    json: Json = None,
) -> None:
    """IMPs a board of a match whose cards were played, beside those of its auctions scored double dummy."""
    measured("bridge-played", 0, json, lambda report: tables(files, report))


if __name__ == "__main__":
    typer.run(main)

"""The proved optimum of one rising auction, with what it took; a long run resumes.

python experiments/exact.py minibridge_v0 --size 7
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optimal_auction
from numpy.typing import NDArray
from optimal_auction import RisingAuction, Tables, best_plan, certified

from bidzoo.agents.tabular.exact import Optimum
from bidzoo.core.kernels import I16
from bidzoo.core.options import Count, Weight
from bidzoo.core.schema import json_lines, parse
from bidzoo.core.storage import replace_file, sweep
from bidzoo.envs.signalling.rising_auction import AuctionGame
from bidzoo.registry import make_game

COMMAND = "python experiments/exact.py"
Log = Callable[[str], None]

# ---- tables on disk, from which an interrupted run goes on -----------------------------------


def save_table(path: Path, table: NDArray[Any]) -> None:
    """``table`` as an ``.npy`` file that is whole or not there."""
    sweep(path)
    replace_file(path, lambda file: np.save(file, table))


def load_table(path: Path, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    """A stored table, mapped; ValueError names the file if it is no such table."""
    try:
        table: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, OverflowError, SyntaxError, ValueError) as problem:
        raise ValueError(f"{path}: {problem}; expected {dtype.__name__} totals {shape}") from problem
    if table.shape != shape or table.dtype != dtype:
        raise ValueError(f"{path}: expected {dtype.__name__} totals {shape}, found {table.dtype} {table.shape}")
    return table


class StoredTables(Tables):
    """``Tables`` in a folder; memory holds three at a time."""

    def __init__(self, auction: RisingAuction, directory: Path, report: Log) -> None:
        self.directory, self.report = directory, report
        super().__init__(auction)

    def _path(self, kind: str, bid: int) -> Path:
        return self.directory / f"{self.auction.stem}_{kind}_{bid:02d}.npy"

    def _load(self, kind: str, bid: int) -> I16:
        return load_table(self._path(kind, bid), self.shape, np.int16)

    def _begin(self, after: I16, split: I16) -> int:
        """Fill in the tables of the last bid that was stored, which is returned."""
        stored = [bid for bid in range(self.auction.bids + 1) if self._path("after", bid).exists()]
        if not stored:
            return super()._begin(after, split)
        for bid in stored:
            self.tables[bid] = self._load("after", bid)
        after[:], split[:] = self._load("after", stored[0]), self._load("split", stored[0])
        return stored[0]

    def _store(self, bid: int, after: I16, split: I16) -> None:
        for kind, table in (("split", split), ("after", after)):
            save_table(self._path(kind, bid), table)
        self._path("split", bid + 1).unlink(missing_ok=True)
        self.tables[bid] = self._load("after", bid)
        self.report(f"{self.auction.id}: last bid {bid} of {self.auction.bids} done")


def solve_rising_auction(auction: RisingAuction, directory: Path | None, report: Log) -> Optimum:
    """The optimum; with a ``directory`` the tables are kept there."""
    if directory is None:
        return optimal_auction.solve_rising_auction(auction)
    tables = StoredTables(auction, directory, report)
    return certified(auction, tables.value, best_plan(tables))


def write_plan(optimum: Optimum, path: Path, source: str) -> None:
    """The plan as JSON: calls ``[n]`` by history; ``source`` is the command that found it."""
    lines = ",\n".join(
        f"  {json.dumps(' '.join(map(str, history)))}: {json.dumps(calls.tolist())}"
        for history, calls in (optimum.plan or {}).items()
    )
    head = {"id": optimum.id, "total": optimum.total, "source": source}
    replace_file(path, f'{json.dumps(head)[:-1]},\n"calls": {{\n{lines}\n}}}}\n'.encode())


# ---- the command -----------------------------------------------------------------------------


def main(
    arguments: list[str] | None = None,
    solver: Callable[[RisingAuction, Path | None, Log], Optimum] = solve_rising_auction,
    command: str = COMMAND,
) -> None:
    """Solve one rising auction and show the proof's numbers."""
    parser = argparse.ArgumentParser(prog=command, description=main.__doc__)
    parser.add_argument("game", help="id of a rising auction: minibridge_v0 or simple_bidding_v0")
    parser.add_argument("--size", type=int, required=True, help="N of the game")
    parser.add_argument("--directory", type=Path, help="where a long run keeps its tables, and resumes from")
    parser.add_argument("--out", type=Path, help="add the result to this file (.jsonl, a line each)")
    parser.add_argument("--plan", type=Path, help="write the optimal plan to this JSON file")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    game = make_game(options.game, size=options.size)
    if not isinstance(game, AuctionGame):
        parser.error(f"{options.game} is not a rising auction")
    optimum = solver(optimal_auction.auction_of(game), options.directory, lambda line: print(f"  {line}", flush=True))
    seconds = time.perf_counter() - started
    certificate = "played out over all deals" if optimum.plan else "value alone"
    result = f"{optimum.id}: {optimum.total}/{optimum.deals} = {float(optimum.value):.6f}"
    print(f"{result} ({certificate}), {seconds:.1f} s", flush=True)
    if options.out:
        line = {"id": optimum.id, "total": optimum.total, "deals": optimum.deals, "value": float(optimum.value)}
        line |= {"certified": optimum.plan is not None, "seconds": round(seconds, 2)}
        _add(options.out, {**line, "command": f"{command} {options.game} --size {options.size}"})
    if options.plan and optimum.plan:
        write_plan(optimum, options.plan, command)


_LINE = {  # of a file of results
    "id": str,
    "total": int,
    "deals": Count,
    "value": float,
    "certified": bool,
    "seconds": Weight,
    "command": str,
}


def _add(path: Path, line: dict[str, object]) -> None:
    """``line`` into the JSON lines at ``path``, in place of the one of the same ``id``."""
    content = path.read_bytes() if path.exists() else b""
    lines = [parse(_LINE, entry, f"{path}:{number}") for number, entry in json_lines(content, path)]
    lines = [*(entry for entry in lines if entry["id"] != line["id"]), line]
    lines.sort(key=lambda entry: (entry["id"].split("(")[0], entry["deals"]))
    replace_file(path, "".join(json.dumps(entry) + "\n" for entry in lines).encode())


if __name__ == "__main__":
    main()

"""The proved optimum of one rising auction, with what it took; a long run resumes.

python experiments/exact.py minibridge_v0 --size 7
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

from bidzoo.agents.tabular.exact import Optimum, solve_rising_auction, write_plan
from bidzoo.agents.tabular.optimal_auction import Log, RisingAuction
from bidzoo.core.options import Count, Weight
from bidzoo.core.schema import json_lines, parse
from bidzoo.core.storage import replace_file
from bidzoo.envs.signalling.rising_auction import AuctionGame
from bidzoo.registry import make_game

COMMAND = "python experiments/exact.py"


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
    optimum = solver(RisingAuction.of(game), options.directory, lambda line: print(f"  {line}", flush=True))
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

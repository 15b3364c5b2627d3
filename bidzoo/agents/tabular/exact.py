"""The optimum of a small cooperative game, proved: its exact value, and a joint policy that has it.

    python -m bidzoo.agents.tabular.exact minibridge_v0 --size 7

Pure joint policies suffice when rewards are common, and moves are public, so the sets of types that reach a public
history carry all that matters: dynamic programming over pairs of sets. Rising auctions go to ``rising_auction`` (Simple
Bidding 16, which takes eleven minutes in ``experiments/panels.py``, is in the package), all other games to
``public_belief``. Each optimum is certified twice: totals are whole numbers, and the policy that is read off is played
over all deals, and scores the same.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bidzoo.agents.tabular import public_belief, rising_auction
from bidzoo.agents.tabular.policy import Solved
from bidzoo.agents.tabular.rising_auction import MAX_BYTES, Plan, Report, RisingAuction, best_plan, play
from bidzoo.core.kernels import F64, I64, integers, when_compiled
from bidzoo.core.options import Count, Weight
from bidzoo.core.schema import json_lines, json_value, parse, shortened
from bidzoo.core.storage import replace_file
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game, evaluate
from bidzoo.envs.signalling.rising_auction import AuctionGame
from bidzoo.registry import make_game

COMMAND = "python -m bidzoo.agents.tabular.exact"
RECORDED = Path(__file__).parents[2] / "data" / "exact"  # plans of games that take long


def silent(line: str) -> None:
    """No report."""


@dataclass(frozen=True)
class Optimum:
    """The most any joint policy can score."""

    id: str
    total: int  # sum of the rewards over all deals
    deals: int  # equally likely
    plan: Plan | None  # of a rising auction, if there was room to keep what it is read from

    @property
    def value(self) -> Fraction:
        """Expected reward."""
        return Fraction(self.total, self.deals)


def write_plan(optimum: Optimum, path: Path, source: str) -> None:
    """The plan as JSON: calls ``[n]`` by history; ``source`` is the command that found it."""
    calls = {" ".join(map(str, history)): row.tolist() for history, row in (optimum.plan or {}).items()}
    lines = ",\n".join(f"  {json.dumps(history)}: {json.dumps(row)}" for history, row in calls.items())
    head = {"id": optimum.id, "total": optimum.total, "source": source}
    replace_file(path, f'{json.dumps(head)[:-1]},\n"calls": {{\n{lines}\n}}}}\n'.encode())


_PLAN = {"id": str, "total": int, "source": str, "calls": dict[str, list[int]]}


def read_plan(path: Path, auction: RisingAuction) -> Optimum:
    """What ``write_plan`` wrote, played out.

    Raises:
        ValueError: another game's plan, or it does not score what the file says; names the file.
    """
    try:
        given = parse(_PLAN, json_value(path.read_bytes(), path), path)
        if given["id"] != auction.id:
            raise ValueError(f"the plan is for {given['id']}, expected {auction.id}")
        plan: dict[tuple[int, ...], I64] = {}
        for history, calls in given["calls"].items():
            if len(calls) != auction.types:
                raise ValueError(f"calls after {history!r}: {len(calls)}, expected one a type, {auction.types}")
            plan[tuple(map(int, history.split()))] = integers(f"calls after {history!r}", calls, -1, auction.bids)
        return certified(auction, given["total"], plan)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: not a plan of {auction.id} ({shortened(error)})") from error


@when_compiled()
def solve_rising_auction(auction: RisingAuction, directory: Path | None = None, report: Report = silent) -> Optimum:
    """The optimum of a rising auction, computed; long runs keep their tables in ``directory``.

    Raises:
        ValueError: too large for ``MAX_BYTES``; or the plan that was read off scores less, which would be a bug.
    """
    tables = rising_auction.need(auction.types)
    if tables > MAX_BYTES:
        raise rising_auction.too_large(auction.id, auction.types)
    keep = directory is not None or tables // 3 * (auction.bids + 4) <= MAX_BYTES
    solved = rising_auction.Tables(auction, keep, directory, report)
    return certified(auction, solved.value, best_plan(solved) if keep else None)


def certified(auction: RisingAuction, total: int, plan: Plan | None) -> Optimum:
    """The optimum ``total``; ValueError unless its ``plan``, played out, scores that much."""
    if plan is not None and play(auction, plan) != total:
        raise ValueError(f"{auction.id}: the plan scores {play(auction, plan)}, the tables say {total}")
    return Optimum(auction.id, total, auction.deals, plan)


def strategy_of(game: Compiled, plan: Plan) -> F64:
    """``plan`` as a joint strategy ``[M, T]``; whoever strays from it makes the first legal action."""
    strategy = np.zeros(game.shape)
    histories: dict[int, tuple[int, ...]] = {0: ()}
    for m in range(len(game.player)):
        if game.leaf[m] >= 0:
            continue
        calls = plan.get(histories[m])
        for c in range(int(game.first[m]), int(game.first[m] + game.count[m])):
            histories[c] = (*histories[m], int(game.action[c]))
            strategy[c] = c == game.first[m] if calls is None else calls == game.action[c]
        if calls is not None:
            strategy[game.first[m], calls < 0] = 1.0
    return strategy


@when_compiled()
def solve(game: Solvable, directory: Path | None = None, report: Report = silent) -> tuple[Optimum, F64]:
    """The optimum of ``game`` and a joint strategy ``[M, T]`` that ``evaluate`` certifies.

    A plan that is in the package is used unless a ``directory`` is given.

    Raises:
        ValueError: too large to solve exactly.
    """
    game = compile_game(game)
    if isinstance(game.game, AuctionGame):
        auction = RisingAuction.of(game.game)
        stored = RECORDED / f"{auction.stem.replace('_v0', '')}.json"
        recorded = directory is None and stored.exists()
        optimum = read_plan(stored, auction) if recorded else solve_rising_auction(auction, directory, report)
        if optimum.plan is None:
            raise ValueError(f"{game.id}: too large to keep what the policy is read from")
        strategy = strategy_of(game, optimum.plan)
    else:
        small = public_belief.need(game) <= public_belief.MAX_BYTES
        total, strategy = (public_belief.solve_tree if small else public_belief.solve_messages)(game)
        optimum = Optimum(game.id, total, game.prior.size, None)
    if not np.isclose(evaluate(game, strategy), float(optimum.value), rtol=0, atol=1e-9):
        raise ValueError(f"{game.id}: the strategy scores {evaluate(game, strategy)}, not {optimum.value}")
    return optimum, strategy


def _strategy(game: Compiled, seed: int) -> F64:
    """An optimal one; ``seed`` is every solver's."""
    return solve(game)[1]


def agent() -> Solved:
    """Plays every small game that can be solved optimally."""
    return Solved("exact", _strategy)


def main(
    arguments: list[str] | None = None,
    solver: Callable[[RisingAuction, Path | None, Report], Optimum] = solve_rising_auction,
    command: str = COMMAND,
) -> None:
    """Solve one rising auction and show the proof's numbers."""
    parser = argparse.ArgumentParser(prog=command, description=main.__doc__)
    parser.add_argument("game", help="id of a rising auction: minibridge_v0 or simple_bidding_v0")
    parser.add_argument("--size", type=int, required=True, help="N of the game")
    parser.add_argument("--directory", type=Path, help="where a long run keeps its tables, and resumes from")
    parser.add_argument("--out", type=Path, help="add the result to this file (.jsonl, a line each)")
    parser.add_argument("--plan", type=Path, help="write the optimal plan to this JSON file")
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    game = make_game(given.game, size=given.size)
    if not isinstance(game, AuctionGame):
        parser.error(f"{given.game} is not a rising auction")
    optimum = solver(RisingAuction.of(game), given.directory, lambda line: print(f"  {line}", flush=True))
    seconds = time.perf_counter() - started
    how = "played out over all deals" if optimum.plan else "value alone"
    result = f"{optimum.id}: {optimum.total}/{optimum.deals} = {float(optimum.value):.6f}"
    print(f"{result} ({how}), {seconds:.1f} s", flush=True)
    if given.out:
        line = {"id": optimum.id, "total": optimum.total, "deals": optimum.deals, "value": float(optimum.value)}
        line |= {"certified": optimum.plan is not None, "seconds": round(seconds, 2)}
        _add(given.out, {**line, "command": f"{command} {given.game} --size {given.size}"})
    if given.plan and optimum.plan:
        write_plan(optimum, given.plan, command)


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
    lines = [parse(_LINE, one, f"{path}:{number}") for number, one in json_lines(content, path)]
    lines = [*(other for other in lines if other["id"] != line["id"]), line]
    lines.sort(key=lambda one: (one["id"].split("(")[0], one["deals"]))
    replace_file(path, "".join(json.dumps(one) + "\n" for one in lines).encode())


if __name__ == "__main__":
    main()

"""The optimum of a small cooperative game, proved: its exact value, and a joint policy that has it.

    python -m bidzoo.agents.tabular.exact minibridge_v0 --size 7
    python -m bidzoo.agents.tabular.exact simple_bidding_v0 --size 16 --directory checkpoints

Pure joint policies suffice when rewards are common, and moves are public, so the sets of types that reach a public
history carry all that matters: dynamic programming over pairs of sets. Rising auctions go to ``ladder_tables`` and
``ladder_panels``, games with a small tree to ``tree_sets``, and Comm, which has too many types for either, to
``messages``. Each optimum is certified twice: totals are whole numbers, and the policy that is read off is played over
all deals, and scores the same.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bidzoo.agents.tabular import ladder_panels, ladder_tables, messages, tree_sets
from bidzoo.agents.tabular.ladder import GAMES, Ladder, Plan, play
from bidzoo.agents.tabular.ladder_plan import best_plan
from bidzoo.agents.tabular.solver import Solved
from bidzoo.envs.signals.compiled import Compiled, evaluate
from bidzoo.kernels import F64

MAX_BYTES = 8 << 30  # of tables
COMMAND = "python -m bidzoo.agents.tabular.exact"
RECORDED = Path(__file__).parents[2] / "data" / "exact"  # plans of games that take long
Report = Callable[[str], None]


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


def ladder_of(game_id: str) -> Ladder | None:
    """The rising auction called e.g. ``minibridge_v0(size=4)``; None if it is another game."""
    match = re.fullmatch(r"(\w+)\(size=(\d+)\)", game_id)
    if match is None or match[1] not in GAMES:
        return None
    return GAMES[match[1]](int(match[2]))


def write_plan(optimum: Optimum, path: Path) -> None:
    """The plan as JSON: calls ``[n]`` by history."""
    calls = {" ".join(map(str, history)): row.tolist() for history, row in (optimum.plan or {}).items()}
    lines = ",\n".join(f"  {json.dumps(history)}: {json.dumps(row)}" for history, row in calls.items())
    head = {"id": optimum.id, "total": optimum.total, "source": COMMAND}
    path.write_text(f'{json.dumps(head)[:-1]},\n"calls": {{\n{lines}\n}}}}\n', "utf-8")


def read_plan(path: Path, ladder: Ladder) -> Optimum:
    """What ``write_plan`` wrote, played out.

    Raises:
        ValueError: another game's plan, or it does not score what the file says; names the file.
    """
    try:
        given = json.loads(path.read_text("utf-8"))
        plan = {tuple(map(int, history.split())): np.array(row) for history, row in given["calls"].items()}
        if given["id"] != ladder.id:
            raise ValueError(f"the plan is for {given['id']}, expected {ladder.id}")
        return _certified(ladder, given["total"], plan)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not a plan of {ladder.id} ({error})") from error


def solve_ladder(ladder: Ladder, directory: Path | None = None, report: Report = silent) -> Optimum:
    """The optimum of a rising auction, computed; long runs keep their tables in ``directory``.

    Raises:
        ValueError: too large for ``MAX_BYTES``; or the plan that was read off scores less, which would be a bug.
    """
    if ladder.bids == ladder_panels.FIVE and not ladder.opening_pass and ladder.types >= 13:
        panels = ladder_panels.Panels(ladder)
        firsts = ladder_panels.openings(panels, directory, report)
        report(f"{ladder.id}: reading the plan")
        return _certified(ladder, ladder_panels.best_total(firsts), best_plan(ladder_panels.PanelRows(panels, firsts)))
    tables = ladder_tables.need(ladder.types)
    if tables > MAX_BYTES:
        raise ValueError(f"{ladder.id}: three tables of 4**{ladder.types} totals need more than {MAX_BYTES >> 30} GiB")
    keep = directory is not None or tables // 3 * (ladder.bids + 4) <= MAX_BYTES
    solved = ladder_tables.Tables(ladder, keep, directory, report)
    return _certified(ladder, solved.value, best_plan(solved) if keep else None)


def _certified(ladder: Ladder, total: int, plan: Plan | None) -> Optimum:
    if plan is not None and play(ladder, plan) != total:
        raise ValueError(f"{ladder.id}: the plan scores {play(ladder, plan)}, the tables say {total}")
    return Optimum(ladder.id, total, ladder.deals, plan)


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


def solve(game: Compiled, directory: Path | None = None, report: Report = silent) -> tuple[Optimum, F64]:
    """The optimum of ``game`` and a joint strategy ``[M, T]`` that ``evaluate`` certifies.

    Simple Bidding 16 takes eleven minutes to solve: the plan found by that run is in the package, and is used here
    unless a ``directory`` is given.

    Raises:
        ValueError: too large to solve exactly.
    """
    ladder = ladder_of(game.id)
    if ladder is not None:
        stored = RECORDED / f"{game.id.replace('_v0(size=', '_').rstrip(')')}.json"
        recorded = directory is None and stored.exists()
        optimum = read_plan(stored, ladder) if recorded else solve_ladder(ladder, directory, report)
        if optimum.plan is None:
            raise ValueError(f"{game.id}: too large to keep what the policy is read from")
        strategy = strategy_of(game, optimum.plan)
    else:
        method = tree_sets.solve_tree if tree_sets.need(game) <= tree_sets.MAX_BYTES else messages.solve_messages
        total, strategy = method(game)
        optimum = Optimum(game.id, total, game.prior.size, None)
    if not np.isclose(evaluate(game, strategy), float(optimum.value), rtol=0, atol=1e-9):
        raise ValueError(f"{game.id}: the strategy scores {evaluate(game, strategy)}, not {optimum.value}")
    return optimum, strategy


def agent() -> Solved:
    """Plays every small game that can be solved optimally."""
    return Solved("exact", lambda game, seed: solve(game)[1], 0, {})


def main(arguments: list[str] | None = None) -> None:
    """Solve one rising auction and show the proof's numbers."""
    parser = argparse.ArgumentParser(prog="python -m bidzoo.agents.tabular.exact", description=main.__doc__)
    parser.add_argument("game", choices=sorted(GAMES))
    parser.add_argument("--size", type=int, required=True, help="N of the game")
    parser.add_argument("--directory", type=Path, help="where a long run keeps its tables, and resumes from")
    parser.add_argument("--out", type=Path, help="add the result to this file (.jsonl, a line each)")
    parser.add_argument("--plan", type=Path, help="write the optimal plan to this JSON file")
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    optimum = solve_ladder(GAMES[given.game](given.size), given.directory, lambda line: _say(f"  {line}"))
    seconds = time.perf_counter() - started
    certified = "played out over all deals" if optimum.plan else "value alone"
    _say(f"{optimum.id}: {optimum.total}/{optimum.deals} = {float(optimum.value):.6f} ({certified}), {seconds:.1f} s")
    if given.out:
        command = f"{COMMAND} {given.game} --size {given.size}"
        line = {"id": optimum.id, "total": optimum.total, "deals": optimum.deals, "value": float(optimum.value)}
        line |= {"certified": optimum.plan is not None, "seconds": round(seconds, 2), "command": command}
        _add(given.out, line)
    if given.plan and optimum.plan:
        write_plan(optimum, given.plan)


def _add(path: Path, line: dict[str, object]) -> None:
    """``line`` into the JSON lines at ``path``, in place of the one of the same ``id``."""
    lines = [json.loads(text) for text in path.read_text("utf-8").splitlines()] if path.exists() else []
    lines = [*(other for other in lines if other["id"] != line["id"]), line]
    lines.sort(key=lambda one: (one["id"].split("(")[0], one["deals"]))
    partial = path.with_suffix(".partial")
    partial.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    partial.replace(path)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

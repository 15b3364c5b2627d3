"""Mutation tests: a small change of a rule, a score, a reader, of what keeps files or estimates must fail a test.

``make test-mutations`` changes one place of a module at a time (Cosmic Ray's operators: comparisons, arithmetic,
numbers, keywords), in a copy of the tree, and runs the module's tests as plain Python. What survives is listed: a test
is missing, or the change makes no difference. ``--add`` adds to what the result file has: with ``--skip 50``, the
changes that were drawn next. ``--again`` tries those that survived once more, with the tests of today.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome

from bidzoo.benchmarks import printing, results

ROOT = Path(__file__).parents[1]
GAMES = "tests/envs"
FILES = [f"{GAMES}/bridge/formats/test_{name}.py" for name in ("pbn", "pbn_errors", "field")]
PARTS = {  # module: its tests
    "bidzoo/envs/bridge/auction.py": [f"{GAMES}/bridge/test_auction.py"],
    "bidzoo/envs/bridge/play.py": [f"{GAMES}/bridge/test_play.py"],
    "bidzoo/envs/bridge/score.py": [f"{GAMES}/bridge/test_score.py"],
    "bidzoo/envs/bridge/observation.py": [f"{GAMES}/bridge/test_observation.py"],
    "bidzoo/envs/bridge/formats/pbn.py": FILES,
    "bidzoo/envs/bridge/formats/lin.py": FILES,
    "bidzoo/envs/bridge/board.py": FILES,
    "bidzoo/envs/bridge/formats/auctions.py": [
        f"{GAMES}/bridge/formats/test_auctions.py",
        f"{GAMES}/bridge/formats/test_field.py",
    ],
    "bidzoo/envs/bridge/engine.py": [f"{GAMES}/bridge/test_engine.py"],
    "bidzoo/core/storage.py": ["tests/core/test_storage.py"],
    "bidzoo/benchmarks/results.py": ["tests/benchmarks/test_results.py"],
    "bidzoo/core/cards.py": ["tests/core/test_cards.py", f"{GAMES}/bridge/formats/test_pbn_errors.py"],
    "bidzoo/envs/spades/bidding.py": [f"{GAMES}/spades/test_rules.py"],
    "bidzoo/envs/spades/play.py": [f"{GAMES}/spades/test_rules.py"],
    "bidzoo/envs/spades/score.py": [f"{GAMES}/spades/test_rules.py"],
    "bidzoo/envs/spades/observation.py": [f"{GAMES}/spades/test_observation.py"],
    "bidzoo/envs/python_game.py": [f"{GAMES}/test_python_game.py"],
    "bidzoo/wrappers/offline.py": ["tests/wrappers/test_offline.py"],
    "bidzoo/wrappers/text.py": ["tests/wrappers/test_text.py"],
    "bidzoo/language/questions.py": ["tests/language/test_questions.py"],
    "bidzoo/language/replies.py": ["tests/language/test_replies.py"],
    "bidzoo/language/agent.py": ["tests/language/test_agent.py"],
    "bidzoo/language/server.py": ["tests/language/test_server.py"],
    "bidzoo/language/names.py": ["tests/language/test_agent.py"],
    "bidzoo/envs/signalling/rising_auction.py": [f"{GAMES}/signalling/test_engine.py"],
}
LEFT_OUT = {  # operators whose changes no test of this kind can see
    "core/RemoveDecorator",  # compiled or not, the rules are the same
    "core/ExceptionReplacer",  # an exception that nobody raises
}
PYTEST = "-q -x -p no:cacheprovider --hypothesis-seed=0 -k 'not time_grows and not solv and not contradict'"
WIDTH = 100  # characters of a line that the tables show
PATIENCE = 5.0  # times as long as the tests take without a change


class Mutant(NamedTuple):
    """One change, and what came of it."""

    module: str
    line: int
    before: str
    after: str
    survived: bool

    @property
    def shown(self) -> tuple[str, str, str]:
        """Module, line before and line after, as the tables show them."""
        return self.module, self.before[:WIDTH], self.after[:WIDTH]


def annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the types stand, which a running program does not see: line and column of both ends."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign | ast.arg):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
    return [((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0)) for n in found if n is not None]


def changes(module: str) -> list[MutationSpec]:
    """Every change of ``module`` that a test could see."""
    types = annotations((ROOT / module).read_text())
    with TemporaryDirectory() as folder, closing(WorkDB(f"{folder}/session.sqlite", WorkDB.Mode.create)) as session:
        init([Path(module)], session, {})
        specs = [spec for item in session.work_items for spec in item.mutations]
    seen = [spec for spec in specs if spec.operator_name not in LEFT_OUT]
    return [spec for spec in seen if not any(low <= tuple(spec.start_pos) < high for low, high in types)]


def sampled(module: str, sample: int, skip: int = 0) -> list[MutationSpec]:
    """``sample`` changes of ``module`` drawn by chance after ``skip``, the same in every run; 0: all of them."""
    specs = changes(module)
    random.Random(0).shuffle(specs)
    return specs[skip:][: sample or None]


def survivors(module: str, alive: list[Mutant]) -> list[MutationSpec]:
    """The changes of ``module`` that are among ``alive``."""
    source, found = (ROOT / module).read_text(), {}
    lines, wanted = source.splitlines(), {mutant.shown for mutant in alive if mutant.module == module}
    for spec in changes(module):
        if (module, lines[spec.start_pos[0] - 1].strip()[:WIDTH]) in {shown[:2] for shown in wanted}:
            operator = get_operator(spec.operator_name)(**spec.operator_args)
            after = (mutate_code(source, operator, spec.occurrence) or source).splitlines()
            pair = next((pair for pair in zip(lines, after) if pair[0] != pair[1]), ("", ""))
            found.setdefault(Mutant(module, 0, pair[0].strip(), pair[1].strip(), True).shown, spec)
    return [spec for shown, spec in found.items() if shown in wanted]


def command(module: str) -> str:
    """The tests of ``module``."""
    return f"{sys.executable} -m pytest {PYTEST} {' '.join(PARTS[module])}"


def settle(folder: str) -> None:
    """A worker moves into a copy of the tree, where it may change files."""
    copy = Path(folder) / str(os.getpid())
    copy.mkdir()
    for name in ("bidzoo", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "data"))
        for data in (ROOT / name).glob("**/data"):
            (copy / data.relative_to(ROOT)).symlink_to(data)
    for name in ("pyproject.toml", "README.md", "docs", "experiments"):
        (copy / name).symlink_to(ROOT / name)
    os.chdir(copy)
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(copy)}


def seconds(module: str) -> float:
    """How long the tests of ``module`` take; they must pass without a change. What they import is kept as bytecode."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.monotonic()
    done = subprocess.run(command(module), shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{module}: its tests fail without any change:\n{done.stdout[-3000:]}")
    return time.monotonic() - began


def tried(job: tuple[str, MutationSpec, float]) -> Mutant | None:
    """One change made, tested and taken back; None if it is no Python."""
    module, spec, patience = job
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a change within the same second would look like the one before
    result = mutate_and_test([spec], command(module), patience)
    lines = (result.diff or "").splitlines()
    before = next((line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")), "")
    after = next((line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")), "")
    if result.test_outcome == TestOutcome.INCOMPETENT:
        return None
    return Mutant(module, spec.start_pos[0], before, after, result.test_outcome == TestOutcome.SURVIVED)


def run(chosen: dict[str, list[MutationSpec]], workers: int, limit: float) -> Iterator[Mutant]:
    """The ``chosen`` changes of each module, spread evenly, until ``limit`` seconds are over (0: no limit)."""
    began = time.monotonic()
    with TemporaryDirectory() as folder, get_context("spawn").Pool(workers, settle, (folder,)) as pool:
        patience = dict(zip(chosen, pool.map(seconds, chosen, 1)))
        jobs = []
        for module, specs in chosen.items():
            print(f"{module}: {len(specs)} changes, tests take {patience[module]:.1f} s", flush=True)
            jobs += [(place / len(specs), module, spec) for place, spec in enumerate(specs)]
        jobs.sort(key=lambda job: job[:2])
        work = [(module, spec, 10 + PATIENCE * patience[module]) for _, module, spec in jobs]
        for mutant in pool.imap_unordered(tried, work, 1):
            if mutant is not None:
                yield mutant
            if limit and time.monotonic() - began > limit:
                return


def tables(mutants: list[Mutant]) -> list[results.ResultTable]:
    """How many of each module were found, and those that were not."""
    counts = results.ResultTable("Changes made to each module", ["module", "changes", "found", "alive", "found, %"])
    for module in PARTS:
        alive = [mutant.survived for mutant in mutants if mutant.module == module]
        if alive:
            found = len(alive) - sum(alive)
            counts.add(
                module.removeprefix("bidzoo/"), len(alive), found, sum(alive), round(100 * found / len(alive), 1)
            )
    living = results.ResultTable("Changes that no test finds", ["module", "line", "is", "could be"])
    for mutant in sorted(mutant for mutant in mutants if mutant.survived):
        module = mutant.module.removeprefix("bidzoo/")
        living.add(module, str(mutant.line), f"`{mutant.shown[1]}`", f"`{mutant.shown[2]}`")
    return [counts, living]


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help=f"default: {' '.join(PARTS)}")
    parser.add_argument("--sample", type=int, default=50, help="changes a module, drawn by chance; 0: all")
    parser.add_argument("--skip", type=int, default=0, help="changes that were drawn before")
    parser.add_argument("--add", action="store_true", help="add to what --json has")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument(
        "--limit", type=float, default=0, help="seconds after which no further change is tried; 0: none"
    )
    parser.add_argument("--json", type=Path, default=Path("runs/mutations.json"), help="result file")
    parser.add_argument("--again", action="store_true", help="try those that --json says are alive once more")
    given = parser.parse_args()
    unknown = set(given.modules) - set(PARTS)
    if unknown:
        parser.error(f"no tests are known of {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    began, path, modules = time.monotonic(), given.json.absolute(), given.modules or list(PARTS)
    more = given.again or given.add
    mutants = kept(path) if more else []
    earlier = f"{json.loads(path.read_text())['command']}; " if more else ""
    if given.again:
        alive = [one for one in mutants if one.survived]
        chosen = {module: specs for module in modules if (specs := survivors(module, alive))}
    else:
        chosen = {module: sampled(module, given.sample, given.skip) for module in modules}
    for mutant in run(chosen, given.workers, given.limit):
        if given.again:
            mutants.remove(next(one for one in mutants if one.survived and one.shown == mutant.shown))
        mutants.append(mutant)
        keep(path, mutants, time.monotonic() - began, earlier)
        if mutant.survived:
            print(f"alive: {mutant.module}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
    printing.show(tables(mutants)[:1])


def kept(path: Path) -> list[Mutant]:
    """The changes of result file ``path``; of those that were found it does not say which they were."""
    counts, living = (table["rows"] for table in json.loads(path.read_text())["tables"])
    found = [Mutant(f"bidzoo/{row['module']}", 0, "", "", False) for row in counts for _ in range(row["found"])]
    alive = [(f"bidzoo/{row['module']}", int(row["line"]), row["is"][1:-1], row["could be"][1:-1]) for row in living]
    return [*found, *(Mutant(*one, True) for one in alive)]


def keep(path: Path, mutants: list[Mutant], seconds: float, earlier: str = "") -> None:
    """The result file so far, of this command and ``earlier`` ones."""
    results.save(path, "mutations", tables(mutants), seed=0, seconds=seconds)
    document = json.loads(path.read_text())
    document["command"] = f'{earlier}make test-mutations MUTATIONS="{" ".join(sys.argv[1:])}"'
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

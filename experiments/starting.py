"""What starting costs: processor seconds and memory of a new process until its first step, beside OpenSpiel's.

python experiments/starting.py --rounds 3
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from typing import Annotated

import typer

from bidzoo.benchmarks.results import Measured, Report, ResultTable, silent
from bidzoo.cli.options import Json
from bidzoo.cli.showing import measured
from bidzoo.core import compiling

BATCH = """
import bidzoo
batch = bidzoo.make_vec("bridge_bidding_v0", {})
batch.reset(seed=1)
batch.step(batch.action_mask.argmax(1))
"""
ENV = """
import bidzoo
env = bidzoo.make("bridge_bidding_v0")
env.reset(seed=1)
env.step(0)
"""
HELP = """
import contextlib, io
from bidzoo.cli.main import app
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    app(["--help"])
"""
SPIEL = """
import pyspiel, random
state = pyspiel.load_game("bridge(use_double_dummy_result=false)").new_initial_state()
while state.is_chance_node():
    state.apply_action(random.choice(state.legal_actions()))
state.apply_action(52)
"""
ROWS = (  # what a process does, and whether it finds compiled kernels
    ("Python alone", "", True),
    ("import numpy, gymnasium, pettingzoo", "import numpy, gymnasium, pettingzoo", True),
    ("import numba", "import numba", True),
    ("import bidzoo", "import bidzoo", True),
    ("bidzoo --help", HELP, True),
    ("bridge_bidding_v0, first step", ENV, True),
    ("make_vec, 64 tables, first step", BATCH.format(64), True),
    ("make_vec, 4096 tables, first step", BATCH.format(4096), True),
    ("bridge_bidding_v0, first step", ENV, False),
    ("make_vec, 64 tables, first step", BATCH.format(64), False),
    ("make_vec, 4096 tables, first step", BATCH.format(4096), False),
    ("OpenSpiel bridge, first step", SPIEL, True),
)
END = """
import json, sys, time
seconds = time.process_time()
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
compiling = sys.modules.get("bidzoo.core.compiling")
if compiling is not None and compiling._worker is not None:
    compiling._worker.kill()  # or it would compile beside the next row
print(json.dumps([seconds, peak / 1000]))
"""


def tables(rounds: int = 5, report: Report = silent) -> Measured:
    """The table: the least of ``rounds`` processes of each row, taken in turn.

    Raises:
        OSError: there is no ``/proc`` (only Linux has it).
    """
    rows = [row for row in ROWS if "pyspiel" not in row[1] or find_spec("pyspiel")]
    for _, script, kept in rows:
        if kept:
            _process(script, {compiling.VARIABLE: "now"})
    found: list[list[tuple[float, float]]] = [[] for _ in rows]
    for done in range(rounds):
        for row, (_, script, kept) in zip(found, rows, strict=True):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as empty:
                row.append(_process(script, {} if kept else {"NUMBA_CACHE_DIR": empty}))
        report("start", done + 1, rounds)
    table = ResultTable(
        "Starting: a new process until it has done this",
        ["what", "compiled kernels", "CPU s", "MB"],
        note=f"least of {rounds} processes, taken in turn; where there are none, another process compiles them",
    )
    for (what, script, kept), row in zip(rows, found, strict=True):
        seconds, peak = (min(column) for column in zip(*row, strict=True))
        table.add(what, "" if "make" not in script else "kept" if kept else "none", seconds, peak)
    return [table], []


def _process(script: str, more: dict[str, str]) -> tuple[float, float]:
    """Processor seconds and peak memory, MB, of a Python that does ``script``."""
    unwanted = compiling.VARIABLE, "PYTHONDONTWRITEBYTECODE"  # with which every process compiles our sources
    given = {name: value for name, value in os.environ.items() if name not in unwanted} | more
    given["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", script + END]
    out = subprocess.run(command, env=given, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, peak = json.loads(out.splitlines()[-1])
    return seconds, peak


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Processes of each row; the least counts.")] = 5,
    json: Json = None,
) -> None:
    """Processor seconds and memory until the first step, with compiled kernels and without, beside OpenSpiel's."""
    measured("start", 0, json, lambda report: tables(rounds, report))


if __name__ == "__main__":
    typer.run(main)

"""Every command, stopped by Ctrl-C at some moment: it ends by itself, soon, and without a traceback.

The moment is counted in seconds of the processor, drawn by the command's name, so it does not depend on how busy the
machine is; before the first half second Python itself still imports the package, and names the line that it was at.
The time to the end is measured from the signal to the end of the last process, and only printed.
``STOPPING_JSON=docs/results/stopping.json`` keeps the times.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import train
import typer

from bidzoo import __version__
from bidzoo.benchmarks import leaderboard, results
from bidzoo.cli.main import app
from bidzoo.cli.stopping import STATUS
from bidzoo.core.cards import call_number
from bidzoo.envs.bridge.deals import pack_hands, packaged

ROOT = Path(__file__).parents[1]
JSON = os.environ.get("STOPPING_JSON")
HANGS = 60.0  # seconds: a bound for what never ends
IDLE = 30.0  # seconds after which a server waits, however little it has done
TRAINING, RETRAIN = "--boards 0", "experiments/train.py"
COMMANDS = {  # words behind each command, which make it take long where it can; "cold": with nothing compiled before
    "compile": "cold --workers 2",
    "play": "--port 0",
    "show": "boards.pbn --solve",
    "match": "cold sayc sl --boards 200000 --workers 2",
    "check": "cold sayc",
    "replay": "boards.pbn --solve",
    "exploit": "sl --budget 1h",
    "report": "throughput.json --out report.html",
    "list": "",
    "bench throughput": "--seconds 60",
    "bench tabular": "--seeds 100 --workers 2 --ledger tabular.jsonl",
    "bench spades": "--games 100000 --workers 2",
    "bench bridge": "--agents sayc,sl,ppo --boards 100000 --workers 2",
    "bench bridge-analysis": "--boards 100000 --workers 2",
    "bench bridge-cost": "--agents sayc,baseline16 --boards 200000 --workers 2",
    "leaderboard challenges": "",
    "leaderboard enter": "bridge-2026 bmcs --workers 2 --json entry.json --ledger enter.jsonl",
    "leaderboard verify": "spades-2026.json --boards 4000 --agent uct --workers 2",
    "leaderboard rank": "spades-2026.json",
    "deals generate": "100000 --out deals.npz --workers 2",
    "deals estimate": "10000000 --out estimated.npz",
    "deals import": "boards.pbn --solve --out imported.npz --workers 2",
    "deals auctions": "boards.pbn --out auctions.npz",
    "deals info": "boards.pbn",
    "train record": "1000000 --policy sayc --out recorded.npz",
    "train sl": "calls.npz --set batch=256",
    "train belief": "calls.npz",
    "train ppo": f"cold {TRAINING}",
    "train rpi": TRAINING,
    "train rl": TRAINING,
    "train a2c": TRAINING,
    "train jps": TRAINING,
    "bluechip serve": "--first sayc --port 0 --closed-port 0",
    "bluechip join": "sayc --port 1 --patience 100",
    f"{RETRAIN} baseline16": TRAINING,
    f"{RETRAIN} baseline19": f"calls.npz {TRAINING}",
    f"{RETRAIN} pbl": TRAINING,
    f"{RETRAIN} pi": TRAINING,
    f"{RETRAIN} distil": TRAINING,
    f"{RETRAIN} evaluator": "",
}
HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # unlike a background job
QUICK = {"show", "check", "replay", "report", "list", "deals auctions", "deals info", "bluechip join"} | {
    f"leaderboard {name}" for name in ("challenges", "rank")
}  # stopped while they are imported, or soon after
STATUSES = {"play": (0, STATUS)}  # Ctrl-C is how one leaves it


def paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """All commands below ``command``."""
    if hasattr(command, "commands"):
        for name, part in command.commands.items():
            yield from paths(part, (*path, name))
    else:
        yield " ".join(path)


def test_every_command_is_among_them() -> None:
    found = [*paths(typer.main.get_command(app)), *paths(typer.main.get_command(train.app), (RETRAIN,))]
    assert sorted(found) == sorted(COMMANDS)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "boards.pbn").write_bytes((ROOT / "tests" / "data" / "club.pbn").read_bytes())
    (folder / "throughput.json").write_bytes((ROOT / "docs" / "results" / "throughput.json").read_bytes())
    hands, calls = pack_hands(packaged("validation").hands[:3000]), list(map(call_number, ["1C", "P", "P", "P"]))
    fields = {
        "owner": hands,
        "dealer": np.arange(len(hands)) % 4,
        "vulnerable": np.zeros((len(hands), 2), np.uint8),
        "length": np.full(len(hands), len(calls)),
        "calls": np.tile(calls, len(hands)),
    }
    np.savez(folder / "calls.npz", **fields)
    challenge = leaderboard.CHALLENGES["spades-2026"]
    values = dict.fromkeys(challenge.opponents, " ".join(["0"] * challenge.boards))
    entry = leaderboard.Entry(challenge.name, "a", "uct", "bidzoo", "x", __version__, "3", "x", 1.0, values)
    leaderboard.save(folder / "spades-2026.json", entry)
    return folder


@pytest.fixture(scope="module")
def times() -> Iterator[results.ResultTable]:
    """What was measured; kept in the end where that is asked for."""
    columns = ["command", "signal after, processor s", "nothing compiled", "end after, s"]
    table, began = results.ResultTable("From Ctrl-C to the end of the last process", columns), time.monotonic()
    yield table
    if JSON and table.rows:
        path = Path(JSON)
        if path.exists():  # of commands that were tried before
            before = results.load(path)["tables"][1]
            rows = {row["command"]: row for row in [*before.rows, *table.rows]}
            table.rows[:] = [rows[command] for command in COMMANDS if command in rows]
        results.save(path, "stopping", [by_group(table), table], seed=0, seconds=time.monotonic() - began)
        document = json.loads(path.read_text())
        document["command"] = f"STOPPING_JSON={JSON} pytest -m slow tests/test_ctrl_c.py"
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def by_group(table: results.ResultTable) -> results.ResultTable:
    """The longest time of each group of commands."""
    longest: dict[str, list[float]] = {}
    for row in table.rows:
        name = row["command"]
        longest.setdefault(name.split()[0] if " " in name else "others", []).append(row["end after, s"])
    groups = results.ResultTable(f"{table.title}, by group", ["commands", "number", "longest, s"])
    for name, seconds in {**longest, "all": [most for each in longest.values() for most in each]}.items():
        groups.add(name, len(seconds), max(seconds))
    return groups


def processor_seconds(group: int) -> float:
    """Of all living processes of the group."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += (int(fields[2]) == group) * (int(fields[11]) + int(fields[12]))
    return ticks / os.sysconf("SC_CLK_TCK")


def put_first(group: int) -> None:
    """Where that is allowed, let other work of the machine wait: what is measured is not how busy it is."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PGRP, group, -15)
        Path(f"/proc/{group}/autogroup").write_text("-15")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux")
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c(command: str, files: Path, times: results.ResultTable, tmp_path: Path) -> None:
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    words, moment = (
        COMMANDS[command].split(),
        random.Random(command).uniform(*(0.5, 0.9) if command in QUICK else (0.5, 5)),
    )
    environment = {**os.environ, "COLUMNS": "120"}
    if cold := words[:1] == ["cold"]:
        words, environment["NUMBA_CACHE_DIR"] = words[1:], str(tmp_path / "kernels")
    environment.pop("BIDZOO_COMPILE", None)  # as a user has it
    program, *rest = command.split()
    if program == RETRAIN:
        path = ROOT / program
        script = f"import sys; sys.path[0] = '{path.parent}'; import runpy; runpy.run_path('{path}', None, '__main__')"
    else:
        script, rest = "from bidzoo.__main__ import main; main()", [program, *rest]
    process = subprocess.Popen(
        [sys.executable, "-c", HEARS + script, *rest, *words],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    idle = time.monotonic() + IDLE
    while process.poll() is None and time.monotonic() < idle and processor_seconds(process.pid) < moment:
        time.sleep(0.05)
    if process.poll() is None:
        put_first(process.pid)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, said = process.communicate(timeout=HANGS)  # until no process has the pipes
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        seconds = time.monotonic() - began
        print(f"{command}: signal after {moment:.1f} s of the processor, ended after {seconds:.2f} s")
        times.add(command, round(moment, 1), "yes" if cold else "", round(seconds, 2))
        assert process.returncode in STATUSES.get(command, (STATUS,)), said
    else:
        out, said = process.communicate()
        assert process.returncode in (0, 2, 3), said  # 2: nobody answers; 3: a wrong score is left out
    assert "Traceback" not in said + out


WAITS = """
import signal, sys, threading
from bidzoo.cli import stopping
signal.signal(signal.SIGINT, lambda *_: None)  # nothing interrupts a thread that waits for a lock, as on Windows
sys.platform = "win32"
stopping.watch()
lock = threading.Lock()
print("ready", flush=True)
with lock:
    lock.acquire()
"""


def test_ctrl_c_ends_a_process_that_waits_for_a_lock_on_windows() -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WAITS], text=True, **pipes) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANGS)
    assert process.returncode == STATUS and said == "\nbidzoo: stopped; nothing is kept\n"

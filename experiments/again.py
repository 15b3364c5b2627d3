"""Again: result files are measured once more, each by its own command, and what has changed since is said.

python experiments/again.py --naming rpi --list             # the files that a new network of rpi makes stale
python experiments/again.py --naming rpi --write            # measures them and puts the new ones in their place
python experiments/again.py bridge-baseline19 exploit       # two files: the same bytes as when they were measured?

With one seed a command measures the same numbers again, unless agents, deals or rules are not what they were. Times are
compared with nothing. A file is left out, and the reason said, where its command needs a file that the repository does
not have, or is not one command of ``bidzoo`` or ``python``.
"""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from bidzoo.cli.showing import say
from bidzoo.core.schema import json_value, shortened
from bidzoo.core.storage import replace_file

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
SHOWN = 6  # differences of a file
MADE = ("--json", "--pictures", "--out", "--partner")  # options that name what a command writes
INPUT = re.compile(r"[^,=]+\.(?:npz|safetensors|jsonl)(?=,|$)")
TIME = re.compile(r"seconds\b|\ba second\b|\bms\b")  # columns that no two runs have alike
UNLIKE = ("jps-speed", "kills", "one-table", "selfplay", "selfplay-gpu", "soak", "start", "throughput")


def naming(agent: str, path: Path) -> bool:
    """Whether the agent's name stands anywhere in a result file; ``rpi`` does not stand in ``rpi-bmcs``."""
    return re.search(rf"(?<![\w-]){re.escape(agent)}(?![\w-])", path.read_text(encoding="utf-8")) is not None


def hindrance(name: str, words: Sequence[str]) -> str | None:
    """Why the command of a result file cannot be given again and compared; None if it can."""
    if name in UNLIKE:
        return "it holds times or counts of them, which no two runs have alike"
    if words[0] not in ("bidzoo", "python") or "--json" not in words:
        return f"by hand: {shlex.join(words)}"
    products = {after for word, after in pairwise(words) if word in (*MADE, "--ledger")}
    inputs = [file for word in words if word not in products for file in INPUT.findall(word)]
    absent = [file for file in inputs if not (ROOT / file).exists()]
    return f"needs {', '.join(absent)}" if absent else None


def elsewhere(words: Sequence[str], folder: Path) -> list[str]:
    """The command for this interpreter, with what it writes in ``folder``."""
    moved = [str(folder / Path(after).name) if word in MADE else after for word, after in pairwise(words)]
    return [sys.executable, *(["-m", "bidzoo"] if words[0] == "bidzoo" else []), *moved]


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """What two results do not have alike: where it stands, the old value and the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(key for key in old.keys() | new.keys() if not TIME.search(key)):
            yield from differences(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (before, now) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, now, f"{where}[{k}]")
    elif not alike(old, new):
        yield f"{where.removeprefix('.')}: {old}, now {new}"


def alike(old: Any, new: Any) -> bool:
    """Whether two values are equal, numbers up to the order of a sum; the error of a single group is nan in both."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-9) or (math.isnan(old) and math.isnan(new))
    return bool(old == new)


def again(path: Path, words: Sequence[str], folder: Path, write: bool) -> None:
    """Measure one result file again and say what differs; with ``write`` a file that does is put in its place."""
    subprocess.run(elsewhere(words, folder), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    old, new = (json_value(file.read_bytes(), str(file)) for file in (path, folder / path.name))
    parts = ("tables", "figures")
    found = [line for part in parts for line in differences(old.get(part), new.get(part), part)]
    say(f"{path.stem}: {f'{len(found):,} differ' if found else 'the same'}")
    for line in found[:SHOWN]:
        say(f"  {shortened(line)}")
    if found and write:
        text = json.dumps({**new, "command": old["command"]}, indent=1, ensure_ascii=False)
        replace_file(path, f"{text}\n".encode())


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Result files, without ending; default: all.")] = None,
    agent: Annotated[str | None, typer.Option("--naming", help="Only files that name this agent.")] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Say which commands these are, and give none.")] = False,
    folder: Annotated[Path, typer.Option("--out", help="Folder for what is measured.")] = Path("runs/again"),
    write: Annotated[bool, typer.Option(help="Put files that differ in the place of the old ones.")] = False,
) -> None:
    """Measure result files again, each by its own command."""
    chosen = {path.stem: path for path in sorted(RESULTS.glob("*.json")) if not agent or naming(agent, path)}
    if absent := set(names or []) - chosen.keys():
        raise typer.BadParameter(f"{', '.join(sorted(absent))}: no result file, or it does not name the agent")
    folder, failed = folder.resolve(), False
    for name in names or chosen:
        document = json_value(chosen[name].read_bytes(), name)
        words = shlex.split(document["command"])
        if reason := hindrance(name, words):
            say(f"{name}: left out: {reason}")
            continue
        say(f"{name}: {document['command']} ({document['seconds']:.0f} s last time)")
        if only_list:
            continue
        try:
            again(chosen[name], words, folder, write)
        except subprocess.CalledProcessError as problem:  # which has said why
            failed = True
            say(f"{name}: the command ended with status {problem.returncode}", err=True)
    raise typer.Exit(failed)


if __name__ == "__main__":
    os.environ |= {"BIDZOO_COMPILE": "now"}
    typer.run(main)

"""Golden: files that are written and read, tables and pages of results, and what the commands print."""

import json
import re
import warnings
from contextlib import chdir
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo.agents.tabular.policy import TablePolicy
from bidzoo.benchmarks import records, report, results
from bidzoo.benchmarks.match import play
from bidzoo.bluechip.message import parse
from bidzoo.bluechip.message import text as message_text
from bidzoo.cli.main import app
from bidzoo.core.storage import Journal
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.deals import DATA, DealSet, Source, augment, packaged, read_boards
from bidzoo.envs.bridge.double_dummy import dd_contracts
from bidzoo.envs.bridge.formats import lin, pbn
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions, write_text

HERE = Path(__file__).parent
FILES = (DATA / "sample.pbn", HERE.parent / "data" / "club.pbn", HERE.parent / "data" / "match.lin")
MATCHES = {  # words of ``bidzoo match``
    "bridge": ["sayc", "random", "--boards", "24", "--seed", "1"],
    "bridge jps": ["jps-bridge", "pass", "--boards", "12", "--seed", "3", "--deals", "validation"],
    "bridge file": ["sayc", "pass", "--pbn", str(DATA / "sample.pbn"), "--boards", "10"],
    "cards": ["random", "random", "--env", "bridge_v0", "--boards", "6", "--seed", "2"],
    "spades": ["bis", "rb", "--env", "spades_v0", "--set", "win_goal=200", "--boards", "4", "--seed", "1"],
    "spades cutthroat": ["wrp", "random", "--env", "spades_v0", "--set", "variant=cutthroat", "--boards", "2"],
    "minibridge": ["exact", "random", "--env", "minibridge_v0", "--set", "size=3", "--boards", "40", "--seed", "1"],
    "mini_hanabi": ["cfr", "exact", "--env", "mini_hanabi_v0", "--boards", "40", "--seed", "5"],
}
HELP = (
    [],
    *([one] for one in ("play", "match", "replay", "report", "bench", "deals", "train", "bluechip")),
    *(["bench", one] for one in ("tabular", "spades", "bridge", "bridge-analysis")),
    *(["deals", one] for one in ("generate", "estimate", "import", "auctions", "info")),
    *(["train", one] for one in ("record", "sl", "belief", "ppo", "rpi", "rl", "a2c", "jps")),
)
TIMED = re.compile(r"seconds|time|/s$| s$")  # columns of a result table
OPTIONS = ("ppo", "rpi", "rl", "a2c", "jps")  # of ``bidzoo train``, listed by --set help
MESSAGES = (  # of the Blue Chip protocol
    'Connecting "Ours" as NORTH using protocol version 18',
    "NORTH ready for teams",
    'Teams : N/S : "Ours" E/W : "Theirs"',
    "Board number 3. Dealer EAST. E/W vulnerable",
    "NORTH's cards : S A K Q 2. H J T 9. D -. C 8 7 6 5 4 3.",
    "NORTH bids 1NT",
    "EAST passes",
    "SOUTH doubles",
    "NORTH to lead",
    "WEST plays 7C",
    "End of session",
)


def run(*words):
    """What a command prints, without folders and their digests, times and versions."""
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "120", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return masked(done.output)


def masked(text):
    text = text.replace(bidzoo.__version__, "VERSION")
    text = re.sub(r"(/[\w.-]+)+/", "", text)
    text = re.sub(r"-[0-9a-f]{12}\.json\b", "-ASKED.json", text)  # a digest of what was asked for, folders too
    text = re.sub(r"\b[\d.,]+ s\b", "TIME", text)
    return re.sub(r"(?m)^(working|.*: [\d,]+ of [\d,]+), TIME\n", "", text)  # what a command says after eight seconds


# ---- matches -----------------------------------------------------------------------------


def match(name):
    """A match with its records in every format, and their replay."""
    words, parts = MATCHES[name], {}
    bridge = name.startswith(("bridge", "cards"))
    solve = double_dummy.dd_tricks
    solved = cache(lambda deals: solve(np.frombuffer(deals, np.int64).reshape(-1, 4)))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(double_dummy, "dd_tricks", lambda hands: solved(hands.tobytes()))  # the same for every format
        for ending in ("jsonl", "pbn", "lin") if bridge else ("jsonl",):
            path = Path(folder, f"m.{ending}")
            parts[f"text, {ending}"] = run("match", *words, "--out", path)
            parts[ending] = path.read_text().replace(bidzoo.__version__, "VERSION")
            parts[f"replay, {ending}"] = run("replay", path)
            if ending != "jsonl":
                parts[f"{ending} read"] = read_boards(path)
    if bridge:
        parts["replayed"] = [records.replay(json.loads(line)) for line in parts["jsonl"].splitlines()]
    return parts


def trajectories():
    """OpenSpiel's text form of boards that North deals, and the auctions in it."""
    game = bidzoo.make_game("bridge_v0")
    played = play(game, ["random"] * 4, np.arange(0, 160, 16), seed=3, actions=True)
    with TemporaryDirectory() as folder:
        path = Path(folder, "boards.txt")
        write_text(path, played.states)
        return {"text": path.read_text(), "auctions": list(Auctions.load(path)), "actions": played.actions}


def auctions():
    """Recorded auctions: the file, what is read, the positions in it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "auctions.npz")
        said = run("train", "record", 60, "--policy", "sayc", "--seed", 9, "--out", path)
        with np.load(path) as fields:
            parts = {name: fields[name] for name in sorted(fields.files)}
        data = Auctions.load(path)
        positions = Positions(data, np.arange(60))
        numbers = np.arange(len(positions))
        split = [data.split(which) for which in ("train", "validation", "test")]
        return {**parts, "said": said, "at": positions.at(numbers), "others": positions.others(numbers), "split": split}


# ---- deals and boards --------------------------------------------------------------------


def tried(function, *arguments):
    """What ``function`` gives, or the words of its ValueError; boards that are left out are fewer, without a word."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* left out, hands are missing: ", UserWarning)
            return function(*arguments)
    except ValueError as problem:
        return masked(str(problem))


def board_set(path):
    """The deals of a file, dealers and vulnerabilities."""
    found = Source.load(path)
    return (found.hands, found.tricks), found.dealer, found.vulnerable


def boards(path):
    """A file of boards: read, written in both forms, taken as deals; what a form cannot hold is an error in words."""
    found = read_boards(path)
    text = pbn.dumps(found)
    return {
        "boards": found,
        "pbn": text,
        "lin": [tried(lin.dumps, [board]) for board in found],
        "again": pbn.loads(text),
        "deals": tried(board_set, path),
        "info": tried(run, "deals", "info", path),
    }


def deals():
    """Deal files as the commands make them: arrays, provenance, information."""
    parts = {"packaged": [packaged(split).checksum() for split in ("train", "validation", "test")]}
    with TemporaryDirectory() as folder:
        for name, words in {
            "generate": ["generate", 2, "--seed", 5],
            "estimate": ["estimate", 40, "--seed", 6],
            "import": ["import", FILES[0]],
        }.items():
            path = Path(folder, f"{name}.npz")
            parts[f"{name} text"] = run("deals", *words, "--out", path)
            with np.load(path) as fields:
                parts[name] = {field: fields[field] for field in sorted(fields.files)}
            parts[f"{name} read"] = list(DealSet.load(path))
    turned = augment(DealSet.of(*(array[:96] for array in packaged("test"))), np.arange(96) % 24, np.arange(96) // 24)
    return {**parts, "augmented": list(turned), "info": run("deals", "info", "packaged")}


def deal_bytes():
    """The bytes of a deal file, which depend on the library that compresses."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "d.npz")
        DealSet.of(*(array[:50] for array in packaged("test"))).save(path, {"deals": "fifty"})
        return {"bytes": path.read_bytes()}


def journal():
    """Bytes of a journal; a torn tail is cut."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "j")
        rows = np.random.default_rng(0).integers(0, 256, (9, 5)).astype(np.uint8)
        with Journal(path, {"what": "numbers", "format": 1}, 5) as file:
            file.append(rows[:4])
            file.append(rows[4:])
        whole = path.read_bytes()
        path.write_bytes(whole[:-3])
        with Journal(path, {"what": "numbers", "format": 1}, 5) as file:
            found = file.at_opening
        return {"bytes": whole, "found": found, "cut": path.read_bytes()}


def solved():
    """Single contracts, solved."""
    hands = packaged("test").hands[:6]
    return {"tricks": dd_contracts(hands, np.arange(6) % 4, np.arange(6) % 5)}


def table_policy():
    """A strategy as a file, and what is read from it."""
    game = bidzoo.make_game("minibridge_v0", size=3)
    policy = bidzoo.agents.make("exact").policy(game)
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.safetensors")
        policy.save(path)
        again = TablePolicy.load(path)
        return {"bytes": path.read_bytes(), "read": [again.name, str(again.game), again.strategy]}


def messages():
    """Lines of the Blue Chip protocol, read and written again."""
    read = [tried(parse, line) for line in MESSAGES]
    written = [message_text(one, upper) for one in read if not isinstance(one, str) for upper in (False, True)]
    return {"read": read, "written": written}


# ---- results -----------------------------------------------------------------------------


def results_page(path):
    """A result file: cells as text, the report, its pictures."""
    document = results.load(path)
    page = report.page([document])
    cells = [
        [[results.text(row.get(name)) for name in table.columns] for row in table.rows] for table in document["tables"]
    ]
    heads = [[table.title, list(table.columns), table.note] for table in document["tables"]]
    return {"cells": cells, "heads": heads, "page": re.sub(r"base64,[^\"]*", "", page)}


def pictures():
    """The figures of a report as matplotlib draws them."""
    pytest.importorskip("matplotlib")
    documents = [results.load(path) for path in sorted((HERE / "results").glob("*.json"))]
    return {"figures": [report.drawn(figure, "file") for document in documents for figure in document["figures"]]}


def measured(*words):
    """Result file and text of a benchmark, without what the clock says."""
    with TemporaryDirectory() as folder, chdir(folder):  # its ledger lies in runs/, which other tests have too
        path = Path(folder, "result.json")
        text = run("bench", *words, "--json", path)
        document = json.loads(path.read_text())
    kept = [name for name in document if name not in ("command", "version", "python", "machine", "seconds")]
    timed = {name for table in document["tables"] for name in table["columns"] if TIMED.search(name)}
    for table in document["tables"]:
        table["rows"] = [{name: x for name, x in row.items() if name not in timed} for row in table["rows"]]
    return {"result": {name: document[name] for name in kept}, **({} if timed else {"text": text})}


BENCHES = {
    "tabular": [
        "tabular",
        "--seeds",
        "2",
        "--network-seeds",
        "0",
        "--game",
        "simple_bidding_v0(size=4)",
        "--workers",
        "1",
    ],
    "spades": ["spades", "--games", "6", "--workers", "1"],
    "bridge": ["bridge", "--agents", "sayc,pass,sl", "--boards", "60", "--workers", "1"],
    "bridge-analysis": ["bridge-analysis", "--agents", "sayc,ppo", "--boards", "80", "--workers", "1"],
}
CASES = {
    **{f"match {name}": lambda a=name: match(name=a) for name in MATCHES},
    **{f"boards {path.name}": lambda a=path: boards(a) for path in FILES},
    **{f"results {path.stem}": lambda a=path: results_page(a) for path in sorted((HERE / "results").glob("*.json"))},
    **{f"bench {name}": lambda a=words: measured(*a) for name, words in BENCHES.items()},
    "trajectories": trajectories,
    "auctions": auctions,
    "deals": deals,
    "deal bytes": deal_bytes,
    "journal": journal,
    "solved": solved,
    "table policy": table_policy,
    "messages": messages,
    "pictures": pictures,
    "list": lambda: {"text": run("list")},
    "help": lambda: {" ".join(words) or "bidzoo": run(*words, "--help") for words in HELP},
    "options": lambda: {name: run("train", name, "--set", "help") for name in OPTIONS},
}
RICH = ("rich", "typer")
LOCAL = {  # what else each of these depends on
    "pictures": ("matplotlib", "processor"),
    "deal bytes": ("processor", "zip"),
    "deals": ("processor",),
    "list": RICH,
    "help": RICH,
    **{
        name: RICH if " bridge" in name else (*RICH, "processor")  # bridge's networks add integers
        for name in (*(f"match {name}" for name in MATCHES), *(f"bench {name}" for name in BENCHES))
    },
}


@pytest.mark.parametrize("name", CASES)
def test_unchanged(name, unchanged):
    unchanged(name)

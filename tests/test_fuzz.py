"""Readers of files against damage and malice: nothing is taken in silence, nothing fails without a name.

A *target* is a reader with a sound file. Hypothesis changes the file, as bytes or as what they mean (an array, a JSON
value, a tensor, metadata), and the reader either refuses with a ValueError that names the file and says what is wrong,
or gives what the file says: as an independent reader finds it, or, in formats with sums, what the sound file held. It
must not take long, nor memory out of proportion, nor warn.

``make test-fuzz`` draws 2000 files a target, ``make test-fuzz FUZZ=50000`` a million in all; ``make test`` a few. A
file that a reader failed on is kept in ``tests/data/fuzz/<target>`` and belongs to the tests from then on.
``JSON=docs/results/fuzz.json`` counts what came of the files, for docs/mutations.md.
"""

import fcntl
import io
import json
import os
import re
import resource
import signal
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bidzoo.benchmarks import printing, results

CASES, SEED = int(os.environ.get("FUZZ", "25")), os.environ.get("SEED") or "0"
DRAWN = 5000  # more cases than that are drawn by Python, in a third of the time, and are not made smaller
KEPT = Path(__file__).parent / "data" / "fuzz"
JSON = os.environ.get("FUZZ_JSON")  # result file of what came of DRAWN files or more
SECONDS, BYTES = 10.0, 200 << 20  # of one file; of the processor, since the machine may be busy

NUMBERS = [0, 1, -1, 2, 13, 14, 38, 52, 127, 128, 255, 256, 300, 2**31, -(2**31), 2**63, 2**64, -(2**63), 10**25]
VALUES = [
    *NUMBERS,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    None,
    True,
    "",
    "x",
    "é",
    "\ud800",
    "\x00",
    [],
    {},
    [[1]],
    [None],
]
WORDS = [
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 30,
    b"9" * 5000,
    b"\xff\xfe",
    b"null",
    b"[" * 70,
    b"[" * 5000,
    b'"',
    b"\\",
    b"\r",
    b"\n\n",
]


# ---- changes -------------------------------------------------------------------------------


def changed_bytes(rng: Random, sound: bytes) -> bytes:
    """One to four places changed."""
    content = bytearray(sound)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, max(0, len(content) - 1))
        size = rng.choice([1, 1, 2, 4, 8, 30, 200])
        kind = rng.choice(["bit", "bit", "byte", "cut", "end", "twice", "word"])
        if kind == "bit" and content:
            content[at] ^= 1 << rng.randint(0, 7)
        elif kind == "byte" and content:
            content[at] = rng.randint(0, 255)
        elif kind == "cut":
            del content[at : at + size]
        elif kind == "end":
            del content[at:]
        elif kind == "twice":
            content[at:at] = content[at : at + size]
        elif kind == "word":
            content[at:at] = rng.choice(WORDS)
    return bytes(content)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of all parts of a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in parts for place in places(part, (*path, key)))]


def changed_json(rng: Random, value: Any) -> Any:
    """One part put in another's place, left out, or something else."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.randint(1, 2)):
        known = places(value)
        path = rng.choice(known)
        kind = rng.choice(["value", "value", "value", "number", "other", "gone", "more"])
        new = rng.choice(VALUES)
        if kind == "number":
            new = rng.randint(-(2**70), 2**70)
        elif kind == "other":
            source = rng.choice(known)
            new = value
            for key in source:
                new = new[key]
        elif kind == "more":
            new = [new] * rng.choice([3, 21, 60])
        new = json.loads(json.dumps(new))  # of its own, for a second change
        if not path:
            return new
        into = value
        for key in path[:-1]:
            into = into[key]
        if kind == "gone":
            del into[path[-1]]
        else:
            into[path[-1]] = new
    return value


def changed_lines(rng: Random, sound: bytes) -> bytes:
    """One line of JSON lines changed, or put elsewhere."""
    lines = sound.splitlines()
    at = rng.randint(0, len(lines) - 1)
    if rng.randint(0, 7) == 0:
        lines.insert(rng.randint(0, len(lines)), lines[at])
    else:
        lines[at] = json.dumps(changed_json(rng, json.loads(lines[at]))).encode()
    return b"\n".join(lines) + b"\n"


def changed_array(rng: Random, array: np.ndarray) -> np.ndarray:
    """Another type, shape or value."""
    kind = rng.choice(["value", "value", "value", "type", "shape", "rows"])
    if kind == "value" and array.size and array.dtype.kind in "iu":
        array = array.astype(np.int64)
        array.flat[rng.randint(0, array.size - 1)] = rng.choice([n for n in NUMBERS if abs(n) < 2**63])
    elif kind == "value" and array.size and array.dtype.kind == "f":
        array = array.copy()
        array.flat[rng.randint(0, array.size - 1)] = rng.choice([np.nan, np.inf, -np.inf, 6e4, 0.0])
    elif kind == "type" and array.dtype.kind != "U":
        array = array.astype(rng.choice(["i1", "u1", "i8", "u8", "f2", "f4", "f8", "c8", "?", "U3", ">i4"]))
    elif kind == "shape":
        array = rng.choice([array[None], array.reshape(-1), array[..., None], np.empty(0, array.dtype)])
    elif array.ndim:
        array = array[: rng.randint(0, len(array))]
    return array


def changed_npz(rng: Random, sound: bytes) -> bytes:
    """One array changed, left out, or put in another's place."""
    with np.load(io.BytesIO(sound)) as archive:
        arrays = dict(archive)
    name = rng.choice(sorted(arrays))
    kind = rng.choice(["array", "array", "array", "gone", "other", "more"])
    if kind == "array":
        arrays[name] = changed_array(rng, arrays[name])
    elif kind == "gone":
        del arrays[name]
    elif kind == "other":
        arrays[name] = arrays[rng.choice(sorted(arrays))]
    else:
        arrays[rng.choice(["x", "", "../x", "é", "owner.npy"])] = arrays[name]
    out = io.BytesIO()
    with np.errstate(all="ignore"):
        np.savez(out, **arrays)
    return out.getvalue()


def changed_tensors(rng: Random, sound: bytes) -> bytes:
    """Header or metadata of a safetensors file changed; lengths that say what is there."""
    size = int.from_bytes(sound[:8], "little")
    header, data = json.loads(sound[8 : 8 + size]), sound[8 + size :]
    if rng.random() < 0.5:
        (key, text), *_ = header["__metadata__"].items()
        about = json.loads(text) if text.startswith("{") else text
        header["__metadata__"][key] = json.dumps(changed_json(rng, about))
    else:
        header = changed_json(rng, header)
    text = json.dumps(header).encode()
    if rng.randint(0, 3) == 0:
        data = changed_bytes(rng, data)
    return len(text).to_bytes(8, "little") + text + data


# ---- targets -------------------------------------------------------------------------------


class Target(NamedTuple):
    """A reader."""

    suffix: str
    sound: Callable[[], bytes]  # a file of it
    read: Callable[[Path], Any]  # something to compare, once read
    change: Callable[[Random, bytes], bytes]  # of what the bytes mean
    right: Callable[
        [Any, bytes, Any], bool
    ]  # whether what was read is what a file says; the third is of the sound file


def plain(value: Any) -> Any:
    """Arrays as lists, named tuples as tuples: to compare."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def as_sound(found: Any, content: bytes, sound: Any) -> bool:
    """Formats with sums: what is read is what was written."""
    return repr(found) == repr(sound)


def any_value(found: Any, content: bytes, sound: Any) -> bool:
    """The reader's own checks must do."""
    return True


def arrays_of(content: bytes) -> dict[str, Any]:
    """As NumPy reads them, by names of members; wide, so that nothing can wrap."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {n.removesuffix(".npy"): np.load(io.BytesIO(archive.read(n))).tolist() for n in archive.namelist()}


def lines_of(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.removesuffix(b"\n").split(b"\n")] if content else []


def _deals() -> bytes:
    from bidzoo.envs.bridge.deals import DealSet, packaged

    deals = DealSet(*(array[:6] for array in packaged("validation")))
    return written(lambda path: deals.save(path, {"seed": 3}))


def written(write: Callable[[Path], Any]) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sound")
        write(path)
        return path.read_bytes()


def _read_deals(path: Path) -> Any:
    from bidzoo.envs.bridge.deals import DealSet, pack_hands, pack_tricks

    hands, tricks = DealSet.load(path)
    return {"owner": pack_hands(hands).tolist(), "tricks": pack_tricks(tricks).tolist()}


def _auctions() -> Any:
    from bidzoo.agents.bridge.sayc import Sayc
    from bidzoo.benchmarks.auctions import record

    return record(Sayc(), 6, seed=1)


def _read_auctions(path: Path) -> Any:
    from bidzoo.envs.bridge.deals import pack_hands
    from bidzoo.envs.bridge.formats.auctions import Auctions

    data = Auctions.load(path)
    return {
        "owner": pack_hands(data.hands).tolist(),
        "dealer": data.dealer.tolist(),
        "vulnerable": (data.vulnerable[:, None] >> np.arange(2) & 1).tolist(),
        "length": np.diff(data.start).tolist(),
        "calls": data.calls.tolist(),
    }


def as_arrays(found: Any, content: bytes, sound: Any) -> bool:
    """Every array that was read is the file's."""
    try:
        known = arrays_of(content)
    except Exception:  # damaged where nothing is read
        return bool(found == sound)
    return all(known[name] == value for name, value in found.items())


def _text_auctions() -> bytes:
    from bidzoo.envs.bridge.formats.auctions import write_text

    _, played = _played()
    return written(lambda path: write_text(path, played.states))


def _played() -> Any:
    from bidzoo import agents
    from bidzoo.benchmarks.match import play
    from bidzoo.envs.bridge.game import Bridge

    game = Bridge(play=True)
    return game, play(game, [agents.make("random")] * 4, np.arange(0, 64, 16), seed=3)


def _network() -> bytes:
    from bidzoo.agents.bridge import network

    shape = network.Architecture("openspiel480", 38, width=4, depth=1)
    weights = {name: np.full(size, 0.5, np.float32) for name, size in shape.shapes.items()}
    return network.weight_file(network.Network(shape, weights), {"command": "x"})


def _read_network(path: Path) -> Any:
    from bidzoo.agents.bridge import network

    found, about = network.load_weights(path)
    return found.architecture.observation, found.digest, about


def same_tensors(found: Any, content: bytes, sound: Any) -> bool:
    """Metadata may say anything that fits; the weights are those written, or there is no digest to know them by."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return found[1] == sound[1] or "digest" not in json.loads(header["__metadata__"]["bidzoo"])


def _checkpoint(folder: Path) -> Any:
    torch = pytest.importorskip("torch")
    from bidzoo.agents.bridge.trainer import Checkpoint

    class Tiny:
        modules = {"network": torch.nn.Linear(2, 2)}
        games = 3

        def arrays(self) -> Any:
            return {"buffer": np.arange(4)}

        def restore(self, arrays: Any) -> None:
            self.buffer = arrays["buffer"]

    torch.nn.init.constant_(Tiny.modules["network"].weight, 0.5)
    torch.nn.init.constant_(Tiny.modules["network"].bias, 0.25)
    return Checkpoint(folder, "tiny", {"steps": 3}, {"positions": "abc"}), Tiny()


def _checkpoint_file() -> bytes:
    def write(path: Path) -> None:
        with _checkpoint(path.parent)[0] as kept:
            kept.networks["network"] = b"weights"
            kept.rows.append({"step": 1.0, "loss": float("nan")})
            kept.save(1, _checkpoint_trainer(path))
        os.replace(path.parent / "checkpoint.safetensors", path)

    return written(write)


def _checkpoint_trainer(path: Path) -> Any:
    kept, trainer = _checkpoint(path.parent / "other")
    kept.__exit__()
    return trainer


def _read_checkpoint(path: Path) -> Any:
    kept, trainer = _checkpoint(path.parent)
    with kept:
        kept.file = path
        step = kept.restore(trainer)
    return step, trainer.games, trainer.buffer.tolist(), kept.networks


def of_checkpoint(found: Any, content: bytes, sound: Any) -> bool:
    """Another step may be said; arrays and networks are those written."""
    return bool(found[1:] == sound[1:])


def _table() -> bytes:
    from bidzoo.agents.tabular.policy import TablePolicy, game_of
    from bidzoo.agents.tabular.strategy import random
    from bidzoo.envs.signalling.compiled import compile_game

    compiled = compile_game(game_of("simple_bidding_v0(size=4)"))
    return written(TablePolicy(compiled, random(compiled, 1), "t").save)


def _read_table(path: Path) -> Any:
    from bidzoo.agents.tabular.policy import TablePolicy

    return TablePolicy.load(path).strategy.tolist()


def _journal() -> bytes:
    from bidzoo.core.storage import Journal

    def write(path: Path) -> None:
        with Journal(path, {"what": "numbers"}, 23) as journal:
            journal.append(np.random.default_rng(0).integers(0, 256, (5, 23)).astype(np.uint8))

    return written(write)


def _read_journal(path: Path) -> Any:
    from bidzoo.core.storage import Journal

    with Journal(path, {"what": "numbers"}, 23) as journal:
        return dict(enumerate(journal.at_opening.tolist()))


def first_ones(found: Any, content: bytes, sound: Any) -> bool:
    """A damaged record and what follows it are gone; nothing else is there."""
    return list(found.items()) == list(sound.items())[: len(found)]


def _ledger() -> bytes:
    from bidzoo.benchmarks.tabular import Job, Outcome
    from bidzoo.core.storage import Ledger

    def write(path: Path) -> None:
        with Ledger(path, Job, Outcome) as ledger:
            for seed in range(3):
                ledger.add(Job("CFR1k", "mini_hanabi_v0()", seed), Outcome(8.0, 8.0, 9.0, {"1": 0.5}, 0.1, 0.1, 1))

    return written(write)


def _read_ledger(path: Path) -> Any:
    from bidzoo.benchmarks.tabular import Job, Outcome
    from bidzoo.core.storage import Ledger

    with Ledger(path, Job, Outcome) as ledger:
        return [{"job": job._asdict(), "outcome": outcome._asdict()} for job, outcome in ledger.done.items()]


def as_lines(found: Any, content: bytes, sound: Any) -> bool:
    """Every line, a torn last one left out."""
    return plain(found) == lines_of(content[: content.rfind(b"\n") + 1])


def _share(path: Path) -> Any:
    import bidzoo
    from bidzoo import agents
    from bidzoo.benchmarks.match import MatchLedger

    game, random = bidzoo.make_game("comm_v0"), agents.make("random")
    ledger = MatchLedger(path, [random])
    return game, [random, random], ledger, ledger.jobs_of(game, [random] * 2, 0, 0, [np.arange(5), np.arange(5, 10)])


def _match_ledger() -> bytes:
    from bidzoo.benchmarks.match import play

    def write(path: Path) -> None:
        game, players, ledger, names = _share(path)
        with ledger:
            for name, boards in zip(names, (np.arange(5), np.arange(5, 10)), strict=True):
                played = play(game, players, boards, actions=True)
                ledger.add(name, played.reward, played.states, played.actions)

    return written(write)


def _read_match_ledger(path: Path) -> Any:
    game, _, ledger, names = _share(path)
    with ledger:
        found = ledger.known(game, names, actions=True).items()
        return {k: (reward.tolist(), states.tobytes(), actions.tolist()) for k, (reward, states, actions) in found}


def among(found: Any, content: bytes, sound: Any) -> bool:
    """Shares that another name hides are played again; the others are those written."""
    return all(sound[k] == value for k, value in found.items())


def _blue_chip() -> bytes:
    from bidzoo.bluechip.boards import Record, Result

    empty = json.loads((Path(__file__).parent / "data" / "blue-chip-result.json").read_text())
    played = {**empty, "contract": "1C", "declarer": "N", "taken": 7, "points": 70}

    def write(path: Path) -> None:
        record = Record(path, {"seed": 1})
        for number in (1, 2):
            record.add(Result.of({**played, "number": number}))
        record.close()

    return written(write)


def _read_blue_chip(path: Path) -> Any:
    from bidzoo.bluechip.boards import Record

    record = Record(path, {"seed": 1})
    record.close()
    return [json.loads(result.line()) for result in record.results.values()]


def last_of_each(found: Any, content: bytes, sound: Any) -> bool:
    """A board played again replaces its first result."""
    known = {(line["room"], line["number"]): line for line in lines_of(content[: content.rfind(b"\n") + 1])[1:]}
    return plain(found) == list(known.values())


def _records() -> bytes:
    from bidzoo.benchmarks import records

    game, played = _played()
    found = records._records(game, played.states, "open", list("abcd"), 3, 0)

    def write(path: Path) -> None:
        records.write(path.with_suffix(".jsonl"), found)
        os.replace(path.with_suffix(".jsonl"), path)

    return written(write)


def _read_records(path: Path) -> Any:
    from bidzoo.benchmarks import records

    found = records.read(path)
    for record in found:
        try:
            records.replay(record)
        except ValueError as problem:
            assert "board" in str(problem)
    return found


def _others() -> bytes:
    import bidzoo
    from bidzoo import agents
    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.match import pairings

    game, random = bidzoo.make_game("simple_bidding_v0", size=4), agents.make("random")
    played = pairings(game, random, random, np.arange(2))
    found = records.of_pairings(game, {"size": 4}, ("a", "b"), played)
    return "".join(json.dumps(record) + "\n" for record in found).encode()


def _results() -> bytes:
    from bidzoo.benchmarks import results
    from bidzoo.benchmarks.results import Estimate, Figure, ResultTable

    table = ResultTable("t", ["a", "b"])
    table.add("x", Estimate(1.0, 0.5, 3))
    table.add(None, Estimate(1.0, float("nan"), 1, 2.0))
    figure = Figure("f", "line", [1, 2], {"a": [0.5, 1.5]})
    return written(lambda path: results.save(path, "s", [table], seed=0, seconds=1.0, figures=[figure]))


def _read_results(path: Path) -> Any:
    from bidzoo.benchmarks import results

    found = results.load(path)
    printing.show(found["tables"])
    return results._plain(found["tables"][0].rows) if found["tables"] else []


def as_rows(found: Any, content: bytes, sound: Any) -> bool:
    tables = json.loads(content)["tables"]
    wanted = tables[0]["rows"] if tables else []
    full = [{k: as_estimate(v) if isinstance(v, dict) else v for k, v in row.items()} for row in wanted]
    return json.dumps(found, sort_keys=True) == json.dumps(full, sort_keys=True)


def as_estimate(fields: dict[str, Any]) -> dict[str, Any]:
    """A cell with its figures: null is NaN where a number must be."""
    unknown = {name: float("nan") for name in ("mean", "error") if name in fields and fields[name] is None}
    return {"paper": None, **fields, **unknown}


def _plan() -> bytes:
    from exact import write_plan
    from optimal_auction import RisingAuction, solve_rising_auction

    from bidzoo.registry import make_game

    optimum = solve_rising_auction(RisingAuction.of(make_game("simple_bidding_v0", size=4)))
    return written(lambda path: write_plan(optimum, path, "test"))


def _read_plan(path: Path) -> Any:
    from optimal_auction import RisingAuction, certified

    from bidzoo.agents.tabular.exact import read_plan
    from bidzoo.registry import make_game

    game = make_game("simple_bidding_v0", size=4)
    optimum = read_plan(path, game)
    try:
        return certified(RisingAuction.of(game), optimum.total, optimum.plan).total
    except ValueError as problem:  # which knows no file
        raise ValueError(f"{path}: {problem}") from problem


# Files of boards: the reader leaves out what is wrong and names it. What it took must be boards that the laws allow,
# written and read as they are. Strict reading takes the same where nothing is named, and else refuses the first of it.

PBN_PIECES = [
    *'[]{}"\\;%=#!?-*+^$ \n\x02\x0c\ud800²',
    *(
        "\n\n",
        "{never closed\n",
        "{ a {b} c }",
        "Generated 29 hands\n",
        "4C* ",
        "5C=1= ",
        " ^S ",
        " AP ",
        " Pass ",
        " all pass ",
    ),
    *(
        '[Board "0"]\n',
        '[Board "1-3"]\n',
        '[Room "Closed"]\n',
        '[Event "#"]\n',
        '[Note "1:x"]\n',
        '[Vulnerable "N-S"]\n',
    ),
    *(
        '[Declarer "S"]\n',
        '[Contract "Pass"]\n',
        '[Contract "4HX"]\n',
        '[Result "NS 9 EW 4"]\n',
        '[Deal "N:- - - -"]\n',
    ),
    *(
        "____",
        "\n\n\n",
        "\r\r\n",
        "\ufeff",
        "<html>",
        '[board "3"]\n',
        '[deal "#"]\n',
        '[Dealr "N"]\n',
        '[Event "x"]\n',
    ),
    *('[Ability "N:74659 E:49784"]\n', '[Ability "NS:7465?"]\n', '[Ability "x"]\n', '[Deal "N:xx... - - -"]\n'),
    *('[Auction "W"]\n- - ', '[Play "W"]\nD2 - - -\n', '[OptimumResultTable "Declarer Suit Tricks"]\nN NT 3\n'),
]
LIN_PIECES = [
    *"|!,%\n ",
    *("md|", "mb|1Nppp|", "mb|d|", "an| x |", "pc|HJ|", "mc|0|", "mc|9|", "sv|-|", "ah|Board%209|", "qx|o3|", "qx|c1|"),
    *("rs|1NN=,4HSx-1,P,|", "vg|F,1,I,1,2,A,0,B,0|", "pn|-,#,##x,?|", "md|3SJ976HJ5DJ86CQJ62,,,|", "st||"),
    *("https://x?lin=", "%7C", "%00", "mc|-1|", "||", "\r\r\n", "\ufeff", "<br>", "&amp;", "[a](", ")", "`", "(x)"),
    *("https://x?n=sakqj2h32d432c432&b=5&d=n&v=b&a=1n(15-17)ppp&p=hj&c=7", "&s=", "&a=pp", '"http://x?w=s2"', "&nn=A"),
]


def changed_text(pieces: list[str], words: str) -> Callable[[Random, bytes], bytes]:
    """Pieces of a grammar put in anywhere, lines and words exchanged, left out or doubled."""

    def change(rng: Random, sound: bytes) -> bytes:
        text = sound.decode()
        for _ in range(rng.randint(1, 5)):
            units = re.findall(rng.choice([".*\n?", words, "."]), text, re.DOTALL if rng.random() < 0.2 else 0) or [""]
            at = rng.randint(0, len(units) - 1)
            kind = rng.choice(["piece", "piece", "gone", "twice", "other"])
            new = {"piece": rng.choice(pieces), "gone": "", "twice": units[at] * 2, "other": rng.choice(units)}[kind]
            units[at] = new + units[at] * (kind == "piece" and rng.random() < 0.7)
            text = "".join(units)
        text = text if rng.random() < 0.97 else quote(text, errors="replace")
        return text.encode(rng.choice(["utf-8"] * 9 + ["utf-16"]), "replace")

    return change


def _boards(form: str) -> bytes:
    text = Path(__file__).parent / "data" / {"pbn": "club.pbn", "lin": "match.lin"}[form]
    return text.read_text("utf-8-sig").encode()


def _read_boards(path: Path) -> Any:
    """Boards and faults, and what strict reading says."""
    from bidzoo.envs.bridge.deals import read_boards

    faults: list[Any] = []
    boards = read_boards(path, faults=faults)
    try:
        return boards, faults, read_boards(path, strict=True)
    except ValueError as problem:
        return boards, faults, problem


def as_boards(found: Any, content: bytes, sound: Any) -> bool:
    from bidzoo.envs.bridge.board import check_board
    from bidzoo.envs.bridge.formats import pbn

    boards, faults, strict = found
    for board in boards:
        check_board(board)
    if ": a second one, expected an empty line" not in str(strict):  # otherwise an empty line is missing
        assert (strict == boards) if not faults else str(faults[0]).startswith(f"{strict}; left out: "), strict
    assert all(fault.reason and fault.lost and len(str(fault)) < 3000 for fault in faults)
    text = pbn.dumps(boards)
    return pbn.loads(text, strict=True) == boards


def _written_boards(path: Path) -> Any:
    """A board with fields drawn at random, as both writers take it: refused by name, or read again."""
    from dataclasses import replace

    from bidzoo.envs.bridge.board import Board, Call
    from bidzoo.envs.bridge.formats import lin, pbn

    rng = Random(path.read_bytes())
    board = rng.choice(pbn.loads(_boards("pbn").decode()))
    numbers, texts = (
        [None, -1, 0, 1, 3, 4, 7, 13, 14, 52, 10**10],
        ["", "#", "##x", "?", "-", " x", "x", "a\nb", "Pass", "4SX", "4s"],
    )
    drawn: dict[str, Any] = {
        **{name: rng.choice(numbers) for name in ("number", "dealer", "vulnerable", "declarer", "result")},
        "contract": rng.choice([None, *texts]),
        "names": tuple(rng.choice(texts) for _ in range(4)),
        "tags": {rng.choice(["Event", "Board", "Result", "Deal", "Room", "a b"]): rng.choice(texts)},
        "claimed": rng.random() < 0.5,
        "play": tuple(rng.choice([*board.play[:9], rng.randint(-1, 53)]) for _ in range(rng.randint(0, 5))),
        "auction": tuple(
            Call(rng.randint(-1, 39) % 41, rng.random() < 0.3, rng.choice(texts)) for _ in range(rng.randint(0, 6))
        ),
        "hands": rng.choice(
            [None, (0, 0, 0, 0), (1, 2, 4, 8), board.hands and (*board.hands[:3], 0), (board.hands or (0,))[:1] * 4]
        ),
        "tricks": rng.choice([None, (0,) * 20, (14,) * 20, (1,) * 19]),
    }
    for name in rng.sample(sorted(drawn), rng.randint(1, 3)):
        board = replace(board, **{name: drawn[name]})
    for form in (pbn, lin):
        try:
            text = form.dumps([board])
        except ValueError as problem:
            assert str(problem).startswith("board "), problem
            continue
        (back,) = form.loads(text, strict=True)
        known = {"hands": back.hands, "dealer": back.dealer, "vulnerable": back.vulnerable, "contract": back.contract,
                 "declarer": back.declarer, "result": back.result}  # fmt: skip
        calls = tuple(replace(call, alert=call.alert or bool(call.note)) for call in board.auction)
        if form is pbn:
            assert back == replace(
                board, auction=calls, **{k: v for k, v in known.items() if getattr(board, k) is None or k == "hands"}
            )
            assert board.hands is None or all(mine in (0, its) for mine, its in zip(board.hands, back.hands))
        else:
            assert back == replace(board, auction=calls, tricks=None, tags={}, claimed=back.claimed)
    return Board


def _respaced_boards(path: Path) -> Any:
    """Boards written as PBN, then empty lines put in, other line ends, tag names in another case: the same boards."""
    from bidzoo.envs.bridge.formats import pbn

    rng = Random(path.read_bytes())
    boards = rng.choices(pbn.loads(_boards("pbn").decode()), k=rng.randint(1, 4))
    lines, share = pbn.dumps(boards).split("\n"), rng.choice([0, 0.05, 0.5, 1])
    case = rng.choice([str, str.lower, str.upper])
    own = {name for board in boards for name in board.tags}
    for at, line in enumerate(lines):
        tag = re.match(r"\[(\w+)", line)
        lines[at] = f"[{case(tag[1])}{line[tag.end() :]}" if tag and tag[1] not in own else line
        lines[at] += "".join(rng.choice(["\n", "\n \t", "\n\n\n"]) for _ in range(rng.random() < share))
    end = rng.choice(["\n", "\r\n", "\r\r\n", "\r"])
    path.write_bytes(rng.choice(["", "\ufeff", "\n"]).encode() + end.join("\n".join(lines).split("\n")).encode())
    assert pbn.read(path, strict=True) == boards, path.read_bytes()


def _linked_boards(path: Path) -> Any:
    """A board written as LIN, then encoded, or put into another text, or said in an address by its parts: the same."""
    from dataclasses import replace

    from bidzoo.core.cards import call_text, card_text
    from bidzoo.envs.bridge.board import Board
    from bidzoo.envs.bridge.formats import lin

    rng = Random(path.read_bytes())
    boards = [replace(board, tags={}) for board in lin.loads(_boards("lin").decode()) if board.complete]
    board = rng.choice([board for board in boards if not {"<", "`"} & set(str(board))])
    line = lin.dumps([replace(board, names=("N", "E", "S", "W"))]).strip()
    (board,) = lin.loads(line)
    hands = dict(zip("swne", line.partition("md|")[2].partition("|")[0][1:].lower().split(",")))
    parts = [f"{seat}={hand}" for seat, hand in hands.items()] + [f"{seat}n={seat.upper()}" for seat in "nesw"]
    parts += [f"d={'nesw'[board.dealer or 0]}", f"v={'oneb'[board.vulnerable or 0]}"]
    parts += [f"b={board.number}"] if board.number else []
    calls = [
        call_text(c.call).replace("NT", "N").replace("XX", "R").replace("X", "D")
        + "!" * c.alert
        + f"({quote(c.note)})" * bool(c.note)
        for c in board.auction
    ]
    parts += [f"a={''.join(calls)}", f"p={''.join(card_text(card)[::-1] for card in board.play)}"]
    parts += [f"c={board.result}"] if board.result is not None and len(board.play) < 52 else []
    rng.shuffle(parts)
    address = f"https://example.org/viewer.html?{'&'.join(parts)}"
    if any(letter in call.note for call in board.auction for letter in "()|"):
        address = f"https://example.org/viewer.html?bbo=y&lin={quote(line)}"
    forms = [line, quote(line), quote(line, safe="|"), line.replace("|", "%7C") if "%" not in line else line, address]
    text = rng.choice(forms)
    wraps = ["{}", "\ufeff{}\r\r\n", "\n\n{}\n"]
    if text == address:
        wraps += [
            "[Board 3]({})",
            "see {}, and",
            '<p>x</p>\n<a href="{}">board</a>',
            "# Boards\n\n- [a]({})\n- b",
            "{}\n",
        ]
    elif text == line:
        wraps += ["# Boards\n\n```\n{}\n```\n", "<html>\n<pre>\n{}\n</pre></html>", "<b>Board</b>: <code>{}</code>"]
    path.write_text(rng.choice(wraps).format(text), encoding="utf-8")
    faults: list[Any] = []
    assert (lin.read(path, faults=faults), faults) == ([board], []), path.read_text()
    return Board


def changed_json_file(rng: Random, sound: bytes) -> bytes:
    return json.dumps(changed_json(rng, json.loads(sound))).encode()


def _entry() -> bytes:
    from bidzoo.benchmarks import leaderboard

    challenge = leaderboard.CHALLENGES["bridge-partners-2026"]
    values = dict.fromkeys(challenge.opponents, " ".join(f"{board % 25 - 12}" for board in range(challenge.boards)))
    entry = leaderboard.Entry(challenge.name, "a", "pass", "bidzoo", "bidzoo", "0.1.0", "3.11", "x", 1.0, values)
    return written(lambda path: leaderboard.save(path, entry))


def changed_entry(rng: Random, sound: bytes) -> bytes:
    """Another field, or a number of a board that cannot be."""
    if rng.random() < 0.5:
        return changed_json_file(rng, sound)
    document = json.loads(sound)
    opponent = rng.choice(sorted(document["values"]))
    numbers = document["values"][opponent].split()
    numbers[rng.randint(0, len(numbers) - 1)] = rng.choice(["-24", "25", "-25", "0.5", "1e300", "nan", "x", "", "1 2"])
    document["values"][opponent] = " ".join(numbers)
    return json.dumps(document).encode()


def _read_entry(path: Path) -> Any:
    from dataclasses import asdict

    from bidzoo.benchmarks import leaderboard

    entry = leaderboard.load(path)
    leaderboard.ranking(leaderboard.challenge_named(entry.challenge), [entry])
    return asdict(entry)


def as_entry(found: Any, content: bytes, sound: Any) -> bool:
    """All fields are the file's, and each board has IMPs that there are."""
    numbers = [float(number) for text in found["values"].values() for number in text.split()]
    return plain(found) == json.loads(content) and set(numbers) <= set(range(-24, 25))


def _language() -> bytes:
    from dataclasses import asdict

    from bidzoo import language
    from bidzoo.core.storage import Ledger

    def write(path: Path) -> None:
        seat = json.dumps(asdict(language.AS_USUAL))
        with Ledger(path, language.Question, language.Decision) as ledger:
            for seed in (0, 1):
                question = language.Question("m", seat, "comm_v0(size=3)", ("rules", "question"), seed)
                ledger.add(question, language.Decision(("x", "1"), ("illegal", ""), (3, None), (1, 1), "1"))

    return written(write)


def _read_language(path: Path) -> Any:
    from bidzoo import language

    with language.Seated([f"ledger:{path}"]) as seated:
        (ledger,) = seated._ledgers.values()
        done = ledger.done
        return [{"job": job._asdict(), "outcome": outcome._asdict()} for job, outcome in done.items()]


def as_json_lines(found: Any, content: bytes, sound: Any) -> bool:
    return plain(found) == lines_of(content)


TARGETS = {
    "deals": Target(".npz", _deals, _read_deals, changed_npz, as_arrays),
    "auctions": Target(".npz", lambda: written(lambda p: _auctions().save(p)), _read_auctions, changed_npz, as_arrays),
    "auctions-text": Target(".txt", _text_auctions, _read_auctions, changed_bytes, any_value),
    "weights": Target(".safetensors", _network, _read_network, changed_tensors, same_tensors),
    "checkpoint": Target(".safetensors", _checkpoint_file, _read_checkpoint, changed_tensors, of_checkpoint),
    "table": Target(".safetensors", _table, _read_table, changed_tensors, any_value),
    "tricks": Target(".journal", _journal, _read_journal, changed_bytes, first_ones),
    "ledger": Target(".jsonl", _ledger, _read_ledger, changed_lines, as_lines),
    "match-ledger": Target(".jsonl", _match_ledger, _read_match_ledger, changed_lines, among),
    "blue-chip": Target(".jsonl", _blue_chip, _read_blue_chip, changed_lines, last_of_each),
    "records": Target(".jsonl", _records, _read_records, changed_lines, as_json_lines),
    "records-others": Target(".jsonl", _others, _read_records, changed_lines, as_json_lines),
    "results": Target(".json", _results, _read_results, changed_json_file, as_rows),
    "pbn": Target(
        ".pbn", lambda: _boards("pbn"), _read_boards, changed_text(PBN_PIECES, r"\[[^\]]*\]|\S+|\s+"), as_boards
    ),
    "lin": Target(".lin", lambda: _boards("lin"), _read_boards, changed_text(LIN_PIECES, r"[^|]*\|[^|]*\|"), as_boards),
    "boards": Target(".seed", lambda: b"12345678", _written_boards, changed_bytes, any_value),
    "pbn-respaced": Target(".seed", lambda: b"12345678", _respaced_boards, changed_bytes, any_value),
    "lin-linked": Target(".seed", lambda: b"12345678", _linked_boards, changed_bytes, any_value),
    "entry": Target(".json", _entry, _read_entry, changed_entry, as_entry),
    "language": Target(".jsonl", _language, _read_language, changed_lines, as_lines),
    "plan": Target(".json", _plan, _read_plan, changed_json_file, as_sound),
}
NEEDS = {"checkpoint": "torch"}


@pytest.fixture(scope="module", params=TARGETS)
def target(request):
    """Name, reader, a sound file and what it holds."""
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    found = TARGETS[request.param]
    sound = found.sound()
    path = request.getfixturevalue("tmp_path_factory").mktemp(request.param) / f"file{found.suffix}"
    path.write_bytes(sound)
    return request.param, found, sound, found.read(path), path


class Slow(BaseException):
    """A file takes more than ``SECONDS`` of the processor, or for ever."""


@contextmanager
def in_time() -> Iterator[None]:
    """What runs within ends, or ``Slow`` is raised in the midst of it."""

    def raise_slow(*_: Any) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, raise_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judge(name: str, reader: Target, content: bytes, held: Any, path: Path) -> bool:
    """The reader refuses ``content`` by name, or gives what it says: True; else the file is kept and the test fails."""
    path.write_bytes(content)
    before, taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10, False
    try:
        try:
            with in_time():
                found = reader.read(path)
        except ValueError as problem:
            assert type(problem) is ValueError, f"{type(problem).__name__}: {problem}"
            assert str(path) in str(problem), f"without the file: {problem}"
            assert len(str(problem)) < 3000, "a message of more than a page"
        else:
            assert reader.right(found, content, held), "taken in silence"
            taken = True
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before < BYTES, "much memory"
    except BaseException as fault:
        kept = KEPT / name / f"{sha256(content).hexdigest()[:12]}{reader.suffix}"
        if not isinstance(fault, KeyboardInterrupt):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(content)
        raise
    return taken


def keep_counts(name: str, counts: Counter[str], begin: float) -> None:
    """Add what came of the files of target ``name`` to the result file."""
    path, columns = Path(JSON or ""), ["target", "files", "read", "refused", "failed", "slow", "processor seconds"]
    title, seconds = "What came of damaged files", time.process_time() - begin
    with open(Path(gettempdir(), "bidzoo-fuzz.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other targets may be in other processes
        (table,) = results.load(path)["tables"] if path.exists() else [results.ResultTable(title, columns)]
        rows = {row["target"]: row for row in table.rows} | {
            name: {"target": name, "files": sum(counts.values()), **{word: counts[word] for word in columns[2:6]}}
            | {columns[6]: round(seconds, 1)}
        }
        rows.pop("all", None)
        total = {column: sum(row[column] for row in rows.values()) for column in columns[1:]}
        ordered = [rows[target] for target in TARGETS if target in rows]
        total["processor seconds"] = round(total["processor seconds"], 1)
        table = results.ResultTable(title, columns, [*ordered, {"target": "all", **total}])
        results.save(path, "fuzz", [table], seed=int(SEED), seconds=total["processor seconds"])
        document = json.loads(path.read_text())
        document["command"] = f"make test-fuzz FUZZ={CASES} SEED={SEED} JSON={JSON}"
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def test_kept_files(target):
    name, reader, _, held, path = target
    for kept in sorted((KEPT / name).glob("*")):
        judge(name, reader, kept.read_bytes(), held, path)


def test_any_file(target, capsys):
    name, reader, sound, held, path = target

    def check(rng: Random) -> bool:
        return judge(name, reader, rng.choice([changed_bytes, reader.change])(rng, sound), held, path)

    if CASES >= DRAWN:
        counts, problems, begin = Counter[str](), list[BaseException](), time.process_time()
        for case in range(CASES):
            try:
                counts["read" if check(Random(f"{SEED} {case}")) else "refused"] += 1
            except Slow as problem:
                counts["slow"] += 1
                problems.append(problem)
            except Exception as problem:
                counts["failed"] += 1
                problems.append(problem)
        if JSON:
            keep_counts(name, counts, begin)
        if problems:
            raise problems[0]
        return
    settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink) if CASES > 100 else (Phase.generate,),
        derandomize=CASES <= 100,
        suppress_health_check=list(HealthCheck),
    )(given(st.randoms(use_true_random=False))(lambda rng: [check(rng), None][1]))()

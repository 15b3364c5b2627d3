"""Records of matches in files: JSON lines and Parquet, every record checked for its fields."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bidzoo.benchmarks.results import write_text
from bidzoo.envs.game import Buffers, Game
from bidzoo.kernels import Tables

Record = dict[str, Any]


class Kind(NamedTuple):
    """The fields of a record."""

    types: dict[str, tuple[type, ...]]
    items: dict[str, tuple[type, int]]  # of its lists: what they hold, and how many; 0: any number


def check(record: Any, kind: Kind, where: str) -> None:
    """ValueError unless ``record`` is of ``kind``; names place and field."""
    if not isinstance(record, dict) or set(record) != set(kind.types):
        odd = set(record) ^ set(kind.types) if isinstance(record, dict) else {type(record).__name__}
        raise ValueError(f"{where}: not a record of a match; missing or unknown: {', '.join(sorted(map(str, odd)))}")
    for name, types in kind.types.items():
        if isinstance(record[name], bool) or not isinstance(record[name], types):
            raise ValueError(f"{where}: {name}: {record[name]!r}, expected {' or '.join(t.__name__ for t in types)}")
    for name, (item, length) in kind.items.items():
        values = record[name]
        if (length and len(values) != length) or not all(isinstance(value, item) for value in values):
            expected = f"{length or 'a list of'} {item.__name__}"
            raise ValueError(f"{where}: {name}: {values!r}, expected {expected}")


def take(game: Game, tables: Tables, out: Buffers, actions: Sequence[str]) -> None:
    """Every action made at table 0 under the rules; ValueError names the first that is not legal."""
    for turn, text in enumerate(actions, 1):
        action = game.action_number(text)
        if not out.mask[0, action]:
            raise ValueError(f"action {turn}: {text} is not legal")
        game.step_one(tables, action, out)


def write(path: Path, records: list[Record], kind: Kind) -> None:
    """``path``, a ``.jsonl`` or ``.parquet`` file, whole or not at all."""
    if path.suffix == ".jsonl":
        write_text(path, "".join(json.dumps(record) + "\n" for record in records))
        return
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial{os.getpid()}")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records, _schema(kind)), partial)
    partial.replace(path)


def read(path: Path) -> list[Any]:
    """What a ``.jsonl`` or ``.parquet`` file holds, not yet checked."""
    return _rows(path) if path.suffix == ".parquet" else _lines(path)


def place(path: Path, number: int) -> str:
    """Where record ``number`` (from 1) of ``path`` stands."""
    return f"{path}: record {number}" if path.suffix == ".parquet" else f"{path}:{number}"


def _lines(path: Path) -> list[Any]:
    records = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, UnicodeDecodeError) as problem:
            raise ValueError(f"{place(path, number)}: not JSON ({problem})") from problem
    return records


def _rows(path: Path) -> list[Any]:
    import pyarrow
    import pyarrow.parquet

    try:
        rows: list[Any] = pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowInvalid as problem:
        raise ValueError(f"{path}: not a Parquet file ({problem})") from problem
    return rows


def _schema(kind: Kind) -> Any:
    import pyarrow

    plain = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    return pyarrow.schema(
        [
            (name, pyarrow.list_(plain[kind.items[name][0]]) if name in kind.items else plain[types[0]])
            for name, types in kind.types.items()
        ]
    )

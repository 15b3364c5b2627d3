"""Results of matches as files: a record for every board at every table; of other games than bridge ``game_records``.

A record of bridge replays by itself: it holds the cards, the double-dummy tricks, all calls and cards, and the result.

| field | meaning |
|---|---|
| `version` | of bidzoo |
| `seed`, `board` | address of the deal |
| `room`, `policy_seed` | `open` or `closed`; address of the policies' random numbers there |
| `players` | names of N E S W |
| `deal`, `dealer`, `vulnerability` | PBN deal from North; `N` …; `none`, `ns`, `ew`, `both` |
| `double_dummy` | tricks of declarers N E S W in C D H S NT, -1 where not known |
| `calls`, `cards` | as text, in order; no cards where the contract was scored double dummy |
| `contract`, `declarer` | `4SX` or `Pass`; a seat or null |
| `tricks`, `score` | declarer's tricks; points of North/South; null where not known |
| `imps` | won on the board by the pair that is North/South in the open room; null without a second table |
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bidzoo
from bidzoo.benchmarks import game_records, record_files
from bidzoo.benchmarks.match import Episodes, Match
from bidzoo.benchmarks.record_boards import board_of
from bidzoo.benchmarks.record_files import Record
from bidzoo.cards import NUM_CALLS, SEATS, hand_text
from bidzoo.envs.bridge.files import lin, pbn
from bidzoo.envs.bridge.files.board import contract_numbers, contract_text
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.options import VULNERABILITIES, checked
from bidzoo.envs.bridge.state import OVER, UNKNOWN_POINTS
from bidzoo.kernels import Table, Tables

ENDINGS, BRIDGE_ENDINGS = (".jsonl", ".parquet"), (".pbn", ".lin")

TYPES: dict[str, tuple[type, ...]] = {
    "version": (str,),
    "seed": (int,),
    "board": (int,),
    "room": (str,),
    "policy_seed": (int,),
    "players": (list,),
    "deal": (str,),
    "dealer": (str,),
    "vulnerability": (str,),
    "double_dummy": (list,),
    "calls": (list,),
    "cards": (list,),
    "contract": (str,),
    "declarer": (str, type(None)),
    "tricks": (int, type(None)),
    "score": (int, type(None)),
    "imps": (int, type(None)),
}
KIND = record_files.Kind(TYPES, {"players": (str, 4), "double_dummy": (int, 20), "calls": (str, 0), "cards": (str, 0)})


# ---- records of what was played ----------------------------------------------------------


def of_match(game: Bridge, match: Match, ours: str, theirs: str, seed: int = 0, policy_seed: int = 0) -> list[Record]:
    """Both tables of every board of ``duplicate(game, ..., seed, policy_seed)``, board by board."""
    first = _records(game, match.first, "open", [ours, theirs] * 2, seed, 2 * policy_seed)
    second = _records(game, match.second, "closed", [theirs, ours] * 2, seed, 2 * policy_seed + 1)
    pairs = zip(first, second, match.imps.tolist())
    return [{**record, "imps": imps} for open_room, closed_room, imps in pairs for record in (open_room, closed_room)]


def of_episodes(
    game: Bridge, episodes: Episodes, players: Sequence[str], seed: int = 0, policy_seed: int = 0
) -> list[Record]:
    """One table of every board of ``play(game, ..., seed, policy_seed)``; ``players`` are the names of N E S W."""
    return _records(game, episodes.tables, "open", list(players), seed, policy_seed)


def _records(game: Bridge, tables: Tables, room: str, players: list[str], seed: int, policy_seed: int) -> list[Record]:
    where = {"version": bidzoo.__version__, "seed": seed, "room": room, "policy_seed": policy_seed, "players": players}
    return [{name: {**where, **_played(game, table)}[name] for name in TYPES} for table in tables]


def _played(game: Bridge, table: Table) -> Record:
    if int(table["phase"]) != OVER or int(table["table"]) != 0:
        raise ValueError(f"board {table['board']}: expected a finished table of a game with reward='score' or 'par'")
    declarer = int(table["declarer"])
    return {
        "board": int(table["board"]),
        "deal": "N:" + " ".join(hand_text(int(hand)) for hand in table["hands"]),
        "dealer": SEATS[int(table["dealer"])],
        "vulnerability": VULNERABILITIES[int(table["vulnerable"])],
        "double_dummy": table["tricks"].tolist(),
        "calls": [game.action_text(int(call)) for call in table["calls"][: table["length"]]],
        "cards": [game.action_text(NUM_CALLS + int(card)) for card in table["played"][: table["plays"]]],
        "imps": None,
        **_outcome(table, declarer),
    }


def _outcome(table: Table, declarer: int) -> Record:
    points = int(table["points"][0])
    played = {"contract": contract_text(int(table["bid"]) if declarer >= 0 else -1, int(table["stake"]))}
    if declarer < 0:
        return {**played, "declarer": None, "tricks": None, "score": 0}
    dummy = int(table["tricks"][5 * declarer + int(table["bid"]) % 5])
    tricks = int(table["won"][declarer % 2]) if table["plays"] else dummy
    return {
        **played,
        "declarer": SEATS[declarer],
        "tricks": None if tricks < 0 else tricks,
        "score": None if points == UNKNOWN_POINTS else points,
    }


# ---- and back ----------------------------------------------------------------------------


@cache
def _game(play: bool) -> Bridge:
    return Bridge(play=play) if play else Bridge(play=False, deals="test")


def replay(record: Record) -> Tables:
    """The finished table ``[1]``, every call and card made again under the laws.

    Raises:
        ValueError: an illegal action, or another result than the record's; names board and room.
    """
    name = f"board {record['board']}, {record['room']} room"
    game = _game(bool(record["cards"]))
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([record["board"]]), record["seed"], out)
    try:
        options = checked({key: record[key] for key in ("deal", "dealer", "vulnerability")})
        contract_numbers(record["contract"])
        game.fix(tables, {**options, "tricks": np.array(record["double_dummy"], np.int8)}, out)
        record_files.take(game, tables, out, [*record["calls"], *record["cards"]])
        found = _played(game, tables[0])
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from problem
    for key in ("contract", "declarer", "tricks", "score"):
        if found[key] != record[key]:
            raise ValueError(f"{name}: {key} {record[key]!r}, but the replay gives {found[key]!r}")
    return tables


# ---- files -------------------------------------------------------------------------------


def write(path: str | Path, records: Iterable[Record]) -> None:
    """``path`` whole or not at all: ``.jsonl``, ``.parquet`` (needs pyarrow); for bridge software ``.pbn``, ``.lin``.

    Raises:
        ValueError: another ending, or something that is no record; names it.
    """
    path, records = Path(path), list(records)
    fields = kind(records)
    check_ending(path, records[0]["env"] if fields is game_records.KIND else "bridge")
    for number, record in enumerate(records, 1):
        record_files.check(record, fields, f"record {number}")
    if path.suffix in BRIDGE_ENDINGS:
        path.parent.mkdir(parents=True, exist_ok=True)
        {".pbn": pbn.write, ".lin": lin.write}[path.suffix](path, [board_of(record) for record in records])
    else:
        record_files.write(path, records, fields)


def check_ending(path: Path, env_id: str) -> None:
    """ValueError unless ``write`` knows the ending of ``path`` for records of ``env_id``."""
    known = (*ENDINGS, *BRIDGE_ENDINGS) if env_id.startswith("bridge") else ENDINGS
    if path.suffix not in known:
        raise ValueError(f"{path}: ending {path.suffix!r}, expected {', '.join(known)} of {env_id}")


def read(path: str | Path) -> list[Record]:
    """The records of a ``.jsonl`` or ``.parquet`` file; ValueError names place and field where it is something else."""
    path = Path(path)
    records = record_files.read(path)
    for number, record in enumerate(records, 1):
        record_files.check(record, kind(records), record_files.place(path, number))
    return records


def kind(records: Sequence[Any]) -> record_files.Kind:
    """Of the first record: only those of other games than bridge say which one."""
    other = bool(records) and isinstance(records[0], dict) and "env" in records[0]
    return game_records.KIND if other else KIND

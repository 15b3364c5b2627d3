"""Results of matches as files: a record for every board at every table, which replays by itself.

A record of bridge holds the cards, the double-dummy results, all calls and cards, and what came of them. One of Spades
or a small game holds the game with its options, where it was dealt from, every action and the result. Files are JSON
lines or Parquet; those of bridge also PBN or LIN, for bridge software.
"""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from bidzoo import __version__, agents
from bidzoo.benchmarks.match import SEATINGS, Episodes, Match, Names, board_numbers
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, SEATS, call_number, card_number, deal_hands, deal_text, seat_number
from bidzoo.core.kernels import F32, State, States
from bidzoo.core.storage import replace_file
from bidzoo.core.streams import checked_seed
from bidzoo.envs.bridge.board import Board, Call, contract_numbers, contract_text
from bidzoo.envs.bridge.formats import lin, pbn
from bidzoo.envs.bridge.game import OPTIONS, VULNERABILITIES, Bridge
from bidzoo.envs.bridge.state import OVER, UNKNOWN_POINTS
from bidzoo.envs.game import Buffers, Game, read_options
from bidzoo.registry import make_game

Record = dict[str, Any]


class List(NamedTuple):
    """The kind of a field that is a list."""

    item: type
    length: int = 0  # 0: any number


Fields = dict[str, Any]  # by name: a type, several (``int | None``), or a ``List``

BRIDGE: Fields = {
    "version": str,  # of bidzoo
    "seed": int,  # with the board: address of the deal
    "board": int,
    "room": str,  # open or closed
    "policy_seed": int,  # address of the policies' random numbers in this room
    "players": List(str, 4),  # names of N E S W
    "deal": str,  # PBN deal from North
    "dealer": str,  # a seat
    "vulnerability": str,  # none, ns, ew, both
    "double_dummy": List(int, 20),  # tricks of declarers N E S W in C D H S NT, -1 where not known
    "calls": List(str),  # in order
    "cards": List(str),  # in order; none where the contract was scored double dummy
    "contract": str,  # 4SX or Pass
    "declarer": str | None,  # a seat
    "tricks": int | None,  # declarer's; null where not known
    "score": int | None,  # of North/South; null where not known
    "imps": int | None,  # of the pair that is North/South in the open room; null without a second table
}
OTHER: Fields = {  # Spades and the small games
    "version": str,
    "env": str,  # id of the game
    "options": str,  # its options as a JSON object
    "seed": int,
    "board": int,
    "seating": int,  # who sat where, a row of ``match.SEATINGS``
    "policy_seed": int,
    "agents": List(str, 2),  # the two names compared
    "players": List(str),  # those at the seats
    "deal": List(int),  # the four hands as sets of cards (of the first round), or the two types
    "actions": List(str),  # in order, of all rounds
    "rewards": List(float),  # of the players
    "scores": List(int),  # Spades: points of the sides at the end; else empty
    "rounds": int,  # Spades: rounds played; else 0
}


def fields_of(records: Sequence[Any]) -> Fields:
    """Those of the first record: only those of other games than bridge say which one."""
    other = bool(records) and isinstance(records[0], dict) and "env" in records[0]
    return OTHER if other else BRIDGE


def replay(record: Record) -> States:
    """The finished table ``[1]``, dealt again, every action made again under the rules.

    Raises:
        ValueError: an illegal action, or another deal or result than the record's; names board and room or seating.
    """
    where = f"seating {record['seating']}" if "env" in record else f"{record['room']} room"
    try:
        return _replay_other(record) if "env" in record else _replay_bridge(record)
    except ValueError as problem:
        raise ValueError(f"board {record['board']}, {where}: {problem}") from problem


def _take(game: Game, states: States, out: Buffers, actions: Sequence[str]) -> None:
    for turn, text in enumerate(actions, 1):
        action = game.action_number(text)
        if not out.mask[0, action]:
            raise ValueError(f"action {turn}: {text} is not legal")
        game.step_one(states, action, out)


def _agree(record: Record, found: Record) -> None:
    for key, value in found.items():
        if record[key] != value:
            raise ValueError(f"{key} {record[key]!r}, but the replay gives {value!r}")


# ---- bridge ------------------------------------------------------------------------------


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
    return _records(game, episodes.states, "open", list(players), seed, policy_seed)


def _records(game: Bridge, states: States, room: str, players: list[str], seed: int, policy_seed: int) -> list[Record]:
    return [
        {
            "version": __version__,
            "seed": seed,
            "board": int(state["board"]),
            "room": room,
            "policy_seed": policy_seed,
            "players": players,
            "deal": deal_text(state["hands"]),
            "dealer": SEATS[int(state["dealer"])],
            "vulnerability": VULNERABILITIES[int(state["vulnerable"])],
            "double_dummy": state["tricks"].tolist(),
            "calls": [game.action_text(int(call)) for call in state["calls"][: state["length"]]],
            "cards": [game.action_text(NUM_CALLS + int(card)) for card in state["played"][: state["plays"]]],
            **_result(state),
            "imps": None,
        }
        for state in states
    ]


def _result(state: State) -> Record:
    if int(state["phase"]) != OVER or int(state["leg"]) != 0:
        raise ValueError(f"board {state['board']}: expected a finished table of a game with reward='score' or 'par'")
    declarer, points = int(state["declarer"]), int(state["points"][0])
    if declarer < 0:
        return {"contract": contract_text(-1, int(state["stake"])), "declarer": None, "tricks": None, "score": 0}
    bid = int(state["bid"])
    tricks = int(state["won"][declarer % 2] if state["plays"] else state["tricks"][5 * declarer + bid % 5])
    return {
        "contract": contract_text(bid, int(state["stake"])),
        "declarer": SEATS[declarer],
        "tricks": None if tricks < 0 else tricks,
        "score": None if points == UNKNOWN_POINTS else points,
    }


@cache
def _bridge(play: bool) -> Bridge:
    return Bridge(play=play) if play else Bridge(play=False, deals="test")


def _replay_bridge(record: Record) -> States:
    game = _bridge(bool(record["cards"]))
    states, out = game.new(1), game.buffers(1)
    game.begin(states, np.array([record["board"]]), record["seed"], out)
    options = read_options({key: record[key] for key in ("deal", "dealer", "vulnerability")}, OPTIONS)
    contract_numbers(record["contract"])
    game.fix(states, {**options, "tricks": np.array(record["double_dummy"], np.int8)}, out)
    _take(game, states, out, [*record["calls"], *record["cards"]])
    _agree(record, _result(states[0]))
    return states


def board_of(record: Record) -> Board:
    """The table of a record of bridge as a board of a PBN or LIN file.

    Room, score and IMPs are PBN tags, for which LIN has no place.
    """
    north, east, south, west = deal_hands(record["deal"])
    tags = {
        "Event": f"bidzoo {record['version']}, seed {record['seed']}",
        "Room": record["room"].capitalize(),
        "Scoring": "IMP",
    }
    if record["score"] is not None:
        tags["Score"] = f"NS {record['score']}"
    if record["imps"] is not None:
        tags["ScoreIMP"] = f"{'NS' if record['room'] == 'open' else 'EW'} {record['imps']}"
    if record["tricks"] is not None and len(record["cards"]) < NUM_CARDS:
        tags["ResultSource"] = "double dummy"
    names: list[str] = record["players"]
    return Board(
        number=record["board"] + 1,
        dealer=seat_number(record["dealer"]),
        vulnerable=VULNERABILITIES.index(record["vulnerability"]),
        hands=(north, east, south, west),
        auction=tuple(Call(call_number(text)) for text in record["calls"]),
        contract=record["contract"],
        declarer=None if record["declarer"] is None else seat_number(record["declarer"]),
        play=tuple(card_number(text) for text in record["cards"]),
        result=record["tricks"],
        tricks=tuple(record["double_dummy"]) if min(record["double_dummy"]) >= 0 else None,
        names=(names[0], names[1], names[2], names[3]),
        tags=tags,
    )


# ---- Spades and the small games ----------------------------------------------------------


def of_pairings(
    game: Game,
    options: Mapping[str, Any],
    names: Names,
    played: Sequence[Episodes],
    seed: int = 0,
    policy_seed: int = 0,
) -> list[Record]:
    """Every table of ``pairings(make_game(game.id, **options), ..., seed, policy_seed)``, seating by seating."""
    records: list[Record] = []
    for seating, (seats, episodes) in enumerate(zip(SEATINGS[game.utility], played, strict=True)):
        if episodes.actions is None:
            raise ValueError("episodes without actions: play them with actions=True")
        fresh = game.new(len(episodes.boards))
        game.begin(fresh, episodes.boards, seed, game.buffers(len(fresh)))
        records += [
            {
                "version": __version__,
                "env": game.id,
                "options": json.dumps(dict(options)),
                "seed": seed,
                "board": board,
                "seating": seating,
                "policy_seed": len(played) * policy_seed + seating,
                "agents": list(names),
                "players": [names[agent] for agent in seats],
                "deal": deal,
                "actions": [game.action_text(int(action)) for action in taken[taken >= 0]],
                **_outcome(state, reward),
            }
            for board, deal, taken, state, reward in zip(
                episodes.boards.tolist(), _deals(fresh), episodes.actions, episodes.states, episodes.reward
            )
        ]
    return records


def _deals(fresh: States) -> list[list[int]]:
    names = fresh.dtype.names or ()
    deals: list[list[int]] = fresh["hands" if "hands" in names else "types"].tolist()
    return deals


def _outcome(state: State, reward: F32) -> Record:
    points = "scores" in (state.dtype.names or ())
    return {
        "rewards": reward.tolist(),
        "scores": state["scores"][: int(state["sides"])].tolist() if points else [],
        "rounds": int(state["rounds"]) if points else 0,
    }


@cache
def game_of(env_id: str, options: str) -> Game:
    """The game of a record; ValueError if there is none."""
    if env_id in agents.BRIDGE:
        raise ValueError(f"{env_id} has records of its own (bidzoo.benchmarks.records)")
    try:
        return make_game(env_id, **json.loads(options))
    except (json.JSONDecodeError, TypeError, KeyError) as problem:
        text = problem.args[0] if isinstance(problem, KeyError) else problem
        raise ValueError(f"game {env_id} with options {options}: {text}") from problem


def _replay_other(record: Record) -> States:
    game, boards = game_of(record["env"], record["options"]), board_numbers(np.array([record["board"]]))
    states, out = game.new(1), game.buffers(1)
    game.begin(states, boards, checked_seed(record["seed"]), out)
    seatings = SEATINGS[game.utility]
    if not 0 <= record["seating"] < len(seatings):
        raise ValueError(f"expected seating 0 ... {len(seatings) - 1}")
    players = [record["agents"][agent] for agent in seatings[record["seating"]]]
    _agree(record, {"deal": _deals(states)[0], "players": players})
    _take(game, states, out, record["actions"])
    if out.mask.any():
        raise ValueError("expected a finished table")
    _agree(record, _outcome(states[0], out.reward[0]))
    return states


# ---- files -------------------------------------------------------------------------------

ENDINGS, BRIDGE_ENDINGS = (".jsonl", ".parquet"), {".pbn": pbn.write, ".lin": lin.write}


def write(path: str | Path, records: Iterable[Record]) -> None:
    """``path`` whole or not at all: ``.jsonl``, ``.parquet`` (needs pyarrow); for bridge software ``.pbn``, ``.lin``.

    Raises:
        ValueError: another ending, or something that is no record; names it.
    """
    path, records = Path(path), list(records)
    fields = fields_of(records)
    check_ending(path, records[0]["env"] if fields is OTHER else "bridge")
    for number, record in enumerate(records, 1):
        check(record, fields, f"record {number}")
    if path.suffix in BRIDGE_ENDINGS:
        path.parent.mkdir(parents=True, exist_ok=True)
        BRIDGE_ENDINGS[path.suffix](path, [board_of(record) for record in records])
    elif path.suffix == ".jsonl":
        replace_file(path, "".join(json.dumps(record) + "\n" for record in records).encode())
    else:
        import pyarrow.parquet

        content = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records, _schema(fields)), content)
        replace_file(path, content.getvalue())


def check_ending(path: Path, env_id: str) -> None:
    """ValueError unless ``write`` knows the ending of ``path`` for records of ``env_id``."""
    known = (*ENDINGS, *BRIDGE_ENDINGS) if env_id.startswith("bridge") else ENDINGS
    if path.suffix not in known:
        raise ValueError(f"{path}: ending {path.suffix!r}, expected {', '.join(known)} of {env_id}")


def read(path: str | Path) -> list[Record]:
    """The records of a ``.jsonl`` or ``.parquet`` file; ValueError names place and field where it is something else."""
    path = Path(path)
    records = _rows(path) if path.suffix == ".parquet" else _lines(path)
    for number, record in enumerate(records, 1):
        check(record, fields_of(records), place(path, number))
    return records


def place(path: Path, number: int) -> str:
    """Where record ``number`` (from 1) of ``path`` stands."""
    return f"{path}: record {number}" if path.suffix == ".parquet" else f"{path}:{number}"


def check(record: Any, fields: Fields, where: str) -> None:
    """ValueError unless ``record`` has just these ``fields``; names place and field."""
    if not isinstance(record, dict) or set(record) != set(fields):
        odd = set(record) ^ set(fields) if isinstance(record, dict) else {type(record).__name__}
        raise ValueError(f"{where}: not a record of a match; missing or unknown: {', '.join(sorted(map(str, odd)))}")
    for name, kind in fields.items():
        value, types = record[name], _types(kind)
        if isinstance(value, bool) or not isinstance(value, types):
            raise ValueError(f"{where}: {name}: {value!r}, expected {' or '.join(t.__name__ for t in types)}")
        if isinstance(kind, List):
            items: list[Any] = record[name]
            if len(items) != (kind.length or len(items)) or not all(isinstance(item, kind.item) for item in items):
                expected = f"{kind.length or 'a list of'} {kind.item.__name__}"
                raise ValueError(f"{where}: {name}: {value!r}, expected {expected}")


def _types(kind: Any) -> tuple[type, ...]:
    return (list,) if isinstance(kind, List) else get_args(kind) or (kind,)


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


def _schema(fields: Fields) -> Any:
    import pyarrow

    plain = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    kinds = ((name, kind.item if isinstance(kind, List) else _types(kind)[0]) for name, kind in fields.items())
    return pyarrow.schema(
        [(name, pyarrow.list_(plain[kind]) if isinstance(fields[name], List) else plain[kind]) for name, kind in kinds]
    )

"""Results of matches as files: a record for every board at every table, which replays by itself.

A record of bridge holds the cards, the double-dummy results, all calls and cards, and what came of them. One of Spades
or a small game holds the game with its options, where it was dealt from, every action and the result. Files are JSON
lines; those of bridge also PBN or LIN, for bridge software.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from bidzoo import __version__, agents
from bidzoo.benchmarks.match import Episodes, Match, Names, seatings
from bidzoo.core.cards import (
    HAND_SIZE,
    NUM_CALLS,
    NUM_CARDS,
    SEATS,
    VULNERABILITIES,
    call_number,
    card_number,
    deal_hands,
    deal_text,
    seat_number,
)
from bidzoo.core.kernels import F32, State, States
from bidzoo.core.options import Length, Range, Seed, Whole
from bidzoo.core.schema import json_lines, json_value, parse, shortened
from bidzoo.core.storage import replace_file
from bidzoo.core.streams import checked_seed
from bidzoo.envs.bridge.board import Board, Call, contract_numbers, outcome
from bidzoo.envs.bridge.formats import FORMATS
from bidzoo.envs.bridge.game import OPTIONS, Bridge
from bidzoo.envs.bridge.score import MAX_IMPS, MAX_POINTS
from bidzoo.envs.bridge.state import MAX_CALLS, OVER, UNKNOWN_POINTS
from bidzoo.envs.game import Buffers, Game, dealt, read_options
from bidzoo.registry import available, make_game
from bidzoo.wrappers.batch import board_numbers

Record = dict[str, Any]
Fields = dict[str, Any]  # kinds of ``bidzoo.core.schema`` by name: a type, ``int | None``, or a list
Seat = Literal["N", "E", "S", "W"]
Texts = list[str]

BRIDGE: Fields = {
    "version": str,  # of bidzoo
    "seed": Seed,  # with the board: address of the deal
    "board": Seed,
    "room": Literal["open", "closed"],
    "policy_seed": Seed,  # address of the policies' random numbers in this room
    "players": Annotated[Texts, Length(4, 4)],  # names of N E S W
    "deal": str,  # PBN deal from North
    "dealer": Seat,
    "vulnerability": Literal["none", "ns", "ew", "both"],
    "double_dummy": Annotated[  # tricks of declarers N E S W in C D H S NT, -1 where not known
        list[Annotated[int, Range(-1, HAND_SIZE)]], Length(20, 20)
    ],
    "calls": Annotated[Texts, Length(0, MAX_CALLS)],  # in order
    "cards": Annotated[Texts, Length(0, NUM_CARDS)],  # in order; none where the contract was scored double dummy
    "contract": str,  # 4SX or Pass
    "declarer": Seat | None,
    "tricks": Annotated[int, Range(0, HAND_SIZE)] | None,  # declarer's; null where not known
    "score": Annotated[int, Range(-MAX_POINTS, MAX_POINTS)] | None,  # of North/South; null where not known
    "imps": Annotated[int, Range(-MAX_IMPS, MAX_IMPS)] | None,  # of the pair that is North/South in the open room
}
OTHER: Fields = {  # Spades and the small games
    "version": str,
    "env": str,  # id of the game
    "options": str,  # its options as a JSON object
    "seed": Seed,
    "board": Seed,
    "seating": Whole,  # which agent played which seat, one of ``match.seatings``
    "policy_seed": Seed,
    "agents": Annotated[Texts, Length(2, 2)],  # the two names compared
    "players": Texts,  # those at the seats
    "deal": list[Seed],  # the four hands as sets of cards (of the first round), or the two types
    "actions": Texts,  # in order, of all rounds
    "rewards": list[float],  # of the players
    "scores": list[Annotated[int, Range(-(2**31), 2**31)]],  # Spades: points of the sides at the end; else empty
    "rounds": Annotated[int, Range(0, 2**31)],  # Spades: rounds played; else 0
}


ADDRESS = ("env", "options", "seed", "board", "room", "seating", "policy_seed", "players")  # of a record in its file


def fields_of(records: Sequence[Any]) -> Fields:
    """The fields of the first record's kind: a record of another game than bridge names its game."""
    other = bool(records) and isinstance(records[0], dict) and "env" in records[0]
    return OTHER if other else BRIDGE


def replay(record: Record) -> States:
    """The finished table ``[1]``, dealt again, every action made again under the rules.

    Raises:
        ValueError: an illegal action, or another deal or result than the record's; names board and room or seating. Or
            a field is not there, or of another kind.
    """
    absent = [name for name in fields_of([record]) if name not in record]
    if absent:
        raise ValueError(f"a record without {', '.join(absent)}, expected all fields")
    table = f"seating {record['seating']}" if "env" in record else f"{record['room']} room"
    where = f"board {record['board']}, {table}"
    record = parse(fields_of([record]), record, where)
    try:
        return _replay_other(record) if "env" in record else _replay_bridge(record)
    except ValueError as problem:
        raise ValueError(f"{where}: {shortened(problem)}") from problem


def _take(game: Game, states: States, out: Buffers, actions: Sequence[str]) -> None:
    for turn, text in enumerate(actions, 1):
        action = game.action_number(text)
        if not out.mask[0, action]:
            raise ValueError(f"action {turn}: {text} is not legal")
        game.step(states, np.array([action]), 0, out)


def _agree(record: Record, replayed: Record) -> None:
    for key, value in replayed.items():
        if record[key] != value:
            raise ValueError(f"{key} {record[key]!r}, but the replay gives {value!r}")


# ---- bridge ------------------------------------------------------------------------------


def of_match(
    game: Bridge,
    match: Match,
    ours: str | tuple[str, str],
    theirs: str | tuple[str, str],
    seed: int = 0,
    policy_seed: int = 0,
) -> list[Record]:
    """Both tables of every board of ``duplicate(game, ..., seed, policy_seed)``, board by board; one name is a pair."""
    (a, c), (b, d) = (names if isinstance(names, tuple) else (names, names) for names in (ours, theirs))
    first = _records(game, match.first, "open", [a, b, c, d], seed, 2 * policy_seed)
    second = _records(game, match.second, "closed", [b, a, d, c], seed, 2 * policy_seed + 1)
    pairs = zip(first, second, match.imps.tolist())
    return [{**record, "imps": imps} for open_room, closed_room, imps in pairs for record in (open_room, closed_room)]


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
    (contract, declarer, tricks), points = outcome(state), int(state["points"][0])
    return {
        "contract": contract,
        "declarer": None if declarer is None else SEATS[declarer],
        "tricks": tricks,
        "score": None if points == UNKNOWN_POINTS else points,  # 0 of a board passed out
    }


@cache
def _bridge(play: bool) -> Bridge:
    return Bridge(play=play) if play else Bridge(play=False, deals="test")


def _replay_bridge(record: Record) -> States:
    game = _bridge(bool(record["cards"]))
    options = read_options({key: record[key] for key in ("deal", "dealer", "vulnerability")}, OPTIONS)
    contract_numbers(record["contract"])
    tricks = np.array(record["double_dummy"], np.int8)
    states, out = game.start(record["board"], record["seed"], {**options, "tricks": tricks})
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
    for seating, (seats, episodes) in enumerate(zip(seatings(game), played, strict=True)):
        if episodes.actions is None:
            raise ValueError("episodes without actions: play them with actions=True")
        initial_states = game.new(len(episodes.boards))
        game.begin(initial_states, episodes.boards, seed, game.buffers(len(initial_states)))
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
                "actions": [game.action_text(int(action)) for action in actions[actions >= 0]],
                **_outcome(state, reward),
            }
            for board, deal, actions, state, reward in zip(
                episodes.boards.tolist(), dealt(initial_states), episodes.actions, episodes.states, episodes.reward
            )
        ]
    return records


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
    if env_id not in available():
        raise ValueError(f"unknown game {env_id!r}, expected {', '.join(available())}")
    if env_id in agents.BRIDGE:
        raise ValueError(f"{env_id} has records of its own (bidzoo.benchmarks.records)")
    try:
        return make_game(env_id, **parse(dict[str, Any], json_value(options, "options"), "options"))
    except (TypeError, KeyError, ValueError) as problem:
        text = problem.args[0] if isinstance(problem, KeyError) else problem
        raise ValueError(f"game {env_id} with options {options}: {text}") from problem


def _replay_other(record: Record) -> States:
    game, (board,) = game_of(record["env"], record["options"]), board_numbers(np.array([record["board"]]))
    states, out = game.start(board, checked_seed(record["seed"]))
    tables = seatings(game)
    if not 0 <= record["seating"] < len(tables):
        raise ValueError(f"expected seating 0 ... {len(tables) - 1}")
    players = [record["agents"][agent] for agent in tables[record["seating"]]]
    _agree(record, {"deal": dealt(states)[0], "players": players})
    _take(game, states, out, record["actions"])
    if out.mask.any():
        raise ValueError("expected a finished table")
    _agree(record, _outcome(states[0], out.reward[0]))
    return states


# ---- files -------------------------------------------------------------------------------

ENDING = ".jsonl"


def write(path: str | Path, records: Iterable[Record]) -> None:
    """``path`` whole or not at all: ``.jsonl``; for bridge software ``.pbn``, ``.lin``.

    Raises:
        ValueError: another ending, or something that is no record; names it.
    """
    path, records = Path(path), list(records)
    fields = fields_of(records)
    check_ending(path, records[0]["env"] if fields is OTHER else agents.BRIDGE[0])
    for number, record in enumerate(records, 1):
        parse(fields, record, f"record {number}")
    if path.suffix in FORMATS:
        FORMATS[path.suffix].write(path, [board_of(record) for record in records])
    else:
        replace_file(path, "".join(json.dumps(record, default=np.generic.item) + "\n" for record in records).encode())


def check_ending(path: Path, env_id: str) -> None:
    """ValueError unless ``write`` knows the ending of ``path`` for records of ``env_id``."""
    endings = (ENDING, *FORMATS) if env_id in agents.BRIDGE else (ENDING,)
    if path.suffix not in endings:
        raise ValueError(f"{path}: ending {path.suffix!r}, expected {', '.join(endings)} of {env_id}")


def read(path: str | Path) -> list[Record]:
    """The records of a ``.jsonl`` file; ValueError names line and field where it is something else.

    The boards of a PBN or LIN file, which have no such records, are read by ``read`` of
    ``bidzoo.envs.bridge.formats.pbn`` and ``lin``; ``bidzoo.benchmarks.replay.read`` reads all three.
    """
    path = Path(path)
    if (kind := path.suffix.lower()) in FORMATS:
        module = FORMATS[kind].__name__
        raise ValueError(f"{path}: ending {path.suffix!r}, expected records in {ENDING}; {module}.read reads boards")
    return loads(path.read_bytes(), path)


def loads(content: bytes, path: Path) -> list[Record]:
    """The records of JSON lines; ``path`` is what errors call them, one that is there twice among them."""
    records = [record for _, record in json_lines(content, path)]
    known: dict[str, int] = {}
    for number, record in enumerate(records, 1):
        parse(fields_of(records), record, f"{path}:{number}")
        address = repr([record.get(name) for name in ADDRESS])
        if (first := known.setdefault(address, number)) != number:
            raise ValueError(f"{path}:{number}: board {record['board']} of this table again, as in line {first}")
    return records

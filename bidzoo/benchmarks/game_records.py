"""Records of matches of Spades and the small games: every action at every table, and what came of it.

| field | meaning |
|---|---|
| `version` | of bidzoo |
| `env`, `options` | the game: its id, and its options as a JSON object |
| `seed`, `board` | address of the deal |
| `seating`, `policy_seed` | who sat where, a row of `pairings.SEATINGS`; address of the policies' numbers |
| `agents`, `players` | the two names compared, and those at the seats |
| `deal` | the four hands as sets of cards (of the first round), or the two types |
| `actions` | as text, in order, of all rounds |
| `rewards` | of the players |
| `scores`, `rounds` | Spades: points of the sides at the end, rounds played; else empty and 0 |
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import record_files
from bidzoo.benchmarks.match import Episodes, board_numbers
from bidzoo.benchmarks.pairings import SEATINGS, Names, summary
from bidzoo.benchmarks.record_files import Record
from bidzoo.benchmarks.results import Table
from bidzoo.envs.game import Game
from bidzoo.kernels import F32, Tables
from bidzoo.registry import make_game
from bidzoo.streams import checked_seed

KIND = record_files.Kind(
    {
        "version": (str,),
        "env": (str,),
        "options": (str,),
        "seed": (int,),
        "board": (int,),
        "seating": (int,),
        "policy_seed": (int,),
        "agents": (list,),
        "players": (list,),
        "deal": (list,),
        "actions": (list,),
        "rewards": (list,),
        "scores": (list,),
        "rounds": (int,),
    },
    {
        "agents": (str, 2),
        "players": (str, 0),
        "deal": (int, 0),
        "actions": (str, 0),
        "rewards": (float, 0),
        "scores": (int, 0),
    },
)


def of_pairings(
    game: Game,
    options: Mapping[str, Any],
    names: Names,
    played: Sequence[Episodes],
    seed: int = 0,
    policy_seed: int = 0,
) -> list[Record]:
    """Every table of ``pairings(make_game(game.id, **options), ..., seed, policy_seed)``, seating by seating."""
    where = {"version": bidzoo.__version__, "env": game.id, "options": json.dumps(dict(options)), "seed": seed}
    records = []
    for seating, (seats, episodes) in enumerate(zip(SEATINGS[game.utility], played, strict=True)):
        if episodes.actions is None:
            raise ValueError("episodes without actions: play them with actions=True")
        deals = _deals(game, episodes, seed)
        who = {"seating": seating, "policy_seed": len(played) * policy_seed + seating, "agents": list(names)}
        for n, board in enumerate(episodes.boards.tolist()):
            taken = episodes.actions[n]
            found = {
                **where,
                **who,
                "board": board,
                "players": [names[agent] for agent in seats],
                "deal": deals[n],
                "actions": [game.action_text(int(action)) for action in taken[taken >= 0]],
                **_outcome(episodes.tables[n : n + 1], episodes.reward[n]),
            }
            records.append({name: found[name] for name in KIND.types})
    return records


def _deals(game: Game, episodes: Episodes, seed: int) -> list[list[int]]:
    fresh = game.new(len(episodes.boards))
    game.begin(fresh, episodes.boards, seed, game.buffers(len(fresh)))
    return _dealt(fresh)


def _dealt(fresh: Tables) -> list[list[int]]:
    names = fresh.dtype.names or ()
    deals: list[list[int]] = fresh["hands" if "hands" in names else "types"].tolist()
    return deals


def _outcome(tables: Tables, reward: F32) -> Record:
    """Of one finished table ``[1]``."""
    points = "scores" in (tables.dtype.names or ())
    return {
        "rewards": reward.tolist(),
        "scores": tables["scores"][0, : int(tables["sides"][0])].tolist() if points else [],
        "rounds": int(tables["rounds"][0]) if points else 0,
    }


# ---- and back ----------------------------------------------------------------------------


@cache
def _game(env_id: str, options: str) -> Game:
    if env_id in agents.BRIDGE:
        raise ValueError(f"{env_id} has records of its own (bidzoo.benchmarks.records)")
    try:
        return make_game(env_id, **json.loads(options))
    except (json.JSONDecodeError, TypeError, KeyError) as problem:
        text = problem.args[0] if isinstance(problem, KeyError) else problem
        raise ValueError(f"game {env_id} with options {options}: {text}") from problem


def replay(record: Record) -> Episodes:
    """The finished table, every action made again under the rules.

    Raises:
        ValueError: an illegal action, or another deal or result than the record's; names board and seating.
    """
    try:
        game, boards = _game(record["env"], record["options"]), board_numbers(np.array([record["board"]]))
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, boards, checked_seed(record["seed"]), out)
        _agree(record, {"deal": _dealt(tables)[0], "players": _players(game, record)})
        record_files.take(game, tables, out, record["actions"])
        if out.mask.any():
            raise ValueError("expected a finished table")
        _agree(record, _outcome(tables, out.reward[0]))
    except ValueError as problem:
        raise ValueError(f"board {record['board']}, seating {record['seating']}: {problem}") from problem
    return Episodes(boards, out.reward, tables)


def _players(game: Game, record: Record) -> list[str]:
    if not 0 <= record["seating"] < len(SEATINGS[game.utility]):
        raise ValueError(f"expected seating 0 ... {len(SEATINGS[game.utility]) - 1}")
    return [record["agents"][agent] for agent in SEATINGS[game.utility][record["seating"]]]


def _agree(record: Record, found: Record) -> None:
    for key, value in found.items():
        if record[key] != value:
            raise ValueError(f"{key} {record[key]!r}, but the replay gives {value!r}")


def tables(replayed: Iterable[tuple[Record, Episodes]]) -> list[Table]:
    """A summary of every match among replayed records."""
    matches: dict[tuple[str, str, str, str], dict[int, list[Episodes]]] = {}
    for record, episodes in replayed:
        key = (record["env"], record["options"], *record["agents"])
        matches.setdefault(key, {}).setdefault(record["seating"], []).append(episodes)
    found = []
    for (env_id, options, first, second), seatings in matches.items():
        game = _game(env_id, options)
        nothing = Episodes(np.empty(0, np.int64), np.empty((0, game.num_players), np.float32), game.new(0))
        played = [_joined([nothing, *seatings.get(k, [])]) for k in range(len(SEATINGS[game.utility]))]
        found.append(summary(game, (first, second), played))
    return found


def _joined(parts: Sequence[Episodes]) -> Episodes:
    boards, reward, tables = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Episodes(boards, reward, tables)

"""Recorded boards as arrays to learn from: what each player saw, could do and did, and what came of it.

For imitation and offline reinforcement learning. Records are those of ``bidzoo.benchmarks.records``: of ``bidzoo match
--out``, or made in a script.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents, registry
from bidzoo.core.kernels import F32, I8, I64, Bool, States
from bidzoo.envs.game import Game, Table, dealt


class Transitions(NamedTuple):
    """``N`` decisions; those of one player on one board are an episode, and stand together in their order."""

    observation: I8  # [N, F]  of the player, by the encoder of the game
    action_mask: I8  # [N, A]  1 = legal
    action: I64  # [N]
    reward: F32  # [N]  until the player's next decision: that of the board at the last one, else 0
    terminal: Bool  # [N]  the player's last decision of the board
    player: I64  # [N]
    record: I64  # [N]  number of the record, from 0: of what else it says, and to part deals by


def transitions(game: Game, records: Iterable[Mapping[str, Any]], players: Sequence[str] = ()) -> Transitions:
    """Every decision in ``records``, replayed by the rules of ``game``.

    Args:
        game: whose observations and rewards these are. Of a record of bridge it may be the auction alone, which leaves
            the cards out. A deal whose double-dummy results the record does not know is solved where its reward needs
            them, in some 0.2 s.
        records: of one kind of game, as ``bidzoo.benchmarks.records.read`` gives them.
        players: names of recorded players; default: all.

    Raises:
        ValueError: a record of another game, with an action that is not legal in ``game``, or that ends before the
            board does (names the board); a player whom no record has.
        TypeError: no game.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game: {game!r}, expected a game: bidzoo.make_game(...), or the game of an environment")
    kept = checked(records, players)
    table = Table(game)
    rows: list[tuple[I8, I8, int, float, bool, int, int]] = []
    for number, record in enumerate(kept):
        start = start_of(game, record)
        table.begin(start.board, start.seed, game.options(start.options))
        check_dealt(record, table.states)
        episodes: dict[int, list[tuple[I8, I8, int]]] = {player: [] for player in range(game.num_players)}
        for turn, text in enumerate(start.actions, 1):
            if is_made(game, record, table.states, turn):
                continue
            action = legal_action(game, text, table.out.mask[0], record, turn)
            decision = table.out.observation[0].copy(), table.out.mask[0].copy(), action
            episodes[int(table.out.player[0])].append(decision)
            table.step(action)
        if not table.out.over[0]:
            raise ValueError(
                f"{place(record)}the board goes on after its {len(start.actions)} actions in {game},"
                " expected a game whose board ends there"
            )
        rewards = table.out.reward[0].tolist()
        for player, episode in episodes.items():
            if not players or record["players"][player] in players:
                for left, decision in enumerate(episode, 1 - len(episode)):
                    rows.append((*decision, rewards[player] if left == 0 else 0.0, left == 0, player, number))
    if not rows:
        features, actions = game.encoder.layout.size, game.num_actions
        return _arrays(np.zeros((0, features), np.int8), np.zeros((0, actions), np.int8), *[()] * 5)
    observations, masks, *others = zip(*rows)
    return _arrays(np.stack(observations), np.stack(masks), *others)


def _arrays(observation: I8, mask: I8, *columns: Sequence[Any]) -> Transitions:
    kinds = np.int64, np.float32, np.bool_, np.int64, np.int64
    return Transitions(observation, mask, *(np.array(column, kind) for column, kind in zip(columns, kinds)))


# ---- records on the tables of a game -------------------------------------------------------------------


class Start(NamedTuple):
    """How a recorded board is set up, and what was done there."""

    board: int
    seed: int
    options: dict[str, Any]  # as of ``reset``
    actions: Sequence[str]


def checked(records: Iterable[Mapping[str, Any]], players: Sequence[str]) -> list[Mapping[str, Any]]:
    """``records`` as a list; ValueError for a file's name, one record, and a name of ``players`` that no record has."""
    if isinstance(records, str | Path):
        raise ValueError(
            f"records: {str(records)!r}, expected records: bidzoo.benchmarks.records.read({str(records)!r})"
        )
    if isinstance(records, Mapping):
        raise ValueError("records: one record, expected a list of records")
    if isinstance(players, str):
        raise ValueError(f"players: {players!r}, expected a sequence of names: [{players!r}]")
    kept = list(records)
    known = {name for record in kept for name in record["players"]}
    if unknown := [name for name in players if name not in known]:
        raise ValueError(f"players: {unknown[0]!r} is none of the records' players: {', '.join(sorted(known))}")
    return kept


def place(record: Mapping[str, Any]) -> str:
    """The beginning of an error about ``record``."""
    return f"record of board {record['board']}: "


def start_of(game: Game, record: Mapping[str, Any]) -> Start:
    """How ``game`` sets the board of ``record`` up; ValueError if it is of another game.

    A deal of bridge stands in its record, one of another game is dealt anew: see ``check_dealt``.
    """
    env_id = record.get("env", "bridge_v0" if record.get("cards") else "bridge_bidding_v0")
    if env_id != game.id and not (env_id in agents.BRIDGE and game.family in registry.BRIDGE_FAMILIES):
        raise ValueError(f"{place(record)}of {env_id}, expected one of {game.id}")
    if "env" in record:
        return Start(record["board"], record["seed"], {}, record["actions"])
    options = {name: record[name] for name in ("deal", "dealer", "vulnerability")}
    if min(record["double_dummy"]) >= 0:
        options["tricks"] = record["double_dummy"]
    auction = game.family == "bridge_bidding"
    return Start(record["board"], 0, options, record["calls"] if auction else [*record["calls"], *record["cards"]])


def check_dealt(record: Mapping[str, Any], states: States) -> None:
    """ValueError if the table ``[1]`` was dealt other cards or types than ``record`` has: other options of the game."""
    if "env" in record and dealt(states)[0] != record["deal"]:
        raise ValueError(
            f"{place(record)}dealt by {record['env']} with {record['options']}, expected the game with these options"
        )


def is_made(game: Game, record: Mapping[str, Any], states: States, turn: int) -> bool:
    """Whether the rules have made the ``turn``-th action at the table ``[1]``: a pass, of who never calls there.

    Records of bridge hold the passes of ``competition=False`` and ``most_calls``, which nobody chooses. ValueError if
    the record has another call.
    """
    calls = record.get("calls", ())
    if turn > len(calls) or turn > states["length"][0]:
        return False
    if calls[turn - 1] != "P":
        raise ValueError(
            f"{place(record)}action {turn}, {calls[turn - 1]!r}, is not legal in {game}, where this player passes"
        )
    return True


def legal_action(game: Game, text: str, mask: I8, record: Mapping[str, Any], turn: int) -> int:
    """The number of the action ``text``, the ``turn``-th of ``record``; ValueError unless ``mask`` ``[A]`` has it."""
    try:
        action = game.action_number(text)
    except ValueError:
        action = -1
    if action < 0 or not mask[action]:
        raise ValueError(f"{place(record)}action {turn}, {text!r}, is not legal in {game}")
    return action

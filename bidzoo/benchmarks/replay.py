"""A file of match results, played again under the laws: every score and every IMP found anew."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo.benchmarks import records
from bidzoo.benchmarks.match import Episodes, seatings, summary
from bidzoo.benchmarks.records import Record
from bidzoo.benchmarks.results import ResultTable
from bidzoo.core.cards import SEAT_NAMES, SEATS, VULNERABLE_TEXT
from bidzoo.core.kernels import States
from bidzoo.envs.bridge import render as words
from bidzoo.envs.bridge.board import Board, Fault, contract_numbers, decode
from bidzoo.envs.bridge.deals import read_boards
from bidzoo.envs.bridge.double_dummy import dd_tricks_of
from bidzoo.envs.bridge.formats import FORMATS, lin, pbn
from bidzoo.envs.bridge.score import imps, north_south_row, par
from bidzoo.envs.game import Game

_ROOMS = ("open", "closed")
INPUT = Path("standard input")  # what errors call it


def read(path: str | Path, strict: bool = True, faults: list[Fault] | None = None) -> list[Any]:
    """Boards of a ``.pbn`` or ``.lin`` file, or records of a ``.jsonl`` file; one at least.

    ``"-"`` is standard input: PBN, LIN or JSON lines, as its first characters tell. ``strict`` and ``faults`` are of
    PBN and LIN, as for ``pbn.loads``.

    Raises:
        ValueError: another ending, something malformed, or nothing; names file, line and what was expected.
    """
    path = Path(path)
    if str(path) == "-":
        path, entries = INPUT, _read_input(sys.stdin.buffer.read() if sys.stdin else b"", strict, faults)
    elif path.suffix.lower() in FORMATS:
        entries = read_boards(path, strict, faults)
    elif path.suffix == records.ENDING:
        entries = records.read(path)
    else:
        endings = ", ".join((*FORMATS, records.ENDING))
        raise ValueError(f"{path}: ending {path.suffix!r}, expected {endings}, or - for standard input")
    if not entries:
        raise ValueError(str(faults[0]) if faults else f"{path}: no boards, expected at least one")
    return entries


def _read_input(content: bytes, strict: bool, faults: list[Fault] | None) -> list[Any]:
    text = decode(content, str(INPUT))
    if text.lstrip().startswith("{"):
        return records.loads(content, INPUT)
    first_word = re.match(r"\s*([\[%;]|\w+(?:\||%7[Cc])|https?:)", text)  # a tag or comment of PBN, or LIN's first word
    if first_word is None and text.strip():
        raise ValueError(f"{INPUT}: {text.strip()[:40]!r}, expected PBN, LIN or JSON lines")
    return (lin if first_word and first_word[1][0] not in "[%;" else pbn).loads(text, str(INPUT), strict, faults)


Report = Callable[[str, str], None]  # of a place in the file, and what is wrong there


def summaries(
    path: str | Path, entries: list[Any] | None = None, faults: list[Fault] | None = None
) -> list[ResultTable]:
    """The result of every match of a file; ``entries`` is what ``read`` returned for it, if that was called before.

    ``faults`` takes what a PBN file says of a score otherwise than the replay; without it, that is an error.

    Raises:
        ValueError: as of ``read``, something illegal, or another result than the file's.
    """
    entries = read(path) if entries is None else entries
    path = INPUT if str(path) == "-" else Path(path)
    if isinstance(entries[0], Board):
        differs = _refuse if faults is None else partial(_name, faults)
        places = (f"{path}: table {number}, board {board.number or '?'}" for number, board in enumerate(entries, 1))
        return [total((_board_result(board, place, differs) for board, place in zip(entries, places)), differs)]
    if records.fields_of(entries) is records.BRIDGE:
        return [total(_record_results(path, entries))]
    return _other_game_tables(path, entries)


def _refuse(where: str, reason: str) -> None:
    raise ValueError(f"{where}: {reason}")


def _name(faults: list[Fault], where: str, reason: str) -> None:
    faults.append(Fault(where, 0, "", reason, "the score"))


def _replayed(path: Path, entries: Sequence[Record]) -> Iterator[tuple[Record, States]]:
    for number, record in enumerate(entries, 1):
        try:
            yield record, records.replay(record)
        except ValueError as problem:
            raise ValueError(f"{path}:{number}: {problem}") from problem


def _other_game_tables(path: Path, entries: Sequence[Record]) -> list[ResultTable]:
    """Records of Spades and the small games, a table a match."""
    matches: dict[tuple[str, str, str, str], dict[int, list[tuple[Record, States]]]] = {}
    numbers = dict[tuple[int, int], int]()  # of the boards, which are told apart by the seed too
    for record, states in _replayed(path, entries):
        numbers.setdefault((record["seed"], record["board"]), len(numbers))
        key = (record["env"], record["options"], *record["agents"])
        matches.setdefault(key, {}).setdefault(record["seating"], []).append((record, states))
    tables = []
    for (env_id, options, first, second), by_seating in matches.items():
        game = records.game_of(env_id, options)
        all_episodes = [_episodes(game, by_seating.get(k, []), numbers) for k in range(len(seatings(game)))]
        tables.append(summary(game, (first, second), all_episodes))
    return tables


def _episodes(
    game: Game, replayed: Sequence[tuple[Record, States]], numbers: Mapping[tuple[int, int], int]
) -> Episodes:
    boards = np.array([numbers[record["seed"], record["board"]] for record, _ in replayed], np.int64)
    reward = np.array([record["rewards"] for record, _ in replayed], np.float32).reshape(-1, game.num_players)
    return Episodes(boards, reward, np.concatenate([game.new(0), *(states for _, states in replayed)]))


# ---- bridge ------------------------------------------------------------------------------


class TableResult(NamedTuple):
    """The result at one table, as the replay gives it."""

    where: str  # in the file
    deal: tuple[Any, ...]  # the same at both tables of a board
    room: str  # "" where the file does not say
    players: tuple[str, ...]  # N E S W
    score: int | None  # of North/South; None where the tricks are not known
    imps: int | None  # of North/South in the open room, as the file has them

    @property
    def teams(self) -> tuple[str, str]:
        """Names of North/South and of East/West."""
        north, east, south, west = self.players
        return north if north == south else f"{north}/{south}", east if east == west else f"{east}/{west}"

    def key(self, other: bool = False) -> tuple[Any, ...]:
        """What the board's ``other`` table, the sides exchanged, and this one have in common; () if it cannot be told.

        Tables of a pairs tournament, or of players without names, are no match.
        """
        if self.room in _ROOMS:
            return (*self.deal, _ROOMS[1 - _ROOMS.index(self.room)] if other else self.room, *sorted(self.players))
        sides = [tuple(sorted(self.players[side::2])) for side in ((1, 0) if other else (0, 1))]
        return (*self.deal, *sides) if all(self.players) and sides[0] != sides[1] else ()


def _record_results(path: Path, entries: Sequence[Record]) -> Iterator[TableResult]:
    for number, (record, states) in enumerate(_replayed(path, entries), 1):
        deal = (record["seed"], record["policy_seed"] // 2, record["board"], *states[0]["hands"].tolist())
        where = f"{path}:{number}"
        yield TableResult(where, deal, record["room"], tuple(record["players"]), record["score"], record["imps"])


def _board_result(board: Board, where: str, differs: Report) -> TableResult:
    """A board whose auction and play the reader has followed; checks a ``Score`` in points and double-dummy tricks."""
    tricks, score = _solved(board), _score(board)
    if tricks is not None and tricks != board.result:
        differs(where, f"Result {board.result}, but the double-dummy table gives {tricks}")
    scoring = board.tags.get("Scoring", "").lower()
    said = _north_south(board.tags.get("Score", ""), board.declarer)
    if None not in (said, score) and said != score and not re.search("rubber|chicago", scoring):
        differs(where, f"Score {board.tags['Score']!r}, but the replay gives NS {score}")
    room = board.tags.get("Room", "").lower()
    of_two_tables = scoring in ("", "imp", "imps")  # others count IMPs against a datum or several tables
    said_imps = _north_south(board.tags.get("ScoreIMP", ""), board.declarer) if of_two_tables else None
    if said_imps is not None and room == "closed":
        said_imps = -said_imps
    return TableResult(where, (board.number, *(board.hands or ())), room, board.names, score, said_imps)


# ---- a board in words --------------------------------------------------------------------


def boards_in_words(boards: Iterable[Board], solve: bool = False) -> Iterator[str]:
    """Every board of a file in words: auction, contract, result, score, and par if it is known.

    Args:
        boards: of the file.
        solve: solve double dummy what the file does not tag.
    """
    for number, board in enumerate(boards, 1):
        yield "\n".join([_headline(board, number), *_calls(board), _ending(board, solve)])


def _headline(board: Board, number: int) -> str:
    parts = [f"Board {board.number or number}"]
    parts += [f"dealer {SEATS[board.dealer]}"] if board.dealer is not None else []
    parts += [f"vulnerable: {VULNERABLE_TEXT[board.vulnerable]}"] if board.vulnerable is not None else []
    parts += [f"{seat} {name}" for seat, name in zip(SEATS, board.names) if name]
    return " · ".join(parts)


def _calls(board: Board) -> list[str]:
    """The auction in the columns W N E S, the notes below."""
    if not board.auction or board.dealer is None:
        return []
    notes = [call.note for call in board.auction if call.note]
    marks = iter(range(1, len(notes) + 1))
    calls = [words.suited(call.call) + (f" ({next(marks)})" if call.note else "") for call in board.auction]
    cells = [""] * words.COLUMNS.index(board.dealer) + calls
    rows = [[SEAT_NAMES[seat] for seat in words.COLUMNS], *(cells[i : i + 4] for i in range(0, len(cells), 4))]
    lines = ["  " + "".join(f"{cell:<9}" for cell in row).rstrip() for row in rows]
    return lines + [f"  ({mark}) {note}" for mark, note in enumerate(notes, 1)]


def _ending(board: Board, solve: bool) -> str:
    """Contract, result, score and par, as far as they are known."""
    if board.contract is None:
        parts = ["no contract"]
    elif board.contract == "Pass":
        parts = ["passed out"]
    else:
        bid, stake = contract_numbers(board.contract)
        by = "" if board.declarer is None else f" by {SEAT_NAMES[board.declarer]}"
        parts = [words.suited_contract(bid, stake) + by]
        if board.result is not None:
            extra = board.result - (bid // 5 + 7)
            made = "made" if extra == 0 else f"made +{extra}" if extra > 0 else f"down {-extra}"
            parts += [f"{board.result} tricks ({made})"]
    points, best = _score(board), _par(board, solve)
    parts += [_points_text(points)] if points is not None else []
    return "  " + ", ".join(parts) + ("" if best is None else f"; par {_points_text(best)}")


def _points_text(points: int) -> str:
    return words.score(points) if points else "0"


def _par(board: Board, solve: bool) -> int | None:
    """Par of North/South; None where it is not known."""
    known = board.tricks is not None and min(board.tricks) >= 0
    if board.dealer is None or board.vulnerable is None or not (known or (solve and board.complete)):
        return None
    tricks = np.array(board.tricks, np.int8) if known else dd_tricks_of(np.array(board.hands, np.int64))
    return int(par(tricks[None], board.dealer, board.vulnerable)[0])


def _solved(board: Board) -> int | None:
    """Tricks of the contract in the double-dummy table, if the tags say that the result comes from it."""
    bid, _ = contract_numbers(board.contract or "Pass")
    from_table = board.tags.get("ResultSource") == "double dummy"
    if not from_table or board.tricks is None or board.declarer is None or bid < 0:
        return None
    return board.tricks[5 * board.declarer + bid % 5]


_SCORE = re.compile(r"(?:(NS|EW) )?([+-]?\d+)(?: (NS|EW) ([+-]?\d+))?")


def _north_south(text: str, declarer: int | None) -> int | None:
    """North/South's number of ``"NS 420"``, ``"EW -420 NS 420"`` or declarer's ``"420"``; None of anything else."""
    match = _SCORE.fullmatch(text.strip())
    if match is None or (match[1] is None and (declarer is None or match[3] is not None)):
        return None
    side = ("NS", "EW")[declarer % 2] if match[1] is None and declarer is not None else match[1]
    number = int(match[2]) * (1 if side == "NS" else -1)
    if match[3] is not None and (match[3] == side or int(match[4]) != -int(match[2])):
        return None  # two numbers that do not belong together
    return number


def _score(board: Board) -> int | None:
    """Score of North/South; None where it is not known."""
    if board.contract is None or board.vulnerable is None:
        return None
    bid, stake = contract_numbers(board.contract)
    if bid < 0:
        return 0
    if board.declarer is None or board.result is None:
        return None
    return north_south_row(bid, stake, board.declarer, board.vulnerable, board.result)


def total(results: Iterable[TableResult], differs: Report = _refuse) -> ResultTable:
    """IMPs of every match in the file; ``differs`` is told of IMPs that do not follow from the scores."""
    waiting: dict[tuple[Any, ...], list[TableResult]] = {}
    imps_of_teams: dict[tuple[str, str], list[int]] = {}
    alone, tables = list[TableResult](), 0

    def add(*pair: TableResult) -> None:
        first, second = sorted(pair, key=lambda each: each.room == "closed")
        board_imps = _imps(first, second, differs)
        if board_imps is not None:
            imps_of_teams.setdefault(first.teams, []).append(board_imps)

    for result in results:
        tables += 1
        if others := waiting.get(result.key(other=True)):
            add(others.pop(0), result)
        elif key := result.key():
            waiting.setdefault(key, []).append(result)
        else:
            alone.append(result)
    rooms: dict[tuple[Any, ...], list[TableResult]] = {}  # tables of a deal with other players: of a team match
    for result in chain.from_iterable(waiting.values()):
        rooms.setdefault(result.deal, []).append(result)
    for tables_of_deal in rooms.values():
        if sorted(result.room for result in tables_of_deal) == ["closed", "open"]:
            add(*tables_of_deal)
        else:
            alone += tables_of_deal
    for result in alone:
        if result.imps is not None and result.room:
            differs(result.where, f"{result.imps} IMPs, expected the board's other table in the file")
    unpaired = f", {len(alone):,} of them without a second table" if alone else ""
    columns = ["team", "against", "boards", "IMPs", "IMPs a board"]
    match = ResultTable("Match", columns, note=f"{tables:,} replayed{unpaired}")
    for teams, each in imps_of_teams.items():
        match.add(*teams, len(each), sum(each), sum(each) / len(each))
    return match


def _imps(first: TableResult, second: TableResult, differs: Report) -> int | None:
    """IMPs of North/South in the open room; None where a score is not known."""
    known = first.score is not None and second.score is not None
    difference_imps = int(imps((first.score or 0) - (second.score or 0))) if known else None
    for each in (first, second):
        if each.imps is not None and each.imps != difference_imps:
            differs(each.where, f"{each.imps} IMPs, but the two scores give {difference_imps}")
    return difference_imps

"""Deals and tables of boards read from files, and what a set of deals looks like."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bidzoo.cards import high_card_points
from bidzoo.envs.bridge.deals import UNKNOWN, DealSet
from bidzoo.envs.bridge.files import lin, pbn
from bidzoo.envs.bridge.files.board import Board
from bidzoo.kernels import F64, I8, I64

READERS = {".pbn": pbn.read, ".lin": lin.read}


def read_boards(path: str | Path) -> list[Board]:
    """Boards of a PBN or LIN file, by its name's ending."""
    ending = Path(path).suffix.lower()
    if ending not in READERS:
        raise ValueError(f"{path}: ending {ending!r}, expected {' or '.join(READERS)}")
    return READERS[ending](path)


def deals_of(boards: list[Board], source: str) -> DealSet:
    """The different deals of ``boards``, in their order, each with all that is tagged of its table.

    Raises:
        ValueError: a board without its four hands, or two boards that give one deal different tricks.
    """
    tables: dict[tuple[int, ...], I64] = {}
    for place, board in enumerate(boards, 1):
        name = f"{source}: board {board.number or place}"
        if board.hands is None or not board.complete:
            raise ValueError(f"{name}: Deal: hands are missing, expected all four")
        said = np.array(board.tricks or [UNKNOWN] * 20)
        known = tables.setdefault(board.hands, np.full(20, UNKNOWN))
        if ((said != known) & (said != UNKNOWN) & (known != UNKNOWN)).any():
            raise ValueError(f"{name}: double-dummy table: {said.tolist()}, expected {known.tolist()} as given before")
        tables[board.hands] = np.where(said == UNKNOWN, known, said)
    if not tables:
        raise ValueError(f"{source}: no deals, expected at least one board")
    return DealSet.of(np.array(list(tables)), np.array(list(tables.values()), np.int8), source)


class BoardSet(NamedTuple):
    """Boards in the order of a file, to be played again."""

    deals: DealSet
    dealer: I8  # [n]  -1 where the file does not say
    vulnerable: I8  # [n]  bit 0 N/S, bit 1 E/W; -1 where the file does not say


def board_set(path: str | Path) -> BoardSet:
    """The boards of a PBN or LIN file, each with all that any board says of its deal's table.

    Raises:
        ValueError: a malformed file, or a board without its four hands; names file, board and field.
    """
    boards = read_boards(path)
    known = deals_of(boards, str(path))
    place = {tuple(hands): deal for deal, hands in enumerate(known.hands.tolist())}
    rows = [place[board.hands] for board in boards if board.hands is not None]
    return BoardSet(
        DealSet.of(known.hands[rows], known.tricks[rows], str(path)),
        np.array([-1 if board.dealer is None else board.dealer for board in boards], np.int8),
        np.array([-1 if board.vulnerable is None else board.vulnerable for board in boards], np.int8),
    )


class Summary(NamedTuple):
    """A set of deals in numbers, to see whether it looks random."""

    deals: int
    different: int  # deals, no two equal
    solved: int  # tables fully known
    points: F64  # [4]  mean high-card points of N E S W; 10 in random deals
    tricks: F64  # [5]  mean double-dummy tricks in C D H S NT, over declarers and known results; nan if none


def summary(deals: DealSet) -> Summary:
    """Numbers of ``deals``."""
    cells = deals.tricks.reshape(-1, 4, 5).astype(np.float64)
    known = cells != UNKNOWN
    with np.errstate(invalid="ignore"):
        tricks = np.where(known, cells, 0).sum((0, 1)) / known.sum((0, 1))
    different = len(np.unique(deals.hands, axis=0))
    return Summary(len(deals.hands), different, deals.solved, high_card_points(deals.hands).mean(0), tricks)

"""Double-dummy results by endplay's solver (Bo Haglund's DDS), in one process and one thread.

DDS keeps global state: calls take turns under a lock, and its own threads are switched off; ``generate`` runs
several processes instead. Its order of suits is S H D C, rank ``r`` is bit ``r + 2``.
"""

import threading
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bidzoo.kernels import I8, I64

TABLES_A_CALL, BOARDS_A_CALL = 40, 200  # DDS's own limits
_MOST_TRICKS, _BEST_CARD, _SEARCH = -1, 1, 1  # SolveBoard's target, solutions and mode: exact tricks, always searched
STRAIN = np.array([3, 2, 1, 0, 4])  # DDS strain of C D H S NT, and back

one_call = threading.Lock()


@cache
def solver() -> ModuleType:
    """endplay's bindings, imported on first use (they bring matplotlib), with one thread."""
    try:
        from endplay import _dds
    except ImportError as error:
        raise ImportError(
            "solving deals needs endplay (pip install endplay; it has no wheel for Python 3.14)"
        ) from error
    _dds.SetMaxThreads(1)
    module: ModuleType = _dds
    return module


def holdings(hands: I64) -> NDArray[np.uint32]:
    """Cards of each seat by suit S H D C as DDS has them: ``[n, 4, 4]``."""
    ranks = np.arange(13)
    suits = np.arange(3, -1, -1)[:, None]
    held = hands[:, :, None, None] >> (4 * ranks + suits) & 1
    return (held << ranks + 2).sum(3).astype(np.uint32)


def tables(hands: I64) -> I8:
    """Double-dummy tables ``[n, 20]`` of deals ``[n, 4]``; about 0.2 s each."""
    dds = solver()
    out = np.empty((len(hands), 20), np.int8)
    for start in range(0, len(hands), TABLES_A_CALL):
        part = hands[start : start + TABLES_A_CALL]
        deals, results = dds.ddTableDeals(), dds.ddTablesRes()
        deals.noOfTables = len(part)
        np.frombuffer(deals.ddTableDeal, np.uint32).reshape(-1, 4, 4)[: len(part)] = holdings(part)
        with one_call:
            dds.CalcAllTables(deals, -1, [0] * 5, results, dds.allParResults())  # -1: no par, 0: leave no strain out
        found = np.frombuffer(results.results, np.int32).reshape(-1, 5, 4)[: len(part)]  # strain S H D C NT, declarer
        out[start : start + len(part)] = found[:, STRAIN].transpose(0, 2, 1).reshape(-1, 20)
    return out


def contracts(hands: I64, declarer: I64, strain: I64) -> I8:
    """Double-dummy tricks ``[n]`` of ``declarer`` ``[n]`` in ``strain`` ``[n]``; about 0.02 s each."""
    dds = solver()
    out = np.empty(len(hands), np.int8)
    for start in range(0, len(hands), BOARDS_A_CALL):
        part = slice(start, start + BOARDS_A_CALL)
        boards, solved = dds.boards(), dds.solvedBoards()
        boards.noOfBoards = n = len(hands[part])
        np.frombuffer(boards.target, np.int32)[:n] = _MOST_TRICKS
        np.frombuffer(boards.solutions, np.int32)[:n] = _BEST_CARD
        np.frombuffer(boards.mode, np.int32)[:n] = _SEARCH
        deals = np.frombuffer(boards.deals, np.uint32).reshape(-1, 24)[:n]  # trump, leader, current trick 6, cards 16
        deals[:, 0] = STRAIN[strain[part]]
        deals[:, 1] = (declarer[part] + 1) % 4
        deals[:, 8:] = holdings(hands[part]).reshape(n, 16)
        with one_call:
            dds.SolveAllBoardsBin(boards, solved)
        out[part] = [13 - solved.solvedBoard[i].score[0] for i in range(n)]
    return out

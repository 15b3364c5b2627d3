"""Double-dummy tricks of every card that could be played now, by endplay's solver (DDS, ``SolveAllBoardsBin``)."""

import numpy as np

from bidzoo.cards import NUM_CARDS
from bidzoo.envs.bridge.solving.double_dummy import BOARDS_A_CALL, STRAIN, holdings, one_call, solver
from bidzoo.kernels import I8, Table, Tables

_MOST_TRICKS, _ALL_CARDS, _SEARCH = -1, 3, 1  # SolveBoard's target, solutions and mode: every card with its tricks


def card_tricks(states: Tables) -> I8:
    """Tricks that the side to play still takes with each card, ``[n, 52]``; -1 for cards that cannot be played.

    ``states`` ``[n]`` in the play, all four hands known; about 0.01 s each at the opening lead, less later.
    """
    out = np.full((len(states), NUM_CARDS), -1, np.int8)
    for start in range(0, len(states), BOARDS_A_CALL):
        _solve(states[start : start + BOARDS_A_CALL], out[start : start + BOARDS_A_CALL])
    return out


def _solve(states: Tables, out: I8) -> None:
    dds = solver()
    boards, solved = dds.boards(), dds.solvedBoards()
    boards.noOfBoards = n = len(states)
    np.frombuffer(boards.target, np.int32)[:n] = _MOST_TRICKS
    np.frombuffer(boards.solutions, np.int32)[:n] = _ALL_CARDS
    np.frombuffer(boards.mode, np.int32)[:n] = _SEARCH
    deals = np.frombuffer(boards.deals, np.uint32).reshape(-1, 24)[:n]  # trump, leader, trick suits 3, ranks 3, cards
    for b, state in enumerate(states):
        trick = _trick(state)
        deals[b, 0] = STRAIN[int(state["bid"]) % 5]
        deals[b, 1] = int(state["leader"])
        deals[b, 2:8] = 0
        for k, card in enumerate(trick):
            deals[b, 2 + k], deals[b, 5 + k] = 3 - card % 4, card // 4 + 2
    deals[:, 8:] = holdings(np.ascontiguousarray(states["held"])).reshape(n, 16)
    with one_call:
        dds.SolveAllBoardsBin(boards, solved)
    for b in range(n):
        _read(solved.solvedBoard[b], out[b])


def _trick(state: Table) -> list[int]:
    plays = int(state["plays"])
    return [int(card) for card in state["played"][plays - plays % 4 : plays]]


def _read(found: "Table", out: I8) -> None:
    """Tricks by card; ``equals`` are lower cards as good as the one named."""
    for k in range(found.cards):
        suit, tricks = 3 - found.suit[k], found.score[k]
        out[4 * (found.rank[k] - 2) + suit] = tricks
        for rank in range(13):
            if found.equals[k] >> (rank + 2) & 1:
                out[4 * rank + suit] = tricks

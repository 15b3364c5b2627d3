"""Mini-Hanabi: one action each, which must both score and tell.

Source: Foerster et al. 2019, "Bayesian Action Decoder for Deep Multi-Agent Reinforcement Learning" (arXiv 1811.01458);
the game "Mini-Hanabi" of Table 1 in Tian, Gong and Jiang 2020 (arXiv 2008.06495), and OpenSpiel's
``tiny_hanabi``.

Each player has a card, 0 or 1 (its type). player_0 takes one of three actions, player_1 sees it and takes one of three.
Both receive ``PAYOFF[card_0, card_1, action_0, action_1]``; 10 is possible at every deal.
"""

import numpy as np

from bidzoo.envs.signals.state import OVER
from bidzoo.kernels import F64, I8, Table, row

CARDS, ACTIONS = 2, 3

PAYOFF: F64 = np.array(
    [
        [[[10, 0, 0], [4, 8, 4], [10, 0, 0]], [[0, 0, 10], [4, 8, 4], [0, 0, 10]]],
        [[[0, 0, 10], [4, 8, 4], [0, 0, 0]], [[10, 0, 0], [4, 8, 4], [10, 0, 0]]],
    ],
    np.float64,
)


@row
def legal_row(table: Table, out: I8) -> None:
    """Every action is legal: ``out`` ``[3]``."""
    out[:] = 1


@row
def step_row(table: Table, action: int) -> None:
    """Take ``action``; the second one ends the game."""
    table.history[table.length] = action
    table.length += 1
    table.turn = 1 if table.length == 1 else OVER


@row
def payoff_row(table: Table, x: int, y: int) -> float:
    """Common reward of a finished table with cards ``x`` and ``y``."""
    return float(PAYOFF[x, y, int(table.history[0]), int(table.history[1])])


@row
def encode_row(table: Table, player: int, out: I8) -> None:
    """Both actions into ``out`` ``[2 * 3]``, all zero before."""
    for turn in range(table.length):
        out[ACTIONS * turn + int(table.history[turn])] = 1

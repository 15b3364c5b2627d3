"""Comm: one player sends bits, the other guesses the number they stand for.

Source: Definition 1 of Tian, Gong and Jiang 2020, "Joint Policy Search for Multi-agent Collaboration with Imperfect
Information" (arXiv 2008.06495).

With ``L = table.extent``: player_0 has a type in ``[0, 2**L)``, player_1 has none (its type is always 0).
player_0 acts ``L`` times in a row, sending a public bit each time (actions 0 and 1); then player_1 guesses
(actions ``0 ... 2**L - 1``). Both receive 1 if the guess is player_0's type, else 0.
"""

from bidzoo.envs.signals.state import OVER
from bidzoo.kernels import I8, Table, row


@row
def legal_row(table: Table, out: I8) -> None:
    """Legal actions of the player to act into ``out`` ``[2**L]``: two bits, or every guess."""
    choices = 2 if table.length < table.extent else len(out)
    for action in range(len(out)):
        out[action] = 1 if action < choices else 0


@row
def step_row(table: Table, action: int) -> None:
    """Send bit ``action``, or guess it and end."""
    table.history[table.length] = action
    table.length += 1
    if table.length > table.extent:
        table.turn = OVER
    elif table.length == table.extent:
        table.turn = 1


@row
def payoff_row(table: Table, x: int, y: int) -> float:
    """Common reward of a finished table when player_0's type is ``x``."""
    return 1.0 if int(table.history[table.extent]) == x else 0.0


@row
def encode_row(table: Table, player: int, out: I8) -> None:
    """Message and guess into ``out`` ``[4 * L]``, all zero before: two entries a binary digit, high digits first."""
    bits = int(table.extent)
    for turn in range(min(int(table.length), bits)):
        out[2 * turn + int(table.history[turn])] = 1
    if table.length > bits:
        guess = int(table.history[bits])
        for digit in range(bits):
            out[2 * (bits + digit) + (guess >> (bits - 1 - digit) & 1)] = 1

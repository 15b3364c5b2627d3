"""Success curves: the chance that a nil succeeds, by nil value and the bids before it (section 4.3).

A curve is a logistic function of the nil value; there is one for each of the 2955 sequences of 0 ... 3 earlier
bids. The table ships as ``data/spades/success-curves.npz``; ``curves_training`` makes it.
"""

from importlib.resources import files
from pathlib import Path

import numpy as np

from bidzoo.core.arrays import Floats, Plan, Text, load_npz
from bidzoo.core.kernels import F32, State, row

SEQUENCES = 1 + 14 + 14**2 + 14**3
FIRST = (0, 1, 1 + 14, 1 + 14 + 14**2)  # row of the first sequence of 0, 1, 2, 3 bids
CURVES_FILE = "success-curves.npz"


@row
def sequence_row(state: State) -> int:
    """Row of the bids already made, in bidding order (the right opponent's is last)."""
    index, length = 0, 0
    for k in range(3, 0, -1):
        bid = int(state.bids[(int(state.turn) - k) % 4])
        if bid >= 0:
            index = 14 * index + bid
            length += 1
    return index + FIRST[length]


@row
def chance_row(curve: F32, nil_value: float) -> float:
    """Success chance of a nil; ``curve`` ``[2]`` holds intercept and slope in log odds."""
    return 1.0 / (1.0 + np.exp(-(curve[0] + curve[1] * nil_value)))


def sequence_bids(index: int) -> tuple[int, ...]:
    """The bids of row ``index``, in bidding order."""
    length = sum(index >= first for first in FIRST) - 1
    index -= FIRST[length]
    return tuple(index // 14**k % 14 for k in range(length - 1, -1, -1))


def load_curves() -> F32:
    """Intercept and slope ``[2, 2955, 2]``: row 0 by sequence, row 1 the single curve of section 5.3.1."""
    plan: Plan = {"curves": Floats((2, SEQUENCES, 2)), "provenance": Text()}
    path = Path(str(files("bidzoo.data") / "spades" / CURVES_FILE))
    return load_npz(path, "an .npz of success curves", plan)["curves"]

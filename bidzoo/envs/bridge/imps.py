"""International match points. Source: Laws of Duplicate Bridge 2017, Law 78B."""

import numpy as np
from numpy.typing import ArrayLike

from bidzoo.kernels import I8, row

# The smallest difference in points worth 1, 2, ... 24 IMPs.
_SMALL = (20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600, 750, 900)
_LARGE = (1100, 1300, 1500, 1750, 2000, 2250, 2500, 3000, 3500, 4000)
SCALE = _SMALL + _LARGE
MAX_IMPS = len(SCALE)


@row
def imps_row(difference: int) -> int:
    """IMPs of a ``difference`` in points, signed."""
    size, won = abs(difference), 0
    while won < MAX_IMPS and size >= SCALE[won]:
        won += 1
    return won if difference > 0 else -won


def imps(difference: ArrayLike) -> I8:
    """IMPs of differences in points, signed, in the shape given.

    >>> imps([0, 20, -430])
    array([  0,   1, -10], dtype=int8)
    """
    points = np.asarray(difference)
    won = np.searchsorted(SCALE, np.abs(points), side="right")
    return (np.sign(points) * won).astype(np.int8)

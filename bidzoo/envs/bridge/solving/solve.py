"""Double-dummy tables of single deals, solved once each."""

from functools import lru_cache

import numpy as np

from bidzoo.kernels import I8, I64


@lru_cache(maxsize=4096)
def _solved(hands: tuple[int, int, int, int]) -> I8:
    from bidzoo.envs.bridge.solving import double_dummy

    table: I8 = double_dummy.tables(np.array([hands], np.int64))[0]
    table.flags.writeable = False
    return table


def table_of(hands: I64) -> I8:
    """Double-dummy table ``[20]`` of one deal ``[4]``, read-only; about 0.2 s the first time, then remembered."""
    north, east, south, west = (int(hand) for hand in hands)
    return _solved((north, east, south, west))

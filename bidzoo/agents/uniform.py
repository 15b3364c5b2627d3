"""Uniform legal actions: the floor every other agent must beat."""

import numpy as np

from bidzoo.kernels import I8, I64, U64, Tables, batched, below_row, next_row, prange
from bidzoo.streams import Streams


@batched
def choose(legal: I8, keys: U64, out: I64) -> None:
    """A uniform legal action of each row ``legal`` ``[B, A]`` into ``out`` ``[B]``; ``keys`` ``[B]`` are consumed.

    A row without a legal action gets -1.
    """
    for b in prange(len(out)):
        count = 0
        for action in range(legal.shape[1]):
            count += legal[b, action]
        keys[b] = next_row(keys[b])
        nth = below_row(keys[b], count)
        out[b] = -1
        for action in range(legal.shape[1]):
            if legal[b, action]:
                if nth == 0:
                    out[b] = action
                    break
                nth -= 1


class Uniform:
    """Every legal action is equally likely; plays any game."""

    name = "random"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """The ``floor(u * n)``-th of ``n`` legal actions."""
        out = np.empty(len(legal), np.int64)
        choose(legal, rng.keys, out)
        return out

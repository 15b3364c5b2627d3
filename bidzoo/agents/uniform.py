"""Uniform legal actions: the floor every other agent must beat."""

import numpy as np

from bidzoo.kernels import I8, I64, Tables
from bidzoo.streams import Streams


class Uniform:
    """Every legal action is equally likely; plays any game."""

    name = "random"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """The ``floor(u * n)``-th of ``n`` legal actions."""
        count = legal.sum(axis=1, dtype=np.int64)
        nth = (rng.random()[:, 0] * count).astype(np.int64)
        actions: I64 = np.argmax(np.cumsum(legal, axis=1, dtype=np.int64) > nth[:, None], axis=1)
        return actions

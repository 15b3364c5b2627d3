"""``pass``: never bids. The zero of every bidding scale."""

import numpy as np

from bidzoo.kernels import I8, I64, Tables
from bidzoo.streams import Streams


class Pass:
    """Passes; plays ``bridge_bidding_v0``."""

    name = "pass"

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """0 for every row."""
        return np.zeros(len(legal), np.int64)

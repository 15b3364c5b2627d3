"""What the networks of A2C and BAD see of a public node: which action was taken at which turn."""

import numpy as np

from bidzoo.envs.compiled import Compiled
from bidzoo.kernels import F32


def history_features(game: Compiled) -> F32:
    """One bit for each (turn, action) that some decision lies behind, ``[M, H]``."""
    nodes, depth = len(game.player), game.depth
    inner = np.flatnonzero((game.count > 0) & (game.parent >= 0))
    pairs = sorted({(int(depth[m]), int(game.action[m])) for m in inner})
    column = {pair: h for h, pair in enumerate(pairs)}
    features = np.zeros((nodes, len(pairs)), np.float32)
    for m in inner:
        features[m] = features[game.parent[m]]
        features[m, column[int(depth[m]), int(game.action[m])]] = 1.0
    return features

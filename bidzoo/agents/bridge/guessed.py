"""Deals whose double-dummy tables are drawn from the evaluator's chances: hundreds of times as many as can be solved.

What a policy learns from them on average is right as far as the chances are; a single table is often wrong by a trick.
The tricks of one strain go together: both declarers of a side have the same luck, and the other side has what is left.
"""

import numpy as np

from bidzoo.agents.bridge.evaluator import CLASSES, Evaluator
from bidzoo.envs.bridge.deals import DealSet, random_deals
from bidzoo.kernels import I8, I64
from bidzoo.streams import Streams

_CHUNK = 5000  # deals at a time; bounds memory, changes no result


def guessed(evaluator: Evaluator, seed: int, count: int) -> DealSet:
    """Deals ``0 ... count - 1`` of ``seed`` and a table drawn for each; about 0.5 ms a deal and core."""
    parts = np.array_split(np.arange(count), count // _CHUNK + 1)
    tables = [draw(evaluator, random_deals(seed, part), Streams.at(seed, part)) for part in parts]
    return DealSet.of(random_deals(seed, np.arange(count)), np.concatenate(tables), "guessed deals")


def draw(evaluator: Evaluator, hands: I64, rng: Streams) -> I8:
    """Tables ``[n, 20]`` of deals ``[n, 4]``: quantiles of the chances, at one random number a side and strain."""
    n, cell = len(hands), np.tile(np.arange(20), len(hands))
    chances = evaluator.chances(hands.repeat(20, axis=0), cell // 5, cell % 5).reshape(n, 4, 5, CLASSES)
    luck = rng.random(5)[:, None]  # [n, 1, 5]  of N/S in each strain
    luck = np.concatenate([luck, 1 - luck, luck, 1 - luck], axis=1)[..., None]
    below = np.cumsum(chances.astype(np.float64), axis=3)
    tricks = (below < luck * below[..., -1:]).sum(3)
    return np.asarray(np.minimum(tricks, CLASSES - 1), np.int8).reshape(n, 20)

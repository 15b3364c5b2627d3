"""Any network, of any library, as a policy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bidzoo.envs.game import Game
from bidzoo.kernels import I8, I64, Tables
from bidzoo.streams import Streams


class ScorePolicy:
    """Takes the legal action of highest score.

    Args:
        game: the game it plays; its encoder makes the observations.
        scores: of observations ``[B, F]`` and masks ``[B, A]``, both int8: numbers ``[B, A]`` such as logits or
            values, each row from its own row alone.
        name: shown in results.
    """

    def __init__(self, game: Game, scores: Callable[[I8, I8], Any], name: str = "network") -> None:
        self.game, self.scores, self.name = game, scores, name

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; the lowest of equals."""
        scores = np.asarray(self.scores(self.game.encoder(views), legal))
        if scores.shape != legal.shape:
            raise ValueError(f"{self.name}: scores have shape {scores.shape}, expected {legal.shape}")
        return np.where(legal > 0, scores, -np.inf).argmax(1)

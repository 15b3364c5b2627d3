"""What was played of slow matches, in a file, so that a killed run goes on."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np

import bidzoo
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.ledger import Ledger
from bidzoo.envs.game import Game
from bidzoo.kernels import F32, I64, Tables


class Share(NamedTuple):
    """Some boards of a match."""

    players: str  # names
    match: str  # fingerprint of rules, players, seeds and version
    boards: str


class Kept(NamedTuple):
    """What came out, as text: zlib, then base64."""

    reward: str  # float32 [n, P]
    tables: str  # [n]


class MatchLedger:
    """Shares that were played.

    Args:
        path: of the file.
        policies: all that will play. What they are made of tells them from others of the same name; weights that come
            with bidzoo do not count (its version does), nor does code.

    Raises:
        ValueError: ``path`` holds something else.
    """

    def __init__(self, path: str | Path, policies: Sequence[Policy]) -> None:
        self._ledger = Ledger(path, Share, Kept)
        self._made_of = [(policy, joblib.hash(policy)) for policy in policies]

    def names(
        self, game: Game, policies: Sequence[Policy], seed: int, policy_seed: int, shares: Sequence[I64]
    ) -> list[Share]:
        """What ``shares`` of a match are called."""
        made_of = [mark for player in policies for policy, mark in self._made_of if policy is player]
        match = joblib.hash((bidzoo.__version__, game, made_of, seed, policy_seed))
        players = " ".join(policy.name for policy in policies)
        return [Share(players, match, " ".join(map(str, share))) for share in shares]

    def get(self, name: Share, game: Game) -> tuple[F32, Tables] | None:
        """Rewards ``[n, P]`` and final states ``[n]``, if they are there."""
        if name not in self._ledger.done:
            return None
        reward, tables = (zlib.decompress(b64decode(text)) for text in self._ledger.done[name])
        rewards = np.frombuffer(reward, np.float32).reshape(-1, game.num_players)
        return rewards, np.frombuffer(tables, game.state)

    def add(self, name: Share, part: tuple[F32, Tables]) -> None:
        """Keep rewards and final states."""
        reward, tables = (b64encode(zlib.compress(array.tobytes())).decode() for array in part)
        self._ledger.add(name, Kept(reward, tables))

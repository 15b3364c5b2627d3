"""A population as one policy, such as the past selves of a learner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bidzoo.kernels import I8, I64, Tables
from bidzoo.streams import Streams

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

_STREAM = 0x9001  # of the draw of a member, in ``Streams.at(seed, board, _STREAM)``


class Pool:
    """Every board draws one member, uniformly, who plays it to the end at all the seats that the pool holds.

    Args:
        members: at least one policy.
        seed: of the draws; the member at a board is a function of ``(seed, board)`` and of how many there are.
        size: ``add`` drops the oldest member beyond it; None keeps all.
    """

    name = "pool"

    def __init__(self, members: Iterable[Policy], seed: int = 0, size: int | None = None) -> None:
        self.members, self.seed, self.size = list(members), seed, size
        if not self.members:
            raise ValueError("a pool needs at least one policy")
        if size is not None and size < len(self.members):
            raise ValueError(f"size {size} is less than the {len(self.members)} members given")

    def add(self, policy: Policy) -> None:
        """Take ``policy`` in. Boards in progress draw anew."""
        self.members.append(policy)
        if self.size is not None:
            del self.members[: -self.size]

    def drawn(self, boards: I64) -> I64:
        """Number of the member who plays each of ``boards`` ``[B]``."""
        numbers: I64 = (Streams.at(self.seed, boards, _STREAM).random()[:, 0] * len(self.members)).astype(np.int64)
        return numbers

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` of the members whose boards they are."""
        actions = np.empty(len(views), np.int64)
        drawn = self.drawn(views["board"].astype(np.int64))
        for number in np.unique(drawn):
            rows = np.flatnonzero(drawn == number)
            actions[rows] = self.members[number].act(views[rows], legal[rows], rng[rows])
        return actions

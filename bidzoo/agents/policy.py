"""What every agent is, views and legal actions in, actions out; and the policies of no game in particular."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bidzoo.core.kernels import I8, I64, U64, States, batched, below_row, next_row
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Game

_POOL = 0x9001  # stream of the draw of a pool's member, in ``Streams.at(seed, board, _POOL)``


@runtime_checkable
class Policy(Protocol):
    """Chooses for ``B`` tables at once; it sees views, so it cannot cheat.

    A deterministic function of ``(views, legal, rng)`` row by row: what stands in the other rows never matters.

    A class that searches at the table (more than some 10 ms a decision) says ``slow = True``: its matches go to workers
    in shares of a few boards, ``bidzoo bench bridge`` gives it fewer boards than the others and keeps what was played.
    """

    name: str

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` for ``views`` ``[B]`` and ``legal`` ``[B, A]`` (1 = legal); ``rng`` has ``B`` streams."""
        ...


@batched
def choose(start: int, stop: int, legal: I8, keys: U64, out: I64) -> None:
    """A uniform legal action of each row ``legal`` ``[B, A]`` into ``out`` ``[B]``; ``keys`` ``[B]`` are consumed.

    A row without a legal action gets -1.
    """
    for b in range(start, stop):
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
    """Every legal action is equally likely: the floor that every other agent must beat. Plays any game."""

    name = "random"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The ``floor(u * n)``-th of ``n`` legal actions."""
        out = np.empty(len(legal), np.int64)
        choose(legal, rng.keys, out)
        return out


class ScorePolicy:
    """Takes the legal action of highest score: any network, of any library, as a policy.

    Args:
        game: the game it plays; its encoder makes the observations.
        scores: of observations ``[B, F]`` and masks ``[B, A]``, both int8: numbers ``[B, A]`` such as logits or
            values, each row from its own row alone.
        name: shown in results.
    """

    def __init__(self, game: Game, scores: Callable[[I8, I8], Any], name: str = "network") -> None:
        self.game, self.scores, self.name = game, scores, name

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; the lowest of equals."""
        scores = np.asarray(self.scores(self.game.encoder(views), legal))
        if scores.shape != legal.shape:
            raise ValueError(f"{self.name}: scores have shape {scores.shape}, expected {legal.shape}")
        return np.where(legal > 0, scores, -np.inf).argmax(1)


class Pool:
    """A population as one policy, such as the past selves of a learner.

    Every board draws one member, uniformly, who plays it to the end at all the seats that the pool holds.

    Args:
        members: at least one policy.
        seed: seed of the draws; the member at a board is a function of ``(seed, board)`` and of how many there are.
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
        numbers: I64 = (Streams.at(self.seed, boards, _POOL).random()[:, 0] * len(self.members)).astype(np.int64)
        return numbers

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` of the members whose boards they are."""
        actions = np.empty(len(views), np.int64)
        drawn = self.drawn(views["board"].astype(np.int64))
        for number in np.unique(drawn):
            rows = np.flatnonzero(drawn == number)
            actions[rows] = self.members[number].act(views[rows], legal[rows], rng[rows])
        return actions

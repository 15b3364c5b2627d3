"""What every agent is, views and legal actions in, actions out; and the policies of no game in particular."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from operator import index
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import plugins
from bidzoo.core.bits import choose_row
from bidzoo.core.calls import Call
from bidzoo.core.kernels import F64, I8, I64, U64, States, batched, row, rows_a_thread
from bidzoo.core.streams import Streams, next_row
from bidzoo.core.threads import ROWS
from bidzoo.envs.asking import Answer, AtTable, answer_of
from bidzoo.envs.game import Encoder, Game, legal_actions

_POOL = 0x9001  # stream of the draw of a pool's member, in ``Streams.at(seed, board, _POOL)``


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for ``B`` tables; it sees only views, so it cannot cheat.

    A deterministic function of ``(views, legal, rng)`` row by row: the other rows never matter.

    A class may say which games it plays, ``games = ("bridge_bidding_v0",)``; one that does not may play any game.

    A class that searches at the table (more than some 10 ms a decision) says ``slow = True``: its matches go to workers
    in shares of a few boards, commands keep what was played, and ``bidzoo bench bridge`` gives it fewer boards.
    """

    name: str

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` for ``views`` ``[B]`` and ``legal`` ``[B, A]`` (1 = legal); ``rng`` has ``B`` streams."""
        ...


Agent = str | Policy | Callable[..., Any]  # what ``agents.resolve`` takes for a policy


def part_of(policy: Policy, views: States, legal: I8, rng: Streams) -> I64:
    """Actions ``[B]`` of ``policy``, a part of another agent; ValueError that names it unless they are legal."""
    with plugins.outside(lambda: f"agent {policy.name!r}"):
        actions = policy.act(views, legal.copy(), rng)
    return legal_actions(policy.name, actions, legal, views["board"])


@batched
@rows_a_thread(4 * ROWS)
def choose(start: int, stop: int, legal: I8, keys: U64, out: I64) -> None:
    """A uniform legal action of each row ``legal`` ``[B, A]`` into ``out`` ``[B]``; ``keys`` ``[B]`` are consumed.

    A row without a legal action gets -1.
    """
    for b in range(start, stop):
        keys[b] = next_row(keys[b])
        out[b] = choose_row(legal[b], keys[b])


@row
def uniform_row(legal: I8, keys: U64) -> int:
    """``choose`` at one table: ``legal`` ``[1, A]``, ``keys`` ``[1]``."""
    keys[0] = next_row(keys[0])
    return choose_row(legal[0], keys[0])


class Uniform(AtTable):
    """Every legal action is equally likely: the floor that every other agent must beat. Plays any game."""

    name = "random"

    def __repr__(self) -> str:
        return "<random: every legal action alike>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The ``floor(u * n)``-th of ``n`` legal actions."""
        out = np.empty(len(legal), np.int64)
        choose(legal, rng.keys, out)
        return out

    def probabilities(self, views: States, legal: I8) -> F64:
        """The chance of every action ``[B, A]``."""
        chances: F64 = legal / legal.sum(1, keepdims=True)
        return chances

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return Call(uniform_row, legal, keys)


class ScorePolicy:
    """Takes the legal action of highest score: any network, of any library, as a policy.

    Args:
        game: the game it plays; its encoder makes the observations.
        scores: a function of observations ``[B, F]`` and masks ``[B, A]``, both int8; returns numbers ``[B, A]``,
            such as logits or values, each row from its own row alone; an array, or a tensor of torch.
        name: shown in results.
    """

    def __init__(self, game: Game, scores: Callable[[I8, I8], Any], name: str = "network") -> None:
        self.game, self.scores, self.name = game, scores, name

    def __repr__(self) -> str:
        return f"<{self.name}: highest score, for {self.game}>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; the lowest of equals, -1 where nothing is legal; ValueError where a score is NaN."""
        scores = _numbers(self.scores(self.game.encoder(views), legal))
        if scores.shape != legal.shape:
            raise ValueError(f"{self.name}: scores have shape {scores.shape}, expected {legal.shape}")
        scores = np.where(legal > 0, scores, -np.inf)
        if np.isnan(scores).any():
            b = int(np.isnan(scores).any(1).argmax())
            raise ValueError(f"{self.name}: the score of a legal action is NaN at board {int(views['board'][b])}")
        best = np.where(np.isneginf(scores).all(1), legal.argmax(1), scores.argmax(1))
        return np.where(legal.any(1), best, -1)


def _numbers(scores: Any) -> NDArray[Any]:
    """``scores`` as an array: that of a tensor of torch where it lies, unless NumPy has no numbers of its kind."""
    if (torch := sys.modules.get("torch")) is None or not isinstance(scores, torch.Tensor):
        return np.asarray(scores)
    tensor = scores.detach().cpu()
    return np.asarray(tensor.float() if tensor.dtype == torch.bfloat16 else tensor)


class FunctionPolicy:
    """A plain function as a policy, called for one table at a time.

    Args:
        function: of an observation int8 ``[F]`` and a mask int8 ``[A]`` (1 = legal), as a player of a PettingZoo loop
            has them; returns an action, the same for the same arguments, or matches would depend on the batch size.
        encoder: makes the observations; that of the game it plays.
        name: shown in results; default: the function's.
    """

    def __init__(self, function: Callable[[I8, I8], Any], encoder: Encoder, name: str | None = None) -> None:
        self.function, self.encoder = function, encoder
        self.name = str(name or getattr(function, "__name__", "function"))

    def __repr__(self) -> str:
        return f"<{self.name}: a function of {self.encoder.name} and the mask>"

    def act(self, views: States, legal: I8, rng: Streams | None) -> I64:
        """Actions ``[B]``; ValueError unless the function returns an integer."""
        answers = (self.function(observation, mask) for observation, mask in zip(self.encoder(views), legal))
        return np.fromiter(map(self._number, answers), np.int64, len(legal))

    def probabilities(self, views: States, legal: I8) -> F64:
        """The chance of every action ``[B, A]``: 1 of the one that the function returns."""
        return np.eye(legal.shape[1])[legal_actions(self.name, self.act(views, legal, None), legal, views["board"])]

    def _number(self, action: Any) -> int:
        """``action`` as an int: NumPy's and torch's integers count, also in an array without dimensions."""
        with suppress(TypeError):
            if not isinstance(action, bool):
                return index(action)
        raise ValueError(f"{self.name}: gave {action!r}, expected the number of an action")


class Pool(AtTable):
    """A population as one policy, such as the past selves of a learner.

    Every board samples one member, uniformly, which plays it to the end in all seats of the pool.

    Args:
        members: at least one policy.
        seed: seed of the samples; the member at a board is a function of ``(seed, board)`` and of how many there are.
        size: ``add`` drops the oldest member beyond it; None keeps all.
    """

    name = "pool"

    def __init__(self, members: Iterable[Policy], seed: int = 0, size: int | None = None) -> None:
        self.members, self.seed, self.size = list(members), seed, size
        if not self.members:
            raise ValueError("a pool needs at least one policy")
        for member in self.members:
            _check_member(member)
        if size is not None and size < len(self.members):
            raise ValueError(f"size {size} is less than the {len(self.members)} members given")

    def __repr__(self) -> str:
        return f"<pool of {', '.join(member.name for member in self.members)}>"

    def add(self, policy: Policy) -> None:
        """Add ``policy``. Boards in progress are sampled again."""
        _check_member(policy)
        self.members.append(policy)
        if self.size is not None:
            del self.members[: -self.size]

    def sampled(self, boards: I64) -> I64:
        """Number of the member who plays each of ``boards`` ``[B]``."""
        numbers: I64 = (Streams.at(self.seed, boards, _POOL).random()[:, 0] * len(self.members)).astype(np.int64)
        return numbers

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` of the members whose boards they are."""
        actions = np.empty(len(views), np.int64)
        numbers = self.sampled(views["board"].astype(np.int64))
        for number in np.unique(numbers):
            rows = np.flatnonzero(numbers == number)
            actions[rows] = part_of(self.members[number], views[rows], legal[rows], rng[rows])
        return actions

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return _PoolAnswer(self, views, legal, keys)


def told_apart(names: list[str]) -> list[str]:
    """``names``; one that is there already has the next free number after it: ``["network", "network 2"]``."""
    numbers, apart = Counter[str](), dict[str, None]()
    for name in names:
        each = name
        while each in apart:
            numbers[name] += 1
            each = f"{name} {numbers[name] + 1}"
        apart[each] = None
    return [*apart]


def _check_member(policy: Any) -> None:
    """TypeError unless ``policy`` is one: a pool knows no game, for which a name would be looked up."""
    if not hasattr(policy, "act"):
        made = f"bidzoo.agents.make({policy!r})" if isinstance(policy, str) else "an object with name and act()"
        raise TypeError(f"pool: {policy!r}: expected policies, such as {made}")


class _PoolAnswer:
    """``Pool.at_table``: that of the member whose board it is; a member is sampled once a board."""

    def __init__(self, pool: Pool, views: States, legal: I8, keys: U64) -> None:
        self._pool, self._arrays, self._boards = pool, (views, legal, keys), views["board"]
        self._sampled: tuple[Any, ...] = ()  # for what, and the member's place
        self._answers: dict[int, tuple[Policy, Answer | None]] = {}  # by place

    def run(self) -> int:
        pool, boards = self._pool, self._boards
        given = pool.seed, int(boards[0]), len(pool.members)
        if self._sampled[:-1] != given:
            self._sampled = *given, int(pool.sampled(boards.astype(np.int64))[0])
        place = self._sampled[-1]
        member = pool.members[place]
        if self._answers.get(place, (None, None))[0] is not member:
            self._answers[place] = member, answer_of(member, *self._arrays)
        answer = self._answers[place][1]
        return -1 if answer is None else answer.run()

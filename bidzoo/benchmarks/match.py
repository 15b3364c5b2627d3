"""Play any policies against each other: boards in batches, duplicate matches in IMPs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo import agents, parallel
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.match_ledger import MatchLedger
from bidzoo.benchmarks.results import Estimate
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.game import Game
from bidzoo.kernels import F32, I16, I64, Tables
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.seating import Seating

CHUNK = 4096  # most tables in step; bounds memory, changes no result
SHARES = 4  # tasks a worker, so that the slowest share costs little
LEAST = 64  # fewest boards a task, to repay sending it
SLOW_SHARE = 10  # boards a task of a slow policy: some seconds or minutes, what a kill can cost each worker


class Episodes(NamedTuple):
    """Finished episodes in board order."""

    boards: I64  # [N]
    reward: F32  # [N, P]
    tables: Tables  # [N]  final states
    actions: I16 | None = None  # [N, T]  taken at each turn, -1 once over; None unless asked for

    def __repr__(self) -> str:
        return f"<Episodes of {len(self.boards)} boards, mean rewards {self.reward.mean(0).round(3).tolist()}>"


def slow(policies: Sequence[Policy]) -> bool:
    """One of ``policies`` says that it takes its time (see ``bidzoo.agents.policy``)."""
    return any(getattr(policy, "slow", False) for policy in policies)


def play(
    game: Game,
    policies: Sequence[str | Policy],
    boards: I64,
    seed: int = 0,
    policy_seed: int = 0,
    workers: int = 1,
    backend: str | None = None,
    ledger: MatchLedger | None = None,
    report: Callable[[int], None] = lambda done: None,
    actions: bool = False,
) -> Episodes:
    """Every board once with ``policies[p]`` (or the agent of that name) at player ``p``.

    Neither batching nor workers change the result. ``boards`` are numbers ``[N]``; with ``seed`` they say the deals.
    ``workers`` and ``backend`` are those of ``bidzoo.parallel.run``; ``ledger`` keeps finished shares, and ``report``
    is told how many boards are done, first at the start. ``actions`` asks for those taken (no ledger keeps them).
    """
    if actions and ledger is not None:
        raise ValueError("a ledger keeps no actions: ask for one of them")
    numbers, policies = board_numbers(boards), seated(game, policies)
    shares = _shares(numbers, slow(policies), workers)
    parts: dict[int, tuple[NDArray[Any], ...]] = {}
    names = [] if ledger is None else ledger.names(game, policies, seed, policy_seed, shares)
    for k, name in enumerate(names):
        if ledger is not None and (part := ledger.get(name, game)) is not None:
            parts[k] = part
    report(done := sum(len(shares[k]) for k in parts))
    waiting = [k for k in range(len(shares)) if k not in parts]
    play_share = partial(_play, game, tuple(policies), seed, policy_seed, actions)
    for number, part in parallel.as_completed(play_share, [(shares[k],) for k in waiting], workers, backend):
        k = waiting[number]
        parts[k] = part
        if ledger is not None:
            ledger.add(names[k], (part[0], part[1]))
        report(done := done + len(shares[k]))
    reward, tables, *taken = zip(*(parts[k] for k in range(len(shares))))
    return Episodes(numbers, np.concatenate(reward), np.concatenate(tables), *map(_stacked, taken))


def play_each(
    game: Game,
    seatings: Sequence[Sequence[str | Policy]],
    boards: I64,
    seed: int = 0,
    policy_seed: int = 0,
    workers: int = 1,
    backend: str | None = None,
    report: Callable[[int], None] = lambda done: None,
    actions: bool = False,
) -> list[Episodes]:
    """``play`` by each of ``K`` lists of policies, the ``k``-th with policy seed ``K * policy_seed + k``.

    ``report`` is told how many of all ``K * N`` tables are done.
    """
    played: list[Episodes] = []
    for k, policies in enumerate(seatings):
        before, stream = k * len(boards), len(seatings) * policy_seed + k
        told = partial(_told, report, before)
        played.append(play(game, policies, boards, seed, stream, workers, backend, report=told, actions=actions))
    return played


def _told(report: Callable[[int], None], before: int, done: int) -> None:
    report(before + done)


def _stacked(taken: Sequence[I16]) -> I16:
    """Actions of all shares ``[N, T]``, ``T`` being that of the longest."""
    most = max(part.shape[1] for part in taken)
    return np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=-1) for part in taken])


def board_numbers(boards: I64) -> I64:
    """``boards`` as int64 ``[N]``; ValueError unless they are a list of numbers from 0."""
    numbers = np.asarray(boards)
    if numbers.ndim != 1:
        raise ValueError(f"boards {boards!r}: expected a list of board numbers; the first ten are np.arange(10)")
    if len(numbers) and (numbers.dtype.kind not in "iu" or numbers.min() < 0):
        raise ValueError(f"boards: {numbers.dtype} from {numbers.min()}, expected integers from 0")
    return np.ascontiguousarray(numbers, np.int64)


def seated(game: Game, policies: Sequence[str | Policy]) -> tuple[Policy, ...]:
    """A policy for each player of ``game``; one name is one policy. ValueError unless there are as many as players."""
    if len(policies) != game.num_players:
        raise ValueError(f"{game.id} has {game.num_players} players, got {len(policies)} policies")
    known = {name: agents.resolve(name, game.id) for name in {one for one in policies if isinstance(one, str)}}
    return tuple(known[one] if isinstance(one, str) else agents.resolve(one) for one in policies)


def _shares(numbers: I64, slow: bool, workers: int) -> list[I64]:
    """The boards of each task. Those of slow policies are few, and the same for any number of workers."""
    if slow:
        return np.split(numbers, range(SLOW_SHARE, len(numbers), SLOW_SHARE))
    least = min(SHARES * workers, len(numbers) // LEAST) if workers > 1 else 1
    return np.array_split(numbers, max(1, -(-len(numbers) // CHUNK), least))


def _play(
    game: Game, policies: Sequence[Policy], seed: int, policy_seed: int, keep: bool, boards: I64
) -> tuple[NDArray[Any], ...]:
    """Rewards ``[n, P]``, final states ``[n]`` and, to ``keep``, actions ``[n, T]`` of boards played in step."""
    reward, taken = np.zeros((len(boards), game.num_players), np.float32), [np.empty((len(boards), 0), np.int16)]
    if len(boards) == 0:
        return (reward, game.new(0), *taken[: int(keep)])
    seating = Seating(policies, policy_seed)
    batch = Batch(game, len(boards), autoreset=False)
    batch.reset(seed, boards)
    actions = seating.choose(batch)
    while (actions >= 0).any():
        batch.step(actions)
        reward += batch.reward
        if keep:
            taken.append(actions[:, None].astype(np.int16))
        actions = seating.choose(batch)
    return (reward, batch.tables, *([np.concatenate(taken, axis=1)] if keep else []))


class Match(NamedTuple):
    """Two pairs over ``N`` boards, each played at two tables with the sides exchanged."""

    boards: I64  # [N]
    imps: I64  # [N]  won by the first pair, summed over nothing: one number a board
    first: Tables  # [N]  final states where the first pair sat North/South
    second: Tables  # [N]  where it sat East/West

    def __repr__(self) -> str:
        return f"<Match of {len(self.boards)} boards: {self.imps.sum():+d} IMPs, {self.estimate} a board>"

    @property
    def estimate(self) -> Estimate:
        """IMPs a board of the first pair."""
        return Estimate.of(self.imps)


Player = Policy | str  # a policy, or an agent's name
Pair = Player | tuple[Player, Player]  # one at both seats, or (North or East, South or West)


def duplicate(
    game: Bridge,
    ours: Pair,
    theirs: Pair,
    boards: I64,
    seed: int = 0,
    policy_seed: int = 0,
    workers: int = 1,
    backend: str | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> Match:
    """A duplicate match (Law 78B): the IMPs of the difference between the two tables on every board.

    Args:
        game: ``Bridge(reward="score", ...)``.
        ours: the first pair.
        theirs: the second pair.
        boards: numbers ``[N]``; with ``seed`` they address deal, dealer and vulnerability.
        seed: of the deals.
        policy_seed: of the policies' random numbers.
        workers: tasks at a time; they change no result.
        backend: where they run, see ``bidzoo.parallel``.
        report: told how many of the ``2 * N`` tables are done.
    """
    if not isinstance(game, Bridge):
        raise ValueError(f"a duplicate match is bridge, got {game}; play() plays any game")
    if game.reward != "score":
        raise ValueError(f"a duplicate match compares scores; make the game with reward='score', not {game.reward!r}")
    a, c = ours if isinstance(ours, tuple) else (ours, ours)
    b, d = theirs if isinstance(theirs, tuple) else (theirs, theirs)
    a, b, c, d = seated(game, (a, b, c, d))
    both = ((a, b, c, d), (b, a, d, c))
    first, second = play_each(game, both, board_numbers(boards), seed, policy_seed, workers, backend, report)
    difference = np.round(game.reward_scale * (first.reward[:, 0] - second.reward[:, 0])).astype(np.int32)
    return Match(first.boards, np.asarray(imps(difference), np.int64), first.tables, second.tables)

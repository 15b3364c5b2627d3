"""Play any policies against each other over the same boards; neither batching nor workers change a result.

``play`` seats a policy at each player. Two agents are compared over the same boards with the seats exchanged: in
bridge by ``duplicate`` in IMPs, in the other games by ``pairings``, whose ``summary`` says who did better.
"""

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo import agents, registry
from bidzoo.agents.policy import Agent, Policy
from bidzoo.agents.spades.games import share_won
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core import jobs
from bidzoo.core.digests import code_of, content_digest, source_digest
from bidzoo.core.kernels import F32, F64, I16, I64, States, without_padding
from bidzoo.core.storage import Closing, Ledger
from bidzoo.core.streams import checked_seed
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps
from bidzoo.envs.game import Game
from bidzoo.wrappers.batch import Batch, BoardNumbers, Seating, board_numbers

CHUNK = 4096  # most tables in step; bounds memory, changes no result
SHARES = 4  # tasks a worker, so that the slowest share costs little
WEIGHTS = Path(__file__).parents[1] / "data"  # those that come with bidzoo
LEAST = 64  # fewest boards a task, to repay sending it
SLOW_SHARE = 10  # boards a task of a slow policy: some seconds or minutes, what a kill can cost each worker

# ---- play --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """How a match is run, which changes no result."""

    workers: int = 1  # tasks at a time
    backend: str | None = None  # where they run, see ``bidzoo.core.jobs``
    report: Callable[[int], None] = lambda done: None  # called with how many tables are done, first at the start
    ledger: "MatchLedger | None" = None  # keeps what was played

    def after(self, before: int) -> "Run":
        """The same run, of which ``before`` tables are done already."""
        return replace(self, report=lambda done: self.report(before + done))


HERE = Run()  # in this process, without reports of progress


class Episodes(NamedTuple):
    """Finished episodes in board order."""

    boards: I64  # [N]
    reward: F32  # [N, P]
    states: States  # [N]  final states
    actions: I16 | None = None  # [N, T]  taken at each turn, -1 once over; None unless asked for

    def __repr__(self) -> str:
        rewards = f", mean rewards {self.reward.mean(0).round(3).tolist()}" if len(self.boards) else ""
        return f"<Episodes of {len(self.boards)} boards{rewards}>"


def slow(policies: Sequence[Policy]) -> bool:
    """One of ``policies`` says that it takes its time (see ``bidzoo.agents.policy``)."""
    return any(getattr(policy, "slow", False) for policy in policies)


def play(
    game: Game,
    policies: Sequence[Agent],
    boards: BoardNumbers,
    seed: int = 0,
    policy_seed: int = 0,
    run: Run = HERE,
    actions: bool = False,
) -> Episodes:
    """Every board once with ``policies[p]``, or what ``agents.resolve`` makes of it, at player ``p``.

    ``boards`` are numbers ``[N]``; with ``seed`` they say the deals, with ``policy_seed`` the policies' random numbers.
    ``actions`` asks for those taken.

    Raises:
        TypeError: ``game`` is none (see ``bidzoo.make_game``), or ``policies`` are no list.
        ValueError: not as many policies as players, one that does not play ``game``, or a wrong board or seed.
    """
    check_game(game)
    seed, policy_seed = checked_seed(seed), checked_seed(policy_seed, "policy_seed")
    numbers, policies = board_numbers(boards), seated(game, policies)
    ledger = run.ledger if len(numbers) else None  # of no boards nothing is kept
    shares = _shares(numbers, slow(policies), run.workers)
    match_jobs = [] if ledger is None else ledger.jobs_of(game, policies, seed, policy_seed, shares)
    parts: dict[int, tuple[NDArray[Any], ...]] = {} if ledger is None else ledger.known(game, match_jobs, actions)
    waiting = [k for k in range(len(shares)) if k not in parts]
    run.report(done := sum(len(shares[k]) for k in parts))
    play_share = partial(_play, game, tuple(policies), seed, policy_seed, actions)
    what = f"{game.id} with {', '.join(dict.fromkeys(policy.name for policy in policies))}"
    tasks = [(shares[k],) for k in waiting]
    for number, part in jobs.as_completed(play_share, tasks, run.workers, run.backend, what=what):
        k = waiting[number]
        parts[k] = part
        if ledger is not None:
            ledger.add(match_jobs[k], *part)
        run.report(done := done + len(shares[k]))
    reward, states, *actions_taken = zip(*(parts[k] for k in range(len(shares))))
    return Episodes(numbers, np.concatenate(reward), np.concatenate(states), *map(_stacked, actions_taken))


def play_each(
    game: Game,
    seatings: Sequence[Sequence[Agent]],
    boards: BoardNumbers,
    seed: int = 0,
    policy_seed: int = 0,
    run: Run = HERE,
    actions: bool = False,
) -> list[Episodes]:
    """``play`` by each of ``K`` lists of policies, the ``k``-th with policy seed ``K * policy_seed + k``."""
    policy_seed = checked_seed(policy_seed, "policy_seed")
    return [
        play(game, policies, boards, seed, len(seatings) * policy_seed + k, run.after(k * len(boards)), actions)
        for k, policies in enumerate(seatings)
    ]


def check_game(game: Any) -> None:
    """TypeError unless ``game`` is a ``Game``: a name does not say with which options."""
    if isinstance(game, Game):
        return
    hint = f"bidzoo.make_game({game!r}, ...)" if isinstance(game, str) else "what bidzoo.make_game makes"
    if isinstance(getattr(game, "game", None), Game):
        hint = "its .game"
    raise TypeError(f"not a game: {game!r}; give {hint}")


def seated(game: Game, policies: Sequence[Agent]) -> tuple[Policy, ...]:
    """A policy for each player of ``game``, from whatever ``agents.resolve`` takes; one name or function is one policy.

    Raises:
        TypeError: not a list of policies.
        ValueError: there are not as many as players, or one does not play ``game``.
    """
    if isinstance(policies, str) or not isinstance(policies, Collection):
        raise TypeError(f"policies {policies!r}: expected a list of {game.num_players}, one for each player")
    if len(policies) != game.num_players:
        raise ValueError(f"{game.id} has {game.num_players} players, got {len(policies)} policies")
    keys = [policy if isinstance(policy, str) else id(policy) for policy in policies]
    players = {key: agents.resolve(policy, game) for key, policy in dict(zip(keys, policies)).items()}
    return tuple(players[key] for key in keys)


def _shares(numbers: I64, slow: bool, workers: int) -> list[I64]:
    """The boards of each task. Those of slow policies are few, and the same for any number of workers."""
    if slow:
        return np.split(numbers, range(SLOW_SHARE, len(numbers), SLOW_SHARE))
    least = min(SHARES * workers, len(numbers) // LEAST) if workers > 1 else 1
    return np.array_split(numbers, max(1, -(-len(numbers) // CHUNK), least))


def _play(
    game: Game, policies: Sequence[Policy], seed: int, policy_seed: int, keep: bool, boards: I64
) -> tuple[NDArray[Any], ...]:
    """Rewards ``[n, P]``, final states ``[n]`` and, with ``keep``, actions ``[n, T]`` of boards played in step."""
    whole_boards = registry.whole_boards(game)
    if whole_boards and (played := whole_boards(game, policies, boards, seed, policy_seed, keep)) is not None:
        return tuple(played if keep else played[:2])
    reward, history = np.zeros((len(boards), game.num_players), np.float32), [np.empty((len(boards), 0), np.int16)]
    if len(boards) == 0:
        return (reward, game.new(0), *history[: int(keep)])
    seating = Seating(policies, policy_seed)
    batch = Batch(game, len(boards), autoreset=False)
    batch.reset(seed, boards)
    actions = seating.choose(batch)
    while (actions >= 0).any():
        batch.step(actions)
        reward += batch.reward
        if keep:
            history.append(actions[:, None].astype(np.int16))
        actions = seating.choose(batch)
    return (reward, batch.states, *([np.concatenate(history, axis=1)] if keep else []))


def _stacked(parts: Sequence[I16]) -> I16:
    """Actions of all shares ``[N, T]``, ``T`` being that of the longest."""
    most = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=-1) for part in parts])


class MatchJob(NamedTuple):
    """Some boards of a match, as a job of its ledger."""

    players: str  # names
    match: str  # fingerprint of rules, players, seeds and code
    boards: str


class MatchOutcome(NamedTuple):
    """The result of a share as text: zlib, then base64."""

    reward: str  # float32 [n, P]
    tables: str  # [n]  final states
    actions: str  # int16 [n, T]; empty unless they were asked for


class MatchLedger(Closing):
    """Results of slow matches in a file, from which a killed run goes on.

    Args:
        path: of the file.
        policies: all that will play. Digests of their content and code tell them from others of the same name.

    Raises:
        ValueError: ``path`` holds something else, or another process has it open.
    """

    def __init__(self, path: str | Path, policies: Sequence[Policy]) -> None:
        self._ledger = Ledger(path, MatchJob, MatchOutcome)
        self._policies = {id(policy): policy for policy in policies}
        self._digests = {key: digests(policy) for key, policy in self._policies.items()}

    def jobs_of(
        self, game: Game, policies: Sequence[Policy], seed: int, policy_seed: int, shares: Sequence[I64]
    ) -> list[MatchJob]:
        """The jobs that stand for ``shares`` of a match in the ledger.

        Raises:
            ValueError: one of ``policies`` is none of the ledger's, whose digests alone are known.
        """
        if unknown := [policy.name for policy in policies if id(policy) not in self._policies]:
            raise ValueError(f"{', '.join(unknown)}: not one of the policies that the ledger was opened with")
        digests = [self._digests[id(policy)] for policy in policies]
        match = content_digest((source_digest(__name__, *code_of(game)), game, digests, seed, policy_seed))
        players = " ".join(policy.name for policy in policies)
        return [MatchJob(players, match, " ".join(map(str, share))) for share in shares]

    def known(
        self, game: Game, match_jobs: Sequence[MatchJob], actions: bool = False
    ) -> dict[int, tuple[NDArray[Any], ...]]:
        """What ``add`` kept of the ``match_jobs`` that were played, by their indices; actions if they are asked for.

        Raises:
            ValueError: an entry that is damaged, of other boards or without actions; names line and field.
        """
        return {
            k: _unpacked(game, job, self._ledger.done[job], self._ledger.where(job), actions)
            for k, job in enumerate(match_jobs)
            if job in self._ledger.done
        }

    def add(self, job: MatchJob, reward: F32, states: States, actions: I16 | None = None) -> None:
        """Keep rewards ``[n, P]``, final states ``[n]`` and actions ``[n, T]``."""
        parts = [reward.tobytes(), without_padding(states).tobytes(), b"" if actions is None else actions.tobytes()]
        kept = [_packed(part) if part else "" for part in (parts[0] + _sum(job, parts), *parts[1:])]
        self._ledger.add(job, MatchOutcome(*kept))

    def close(self) -> None:
        self._ledger.close()


def made_of(policy: Policy) -> str:
    """A digest of the content of ``policy``, with all weights that come with bidzoo, and of code that does not.

    Raises:
        ValueError: it cannot be pickled.
    """
    content = _content(policy)
    own = [module for module in code_of(policy) if module.partition(".")[0] != "bidzoo"]
    return f"{content} {source_digest(*own)}" if own else content


def digests(policy: Policy) -> str:
    """Of the content and the code of ``policy``: what tells it from others of its name where results are kept."""
    return f"{_content(policy)} {source_digest(*code_of(policy))}"


def _content(policy: Policy) -> str:
    try:
        return content_digest((policy, _packaged()))
    except Exception as problem:  # whatever its parts raise
        raise ValueError(f"{policy.name}: cannot be pickled, to tell it from others in a file: {problem}") from problem


@cache
def _packaged() -> str:
    """A digest of all weights and tables that come with bidzoo, which policies know by name."""
    digest = hashlib.sha256()
    for path in sorted([*WEIGHTS.rglob("*.safetensors"), *WEIGHTS.glob("spades/*.npz")]):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _packed(content: bytes) -> str:
    return b64encode(zlib.compress(content)).decode()


_SUM = 4  # bytes of a CRC-32 after the rewards


def _sum(job: MatchJob, parts: Sequence[bytes]) -> bytes:
    """The sum of a job and of what is kept of it, part by part."""
    sums = (zlib.crc32(part) for part in parts)
    return zlib.crc32(repr((tuple(job), *sums)).encode()).to_bytes(_SUM, "little")


MOST_ACTIONS = 1 << 15  # of an episode in a ledger


def _unpacked(game: Game, job: MatchJob, outcome: MatchOutcome, where: str, actions: bool) -> tuple[NDArray[Any], ...]:
    """What was kept of a share; ValueError unless it has the size that its boards ask for."""
    boards = np.array(job.boards.split(), np.int64)

    def content(field: str, least: int, most: int, more: int = 0) -> bytes:
        """Of ``least`` to ``most`` bytes a board, and ``more`` bytes."""
        try:
            unpacking = zlib.decompressobj()
            size = len(boards) * most + more
            found = unpacking.decompress(b64decode(getattr(outcome, field), validate=True), size + 1)
            complete = unpacking.eof and not unpacking.unused_data
        except (ValueError, zlib.error) as problem:
            raise ValueError(f"{where}: {field}: {problem}, expected base64 of zlib") from problem
        size = len(found) - more
        if not complete or not least <= size / len(boards) <= most or size % (least * len(boards)):
            expected = f"{len(boards) * least + more} of {len(boards)} boards" + " or a multiple" * (most > least)
            raise ValueError(f"{where}: {field}: {len(found)} bytes or more, expected {expected}")
        return found

    row = 4 * game.num_players
    kept, tables_kept = content("reward", row, row, _SUM), content("tables", game.state.itemsize, game.state.itemsize)
    actions_kept = content("actions", 2, 2 * MOST_ACTIONS) if outcome.actions or actions else b""
    reward = np.frombuffer(kept[:-_SUM], np.float32).reshape(-1, game.num_players)
    tables = np.frombuffer(tables_kept, game.state)
    if not np.isfinite(reward).all():
        raise ValueError(f"{where}: reward: holds numbers that are not finite")
    if "board" in (game.state.names or ()) and (tables["board"] != boards).any():
        raise ValueError(f"{where}: tables: of other boards, expected {job.boards}")
    taken = np.frombuffer(actions_kept, np.int16).reshape(len(boards), -1)
    if taken.size and (taken.min() < -1 or taken.max() >= game.num_actions):
        raise ValueError(f"{where}: actions: {taken.min()} to {taken.max()}, expected -1 to {game.num_actions - 1}")
    if _sum(job, [kept[:-_SUM], tables_kept, actions_kept]) != kept[-_SUM:]:
        raise ValueError(f"{where}: reward: the sum of other results, expected that of these")
    if not actions:
        return reward, tables
    return reward, tables, taken


# ---- two agents compared -----------------------------------------------------------------


class Match(NamedTuple):
    """Two pairs over ``N`` boards, each played at two tables with the sides exchanged."""

    boards: I64  # [N]
    deals: I64  # [N]  equal where boards come from one deal of a set
    imps: I64  # [N]  won by the first pair on each board
    first: States  # [N]  final states where the first pair was North/South
    second: States  # [N]  where it was East/West

    def __repr__(self) -> str:
        return f"<Match of {len(self.boards)} boards: {self.imps.sum():+d} IMPs, {self.estimate} a board>"

    @property
    def estimate(self) -> Estimate:
        """IMPs a board of the first pair; boards of one deal count as one for the error."""
        return Estimate.of(self.imps, group=self.deals)


Pair = Agent | Sequence[Agent]  # one at both seats, or two: (North or East, South or West)


def duplicate(
    game: Game, ours: Pair, theirs: Pair, boards: BoardNumbers, seed: int = 0, policy_seed: int = 0, run: Run = HERE
) -> Match:
    """A duplicate match (Law 78B): the IMPs of the difference between the two tables on every board.

    Args:
        game: ``Bridge(reward="score", ...)``.
        ours: the first pair.
        theirs: the second pair.
        boards: numbers ``[N]``; with ``seed`` they address deal, dealer and vulnerability.
        seed: of the deals.
        policy_seed: of the policies' random numbers.
        run: workers and progress over the ``2 * N`` tables.

    Raises:
        TypeError, ValueError: as of ``play``; a pair of more or fewer than two.
    """
    check_game(game)
    if not isinstance(game, Bridge):
        raise ValueError(f"a duplicate match is bridge, got {game}; play() plays any game")
    if game.reward != "score":
        raise ValueError(f"a duplicate match compares scores; make the game with reward='score', not {game.reward!r}")
    (a, c), (b, d) = _two(ours), _two(theirs)
    a, b, c, d = seated(game, (a, b, c, d))
    first, second = play_each(game, ((a, b, c, d), (b, a, d, c)), _checked_boards(boards), seed, policy_seed, run)
    deals = game.deal_numbers(first.boards, seed)
    return Match(first.boards, deals, imps_won(game, first, second), first.states, second.states)


def imps_won(game: Bridge, first: Episodes, second: Episodes) -> I64:
    """IMPs ``[N]`` of who was North/South at the ``first`` table and East/West at the ``second``."""
    difference = np.round(game.reward_scale * (first.reward[:, 0] - second.reward[:, 0])).astype(np.int32)
    return np.asarray(imps(difference), np.int64)


def _two(pair: Pair) -> Sequence[Agent]:
    if isinstance(pair, str) or not isinstance(pair, Sequence):
        return pair, pair
    if len(pair) != 2:
        raise ValueError(f"a pair {pair!r}: expected two agents, or one for both seats")
    return pair


def _checked_boards(boards: BoardNumbers) -> I64:
    numbers = board_numbers(boards)
    if len(numbers) == 0:
        raise ValueError("boards: none, which compares nobody; expected one or more")
    return numbers


Names = tuple[str, str]


def seatings(game: Game) -> tuple[tuple[int, ...], ...]:
    """The tables at which two agents meet on each board: which of them, 0 or 1, each player is.

    Two partnerships are exchanged; four players who have no partners play as two pairs, as in Spades. Where all players
    are paid alike, each agent plays with itself and at every seat with the other; else each partnership, or player, is
    one agent among others.
    """
    players, alike = range(game.num_players), game.utility == "identical"
    sides: list[tuple[int, ...]] = [(player,) for player in players] if alike else _sides(game)
    if not alike and len(players) == len(sides) == 4:
        sides = [(0, 2)]
    alone = [tuple(int(player not in side) for player in players) for side in sides]
    together = [(0,) * len(players), (1,) * len(players)] if alike else []
    exchanged = [tuple(1 - agent for agent in seats) for seats in alone]
    return tuple(dict.fromkeys([*together, *alone, *exchanged]))


def _sides(game: Game) -> list[tuple[int, ...]]:
    """The partnerships of ``game``, each with its players."""
    return [*dict.fromkeys(tuple(game.allies(player)) for player in range(game.num_players))]


def pairings(
    game: Game, ours: Agent, theirs: Agent, boards: BoardNumbers, seed: int = 0, policy_seed: int = 0, run: Run = HERE
) -> list[Episodes]:
    """Every board ``[N]`` in each of the game's ``seatings``, with the actions taken; arguments as of ``duplicate``."""
    check_game(game)
    pair = agents.resolve(ours, game), agents.resolve(theirs, game)
    players = [[pair[agent] for agent in seats] for seats in seatings(game)]
    return play_each(game, players, _checked_boards(boards), seed, policy_seed, run, actions=True)


def summary(game: Game, names: Names, played: Sequence[Episodes]) -> ResultTable:
    """The result table of ``pairings`` between agents called ``names``; boards may be missing in some seatings."""
    check_game(game)
    if "winner" in (game.state.names or ()):
        return _exchanged(game, names, played)
    return _partners(game, names, played) if game.utility == "identical" else _each(game, names, played)


def _each(game: Game, names: Names, played: Sequence[Episodes]) -> ResultTable:
    table = ResultTable(f"{game}", ["agent", "mean reward"], note="± standard error over boards, each at all seatings")
    sides = _sides(game)

    def counts(seats: tuple[int, ...], agent: int) -> bool:
        """Whether ``agent`` is the one side among others, or alone."""
        held = sum(agent in {seats[player] for player in side} for side in sides)
        return held > 0 and 2 * held <= max(len(sides), 2)

    for agent, name in enumerate(names):
        few = [each for each in zip(seatings(game), played, strict=True) if counts(each[0], agent)]
        rewards = np.concatenate([each.reward[:, np.array(seats) == agent].mean(1) for seats, each in few])
        table.add(name, Estimate.of(rewards, group=np.concatenate([each.boards for _, each in few])))
    return table


def _partners(game: Game, names: Names, played: Sequence[Episodes]) -> ResultTable:
    columns = [*(f"player_{player}" for player in range(game.num_players)), "boards", "mean reward"]
    table = ResultTable(f"{game}", columns, note="± standard error over boards")
    for seats, (boards, reward, *_) in zip(seatings(game), played, strict=True):
        if len(boards):
            table.add(*(names[agent] for agent in seats), len(boards), Estimate.of(reward[:, 0], group=boards))
    return table


def _exchanged(game: Game, names: Names, played: Sequence[Episodes]) -> ResultTable:
    states, boards = (np.concatenate(arrays) for arrays in zip(*((e.states, e.boards) for e in played)))
    seats = np.concatenate([np.tile(s, (len(e.boards), 1)) for s, e in zip(seatings(game), played, strict=True)])
    rounds, winner = states["rounds"].astype(np.int64), states["winner"].astype(np.int64)
    won = share_won(np.where(winner < 0, winner, seats[np.arange(len(seats)), winner]))
    scores = np.take_along_axis(states["scores"], np.arange(4) % states["sides"][:, None].astype(np.int64), 1)
    ours, theirs = ((scores * (seats == agent)).sum(1) / 2 for agent in range(2))  # of two seats, one side or two
    whole_games = bool((states["max_rounds"] > 1).any())

    def a_round(points: F64) -> Estimate:
        """Points a round over all rounds; those of a board are one sample for the error."""
        return Estimate.of(np.repeat(points / rounds, rounds), group=np.repeat(boards, rounds))

    note = f"{len(np.unique(boards)):,} boards, {rounds.sum():,} rounds; ± standard error over boards"
    columns = ["agent", *["games won %"] * whole_games, "points a round", "ahead a round"]
    table = ResultTable(f"{game}: {names[0]} against {names[1]}", columns, note=note)
    for name, share, points, their_points in ((names[0], won, ours, theirs), (names[1], 1 - won, theirs, ours)):
        games = [Estimate.of(100 * share, group=boards)] * whole_games
        table.add(name, *games, a_round(points), a_round(points - their_points))
    return table

"""Leaderboards that anybody can enter: boards, seeds and opponents fixed under a name with a year.

An *entry* is a file with what an agent won on every board against every opponent. Whoever has the agent can play some
of the boards again and must find the same numbers: an action depends on its own row only, whatever the batch.
"""

import json
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo import __version__, agents, registry
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.agent_check import copy_of
from bidzoo.benchmarks.match import HERE, MatchLedger, Run, imps_won, play_each, seatings, slow
from bidzoo.benchmarks.results import Estimate, Report, ResultTable, command, machine, silent
from bidzoo.core.kernels import F64, I64
from bidzoo.core.options import Range, choose_from
from bidzoo.core.schema import json_value, parse, shortened, shown
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS
from bidzoo.envs.game import Game


@dataclass(frozen=True)
class Challenge:
    """Game, boards, seeds and opponents under one name, which changes with any of them and with an opponent's play."""

    name: str
    env_id: str
    options: Mapping[str, Any]  # of the game
    opponents: tuple[str, ...]
    boards: int
    seed: int  # of deals and policies
    unit: str  # of the values
    partners: bool = False  # the agent partners each of ``opponents``, against a pair of the partner's kind

    @property
    def game(self) -> Game:
        """The game with its options."""
        return registry.make_game(self.env_id, **self.options)

    @property
    def steps(self) -> tuple[Range, float]:
        """The values that a board can have: their range, and the step of which each is a multiple.

        IMPs are whole. Elsewhere a value is the mean of two seatings, whose rewards are whole.
        """
        if self.env_id in agents.BRIDGE:
            return Range(-MAX_IMPS, MAX_IMPS), 1
        return Range(*self.game.reward_range), 0.5


_BRIDGE, _DEALS = "bridge_bidding_v0", {"deals": "test", "shuffle": False}
_SYSTEMS = ("sayc", "expert-21gf", "expert-polish", "expert-acol")
_ROUND = {"phase": "round", "reward": "points"}
CHALLENGES = {
    challenge.name: challenge
    for challenge in (
        Challenge("bridge-2026", _BRIDGE, _DEALS, ("sayc", "sl", "ppo"), 2000, 2026, "IMPs a board"),
        Challenge("spades-2026", "spades_v0", _ROUND, ("bis", "rb", "io"), 4000, 2026, "points a round"),
        Challenge("bridge-partners-2026", _BRIDGE, _DEALS, _SYSTEMS, 1000, 2026, "IMPs a board", partners=True),
    )
}


def challenge_named(name: str) -> Challenge:
    """The challenge; KeyError names the nearest and the choices."""
    if name not in CHALLENGES:
        raise KeyError(f"unknown challenge {name!r}; {choose_from(name, CHALLENGES)}")
    return CHALLENGES[name]


# ---- playing -----------------------------------------------------------------------------


def values(
    challenge: Challenge, ours: Policy, theirs: Policy, boards: I64, run: Run = HERE, apart: bool = False
) -> F64:
    """What ``ours`` won on each of ``boards`` ``[N]``, in ``challenge.unit``.

    Bridge: IMPs of the duplicate pair of tables. Where the challenge is of partners, ``ours`` is North or East with
    ``theirs`` as its partner, and the value is what the pair wins over two of the partner's kind. Spades: mean reward
    at two tables, the sides exchanged. Games of two partners: mean reward with ``theirs`` as partner, at either seat.

    ``apart``: a copy of ``ours`` holds each of its seats at each table, so that no seat knows what another one saw.
    """
    game, seed = challenge.game, challenge.seed
    mixed = [seats for seats in seatings(game) if len(set(seats)) > 1]
    if challenge.partners:
        mixed = [(0, 1, 1, 1), (1, 0, 1, 1)]
    own = _copies(ours) if apart else lambda: ours
    players = [[theirs if agent else own() for agent in seats] for seats in mixed]
    episodes = play_each(game, players, boards, seed, seed, run)
    if isinstance(game, Bridge):
        return imps_won(game, *episodes).astype(np.float64)
    rewards = [each.reward[:, seats.index(0)].astype(np.float64) for seats, each in zip(mixed, episodes, strict=True)]
    return np.asarray(np.mean(rewards, axis=0), np.float64)


def _copies(policy: Policy) -> Callable[[], Policy]:
    """Makes copies of ``policy``; ValueError if it cannot be pickled.

    A language model, whose server cannot be copied, plays all seats itself: it is told of each seat apart.
    """
    from bidzoo.language import LanguageAgent

    if isinstance(policy, LanguageAgent):
        return lambda: policy
    copy_of(policy)
    return lambda: copy_of(policy)


# ---- an entry ----------------------------------------------------------------------------


LONGEST = {"name": 80, "version": 40, "python": 40, "machine": 200}  # characters of a text of an entry
LONGEST |= dict.fromkeys(("challenge", "agent", "source"), 500) | {"command": 4000}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def check_texts(**texts: str) -> None:
    """ValueError unless each of the texts of an entry, by field, is there, printable and not too long."""
    for name, text in texts.items():
        odd = next((letter for letter in text if not letter.isprintable()), None)
        if not text.strip() or len(text) > LONGEST[name] or odd is not None:
            holds = f"holds {odd!r}" if odd is not None else f"{len(text):,} characters"
            called = " what the agent is called," if name == "name" else ""
            raise ValueError(
                f"{name}: {shown(text)} ({holds}), expected{called} 1 to {LONGEST[name]} printable characters"
            )


@dataclass(frozen=True)
class Entry:
    """An agent's results in a challenge, as they stand in a file."""

    challenge: str
    name: str  # in the table
    agent: str  # as ``agents.make`` takes it: what a verifier needs beside the source
    source: str  # where others get the agent: a package with its version, an address
    command: str
    version: str  # of bidzoo
    python: str
    machine: str
    seconds: float
    values: dict[str, str] = field(repr=False)  # by opponent: the numbers of all boards in order, with spaces

    def numbers(self, opponent: str) -> F64:
        """Values ``[boards]`` against ``opponent``; ValueError unless every board has one that it can have."""
        challenge = challenge_named(self.challenge)
        boards, (span, step) = challenge.boards, challenge.steps
        if opponent not in self.values:
            raise ValueError(f"{self.name}: values against {opponent}: missing, expected {boards} numbers")
        written = [word for word in self.values[opponent].split(" ") if word]
        wrong_word = next((word for word in written if not _NUMBER.fullmatch(word)), None)
        if wrong_word is not None:
            raise ValueError(
                f"{self.name}: values against {opponent}: {shown(wrong_word)}, expected a number as in JSON"
            )
        numbers = np.array(written, np.float64)
        if len(numbers) != boards or not np.isfinite(numbers).all():
            raise ValueError(f"{self.name}: {len(numbers)} values against {opponent}, expected {boards} finite numbers")
        wrong = np.flatnonzero((numbers < span.least) | (numbers > span.most) | (numbers % step != 0))
        if len(wrong):
            board, expected = wrong[0], f"multiples of {step} {span}"
            raise ValueError(f"{self.name}: board {board}: {numbers[board]:g} against {opponent}, expected {expected}")
        return numbers


SAMPLE = 10  # boards against each opponent that ``enter`` plays again


def enter(
    challenge: Challenge,
    agent: str,
    source: str = "",
    workers: int = 1,
    ledger: str | Path | None = None,
    report: Report = silent,
) -> Entry:
    """Play ``agent`` (as ``agents.make`` takes it) against every opponent of ``challenge``.

    Args:
        challenge: what is played.
        agent: the agent that enters.
        source: where others get it; default: the package that it comes from.
        workers: processes that play if the agent is slow.
        ledger: file of a slow agent's finished boards, from which a killed run resumes.
        report: called with the progress.

    Raises:
        ValueError: the name of another agent, a text that no entry can hold, an agent that cannot be pickled, or other
            values of some boards that were played again with a copy of the agent at every seat.
    """
    began, game = time.perf_counter(), challenge.game
    ours, opponents = agents.resolve(agent, game), [agents.resolve(name, game) for name in challenge.opponents]
    boards, values_by_opponent = np.arange(challenge.boards), dict[str, str]()
    about = {"name": agents.shown_as(agent, ours), "agent": agent, "source": source or agents.source_of(agent)}
    check_texts(**about, command=command())
    if about["name"] in agents.AGENTS and agents.parts(agent)[1] != about["name"]:
        raise ValueError(
            f"agent {agent!r} is called {about['name']!r}, as one of bidzoo's; give it another name: NAME=..."
        )
    _copies(ours)  # what cannot be copied is said before anything is played
    searches = slow([ours])
    ledger_context = MatchLedger(ledger, [ours, *opponents]) if searches and ledger is not None else nullcontext()
    with ledger_context as match_ledger:
        base_run = Run(
            workers if searches else 1,
            report=lambda done: report("tables", done, 2 * len(boards) * len(opponents)),
            ledger=match_ledger,
        )
        for k, (name, theirs) in enumerate(zip(challenge.opponents, opponents, strict=True)):
            run = base_run.after(2 * k * len(boards))
            won = values(challenge, ours, theirs, boards, run)
            sample = np.sort(np.random.default_rng(k).choice(challenge.boards, min(SAMPLE, len(boards)), replace=False))
            again = values(challenge, ours, theirs, sample, apart=True)
            for board, value in zip(sample.tolist(), again.tolist()):
                if value != won[board]:
                    raise ValueError(
                        f"{about['name']}: board {board} against {name} gave {won[board]:g}, and {value:g} among other"
                        " boards with a copy of the agent at every seat, so nobody could verify the entry; an action"
                        " must depend on its own row alone: bidzoo check"
                    )
            values_by_opponent[name] = " ".join(f"{value:g}" for value in won)
    return Entry(
        challenge.name,
        about["name"],
        about["agent"],
        about["source"],
        command(),
        __version__,
        platform.python_version(),
        machine(),
        round(time.perf_counter() - began, 1),
        values_by_opponent,
    )


def save(path: str | Path, entry: Entry) -> None:
    """Write ``entry``, whole or not at all; ValueError if ``load`` would refuse it."""
    _check(entry, path)
    replace_file(Path(path), (json.dumps(asdict(entry), indent=1, ensure_ascii=False) + "\n").encode())


def load(path: str | Path) -> Entry:
    """The entry in a file; ValueError names file and field where it is none."""
    entry: Entry = parse(Entry, json_value(Path(path).read_bytes(), path), path)
    _check(entry, path)
    return entry


def _check(entry: Entry, path: str | Path) -> None:
    """ValueError that names ``path`` and field unless ``entry`` is one of a challenge."""
    if (challenge := CHALLENGES.get(entry.challenge)) is None:
        raise ValueError(
            f"{path}: challenge: {shown(entry.challenge)}; {choose_from(entry.challenge[:80], CHALLENGES)}"
        )
    try:
        check_texts(**{name: getattr(entry, name) for name in LONGEST})
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from problem
    if entry.seconds < 0:
        raise ValueError(f"{path}: seconds: {entry.seconds}, expected a number from 0")
    if set(entry.values) != set(challenge.opponents):
        found = shortened(", ".join(map(shown, entry.values)))
        raise ValueError(f"{path}: values: {found}, expected {', '.join(challenge.opponents)}")
    for opponent in challenge.opponents:
        try:
            entry.numbers(opponent)
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}") from problem


# ---- checking an entry -------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """Some boards of an entry, played again."""

    opponent: str
    boards: I64  # [n]
    recorded: F64  # [n]  values in the file
    replayed: F64  # [n]  values of this run

    @property
    def wrong(self) -> I64:
        """Boards with another value than the file's."""
        return self.boards[np.abs(self.recorded - self.replayed) > TOLERANCE]


TOLERANCE = 1e-3  # of values written with six digits


def verify(
    entry: Entry, boards: int = 100, seed: int = 0, agent: str | None = None, workers: int = 1, report: Report = silent
) -> list[Check]:
    """Play some boards again, drawn without replacement, against every opponent.

    A copy of the agent plays each of its seats at each table: what it saw at one is not known at another.

    Args:
        entry: from ``load``.
        boards: how many against each opponent; all if there are fewer.
        seed: of the sample; take one that the entry's author could not know.
        agent: its name here; default: the entry's, if it is one of bidzoo's own. What else an entry names is code or
            a file that somebody else chose: look at it first.
        workers: processes that play if the agent is slow.
        report: called with the progress.

    Raises:
        ValueError: the entry was made with another version of bidzoo, or names an agent that is not bidzoo's or
            cannot be pickled.
    """
    if agent is None and not agents.is_own(entry.agent):
        raise ValueError(f"{entry.name}: agent {entry.agent!r} is not bidzoo's: say by agent= that its code may run")
    if entry.version != __version__:
        raise ValueError(f"{entry.name}: played with bidzoo {entry.version}, this is {__version__}; install that one")
    challenge = challenge_named(entry.challenge)
    count, game = min(boards, challenge.boards), challenge.game
    ours, checks = agents.resolve(agent or entry.agent, game), list[Check]()
    rng = np.random.default_rng(seed)
    for k, name in enumerate(challenge.opponents):
        report("boards", k * count, count * len(challenge.opponents))
        chosen = np.sort(rng.choice(challenge.boards, count, replace=False))
        theirs, run = agents.resolve(name, game), Run(workers if slow([ours]) else 1)
        replayed = values(challenge, ours, theirs, chosen, run, apart=True)
        checks.append(Check(name, chosen, entry.numbers(name)[chosen], replayed))
    return checks


# ---- the table ---------------------------------------------------------------------------


def ranking(challenge: Challenge, entries: Sequence[Entry]) -> ResultTable:
    """Entries in ``challenge``, best mean first; equal weight to every opponent.

    Raises:
        ValueError: two entries of one name.
    """
    boards = np.arange(challenge.boards)
    deals = challenge.game.deal_numbers(boards, challenge.seed)
    note = (
        f"{challenge.unit[0].upper()}{challenge.unit[1:]} on {challenge.boards:,} boards of {challenge.env_id}, seed"
        f" {challenge.seed}; ± standard error over deals"
    )
    table = ResultTable(challenge.name, ["agent", "mean", *challenge.opponents, "from", "bidzoo"], note=note)
    rows: list[tuple[float, list[Any]]] = []
    for entry in entries:
        if [other.name for other in entries].count(entry.name) > 1:
            raise ValueError(f"{challenge.name}: two entries are called {entry.name!r}")
        numbers = np.array([entry.numbers(name) for name in challenge.opponents])
        each = [Estimate.of(row, group=deals) for row in numbers]
        mean = Estimate.of(numbers.mean(0), group=deals)
        rows.append((-mean.mean, [entry.name, mean, *each, entry.source, entry.version]))
    for _, row in sorted(rows, key=lambda each: each[0]):
        table.add(*row)
    return table

"""``bidzoo bench bridge``: every bridge agent against every other, duplicate, in IMPs a board."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo import agents, parallel
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge_boards import Boards, Contracts
from bidzoo.benchmarks.bridge_claims import relations
from bidzoo.benchmarks.bridge_quality import QUALITY_NOTE, quality_row
from bidzoo.benchmarks.match import slow
from bidzoo.benchmarks.match_ledger import MatchLedger
from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.streams import Streams
from bidzoo.wrappers.batch import Batch

DEFAULT = (
    *("random", "pass", "sayc", "sl", "a2c-bridge", "jps-bridge", "rl", "ppo", "rl-mcs", "bmcs"),
    *("a2c-early", "jps-non-search", "jps-1-search", "jps-1-percent", "jps-5-percent", "jps-10-percent"),
    *("rl-short", "rl-no-hi", "rl-no-pr"),
)
SEARCH_BOARDS = 200
KINDS = {False: "auctions", True: "slow auctions"}
MATCH_NOTE = "Duplicate: every board at two tables, the sides exchanged; ± standard error, boards of one deal as one"

Room = tuple[Policy, Policy]  # North/South, East/West
Report = Callable[[str, int, int], None]  # what is done, how many, of how many


def contestant(entry: str | Policy) -> Policy:
    """An agent by name, ``NAME=FILE`` for weights of one's own, a packaged network's name, or a policy as it is.

    Raises:
        KeyError, ValueError: no such agent, or one without weights or that does not play bridge.
    """
    from bidzoo.agents.bridge.neural import NetworkPolicy
    from bidzoo.agents.bridge.weights import PACKAGED

    if not isinstance(entry, str):
        return agents.resolve(entry)
    name, _, file = entry.strip().partition("=")
    if file:
        policy: Policy = NetworkPolicy(file, name=name)
    elif name not in agents.AGENTS and (PACKAGED / f"{name}.safetensors").exists():
        policy = NetworkPolicy(name, name=name)
    else:
        policy = agents.resolve(name, "bridge_bidding_v0")
    _check(policy)
    return policy


def _check(policy: Policy) -> None:
    """Let it make one call: ValueError if its weights are missing."""
    batch = Batch(Boards(2).game, 1)
    batch.reset()
    policy.act(batch.views(np.zeros(1, np.int64)), batch.action_mask, Streams.at(0, np.zeros(1, np.int64)))


def line_up(entries: Sequence[str | Policy]) -> tuple[list[Policy], list[str]]:
    """The policies that can play, and for each of the others why not."""
    playing: list[Policy] = []
    missing = []
    for entry in entries:
        try:
            playing.append(contestant(entry))
        except (KeyError, ValueError, FileNotFoundError) as problem:
            missing.append(f"{entry}: {problem.args[0] if isinstance(problem, KeyError) else problem}")
    names = [policy.name for policy in playing]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"agent {name!r} is there twice, expected different names")
    return playing, missing


def cross_table(names: Sequence[str], played: dict[tuple[str, str], Estimate], note: str) -> Table:
    """Row against column, IMPs a board, strongest first."""
    means = {ours: float(np.mean([played[ours, theirs].mean for theirs in names if theirs != ours])) for ours in names}
    order = sorted(names, key=lambda name: -means[name])
    table = Table("Cross table, IMPs a board", ["agent", *order, "mean"], note=note)
    for ours in order:
        row: dict[str, Any] = {theirs: played[ours, theirs] for theirs in order if theirs != ours}
        table.rows.append({"agent": ours, **row, "mean": means[ours]})
    return table


def cross_figure(cross: Table) -> Figure:
    """The cross table as a heat map."""
    order = [str(row["agent"]) for row in cross.rows]
    series = {
        str(row["agent"]): [0.0 if name == row["agent"] else float(row[name].mean) for name in order]
        for row in cross.rows
    }
    return Figure("Cross table, IMPs a board", "heat", order, series, "against", "agent", cross.note)


def rooms(playing: Sequence[Policy], selves: bool) -> list[Room]:
    """Every pair twice, with the sides exchanged, and with ``selves`` four of each; rooms of slow policies last."""
    found: list[Room] = []
    for first, second in combinations_with_replacement(playing, 2):
        if first is not second:
            found += [(first, second), (second, first)]
        elif selves:
            found.append((first, first))
    return sorted(found, key=slow)


def _tell(report: Report, what: str, before: int, total: int, done: int) -> None:
    report(what, before + done, total)


def main(
    entries: Sequence[str | Policy] = DEFAULT,
    boards: int = 10_000,
    seed: int = 0,
    fresh: bool = False,
    workers: int = 1,
    cache: str | Path | None = None,
    report: Report = lambda what, done, total: None,
    backend: str | None = None,
    search_boards: int = SEARCH_BOARDS,
    ledger: str | Path | None = None,
) -> tuple[list[Table], list[Figure], float]:
    """The tables, figures and the seconds they took.

    Args:
        entries: as ``contestant`` takes them; those that cannot play are named in the note and left out.
        boards: every pair plays as many, at two tables each.
        seed: of boards and policies.
        fresh: random deals instead of the test split; only the contracts that were reached are solved.
        workers: tasks at a time, of the solver and of slow policies; on a cluster of all.
        cache: file of double-dummy results, for ``fresh``; a killed run goes on from it.
        report: told about the progress.
        backend: where the workers are, see ``bidzoo.parallel``.
        search_boards: where a policy is slow only so many are played, the first ones.
        ledger: file of what slow policies have played; a killed run goes on from it.
    """
    began = time.perf_counter()
    playing, missing = line_up(entries)
    if len(playing) < 2:
        why = f" ({'; '.join(missing)})" if missing else ""
        raise ValueError(f"a cross table takes two agents or more, got {len(playing)}{why}")
    pairs = rooms(playing, not fresh)
    of_kind = {kind: [pair for pair in pairs if slow(pair) == kind] for kind in sorted({slow(pair) for pair in pairs})}
    arenas = {kind: Boards(min(boards, search_boards) if kind else boards, seed, fresh) for kind in of_kind}
    ended: dict[tuple[str, str], Contracts] = {}
    quality: list[dict[str, Any]] = []
    kept = None if ledger is None else MatchLedger(ledger, playing)
    for kind, arena in arenas.items():
        # on this machine threads serve fast policies better than processes do
        spread = workers if kind or parallel.checked(backend) != "loky" else 1
        total = len(of_kind[kind]) * len(arena.numbers)
        for count, (north_south, east_west) in enumerate(of_kind[kind]):
            told = partial(_tell, report, KINDS[kind], count * len(arena.numbers), total)
            tables = arena.play(north_south, east_west, seed, spread, backend, kept if kind else None, told)
            ended[north_south.name, east_west.name] = Contracts.of(tables)
            if north_south is east_west:
                quality.append(quality_row(arena, north_south.name, tables))
        if fresh:
            reached = [ended[first.name, second.name] for first, second in of_kind[kind]]
            arena.solve(reached, workers, cache, partial(report, "contracts"), backend)
    played = {}
    for ours, theirs in combinations(playing, 2):
        arena, names = arenas[slow((ours, theirs))], (ours.name, theirs.name)
        gained = arena.match(ended[names], ended[names[::-1]])
        played[names], played[names[::-1]] = arena.estimate(gained), arena.estimate(-gained)
    note = f"{_deals(arenas, playing)}. {MATCH_NOTE}" + (f". Left out: {'; '.join(missing)}" if missing else "")
    cross = cross_table([policy.name for policy in playing], played, note)
    results = [cross, *[table for table in [relations(played)] if table.rows]]
    if quality:
        results.append(Table("Four of the same agent", list(quality[0]), [*quality], note=QUALITY_NOTE))
    return results, [cross_figure(cross)], time.perf_counter() - began


def _deals(arenas: dict[bool, Boards], playing: Sequence[Policy]) -> str:
    """What was played, in words."""
    most = max(arenas.values(), key=lambda arena: len(arena.numbers))
    if len(arenas) == 1:
        return str(most)
    names = " or ".join(policy.name for policy in playing if slow([policy]))
    return f"{most}; the first {len(arenas[True].numbers):,} where {names} plays"

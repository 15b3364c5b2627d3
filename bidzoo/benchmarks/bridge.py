"""``bidzoo bench bridge``: every bridge agent against every other, duplicate, in IMPs a board."""

import time
from collections.abc import Callable, Sequence
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo import agents
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.bridge_boards import Boards, Contracts
from bidzoo.benchmarks.bridge_claims import relations
from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.bridge.par import par
from bidzoo.kernels import I64, Bool
from bidzoo.streams import Streams
from bidzoo.wrappers.batch import Batch

DEFAULT = ("random", "pass", "sayc", "sl", "a2c-bridge", "jps-bridge", "rl", "ppo")
GAME_LEVEL = np.array([5, 5, 4, 4, 3])  # of each strain
MATCH_NOTE = "Duplicate: every board at two tables, the sides exchanged; ± standard error, boards of one deal as one"

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
    name, _, file = entry.partition("=")
    if file:
        policy: Policy = NetworkPolicy(file, name=name)
    elif name not in agents.AGENTS and (PACKAGED / f"{name}.safetensors").exists():
        policy = NetworkPolicy(PACKAGED / f"{name}.safetensors", name=name)
    else:
        if name in agents.AGENTS and "bridge_bidding_v0" not in agents.AGENTS[name].games:
            raise ValueError(f"{name} plays {', '.join(agents.AGENTS[name].games)}, not bridge_bidding_v0")
        policy = agents.make(name)
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


def makeable_games(boards: Boards) -> Bool:
    """Sides that can make a game double dummy ``[N, 2]`` (N/S, E/W)."""
    tricks = boards.tricks.reshape(-1, 2, 2, 5).max(1)  # better declarer of each side
    return (tricks >= GAME_LEVEL + 6).any(2)


def is_game(contracts: Contracts) -> Bool:
    """Contracts worth a game or more, doubling aside ``[N]``."""
    return (contracts.bid >= 0) & (contracts.bid // 5 + 1 >= GAME_LEVEL[contracts.bid % 5])


def quality_row(
    boards: Boards, name: str, contracts: Contracts, length: I64, dealer: I64, vulnerable: I64
) -> dict[str, Any]:
    """Where four of the same agent end up, beside what the cards allow."""
    makeable, game, made = makeable_games(boards), is_game(contracts), boards.made(contracts)
    side = np.stack([contracts.declarer % 2 == 0, contracts.declarer % 2 == 1], axis=1) & (contracts.bid >= 0)[:, None]
    bid = (game[:, None] & side)[makeable & ~makeable[:, ::-1]]
    played = contracts.bid >= 0
    distance = np.abs(imps(boards.points(contracts) - par(boards.tricks, dealer, vulnerable)).astype(np.int64))

    def share(of: Bool, among: Bool) -> float | None:
        return 100 * float(of[among].mean()) if among.any() else None

    everywhere = np.ones(len(played), np.bool_)
    return {
        "agent": name,
        "IMPs off par": boards.estimate(distance),
        "calls": float(length.mean()),
        "passed out %": share(~played, everywhere),
        "game %": share(game, everywhere),
        "slam %": share(contracts.bid >= 25, everywhere),
        "doubled %": share(contracts.stake > 1, played),
        "makes %": share(made, played),
        "games that are there, bid %": share(bid, np.ones(len(bid), np.bool_)),
        "games bid, make %": share(made, game),
        "slams bid, make %": share(made, contracts.bid >= 25),
    }


def main(
    entries: Sequence[str | Policy] = DEFAULT,
    boards: int = 10_000,
    seed: int = 0,
    fresh: bool = False,
    workers: int = 1,
    cache: str | Path | None = None,
    report: Report = lambda what, done, total: None,
) -> tuple[list[Table], list[Figure], float]:
    """The tables, figures and the seconds they took.

    Args:
        entries: as ``contestant`` takes them; those that cannot play are named in the note and left out.
        boards: every pair plays as many, at two tables each.
        seed: of boards and policies.
        fresh: random deals instead of the test split; only the contracts that were reached are solved.
        workers: processes that solve.
        cache: file of double-dummy results, for ``fresh``; a killed run goes on from it.
        report: told about the progress.
    """
    began = time.perf_counter()
    playing, missing = line_up(entries)
    if len(playing) < 2:
        raise ValueError(f"{len(playing)} agents can play, expected 2 or more ({'; '.join(missing)})")
    arena = Boards(boards, seed, fresh)
    ended: dict[tuple[str, str], Contracts] = {}
    quality: list[dict[str, Any]] = []
    pairs = [
        pair
        for first, second in combinations_with_replacement(playing, 2)
        for pair in ([(first, second), (second, first)] if first is not second else [] if fresh else [(first, first)])
    ]
    for count, (north_south, east_west) in enumerate(pairs):
        report("auctions", count, len(pairs))
        tables = arena.play(north_south, east_west, seed)
        contracts = Contracts.of(tables)
        if north_south is east_west:
            facts = (tables[field].astype(np.int64) for field in ("length", "dealer", "vulnerable"))
            quality.append(quality_row(arena, north_south.name, contracts, *facts))
        else:
            ended[north_south.name, east_west.name] = contracts
    if fresh:
        arena.solve(list(ended.values()), workers, cache, lambda done, total: report("contracts", done, total))
    played = {}
    for ours, theirs in combinations([policy.name for policy in playing], 2):
        gained = arena.match(ended[ours, theirs], ended[theirs, ours])
        played[ours, theirs], played[theirs, ours] = arena.estimate(gained), arena.estimate(-gained)
    deals = (
        f"{boards:,} random deals, seed {seed}"
        if fresh
        else f"{boards:,} boards of {arena.deal.max() + 1:,} test deals"
    )
    note = f"{deals}. {MATCH_NOTE}" + (f". Left out: {'; '.join(missing)}" if missing else "")
    cross = cross_table([policy.name for policy in playing], played, note)
    results = [cross, *[table for table in [relations(played)] if table.rows]]
    if quality:
        results.append(Table("Four of the same agent", list(quality[0]), [*quality], note=QUALITY_NOTE))
    return results, [cross_figure(cross)], time.perf_counter() - began


QUALITY_NOTE = (
    "Double dummy. IMPs off par: between the score and the deal's par, either way. Games that are there: just one side"
    " can make a game, how often it is in one"
)


def cross_figure(cross: Table) -> Figure:
    """The cross table as a heat map."""
    order = [str(row["agent"]) for row in cross.rows]
    series = {
        str(row["agent"]): [0.0 if name == row["agent"] else float(row[name].mean) for name in order]
        for row in cross.rows
    }
    return Figure("Cross table, IMPs a board", "heat", order, series, "against", "agent", cross.note)

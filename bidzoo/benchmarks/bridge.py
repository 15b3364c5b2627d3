"""``bidzoo bench bridge``: bridge agents, each against each, duplicate, in IMPs a board.

The boards are test deals. Beside the cross table: what the papers claim of their agents as relations between ours, and
how good the contracts of four of one agent are.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.match import HERE, MatchLedger, Run, play, slow
from bidzoo.benchmarks.results import Estimate, Figure, Measured, Report, ResultTable, published, silent
from bidzoo.core import jobs
from bidzoo.core.kernels import F64, I8, I16, I32, I64, Bool, States
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import asking
from bidzoo.envs.bridge.auction import vulnerable_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps, par
from bidzoo.wrappers.batch import Batch

# ---- boards ------------------------------------------------------------------------------

Room = tuple[Policy, Policy]  # North/South, East/West


class Contracts(NamedTuple):
    """Where ``N`` auctions ended."""

    bid: I8  # [N]  0 ... 34, -1 passed out
    stake: I8  # [N]  1, 2, 4
    declarer: I8  # [N]  seat, -1 passed out
    length: I16  # [N]  calls
    points: I32  # [N]  duplicate score of North/South, double dummy

    @classmethod
    def of(cls, states: States) -> "Contracts":
        """The contracts of finished tables."""
        bid, stake, declarer = (states[name].astype(np.int8) for name in cls._fields[:3])
        return cls(bid, stake, declarer, states["length"].astype(np.int16), states["points"][:, 0].copy())

    @property
    def side(self) -> I8:
        """The declarer's side ``[N]``: 0 N/S, 1 E/W, -1 passed out."""
        return np.where(self.declarer < 0, self.declarer, self.declarer % 2)

    @property
    def made(self) -> Bool:
        """The contract can be made ``[N]``; False where all passed."""
        return np.where(self.side == 0, self.points, -self.points) > 0

    def imps(self, other: "Contracts") -> I64:
        """IMPs a board ``[N]`` of the pair that was North/South here and East/West in ``other``."""
        return imps(self.points - other.points).astype(np.int64)


class Boards:
    """``count`` boards, the same for every pair that plays them.

    Test deals come in order, each time with suits renamed and seats turned as ``(seed, board)`` says. With
    ``nobody_vulnerable`` they are the boards of the cycle on which nobody is.
    """

    def __init__(self, count: int, seed: int = 0, nobody_vulnerable: bool = False) -> None:
        if count < 2:
            raise ValueError(f"boards {count}: expected 2 or more")
        self.seed, self.nobody_vulnerable = seed, nobody_vulnerable
        self.numbers: I64 = np.arange(4 * count if nobody_vulnerable else count)
        if nobody_vulnerable:
            self.numbers = self.numbers[[vulnerable_row(int(board)) == 0 for board in self.numbers]][:count]
        self.game = Bridge(play=False, deals="test", shuffle=False)
        self.deal: I64 = self.game.deal_numbers(self.numbers, seed)
        batch = Batch(self.game, count, autoreset=False)
        batch.reset(seed, self.numbers)
        self.dealer, self.vulnerable = (batch.states[name].astype(np.int64) for name in ("dealer", "vulnerable"))
        self.tricks: I8 = batch.states["tricks"].copy()  # [N, 20]  double dummy

    def __str__(self) -> str:
        text = f"{len(self.numbers):,} boards of {len(np.unique(self.deal)):,} test deals"
        return f"{text}, nobody vulnerable" if self.nobody_vulnerable else text

    def play(self, north_south: Policy, east_west: Policy, policy_seed: int = 0, run: Run = HERE) -> States:
        """Final states ``[N]`` of one room, as ``match.play``."""
        return play(self.game, [north_south, east_west] * 2, self.numbers, self.seed, policy_seed, run).states

    def estimate(self, samples: F64 | I64, paper: float | None = None) -> Estimate:
        """Mean over the boards; boards of one deal count as one sample for the error."""
        return Estimate.of(samples, paper, group=self.deal)


# ---- agents ------------------------------------------------------------------------------

# without --agents; the help of the command names them
DEFAULT = ("random", "pass", "sayc", "sl", "a2c-bridge", "jps-bridge", "baseline19", "rl", "ppo", "rl-mcs", "bmcs")


def contestant(entry: str | Policy) -> Policy:
    """The policy that ``agents.resolve`` returns for the bridge auction, after one call as a trial.

    Raises:
        KeyError, ValueError: no such agent, or one without weights or that does not play bridge.
    """
    game = Bridge(play=False, deals="test")
    policy, batch, first = agents.resolve(entry, game), Batch(game, 1), np.zeros(1, np.int64)
    if getattr(policy, "paid", False):
        return policy
    batch.reset()
    with asking(policy.name, game, first, 0):  # ValueError if its weights are missing
        policy.act(batch.views(first), batch.action_mask, Streams.at(0, first))
    return policy


def check_different(names: Sequence[str]) -> None:
    """ValueError names an agent that is there twice: a table knows its rows by their names."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"agent {name!r} is there twice, expected different names")


def line_up(entries: Sequence[str | Policy], least: int = 2) -> tuple[list[Policy], list[str]]:
    """The policies that can play, and for each of the others why not; ValueError if fewer than ``least`` can."""
    policies: list[Policy] = []
    missing = []
    for entry in entries:
        try:
            policies.append(contestant(entry))
        except (KeyError, ValueError, FileNotFoundError) as problem:
            missing.append(f"{entry}: {problem.args[0] if isinstance(problem, KeyError) else problem}")
    check_different([policy.name for policy in policies])
    if len(policies) < least:
        why = f" ({'; '.join(missing)})" if missing else ""
        raise ValueError(
            f"a table takes {'two agents' if least == 2 else 'an agent'} or more, got {len(policies)}{why}"
        )
    return policies, missing


# ---- the run -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Boards, seeds, workers and files of a run."""

    boards: int = 10_000  # of every pair, at two tables each
    seed: int = 0  # of boards and policies
    nobody_vulnerable: bool = False  # on any board
    search_boards: int = 200  # the first ones, where a policy is slow
    workers: int = 1  # tasks at a time, of slow policies; on a cluster of all
    ledger: str | Path | None = None  # file of what slow policies have played; a killed run goes on from it


def main(entries: Sequence[str | Policy] = DEFAULT, options: Options = Options(), report: Report = silent) -> Measured:
    """The tables and figures.

    Args:
        entries: as ``contestant`` takes them; those that cannot play are named in the note and left out.
        options: boards, workers and files.
        report: called with the progress.
    """
    policies, missing = line_up(entries)
    every_room = [(ours, theirs) for ours in policies for theirs in policies]  # every pair twice, and four of each
    boards, contracts = play_rooms(sorted(every_room, key=slow), options, report)
    estimates: dict[tuple[str, str], Estimate] = {}
    for ours, theirs in combinations(policies, 2):
        board_set, names = boards[slow((ours, theirs))], (ours.name, theirs.name)
        imps_won = contracts[names].imps(contracts[names[::-1]])
        estimates[names], estimates[names[::-1]] = board_set.estimate(imps_won), board_set.estimate(-imps_won)
    note = f"{deals_text(boards, policies)}. {MATCH_NOTE}" + (f". Left out: {'; '.join(missing)}" if missing else "")
    cross, figure = cross_table([policy.name for policy in policies], estimates, note)
    tables = [cross, *[table for table in [relations(estimates)] if table.rows]]
    same = [(boards[slow([ours])], ours.name, contracts[ours.name, ours.name]) for ours in policies]
    quality, slams = [quality_row(*each) for each in same], [slam_row(*each) for each in same]
    tables.append(ResultTable("Four of the same agent", list(quality[0]), [*quality], note=QUALITY_NOTE))
    tables.append(ResultTable("Slams of four of the same agent", list(slams[0]), [*slams], note=SLAM_NOTE))
    return tables, [figure]


def play_rooms(
    every_room: Sequence[Room], options: Options, report: Report
) -> tuple[dict[bool, Boards], dict[tuple[str, str], Contracts]]:
    """The boards of fast and of slow rooms, and the contracts of all by the names at North/South and East/West."""
    boards: dict[bool, Boards] = {}
    contracts: dict[tuple[str, str], Contracts] = {}
    policies = [policy for room in every_room for policy in room]
    with nullcontext() if options.ledger is None else MatchLedger(options.ledger, policies) as ledger:
        for searches in sorted({slow(room) for room in every_room}):  # fast, then slow
            group = [room for room in every_room if slow(room) == searches]
            count = min(options.boards, options.search_boards) if searches else options.boards
            boards[searches] = Boards(count, options.seed, options.nobody_vulnerable)
            run = run_of(searches, len(group) * count, options, ledger, report)
            for number, (ours, theirs) in enumerate(group):
                states = boards[searches].play(ours, theirs, options.seed, run.after(number * count))
                contracts[ours.name, theirs.name] = Contracts.of(states)
    return boards, contracts


def run_of(searches: bool, total: int, options: Options, ledger: MatchLedger | None, report: Report) -> Run:
    """The ``Run`` of fast or slow policies; on one machine threads serve fast ones better, and they need no ledger."""
    label = "slow auctions" if searches else "auctions"
    workers = options.workers if searches or jobs.checked() != "loky" else 1
    return Run(workers, None, lambda done: report(label, done, total), ledger if searches else None)


def deals_text(boards: dict[bool, Boards], policies: Sequence[Policy]) -> str:
    """The boards that were played, in words."""
    counts = {searches: len(board_set.numbers) for searches, board_set in boards.items()}
    largest = boards[max(counts, key=counts.__getitem__)]
    if len({*counts.values()}) == 1:
        return str(largest)
    names = " or ".join(policy.name for policy in policies if slow([policy]))
    return f"{largest}; the first {counts[True]:,} where {names} plays"


# ---- cross table -------------------------------------------------------------------------

MATCH_NOTE = "Duplicate: every board at two tables, the sides exchanged; ± standard error, clustered by deal"


def cross_table(
    names: Sequence[str], estimates: Mapping[tuple[str, str], Estimate], note: str
) -> tuple[ResultTable, Figure]:
    """Row against column, IMPs a board, strongest first; the same as a heat map."""
    means = {
        ours: float(np.mean([estimates[ours, theirs].mean for theirs in names if theirs != ours])) for ours in names
    }
    order = sorted(names, key=lambda name: -means[name])
    table = ResultTable("Cross table, IMPs a board", ["agent", *order, "mean"], note=note)
    heat: dict[str, list[float]] = {}
    for ours in order:
        row: dict[str, Any] = {theirs: estimates[ours, theirs] for theirs in order if theirs != ours}
        table.rows.append({"agent": ours, **row, "mean": means[ours]})
        heat[ours] = [row[theirs].mean if theirs in row else 0.0 for theirs in order]
    return table, Figure(table.title, "heat", order, heat, "against", "agent", note)


# ---- what the papers claim of their agents -----------------------------------------------


class Claim(NamedTuple):
    """``first`` beats ``second`` by ``imps`` a board in the paper."""

    first: str  # names of our agents
    second: str
    imps: float | None  # None: ours do not compare what the paper does, as ``source`` says
    error: float | None  # as published
    source: str
    indirect: bool = False  # the paper played both against WBridge5; the figure is the difference


CLAIMS = tuple(Claim(**row) for row in published("claims"))  # RL-MCS is rl-mcs(policy=rl), RL-BMCS bmcs(policy=rl)


def relations(estimates: Mapping[tuple[str, str], Estimate]) -> ResultTable:
    """The claims of whose two agents there is a match; ``estimates[first, second]`` is IMPs a board of the first."""
    table = ResultTable(
        "The papers' relations between our agents",
        ["relation", "ours", "source"],
        note="IMPs a board, duplicate. Theirs marked * is the difference of two results against a third player"
        " (WBridge5, or the A2C model that all three start from)",
    )
    for claim in CLAIMS:
        estimate = estimates.get((claim.first, claim.second))
        if estimate is not None:
            error = "" if claim.error is None else f", ± {claim.error:.2f}"
            source = f"{claim.source}{error}{' *' if claim.indirect else ''}"
            relation = f"{claim.first} against {claim.second}"
            table.add(relation, estimate._replace(paper=claim.imps), source)
    return table


# ---- contracts of four of the same agent, double dummy -----------------------------------

GAME_LEVEL = np.array([5, 5, 4, 4, 3])  # of each strain
QUALITY_NOTE = (
    "Double dummy. IMPs off par: between the score and the deal's par, either way. Games that are there: just one side"
    " can make a game, how often it is in one"
)


def quality_row(boards: Boards, name: str, contracts: Contracts) -> dict[str, Any]:
    """Where four of the agent ``name``, who reached ``contracts`` ``[N]``, ended up."""
    makeable, game, made = makeable_games(boards), is_game(contracts.bid), contracts.made
    played, slam = contracts.bid >= 0, contracts.bid >= 25
    side = contracts.side[:, None] == np.arange(2)
    bid = (game[:, None] & side)[makeable & ~makeable[:, ::-1]]
    best = par(boards.tricks, boards.dealer, boards.vulnerable)
    distance = np.abs(imps(contracts.points - best).astype(np.int64))
    return {
        "agent": name,
        "IMPs off par": boards.estimate(distance),
        "calls": float(contracts.length.mean()),
        "passed out %": _percent(~played),
        "game %": _percent(game),
        "slam %": _percent(slam),
        "doubled %": _percent((contracts.stake > 1)[played]),
        "makes %": _percent(made[played]),
        "games that are there, bid %": _percent(bid),
        "games bid, make %": _percent(made[game]),
        "slams bid, make %": _percent(made[slam]),
    }


def _percent(flags: Bool) -> float | None:
    return 100 * float(flags.mean()) if len(flags) else None


SLAMS = (("grand slams", 13), ("small slams", 12))  # and the tricks they need
SLAM_NOTE = (
    "Double dummy. Slams that are there: a side can take just so many tricks in its best strain, how often it bids"
    " just so high"
)


def slam_row(boards: Boards, name: str, contracts: Contracts) -> dict[str, Any]:
    """The slams that four of the agent ``name``, who reached ``contracts`` ``[N]``, bid and could have bid."""
    tricks, made = _side_tricks(boards).max(2), contracts.made
    level = np.where(contracts.bid >= 0, contracts.bid // 5 + 1, 0)
    row: dict[str, Any] = {"agent": name}
    for kind, needed in SLAMS:
        bid, makeable = level + 6 == needed, (tricks == needed).any(1)
        side = (tricks == needed).argmax(1) == contracts.side
        row |= {
            f"{kind} bid in 1000": 1000 * float(bid.mean()) if len(bid) else None,
            f"{kind} bid, make %": _percent(made[bid]),
            f"{kind} that are there, bid %": _percent((bid & side)[makeable]),
        }
    return row


def _side_tricks(boards: Boards) -> I64:
    """Most tricks of each side in each strain ``[N, 2, 5]`` (N/S, E/W), by its better declarer."""
    return np.asarray(boards.tricks.reshape(-1, 2, 2, 5).max(1), np.int64)


def makeable_games(boards: Boards) -> Bool:
    """Sides that can make a game double dummy ``[N, 2]`` (N/S, E/W)."""
    return np.asarray((_side_tricks(boards) >= GAME_LEVEL + 6).any(2))


def is_game(bid: I8 | I64) -> Bool:
    """Contracts of ``bid`` ``[N]`` (-1 passed out) worth a game or more, doubling aside."""
    return (bid >= 0) & (bid // 5 + 1 >= GAME_LEVEL[bid % 5])

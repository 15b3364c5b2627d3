"""``bidzoo bench spades``: the tables and figures of "Bidding in Spades" beside ours, with standard errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import SEQUENCES, chance_row, load_curves, sequence_bids
from bidzoo.agents.spades.games import NOISE, Games, collect_nils, deals_seed, paper_game, play_games, share_won
from bidzoo.agents.spades.policy import Bidder, BidderName, Player, PlayerName, SpadesPolicy
from bidzoo.agents.spades.situation import ROUND_TYPES, sum_type_row
from bidzoo.benchmarks.match import made_of
from bidzoo.benchmarks.results import Estimate, Figure, Measured, Report, ResultTable, published, silent
from bidzoo.core.digests import content_digest, source_digest
from bidzoo.core.kernels import F64, I64, Bool, States
from bidzoo.core.options import NotFinite, literal
from bidzoo.core.storage import Ledger
from bidzoo.core.threads import get_threads, kernel_threads

# ---- Tables 2 and 4: who meets whom, and what the paper measured -------------------------------

CHUNK = 1_000  # games between two signs of progress


@dataclass(frozen=True)
class Comparison:
    """One row of a table: the first partnership against the second."""

    name: str
    group: str  # of ``TITLES``
    bidders: tuple[Bidder, Bidder]
    players: tuple[Player, Player]
    paper_win: float | None = None  # per cent
    paper_points: tuple[float, float] | None = None  # a round
    win_goal: int = 200
    rules: Mapping[str, Any] = field(default_factory=dict)  # where they differ from the paper's game


def comparisons() -> tuple[Comparison, ...]:
    """Every row, in the paper's order; those without a number of the paper are ours.

    With the printed limits of its nil rule RB hardly bids nil. Rows with looser ones (``nil_limits``) show how much of
    BIS's lead that is: with 7, jack and queen RB bids nil as often as BIS, with 8, jack and king it does best. A BIS
    that is not to bid nil keeps its desperate one, of the end-game conditions.
    """
    return tuple(map(_comparison, published("spades")))


def _comparison(row: dict[str, Any]) -> Comparison:
    """A line of ``data/published/spades.csv``."""
    bidders = _made(Bidder.named, row["bidder"]), _made(Bidder.named, row["their bidder"])
    players = _made(Player, row["player"]), _made(Player, row["their player"])
    points = None if row["points"] is None else (row["points"], row["their points"])
    rules, goal = _options(row["rules"] or ""), row["goal"] or Comparison.win_goal
    return Comparison(row["name"], row["group"], bidders, players, row["win"], points, goal, rules)


def _made(make: Callable[..., Any], text: str) -> Any:
    """What ``make`` makes of a kind and its options: ``"rb nil_limits=(0,0,0)"``."""
    kind, _, options = text.partition(" ")
    return make(kind, **_options(options))


def _options(text: str) -> dict[str, Any]:
    pairs = (word.partition("=") for word in text.split())
    return {name: literal(value) for name, _, value in pairs}


def rounds_log(games: Games) -> States:
    """Every round of every game, in one array of ``games.ROUND``."""
    log: States = games.log[np.arange(games.log.shape[1]) < games.rounds[:, None]]
    return log


def seats_of_first(log: States) -> Bool:
    """Whether a seat belongs to the first partnership: ``[rounds, 4]``."""
    first: Bool = (np.arange(4) + log["swapped"][:, None]) % 2 == 0
    return first


def gains_by_partnership(log: States) -> F64:
    """Points of the round for the first and the second partnership: ``[rounds, 2]``."""
    gains = log["gains"].astype(float)
    return np.where(log["swapped"][:, None] == 1, gains[:, ::-1], gains)


def nil_shares(log: States, mine: Bool) -> tuple[Estimate, Estimate | None]:
    """Per cent of the bids of the seats ``mine`` ``[rounds, 4]`` that are nil, and of these that succeed, if any."""
    rounds, _ = np.nonzero(mine)
    share = Estimate.of(100.0 * (log["bids"] == 0)[mine], group=log["board"][rounds])
    return share, successes(log, (log["bids"] == 0) & mine)


def successes(log: States, nil: Bool) -> Estimate | None:
    """Per cent of the nils ``nil`` ``[rounds, 4]`` that succeed; None where there is none."""
    rounds, _ = np.nonzero(nil)
    return Estimate.of(100.0 * (log["won"][nil] == 0), group=log["board"][rounds]) if len(rounds) else None


# ---- Table 3 and Figures 2 to 7: what BIS does against itself -----------------------------------

# of BIS+BIS and of human+BIS: points, per cent of nils made
PAPER_TABLE_3: dict[str, tuple[float | None, ...]] = {
    row.pop("nil by"): tuple(row.values()) for row in published("spades-nils")
}
US, SUM, EARLIER = "BIS+SRP", "sum of bids", "sum of the three bids before"
PAPER: dict[str, float] = {row["name"]: row["figure"] for row in published("text")}  # what the text prints
NIL_FACTS = (
    *("nil bids, % of bids", "successful nils, %", "rounds without nil, %", "rounds with a nil on each side, %"),
    "successful nils where each side has one, %",
    "success after bids of 1 and 3, nil value 0.8, %",  # the point that Figure 3 marks
)
PAIRS: dict[str, tuple[BidderName, PlayerName]] = {
    US: ("bis", "srp"),
    "BIS+WRP": ("bis", "wrp"),
    "RB+SRP": ("rb", "srp"),
    "learned": ("learned", "learned"),
}
TABLE_3 = ("nil by", "rounds", "points", "their points", "nils made %", "their nils made %")
LEAST_ROUNDS = 30  # fewest rounds of a point of a figure
SELF_PLAY = "Each board is played once; ± standard error over boards, whose rounds count as one."
FIGURE_3_BIDS = ((1, 3), (3, 3), (8, 3))  # partner's bid, then the right opponent's
SEQUENCE_ROWS = {sequence_bids(k): k for k in range(SEQUENCES)}  # of the success curves


def overview(log: States, games: Games) -> ResultTable:
    """The sum of the bids (Figure 5) and the branching factor (Figure 6)."""
    board = log["board"]
    cards = np.arange(games.branches.shape[1])
    legal = np.repeat(np.tile(cards, len(games.branches)), games.branches.ravel())
    play_boards = np.repeat(games.states["board"], games.branches.sum(axis=1))
    table = ResultTable(f"BIS+SRP against itself, {len(log):,} rounds", ("what", "value"), note=SELF_PLAY)
    table.add(
        "sum of the four bids",
        Estimate.of(log["bids"].sum(axis=1, dtype=np.int64), PAPER["sum of the four bids"], group=board),
    )
    table.add("legal cards a play", Estimate.of(legal, PAPER["legal cards a play"], group=play_boards))
    return table


def nil_facts(games: int, rounds: int, seed: int) -> ResultTable:
    """How often nil is bid and how it ends: ``games`` of each of ``PAIRS`` against itself, beside the paper's BIS+SRP.

    The last column is of ``rounds`` more rounds of noisy BIS.
    """
    note = (
        f"Each pair plays both sides. The paper's figures are of three BIS+SRP and a human. {SELF_PLAY} Nil values from"
        " 0.75 to 0.85 stand for 0.8; those nils are of noisy BIS, from whose games the success curves are learned."
    )
    table = ResultTable("Nils by bidder and player", ("agent", *NIL_FACTS), note=note)
    for name, (bidder, player) in PAIRS.items():
        policy = SpadesPolicy(bidder, player)
        log = rounds_log(play_games((policy, policy), 2 * np.arange(games), deals_seed("rounds", seed)))
        nil, board = log["bids"] == 0, log["board"]
        both = nil[:, ::2].any(axis=1) & nil[:, 1::2].any(axis=1)
        cells: list[Estimate | None] = [
            *nil_shares(log, np.ones_like(nil)),
            Estimate.of(100.0 * ~nil.any(axis=1), group=board),
            Estimate.of(100.0 * both, group=board),
            successes(log, nil & both[:, None]),
            figure_3_point(rounds, player, seed) if bidder == "bis" else None,
        ]
        facts = {column: cell for column, cell in zip(NIL_FACTS, cells, strict=True) if cell}
        if name == US:
            facts = {column: cell._replace(paper=PAPER[column]) for column, cell in facts.items()}
        table.rows.append({"agent": name, **facts})
    return table


def figure_3_point(rounds: int, player: PlayerName, seed: int) -> Estimate | None:
    """Per cent of the nils that succeed at the point that Figure 3 marks, of ``rounds`` rounds of noisy BIS."""
    nils = collect_nils(rounds, NOISE, load_curves(), player, deals_seed("nils", seed))
    at_point = (nils.sequence == SEQUENCE_ROWS[FIGURE_3_BIDS[0]]) & (abs(nils.value - 0.8) < 0.05)
    made = 100.0 * nils.success[at_point]
    return Estimate.of(made, group=nils.board[at_point]) if len(made) else None


def nil_table(log: States) -> ResultTable:
    """Table 3: average points and nils made, by who bid nil; ``H`` is one seat of the second partnership."""
    gains, nil, mine = gains_by_partnership(log), log["bids"] == 0, seats_of_first(log)
    ours, theirs = (nil & mine).sum(axis=1), (nil & ~mine).sum(axis=1)
    human = ~mine & (np.arange(4) < 2)
    kinds = {
        "BIS+BIS": (ours == 1) & (theirs == 0),
        "H": (ours == 0) & (theirs == 1) & (nil & human).any(axis=1),
        "partner of H": (ours == 0) & (theirs == 1) & ~(nil & human).any(axis=1),
        "nil vs. nil": (ours == 1) & (theirs == 1),
        "double nil": (ours == 2) | (theirs == 2),
        "no nil": (ours == 0) & (theirs == 0),
    }
    rows: list[Mapping[str, Any]] = []
    for name, chosen in kinds.items():
        row: dict[str, Any] = {"nil by": name, "rounds": int(chosen.sum())}
        paper = PAPER_TABLE_3[name]
        if row["rounds"] >= LEAST_ROUNDS:
            row |= {
                column: Estimate.of(gains[chosen, k], paper[k], group=log["board"][chosen])
                for k, column in enumerate(TABLE_3[2:4])
            }
        for column, side, percent in zip(TABLE_3[4:], (mine, ~mine), paper[2:]):
            of_side, seats = np.nonzero(nil & side & chosen[:, None])
            if len(of_side) >= LEAST_ROUNDS:
                made = 100.0 * (log["won"][of_side, seats] == 0)
                row[column] = Estimate.of(made, percent, group=log["board"][of_side])
        rows.append(row)
    note = f"Ours: BIS+SRP in all seats, so H is a BIS, too. The paper's H is a human. {SELF_PLAY}"
    return ResultTable("Table 3: points a round by nil", TABLE_3, rows, note)


def type_table(log: States) -> ResultTable:
    """Rounds and points of the five types without nil (appendix E)."""
    plain = log[(log["bids"] > 0).all(axis=1)]
    kinds = np.array([sum_type_row(int(total)) for total in plain["bids"].sum(axis=1, dtype=np.int64)])
    rows: list[Mapping[str, Any]] = []
    for k in range(5):
        of_kind = kinds == k
        row: dict[str, Any] = {"type": ROUND_TYPES[k], "rounds": int(of_kind.sum())}
        if row["rounds"] >= LEAST_ROUNDS:
            row["points"] = Estimate.of(plain["gains"][of_kind].mean(axis=1), group=plain["board"][of_kind])
        rows.append(row)
    return ResultTable("Rounds without nil by sum of bids", ("type", "rounds", "points"), rows, SELF_PLAY)


def figures(log: States, games: Games, rounds: int, seed: int) -> list[Figure]:
    """Figures 2 to 7; Figure 3 counts the nils of ``rounds`` more rounds."""
    bids = log["bids"].astype(np.int64)
    total, plain = bids.sum(axis=1), (bids > 0).all(axis=1)
    last = log["dealer"].astype(np.int64)  # the dealer bids last
    earlier = total - bids[np.arange(len(log)), last]
    branches = games.branches.sum(axis=0)[1:]
    legal, cards = list(range(1, len(branches) + 1)), 100 * branches / branches.sum()
    points, means = _means_by_key(total[plain], log["gains"][plain].mean(axis=1))
    sums, aces = _means_by_key(earlier, 100.0 * (log["ace"] == last))
    shares = 100 * np.bincount(total, minlength=22)[:22] / len(log)
    return [
        figure_2(log),
        figure_3(rounds, seed),
        Figure("Figure 4: points by sum of bids, rounds without nil", "line", points, {US: means}, SUM, "points"),
        Figure("Figure 5: sum of the four bids", "bars", list(range(22)), {US: shares.tolist()}, SUM, "% of rounds"),
        Figure("Figure 6: legal cards a play", "bars", legal, {US: cards.tolist()}, "legal cards", "% of plays"),
        Figure("Figure 7: the last bidder holds the ace of spades", "line", sums, {US: aces}, EARLIER, "%"),
    ]


def figure_2(log: States) -> Figure:
    """Points of a round with and without a nil of the partnership, per cent of either."""
    nil = np.stack([(log["bids"][:, [k, k + 2]] == 0).any(axis=1) for k in range(2)], axis=1)
    edges = np.arange(-250, 260, 10)
    series = {}
    for name, chosen in (("nil", nil), ("no nil", ~nil)):
        counts = np.histogram(log["gains"][chosen], edges)[0]
        series[name] = (100 * counts / max(1, counts.sum())).tolist()
    return Figure("Figure 2: points of a round", "line", edges[:-1].tolist(), series, "points", "% of rounds")


def figure_3(rounds: int, seed: int) -> Figure:
    """Counted and learned success of nils of the third bidder after a 3 on the right, by partner's bid."""
    curves, width = load_curves(), 0.1
    nils = collect_nils(rounds, NOISE, curves, "srp", seed)
    middle = np.arange(width / 2, 1, width)
    series: dict[str, list[float]] = {}
    for bids in FIGURE_3_BIDS:
        of_row = nils.sequence == SEQUENCE_ROWS[bids]
        bins = np.minimum((nils.value[of_row] / width).astype(np.int64), len(middle) - 1)
        attempts = np.bincount(bins, minlength=len(middle))
        successes = np.bincount(bins, nils.success[of_row], minlength=len(middle))
        frequency = np.where(attempts >= 5, 100 * successes / np.maximum(1, attempts), np.nan)
        series[f"partner {bids[0]}, counted"] = [float(x) for x in frequency]
        series[f"partner {bids[0]}, learned"] = [
            float(100 * chance_row(curves[0, SEQUENCE_ROWS[bids]], x)) for x in middle
        ]
    note = "Bins of fewer than five nils are left out."
    return Figure(
        "Figure 3: success of nil", "line", middle.round(2).tolist(), series, "nil value", "% successful", note
    )


def _means_by_key(key: I64, values: F64) -> tuple[list[int], list[float]]:
    """Keys of ``LEAST_ROUNDS`` values or more, and the mean of ``values`` at each."""
    keys = [int(k) for k in np.unique(key) if (key == k).sum() >= LEAST_ROUNDS]
    return keys, [float(values[key == k].mean()) for k in keys]


TITLES = {
    "rule-based": "Table 2: BIS against rule-based bidders, the same player on both sides",
    "uct": "Table 2: UCT in the last tricks",
    "ablation": "Table 4: BIS against itself without a component",
    "learned": "Beyond the paper: learned bids, SRP on both sides",
    "whole": "Beyond the paper: bids and cards learned",
    "rules": "Other rules: blind nil (appendix G) and the variants, SRP on both sides",
    "variants": "Beyond the paper: bids and cards learned, in games to 500 points",
}
SEARCH_GAMES = {"uct": 4_000, "whole": 1_000}  # most games of a row in which somebody searches
COLUMNS = (
    *("first : second", "win %", "points", "their points"),
    *("nil %", "nils made %", "their nil %", "their nils made %"),
)
NOTE = "Goal +200 / -100; points a round; each board is played both ways; ± standard error over the boards."
NOTES = {
    "rule-based": (
        f"{NOTE} BIS : RB is above the paper's figure because RB, with the printed limits of its nil rule, hardly bids"
        " nil (their nil %). With looser limits, under which it bids nil as often as BIS, less than a third of the lead"
        " is left, twice the paper's. MS has the same nil rule, and its row fits the printed limits: the paper's two"
        " figures do not fit one rule."
    ),
    "variants": NOTE.replace("Goal +200 / -100", "Goal 500; in cutthroat each has two of the four seats"),
}


def main(
    games: int = 10_000,
    rows: str = "rule-based",
    seed: int = 0,
    workers: int | None = None,
    ledger: str | Path | None = None,
    report: Report = silent,
) -> Measured:
    """The tables and figures.

    Args:
        games: of a row, rounded up to an even number, and of BIS against itself.
        rows: groups of ``TITLES`` with commas between them, or ``"all"``.
        seed: of deals and bidders.
        workers: threads (default: all); they change no result.
        ledger: file of finished rows, from which a stopped run goes on.
        report: called with the row that is played and how many of its games are done.

    Raises:
        ValueError: unknown ``rows``, or too few games.
    """
    groups = [*TITLES] if rows == "all" else rows.split(",")
    for group in groups:
        if group not in TITLES:
            raise ValueError(f"unknown rows {group!r}; choose from {', '.join((*TITLES, 'all'))}")
    if games < 2:
        raise ValueError(f"games must be at least 2 (each board is played both ways), got {games}")
    with kernel_threads(get_threads() if workers is None else workers):
        return _measured(groups, games + games % 2, seed, ledger, report)


def _measured(groups: Sequence[str], games: int, seed: int, ledger: str | Path | None, report: Report) -> Measured:
    compared = [row for row in comparisons() if row.group in groups]
    with Ledger(ledger, Row, Found) as rows_done:
        results = run_rows(compared, games, seed, report, rows_done)
    tables = [
        ResultTable(
            title,
            COLUMNS,
            [cells for row, cells in zip(compared, results, strict=True) if row.group == group],
            NOTES.get(group, NOTE),
        )
        for group, title in TITLES.items()
        if group in groups
    ]
    pictures: list[Figure] = []
    if "rule-based" in groups:
        bis = SpadesPolicy("bis", "srp")
        numbers = 2 * np.arange(games)  # the other way round is the same game
        self_play = play_games((bis, bis), numbers, deals_seed("rounds", seed))
        log = rounds_log(self_play)
        tables += [overview(log, self_play), nil_table(log), type_table(log)]
        tables.append(nil_facts(games, 100 * games, seed))
        pictures = figures(log, self_play, 20 * games, deals_seed("nils", seed))
    return tables, pictures


class Row(NamedTuple):
    """A row as a job of a ledger."""

    name: str
    games: int
    seed: int
    made_of: str  # digest of the row, its players and their code


class Found(NamedTuple):
    """What was found of a row, in the order of ``COLUMNS``: mean, error and number of boards, or nothing."""

    cells: list[list[float | NotFinite]]


def run_rows(
    chosen: Sequence[Comparison], games: int, seed: int, report: Report, ledger: Ledger[Row, Found] | None = None
) -> list[dict[str, Any]]:
    """The cells of each of the chosen rows; those that the ledger lacks are played."""
    ledger = ledger or Ledger(None, Row, Found)
    results = []
    for row in chosen:
        searches = any(part.kind == "uct" for part in (*row.bidders, *row.players)) or any(
            p.worlds for p in row.players
        )
        size, step = (min(games, SEARCH_GAMES[row.group]), CHUNK // 2) if searches else (games, CHUNK)
        pair = [SpadesPolicy(*each) for each in zip(row.bidders, row.players, strict=True)]
        made = (repr(row), source_digest(__name__), *map(made_of, pair)) if ledger.path else ()
        job = Row(row.name, size, seed, content_digest(made))
        if job not in ledger.done:
            parts, game = [], replace(paper_game(row.win_goal), **row.rules)
            for done in range(0, size, step):
                report(row.name, done, size)
                numbers = np.arange(done, min(done + step, size))
                parts.append(play_games((pair[0], pair[1]), numbers, deals_seed("tables", seed), game))
            ledger.add(job, Found(_found(Games(*map(np.concatenate, zip(*parts, strict=True))))))
        report(row.name, size, size)
        results.append(_cells(row, ledger.done[job]))
    return results


def _found(games: Games) -> list[list[Any]]:
    log = rounds_log(games)
    points, mine = gains_by_partnership(log), seats_of_first(log)
    estimates = [Estimate.of(100 * share_won(games.winner), group=games.states["board"])]
    estimates += [Estimate.of(points[:, k], group=log["board"]) for k in range(2)]
    shares = (*nil_shares(log, mine), *nil_shares(log, ~mine))
    return [[each.mean, each.error, each.n] if each else [] for each in (*estimates, *shares)]


def _cells(row: Comparison, found: Found) -> dict[str, Any]:
    """One row of a table, beside the paper's numbers."""
    numbers: list[Any] = found.cells
    papers = row.paper_win, *(row.paper_points or (None, None))
    cells: dict[str, Any] = {COLUMNS[0]: row.name}
    for column, cell, paper in zip_longest(COLUMNS[1:], numbers, papers):
        if cell:
            mean, error, boards = cell
            cells[column] = Estimate(mean, error, int(boards), paper)
    return cells

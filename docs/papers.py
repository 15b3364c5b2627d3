"""Every table and figure of the papers in ``shared/papers`` with ours beside it: ``docs/papers.md`` is made of this.

A ``Row`` is one result: our cell of a result file, and where the paper's figure stands in ``bidzoo/data/published``.
What the papers show without a figure of that kind is a ``Shown``. ``small`` is our command in little, which a test
runs; the whole one stands in the result file.
"""

import csv
import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bidzoo.benchmarks import results
from bidzoo.benchmarks.results import Estimate
from bidzoo.core.schema import csv_rows

RESULTS = Path(__file__).parent / "results"
result_file = cache(results.load)  # many rows have cells of the same one
published = cache(results.published)


class Cell(NamedTuple):
    """One number of a result file."""

    file: str  # without its ending
    table: str  # how its title begins
    row: tuple[str, ...]  # values of the first columns
    column: str

    def value(self) -> Any:
        """What stands there; ValueError names a cell that is missing."""
        tables = result_file(RESULTS / f"{self.file}.json")["tables"]
        for table in tables:
            if table.title.startswith(self.table):
                for row in table.rows:
                    if self.row == tuple(str(row.get(column)) for column in table.columns[: len(self.row)]):
                        return row[self.column]
        raise ValueError(f"{self.file}.json: no table {self.table!r} with a row {self.row} and {self.column!r}")


class Outside(NamedTuple):
    """The mean of an agent over the outside programs, of ``results/outside.csv``."""

    agent: str

    def value(self) -> Estimate:
        """IMPs a board."""
        return outside()[self.agent, "mean"]


@cache
def as_printed(name: str) -> list[dict[str, str]]:
    """``published``, its figures as the texts that the paper prints."""
    return [*csv_rows(results.PUBLISHED / f"{name}.csv")]


class Published(NamedTuple):
    """A figure of a paper: a cell of ``bidzoo/data/published``."""

    file: str
    row: dict[str, str]
    column: str

    def cells(self) -> dict[str, Any]:
        """Its row; ValueError names one that is missing."""
        for row in published(self.file):
            if all(str(row[name]) == text for name, text in self.row.items()):
                return row
        raise ValueError(f"published/{self.file}.csv: no row {self.row}")

    def value(self) -> float:
        """The figure."""
        return float(self.cells()[self.column])

    def rounding(self) -> float:
        """Half a unit of the last place that the paper prints."""
        printed = as_printed(self.file)[published(self.file).index(self.cells())][self.column]
        return 0.5 * 10.0 ** -len(printed.partition(".")[2])

    def error(self) -> float:
        """The standard error that the paper prints with it, or 0."""
        return float(self.cells().get("error") or 0)


class Row(NamedTuple):
    """One result of a paper, and ours."""

    item: str
    setting: str
    page: str  # where the whole table stands, from docs/
    ours: Cell | Outside
    paper: Published | None = None
    unlike: str = ""  # why the two are not comparable
    small: str = ""  # our command in little
    course: bool = False  # the figure describes the play: nothing is better for being greater


class Shown(NamedTuple):
    """What a paper shows without a figure to compare."""

    item: str
    shows: str
    ours: str
    page: str = ""
    small: str = ""


MET_OUTSIDE = {"rpi": "rpi-3"}  # agents whose network of then is what the outside programs met


@cache
def outside() -> dict[tuple[str, str], Estimate]:
    """IMPs a board by agent and outside program; the error is nan where none was noted."""
    with (RESULTS / "outside.csv").open(encoding="utf-8") as file:
        return {
            (row["agent"], row["program"]): Estimate(float(row["imps"]), float(row["error"] or math.nan), 4000)
            for row in csv.DictReader(file)
        }


WORST, COURSE = 2.0, 0.05


def verdict(row: Row) -> str:
    """Whether the paper's result holds with us; the page's first lines say by what rule."""
    if row.unlike:
        return f"not comparable: {row.unlike}"
    if row.paper is None:
        return "not comparable: no figure in the paper"
    ours, paper = row.ours.value(), row.paper.value()
    if row.course:
        return "holds" if abs(ours.mean - paper) <= COURSE * paper else "differs"
    error = math.hypot(ours.error if math.isfinite(ours.error) else 0.0, row.paper.error())
    if ours.mean < paper - WORST * error - row.paper.rounding():
        return "falls short"
    if row.paper.file == "claims" and ours.mean < WORST * ours.error:  # a gain that may be none
        return "falls short: may be no gain"
    return "holds"


ESTIMATED_77011 = "`estimated.npz`, which `bidzoo deals estimate 500000 --seed 77011 --out estimated.npz` makes"
NEEDS = {  # files outside the repository that a whole command reads, and how they are made
    "bridge-belief": "`runs/rl-auctions.npz`, which `bidzoo train record 300000 --policy rl --seed 88001 --out"
    " runs/rl-auctions.npz` makes",
    "bridge-jps-converged": ESTIMATED_77011,
    "bridge-jps-long": ESTIMATED_77011,
}

LONG, MINI = "simple_bidding_v0(size=16)", "minibridge_v0(size=5)"
GAMES = {row["game"]: "" for row in results.published("small-games")}
for _game in GAMES:
    _name, _, _options = _game.partition("_v0")
    _title = {
        "comm": "Comm",
        "mini_hanabi": "Mini-Hanabi",
        "simple_bidding": "Simple Bidding",
        "minibridge": "MiniBridge",
    }
    GAMES[_game] = "\u00a0".join([_title[_name], *filter(str.isdigit, [_options.rpartition("=")[2].rstrip(")")])])
TABULAR = "bench tabular --game mini_hanabi --seeds 2 --network-seeds 0 --workers 1"
ANALYSIS, SPADES = "bench bridge-analysis --agents sayc --boards 40", "bench spades --games 4 --rows rule-based"
ROBIN = "bench bridge --agents sl,rl --boards 20 --workers 1"
NOTATION = "Nothing is measured there"
DAYS = "Each cell is a training of days on two GPUs; a run of minutes tells nothing apart"
PROGRAMS = "six other programs"
LEARNED = "bench tabular --row CFR1k --game mini_hanabi --seeds 2 --network-seeds 0 --workers 1"


def small_game(method: str, page: str, file: str, table: str, small: str) -> tuple[Row, ...]:
    """A row of Table 1 of joint policy search: every game."""
    return tuple(
        Row(
            "Table 1",
            f"{method}, {name}",
            page,
            Cell(file, table, (game,), method),
            Published("small-games", {"game": game}, method),
            small=small,
        )
        for game, name in GAMES.items()
    )


def sampled(file: str, start: str, games: Iterable[str]) -> tuple[Row, ...]:
    """Rows of Table 2 of joint policy search."""
    return tuple(
        Row(
            "Table 2",
            f"{start}, {GAMES[game]}, {'JPS' if samples == 'all' else f'{samples} sampled'}",
            "agents/jps.md",
            Cell(file, "Table 2", (game, start, samples), "reward"),
            Published("sampled-jps", {"game": game, "start": start}, samples),
            small=TABULAR,
        )
        for game in games
        for samples in ("all", "1", "2", "5", "8", "15", "20", "25", "30")
    )


SEARCHED = ("non-search", "1-search, 1 %", "JPS, 1 %", "JPS, 5 %", "JPS, 10 %")
MOVES = " of moves"
BY_MOVES = ("non-search", *(f"{name}{MOVES}" for name in ("1-search, 1 %", "JPS, 1 %", "JPS, 5 %")))
EARLY = "the rate falls at its start, which wins as much without search"


def searched(
    setting: str, column: str, file: str, unlike: str = "", item: str = "Table 3", names: tuple[str, ...] = SEARCHED
) -> tuple[Row, ...]:
    """Rows of Table 3 of joint policy search, beside the paper's figures over the baseline that it goes on from."""
    return tuple(
        Row(
            item,
            f"{name}, {setting}",
            "agents/jps-bridge.md",
            Cell(file, "Share of searched games", (name,), column),
            None if unlike else Published("text", {"name": f"{name.removesuffix(MOVES)} over its baseline"}, "figure"),
            unlike,
        )
        for name in names
    )


def relation(item: str, file: str, first: str, second: str, page: str, small: str = "", setting: str = "") -> Row:
    """One agent against another."""
    words = f"{first} against {second}"
    cell = Cell(file, "The papers' relations", (words,), "ours")
    return Row(
        item, words + setting, page, cell, Published("claims", {"first": first, "second": second}, "imps"), small=small
    )


def spades(
    item: str,
    name: str,
    page: str = "agents/bis.md",
    small: str = SPADES,
    instead_of: str = "",
    file: str = "spades",
) -> Row:
    """Games won, %; ``instead_of`` is the row of the paper that another RB stands beside."""
    paper = Published("spades", {"name": instead_of or name}, "win")
    return Row(
        item,
        f"{name}, games won, %",
        page,
        Cell(file, "Table", (name,), "win %"),
        paper if paper.cells()["win"] is not None else None,
        "RB's nil limits are not the printed ones" if instead_of else "",
        small,
    )


def points(
    item: str, names: Iterable[str], page: str = "agents/bis.md", small: str = SPADES, file: str = "spades"
) -> tuple[Row, ...]:
    """Points a round of both sides in rows of Tables 2 and 4."""
    return tuple(
        Row(
            item,
            f"{name}, {column} a round",
            page,
            Cell(file, "Table", (name,), column),
            Published("spades", {"name": name}, column),
            small=small,
            course=True,
        )
        for name in names
        for column in ("points", "their points")
    )


def course(item: str, what: str) -> Row:
    """What happens in the games of BIS with SRP against itself."""
    cell = Cell("spades", "BIS+SRP against itself", (what,), "value")
    return Row(
        item, what, "agents/bis.md", cell, Published("text", {"name": what}, "figure"), small=SPADES, course=True
    )


def nil_fact(item: str, what: str) -> Row:
    """How often BIS with SRP bids nil against itself, or how often that succeeds."""
    paper = Published("text", {"name": what}, "figure")
    return Row(item, what, "agents/bis.md", nil_cell("BIS+SRP", what), paper, small=SPADES, course=True)


def nil_cell(agent: str, what: str) -> Cell:
    """A fact of the nils of an agent against itself."""
    return Cell("spades", "Nils by bidder and player", (agent,), what)


def nils(by: str, column: str, words: str) -> Row:
    """A cell of Table 3 of Bidding in Spades."""
    return Row(
        "Table 3",
        f"{by if by == 'no nil' else f'nil by {by}'}, {words}",
        "agents/bis.md",
        Cell("spades", "Table 3", (by,), column),
        Published("spades-nils", {"nil by": by}, column.removesuffix(" %")),
        "BIS plays the human's seat",
        SPADES,
    )


def wbridge5(item: str, agent: str, name: str) -> Row:
    """Against WBridge5, which runs on Windows alone and is not free to pass on."""
    paper = Published("text", {"name": f"{name} against WBridge5"}, "figure")
    return Row(item, f"{name}; ours `{agent}`", "agents/expert.md", Outside(agent), paper, PROGRAMS)


OFTEN_WRP, OFTEN_SRP = (f"BIS : RB that bids nil as often as BIS, {player}" for player in ("WRP", "SRP"))
THEIR_NIL = "their nil %"
ABLATIONS = [
    f"BIS : {name}" for name in ("single success curve", "no end-game conditions", "no end-game conditions, goal 1")
]
ABLATION = "bench spades --games 4 --rows ablation"
UCT = "bench spades --games 2 --rows uct"
SECTION_6 = {
    "BAD+JPS": ("tabular-bad", "BAD"),
    "CFR10k+JPS": ("tabular", "CFR10k"),
    "random+JPS": ("tabular", "random"),
}

PAPERS: dict[str, tuple[tuple[Row, ...], tuple[Shown, ...]]] = {
    "Joint policy search, small games (Tian, Gong and Jiang 2020): average reward": (
        (
            *small_game("CFR1k", "agents/cfr.md", "tabular", "Table 1: CFR1k", TABULAR),
            *small_game("CFR1k+JPS", "agents/jps.md", "tabular", "Table 1: CFR1k", TABULAR),
            *small_game("A2C", "agents/a2c-tabular.md", "tabular-a2c", "Table 1: A2C", LEARNED),
            *small_game("BAD", "agents/bad.md", "tabular-bad", "Table 1: BAD", LEARNED),
            *sampled("tabular", "CFR1k", ("mini_hanabi_v0()", LONG)),
            *sampled("tabular-bad", "BAD", (LONG, "minibridge_v0(size=3)", "minibridge_v0(size=4)", MINI)),
            *(
                Row(
                    "Equations 7, 8",
                    f"Simple Bidding\u00a016, 25 sampled, lambda {value}",
                    "agents/jps.md",
                    Cell("tabular", "Sampled JPS with the mean advantage", ("25",), f"lambda {value}"),
                    small=TABULAR,
                )
                for value in ("0.5", "1.0")
            ),
            *(
                Row(
                    "Section 6",
                    f"{name}, Simple Bidding\u00a016",
                    "agents/jps.md",
                    Cell(file, "JPS as a booster", (LONG, start), "after JPS"),
                    Published("small-games", {"game": LONG}, name) if name == "BAD+JPS" else None,
                    small=TABULAR,
                )
                for name, (file, start) in SECTION_6.items()
            ),
            Row(
                "Section 6",
                "CFR1k before it is purified, Simple Bidding\u00a016",
                "agents/jps.md",
                Cell("tabular", "JPS as a booster", (LONG, "CFR1k"), "mixed"),
                small=TABULAR,
            ),
        ),
        (
            Shown("Figure 1", "notation", NOTATION),
            Shown(
                "Table 1",
                "states, information sets, best known reward",
                "the same counts; the optimum, which is proved",
                "agents/exact.md",
            ),
            Shown("Figure 2", "gain of sampled JPS", "Table 2's, as a figure", "agents/jps.md", TABULAR),
            Shown(
                "Table 4 (appendix: 3)",
                "auctions of MiniBridge 4",
                "as printed, ours and an optimal policy",
                "agents/jps.md",
                "bench tabular --game minibridge(size=4) --seeds 2 --network-seeds 0 --workers 1",
            ),
            Shown(
                "Section 6",
                "speed of JPS beside brute force, 3 to 30 times",
                "37 to 867 times as fast as brute force",
                "agents/jps.md",
                LEARNED,
            ),
        ),
    ),
    "Joint policy search, bridge (Tian, Gong and Jiang 2020): IMPs a board": (
        (
            *searched("from a converged baseline", "over a2c-bridge", "bridge-jps-converged"),
            *searched("by the program, from a settled baseline", "over start", "bridge-jps-long", names=BY_MOVES),
            *searched("from an early baseline", "over a2c-early", "bridge-jps-runs", EARLY),
            *searched("over 10 baselines", "over 10 baselines", "bridge-jps-runs", EARLY, "Table 3, column 2"),
            relation("Section 7.3", "bridge-baseline19", "a2c-bridge", "baseline19", "agents/baseline19.md"),
            relation("Section 7.3", "bridge-baseline19", "jps-bridge", "baseline19", "agents/baseline19.md"),
            Row(
                "Section 7.2",
                "A2C over baseline16",
                "agents/baseline16.md",
                Cell("bridge-baseline16", "Cross table", ("a2c-bridge",), "baseline16"),
                Published("text", {"name": "A2C against baseline16"}, "figure"),
                "another baseline16",
                "bench bridge --only round-robin --agents sayc,baseline16 --boards 20 --workers 1",
            ),
            wbridge5("Table 7 (appendix: 6)", "a2c-bridge", "A2C"),
            wbridge5("Table 7 (appendix: 6)", "jps-bridge", "JPS"),
        ),
        (
            Shown("Table 5 (appendix: 4)", "belief loss, blocks, synchronisation", DAYS),
            Shown("Table 6 (appendix: 5)", "joint random exploration", DAYS),
            Shown(
                "Table 8 (appendix: 7)",
                "calls and final contracts",
                "every agent's, beside the paper's",
                "agents/jps-bridge.md",
                ANALYSIS,
            ),
            Shown(
                "Table 9 (appendix: 8)",
                "what opening bids mean",
                "every agent's, beside the paper's and SAYC",
                "agents/jps-bridge.md",
                ANALYSIS,
            ),
            Shown(
                "Figure 3, left",
                "the network",
                '`kind="jps"`, without the head of the partner\'s hand',
                "agents/a2c-bridge.md",
            ),
            Shown("Figure 3, right", "batch sizes", DAYS),
            Shown("Figure 4 (appendix: 3)", "an auction and a trick", NOTATION, "environments/bridge_v0.md"),
            Shown("Figure 5 (appendix: 4)", "the 267 bits", "`jps267`", "observations/bridge.md"),
            Shown(
                "Figure 6 (appendix: 5)",
                "calls an auction",
                "a figure of `bench bridge-analysis`",
                "agents/rpi.md",
                ANALYSIS,
            ),
        ),
    ),
    "Belief Monte Carlo search (Qiu et al. 2024): IMPs a board": (
        (
            wbridge5("Table III", "rl", "RL"),
            Row(
                "Table III",
                "RL-BMCS; ours `bmcs`",
                "agents/expert.md",
                Cell("bridge-experts", "Against held-out opponents", ("bmcs",), "held-out mean, IMPs a board"),
                Published("text", {"name": "RL-BMCS against WBridge5"}, "figure"),
                "imitations of two systems",
            ),
            relation("Table III", "bridge-pi", "pi-search", "pi", "agents/pi.md"),
            relation("Table III", "bridge-pi", "rl", "pi", "agents/pi.md"),
            relation("Table IV", "bridge-rl", "rl-short", "rl-no-pr", "agents/rl.md", ROBIN),
            relation("Table IV", "bridge-rl", "rl-short", "rl-no-hi", "agents/rl.md", ROBIN),
            relation("Table IV", "bridge-rl-search", "RL-MCS", "rl", "agents/bmcs.md"),
            relation("Table IV", "bridge-rl-search", "RL-BMCS", "rl", "agents/bmcs.md"),
            relation("Table IV", "bridge-rl-search", "RL-BMCS", "RL-MCS", "agents/bmcs.md"),
            relation("Table IV", "bridge-bmcs", "rl-mcs", "ppo", "agents/bmcs.md"),
            relation("Table IV", "bridge-bmcs", "bmcs", "ppo", "agents/bmcs.md"),
            relation("Table IV", "bridge-bmcs", "bmcs", "rl-mcs", "agents/bmcs.md"),
            relation("Figure 2", "bridge-rl", "rl", "sl", "agents/rl.md"),
            *(
                relation(
                    "Section VI",
                    "bridge-rl-nobody",
                    first,
                    second,
                    "agents/rl.md",
                    "bench bridge --only round-robin --agents sl,rl --boards 20 --nobody-vulnerable --workers 1",
                    ", nobody vulnerable",
                )
                for first, second in (("rl", "sl"), ("rl-short", "rl-no-pr"), ("rl-short", "rl-no-hi"))
            ),
            *(
                Row(
                    "Table II",
                    words,
                    "agents/belief.md",
                    Cell("bridge-belief", "Belief, in rl-auctions", ("all",), name),
                )
                for name, words in (
                    ("belief-rl", "belief network with these settings, nats an output"),
                    ("belief", "packaged belief network, nats an output"),
                )
            ),
        ),
        (
            Shown("Table I", "settings of RL", "the same but for those that `rl` lists", "agents/rl.md"),
            Shown(
                "Table V",
                "openings that conform to SAYC",
                "every agent's, beside both columns",
                "agents/bmcs.md",
                ANALYSIS,
            ),
            Shown("Table VI", "the 480 bits", "`bmcs480`", "observations/bridge.md"),
            Shown("Figure 1", "the stages of training", NOTATION, "agents/rl.md"),
            Shown("Figure 3", "loss of beliefs by calls made", "the table of 15 lengths", "agents/belief.md"),
            Shown(
                "Figures 4 and 5",
                "heat maps of openings and contracts",
                "figures of `bench bridge-analysis`",
                "agents/rpi.md",
                ANALYSIS,
            ),
            Shown("Figure 6", "calls an auction", "a figure of the same command", "agents/rpi.md", ANALYSIS),
            Shown("Figure 7", "a game", NOTATION, "environments/bridge_v0.md"),
            Shown(
                "Figures 8 to 10",
                "three boards against WBridge5",
                "only the hands are printed, not the other results of the deals; `explain()` comments on any board",
                "play.md",
            ),
        ),
    ),
    "Bidding in Spades (Cohensius et al. 2020)": (
        (
            spades("Table 2", "BIS : RB, WRP"),
            spades("Table 2", OFTEN_WRP, "agents/rb.md", instead_of="BIS : RB, WRP"),
            spades("Table 2", "BIS : MS, WRP"),
            spades("Table 2", "BIS : IO, WRP"),
            spades("Table 2", "BIS : RB, SRP"),
            spades("Table 2", OFTEN_SRP, "agents/rb.md", instead_of="BIS : RB, SRP"),
            spades("Table 2", "BIS : MS, SRP"),
            spades("Table 2", "BIS : IO, SRP"),
            spades("Table 2", "RB+SRP : RB+WRP", "agents/srp.md"),
            spades("Table 2", "BIS : RB, UCT(3)", "agents/uct.md", UCT, file="spades-uct"),
            spades("Table 2", "BIS : RB, UCT(5)", "agents/uct.md", UCT, file="spades-uct"),
            *points("Table 2", [f"BIS : {who}, {player}" for player in ("WRP", "SRP") for who in ("RB", "MS", "IO")]),
            *points("Table 2", ["BIS : RB, UCT(3)", "BIS : RB, UCT(5)"], "agents/uct.md", UCT, "spades-uct"),
            *(
                nils(by, column, words)
                for by, column, words in (
                    ("BIS+BIS", "points", "points"),
                    ("BIS+BIS", "nils made %", "nils made, %"),
                    ("partner of H", "their points", "points"),
                    ("partner of H", "their nils made %", "nils made, %"),
                    ("no nil", "points", "points"),
                )
            ),
            *(spades("Table 4", name, small=ABLATION) for name in ABLATIONS),
            *points("Table 4", ABLATIONS, small=ABLATION),
            nil_fact("Section 1", "nil bids, % of bids"),
            nil_fact("Section 1, Table 3", "successful nils, %"),
            Row(
                "Section 1",
                "successful nils of humans, %; ours BIS with WRP",
                "agents/wrp.md",
                nil_cell("BIS+WRP", "successful nils, %"),
                Published("text", {"name": "successful nils of humans, %"}, "figure"),
                "humans bid and play",
                SPADES,
            ),
            nil_fact("Table 3", "rounds without nil, %"),
            nil_fact("Table 3", "rounds with a nil on each side, %"),
            nil_fact("Table 3", "successful nils where each side has one, %"),
            nil_fact("Figure 3", "success after bids of 1 and 3, nil value 0.8, %"),
            course("Figure 5", "sum of the four bids"),
            course("Figure 6", "legal cards a play"),
            *(
                spades("Appendix F.3", f"RB+UCT({tricks}) : RB+SRP", "agents/uct.md", UCT, file="spades-uct")
                for tricks in (3, 8, 13)
            ),
            *(
                Row(
                    "Appendix G",
                    f"{name}, games won, %",
                    "agents/bis.md",
                    Cell("spades", "Other rules", (name,), "win %"),
                    small="bench spades --games 4 --rows rules",
                )
                for name in ("BIS : BIS that bids no blind nil", "BIS : no conventions, blind nil allowed")
            ),
        ),
        (
            Shown(
                "Table 1 (and 5, 6)",
                "chances that a high card is not cut",
                "counted exactly; the printed ones agree within 0.006",
                "agents/bis.md",
            ),
            Shown("Section 5.2", "56 % against humans", "No human plays here; recordings of theirs are not public"),
            Shown("Appendix G", "blind nil by the sum of the bids", "an idea in the paper, not written here"),
            Shown(
                "Figure 1",
                "a hand and its bid",
                "by its own terms; two printed numbers do not follow from them",
                "agents/bis.md",
            ),
            *(
                Shown(item, shows, "a figure of `bench spades`", "agents/bis.md", SPADES)
                for item, shows in (
                    ("Figure 2", "points with nil and without"),
                    ("Figure 3", "success of nil by its value, counted and learned"),
                    ("Figure 4", "points by sum of the bids"),
                    ("Figure 7", "the last bidder holds the ace of spades"),
                )
            ),
        ),
    ),
}


def wins(name: str, column: str = "win %") -> str:
    """A cell of Table 2 of Bidding in Spades, in a sentence."""
    return estimated(Cell("spades", "Table 2: BIS", (name,), column).value()) + "\u00a0%"


def said(file: str, row: dict[str, str], column: str) -> float:
    """A figure of a paper, in a sentence."""
    return Published(file, row, column).value()


def spades_notes() -> list[str]:
    """Why RB's rows and the shares of nils differ from the paper's; every number is read from the files."""
    printed, looser, other = "BIS : RB, SRP", "BIS : RB that bids nil up to 8, J, K, SRP", "BIS : MS, SRP"
    share = said("text", {"name": "nil bids, % of bids"}, "figure")
    without = said("text", {"name": "rounds without nil, %"}, "figure")
    return [
        f"**RB's nils.** With the printed limits of its nil rule (5, 8, ten) RB bids nil with"
        f" {wins(printed, THEIR_NIL)} of its hands, and BIS wins {wins(printed)} of the games. With 7, jack and queen"
        f" RB bids nil as often as BIS ({wins(OFTEN_SRP, THEIR_NIL)}; BIS {wins(OFTEN_SRP, 'nil %')}) and with 8, jack"
        f" and king more often ({wins(looser, THEIR_NIL)}), and BIS wins {wins(OFTEN_SRP)} and {wins(looser)}, where"
        f" the paper has {figure(said('spades', {'name': printed}, 'win'))}. MS has the same nil rule, and the paper's"
        f" {figure(said('spades', {'name': other}, 'win'))} against it fits the printed limits (ours {wins(other)};"
        f" with 8, jack and king {wins('BIS : MS that bids nil up to 8, J, K, SRP')}), so the paper's two figures do"
        f" not fit one rule. RB's other bids are not weak: BIS wins {wins('BIS : BIS that hardly bids nil, SRP')}"
        " against a BIS that hardly bids nil.",
        "",
        f"**Shares of nils.** BIS bids nil in {share:g} % of the rounds, the paper says, which we read as of its hands."
        f" Then its figures do not fit each other: four players of whom each bids nil with {share:g} % of the hands"
        f" have a nil in at most {4 * share:g} % of the rounds; its Table 3 has one in {100 - without:g} %.",
    ]


def bridge_notes() -> list[str]:
    """What the errors of Table 3 of joint policy search leave out."""
    both = Cell("bridge", "Cross table", ("jps-bridge",), "a2c-bridge").value()
    return [
        "**Errors of Table 3.** They are of runs with different seeds, which play the same 10,000 or 20,000 boards."
        f" What the boards add is the same in all rows: {both.error:.3f} by deal for `jps-bridge` against `a2c-bridge`"
        f" on {both.n:,} boards. Differences to the row without search are free of it.",
    ]


NOTES: dict[str, Callable[[], list[str]]] = {
    "Joint policy search, bridge (Tian, Gong and Jiang 2020): IMPs a board": bridge_notes,
    "Bidding in Spades (Cohensius et al. 2020)": spades_notes,
}

HEAD = """\
# The papers, row by row

The figures of the papers that bidzoo follows, with ours ± standard error. Our figures come from `docs/results/`, the
papers' from `bidzoo/data/published/`. The page in the last column shows the whole table with its command; Table 3 of
*Bidding in Spades* and the tables of openings, contracts and auctions stand there in full.

- **holds**: ours is not lower than the paper's by more than two standard errors (of both figures together, where the
  paper prints its own) and the paper's rounding. A figure far above the paper's holds too; its page says why where we
  know it. A figure that describes the play, for which more is not better, such as the mean sum of the bids or the
  points of both sides, holds within 5 %.
- **falls short**: ours is lower by more than that, or it is a gain over another agent that may be 0.
- **differs**: a figure that describes the play is further from the paper's.
- **not comparable**: the paper prints no figure, or the opponents, data or rules are not the same.
"""


def figure(value: float) -> str:
    """As the paper prints it."""
    return f"{value:g}".replace("-", "−")


def estimated(value: Estimate) -> str:
    """Ours, with its error."""
    return str(value._replace(paper=None)).replace(" ± ", "\u00a0±\u00a0").replace("-", "−")


def page() -> str:
    """``docs/papers.md``."""
    every = [row for rows, _ in PAPERS.values() for row in rows]
    verdicts = [verdict(row).partition(":")[0] for row in every]
    counts = ", ".join(f"{verdicts.count(word)} {words}" for word, words in WORDS.items())
    lines = [HEAD, f"Of {len(every)} rows {counts}."]
    for title, (rows, shown) in PAPERS.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| paper's table | setting | paper | ours ± error | verdict | page |",
            "|---|---|---|---|---|---|",
        ]
        marks: dict[str, str] = {}  # by what a command needs
        for row in rows:
            file = row.ours.file if isinstance(row.ours, Cell) else ""
            needed = NEEDS.get(file, "")
            if needed:
                marks.setdefault(needed, f"({'abcdefgh'[len(marks)]})")
            paper = figure(row.paper.value()) if row.paper else ""
            link = " ".join([f"[{Path(row.page).stem}]({row.page})", *filter(None, [marks.get(needed)])])
            lines.append(
                f"| {row.item} | {row.setting} | {paper} | {estimated(row.ours.value())} | {verdict(row)} | {link} |"
            )
        lines += ["", *(f"{mark} The command needs {needed}." for needed, mark in marks.items())] if marks else []
        lines += ["", *NOTES[title]()] if title in NOTES else []
        lines += [
            "",
            "Without a figure to compare:",
            "",
            "| paper's table | what it shows | in bidzoo | page |",
            "|---|---|---|---|",
        ]
        for item in shown:
            link = f"[{Path(item.page).stem}]({item.page})" if item.page else ""
            lines.append(f"| {item.item} | {item.shows} | {item.ours} | {link} |")
    return "\n".join(lines) + "\n"


WORDS = {"holds": "hold", "falls short": "fall short", "differs": "differ", "not comparable": "are not comparable"}

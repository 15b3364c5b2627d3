"""Every table and figure of the papers in ``shared/papers`` with ours beside it: ``docs/papers.md`` is made of this.

A row names what the paper shows and either cells of our result files, which stand beside the paper's numbers, or why
there is none. ``small`` is its command in little, which a test runs; the whole one stands in the result file.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bidzoo.benchmarks import results

RESULTS = Path(__file__).parent / "results"
result_file = cache(results.load)  # many rows have cells of the same one


class Cell(NamedTuple):
    """One number of a result file."""

    label: str
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


class Row(NamedTuple):
    """A table or figure of a paper."""

    item: str
    shows: str
    ours: str = ""  # in words, or why there is none
    page: str = ""  # where ours stands, from docs/
    small: str = ""  # our command in little
    cells: tuple[Cell, ...] = ()


def _tabular(row: str, game: str, file: str = "tabular", table: str = "Table 1: CFR1k") -> Cell:
    return Cell(f"{row}, {game}", file, table, (game,), row)


def _spades(first: str, column: str = "win %") -> Cell:
    return Cell(first, "spades", "Table", (first,), column)


def _relation(file: str, relation: str) -> Cell:
    return Cell(relation, file, "The papers' relations", (relation,), "ours")


def _searched(column: str, file: str = "bridge-jps-runs") -> tuple[Cell, ...]:
    rows = ("non-search", "1-search, 1 %", "JPS, 1 %", "JPS, 5 %", "JPS, 10 %")
    return tuple(Cell(row, file, "Share of searched games", (row,), column) for row in rows)


LONG, MINI = "simple_bidding_v0(size=16)", "minibridge_v0(size=5)"
NETWORKS = ("tabular-networks", "Table 1: A2C")
TABULAR = "bench tabular --game mini_hanabi --seeds 2 --network-seeds 0 --workers 1"
ANALYSIS, SPADES = "bench bridge-analysis --agents sayc --boards 40", "bench spades --games 4 --rows rule-based"
WBRIDGE5 = "WBridge5 runs on Windows alone and is not free to pass on; ours meet experts and outside programs"
NOTATION = "Nothing is measured there"
DAYS = "Each cell is a training of days on two GPUs; a run of minutes tells nothing apart"

PAPERS = {
    "Joint policy search: tables (Tian, Gong and Jiang 2020, and its appendix)": (
        Row(
            "Table 1",
            "CFR1k and CFR1k+JPS on small games",
            page="agents/cfr.md",
            small=TABULAR,
            cells=(_tabular("CFR1k", LONG), _tabular("CFR1k+JPS", LONG), _tabular("CFR1k+JPS", MINI)),
        ),
        Row(
            "Table 1",
            "A2C and BAD",
            page="agents/bad.md",
            small="bench tabular --row CFR1k --game mini_hanabi --seeds 2 --network-seeds 0 --workers 1",
            cells=(
                _tabular("A2C", LONG, "tabular-a2c", "Table 1: A2C"),
                _tabular("BAD", LONG, *NETWORKS),
                _tabular("BAD", MINI, *NETWORKS),
            ),
        ),
        Row(
            "Table 2",
            "JPS that samples states",
            page="agents/jps.md",
            small=TABULAR,
            cells=(
                Cell("CFR1k, 1 sample", "tabular", "Table 2", (LONG, "CFR1k", "1"), "reward"),
                Cell("CFR1k, 25 samples", "tabular", "Table 2", (LONG, "CFR1k", "25"), "reward"),
                Cell("BAD, 25 samples", "tabular-networks", "Table 2", (LONG, "BAD", "25"), "reward"),
            ),
        ),
        Row(
            "Table 3",
            "search in training, against the baseline it starts from; an early one",
            page="agents/jps-bridge.md",
            small="bench bridge --agents sl,rl --boards 20 --workers 1",
            cells=_searched("over a2c-early"),
        ),
        Row(
            "Table 3",
            "the same from a converged one",
            page="agents/jps-bridge.md",
            cells=_searched("over a2c-bridge", "bridge-jps-converged"),
        ),
        Row(
            "Table 3, second column",
            "against ten baselines of other seeds",
            page="agents/jps-bridge.md",
            cells=_searched("over 10 baselines"),
        ),
        Row(
            "Table 4 (appendix: 3)",
            "auctions of MiniBridge 4",
            "as printed, ours and an optimal policy",
            "agents/jps.md",
            "bench tabular --game minibridge(size=4) --seeds 2 --network-seeds 0 --workers 1",
        ),
        Row("Table 5 (appendix: 4)", "belief loss, blocks, synchronisation", DAYS),
        Row("Table 6 (appendix: 5)", "joint random exploration", DAYS),
        Row(
            "Table 7 (appendix: 6)",
            "against WBridge5",
            WBRIDGE5,
            "agents/expert.md",
            cells=(
                Cell(
                    "a2c-bridge, held-out mean",
                    "bridge-experts",
                    "Against held-out opponents",
                    ("a2c-bridge",),
                    "held-out mean, IMPs a board",
                ),
                Cell(
                    "jps-bridge, held-out mean",
                    "bridge-experts",
                    "Against held-out opponents",
                    ("jps-bridge",),
                    "held-out mean, IMPs a board",
                ),
            ),
        ),
        Row(
            "Table 8 (appendix: 7)",
            "calls and final contracts",
            "every agent's, beside the paper's",
            "agents/jps-bridge.md",
            ANALYSIS,
        ),
        Row(
            "Table 9 (appendix: 8)",
            "what opening bids mean",
            "every agent's, beside the paper's and SAYC",
            "agents/jps-bridge.md",
            ANALYSIS,
        ),
    ),
    "Joint policy search: figures and text": (
        Row("Figure 1", "notation", NOTATION),
        Row(
            "Equations 7 and 8",
            "the mean advantage in sampled JPS, lambda 0 in the paper's tables",
            "the paper has no figures for others",
            "agents/jps.md",
            TABULAR,
            tuple(
                Cell(
                    f"lambda {value}, 25 samples",
                    "tabular",
                    "Sampled JPS with the mean advantage",
                    ("25",),
                    f"lambda {value}",
                )
                for value in ("0", "0.5", "1.0")
            ),
        ),
        Row("Figure 2", "gain of sampled JPS", "Table 2's, as a figure", "agents/jps.md", TABULAR),
        Row(
            "Figure 3, left",
            "the network",
            '`kind="jps"`, without the head of the partner\'s hand',
            "agents/a2c-bridge.md",
        ),
        Row("Figure 3, right", "batch sizes", DAYS),
        Row("Figure 4 (appendix: 3)", "an auction and a trick", NOTATION, "environments/bridge_v0.md"),
        Row("Figure 5 (appendix: 4)", "the 267 bits", "`jps267`", "observations/bridge.md"),
        Row(
            "Figure 6 (appendix: 5)",
            "calls an auction",
            "a figure of `bench bridge-analysis`",
            "agents/rpi.md",
            ANALYSIS,
        ),
        Row(
            "Section 6",
            "BAD+JPS, random+JPS, CFR10k+JPS, CFR before it is purified",
            page="agents/jps.md",
            small=TABULAR,
            cells=(
                Cell("BAD+JPS", "tabular-networks", "JPS as a booster", (LONG, "BAD"), "after JPS"),
                Cell("CFR10k+JPS", "tabular-cfr10k", "JPS as a booster", (LONG, "CFR10k"), "after JPS"),
                Cell("CFR1k, mixed", "tabular-cfr10k", "JPS as a booster", (LONG, "CFR1k"), "mixed"),
                Cell("random+JPS", "tabular", "JPS as a booster", (LONG, "random"), "after JPS"),
            ),
        ),
        Row(
            "Section 6",
            "speed of JPS beside brute force",
            "the search is 37 to 867 times as fast; the paper's 3 to 30",
            "agents/jps.md",
            "bench tabular --game mini_hanabi --seeds 2 --network-seeds 0 --workers 1",
        ),
        Row(
            "Section 7.2",
            "A2C over baseline16, +2.99",
            "baseline16 is not their file",
            "agents/baseline16.md",
            "bench bridge --only round-robin --agents sayc,baseline16 --boards 20 --workers 1",
            (Cell("a2c-bridge over baseline16", "bridge-baseline16", "Cross table", ("a2c-bridge",), "baseline16"),),
        ),
    ),
    "Belief Monte Carlo search: tables (Qiu et al. 2024)": (
        Row("Table I", "settings of RL", "the same but for those that `rl` lists", "agents/rl.md"),
        Row(
            "Table II",
            "settings of the belief network",
            "in these settings from self-play of `rl`, beside the packaged network",
            "agents/belief.md",
            cells=tuple(
                Cell(f"{name}, nats an output", "bridge-belief", "Belief, in rl-auctions", ("all",), name)
                for name in ("belief-table-2", "belief")
            ),
        ),
        Row(
            "Table III",
            "RL, RL-BMCS and others against WBridge5 (*Simple* is the recipe of `a2c-bridge`)",
            WBRIDGE5,
            "agents/expert.md",
            cells=(
                Cell(
                    "rl, held-out mean",
                    "bridge-experts",
                    "Against held-out opponents",
                    ("rl",),
                    "held-out mean, IMPs a board",
                ),
                Cell(
                    "bmcs, held-out mean",
                    "bridge-experts",
                    "Against held-out opponents",
                    ("bmcs",),
                    "held-out mean, IMPs a board",
                ),
            ),
        ),
        Row(
            "Table IV",
            "No PR, No HI",
            page="agents/rl.md",
            small="bench bridge --agents sl,rl --boards 20 --workers 1",
            cells=(
                _relation("bridge-rl", "rl-short against rl-no-pr"),
                _relation("bridge-rl", "rl-short against rl-no-hi"),
            ),
        ),
        Row(
            "Table IV",
            "RL-MCS, RL-BMCS; over `ppo` too",
            page="agents/bmcs.md",
            cells=(
                _relation("bridge-rl-search", "RL-MCS against rl"),
                _relation("bridge-rl-search", "RL-BMCS against rl"),
                _relation("bridge-bmcs", "rl-mcs against ppo"),
                _relation("bridge-bmcs", "bmcs against ppo"),
            ),
        ),
        Row(
            "Table V",
            "openings that conform to SAYC",
            "every agent's, beside both columns",
            "agents/bmcs.md",
            ANALYSIS,
            (
                Cell("bmcs, all of them, %", "bridge-analysis", "bmcs: Openings", ("all of these",), "conform %"),
                Cell("rl, all of them, %", "bridge-analysis", "rl: Openings", ("all of these",), "conform %"),
            ),
        ),
        Row("Table VI", "the 480 bits", "`bmcs480`", "observations/bridge.md"),
    ),
    "Belief Monte Carlo search: figures": (
        Row("Figure 1", "the stages of training", NOTATION, "agents/rl.md"),
        Row(
            "Figure 2",
            "RL over SL as it learns",
            "`rl-stage1.csv` to `rl.csv`",
            "agents/rl.md",
            cells=(_relation("bridge-rl", "rl against sl"),),
        ),
        Row("Figure 3", "loss of beliefs by calls made", "the table of 15 lengths", "agents/belief.md"),
        Row(
            "Figures 4 and 5",
            "heat maps of openings and contracts",
            "figures of `bench bridge-analysis`",
            "agents/rpi.md",
            ANALYSIS,
        ),
        Row("Figure 6", "calls an auction", "a figure of the same command", "agents/rpi.md", ANALYSIS),
        Row(
            "Section VI",
            "nobody vulnerable, as in all of its experiments",
            page="agents/rl.md",
            small="bench bridge --only round-robin --agents sl,rl --boards 20 --nobody-vulnerable --workers 1",
            cells=tuple(
                _relation("bridge-rl-nobody", relation)
                for relation in ("rl against sl", "rl-short against rl-no-pr", "rl-short against rl-no-hi")
            ),
        ),
        Row("Figure 7", "a game", NOTATION, "environments/bridge_v0.md"),
        Row(
            "Figures 8 to 10",
            "three boards against WBridge5",
            "the hands are printed there, the deals' other results are not; `explain()` tells of any board",
            "play.md",
        ),
    ),
    "Bidding in Spades: tables (Cohensius et al. 2020)": (
        Row(
            "Table 1 (and 5, 6)",
            "chances that a high card is not cut",
            "counted exactly; the printed ones agree within 0.006",
            "agents/bis.md",
        ),
        Row(
            "Table 2",
            "BIS against RB, MS and IO",
            page="agents/bis.md",
            small=SPADES,
            cells=(
                _spades("BIS : RB, SRP"),
                _spades("BIS : MS, SRP"),
                _spades("BIS : IO, SRP"),
                _spades("BIS : RB, WRP"),
            ),
        ),
        Row(
            "Table 2",
            "UCT in the last tricks",
            page="agents/uct.md",
            small="bench spades --games 2 --rows uct",
            cells=(_spades("BIS : RB, UCT(3)"), _spades("BIS : RB, UCT(5)")),
        ),
        Row(
            "Appendix F.3",
            "UCT is stronger than SRP in the last tricks alone",
            "the paper has no figures",
            "agents/uct.md",
            "bench spades --games 2 --rows uct",
            tuple(
                Cell(f"{tricks} tricks, win %", "spades", "Table 2: UCT", (f"RB+UCT({tricks}) : RB+SRP",), "win %")
                for tricks in (3, 8, 13)
            ),
        ),
        Row(
            "Table 3",
            "rounds by who bid nil, with a human",
            "ours has a BIS in the human's seat",
            "agents/bis.md",
            SPADES,
            (
                Cell("BIS+BIS, points", "spades", "Table 3", ("BIS+BIS",), "points"),
                Cell("partner of H, points", "spades", "Table 3", ("partner of H",), "their points"),
                Cell("partner of H, nils made %", "spades", "Table 3", ("partner of H",), "their nils made %"),
            ),
        ),
        Row(
            "Table 4",
            "BIS without a component",
            page="agents/bis.md",
            small="bench spades --games 4 --rows ablation",
            cells=(
                _spades("BIS : single success curve"),
                _spades("BIS : no end-game conditions"),
                _spades("BIS : no end-game conditions, goal 1"),
            ),
        ),
        Row("Section 5.2", "56 % against humans", "No human plays here; recordings of theirs are not public"),
        Row(
            "Appendix G",
            "blind nil, Big 6, blind nil by the sum of the bids",
            "the paper has no numbers; the last is an idea there and not written here",
            "agents/bis.md",
            "bench spades --games 4 --rows rules",
            (
                Cell(
                    "BIS over BIS without blind nil",
                    "spades",
                    "Other rules",
                    ("BIS : BIS that bids no blind nil",),
                    "win %",
                ),
                Cell(
                    "without Big 5, Big 6",
                    "spades",
                    "Other rules",
                    ("BIS : no conventions, blind nil allowed",),
                    "win %",
                ),
            ),
        ),
    ),
    "Bidding in Spades: figures": (
        Row(
            "Figure 1",
            "a hand and its bid",
            "by its own terms; two printed numbers do not follow from them",
            "agents/bis.md",
        ),
        Row("Figure 2", "points with nil and without", "a figure of `bench spades`", "agents/bis.md", SPADES),
        Row(
            "Figure 3",
            "success of nil by its value, counted and learned",
            "a figure of `bench spades`",
            "agents/bis.md",
            SPADES,
        ),
        Row("Figure 4", "points by sum of the bids", "a figure of `bench spades`", "agents/bis.md", SPADES),
        Row(
            "Figure 5",
            "sum of the four bids",
            page="agents/bis.md",
            small=SPADES,
            cells=(Cell("mean", "spades", "BIS+SRP against itself", ("sum of the four bids",), "value"),),
        ),
        Row(
            "Figure 6",
            "legal cards a play",
            page="agents/bis.md",
            small=SPADES,
            cells=(Cell("mean", "spades", "BIS+SRP against itself", ("legal cards a play",), "value"),),
        ),
        Row(
            "Figure 7", "the last bidder holds the ace of spades", "a figure of `bench spades`", "agents/bis.md", SPADES
        ),
    ),
}


def page() -> str:
    """``docs/papers.md``."""
    lines = [
        "# The papers, row by row",
        "",
        "This page lists every table and figure of the papers that bidzoo follows, with our numbers beside theirs.",
        "They come from `docs/results/`; the command stands under the whole table, on the page that a row links to.",
    ]
    for title, rows in PAPERS.items():
        lines += ["", f"## {title}", "", "| there | what it shows | ours | where |", "|---|---|---|---|"]
        for row in rows:
            found = [f"{cell.label}: {results.text(cell.value())}" for cell in row.cells]
            ours = "; ".join([*([row.ours] if row.ours else []), *found])
            link = f"[{Path(row.page).stem}]({row.page})" if row.page else ""
            lines.append(f"| {row.item} | {row.shows} | {ours} | {link} |")
    return "\n".join(lines) + "\n"

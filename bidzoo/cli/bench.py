"""``bidzoo bench``: measure agents and environments; ``bidzoo report``: one HTML page of all results."""

from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bidzoo.cli.options import MOST_BOARDS, Json, Seed, Workers, agent_names, not_empty, output
from bidzoo.cli.showing import measured, say
from bidzoo.cli.stopping import suite_ledger

app = typer.Typer(invoke_without_command=True)

AGENTS = typer.Option(
    callback=not_empty,
    help="Agents, package.module:Name or files of weights, separated by commas; NAME=... gives one a name.",
    autocompletion=agent_names,
)
Agents = Annotated[str, AGENTS]
Boards = Annotated[int, typer.Option(min=2, max=MOST_BOARDS, help="Boards of every match.")]
SearchBoards = Annotated[
    int, typer.Option(min=2, max=MOST_BOARDS, help="Boards of matches with an agent that searches.")
]
Games = Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")]
Ledger = Annotated[
    Path | None,
    typer.Option(
        help="File of finished work, from which a stopped run resumes; default: in runs/, removed at the end."
    ),
]


@app.callback()
def overview(
    context: typer.Context,
    boards: Annotated[int, typer.Option(min=2, max=MOST_BOARDS, help="Boards of every bridge match.")] = 2000,
    workers: Workers = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Measure agents and environments.

    Without a subcommand a short benchmark: the papers' headline results beside ours, bridge agents against networks
    that imitate Polish club and Acol, the throughput. The options below are of that one; those of a subcommand come
    after its name.
    """
    from bidzoo.core.compiling import wait_always

    wait_always()
    if context.invoked_subcommand is not None:
        _refuse_before(context)
        return
    say("bench: each table as it is ready, all in three minutes on two idle cores")
    from bidzoo.benchmarks import overview

    measured("bench", seed, json, *overview.parts(boards, seed, workers))
    say("what falls short of the papers, and why: docs/benchmarks.md")
    say("next: bidzoo play (a table in the browser), bidzoo match rpi sayc, bidzoo report, bidzoo bench --help")


def _refuse_before(context: typer.Context) -> None:
    """Refuse the group's own options before a subcommand, which would ignore them."""
    sources = {option.opts[0]: context.get_parameter_source(option.name or "") for option in context.command.params}
    options = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if options:
        text, name = " and ".join(options), context.invoked_subcommand
        raise typer.BadParameter(f"{text} before {name!r}: options of a subcommand come after it, bench {name} --...")


@app.command()
def throughput(
    seconds: Annotated[float, typer.Option(min=0.001, help="Seconds per time slice.")] = 0.4,
    rounds: Annotated[int, typer.Option(min=1, help="Time slices per contestant; the fastest counts.")] = 5,
    game: Games = None,
    peers: Annotated[bool, typer.Option(help="Measure OpenSpiel too, where it is installed.")] = True,
    json: Json = None,
) -> None:
    """Decisions a second of every environment, beside OpenSpiel, all in one run."""
    from bidzoo.benchmarks import throughput

    measured("throughput", 1, json, lambda _: throughput.main(seconds, rounds, game, peers))


@app.command()
def tabular(
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of CFR1k, CFR1k+JPS, random+JPS (the paper: 1000).")] = 10,
    network_seeds: Annotated[
        int, typer.Option(min=0, help="Seeds of A2C, BAD (the paper: 10, 50); 0 leaves them out.")
    ] = 1,
    row: Annotated[list[str] | None, typer.Option(help="Only this row of Table 1; may be repeated.")] = None,
    game: Games = None,
    workers: Workers = 2,
    ledger: Ledger = None,
    json: Json = None,
) -> None:
    """Table 1, Table 2, Figure 2 and appendix C of Joint Policy Search, ours beside the paper's."""
    from bidzoo.benchmarks import tabular

    with suite_ledger(ledger, "tabular", seeds, network_seeds, row, game) as path:
        measured(
            "tabular", 0, json, lambda report: tabular.main(seeds, network_seeds, row, game, workers, path, report)
        )


@app.command()
def spades(
    games: Annotated[int, typer.Option(min=2, max=MOST_BOARDS, help="Games per row.")] = 10_000,
    rows: Annotated[
        str, typer.Option(help="Rows to measure: rule-based, uct, ablation, learned, whole, rules, or all.")
    ] = "rule-based",
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of threads; results do not depend on it.")] = None,
    ledger: Ledger = None,
    json: Json = None,
) -> None:
    """The tables and figures of Bidding in Spades, ours beside the paper's."""
    from bidzoo.benchmarks import spades

    with suite_ledger(ledger, "spades", games, rows, seed) as path:
        measured("spades", seed, json, lambda report: spades.main(games, rows, seed, workers, path, report))


@app.command()
def bridge(
    agents: Annotated[str | None, AGENTS] = None,
    boards: Boards = 10_000,
    nobody_vulnerable: Annotated[
        bool, typer.Option("--nobody-vulnerable", help="Play boards of the test deals on which nobody is vulnerable.")
    ] = False,
    search_boards: SearchBoards = 200,
    only: Annotated[Literal["experts", "round-robin"] | None, typer.Option(help="Only these tables.")] = None,
    ledger: Ledger = None,
    workers: Workers = 2,
    seed: Seed = 0,
    every: Annotated[
        bool, typer.Option("--all", help="Show also the columns that do not fit into the first table.")
    ] = False,
    json: Json = None,
) -> None:
    """Bridge agents against the experts of four systems, then a round robin, duplicate, in IMPs a board; the papers'
    relations beside ours.

    Without --agents the experts meet sayc, sl, sl-wide, a2c-bridge, jps-bridge, baseline19, rl, ppo, rpi and bmcs, and
    the round robin is of random, pass, sayc, sl, a2c-bridge, jps-bridge, baseline19, rl, ppo, rl-mcs and bmcs. With
    --agents those play in both; one alone meets the experts only. The ablations are files in the repository's
    experiments/weights.
    """
    from bidzoo.agents import names_in
    from bidzoo.benchmarks import bridge, experts

    entries = [bridge.contestant(name) for name in names_in(agents)] if agents else []
    if len(entries) == 1:
        only = only or "experts"
    asked = (agents, boards, nobody_vulnerable, search_boards, only, seed)
    with suite_ledger(ledger, "bridge", *asked) as path:
        options = bridge.Options(boards, seed, nobody_vulnerable, search_boards, workers, path)
        suites: dict[str, Any] = {"experts": experts, "round-robin": bridge}
        works = [
            partial(suite.main, entries or suite.DEFAULT, options)
            for name, suite in suites.items()
            if only in (None, name)
        ]
        measured("bridge", seed, json, *works, every=every)


@app.command("bridge-analysis")
def bridge_analysis(
    agents: Agents = "sayc",
    boards: Boards = 10_000,
    pictures: Annotated[Path | None, output("Folder for the figures as PNG.", folder=True)] = None,
    search_boards: SearchBoards = 200,
    workers: Workers = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Openings, conformity to SAYC, calls, contracts and length of the auctions between four of an agent."""
    from bidzoo.agents import names_in
    from bidzoo.benchmarks import bridge_analysis

    if pictures is not None:
        import_module("matplotlib")  # which draws them: without it the work would be for nothing
    names = names_in(agents)
    _, figures = measured(
        "bridge-analysis", seed, json, lambda _: bridge_analysis.main(names, boards, seed, workers, search_boards)
    )
    if pictures is not None:
        from bidzoo.benchmarks import report

        report.pictures(figures, pictures)


@app.command("bridge-cost")
def bridge_cost(
    agents: Agents = "pass,sayc,sl,sl-wide,rl,ppo",
    boards: Boards = 10_000,
    workers: Workers = 1,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Bridge without competition: IMPs below the best contract of the two hands."""
    from bidzoo.agents import names_in
    from bidzoo.benchmarks import bridge_cost

    names = names_in(agents)
    measured("bridge-cost", seed, json, lambda report: bridge_cost.main(names, boards, seed, workers, report))


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Result files, leaderboard entries, curves.csv, match records; default: all but records in runs/."
        ),
    ] = None,
    out: Annotated[Path, output("The page to write.", ".html", ".htm")] = Path("runs/report.html"),
) -> None:
    """Turn what commands wrote into one self-contained HTML page."""
    from bidzoo.benchmarks import report

    found = (Path("runs").glob(pattern) for pattern in ("*.json", "leaderboard/*.json", "**/curves.csv"))
    count = report.main(files or sorted(chain.from_iterable(found)), out)
    say(f"{count} result files in {out}")

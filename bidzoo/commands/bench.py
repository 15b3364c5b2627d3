"""``bidzoo bench``: measure agents and environments."""

from pathlib import Path
from typing import Annotated

import typer

from bidzoo.commands.output import finish, progress
from bidzoo.commands.train.options import Device, Threads

app = typer.Typer(invoke_without_command=True, help="Measure agents and environments.")

Json = Annotated[Path | None, typer.Option("--json", help="Result file; default: runs/, named after the suite.")]
Seed = Annotated[int, typer.Option(min=0, help="Of deals and policies.")]


@app.callback()
def main_job(
    context: typer.Context,
    pbn: Annotated[
        Path | None,
        typer.Option("--deals", "--pbn", help="A .pbn, .lin or .npz file with tables; default: the packaged sample."),
    ] = None,
    boards: Annotated[int, typer.Option(min=2, help="Boards of the test split in the duplicate match.")] = 2000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Without a subcommand: the reference policies on real deals, the small games, the throughput."""
    if context.invoked_subcommand is not None:
        return
    from bidzoo.benchmarks import tour

    finish("bench", *tour.main(pbn, boards, seed), seed, json)


@app.command()
def throughput(
    seconds: Annotated[float, typer.Option(help="Length of a slice.")] = 0.4,
    rounds: Annotated[int, typer.Option(min=1, help="Slices of each contestant; the median counts.")] = 5,
    game: Annotated[list[str] | None, typer.Option(help="Only this environment; may be repeated.")] = None,
    peers: Annotated[bool, typer.Option(help="Also OpenSpiel, Pgx, RLCard, PettingZoo where installed.")] = True,
    json: Json = None,
) -> None:
    """Decisions a second of every environment, beside other suites, all in one run."""
    from bidzoo.benchmarks import throughput

    finish("throughput", *throughput.main(seconds, rounds, game, peers), 1, json)


@app.command()
def tabular(
    seeds: Annotated[int, typer.Option(min=1, help="Of CFR1k, CFR1k+JPS and random+JPS (the paper: 1000).")] = 10,
    network_seeds: Annotated[int, typer.Option(min=0, help="Of A2C, BAD (the paper: 10, 50); 0 leaves them out.")] = 1,
    row: Annotated[list[str] | None, typer.Option(help="Only this row of Table 1; may be repeated.")] = None,
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    workers: Annotated[int, typer.Option(help="Processes; they change no result.")] = 2,
    ledger: Annotated[Path | None, typer.Option(help="Finished jobs; an interrupted run goes on from it.")] = None,
    json: Json = None,
) -> None:
    """Table 1, Table 2, Figure 2 and appendix C of Joint Policy Search, ours beside the paper's."""
    from bidzoo.benchmarks import tabular

    with progress() as report:
        result = tabular.main(seeds, network_seeds, row, game, workers, ledger, report)
    finish("tabular", *result, 0, json)


@app.command()
def spades(
    games: Annotated[int, typer.Option(min=2, help="Games a row.")] = 10_000,
    rows: Annotated[str, typer.Option(help="rule-based, uct, ablation, learned or all.")] = "rule-based",
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(help="Threads; they change no result.")] = None,
    json: Json = None,
) -> None:
    """The tables and figures of Bidding in Spades, ours beside the paper's."""
    from bidzoo.benchmarks import spades

    with progress() as report:
        result = spades.main(games, rows, seed, workers, report)
    finish("spades", *result, seed, json)


@app.command()
def bridge(
    agents: Annotated[
        str, typer.Option(help="Names, or NAME=FILE for own weights, with commas; default: all, and the ablations.")
    ] = "",
    boards: Annotated[int, typer.Option(min=2, help="Boards of every match.")] = 10_000,
    fresh: Annotated[bool, typer.Option(help="Random deals; contracts are solved when reached, and kept.")] = False,
    cache: Annotated[Path, typer.Option(help="Double-dummy results of --fresh.")] = Path("runs/double-dummy.cache"),
    search_boards: Annotated[int, typer.Option(min=2, help="Boards of a match in which an agent searches.")] = 200,
    ledger: Annotated[Path | None, typer.Option(help="What searching agents played; a killed run goes on.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that search or solve; they change no result.")] = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Every bridge agent against every other, duplicate, in IMPs a board; the papers' relations beside ours."""
    from bidzoo.benchmarks import bridge

    entries = [bridge.contestant(name) for name in agents.split(",")] if agents else bridge.DEFAULT
    with progress() as report:
        result = bridge.main(
            entries, boards, seed, fresh, workers, cache, report, search_boards=search_boards, ledger=ledger
        )
    finish("bridge", *result, seed, json)


@app.command("bridge-analysis")
def bridge_analysis(
    agents: Annotated[str, typer.Option(help="Names, or NAME=FILE for own weights, with commas.")] = "sayc",
    boards: Annotated[int, typer.Option(min=2, help="Auctions between four of each agent.")] = 10_000,
    pictures: Annotated[Path | None, typer.Option(help="Folder for the figures as PNG.")] = None,
    search_boards: Annotated[int, typer.Option(min=2, help="Auctions of an agent that searches.")] = 200,
    workers: Annotated[int, typer.Option(help="Processes that search; they change no result.")] = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Openings, conformity to SAYC, calls, contracts and length of the auctions of an agent."""
    from bidzoo.benchmarks import bridge_analysis, report

    result = bridge_analysis.main(agents.split(","), boards, seed, workers, search_boards)
    if pictures is not None:
        report.pictures(result[1], pictures)
    finish("bridge-analysis", *result, seed, json)


@app.command("bridge-search")
def bridge_search(
    positions: Annotated[int, typer.Option(min=2, help="Decisions with more than one likely call.")] = 200,
    deals: Annotated[int, typer.Option(min=2, help="By which a call is chosen; as many value the choice.")] = 60,
    workers: Annotated[int, typer.Option(help="Processes that solve.")] = 2,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """How long a searched call takes, and what the double-dummy network costs against the solver."""
    from bidzoo.benchmarks import bridge_search

    with progress() as report:
        result = bridge_search.main(positions, deals, seed, workers, report)
    finish("bridge-search", *result, seed, json)


@app.command("selfplay")
def bridge_selfplay(
    network: Annotated[
        list[str] | None, typer.Option(help="none, a packaged network, or DEPTHxWIDTH; may be repeated.")
    ] = None,
    boards: Annotated[list[int] | None, typer.Option(min=1, help="Boards of a batch; may be repeated.")] = None,
    device: Device = "cpu",
    threads: Threads = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Batches of each size; the fastest counts.")] = 3,
    limit: Annotated[float, typer.Option(help="Seconds of a batch after which larger ones are left out.")] = 20.0,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Decisions a second of the self-play that trains bridge networks, and what they are spent on."""
    from bidzoo.benchmarks import bridge_selfplay

    chosen, sizes = network or bridge_selfplay.NETWORKS, boards or bridge_selfplay.BOARDS
    with progress() as report:
        result = bridge_selfplay.main(chosen, sorted(sizes), device, threads, rounds, limit, seed, report)
    finish("selfplay", *result, seed, json)

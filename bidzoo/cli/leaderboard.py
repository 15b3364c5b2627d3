"""``bidzoo leaderboard``: enter an agent, verify somebody else's entry, rank entries."""

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from bidzoo.cli.options import (
    BaseUrl,
    SeatOptions,
    Timeout,
    Workers,
    agent,
    agent_names,
    output,
    seated,
    workers_beside,
)
from bidzoo.cli.showing import in_runs, plain_name, progress, say
from bidzoo.cli.stopping import suite_ledger
from bidzoo.core.schema import visible
from bidzoo.core.storage import check_writable

if TYPE_CHECKING:
    from bidzoo.benchmarks.leaderboard import Challenge
    from bidzoo.language import Seated

app = typer.Typer(no_args_is_help=True, help="Challenges with fixed boards and opponents: enter, verify, rank.")


def _challenges(incomplete: str) -> list[str]:
    from bidzoo.benchmarks.leaderboard import CHALLENGES

    return [name for name in CHALLENGES if name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Argument(metavar="CHALLENGE", help="Name of the challenge, such as bridge-2026.", autocompletion=_challenges),
]


@app.command()
def challenges() -> None:
    """Every challenge: its game, its boards, its opponents."""
    from bidzoo.benchmarks import leaderboard, printing, results

    columns = ["challenge", "game", "options", "opponents", "boards", "seed", "unit"]
    table = results.ResultTable("Challenges", columns)
    for challenge in leaderboard.CHALLENGES.values():
        game_options = " ".join(f"{name}={value}" for name, value in challenge.options.items())
        game, opponents = (challenge.env_id, game_options), ", ".join(challenge.opponents)
        table.add(challenge.name, *game, opponents, challenge.boards, str(challenge.seed), challenge.unit)
    printing.show([table])


@app.command()
def enter(
    challenge: Name,
    agent: Annotated[str, agent(metavar="AGENT")],
    source: Annotated[
        str, typer.Option(help="Where others get the agent; default: the package it comes from, with its version.")
    ] = "",
    json: Annotated[Path | None, output("File of the entry; default: in runs/leaderboard/.", ".json")] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="File of a slow agent's boards, or of a language model's answers, from which a stopped run"
            " resumes; default: in runs/."
        ),
    ] = None,
    workers: Workers = 2,
    base_url: BaseUrl = None,
    seat: SeatOptions = None,
    timeout: Timeout = None,
) -> None:
    """Play an agent on all boards of a challenge and write its entry."""
    from bidzoo.benchmarks import leaderboard, printing

    the_challenge = leaderboard.challenge_named(challenge)
    workers = workers_beside([agent], workers, default=2)
    models = seated([agent], base_url, seat, ledger, timeout)
    _told(models, the_challenge)
    with (
        models,
        suite_ledger(None if models else ledger, f"leaderboard-{challenge}", agent) as ledger_path,
        progress() as report,
    ):
        check_writable(json or Path("runs", "leaderboard", "entry.json"))  # before the work
        entry = leaderboard.enter(the_challenge, agent, source, workers, ledger_path, report)
        path = json or in_runs(f"leaderboard/{challenge}-{plain_name(entry.name)}", agent, ending=".json")
        leaderboard.save(path, entry)  # before the ledger is removed
    printing.show([leaderboard.ranking(the_challenge, [entry])])
    say(f"{entry.name}: {entry.seconds:.0f} s, written to {path}")


def _told(models: "Seated", challenge: "Challenge") -> None:
    """Language ``models`` are told the game of ``challenge``, and what counts in it."""
    if models:
        from bidzoo.language import IMPS

        models.game, models.scoring = challenge.game, IMPS if challenge.unit.startswith("IMPs") else ""


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="File of an entry.")],
    boards: Annotated[int, typer.Option(min=1, help="Boards played again against each opponent.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the sample of boards; default: a new one.")] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent, if it has another name here; ledger:FILE for a language model.", autocompletion=agent_names
        ),
    ] = None,
    workers: Workers = 2,
) -> None:
    """Play some boards of an entry again and compare the results; status 0 if all are the same.

    An agent that is not bidzoo's runs only if --agent names it, or after a question.
    """
    from bidzoo import agents
    from bidzoo.benchmarks import leaderboard
    from bidzoo.core.streams import random_seed

    entry, draw_seed = leaderboard.load(file), random_seed() if seed is None else seed
    if agent is None and not agents.is_own(entry.agent):
        if not sys.stdin or not sys.stdin.isatty():
            way = f"to run its code say --agent {quote(entry.agent)}"
            raise ValueError(f"{file}: agent {entry.agent!r} is not bidzoo's; {way}")
        typer.confirm(f"{visible(str(file))} names {entry.agent!r}, which is not bidzoo's. Run its code?", abort=True)
        agent = entry.agent
    played = agent or entry.agent
    workers = workers_beside([played], workers, default=2)
    with seated([played]) as models, progress() as report:
        _told(models, leaderboard.challenge_named(entry.challenge))
        checks = leaderboard.verify(entry, boards, draw_seed, agent, workers, report)
    for check in checks:
        same = len(check.boards) - len(check.wrong)
        places = f"; other values on boards {' '.join(map(str, check.wrong))}" if len(check.wrong) else ""
        say(f"against {check.opponent}: {same} of {len(check.boards)} boards the same{places}")
    bad = sum(len(check.wrong) for check in checks)
    say(f"{file}: {entry.name} in {entry.challenge}, {'not ' * bool(bad)}verified (seed {draw_seed})")
    if bad:
        raise typer.Exit(1)


@app.command()
def rank(files: Annotated[list[Path], typer.Argument(help="Files of entries.")]) -> None:
    """Print the table of each challenge that the files belong to."""
    from bidzoo.benchmarks import leaderboard, printing

    entries = [leaderboard.load(file) for file in files]
    printing.show(
        [
            leaderboard.ranking(challenge, its_entries)
            for name, challenge in leaderboard.CHALLENGES.items()
            if (its_entries := [entry for entry in entries if entry.challenge == name])
        ]
    )

"""The command line: ``bidzoo`` or ``python -m bidzoo``. Every group of commands is a file in ``commands/``."""

import os
import sys
from typing import Annotated

import typer

from bidzoo.commands import bench, bluechip, deals, match, play, report, train

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Bidding games and their agents: bench, train, match, play.",
    pretty_exceptions_enable=False,
)
app.add_typer(bench.app, name="bench")
app.add_typer(deals.app, name="deals")
app.add_typer(train.app, name="train")
app.add_typer(play.app, name="play")
app.add_typer(bluechip.app, name="bluechip")
app.command("match")(match.match)
app.command("replay")(match.replay)
app.command("report")(report.report)


@app.callback()
def everywhere(
    backend: Annotated[
        str, typer.Option(envvar="BIDZOO_BACKEND", help="Where --workers are: loky (this machine), ray or dask.")
    ] = "loky",
) -> None:
    """Bidding games and their agents: bench, train, match, play."""
    os.environ["BIDZOO_BACKEND"] = backend


@app.command("list")
def list_all() -> None:
    """Every environment and agent by name."""
    from rich.console import Console
    from rich.table import Table

    from bidzoo import agents, registry

    games = Table("environment", "Gymnasium id", "what it is", title="Environments", title_justify="left")
    for env_id, entry in registry.GAMES.items():
        games.add_row(env_id, entry.gymnasium_id, entry.summary)
    names = Table("agent", "what it is", "plays", title="Agents", title_justify="left")
    for name, agent in agents.AGENTS.items():
        names.add_row(name, agent.summary, ", ".join(agent.games))
    Console().print(games, names)


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 2."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin while they wait starve a shared machine
    try:
        app()
    except (ValueError, KeyError, FileNotFoundError) as problem:
        text = problem.args[0] if isinstance(problem, KeyError) else problem
        sys.stderr.write(f"bidzoo: {text}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()

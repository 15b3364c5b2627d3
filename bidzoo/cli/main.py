"""The command line: ``bidzoo`` or ``python -m bidzoo``. Every group of commands is a file of ``bidzoo.cli``."""

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from json import dumps
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bidzoo import __version__
from bidzoo.cli import (
    bench,
    bluechip,
    compiling,
    deals,
    exploit,
    leaderboard,
    match,
    options,
    play,
    settings,
    showing,
    stopping,
    train,
)
from bidzoo.core import plugins
from bidzoo.core.jobs import WorkersDiedError
from bidzoo.core.options import UnknownOptionError, choose_from
from bidzoo.core.schema import LETTERS, visible

EXTRAS = {  # what to install for a package that is missing
    **dict.fromkeys(("torch", "matplotlib"), "train"),
    **dict.fromkeys(("stable_baselines3", "sb3_contrib"), "sb3"),
    **dict.fromkeys(("dask", "distributed"), "cluster"),
    "PIL": "picture",
    "openai": "language",
    "pyspiel": "openspiel",
}


WAITING = "play", "bluechip"  # commands that wait for people or other programs, and say themselves what goes on


class Group(TyperGroup):
    """A group whose help has a whole sentence for each command."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Names and first sentences; click cuts these to one line."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in commands if command])


PLAIN: dict[str, Any] = {  # of a command line
    "cls": Group,
    "no_args_is_help": True,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # frames cost a third of the time and half of the width
}
app = typer.Typer(
    **{**PLAIN, "no_args_is_help": False}, invoke_without_command=True, context_settings={"max_content_width": 120}
)


def _version(asked: bool) -> None:
    if asked:
        showing.say(f"bidzoo {__version__}")
        raise typer.Exit


@app.callback()
def everywhere(
    context: typer.Context,
    backend: Annotated[
        str, typer.Option(envvar="BIDZOO_BACKEND", help="Where --workers run: loky (this machine) or dask (a cluster).")
    ] = "loky",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Bidding games and the agents that play them: look, play, compare, measure, train."""
    if context.invoked_subcommand is None:  # alone it is a question, not a slip
        showing.say(context.get_help())
        raise typer.Exit
    os.environ["BIDZOO_BACKEND"] = backend
    plugins.working_folder = os.getcwd()  # agents are named ``module:Name`` from the folder that one works in
    if context.invoked_subcommand not in WAITING:
        context.with_resource(showing.never_silent())


@app.command("list")
def list_all(
    name: Annotated[
        str | None,
        typer.Argument(help="Only this agent or environment, with its options.", autocompletion=options.all_names),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(help="Only this game and its agents, such as spades.", autocompletion=options.game_names),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with the strength of each agent.")] = False,
) -> None:
    """Every environment and agent: what it is, how strong, how fast, and where it comes from."""
    from bidzoo import agents, registry

    if name is not None:
        if game is not None or json:
            raise ValueError(f"{name}: expected without --game and --json")
        _show_one(name)
        return
    env_id = None if game is None else registry.game_id(game)
    games = [
        {"id": name, "gymnasium": entry.gymnasium_id, "summary": registry.summary(name), "source": entry.source}
        for name, entry in registry.entries().items()
        if env_id in (None, name)
    ]
    named = [
        {"name": name, "group": entry.group, "games": list(entry.games), "summary": entry.summary}
        | {"paper": entry.paper, "needs": entry.needs, "source": entry.source, **_measured(name, env_id)}
        for name, entry in agents.entries().items()
        if env_id is None or (entry.plays(env_id) if entry.games else False)
    ]
    if json:
        showing.say(dumps({"environments": games, "agents": named}, indent=1, ensure_ascii=False))
    else:
        _show_list(games, named)


def _show_one(name: str) -> None:
    """What the environment or the agent ``name`` is, and its options."""
    from bidzoo import agents, registry

    try:
        env_id = registry.game_id(name)
    except KeyError:
        _show_agent(agents.parts(name)[1])
        return
    game = registry.entries()[env_id]
    facts = {"Gymnasium id": game.gymnasium_id, "package": game.source}
    _show_facts(f"{env_id}: {registry.summary(env_id)}", facts)
    settings.show_options(registry.options(env_id), registry.option_words(env_id))


def _show_agent(agent: str) -> None:
    from bidzoo import agents, registry
    from bidzoo.benchmarks.results import two_digits

    try:
        entry = agents.described(agents.entry(agent))
    except KeyError:
        names = [*registry.available(), *agents.available()]
        raise KeyError(f"unknown name {agent!r}; {choose_from(agent, names)}") from None
    found, defaults = _measured(agent, None), agents.options(agent)
    facts = {
        "games": ", ".join(entry.games),
        "needs": entry.needs,
        "paper": entry.paper,
        "package": entry.source,
        "ms a call": two_digits(found["milliseconds"]) if "milliseconds" in found else "",
        found.get("unit", ""): _strength(found),
    }
    _show_facts(f"{agent}: {entry.summary}", facts)
    settings.show_options(defaults, agents.option_words(agent))


def _show_facts(title: str, facts: dict[str, str]) -> None:
    lines = [title, *(f"{fact}: {value}" for fact, value in facts.items() if value), ""]
    showing.say("\n".join(fill(line, 78, subsequent_indent="    ") for line in lines))


def _measured(name: str, env_id: str | None) -> dict[str, Any]:
    """What is known of the agent, without a strength in another game than ``env_id``."""
    from bidzoo import agents

    found = agents.measured().get(name, {})
    in_bridge = str(found.get("unit", "")).startswith("IMPs")
    if env_id is None or in_bridge == (env_id in agents.BRIDGE):
        return found
    return {key: value for key, value in found.items() if key not in ("mean", "error", "unit")}


def _show_list(games: list[dict[str, Any]], named: list[dict[str, Any]]) -> None:
    from bidzoo import agents
    from bidzoo.benchmarks.printing import show
    from bidzoo.benchmarks.results import ResultTable, two_digits

    table = ResultTable("Environments", ["environment", "Gymnasium id", "what it is"])
    for each in games:
        table.add(each["id"], each["gymnasium"], _from(each))
    tables = [table]
    for group in dict.fromkeys([*agents.GROUPS, *(each["group"] for each in named)]):
        table = ResultTable(f"Agents: {group}", ["agent", "IMPs or points", "ms a call", "what it is"])
        for each in (each for each in named if each["group"] == group):
            table.add(
                each["name"],
                _strength(each),
                two_digits(each["milliseconds"]) if "milliseconds" in each else "",
                _from(each),
            )
        tables += [table] * bool(table.rows)
    show(tables)
    showing.say(f"{agents.MEASURED}\nGames, papers and what an agent needs: bidzoo list --json")


def _strength(found: dict[str, Any]) -> str:
    return f"{found['mean']:+.2f} ± {found['error']:.2f}".replace("-", "−") if "mean" in found else ""


def _from(each: dict[str, Any]) -> str:
    """What it is, and of which package unless it is ours."""
    return each["summary"] if each["source"] == "bidzoo" else f"{each['summary']} ({each['source']})"


for _name, _module in (
    ("bench", bench),
    ("leaderboard", leaderboard),
    ("deals", deals),
    ("train", train),
    ("bluechip", bluechip),
):
    app.add_typer(_module.app, name=_name, cls=Group)
app.command("compile")(compiling.compile_kernels)
app.command("play")(play.play)
app.command("show")(play.show)
app.command("match")(match.match)
app.command("check")(match.check)
app.command("replay")(match.replay)
app.command("exploit")(exploit.exploit)
app.command("report")(bench.report)


def main(commands: Callable[[], Any] | None = None) -> None:
    """Run the command line, or another one's ``commands``. An expected error is one line and exit status 2.

    What other people's code raises, ``SystemExit`` too, keeps its traceback from their first frame on; status 1.
    """
    _open_closed_streams()
    stopping.watch()
    warnings.showwarning = _show_once
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape", "backslashreplace"):
            stream.reconfigure(errors=LETTERS)
    try:
        (commands or app)()
    except BaseException as problem:
        lost = not isinstance(problem, SystemExit | KeyboardInterrupt) and stopping.is_stopped()
        status = stopping.STATUS if lost else _status_of(problem)
        if status == stopping.STATUS:
            stopping.end_workers()
        stopping.leave_if_stopped(status)
        _forget_what_cannot_be_written()
        raise SystemExit(status) from None


def _open_closed_streams() -> None:
    """Give standard streams that are closed, as under some daemons, to nowhere; a file would take their place else."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest one that is free
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115  to the end of this process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _forget_what_cannot_be_written() -> None:
    """Write nowhere what is left in the buffers of standard streams that take no more, or Python's end would fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # full, or closed meanwhile
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _status_of(problem: BaseException) -> Any:
    """The exit status after ``problem``, which standard error explains; a slip of ours is raised again."""
    if isinstance(problem, KeyboardInterrupt):
        return stopping.STATUS
    if (refusal := plugins.refusal_of(problem)) is not None:
        sys.stderr.write(visible(f"bidzoo: {refusal}\n"))
        return 2
    if (told := plugins.traceback_of(problem)) is not None:
        sys.stderr.write(visible(f"bidzoo: {told}\n"))
        return 1
    if isinstance(problem, SystemExit):
        return problem.code
    if (text := explained(problem)) is None:
        raise problem
    sys.stderr.write(visible(f"bidzoo: {text}\n"))
    return 2


_warned: set[str] = set()
_show_warning = warnings.showwarning


def _show_once(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a ``UserWarning`` as one line, once; other warnings are about code, and keep their location."""
    if category is not UserWarning:
        _show_warning(message, category, *where, **more)
    elif str(message) not in _warned:
        _warned.add(str(message))
        sys.stderr.write(visible(f"bidzoo: {message}\n"))


def explained(problem: BaseException) -> str | None:
    """One line about an expected error; None for a slip of ours, which needs its traceback."""
    if isinstance(problem, MemoryError):  # of a file or a number of boards that is too large, not of the code
        return f"not enough memory: {problem}" if str(problem) else "not enough memory for what was asked for"
    if not isinstance(problem, ValueError | KeyError | OSError | ImportError | UnknownOptionError | WorkersDiedError):
        return None
    if isinstance(problem, KeyError):
        text = str(problem.args[0])
        return text if " " in text else None  # a bare key is no message
    if isinstance(problem, ImportError):
        extra = EXTRAS.get((problem.name or "").split(".")[0])
        return f'{problem}; pip install "bidzoo[{extra}]"' if extra else str(problem) if problem.name is None else None
    if isinstance(problem, OSError) and problem.filename is not None and problem.strerror:
        return f"{problem.filename}: {problem.strerror[0].lower()}{problem.strerror[1:]}"
    return str(problem)

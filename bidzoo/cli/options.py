"""Options that several commands have: what they are called, which values they take, who completes them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bidzoo.cli.settings import parse
from bidzoo.cli.showing import say
from bidzoo.core.storage import check_writable

if TYPE_CHECKING:
    from bidzoo.language import Seated


def output(words: str, *endings: str, new: bool = False, folder: bool = False) -> Any:
    """An option that is a file, or ``folder``: a command that cannot write it in the end finds out before it begins.

    ``endings`` are those that the file may have; ``new``: a result that took long to make is not overwritten.
    """

    def checked(path: Path | None) -> Path | None:
        if path is not None:
            if endings and path.suffix not in endings:
                raise typer.BadParameter(f"{path}: ending {path.suffix!r}, expected {' or '.join(endings)}")
            check_writable(path, folder)
            if new:
                check_new(path)
        return path

    return typer.Option(help=words, callback=checked)


def check_new(path: Path) -> None:
    """ValueError if ``path`` exists."""
    if path.exists():
        raise ValueError(f"{path}: exists, expected a new file; choose another name, or remove it")


def not_empty(text: str | None) -> str | None:
    """No name in an option's text is empty: an empty one is a slip, such as a shell variable that is not set."""
    from bidzoo.agents import names_in

    if text is not None and not all(names_in(text)):
        raise typer.BadParameter(f"{text!r} has an empty name; without the option the default counts")
    return text


def agent_names(incomplete: str) -> list[str]:
    """Names of agents that the shell completes, also after the last comma of several."""
    from bidzoo import agents

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in agents.available() if name.startswith(last)]


def game_names(incomplete: str) -> list[str]:
    """Names of environments that the shell completes."""
    from bidzoo import registry

    return [name for name in registry.available() if name.startswith(incomplete)]


def all_names(incomplete: str) -> list[str]:
    """Names of environments and agents that the shell completes."""
    return game_names(incomplete) + agent_names(incomplete)


def _device(name: str) -> str:
    import torch

    try:
        kind = torch.device(name).type
    except RuntimeError as problem:
        raise typer.BadParameter(f"{name!r} is no device of torch; expected cpu, cuda or cuda:0") from problem
    if kind == "cuda" and not torch.cuda.is_available():
        raise typer.BadParameter(f"{name!r}: torch finds no GPU here")
    from bidzoo.agents.bridge.distributed import device_of

    return device_of(name)


AGENT = "An agent's name, package.module:Name or weights; 'bmcs(policy=rl)' sets an option, NAME=... names it."


def agent(words: str = AGENT, **more: Any) -> Any:
    """An argument that is an agent."""
    return typer.Argument(help=words, autocompletion=agent_names, **more)


MOST_BOARDS = 10**9  # of a command: more take days and more memory than there is
LAST_BOARD = 2**62  # as people count, from 1; that of ``envs.game`` counts from 0

Seed = Annotated[int, typer.Option(min=0, help="Seed of deals and policies.")]
Workers = Annotated[int, typer.Option(min=1, help="Number of processes; results do not depend on it.")]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 accepts other machines.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a PBN or LIN file with any error, instead of leaving the faulty part out."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An option of the game or the algorithm; --set help lists them."),
]
Json = Annotated[Path | None, output("Result file; default: in runs/, by suite and options.", ".json")]
Device = Annotated[str, typer.Option(callback=_device, help="Torch device: cpu, cuda.")]
Threads = Annotated[
    int, typer.Option(min=1, help="Torch threads on the CPU; with 1 the same seed gives the same bytes.")
]


BaseUrl = Annotated[
    str | None,
    typer.Option(help="Address of a server that speaks OpenAI's protocol; default: OPENAI_BASE_URL, else OpenAI's."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        help="Time for a whole reply of a server, and at most for a pause that it asks for; default: 120.",
    ),
]
SeatOptions = Annotated[
    list[str] | None,
    typer.Option("--seat", metavar="NAME=VALUE", help="How a language model is asked; --seat help lists the options."),
]


def seated(
    names: Sequence[str],
    base_url: str | None = None,
    seat: list[str] | None = None,
    ledger: Path | None = None,
    timeout: float | None = None,
) -> "Seated":
    """The language models among agents' ``names``: ``openai:MODEL`` and ``ledger:FILE`` are agents from now on.

    Raises:
        ValueError: an option that changes nothing, since no agent is a language model, or none has a server.
    """
    from bidzoo.language import TIMEOUT, Seat, Seated

    how = parse(Seat, seat, "--seat") if seat else None
    models, servers = _are_any(names, _MODELS), _are_any(names, _MODELS[:1])
    for option, value, counts in (
        ("--seat", " ".join(seat or []), models),
        ("--base-url", base_url, servers),
        ("--timeout", timeout, servers),
    ):
        if value and not counts:
            expected_agents = " or ".join(("openai:MODEL", "ledger:FILE")[: 2 if option == "--seat" else 1])
            raise ValueError(f"{option} {value}: changes nothing here, expected an agent {expected_agents}")
    if not models:
        return Seated([])
    tell = partial(say, err=True)
    return Seated(names, base_url, how, ledger, say, TIMEOUT if timeout is None else timeout, tell)


_MODELS = ("openai:", "ledger:")


def _are_any(names: Sequence[str], kinds: tuple[str, ...]) -> bool:
    """Whether one of the agents ``names``, ``name=agent`` too, is of these ``kinds``."""
    from bidzoo.agents import parts

    return any(parts(name)[1].startswith(kinds) for name in names)


def workers_beside(names: Sequence[str], workers: int, default: int = 1) -> int:
    """Number of processes where the agents ``names`` play: 1 with language models; ValueError if more are asked for."""
    if not _are_any(names, _MODELS):
        return workers
    if workers not in (1, default):
        raise ValueError(f"--workers {workers}: a language model plays in one process; leave it out")
    return 1

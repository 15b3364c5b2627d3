"""What commands share: bars and tables, options, ``--set NAME=VALUE`` for one game or algorithm, and Ctrl-C."""

import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import fields
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bidzoo.core import jobs
from bidzoo.core.jobs import meanwhile
from bidzoo.core.options import choose_from, literal, words_of
from bidzoo.core.schema import visible
from bidzoo.core.storage import check_writable, named, patiently

if TYPE_CHECKING:
    from bidzoo.benchmarks.results import Measured, Report
    from bidzoo.envs.bridge.board import Fault
    from bidzoo.language import Seated


# ---- what commands show: words, bars while they work, then tables, which also go into a result file --------


SILENCE = 8.0  # seconds after which a command that works says what it is at, where no bar is seen
WORKING = "working"


class _Output:
    """What this process has printed, and what it is at."""

    last = 0.0  # time of the last line, by ``time.monotonic``
    doing = WORKING
    bars = watched = False
    console: Any = None  # of the bars, while they are drawn


def say(text: object, err: bool = False) -> None:
    """Print ``text``, which may hold names out of files, on standard output, or on standard error."""
    _Output.last = time.monotonic()
    if err and _Output.console is not None:  # bars are being drawn: a line of its own, above them
        _Output.console.print(visible(str(text)), markup=False, highlight=False, emoji=False)
    else:
        with named(f"standard {'error' if err else 'output'}"):
            print(visible(str(text)), file=sys.stderr if err else sys.stdout, flush=True)


@contextmanager
def never_silent() -> "Iterator[None]":
    """Within this context standard error says every ``SILENCE`` seconds what goes on, unless something else does."""
    if _Output.watched:
        yield
        return

    def speak(seconds: float) -> None:
        if not _Output.bars and time.monotonic() - _Output.last >= SILENCE:
            say(f"{_Output.doing}, {seconds:.0f} s", err=True)

    _Output.watched, _Output.last = True, time.monotonic()
    try:
        with meanwhile(speak, SILENCE / 8, SILENCE / 8):
            yield
    finally:
        _Output.watched = False


@contextmanager
def doing(what: str) -> "Iterator[None]":
    """Within this context ``what`` is what ``never_silent`` says."""
    outer, _Output.doing = _Output.doing, what
    try:
        yield
    finally:
        _Output.doing = outer


def solving(what: str = "") -> AbstractContextManager[None]:
    """``doing`` for the double-dummy solver, which says nothing of a single deal."""
    return doing(f"solving{what} (most deals take 0.2 s, a symmetric one minutes)")


@contextmanager
def progress() -> "Iterator[Report]":
    """``report(label, done, total)``: how far a command is, on standard error.

    On a terminal one bar for each ``label``, with the time since the start and the time left; elsewhere, and before
    the first report, what ``never_silent`` says.
    """
    known = _Output.doing

    def line(label: str, done: int, total: int) -> None:
        _Output.doing = f"{label if known == WORKING else known}: {done:,} of {total:,}"

    seen = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    with doing(known), never_silent(), _bars() if seen else nullcontext(line) as report:
        yield report


@contextmanager
def _bars() -> "Iterator[Report]":
    from rich import progress as rich
    from rich.console import Console

    bars: dict[str, Any] = {}
    text = rich.TextColumn("{task.description}", markup=False)
    columns = (rich.BarColumn, rich.MofNCompleteColumn, rich.TimeElapsedColumn, rich.TimeRemainingColumn)
    display = rich.Progress(text, *(column() for column in columns), console=Console(stderr=True), transient=True)

    def report(label: str, done: int, total: int) -> None:
        if label not in bars:
            _Output.bars, _Output.console = True, display.console
            display.start()
            bars[label] = display.add_task(label, total=total)
        display.update(bars[label], completed=done, total=total)

    try:
        yield report
    finally:
        if bars:
            display.stop()
        _Output.bars, _Output.console = False, None


def measured(
    suite: str, seed: int, json: Path | None, *works: "Callable[[Report], Measured]", every: bool = True
) -> "Measured":
    """What ``works`` return for ``report``: each one's tables are shown when they are ready, as ``printing.show`` does.

    All go with their figures into ``json``; without one, into a file in runs/ that other options do not write over.
    """
    from bidzoo.benchmarks import printing, results

    path = json or in_runs(suite, sys.argv[1:], ending=".json")
    check_writable(path)
    began, tables, figures = time.perf_counter(), list[results.ResultTable](), list[results.Figure]()
    for work in works:
        with progress() as report:
            result = work(report)
        printing.show(result[0], every)
        tables += result[0]
        figures += result[1]
    seconds = time.perf_counter() - began
    results.save(path, suite, tables, seed=seed, seconds=seconds, figures=figures)
    say(f"{suite}: {seconds:.0f} s, written to {path}")
    return tables, figures


LEFT_OUT = 3  # status of a command that did its work without what it left out of a file


def finish(source: object, boards: int, faults: "list[Fault]") -> None:
    """Name what was left out of a file of boards and end the command with a status that says so, if anything was."""
    from bidzoo.envs.bridge.board import summary

    if faults:
        say(summary(str(source), boards, faults), err=True)
        raise typer.Exit(LEFT_OUT)


# ---- options --------------------------------------------------------------------------------


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


def counted(number: int, noun: str) -> str:
    """``"1 board"``, ``"1,000 boards"``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


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


# ---- --set NAME=VALUE -----------------------------------------------------------------------


def parse(options: type, texts: list[str] | None, option: str = "--set", **fixed: Any) -> Any:
    """``options(...)`` with ``NAME=VALUE`` texts; ValueError names the option and the choices. ``help`` prints them."""
    defaults = {field.name: field.default for field in fields(options) if field.name not in fixed}
    chosen = settings(defaults, texts, lambda: words_of(options), option)
    try:
        return options(**fixed, **chosen)
    except ValueError as problem:
        raise ValueError(f"{option}: {problem}") from problem


def settings(
    defaults: Mapping[str, Any],
    texts: list[str] | None,
    words: Callable[[], Mapping[str, str]] = dict,
    option: str = "--set",
) -> dict[str, Any]:
    """As ``parse``: the values of ``NAME=VALUE`` texts, each of its default's type; help asks for ``words`` on them."""
    if "help" in (texts or []):
        show_options(defaults, words())
        raise typer.Exit
    chosen: dict[str, Any] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in defaults:
            raise ValueError(f"{option} {text}: no option {name!r}; {choose_from(name, defaults)}")
        try:
            chosen[name] = _value(value, defaults[name])
        except ValueError as problem:
            expectation = "True or False" if isinstance(defaults[name], bool) else f"a value like {defaults[name]!r}"
            raise ValueError(f"{option} {text}: expected {expectation}") from problem
    return chosen


def show_options(defaults: Mapping[str, Any], words: Mapping[str, str]) -> None:
    """Print ``NAME=DEFAULT`` and beside it, in lines of 78 columns, the ``words`` on it."""
    say("options and defaults:" if defaults else "no options")
    left = {name: f"{name}={default}" for name, default in defaults.items()}
    width = min(22, max(map(len, left.values()), default=0))
    for name, default in left.items():
        right = wrap(words.get(name, ""), 76 - width)
        first = [default] if len(default) > width or not right else [f"{default:{width}}  {right.pop(0)}"]
        say("\n".join([*first, *(f"{'':{width}}  {line}" for line in right)]))


def game_settings(env_id: str, texts: list[str] | None, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """``settings`` of the options of a game, less those ``left_out``."""
    from bidzoo import registry

    defaults = {name: default for name, default in registry.options(env_id).items() if name not in left_out}
    return settings(defaults, texts, lambda: registry.option_words(env_id))


def _value(text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    if default is None:
        return literal(text)
    if not isinstance(default, str | int | float):
        value = literal(text)
        if not isinstance(value, list | tuple | type(default)):
            raise ValueError(text)
        return type(default)(value)
    return type(default)(text)


# ---- Ctrl-C ---------------------------------------------------------------------------------
# It ends a command within two seconds, with its workers, whatever it is doing, and says how to go on. Python hears it
# only between two steps of its own, which a long kernel keeps waiting. A thread hears it at once and ends the process
# when its time is up. A command that ends by itself leaves without Python's own end, which waits for other threads and
# holds ours still. Nothing is lost by that: files appear whole or not at all.

GRACE = 1.5  # seconds in which the command may end by itself
FLUSH = 0.3  # seconds for what is printed but not written yet
STATUS = 130  # of a process that Ctrl-C ended, as shells have it

_going_on = ""
_heard = threading.Event()


@contextmanager
def going_on(path: Path | str) -> Iterator[None]:
    """Within this context a stopped command says that the same command, given again, goes on from ``path``."""
    global _going_on
    _going_on = f"the same command goes on from {path}"
    try:
        yield
    finally:
        if not isinstance(sys.exception(), KeyboardInterrupt):
            _going_on = ""


@contextmanager
def kept_until_the_end(path: Path) -> "Iterator[Path]":
    """A file or folder from which a stopped command goes on, and which is removed when the command has ended."""
    with going_on(path):
        yield path
    if path.is_dir():
        patiently(shutil.rmtree, path)
    else:
        patiently(path.unlink, missing_ok=True)


def in_runs(suite: str, *asked: object, ending: str = "") -> Path:
    """The file or folder in runs/ of the command that was asked for this alone."""
    return Path("runs", f"{suite}-{sha256(repr(asked).encode()).hexdigest()[:12]}{ending}")


def plain_name(text: str) -> str:
    """``text`` without what no file's name should hold, as the beginning of one."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")[:60]


@contextmanager
def suite_ledger(ledger: Path | None, suite: str, *asked: object) -> "Iterator[Path]":
    """The path ``ledger``; without one that of a file in runs/, which is removed when the suite has ended.

    ``asked`` are the options that decide what is measured. They are part of the file's name, so that no other command
    of the suite finds or removes what a stopped one has kept. Where nothing was kept in a ``ledger`` that was asked
    for, a line says so.
    """
    path = ledger or in_runs(suite, *asked, ending=".ledger")
    with kept_until_the_end(path) if ledger is None else going_on(path):
        yield path
    if ledger is not None and not ledger.exists():
        say(f"{ledger}: nothing was kept there, since no agent here is slow", err=True)


def watch() -> None:
    """From now on Ctrl-C ends this process, if need be from outside of its main thread."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(_listener(), warn_on_full_buffer=False)


@cache  # one for all commands of a process
def _listener() -> int:
    """Start the thread that hears Ctrl-C; return where Python writes the numbers of signals for it."""
    read_end, write_end = socket.socketpair()  # Windows writes numbers of signals to sockets alone
    write_end.setblocking(False)
    threading.Thread(target=_listen, args=(read_end,), name="Ctrl-C", daemon=True).start()
    return write_end.detach()


def _listen(read_end: socket.socket) -> None:
    while signal.SIGINT not in read_end.recv(1):
        pass
    _heard.set()
    time.sleep(GRACE)
    try:
        end_workers()
        flushing = threading.Thread(target=_flush, daemon=True)  # whoever reads may have stopped
        flushing.start()
        flushing.join(FLUSH)
    finally:
        os._exit(STATUS)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()


def is_stopped() -> bool:
    """Whether Ctrl-C was heard: an error after it is its consequence.

    A library may lose the interrupt, as numba does in what LLVM calls back, and fail for what was not done. The thread
    that hears it may be a moment behind.
    """
    return _heard.wait(0.1)


def leave_if_stopped(status: Any) -> None:
    """End the process now, with what it has printed, if Ctrl-C was heard; ``status`` as of ``sys.exit``."""
    if status == STATUS or _heard.is_set():
        _flush()
        os._exit(status if isinstance(status, int) else int(status is not None))


@cache
def end_workers() -> None:
    """End the workers now; one line, once, says what is kept."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a bar hides the cursor
    sys.stderr.write(f"\nbidzoo: stopped; {_going_on or 'nothing is kept'}\n")
    sys.stderr.flush()
    jobs.kill_workers()

"""The same table in the terminal: type an action as players write it, or a command."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bidzoo.envs.bridge.files.deal_file import replace_file
from bidzoo.play import files, show
from bidzoo.play.session import Session
from bidzoo.play.terminal_view import action_text, commands, hint, picture, seat_name, suited, tricks

Read = Callable[[], str]


def run(session: Session, console: Console | None = None, read: Read | None = None) -> None:
    """Play until ``quit``, the end of the input or Ctrl-C; ``read`` gives one line, EOFError at the end."""
    out = console or Console()
    ask = read or (lambda: out.input("[bold]> [/bold]"))
    out.print(commands())
    try:
        loop(session, out, ask)
    except (EOFError, KeyboardInterrupt):
        out.print()


def loop(session: Session, out: Console, read: Read) -> None:
    """Agents act by themselves; each line of a human is an action or a command."""
    shown: tuple[int, bool, int] | None = None
    while True:
        here = session.position()
        agent = not here.over and session.policy() is not None
        if agent and session.cursor == len(session.actions):
            _agent(session, out)
            continue
        if shown != (session.cursor, session.reveal, id(session.record)):
            out.print(picture(session))
            shown = (session.cursor, session.reveal, id(session.record))
        words = read().strip()
        if words.lower() in ("quit", "exit", "q"):
            return
        try:
            _obey(session, out, words)
        except (ValueError, OSError, ImportError) as problem:
            out.print(Text(str(problem), style="red"))


def _agent(session: Session, out: Console) -> None:
    player = session.position().player
    with out.status(f"{session.seats[player]} is thinking"):
        session.agent_turn(session.cursor)
    words = suited(action_text(show.action_data(session, session.actions[-1])))
    out.print(Text.assemble(f"{seat_name(session, player)} ({session.seats[player]}): ", words))


def _obey(session: Session, out: Console, words: str) -> None:
    """Carry out one line."""
    command, _, rest = words.partition(" ")
    command, rest = command.lower(), rest.strip()
    if command == "hint":
        out.print(hint(session, rest))
    elif command == "undo":
        session.undo()
    elif command in ("back", "forward"):
        session.go(min(max(session.cursor + (1 if command == "forward" else -1), 0), len(session.actions)))
    elif command == "all":
        session.reveal = not session.reveal
    elif command == "next":
        setup = session.setup
        session.start(setup.game, setup.options, session.seats, setup.seed, setup.board + 1)
    elif command == "tricks":
        out.print(tricks(session))
    elif command == "save":
        _save(session, rest)
        out.print(f"written: {rest}")
    elif command in ("help", "?"):
        out.print(commands())
    elif words:
        session.act(number(session, words), session.cursor)


def number(session: Session, words: str) -> int:
    """The action that ``words`` mean: its text, else its number; ``#7`` is always the number."""
    game = session.game
    if words.startswith("#") and words[1:].isdecimal():
        return int(words[1:])
    try:
        return game.action_number(words)
    except ValueError:
        if words.isdecimal():
            return int(words)
        raise


def _save(session: Session, path: str) -> None:
    if not path:
        raise ValueError("save: expected the name of a file")
    if Path(path).exists():
        raise ValueError(f"{path} exists already; choose another name")
    replace_file(Path(path), files.save(session)[1].encode())

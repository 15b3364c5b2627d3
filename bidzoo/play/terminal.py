"""The play table in the terminal: type an action as players write it, or a command."""

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from bidzoo.agents import BRIDGE
from bidzoo.core.cards import FIRST_BID, NUM_CALLS
from bidzoo.core.schema import visible
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import render
from bidzoo.play import api, files
from bidzoo.play.catalog import HUMAN, offer, usual
from bidzoo.play.session import Position, Session

COMMANDS = {
    "1NT, X, P, SA, 4, nil ...": "an action, or its number: #7",
    "hint [AGENT]": "what an agent would do here",
    "undo": "back to your last turn",
    "back, forward": "one step through the record",
    "all": "show or hide all hands",
    "next": "the next board, of the file if there is one",
    "tricks": "double-dummy table and par, once all hands are seen",
    "save FILE": "write the board (bridge: PBN)",
    "quit": "leave",
}
HELP = "\n".join(f"{command:<27}{meaning}" for command, meaning in COMMANDS.items())


# ---- printing --------------------------------------------------------------------------------


def picture(session: Session) -> str:
    """The table as the viewer sees it, drawn by its game, and what may be done."""
    position, game_offer = session.position(), offer(session.setup.game_id)
    seats = ", ".join(f"{seat} {agent}" for seat, agent in zip(game_offer.seats, session.seats))
    blocks = [f"{game_offer.title}, board {session.setup.board + 1}: {seats}", session.game.text(session.seen())]
    if position.over:
        blocks.append("The board is over: next, back, tricks, save FILE or quit.")
    elif session.open or session.seats[position.player] == HUMAN:
        blocks.append(f"{game_offer.seats[position.player]} to act: {_choices(session, position)}")
    return "\n" + "\n\n".join(blocks)


def _choices(session: Session, position: Position) -> str:
    """The legal actions; of the bids of bridge only the lowest."""
    bids = [a for a in position.legal if session.setup.game_id in BRIDGE and FIRST_BID <= a < NUM_CALLS]
    legal_texts = [session.game.action_text(action) for action in position.legal if action not in bids]
    return "  ".join([*legal_texts, *(f"or a bid from {render.suited(bid)}" for bid in bids[:1])])


def hint(session: Session, name: str) -> str:
    """What the agent ``name`` (default: one at the table) would do, and why."""
    if not name:
        name = next((agent for agent in session.seats if agent != HUMAN), usual(session.setup.game_id))
    explanation, action_text = session.explain(name), session.game.action_text
    seat = offer(session.setup.game_id).seats[session.position().player]
    lines = [f"{name} for {seat}: {explanation.text}".rstrip(": ")]
    lines += [f"  {label}: {value}" for label, value in explanation.facts]
    for action, chance in sorted(explanation.chances.items(), key=lambda item: -item[1])[:6]:
        lines.append(f"  {chance:6.1%}  {action_text(action)}")
    for action, (mean, error) in sorted(explanation.values.items(), key=lambda item: -item[1][0])[:6]:
        spread = f" ± {error:.2f}" if math.isfinite(error) else ""
        lines.append(f"  {mean:6.2f}{spread} {explanation.unit}  {action_text(action)}")
    for bars in explanation.bars:
        lines.append(f"  {bars.title}: " + ", ".join(f"{label} {value:.0%}" for label, value in bars.rows))
    return "\n".join(lines)


# ---- typing ----------------------------------------------------------------------------------


def _typed() -> str:
    """A line of standard input; EOFError at its end, or where there is none, as of a process without a terminal."""
    if sys.stdin is None:
        raise EOFError
    return input("> ")


def run(session: Session, out: IO[str] | None = None, read: Callable[[], str] = _typed) -> None:
    """Play until ``quit``, the end of the input or Ctrl-C; ``read`` gives one line, EOFError at the end.

    Agents act by themselves; each line of a human is an action or a command.
    """
    say = partial(print, file=out, flush=True)
    say(HELP)
    last_shown: tuple[int, bool, int] | None = None
    try:
        while True:
            if session.cursor == len(session.actions) and session.policy() is not None:
                player = session.position().player
                say(f"{offer(session.setup.game_id).seats[player]} ({session.seats[player]}):", end=" ")
                session.agent_turn(session.cursor)
                say(session.game.action_text(session.actions[-1]))
                continue
            if last_shown != (current := (session.cursor, session.reveal, id(session.setup))):
                say(picture(session))
                last_shown = current
            reply = read().strip()
            if reply.lower() in ("quit", "exit", "q"):
                return
            try:
                if answer := obey(session, reply):
                    say(visible(answer))
            except (ValueError, OSError, ImportError) as problem:
                say(visible(str(problem)))
    except (EOFError, KeyboardInterrupt):
        say()


def obey(session: Session, words: str) -> str:
    """Carry out one line; what is to be printed then, beside the table."""
    command, _, rest = words.partition(" ")
    command, rest = command.lower(), rest.strip()
    if command == "hint":
        return hint(session, rest)
    if command == "tricks":
        analysis = api.double_dummy(session)
        return render.double_dummy_text(analysis["tricks"], analysis["par"])
    if command in ("help", "?"):
        return HELP
    if command == "save":
        return _save(session, rest)
    if command == "undo":
        session.undo()
    elif command in ("back", "forward"):
        session.go(min(max(session.cursor + (1 if command == "forward" else -1), 0), len(session.actions)))
    elif command == "all":
        session.reveal = not session.reveal
    elif command == "next":
        files.next_board(session)
    elif words:
        session.act(number(session, words), session.cursor)
    return ""


def number(session: Session, words: str) -> int:
    """The action that ``words`` mean: its text, else its number; ``#7`` is always the number."""
    if words.startswith("#") and words[1:].isdecimal():
        return int(words[1:])
    try:
        return session.game.action_number(words)
    except ValueError:
        if words.isdecimal():
            return int(words)
        raise


def _save(session: Session, path: str) -> str:
    if not path:
        raise ValueError("save: expected the name of a file")
    if Path(path).exists():
        raise ValueError(f"{path} exists already; choose another name")
    replace_file(Path(path), files.save(session)[1].encode())
    return f"written: {path}"

"""The same table in the terminal: type an action as players write it, or a command."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from bidzoo.agents.thoughts import Thoughts
from bidzoo.cards import RANKS, SEATS, SYMBOLS
from bidzoo.envs.bridge import wording
from bidzoo.envs.bridge.deal_file import replace_file
from bidzoo.play import files, show
from bidzoo.play.catalog import HUMAN, offer, usual
from bidzoo.play.session import Session

COMMANDS = {
    "hint [AGENT]": "what an agent would do here",
    "undo": "back to your last turn",
    "back, forward": "one step through the record",
    "all": "show or hide all hands",
    "next": "the next board",
    "tricks": "double-dummy table and par, once all hands are seen",
    "save FILE": "write the board (bridge: PBN)",
    "quit": "leave",
}
COLORS = ("green", "blue", "dark_orange", "bold")  # C D H S
Read = Callable[[], str]


def run(session: Session, console: Console | None = None, read: Read | None = None) -> None:
    """Play until ``quit``, the end of the input or Ctrl-C; ``read`` gives one line, EOFError at the end."""
    out = console or Console()
    ask = read or (lambda: out.input("[bold]> [/bold]"))
    out.print(_commands())
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
    step = show.state(session)["record"][-1]
    out.print(Text.assemble(f"{_seat(session, player)} ({session.seats[player]}): ", _suited(_text(step))))


def _obey(session: Session, out: Console, words: str) -> None:
    """Carry out one line."""
    command, _, rest = words.partition(" ")
    command, rest = command.lower(), rest.strip()
    if command == "hint":
        out.print(_hint(session, rest))
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
        out.print(_tricks(session))
    elif command == "save":
        _save(session, rest)
        out.print(f"written: {rest}")
    elif command in ("help", "?"):
        out.print(_commands())
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


# ---- what is printed -------------------------------------------------------------------------


def picture(session: Session) -> RenderableType:
    """The table as the viewer sees it."""
    data = show.state(session)
    table = data["table"]
    parts = {"bridge": _bridge, "spades": _spades, "signals": _signals}[table["kind"]](session, table)
    if table["result"]:
        parts.append(Text(table["result"], style="bold"))
    if data["over"]:
        parts.append(Text("The board is over: next, back, tricks, save FILE or quit."))
    elif data["legal"]:
        words = Text(f"{_seat(session, data['player'])} to act: ")
        for k, action in enumerate(data["legal"]):
            words.append_text(Text("  " if k else "")).append_text(_suited(_text(action)))
        parts.append(words)
    title = f"{data['title']}, board {data['board'] + 1}"
    return Panel(Group(*parts), title=title, title_align="left")


def _bridge(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = [_hands(session, table)]
    rows = Grid(*(wording.NAMES[seat] for seat in wording.COLUMNS), box=None, padding=(0, 2, 0, 0))
    cells = [""] * wording.COLUMNS.index(table["dealer"]) + [wording.suited(call) for call in table["calls"]]
    cells += [""] * (-len(cells) % 4)
    for start in range(0, len(cells), 4):
        rows.add_row(*(_suited(cell) for cell in cells[start : start + 4]))
    vulnerable = ("nobody", "N/S", "E/W", "everybody")[table["vulnerable"]]
    parts += [Text(f"dealer {SEATS[table['dealer']]}, vulnerable: {vulnerable}"), rows]
    if table["contract"]:
        parts.append(Text.assemble("contract: ", _suited(table["contract"])))
    return parts + _trick(table, f"tricks: N/S {table['won'][0]}, E/W {table['won'][1]}")


def _spades(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    scores = ", ".join(f"{side['side']} {side['score']} ({side['bags']} bags)" for side in table["scores"])
    bids = ", ".join(f"{SEATS[s]} {table['bids'][s] or '-'}/{table['won'][s]}" for s in range(4))
    parts = [_hands(session, table), Text(f"score: {scores}"), Text(f"bids/tricks: {bids}")]
    return parts + _trick(table, "")


def _signals(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    known = [f"{_seat(session, p)}: {table['word']} {'?' if x is None else x}" for p, x in enumerate(table["types"])]
    said = [f"{_seat(session, step['player'])} {step['text']}" for step in table["history"]]
    return [Text("   ".join(known)), Text("   ".join(said) or "nothing said yet")]


def _hands(session: Session, table: dict[str, Any]) -> RenderableType:
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for seat, cards in enumerate(table["hands"]):
        mark = "*" if table["turn"] == seat else " "
        words = Text(f"{table['counts'][seat]} cards") if cards is None else _hand(cards, table)
        grid.add_row(f"{mark}{_seat(session, seat)} ({session.seats[seat]})", words)
    return grid


def _hand(cards: list[int], table: dict[str, Any]) -> Text:
    texts, suits = table.get("texts", {}), table.get("suits", [card % 4 for card in range(52)])
    words = Text()
    for suit in (3, 2, 1, 0):
        held = [texts.get(card) or RANKS[card // 4] for card in reversed(cards) if suits[card] == suit]
        words.append(SYMBOLS["CDHS"[suit]], style=COLORS[suit]).append(f" {' '.join(held) or '-'}  ")
    return words


def _trick(table: dict[str, Any], head: str) -> list[RenderableType]:
    trick = table["trick"]
    if trick is None:
        return [Text(head)] if head else []
    words = Text(f"{head}; " if head else "").append("trick: ")
    for seat in [(trick["leader"] + k) % 4 for k in range(4)]:
        card = trick["cards"][seat]
        if card >= 0:
            words.append(f"{SEATS[seat]} ").append_text(_suited(wording.card(card))).append("  ")
    return [words.append(f"({SEATS[trick['winner']]} wins)" if trick["winner"] >= 0 else "")]


def _hint(session: Session, name: str) -> RenderableType:
    player = session.position().player
    if not name:
        known = [seat for seat in session.seats if seat != HUMAN]
        name = known[0] if known else usual(session.setup.game)
    found: Thoughts = session.thoughts(name)
    lines: list[RenderableType] = [Text(f"{name} for {_seat(session, player)}: {found.text}".rstrip(": "))]
    lines += [Text(f"  {label}: {value}") for label, value in found.facts]
    for action, chance in sorted(found.chances.items(), key=lambda item: -item[1])[:6]:
        lines.append(Text.assemble(f"  {chance:6.1%}  ", _suited(_text(show.action_data(session, action)))))
    for action, (mean, error) in sorted(found.values.items(), key=lambda item: -item[1][0])[:6]:
        words = _suited(_text(show.action_data(session, action)))
        spread = f" ± {error:.2f}" if math.isfinite(error) else ""
        lines.append(Text.assemble(f"  {mean:6.2f}{spread} {found.unit}  ", words))
    for bars in found.bars:
        lines.append(Text(f"  {bars.title}: " + ", ".join(f"{label} {value:.0%}" for label, value in bars.rows)))
    return Group(*lines)


def _tricks(session: Session) -> RenderableType:
    from bidzoo.play.show_bridge import double_dummy

    found = double_dummy(session)
    grid = Grid("", "♣", "♦", "♥", "♠", "NT", title=f"double dummy; par {found['words']}", title_justify="left")
    for seat in range(4):
        grid.add_row(wording.NAMES[seat], *(str(n) for n in found["tricks"][5 * seat : 5 * seat + 5]))
    return grid


def _save(session: Session, path: str) -> None:
    if not path:
        raise ValueError("save: expected the name of a file")
    if Path(path).exists():
        raise ValueError(f"{path} exists already; choose another name")
    replace_file(Path(path), files.save(session)[1].encode())


def _seat(session: Session, player: int) -> str:
    return offer(session.setup.game).seats[player]


def _text(step: dict[str, Any]) -> str:
    """An action's text with suits as symbols where it is a card."""
    if step["card"] is None or len(step["text"]) != 2 or step["text"][0] not in SYMBOLS:
        return str(step["text"])
    return SYMBOLS[step["text"][0]] + str(step["text"][1])


def _suited(words: str) -> Text:
    """``words`` with suit symbols in their colours."""
    text = Text(words)
    for suit, letter in enumerate("CDHS"):
        text.highlight_words([SYMBOLS[letter]], COLORS[suit])
    return text


def _commands() -> RenderableType:
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_row("1NT, X, P, SA, 4, nil ...", "an action, or its number")
    for command, meaning in COMMANDS.items():
        grid.add_row(command, meaning)
    return grid

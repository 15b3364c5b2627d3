"""The play table in the terminal: type an action as players write it, or a command."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from bidzoo.core.cards import FIRST_BID, RANKS, SEAT_NAMES, SEATS, STRAINS, SUITS, SYMBOLS, card_symbol
from bidzoo.core.kernels import State
from bidzoo.core.storage import replace_file
from bidzoo.envs.bridge import render
from bidzoo.play import api, files
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


# ---- printing --------------------------------------------------------------------------------


def picture(session: Session) -> RenderableType:
    """The table as the viewer sees it."""
    data = api.page(session)
    table, state = data["table"], session.position().states[0]
    parts: list[RenderableType]
    if table["kind"] == "bridge":
        parts = [_hands(session, table), *_bridge(table, state)]
    elif table["kind"] == "spades":
        scores = ", ".join(f"{side['side']} {side['score']} ({side['bags']} bags)" for side in table["scores"])
        bids = ", ".join(f"{SEATS[s]} {table['bids'][s] or '-'}/{table['won'][s]}" for s in range(4))
        parts = [_hands(session, table), Text(f"score: {scores}"), Text(f"bids/tricks: {bids}"), *_trick(table, "")]
    else:
        types = ("?" if x is None else x for x in table["types"])
        type_texts = [f"{seat_name(session, p)}: {table['word']} {x}" for p, x in enumerate(types)]
        actions = [f"{seat_name(session, step['player'])} {step['text']}" for step in table["history"]]
        parts = [Text("   ".join(type_texts)), Text("   ".join(actions) or "nothing said yet")]
    if table["result"]:
        parts.append(Text(table["result"], style="bold"))
    if data["over"]:
        parts.append(Text("The board is over: next, back, tricks, save FILE or quit."))
    elif data["legal"]:
        parts.append(_choices(session, data))
    return Panel(Group(*parts), title=f"{data['title']}, board {data['board'] + 1}", title_align="left")


def _choices(session: Session, data: dict[str, Any]) -> Text:
    """The legal actions; of the bids of bridge only the lowest."""
    words = Text(f"{seat_name(session, data['player'])} to act: ")
    auction = data["table"]["phase"] == "auction"
    bids = [action for action in data["legal"] if auction and action["action"] >= FIRST_BID]
    for action in data["legal"]:
        if action not in bids:
            words.append_text(suited(action_text(action))).append("  ")
    if bids:
        words.append("or a bid from ").append_text(suited(render.suited(bids[0]["action"])))
    return words


def _hands(session: Session, table: dict[str, Any]) -> RenderableType:
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for seat, cards in enumerate(table["hands"]):
        mark = "*" if table["turn"] == seat else " "
        words = Text(f"{table['counts'][seat]} cards") if cards is None else _hand(cards, table)
        grid.add_row(Text(f"{mark}{seat_name(session, seat)} ({session.seats[seat]})"), words)
    return grid


def _hand(cards: list[int], table: dict[str, Any]) -> Text:
    texts, suits = table.get("texts", {}), table.get("suits", [card % 4 for card in range(52)])
    words = Text()
    for suit in (3, 2, 1, 0):
        held = [texts.get(card) or RANKS[card // 4] for card in reversed(cards) if suits[card] == suit]
        words.append(SYMBOLS[SUITS[suit]], style=COLORS[suit]).append(f" {' '.join(held) or '-'}  ")
    return words


def _bridge(table: dict[str, Any], state: State) -> list[RenderableType]:
    rows = Grid(*(SEAT_NAMES[seat] for seat in render.COLUMNS), box=None, padding=(0, 2, 0, 0))
    for row in render.auction(state):
        rows.add_row(*map(suited, row))
    parts: list[RenderableType] = [
        Text(f"dealer {SEATS[table['dealer']]}, vulnerable: {render.vulnerable(state)}"),
        rows,
    ]
    if table["contract"]:
        parts.append(Text.assemble("contract: ", suited(table["contract"])))
    return parts + _trick(table, f"tricks: N/S {table['won'][0]}, E/W {table['won'][1]}" if table["tricks"] else "")


def _trick(table: dict[str, Any], head: str) -> list[RenderableType]:
    trick = table["trick"]
    if trick is None:
        return [Text(head)] if head else []
    words = Text(f"{head}; " if head else "").append("trick: ")
    for seat in [(trick["leader"] + k) % 4 for k in range(4)]:
        card = trick["cards"][seat]
        if card >= 0:
            words.append(f"{SEATS[seat]} ").append_text(suited(card_symbol(card))).append("  ")
    return [words.append(f"({SEATS[trick['winner']]} wins)" if trick["winner"] >= 0 else "")]


def hint(session: Session, name: str) -> RenderableType:
    """What the agent ``name`` (default: one at the table) would do, and why."""
    player = session.position().player
    if not name:
        name = next((seat for seat in session.seats if seat != HUMAN), usual(session.setup.game_id))
    explanation = session.explain(name)
    lines: list[RenderableType] = [Text(f"{name} for {seat_name(session, player)}: {explanation.text}".rstrip(": "))]
    lines += [Text(f"  {label}: {value}") for label, value in explanation.facts]
    for action, chance in sorted(explanation.chances.items(), key=lambda item: -item[1])[:6]:
        lines.append(Text.assemble(f"  {chance:6.1%}  ", _action(session, action)))
    for action, (mean, error) in sorted(explanation.values.items(), key=lambda item: -item[1][0])[:6]:
        spread = f" ± {error:.2f}" if math.isfinite(error) else ""
        lines.append(Text.assemble(f"  {mean:6.2f}{spread} {explanation.unit}  ", _action(session, action)))
    for bars in explanation.bars:
        lines.append(Text(f"  {bars.title}: " + ", ".join(f"{label} {value:.0%}" for label, value in bars.rows)))
    return Group(*lines)


def tricks(session: Session) -> RenderableType:
    """Double-dummy tricks and par."""
    analysis = api.double_dummy(session)
    strains = (SYMBOLS.get(strain, strain) for strain in STRAINS)
    grid = Grid("", *strains, title=f"double dummy; par {analysis['words']}", title_justify="left")
    for seat in range(4):
        grid.add_row(SEAT_NAMES[seat], *(str(n) for n in analysis["tricks"][5 * seat : 5 * seat + 5]))
    return grid


def seat_name(session: Session, player: int) -> str:
    """The name of the seat of ``player``."""
    return offer(session.setup.game_id).seats[player]


def action_text(step: dict[str, Any]) -> str:
    """An action's text with suits as symbols where it is a card."""
    if step["card"] is None or len(step["text"]) != 2 or step["text"][0] not in SYMBOLS:
        return str(step["text"])
    return SYMBOLS[step["text"][0]] + str(step["text"][1])


def suited(words: str) -> Text:
    """``words`` with suit symbols in their colours."""
    coloured = Text(words)
    for letter, color in zip(SUITS, COLORS, strict=True):
        coloured.highlight_words([SYMBOLS[letter]], color)
    return coloured


def _action(session: Session, action: int) -> Text:
    return suited(action_text(api.action_data(session, action)))


def commands() -> RenderableType:
    """The list of commands."""
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_row("1NT, X, P, SA, 4, nil ...", "an action, or its number")
    for command, meaning in COMMANDS.items():
        grid.add_row(command, meaning)
    return grid


# ---- typing ----------------------------------------------------------------------------------

Read = Callable[[], str]


def run(session: Session, console: Console | None = None, read: Read | None = None) -> None:
    """Play until ``quit``, the end of the input or Ctrl-C; ``read`` gives one line, EOFError at the end."""
    out = console or Console()
    ask = read or (lambda: out.input("[bold]> [/bold]"))
    out.print(commands())
    try:
        _loop(session, out, ask)
    except (EOFError, KeyboardInterrupt):
        out.print()


def _loop(session: Session, out: Console, read: Read) -> None:
    """Agents act by themselves; each line of a human is an action or a command."""
    last_shown: tuple[int, bool, int] | None = None
    while True:
        at_end = session.cursor == len(session.actions)
        if at_end and not session.position().over and session.policy() is not None:
            _agent(session, out)
            continue
        if last_shown != (current := (session.cursor, session.reveal, id(session.setup))):
            out.print(picture(session))
            last_shown = current
        words = read().strip()
        if words.lower() in ("quit", "exit", "q"):
            return
        try:
            _obey(session, out, words)
        except (ValueError, OSError, ImportError) as problem:
            out.print(Text(str(problem), style="red"))


def _agent(session: Session, out: Console) -> None:
    player = session.position().player
    with out.status(Text(f"{session.seats[player]} is thinking")):
        session.agent_turn(session.cursor)
    head = f"{seat_name(session, player)} ({session.seats[player]}): "
    out.print(Text.assemble(head, _action(session, session.actions[-1])))


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
        session.next_board()
    elif command == "tricks":
        out.print(tricks(session))
    elif command == "save":
        _save(session, rest)
        out.print(Text(f"written: {rest}"))
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

"""What the terminal prints: the table as the viewer sees it, hints, double-dummy tables."""

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from bidzoo.agents.thoughts import Thoughts
from bidzoo.cards import FIRST_BID, RANKS, SEAT_NAMES, SEATS, SYMBOLS
from bidzoo.envs.bridge import wording
from bidzoo.play import show
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
        parts.append(_choices(session, data))
    title = f"{data['title']}, board {data['board'] + 1}"
    return Panel(Group(*parts), title=title, title_align="left")


def _choices(session: Session, data: dict[str, Any]) -> Text:
    """What may be done; of the bids of bridge only the lowest."""
    words = Text(f"{seat_name(session, data['player'])} to act: ")
    auction = data["table"]["phase"] == "auction"
    bids = [action for action in data["legal"] if auction and action["action"] >= FIRST_BID]
    for action in data["legal"]:
        if action not in bids:
            words.append_text(suited(action_text(action))).append("  ")
    if bids:
        words.append("or a bid from ").append_text(suited(wording.suited(bids[0]["action"])))
    return words


def _bridge(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = [_hands(session, table)]
    rows = Grid(*(SEAT_NAMES[seat] for seat in wording.COLUMNS), box=None, padding=(0, 2, 0, 0))
    cells = [""] * wording.COLUMNS.index(table["dealer"]) + [wording.suited(call) for call in table["calls"]]
    cells += ["?"] * (table["phase"] == "auction")
    cells += [""] * (-len(cells) % 4)
    for start in range(0, len(cells), 4):
        rows.add_row(*(suited(cell) for cell in cells[start : start + 4]))
    vulnerable = ("nobody", "N/S", "E/W", "everybody")[table["vulnerable"]]
    parts += [Text(f"dealer {SEATS[table['dealer']]}, vulnerable: {vulnerable}"), rows]
    if table["contract"]:
        parts.append(Text.assemble("contract: ", suited(table["contract"])))
    head = f"tricks: N/S {table['won'][0]}, E/W {table['won'][1]}" if table["tricks"] else ""
    return parts + _trick(table, head)


def _spades(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    scores = ", ".join(f"{side['side']} {side['score']} ({side['bags']} bags)" for side in table["scores"])
    bids = ", ".join(f"{SEATS[s]} {table['bids'][s] or '-'}/{table['won'][s]}" for s in range(4))
    parts = [_hands(session, table), Text(f"score: {scores}"), Text(f"bids/tricks: {bids}")]
    return parts + _trick(table, "")


def _signals(session: Session, table: dict[str, Any]) -> list[RenderableType]:
    known = [
        f"{seat_name(session, p)}: {table['word']} {'?' if x is None else x}" for p, x in enumerate(table["types"])
    ]
    said = [f"{seat_name(session, step['player'])} {step['text']}" for step in table["history"]]
    return [Text("   ".join(known)), Text("   ".join(said) or "nothing said yet")]


def _hands(session: Session, table: dict[str, Any]) -> RenderableType:
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for seat, cards in enumerate(table["hands"]):
        mark = "*" if table["turn"] == seat else " "
        words = Text(f"{table['counts'][seat]} cards") if cards is None else _hand(cards, table)
        grid.add_row(f"{mark}{seat_name(session, seat)} ({session.seats[seat]})", words)
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
            words.append(f"{SEATS[seat]} ").append_text(suited(wording.card(card))).append("  ")
    return [words.append(f"({SEATS[trick['winner']]} wins)" if trick["winner"] >= 0 else "")]


def hint(session: Session, name: str) -> RenderableType:
    """What the agent ``name`` (default: one at the table) would do, and why."""
    player = session.position().player
    if not name:
        known = [seat for seat in session.seats if seat != HUMAN]
        name = known[0] if known else usual(session.setup.game)
    found: Thoughts = session.thoughts(name)
    lines: list[RenderableType] = [Text(f"{name} for {seat_name(session, player)}: {found.text}".rstrip(": "))]
    lines += [Text(f"  {label}: {value}") for label, value in found.facts]
    for action, chance in sorted(found.chances.items(), key=lambda item: -item[1])[:6]:
        lines.append(Text.assemble(f"  {chance:6.1%}  ", suited(action_text(show.action_data(session, action)))))
    for action, (mean, error) in sorted(found.values.items(), key=lambda item: -item[1][0])[:6]:
        words = suited(action_text(show.action_data(session, action)))
        spread = f" ± {error:.2f}" if math.isfinite(error) else ""
        lines.append(Text.assemble(f"  {mean:6.2f}{spread} {found.unit}  ", words))
    for bars in found.bars:
        lines.append(Text(f"  {bars.title}: " + ", ".join(f"{label} {value:.0%}" for label, value in bars.rows)))
    return Group(*lines)


def tricks(session: Session) -> RenderableType:
    """Double-dummy table and par."""
    from bidzoo.play.show_bridge import double_dummy

    found = double_dummy(session)
    grid = Grid("", "♣", "♦", "♥", "♠", "NT", title=f"double dummy; par {found['words']}", title_justify="left")
    for seat in range(4):
        grid.add_row(SEAT_NAMES[seat], *(str(n) for n in found["tricks"][5 * seat : 5 * seat + 5]))
    return grid


def seat_name(session: Session, player: int) -> str:
    """What the place of ``player`` is called."""
    return offer(session.setup.game).seats[player]


def action_text(step: dict[str, Any]) -> str:
    """An action's text with suits as symbols where it is a card."""
    if step["card"] is None or len(step["text"]) != 2 or step["text"][0] not in SYMBOLS:
        return str(step["text"])
    return SYMBOLS[step["text"][0]] + str(step["text"][1])


def suited(words: str) -> Text:
    """``words`` with suit symbols in their colours."""
    text = Text(words)
    for suit, letter in enumerate("CDHS"):
        text.highlight_words([SYMBOLS[letter]], COLORS[suit])
    return text


def commands() -> RenderableType:
    """What can be typed."""
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_row("1NT, X, P, SA, 4, nil ...", "an action, or its number")
    for command, meaning in COMMANDS.items():
        grid.add_row(command, meaning)
    return grid

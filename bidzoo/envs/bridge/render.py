"""A bridge table as text: all hands, auction, contract, play, result."""

from bidzoo.cards import SEAT_NAMES, SEATS
from bidzoo.envs.bridge import wording
from bidzoo.envs.bridge.state import PLAY
from bidzoo.envs.bridge.wording import COLUMNS
from bidzoo.kernels import Table


def text(table: Table) -> str:
    """The table in plain text; suits are symbols."""
    blocks = [_headline(table), _compass(table), _auction_text(table), _ending(table)]
    if int(table["plays"]):
        blocks.append(_tricks_text(table))
    return "\n\n".join(block for block in blocks if block)


def _headline(table: Table) -> str:
    second = ", second table" if int(table["table"]) else ""
    dealer = SEATS[int(table["dealer"])]
    return f"Board {int(table['board'])}{second} · dealer {dealer} · vulnerable: {wording.vulnerable(table)}"


def _shown(table: Table, seat: int) -> int:
    """Cards still held during the play, dealt cards otherwise."""
    return int(table["held" if int(table["phase"]) == PLAY else "hands"][seat])


def _compass(table: Table) -> str:
    north, east, south, west = ([SEAT_NAMES[seat], *wording.suits(_shown(table, seat))] for seat in range(4))
    rows = [" " * 18 + line for line in north]
    rows += [f"{left:<36}{right}" for left, right in zip(west, east, strict=True)]
    rows += [" " * 18 + line for line in south]
    return "\n".join(row.rstrip() for row in rows)


def _auction_text(table: Table) -> str:
    marks = ["*" if seat == int(table["dealer"]) else "" for seat in range(4)]
    rows = [[SEAT_NAMES[seat] + marks[seat] for seat in COLUMNS], *wording.auction(table)]
    return "\n".join("".join(f"{cell:<8}" for cell in row).rstrip() for row in rows)


def _ending(table: Table) -> str:
    parts = (wording.contract(table), wording.result(table), wording.first_table(table))
    return "Contract: " + ", ".join(part for part in parts if part)


def _tricks_text(table: Table) -> str:
    won = table["won"]
    rows = [f"Tricks: N/S {int(won[0])}, E/W {int(won[1])}"]
    for i, (cards, leader) in enumerate(wording.tricks(table)):
        order = [(leader + k) % 4 for k in range(4)]
        played = " ".join(wording.card(cards[seat]) for seat in order if cards[seat] >= 0)
        taken = f"  {SEATS[wording.winner(cards, leader, int(table['bid']) % 5)]} wins" if min(cards) >= 0 else ""
        rows.append(f"{i + 1:>2}  {SEATS[leader]} leads  {played}{taken}")
    return "\n".join(rows)

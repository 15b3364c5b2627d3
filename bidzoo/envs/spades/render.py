"""A Spades table as plain text."""

from bidzoo.cards import SEATS
from bidzoo.envs.spades.deck import deck_card_text, deck_hand_text
from bidzoo.envs.spades.features import sides_named
from bidzoo.envs.spades.state import DECKS, OVER, PLAY, VARIANTS
from bidzoo.kernels import Table


def bid_text(bid: int, blind: bool = False) -> str:
    """``nil``, ``blind nil``, ``4``, or ``-`` before the bid."""
    if bid == 0:
        return "blind nil" if blind else "nil"
    return str(bid) if bid > 0 else "-"


def text(table: Table) -> str:
    """Scores, hands, bids and tricks of a table (all hands shown)."""
    sides, deck = int(table["sides"]), int(table["deck"])
    names = sides_named(sides)
    rules = f"Spades ({VARIANTS[table['variant']]}, {DECKS[deck]} deck), board {table['board']}"
    rounds = f"over after {table['rounds']} round{'s' * int(table['rounds'] != 1)}"
    now = f"round {table['rounds'] + 1}, dealer {SEATS[table['dealer']]}"
    lines = [
        f"{rules}, {rounds if table['phase'] == OVER else now}",
        "score: " + ", ".join(f"{names[s]} {table['scores'][s]} ({table['bags'][s]} bags)" for s in range(sides)),
    ]
    if table["rounds"]:
        lines.append("last round: " + ", ".join(f"{names[s]} {table['gains'][s]:+d}" for s in range(sides)))
    for seat in range(4):
        bid = bid_text(int(table["bids"][seat]), bool(table["blind"] >> seat & 1))
        hand = deck_hand_text(deck, int(table["held"][seat]))
        lines.append(
            f"{SEATS[seat]}{'*' if table['turn'] == seat else ' '} {hand:<20} bid {bid:<9} won {table['won'][seat]}"
        )
    lines += tricks(table)
    if table["phase"] == OVER:
        winner = int(table["winner"])
        lines.append(f"{names[winner]} won" if winner >= 0 else "a draw")
    return "\n".join(lines)


def tricks(table: Table) -> list[str]:
    """One line a trick: who played what, in order."""
    deck, plays = int(table["deck"]), int(table["plays"])
    lines = []
    for start in range(0, plays, 4):
        played = [
            f"{SEATS[table['players'][t]]} {deck_card_text(deck, int(table['played'][t]))}"
            for t in range(start, min(start + 4, plays))
        ]
        lines.append(f"trick {start // 4 + 1:>2}: {', '.join(played)}")
    if table["phase"] == PLAY and not table["broken"]:
        lines.append("spades are not broken")
    return lines

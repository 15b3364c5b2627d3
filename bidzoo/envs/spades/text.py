"""A Spades table as plain text."""

from bidzoo.core.cards import SEATS
from bidzoo.core.kernels import State
from bidzoo.envs.spades.deals import deck_card_text, deck_hand_text
from bidzoo.envs.spades.features import sides_named
from bidzoo.envs.spades.state import DECKS, OVER, PLAY, VARIANTS


def bid_text(bid: int, blind: bool = False) -> str:
    """``nil``, ``blind nil``, ``4``, or ``-`` before the bid."""
    if bid == 0:
        return "blind nil" if blind else "nil"
    return str(bid) if bid > 0 else "-"


def scores(state: State) -> list[str]:
    """``N/S 120 (3 bags)`` by side."""
    names = sides_named(int(state["sides"]))
    return [f"{name} {state['scores'][side]} ({state['bags'][side]} bags)" for side, name in enumerate(names)]


def gains(state: State) -> str:
    """Points of the last round by side; empty before it."""
    names = sides_named(int(state["sides"]))
    points = ", ".join(f"{name} {state['gains'][side]:+d}" for side, name in enumerate(names))
    return f"last round: {points}" if state["rounds"] else ""


def winner(state: State) -> str:
    """Who won; empty before the end."""
    if state["phase"] != OVER:
        return ""
    side = int(state["winner"])
    return f"{sides_named(int(state['sides']))[side]} won" if side >= 0 else "a draw"


def text(state: State) -> str:
    """Scores, hands, bids and tricks of a table (all hands shown)."""
    deck = int(state["deck"])
    rules = f"Spades ({VARIANTS[state['variant']]}, {DECKS[deck]} deck), board {state['board'] + 1}"
    rounds = f"over after {state['rounds']} round{'s' * int(state['rounds'] != 1)}"
    now = f"round {state['rounds'] + 1}, dealer {SEATS[state['dealer']]}"
    lines = [
        f"{rules}, {rounds if state['phase'] == OVER else now}",
        f"score: {', '.join(scores(state))}",
        gains(state),
    ]
    for seat in range(4):
        bid = bid_text(int(state["bids"][seat]), bool(state["blind"] >> seat & 1))
        hand = deck_hand_text(deck, int(state["held"][seat]))
        lines.append(
            f"{SEATS[seat]}{'*' if state['turn'] == seat else ' '} {hand:<20} bid {bid:<9} won {state['won'][seat]}"
        )
    return "\n".join(line for line in [*lines, *tricks(state), winner(state)] if line)


def tricks(state: State) -> list[str]:
    """One line a trick: who played what, in order."""
    deck, plays = int(state["deck"]), int(state["plays"])
    lines = []
    for start in range(0, plays, 4):
        played = [
            f"{SEATS[state['players'][t]]} {deck_card_text(deck, int(state['played'][t]))}"
            for t in range(start, min(start + 4, plays))
        ]
        lines.append(f"trick {start // 4 + 1:>2}: {', '.join(played)}")
    if state["phase"] == PLAY and not state["broken"]:
        lines.append("spades are not broken")
    return lines

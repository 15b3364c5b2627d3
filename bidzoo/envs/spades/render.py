"""A Spades table as people see it: as plain text, and drawn with its hands, bids, current trick, scores and bags."""

from bidzoo.core.cards import SEATS
from bidzoo.core.kernels import State
from bidzoo.envs.picture import ACCENT, EDGE, FELT, INK, PALE, PANEL, Picture
from bidzoo.envs.render import cards_left
from bidzoo.envs.spades.deals import cards_of_suit, deck_card_text, deck_hand_text
from bidzoo.envs.spades.observation import sides_named
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
    """Scores, hands, bids and tricks of a table. Of a hand that is 0, so not shown, the number of cards."""
    deck = int(state["deck"])
    rules = f"Spades ({VARIANTS[state['variant']]}, {DECKS[deck]} deck), board {state['board'] + 1}"
    ending = f"over after {state['rounds']} round{'s' * int(state['rounds'] != 1)}"
    status = f"round {state['rounds'] + 1}, dealer {SEATS[state['dealer']]}"
    lines = [
        f"{rules}, {ending if state['phase'] == OVER else status}",
        f"score: {', '.join(scores(state))}",
        gains(state),
    ]
    for seat in range(4):
        bid = bid_text(int(state["bids"][seat]), bool(state["blind"] >> seat & 1))
        held, dealt = int(state["held"][seat]), state["hands"][seat]
        hand = deck_hand_text(deck, held) if dealt else f"{cards_left(state, seat)} cards"
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


# ---- drawn ---------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 760, 560
_HANDS = {0: (290, 60), 1: (520, 215), 2: (290, 400), 3: (60, 215)}  # upper left corner of each seat's panel
_CENTRE = {0: (380, 240), 1: (440, 287), 2: (380, 335), 3: (320, 287)}  # middle of each seat's card in the trick
_PANEL = (180, 135)


def picture(state: State) -> Picture:
    """The whole table, all four hands open."""
    drawing = Picture(_WIDTH, _HEIGHT)
    _head(drawing, state)
    drawing.box(270, 200, 220, 175, FELT, radius=14)
    for seat in range(4):
        _seat(drawing, state, seat)
    plays = int(state["plays"])
    for t in range(plays - plays % 4, plays):
        x, y = _CENTRE[int(state["players"][t])]
        _card(drawing, x, y, int(state["deck"]), int(state["played"][t]))
    return drawing


def _head(drawing: Picture, state: State) -> None:
    rules = f"{VARIANTS[state['variant']]}, {DECKS[state['deck']]} deck"
    status = f"over after {state['rounds']} rounds" if state["phase"] == OVER else f"round {state['rounds'] + 1}"
    drawing.text(20, 22, f"Spades \u00b7 {rules} \u00b7 board {state['board'] + 1} \u00b7 {status}", 14, bold=True)
    drawing.text(20, 44, " \u00b7 ".join(scores(state)), 13)
    if state["rounds"]:
        drawing.text(_WIDTH - 20, 44, gains(state), 12, PALE, "end")
    if state["phase"] == OVER:
        drawing.text(_WIDTH - 20, 22, winner(state), 14, ACCENT, "end", bold=True)


def _seat(drawing: Picture, state: State, seat: int) -> None:
    left, top = _HANDS[seat]
    turn = state["turn"] == seat
    drawing.box(left, top, *_PANEL, PANEL, ACCENT if turn else EDGE, 8, 2 if turn else 1)
    bid = bid_text(int(state["bids"][seat]), bool(int(state["blind"]) >> seat & 1))
    dealer = " \u00b7 D" if state["dealer"] == seat and state["phase"] != OVER else ""
    drawing.text(left + 12, top + 17, SEATS[seat] + dealer, 15, bold=True)
    drawing.text(left + _PANEL[0] - 12, top + 17, f"bid {bid}, won {state['won'][seat]}", 12, anchor="end")
    deck, held, hand = int(state["deck"]), int(state["held"][seat]), int(state["hands"][seat])
    for i, suit in enumerate((3, 2, 1, 0)):
        line = top + 42 + 23 * i
        drawing.suit(left + 20, line, suit, 14)
        x = left + 36.0
        for card in cards_of_suit(deck, hand, suit):
            rank = _rank(deck, card, suit)
            drawing.text(x, line, rank, 15, INK if held >> card & 1 else PALE, bold=bool(held >> card & 1))
            x += 11 * len(rank)


def _rank(deck: int, card: int, suit: int) -> str:
    name = deck_card_text(deck, card)
    return name if name in ("BJ", "LJ") else name[0] if card % 4 == suit else "2d"


def _card(drawing: Picture, x: float, y: float, deck: int, card: int) -> None:
    name = deck_card_text(deck, card)
    if name in ("BJ", "LJ"):
        drawing.box(x - 20, y - 28, 40, 56, PANEL, EDGE, 5)
        drawing.text(x, y, name, 18, anchor="middle", bold=True)
    else:
        drawing.card(x, y, card)

"""A Spades table as a picture: the four hands with their bids, the current trick, scores and bags."""

from bidzoo.core.cards import SEATS
from bidzoo.core.kernels import State
from bidzoo.envs.picture import ACCENT, EDGE, FELT, INK, PALE, PANEL, Picture
from bidzoo.envs.spades.deals import cards_of_suit, deck_card_text
from bidzoo.envs.spades.state import DECKS, OVER, VARIANTS
from bidzoo.envs.spades.text import bid_text, gains, scores, winner

_WIDTH, _HEIGHT = 760, 560
_HANDS = {0: (290, 60), 1: (520, 215), 2: (290, 400), 3: (60, 215)}  # upper left corner of each seat's panel
_CENTRE = {0: (380, 240), 1: (440, 287), 2: (380, 335), 3: (320, 287)}  # middle of each seat's card in the trick
_PANEL = (180, 135)


def picture(state: State) -> Picture:
    """The table as everybody's cards are seen from above."""
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
    rule = f"{VARIANTS[state['variant']]}, {DECKS[state['deck']]} deck"
    when = f"over after {state['rounds']} rounds" if state["phase"] == OVER else f"round {state['rounds'] + 1}"
    drawing.text(20, 22, f"Spades \u00b7 {rule} \u00b7 board {state['board'] + 1} \u00b7 {when}", 14, bold=True)
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
            text = _rank(deck, card, suit)
            drawing.text(x, line, text, 15, INK if held >> card & 1 else PALE, bold=bool(held >> card & 1))
            x += 11 * len(text)


def _rank(deck: int, card: int, suit: int) -> str:
    text = deck_card_text(deck, card)
    return text if text in ("BJ", "LJ") else text[0] if card % 4 == suit else "2d"


def _card(drawing: Picture, x: float, y: float, deck: int, card: int) -> None:
    text = deck_card_text(deck, card)
    if text in ("BJ", "LJ"):
        drawing.box(x - 20, y - 28, 40, 56, PANEL, EDGE, 5)
        drawing.text(x, y, text, 18, anchor="middle", bold=True)
    else:
        drawing.card(x, y, card)

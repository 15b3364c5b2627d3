"""A bridge table as a ``Picture``: hands around the table, auction, tricks, contract and double-dummy tricks."""

from bidzoo.core.cards import SEAT_NAMES, SEATS, STRAINS, SYMBOLS, card_symbol
from bidzoo.core.kernels import State
from bidzoo.envs.bridge import text
from bidzoo.envs.bridge.state import AUCTION, PLAY
from bidzoo.envs.bridge.text import COLUMNS
from bidzoo.envs.picture import ACCENT, ALARM, EDGE, FELT, INK, PALE, PANEL, SAFE, Picture

_GAP, _WIDE, _HIGH = 20, 200, 140  # margins; a hand
_X = [_GAP + i * (_WIDE + 12) for i in range(4)]  # columns: West, North and South, East, side bar
_Y = (_GAP, _GAP + _HIGH + 12, _GAP + _HIGH + 24 + _WIDE)  # rows: North, the table, South
_HANDS = ((_X[1], _Y[0]), (_X[2], _Y[1] + (_WIDE - _HIGH) / 2), (_X[1], _Y[2]), (_X[0], _Y[1] + (_WIDE - _HIGH) / 2))
_BAR = 260  # width of the side bar
_SIZE = (_X[3] + 8 + _BAR + _GAP, _Y[2] + _HIGH + _GAP)
_TOWARDS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # from the middle of the table to each seat
_QUIET = "#5b6472"


def picture(state: State) -> Picture:
    """The whole table, all four hands open."""
    out = Picture(*_SIZE)
    for seat in range(4):
        _hand(out, state, seat)
    _table(out, state)
    _corners(out, state)
    tricks = text.tricks(state)
    high = _SIZE[1] - 2 * _GAP
    trick_high = 48 + 19 * 13 if tricks else 0
    _auction(out, state, high - trick_high - (12 if tricks else 0))
    if tricks:
        _tricks(out, state, tricks, _SIZE[1] - _GAP - trick_high, trick_high)
    return out


def _hand(picture: Picture, state: State, seat: int) -> None:
    x, y = _HANDS[seat]
    turn = seat in (int(state["turn"]), int(state["hand_to_play"]))
    picture.box(x, y, _WIDE, _HIGH, PANEL, ACCENT if turn else EDGE, 10, 3 if turn else 1)
    picture.text(x + 14, y + 20, SEAT_NAMES[seat], 15, bold=True)
    picture.text(x + _WIDE - 14, y + 20, _role(state, seat), 12, _QUIET, "end")
    dealt, held = int(state["hands"][seat]), int(state["held"][seat])
    picture.hand(x + 14, y + 48, dealt, dealt & ~held if state["phase"] == PLAY else 0, 17)


def _role(state: State, seat: int) -> str:
    declarer = int(state["declarer"])
    if declarer >= 0:
        return {0: "declarer", 2: "dummy"}.get((seat - declarer) % 4, "")
    return "dealer" if seat == int(state["dealer"]) else ""


def _table(picture: Picture, state: State) -> None:
    """The felt: vulnerability at its edges, the last calls or the trick on it."""
    x, y, middle = _X[1], _Y[1], _WIDE / 2
    picture.box(x, y, _WIDE, _WIDE, FELT, "", 14)
    for seat, (right, down) in enumerate(_TOWARDS):
        color = ALARM if int(state["vulnerable"]) >> (seat % 2) & 1 else "#8fb3a5"
        wide, high = (64, 6) if down else (6, 64)
        at = (x + middle + right * (middle - 10), y + middle + down * (middle - 10))
        picture.box(at[0] - wide / 2, at[1] - high / 2, wide, high, color, "", 3)
    where = [(x + middle + right * 58, y + middle + down * 50) for right, down in _TOWARDS]
    if int(state["phase"]) == AUCTION:
        _last_calls(picture, state, where)
    elif int(state["plays"]):
        _last_trick(picture, state, where)
    else:
        _big_contract(picture, state, x + middle, y + middle)


def _last_calls(picture: Picture, state: State, where: list[tuple[float, float]]) -> None:
    length = int(state["length"])
    for t in range(max(length - 4, 0), length):
        x, y = where[(int(state["dealer"]) + t) % 4]
        picture.box(x - 25, y - 15, 50, 30, PANEL, EDGE, 5)
        picture.text(x, y, text.suited(int(state["calls"][t])), 17, INK, "middle", bold=True)


def _last_trick(picture: Picture, state: State, where: list[tuple[float, float]]) -> None:
    cards, leader = text.tricks(state)[-1]
    best = text.winner(cards, leader, int(state["bid"]) % 5)
    for seat, (x, y) in enumerate(where):
        if cards[seat] >= 0:
            if seat == best:
                picture.box(x - 24.5, y - 32, 49, 64, ACCENT, "", 8)
            picture.card(x, y, cards[seat], 58)


def _big_contract(picture: Picture, state: State, x: float, y: float) -> None:
    contract, _, declarer = text.contract(state).partition(" by ")
    wide = 150 if declarer else 140
    picture.box(x - wide / 2, y - 38, wide, 76, PANEL, EDGE, 10)
    picture.text(x, y - (10 if declarer else 0), contract, 30 if declarer else 20, INK, "middle", bold=True)
    picture.text(x, y + 20, f"by {declarer}" if declarer else "", 14, _QUIET, "middle")


def _corners(picture: Picture, state: State) -> None:
    x, y = _X[0] + 4, _Y[0] + 14
    picture.text(x, y, f"Board {int(state['board']) + 1}", 22, bold=True)
    lines = [f"dealer {SEAT_NAMES[int(state['dealer'])]}", f"vulnerable: {text.vulnerable(state)}"]
    lines += ["second table"] if int(state["leg"]) else []
    _lines(picture, x, y + 28, lines)
    x = _X[2] + 4
    over = int(state["phase"]) != AUCTION
    picture.text(x, y, text.contract(state), 18, INK if over else _QUIET, bold=over)
    tricks = f"tricks N/S {int(state['won'][0])}, E/W {int(state['won'][1])}" if int(state["plays"]) else ""
    _lines(picture, x, y + 28, [line for line in (tricks, *text.result(state).split(", ")) if line])
    _lines(picture, _X[0] + 4, _Y[2] + _HIGH - 12, [text.first_table(state)])
    if int(state["tricks"].min()) >= 0:
        _double_dummy(picture, state, _X[2], _Y[2])


def _lines(picture: Picture, x: float, y: float, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        picture.text(x, y + 21 * i, line, 14, _QUIET)


def _double_dummy(picture: Picture, state: State, x: float, y: float) -> None:
    """Tricks of each declarer in each strain, from the lower right corner of the compass."""
    picture.text(x + 4, y + 12, "Double dummy", 13, _QUIET)
    strains = [SYMBOLS.get(strain, strain) for strain in STRAINS]
    tricks = state["tricks"].reshape(4, 5)
    rows = [["", *strains], *([SEATS[seat], *(str(int(n)) for n in tricks[seat])] for seat in (0, 2, 1, 3))]
    picture.grid(x, y + 38, rows, [28] + [33] * 5, step=22, size=14)


def _auction(picture: Picture, state: State, high: float) -> None:
    x, y = _X[3] + 8, _GAP
    rows, room = text.auction(state), int((high - 52) // 22)
    picture.box(x, y, _BAR, min(high, 52 + 22 * max(len(rows), 6)), PANEL, EDGE, 10)
    _seats(picture, state, x, y)
    if len(rows) > room:
        rows = [["..."] * 4, *rows[len(rows) - room + 1 :]]
    picture.grid(x, y + 54, rows, [_BAR / 4] * 4, step=22, size=16)


def _seats(picture: Picture, state: State, x: float, y: float) -> None:
    """W N E S, red when vulnerable, the dealer underlined."""
    for i, seat in enumerate(COLUMNS):
        middle = x + _BAR / 4 * (i + 0.5)
        hot = int(state["vulnerable"]) >> (seat % 2) & 1
        picture.box(middle - 25, y + 10, 50, 26, ALARM if hot else SAFE, "", 6)
        picture.text(middle, y + 23, SEATS[seat], 16, PANEL, "middle", bold=True)
        if seat == int(state["dealer"]):
            picture.box(middle - 8, y + 32, 16, 2, PANEL)


def _tricks(picture: Picture, state: State, tricks: list[tuple[list[int], int]], y: float, high: float) -> None:
    """A row a trick in the columns W N E S: the lead on a tint, the winner framed."""
    x, wide = _X[3] + 8, (_BAR - 36) / 4
    picture.box(x, y, _BAR, high, PANEL, EDGE, 10)
    for i, (cards, leader) in enumerate(tricks):
        line = y + 44 + 19 * i
        picture.text(x + 26, line, str(i + 1), 12, PALE, "end")
        best = text.winner(cards, leader, int(state["bid"]) % 5) if min(cards) >= 0 else -1
        for k, seat in enumerate(COLUMNS):
            if cards[seat] >= 0:
                middle = x + 30 + wide * (k + 0.5)
                tint, edge = "#e3e7ee" if seat == leader else PANEL, ACCENT if seat == best else ""
                picture.box(middle - 21, line - 8.5, 42, 17, tint, edge, 4, 1.5)
                picture.text(middle, line, card_symbol(cards[seat]), 14, INK, "middle", bold=seat == best)
    for k, seat in enumerate(COLUMNS):
        picture.text(x + 30 + wide * (k + 0.5), y + 18, SEATS[seat], 13, _QUIET, "middle")

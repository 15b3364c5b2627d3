"""A bridge table as people see it: contract, result, auction and tricks in a player's words, as text, and drawn."""

from bidzoo.core.cards import (
    SEAT_NAMES,
    SEATS,
    SIDES,
    STRAINS,
    SUITS,
    SYMBOLS,
    VULNERABLE_TEXT,
    call_text,
    card_symbol,
    suit_text,
)
from bidzoo.core.kernels import I8, State
from bidzoo.envs.bridge.board import contract_text
from bidzoo.envs.bridge.play import beats_row
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY, UNKNOWN_POINTS
from bidzoo.envs.picture import ACCENT, ALARM, EDGE, FELT, INK, PALE, PANEL, SAFE, Picture
from bidzoo.envs.render import cards_left

COLUMNS = (3, 0, 1, 2)  # West first, as auctions are written


def suited(call: int) -> str:
    """``"1♠"`` for the call 1S: suits as symbols; ``P``, ``X``, ``XX`` and ``NT`` as they are."""
    return _with_symbol(call_text(call))


def suited_contract(bid: int, stake: int) -> str:
    """``"4♠X"``."""
    return _with_symbol(contract_text(bid, stake))


def _with_symbol(text: str) -> str:
    return text[:1] + SYMBOLS.get(text[1:2], text[1:2]) + text[2:]


def vulnerable(state: State) -> str:
    """Who is vulnerable."""
    return VULNERABLE_TEXT[int(state["vulnerable"])]


def contract(state: State) -> str:
    """The contract, the last bid while the auction lasts, or that there is none."""
    bid, over = int(state["bid"]), int(state["phase"]) != AUCTION
    if bid < 0:
        return "passed out" if over else "no bid yet"
    declarer = SEAT_NAMES[int(state["declarer"] if over else state["bidder"])]
    return f"{suited_contract(bid, int(state['stake']))} by {declarer}"


def result(state: State) -> str:
    """How the board ended: tricks against the contract and the score; empty before."""
    declarer, points = int(state["declarer"]), int(state["points"][int(state["leg"])])
    if int(state["phase"]) != OVER or declarer < 0:
        return ""
    played = int(state["plays"]) > 0
    bid, side = int(state["bid"]), declarer % 2
    tricks = int(state["won"][side]) if played else int(state["tricks"][5 * declarer + bid % 5])
    if tricks < 0 or points == UNKNOWN_POINTS:
        return "tricks not known"
    extra = tricks - (bid // 5 + 7)
    outcome = "made" if extra == 0 else f"made +{extra}" if extra > 0 else f"down {-extra}"
    return f"{outcome}{'' if played else ' double dummy'}, {score(points)}"


def score(points: int) -> str:
    """Duplicate points of the side that has them."""
    return f"{SIDES[points < 0]} {abs(points)}"


def first_table(state: State) -> str:
    """The score at the first table of a duplicate pair, once the second is played; else empty."""
    points = int(state["points"][0])
    if int(state["leg"]) == 0 or points == UNKNOWN_POINTS:
        return ""
    return f"first table {score(points)}"


def auction(state: State) -> list[list[str]]:
    """Rows of calls in the columns W N E S; ``?`` stands where the next call goes."""
    calls = [suited(int(call)) for call in state["calls"][: int(state["length"])]]
    if int(state["phase"]) == AUCTION:
        calls.append("?")
    cells = [""] * COLUMNS.index(int(state["dealer"])) + calls
    cells += [""] * (-len(cells) % 4)
    return [cells[i : i + 4] for i in range(0, len(cells), 4)]


def tricks(state: State) -> list[tuple[list[int], int]]:
    """Tricks so far as (card of N E S W or -1, leader); the last may be incomplete."""
    history: list[tuple[list[int], int]] = []
    for i in range(int(state["plays"])):
        seat = int(state["players"][i])
        if i % 4 == 0:
            history.append(([-1] * 4, seat))
        history[-1][0][seat] = int(state["played"][i])
    return history


def winner(cards: list[int], leader: int, trump: int) -> int:
    """Seat winning the trick so far; ``trump`` 4 for none."""
    best = leader
    for seat in ((leader + k) % 4 for k in range(1, 4)):
        if cards[seat] >= 0 and beats_row(cards[seat], cards[best], trump):
            best = seat
    return best


# ---- as text -----------------------------------------------------------------------------


def text(state: State) -> str:
    """The table in plain text; suits are symbols."""
    blocks = [_headline(state), _compass(state), _auction_text(state), _ending(state)]
    if int(state["plays"]):
        blocks.append(_tricks_text(state))
    return "\n\n".join(block for block in blocks if block)


def _headline(state: State) -> str:
    second = ", second table" if int(state["leg"]) else ""
    dealer = SEATS[int(state["dealer"])]
    return f"Board {int(state['board']) + 1}{second} · dealer {dealer} · vulnerable: {vulnerable(state)}"


def _compass(state: State) -> str:
    north, east, south, west = ([SEAT_NAMES[seat], *_suits(state, seat)] for seat in range(4))
    rows = [" " * 18 + line for line in north]
    rows += [f"{left:<36}{right}" for left, right in zip(west, east, strict=True)]
    rows += [" " * 18 + line for line in south]
    return "\n".join(row.rstrip() for row in rows)


def _suits(state: State, seat: int) -> list[str]:
    """``["♠ AK", "♥ QJ2", "♦ -", "♣ T98"]``; of a hand that is 0, so not shown, the number of its cards."""
    if not state["hands"][seat]:
        return [f"{cards_left(state, seat)} cards", "", "", ""]
    hand = int(state["held" if int(state["phase"]) == PLAY else "hands"][seat])  # the dealt cards out of the play
    return [f"{SYMBOLS[SUITS[suit]]} {suit_text(hand, suit) or '-'}" for suit in (3, 2, 1, 0)]


def double_dummy_text(tricks: I8, points: int) -> str:
    """The table of tricks ``[20]``, and par of ``points`` for North/South."""
    rows = [["", *STRAINS], *([SEAT_NAMES[seat], *map(str, tricks[5 * seat : 5 * seat + 5])] for seat in range(4))]
    table = "\n".join(f"{row[0]:<8}" + "".join(f"{cell:>4}" for cell in row[1:]) for row in rows)
    return f"{table}\nPar: {score(points) if points else '0'}"


def _auction_text(state: State) -> str:
    marks = ["*" if seat == int(state["dealer"]) else "" for seat in range(4)]
    rows = [[SEAT_NAMES[seat] + marks[seat] for seat in COLUMNS], *auction(state)]
    return "\n".join("".join(f"{cell:<8}" for cell in row).rstrip() for row in rows)


def _ending(state: State) -> str:
    parts = (contract(state), result(state), first_table(state))
    return "Contract: " + ", ".join(part for part in parts if part)


def _tricks_text(state: State) -> str:
    won = state["won"]
    rows = [f"Tricks: N/S {int(won[0])}, E/W {int(won[1])}"]
    for i, (cards, leader) in enumerate(tricks(state)):
        order = [(leader + k) % 4 for k in range(4)]
        cards_played = " ".join(card_symbol(cards[seat]) for seat in order if cards[seat] >= 0)
        wins = f"  {SEATS[winner(cards, leader, int(state['bid']) % 5)]} wins" if min(cards) >= 0 else ""
        rows.append(f"{i + 1:>2}  {SEATS[leader]} leads  {cards_played}{wins}")
    return "\n".join(rows)


# ---- drawn ---------------------------------------------------------------------------------

_GAP, _WIDTH, _HEIGHT = 20, 200, 140  # margins; a hand
_X = [_GAP + i * (_WIDTH + 12) for i in range(4)]  # columns: West, North and South, East, side bar
_Y = (_GAP, _GAP + _HEIGHT + 12, _GAP + _HEIGHT + 24 + _WIDTH)  # rows: North, the table, South
_HANDS = (
    (_X[1], _Y[0]),
    (_X[2], _Y[1] + (_WIDTH - _HEIGHT) / 2),
    (_X[1], _Y[2]),
    (_X[0], _Y[1] + (_WIDTH - _HEIGHT) / 2),
)
_BAR = 260  # width of the side bar
_SIZE = (_X[3] + 8 + _BAR + _GAP, _Y[2] + _HEIGHT + _GAP)
_DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # from the middle of the table to each seat
_QUIET = "#5b6472"


def picture(state: State) -> Picture:
    """The whole table, all four hands open."""
    drawing = Picture(*_SIZE)
    for seat in range(4):
        _hand(drawing, state, seat)
    _table(drawing, state)
    _corners(drawing, state)
    played = tricks(state)
    height = _SIZE[1] - 2 * _GAP
    tricks_height = 48 + 19 * 13 if played else 0
    _auction(drawing, state, height - tricks_height - (12 if played else 0))
    if played:
        _tricks(drawing, state, played, _SIZE[1] - _GAP - tricks_height, tricks_height)
    return drawing


def _hand(drawing: Picture, state: State, seat: int) -> None:
    x, y = _HANDS[seat]
    turn = seat in (int(state["turn"]), int(state["hand_to_play"]))
    drawing.box(x, y, _WIDTH, _HEIGHT, PANEL, ACCENT if turn else EDGE, 10, 3 if turn else 1)
    drawing.text(x + 14, y + 20, SEAT_NAMES[seat], 15, bold=True)
    drawing.text(x + _WIDTH - 14, y + 20, _role(state, seat), 12, _QUIET, "end")
    dealt, held = int(state["hands"][seat]), int(state["held"][seat])
    drawing.hand(x + 14, y + 48, dealt, dealt & ~held if state["phase"] == PLAY else 0, 17)


def _role(state: State, seat: int) -> str:
    declarer = int(state["declarer"])
    if declarer >= 0:
        return {0: "declarer", 2: "dummy"}.get((seat - declarer) % 4, "")
    return "dealer" if seat == int(state["dealer"]) else ""


def _table(drawing: Picture, state: State) -> None:
    """The felt: vulnerability at its edges, the last calls or the trick on it."""
    x, y, middle = _X[1], _Y[1], _WIDTH / 2
    drawing.box(x, y, _WIDTH, _WIDTH, FELT, "", 14)
    for seat, (right, down) in enumerate(_DIRECTIONS):
        color = ALARM if int(state["vulnerable"]) >> (seat % 2) & 1 else "#8fb3a5"
        width, height = (64, 6) if down else (6, 64)
        centre = (x + middle + right * (middle - 10), y + middle + down * (middle - 10))
        drawing.box(centre[0] - width / 2, centre[1] - height / 2, width, height, color, "", 3)
    positions = [(x + middle + right * 58, y + middle + down * 50) for right, down in _DIRECTIONS]
    if int(state["phase"]) == AUCTION:
        _last_calls(drawing, state, positions)
    elif int(state["plays"]):
        _last_trick(drawing, state, positions)
    else:
        _big_contract(drawing, state, x + middle, y + middle)


def _last_calls(drawing: Picture, state: State, positions: list[tuple[float, float]]) -> None:
    length = int(state["length"])
    for t in range(max(length - 4, 0), length):
        x, y = positions[(int(state["dealer"]) + t) % 4]
        drawing.box(x - 25, y - 15, 50, 30, PANEL, EDGE, 5)
        drawing.text(x, y, suited(int(state["calls"][t])), 17, INK, "middle", bold=True)


def _last_trick(drawing: Picture, state: State, positions: list[tuple[float, float]]) -> None:
    cards, leader = tricks(state)[-1]
    best = winner(cards, leader, int(state["bid"]) % 5)
    for seat, (x, y) in enumerate(positions):
        if cards[seat] >= 0:
            if seat == best:
                drawing.box(x - 24.5, y - 32, 49, 64, ACCENT, "", 8)
            drawing.card(x, y, cards[seat], 58)


def _big_contract(drawing: Picture, state: State, x: float, y: float) -> None:
    words, _, declarer = contract(state).partition(" by ")
    width = 150 if declarer else 140
    drawing.box(x - width / 2, y - 38, width, 76, PANEL, EDGE, 10)
    drawing.text(x, y - (10 if declarer else 0), words, 30 if declarer else 20, INK, "middle", bold=True)
    drawing.text(x, y + 20, f"by {declarer}" if declarer else "", 14, _QUIET, "middle")


def _corners(drawing: Picture, state: State) -> None:
    x, y = _X[0] + 4, _Y[0] + 14
    drawing.text(x, y, f"Board {int(state['board']) + 1}", 22, bold=True)
    lines = [f"dealer {SEAT_NAMES[int(state['dealer'])]}", f"vulnerable: {vulnerable(state)}"]
    lines += ["second table"] if int(state["leg"]) else []
    _lines(drawing, x, y + 28, lines)
    x = _X[2] + 4
    over = int(state["phase"]) != AUCTION
    drawing.text(x, y, contract(state), 18, INK if over else _QUIET, bold=over)
    won = f"tricks N/S {int(state['won'][0])}, E/W {int(state['won'][1])}" if int(state["plays"]) else ""
    _lines(drawing, x, y + 28, [line for line in (won, *result(state).split(", ")) if line])
    _lines(drawing, _X[0] + 4, _Y[2] + _HEIGHT - 12, [first_table(state)])
    if int(state["tricks"].min()) >= 0:
        _double_dummy(drawing, state, _X[2], _Y[2])


def _lines(drawing: Picture, x: float, y: float, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        drawing.text(x, y + 21 * i, line, 14, _QUIET)


def _double_dummy(drawing: Picture, state: State, x: float, y: float) -> None:
    """Tricks of each declarer in each strain, from the lower right corner of the compass."""
    drawing.text(x + 4, y + 12, "Double dummy", 13, _QUIET)
    strains = [SYMBOLS.get(strain, strain) for strain in STRAINS]
    dd_tricks = state["tricks"].reshape(4, 5)
    rows = [["", *strains], *([SEATS[seat], *(str(int(n)) for n in dd_tricks[seat])] for seat in (0, 2, 1, 3))]
    drawing.grid(x, y + 38, rows, [28] + [33] * 5, step=22, size=14)


def _auction(drawing: Picture, state: State, height: float) -> None:
    x, y = _X[3] + 8, _GAP
    rows, room = auction(state), int((height - 52) // 22)
    drawing.box(x, y, _BAR, min(height, 52 + 22 * max(len(rows), 6)), PANEL, EDGE, 10)
    _seats(drawing, state, x, y)
    if len(rows) > room:
        rows = [["..."] * 4, *rows[len(rows) - room + 1 :]]
    drawing.grid(x, y + 54, rows, [_BAR / 4] * 4, step=22, size=16)


def _seats(drawing: Picture, state: State, x: float, y: float) -> None:
    """W N E S, red when vulnerable, the dealer underlined."""
    for i, seat in enumerate(COLUMNS):
        middle = x + _BAR / 4 * (i + 0.5)
        red = int(state["vulnerable"]) >> (seat % 2) & 1
        drawing.box(middle - 25, y + 10, 50, 26, ALARM if red else SAFE, "", 6)
        drawing.text(middle, y + 23, SEATS[seat], 16, PANEL, "middle", bold=True)
        if seat == int(state["dealer"]):
            drawing.box(middle - 8, y + 32, 16, 2, PANEL)


def _tricks(drawing: Picture, state: State, history: list[tuple[list[int], int]], y: float, height: float) -> None:
    """A row a trick in the columns W N E S: the lead on a tint, the winner framed."""
    x, width = _X[3] + 8, (_BAR - 36) / 4
    drawing.box(x, y, _BAR, height, PANEL, EDGE, 10)
    for i, (cards, leader) in enumerate(history):
        line = y + 44 + 19 * i
        drawing.text(x + 26, line, str(i + 1), 12, PALE, "end")
        best = winner(cards, leader, int(state["bid"]) % 5) if min(cards) >= 0 else -1
        for k, seat in enumerate(COLUMNS):
            if cards[seat] >= 0:
                middle = x + 30 + width * (k + 0.5)
                tint, edge = "#e3e7ee" if seat == leader else PANEL, ACCENT if seat == best else ""
                drawing.box(middle - 21, line - 8.5, 42, 17, tint, edge, 4, 1.5)
                drawing.text(middle, line, card_symbol(cards[seat]), 14, INK, "middle", bold=seat == best)
    for k, seat in enumerate(COLUMNS):
        drawing.text(x + 30 + width * (k + 0.5), y + 18, SEATS[seat], 13, _QUIET, "middle")

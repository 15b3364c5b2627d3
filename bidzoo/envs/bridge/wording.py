"""A bridge table in a player's words: contract, result, auction and tricks; text and picture share them."""

from bidzoo.cards import FIRST_BID, RANKS, SEAT_NAMES, SIDES, SUITS, SYMBOLS, call_text, suit_text
from bidzoo.envs.bridge.play import beats_row
from bidzoo.envs.bridge.state import AUCTION, OVER, UNKNOWN_POINTS
from bidzoo.kernels import Table

COLUMNS = (3, 0, 1, 2)  # West first, as auctions are written
_VULNERABLE = ("nobody", "N/S", "E/W", "everybody")


def suited(call: int) -> str:
    """``"1♠"`` for the call 1S: suits as symbols; ``P``, ``X``, ``XX`` and ``NT`` as they are."""
    text = call_text(call)
    return text[0] + SYMBOLS[text[1]] if text[1:] in tuple(SUITS) else text


def card(number: int) -> str:
    """``"♠A"``."""
    return SYMBOLS[SUITS[number % 4]] + RANKS[number // 4]


def suits(hand: int) -> tuple[str, str, str, str]:
    """``("♠ AK", "♥ QJ2", "♦ -", "♣ T98")``."""
    rows = []
    for suit in (3, 2, 1, 0):
        rows.append(f"{SYMBOLS[SUITS[suit]]} {suit_text(hand, suit) or '-'}")
    return rows[0], rows[1], rows[2], rows[3]


def vulnerable(table: Table) -> str:
    """Who is vulnerable."""
    return _VULNERABLE[int(table["vulnerable"])]


def contract(table: Table) -> str:
    """The contract, the last bid while the auction lasts, or that there is none."""
    bid, over = int(table["bid"]), int(table["phase"]) != AUCTION
    if bid < 0:
        return "passed out" if over else "no bid yet"
    text = suited(FIRST_BID + bid) + {1: "", 2: "X", 4: "XX"}[int(table["stake"])]
    return f"{text} by {SEAT_NAMES[int(table['declarer'] if over else table['bidder'])]}"


def result(table: Table) -> str:
    """How the board ended: tricks against the contract and the score; empty before."""
    declarer, points = int(table["declarer"]), int(table["points"][int(table["table"])])
    if int(table["phase"]) != OVER or declarer < 0:
        return ""
    played = int(table["plays"]) > 0
    bid, side = int(table["bid"]), declarer % 2
    tricks = int(table["won"][side]) if played else int(table["tricks"][5 * declarer + bid % 5])
    if tricks < 0 or points == UNKNOWN_POINTS:
        return "tricks not known"
    extra = tricks - (bid // 5 + 7)
    made = "made" if extra == 0 else f"made +{extra}" if extra > 0 else f"down {-extra}"
    return f"{made}{'' if played else ' double dummy'}, {score(points)}"


def score(points: int) -> str:
    """Duplicate points of the side that has them."""
    return f"{SIDES[points < 0]} {abs(points)}"


def first_table(table: Table) -> str:
    """The score at the first table of a duplicate pair, once the second is played; else empty."""
    points = int(table["points"][0])
    if int(table["table"]) == 0 or points == UNKNOWN_POINTS:
        return ""
    return f"first table {score(points)}"


def auction(table: Table) -> list[list[str]]:
    """Rows of calls in the columns W N E S; ``?`` stands where the next call goes."""
    calls = [suited(int(call)) for call in table["calls"][: int(table["length"])]]
    if int(table["phase"]) == AUCTION:
        calls.append("?")
    cells = [""] * COLUMNS.index(int(table["dealer"])) + calls
    cells += [""] * (-len(cells) % 4)
    return [cells[i : i + 4] for i in range(0, len(cells), 4)]


def tricks(table: Table) -> list[tuple[list[int], int]]:
    """Tricks so far as (card of N E S W or -1, leader); the last may be incomplete."""
    found: list[tuple[list[int], int]] = []
    for i in range(int(table["plays"])):
        seat = int(table["players"][i])
        if i % 4 == 0:
            found.append(([-1] * 4, seat))
        found[-1][0][seat] = int(table["played"][i])
    return found


def winner(cards: list[int], leader: int, trump: int) -> int:
    """Seat winning the trick so far; ``trump`` 4 for none."""
    best = leader
    for seat in ((leader + k) % 4 for k in range(1, 4)):
        if cards[seat] >= 0 and beats_row(cards[seat], cards[best], trump):
            best = seat
    return best

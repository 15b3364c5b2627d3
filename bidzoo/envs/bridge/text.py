"""A bridge table in a player's words: contract, result, auction and tricks; text and picture share them."""

from bidzoo.core.cards import FIRST_BID, SEAT_NAMES, SEATS, SIDES, SUITS, SYMBOLS, call_text, card_symbol, suit_text
from bidzoo.core.kernels import State
from bidzoo.envs.bridge.play import beats_row
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY, UNKNOWN_POINTS

COLUMNS = (3, 0, 1, 2)  # West first, as auctions are written
VULNERABLE = ("nobody", "N/S", "E/W", "everybody")


def suited(call: int) -> str:
    """``"1♠"`` for the call 1S: suits as symbols; ``P``, ``X``, ``XX`` and ``NT`` as they are."""
    text = call_text(call)
    return text[0] + SYMBOLS[text[1]] if text[1:] in tuple(SUITS) else text


def vulnerable(state: State) -> str:
    """Who is vulnerable."""
    return VULNERABLE[int(state["vulnerable"])]


def contract(state: State) -> str:
    """The contract, the last bid while the auction lasts, or that there is none."""
    bid, over = int(state["bid"]), int(state["phase"]) != AUCTION
    if bid < 0:
        return "passed out" if over else "no bid yet"
    text = suited(FIRST_BID + bid) + {1: "", 2: "X", 4: "XX"}[int(state["stake"])]
    return f"{text} by {SEAT_NAMES[int(state['declarer'] if over else state['bidder'])]}"


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
    made = "made" if extra == 0 else f"made +{extra}" if extra > 0 else f"down {-extra}"
    return f"{made}{'' if played else ' double dummy'}, {score(points)}"


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
    found: list[tuple[list[int], int]] = []
    for i in range(int(state["plays"])):
        seat = int(state["players"][i])
        if i % 4 == 0:
            found.append(([-1] * 4, seat))
        found[-1][0][seat] = int(state["played"][i])
    return found


def winner(cards: list[int], leader: int, trump: int) -> int:
    """Seat winning the trick so far; ``trump`` 4 for none."""
    best = leader
    for seat in ((leader + k) % 4 for k in range(1, 4)):
        if cards[seat] >= 0 and beats_row(cards[seat], cards[best], trump):
            best = seat
    return best


# ---- the whole table ---------------------------------------------------------------------


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
    held = "held" if int(state["phase"]) == PLAY else "hands"  # the dealt cards out of the play
    north, east, south, west = ([SEAT_NAMES[seat], *_suits(int(state[held][seat]))] for seat in range(4))
    rows = [" " * 18 + line for line in north]
    rows += [f"{left:<36}{right}" for left, right in zip(west, east, strict=True)]
    rows += [" " * 18 + line for line in south]
    return "\n".join(row.rstrip() for row in rows)


def _suits(hand: int) -> list[str]:
    """``["♠ AK", "♥ QJ2", "♦ -", "♣ T98"]``."""
    return [f"{SYMBOLS[SUITS[suit]]} {suit_text(hand, suit) or '-'}" for suit in (3, 2, 1, 0)]


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
        played = " ".join(card_symbol(cards[seat]) for seat in order if cards[seat] >= 0)
        taken = f"  {SEATS[winner(cards, leader, int(state['bid']) % 5)]} wins" if min(cards) >= 0 else ""
        rows.append(f"{i + 1:>2}  {SEATS[leader]} leads  {played}{taken}")
    return "\n".join(rows)

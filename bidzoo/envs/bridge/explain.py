"""Bridge observations as text: what the entries of a vector say, in a bridge player's words.

Every call but the passes after the last bid is in the auction entries, so the auction is told back in
order. Seats are those of the viewer: me, LHO, partner, RHO; in the global state N, E, S, W.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.bits import gather_signed
from bidzoo.cards import RANKS, SEATS, SIDES, STRAINS, SUITS, SYMBOLS
from bidzoo.envs.bridge.features import (
    AUCTION571,
    BIDS,
    BMCS480,
    BMCS636,
    JPS267,
    OPENSPIEL480,
    OPENSPIEL571,
    PLAY571,
    WHO,
)
from bidzoo.layout import Layout

Vector = NDArray[Any]
_PASSED_OUT = [(who, "P") for who in range(4)]


def _parts(layout: Layout, vector: Vector) -> dict[str, Vector]:
    vector = np.asarray(vector)
    if vector.shape != (layout.size,):
        raise ValueError(f"expected one vector of {layout.size} entries, got shape {vector.shape}")
    return layout.split(vector)


def _hand(cards: Vector) -> str:
    """``♠AK ♥QJ2 ♦- ♣T98`` of 52 entries."""
    suits = []
    for suit in (3, 2, 1, 0):
        ranks = "".join(RANKS[rank] for rank in range(12, -1, -1) if cards[4 * rank + suit])
        suits.append(SYMBOLS[SUITS[suit]] + (ranks or "-"))
    return " ".join(suits)


def _vulnerable(first: bool, second: bool, sides: Sequence[str] = ("we", "they")) -> str:
    named = [side for side, on in zip(sides, (first, second), strict=True) if on]
    return f"vulnerable: {' and '.join(named) or 'nobody'}"


def _calls(passed: Vector, made: Vector) -> list[tuple[int, str]]:
    """Calls in order as (who, text) of ``passed`` ``[4]`` and ``made`` ``[35, 3, 4]``, without trailing passes."""
    marked = [
        (int(np.argmax(made[bid, kind])), (BIDS[bid], "X", "XX")[kind])
        for bid in range(len(BIDS))
        for kind in range(3)
        if made[bid, kind].any()
    ]
    count = int(passed.sum())
    if marked:
        start = marked[0][0] - count
    else:  # the passes are consecutive: they start after a seat that has not passed
        start = next((who for who in range(4) if passed[who] and not passed[who - 1]), 0)
    calls = [((start + i) % 4, "P") for i in range(count)]
    for who, text in marked:
        while calls and (calls[-1][0] + 1) % 4 != who:
            calls.append(((calls[-1][0] + 1) % 4, "P"))
        calls.append((who, text))
    return calls


def _told(passed: Vector, made: Vector, names: Sequence[str]) -> str:
    calls = _calls(passed, made)
    if calls == _PASSED_OUT:
        return "auction: all four passed"
    told = ", ".join(f"{names[who]} {text}" for who, text in calls) or "nobody has called"
    return f"auction: {told}{' (passes after the last of these are not shown)' if made.any() else ''}"


def _auction(parts: dict[str, Vector], made: Vector) -> list[str]:
    vulnerable = parts["vulnerable"]
    return [
        _vulnerable(bool(vulnerable[1]), bool(vulnerable[3])),
        _told(parts["passed"], made, WHO),
        f"my hand: {_hand(parts['hand'])}",
    ]


def openspiel480(vector: Vector) -> str:
    """``OPENSPIEL480`` as text."""
    parts = _parts(OPENSPIEL480, vector)
    return "\n".join(_auction(parts, parts["bids"].reshape(len(BIDS), 3, 4)))


def _blocks(parts: dict[str, Vector]) -> Vector:
    kinds = [parts[kind].reshape(len(BIDS), 4) for kind in ("bid", "doubled", "redoubled")]
    return np.stack(kinds, axis=1)


def bmcs480(vector: Vector) -> str:
    """``BMCS480`` as text."""
    parts = _parts(BMCS480, vector)
    return "\n".join(_auction(parts, _blocks(parts)))


def bmcs636(vector: Vector) -> str:
    """``BMCS636`` as text, all four hands."""
    parts = _parts(BMCS636, vector)
    hands = [f"{who}'s hand: {_hand(parts[who])}" for who in WHO[1:]]
    return "\n".join([*_auction(parts, _blocks(parts)), *hands])


def jps267(vector: Vector) -> str:
    """``JPS267`` as text: who made each bid, which were doubled, and what may be called."""
    parts = _parts(JPS267, vector)
    bids = []
    for bid, text in enumerate(BIDS):
        for name, who in (("own", "me"), ("left", "LHO"), ("partner", "partner"), ("right", "RHO")):
            if parts[name][bid]:
                bids.append(f"{who} {text}{' (doubled)' if parts['doubled'][bid] else ''}")
    legal = " ".join(JPS267.fields[-1].labels[i] for i in np.flatnonzero(parts["legal"]))
    return "\n".join(
        [
            _vulnerable(bool(parts["vulnerable"][0]), bool(parts["vulnerable"][1])),
            f"bids: {', '.join(bids) or 'none'}",
            f"my hand: {_hand(parts['hand'])}",
            f"legal calls: {legal or 'none, it is not my turn to call'}",
        ]
    )


def _trick(name: str, entries: Vector, names: Sequence[str] = WHO) -> str:
    cards = entries.reshape(4, -1)
    shown = [f"{names[who]} {_card(int(card))}" for who in range(4) for card in np.flatnonzero(cards[who])]
    return f"{name}: {', '.join(shown) or 'no card'}"


def _card(card: int) -> str:
    return SYMBOLS[SUITS[card % 4]] + RANKS[card // 4]


def _tricks(entries: Vector) -> int:
    return int(np.argmax(entries)) if entries.any() else len(entries)


def _play(vector: Vector, situation: str) -> str:
    parts = _parts(PLAY571, vector)
    level, strain, stake, declarer = (int(np.argmax(parts[name])) for name in ("level", "strain", "stake", "declarer"))
    contract = BIDS[5 * level + strain] + ("", "X", "XX")[stake]
    vulnerable = "vulnerable" if parts["vulnerable"][1] else "not vulnerable"
    return "\n".join(
        [
            situation,
            f"contract: {contract} by {WHO[declarer]}, {vulnerable}",
            f"my cards: {_hand(parts['hand'])}",
            f"dummy's cards: {_hand(parts['dummy'])}",
            _trick("this trick", parts["trick"]),
            _trick("trick before", parts["last trick"]),
            f"tricks: declarer {_tricks(parts['made'])}, defence {_tricks(parts['lost'])}",
        ]
    )


def openspiel571(vector: Vector) -> str:
    """``OPENSPIEL571`` as text, in the auction and in the play."""
    kind = _parts(OPENSPIEL571, vector)["type"]
    situation = OPENSPIEL571.fields[0].labels[int(np.argmax(kind))] if kind.any() else "the board is over"
    unused = _parts(AUCTION571, vector)["unused"]
    if unused.any():  # both trick counts of the play stand there
        return _play(vector, situation)
    return "\n".join([situation, openspiel480(vector[kind.size : kind.size + OPENSPIEL480.size])])


def explain_state(layout: Layout, vector: Vector) -> str:
    """A global state of ``features.state_layout`` as text."""
    parts = _parts(layout, vector)
    turn, vulnerable = parts["turn"], parts["vulnerable"]
    lines = [
        f"{SEATS[int(np.argmax(parts['dealer']))]} dealt; "
        + (f"{SEATS[int(np.argmax(turn))]} to act" if turn.any() else "the board is over"),
        _vulnerable(bool(vulnerable[1]), bool(vulnerable[3]), SIDES),
        _told(parts["passed"], parts["bids"].reshape(len(BIDS), 3, 4), SEATS),
        *(f"{seat}: {_hand(parts[seat])}" for seat in SEATS),
    ]
    if "gone" in parts:
        lines += _cards_played(parts)
    if "tricks" in parts:
        lines.append(_double_dummy(parts["tricks"].reshape(4, len(STRAINS), -1)))
    if "result" in parts and parts["second table"][0]:
        lines.append(f"second table; N/S scored {10 * gather_signed(parts['result']):+d} at the first")
    return "\n".join(lines)


def _cards_played(parts: dict[str, Vector]) -> list[str]:
    won = parts["won"].reshape(2, -1).argmax(axis=1)
    following = parts["next card"]
    return [
        f"next card: {SEATS[int(np.argmax(following))] if following.any() else 'none'}",
        f"played: {_hand(parts['gone'])}",
        _trick("this trick", parts["trick"], SEATS),
        _trick("trick before", parts["last trick"], SEATS),
        f"tricks: {', '.join(f'{side} {count}' for side, count in zip(SIDES, won, strict=True))}",
    ]


def _double_dummy(cells: Vector) -> str:
    counts = [
        f"{seat} {' '.join(str(int(np.argmax(cell))) if cell.any() else '?' for cell in row)}"
        for seat, row in zip(SEATS, cells, strict=True)
    ]
    return f"double-dummy tricks in {' '.join(STRAINS)}: {', '.join(counts)}"

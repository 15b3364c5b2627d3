"""What each bridge observation holds, entry by entry; kernels, spaces, docs and ``explain`` read it here.

Seats are relative, clockwise from the viewer: 0 me, 1 left-hand opponent (LHO), 2 partner, 3 right-hand
opponent (RHO); in the global state, which is one for all, they are N E S W. Bids 1C ... 7NT = 0 ... 34; cards
``4 * rank + suit`` as in ``bidzoo.core.cards``.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.bits import gather, gather_signed
from bidzoo.core.cards import (
    FIRST_BID,
    HAND_SIZE,
    NUM_CALLS,
    NUM_CARDS,
    SEAT_NAMES,
    SEATS,
    SIDES,
    STRAINS,
    call_text,
    card_symbol,
    card_text,
    hand_symbols,
)
from bidzoo.core.layout import Field, Layout

WHO = ("me", "LHO", "partner", "RHO")
CALLS = tuple(call_text(call) for call in range(NUM_CALLS))
BIDS = CALLS[FIRST_BID:]
CARDS = tuple(card_text(card) for card in range(NUM_CARDS))
KINDS = ("bid", "doubled", "redoubled")


def _holding(name: str, meaning: str) -> Field:
    return Field.of(name, f"cards {meaning}, `4 * rank + suit`, 2C first", CARDS)


def _calls(names: Sequence[str]) -> tuple[Field, Field]:
    meaning = "for each bid 12 entries: who bid it (4), doubled it (4), redoubled it (4)"
    return (
        Field.of("passed", "who passed before the first bid", names),
        Field.of("bids", meaning, BIDS, KINDS, [f"by {name}" for name in names]),
    )


def _tricks(names: Sequence[str]) -> tuple[Field, Field]:
    labels = [f"{card} by {name}" for name, card in product(names, CARDS)]
    return (
        Field.of("trick", "cards of the current trick, 52 for each seat", labels),
        Field.of("last trick", "cards of the trick before", labels),
    )


_WE_THEY = ("we are not", "we are", "they are not", "they are")
_VULNERABLE = Field.of("vulnerable", "one-hot for our side, then for theirs", _WE_THEY)
_PASSED, _BIDS = _calls(WHO)
_HAND = _holding("hand", "dealt to me")

# OpenSpiel's bridge_.h: "observation tensor" of the auction without its four type bits; also Pgx and arXiv 2011.14124.
OPENSPIEL480 = Layout((_VULNERABLE, _PASSED, _BIDS, _HAND))

# Belief Monte Carlo search, Table VI: the same entries, all bids before all doubles before all redoubles.
BMCS480 = Layout(
    (
        _VULNERABLE,
        _PASSED,
        *(Field.of(kind, f"for each bid: who {kind} it", BIDS, [f"{kind} by {who}" for who in WHO]) for kind in KINDS),
        _HAND,
    )
)

# The same paper's value network, which sees all four hands.
BMCS636 = Layout((*BMCS480.fields, *(_holding(who, f"dealt to {who}") for who in WHO[1:])))

# Joint policy search, appendix D and its figure "Input representation".
JPS267 = Layout(
    (
        _HAND,
        Field.of("own", "bids I made", BIDS),
        Field.of("partner", "bids partner made", BIDS),
        Field.of("left", "bids LHO made", BIDS),
        Field.of("right", "bids RHO made", BIDS),
        Field.of("doubled", "bids that were doubled (and perhaps redoubled)", BIDS),
        Field.of("vulnerable", "we are vulnerable, they are", ("we are", "they are")),
        Field.of("legal", "calls I may make now; all 0 when it is not my turn to call", CALLS),
    )
)

_TYPE = Field.of(
    "type",
    "what is going on; all 0 after the last trick, and still `auction` when a board ends without play",
    ("auction", "opening lead", "play on the declaring side", "play in defence"),
)

# OpenSpiel's layout once a card is played.
PLAY571 = Layout(
    (
        _TYPE,
        Field.of("level", "level of the contract", "1234567"),
        Field.of("strain", "strain of the contract", STRAINS),
        Field.of("stake", "undoubled, doubled, redoubled", ("undoubled", "doubled", "redoubled")),
        Field.of("declarer", "who declares", WHO),
        Field.of("vulnerable", "whether declarer's side is", ("declarer is not", "declarer is")),
        _holding("hand", "I still hold"),
        _holding("dummy", "dummy still holds"),
        *_tricks(WHO),
        Field.of("made", "declarer's tricks, slots 0 ... 12; 13 tricks: all 0", range(HAND_SIZE)),
        Field.of("lost", "the defence's tricks, slots 0 ... 12; 13 tricks: all 0", range(HAND_SIZE)),
    )
)

# Before a card is played: the 480 entries after the type, then zeros.
_UNUSED = Field("unused", PLAY571.size - OPENSPIEL480.size - _TYPE.size, "always 0")
AUCTION571 = Layout((_TYPE, *OPENSPIEL480.fields, _UNUSED))

_EITHER = "the auction's layout before a card is played, then the play's"
OPENSPIEL571 = Layout((_TYPE, Field("situation", PLAY571.size - _TYPE.size, _EITHER)))

# The global state, by parts; a game has those that bear on it.

_NS_EW = ("N/S are not", "N/S are", "E/W are not", "E/W are")
_COUNTS = range(HAND_SIZE + 1)
DEAL_STATE = (
    Field.of("vulnerable", "one-hot for N/S, then for E/W", _NS_EW),
    *_calls(SEATS),
    *(_holding(seat, f"dealt to {name}") for seat, name in zip(SEATS, SEAT_NAMES, strict=True)),
    Field.of("dealer", "who dealt", SEATS),
    Field.of("turn", "who acts next (declarer for dummy); all 0 when the board is over", SEATS),
)
PLAY_STATE = (
    Field.of("next card", "whose card comes next (also dummy's); all 0 out of the play", SEATS),
    _holding("gone", "played so far"),
    *_tricks(SEATS),
    Field.of("won", "one-hot: tricks won by N/S, 0 ... 13, then by E/W", SIDES, _COUNTS),
)
TRICKS_STATE = (
    Field.of(
        "tricks",
        "double-dummy table, one-hot: tricks of each declarer (N E S W) in each strain, 0 ... 13; all 0 if not known",
        SEATS,
        STRAINS,
        _COUNTS,
    ),
)
RESULT_DIGITS = 10  # of tens of points: 760 at most
DUPLICATE_STATE = (
    Field.of("second table", "player 0 sits East, player 1 South ...: the sides have changed places", ("yes",)),
    Field.of(
        "result",
        "at the second table, N/S tens of points at the first: whether negative, then binary, low digit first",
        ("negative", *(10 << k for k in range(RESULT_DIGITS))),
    ),
)


def state_layout(play: bool, double_dummy: bool, duplicate: bool) -> Layout:
    """The global state; flags: cards are played, double-dummy tables count, each deal is played twice."""
    parts = ((True, DEAL_STATE), (play, PLAY_STATE), (double_dummy, TRICKS_STATE), (duplicate, DUPLICATE_STATE))
    return Layout(tuple(field for included, fields in parts if included for field in fields))


# ---- observations as text ----------------------------------------------------------------
# Every call but the passes after the last bid is in the auction entries, so the auction can be read back in order.

Vector = NDArray[Any]
_PASSED_OUT = [(who, "P") for who in range(4)]


def _read_hand(entries: Vector) -> str:
    return hand_symbols(gather(entries))


def _vulnerable(first: bool, second: bool, sides: Sequence[str] = ("we", "they")) -> str:
    names = [side for side, on in zip(sides, (first, second), strict=True) if on]
    return f"vulnerable: {' and '.join(names) or 'nobody'}"


def _read_calls(passed: Vector, bids: Vector) -> list[tuple[int, str]]:
    """Calls in order as (who, text) of ``passed`` ``[4]`` and ``bids`` ``[35, 3, 4]``, without trailing passes."""
    entries = [
        (int(np.argmax(bids[bid, kind])), (BIDS[bid], "X", "XX")[kind])
        for bid in range(len(BIDS))
        for kind in range(3)
        if bids[bid, kind].any()
    ]
    count = int(passed.sum())
    if entries:
        start = entries[0][0] - count
    else:  # the passes are consecutive: they start after a seat that has not passed
        start = next((who for who in range(4) if passed[who] and not passed[who - 1]), 0)
    calls = [((start + i) % 4, "P") for i in range(count)]
    for who, text in entries:
        while calls and (calls[-1][0] + 1) % 4 != who:
            calls.append(((calls[-1][0] + 1) % 4, "P"))
        calls.append((who, text))
    return calls


def _auction_text(passed: Vector, bids: Vector, names: Sequence[str]) -> str:
    calls = _read_calls(passed, bids)
    if calls == _PASSED_OUT:
        return "auction: all four passed"
    calls_text = ", ".join(f"{names[who]} {text}" for who, text in calls) or "nobody has called"
    return f"auction: {calls_text}{' (passes after the last of these are not shown)' if bids.any() else ''}"


def _auction(parts: dict[str, Vector], bids: Vector) -> list[str]:
    vulnerable = parts["vulnerable"]
    return [
        _vulnerable(bool(vulnerable[1]), bool(vulnerable[3])),
        _auction_text(parts["passed"], bids, WHO),
        f"my hand: {_read_hand(parts['hand'])}",
    ]


def openspiel480(vector: Vector) -> str:
    """``OPENSPIEL480`` as text."""
    parts = OPENSPIEL480.read(vector)
    return "\n".join(_auction(parts, parts["bids"].reshape(len(BIDS), 3, 4)))


def bmcs480(vector: Vector) -> str:
    """``BMCS480`` as text."""
    parts = BMCS480.read(vector)
    bids = np.stack([parts[kind].reshape(len(BIDS), 4) for kind in KINDS], axis=1)
    return "\n".join(_auction(parts, bids))


def jps267(vector: Vector) -> str:
    """``JPS267`` as text: who made each bid, which were doubled, and what may be called."""
    parts = JPS267.read(vector)
    bids = []
    for bid, text in enumerate(BIDS):
        for name, who in zip(("own", "left", "partner", "right"), WHO, strict=True):
            if parts[name][bid]:
                bids.append(f"{who} {text}{' (doubled)' if parts['doubled'][bid] else ''}")
    legal = " ".join(CALLS[i] for i in np.flatnonzero(parts["legal"]))
    return "\n".join(
        [
            _vulnerable(bool(parts["vulnerable"][0]), bool(parts["vulnerable"][1])),
            f"bids: {', '.join(bids) or 'none'}",
            f"my hand: {_read_hand(parts['hand'])}",
            f"legal calls: {legal or 'none, it is not my turn to call'}",
        ]
    )


def _trick(name: str, entries: Vector, names: Sequence[str] = WHO) -> str:
    cards = entries.reshape(4, -1)
    texts = [f"{names[who]} {card_symbol(int(card))}" for who in range(4) for card in np.flatnonzero(cards[who])]
    return f"{name}: {', '.join(texts) or 'no card'}"


def _read_tricks(entries: Vector) -> int:
    return int(np.argmax(entries)) if entries.any() else len(entries)


def _play(vector: Vector, situation: str) -> str:
    parts = PLAY571.read(vector)
    level, strain, stake, declarer = (int(np.argmax(parts[name])) for name in ("level", "strain", "stake", "declarer"))
    contract = BIDS[5 * level + strain] + ("", "X", "XX")[stake]
    vulnerable = "vulnerable" if parts["vulnerable"][1] else "not vulnerable"
    return "\n".join(
        [
            situation,
            f"contract: {contract} by {WHO[declarer]}, {vulnerable}",
            f"my cards: {_read_hand(parts['hand'])}",
            f"dummy's cards: {_read_hand(parts['dummy'])}",
            _trick("this trick", parts["trick"]),
            _trick("trick before", parts["last trick"]),
            f"tricks: declarer {_read_tricks(parts['made'])}, defence {_read_tricks(parts['lost'])}",
        ]
    )


def openspiel571(vector: Vector) -> str:
    """``OPENSPIEL571`` as text, in the auction and in the play."""
    kind = OPENSPIEL571.read(vector)["type"]
    situation = OPENSPIEL571.fields[0].labels[int(np.argmax(kind))] if kind.any() else "the board is over"
    unused = AUCTION571.read(vector)["unused"]
    if unused.any():  # both trick counts of the play stand there
        return _play(vector, situation)
    return "\n".join([situation, openspiel480(vector[kind.size : kind.size + OPENSPIEL480.size])])


def explain_state(layout: Layout, vector: Vector) -> str:
    """A global state of ``features.state_layout`` as text."""
    parts = layout.read(vector)
    turn, vulnerable = parts["turn"], parts["vulnerable"]
    lines = [
        f"{SEATS[int(np.argmax(parts['dealer']))]} dealt; "
        + (f"{SEATS[int(np.argmax(turn))]} to act" if turn.any() else "the board is over"),
        _vulnerable(bool(vulnerable[1]), bool(vulnerable[3]), SIDES),
        _auction_text(parts["passed"], parts["bids"].reshape(len(BIDS), 3, 4), SEATS),
        *(f"{seat}: {_read_hand(parts[seat])}" for seat in SEATS),
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
    next_card = parts["next card"]
    return [
        f"next card: {SEATS[int(np.argmax(next_card))] if next_card.any() else 'none'}",
        f"played: {_read_hand(parts['gone'])}",
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

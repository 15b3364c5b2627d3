"""What a bidder counts before a call: points, lengths, honours, who called what, and how the hand fits each bid.

``BIDDER1375`` holds the cards and the auction and, beside them, the quantities that rules of bidding use, so that a
network need not find out what a point, a jump or a stopper is. Every number is one-hot: some 90 entries of a row are
not 0, and a first layer that leaves out zeros is cheap.

No view says which bidding systems are played. ``SYSTEMS288`` does, each crossed with the first bid of its side.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.bits import cards_row, count_row, gather
from bidzoo.core.cards import FIRST_BID, HAND_SIZE, NUM_BIDS, NUM_CALLS, PASS, STRAINS, SUITS, hand_symbols
from bidzoo.core.kernels import I8, I64, State, batched, row
from bidzoo.core.layout import Field, Layout
from bidzoo.envs.bridge.features import BIDS, BMCS480, CALLS, WHO
from bidzoo.envs.bridge.play import SUIT_OF_CLUBS

SYSTEMS = ("sayc", "21gf", "polish", "acol")  # in the order of recorded auctions

# ---- entries -----------------------------------------------------------------------------

SHAPES = tuple(  # lengths of the suits, the longest first; (4, 3, 3, 3) is the first shape
    (a, b, c, HAND_SIZE - a - b - c)
    for a in range(4, HAND_SIZE + 1)
    for b in range(min(a, HAND_SIZE - a) + 1)
    for c in range(b + 1)
    if 0 <= HAND_SIZE - a - b - c <= c
)
_PAIRS = tuple(combinations(range(4), 2))  # of suits
_SIDES, _WHICH = ("ours", "theirs"), ("first", "last")
_KINDS = ("new strain", "own strain again", "partner's strain", "opponents' strain")

# A count above its last entry sets the last one, a count below its first entry the first one.
_POINTS, _TOTAL, _RULE_LEAST, _RULE = 25, 27, 14, 29
_LENGTH, _SUIT_POINTS, _CALLS_MADE, _FIT, _JUMP = 9, 10, 6, 8, 2


def _upto(most: int, least: int = 0) -> list[str]:
    return [*map(str, range(least, most)), f"{most}+"]


_BID_ENTRIES = (
    *(f"length {n}" for n in _upto(_FIT)),
    *(f"points {n}" for n in range(_SUIT_POINTS + 1)),
    "stopped",
    *(f"jump {n}" for n in _upto(_JUMP)),
    *_KINDS,
)
_VULNERABLE, _PASSED, _BID, _, _, _HAND = BMCS480.fields

BIDDER1375 = Layout(
    (
        _VULNERABLE,
        _PASSED,
        _BID,
        Field.of("doubled", "bids that were doubled (and perhaps redoubled)", BIDS),
        _HAND,
        Field.of("first call", "of each player", WHO, CALLS),
        Field.of("last call", "of each player", WHO, CALLS),
        Field.of("call before", "the last but one of each player", WHO, CALLS),
        Field.of("side's bid", "first bid of our side, then of theirs", _SIDES, ("none", *BIDS)),
        Field.of("opener", "who made the first bid of all", WHO),
        Field.of("standing", "the highest bid", BIDS),
        Field.of("bidder", "who made it", WHO),
        Field.of("stake", "undoubled, doubled, redoubled", ("undoubled", "doubled", "redoubled")),
        Field.of("passes", "since the last other call", range(4)),
        Field.of("strains", "those that each player has bid", WHO, STRAINS),
        Field.of("my calls", "how many", _upto(_CALLS_MADE)),
        Field.of("points", "ace 4, king 3, queen 2, jack 1", _upto(_POINTS)),
        Field.of("length points", "points, and 1 for each card of a suit beyond the fourth", _upto(_TOTAL)),
        Field.of("support points", "points, and 5 for a void, 3 for a singleton, 1 for a doubleton", _upto(_TOTAL)),
        Field.of("rule", "points and cards of the two longest suits (as in the rule of 20)", _upto(_RULE, _RULE_LEAST)),
        Field.of("length", "cards of each suit", SUITS, _upto(_LENGTH)),
        Field.of("suit points", "points in each suit", SUITS, range(_SUIT_POINTS + 1)),
        Field.of("honours", "how many of A K Q J T in each suit", SUITS, range(6)),
        Field.of("tops", "how many of A K Q in each suit", SUITS, range(4)),
        Field.of("stopper", "suits with A, Kx, Qxx or Jxxx", SUITS),
        Field.of("shape", "lengths of the suits, the longest first", ["".join(map(str, shape)) for shape in SHAPES]),
        Field.of("longer", "of two suits", [f"{SUITS[x]} than {SUITS[y]}" for p in _PAIRS for x, y in (p, p[::-1])]),
        Field.of("aces", "how many", range(5)),
        Field.of("kings", "how many", range(5)),
        Field.of("key cards", "aces and the king of trumps, for each suit as trumps", SUITS, range(6)),
        Field.of(
            "bids",
            "first and last bid of each player: my cards in its suit (none for notrump), how many levels it was above"
            " the cheapest in its strain, who had bid the strain before",
            WHO,
            _WHICH,
            _BID_ENTRIES,
        ),
    )
)
SYSTEMS288 = Layout(
    (
        Field.of("our system", "and the first bid of our side", SYSTEMS, ("none", *BIDS)),
        Field.of("their system", "and the first bid of their side", SYSTEMS, ("none", *BIDS)),
    )
)

# ---- the row -----------------------------------------------------------------------------

_AT = {field.name: BIDDER1375.start(field.name) for field in BIDDER1375.fields}  # first entry of each field
_PASSED_AT, _BID_AT, _DOUBLED_AT, _HAND_AT = _AT["passed"], _AT["bid"], _AT["doubled"], _AT["hand"]
_FIRST_AT, _LAST_AT, _BEFORE_AT = _AT["first call"], _AT["last call"], _AT["call before"]
_SIDE_AT, _OPENER_AT, _STANDING_AT, _BIDDER_AT = _AT["side's bid"], _AT["opener"], _AT["standing"], _AT["bidder"]
_STAKE_AT, _PASSES_AT, _STRAINS_AT, _CALLS_AT = _AT["stake"], _AT["passes"], _AT["strains"], _AT["my calls"]
_POINTS_AT, _LENGTH_POINTS_AT, _SUPPORT_AT, _RULE_AT = (
    _AT[name] for name in ("points", "length points", "support points", "rule")
)
_LENGTH_AT, _SUIT_POINTS_AT, _HONOURS_AT, _TOPS_AT = (
    _AT[name] for name in ("length", "suit points", "honours", "tops")
)
_STOPPER_AT, _SHAPE_AT, _LONGER_AT, _ACES_AT = _AT["stopper"], _AT["shape"], _AT["longer"], _AT["aces"]
_KINGS_AT, _KEYS_AT, _BIDS_AT = _AT["kings"], _AT["key cards"], _AT["bids"]
_SIDE_SIZE = NUM_BIDS + 1

_BID_SIZE = len(_BID_ENTRIES)
_FIT_POINTS = _FIT + 1  # entries of a bid: length, points, stopped, jump, kind
_STOPPED = _FIT_POINTS + _SUIT_POINTS + 1
_JUMP_AT = _STOPPED + 1
_KIND_AT = _JUMP_AT + _JUMP + 1
_NEW, _OWN, _PARTNERS, _OPPONENTS = range(4)

_SHAPE = np.full((HAND_SIZE + 1, HAND_SIZE + 1, HAND_SIZE + 1), -1, np.int64)  # index in SHAPES, by the three longest
for _index, _lengths in enumerate(SHAPES):
    _SHAPE[_lengths[:3]] = _index
_FIRST_OF_PAIR, _SECOND_OF_PAIR = (np.array(suits, np.int64) for suits in zip(*_PAIRS, strict=True))
_ACE, _KING, _QUEEN, _JACK, _TEN = (1 << 4 * rank for rank in (12, 11, 10, 9, 8))
_TOPS, _HONOURS = _ACE | _KING | _QUEEN, _ACE | _KING | _QUEEN | _JACK | _TEN
_ACES, _KINGS, _QUEENS, _JACKS = (15 * card for card in (_ACE, _KING, _QUEEN, _JACK))  # of all suits


@row
def points_row(cards: int) -> int:
    """High-card points: ace 4, king 3, queen 2, jack 1."""
    aces_and_kings = 4 * count_row(cards & _ACES) + 3 * count_row(cards & _KINGS)
    return aces_and_kings + 2 * count_row(cards & _QUEENS) + count_row(cards & _JACKS)


@row
def stopped_row(suit: int, length: int) -> bool:
    """The cards ``suit``, moved to clubs, are A, Kx, Qxx, Jxxx or better."""
    return bool(
        (suit & _ACE) != 0
        or ((suit & _KING) != 0 and length > 1)
        or ((suit & _QUEEN) != 0 and length > 2)
        or ((suit & _JACK) != 0 and length > 3)
    )


@row
def _hand_row(hand: int, out: I8) -> None:
    """The entries that depend on the hand alone."""
    cards_row(hand, _HAND_AT, out)
    points, aces, kings = points_row(hand), count_row(hand & _ACES), count_row(hand & _KINGS)
    long_cards = shortness = 0
    longest = second = third = 0
    for s in range(4):
        suit = (hand >> s) & SUIT_OF_CLUBS
        length = count_row(suit)
        long_cards += max(0, length - 4)
        shortness += 5 if length == 0 else 3 if length == 1 else 1 if length == 2 else 0
        if length > longest:
            longest, second, third = length, longest, second
        elif length > second:
            second, third = length, second
        elif length > third:
            third = length
        out[_LENGTH_AT + (_LENGTH + 1) * s + min(length, _LENGTH)] = 1
        out[_SUIT_POINTS_AT + (_SUIT_POINTS + 1) * s + points_row(suit)] = 1
        out[_HONOURS_AT + 6 * s + count_row(suit & _HONOURS)] = 1
        out[_TOPS_AT + 4 * s + count_row(suit & _TOPS)] = 1
        out[_STOPPER_AT + s] = stopped_row(suit, length)
        out[_KEYS_AT + 6 * s + aces + (1 if suit & _KING else 0)] = 1
    for pair in range(6):
        x = count_row((hand >> _FIRST_OF_PAIR[pair]) & SUIT_OF_CLUBS)
        y = count_row((hand >> _SECOND_OF_PAIR[pair]) & SUIT_OF_CLUBS)
        out[_LONGER_AT + 2 * pair] = x > y
        out[_LONGER_AT + 2 * pair + 1] = y > x
    out[_POINTS_AT + min(points, _POINTS)] = 1
    out[_LENGTH_POINTS_AT + min(points + long_cards, _TOTAL)] = 1
    out[_SUPPORT_AT + min(points + shortness, _TOTAL)] = 1
    out[_RULE_AT + min(max(points + longest + second, _RULE_LEAST), _RULE) - _RULE_LEAST] = 1
    if _SHAPE[longest, second, third] >= 0:  # a view of another seat's cards may hold none
        out[_SHAPE_AT + _SHAPE[longest, second, third]] = 1
    out[_ACES_AT + aces] = 1
    out[_KINGS_AT + kings] = 1


@row
def _fit_row(hand: int, bid: int, jump: int, kind: int, offset: int, out: I8) -> None:
    """The entries of one bid of a player, from ``offset`` on."""
    strain = bid % 5
    if strain < 4:
        suit = (hand >> strain) & SUIT_OF_CLUBS
        length = count_row(suit)
        out[offset + min(length, _FIT)] = 1
        out[offset + _FIT_POINTS + points_row(suit)] = 1
        out[offset + _STOPPED] = stopped_row(suit, length)
    out[offset + _JUMP_AT + min(jump, _JUMP)] = 1
    out[offset + _KIND_AT + kind] = 1


@row
def _bids_row(record: State, hand: int, seat: int, out: I8) -> None:
    """The entries of all bids, each seen as it stood when it was made."""
    first = int(record.dealer) - seat
    standing, strains = -1, 0  # strains: those that each player has bid, 5 bits each
    last = 0  # of each player, in 16 bits: 1 + bid, jump and kind, which have 6, 4 and 2
    ours = theirs = -1
    for t in range(int(record.length)):
        call, who = int(record.calls[t]), (first + t) & 3
        if call < FIRST_BID:
            if call != PASS:
                out[_DOUBLED_AT + standing] = 1
            elif standing < 0:
                out[_PASSED_AT + who] = 1
            continue
        bid = call - FIRST_BID
        strain = bid % 5
        cheapest = strain if standing < 0 else standing + 1 + (strain - standing - 1) % 5
        if standing < 0:
            out[_OPENER_AT + who] = 1
        if (strains >> (5 * who + strain)) & 1:
            kind = _OWN
        elif (strains >> (5 * (who ^ 2) + strain)) & 1:
            kind = _PARTNERS
        elif ((strains >> (5 * (who ^ 1) + strain)) | (strains >> (5 * (who ^ 3) + strain))) & 1:
            kind = _OPPONENTS
        else:
            kind = _NEW
        jump = (bid - cheapest) // 5
        if not (last >> (16 * who)) & 0xFFFF:
            _fit_row(hand, bid, jump, kind, _BIDS_AT + 2 * _BID_SIZE * who, out)
        last = last & ~(0xFFFF << (16 * who)) | ((bid + 1) << 6 | jump << 2 | kind) << (16 * who)
        if who & 1 and theirs < 0:
            theirs = bid
        elif not who & 1 and ours < 0:
            ours = bid
        strains |= 1 << (5 * who + strain)
        standing = bid
        out[_BID_AT + 4 * bid + who] = 1
        out[_STRAINS_AT + 5 * who + strain] = 1
    for who in range(4):
        found = (last >> (16 * who)) & 0xFFFF
        if found:
            offset = _BIDS_AT + (2 * who + 1) * _BID_SIZE
            _fit_row(hand, (found >> 6) - 1, (found >> 2) & 15, found & 3, offset, out)
    out[_SIDE_AT + ours + 1] = 1
    out[_SIDE_AT + _SIDE_SIZE + theirs + 1] = 1


@row
def bidder_row(record: State, hand: int, seat: int, out: I8) -> None:
    """``BIDDER1375`` of ``seat``, who was dealt ``hand``, into zeroed ``out`` ``[1375]``."""
    vulnerable, length = int(record.vulnerable), int(record.length)
    out[(vulnerable >> (seat & 1)) & 1] = 1
    out[2 + ((vulnerable >> (1 - (seat & 1))) & 1)] = 1
    _hand_row(hand, out)
    _bids_row(record, hand, seat, out)
    for t in range(min(length, 4)):
        who = (int(record.dealer) + t - seat) & 3
        out[_FIRST_AT + NUM_CALLS * who + int(record.calls[t])] = 1
        later = (length - 1 - t) // 4  # calls of this player after the first
        out[_LAST_AT + NUM_CALLS * who + int(record.calls[t + 4 * later])] = 1
        if later > 0:
            out[_BEFORE_AT + NUM_CALLS * who + int(record.calls[t + 4 * later - 4])] = 1
    if record.bid >= 0:
        out[_STANDING_AT + int(record.bid)] = 1
        out[_BIDDER_AT + ((int(record.bidder) - seat) & 3)] = 1
        out[_STAKE_AT + int(record.stake) // 2] = 1
    out[_PASSES_AT + min(int(record.passes), 3)] = 1
    mine = (length + 3 - ((seat - int(record.dealer)) & 3)) // 4
    out[_CALLS_AT + min(mine, _CALLS_MADE)] = 1


# ---- stages of the auction ---------------------------------------------------------------

STAGES = (  # bids of our side, of theirs; what a call means depends most on these
    "0, any",
    "1 or 2, 0",
    "1, 1",
    "1, 2+",
    "2, 1",
    "2, 2+",
    "3, 0",
    "4, 0",
    "5+, 0",
    "3+, 1+",
)


@batched
def _stages(start: int, stop: int, x: I8, out: I64) -> None:
    for b in range(start, stop):
        ours = theirs = 0
        for bid in range(NUM_BIDS):
            entry = _BID_AT + 4 * bid
            ours += x[b, entry] + x[b, entry + 2]
            theirs += x[b, entry + 1] + x[b, entry + 3]
        if ours == 0:
            out[b] = 0
        elif theirs == 0:
            out[b] = 1 if ours < 3 else min(ours, 5) + 3
        elif ours > 2:
            out[b] = 9
        else:
            out[b] = 2 * ours + min(theirs, 2) - 1


def stages(x: I8) -> I64:
    """Number in ``STAGES`` of each of the observations ``x`` ``[B, 1375]``: ``[B]``."""
    out = np.empty(len(x), np.int64)
    _stages(x, out)
    return out


def bidder1375(vector: NDArray[Any]) -> str:
    """``BIDDER1375`` as text."""
    parts = BIDDER1375.read(vector)
    lines = [f"my hand: {hand_symbols(gather(parts['hand']))}"]
    for field in BIDDER1375.fields:
        if field.name != "hand" and parts[field.name].any():
            labels = [field.labels[entry] for entry in np.flatnonzero(parts[field.name])]
            lines.append(f"{field.name}: {', '.join(labels)}")
    return "\n".join(lines)

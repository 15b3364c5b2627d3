"""A learned bidder for Spades: a small network values seven bids around BIS's own estimate (beyond the paper).

The seven choices are nil and the rounded takes of BIS moved by -2 ... 3 tricks. The network sees the hand as BIS
does (takes, nil value, success chance), its shape and honours, the earlier bids, scores and bags, and gives each
choice the log odds of winning the game. ``learned_training`` makes the weights.
"""

from importlib.resources import files

import numpy as np

from bidzoo.agents.spades.bis import factor_row, hand_nil_value_row, hand_takes_row, nearest_row, offered_row
from bidzoo.agents.spades.curves import chance_row, sequence_row
from bidzoo.agents.spades.suits import SUIT_SIZE, suits_row
from bidzoo.bits import count_row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.state import LOOK, NIL, SPADES
from bidzoo.kernels import F32, Table, below_row, next_row, row

FEATURES, HIDDEN, CHOICES = 48, 64, 7
FILE = "learned-bidder.safetensors"
NETWORK = np.dtype(
    [
        ("w1", "f4", (HIDDEN, FEATURES)),
        ("b1", "f4", (HIDDEN,)),
        ("w2", "f4", (HIDDEN, HIDDEN)),
        ("b2", "f4", (HIDDEN,)),
        ("w3", "f4", (CHOICES, HIDDEN)),
        ("b3", "f4", (CHOICES,)),
    ],
    align=True,
)


def load_network() -> dict[str, F32]:
    """The shipped weights by name."""
    from safetensors.numpy import load_file

    return load_file(str(files("bidzoo.data") / "spades" / FILE))


@row
def choice_bid_row(choice: int, regular: int) -> int:
    """The bid of a choice: nil, or ``regular`` moved by -2 ... 3, from 1 to 13."""
    return NIL if choice == 0 else min(13, max(1, regular + choice - 3))


@row
def features_row(table: Table, hand: int, bidder: Table, book: Table, out: F32) -> int:
    """What the network sees into ``out`` ``[FEATURES]``; the rounded takes of BIS."""
    seat, suits = int(table.turn), suits_row(table.deck, hand)
    takes = hand_takes_row(table, hand, book) + factor_row(table, bidder)
    value = hand_nil_value_row(table, hand, book, offered_row(table))
    out[:] = 0
    out[0], out[1], out[2] = takes / 3, value, chance_row(book.curves[0, sequence_row(table)], value)
    regular = max(1, int(np.floor(takes + 0.5)))
    out[3] = takes + 0.5 - np.floor(takes + 0.5)
    at, number = 4, 0
    for back in range(3):  # left opponent, partner, right opponent
        bid = int(table.bids[(seat + 1 + back) % 4])
        if bid >= 0:
            number += 1
            out[at] = 1
            out[at + 1] = bid == NIL
            out[at + 2] = bid / 3
            out[at + 3] = 1 if bid == 5 and back == 1 else 0
        at += 4
    out[at + number] = 1
    at += 4
    ours, theirs, goal = float(table.scores[seat % 2]), float(table.scores[(seat + 1) % 2]), float(table.win_goal)
    out[at], out[at + 1], out[at + 2] = ours / 100, theirs / 100, (ours - theirs) / 100
    out[at + 3], out[at + 4] = table.bags[seat % 2] / 10, table.bags[(seat + 1) % 2] / 10
    out[at + 5] = 1 if goal - ours <= 100 else 0
    out[at + 6] = 1 if goal - theirs <= 100 else 0
    out[at + 7] = max(-1.0, min(1.0, (ours + 10 * max(1, table.bids[(seat + 2) % 4]) + 10 * takes - goal) / 50))
    both = max(0, int(table.bids[(seat + 1) % 4])) + max(0, int(table.bids[(seat + 3) % 4]))
    out[at + 8] = max(-1.0, min(1.0, (theirs + 10 * both - goal) / 50))
    at += 9
    length, size = count_row(suits[SPADES]), SUIT_SIZE[table.deck, SPADES]
    out[at] = length / 4
    for k in range(4):
        out[at + 1 + k] = suits[SPADES] >> (size - 1 - k) & 1
    at += 5
    shortest = 14
    for suit in range(3):
        length, size = count_row(suits[suit]), SUIT_SIZE[table.deck, suit]
        out[at] += suits[suit] >> (size - 1) & 1
        out[at + 1] += suits[suit] >> (size - 2) & 1
        out[at + 2] += suits[suit] >> (size - 3) & 1
        out[at + 3 + min(length, 6)] += 1
        shortest = min(shortest, length)
    out[at + 10] = shortest / 3
    return regular


@row
def forward_row(x: F32, book: Table, hidden: F32, out: F32) -> None:
    """Log odds of winning by choice into ``out`` ``[CHOICES]``; ``hidden`` ``[2, HIDDEN]`` is overwritten."""
    for j in range(HIDDEN):
        total = book.b1[j]
        for k in range(FEATURES):
            total += book.w1[j, k] * x[k]
        hidden[0, j] = max(total, np.float32(0))
    for j in range(HIDDEN):
        total = book.b2[j]
        for k in range(HIDDEN):
            total += book.w2[j, k] * hidden[0, k]
        hidden[1, j] = max(total, np.float32(0))
    for j in range(CHOICES):
        total = book.b3[j]
        for k in range(HIDDEN):
            total += book.w3[j, k] * hidden[1, k]
        out[j] = total


@row
def choose_row(table: Table, hand: int, bidder: Table, book: Table, key: np.uint64, x: F32) -> tuple[int, int]:
    """Choice and bid of the learned bidder; with chance ``bidder.noise`` any choice. ``x`` gets the features."""
    regular = features_row(table, hand, bidder, book, x)
    if below_row(key, 1 << 20) < bidder.noise * (1 << 20):
        best = below_row(next_row(key), CHOICES)
    else:
        values, hidden = np.empty(CHOICES, np.float32), np.empty((2, HIDDEN), np.float32)
        forward_row(x, book, hidden, values)
        best = 0
        for k in range(1, CHOICES):
            if values[k] > values[best]:
                best = k
    return best, nearest_row(legal_bids_row(table, hand), choice_bid_row(best, regular))


@row
def learned_row(table: Table, hand: int, bidder: Table, book: Table, key: np.uint64) -> int:
    """The bid of the seat to bid, which holds ``hand``; a blind nil is never bid."""
    if not table.looked >> int(table.turn) & 1:
        return LOOK
    _, bid = choose_row(table, hand, bidder, book, key, np.empty(FEATURES, np.float32))
    return bid

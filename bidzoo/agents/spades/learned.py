"""A learned bidder for Spades: a small network values seven bids around BIS's own estimate (beyond the paper).

The seven choices are nil and the rounded takes of BIS moved by -2 ... 3 tricks. The network sees the hand as BIS
does (takes, nil value, success chance), its shape and honours, the earlier bids, scores and bags, and gives each
choice the log odds of winning the game. ``learned_training`` makes the weights.
"""

from importlib.resources import files
from pathlib import Path

import numpy as np

from bidzoo.agents.spades.bis import factor_row, hand_nil_value_row, hand_takes_row, nearest_row, offered_row
from bidzoo.agents.spades.curves import chance_row, sequence_row
from bidzoo.agents.spades.hand import SUIT_SIZE, suits_row
from bidzoo.core.arrays import Tensor, load_tensors
from bidzoo.core.bits import count_row
from bidzoo.core.kernels import F32, State, below_row, next_row, row
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.state import NIL, SPADES

FEATURES, HIDDEN, CHOICES = 48, 64, 7
NETWORK_FILE = "learned-bidder.safetensors"
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


def load_network(path: str | Path | None = None) -> dict[str, F32]:
    """Weights by name, shipped or of a file; ValueError names the tensor that is not as expected."""
    plan = {name: Tensor(NETWORK[name].shape, ("F32",)) for name in NETWORK.names or ()}
    file = Path(path or str(files("bidzoo.data") / "spades" / NETWORK_FILE))
    return load_tensors(file, "a learned Spades bidder", lambda _: plan)


@row
def choice_bid_row(choice: int, regular: int) -> int:
    """The bid of a choice: nil, or ``regular`` moved by -2 ... 3, from 1 to 13."""
    return NIL if choice == 0 else min(13, max(1, regular + choice - 3))


@row
def features_row(state: State, hand: int, bidder: State, lookup: State, out: F32) -> int:
    """What the network sees into ``out`` ``[FEATURES]``; the rounded takes of BIS."""
    seat, suits = int(state.turn), suits_row(state.deck, hand)
    takes = hand_takes_row(state, hand, lookup) + factor_row(state, bidder)
    value = hand_nil_value_row(state, hand, lookup, offered_row(state))
    out[:] = 0
    out[0], out[1], out[2] = takes / 3, value, chance_row(lookup.curves[0, sequence_row(state)], value)
    regular = max(1, int(np.floor(takes + 0.5)))
    out[3] = takes + 0.5 - np.floor(takes + 0.5)
    at, number = 4, 0
    for back in range(3):  # left opponent, partner, right opponent
        bid = int(state.bids[(seat + 1 + back) % 4])
        if bid >= 0:
            number += 1
            out[at] = 1
            out[at + 1] = bid == NIL
            out[at + 2] = bid / 3
            out[at + 3] = 1 if bid == 5 and back == 1 else 0
        at += 4
    out[at + number] = 1
    at += 4
    ours, theirs, goal = float(state.scores[seat % 2]), float(state.scores[(seat + 1) % 2]), float(state.win_goal)
    out[at], out[at + 1], out[at + 2] = ours / 100, theirs / 100, (ours - theirs) / 100
    out[at + 3], out[at + 4] = state.bags[seat % 2] / 10, state.bags[(seat + 1) % 2] / 10
    out[at + 5] = 1 if goal - ours <= 100 else 0
    out[at + 6] = 1 if goal - theirs <= 100 else 0
    out[at + 7] = max(-1.0, min(1.0, (ours + 10 * max(1, state.bids[(seat + 2) % 4]) + 10 * takes - goal) / 50))
    both = max(0, int(state.bids[(seat + 1) % 4])) + max(0, int(state.bids[(seat + 3) % 4]))
    out[at + 8] = max(-1.0, min(1.0, (theirs + 10 * both - goal) / 50))
    at += 9
    length, size = count_row(suits[SPADES]), SUIT_SIZE[state.deck, SPADES]
    out[at] = length / 4
    for k in range(4):
        out[at + 1 + k] = suits[SPADES] >> (size - 1 - k) & 1
    at += 5
    shortest = 14
    for suit in range(3):
        length, size = count_row(suits[suit]), SUIT_SIZE[state.deck, suit]
        out[at] += suits[suit] >> (size - 1) & 1
        out[at + 1] += suits[suit] >> (size - 2) & 1
        out[at + 2] += suits[suit] >> (size - 3) & 1
        out[at + 3 + min(length, 6)] += 1
        shortest = min(shortest, length)
    out[at + 10] = shortest / 3
    return regular


@row
def forward_row(x: F32, lookup: State, hidden: F32, out: F32) -> None:
    """Log odds of winning by choice into ``out`` ``[CHOICES]``; ``hidden`` ``[2, HIDDEN]`` is overwritten."""
    for j in range(HIDDEN):
        total = lookup.b1[j]
        for k in range(FEATURES):
            total += lookup.w1[j, k] * x[k]
        hidden[0, j] = max(total, np.float32(0))
    for j in range(HIDDEN):
        total = lookup.b2[j]
        for k in range(HIDDEN):
            total += lookup.w2[j, k] * hidden[0, k]
        hidden[1, j] = max(total, np.float32(0))
    for j in range(CHOICES):
        total = lookup.b3[j]
        for k in range(HIDDEN):
            total += lookup.w3[j, k] * hidden[1, k]
        out[j] = total


@row
def choose_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64, x: F32) -> tuple[int, int]:
    """Choice and bid of the learned bidder; with chance ``bidder.noise`` any choice. ``x`` gets the features."""
    regular = features_row(state, hand, bidder, lookup, x)
    if below_row(key, 1 << 20) < bidder.noise * (1 << 20):
        best = below_row(next_row(key), CHOICES)
    else:
        values, hidden = np.empty(CHOICES, np.float32), np.empty((2, HIDDEN), np.float32)
        forward_row(x, lookup, hidden, values)
        best = int(np.argmax(values))
    return best, nearest_row(legal_bids_row(state, hand), choice_bid_row(best, regular))


@row
def learned_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64) -> int:
    """The bid of the seat to bid, which holds ``hand`` and has looked at it; a blind nil is never bid."""
    _, bid = choose_row(state, hand, bidder, lookup, key, np.empty(FEATURES, np.float32))
    return bid

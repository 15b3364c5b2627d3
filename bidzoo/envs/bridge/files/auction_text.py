"""OpenSpiel's text form of recorded boards (its WBridge5 data set): one board a line, numbers between blanks.

52 cards as they are dealt (N E S W in turn), the calls as ``52 + call``, then the 52 cards as they are played, or
none after four passes. North deals and nobody is vulnerable; the play is not read beyond being 52 different cards.
"""

from pathlib import Path

import numpy as np

from bidzoo.cards import NUM_CALLS, NUM_CARDS, card_text, hand_cards
from bidzoo.envs.bridge.files.auctions import Auctions
from bidzoo.envs.bridge.state import OVER
from bidzoo.kernels import I64, Tables


def read(path: Path) -> Auctions:
    """The auctions of a file; ValueError names file, line, number and what was expected."""
    hands, lengths, calls = [], [], []
    with path.open(encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path}: line {number}"
                deal, made = _board(_numbers(line, where), where)
                hands.append(deal)
                lengths.append(len(made))
                calls.append(made)
    if not hands:
        raise ValueError(f"{path}: no boards; expected one a line")
    nobody = np.zeros(len(hands), np.int8)
    joined = np.concatenate(calls).astype(np.int8)
    return Auctions.of(np.array(hands, np.int64), nobody, nobody, np.array(lengths, np.int64), joined, str(path))


def _numbers(line: str, where: str) -> I64:
    words = line.split()
    for place, word in enumerate(words, 1):
        if not (word.isascii() and word.isdigit() and int(word) < NUM_CARDS + NUM_CALLS):
            raise ValueError(f"{where}, number {place}: {word!r}, expected 0 ... {NUM_CARDS + NUM_CALLS - 1}")
    return np.array(words, np.int64)


def _board(numbers: I64, where: str) -> tuple[list[int], I64]:
    """Hands of N E S W, and the calls."""
    dealt, rest = numbers[:NUM_CARDS], numbers[NUM_CARDS:]
    _pack(dealt, f"{where}, deal")
    played = rest[rest < NUM_CARDS]
    made = rest[: len(rest) - len(played)] - NUM_CARDS
    for place in np.flatnonzero(made < 0)[:1]:
        raise ValueError(f"{where}, number {NUM_CARDS + place + 1}: card {rest[place]} within the auction")
    if len(played):
        _pack(played, f"{where}, play")
    return [int((1 << dealt[seat::4]).sum()) for seat in range(4)], made


def _pack(cards: I64, where: str) -> None:
    """ValueError unless ``cards`` are the 52 of one pack."""
    if len(cards) != NUM_CARDS:
        raise ValueError(f"{where}: {len(cards)} cards, expected {NUM_CARDS}")
    for card in cards[cards >= NUM_CARDS][:1]:
        raise ValueError(f"{where}: {card} is no card, expected 0 ... {NUM_CARDS - 1}")
    counts = np.bincount(cards, minlength=NUM_CARDS)
    for card in np.flatnonzero(counts != 1)[:1]:
        raise ValueError(f"{where}: {card_text(int(card))} {counts[card]} times, expected once")


def write(path: Path, tables: Tables) -> None:
    """Finished tables ``[n]`` in this form, which OpenSpiel's bridge takes action by action.

    Raises:
        ValueError: a table is not over, or the form has no place for its dealer or vulnerability; names the board.
    """
    lines = []
    for table in tables:
        if int(table["phase"]) != OVER:
            raise ValueError(f"board {table['board']}: not over, expected finished tables")
        if table["dealer"] or table["vulnerable"]:
            raise ValueError(
                f"board {table['board']}: expected North to deal and nobody vulnerable, the form's only case"
            )
        hands = [hand_cards(int(hand)) for hand in table["hands"]]
        dealt = [card for four in zip(*hands, strict=True) for card in four]
        calls = table["calls"][: table["length"]] + NUM_CARDS
        played = table["played"][: table["plays"]]
        lines.append(" ".join(str(int(number)) for number in (*dealt, *calls, *played)))
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")

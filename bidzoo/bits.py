"""Sets of small numbers (cards of a hand, ranks of a suit, legal actions) as the bits of one integer."""

import numpy as np

from bidzoo.kernels import below_row, row


@row
def count_row(bits: int) -> int:
    """How many numbers the set holds."""
    count = 0
    while bits:  # compiled, this loop is one instruction of the processor
        bits &= bits - 1
        count += 1
    return count


@row
def lowest_row(bits: int) -> int:
    """The lowest number of the set; -1 if it is empty."""
    return count_row((bits & -bits) - 1) if bits else -1


@row
def pick_row(bits: int, key: np.uint64) -> int:
    """One number of the set, all equally likely."""
    for _ in range(below_row(key, count_row(bits))):
        bits &= bits - 1
    return lowest_row(bits)

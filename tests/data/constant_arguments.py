"""A kernel that calls another with constants and with a number."""

from bidzoo.core.kernels import row


@row
def shift_row(x: int, by: int) -> int:
    return x << by


@row
def both_row(x: int) -> int:
    return shift_row(x, 3) + shift_row(x, by=4) + shift_row(x, x)

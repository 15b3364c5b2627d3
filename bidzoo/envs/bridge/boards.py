"""The board a table plays: its cards, dealer and vulnerability, all from ``(seed, board)``."""

from typing import NamedTuple

from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.deals import augment_row, random_deal_row
from bidzoo.kernels import I8, I64, Table, below_row, key_row, next_row, row

_STREAM = 0xB71D6E  # of the choice of a deal, in ``key_row(seed, board, _STREAM)``


class Source(NamedTuple):
    """Where boards come from: ``n`` deals, or random cards if there are none."""

    hands: I64  # [n, 4]
    tricks: I8  # [n, 20]
    dealer: I8  # [n] or [0]  as a file of boards says; -1, and everything without a file: by the cycle
    vulnerable: I8  # [n] or [0]
    augment: bool  # rename suits and turn seats at random
    shuffle: bool  # deals at random, else in order


@row
def deal_row(table: Table, board: int, seed: int, source: Source) -> None:
    """Cards, double-dummy table, dealer and vulnerability of ``(seed, board)``."""
    table.dealer, table.vulnerable = auction.dealer_row(board), auction.vulnerable_row(board)
    n = len(source.hands)
    if n == 0:
        random_deal_row(seed, board, table.hands)
        table.tricks[:] = -1
        return
    key = key_row(seed, board, _STREAM)
    index = below_row(key, n) if source.shuffle else board % n
    relabelling, rotation = 0, 0
    if source.augment:
        key = next_row(key)
        relabelling = below_row(key, 24)
        rotation = below_row(next_row(key), 4)
    augment_row(source.hands[index], source.tricks[index], relabelling, rotation, table.hands, table.tricks)
    if len(source.dealer) > 0:
        dealer, vulnerable = int(source.dealer[index]), int(source.vulnerable[index])
        if dealer >= 0:
            table.dealer = (dealer + rotation) % 4
        if vulnerable >= 0:  # a turn by one or three seats exchanges the sides
            table.vulnerable = vulnerable if rotation % 2 == 0 else vulnerable >> 1 | (vulnerable & 1) << 1


@row
def seat_row(table: Table, dealer: int, vulnerable: int) -> None:
    """Put the dealt cards into the players' hands and open the auction."""
    table.held[:] = table.hands
    auction.open_row(table, dealer, vulnerable)


@row
def begin_row(table: Table, board: int, seed: int, source: Source) -> None:
    """A new episode: ``board`` of ``seed`` at its first table."""
    table.board, table.table = board, 0
    table.points[:] = 0
    deal_row(table, board, seed, source)
    seat_row(table, int(table.dealer), int(table.vulnerable))

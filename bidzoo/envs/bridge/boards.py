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
    augment: bool  # rename suits and turn seats at random
    shuffle: bool  # deals at random, else in order


@row
def deal_row(table: Table, board: int, seed: int, source: Source) -> None:
    """Cards and double-dummy table of ``(seed, board)``."""
    n = len(source.hands)
    if n == 0:
        random_deal_row(seed, board, table.hands)
        table.tricks[:] = -1
        return
    key = key_row(seed, board, _STREAM)
    index = below_row(key, n) if source.shuffle else board % n
    if source.augment:
        key = next_row(key)
        relabelling = below_row(key, 24)
        rotation = below_row(next_row(key), 4)
        augment_row(source.hands[index], source.tricks[index], relabelling, rotation, table.hands, table.tricks)
    else:
        table.hands[:] = source.hands[index]
        table.tricks[:] = source.tricks[index]


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
    seat_row(table, auction.dealer_row(board), auction.vulnerable_row(board))

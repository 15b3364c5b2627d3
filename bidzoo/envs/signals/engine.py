"""Tables of the small games: deal, act, show; the fused kernels behind ``SignalGame``."""

from bidzoo.envs.signals.rules import (
    blank_row,
    encode_row,
    encode_state_row,
    legal_row,
    over_row,
    payoff_row,
    step_row,
)
from bidzoo.envs.signals.state import COMM, MINI_HANABI, MINIBRIDGE
from bidzoo.kernels import F32, I8, I64, U64, Bool, Table, Tables, batched, below_row, key_row, next_row, prange, row

DEAL = 0  # stream of ``key_row`` that deals


@row
def types_row(game: int, size: int, player: int) -> int:
    """How many types ``player`` may have."""
    if game == COMM:
        return 1 << size if player == 0 else 1
    if game == MINI_HANABI:
        return 2
    return size + 1 if game == MINIBRIDGE else size


@row
def deal_row(table: Table, game: int, size: int, seed: int, board: int) -> None:
    """A fresh table: the two types are independent and uniform."""
    blank_row(table, game, size, board)
    key = key_row(seed, board, DEAL)
    for player in range(2):
        table.types[player] = below_row(key, types_row(game, size, player))
        key = next_row(key)


@row
def observe_row(table: Table, player: int, types: int, out: I8) -> None:
    """Observation of ``player`` into ``out`` ``[F]``, reading no type but its own."""
    encode_row(table, player, int(table.types[player]), types, out)


@row
def show_row(table: Table, b: int, types: int, player: I8, observation: I8, mask: I8) -> None:
    """Player, observation and mask of table ``b``; player -1 and zeros once it is over."""
    player[b] = table.turn
    legal_row(table, mask[b])
    if over_row(table):
        observation[b, :] = 0
    else:
        observe_row(table, int(table.turn), types, observation[b])


@row
def act_row(table: Table, b: int, action: int, reward: F32, over: Bool) -> None:
    """Take ``action`` unless it is negative or the table is over; both players' reward if that ends it."""
    reward[b, :] = 0.0
    over[b] = False
    if action < 0 or over_row(table):
        return
    step_row(table, action)
    if over_row(table):
        reward[b, :] = payoff_row(table, int(table.types[0]), int(table.types[1]))
        over[b] = True


@batched
def begin(
    tables: Tables,
    boards: I64,
    seed: int,
    game: int,
    size: int,
    types: int,
    rows: Bool,
    player: I8,
    observation: I8,
    mask: I8,
    reward: F32,
    over: Bool,
) -> None:
    """Deal ``boards`` at ``rows`` (everywhere if ``rows`` is empty) and show them."""
    for b in prange(len(tables)):
        if len(rows) == 0 or rows[b]:
            deal_row(tables[b], game, size, seed, boards[b])
            reward[b, :] = 0.0
            over[b] = False
            show_row(tables[b], b, types, player, observation, mask)


@batched
def step(
    tables: Tables,
    actions: I64,
    seed: int,
    stride: int,
    types: int,
    player: I8,
    observation: I8,
    mask: I8,
    reward: F32,
    over: Bool,
) -> None:
    """Act everywhere, deal ``board + stride`` where that ends a table and ``stride`` > 0, and show."""
    for b in prange(len(tables)):
        act_row(tables[b], b, actions[b], reward, over)
        if stride > 0 and over_row(tables[b]):
            board = int(tables[b].board) + stride
            deal_row(tables[b], int(tables[b].game), int(tables[b].extent), seed, board)
        show_row(tables[b], b, types, player, observation, mask)


@row
def step_one(
    tables: Tables, action: int, types: int, player: I8, observation: I8, mask: I8, reward: F32, over: Bool
) -> None:
    """``step`` of table 0 without threads and without a new deal."""
    act_row(tables[0], 0, action, reward, over)
    show_row(tables[0], 0, types, player, observation, mask)


@row
def show(tables: Tables, types: int, player: I8, observation: I8, mask: I8) -> None:
    """``show_row`` of table 0."""
    show_row(tables[0], 0, types, player, observation, mask)


@row
def observe(tables: Tables, b: int, player: int, types: int, out: I8) -> None:
    """``observe_row`` of table ``b``."""
    observe_row(tables[b], player, types, out)


@row
def copy_row(source: Table, target: Table) -> None:
    """Every public field of ``source`` into ``target``."""
    target.board, target.game, target.extent = source.board, source.game, source.extent
    target.turn, target.length, target.bid = source.turn, source.length, source.bid
    target.history[:] = source.history


@batched
def views(tables: Tables, players: I64, out: Tables) -> None:
    """What ``players`` ``[B]`` know."""
    for b in prange(len(tables)):
        copy_row(tables[b], out[b])
        out[b].player = players[b]
        out[b].type = tables[b].types[players[b]]


@batched
def determinize(views: Tables, keys: U64, out: Tables) -> None:
    """States in which the partner's type is uniform; the history is not used as evidence about it."""
    for b in prange(len(views)):
        copy_row(views[b], out[b])
        me = int(views[b].player)
        out[b].types[me] = views[b].type
        keys[b] = next_row(keys[b])
        out[b].types[1 - me] = below_row(keys[b], types_row(int(views[b].game), int(views[b].extent), 1 - me))


@batched
def encode(views: Tables, types: int, out: I8) -> None:
    """Observations of ``views`` into ``out`` ``[B, F]``."""
    for b in prange(len(views)):
        encode_row(views[b], int(views[b].player), int(views[b].type), types, out[b])


@batched
def encode_state(tables: Tables, types: int, others: int, out: I8) -> None:
    """Global states of ``tables`` into ``out`` ``[B, S]``."""
    for b in prange(len(tables)):
        encode_state_row(tables[b], types, others, out[b])

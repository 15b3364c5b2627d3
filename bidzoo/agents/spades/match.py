"""Whole Spades games between two partnerships, thousands at a time, in one kernel.

Game ``g`` is board ``g // 2`` of the seed, so each board is played twice with the partnerships changing seats:
a *pair*. Every random number is addressed by (seed, game, round, turn): results depend on neither batch nor threads.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.agents.spades.bidder import Bidder
from bidzoo.agents.spades.bis import hand_nil_value_row, offered_row
from bidzoo.agents.spades.book import book as shipped_book
from bidzoo.agents.spades.choose import Player, bid_choice_row, card_choice_row
from bidzoo.agents.spades.curves import sequence_row
from bidzoo.agents.spades.uct import Desk
from bidzoo.bits import count_row
from bidzoo.envs.spades.bidding import bid_row
from bidzoo.envs.spades.engine import begin_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import end_round_row
from bidzoo.envs.spades.state import BIDDING, NIL, OVER, STATE, VIEW
from bidzoo.kernels import I32, I64, Table, Tables, allocate, batched, key_row, prange, row

MOST_ROUNDS = 60  # a longer game is a draw
BRANCHES = 14  # numbers of legal cards counted
_BIDS, _CARDS = 1 << 40, 1 << 41  # streams of the bids and cards, above those of the deals

ROUND = np.dtype(
    [
        ("dealer", "i1"),
        ("swapped", "i1"),  # 1: the first partnership sits E-W
        ("bids", "i1", (4,)),  # by seat
        ("won", "i1", (4,)),
        ("gains", "i2", (2,)),  # by side
        ("ace", "i1"),  # seat dealt the ace of spades
        ("sequence", "i2", (4,)),  # row of the success curves at each seat's bid
        ("nil_value", "f4", (4,)),  # of each seat's hand at its bid; -1 unless it bid nil
    ],
    align=True,
)


class Games(NamedTuple):
    """What ``G`` games left behind; partnership 0 is the first one named."""

    winner: I64  # [G]  partnership, -1 draw
    scores: I32  # [G, 2]  final, by partnership
    rounds: I64  # [G]
    log: Tables  # [G, MOST_ROUNDS] of ROUND
    branches: I64  # [G, BRANCHES]  cards played with so many legal ones, all seats


@row
def _note_row(table: Table, entry: Table, book: Table) -> None:
    """The bid about to be made: its sequence and, in case it is nil, the nil value of the hand."""
    seat = int(table.turn)
    entry.sequence[seat] = sequence_row(table)
    entry.nil_value[seat] = hand_nil_value_row(table, table.hands[seat], book, offered_row(table))


@row
def _key_row(table: Table, stream: int, game: int) -> np.uint64:
    return key_row(table.seed, game, stream + 64 * int(table.rounds) + int(table.plays) + 16 * int(table.turn))


@row
def game_row(
    table: Table,
    game: int,
    sides: Tables,
    players: Tables,
    book: Table,
    desk: Desk,
    log: Tables,
    branches: I64,
    note: bool,
) -> None:
    """Plays a begun game to its end; ``sides`` and ``players`` ``[2]`` bid and play for the two partnerships."""
    swap = game % 2
    while table.phase != OVER:
        entry = log[table.rounds]
        seat = int(table.turn)
        who = (seat + swap) % 2
        if table.phase == BIDDING:
            if note and table.looked >> seat & 1:
                _note_row(table, entry, book)
            action = bid_choice_row(table, table.hands[seat], sides[who], book, _key_row(table, _BIDS, game), desk)
            bid_row(table, action)
            continue
        held = int(table.held[seat])
        branches[count_row(legal_cards_row(table, held))] += 1
        card = card_choice_row(table, held, players[who], book, _key_row(table, _CARDS, game), desk)
        play_row(table, card)
        if table.plays == 52:
            entry.dealer = table.dealer
            entry.swapped = swap
            for k in range(4):
                entry.bids[k] = table.bids[k]
                entry.won[k] = table.won[k]
                if table.hands[k] >> 51 & 1:
                    entry.ace = k
                if table.bids[k] != NIL:
                    entry.nil_value[k] = -1
            end_round_row(table)
            for k in range(2):
                entry.gains[k] = table.gains[k]


@batched
def _games(
    first: int,
    seed: int,
    blank: Tables,
    tables: Tables,
    states: Tables,
    views: Tables,
    sides: Tables,
    players: Tables,
    books: Tables,
    note: bool,
    out: Games,
) -> None:
    for g in prange(len(tables)):
        begin_row(tables[g], (first + g) // 2, seed, blank[0])
        desk = Desk(states[2 * g : 2 * g + 2], views[g : g + 1])
        game_row(tables[g], first + g, sides, players, books[0], desk, out.log[g], out.branches[g], note)


def rules(win_goal: int = 200, lose_goal: int = -100, max_rounds: int = MOST_ROUNDS, **more: int) -> Tables:
    """One blank partnership table by the paper's rules; ``more`` sets other public fields."""
    blank = allocate(STATE, 1)
    chosen = {"sides": 2, "bag_penalty": 110, "blind_deficit": 100, "win_goal": win_goal, "winner": -1}
    chosen |= {"lose_goal": lose_goal, "max_rounds": max_rounds}
    for name, value in (chosen | more).items():
        blank[name] = value
    return blank


def play_games(
    games: int,
    bidders: tuple[Bidder, Bidder],
    players: tuple[Player, Player],
    seed: int = 0,
    first: int = 0,
    blank: Tables | None = None,
    book: Table | None = None,
    note: bool = False,
    log_rounds: int = MOST_ROUNDS,
) -> Games:
    """Games ``first`` ... ``first + games - 1`` of ``seed`` between two partnerships;
    ``note`` logs nil values, ``log_rounds`` is the most rounds a game of ``blank`` can have.
    """
    tables = allocate(STATE, games)
    sides, hands = allocate(bidders[0].record().dtype, 2), allocate(players[0].record().dtype, 2)
    for k in range(2):
        sides[k], hands[k] = bidders[k].record(), players[k].record()
    books = allocate((shipped_book() if book is None else book).dtype, 1)
    books[0] = shipped_book() if book is None else book
    log = allocate(ROUND, games * log_rounds).reshape(games, log_rounds)
    out = Games(
        np.zeros(games, np.int64),
        np.zeros((games, 2), np.int32),
        np.zeros(games, np.int64),
        log,
        np.zeros((games, BRANCHES), np.int64),
    )
    states, views = allocate(STATE, 2 * games), allocate(VIEW, games)
    _games(first, seed, rules() if blank is None else blank, tables, states, views, sides, hands, books, note, out)
    swap = (first + np.arange(games)) % 2
    out.winner[:] = np.where(tables["winner"] < 0, -1, (tables["winner"] + swap) % 2)
    out.rounds[:] = tables["rounds"]
    both = tables["scores"][:, :2]
    out.scores[:] = np.where(swap[:, None] == 1, both[:, ::-1], both)
    return out

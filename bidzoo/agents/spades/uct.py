"""UCT for Spades: Algorithm 2 of "Bidding in Spades" (appendix F.3).

As printed: each iteration deals the unseen cards, chooses one of our cards by the UCB1 bound, plays the round out
with SRP in all seats and credits that card with the points gap; the card of the highest mean is played. UCT(X)
does so in the last X tricks only. As a bidder it does the same for bids, BIS bidding for those after it.

Beyond the paper: the deal may respect shown voids, and be weighted by how well hands fit the bids made.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import bis_row
from bidzoo.agents.spades.hand import nil_value_row, takes_row
from bidzoo.agents.spades.srp import srp_row
from bidzoo.agents.spades.suits import suits_row
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.determinize import determinize_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import BAG_LIMIT, side_points_row
from bidzoo.envs.spades.state import BIDDING, LOOK, NIL, copy_public_row
from bidzoo.kernels import F64, I64, Table, Tables, below_row, next_row, row

NAIVE, VOIDS, BIDS = range(3)  # inference
DRAWS = 4  # deals drawn, of which the bids choose one
BID_ERROR = 1.2  # standard deviation of a bid around the takes of its hand, tricks


@row
def gap_row(table: Table, side: int) -> float:
    """Points of ``side`` for a finished round, bag penalties included, minus the others' mean."""
    gap = 0.0
    for other in range(table.sides):
        points, bags = side_points_row(table, other)
        points -= int(table.bag_penalty) * ((int(table.bags[other]) + bags) // BAG_LIMIT)
        gap += points if other == side else -points / (table.sides - 1)
    return gap


class Desk(NamedTuple):
    """Records one searching player works on."""

    states: Tables  # [2]
    views: Tables  # [1]


@row
def open_desk_row(table: Table, held: int, infer: int, view: Table) -> None:
    """What the seat to act knows into ``view``; shown voids are forgotten without inference."""
    copy_public_row(table, view)
    view.seat = table.turn
    view.hand = held
    view.held_here = held
    if infer == NAIVE:
        for seat in range(4):
            view.voids[seat] = 0


@row
def likelihood_row(table: Table, dealt: Table, book: Table) -> float:
    """How well the hands of ``dealt`` fit the bids of the other seats: normal around their takes, nil by nil value."""
    weight = 0.0
    for seat in range(4):
        bid = int(table.bids[seat])
        if seat == table.turn or bid < 0:
            continue
        suits = suits_row(table.deck, dealt.hands[seat])
        if bid == NIL:
            weight += np.log(0.05 + nil_value_row(table.deck, suits, book.side, book.spades[table.deck], False))
        else:
            weight -= 0.5 * ((takes_row(table.deck, suits, book.clear[2]) - bid) / BID_ERROR) ** 2
    return weight


@row
def imagine_row(table: Table, infer: int, book: Table, key: np.uint64, desk: Desk) -> np.uint64:
    """A possible world into ``desk.states[0]``, by the bids if asked; ``desk.views[0]`` says what is known."""
    world, other = desk.states[0], desk.states[1]
    key = determinize_row(desk.views[0], key, world)
    for seat in range(4):
        world.voids[seat] = table.voids[seat]
    if infer != BIDS:
        return key
    best = likelihood_row(table, world, book) + gumbel_row(key)
    for _ in range(DRAWS - 1):
        key = determinize_row(desk.views[0], next_row(key), other)
        weight = likelihood_row(table, other, book) + gumbel_row(key)
        if weight > best:
            best = weight
            for seat in range(4):
                world.held[seat] = other.held[seat]
                world.hands[seat] = other.hands[seat]
    return next_row(key)


@row
def gumbel_row(key: np.uint64) -> float:
    """A Gumbel number: adding one to log weights makes the largest a draw by weight."""
    return -np.log(-np.log((below_row(key, 1 << 30) + 0.5) / (1 << 30)))


@row
def rollout_row(table: Table, key: np.uint64) -> None:
    """The round played out by SRP in all seats."""
    while table.plays < 52:
        play_row(table, srp_row(table, table.held[table.turn], key))


@row
def most_promising_row(means: F64, counts: I64, number: int, total: int, exploration: float) -> int:
    """Index of the highest ``mean + C sqrt(ln n / n_i)``; untried ones first."""
    best, at = -1e30, 0
    for k in range(number):
        if counts[k] == 0:
            return k
        bound = means[k] + exploration * np.sqrt(np.log(total) / counts[k])
        if bound > best:
            best, at = bound, k
    return at


@row
def best_row(means: F64, number: int) -> int:
    """Index of the highest mean."""
    at = 0
    for k in range(1, number):
        if means[k] > means[at]:
            at = k
    return at


@row
def uct_card_row(table: Table, held: int, player: Table, book: Table, key: np.uint64, desk: Desk) -> int:
    """The card UCT plays for the seat to play, which holds ``held``."""
    legal, number = legal_cards_row(table, held), 0
    cards, counts, means = np.zeros(13, np.int64), np.zeros(13, np.int64), np.zeros(13)
    for card in range(52):
        if legal >> card & 1:
            cards[number] = card
            number += 1
    if number == 1:
        return cards[0]
    side = int(table.turn) % int(table.sides)
    open_desk_row(table, held, player.infer, desk.views[0])
    world = desk.states[0]
    for n in range(player.iterations):
        key = imagine_row(table, player.infer, book, key, desk)
        at = most_promising_row(means, counts, number, n, player.exploration)
        play_row(world, cards[at])
        rollout_row(world, key)
        counts[at] += 1
        means[at] += (gap_row(world, side) - means[at]) / counts[at]
    return cards[best_row(means, number)]


@row
def uct_bid_row(table: Table, hand: int, bidder: Table, book: Table, key: np.uint64, desk: Desk) -> int:
    """The bid UCT makes for the seat to bid: nil, or a bid within two tricks of its takes."""
    if not table.looked >> int(table.turn) & 1:
        return LOOK
    takes = int(takes_row(table.deck, suits_row(table.deck, hand), book.clear[2]) + 0.5)
    legal, number = legal_bids_row(table, hand), 0
    bids, counts, means = np.zeros(14, np.int64), np.zeros(14, np.int64), np.zeros(14)
    for bid in range(14):
        if legal >> bid & 1 and (bid == NIL or abs(bid - takes) <= 2):
            bids[number] = bid
            number += 1
    if number == 0:
        for bid in range(13, -1, -1):
            if legal >> bid & 1:
                return bid
    side = int(table.turn) % int(table.sides)
    open_desk_row(table, hand, bidder.infer, desk.views[0])
    world = desk.states[0]
    for n in range(bidder.iterations):
        key = imagine_row(table, bidder.infer, book, key, desk)
        at = most_promising_row(means, counts, number, n, bidder.exploration)
        bid_row(world, bids[at])
        while world.phase == BIDDING:
            world.looked = 15
            bid_row(world, bis_row(world, world.hands[world.turn], bidder, book, key))
        rollout_row(world, key)
        counts[at] += 1
        means[at] += (gap_row(world, side) - means[at]) / counts[at]
    return bids[best_row(means, number)]

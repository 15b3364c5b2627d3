"""UCT for Spades: Algorithm 2 of "Bidding in Spades" (appendix F.3).

As printed: each iteration deals the unseen cards, chooses one of our cards by the UCB1 bound, plays the round out
with SRP in all seats and credits that card with the points gap; the card of the highest mean is played. UCT(X)
does so in the last X tricks only. As a bidder it does the same for bids, BIS bidding for those after it.

Beyond the paper: the deal may respect shown voids, and be weighted by how well hands fit the bids made.
"""

from typing import NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import bis_row, nil_value_row, takes_row
from bidzoo.agents.spades.situation import suits_row
from bidzoo.agents.spades.srp import srp_row
from bidzoo.core.kernels import F64, I64, State, States, row
from bidzoo.core.streams import below_row, next_row
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.determinize import determinize_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import gap_row
from bidzoo.envs.spades.state import BIDDING, NIL, copy_public_row

NAIVE, VOIDS, BIDS = range(3)  # inference
DRAWS = 4  # deals sampled, of which the bids choose one
BID_ERROR = 1.2  # standard deviation of a bid around the takes of its hand, tricks


class Workspace(NamedTuple):
    """Records one searching player works on."""

    states: States  # [2]
    views: States  # [1]


@row
def open_workspace_row(state: State, held: int, infer: int, view: State) -> None:
    """Write what the seat to act knows into ``view``; without inference shown voids are forgotten."""
    copy_public_row(state, view)
    view.seat = state.turn
    view.hand = held
    view.held_here = held
    if infer == NAIVE:
        for seat in range(4):
            view.voids[seat] = 0


@row
def likelihood_row(state: State, world: State, lookup: State) -> float:
    """Log weight of the hands of ``world`` by the other seats' bids: normal around their takes, nil by nil value."""
    weight = 0.0
    for seat in range(4):
        bid = int(state.bids[seat])
        if seat == state.turn or bid < 0:
            continue
        suits = suits_row(state.deck, world.hands[seat])
        if bid == NIL:
            weight += np.log(0.05 + nil_value_row(state.deck, suits, lookup.side, lookup.spades[state.deck], False))
        else:
            weight -= 0.5 * ((takes_row(state.deck, suits, lookup.clear[2]) - bid) / BID_ERROR) ** 2
    return weight


@row
def sample_world_row(state: State, infer: int, lookup: State, key: np.uint64, workspace: Workspace) -> np.uint64:
    """Sample a world that agrees with ``workspace.views[0]`` into ``workspace.states[0]``; return the next key.

    If ``infer`` is ``BIDS``, it is one of ``DRAWS`` worlds, sampled by how well they fit the bids.
    """
    view, world, candidate = workspace.views[0], workspace.states[0], workspace.states[1]
    key = determinize_row(view, key, world)
    for seat in range(4):
        world.voids[seat] = state.voids[seat]
    if infer != BIDS:
        return key
    best = likelihood_row(state, world, lookup) + gumbel_row(key)
    for _ in range(DRAWS - 1):
        key = determinize_row(view, next_row(key), candidate)
        weight = likelihood_row(state, candidate, lookup) + gumbel_row(key)
        if weight > best:
            best = weight
            for seat in range(4):
                world.held[seat] = candidate.held[seat]
                world.hands[seat] = candidate.hands[seat]
    return next_row(key)


@row
def gumbel_row(key: np.uint64) -> float:
    """A Gumbel number: adding one to log weights makes the largest a draw by weight."""
    return -np.log(-np.log((below_row(key, 1 << 30) + 0.5) / (1 << 30)))


@row
def rollout_row(state: State) -> None:
    """Play the round out with SRP in all seats."""
    while state.plays < 52:
        play_row(state, srp_row(state, state.held[state.turn]))


LEAST_SPREAD = 1.0  # points: a bag


@row
def most_promising_row(means: F64, counts: I64, number: int, total: int, exploration: float, spread: float) -> int:
    """Index of the highest ``mean + C sqrt(ln n / n_i)``, ``C = exploration * spread``; untried ones first."""
    best, choice, c = -1e30, 0, exploration * max(spread, LEAST_SPREAD)
    for k in range(number):
        if counts[k] == 0:
            return k
        bound = means[k] + c * np.sqrt(np.log(total) / counts[k])
        if bound > best:
            best, choice = bound, k
    return choice


@row
def credit_row(world: State, side: int, choice: int, means: F64, counts: I64) -> float:
    """Play the round out and credit its points gap, which is returned, to ``choice``."""
    rollout_row(world)
    gap = gap_row(world, side)
    counts[choice] += 1
    means[choice] += (gap - means[choice]) / counts[choice]
    return gap


@row
def uct_card_row(state: State, held: int, player: State, lookup: State, key: np.uint64, workspace: Workspace) -> int:
    """The card UCT plays for the seat to play, which holds ``held``."""
    legal, number = legal_cards_row(state, held), 0
    cards, counts, means = np.zeros(13, np.int64), np.zeros(13, np.int64), np.zeros(13)
    for card in range(52):
        if legal >> card & 1:
            cards[number] = card
            number += 1
    if number == 1:
        return cards[0]
    side, world = int(state.turn) % int(state.sides), workspace.states[0]
    open_workspace_row(state, held, player.infer, workspace.views[0])
    low, high = np.inf, -np.inf
    for n in range(player.iterations):
        key = sample_world_row(state, player.infer, lookup, key, workspace)
        choice = most_promising_row(means, counts, number, n, player.exploration, high - low)
        play_row(world, cards[choice])
        gap = credit_row(world, side, choice, means, counts)
        low, high = min(low, gap), max(high, gap)
    return cards[np.argmax(means[:number])]


@row
def uct_bid_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64, workspace: Workspace) -> int:
    """The bid UCT makes for the seat to bid, which has looked: nil, or a bid within two tricks of its takes."""
    takes = int(takes_row(state.deck, suits_row(state.deck, hand), lookup.clear[2]) + 0.5)
    legal, number = legal_bids_row(state, hand), 0
    bids, counts, means = np.zeros(14, np.int64), np.zeros(14, np.int64), np.zeros(14)
    for bid in range(14):
        if legal >> bid & 1 and (bid == NIL or abs(bid - takes) <= 2):
            bids[number] = bid
            number += 1
    if number == 0:
        for bid in range(13, -1, -1):
            if legal >> bid & 1:
                return bid
    side, world = int(state.turn) % int(state.sides), workspace.states[0]
    open_workspace_row(state, hand, bidder.infer, workspace.views[0])
    low, high = np.inf, -np.inf
    for n in range(bidder.iterations):
        key = sample_world_row(state, bidder.infer, lookup, key, workspace)
        choice = most_promising_row(means, counts, number, n, bidder.exploration, high - low)
        bid_row(world, bids[choice])
        while world.phase == BIDDING:
            world.looked = 15
            bid_row(world, bis_row(world, world.hands[world.turn], bidder, lookup, key))
        gap = credit_row(world, side, choice, means, counts)
        low, high = min(low, gap), max(high, gap)
    return bids[np.argmax(means[:number])]

"""UCT against exact enumeration: endings of two tricks, every deal of the unseen cards, played out by SRP."""

from itertools import combinations

import numpy as np
import pytest
from numba import config as numba_config

from bidzoo.agents.spades.policy import Player, SpadesPolicy, srp
from bidzoo.agents.spades.uct import most_promising_row
from bidzoo.core.cards import FULL_DECK, hand_cards
from bidzoo.core.kernels import States
from bidzoo.core.streams import Streams
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.state import FIRST_CARD, OVER, PLAY

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")

GAME, BOARDS, LAST = Spades(phase="round"), 60, 2


def act(policy: SpadesPolicy, states: States) -> np.ndarray:
    views = GAME.view_of(states, np.maximum(states["turn"], 0).astype(np.int64))
    streams = Streams.at(9, np.arange(len(states)))
    return policy.act(views, np.ones((len(states), GAME.num_actions), np.int8), streams)


def endings() -> tuple[States, list[list[int]]]:
    """Every choice of more than one card in the last tricks of some boards, bid by BIS and played by SRP; the cards."""
    states, out, policy, found, cards = GAME.new(BOARDS), GAME.buffers(BOARDS), srp(), [], []
    GAME.begin(states, np.arange(BOARDS), 5, out)
    while (states["phase"] != OVER).any():
        late = (states["phase"] == PLAY) & (states["plays"] >= 4 * (13 - LAST)) & (out.mask.sum(axis=1) > 1)
        found.append(states[late].copy())
        cards += [np.flatnonzero(mask[FIRST_CARD:]).tolist() for mask in out.mask[late]]
        GAME.step(states, np.where(states["phase"] == OVER, -1, act(policy, states)), 5, out, 0)
    return np.concatenate(found), cards


def splits(cards: list[int], sizes: list[int]):
    """All ways to deal ``cards`` into hands of these sizes, as sets of cards."""
    if not sizes:
        yield ()
        return
    for hand in combinations(cards, sizes[0]):
        rest = [card for card in cards if card not in hand]
        yield from ((sum(1 << card for card in hand), *others) for others in splits(rest, sizes[1:]))


def worlds(state: np.void) -> States:
    """``state`` with its unseen cards dealt in every way."""
    me = int(state["turn"])
    others = [seat for seat in range(4) if seat != me]
    held = [int(hand) for hand in state["held"]]
    unseen = hand_cards(FULL_DECK & ~int(state["gone"]) & ~held[me])
    deals = list(splits(unseen, [held[seat].bit_count() for seat in others]))
    made = np.repeat(np.array([state]), len(deals))
    for seat, hands in zip(others, np.array(deals).T):
        made["hands"][:, seat] += hands - held[seat]
        made["held"][:, seat] = hands
    return made


def values(state: np.void, cards: list[int]) -> np.ndarray:
    """Mean points gap of the player's side after each of ``cards``, over all deals alike."""
    policy, side, gaps = srp(), int(state["turn"]) % 2, []
    for card in cards:
        states = worlds(state)
        out, actions = GAME.buffers(len(states)), np.full(len(states), FIRST_CARD + card)
        while True:
            GAME.step(states, actions, 5, out, 0)
            if (states["phase"] == OVER).all():
                break
            actions = act(policy, states)
        gaps.append((states["gains"][:, side].astype(float) - states["gains"][:, 1 - side]).mean())
    return np.array(gaps)


@pytest.fixture(scope="module")
def solved():
    found, cards = endings()
    return found, cards, [values(state, legal) for state, legal in zip(found, cards)]


def regret(solved, player: Player) -> float:
    """Points a choice that the chosen cards cost against the best ones."""
    found, cards, exact = solved
    chosen = act(SpadesPolicy("bis", player), found) - FIRST_CARD
    return float(np.mean([value.max() - value[legal.index(card)] for card, legal, value in zip(chosen, cards, exact)]))


def test_uct_finds_the_best_card_of_an_ending(solved):
    """A nil or a contract at stake makes gaps of a hundred points and more, beside which 30 points explore nothing."""
    assert len(solved[0]) > 150
    assert regret(solved, Player("uct", LAST, 1000)) < 0.1
    assert regret(solved, Player("uct", LAST, 1000, exploration=0.05)) > 0.3


def test_exploration_is_scaled_by_the_spread_of_the_rewards():
    means, counts = np.array([40.0, 0.0]), np.array([50, 50])
    assert most_promising_row(means, counts, 2, 100, 1.0, 40.0) == 0
    counts = np.array([98, 2])
    for scale in (1.0, 100.0):
        assert most_promising_row(scale * means, counts, 2, 100, 1.0, scale * 40.0) == 1
        assert most_promising_row(scale * means, counts, 2, 100, 0.1, scale * 40.0) == 0
    assert most_promising_row(np.zeros(2), counts, 2, 100, 1.0, 0.0) == 1  # nothing known apart: the one tried less

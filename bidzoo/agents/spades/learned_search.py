"""Search at the table for the learned Spades player: its card and the others, each played out on the same deals.

The unseen cards are dealt as the voids and bids make them likely (``uct.imagine_row``). On every deal SRP plays the
round out from each card, and the worth of the score it leads to is compared with that of the network's card. That one
is played unless another was better by ``certain`` standard errors: on one deal two cards mostly lead to the same score,
so the differences say much more than the means.
"""

import numpy as np

from bidzoo.agents.spades.learned import Seen, new_seen_row, think_row, worth_row
from bidzoo.agents.spades.uct import BIDS, Workspace, imagine_row, open_workspace_row, rollout_row
from bidzoo.core.kernels import F64, State, row
from bidzoo.envs.spades.deals import SUITS
from bidzoo.envs.spades.play import play_row


@row
def searched_card_row(
    state: State, held: int, player: State, lookup: State, key: np.uint64, workspace: Workspace
) -> int:
    """The card of the seat to play, which holds ``held``."""
    seen = new_seen_row()
    number, own = think_row(state, held, lookup, seen, np.empty(13, np.float32))
    if number == 1:
        return int(seen.cards[0])
    gains, errors = np.empty(13), np.empty(13)
    compare_row(state, held, player.worlds, seen, number, own, lookup, key, workspace, gains, errors)
    best = own
    for i in range(number):
        if gains[i] > gains[best] and gains[i] > player.certain * errors[i]:
            best = i
    return int(seen.cards[best])


@row
def compare_row(
    state: State,
    held: int,
    worlds: int,
    seen: Seen,
    number: int,
    own: int,
    lookup: State,
    key: np.uint64,
    workspace: Workspace,
    gains: F64,
    errors: F64,
) -> None:
    """Mean gain in worth of each of ``number`` cards over card ``own`` on the same ``worlds``, and standard errors."""
    worth, side = np.empty(13), int(state.turn) % int(state.sides)
    same = np.full(13, -1)  # a card before it as good as this one: of their suit nobody holds one between them
    for i in range(number):
        gains[i] = 0
        errors[i] = 0  # squares until the end
        for j in range(i):
            suits = SUITS[state.deck, seen.cards[i]], SUITS[state.deck, seen.cards[j]]
            if suits[0] == suits[1] and seen.slots[j] == seen.slots[i] + 1:
                same[i] = j
    open_workspace_row(state, held, BIDS, workspace.views[0])
    for _ in range(worlds):
        key = imagine_row(state, BIDS, lookup, key, workspace)
        for i in range(number):
            if same[i] >= 0:
                worth[i] = worth[same[i]]
                continue
            workspace.states[1] = workspace.states[0]
            trial = workspace.states[1]
            play_row(trial, int(seen.cards[i]))
            rollout_row(trial)
            worth[i] = worth_row(trial, side, lookup)
        for i in range(number):
            gain = worth[i] - worth[own]
            gains[i] += gain / worlds
            errors[i] += gain * gain / worlds
    for i in range(number):
        errors[i] = np.sqrt(max(0.0, errors[i] - gains[i] * gains[i]) / worlds)

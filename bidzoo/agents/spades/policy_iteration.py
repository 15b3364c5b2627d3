"""Policy iteration of the learned Spades player: a learner plays on from every choice, and learns which is best.

At some decisions of its games *every* choice is tried: the round is played to its end from each by those who are at the
table, on the cards that are really held. The networks are fitted to the differences in value, and what they think best
is the player of the next pass. Best responses are trained so (``bidzoo.benchmarks.exploit``), and the packaged player
was (``experiments/learned_training.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import nearest_row
from bidzoo.agents.spades.games import Partnerships, paper_game, partnerships
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    INPUTS,
    KINDS,
    MOST_USED,
    NARROW,
    NETWORK,
    SLOTS,
    WIDE,
    choice_bid_row,
    features_row,
    new_seen_row,
    see_row,
    win_chance_row,
)
from bidzoo.agents.spades.lookup import shipped_lookup, with_parts
from bidzoo.agents.spades.policy import SpadesPolicy, bid_choice_row, card_choice_row, learned
from bidzoo.agents.spades.uct import Workspace
from bidzoo.core.kernels import F32, F64, I8, I16, I64, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.engine import act_row, begin_row
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.play import play_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, OVER, STATE, VIEW

_CHUNK = 5_000  # games at a time
MOST_BIDS, MOST_CARDS = 24, 96  # decisions of one game that are learned from


@dataclass(frozen=True)
class Options(Checked):
    """What a pass depends on, beside its games."""

    bids: Share = 0.1  # of the bids that are learned from
    cards: Share = 0.12  # ... and of the cards
    random_actions: Share = 0.03  # of the learner's actions
    epochs: Count = 1
    batch: Count = 2048  # cards
    bid_batch: Count = 256
    rate: Weight = 1.5e-3  # Adam; falls to 0 in a pass, and from pass to pass
    seed: Seed = 1


class Bids(NamedTuple):
    """``N`` bids."""

    x: F32  # [N, FEATURES]
    value: F32  # [N, CHOICES]


class Cards(NamedTuple):
    """``N`` cards."""

    used: I16  # [N, MOST_USED]  inputs that are 1, then INPUTS
    slots: I8  # [N, 13]  legal cards, then -1
    kinds: I16  # [N, 13]
    value: F32  # [N, 13]


def player_of(weights: dict[str, F32]) -> SpadesPolicy:
    """The learned player with these weights."""
    return learned(lookup=with_parts(shipped_lookup(), **weights))


# ---- games -----------------------------------------------------------------------------------


@row
def _bid_row(state: State, learners: int, sides: Partnerships, key: np.uint64, spare: Workspace) -> int:
    """The bidding action of the seat to act; ``learners``: bits of the seats of the first of ``sides``, the learner."""
    seat = int(state.turn)
    side = 1 - (learners >> seat & 1)
    return bid_choice_row(state, state.hands[seat], sides.bidders[side], sides.lookups[side], key, spare)


@row
def _card_row(state: State, learners: int, sides: Partnerships, key: np.uint64, spare: Workspace) -> int:
    """The card of the seat to play."""
    seat = int(state.turn)
    side = 1 - (learners >> seat & 1)
    return card_choice_row(state, int(state.held[seat]), sides.players[side], sides.lookups[side], key, spare)


@row
def _play_out_row(state: State, learners: int, sides: Partnerships, key: np.uint64, spare: Workspace) -> None:
    """Play the round to its last card."""
    while state.phase == BIDDING:
        bid_row(state, _bid_row(state, learners, sides, key, spare))
    while state.plays < 52:
        play_row(state, _card_row(state, learners, sides, key, spare))


@row
def _try_bids_row(
    state: State, learners: int, sides: Partnerships, key: np.uint64, trials: States, spare: Workspace, x: F32, out: F32
) -> None:
    """The value that each choice of a bid leads to, into ``out`` ``[CHOICES]``."""
    seat, trial = int(state.turn), trials[0]
    side, legal = seat % int(state.sides), legal_bids_row(state, state.hands[seat])
    regular = features_row(state, state.hands[seat], sides.bidders[0], sides.lookups[0], x)
    for choice in range(CHOICES):
        bid, equivalent = nearest_row(legal, choice_bid_row(choice, regular)), -1
        for previous in range(choice):
            if nearest_row(legal, choice_bid_row(previous, regular)) == bid:
                equivalent = previous
        if equivalent >= 0:
            out[choice] = out[equivalent]
        else:
            trials[0] = state
            bid_row(trial, bid)
            _play_out_row(trial, learners, sides, key, spare)
            out[choice] = win_chance_row(trial, side, sides.lookups[0])


@row
def _chance_row(key: np.uint64, share: float) -> bool:
    return below_row(key, 1 << 20) < share * (1 << 20)


@row
def _game_row(
    g: int,
    number: int,
    learners: int,
    seed: int,
    state: State,
    sides: Partnerships,
    shares: F64,
    trials: States,
    spare: Workspace,
    bids: Bids,
    cards: Cards,
) -> None:
    """Play a begun game to its end; write the decisions to learn from into row ``g`` of ``bids`` and ``cards``.

    ``shares`` ``[3]``: of the bids and of the cards to learn from, and of actions made at random.
    """
    taken_bids, taken_cards = 0, 0
    seen, x = new_seen_row(), np.empty(FEATURES, np.float32)
    while state.phase != OVER:
        seat = int(state.turn)
        key = key_row(seed, number, (1 << 40) + int(state.length))
        random_action, mine = _chance_row(next_row(key), shares[2]), learners >> seat & 1
        if state.phase == BIDDING:
            looked = state.looked >> seat & 1
            if mine and looked and taken_bids < bids.x.shape[1] and _chance_row(next_row(next_row(key)), shares[0]):
                x_out, values = bids.x[g, taken_bids], bids.value[g, taken_bids]
                _try_bids_row(state, learners, sides, key, trials, spare, x_out, values)
                taken_bids += 1
            action = _bid_row(state, learners, sides, key, spare)
            if random_action and mine and looked:
                regular = features_row(state, state.hands[seat], sides.bidders[0], sides.lookups[0], x)
                choice = below_row(next_row(next_row(next_row(key))), CHOICES)
                action = nearest_row(legal_bids_row(state, state.hands[seat]), choice_bid_row(choice, regular))
            act_row(state, action)
            continue
        card = _card_row(state, learners, sides, key, spare)
        learned_from = taken_cards < cards.slots.shape[1] and _chance_row(next_row(next_row(key)), shares[1])
        if mine and (random_action or learned_from):
            n, choices = see_row(state, int(state.held[seat]), seen)
            if learned_from and choices > 1:
                used, slots = cards.used[g, taken_cards], cards.slots[g, taken_cards]
                kinds = cards.kinds[g, taken_cards]
                for i in range(MOST_USED):
                    used[i] = seen.used[i] if i < n else INPUTS
                for i in range(choices):
                    slots[i], kinds[i] = seen.slots[i], seen.kinds[i]
                    trials[0] = state
                    play_row(trials[0], seen.cards[i])
                    _play_out_row(trials[0], learners, sides, key, spare)
                    cards.value[g, taken_cards, i] = win_chance_row(trials[0], seat % state.sides, sides.lookups[0])
                taken_cards += 1
            if random_action:
                card = int(seen.cards[below_row(next_row(next_row(next_row(key))), choices)])
        act_row(state, FIRST_CARD + card)


@batched
@rows_a_thread(1)
def _collect(
    start: int,
    stop: int,
    numbers: I64,
    learners: I64,
    kinds: I64,
    seed: int,
    blanks: States,
    states: States,
    sides: Partnerships,
    shares: F64,
    spare: Workspace,
    bids: Bids,
    cards: Cards,
) -> None:
    for g in range(start, stop):
        state, trials = states[2 * g], states[2 * g + 1 : 2 * g + 2]
        begin_row(state, numbers[g] // 2, seed, blanks[kinds[g] : kinds[g] + 1])
        workspace = Workspace(spare.states[2 * g : 2 * g + 2], spare.views[g : g + 1])
        _game_row(g, numbers[g], learners[g], seed, state, sides, shares, trials, workspace, bids, cards)


def both_ways(games: int) -> I64:
    """The learner's seats in each of ``games``, as bits: a pair, and in the second game of a board the other one."""
    numbers = np.arange(games)
    return np.where((numbers + numbers // 2) % 2, 5, 10)


def collect(
    config: Options,
    sides: tuple[SpadesPolicy, SpadesPolicy],
    learners: I64,
    seed: int,
    games: Sequence[Spades] = (),
    kinds: I64 | None = None,
) -> tuple[Bids, Cards]:
    """Bids and cards to learn from, of ``G`` games of the deals of ``seed``; game ``g`` is board ``g // 2``.

    Args:
        config: the shares of the decisions.
        sides: the learner, and who is at the other seats.
        learners: ``[G]``, bits of the learner's seats.
        seed: of the deals.
        games: those that are played; default: the paper's.
        kinds: ``[G]``, which of them each is; default: the first.
    """
    blanks = np.concatenate([game.blank for game in games or [paper_game()]])
    kinds = np.zeros_like(learners) if kinds is None else kinds
    shares = np.array([config.bids, config.cards, config.random_actions])
    bid_chunks: list[Bids] = []
    card_chunks: list[Cards] = []
    for part in np.split(np.arange(len(learners)), range(_CHUNK, len(learners), _CHUNK)):
        n = len(part)
        bids = Bids(
            np.zeros((n, MOST_BIDS, FEATURES), np.float32), np.full((n, MOST_BIDS, CHOICES), np.nan, np.float32)
        )
        cards = Cards(
            np.zeros((n, MOST_CARDS, MOST_USED), np.int16),
            np.full((n, MOST_CARDS, 13), -1, np.int8),
            np.zeros((n, MOST_CARDS, 13), np.int16),
            np.zeros((n, MOST_CARDS, 13), np.float32),
        )
        states, spare = allocate(STATE, 2 * n), Workspace(allocate(STATE, 2 * n), allocate(VIEW, n))
        arguments = blanks, states, partnerships(sides), shares, spare, bids, cards
        _collect(part, learners[part], kinds[part], seed, *arguments)
        bid_rows, card_rows = ~np.isnan(bids.value[:, :, 0]), cards.slots[:, :, 0] >= 0
        bid_chunks.append(Bids(bids.x[bid_rows], bids.value[bid_rows]))
        card_chunks.append(
            Cards(cards.used[card_rows], cards.slots[card_rows], cards.kinds[card_rows], cards.value[card_rows])
        )
    return Bids(*map(np.concatenate, zip(*bid_chunks))), Cards(*map(np.concatenate, zip(*card_chunks)))


# ---- fitting ---------------------------------------------------------------------------------


def layers(*sizes: int) -> Any:
    """Linear layers in torch with ReLU between them: ``sizes`` of the input and of each output."""
    from torch import nn

    first, *others = (nn.Linear(*pair) for pair in pairwise(sizes))
    return nn.Sequential(first, *(part for layer in others for part in (nn.ReLU(), layer)))


def minimise(
    net: Any, loss_of: Callable[[Any], Any], number: int, epochs: int, batch: int, rate: float
) -> list[list[float]]:
    """Minimise the first value of ``loss_of(rows)`` by Adam, the rate falling to 0.

    Returns all values of ``loss_of`` at each step of the last epoch.
    """
    import torch

    batch = max(1, min(batch, number))
    optimizer = torch.optim.Adam(net.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, epochs * (number // batch)))
    steps: list[list[float]] = []
    for _ in range(epochs):
        steps.clear()
        for rows in torch.randperm(number).split(batch)[: number // batch]:
            values = loss_of(rows)
            optimizer.zero_grad()
            values[0].backward()
            optimizer.step()
            schedule.step()
            steps.append([value.item() for value in values])
    return steps


_LEARNED = [name for name in NETWORK.names or () if name != "worth"]
_TRANSPOSED = ("card_w1", "card_w2")  # inputs first


def _named(bids: Any, cards: Any) -> dict[str, Any]:
    """The parameters of both networks in torch, by name, as the kernels read them: views."""
    parameters = zip(_LEARNED, [*bids.parameters(), *cards.parameters()], strict=True)
    return {name: tensor.detach().T if name in _TRANSPOSED else tensor.detach() for name, tensor in parameters}


def _squares(error: Any, value: Any) -> tuple[Any, Any, Any]:
    """The loss, and the sums of squares of the errors and of the differences of value."""
    squares = (error**2).sum()
    return 100 * squares / len(error), squares, (value**2).sum()


def fit(
    config: Options, bids: Bids, cards: Cards, start: dict[str, F32], step: int
) -> tuple[dict[str, F32], dict[str, float]]:
    """Weights fitted to the differences of value, from ``start``, and the share of their variance explained.

    Of a ``start`` that has ``worth`` alone the networks begin with random weights.
    """
    import torch

    torch.manual_seed(config.seed + step)
    bid_net = layers(FEATURES, HIDDEN, HIDDEN, CHOICES)
    card_net = layers(INPUTS, WIDE, NARROW, SLOTS + KINDS)
    if len(start) > 1:
        for name, tensor in _named(bid_net, card_net).items():
            tensor.copy_(torch.from_numpy(start[name]))
    x, bid_value = torch.from_numpy(bids.x), torch.from_numpy(bids.value)
    used, slots = torch.from_numpy(cards.used), torch.from_numpy(cards.slots)
    kinds, card_value = torch.from_numpy(cards.kinds), torch.from_numpy(cards.value)

    def bid_loss(rows: Any) -> Any:
        value = bid_value[rows]
        out = bid_net(x[rows])
        value, out = value - value.mean(1, keepdim=True), out - out.mean(1, keepdim=True)
        return _squares(out - value, value)

    def card_loss(rows: Any) -> Any:
        inputs = torch.zeros(len(rows), INPUTS + 1).scatter_(1, used[rows].long(), 1.0)[:, :INPUTS]
        outputs = card_net(inputs)
        mask = slots[rows] >= 0
        kind_values = (kinds[rows].long()[:, :, None] >> torch.arange(KINDS) & 1).float() @ outputs[:, SLOTS:, None]
        out = outputs.gather(1, slots[rows].long().clamp(min=0)) + kind_values[:, :, 0]
        number = mask.sum(1, keepdim=True)
        out, value = (
            torch.where(mask, a - torch.where(mask, a, 0).sum(1, keepdim=True) / number, 0)
            for a in (out, card_value[rows])
        )
        return _squares(out - value, value)

    metrics: dict[str, float] = {}
    rate = config.rate * max(0.2, 1 - 0.2 * step)
    for name, net, loss_of, number, batch in (
        ("bids", bid_net, bid_loss, len(x), config.bid_batch),
        ("cards", card_net, card_loss, len(used), config.batch),
    ):
        steps = minimise(net, loss_of, number, config.epochs, batch, rate)
        residual, total = (sum(step[k] for step in steps) for k in (1, 2))
        metrics[f"{name}_explained"] = 1 - residual / max(total, 1e-9)
    fitted = {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in _named(bid_net, card_net).items()}
    return {"worth": start["worth"], **fitted}, metrics

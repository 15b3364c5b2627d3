"""Trains the learned Spades player: policy iteration by playing on from every choice.

At some decisions of a pass *every* choice is tried: the round is played to its end from each by the four players, on
the cards that are really held. The networks are fitted to the differences in value, and what they think best is the
player of the next pass. The first pass plays BIS and SRP in all seats. The value of a score is the share of games won
from it (``fit_values``); in rounds of the variants, a fifth of what is played, it is the points gap.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.spades.bis import bis_row, nearest_row
from bidzoo.agents.spades.games import deals_seed, paper_game, play_games, share_won
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    INPUTS,
    KINDS,
    LEAST,
    MOST_USED,
    NARROW,
    NETWORK,
    SCORES,
    SLOTS,
    WIDE,
    LearnedNetworks,
    Shapes,
    choice_bid_row,
    features_row,
    learned_card_row,
    learned_row,
    new_seen_row,
    see_row,
    win_chance_row,
)
from bidzoo.agents.spades.lookup import shipped_lookup, with_parts
from bidzoo.agents.spades.policy import Player, SpadesPolicy, bid_choice_row, card_choice_row
from bidzoo.agents.spades.srp import srp_row
from bidzoo.agents.spades.uct import Workspace
from bidzoo.core.arrays import Arrays, rounded
from bidzoo.core.kernels import F32, I8, I16, I64, State, States, allocate, batched, row
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.streams import below_row, key_row, next_row
from bidzoo.envs.spades.bidding import bid_row, legal_bids_row
from bidzoo.envs.spades.engine import act_row, begin_row
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.play import play_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, LOOK, OVER, STATE, VARIANTS, VIEW

_CHUNK = 5_000  # games at a time
BITS = 7  # significant bits of a weight
MOST_BIDS, MOST_CARDS = 24, 96  # decisions of one game that are learned from
_EVERY = 5  # one game in so many is a round of a variant


@dataclass(frozen=True)
class LearnedOptions(Checked):
    """Every number of the training."""

    passes: Count = 3
    games: Count = 120_000  # a pass
    first_games: Count = 1_000_000  # ... of the first pass, whose rounds SRP plays out, ten times as fast
    bids: Share = 0.1  # of the bids that are learned from
    cards: Share = 0.12  # ... and of the cards
    random_actions: Share = 0.03  # of the learner's actions
    epochs: Count = 1
    batch: Count = 2048  # cards
    bid_batch: Count = 256
    rate: Weight = 1.5e-3  # Adam; falls to 0 in a pass, and from pass to pass
    value_games: Count = 200_000  # of BIS against itself, to learn the value of a score
    test_games: Count = 20_000
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


# ---- the value of a score --------------------------------------------------------------------


def fit_values(config: LearnedOptions) -> F32:
    """Share of games won from each score ``[SCORES, SCORES]``, by log loss on the rounds of BIS against itself."""
    import torch
    from torch import nn

    torch.manual_seed(config.seed)
    games = play_games((SpadesPolicy("bis"),) * 2, 2 * np.arange(config.value_games), deals_seed("values", config.seed))
    gains = games.log["gains"].astype(np.int64)
    totals = np.cumsum(gains, axis=1)
    played = np.arange(gains.shape[1]) < games.rounds[:, None] - 1  # after the last round nothing remains to predict
    scores = np.concatenate([totals[played], totals[played][:, ::-1]])
    won = np.broadcast_to(share_won(games.winner)[:, None], played.shape)[played]
    target = torch.from_numpy(np.concatenate([won, 1 - won]).astype(np.float32))
    model = nn.Sequential(nn.Linear(_SCORE_INPUTS, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    inputs = torch.from_numpy(_score_inputs(scores))

    def loss(rows: Any) -> Any:
        return (nn.functional.binary_cross_entropy_with_logits(model(inputs[rows])[:, 0], target[rows]),)

    _minimise(model, loss, len(inputs), 2, config.batch, 2e-3)
    points = np.arange(LEAST, LEAST + SCORES)
    pairs = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1).reshape(-1, 2)
    with torch.no_grad():
        ours, theirs = (torch.sigmoid(model(torch.from_numpy(_score_inputs(s)))[:, 0]) for s in (pairs, pairs[:, ::-1]))
    return np.ascontiguousarray(((ours + 1 - theirs) / 2).numpy().reshape(SCORES, SCORES))


def _minimise(
    net: Any, loss_of: Callable[[Any], Any], number: int, epochs: int, batch: int, rate: float
) -> list[list[float]]:
    """Minimise the first value of ``loss_of(rows)`` by Adam, the rate falling to 0.

    Returns all values of ``loss_of`` at each step of the last epoch.
    """
    import torch

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


_SCORE_INPUTS = 2 * (1 + 1 + 8)


def _score_inputs(scores: I64) -> F32:
    """Scores ``[N, 2]`` as inputs: points, bags, and how far above every 25 points of the last 200."""
    bends = np.clip(scores[:, :, None] - (LEAST + SCORES - 25 * np.arange(1, 9)), 0, 25) / 25
    parts = [scores[:, :, None] / 100, scores[:, :, None] % 10 / 10, bends]
    return np.ascontiguousarray(np.concatenate(parts, axis=-1).reshape(len(scores), -1), np.float32)


# ---- games -----------------------------------------------------------------------------------


class Agents(NamedTuple):
    """The learned player and its opponent, and the shares of decisions to learn from and to make at random."""

    bidders: States  # [2]  learned, its opponent
    players: States  # [2]
    lookup: States  # [2]
    network: bool  # whether it is trained; if not the learned player is BIS with SRP, as its opponent then is
    self_play: bool  # in every other game the learned player is its own opponent
    bids: float
    cards: float
    random_actions: float


@row
def _bid_row(state: State, learners: int, agents: Agents, key: np.uint64, spare: Workspace) -> int:
    """The bidding action of the seat to act; bits of ``learners``: seats of the learned player."""
    seat = int(state.turn)
    if not learners >> seat & 1:
        return bid_choice_row(state, state.hands[seat], agents.bidders[1], agents.lookup[1], key, spare)
    if not agents.network:
        return bis_row(state, state.hands[seat], agents.bidders[1], agents.lookup[0], key)
    if not state.looked >> seat & 1:
        return LOOK
    return learned_row(state, state.hands[seat], agents.bidders[0], agents.lookup[0], key)


@row
def _card_row(state: State, learners: int, agents: Agents, key: np.uint64, spare: Workspace) -> int:
    """The card of the seat to play."""
    seat = int(state.turn)
    held = int(state.held[seat])
    if not learners >> seat & 1:
        return card_choice_row(state, held, agents.players[1], agents.lookup[1], key, spare)
    if not agents.network:
        return srp_row(state, held)
    return learned_card_row(state, held, agents.lookup[0])


@row
def _play_out_row(state: State, learners: int, agents: Agents, key: np.uint64, spare: Workspace) -> None:
    """Play the round to its last card."""
    while state.phase == BIDDING:
        bid_row(state, _bid_row(state, learners, agents, key, spare))
    while state.plays < 52:
        play_row(state, _card_row(state, learners, agents, key, spare))


@row
def _try_bids_row(
    state: State, learners: int, agents: Agents, key: np.uint64, trials: States, spare: Workspace, x: F32, out: F32
) -> None:
    """The value that each choice of a bid leads to, into ``out`` ``[CHOICES]``."""
    seat, trial = int(state.turn), trials[0]
    side, legal = seat % int(state.sides), legal_bids_row(state, state.hands[seat])
    regular = features_row(state, state.hands[seat], agents.bidders[0], agents.lookup[0], x)
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
            _play_out_row(trial, learners, agents, key, spare)
            out[choice] = win_chance_row(trial, side, agents.lookup[0])


@row
def _chance_row(key: np.uint64, share: float) -> bool:
    return below_row(key, 1 << 20) < share * (1 << 20)


@row
def _game_row(
    g: int,
    number: int,
    seed: int,
    state: State,
    agents: Agents,
    trials: States,
    spare: Workspace,
    bids: Bids,
    cards: Cards,
) -> None:
    """Play a begun game to its end; write the decisions to learn from into row ``g`` of ``bids`` and ``cards``."""
    learners = 5 if number // 2 % 2 else 10
    if number % 2:  # the same board, alone or with sides exchanged
        learners = 15 if agents.self_play else 15 - learners
    taken_bids, taken_cards = 0, 0
    seen, x = new_seen_row(), np.empty(FEATURES, np.float32)
    while state.phase != OVER:
        seat = int(state.turn)
        key = key_row(seed, number, (1 << 40) + int(state.length))
        random_action, mine = _chance_row(next_row(key), agents.random_actions), learners >> seat & 1
        if state.phase == BIDDING:
            looked = state.looked >> seat & 1
            if mine and looked and taken_bids < bids.x.shape[1] and _chance_row(next_row(next_row(key)), agents.bids):
                x_out, values = bids.x[g, taken_bids], bids.value[g, taken_bids]
                _try_bids_row(state, learners, agents, key, trials, spare, x_out, values)
                taken_bids += 1
            action = _bid_row(state, learners, agents, key, spare)
            if random_action and mine and looked:
                regular = features_row(state, state.hands[seat], agents.bidders[0], agents.lookup[0], x)
                choice = below_row(next_row(next_row(next_row(key))), CHOICES)
                action = nearest_row(legal_bids_row(state, state.hands[seat]), choice_bid_row(choice, regular))
            act_row(state, action)
            continue
        card = _card_row(state, learners, agents, key, spare)
        learned_from = taken_cards < cards.slots.shape[1] and _chance_row(next_row(next_row(key)), agents.cards)
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
                    _play_out_row(trials[0], learners, agents, key, spare)
                    cards.value[g, taken_cards, i] = win_chance_row(trials[0], seat % state.sides, agents.lookup[0])
                taken_cards += 1
            if random_action:
                card = int(seen.cards[below_row(next_row(next_row(next_row(key))), choices)])
        act_row(state, FIRST_CARD + card)


@batched
def _collect(
    start: int,
    stop: int,
    numbers: I64,
    seed: int,
    blanks: States,
    states: States,
    trials: States,
    agents: Agents,
    spare: Workspace,
    bids: Bids,
    cards: Cards,
) -> None:
    for g in range(start, stop):
        number = numbers[g]
        kind = 0 if number // 2 % _EVERY or len(blanks) == 1 else 1 + number // 2 // _EVERY % (len(blanks) - 1)
        begin_row(states[g], number // 2, seed, blanks[kind : kind + 1])
        workspace = Workspace(spare.states[2 * g : 2 * g + 2], spare.views[g : g + 1])
        _game_row(g, number, seed, states[g], agents, trials[g : g + 1], workspace, bids, cards)


@cache
def _blanks() -> States:
    """Blank states of the paper's game, then of rounds of the variants and decks."""
    rounds = [Spades(phase="round", variant=variant) for variant in VARIANTS]
    rounds += [Spades(phase="round", deck=deck) for deck in ("jokers", "jokers_deuces")]
    rounds += [Spades(phase="round", failed_nil=kind) for kind in ("partner", "nothing")]
    return np.concatenate([paper_game().blank, *(game.blank for game in rounds)])


def player_of(weights: dict[str, F32]) -> SpadesPolicy:
    return SpadesPolicy("learned", Player("learned"), with_parts(shipped_lookup(), **weights))


def collect(
    config: LearnedOptions, weights: dict[str, F32], step: int, opponent: SpadesPolicy | None = None
) -> tuple[Bids, Cards]:
    """Bids and cards that one pass learns from; in pass 0 BIS and SRP play.

    With an ``opponent`` all games are the paper's, between the learner and it.
    """
    player, other = player_of(weights), SpadesPolicy("bis") if opponent is None else opponent
    bidders = np.concatenate([player.bidder_record, other.bidder_record])
    players = np.concatenate([player.player_record, other.player_record])
    lookup = np.concatenate([player.lookup, other.lookup])
    shares = config.bids, config.cards, config.random_actions
    agents = Agents(bidders, players, lookup, step > 0, opponent is None, *shares)
    blanks = _blanks() if opponent is None else _blanks()[:1]
    bid_chunks: list[Bids] = []
    card_chunks: list[Cards] = []
    total = config.games if step else config.first_games
    for first in range(0, total, _CHUNK):
        numbers = np.arange(first, min(first + _CHUNK, total))
        games = len(numbers)
        bids = Bids(
            np.zeros((games, MOST_BIDS, FEATURES), np.float32), np.full((games, MOST_BIDS, CHOICES), np.nan, np.float32)
        )
        cards = Cards(
            np.zeros((games, MOST_CARDS, MOST_USED), np.int16),
            np.full((games, MOST_CARDS, 13), -1, np.int8),
            np.zeros((games, MOST_CARDS, 13), np.int16),
            np.zeros((games, MOST_CARDS, 13), np.float32),
        )
        states, trials = allocate(STATE, games), allocate(STATE, games)
        spare = Workspace(allocate(STATE, 2 * games), allocate(VIEW, games))
        seed = deals_seed("passes", config.seed, step)
        _collect(numbers, seed, blanks, states, trials, agents, spare, bids, cards)
        bid_rows, card_rows = ~np.isnan(bids.value[:, :, 0]), cards.slots[:, :, 0] >= 0
        bid_chunks.append(Bids(bids.x[bid_rows], bids.value[bid_rows]))
        card_chunks.append(
            Cards(cards.used[card_rows], cards.slots[card_rows], cards.kinds[card_rows], cards.value[card_rows])
        )
    return Bids(*map(np.concatenate, zip(*bid_chunks, strict=True))), Cards(
        *map(np.concatenate, zip(*card_chunks, strict=True))
    )


# ---- fitting ---------------------------------------------------------------------------------


def _modules(weights: dict[str, F32]) -> tuple[Any, Any]:
    """The networks of bids and of cards in torch."""
    import torch
    from torch import nn

    bids = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CHOICES)
    )
    cards = nn.Sequential(
        nn.Linear(INPUTS, WIDE), nn.ReLU(), nn.Linear(WIDE, NARROW), nn.ReLU(), nn.Linear(NARROW, SLOTS + KINDS)
    )
    if len(weights) > 1:
        with torch.no_grad():
            for parameter, name in zip([*bids.parameters(), *cards.parameters()], _LEARNED, strict=True):
                array = torch.from_numpy(weights[name])
                parameter.copy_(array.T if name in _TRANSPOSED else array)
    return bids, cards


_LEARNED = [name for name in NETWORK.names or () if name != "worth"]
_TRANSPOSED = ("card_w1", "card_w2")  # inputs first


def _arrays(bids: Any, cards: Any) -> dict[str, F32]:
    """The weights of both networks as the kernels read them."""
    arrays = {}
    for parameter, name in zip([*bids.parameters(), *cards.parameters()], _LEARNED, strict=True):
        array = parameter.detach().numpy()
        arrays[name] = np.ascontiguousarray(array.T if name in _TRANSPOSED else array)
    return arrays


def _squares(error: Any, value: Any) -> tuple[Any, Any, Any]:
    """The loss, and the sums of squares of the errors and of the differences of value."""
    squares = (error**2).sum()
    return 100 * squares / len(error), squares, (value**2).sum()


def fit(
    config: LearnedOptions, bids: Bids, cards: Cards, start: dict[str, F32], step: int
) -> tuple[dict[str, F32], dict[str, float]]:
    """Weights fitted to the differences of value, from ``start``, and the share of their variance explained."""
    import torch

    torch.manual_seed(config.seed + step)
    bid_net, card_net = _modules(start)
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
        steps = _minimise(net, loss_of, number, config.epochs, batch, rate)
        residual, total = (sum(step[k] for step in steps) for k in (1, 2))
        metrics[f"{name}_explained"] = 1 - residual / max(total, 1e-9)
    return {"worth": start["worth"], **_arrays(bid_net, card_net)}, metrics


class Trainer:
    """One run, as the loop of the bridge agents' trainers takes it: ``iterate`` plays a pass and learns from it."""

    algorithm, unit = "learned", "pass"
    games, local_steps = 0, 1
    inputs: Mapping[str, str] = {}
    modules: Mapping[str, Any] = {}  # each pass has optimisers of its own

    def __init__(self, options: LearnedOptions) -> None:
        import_module("torch")  # if it is missing, fail before the games
        self.options, self.end = options, options.passes
        self.provenance = {"algorithm": self.algorithm, **asdict(options)}
        self.weights: dict[str, F32] = {}

    def measure(self, player: LearnedNetworks) -> dict[str, float]:
        return {}

    def arrays(self) -> Arrays:
        return self.weights

    def restore(self, arrays: Arrays) -> None:
        self.weights = {name: np.asarray(array, np.float32) for name, array in arrays.items()}

    def player(self) -> LearnedNetworks:
        return LearnedNetworks(Shapes(), self.weights)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play a pass and learn from it; shares of the variance that the networks explain, and of test games won."""
        options, weights = self.options, self.weights or {"worth": fit_values(self.options)}
        weights, metrics = fit(options, *collect(options, weights, iteration), weights, iteration)
        self.weights = {name: rounded(array, BITS).astype(np.float32) for name, array in weights.items()}  # as saved
        policies, test_seed = (player_of(self.weights), SpadesPolicy("bis")), deals_seed("test", options.seed)
        won = share_won(play_games(policies, np.arange(options.test_games), test_seed).winner)
        return {**metrics, "wins_against_bis": float(won.mean())}

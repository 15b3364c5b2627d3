"""Trains ``pbl``: a belief module and a policy module learn in turns. Tian et al. 2020.

The beliefs learn by cross-entropy in auctions of the policy, the policy by policy gradient for minus the cost of the
contract and, ``communication`` times, how much nearer partner's belief about the caller's hand comes to it.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.pbl import Architecture, Modules
from bidzoo.agents.bridge.selfplay import sample_calls
from bidzoo.agents.bridge.trainer import Metrics, descend
from bidzoo.core.cards import HAND_SIZE, NUM_CARDS, held
from bidzoo.core.kernels import F32, F64, I8, I64
from bidzoo.core.options import Count, Range, Seed, Share, Weight, Whole
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import MAX_IMPS
from trainers import partners
from trainers.partners import PartnerBoards, PartnerTrainer

_SURE = np.float32(1e-3)  # no belief is nearer to 0 or 1


# ---- auctions ----------------------------------------------------------------------------


class PlayedAuctions(NamedTuple):
    """``n`` decisions of ``m`` auctions of at most ``T`` calls, one turn after the other."""

    board: I64  # [m]  rows
    cost: F32  # [m]  IMPs
    distance: F32  # [m, T]  at each turn: KL of partner's hand from the belief of the player to call; NaN: over
    first: F32  # [m]  before any call: KL of the first caller's hand from the other's belief
    auction: I64  # [n]  0 ... m - 1
    turn: I64  # [n]
    observation: I8  # [n, 124]
    belief: F32  # [n, 52 or 0]
    legal: I8  # [n, 36]
    call: I64  # [n]


def divergence(hand: I64, belief: F32) -> F32:
    """KL of hands ``[n]``, 52 sure bits, from beliefs ``[n, 52]``, nats: ``[n]``."""
    chance = np.clip(belief, _SURE, 1 - _SURE)
    likelihood = np.where(held(hand) == 1, chance, 1 - chance)
    return np.asarray(-np.log(likelihood).sum(1), np.float32)


def communication(first: F32, distance: F32) -> F32:
    """The auxiliary reward of every call ``[m, T]``, nats, from those auctions' ``first`` and ``distance``; 0: none."""
    gain = np.zeros_like(distance)
    best = [first.copy(), distance[:, 0].copy()]  # of the hands of the two players
    for t in range(distance.shape[1] - 1):
        next_distance = distance[:, t + 1]
        gain[:, t] = np.nan_to_num(best[t % 2] - next_distance)
        best[t % 2] = np.fmin(best[t % 2], next_distance)
    return gain


# ---- learning ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Options(Architecture):
    """What a run depends on, beside the deals."""

    iterations: Count = 4000
    boards: Count = 64  # an iteration
    copies: Annotated[int, Range(2, 1 << 12)] = 8  # auctions of each board
    communication: Weight = 0.01  # of the auxiliary reward, 1 / nat; 1 is 24 IMPs
    first: Whole = 200  # iterations in which the policy learns alone, for a start
    belief_length: Count = 10  # iterations of a turn of the belief module
    policy_length: Count = 65  # and of one of the policy
    belief_rate: Weight = 3e-3  # of learning; falls linearly to 0
    policy_rate: Weight = 1.5e-3  # the same
    entropy: Weight = 0.2  # falls linearly to a tenth
    average: Share = 0.99  # of the averaged weights that stay, an iteration
    seed: Seed = 0


class Trainer(PartnerTrainer):
    """One run: ``iterate`` bids some boards, from which one of the modules learns."""

    algorithm = "pbl"
    kind = Modules
    options: Options

    def __init__(self, game: Bridge, options: Options, device: str = "cpu") -> None:
        """``game``: without competition, on training deals."""
        import torch

        if options.communication > 0 and not options.beliefs:
            raise ValueError(f"communication {options.communication} without beliefs: expected 0")
        super().__init__(game, options, device)
        self.adam = {name: torch.optim.Adam(stack.parameters(), fused=True) for name, stack in self.model.items()}
        self.modules |= {f"{name}_adam": adam for name, adam in self.adam.items()}

    def turn(self, iteration: int) -> Literal["belief", "policy"]:
        """Which module learns."""
        options = self.options
        step = (iteration - options.first) % (options.belief_length + options.policy_length)
        learns = options.beliefs and iteration >= options.first and step < options.belief_length
        return "belief" if learns else "policy"

    def iterate(self, iteration: int) -> Metrics:
        """Bid, then one step of the module whose turn it is."""
        options, name = self.options, self.turn(iteration)
        numbers = iteration * options.boards + np.arange(options.boards, dtype=np.int64)
        boards = partners.deal(self.game, numbers, options.seed)
        auctions = self.play(boards, iteration)
        self.games += len(auctions.cost)
        metrics: Metrics = {"sampled_cost": float(auctions.cost.mean())}
        remaining = 1 - iteration / options.iterations
        loss, module_metrics = (
            self.believe(boards, auctions)
            if name == "belief"
            else self.improve(auctions, options.entropy * (0.1 + 0.9 * remaining))
        )
        descend(self.adam[name], loss, remaining * (options.belief_rate if name == "belief" else options.policy_rate))
        network.ema_update(self.average, self.model, options.average)
        return {**metrics, **module_metrics}

    # ---- bidding -------------------------------------------------------------------------

    def play(self, boards: PartnerBoards, iteration: int) -> PlayedAuctions:
        """Every board ``copies`` times, calls sampled from the policy."""
        options = self.options
        board = np.repeat(np.arange(len(boards.hands)), options.copies)
        calls = np.full((len(board), options.most_calls), -1, np.int8)
        distance = np.full(calls.shape, np.nan, np.float32)
        decisions: list[tuple[Any, ...]] = []

        def choose(t: int, rows: I64, observation: I8, legal: I8) -> I64:
            belief = self.beliefs(observation)
            if belief.shape[1]:
                distance[rows, t] = divergence(boards.hands[board[rows], 1 - t % 2], belief)
            numbers = Streams.at(options.seed, rows, iteration * 32 + t).random(1)[:, 0]
            call = self.sample(observation, belief, legal, numbers)
            decisions.append((rows, np.full(len(rows), t), observation, belief, legal, call))
            return call

        cost = partners.bid_on(boards, board, calls, 0, choose)
        belief = self.beliefs(partners.observe(boards, np.arange(len(boards.hands)), 1, calls[:: options.copies], 0))
        first = divergence(boards.hands[:, 0], belief)[board] if belief.shape[1] else np.zeros(len(board), np.float32)
        return PlayedAuctions(board, cost, distance, first, *(np.concatenate(column) for column in zip(*decisions)))

    def beliefs(self, observation: I8) -> F32:
        """As ``Modules.beliefs``, of the module that learns."""
        import torch

        if not self.options.beliefs:
            return np.empty((len(observation), 0), np.float32)
        with torch.no_grad():
            chance: F32 = partners.run(self.model["belief"], self.tensor(observation).float()).sigmoid().cpu().numpy()
        return chance * (observation[:, :NUM_CARDS] == 0)

    def sample(self, observation: I8, belief: F32, legal: I8, numbers: F64) -> I64:
        """Calls ``[n]`` sampled from the policy by ``numbers`` ``[n]`` in [0, 1)."""
        import torch

        with torch.no_grad():
            call = sample_calls(self.log_chances(observation, belief, legal), self.tensor(numbers))
        calls: I64 = call.cpu().numpy()
        return calls

    def log_chances(self, observation: I8, belief: F32, legal: I8) -> Any:
        """Log-probabilities of the calls ``[n, 36]``, in torch."""
        import torch

        x = torch.cat([self.tensor(observation).float(), self.tensor(belief)], 1)
        return partners.run(self.model["policy"], x).masked_fill(self.tensor(legal) == 0, -1e9).log_softmax(1)

    # ---- learning ------------------------------------------------------------------------

    def believe(self, boards: PartnerBoards, auctions: PlayedAuctions) -> tuple[Any, Metrics]:
        """Mean cross-entropy of the 39 cards that a player does not hold, nats a card; it is also a metric."""
        import torch

        cards = held(boards.hands[auctions.board[auctions.auction], 1 - auctions.turn % 2])
        logits = partners.run(self.model["belief"], self.tensor(auctions.observation).float())
        mean = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, self.tensor(cards).float(), self.tensor(auctions.observation[:, :NUM_CARDS] == 0).float()
        )
        loss = mean * (NUM_CARDS / (NUM_CARDS - HAND_SIZE))
        return loss, {"belief": loss.detach()}

    def improve(self, auctions: PlayedAuctions, weight: float) -> tuple[Any, Metrics]:
        """Policy gradient, with entropy of ``weight``; metrics: entropy, and the auxiliary reward of an auction."""
        chances = self.log_chances(auctions.observation, auctions.belief, auctions.legal)
        advantage, auxiliary = self.advantages(auctions)
        log_chance = chances.gather(1, self.tensor(auctions.call)[:, None])[:, 0]
        entropy = -(chances.exp() * chances).sum(1).mean()
        loss = -(self.tensor(advantage / (advantage.std() + np.float32(1e-6))) * log_chance).mean()
        return loss - weight * entropy, {"entropy": entropy.detach(), "auxiliary_reward": auxiliary}

    def advantages(self, auctions: PlayedAuctions) -> tuple[F32, float]:
        """The advantage of every decision ``[n]``, and the mean auxiliary reward of an auction, nats.

        How much less the auction cost than its board's other copies, and ``communication`` times how much more
        auxiliary reward the player gets from here on than players at that turn do.
        """
        options = self.options
        groups = auctions.cost.reshape(-1, options.copies)
        baseline = (groups.sum(1, keepdims=True) - groups) / np.float32(options.copies - 1)
        advantage = ((baseline - groups).reshape(-1) / np.float32(MAX_IMPS))[auctions.auction]
        if options.communication == 0:
            return advantage, 0.0
        gain = communication(auctions.first, auctions.distance)
        reward_to_go = gain.copy()
        for t in range(gain.shape[1] - 3, -1, -1):
            reward_to_go[:, t] += reward_to_go[:, t + 2]
        active = ~np.isnan(auctions.distance)
        mean = (reward_to_go * active).sum(0) / np.maximum(1, active.sum(0))
        extra = reward_to_go[auctions.auction, auctions.turn] - mean[auctions.turn]
        return advantage + np.float32(options.communication) * extra, float(gain.sum(1).mean())

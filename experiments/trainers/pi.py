"""Trains ``pi``: policy iteration with search in training. Lockhart et al. 2020.

The policy bids boards against itself. Where it hesitates, the call is searched as by ``bmcs`` at the table. The policy
learns the result of the search, and the next boards are bid, and searched, by the policy that has learned.
docs/agents/pi.md says which choices are ours.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.belief import Belief
from bidzoo.agents.bridge.bmcs import Bmcs, SearchResult
from bidzoo.agents.bridge.bmcs import Options as SearchOptions
from bidzoo.agents.bridge.evaluator import Evaluator
from bidzoo.agents.bridge.network import Network, NetworkPolicy, unpacked
from bidzoo.agents.bridge.selfplay import BOTH, Decisions, actor_of, log_chances
from bidzoo.agents.bridge.trainer import Batch, Metrics, descend, means
from bidzoo.core.arrays import digest
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I64
from bidzoo.core.options import Checked, Count, Seed, Share, Weight
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the policy it starts from."""

    iterations: Count = 40
    boards: Count = 512  # an iteration
    searches: Count = 1024  # of their decisions, at most
    max_actions: Count = 4  # calls compared
    min_prob: Share = 0.02  # least chance of such a call
    r_max: Count = 48  # deals played out
    p_max: Count = 400  # deals sampled
    deals: Literal["belief", "uniform"] = "belief"
    temperature: Weight = 1.0  # IMPs of gain that make a call e times as likely; 0: the search's choice
    anchor: Weight = 1.0  # weight of KL(policy before, policy) where nothing was searched
    epochs: Count = 4
    minibatch: Count = 128  # searched decisions, and as many others
    learning_rate: Weight = 2e-4  # falls linearly to a tenth
    average: Share = 0.9  # of the averaged weights that stay, an iteration
    seed: Seed = 0

    @property
    def search(self) -> SearchOptions:
        """Options of the search of one decision."""
        return SearchOptions(self.max_actions, self.min_prob, r_max=self.r_max, p_max=self.p_max, deals=self.deals)


class Trainer(trainer.Trainer):
    """One run: ``iterate`` plays, searches and learns once."""

    algorithm = "pi"
    options: Options

    def __init__(
        self,
        start: Network,
        game: Bridge,
        options: Options,
        device: str = "cpu",
        belief: Belief | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        """Args:
        start: the policy to improve.
        game: ``Bridge(reward="score")`` on training deals, whose double-dummy results are not asked for.
        options: of the run.
        device: of torch.
        belief: who holds which card; None: the packaged network.
        evaluator: double-dummy tricks of the sampled deals; None: the packaged network.
        """
        import torch

        distributed.alone("pi")
        super().__init__(options, options.iterations, device)
        self.belief, self.evaluator = belief or Belief(), evaluator or Evaluator()
        self.inputs = {"start": start.digest, "deals": digest({"hands": game.deals.hands})}
        self.inputs |= {"belief": self.belief.network.digest, "evaluator": self.evaluator.network.digest}
        self.game, self.architecture = game, start.architecture
        self.policy, self.average = network.module_of(start, device), network.module_of(start, device)
        self.adam = torch.optim.Adam(self.policy.parameters(), options.learning_rate, fused=True)
        self.modules = {"policy": self.policy, "average": self.average, "adam": self.adam}

    # ---- playing and searching -----------------------------------------------------------

    def iterate(self, iteration: int) -> Metrics:
        options = self.options
        boards = iteration * options.boards + np.arange(options.boards)
        act = actor_of(self.policy, self.architecture, self.device)
        sides = np.full(options.boards, BOTH)
        _, decisions = selfplay.play(self.game, boards, options.seed, act, act, sides, iteration)
        self.games += options.boards
        numbers = Streams.at(options.seed, boards[decisions.board], (decisions.length << 32) + iteration).random(2)
        searched, targets, metrics = self._search(decisions, numbers[:, 0], numbers[:, 1])
        other_rows = np.setdiff1d(np.arange(len(decisions.call)), searched, assume_unique=True)
        other_rows = other_rows[np.argsort(numbers[other_rows, 0], kind="stable")[: len(searched)]]
        if len(searched):
            search_batch, other_batch = (
                self.batch(observation=decisions.observation[rows], legal=decisions.legal[rows], target=target)
                for rows, target in ((searched, targets), (other_rows, np.exp(decisions.log_chances[other_rows])))
            )
            metrics |= self._learn(search_batch, other_batch, iteration)
        return {"decisions": float(len(decisions.call)), **metrics}

    def _search(self, decisions: Decisions, order: F64, keys: F64) -> tuple[I64, F32, Metrics]:
        """Rows ``[n]`` searched: hesitant decisions of least ``order`` ``[m]``, targets ``[n, 38]``, metrics."""
        policy = NetworkPolicy(network.network_of(self.architecture, self.policy), name="pi")
        search = Bmcs(policy, self.belief, self.evaluator, **vars(self.options.search))
        chances = np.exp(decisions.log_chances)
        rows = np.flatnonzero(search.hesitates(chances))
        hesitant = len(rows) / max(1, len(order))
        rows = np.sort(rows[np.argsort(order[rows], kind="stable")[: self.options.searches]])
        hesitant_decisions = decisions.select(rows)
        views = self.game.view_of(hesitant_decisions.states, hesitant_decisions.player)
        results = [
            search.search(views[i : i + 1], chances[row], int(keys[row] * 2.0**53)) for i, row in enumerate(rows)
        ]
        usable = [(row, result) for row, result in zip(rows, results) if result.deals.size > search.options.r_min]
        target = [improved(chances[row], result, self.options.temperature) for row, result in usable]
        metrics = {
            "searched": float(len(usable)),
            "several_calls": hesitant,
            "enough_deals": len(usable) / max(1, len(results)),
            "changed": sum(result.call != result.calls[0] for _, result in usable) / max(1, len(usable)),
        }
        searched = np.array([row for row, _ in usable], np.int64)
        return searched, np.array(target, np.float32).reshape(len(usable), chances.shape[1]), metrics

    # ---- learning ------------------------------------------------------------------------

    def _learn(self, search_batch: Batch, other_batch: Batch, iteration: int) -> Metrics:
        options, rate = self.options, self.options.learning_rate * self.falling(iteration)
        steps = [
            self._step(search_batch.at(rows), other_batch.at(rows[rows < other_batch.size]), rate)
            for epoch in range(options.epochs)
            for rows in self.shuffled(
                search_batch.size, options.minibatch, ((iteration * options.epochs + epoch) << 1) + 1
            )
        ]
        network.ema_update(self.average, self.policy, self.options.average)
        return means(steps)

    def _step(self, search_batch: Batch, other_batch: Batch, rate: float) -> Metrics:
        """One step; torch scalars."""
        import torch

        loss = self._divergence(search_batch)
        divergence = self._divergence(other_batch) if other_batch.size else torch.zeros_like(loss)
        descend(self.adam, loss + self.options.anchor * divergence, rate, clip=1.0)
        return {"from_search": loss.detach(), "from_before": divergence.detach()}

    def _divergence(self, batch: Batch) -> Any:
        """Mean KL(target, policy), nats."""
        observation = unpacked(batch.observation, self.architecture.inputs)
        chances = log_chances(self.policy, observation, unpacked(batch.legal, NUM_CALLS))
        log_target = batch.target.clamp(min=1e-12).log()
        return (batch.target * (log_target - chances)).sum(1).mean()


def improved(chances: F32, result: SearchResult, temperature: float) -> F32:
    """Chances ``[38]`` after the search: those of the compared calls by their gains, IMPs; the others as before.

    The likeliest call's gain is 0 and all others are estimates, whose noise would make them likelier by
    ``exp(error ** 2 / 2)`` on average; that is taken off.
    """
    target = np.array(chances, np.float64)
    mass = target[result.calls].sum()
    if temperature == 0:
        target[result.calls] = 0
        target[result.call] = mass
    elif result.deals.size:
        gain, count = result.gains.mean(0) / temperature, result.deals.size
        gain -= result.gains.var(0) / temperature**2 / max(1, count - 1) / 2
        weights = target[result.calls] * np.exp(gain - gain.max())
        target[result.calls] = mass * weights / weights.sum()
    return target.astype(np.float32)

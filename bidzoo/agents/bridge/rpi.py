"""``rpi``: rollout policy iteration, by regression of what every likely call leads to.

A policy is improved by trying its likely calls in rollouts and learning which was best (Lagoudakis and Parr 2003). Here
the learner's logits are values: the difference of two calls' logits is fitted to the IMPs between their results, as
relative rewards are in REBEL (Gao et al. 2024). The policy that plays samples calls by ``softmax(value / unit)``; calls
that were not tried keep the values that it gave them (``anchor``). What plays next is a moving average of the learner.
Past selves may sit at the other side (``past``): fictitious self-play, as in Kita et al. 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge import distributed, network, selfplay, trainer
from bidzoo.agents.bridge.evaluator import Evaluator
from bidzoo.agents.bridge.network import Network, NetworkPolicy, forward, unpacked
from bidzoo.agents.bridge.selfplay import (
    BOTH,
    Actor,
    Decisions,
    Opponent,
    OpponentPool,
    Record,
    Results,
    actor_like,
    actor_of,
)
from bidzoo.agents.bridge.trainer import Batch, Metrics, descend, means
from bidzoo.agents.policy import Policy
from bidzoo.core.arrays import Arrays, digest
from bidzoo.core.bits import unpack
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import I64, Bool, States
from bidzoo.core.options import Checked, Count, Seed, Share, Weight, Whole
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge

_NOISE = 5.0  # IMPs: about the deviation of a gain, so that losses are about 1
_FAR = 3.0  # IMPs: values further below the likeliest call's are all alike


class Rpi(NetworkPolicy):
    """The policy network of rollout policy iteration."""

    name = "rpi"


@dataclass(frozen=True)
class Options(Checked):
    """What a run depends on, beside the policy it starts from."""

    iterations: Count = 1600  # length of the run
    boards: Count = 8192  # an iteration
    unit: Weight = 0.25  # IMPs that make a call e times as likely when the policy plays
    start_unit: Weight = 0.13  # IMPs that a nat of the start's logits is taken for
    max_actions: Count = 5  # calls tried at a decision
    min_prob: Share = 0.02  # chance of a call that is tried
    self_play: Share = 1.0  # share of boards where the learner plays both sides; on the others it plays ``opponents``
    past: Whole = 0  # past selves beside ``opponents``, drawn from all snapshots for each iteration
    snapshot_every: Count = 50  # iterations
    draws: Whole = 0  # of a contract's tricks, from the double-dummy network; 0: those of the deal's table
    contested: Share = 1.0  # of the decisions after calls of both sides that are learned from; of the others all are
    epochs: Count = 2  # passes over the decisions of an iteration
    minibatch: Count = 4096  # decisions with several plausible calls, and at most as many with one
    learning_rate: Weight = 3e-4  # falls linearly to a tenth
    one_call: Share = 0.2  # of the decisions with one plausible call that are learned from
    anchor: Weight = 1.0  # weight of the values that calls without gains had
    average: Share = 0.998  # of the averaged weights that stay, a step
    seed: Seed = 0  # of the deals and of all that is drawn


class Trainer(trainer.Trainer):
    """One run: ``iterate`` plays and learns once."""

    algorithm = "rpi"
    options: Options

    def __init__(
        self, start: Network, game: Bridge, options: Options, device: str = "cpu", opponents: Sequence[Policy] = ()
    ) -> None:
        """Args:
        start: the policy to improve.
        game: ``Bridge(reward="score")`` on training deals.
        options: of the run.
        device: of torch.
        opponents: agents who play on all boards but the share ``self_play``, one of them on each.
        """
        import torch

        selfplay.check(game, "rpi", start.architecture.observation)
        if (options.self_play < 1) != (len(opponents) + options.past > 0):
            raise ValueError(
                f"self_play {options.self_play} with {len(opponents)} opponents and {options.past} past selves: "
                "expected 1 without any"
            )
        if options.unit == 0 or options.start_unit == 0:
            raise ValueError(f"unit {options.unit} and start_unit {options.start_unit}: expected more than 0")
        super().__init__(options, options.iterations, device)
        self.opponents = tuple(actor_like(policy, device) for policy in opponents)
        self._record, self._past = Record(game), list[Actor | Policy]()
        self.inputs = {"start": start.digest, "deals": digest(game.deals._asdict())}
        self.evaluator = Evaluator()
        if options.draws:
            self.inputs["double-dummy network"] = self.evaluator.network.digest
        values = start.of_calls("start").at_temperature(1 / options.start_unit)
        self.game, self.architecture = game, values.architecture
        self.learner, self.average = network.module_of(values, device), network.module_of(values, device)
        self.replica = distributed.replicated(self.learner)
        self.adam = torch.optim.Adam(self.learner.parameters(), options.learning_rate, fused=True)
        self.modules = {"learner": self.learner, "average": self.average, "adam": self.adam}
        self.snapshots = [network.arrays(self.average)] if options.past else []

    def arrays(self) -> Arrays:
        return trainer.numbered(self.snapshots)

    def restore(self, arrays: Arrays) -> None:
        self.snapshots = trainer.in_order(arrays)

    def player(self) -> Network:
        """The averaged network, its logits nats of the policy that plays."""
        return network.network_of(self.architecture, self.average).at_temperature(self.options.unit)

    # ---- playing -------------------------------------------------------------------------

    def iterate(self, iteration: int) -> Metrics:
        options = self.options
        rows = distributed.world().share(np.arange(options.boards, dtype=np.int64))
        boards = iteration * options.boards + rows
        sides = self._sides(boards)
        policy = network.module_of(self.player(), self.device)
        self._past = [self._past_self(number) for number in self._drawn(iteration)]
        sampling, likeliest = (actor_of(policy, self.architecture, self.device, greedy) for greedy in (False, True))
        decisions = self._play(boards, sides, sampling, iteration)
        self.games += options.boards
        call, _ = selfplay.candidates(decisions.log_chances, options.max_actions, options.min_prob)
        board, several = boards[decisions.board], (call[:, 1:] >= 0).any(1)
        keys = Streams.at(options.seed, board, (decisions.length << 32) + 1).random(1)[:, 0]
        learned_from = self._learned_from(decisions, boards)
        rows = np.flatnonzero(several & learned_from)
        one_call = np.flatnonzero(~several & learned_from & (keys < options.one_call))
        searched, calls = decisions.select(rows), call[rows]
        results = self._explore(decisions, call, rows, sides, likeliest, iteration)
        gain = searched.sign[:, None] * self._gains(results, decisions.later, decisions.board[rows])
        learned = self._learn(
            self._batch(searched, board[rows], calls, gain),
            self._batch(decisions.select(one_call), board[one_call], call[one_call, :1]),
            iteration,
        )
        if options.past and (iteration + 1) % options.snapshot_every == 0:
            self.snapshots.append(network.arrays(self.average))
        return {"decisions": float(len(board)), "several_calls": several.sum() / max(1, len(board)), **learned}

    def _learned_from(self, decisions: Decisions, boards: I64) -> Bool:
        """Decisions ``[n]``, on ``boards`` ``[B]``, that are learned from.

        What they are chosen by is what the player knows: the auction so far. By how it ends, values would be biased.
        """
        numbers = Streams.at(self.options.seed, boards, selfplay.OF_LEARNING).random(1)[:, 0]
        return (numbers < self.options.contested)[decisions.board] | (selfplay.bidders_before(decisions) != 3)

    def _drawn(self, iteration: int) -> I64:
        """Which snapshots are met in an iteration: ``past`` numbers, drawn uniformly (fictitious self-play)."""
        numbers = Streams.at(self.options.seed, np.arange(self.options.past), 4 * iteration + 3).random(1)[:, 0]
        return (numbers * len(self.snapshots)).astype(np.int64)

    def _past_self(self, number: int) -> Actor | Policy:
        """The likeliest calls of a snapshot."""
        return actor_like(NetworkPolicy(Network(self.architecture, self.snapshots[number])), self.device)

    def _play(self, boards: I64, sides: I64, policy: Actor, iteration: int) -> Decisions:
        """Decisions of ``policy`` on ``boards`` ``[B]``, where it plays ``sides`` ``[B]``."""
        other = self._other_side(policy)
        return selfplay.play(self.game, boards, self.options.seed, policy, other, sides, iteration, self._record)[1]

    def _explore(self, played: Decisions, call: I64, rows: I64, sides: I64, policy: Actor, iteration: int) -> Results:
        """What comes of each ``call`` (-1: none) of ``rows`` ``[n]`` when ``policy`` plays on: ``[n, K]``.

        ``played`` are all decisions ``[N]``, ``call`` ``[N, K]`` their plausible calls.
        """
        key = selfplay.key_of(self.options.seed, iteration)
        other = self._other_side(policy)
        return selfplay.explore_on(self.game, played, call[:, 0], rows, call[rows], policy, other, sides, key)

    def _gains(self, results: Results, states: States, board: I64) -> NDArray[Any]:
        """IMPs ``[n, K]`` of N/S over the first of each row of ``results``, on ``board`` ``[n]`` of ``states``."""
        if not self.options.draws:
            return results.gains
        boards = states["board"].astype(np.int64)
        rng = Streams.at(self.options.seed, boards, selfplay.OF_TRICKS)
        luck = rng.random(5 * self.options.draws).reshape(len(boards), -1, 5)
        return selfplay.mean_gains(self.evaluator, luck, states, board, results)

    def _sides(self, boards: I64) -> I64:
        """Sides that the policy plays on ``boards`` ``[B]``."""
        side = selfplay.drawn(self.options.seed, boards, selfplay.OF_SIDE, 2)
        return np.where(self._opponent_numbers(boards) == 0, BOTH, side)

    def _opponent_numbers(self, boards: I64) -> I64:
        """Opponents on ``boards`` ``[B]``: 0 the policy itself, ``k`` the ``k``-th of ``opponents`` and past selves."""
        options, opponents = self.options, len(self.opponents) + self.options.past
        return selfplay.opponent_numbers(boards, options.boards, options.self_play, opponents, options.seed)

    def _other_side(self, policy: Actor) -> Opponent:
        others = [*self.opponents, *self._past]
        return OpponentPool([policy, *others], self._opponent_numbers) if others else policy

    def _batch(self, decisions: Decisions, boards: I64, call: I64, gain: NDArray[Any] | None = None) -> Batch:
        """A batch to learn ``gain`` ``[n, K]`` of ``call`` ``[n, K]`` (-1: none) and keep the values of other calls.

        Values and gains are over those of the likeliest call. Rows of all processes, in the order of a single one: by
        turn, then by board.
        """
        n = np.arange(len(call))
        values = decisions.log_chances * np.float32(self.options.unit)
        target = np.maximum(values - values[n, call[:, 0]][:, None], np.float32(-_FAR))
        legal = unpack(decisions.legal, NUM_CALLS)
        weight, tried = legal * np.float32(self.options.anchor), np.zeros_like(legal)
        if gain is not None:
            row, place = np.nonzero(call >= 0)
            index = row, call[row, place]
            target[index], weight[index], tried[index] = gain[row, place], 1, 1
        weight[n, call[:, 0]] = 0
        observation, likeliest, target, tried, weight = distributed.gathered(
            decisions.length, boards, decisions.observation, call[:, 0], target, tried, weight
        )
        return self.batch(
            observation=observation,  # packed
            likeliest=likeliest,
            target=target,  # [n, 38]  IMPs
            tried=tried,  # [n, 38]  1: what it gained, 0: its value to the policy that played
            weight=weight,  # [n, 38]  0: illegal, or the likeliest call
        )

    # ---- learning ------------------------------------------------------------------------

    def _learn(self, gains: Batch, kept: Batch, iteration: int) -> Metrics:
        if gains.size == 0:  # no decision had two plausible calls, so nothing was tried
            return {}
        rate, steps = self.options.learning_rate * self.falling(iteration), []
        for epoch in range(self.options.epochs):
            stream = (iteration * self.options.epochs + epoch) * 4 + 2
            (order,) = self.shuffled(kept.size, max(1, kept.size), stream)
            for rows in self.shuffled(gains.size, self.options.minibatch, stream):
                part, weight = distributed.world().part(rows)
                steps.append(self._step(gains.at(part), kept.at(order[part[part < kept.size]]), rate, weight))
        return means(steps)

    def _step(self, gains: Batch, kept: Batch, rate: float, weight: float) -> Metrics:
        """One step on this process's share of a minibatch; torch scalars."""
        import torch

        both = Batch({name: torch.cat([column, kept.columns[name]]) for name, column in gains.columns.items()})
        values = forward(self.replica, unpacked(both.observation, self.architecture.inputs))
        difference = values - values.gather(1, both.likeliest[:, None])
        difference = torch.where(both.tried > 0, difference, difference.clamp(min=-_FAR))
        loss = both.weight * ((difference - both.target) / _NOISE) ** 2
        n = gains.size
        fit, other = loss[:n].sum() / n, loss[n:].sum() / n
        descend(self.adam, (fit + other) * weight, rate, clip=1.0)
        network.ema_update(self.average, self.learner, self.options.average)
        return {"fit": fit.detach(), "other": other.detach()}

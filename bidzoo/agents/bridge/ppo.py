"""``ppo``: proximal policy optimisation from the supervised policy, against its own past.

Schulman et al. 2017, with the recipe of Kita et al. 2024: start from supervised learning, draw opponents uniformly
from all past snapshots (fictitious self-play), mask illegal calls, no discount. Where we differ, to learn in an hour
on a processor what took them days on accelerators:

- *reward*: IMPs against the *datum*, the score the supervised policy reaches on the same board in all four seats;
  every table is a comparison of its own, without the noise of a second one. ``"score"`` is points / 7600 as in Kita.
- *advantage* ``"rollouts"``: the likeliest calls of a decision are all tried on the same cards and played out
  (``branches.py``), and the clipped surrogate is summed over them instead of sampled. ``"critic"``: generalised
  advantage estimates from a value network that sees all hands and what every contract would score (``critic.py``).
- *self-play share*: on some boards the opponent is the learner itself, and both sides' decisions are learned from.
- *anchor*: a KL penalty towards the supervised policy keeps the calls what a partner can understand.
- *average*: what is measured and kept is a moving average of the policy's weights, which forgets the noise of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bidzoo.agents.bridge import branches, network, selfplay, weights
from bidzoo.agents.bridge.checkpoint import Run, torch_threads
from bidzoo.agents.bridge.critic import Critic, advantages
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Architecture, Network
from bidzoo.agents.bridge.neural import NetworkPolicy
from bidzoo.agents.bridge.selfplay import BOTH, Actor, Decisions
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.imps import imps
from bidzoo.envs.bridge.score import MAX_POINTS
from bidzoo.kernels import F32, I64
from bidzoo.streams import Streams


class Ppo(NetworkPolicy):
    """The policy network of PPO with fictitious self-play."""

    name = "ppo"
    weights_name = "ppo"


@dataclass(frozen=True)
class Options:
    """What a run depends on, beside the policy it starts from."""

    iterations: int = 240
    boards: int = 4096  # an iteration
    reward: Literal["datum", "score"] = "datum"
    advantage: Literal["rollouts", "critic"] = "rollouts"
    most: int = 4  # calls tried at a decision
    least: float = 0.02  # chance of a call that is tried
    self_play: float = 0.5  # share of boards against the learner itself; the others against a past snapshot
    snapshot_every: int = 10  # iterations
    epochs: int = 4
    minibatch: int = 2048  # decisions
    learning_rate: float = 1e-4  # falls linearly to a tenth
    clip: float = 0.2
    entropy: float = 0.0
    anchor: float = 0.05  # weight of KL(policy, supervised policy)
    average: float = 0.9  # of the averaged weights that stay, an iteration
    critic_width: int = 384
    critic_learning_rate: float = 1e-3
    critic_warm_up: int = 10  # iterations in which only the critic learns
    decay: float = 0.9  # lambda of the advantage estimates
    seed: int = 0


class Lesson(NamedTuple):
    """Decisions to learn from, with ``K`` calls each."""

    observation: Any  # [n, F]
    legal: Any  # [n, 38]
    call: Any  # [n, K]
    before: Any  # [n, K]  log-probability when played
    weight: Any  # [n, K]
    advantage: Any  # [n, K]


class Trainer:
    """One run: ``iterate`` plays and learns once."""

    def __init__(
        self, start: Network, game: Bridge, options: Options, device: str, reference: Network | None = None
    ) -> None:
        import torch

        self.options, self.game, self.device = options, game, device
        self.architecture = start.architecture
        self.policy, self.average, self.past = (self._copy(start) for _ in range(3))
        self.anchor = self._copy(reference or start)
        self.adam = torch.optim.Adam(self.policy.parameters(), options.learning_rate, fused=True)
        self.modules = {"policy": self.policy, "average": self.average, "adam": self.adam}
        if options.advantage == "critic":
            sees = Architecture("scores778", 1, width=options.critic_width, depth=2)
            self.critic = Critic(sees, options.critic_learning_rate, options.seed, device)
            self.modules.update(critic=self.critic.model, critic_adam=self.critic.adam)
        self.snapshots: list[dict[str, F32]] = [network.arrays(self.policy)]
        if reference:
            self.snapshots.append(network.arrays(self.anchor))

    def _copy(self, start: Network) -> Any:
        model = network.module(start.architecture)
        network.load_arrays(model, start.tensors)
        return model.to(self.device)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play, then learn; figures of the iteration."""
        options = self.options
        rows = np.arange(options.boards, dtype=np.int64)
        boards = iteration * options.boards + rows
        sides = np.where(rows < options.self_play * options.boards, BOTH, rows % 2)
        chosen = Streams.at(options.seed, np.array([iteration]), 7).random(1)[0, 0]
        network.load_arrays(self.past, self.snapshots[int(chosen * len(self.snapshots))])
        mine, theirs = (selfplay.actor(model, self.device) for model in (self.policy, self.past))
        tables, decisions = selfplay.play(self.game, boards, options.seed, mine, theirs, sides, iteration)
        anchor = selfplay.actor(self.anchor, self.device, greedy=True)
        reference = selfplay.datum(self.game, boards, options.seed, anchor)
        reward = self._reward(tables["points"][:, 0].astype(np.int64), reference)
        if options.advantage == "critic":
            lesson, figures = self._from_critic(decisions, reference, reward, iteration)
        else:
            lesson, figures = self._from_rollouts(decisions, reference, sides)
        result = self._learn(lesson, iteration) if figures.get("warm", 1.0) else {}
        one = sides != BOTH
        won = np.where(sides == 0, reward, -reward)[one]
        against = float(won.mean()) if one.any() else 0.0
        return {"decisions": float(len(decisions.call)), "against_past": against, **figures, **result}

    def _reward(self, points: I64, reference: I64) -> F32:
        """N/S reward, IMPs (or shares of the greatest score)."""
        if self.options.reward == "score":
            return (points / MAX_POINTS).astype(np.float32)
        return imps(points - reference).astype(np.float32)

    # ---- what to learn -------------------------------------------------------------------

    def _from_rollouts(self, decisions: Decisions, reference: I64, sides: I64) -> tuple[Lesson, dict[str, float]]:
        call, chance = branches.candidates(decisions.log_chances, self.options.most, self.options.least)
        open_ = np.flatnonzero(call[:, 1] >= 0)
        call, chance, board = call[open_], chance[open_], decisions.board[open_]
        mine, theirs = self._greedy()
        found = branches.explore(self.game, decisions.tables[open_], call, chance, mine, theirs, sides[board])
        sign = np.where(decisions.side[open_] == 0, 1, -1)[:, None]
        gain = sign * self._reward(found.points, reference[board][:, None])
        weight = chance / chance.sum(1, keepdims=True)
        advantage = gain - (weight * gain).sum(1, keepdims=True)
        advantage = np.where(call >= 0, advantage / (advantage[call >= 0].std() + 1e-6), 0)
        call = np.maximum(call, 0)
        before = np.take_along_axis(decisions.log_chances[open_], call, 1)
        lesson = self._lesson(decisions.observation[open_], decisions.legal[open_], call, before, weight, advantage)
        return lesson, {"open": len(open_) / len(decisions.call)}

    def _greedy(self) -> tuple[Actor, Actor]:
        return tuple(selfplay.actor(model, self.device, greedy=True) for model in (self.policy, self.past))  # type: ignore[return-value]

    def _from_critic(
        self, decisions: Decisions, reference: I64, reward: F32, iteration: int
    ) -> tuple[Lesson, dict[str, float]]:
        import torch

        options = self.options
        x = self.critic.inputs(decisions, reference[decisions.board])
        outcome = decisions.outcome(reward) / np.float32(10.0)
        value = self.critic.values(x)
        advantage = np.empty(len(value), np.float32)
        last = np.full((options.boards, 2), -1, np.int64)
        advantages(decisions.board, decisions.side, value, outcome, options.decay, last, advantage)
        target = torch.from_numpy(outcome).to(self.device)
        for rows in self._minibatches(len(value), iteration, 2):
            self.critic.learn(x[rows], target[rows])
        explained = 1 - float(np.var(outcome - value) / max(1e-9, float(np.var(outcome))))
        call = decisions.call[:, None]
        before = np.take_along_axis(decisions.log_chances, call, 1)
        advantage = (advantage / (advantage.std() + 1e-6))[:, None]
        lesson = self._lesson(decisions.observation, decisions.legal, call, before, np.ones_like(advantage), advantage)
        return lesson, {"explained": explained, "warm": float(iteration >= options.critic_warm_up)}

    def _lesson(self, *columns: Any) -> Lesson:
        import torch

        kinds = (None, None, np.int64, np.float32, np.float32, np.float32)
        found = (torch.from_numpy(np.ascontiguousarray(a, kind)) for a, kind in zip(columns, kinds))
        return Lesson(*(tensor.to(self.device) for tensor in found))

    # ---- learning it ---------------------------------------------------------------------

    def _minibatches(self, n: int, iteration: int, use: int) -> Any:
        """Rows of every minibatch of every epoch."""
        import torch

        for epoch in range(self.options.epochs):
            stream = (iteration * self.options.epochs + epoch) * 4 + use
            keys = Streams.at(self.options.seed, np.arange(n), stream).random(1)[:, 0]
            yield from torch.from_numpy(np.argsort(keys, kind="stable")).to(self.device).split(self.options.minibatch)

    def _learn(self, lesson: Lesson, iteration: int) -> dict[str, float]:
        import torch

        for group in self.adam.param_groups:
            group["lr"] = self.options.learning_rate * (1 - 0.9 * iteration / self.options.iterations)
        steps = [
            self._step(Lesson(*(column[rows] for column in lesson)))
            for rows in self._minibatches(len(lesson.call), iteration, 1)
        ]
        with torch.no_grad():
            for kept, new in zip(self.average.parameters(), self.policy.parameters()):
                kept.lerp_(new, 1 - self.options.average)
        return {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}

    def _step(self, lesson: Lesson) -> dict[str, float]:
        import torch

        options = self.options
        chances = selfplay.log_softmax(self.policy, lesson.observation, lesson.legal)
        entropy = -(chances.exp() * chances).sum(1).mean()
        ratio = (chances.gather(1, lesson.call) - lesson.before).exp()
        clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
        gain = (lesson.weight * torch.minimum(ratio * lesson.advantage, clipped * lesson.advantage)).sum(1).mean()
        loss = -gain - options.entropy * entropy
        figures = {"surrogate": gain, "entropy": entropy, "clipped": (ratio != clipped).float().mean()}
        if options.anchor > 0:
            with torch.no_grad():
                known = selfplay.log_softmax(self.anchor, lesson.observation, lesson.legal)
            away = (chances.exp() * (chances - known)).sum(1).mean()
            loss = loss + options.anchor * away
            figures["from_anchor"] = away
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.adam.step()
        return {name: float(value.detach()) for name, value in figures.items()}


def train(
    start: Network,
    game: Bridge,
    options: Options,
    out: str | Path,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    judge: Callable[[Network], dict[str, float]] | None = None,
    reference: Network | None = None,
    *,
    every: int = 10,
    device: str = "cpu",
    threads: int = 1,
    stop: int | None = None,
) -> Network:
    """Train to the end (or to iteration ``stop``) from where folder ``out`` stands.

    ``out/network.safetensors`` is the last averaged policy, ``out/best.safetensors`` the one ``judge`` liked best.

    Args:
        start: the policy to improve, and the first opponent.
        game: ``Bridge(reward="score")`` on training deals.
        options: of the run.
        out: folder of checkpoint, curves and weights.
        provenance: stored with the weights, beside options and figures.
        report: called with the iteration and the figures of each measurement.
        judge: figures of a policy; ``imps`` decides which one is kept.
        reference: the supervised policy of datum and anchor, and an opponent; None if that is ``start``.
        every: iterations between measurements and checkpoints.
        device: of torch.
        threads: of torch on the CPU; the same seed gives the same bytes with 1.
        stop: leave after this iteration, as if interrupted.
    """
    if game.reward != "score":
        raise ValueError(f"PPO compares scores itself; make the game with reward='score', not {game.reward!r}")
    run = Run(out, "ppo", asdict(options))
    with torch_threads(threads):
        trainer = Trainer(start, game, options, device, reference)
        done, held = run.restore(trainer.modules)
        trainer.snapshots = _unpack(held) or trainer.snapshots
        seen: list[dict[str, float]] = []
        for iteration in range(done, min(options.iterations, stop or options.iterations)):
            seen.append(trainer.iterate(iteration))
            step = iteration + 1
            if step % options.snapshot_every == 0:
                trainer.snapshots.append(network.arrays(trainer.policy))
            if step % every == 0 or step == options.iterations:
                player = network.network_of(trainer.architecture, trainer.average)
                means = {name: float(np.mean([row[name] for row in seen if name in row])) for name in seen[-1]}
                row = {"iteration": float(step), **means, **(judge(player) if judge else {})}
                seen.clear()
                best = max((r.get("imps", -np.inf) for r in run.rows), default=-np.inf)
                run.rows.append(row)
                run.save(step, trainer.modules, _pack(trainer.snapshots))
                about = {**(provenance or {}), "algorithm": "ppo", "options": asdict(options), "measured": row}
                for name in ["network", *["best"] * (row.get("imps", -np.inf) > best)]:
                    weights.save(run.path / f"{name}.safetensors", trainer.architecture, player.tensors, about)
                if report:
                    report(step, row)
        return network.network_of(trainer.architecture, trainer.average)


def _pack(snapshots: list[dict[str, F32]]) -> dict[str, F32]:
    """Snapshots as the arrays of a checkpoint."""
    return {f"{n}/{name}": array for n, snapshot in enumerate(snapshots) for name, array in snapshot.items()}


def _unpack(arrays: dict[str, F32]) -> list[dict[str, F32]]:
    numbers = sorted({int(key.split("/")[0]) for key in arrays})
    return [{k.split("/", 1)[1]: a for k, a in arrays.items() if k.startswith(f"{n}/")} for n in numbers]

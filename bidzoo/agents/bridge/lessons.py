"""What one iteration of PPO learns from its decisions: which calls, how likely they were, and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.bridge import branches
from bidzoo.agents.bridge.critic import Critic, advantages
from bidzoo.agents.bridge.decisions import Decisions
from bidzoo.agents.bridge.selfplay import Actor
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import F32, I8, I64

CRITIC_UNIT = np.float32(10.0)  # IMPs a unit of the value network


class Lesson(NamedTuple):
    """``n`` decisions with ``K`` calls each."""

    observation: I8  # [n, F]
    legal: I8  # [n, 38]
    call: I64  # [n, K]
    before: F32  # [n, K]  log-probability when played
    weight: F32  # [n, K]  share in the surrogate; 0: no call
    advantage: F32  # [n, K]  in standard deviations


def from_rollouts(
    game: Bridge,
    decisions: Decisions,
    reward: Callable[[I64, I64], F32],
    sides: I64,
    players: tuple[Actor, Actor],
    most: int,
    least: float,
) -> tuple[Lesson, dict[str, float]]:
    """Every candidate of the decisions that have more than one, made and played out.

    Args:
        game: of the decisions.
        decisions: ``[m]``.
        reward: N/S reward of (N/S points ``[n, K]``, board rows ``[n, 1]``).
        sides: of the learner, by row of the board.
        players: learner and opponent, without chance.
        most: candidates of a decision.
        least: chance of a candidate.
    """
    call, chance = branches.candidates(decisions.log_chances, most, least)
    undecided = np.flatnonzero(call[:, 1] >= 0)
    some, call, chance = decisions.some(undecided), call[undecided], chance[undecided]
    found = branches.explore(game, some.tables, call, chance, *players, sides[some.board])
    gain = np.where(some.side == 0, 1, -1)[:, None] * reward(found.points, some.board[:, None])
    weight = chance / chance.sum(1, keepdims=True)
    advantage = gain - (weight * gain).sum(1, keepdims=True)
    advantage = np.where(call >= 0, advantage / (advantage[call >= 0].std() + 1e-6), 0)
    call = np.maximum(call, 0)
    before = np.take_along_axis(some.log_chances, call, 1)
    lesson = Lesson(some.observation, some.legal, call, before, weight, advantage.astype(np.float32))
    return lesson, {"open": len(undecided) / max(1, len(decisions.call))}


def from_critic(
    decisions: Decisions, critic: Critic, reference: I64, outcome: F32, boards: int, decay: float, minibatches: Any
) -> tuple[Lesson, dict[str, float]]:
    """The calls made, with generalised advantage estimates; the critic learns on the way.

    Args:
        decisions: ``[m]``.
        critic: whose values are used, then improved.
        reference: ``[B]`` N/S points that scores are compared with.
        outcome: ``[m]`` what each decision's side won, IMPs.
        boards: B.
        decay: lambda.
        minibatches: rows to learn from, one array after the other.
    """
    import torch

    x, target = critic.inputs(critic.sight(decisions, reference[decisions.board])), outcome / CRITIC_UNIT
    value = critic.values(x)
    advantage = np.empty(len(value), np.float32)
    last = np.full((boards, 2), -1, np.int64)
    advantages(decisions.board, decisions.side, value, target, decay, last, advantage)
    wanted = torch.from_numpy(target).to(x.device)
    for rows in minibatches:
        critic.learn(x[rows], wanted[rows])
    explained = 1 - float(np.var(target - value)) / max(1e-9, float(np.var(target)))
    call = decisions.call[:, None]
    before = np.take_along_axis(decisions.log_chances, call, 1)
    advantage = (advantage / (advantage.std() + 1e-6))[:, None]
    lesson = Lesson(decisions.observation, decisions.legal, call, before, np.ones_like(advantage), advantage)
    return lesson, {"explained": explained}

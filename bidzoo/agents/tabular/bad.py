"""BAD: the Bayesian action decoder, which plans over what everybody knows.

Source: Foerster et al. 2019, "Bayesian Action Decoder for Deep Multi-Agent Reinforcement Learning"; row BAD of Table 1
in Tian, Gong and Jiang 2020, which gives a trunk of two layers of 80 units. A public agent sees the public belief
over both players' types and the history, and chooses a *partial policy*: one action for each type of the mover. The
mover plays the action of its own type, and everybody updates the belief by Bayes: types with another action are
out, so the belief is the prior on a product of two sets of types, exact here. A decision of the public agent is the
whole partial policy, so its log-probability sums over the types that the belief still allows. The result is greedy
and pure.

Partial policies are deterministic once drawn, so they split the deals among the public states that follow. An
episode is the whole tree of these, not one path: the return of each is its exact mean reward under its belief, and it
counts by its chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular.network import (
    EpochReport,
    Features,
    Network,
    NetworkOptions,
    best_epoch,
    chances,
    draw,
    policy_slope,
)
from bidzoo.agents.tabular.policy import Solved, solver
from bidzoo.agents.tabular.strategy import purify
from bidzoo.core.kernels import F32, F64, I64, Bool, when_compiled
from bidzoo.core.options import Count, Weight, takes
from bidzoo.envs.signalling.compiled import Compiled, Solvable, compile_game


@dataclass(frozen=True)
class Options(NetworkOptions):
    """Numbers of the algorithm."""

    epochs: Count = 15
    episodes: Count = 8  # trees, an update
    entropy: Weight = 0.03  # of the reward's range, falling to 0


class Partial(NamedTuple):
    """Partial policies at ``D`` public states of one mover: ``K`` pairs of a public state and a type allowed there."""

    public: F32  # [D, P]
    hidden: list[F32]
    columns: I64  # [O]  of the output: for each type the mover's actions, and the value
    values: F32  # [D]
    owner: I64  # [K]  public state
    types: I64  # [K]
    chances: F32  # [K, C]  of ``actions``
    actions: I64  # [C]  of the mover


class Turn(NamedTuple):
    """The ``D`` public states of all trees in one turn of one mover, and what was drawn there."""

    partial: Partial
    chosen: I64  # [K]  column
    weight: F64  # [D]  the chance to be there
    first: int  # public states of the turns before, of which these are numbered on
    parent: I64  # [D]  number of the public state before; -1 at the root
    ended: F64  # [D]  reward where the game ends with this turn, times its chance


class PublicAgent(Features):
    """Inputs of the public agent of one game, and its network: a logit for each type and action, and the value."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__(game)
        self.actions = [np.flatnonzero(self.legal[game.player == who].any(axis=0)) for who in (0, 1)]
        x, y = (types * len(actions) for types, actions in zip(game.num_types, self.actions))
        self.first, self.value = (0, x), x + y  # columns of the output
        self.network = Network((self.history.shape[1] + self.bits, *hidden, x + y + 1), rng)

    def public(self, nodes: I64, joint: F64) -> F32:
        """Marginal beliefs and history ``[D, P]``; ``joint`` ``[D, X, Y]`` is the prior on the types not ruled out."""
        joint = joint / np.maximum(joint.sum(axis=(1, 2), keepdims=True), 1e-12)
        belief = np.concatenate([joint.sum(axis=2), joint.sum(axis=1)], axis=1)
        return np.concatenate([belief.astype(np.float32), self.history[nodes]], axis=1)

    def partial(self, nodes: I64, joint: F64, allowed: Bool) -> Partial:
        """Partial policies at ``nodes`` ``[D]`` of one mover, for his types ``allowed`` ``[D, T]``."""
        mover = int(self.game.player[nodes[0]])
        actions, types = self.actions[mover], self.game.num_types[mover]
        public = self.public(nodes, joint)
        hidden = self.network.hidden(public)
        columns = np.append(self.first[mover] + np.arange(types * len(actions)), self.value)
        outputs = self.network.output(hidden, columns)
        owner, own = np.nonzero(allowed)
        logits = outputs[:, :-1].reshape(len(nodes), types, len(actions))[owner, own]
        likely = chances(logits, self.legal[nodes][:, actions][owner])
        return Partial(public, hidden, columns, outputs[:, -1], owner, own, likely, actions)


def _everything(game: Compiled, rows: int) -> Bool:
    """No type ruled out, ``[rows, 2, T]``."""
    return np.tile(np.arange(game.shape[1]) < np.array(game.num_types)[:, None], (rows, 1, 1))


def _joint(game: Compiled, allowed: Bool) -> F64:
    """The prior on the types not ruled out, ``[B, X, Y]``; its sum is what is left of it."""
    x_types, y_types = game.num_types
    joint: F64 = game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]
    return joint


def play(agent: PublicAgent, trees: int, rng: np.random.Generator) -> list[Turn]:
    """The turns of ``trees`` trees, which hold every public state that the drawn partial policies can reach."""
    game = agent.game
    allowed = _everything(game, trees)
    waiting = [(np.zeros(trees, np.int64), np.full(trees, -1), allowed, _joint(game, allowed))]
    turns: list[Turn] = []
    states = 0
    while waiting:
        nodes, parents, allowed, joints = (np.concatenate(parts) for parts in zip(*waiting))
        waiting = []
        for mover in np.unique(game.player[nodes]):
            here = game.player[nodes] == mover
            node, joint = nodes[here], joints[here]
            partial = agent.partial(node, joint, allowed[here, mover])
            chosen = draw(partial.chances, np.arange(len(partial.owner)), rng)
            actions = len(partial.actions)
            branch = partial.owner * actions + chosen
            taken = np.bincount(branch, minlength=len(node) * actions) > 0
            above, action = np.divmod(np.flatnonzero(taken), actions)
            after = allowed[here][above]
            after[:, mover] = False
            after[np.cumsum(taken)[branch] - 1, mover, partial.types] = True
            weight, joint = joint.sum(axis=(1, 2)), _joint(game, after)
            below = game.child[node[above], partial.actions[action]].astype(np.int64)
            leaf = game.leaf[below]
            reward = np.where(leaf >= 0, (joint * game.payoff[leaf]).sum(axis=(1, 2)), 0.0)
            ended: F64 = np.bincount(above, reward, minlength=len(weight)).astype(np.float64)
            turns.append(Turn(partial, chosen, weight, states, parents[here], ended))
            on = (leaf < 0) & joint.any(axis=(1, 2))
            if on.any():
                waiting.append((below[on], states + above[on], after[on], joint[on]))
            states += len(node)
    return turns


def returns(turns: Sequence[Turn]) -> list[F64]:
    """The mean reward ``[D]`` under the belief of each public state, turn by turn."""
    total: F64 = np.concatenate([turn.ended for turn in turns])
    spans = [slice(turn.first, turn.first + len(turn.weight)) for turn in turns]
    for turn, span in zip(turns[::-1], spans[::-1]):
        inner = turn.parent >= 0
        total += np.bincount(turn.parent[inner], total[span][inner], minlength=len(total))
    return [total[span] / turn.weight for turn, span in zip(turns, spans)]


def greedy(agent: PublicAgent) -> F64:
    """The pure strategy ``[M, T]`` of greedy partial policies, belief by belief down the tree."""
    game = agent.game
    strategy = np.zeros(game.shape)
    allowed = _everything(game, len(game.player))
    for depth in range(int(game.depth.max())):
        nodes = np.flatnonzero((game.depth == depth) & (game.count > 0))
        for mover in np.unique(game.player[nodes]):
            his = nodes[game.player[nodes] == mover]
            for part in np.array_split(his, 1 + len(his) * game.shape[1] // 8192):
                every = _everything(game, len(part))[:, mover]
                partial = agent.partial(part, _joint(game, allowed[part]), every)
                best = partial.actions[partial.chances.argmax(axis=1)]
                strategy[game.child[part[partial.owner], best], partial.types] = 1.0
        below = np.flatnonzero((game.depth == depth + 1) & (game.count > 0))
        allowed[below] = allowed[game.parent[below]]
        before = game.player[game.parent[below]].astype(np.int64)
        kept = allowed[below, before] & (strategy[below] > 0.0)
        alive = kept.any(axis=1)
        allowed[below[alive], before[alive]] = kept[alive]
    return purify(game, strategy)


def learn(agent: PublicAgent, config: Options, scale: float, left: float, rng: np.random.Generator) -> None:
    """Play, and add up the gradients of the loss's mean over all decisions, each by its chance."""
    turns = play(agent, config.episodes, rng)
    decisions = sum(turn.weight.sum() for turn in turns)
    for turn, reward in zip(turns, returns(turns)):
        partial, weight = turn.partial, turn.weight
        owner, width = partial.owner, len(partial.actions)
        share = (weight / decisions).astype(np.float32)
        gain = share * (reward / scale - partial.values).astype(np.float32)
        by_action = policy_slope(
            partial.chances, np.arange(len(owner)), turn.chosen, gain[owner], config.entropy * left, share[owner]
        )
        slope = np.zeros((len(weight), len(partial.columns)), np.float32)
        slope[owner[:, None], partial.types[:, None] * width + np.arange(width)] = by_action
        slope[:, -1] = np.float32(-2.0 * config.value) * gain
        agent.network.learn(partial.public, partial.hidden, partial.columns, slope)


def train(game: Solvable, config: Options, report: EpochReport | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs."""
    return best_epoch(compile_game(game), config, PublicAgent, learn, greedy, report)


@when_compiled()
def solve(game: Solvable, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


@takes(Options)
def agent(seed: int = 0, **options: Any) -> Solved:
    """BAD; ``options`` as in ``Options``."""
    return solver("bad", solve, Options, seed, options)

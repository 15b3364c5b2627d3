"""BAD: the Bayesian action decoder, which plans over what everybody knows.

Source: Foerster et al. 2019; row BAD of Table 1 in Tian, Gong and Jiang 2020. A public agent sees the public belief
over both players' types and the history, and chooses a *partial policy*: one action for each type of the mover. The
mover plays the action of its own type, and types with another action are out, so the belief is the prior on a product
of two sets of types. An episode is the whole tree of the public states that sampled partial policies lead to: the
return of each is its exact mean reward under its belief, and it counts by its chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular.network import (
    Features,
    Network,
    NetworkOptions,
    best_epoch,
    chances,
    draw,
    policy_gradient,
)
from bidzoo.agents.tabular.policy import solver
from bidzoo.agents.tabular.strategy import purify
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F32, F64, I64, Bool
from bidzoo.core.options import Count, Weight
from bidzoo.envs.signalling.compiled import Compiled, Solvable


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
    """The ``D`` public states of all trees in one turn of one mover, and the partial policies sampled there."""

    partial: Partial
    chosen: I64  # [K]  column
    weight: F64  # [D]  chance to reach it
    first: int  # number of the first of them; public states are numbered turn by turn
    parent: I64  # [D]  number of the public state before; -1 at the root
    ended: F64  # [D]  reward where the game ends with this turn, times its chance


class PublicAgent(Features):
    """Inputs of the public agent of one game, and its network: a logit for each type and action, and the value."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__(game)
        self.actions = [np.flatnonzero(self.legal[game.player == mover].any(axis=0)) for mover in (0, 1)]
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
        owner, own_types = np.nonzero(allowed)
        logits = outputs[:, :-1].reshape(len(nodes), types, len(actions))[owner, own_types]
        policy = chances(logits, self.legal[nodes][:, actions][owner])
        return Partial(public, hidden, columns, outputs[:, -1], owner, own_types, policy, actions)


def _all_types(game: Compiled, rows: int) -> Bool:
    """All types of both players allowed, ``[rows, 2, T]``."""
    return np.tile(np.arange(game.shape[1]) < np.array(game.num_types)[:, None], (rows, 1, 1))


def _joint(game: Compiled, allowed: Bool) -> F64:
    """The prior on the types not ruled out, ``[B, X, Y]``; its sum is their chance."""
    x_types, y_types = game.num_types
    joint: F64 = game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]
    return joint


def play(agent: PublicAgent, trees: int, rng: np.random.Generator) -> list[Turn]:
    """The turns of ``trees`` trees, which hold every public state that the sampled partial policies can reach."""
    game = agent.game
    allowed = _all_types(game, trees)
    frontier = [(np.zeros(trees, np.int64), np.full(trees, -1), allowed, _joint(game, allowed))]
    turns: list[Turn] = []
    states = 0
    while frontier:
        nodes, parents, allowed, joints = (np.concatenate(parts) for parts in zip(*frontier))
        frontier = []
        for mover in np.unique(game.player[nodes]):
            rows = game.player[nodes] == mover
            node, joint = nodes[rows], joints[rows]
            partial = agent.partial(node, joint, allowed[rows, mover])
            chosen = draw(partial.chances, np.arange(len(partial.owner)), rng)
            actions = len(partial.actions)
            branch = partial.owner * actions + chosen
            taken = np.bincount(branch, minlength=len(node) * actions) > 0
            source, action = np.divmod(np.flatnonzero(taken), actions)
            allowed_after = allowed[rows][source]
            allowed_after[:, mover] = False
            allowed_after[np.cumsum(taken)[branch] - 1, mover, partial.types] = True
            weight, joint = joint.sum(axis=(1, 2)), _joint(game, allowed_after)
            children = game.child[node[source], partial.actions[action]].astype(np.int64)
            leaf = game.leaf[children]
            reward = np.where(leaf >= 0, (joint * game.payoff[leaf]).sum(axis=(1, 2)), 0.0)
            rewards: F64 = np.bincount(source, reward, minlength=len(weight)).astype(np.float64)
            turns.append(Turn(partial, chosen, weight, states, parents[rows], rewards))
            live = (leaf < 0) & joint.any(axis=(1, 2))
            if live.any():
                frontier.append((children[live], states + source[live], allowed_after[live], joint[live]))
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
    allowed = _all_types(game, len(game.player))
    for depth in range(int(game.depth.max())):
        nodes = np.flatnonzero((game.depth == depth) & (game.count > 0))
        for mover in np.unique(game.player[nodes]):
            mover_nodes = nodes[game.player[nodes] == mover]
            for part in np.array_split(mover_nodes, 1 + len(mover_nodes) * game.shape[1] // 8192):
                all_types = _all_types(game, len(part))[:, mover]
                partial = agent.partial(part, _joint(game, allowed[part]), all_types)
                best = partial.actions[partial.chances.argmax(axis=1)]
                strategy[game.child[part[partial.owner], best], partial.types] = 1.0
        next_nodes = np.flatnonzero((game.depth == depth + 1) & (game.count > 0))
        allowed[next_nodes] = allowed[game.parent[next_nodes]]
        last_mover = game.player[game.parent[next_nodes]].astype(np.int64)
        remaining = allowed[next_nodes, last_mover] & (strategy[next_nodes] > 0.0)
        alive = remaining.any(axis=1)
        allowed[next_nodes[alive], last_mover[alive]] = remaining[alive]
    return purify(game, strategy)


def learn(agent: PublicAgent, config: Options, scale: float, remaining: float, rng: np.random.Generator) -> None:
    """Play, and add up the gradients of the loss's mean over all decisions, each by its chance."""
    turns = play(agent, config.episodes, rng)
    decisions = sum(turn.weight.sum() for turn in turns)
    for turn, reward in zip(turns, returns(turns)):
        partial, weight = turn.partial, turn.weight
        owner, width = partial.owner, len(partial.actions)
        share = (weight / decisions).astype(np.float32)
        gain = share * (reward / scale - partial.values).astype(np.float32)
        by_action = policy_gradient(
            partial.chances, np.arange(len(owner)), turn.chosen, gain[owner], config.entropy * remaining, share[owner]
        )
        gradient = np.zeros((len(weight), len(partial.columns)), np.float32)
        gradient[owner[:, None], partial.types[:, None] * width + np.arange(width)] = by_action
        gradient[:, -1] = np.float32(-2.0 * config.value) * gain
        agent.network.learn(partial.public, partial.hidden, partial.columns, gradient)


def train(game: Solvable, config: Options, report: Callable[[int, float], None] | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs."""
    return best_epoch(PublicAgent, learn, greedy, game, config, report)


@when_compiled()
def solve(game: Solvable, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


agent = solver("bad", solve, Options)

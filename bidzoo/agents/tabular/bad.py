"""BAD: the Bayesian action decoder, which plans over what everybody knows.

Source: Foerster et al. 2019, "Bayesian Action Decoder for Deep Multi-Agent Reinforcement Learning"; row BAD of Table 1
in Tian, Gong and Jiang 2020, which gives a trunk of two layers of 80 units. A public agent sees the public belief
over both players' types and the history, and chooses a *partial policy*: one action for each type of the mover. The
mover plays the action of its own type, and everybody updates the belief by Bayes: types with another action are
out, so the belief is the prior on a product of two sets of types, exact here. A decision of the public agent is the
whole partial policy, so its log-probability sums over the types that the belief still allows. The reward is that of
the public Markov decision process: its mean under the belief at the end. The result is greedy and pure.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular.network import (
    Features,
    Inputs,
    Network,
    NetworkOptions,
    Report,
    best_epoch,
    chances,
    deal_types,
    draw,
    policy_slope,
)
from bidzoo.agents.tabular.policy import Solved, solver
from bidzoo.agents.tabular.strategy import purify
from bidzoo.core.kernels import F32, F64, I64, Bool, when_compiled
from bidzoo.core.names import takes
from bidzoo.core.options import Count, Weight
from bidzoo.envs.signalling.compiled import Compiled


@dataclass(frozen=True)
class Options(NetworkOptions):
    """Numbers of the algorithm."""

    epochs: Count = 15
    episodes: Count = 64  # an update
    entropy: Weight = 0.03  # of the reward's range, falling to 0


class Turn(NamedTuple):
    """``E`` decisions of the public agent in one turn, at ``D`` different public states.

    A public state has a row for each type of the mover that the belief allows: ``R`` in all, ``K`` of all decisions.
    """

    inputs: Inputs
    hidden: list[F32]
    columns: I64  # [C]  actions that are legal somewhere
    chances: F32  # [R, C]
    first: int  # public states of the turns before
    state: I64  # [E]
    episode: I64  # [E]
    decision: I64  # [K]
    at: I64  # [K]  row
    chosen: I64  # [K]  column


class PublicAgent(Features):
    """Inputs of the public agent of one game, and the two networks: partial policies, and values."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__(game)
        public = self.history.shape[1] + sum(game.num_types)
        self.actor = Network((public + self.bits, *hidden, game.child.shape[1]), rng)
        self.critic = Network((public, *hidden, 1), rng)

    def public(self, nodes: I64, allowed: Bool) -> F32:
        """Marginal beliefs and history ``[B, P]``; ``allowed`` ``[B, 2, T]`` are the types not ruled out."""
        joint = _joint(self.game, allowed)
        joint /= np.maximum(joint.sum(axis=(1, 2), keepdims=True), 1e-12)
        belief = np.concatenate([joint.sum(axis=2), joint.sum(axis=1)], axis=1)
        return np.concatenate([belief.astype(np.float32), self.history[nodes]], axis=1)

    def rows(self, nodes: I64, allowed: Bool) -> tuple[Inputs, I64]:
        """Inputs of the types of the movers at ``nodes`` ``[D]`` that are allowed, and these types ``[R]``."""
        owner, types = np.nonzero(allowed[np.arange(len(nodes)), self.game.player[nodes]])
        return Inputs(self.public(nodes, allowed), owner, self.bit(nodes[owner], types)), types


def _everything(game: Compiled, rows: int) -> Bool:
    """No type ruled out, ``[rows, 2, T]``."""
    return np.tile(np.arange(game.shape[1]) < np.array(game.num_types)[:, None], (rows, 1, 1))


def _joint(game: Compiled, allowed: Bool) -> F64:
    """The prior on the types not ruled out, ``[B, X, Y]``; its sum is what is left of it."""
    x_types, y_types = game.num_types
    joint: F64 = game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]
    return joint


def _same(nodes: I64, allowed: Bool) -> tuple[I64, I64]:
    """The first of each kind of public state ``[D]``, and the kind of each ``[E]``."""
    bits = np.packbits(allowed.reshape(len(nodes), -1), axis=1)
    marks = np.concatenate([nodes[:, None].view(np.uint8), bits], axis=1)
    _, first, state = np.unique(marks.view(f"V{marks.shape[1]}")[:, 0], return_index=True, return_inverse=True)
    return first, state


def play(agent: PublicAgent, episodes: int, rng: np.random.Generator) -> tuple[list[Turn], F32]:
    """The turns of ``episodes`` episodes, and their rewards ``[B]``."""
    game = agent.game
    types, allowed = deal_types(game, episodes, rng), _everything(game, episodes)
    node, table, states = np.zeros(episodes, np.int64), np.arange(episodes), 0
    turns = []
    while len(table):
        here = node[table]
        mover = game.player[here].astype(np.int64)
        first, state = _same(here, allowed[table])
        inputs, own = agent.rows(here[first], allowed[table[first]])
        legal = agent.legal[here[first]]
        columns = np.flatnonzero(legal.any(axis=0))
        hidden = agent.actor.hidden(inputs)
        likely = chances(agent.actor.output(hidden, columns), legal[inputs.owner][:, columns])
        counts = np.bincount(inputs.owner)
        starts, sizes = (np.cumsum(counts) - counts)[state], counts[state]  # of the rows of each decision
        decision = np.repeat(np.arange(len(table)), sizes)
        at = np.arange(len(decision)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        chosen = draw(likely, at, rng)
        z = own[at]
        mine = z == types[table, mover][decision]
        played = chosen[mine]
        kept = chosen == played[decision]
        now = np.zeros((len(table), game.shape[1]), np.bool_)
        now[decision[kept], z[kept]] = True
        allowed[table, mover] = now
        turns.append(Turn(inputs, hidden, columns, likely, states, state, table, decision, at, chosen))
        states += len(first)
        node[table] = game.child[here, columns[played]]
        table = table[game.count[node[table]] > 0]
    joint = _joint(game, allowed)
    reward = (joint * game.payoff[game.leaf[node]]).sum(axis=(1, 2)) / joint.sum(axis=(1, 2))
    return turns, reward.astype(np.float32)


def greedy(agent: PublicAgent) -> F64:
    """The pure strategy ``[M, T]`` of greedy partial policies, belief by belief down the tree."""
    game = agent.game
    strategy = np.zeros(game.shape)
    allowed = _everything(game, len(game.player))
    for depth in range(int(game.depth.max())):
        nodes = np.flatnonzero((game.depth == depth) & (game.count > 0))
        for part in np.array_split(nodes, 1 + len(nodes) * game.shape[1] // 8192):
            counts = np.array(game.num_types)[game.player[part]]
            owner, z = np.repeat(np.arange(len(part)), counts), np.concatenate([np.arange(n) for n in counts])
            inputs = Inputs(agent.public(part, allowed[part]), owner, agent.bit(part[owner], z))
            legal = agent.legal[part]
            columns = np.flatnonzero(legal.any(axis=0))
            logits = agent.actor.output(agent.actor.hidden(inputs), columns)
            best = columns[np.where(legal[owner][:, columns], logits, -np.inf).argmax(axis=1)]
            strategy[game.child[part[owner], best], z] = 1.0
        below = np.flatnonzero((game.depth == depth + 1) & (game.count > 0))
        allowed[below] = allowed[game.parent[below]]
        mover = game.player[game.parent[below]].astype(np.int64)
        kept = allowed[below, mover] & (strategy[below] > 0.0)
        alive = kept.any(axis=1)
        allowed[below[alive], mover[alive]] = kept[alive]
    return purify(game, strategy)


def learn(agent: PublicAgent, config: Options, scale: float, left: float, rng: np.random.Generator) -> None:
    """Play, and add up the gradients of the loss's mean over all decisions."""
    turns, reward = play(agent, config.episodes, rng)
    public = np.concatenate([turn.inputs.dense for turn in turns])
    state, value = np.concatenate([turn.state + turn.first for turn in turns]), np.array([0])
    hidden = agent.critic.hidden(public)
    returns = reward[np.concatenate([turn.episode for turn in turns])] / np.float32(scale)
    advantage = returns - agent.critic.output(hidden, value)[state, 0]
    decisions = np.float32(len(state))
    slope = np.bincount(state, advantage, minlength=len(public))[:, None].astype(np.float32)
    agent.critic.learn(public, hidden, value, slope * np.float32(-2.0 * config.value) / decisions)
    for turn, gain in zip(turns, np.split(advantage, np.cumsum([len(turn.state) for turn in turns])[:-1])):
        slope = policy_slope(turn.chances, turn.at, turn.chosen, gain[turn.decision], config.entropy * left)
        agent.actor.learn(turn.inputs, turn.hidden, turn.columns, slope / decisions)


def train(game: Compiled, config: Options, report: Report | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs."""
    rng = np.random.default_rng(config.seed)
    agent, scale = PublicAgent(game, config.hidden, rng), float(game.payoff.max() - game.payoff.min())
    return best_epoch(
        game,
        config,
        [agent.actor, agent.critic],
        lambda left: learn(agent, config, scale, left, rng),
        lambda: greedy(agent),
        report,
    )


@when_compiled()
def solve(game: Compiled, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


@takes(Options)
def agent(seed: int = 0, **options: Any) -> Solved:
    """BAD; ``options`` as in ``Options``."""
    return solver("bad", solve, Options, seed, options)

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
    Network,
    NetworkOptions,
    Report,
    best_epoch,
    deal_types,
    draw,
    one_thread,
)
from bidzoo.agents.tabular.policy import Solved, solver
from bidzoo.agents.tabular.strategy import purify
from bidzoo.core.kernels import F32, F64, I64, Bool, when_compiled
from bidzoo.core.options import Count, Weight
from bidzoo.envs.signalling.compiled import Compiled


@dataclass(frozen=True)
class Options(NetworkOptions):
    """Numbers of the algorithm."""

    epochs: Count = 15
    episodes: Count = 64  # an update
    entropy: Weight = 0.03  # of the reward's range, falling to 0


class Decisions(NamedTuple):
    """``D`` decisions of the public agent, and the ``R`` rows (one a live type) of their partial policies."""

    public: F32  # [D, P]  belief and history
    reward: F32  # [D]     of the episode
    owner: I64  # [R]     decision
    inputs: F32  # [R, P + X + Y]
    legal: Bool  # [R, A]
    action: I64  # [R]


class PublicAgent(Features):
    """Inputs of the public agent of one game, and the two networks: partial policies, and values."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], seed: int) -> None:
        import torch

        super().__init__(game)
        public = self.history.shape[1] + sum(game.num_types)
        generator = torch.Generator().manual_seed(seed)
        self.actor = Network((public + self.types.shape[2], *hidden, game.child.shape[1]), generator)
        self.critic = Network((public, *hidden, 1), generator)

    def public(self, nodes: I64, allowed: Bool) -> F32:
        """Marginal beliefs and history ``[B, P]``; ``allowed`` ``[B, 2, T]`` are the types not ruled out."""
        joint = _joint(self.game, allowed)
        total = np.maximum(joint.sum(axis=(1, 2), keepdims=True), 1e-12)
        belief = np.concatenate([(joint / total).sum(axis=2), (joint / total).sum(axis=1)], axis=1)
        return np.concatenate([belief.astype(np.float32), self.history[nodes]], axis=1)

    def rows(self, nodes: I64, public: F32, owner: I64, types: I64) -> tuple[F32, Bool]:
        """Inputs and legal actions of the types ``types`` ``[R]`` at the decisions ``owner`` ``[R]``."""
        own = self.types[self.game.player[nodes[owner]], types]
        return np.concatenate([public[owner], own], axis=1), self.legal[nodes[owner]]


def _everything(game: Compiled, rows: int) -> Bool:
    """No type ruled out, ``[rows, 2, T]``."""
    return np.tile(np.arange(game.shape[1]) < np.array(game.num_types)[:, None], (rows, 1, 1))


def _joint(game: Compiled, allowed: Bool) -> F64:
    """The prior on the types not ruled out, ``[B, X, Y]``; its sum is what is left of it."""
    x_types, y_types = game.num_types
    return game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]


def _after(allowed: Bool, player: I64, table: I64, owner: I64, types: I64, kept: Bool) -> None:
    """Bayes: rule out the types of the movers at ``table`` whose action was another; not if none would be left."""
    now = np.zeros((len(table), allowed.shape[2]), np.bool_)
    now[owner[kept], types[kept]] = True
    alive = now.any(axis=1)
    allowed[table[alive], player[alive]] = now[alive]


def play(agent: PublicAgent, episodes: int, rng: np.random.Generator) -> Decisions:
    """All decisions of ``episodes`` episodes."""
    game = agent.game
    types, allowed = deal_types(game, episodes, rng), _everything(game, episodes)
    node, table, decided = np.zeros(episodes, np.int64), np.arange(episodes), 0
    parts: list[tuple[F32, I64, I64, F32, Bool, I64]] = []
    while len(table):
        here = node[table]
        mover = game.player[here].astype(np.int64)
        public = agent.public(here, allowed[table])
        owner, z = np.nonzero(allowed[table, mover])
        inputs, legal = agent.rows(here, public, owner, z)
        action = draw(agent.actor.numpy(inputs), legal, rng)
        mine = z == types[table, mover][owner]
        played = np.empty(len(table), np.int64)
        played[owner[mine]] = action[mine]
        parts.append((public, table, owner + decided, inputs, legal, action))
        _after(allowed, mover, table, owner, z, action == played[owner])
        decided += len(table)
        node[table] = game.child[here, played]
        table = table[game.count[node[table]] > 0]
    joint = _joint(game, allowed)
    reward = ((joint * game.payoff[game.leaf[node]]).sum(axis=(1, 2)) / joint.sum(axis=(1, 2))).astype(np.float32)
    public, tables, owner, inputs, legal, action = (np.concatenate(column) for column in zip(*parts))
    return Decisions(public, reward[tables], owner, inputs, legal, action)


def greedy(agent: PublicAgent) -> F64:
    """The pure strategy ``[M, T]`` of greedy partial policies, belief by belief down the tree."""
    game = agent.game
    strategy = np.zeros(game.shape)
    allowed = _everything(game, len(game.player))
    for depth in range(int(game.depth.max())):
        nodes = np.flatnonzero((game.depth == depth) & (game.count > 0))
        for part in np.array_split(nodes, 1 + len(nodes) * game.shape[1] // 8192):
            mover = game.player[part].astype(np.int64)
            counts = np.array(game.num_types)[mover]
            owner, z = np.repeat(np.arange(len(part)), counts), np.concatenate([np.arange(n) for n in counts])
            inputs, legal = agent.rows(part, agent.public(part, allowed[part]), owner, z)
            action = np.where(legal, agent.actor.numpy(inputs), -np.inf).argmax(axis=1)
            strategy[game.child[part[owner], action], z] = 1.0
        below = np.flatnonzero((game.depth == depth + 1) & (game.count > 0))
        allowed[below] = allowed[game.parent[below]]
        mover = game.player[game.parent[below]].astype(np.int64)
        kept = allowed[below, mover] & (strategy[below] > 0.0)
        alive = kept.any(axis=1)
        allowed[below[alive], mover[alive]] = kept[alive]
    return purify(game, strategy)


def train(game: Compiled, config: Options, report: Report | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs; ImportError without torch."""
    with one_thread("BAD"):
        import torch

        rng = np.random.default_rng(config.seed)
        scale = float(game.payoff.max() - game.payoff.min())
        agent = PublicAgent(game, config.hidden, config.seed)

        def loss(left: float) -> Any:
            seen = play(agent, config.episodes, rng)
            values = agent.critic.torch(torch.from_numpy(seen.public))[:, 0]
            outputs = agent.actor.torch(torch.from_numpy(seen.inputs))
            logs = outputs.masked_fill(torch.from_numpy(~seen.legal), -1e9).log_softmax(1)
            chosen = logs.gather(1, torch.from_numpy(seen.action)[:, None])[:, 0]
            advantage = torch.from_numpy(seen.reward / scale) - values
            gain = (chosen * advantage.detach()[torch.from_numpy(seen.owner)]).sum()
            entropy = -(logs.exp() * logs).sum()
            loss = config.value * (advantage**2).sum() - gain - config.entropy * left * entropy
            return loss / len(values)

        return best_epoch(game, config, [agent.actor, agent.critic], loss, lambda: greedy(agent), report)


@when_compiled()
def solve(game: Compiled, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


def agent(seed: int = 0, **options: Any) -> Solved:
    """BAD; ``options`` as in ``Options``."""
    return solver("bad", solve, Options, seed, options)

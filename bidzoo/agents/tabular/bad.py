"""BAD: the Bayesian action decoder, which plans over what everybody knows.

Source: Foerster et al. 2019, "Bayesian Action Decoder for Deep Multi-Agent Reinforcement Learning"; row BAD of Table 1
in Tian, Gong and Jiang 2020, which gives a trunk of two layers of 80 units. A public agent sees the public belief
over both players' types and the history, and chooses a *partial policy*: one action for each type of the mover. The
mover plays the action of its own type, and everybody updates the belief by Bayes: types with another action are
out, so the belief is the prior on a product of two sets of types, exact here. A decision of the public agent is the
whole partial policy, so its log-probability sums over the types that the belief still allows. The reward is that of
the public Markov decision process: its mean under the belief at the end. The result is greedy and pure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bidzoo.agents.options import Checked, Count, Seed, Weight
from bidzoo.agents.tabular.network import Network, draw, history_features, legal_actions, one_thread, type_features
from bidzoo.agents.tabular.strategy import purify
from bidzoo.envs.signals.compiled import Compiled, evaluate
from bidzoo.kernels import F32, F64, I64, Bool


@dataclass(frozen=True)
class Config(Checked):
    """Numbers of the algorithm; the paper gives the network, 100 epochs of 1000 updates, and the best epoch kept."""

    epochs: Count = 15
    updates: Count = 200  # an epoch
    episodes: Count = 64  # an update
    hidden: tuple[Count, ...] = (80, 80)
    rate: Weight = 3e-3  # Adam, falling to 0
    entropy: Weight = 0.03  # of the reward's range, falling to 0
    value: Weight = 0.5
    seed: Seed = 0


class Decisions(NamedTuple):
    """``D`` decisions of the public agent, and the ``R`` rows (one a live type) of their partial policies."""

    public: F32  # [D, P]  belief and history
    reward: F32  # [D]     of the episode
    owner: I64  # [R]     decision
    inputs: F32  # [R, P + X + Y]
    legal: Bool  # [R, A]
    action: I64  # [R]


class PublicAgent:
    """Inputs of the public agent of one game, and the two networks: partial policies, and values."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], seed: int) -> None:
        import torch

        self.game = game
        self.history, self.types, self.legal = history_features(game), type_features(game), legal_actions(game)
        public = self.history.shape[1] + sum(game.num_types)
        generator = torch.Generator().manual_seed(seed)
        self.actor = Network((public + self.types.shape[2], *hidden, game.child.shape[1]), generator)
        self.critic = Network((public, *hidden, 1), generator)

    def public(self, nodes: I64, allowed: Bool) -> F32:
        """Marginal beliefs and history ``[B, P]``; ``allowed`` ``[B, 2, T]`` are the types not ruled out."""
        x_types, y_types = self.game.num_types
        joint = self.game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]
        total = np.maximum(joint.sum(axis=(1, 2), keepdims=True), 1e-12)
        belief = np.concatenate([(joint / total).sum(axis=2), (joint / total).sum(axis=1)], axis=1)
        return np.concatenate([belief.astype(np.float32), self.history[nodes]], axis=1)

    def rows(self, nodes: I64, public: F32, owner: I64, types: I64) -> tuple[F32, Bool]:
        """Inputs and legal actions of the types ``types`` ``[R]`` at the decisions ``owner`` ``[R]``."""
        own = self.types[self.game.player[nodes[owner]], types]
        return np.concatenate([public[owner], own], axis=1), self.legal[nodes[owner]]


def _after(allowed: Bool, player: I64, table: I64, owner: I64, types: I64, kept: Bool) -> None:
    """Bayes: rule out the types of the movers at ``table`` whose action was another; not if none would be left."""
    now = np.zeros((len(table), allowed.shape[2]), np.bool_)
    now[owner[kept], types[kept]] = True
    alive = now.any(axis=1)
    allowed[table[alive], player[alive]] = now[alive]


def play(agent: PublicAgent, episodes: int, rng: np.random.Generator) -> Decisions:
    """All decisions of ``episodes`` episodes."""
    game = agent.game
    deal = rng.choice(game.prior.size, episodes, p=game.prior.ravel())
    types = np.stack(np.unravel_index(deal, game.prior.shape), axis=1)
    allowed = np.zeros((episodes, 2, game.shape[1]), np.bool_)
    for player, count in enumerate(game.num_types):
        allowed[:, player, :count] = True
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
    x_types, y_types = game.num_types
    joint = game.prior * allowed[:, 0, :x_types, None] * allowed[:, 1, None, :y_types]
    reward = ((joint * game.payoff[game.leaf[node]]).sum(axis=(1, 2)) / joint.sum(axis=(1, 2))).astype(np.float32)
    public, tables, owner, inputs, legal, action = (np.concatenate(column) for column in zip(*parts))
    return Decisions(public, reward[tables], owner, inputs, legal, action)


def greedy(agent: PublicAgent) -> F64:
    """The pure strategy ``[M, T]`` of greedy partial policies, belief by belief down the tree."""
    game = agent.game
    strategy = np.zeros(game.shape)
    allowed = np.zeros((len(game.player), 2, game.shape[1]), np.bool_)
    for player, count in enumerate(game.num_types):
        allowed[0, player, :count] = True
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


def train(game: Compiled, config: Config, report: Callable[[int, float], None] | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs; ``report`` hears the value of each."""
    import torch

    rng = np.random.default_rng(config.seed)
    scale = float(game.payoff.max() - game.payoff.min())
    with one_thread():
        agent = PublicAgent(game, config.hidden, config.seed)
        parameters = [*agent.actor.torch.parameters(), *agent.critic.torch.parameters()]
        adam = torch.optim.Adam(parameters, config.rate)
        best, most = greedy(agent), -np.inf
        for epoch in range(config.epochs):
            for update in range(config.updates):
                left = 1.0 - (epoch + update / config.updates) / config.epochs
                adam.param_groups[0]["lr"] = config.rate * left
                seen = play(agent, config.episodes, rng)
                values = agent.critic.torch(torch.from_numpy(seen.public))[:, 0]
                outputs = agent.actor.torch(torch.from_numpy(seen.inputs))
                logs = outputs.masked_fill(torch.from_numpy(~seen.legal), -1e9).log_softmax(1)
                chosen = logs.gather(1, torch.from_numpy(seen.action)[:, None])[:, 0]
                advantage = torch.from_numpy(seen.reward / scale) - values
                owner = torch.from_numpy(seen.owner)
                gain = (chosen * advantage.detach()[owner]).sum()
                entropy = -(logs.exp() * logs).sum()
                loss = config.value * (advantage**2).sum() - gain - config.entropy * left * entropy
                adam.zero_grad()
                (loss / len(values)).backward()
                adam.step()
            strategy = greedy(agent)
            value = evaluate(game, strategy)
            if value > most:
                best, most = strategy, value
            if report is not None:
                report(epoch, value)
    return best

"""A2C self-play on a compiled small game: one network for both players, Monte Carlo returns.

Source: Mnih et al. 2016; row A2C of Table 1 in Tian, Gong and Jiang 2020. A player's input is its type and the
public history. Rewards come at the end and are not discounted, so an episode's return is the return of each of its
decisions. As in the paper the greedy policy is evaluated after every epoch and the best one is kept; the
evaluation is exact.
"""

from dataclasses import dataclass
from typing import Any

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
from bidzoo.core.kernels import F32, F64, I64, when_compiled
from bidzoo.core.options import Count
from bidzoo.envs.signalling.compiled import Compiled


@dataclass(frozen=True)
class Options(NetworkOptions):
    """Numbers of the algorithm."""

    epochs: Count = 20


class Inputs(Features):
    """Rows of network inputs for information sets ``(node, type)``."""

    def __init__(self, game: Compiled) -> None:
        super().__init__(game)
        self.size = self.history.shape[1] + self.types.shape[2]

    def __call__(self, nodes: I64, types: I64) -> F32:
        """``[B, F]``."""
        return np.concatenate([self.history[nodes], self.types[self.game.player[nodes], types]], axis=1)


def greedy(inputs: Inputs, network: Network) -> F64:
    """The likeliest move of every information set, as a strategy ``[M, T]``."""
    game = inputs.game
    strategy = np.zeros(game.shape)
    for player, types in enumerate(game.num_types):
        nodes = np.flatnonzero((game.count > 0) & (game.player == player))
        for part in np.array_split(nodes, 1 + len(nodes) * types // 4096):
            rows, zs = np.repeat(part, types), np.tile(np.arange(types), len(part))
            logits = network.numpy(inputs(rows, zs))[:, :-1]
            best = np.where(inputs.legal[rows], logits, -np.inf).argmax(axis=1)
            strategy[game.child[rows, best], zs] = 1.0
    return purify(game, strategy)


def play(inputs: Inputs, network: Network, episodes: int, rng: np.random.Generator) -> tuple[I64, I64, I64, F32]:
    """Nodes, types, actions and returns of all decisions of ``episodes`` episodes."""
    game = inputs.game
    types = deal_types(game, episodes, rng)
    node, table = np.zeros(episodes, np.int64), np.arange(episodes)
    decisions: list[tuple[I64, I64, I64, I64]] = []
    while len(table):
        here = node[table]
        own = types[table, game.player[here]]
        action = draw(network.numpy(inputs(here, own))[:, :-1], inputs.legal[here], rng)
        decisions.append((here, own, action, table))
        node[table] = game.child[here, action]
        table = table[game.count[node[table]] > 0]
    reward = game.payoff[game.leaf[node], types[:, 0], types[:, 1]].astype(np.float32)
    nodes, owns, actions, tables = (np.concatenate(column) for column in zip(*decisions))
    return nodes, owns, actions, reward[tables]


def train(game: Compiled, config: Options, report: Report | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs; ImportError without torch."""
    with one_thread("A2C"):
        import torch

        rng = np.random.default_rng(config.seed)
        inputs = Inputs(game)
        scale = float(game.payoff.max() - game.payoff.min())
        generator = torch.Generator().manual_seed(config.seed)
        network = Network((inputs.size, *config.hidden, game.child.shape[1] + 1), generator)

        def loss(left: float) -> Any:
            nodes, types, actions, returns = play(inputs, network, config.episodes, rng)
            outputs = network.torch(torch.from_numpy(inputs(nodes, types)))
            illegal = torch.from_numpy(~inputs.legal[nodes])
            logs = outputs[:, :-1].masked_fill(illegal, -1e9).log_softmax(1)
            advantage = torch.from_numpy(returns / scale) - outputs[:, -1]
            chosen = logs.gather(1, torch.from_numpy(actions)[:, None])[:, 0]
            entropy = -(logs.exp() * logs).sum(1)
            loss = -(chosen * advantage.detach()) + config.value * advantage**2 - config.entropy * left * entropy
            return loss.mean()

        return best_epoch(game, config, [network], loss, lambda: greedy(inputs, network), report)


@when_compiled()
def solve(game: Compiled, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


def agent(seed: int = 0, **options: Any) -> Solved:
    """A2C; ``options`` as in ``Options``."""
    return solver("a2c", solve, Options, seed, options)

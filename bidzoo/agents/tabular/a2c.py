"""A2C self-play on a compiled small game: one network for both players, Monte Carlo returns.

Source: Mnih et al. 2016; row A2C of Table 1 in Tian, Gong and Jiang 2020. A player's input is its type and the
public history. Rewards come at the end and are not discounted, so an episode's return is the return of each of its
decisions. As in the paper the greedy policy is evaluated after every epoch and the best one is kept; the
evaluation is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bidzoo.agents.tabular.network import (
    Features,
    Inputs,
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
from bidzoo.core.kernels import F32, F64, I64
from bidzoo.core.options import Count
from bidzoo.envs.signalling.compiled import Compiled, Solvable


@dataclass(frozen=True)
class Options(NetworkOptions):
    """Numbers of the algorithm."""

    epochs: Count = 20


class Turn(NamedTuple):
    """``K`` decisions of one turn at ``R`` information sets."""

    inputs: Inputs
    hidden: list[F32]
    columns: I64  # [C + 1]  of the output: actions that are legal somewhere, and the value
    chances: F32  # [R, C]
    values: F32  # [R]
    rows: I64  # [K]  information set
    chosen: I64  # [K]  column
    episode: I64  # [K]


class ActorCritic(Features):
    """Inputs of one game, and the network."""

    def __init__(self, game: Compiled, hidden: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__(game)
        self.network = Network((self.history.shape[1] + self.bits, *hidden, game.child.shape[1] + 1), rng)

    def inputs(self, nodes: I64, types: I64) -> Inputs:
        """The inputs of the information sets ``(node, type)`` ``[R]``."""
        decisions, owner = np.unique(nodes, return_inverse=True)
        return Inputs(self.history[decisions], owner, self.bit(nodes, types))

    def turn(self, nodes: I64, types: I64, episode: I64, rng: np.random.Generator) -> Turn:
        """Act at the information sets ``(node, type)`` ``[K]`` of the episodes ``episode``."""
        sets, rows = np.unique(nodes * self.game.shape[1] + types, return_inverse=True)
        set_nodes, set_types = np.divmod(sets, self.game.shape[1])
        inputs = self.inputs(set_nodes, set_types)
        legal = self.legal[set_nodes]
        actions = np.flatnonzero(legal.any(axis=0))
        columns = np.append(actions, legal.shape[1])
        hidden = self.network.hidden(inputs)
        outputs = self.network.output(hidden, columns)
        policy = chances(outputs[:, :-1], legal[:, actions])
        return Turn(inputs, hidden, columns, policy, outputs[:, -1], rows, draw(policy, rows, rng), episode)


def greedy(player: ActorCritic) -> F64:
    """The likeliest move of every information set, as a strategy ``[M, T]``."""
    game = player.game
    strategy = np.zeros(game.shape)
    for mover, types in enumerate(game.num_types):
        nodes = np.flatnonzero((game.count > 0) & (game.player == mover))
        for part in np.array_split(nodes, 1 + len(nodes) * types // 4096):
            rows, zs = np.repeat(part, types), np.tile(np.arange(types), len(part))
            logits = player.network(player.inputs(rows, zs))[:, :-1]
            best = np.where(player.legal[rows], logits, -np.inf).argmax(axis=1)
            strategy[game.child[rows, best], zs] = 1.0
    return purify(game, strategy)


def play(player: ActorCritic, episodes: int, rng: np.random.Generator) -> tuple[list[Turn], F32]:
    """The turns of ``episodes`` episodes, and their rewards ``[B]``."""
    game = player.game
    deal = rng.choice(game.prior.size, episodes, p=game.prior.ravel())
    types = np.stack(np.unravel_index(deal, game.prior.shape), axis=1)  # [B, 2]
    node, open_episodes = np.zeros(episodes, np.int64), np.arange(episodes)
    turns = []
    while len(open_episodes):
        nodes = node[open_episodes]
        turn = player.turn(nodes, types[open_episodes, game.player[nodes]], open_episodes, rng)
        turns.append(turn)
        node[open_episodes] = game.child[nodes, turn.columns[turn.chosen]]
        open_episodes = open_episodes[game.count[node[open_episodes]] > 0]
    return turns, game.payoff[game.leaf[node], types[:, 0], types[:, 1]].astype(np.float32)


def learn(player: ActorCritic, config: Options, scale: float, remaining: float, rng: np.random.Generator) -> None:
    """Play, and add up the gradients of the loss's mean over all decisions."""
    turns, reward = play(player, config.episodes, rng)
    reward /= np.float32(scale)
    decisions = np.float32(sum(len(turn.rows) for turn in turns))
    for turn in turns:
        returns = reward[turn.episode]
        advantage = returns - turn.values[turn.rows]
        gradient = np.empty((len(turn.values), len(turn.columns)), np.float32)
        gradient[:, :-1] = policy_gradient(turn.chances, turn.rows, turn.chosen, advantage, config.entropy * remaining)
        gradient[:, -1] = -2.0 * config.value * np.bincount(turn.rows, advantage, minlength=len(gradient))
        player.network.learn(turn.inputs, turn.hidden, turn.columns, gradient / decisions)


def train(game: Solvable, config: Options, report: Callable[[int, float], None] | None = None) -> F64:
    """The best greedy strategy ``[M, T]`` of all epochs."""
    return best_epoch(ActorCritic, learn, greedy, game, config, report)


@when_compiled()
def solve(game: Solvable, seed: int, **options: Any) -> F64:
    """The strategy of ``train``."""
    return train(game, Options(seed=seed, **options))


agent = solver("a2c", solve, Options)

"""PPO in one file on the batched engine: all seats share one network and learn from self-play.

python docs/training/scripts/ppo_batched.py

After CleanRL's ppo.py (Huang et al. 2022). What bidding games add: actions are masked; the next observation belongs to
another player, so values change sign where the other side is to act; rewards come at the end of an episode only.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks.match import play


@dataclass(frozen=True)
class Config:
    """Every number of the run."""

    tables: int = 256
    turns: int = 16  # of every table between updates
    updates: int = 60
    epochs: int = 4
    minibatches: int = 8
    learning_rate: float = 3e-3  # falls to 0
    gae_lambda: float = 0.95  # Schulman et al. 2016; no discount: episodes are short
    clip: float = 0.2  # Schulman et al. 2017, section 6.1
    entropy: float = 0.03  # falls to 0
    value: float = 0.5
    hidden: int = 128
    seed: int = 0


class Network(nn.Module):
    """Observation ``[B, F]`` and mask ``[B, A]`` to log chances ``[B, A]`` and the mover's value ``[B]``."""

    def __init__(self, features: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor, self.critic = nn.Linear(hidden, actions), nn.Linear(hidden, 1)
        for layer, gain in ((self.actor, 0.01), (self.critic, 1.0)):
            nn.init.orthogonal_(layer.weight, gain)

    def forward(self, observation, mask):
        """Illegal actions have chance 0."""
        h = self.body(observation.float())
        logits = self.actor(h).masked_fill(mask == 0, -1e9)
        return logits.log_softmax(1), self.critic(h)[:, 0]


def collect(batch, network: Network, config: Config, generator):
    """A rollout of ``turns`` steps of every table, arrays ``[T, B, ...]``, and the sides to act after it ``[B]``."""
    game, rows = batch.game, np.arange(config.tables)
    rollout = {name: [] for name in ("observation", "mask", "action", "chance", "value", "side", "reward", "over")}
    side = np.array([game.allies(p)[0] for p in range(game.num_players)])
    for _ in range(config.turns):
        observation, mask = torch.from_numpy(batch.observation.copy()), torch.from_numpy(batch.action_mask.copy())
        with torch.no_grad():
            chances, value = network(observation, mask)
        gumbel = -torch.empty_like(chances).exponential_(generator=generator).log()
        action, player = (chances + gumbel).argmax(1), batch.player.astype(np.int64)
        batch.step(action.numpy())
        reward = batch.reward[rows, player] / game.reward_range[1]
        chance = chances.gather(1, action[:, None])[:, 0]
        step = (observation, mask, action, chance, value, side[player], reward, batch.terminated.copy())
        for name, array in zip(rollout, step):
            rollout[name].append(torch.as_tensor(array))
    return {name: torch.stack(arrays) for name, arrays in rollout.items()}, side[batch.player.astype(np.int64)]


def advantages(rollout, last_value, last_side, config: Config):
    """Generalised advantage estimates ``[T, B]``, each for the player that acts."""
    gae = torch.zeros_like(rollout["value"])
    value, side, advantage = last_value, torch.from_numpy(last_side), torch.zeros(config.tables)
    for t in reversed(range(config.turns)):
        sign = torch.where(rollout["side"][t] == side, 1.0, -1.0) * (~rollout["over"][t])
        error = rollout["reward"][t] + sign * value - rollout["value"][t]
        advantage = error + config.gae_lambda * sign * advantage
        gae[t], value, side = advantage, rollout["value"][t], rollout["side"][t]
    return gae


def update(network: Network, optimizer, rollout, advantage, config: Config, left: float, generator) -> None:
    """``epochs`` passes of clipped PPO over ``rollout``."""
    size = config.tables * config.turns
    flat = {name: array.reshape(size, *array.shape[2:]) for name, array in rollout.items()}
    advantage = advantage.reshape(size)
    target = advantage + flat["value"]
    for _ in range(config.epochs):
        for rows in torch.randperm(size, generator=generator).chunk(config.minibatches):
            chances, value = network(flat["observation"][rows], flat["mask"][rows])
            ratio = (chances.gather(1, flat["action"][rows, None])[:, 0] - flat["chance"][rows]).exp()
            a = (advantage[rows] - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
            policy_loss = -torch.min(ratio * a, ratio.clamp(1 - config.clip, 1 + config.clip) * a).mean()
            value_loss = (value - target[rows]).square().mean()
            entropy = -(chances.exp() * chances).sum(1).mean()
            loss = policy_loss + config.value * value_loss - config.entropy * left * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(env_id: str, config: Config, **options) -> ScorePolicy:
    """The policy after ``config.updates`` updates; the same config gives the same policy."""
    torch.manual_seed(config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    batch = bidzoo.make_vec(env_id, config.tables, **options)
    batch.reset(config.seed)
    network = Network(batch.observation.shape[1], batch.action_mask.shape[1], config.hidden)
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5)
    for number in range(config.updates):
        left = 1 - number / config.updates
        optimizer.param_groups[0]["lr"] = config.learning_rate * left
        rollout, last_side = collect(batch, network, config, generator)
        with torch.no_grad():
            _, last_value = network(torch.from_numpy(batch.observation), torch.from_numpy(batch.action_mask))
        update(network, optimizer, rollout, advantages(rollout, last_value, last_side, config), config, left, generator)

    @torch.no_grad()
    def scores(observation, mask):
        return network(torch.from_numpy(observation), torch.from_numpy(mask))[0]

    return ScorePolicy(batch.game, scores, "PPO")


def main() -> None:
    """Print the mean reward at MiniBridge with 3 cards a hand, of random play and of PPO."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    policy, random = train("minibridge_v0", Config(), size=3), agents.make("random")
    for name, player in (("random", random), ("PPO", policy)):
        reward = play(policy.game, (player, player), np.arange(10_000), seed=1_000_000).reward[:, 0]
        print(f"{name:8} {reward.mean():.3f}")


if __name__ == "__main__":
    main()

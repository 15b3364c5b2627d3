"""TorchRL on the AEC environment: REINFORCE by one network at both seats of MiniBridge.

python docs/training/scripts/torchrl_reinforce.py
"""

import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks.match import play

GAME, SIZE = "minibridge_v0", 2
OBSERVATION, LEGAL = ("player", "observation", "observation"), ("player", "action_mask")


def train(steps: int, batch: int = 512, seed: int = 0) -> ScorePolicy:
    """The policy after ``steps`` turns."""
    torch.manual_seed(seed)
    env = PettingZooWrapper(
        bidzoo.make(GAME, size=SIZE),
        use_mask=True,  # marks the seat that acts; without it TorchRL expects all seats to act at once
        categorical_actions=True,
        group_map={"player": ["player_0", "player_1"]},
        seed=seed,
    )
    game = bidzoo.make_game(GAME, size=SIZE)
    network = nn.Sequential(nn.Linear(game.encoder.layout.size, 64), nn.Tanh(), nn.Linear(64, game.num_actions))

    actor = ProbabilisticActor(
        TensorDictModule(lambda observation: network(observation.float()), [OBSERVATION], [("player", "logits")]),
        in_keys={"logits": ("player", "logits"), "mask": LEGAL},
        out_keys=[("player", "action")],
        distribution_class=MaskedCategorical,
    )
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    for rollout in Collector(env, actor, frames_per_batch=batch, total_frames=steps):
        acting = rollout["player", "mask"]  # [T, 2]  the seat that acts; the other seat's row means nothing
        reward = rollout["next", "player", "reward"].sum(1)  # [T, 1]  partners share it, so the sum is twice the reward
        returns = reward2go(reward, rollout["next", "done"], gamma=1.0) / 2
        chances = MaskedCategorical(logits=network(rollout[OBSERVATION].float()), mask=rollout[LEGAL])
        advantage = (returns - returns.mean()) / (returns.std() + 1e-6)  # [T, 1]
        loss = -(advantage * chances.log_prob(rollout["player", "action"]))[acting].mean()
        loss = loss - 0.02 * chances.entropy()[acting].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    @torch.no_grad()
    def scores(observation, legal):
        return network(torch.from_numpy(observation).float())

    return ScorePolicy(game, scores, "TorchRL")


def score(policy) -> float:
    """Mean reward of ``policy`` with itself on boards of another seed."""
    game = bidzoo.make_game(GAME, size=SIZE)
    return float(play(game, (policy, policy), np.arange(10_000), seed=1_000_000).reward[:, 0].mean())


def main() -> None:
    """Print the score of random play, then of the trained policy."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    print(f"random   {score(agents.make('random')):.3f}")
    print(f"TorchRL  {score(train(30_000)):.3f}")


if __name__ == "__main__":
    main()

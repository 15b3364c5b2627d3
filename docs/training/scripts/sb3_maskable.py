"""MaskablePPO of sb3-contrib on MiniBridge, first beside a fixed partner, then in self-play with its past versions.

python docs/training/scripts/sb3_maskable.py
"""

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecMonitor

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import Pool
from bidzoo.benchmarks.match import play
from bidzoo.wrappers.gymnasium import single_agent_vector
from bidzoo.wrappers.sb3 import SB3Policy, SB3VecEnv

GAME = "minibridge_v0"
SIZE = 2  # cards a hand
BOARDS = np.arange(10_000)  # of the evaluation; training sees another seed


def score(first, second) -> float:
    """Mean reward of the two policies together."""
    return float(play(bidzoo.make_game(GAME, size=SIZE), (first, second), BOARDS, seed=1_000_000).reward[:, 0].mean())


def with_partner(steps: int, seed: int = 0) -> SB3Policy:
    """A policy for player_0, learned beside a fixed partner, which may be any agent or policy."""
    options = {"size": SIZE, "partner": agents.make("jps"), "learner": 0}
    env = make_vec_env("bidzoo/MiniBridge-v0", n_envs=8, seed=seed, env_kwargs=options)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=128, gamma=1.0, learning_rate=1e-3, seed=seed)
    model.learn(steps)
    return SB3Policy(model, bidzoo.make_game(GAME, size=SIZE), greedy=True, name="learner")


def self_play(steps: int, rounds: int, seed: int = 0, tables: int = 64) -> SB3Policy:
    """A policy for both seats; the partner of each board is drawn from the last four versions of the policy."""
    partners = Pool([agents.make("random")], seed, size=4)
    seats = [single_agent_vector(GAME, tables // 2, size=SIZE, partner=partners, learner=seat) for seat in (0, 1)]
    env = VecMonitor(SB3VecEnv(seats))  # the batched engine, with action masks
    options = {"n_steps": 16, "batch_size": 256, "n_epochs": 4, "ent_coef": 0.02}
    model = MaskablePPO("MlpPolicy", env, gamma=1.0, learning_rate=2e-3, seed=seed, **options)
    policy = SB3Policy(model, bidzoo.make_game(GAME, size=SIZE), name="self")
    for number in range(rounds):
        model.learn(steps // rounds, reset_num_timesteps=number == 0)
        partners.add(policy.freeze(f"self {number}"))
    policy.greedy = True
    return policy


def main() -> None:
    """Print the scores of both, beside those of random play."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    random = agents.make("random")
    print(f"random with random        {score(random, random):.3f}")
    learner, partner = with_partner(steps=8_000), agents.make("jps")
    print(f"random with jps           {score(random, partner):.3f}")
    print(f"MaskablePPO with jps      {score(learner, partner):.3f}")
    player = self_play(steps=40_000, rounds=10)
    print(f"MaskablePPO in self-play  {score(player, player):.3f}")
    print(f"jps with jps              {score(partner, partner):.3f}")


if __name__ == "__main__":
    main()

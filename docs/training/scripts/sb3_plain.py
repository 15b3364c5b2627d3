"""PPO, A2C and DQN of Stable-Baselines3, which know no masks, where every action of the learner is legal.

python docs/training/scripts/sb3_plain.py
"""

import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import play
from bidzoo.wrappers.gymnasium import single_agent_vector
from bidzoo.wrappers.sb3 import SB3Policy, SB3VecEnv

TASKS = {  # game, options, the learner's seat: it has to find out what its partner means
    "guess in Comm": ("comm_v0", {"length": 2}, 1),
    "open in Mini-Hanabi": ("mini_hanabi_v0", {}, 0),
}
MODELS = {
    "PPO": (PPO, {"n_steps": 16, "batch_size": 128, "learning_rate": 2e-3, "gamma": 1.0}),
    "A2C": (A2C, {"n_steps": 4, "learning_rate": 2e-3, "gamma": 1.0}),
    "DQN": (DQN, {"learning_starts": 200, "train_freq": 2, "target_update_interval": 200, "learning_rate": 2e-3}),
}
BOARDS = np.arange(4_000)  # of the evaluation; training sees another seed


def score(task: str, learner, partner) -> float:
    """Mean reward of ``learner`` at the seat of the task, beside ``partner``."""
    env_id, options, seat = TASKS[task]
    policies = [partner, partner]
    policies[seat] = learner
    return float(play(bidzoo.make_game(env_id, **options), policies, BOARDS, seed=1_000_000).reward[:, 0].mean())


def train(task: str, algorithm: str, partner, steps: int, seed: int = 0) -> SB3Policy:
    """The policy after ``steps`` actions on 16 tables."""
    env_id, options, seat = TASKS[task]
    model_class, settings = MODELS[algorithm]
    tables = single_agent_vector(env_id, 16, partner=partner, learner=seat, **options)
    model = model_class("MlpPolicy", SB3VecEnv([tables]), seed=seed, **settings)
    model.learn(steps)
    return SB3Policy(model, bidzoo.make_game(env_id, **options), greedy=True, name=algorithm)


def main() -> None:
    """Print the score of each algorithm on each task, between a random learner's and a perfect one's."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    partner = agents.make("jps")
    for task in TASKS:
        print(f"{task}: random {score(task, agents.make('random'), partner):.2f}", end="")
        for algorithm in MODELS:
            print(
                f", {algorithm} {score(task, train(task, algorithm, partner, 8_000), partner):.2f}", end="", flush=True
            )
        print(f", perfect {score(task, partner, partner):.2f}")


if __name__ == "__main__":
    main()

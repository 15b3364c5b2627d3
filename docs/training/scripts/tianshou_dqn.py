"""Tianshou on the AEC environment: a DQN at each seat of MiniBridge, learning side by side.

python docs/training/scripts/tianshou_dqn.py
"""

import logging

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks.match import play

logging.getLogger("tianshou").setLevel(logging.ERROR)  # it warns at every episode that rewards are pairs

GAME, SIZE = "minibridge_v0", 2


def learner(env: PettingZooEnv, horizon: int) -> DQN:
    """A masked DQN; returns look ahead to the end of the episode, since the next turn is the partner's."""
    features, actions = env.observation_space["observation"].shape, env.action_space.n
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=features, action_shape=actions, hidden_sizes=[64, 64]),
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.3,
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=2e-3), gamma=1.0, n_step_return_horizon=horizon)


def train(epochs: int, seed: int = 0, tables: int = 8) -> list[ScorePolicy]:
    """Policies of the two seats after ``epochs`` of 1000 turns."""
    torch.manual_seed(seed)
    game = bidzoo.make_game(GAME, size=SIZE)
    env = PettingZooEnv(bidzoo.make(GAME, size=SIZE))
    learners = [learner(env, game.max_turns) for _ in env.agents]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=env)
    envs = DummyVectorEnv([lambda: PettingZooEnv(bidzoo.make(GAME, size=SIZE))] * tables)
    envs.seed(seed)
    collector = Collector(algorithm, envs, VectorReplayBuffer(20_000, tables), exploration_noise=True)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=epochs,
            epoch_num_steps=1000,
            collection_step_num_env_steps=200,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.1,
            multi_agent_return_reduction=lambda rewards: rewards[:, 0],
            show_progress=False,
            verbose=False,
        )
    )

    def policy(dqn: DQN) -> ScorePolicy:
        values = dqn.policy.model.eval()

        @torch.no_grad()
        def scores(observation, legal):
            return values(torch.from_numpy(observation).float())[0]

        return ScorePolicy(game, scores, "Tianshou")

    return [policy(dqn) for dqn in learners]


def score(policies) -> float:
    """Mean reward of two policies together on boards of another seed."""
    game = bidzoo.make_game(GAME, size=SIZE)
    return float(play(game, policies, np.arange(10_000), seed=1_000_000).reward[:, 0].mean())


def main() -> None:
    """Print the score of random play, then of the trained policies."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    random = agents.make("random")
    print(f"random    {score([random, random]):.3f}")
    print(f"Tianshou  {score(train(epochs=10)):.3f}")


if __name__ == "__main__":
    main()

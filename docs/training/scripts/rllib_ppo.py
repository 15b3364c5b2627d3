"""RLlib's PPO with action masks: one module at both seats of MiniBridge.

python docs/training/scripts/rllib_ppo.py        # in an environment of its own: pip install "bidzoo[rllib]"
"""

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks.match import play
from bidzoo.wrappers.rllib import RLlibEnv

GAME, SIZE = "minibridge_v0", 2


def train(iterations: int, seed: int = 0) -> ScorePolicy:
    """The policy after ``iterations`` of 1000 turns."""
    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], vf_share_layers=False),
    )
    config = (
        PPOConfig()
        .environment(RLlibEnv, env_config={"env_id": GAME, "size": SIZE})
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": spec}))
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(
            lr=3e-3, gamma=1.0, lambda_=1.0, train_batch_size=1000, minibatch_size=250, num_epochs=4, entropy_coeff=0.02
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        algorithm.train()
    module = algorithm.get_module("shared")

    @torch.no_grad()
    def scores(observation, legal):
        obs, mask = (torch.from_numpy(array).float() for array in (observation, legal))
        return module.forward_inference({"obs": {"observations": obs, "action_mask": mask}})["action_dist_inputs"]

    return ScorePolicy(bidzoo.make_game(GAME, size=SIZE), scores, "RLlib")


def score(policy) -> float:
    """Mean reward of ``policy`` with itself on boards of another seed."""
    game = bidzoo.make_game(GAME, size=SIZE)
    return float(play(game, (policy, policy), np.arange(10_000), seed=1_000_000).reward[:, 0].mean())


def main() -> None:
    """Print the score of random play, then of the trained policy."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    print(f"random  {score(agents.make('random')):.3f}")
    print(f"RLlib   {score(train(iterations=15)):.3f}")


if __name__ == "__main__":
    main()

"""Other processes that import everything anew: vector environments, loaders of data, pools."""

from __future__ import annotations

import pytest
from pages_of import Opens

IDS = ("BridgeBidding", "Bridge", "Comm", "MiniHanabi", "MiniBridge", "SimpleBidding", "Spades")

ASYNC = """
import sys
import gymnasium
import numpy as np
import bidzoo

if __name__ == "__main__":
    for name in sys.argv[1:]:
        make = [lambda name=name: gymnasium.make(f"bidzoo:bidzoo/{name}-v0")] * 2
        envs = gymnasium.vector.AsyncVectorEnv(make, context="spawn")
        _, info = envs.reset(seed=1)
        for _ in range(3):
            _, _, over, _, info = envs.step(np.stack([mask.argmax() for mask in info["action_mask"]]))
        envs.close()
"""
SUBPROC = """
import sys
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv
import bidzoo

if __name__ == "__main__":
    for name in sys.argv[1:]:
        workers = {"start_method": "spawn"}
        envs = make_vec_env(f"bidzoo:bidzoo/{name}-v0", 2, vec_env_cls=SubprocVecEnv, vec_env_kwargs=workers)
        envs.reset()
        masks = envs.env_method("action_masks")
        envs.step([mask.argmax() for mask in masks])
        envs.close()
"""
LOADER = """
import sys
import torch
import bidzoo


class Episodes(torch.utils.data.Dataset):
    def __len__(self):
        return len(sys.argv[1:])

    def __getitem__(self, index):
        import gymnasium

        name = sys.argv[1 + index]
        env = gymnasium.make(f"bidzoo:bidzoo/{name}-v0")
        _, info = env.reset(seed=1)
        return float(env.step(int(info["action_mask"].argmax()))[1])


if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Episodes(), num_workers=2, multiprocessing_context=sys.argv.pop(1))
    print(len([reward for reward in loader]))
"""
POOL = """
import sys
import joblib
import bidzoo


def play(name):
    import numpy as np
    game = bidzoo.make_game(name)
    from bidzoo.benchmarks.match import play
    return play(game, ["random"] * game.num_players, np.arange(4)).reward.sum()


if __name__ == "__main__":
    here = [play(name) for name in bidzoo.available()]
    with joblib.parallel_config(sys.argv[1], n_jobs=2):
        assert joblib.Parallel()(joblib.delayed(play)(name) for name in bidzoo.available()) == here
"""


def test_every_id_in_asyncvectorenv(script: Opens) -> None:
    script(ASYNC, *IDS)


def test_every_id_in_subprocvecenv(script: Opens) -> None:
    script(SUBPROC, *IDS)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_every_id_in_the_workers_of_a_dataloader(script: Opens, method: str) -> None:
    script(LOADER, method, *IDS)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_every_game_in_the_workers_of_joblib(script: Opens, backend: str) -> None:
    script(POOL, backend)

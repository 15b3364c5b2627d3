"""``from bidzoo.envs import minibridge_v0``, as PettingZoo names its environments."""

from bidzoo.envs.minibridge.env import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

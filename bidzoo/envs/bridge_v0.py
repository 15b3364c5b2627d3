"""``from bidzoo.envs import bridge_v0``, as PettingZoo names its environments."""

from bidzoo.envs.bridge.env import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

"""``from bidzoo.envs import minibridge_v0``, as PettingZoo names its environments."""

from bidzoo.envs.signalling.minibridge import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

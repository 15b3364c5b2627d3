"""``from bidzoo.envs import comm_v0``, as PettingZoo names its environments."""

from bidzoo.envs.signalling.comm import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

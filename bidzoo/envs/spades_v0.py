"""``from bidzoo.envs import spades_v0``, as PettingZoo names its environments."""

from bidzoo.envs.spades.env import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

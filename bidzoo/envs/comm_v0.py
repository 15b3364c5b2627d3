"""``from bidzoo.envs import comm_v0``, as PettingZoo names its environments."""

from bidzoo.envs.signalling.comm import __doc__ as __doc__  # what help() shows: rules, actions, options
from bidzoo.envs.signalling.comm import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

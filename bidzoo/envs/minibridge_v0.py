"""``from bidzoo.envs import minibridge_v0``, as PettingZoo names its environments."""

from bidzoo.envs.signalling.minibridge import __doc__ as __doc__  # what help() shows: rules, actions, options
from bidzoo.envs.signalling.minibridge import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

"""``from bidzoo.envs import simple_bidding_v0``, as PettingZoo names its environments."""

from bidzoo.envs.signalling.simple_bidding import __doc__ as __doc__  # what help() shows: rules, actions, options
from bidzoo.envs.signalling.simple_bidding import env, make_game, raw_env

__all__ = ["env", "make_game", "raw_env"]

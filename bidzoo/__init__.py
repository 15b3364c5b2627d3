"""Bidding games for multi-agent reinforcement learning, and the agents that play them."""

from bidzoo import agents
from bidzoo.registry import available, make, make_game, make_vec, register_all

__all__ = ["agents", "available", "make", "make_game", "make_vec", "register_all"]
__version__ = "0.1.0"

register_all()

"""Bidding games for multi-agent reinforcement learning, and the agents that play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bidzoo import agents
from bidzoo.registry import available, make, make_game, register_all

if TYPE_CHECKING:
    from bidzoo.wrappers.batch import Batch

__all__ = ["agents", "available", "make", "make_game", "make_vec", "register_all"]
__version__ = "0.1.0"


def make_vec(env_id: str, num_envs: int, **options: Any) -> Batch:
    """The batched engine: ``num_envs`` tables of ``env_id`` in step (see ``bidzoo.wrappers.batch.Batch``)."""
    from bidzoo.wrappers.batch import Batch

    return Batch(make_game(env_id, **options), num_envs)


register_all()

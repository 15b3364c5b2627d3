"""Bidding games for multi-agent reinforcement learning, and the agents that play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bidzoo import agents
from bidzoo.registry import GameId, available, check_game, make, make_game, register_all, register_game, register_own

if TYPE_CHECKING:
    from bidzoo.agents.policy import Agent
    from bidzoo.benchmarks.agent_check import Checked
    from bidzoo.envs.game import Game
    from bidzoo.wrappers.batch import Batch

    from . import bridge as bridge

__all__ = [
    "agents",
    "available",
    "bridge",
    "check_agent",
    "check_game",
    "make",
    "make_game",
    "make_vec",
    "register_all",
    "register_game",
]
__version__ = "0.1.0"


def make_vec(env_id: GameId | str, num_envs: int, *, packed: bool = False, **options: Any) -> Batch:
    """The batched engine: ``num_envs`` tables of ``env_id`` in step (see ``bidzoo.wrappers.batch.Batch``).

    ``env_id`` and ``options`` as ``make`` takes them, but for ``render_mode``, ``illegal_action`` and ``mask_in``; with
    ``packed`` observations are bits, eight to a byte.
    """
    from bidzoo.wrappers.batch import Batch

    return Batch(make_game(env_id, **options), num_envs, packed=packed)


def check_agent(policy: Agent, game: Game | GameId | str | None = None, **options: Any) -> Checked:
    """Check an agent on boards of a game, beside ``check_game``; see ``bidzoo.benchmarks.agent_check.check_agent``."""
    from bidzoo.benchmarks.agent_check import check_agent

    return check_agent(policy, game, **options)


def __getattr__(name: str) -> Any:
    """Import ``bidzoo.bridge`` when it is first used: it costs nothing where something else is played."""
    if name == "bridge":
        from importlib import import_module

        return import_module("bidzoo.bridge")
    raise AttributeError(f"module 'bidzoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of the module with ``bridge``, for completion."""
    return sorted({*globals(), *__all__})


register_own()

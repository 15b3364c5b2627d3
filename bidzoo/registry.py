"""Names to games, environments and agents. Entries are strings: a game is imported when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from bidzoo.envs.aec import TableEnv
    from bidzoo.envs.game import Game


@dataclass(frozen=True)
class Entry:
    """Where a game lives and what it is called elsewhere."""

    module: str  # has ``env``, ``raw_env`` and ``make_game``
    gymnasium_id: str
    summary: str


GAMES: dict[str, Entry] = {
    "bridge_bidding_v0": Entry(
        "bidzoo.envs.bridge_bidding_v0", "bidzoo/BridgeBidding-v0", "the auction of contract bridge"
    ),
    "bridge_v0": Entry("bidzoo.envs.bridge_v0", "bidzoo/Bridge-v0", "contract bridge, auction and play"),
    "comm_v0": Entry("bidzoo.envs.signalling.comm", "bidzoo/Comm-v0", "a secret sent bit by bit (JPS, Definition 1)"),
    "mini_hanabi_v0": Entry(
        "bidzoo.envs.signalling.mini_hanabi", "bidzoo/MiniHanabi-v0", "BAD's two-step signalling game"
    ),
    "minibridge_v0": Entry(
        "bidzoo.envs.signalling.minibridge", "bidzoo/MiniBridge-v0", "2-suit MiniBridge (JPS, Definition 3)"
    ),
    "simple_bidding_v0": Entry(
        "bidzoo.envs.signalling.simple_bidding", "bidzoo/SimpleBidding-v0", "bids in powers of two (JPS, Definition 2)"
    ),
    "spades_v0": Entry("bidzoo.envs.spades_v0", "bidzoo/Spades-v0", "Spades and its variants, whole games or rounds"),
}


def available() -> tuple[str, ...]:
    """Every id ``make`` accepts."""
    return tuple(GAMES)


def _module(env_id: str) -> Any:
    if env_id not in GAMES:
        raise KeyError(f"unknown game {env_id!r}; choose from {', '.join(GAMES)}")
    return import_module(GAMES[env_id].module)


def options(env_id: str) -> dict[str, Any]:
    """Names and defaults of what ``make_game(env_id, ...)`` takes; KeyError as ``make``."""
    return {name: one.default for name, one in signature(_module(env_id).make_game).parameters.items()}


def _made(env_id: str, maker: str, options: dict[str, Any]) -> Any:
    make = getattr(_module(env_id), maker)
    known = signature(make).parameters
    for name in options.keys() - known.keys():
        raise TypeError(f"{env_id} has no option {name!r}; choose from {', '.join(known)}")
    return make(**options)


def make(env_id: str, **options: Any) -> TableEnv:
    """The AEC environment ``env_id`` with its ``options``.

    Raises:
        KeyError: unknown ``env_id``; names the choices.
        ValueError: an option's value is not one the game knows.
        TypeError: the game has no such option; names the choices.
    """
    env: TableEnv = _made(env_id, "env", options)
    return env


def make_game(env_id: str, **options: Any) -> Game:
    """The rules that the environment of the same name and options plays by."""
    game: Game = _made(env_id, "make_game", options)
    return game


def register_all() -> None:
    """Tell PettingZoo (1.27 and later have a registry) and Gymnasium about every game; called by ``import bidzoo``."""
    for env_id, entry in GAMES.items():
        if hasattr(pettingzoo, "register"):
            pettingzoo.register("aec", f"bidzoo/{env_id.replace('_v', '-v')}", f"{entry.module}:env")
        if entry.gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                entry.gymnasium_id,
                entry_point="bidzoo.wrappers.gymnasium:single_agent",
                vector_entry_point="bidzoo.wrappers.gymnasium:single_agent_vector",
                kwargs={"env_id": env_id},
            )

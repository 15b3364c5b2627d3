"""Names to games, environments and agents. Entries are strings: a game is imported when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy
    from bidzoo.envs.aec import TableEnv
    from bidzoo.envs.game import Game
    from bidzoo.wrappers.batch import Batch
    from bidzoo.wrappers.single_agent import SingleAgent
    from bidzoo.wrappers.vector import SingleAgentVector


@dataclass(frozen=True)
class Entry:
    """Where a game lives and what it is called elsewhere."""

    module: str  # has ``env``, ``raw_env`` and ``make_game``
    gymnasium_id: str
    summary: str


GAMES: dict[str, Entry] = {
    "bridge_bidding_v0": Entry(
        "bidzoo.envs.bridge.bidding_env", "bidzoo/BridgeBidding-v0", "the auction of contract bridge"
    ),
    "bridge_v0": Entry("bidzoo.envs.bridge.env", "bidzoo/Bridge-v0", "contract bridge, auction and play"),
    "comm_v0": Entry("bidzoo.envs.comm.env", "bidzoo/Comm-v0", "a secret sent bit by bit (JPS, Definition 1)"),
    "mini_hanabi_v0": Entry("bidzoo.envs.mini_hanabi.env", "bidzoo/MiniHanabi-v0", "BAD's two-step signalling game"),
    "minibridge_v0": Entry(
        "bidzoo.envs.minibridge.env", "bidzoo/MiniBridge-v0", "2-suit MiniBridge (JPS, Definition 3)"
    ),
    "simple_bidding_v0": Entry(
        "bidzoo.envs.simple_bidding.env", "bidzoo/SimpleBidding-v0", "bids in powers of two (JPS, Definition 2)"
    ),
    "spades_v0": Entry("bidzoo.envs.spades.env", "bidzoo/Spades-v0", "Spades and its variants, whole games or rounds"),
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


def make_vec(env_id: str, num_envs: int, **options: Any) -> Batch:
    """The batched engine: ``num_envs`` tables of ``env_id`` in step (see ``bidzoo.wrappers.batch.Batch``)."""
    from bidzoo.wrappers.batch import Batch

    return Batch(make_game(env_id, **options), num_envs)


def seat_policies(game: Game, learner: int, opponents: Any = "random", partner: Any = None) -> list[Policy | None]:
    """Policies ``[P]`` of all seats but the learner's, from names or policies.

    Args:
        game: the game they play.
        learner: our own seat, None in the result.
        opponents: one name or policy for every other seat, a list ``[P]``, or ``{player: policy}``.
        partner: replaces ``opponents`` at the learner's allies.
    """
    from bidzoo import agents

    if isinstance(opponents, Mapping):
        for player in opponents.keys() - set(range(game.num_players)):
            raise ValueError(f"opponents: unknown player {player!r}; expected 0 ... {game.num_players - 1}")
        given = [opponents.get(p) for p in range(game.num_players)]
    elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
        given = list(opponents)
    else:
        one = agents.resolve(opponents, game.id)
        given = [one] * game.num_players
    if len(given) != game.num_players:
        raise ValueError(f"{game.id} has {game.num_players} players, got {len(given)} opponents")
    if partner is not None:
        ally = agents.resolve(partner, game.id)
        given = [ally if p in game.allies(learner) else policy for p, policy in enumerate(given)]
    return [None if p == learner or one is None else agents.resolve(one, game.id) for p, one in enumerate(given)]


def single_agent(
    env_id: str,
    *,
    opponents: Any = "random",
    partner: Any = None,
    learner: int = 0,
    render_mode: str | None = None,
    **options: Any,
) -> SingleAgent:
    """What ``gymnasium.make("bidzoo/BridgeBidding-v0", opponents=...)`` makes."""
    from bidzoo.wrappers.single_agent import SingleAgent

    game = make_game(env_id, **options)
    return SingleAgent(game, seat_policies(game, learner, opponents, partner), learner, render_mode)


def single_agent_vector(
    env_id: str,
    num_envs: int,
    *,
    opponents: Any = "random",
    partner: Any = None,
    learner: int = 0,
    render_mode: str | None = None,
    **options: Any,
) -> SingleAgentVector:
    """What ``gymnasium.make_vec("bidzoo/BridgeBidding-v0", num_envs, opponents=...)`` makes."""
    from bidzoo.wrappers.vector import SingleAgentVector

    game = make_game(env_id, **options)
    return SingleAgentVector(game, num_envs, seat_policies(game, learner, opponents, partner), learner, render_mode)


def register_all() -> None:
    """Tell PettingZoo (1.27 and later have a registry) and Gymnasium about every game; called by ``import bidzoo``."""
    for env_id, entry in GAMES.items():
        if hasattr(pettingzoo, "register"):
            pettingzoo.register("aec", f"bidzoo/{env_id.replace('_v', '-v')}", f"{entry.module}:env")
        if entry.gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                entry.gymnasium_id,
                entry_point="bidzoo.registry:single_agent",
                vector_entry_point="bidzoo.registry:single_agent_vector",
                kwargs={"env_id": env_id},
            )

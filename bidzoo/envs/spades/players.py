"""Playing modules: who plays the 13 tricks where agents only bid (``phase="bidding"``).

A module sees views alone. ``Spades(player=...)`` takes a name of ``PLAYERS``, a ``PlayingModule``, or any
``Policy`` of the whole game. A fast module is one batched kernel over a row kernel that chooses a card::

    @batched
    def _finish(start, stop, states, views):
        for b in range(start, stop):
            while states[b].phase == PLAY:
                view_row(states[b], states[b].turn, views[b])
                act_row(states[b], FIRST_CARD + choose_row(views[b], card_key_row(states[b])))
"""

from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bidzoo.core.bits import pick_row
from bidzoo.core.kernels import I8, I64, U64, States, allocate, batched
from bidzoo.core.streams import Streams
from bidzoo.envs.game import legal_actions
from bidzoo.envs.spades.engine import act_row, card_key_row, legal_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, NUM_ACTIONS, PLAY, VIEW, view_row

PLAYERS = {  # name -> "module:attribute", imported when chosen
    "random": "bidzoo.envs.spades.players:RANDOM",
    "wrp": "bidzoo.agents.spades.srp:WRP",
    "srp": "bidzoo.agents.spades.srp:SRP",
}


@runtime_checkable
class PlayingModule(Protocol):
    """Plays rounds to their end."""

    name: str

    def finish(self, states: States) -> None:
        """Play every table of ``states`` ``[B]`` that is in ``PLAY`` until it is not."""
        ...


@batched
def _finish_random(start: int, stop: int, states: States, views: States) -> None:
    for b in range(start, stop):
        while states[b].phase == PLAY:
            view_row(states[b], states[b].turn, views[b])
            cards = legal_cards_row(views[b], views[b].held_here)
            act_row(states[b], FIRST_CARD + pick_row(cards, card_key_row(states[b])))


class Random:
    """Uniform legal cards."""

    name = "random"

    def finish(self, states: States) -> None:
        """Play out every table in ``PLAY``."""
        _finish_random(states, allocate(VIEW, len(states)))


RANDOM = Random()


@batched
def _ask(start: int, stop: int, states: States, views: States, legal: I8, keys: U64) -> None:
    for b in range(start, stop):
        view_row(states[b], states[b].turn, views[b])
        legal_row(states[b], legal[b])
        keys[b] = card_key_row(states[b])


@batched
def _play(start: int, stop: int, states: States, actions: I64) -> None:
    for b in range(start, stop):
        act_row(states[b], actions[b])


class PolicyPlayer:
    """Any policy of the whole game as a playing module, asked once for all tables that wait."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.name = policy, str(policy.name)

    def finish(self, states: States) -> None:
        """Play out every table in ``PLAY``; ValueError if the policy plays a card it may not."""
        while len(rows := np.flatnonzero(states["phase"] == PLAY)):
            waiting = states[rows]
            views, keys = allocate(VIEW, len(rows)), np.empty(len(rows), np.uint64)
            legal = np.empty((len(rows), NUM_ACTIONS), np.int8)
            _ask(waiting, views, legal, keys)
            chosen = self.policy.act(views, legal, Streams(keys))
            _play(waiting, legal_actions(f"playing module {self.name!r}", chosen, legal, waiting["board"]))
            states[rows] = waiting


def check_player(player: Any) -> None:
    """ValueError unless ``player`` is a name of ``PLAYERS``, a module, or a policy; imports none of them."""
    if isinstance(player, str):
        if player not in PLAYERS:
            raise ValueError(f"unknown player {player!r}; choose from {', '.join(PLAYERS)}")
    elif not isinstance(player, PlayingModule) and not callable(getattr(player, "act", None)):
        raise ValueError(f"not a playing module: {player!r} (expected a name, an object with finish(), or a policy)")


def playing_module(player: Any) -> PlayingModule:
    """The module that ``player``, which ``check_player`` lets pass, means."""
    if isinstance(player, str):
        module, name = PLAYERS[player].split(":")
        named: PlayingModule = getattr(import_module(module), name)
        return named
    return player if isinstance(player, PlayingModule) else PolicyPlayer(player)

"""Playing modules: who plays the 13 tricks where agents only bid (``phase="bidding"``).

A module sees views alone. ``Spades(player=...)`` takes a name of ``PLAYERS``, a ``PlayingModule``, any ``Policy`` of
the whole game, or a plain function of its observation "full" and mask. A fast module is one batched kernel over a
row kernel that chooses a card::

    @batched
    def _finish(start, stop, states, views):
        for b in range(start, stop):
            while states[b].phase == PLAY:
                view_row(states[b], states[b].turn, views[b])
                act_row(states[b], FIRST_CARD + choose_row(views[b], card_key_row(states[b])))
"""

from inspect import isclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bidzoo.core import plugins
from bidzoo.core.bits import pick_row
from bidzoo.core.kernels import I8, I64, U64, States, allocate, batched, rows_a_thread
from bidzoo.core.options import is_plain
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Encoder, legal_actions
from bidzoo.envs.spades.engine import act_row, card_key_row, legal_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, NUM_ACTIONS, PLAY, VIEW, view_row

PLAYERS = {  # name -> "module:attribute" of a playing module or of a maker of policies, imported when chosen
    "random": "bidzoo.envs.spades.players:RANDOM",
    "wrp": "bidzoo.agents.spades.srp:WRP",
    "srp": "bidzoo.agents.spades.srp:SRP",
    "uct": "bidzoo.agents.spades.policy:uct",
    "learned": "bidzoo.agents.spades.policy:learned",
}


@runtime_checkable
class PlayingModule(Protocol):
    """Plays rounds to their end."""

    name: str

    def finish(self, states: States) -> None:
        """Play every table of ``states`` ``[B]`` that is in ``PLAY`` until it is not."""
        ...


@batched
@rows_a_thread(64)
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
            with plugins.outside(lambda: f"playing module {self.name!r}"):
                actions = self.policy.act(views, legal.copy(), Streams(keys))
            _play(waiting, legal_actions(f"playing module {self.name!r}", actions, legal, waiting["board"]))
            states[rows] = waiting


def check_player(player: Any) -> None:
    """ValueError unless ``player`` is a name of ``PLAYERS``, a module, a policy or a function; imports none of them."""
    if isinstance(player, str):
        if player not in PLAYERS:
            raise ValueError(f"unknown player {player!r}; choose from {', '.join(PLAYERS)}")
    elif isclass(player) or not (isinstance(player, PlayingModule) or _is_policy(player) or is_plain(player)):
        hint = f"; make one: {player.__name__}()" if isclass(player) else ""
        raise ValueError(
            f"not a playing module: {player!r} (expected a name, an object with finish(), a policy, or a function of"
            f" observation and mask){hint}"
        )


def playing_module(player: Any, encoder: Encoder) -> PlayingModule:
    """The module of a checked ``player``; a function gets the observations of ``encoder``."""
    if isinstance(player, str):
        entry = plugins.load(PLAYERS[player], f"player {player!r}")
        return entry if isinstance(entry, PlayingModule) else PolicyPlayer(entry())
    if isinstance(player, PlayingModule):
        return player
    if not _is_policy(player):
        player = plugins.load("bidzoo.agents.policy:FunctionPolicy", "a function as player")(player, encoder)
    return PolicyPlayer(player)


def _is_policy(player: Any) -> bool:
    return callable(getattr(player, "act", None))

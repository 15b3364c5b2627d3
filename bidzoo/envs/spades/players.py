"""Playing modules: who plays the 13 tricks where agents only bid (``phase="bidding"``).

A module sees views alone. ``Spades(player=...)`` takes a name of ``PLAYERS``, a ``PlayingModule``, or any
``Policy`` of the whole game. A fast module is one batched kernel over a row kernel that chooses a card::

    @batched
    def _finish(tables, views):
        for b in prange(len(tables)):
            while tables[b].phase == PLAY:
                view_row(tables[b], tables[b].turn, views[b])
                act_row(tables[b], FIRST_CARD + choose_row(views[b], card_key_row(tables[b])))
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bidzoo.bits import pick_row
from bidzoo.envs.spades.engine import act_row, card_key_row, legal_row
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, NUM_ACTIONS, PLAY, VIEW, view_row
from bidzoo.kernels import I8, I64, U64, Table, Tables, allocate, batched, prange, row
from bidzoo.streams import Streams

PLAYERS = {  # name -> "module:attribute", imported when chosen
    "random": "bidzoo.envs.spades.players:RANDOM",
    "wrp": "bidzoo.agents.spades.wrp:PLAYER",
    "srp": "bidzoo.agents.spades.srp:PLAYER",
}


@runtime_checkable
class PlayingModule(Protocol):
    """Plays rounds to their end."""

    name: str

    def finish(self, tables: Tables) -> None:
        """Play every table of ``tables`` ``[B]`` that is in ``PLAY`` until it is not."""
        ...


@row
def random_row(view: Table, key: np.uint64) -> int:
    """A legal card, all equally likely."""
    return pick_row(legal_cards_row(view, view.held_here), key)


@batched
def _finish_random(tables: Tables, views: Tables) -> None:
    for b in prange(len(tables)):
        while tables[b].phase == PLAY:
            view_row(tables[b], tables[b].turn, views[b])
            act_row(tables[b], FIRST_CARD + random_row(views[b], card_key_row(tables[b])))


class Random:
    """Uniform legal cards."""

    name = "random"

    def finish(self, tables: Tables) -> None:
        """Play out every table in ``PLAY``."""
        _finish_random(tables, allocate(VIEW, len(tables)))


RANDOM = Random()


@batched
def _ask(tables: Tables, views: Tables, legal: I8, keys: U64) -> None:
    for b in prange(len(tables)):
        view_row(tables[b], tables[b].turn, views[b])
        legal_row(tables[b], legal[b])
        keys[b] = card_key_row(tables[b])


@batched
def _play(tables: Tables, actions: I64) -> None:
    for b in prange(len(tables)):
        act_row(tables[b], actions[b])


class PolicyPlayer:
    """Any policy of the whole game as a playing module, asked once for all tables that wait."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.name = policy, str(policy.name)

    def finish(self, tables: Tables) -> None:
        """Play out every table in ``PLAY``; ValueError if the policy plays a card it may not."""
        while len(rows := np.flatnonzero(tables["phase"] == PLAY)):
            waiting = tables[rows]
            views, keys = allocate(VIEW, len(rows)), np.empty(len(rows), np.uint64)
            legal = np.empty((len(rows), NUM_ACTIONS), np.int8)
            _ask(waiting, views, legal, keys)
            actions = np.asarray(self.policy.act(views, legal, Streams(keys)), np.int64)
            wrong = np.flatnonzero(legal[np.arange(len(rows)), actions] == 0)
            if len(wrong):
                b = wrong[0]
                raise ValueError(f"playing module {self.name!r} chose illegal action {actions[b]} at table {rows[b]}")
            _play(waiting, actions)
            tables[rows] = waiting


def check_player(player: Any) -> None:
    """ValueError unless ``player`` is a name of ``PLAYERS``, a module, or a policy; imports none of them."""
    if isinstance(player, str):
        if player not in PLAYERS:
            raise ValueError(f"unknown player {player!r}; choose from {', '.join(PLAYERS)}")
    elif not isinstance(player, PlayingModule) and not callable(getattr(player, "act", None)):
        raise ValueError(f"not a playing module: {player!r} (expected a name, an object with finish(), or a policy)")


def playing_module(player: str | PlayingModule | Callable[..., Any] | Any) -> PlayingModule:
    """The module that ``player`` means, as in ``check_player``."""
    check_player(player)
    if isinstance(player, str):
        module, name = PLAYERS[player].split(":")
        found: PlayingModule = getattr(import_module(module), name)
        return found
    return player if isinstance(player, PlayingModule) else PolicyPlayer(player)

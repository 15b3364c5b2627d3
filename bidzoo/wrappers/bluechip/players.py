"""Policies at a table of this protocol: what they see, how they act, who plays the cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.knowledge import view_row
from bidzoo.envs.bridge.state import PLAY, VIEW
from bidzoo.kernels import I8, I64, Table, Tables, allocate
from bidzoo.streams import Streams

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


@runtime_checkable
class Discloses(Protocol):
    """A policy that alerts."""

    def alert(self, view: Tables, call: int) -> str | None:
        """What ``call`` from ``view`` ``[1]`` tells, for the opponents; None: no alert."""
        ...


class Pair:
    """Two policies as one: ``bidder`` sees auctions (38 actions), ``player`` the play (90)."""

    def __init__(self, bidder: Policy, player: Policy) -> None:
        self.bidder, self.player = bidder, player
        self.name = bidder.name

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``, each of the one whose part it is."""
        actions = np.empty(len(views), np.int64)
        playing = views["phase"] == PLAY
        for rows, policy, width in (
            (np.flatnonzero(~playing), self.bidder, NUM_CALLS),
            (np.flatnonzero(playing), self.player, legal.shape[1]),
        ):
            if len(rows):
                actions[rows] = policy.act(views[rows], np.ascontiguousarray(legal[rows, :width]), rng[rows])
        return actions

    def alert(self, view: Tables, call: int) -> str | None:
        """What the bidder says."""
        return self.bidder.alert(view, call) if isinstance(self.bidder, Discloses) else None


def choose(policy: Policy, table: Table, legal: I8, seed: int) -> tuple[int, str | None]:
    """The action of ``policy`` whose turn it is at ``table``, and its alert.

    Its random numbers are those of ``(seed, board, turn)``, as in every other match.

    Raises:
        ValueError: the action is not in ``legal`` ``[A]``.
    """
    view = allocate(VIEW, 1)
    view_row(table, int(table["turn"]), view[0])
    clock = int(table["length"]) + int(table["plays"])
    rng = Streams.at(seed, np.array([table["board"]], np.int64), clock)
    action = int(policy.act(view, legal[None].copy(), rng)[0])
    if not (0 <= action < len(legal) and legal[action]):
        raise ValueError(f"policy {policy.name!r} chose {action}, expected one of {np.flatnonzero(legal).tolist()}")
    calls = table["phase"] != PLAY and isinstance(policy, Discloses)
    return action, policy.alert(view, action) if calls and isinstance(policy, Discloses) else None

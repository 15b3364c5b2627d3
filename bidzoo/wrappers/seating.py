"""Who plays which seat: gathers all tables that wait for one policy and asks it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bidzoo.envs.game import Game
from bidzoo.kernels import I64, Bool
from bidzoo.streams import Streams
from bidzoo.wrappers.batch import Batch

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


class Seating:
    """``policies[p]`` acts for player ``p``; None leaves that player to the caller.

    A policy's random numbers are addressed by ``(seed, board, turn)``, so its actions do not depend on the batch.
    """

    def __init__(self, policies: Sequence[Policy | None], seed: int = 0) -> None:
        self.policies, self.seed = tuple(policies), seed
        self._groups: list[tuple[Policy, list[int]]] = []
        for player, policy in enumerate(self.policies):
            if policy is None:
                continue
            for known, players in self._groups:
                if known is policy:
                    players.append(player)
                    break
            else:
                self._groups.append((policy, [player]))

    def choose(self, batch: Batch, waiting: Bool | None = None) -> I64:
        """Actions ``[B]``: of the policy whose turn it is, -1 where the caller plays or the table is over.

        ``waiting`` ``[B]`` restricts it to some tables.
        """
        actions = np.full(batch.num_envs, -1, np.int64)
        can_act = batch.action_mask.any(axis=1)
        if waiting is not None:
            can_act &= waiting
        for policy, players in self._groups:
            rows = np.flatnonzero(can_act & np.isin(batch.player, players))
            if len(rows):
                clock = batch.game.clock(batch.tables[rows])
                rng = Streams.at(self.seed, batch.boards[rows], clock)
                actions[rows] = _asked(policy, batch, rows, rng)
        return actions


def _asked(policy: Policy, batch: Batch, rows: I64, rng: Streams) -> I64:
    """What ``policy`` does at ``rows``; ValueError unless it reads the game's views and gives an integer a row."""
    try:
        chosen = np.asarray(policy.act(batch.views(rows), batch.action_mask[rows], rng))
    except KeyError as problem:
        raise ValueError(f"{policy.name} does not play {batch.game}: its views have no field {problem}") from problem
    if chosen.shape != rows.shape or chosen.dtype.kind not in "iu":
        got = f"{chosen.dtype} {list(chosen.shape)}"
        raise ValueError(f"{policy.name}: act() gave {got}, expected one integer a row, [{len(rows)}]")
    return chosen


def check_seats(game: Game, policies: Sequence[Policy | None], learner: int) -> None:
    """ValueError unless every player but ``learner`` has a policy."""
    if not isinstance(learner, int | np.integer) or not 0 <= learner < game.num_players:
        raise ValueError(f"learner must be 0 ... {game.num_players - 1} in {game.id}, got {learner!r}")
    if len(policies) != game.num_players:
        raise ValueError(f"{game.id} has {game.num_players} players, got {len(policies)} policies")
    for player, policy in enumerate(policies):
        if policy is None and player != learner:
            raise ValueError(f"player_{player} has no policy")

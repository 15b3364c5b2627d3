"""One learner as a plain Gymnasium environment; the other seats are policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bidzoo.envs.game import Game
from bidzoo.kernels import I8, Bool
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.seating import Seating, check_seats

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


class SingleAgent(gymnasium.Env[I8, Any]):
    """One table at which player ``learner`` is ours and ``policies`` hold the other seats.

    Observations int8 ``[F]``; the reward is the learner's, at the end. ``infos["action_mask"]`` int8 ``[A]`` and
    ``action_masks()`` (what sb3-contrib's MaskablePPO asks for) say what is legal; an illegal action ends the
    episode with the lowest reward of the game. ``reset(seed)`` starts at board 0 of that seed, each further
    ``reset()`` takes the next board; ``options`` are the AEC environment's. A board whose auction ends before
    the learner's first turn is passed over.
    """

    metadata = {"render_modes": ["ansi", "svg", "rgb_array", "human"], "render_fps": 2}

    def __init__(
        self, game: Game, policies: Sequence[Policy | None], learner: int = 0, render_mode: str | None = None
    ) -> None:
        check_seats(game, policies, learner)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"unknown render_mode {render_mode!r}; choose from {self.metadata['render_modes']}")
        self.game, self.learner, self.render_mode = game, learner, render_mode
        self._policies = [None if p == learner else policy for p, policy in enumerate(policies)]
        self._batch = Batch(game, 1, autoreset=False)
        self.observation_space = spaces.Box(0, 1, (game.encoder.layout.size,), np.int8)
        self.action_space = spaces.Discrete(game.num_actions)
        self._seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        self._board, self._over = -1, True
        self._seating = Seating(self._policies, self._seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[I8, dict[str, Any]]:
        """First observation ``[F]`` of the next board and ``{"action_mask": int8 [A]}``."""
        super().reset(seed=seed)
        fixed = dict(self.game.options(options or {}))
        if seed is not None:
            self._seed, self._board = int(seed), -1
            self._seating = Seating(self._policies, self._seed)
        self._board = int(fixed.pop("board", self._board + 1))
        batch = self._batch
        batch.reset(self._seed, np.array([self._board]))
        if fixed:
            self.game.fix(batch.tables, fixed, batch.buffers)
        self._play_others()
        while batch.terminated[0]:
            self._board += 1
            batch.reset(self._seed, np.array([self._board]))
            self._play_others()
        self._over = False
        return batch.observation[0].copy(), self._info()

    def step(self, action: int) -> tuple[I8, float, bool, bool, dict[str, Any]]:
        """The learner's ``action``, then everybody else's until its next turn or the end."""
        if self._over:
            raise ValueError("the episode is over: call reset()")
        batch = self._batch
        if not 0 <= action < self.game.num_actions or not batch.action_mask[0, action]:
            self._over = True
            batch.action_mask[:] = 0
            return batch.observation[0].copy(), float(self.game.reward_range[0]), True, False, self._info()
        self.game.step_one(batch.tables, int(action), batch.buffers)
        self._play_others()
        if not batch.terminated[0]:
            return batch.observation[0].copy(), 0.0, False, False, self._info()
        self._over = True
        final = np.empty_like(batch.observation[0])
        self.game.observe(batch.tables, 0, self.learner, final)
        return final, float(batch.reward[0, self.learner]), True, False, self._info()

    def action_masks(self) -> Bool:
        """Legal actions of the learner ``[A]``."""
        return self._batch.action_mask[0].astype(np.bool_)

    def _play_others(self) -> None:
        batch = self._batch
        while not batch.terminated[0] and batch.player[0] != self.learner:
            self.game.step_one(batch.tables, int(self._seating.choose(batch)[0]), batch.buffers)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._batch.action_mask[0].copy()}

    def render(self) -> Any:
        """The whole table as ``render_mode`` says (see ``Game.render``)."""
        return self.game.render(self._batch.tables[0], self.render_mode)

"""One learner at many tables as a Gymnasium ``VectorEnv``; the other seats are policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bidzoo.envs.game import Game
from bidzoo.kernels import F64, I8, I64, Bool
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.seating import Seating, check_seats

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


class SingleAgentVector(VectorEnv[Any, Any, Any]):
    """``num_envs`` tables at which player ``learner`` is ours and ``policies`` hold the other seats.

    Observations int8 ``[B, F]``; rewards float64 ``[B]`` of the learner, at the end of an episode. Masks are in
    ``infos["action_mask"]`` int8 ``[B, A]`` and ``action_masks()``. Autoreset is SAME_STEP: the step that ends
    an episode returns the next one's first observation and puts the last into ``infos["final_obs"]``.
    An illegal action ends the episode with the lowest reward of the game. Table ``b`` plays boards ``b``,
    ``b + num_envs`` ... A board whose auction ends before the learner's first turn is passed over.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["ansi"]}

    def __init__(
        self,
        game: Game,
        num_envs: int,
        policies: Sequence[Policy | None],
        learner: int = 0,
        render_mode: str | None = None,
    ) -> None:
        check_seats(game, policies, learner)
        self.game, self.learner, self.num_envs, self.render_mode = game, learner, num_envs, render_mode
        self._policies = [None if p == learner else policy for p, policy in enumerate(policies)]
        self.batch = Batch(game, num_envs, autoreset=False)
        self.single_observation_space = spaces.Box(0, 1, (game.encoder.layout.size,), np.int8)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[I8, dict[str, Any]]:
        """Deal boards 0 ... B - 1 of ``seed`` (one int; a list seeds by its first entry)."""
        first = seed[0] if isinstance(seed, list) else seed
        if first is not None:
            self._seed = int(first)
        super().reset(seed=self._seed)
        self._seating = Seating(self._policies, self._seed)
        self.batch.reset(self._seed)
        self._play_others(np.ones(self.num_envs, np.bool_))
        return self.batch.observation.copy(), self._infos()

    def action_masks(self) -> Bool:
        """Legal actions of the learner ``[B, A]`` (what sb3-contrib asks for)."""
        return self.batch.action_mask.astype(np.bool_)

    def state(self) -> I8:
        """Global states ``[B, S]``: all hands, also those the learner does not see (see ``Batch.state``)."""
        return self.batch.state()

    def step(self, actions: I64) -> tuple[I8, F64, Bool, Bool, dict[str, Any]]:
        """The learner's ``actions`` ``[B]``, then everybody else's until it is its turn again."""
        chosen = np.asarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions must have shape ({self.num_envs},), got {chosen.shape}")
        inside = (chosen >= 0) & (chosen < self.game.num_actions)
        rows = np.arange(self.num_envs)
        illegal = ~inside | (self.batch.action_mask[rows, np.where(inside, chosen, 0)] == 0)
        reward = np.where(illegal, self.game.reward_range[0], 0.0)
        ended = illegal.copy()
        final = self.batch.observation.copy()
        todo = np.where(illegal, -1, chosen)
        while (todo >= 0).any():
            self.batch.step(todo)
            over = self.batch.terminated & (todo >= 0)
            reward[over] = self.batch.reward[over, self.learner]
            ended |= over
            todo = self._seating.choose(self.batch, ~ended & (self.batch.player != self.learner))
        infos: dict[str, Any] = {}
        if ended.any():
            last = np.full(self.num_envs, None)  # of objects, as Gymnasium's own vectors have it
            for b in np.flatnonzero(ended):
                if not illegal[b]:
                    self.game.observe(self.batch.tables, int(b), self.learner, final[b])
                last[b] = final[b]
            self._redeal(ended)
            infos["final_obs"] = last
            infos["_final_obs"] = ended.copy()
            infos["final_info"] = {"action_mask": np.zeros_like(self.batch.action_mask), "_action_mask": ended.copy()}
            infos["_final_info"] = ended.copy()
        infos |= self._infos()
        return self.batch.observation.copy(), reward, ended, np.zeros(self.num_envs, np.bool_), infos

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.batch.action_mask.copy(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _redeal(self, rows: Bool) -> None:
        self.game.begin(
            self.batch.tables, self.batch.boards + self.num_envs * rows, self._seed, self.batch.buffers, rows
        )
        self._play_others(rows)

    def _play_others(self, rows: Bool) -> None:
        """Bring each of ``rows`` to the learner's turn, dealing on where a board ends before it."""
        waiting = rows & (self.batch.player != self.learner)
        while waiting.any():
            todo = self._seating.choose(self.batch, waiting)
            self.batch.step(todo)
            over = self.batch.terminated & (todo >= 0)
            if over.any():
                boards = self.batch.boards + self.num_envs * over
                self.game.begin(self.batch.tables, boards, self._seed, self.batch.buffers, over)
            waiting = rows & (self.batch.player != self.learner)

    def render(self) -> tuple[str, ...] | None:
        """Every table as text if ``render_mode="ansi"``."""
        if self.render_mode != "ansi":
            return None
        return tuple(self.game.text(table) for table in self.batch.tables)

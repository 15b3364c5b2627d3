"""Many tables of one game in step: the batched engine."""

import numpy as np

from bidzoo.envs.game import Game
from bidzoo.kernels import F32, I8, I64, Bool, Tables, row
from bidzoo.streams import checked_seed


@row
def _first_illegal(mask: I8, actions: I64) -> int:
    """First row whose action is neither -1 nor legal, or -1."""
    for b in range(len(actions)):
        action = actions[b]
        if action != -1 and (action < 0 or action >= mask.shape[1] or mask[b, action] == 0):
            return b
    return -1


class Batch:
    """``num_envs`` tables that each take one action a step; a finished table is dealt its next board at once.

    Table ``b`` plays boards ``b``, ``b + num_envs``, ``b + 2 * num_envs`` ... of the seed, so a board is the
    same deal, and the same actions give the same result, whatever the batch size and thread count.

    The arrays are allocated once and rewritten by every step (``torch.from_numpy`` on them copies nothing):

    - ``player`` int8 ``[B]``: who acts next
    - ``observation`` int8 ``[B, F]`` of that player
    - ``action_mask`` int8 ``[B, A]``: 1 = legal
    - ``reward`` float32 ``[B, P]``: of the episode that ended in this step, else 0
    - ``terminated`` bool ``[B]``: an episode ended in this step (the other arrays already show the next one)
    """

    def __init__(self, game: Game, num_envs: int, autoreset: bool = True) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        self.game, self.num_envs = game, num_envs
        self.seed = 0
        self.tables: Tables = game.new(num_envs)
        self.buffers = game.buffers(num_envs)
        self._stride = num_envs if autoreset else 0
        self._ready = False

    def __repr__(self) -> str:
        return f"<Batch of {self.num_envs} tables of {self.game}>"

    @property
    def player(self) -> I8:
        """Player to act ``[B]``."""
        return self.buffers.player

    @property
    def observation(self) -> I8:
        """Observation ``[B, F]`` of the player to act."""
        return self.buffers.observation

    @property
    def action_mask(self) -> I8:
        """Legal actions ``[B, A]``; all 0 at a finished table that is not dealt again."""
        return self.buffers.mask

    @property
    def reward(self) -> F32:
        """Rewards ``[B, P]`` of episodes that ended in the last step."""
        return self.buffers.reward

    @property
    def terminated(self) -> Bool:
        """Tables ``[B]`` whose episode ended in the last step."""
        return self.buffers.over

    @property
    def boards(self) -> I64:
        """Board number at each table ``[B]``."""
        numbers: I64 = self.tables["board"].astype(np.int64)
        return numbers

    def reset(self, seed: int = 0, boards: I64 | None = None) -> None:
        """Deal ``boards`` ``[B]`` (default 0 ... B - 1) of ``seed``."""
        numbers = np.arange(self.num_envs) if boards is None else np.asarray(boards)
        if numbers.shape != (self.num_envs,):
            raise ValueError(f"boards must have shape ({self.num_envs},), got {numbers.shape}")
        self.seed = checked_seed(seed)
        self.game.begin(self.tables, np.ascontiguousarray(numbers, np.int64), self.seed, self.buffers)
        self._ready = True

    def step(self, actions: I64) -> None:
        """Take ``actions`` ``[B]``; -1 leaves a table as it is. Illegal actions raise before anything changes."""
        if not self._ready:
            raise ValueError("call reset() before step()")
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise ValueError(f"actions must be integers, got {chosen.dtype}")
        chosen = np.ascontiguousarray(chosen, np.int64)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions must have shape ({self.num_envs},), got {chosen.shape}")
        b = _first_illegal(self.buffers.mask, chosen)
        if b >= 0 and not self.buffers.mask[b].any():
            raise ValueError(f"table {b} (board {self.boards[b]}) is finished: give it -1, or reset()")
        if b >= 0:
            raise ValueError(
                f"illegal action {chosen[b]} at table {b} (board {self.boards[b]}) by player_{self.player[b]}; "
                f"legal: {np.flatnonzero(self.buffers.mask[b]).tolist()}"
            )
        self.game.step(self.tables, chosen, self.seed, self.buffers, self._stride)

    def state(self) -> I8:
        """Global states ``[B, S]`` for centralised critics (see ``Game.state_encoder``), freshly allocated.

        Like the other arrays they already show the next episode where one ended.
        """
        if not self._ready:
            raise ValueError("call reset() before state()")
        return self.game.state_encoder(self.tables)

    def views(self, rows: I64 | None = None) -> Tables:
        """Views of the players to act, at all tables or at ``rows``."""
        if rows is None:
            return self.game.view_of(self.tables, self.player.astype(np.int64))
        return self.game.view_of(self.tables[rows], self.player[rows].astype(np.int64))

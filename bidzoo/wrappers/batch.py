"""Many tables of one game in step: the batched engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bidzoo.agents.policy import Uniform
from bidzoo.core.bits import packed_size
from bidzoo.core.kernels import F32, I8, I64, Bool, States, row
from bidzoo.core.options import truth, whole
from bidzoo.core.streams import Streams, checked_seed
from bidzoo.envs.asking import asking
from bidzoo.envs.game import LAST_BOARD, Bits, Game, Moves, first_illegal, legal_actions, no_legal_action

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


@row
def _find_legal(mask: I8, player: I8, out: Bool) -> int:
    """Tables with a legal action into ``out`` ``[B]``; the first one whose player to act has none, or -1."""
    stuck = -1
    for b in range(len(mask)):
        action = 0
        while action < mask.shape[1] and mask[b, action] == 0:
            action += 1
        out[b] = action < mask.shape[1]
        if not out[b] and player[b] >= 0 and stuck < 0:
            stuck = b
    return stuck


BoardNumbers = I64 | Sequence[int]  # numbers [N]


def board_numbers(boards: BoardNumbers) -> I64:
    """``boards`` as int64 ``[N]``; ValueError unless they are a list of numbers from 0."""
    numbers = np.asarray(boards)
    if numbers.ndim != 1:
        raise ValueError(f"boards {boards!r}: expected a list of board numbers; the first ten are np.arange(10)")
    if len(numbers) and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() > LAST_BOARD):
        first = f" from {numbers.min()}" if numbers.dtype.kind in "iuf" else ""
        raise ValueError(f"boards: {numbers.dtype}{first}, expected integers from 0 to {LAST_BOARD}")
    return np.ascontiguousarray(numbers, np.int64)


class Batch:
    """``num_envs`` tables that each take one action a step; a finished table is dealt its next board immediately.

    Table ``b`` plays boards ``b``, ``b + num_envs``, ``b + 2 * num_envs`` ... of the seed, so a board is the
    same deal, and the same actions give the same result, whatever the batch size and thread count.

    The arrays are allocated once and rewritten by every step (``torch.from_numpy`` on them copies nothing):

    - ``player`` int8 ``[B]``: who acts next
    - ``observation`` int8 ``[B, F]`` of that player
    - ``action_mask`` int8 ``[B, A]``: 1 = legal; all 0 at a finished table that is not dealt again
    - ``reward`` float32 ``[B, P]``: of the episode that ended in this step, else 0
    - ``terminated`` bool ``[B]``: an episode ended in this step (the other arrays already show the next one)

    Copy what is kept for longer than a step, and what JAX is given (``batch.observation.copy()``): it may read an array
    after the call has returned.

    What is written into them changes no rule: ``player`` and ``action_mask`` are copies of ``buffers``, which the
    engine believes, and every step writes them again.

    The caller plays every seat, so this is not a ``VectorEnv`` of Gymnasium: a learner among other policies has
    ``gymnasium.make_vec``. ``reset`` and ``step`` return the arrays as a ``VectorEnv`` does. torch takes ``player`` as
    an index after ``.long()``.

    With ``packed`` ``observation`` is uint8 ``[B, ceil(F / 8)]``: entry ``8 * n + k`` is bit ``k`` of byte ``n``. That
    is an eighth of the memory, and of what goes to a GPU. NumPy unpacks it, or torch where it is::

        np.unpackbits(batch.observation, axis=1, count=F, bitorder="little")
        (packed[:, :, None] >> torch.arange(8, device=packed.device) & 1).flatten(1)[:, :F]

    Raises:
        ValueError: ``packed``, and the encoder does not say (``Encoder.bits``) that its entries are 0 or 1.
    """

    def __init__(self, game: Game, num_envs: int, autoreset: bool = True, packed: bool = False) -> None:
        self.game, self.num_envs = game, whole("num_envs", num_envs, 1, 2**31 - 1)
        self.num_agents, size = game.num_players, game.encoder.layout.size
        self.packed = truth("packed", packed)
        if self.packed and not game.encoder.bits:
            raise ValueError(
                f"packed: encoder {game.encoder.name!r} does not say that every entry is 0 or 1;"
                " if it is, make it with Encoder(..., bits=True)"
            )
        self.single_observation_space = (
            spaces.Box(0, 255, (packed_size(size),), np.uint8) if self.packed else spaces.Box(0, 1, (size,), np.int8)
        )
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.seed = 0
        self.states: States = game.new(num_envs)
        self.buffers = game.buffers(num_envs)
        self.observation: I8 = self.buffers.observation
        self.reward, self.terminated = self.buffers.reward, self.buffers.over
        if self.packed:
            bits: Any = np.zeros((num_envs, packed_size(size)), np.uint8)  # declared as what most batches have
            self.observation = bits
        self.player, self.action_mask = self.buffers.player.copy(), self.buffers.mask.copy()
        self._stride = num_envs if autoreset else 0
        self.ready = False

    @cached_property
    def moves(self) -> Moves:
        """``Game.moves`` of these tables."""
        if self.packed:
            return self.game.packed_moves(self.states, self.buffers, Bits.of(self.observation.view(np.uint8)))
        return self.game.moves(self.states, self.buffers)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "moves"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: _writable(value) for name, value in state.items()})
        self.buffers = type(self.buffers)(*map(_writable, self.buffers))
        self.reward, self.terminated = self.buffers.reward, self.buffers.over
        self.observation = self.observation if self.packed else self.buffers.observation

    def __repr__(self) -> str:
        return f"<Batch of {self.num_envs} tables of {self.game}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the types and shapes of its arrays."""
        names = ("player", "observation", "action_mask", "reward", "terminated")
        arrays = {name: getattr(self, name) for name in names}
        rows = "".join(f"<tr><td>{name}</td><td>{a.dtype} {list(a.shape)}</td></tr>" for name, a in arrays.items())
        return f"<p>{escape(repr(self))}</p>\n<table>{rows}</table>"

    @property
    def boards(self) -> I64:
        """Board number at each table ``[B]``."""
        numbers: I64 = self.states["board"].astype(np.int64)
        return numbers

    def reset(self, seed: int | None = None, boards: BoardNumbers | None = None) -> tuple[I8, dict[str, I8]]:
        """Deal ``boards`` ``[B]`` (default 0 ... B - 1) of ``seed``; None is 0.

        Returns:
            ``observation`` and ``{"action_mask": ..., "player": ...}``.
        """
        numbers = board_numbers(np.arange(self.num_envs) if boards is None else boards)
        self._check_shape("boards", numbers)
        self.seed = 0 if seed is None else checked_seed(seed)
        self.ready = False
        self.moves.begin.run(numbers, self.seed, np.ones(self.num_envs, np.bool_))
        self.show()
        self.ready = True
        return self.observation, {"action_mask": self.action_mask, "player": self.player}

    def show(self) -> None:
        """Bring ``player`` and ``action_mask`` up to date after ``moves``."""
        self.player[:] = self.buffers.player
        self.action_mask[:] = self.buffers.mask

    def step(self, actions: I64) -> tuple[I8, F32, Bool, Bool, dict[str, I8]]:
        """Take ``actions`` ``[B]``; -1 leaves a table as it is. Illegal actions raise before anything changes.

        After Ctrl-C in the middle of a step some tables may have taken it and others not: ``reset`` is asked for.

        Returns:
            ``observation``, ``reward`` of all players, ``terminated``, truncated (never), and what ``reset`` gives.
        """
        self.need_reset("step")
        checked = self.read_actions(actions)
        mask = self.buffers.mask
        b = first_illegal(mask, checked, True)
        if b >= 0 and not mask[b].any():
            self.need_legal()
            raise ValueError(f"table {b} (board {self.boards[b]}) is finished: give it -1, or reset()")
        if b >= 0:
            raise ValueError(
                f"illegal action {checked[b]} at table {b} (board {self.boards[b]}) "
                f"by player_{self.buffers.player[b]}; legal: {np.flatnonzero(mask[b]).tolist()}"
            )
        self.ready = False  # until all of it is done
        self.moves.step.run(checked, self.seed, self._stride)
        self.show()
        self.ready = True
        info = {"action_mask": self.action_mask, "player": self.player}
        return self.observation, self.reward, self.terminated, np.zeros(self.num_envs, np.bool_), info

    def close(self) -> None:
        """Nothing to release."""

    def read_actions(self, actions: Any) -> I64:
        """``actions`` as int64 ``[B]``; ValueError unless they are one integer a table."""
        checked = np.asarray(actions)
        if checked.dtype.kind not in "iu":
            raise ValueError(f"actions must be integers, got {checked.dtype}")
        self._check_shape("actions", checked)
        if checked.dtype == np.uint64 and (large := checked[checked > LAST_BOARD]).size:
            raise ValueError(f"action {large[0]}: expected 0 ... {self.game.num_actions - 1}, or -1 for none")
        return np.ascontiguousarray(checked, np.int64)

    def need_legal(self) -> Bool:
        """Tables ``[B]`` with a legal action; ValueError if a player is to act who has none."""
        can_act = np.empty(self.num_envs, np.bool_)
        b = _find_legal(self.buffers.mask, self.buffers.player, can_act)
        if b >= 0:
            raise no_legal_action(self.game, self.buffers.player[b], b, self.boards[b])
        return can_act

    def _check_shape(self, name: str, numbers: NDArray[Any]) -> None:
        if numbers.shape != (self.num_envs,):
            raise ValueError(f"{name} must have shape ({self.num_envs},), got {numbers.shape}")

    def need_reset(self, method: str) -> None:
        """ValueError before the first ``reset``, and after a step that was not finished."""
        if not self.ready:
            raise ValueError(f"call reset() before {method}()")

    def state(self) -> I8:
        """Global states ``[B, S]`` for centralised critics (see ``Game.state_encoder``), freshly allocated.

        Like the other arrays they already show the next episode where one ended.
        """
        self.need_reset("state")
        return self.game.state_encoder(self.states)

    def views(self, rows: I64 | None = None) -> States:
        """Views of the players to act, at all tables or at ``rows``."""
        self.need_reset("views")
        states, players = self.states, self.buffers.player
        if rows is not None:
            states, players = states[rows], players[rows]
        return self.game.view_of(states, players.astype(np.int64))


def _writable(value: Any) -> Any:
    """A copy of an array that can only be read: joblib maps the large ones that its workers get."""
    return np.array(value) if isinstance(value, np.ndarray) and not value.flags.writeable else value


# ---- who plays which seat: all tables that wait for one policy ask it at once -----------------------


class Seating:
    """``policies[p]`` acts for player ``p``; None leaves that player to the caller.

    A policy's random numbers are addressed by ``(seed, board, turn)``, so its actions do not depend on the batch.
    """

    def __init__(self, policies: Sequence[Policy | None], seed: int = 0) -> None:
        self.policies, self.seed = tuple(policies), seed
        self._distinct = [*{id(policy): policy for policy in self.policies if policy is not None}.values()]
        numbers = {id(policy): number for number, policy in enumerate(self._distinct)}
        # of each player's policy; the last entry is that of nobody, player -1
        self._numbers = np.array([*(numbers.get(id(policy), -1) for policy in self.policies), -1], np.int8)

    def choose(self, batch: Batch, waiting: Bool | None = None) -> I64:
        """Actions ``[B]``: of the policy whose turn it is, -1 where the caller plays or the table is over.

        ``waiting`` ``[B]`` restricts it to some tables.
        """
        actions = np.full(batch.num_envs, -1, np.int64)
        can_act = batch.need_legal()
        if waiting is not None:
            can_act &= waiting
        numbers = np.where(can_act, self._numbers[batch.buffers.player], np.int8(-1))
        for number, policy in enumerate(self._distinct):
            rows = np.flatnonzero(numbers == number)
            if len(rows):
                actions[rows] = self._ask(policy, batch, rows)
        return actions

    def _ask(self, policy: Policy, batch: Batch, rows: I64) -> I64:
        """Actions of ``policy`` at ``rows``; ValueError unless it reads the game's views and gives legal actions."""
        states = batch.states if len(rows) == batch.num_envs else batch.states[rows]
        boards, clock, legal = states["board"].astype(np.int64), batch.game.clock(states), batch.buffers.mask[rows]
        views = batch.game.view_of(states, batch.buffers.player[rows])
        with asking(policy.name, batch.game, boards, clock):
            answer = policy.act(views, legal, Streams.at(self.seed, boards, clock))
        return legal_actions(policy.name, answer, batch.buffers.mask[rows], boards)  # it may have written into its copy


def random_seats(game: Game, policies: Sequence[Policy | None]) -> int:
    """The set of players whom the kernels of ``game`` can play: those of the agent ``random``."""
    return sum(1 << player for player, policy in enumerate(policies) if type(policy) is Uniform) * game.plays_random

"""One learner in Gymnasium, at one table or at many in step (``VectorEnv``); the other seats are policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bidzoo import agents, registry
from bidzoo.agents.policy import Pool
from bidzoo.core.kernels import F32, F64, I8, I64, Bool, row
from bidzoo.core.options import check_value, choose_from
from bidzoo.core.streams import checked_seed, reset_seed
from bidzoo.envs.asking import ask_one
from bidzoo.envs.bridge.bidder import SYSTEMS
from bidzoo.envs.game import PASSED_OVER, Buffers, Game, Table, action_index, is_legal_row, never_asked
from bidzoo.envs.render import FPS, MODES, Screen, checked_mode, table_html, warn_of_no_mode
from bidzoo.registry import make_game
from bidzoo.wrappers.batch import Batch, Seating, random_seats

if TYPE_CHECKING:
    from bidzoo.agents.policy import Agent, Policy

MaskIn = Literal["info", "observation"]


class Partners(Pool):
    """Partners of whom every board draws one, by the seed of the environment.

    The draw follows from seed and board, as all others do, so a board has the same partner in any batch.

    Args:
        members: the partners.
        told: what the observation ends with: nothing; who the partner is, one-hot; or its convention card, the bidding
            system it declares (``system``), one-hot among ``bidder.SYSTEMS`` and all 0 where it declares none.
    """

    name = "partners"

    def __init__(self, members: Sequence[Policy], told: str = "none") -> None:
        super().__init__(members)
        systems = [getattr(member, "system", None) for member in self.members]
        shown = {
            "none": np.empty((len(members), 0)),
            "name": np.eye(len(members)),
            "card": np.array([[system == each for each in SYSTEMS] for system in systems]),
        }
        if told not in shown:
            raise ValueError(f"partner_told {told!r}; {choose_from(told, shown)}")
        self.told = shown[told].astype(np.int8)  # [members, entries]

    def names(self, boards: I64) -> list[str]:
        """Who is the partner on each of ``boards`` ``[B]``."""
        return [self.members[number].name for number in self.sampled(boards)]

    def shown(self, observation: I8, boards: I64) -> I8:
        """``observation`` ``[B, F]``, followed by what is told of the partner."""
        return np.concatenate([observation, self.told[self.sampled(boards)]], axis=1)


def _resolved(game: Game, learner: int, policies: Sequence[Agent | None]) -> list[Policy | None]:
    """Policies ``[P]`` of all players but ``learner``, from whatever ``agents.resolve`` takes.

    Raises:
        ValueError: not one for every other player, or one that does not play ``game``.
        TypeError: no sequence, or one of them is no agent.
    """
    if isinstance(policies, str) or not isinstance(policies, Sequence):
        raise TypeError(f"policies {policies!r}: expected a list of one for each player (the learner's is not read)")
    if len(policies) != game.num_players:
        raise ValueError(f"{game.id} has {game.num_players} players, got {len(policies)} policies")
    for player, policy in enumerate(policies):
        if policy is None and player != learner:
            raise ValueError(f"{game.place_text(player)} has no policy")
    seats = enumerate(policies)
    return [None if p == learner or policy is None else agents.resolve(policy, game) for p, policy in seats]


def _own_partners(policies: Sequence[Policy | None]) -> list[Policy | None]:
    """``policies``, with partners that no other environment gives its seed."""
    return [copy(policy) if isinstance(policy, Partners) else policy for policy in policies]


def _partners_of(policies: Sequence[Policy | None]) -> Partners | None:
    return next((policy for policy in policies if isinstance(policy, Partners)), None)


def _ends_before(game: Game, learner: int, fixed: Iterable[str]) -> ValueError:
    """The error for options of a position from which nobody asks the learner."""
    place = game.place_text(learner)
    return ValueError(f"{game}: with these options ({', '.join(fixed)}) the board ends before {place} is to act")


def _width(game: Game, partners: Partners | None) -> int:
    return game.encoder.layout.size + (0 if partners is None else partners.told.shape[1])


def _with_partner(partners: Partners | None, observation: I8, boards: I64) -> I8:
    return observation.copy() if partners is None else partners.shown(observation, boards)


def _observation_space(game: Game, partners: Partners | None, mask_in: MaskIn) -> spaces.Space[Any]:
    observation = spaces.Box(0, 1, (_width(game, partners),), np.int8)
    if mask_in == "info":
        return observation
    return spaces.Dict(observation=observation, action_mask=spaces.Box(0, 1, (game.num_actions,), np.int8))


class SingleAgent(gymnasium.Env[Any, Any]):
    """One table at which player ``learner`` (a number or a seat, ``"South"``) is ours, ``policies`` hold the others.

    Observations int8 ``[F]``; the reward is the learner's, at the end. ``infos["action_mask"]`` int8 ``[A]`` and
    ``action_masks()`` (what sb3-contrib's MaskablePPO asks for) say what is legal; an illegal action ends the
    episode with the lowest reward of the game. ``reset(seed)`` starts at board 0 of that seed, each further
    ``reset()`` takes the next board; ``options`` are the AEC environment's. A board whose auction ends before
    the learner's first turn is passed over, unless ``options`` say what was dealt: there that is an error.

    ``policies`` ``[P]`` are names, policies or functions, one a player; the learner's is not read.

    With ``mask_in="observation"`` observations are ``{"observation": int8 [F], "action_mask": int8 [A]}``, as those of
    ``bidzoo.make``; the mask is in ``infos`` all the same.
    """

    metadata = {"render_modes": [*MODES], "render_fps": FPS}

    def __init__(
        self,
        game: Game,
        policies: Sequence[Agent | None],
        learner: int | str = 0,
        render_mode: str | None = None,
        mask_in: MaskIn = "info",
    ) -> None:
        self.metadata = {**self.metadata, "render_modes": [*self.metadata["render_modes"]]}  # wrappers add to this list
        self.game, self.learner = game, game.player_at(learner)
        self._policies = _own_partners(_resolved(game, self.learner, policies))
        self._random = random_seats(game, self._policies)
        self._partners, self._seed = _partners_of(self._policies), 0
        self.render_mode, self._screen = checked_mode(render_mode), Screen(repr(game))
        self._show(Table(game))
        check_value("mask_in", MaskIn, mask_in)
        self.mask_in = mask_in
        self.observation_space = _observation_space(game, self._partners, mask_in)
        self.action_space = spaces.Discrete(game.num_actions)
        self._name, self._board, self._over = f"player_{self.learner}", -1, True

    def __repr__(self) -> str:
        others = {self.game.place_text(p): each.name for p, each in enumerate(self._policies) if each is not None}
        seats = ", ".join(f"{place} {name}" for place, name in others.items())
        return f"<{self.game}: the learner is {self.game.place_text(self.learner)}; {seats}>"

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows: the whole table, and who plays."""
        if self._board < 0:
            return f"<p>{escape(repr(self))}, before <code>reset()</code></p>"
        about = f"{repr(self)[1:-1]}; seed {self._seed}, board {self._board}"
        return table_html(self.game, self._table.states[0], about + ", over" * self._over)

    def _show(self, table: Table) -> None:
        self._table = table
        self._mask, self._observation = table.out.mask[0], table.out.observation[0]  # views, which no copy keeps
        self._player_to_act = table.out.player.data  # whose numbers are read faster

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name not in ("_mask", "_observation", "_player_to_act")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._show(self._table)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """First observation of the next board and ``{"action_mask": int8 [A]}``.

        Raises:
            ValueError: a bad value, an unknown name, or ``options`` of a position that ends before the learner's turn.
        """
        seed = reset_seed(seed, is_new=self._board < 0)
        super().reset(seed=seed)
        fixed = dict(self.game.options(options)) if options else {}
        if seed is not None:
            self._seed, self._board = seed, -1
        self._board = int(fixed.pop("board", self._board + 1))
        first, self._over = self._board, True  # until all of it is done
        self._begin(fixed)
        while self._table.out.over[0]:
            if fixed:
                raise _ends_before(self.game, self.learner, fixed)
            self._board += 1
            if self._board - first == PASSED_OVER:
                raise never_asked(self.game, [self.learner])
            self._begin({})
        self._over = False
        self._look()
        return self._shown(self._observation), self._info()

    def _begin(self, fixed: dict[str, Any]) -> None:
        if self._partners is not None:
            self._partners.seed = self._seed
        self._table.begin(self._board, self._seed, fixed)
        self._advance(-1)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The learner's ``action``, then everybody else's until its next turn or the end; ValueError if no integer.

        Where a policy raises meanwhile the episode is over: ``reset`` deals the next one.
        """
        if self._over:
            self._need_reset("step")
            raise ValueError("the episode is over: call reset()")
        action_number = action_index(self._name, action, self.game.num_actions, outside=True)
        if not 0 <= action_number < self.game.num_actions or not self._mask[action_number]:
            self._over = True
            self._mask[:] = 0
            return self._shown(self._observation), float(self.game.reward_range[0]), True, False, self._info()
        try:
            self._advance(action_number)
        except BaseException:  # of a policy, or Ctrl-C: another seat is to act
            self._over = True
            self._mask[:] = 0
            raise
        self._look()
        if not self._table.out.over[0]:
            return self._shown(self._observation), 0.0, False, False, self._info()
        self._over = True
        final = self._observation.copy()
        self._table.observe(self.learner, final)
        return self._shown(final), float(self._table.out.reward[0, self.learner]), True, False, self._info()

    def action_masks(self) -> Bool:
        """Legal actions of the learner ``[A]``."""
        self._need_reset("action_masks")
        return self._mask.astype(np.bool_)

    def _advance(self, action: int) -> None:
        """Take the learner's ``action`` (-1 none), then everybody else's until its next turn or the end."""
        table, seats, seed = self._table, self._random, self._seed
        if action >= 0 or seats:
            table.step(action, seed, seats)
        while (player := self._player_to_act[0]) != self.learner and player >= 0:
            table.step(ask_one(self._policies[player], table, seed), seed, seats)

    def _shown(self, observation: I8) -> Any:
        shown = _with_partner(self._partners, observation[None], self._table.states["board"])[0]
        return shown if self.mask_in == "info" else {"observation": shown, "action_mask": self._mask.copy()}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask.copy()}
        if self._partners is not None:
            info["partner"] = self._partners.names(self._table.states["board"])[0]
        return info

    def _need_reset(self, method: str) -> None:
        if self._board < 0:
            raise ValueError(f"call reset() before {method}()")

    def _look(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """The whole table as ``render_mode`` says: text, SVG document, pixels uint8 ``[H, W, 3]``; None if shown.

        ``"human"`` shows it after every ``reset`` and ``step`` (see ``bidzoo.envs.render.Screen``).
        """
        self._need_reset("render")
        if self.render_mode is None:
            warn_of_no_mode()
        if self.render_mode == "human":
            return self._screen.show(self.game, self._table.states)
        return self.game.render(self._table.states[0], self.render_mode)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self._screen.close()


@row
def _judge(actions: I64, mask: I8, lowest: float, reward: F64, ended: Bool, todo: I64) -> None:
    """Rewards ``[B]`` before a step, whether it ends the episode since it is illegal, and the actions to be taken."""
    for b in range(len(actions)):
        ended[b] = not is_legal_row(mask[b], actions[b])
        reward[b] = lowest if ended[b] else 0.0
        todo[b] = -1 if ended[b] else actions[b]


@row
def _settle(player: I8, rewards: F32, over: Bool, learner: int, reward: F64, ended: Bool, waiting: Bool) -> bool:
    """Add the tables that are ``over``; whether any of the others waits for somebody else, and which: ``[B]``."""
    found = False
    for b in range(len(player)):
        if over[b]:
            reward[b] = rewards[b, learner]
            ended[b] = True
        waiting[b] = not ended[b] and player[b] != learner
        found |= waiting[b]
    return found


class SingleAgentVector(VectorEnv[Any, Any, Any]):
    """``num_envs`` tables at which player ``learner`` (a number or a seat) is ours, ``policies`` hold the others.

    Observations int8 ``[B, F]``; rewards float64 ``[B]`` of the learner, at the end of an episode. Masks are in
    ``infos["action_mask"]`` int8 ``[B, A]`` and ``action_masks()``.
    An illegal action ends the episode with the lowest reward of the game. Table ``b`` plays boards ``b``,
    ``b + num_envs`` ... of the seed, one at each autoreset and at each ``reset()`` without a seed: none twice.
    A board whose auction ends before the learner's first turn is passed over. ``policies``, ``mask_in`` and ``options``
    of ``reset`` as of ``SingleAgent``.

    ``autoreset_mode`` is a ``gymnasium.vector.AutoresetMode`` or its value; it stays as an attribute:

    - ``"SameStep"``: the step that ends an episode returns the next one's first observation and puts the last into
      ``infos["final_obs"]``
    - ``"NextStep"``, which Gymnasium's vector wrappers that change observations ask for: the step that ends an
      episode returns its last observation; at that table the next step takes no action, whatever it is given (its mask
      is all ones), and returns the next episode's first observation with reward 0
    - ``"Disabled"``: a table that has ended waits for ``reset(options={"reset_mask": bool [B]})``
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": [*MODES], "render_fps": FPS}

    def __init__(
        self,
        game: Game,
        num_envs: int,
        policies: Sequence[Agent | None],
        learner: int | str = 0,
        render_mode: str | None = None,
        mask_in: MaskIn = "info",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    ) -> None:
        self.game, self.learner, self.num_envs = game, game.player_at(learner), num_envs
        self._seating = Seating(_own_partners(_resolved(game, self.learner, policies)))
        check_value("mask_in", MaskIn, mask_in)
        self.mask_in, self.autoreset_mode = mask_in, _autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "render_modes": [*type(self).metadata["render_modes"]]}
        self.metadata["autoreset_mode"] = self.autoreset_mode
        self._random = random_seats(game, self._seating.policies)
        self._partners = _partners_of(self._seating.policies)
        self.render_mode, self._screen = checked_mode(render_mode), Screen(f"{num_envs} tables of {game!r}")
        self.batch = Batch(game, num_envs, autoreset=False)
        self._ended = np.zeros(num_envs, np.bool_)  # tables that wait for their next board
        self._is_dealt = False
        self.single_observation_space = _observation_space(game, self._partners, mask_in)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal boards 0 ... B - 1 of ``seed``, which all tables share, else the next of each.

        A list is taken as what Gymnasium's own vectors make of one seed ``s``: ``[s, s + 1, ...]``, an entry a table.

        ``options`` are the AEC environment's: ``board`` is the first table's, the others follow it; the rest holds at
        every table, for this board. Where autoreset is disabled, ``reset_mask`` bool ``[B]`` says which tables are
        dealt their next board.

        Raises:
            ValueError: a bad value, an unknown name, a list of other seeds, ``options`` of a position that ends before
                the learner's turn, ``reset_mask`` where tables deal themselves their next board, or beside a seed,
                which is that of all.
        """
        first = self._shared_seed(seed) if isinstance(seed, list) else seed
        chosen = options or {}
        rows = None
        if isinstance(chosen, Mapping) and "reset_mask" in chosen:
            rows = self._reset_rows(chosen["reset_mask"], first)
            chosen = {name: value for name, value in chosen.items() if name != "reset_mask"}
        fixed = dict(self.game.options(chosen))
        first = reset_seed(first, is_new=not self._is_dealt)
        super().reset(seed=first)
        if first is not None:
            self._seating.seed = first
        if self._partners is not None:
            self._partners.seed = self._seating.seed
        with self._whole():
            if rows is not None:
                start = fixed.pop("board", None)
                boards = self.batch.boards + self.num_envs if start is None else start + np.arange(self.num_envs)
                self.batch.moves.begin.run(boards, self.batch.seed, rows)
            else:
                rows = np.ones(self.num_envs, np.bool_)
                goes_on = first is None and self._is_dealt and "board" not in fixed
                start = int(fixed.pop("board", 0))
                boards = self.batch.boards + self.num_envs if goes_on else start + np.arange(self.num_envs)
                self.batch.reset(self._seating.seed, boards)
            if fixed:
                for b in np.flatnonzero(rows).tolist():
                    table = slice(b, b + 1)
                    self.game.fix(
                        self.batch.states[table], fixed, Buffers._make(array[table] for array in self.batch.buffers)
                    )
            self._ended, self._is_dealt = self._ended & ~rows, True
            self._play_others(rows, fixed)
            self.batch.show()
        self._look()
        return self._shown(), self._infos()

    def _shared_seed(self, seeds: list[int | None]) -> int | None:
        """The seed of which ``seeds`` are Gymnasium's list."""
        first = checked_seed(seeds[0]) if seeds and seeds[0] is not None else None
        if seeds != [None if first is None else first + b for b in range(self.num_envs)]:
            raise ValueError(
                f"seed: a list of {len(seeds)}; all tables share one seed, so expected an integer, or the list"
                f" [s, s + 1, ...] of {self.num_envs}; vectorization_mode='sync' gives each table a seed of its own"
            )
        return first

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Where what is done within fails, as where a policy raises, all tables are to be reset."""
        try:
            yield
        except BaseException:
            self.batch.ready = False
            raise

    def _reset_rows(self, mask: Any, seed: int | None) -> Bool:
        """The tables that ``reset_mask`` names."""
        if self.autoreset_mode is not AutoresetMode.DISABLED:
            raise ValueError("option 'reset_mask': tables deal themselves their next board; reset() is for all of them")
        rows = np.asarray(mask)
        if rows.dtype != np.bool_ or rows.shape != (self.num_envs,):
            raise ValueError(f"option 'reset_mask': {rows.dtype} {list(rows.shape)}, expected bool [{self.num_envs}]")
        if seed is not None:
            raise ValueError(f"seed {seed} with option 'reset_mask': a seed is that of all tables; give one of them")
        self.batch.need_reset("reset(options={'reset_mask': ...})")
        return rows

    def action_masks(self) -> Bool:
        """Legal actions of the learner ``[B, A]`` (what sb3-contrib asks for)."""
        self.batch.need_reset("action_masks")
        return self._masks().astype(np.bool_)

    def _masks(self) -> I8:
        """Of tables that have ended: all ones if the next action is not read, zeros if none is taken."""
        masks = self.batch.buffers.mask.copy()
        masks[self._ended] = self.autoreset_mode is AutoresetMode.NEXT_STEP
        return masks

    def _shown(self) -> Any:
        """Observations as they are returned: of tables that have ended, the last of the episode."""
        observation = _with_partner(self._partners, self.batch.observation, self.batch.boards)
        if self._ended.any():
            observation[self._ended] = self._last(np.flatnonzero(self._ended))
        return observation if self.mask_in == "info" else {"observation": observation, "action_mask": self._masks()}

    def _last(self, rows: I64) -> I8:
        """What the learner sees at the end of the episodes of tables ``rows``: int8 ``[R, F]``."""
        final = np.empty((len(rows), self.batch.observation.shape[1]), np.int8)
        self.game.observe(self.batch.states, rows, self.learner, final)
        return final if self._partners is None else self._partners.shown(final, self.batch.boards[rows])

    def state(self) -> I8:
        """Global states ``[B, S]``: all hands, also those the learner does not see (see ``Batch.state``)."""
        return self.batch.state()

    def step(self, actions: I64) -> tuple[Any, F64, Bool, Bool, dict[str, Any]]:
        """The learner's ``actions`` ``[B]``, then everybody else's until it is its turn again.

        Where a policy raises meanwhile all tables are to be reset.
        """
        self.batch.need_reset("step")
        chosen = self.batch.read_actions(actions)
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            b = int(self._ended.argmax())
            raise ValueError(f"the episode of table {b} is over: call reset(options={{'reset_mask': terminated}})")
        with self._whole():
            return self._step(chosen)

    def _step(self, chosen: I64) -> tuple[Any, F64, Bool, Bool, dict[str, Any]]:
        batch, dealt = self.batch, self._deal_ended()
        reward, todo = np.empty(self.num_envs), np.empty(self.num_envs, np.int64)
        ended, waiting = np.empty(self.num_envs, np.bool_), np.empty(self.num_envs, np.bool_)
        _judge(chosen, batch.buffers.mask, self.game.reward_range[0], reward, ended, todo)
        if dealt is not None:  # these tables take no action
            reward[dealt], ended[dealt], todo[dealt] = 0, False, -1
        while True:
            self._take(todo)
            if not _settle(batch.buffers.player, batch.reward, batch.terminated, self.learner, reward, ended, waiting):
                break
            todo = self._seating.choose(batch, waiting)
        infos: dict[str, Any] = {}
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._ended = ended.copy()
        elif ended.any():
            infos |= self._final_infos(ended)
            self._deal_on(ended)
            self._play_others(ended)
        batch.show()
        infos |= self._infos()
        self._look()
        return self._shown(), reward, ended, np.zeros(self.num_envs, np.bool_), infos

    def _deal_ended(self) -> Bool | None:
        """Deal the next board at tables that have ended, as ``NextStep`` asks; which they are, None if none are."""
        if not self._ended.any():
            return None
        dealt = self._ended
        self._deal_on(dealt)
        self._play_others(dealt)
        return dealt

    def _final_infos(self, ended: Bool) -> dict[str, Any]:
        """The last observations of the episodes that have ``ended``, as Gymnasium's own vectors give them."""
        last = np.full(self.num_envs, None)  # of objects
        rows = np.flatnonzero(ended)
        masks = np.zeros_like(self.batch.action_mask)
        for b, observation in zip(rows.tolist(), self._last(rows)):
            last[b] = (
                observation if self.mask_in == "info" else {"observation": observation, "action_mask": masks[b].copy()}
            )
        final_info = {"action_mask": masks, "_action_mask": ended.copy(), **self._partner_infos(ended.copy())}
        return {"final_obs": last, "_final_obs": ended.copy(), "final_info": final_info, "_final_info": ended.copy()}

    def _infos(self) -> dict[str, Any]:
        every = np.ones(self.num_envs, np.bool_)
        return {"action_mask": self._masks(), "_action_mask": every, **self._partner_infos(every)}

    def _partner_infos(self, whose: Bool) -> dict[str, Any]:
        """Names of the partners at the boards of now, if they are told, and the tables ``whose`` they are."""
        if self._partners is None:
            return {}
        return {"partner": np.array(self._partners.names(self.batch.boards), object), "_partner": whose}

    def _take(self, actions: I64) -> None:
        """Take legal ``actions`` ``[B]`` (-1 none), and those of random players after them."""
        if self._random:
            self.batch.moves.step_on.run(actions, self._seating.seed, self._random)
        else:
            self.batch.moves.step.run(actions, self.batch.seed, 0)

    def _deal_on(self, rows: Bool) -> None:
        self.batch.moves.begin.run(self.batch.boards + self.num_envs * rows, self.batch.seed, rows)

    def _play_others(self, rows: Bool, fixed: Iterable[str] = ()) -> None:
        """Bring each of ``rows`` to the learner's turn, dealing on where a board ends before it.

        Where options have ``fixed`` something, another board would not be what was asked for: there it is an error.
        """
        todo, passed = np.full(self.num_envs, -1, np.int64), np.zeros(self.num_envs, np.int64)
        waiting = rows & (self.batch.buffers.player != self.learner)
        while waiting.any():
            self._take(todo)
            if (over := self.batch.terminated & rows).any():
                if fixed:
                    raise _ends_before(self.game, self.learner, fixed)
                passed += over
                if passed.max() == PASSED_OVER:
                    raise never_asked(self.game, [self.learner])
                self._deal_on(over)
            waiting = rows & (self.batch.buffers.player != self.learner)
            todo = self._seating.choose(self.batch, waiting) if waiting.any() else todo
        self.batch.need_legal()

    def _look(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> tuple[Any, ...] | None:
        """Every table as ``SingleAgent.render`` gives one; ``"human"`` shows them side by side."""
        self.batch.need_reset("render")
        if self.render_mode == "human":
            self._screen.show(self.game, self.batch.states)
        if self.render_mode in (None, "human"):
            return None
        return tuple(self.game.render(state, self.render_mode) for state in self.batch.states)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window of ``render_mode="human"``."""
        self._screen.close()


# ---- by name ---------------------------------------------------------------------------------


def single_agent(
    env_id: str, *, render_mode: str | None = None, mask_in: MaskIn = "info", **options: Any
) -> SingleAgent:
    """What ``gymnasium.make("bidzoo/BridgeBidding-v0", opponents=...)`` makes.

    ``options`` are ``learner``, ``opponents`` and ``partner``, as of ``seat_policies``, and those of the game.
    """
    return SingleAgent(*seat_learner(env_id, **options), render_mode, mask_in)


# by which gymnasium offers "rgb_array_list"
single_agent.metadata = {**SingleAgent.metadata, "render_modes": [*MODES]}  # type: ignore[attr-defined]


def single_agent_vector(
    env_id: str,
    num_envs: int,
    *,
    render_mode: str | None = None,
    mask_in: MaskIn = "info",
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    **options: Any,
) -> SingleAgentVector:
    """What ``gymnasium.make_vec("bidzoo/BridgeBidding-v0", num_envs, opponents=...)`` makes, as ``single_agent``."""
    game, policies, learner = seat_learner(env_id, **options)
    return SingleAgentVector(game, num_envs, policies, learner, render_mode, mask_in, autoreset_mode)


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        values = [each.value for each in AutoresetMode]
        raise ValueError(f"autoreset_mode {mode!r}; {choose_from(str(mode), values)}") from None


def seat_learner(
    env_id: str,
    learner: int | str = 0,
    opponents: Any = None,
    partner: Any = None,
    partner_told: str = "none",
    **options: Any,
) -> tuple[Game, list[Agent | None], int | str]:
    """The game ``env_id`` with its ``options``, who takes its seats (see ``seat_policies``), and ``learner``."""
    registry.check_taken_here(env_id, options, registry.rules_of(env_id))
    named = ["learner", "opponents", "partner", "partner_told", "render_mode", "mask_in", "autoreset_mode"]
    choices = [*named, *registry.options(env_id)]
    for name in options:
        if name not in (*choices, "observation"):  # an encoder goes with any game
            game_id, hint = registry.game_id(env_id), choose_from(name, choices)
            # Python's words: TorchRL's GymEnv tries ``frameskip=`` first and looks for them
            raise TypeError(f"{game_id} got an unexpected keyword argument {name!r}; {hint}")
    game = make_game(env_id, **options)
    return game, _seats(game, game.player_at(learner), opponents, partner, partner_told), learner


def seat_policies(
    game: Game, learner: int | str, opponents: Any = None, partner: Any = None, partner_told: str = "none"
) -> list[Policy | None]:
    """Policies ``[P]`` of all seats but the learner's, from whatever ``agents.resolve`` takes.

    Args:
        game: the game they play.
        learner: our own seat, None in the result; seats are numbers or names, see ``Game.player_at``.
        opponents: one name or policy for every other seat, the partner's too unless ``partner`` is given; or a list
            ``[P]`` of one a player, of which the learner's is not read; or ``{seat: policy}``. Default: random.
        partner: one name or policy for the learner's allies, instead of what ``opponents`` says of them; of a list
            every board draws one, whom ``infos["partner"]`` names.
        partner_told: what the observation ends with: ``"none"``; ``"name"``: who of that list it is, one-hot;
            ``"card"``: the bidding system that it declares, one-hot among sayc, 21gf, polish and acol.

    Raises:
        ValueError: ``partner`` where the learner has none, or both where every other player is a partner; a list of
            another length, a seat that nobody takes, or ``partner_told`` without a list of partners.
    """
    learner = game.player_at(learner)
    return _resolved(game, learner, _seats(game, learner, opponents, partner, partner_told))


def _seats(game: Game, learner: int, opponents: Any, partner: Any, partner_told: str) -> list[Agent | None]:
    """Who takes each seat, before names in a list or a dict are resolved; arguments and errors of ``seat_policies``."""
    allies = game.allies(learner)
    if partner is not None and len(allies) == 1:
        raise ValueError(f"{game} has no partners: give opponents alone")
    several = isinstance(partner, Sequence) and not isinstance(partner, str)
    if partner_told != "none" and not several:
        raise ValueError(f"partner_told {partner_told!r} tells partners apart: expected a list of them, partner=[...]")
    if partner is not None and opponents is not None and len(allies) == game.num_players:
        raise ValueError(f"{game} has no opponents, the other player is the learner's partner: give partner alone")
    opponents = "random" if opponents is None else opponents
    if isinstance(opponents, Mapping):
        by_player = {game.player_at(place): policy for place, policy in opponents.items()}
        seats = [by_player.get(p) for p in range(game.num_players)]
    elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
        seats = list(opponents)
    else:
        opponent = agents.resolve(opponents, game)
        seats = [opponent] * game.num_players
    if len(seats) != game.num_players:
        places = ", ".join(game.place_text(p) for p in range(game.num_players))
        raise ValueError(
            f"{game.id} has {game.num_players} players, got {len(seats)} opponents; expected one name or policy for"
            f" every other seat, a list of one for each of {places} (the learner's is not read), or {{seat: policy}}"
        )
    if partner is not None:
        ally: Policy
        if several:
            ally = Partners([agents.resolve(each, game) for each in partner], partner_told)
        else:
            ally = agents.resolve(partner, game)
        seats = [ally if p in allies else policy for p, policy in enumerate(seats)]
    for p, policy in enumerate(seats):
        if policy is None and p != learner:
            hint = "give partner=, or name it in opponents=" if p in allies else "name it in opponents="
            raise ValueError(f"{game.place_text(p)} has no policy: {hint}")
    return seats

"""Any game as a PettingZoo AEC environment: table 0 of a batch of one, with every check fused in.

PettingZoo's three standard wrappers (illegal actions, bounds, call order) cost more than the games do;
their checks are made here, in place, so ``env`` and ``raw_env`` are the same class.
"""

from collections.abc import Callable
from functools import cached_property
from html import escape
from inspect import Parameter, Signature, isclass, signature
from typing import Any, ClassVar, Literal, Self, SupportsIndex

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from bidzoo.core.kernels import I8, States
from bidzoo.core.options import checked, choose_from
from bidzoo.core.streams import reset_seed
from bidzoo.envs.asking import ask_one, asking, nobody_to_ask, policy_hint
from bidzoo.envs.game import Game, Table, action_index, game_of, legal_actions
from bidzoo.envs.render import FPS, MODES, Screen, checked_mode, table_html, warn_of_no_mode


class _AfterReset:
    """An attribute that ``reset`` sets; with ``__getattr__`` in its place Python would read all others slowly, too."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, env: Any, kind: Any = None) -> Any:
        raise AttributeError(f"{self._name} cannot be accessed before reset()")


class TableEnv(AECEnv[str, Any, int | None]):
    """One table of a game; agents ``player_0`` ... act one at a time. A game's class names its id and its rules::

        class raw_env(TableEnv, id="comm_v0", rules=Comm): ...

    Args:
        options: those of the rules, see the game's page.
        render_mode: None, ``"ansi"``, ``"svg"`` or ``"rgb_array"``: what ``render()`` gives. ``"human"`` shows the
            table after every ``reset`` and ``step`` (see ``bidzoo.envs.render.Screen``).
        illegal_action: ``"terminate"`` ends the episode (the offender and its allies get the game's lowest
            reward, the others 0, with PettingZoo's warning), ``"raise"`` raises ValueError and changes nothing.
        mask_in: ``"observation"``: observations are dicts of ``observation`` and ``action_mask``; ``"info"``: they are
            arrays ``[F]``, and masks are in ``infos`` alone, for libraries that take no dicts.

    ``reset(seed)`` starts at board 0 of that seed; each further ``reset()`` takes the next board. Option
    ``board`` jumps to a board; a game may know more options. A name that it does not know is a ValueError.
    """

    metadata: dict[str, Any] = {
        "render_modes": [*MODES],
        "is_parallelizable": False,
        "render_fps": FPS,
    }
    rules: ClassVar[Callable[..., Game]]
    __signature__: ClassVar[Signature | None] = None

    def __init_subclass__(cls, id: str = "", rules: Callable[..., Game] | None = None) -> None:
        super().__init_subclass__()
        cls.__signature__ = None
        if rules is not None:
            cls.metadata = {**TableEnv.metadata, "render_modes": [*MODES], "name": id}
            cls.rules = staticmethod(rules)
            cls.__signature__ = _signature(rules)

    @checked
    def __init__(
        self,
        *,
        render_mode: str | None = None,
        illegal_action: Literal["terminate", "raise"] = "terminate",
        mask_in: Literal["observation", "info"] = "observation",
        **options: Any,
    ) -> None:
        self.metadata = {**self.metadata, "render_modes": [*self.metadata["render_modes"]]}  # wrappers add to this list
        game = game_of(str(self.metadata["name"]), self.rules, options)
        self.mask_in = mask_in
        self.game, self.render_mode, self.illegal_action = game, checked_mode(render_mode), illegal_action
        self._screen = Screen(repr(self))
        self.possible_agents = [f"player_{p}" for p in range(game.num_players)]
        self._number = {agent: p for p, agent in enumerate(self.possible_agents)}
        self._seed, self._board = 0, -1
        self._infos: dict[str, dict[str, Any]] | None = None
        self._zeros = dict.fromkeys(self.possible_agents, 0.0)
        self._false = dict.fromkeys(self.possible_agents, False)
        self._true = dict.fromkeys(self.possible_agents, True)
        self._last_mask: I8 | None = None  # that ``last`` gave
        self._live = False  # somebody is to act
        self._no_mask = np.zeros(game.num_actions, np.int8)
        # one space per agent: a shared Discrete would share its random generator
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self._show(Table(game))

    def _observation_space(self) -> spaces.Space[Any]:
        observation = spaces.Box(0, 1, (self.game.encoder.layout.size,), np.int8)
        if self.mask_in == "info":
            return observation
        return spaces.Dict(observation=observation, action_mask=spaces.Box(0, 1, (self.game.num_actions,), np.int8))

    def _show(self, table: Table) -> None:
        self._table, self._states, self._out = table, table.states, table.out
        self._mask, self._observation = table.out.mask[0], table.out.observation[0]  # views of the buffers, not copies
        self._legal, self._reward = self._mask.data, table.out.reward[0].data  # whose numbers are read faster
        self._player_to_act, self._over = table.out.player.data, table.out.over.data

    def __getstate__(self) -> dict[str, Any]:
        shown = ("_states", "_out", "_mask", "_observation", "_legal", "_player_to_act", "_over", "_reward")
        return {name: value for name, value in self.__dict__.items() if name not in shown}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._show(self._table)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same object every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the next board (see the class); bad option values raise ValueError and leave the table as it was."""
        board, fixed = self._board + 1 if seed is None else 0, None
        if options:
            fixed = dict(self.game.options(options))
            board = int(fixed.pop("board", board))
        new_seed = reset_seed(seed, is_new=self._board < 0)
        if new_seed is None:
            new_seed = self._seed
        if fixed:  # which may fail: on a new table
            table = Table(self.game)
            table.begin(board, new_seed, fixed)
            self._show(table)
        else:
            self._table.begin(board, new_seed)
        self._seed, self._board, self._live = new_seed, board, True
        self._infos = self._last_mask = None
        self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = self._zeros.copy(), self._zeros.copy()
        self.terminations, self.truncations = self._false.copy(), self._false.copy()
        self.agent_selection = self.possible_agents[self._player_to_act[0]]
        if self.render_mode == "human":
            self.render()

    def step(self, action: SupportsIndex | None) -> None:
        """Take the action of ``agent_selection``; agents of a finished episode step with None, once each."""
        agent = self.agent_selection
        self._infos = self._last_mask = None
        if not self._live:
            if not self.agents:
                raise ValueError("the episode is over and every agent has left: call reset()")
            self._was_dead_step(action)
            return
        number = action_index(agent, action, self.game.num_actions)
        if not self._legal[number]:
            self._illegal(agent, number)
            return
        self._table.step(number)
        if self._over[0]:
            self._finish(dict(zip(self.possible_agents, self._reward.tolist())))
        else:
            self.agent_selection = self.possible_agents[self._player_to_act[0]]
        if self.render_mode == "human":
            self.render()

    def _illegal(self, agent: str, action: int) -> None:
        legal = " ".join(self.game.action_text(int(a)) for a in np.flatnonzero(self._mask))
        text = f"illegal action {action} ({self.game.action_text(action)}) by {agent}; legal: {legal}"
        if self.illegal_action == "raise":
            raise ValueError(text)
        from pettingzoo.utils.env_logger import EnvLogger

        EnvLogger.warn_on_illegal_move()
        allies = self.game.allies(self._number[agent])
        worst = float(self.game.reward_range[0])
        self._mask[:], self._player_to_act[0] = 0, -1
        self._finish({a: worst if p in allies else 0.0 for a, p in self._number.items()})

    def _finish(self, rewards: dict[str, float]) -> None:
        self._live = False
        self.rewards, self._cumulative_rewards = rewards, rewards.copy()  # which are 0 until the end
        self.terminations = self._true.copy()
        self._skip_agent_selection = self.agent_selection
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        """Fresh ``observation`` int8 ``[F]`` and ``action_mask`` int8 ``[A]``, all 0 if ``agent`` is not to act.

        With ``mask_in="info"`` the observation alone.
        """
        self._need_reset("observe")
        observation, mask = self._observation.copy(), self._mask
        if not self._live or agent != self.agent_selection:
            mask = self._no_mask
            self._table.observe(self._player(agent), observation)
        return observation if self.mask_in == "info" else {"observation": observation, "action_mask": mask.copy()}

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The action mask again, where some libraries look for it; made afresh after every step."""
        if self._infos is None:
            self._infos = {agent: {"action_mask": self._no_mask.copy()} for agent in self.agents}
            if self._last_mask is not None:
                self._infos[self.agent_selection]["action_mask"] = self._last_mask
            elif self._live:
                self._infos[self.agent_selection]["action_mask"][:] = self._mask
        return self._infos

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, termination, truncation and info of ``agent_selection``.

        The mask of the info is that of the observation, one array.

        Raises:
            ValueError: the episode is over and every agent has left.
        """
        agent = self.agent_selection
        if not self.agents:
            raise ValueError("the episode is over and every agent has left: call reset()")
        if observe and self._infos is None and self.mask_in == "observation":  # ``infos`` of all agents take longer
            shown, mask = self._observation.copy(), (self._mask if self._live else self._no_mask).copy()
            if not self._live:
                self._table.observe(self._number[agent], shown)
            observation: Any = {"observation": shown, "action_mask": mask}
            info, self._last_mask = {"action_mask": mask}, mask
        else:
            observation = self.observe(agent) if observe else None
            info = self.infos[agent]
        return observation, self._cumulative_rewards[agent], not self._live, False, info

    @cached_property
    def state_space(self) -> spaces.Box:
        """Zeros and ones ``[S]``; ``game.state_encoder.layout`` names them."""
        return spaces.Box(0, 1, (self.game.state_encoder.layout.size,), np.int8)

    def state(self) -> I8:
        """The global state int8 ``[S]``, fresh: what all agents together know, by seat, whoever is selected.

        For centralised critics; agents see observations only. At any time after ``reset()``, the end included.
        """
        self._need_reset("state")
        return self.game.state_encoder(self._states)[0]

    def view(self, agent: str) -> States:
        """The view of ``agent``, as the array ``[1]`` that a policy takes; after ``reset()``."""
        self._need_reset("view")
        return self.game.view_of(self._states, np.array([self._player(agent)]))

    def _player(self, agent: str) -> int:
        if agent not in self._number:
            raise KeyError(f"unknown agent {agent!r}; {choose_from(agent, self._number)}")
        return self._number[agent]

    @property
    def unwrapped(self) -> Self:
        """This environment itself, with what is bidzoo's own."""
        return self

    def _need_reset(self, method: str) -> None:
        if self._board < 0:
            raise AttributeError(f"{method}() cannot be called before reset()")

    def ask(self, policy: Any) -> int:
        """The action of ``policy`` for ``agent_selection``: ``env.step(env.ask(policy))``.

        Its random numbers are those of ``(seed, board, turn)``, as in a match of that seed. A plain function is given
        observation and mask.

        Raises:
            TypeError: neither a policy nor a function.
            ValueError: it does not play this game, or its answer is no legal action.
        """
        if self._board >= 0 and id(policy) in self._table.seats:  # it was asked here before
            return ask_one(policy, self._table, self._seed)
        if isinstance(policy, str):
            raise TypeError(f"ask() takes a policy: bidzoo.agents.make({policy!r})")
        if isclass(policy) or not (callable(policy) or hasattr(policy, "act")):
            raise TypeError(
                f"ask() takes a policy, got {policy!r} (expected an object with name and act(), or a function of"
                f" observation and mask){policy_hint(policy)}"
            )
        self._need_reset("ask")
        if hasattr(policy, "act"):
            return ask_one(policy, self._table, self._seed)
        name = getattr(policy, "__name__", "the policy")
        states = self._states
        if not self._mask.any():
            raise nobody_to_ask(self._table)
        with asking(name, self.game, states["board"], self.game.clock(states)):
            answer: Any = [policy(self._observation.copy(), self._mask.copy())]
        return int(legal_actions(name, answer, self._out.mask, states["board"])[0])

    def render(self) -> Any:
        """The whole table as ``render_mode`` says: text, SVG document, pixels uint8 ``[H, W, 3]``; None if shown."""
        self._need_reset("render")
        if self.render_mode is None:
            warn_of_no_mode()
        if self.render_mode == "human":
            return self._screen.show(self.game, self._states)
        return self.game.render(self._states[0], self.render_mode)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self._screen.close()

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __repr__(self) -> str:
        return f"<AEC environment {repr(self.game)[1:]}"

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows: the whole table, and whose turn it is or the rewards."""
        if self._board < 0:
            return f"<p>{escape(repr(self))}, before <code>reset()</code></p>"
        if any(self.terminations.values()):
            status = "rewards " + ", ".join(f"{agent} {reward:g}" for agent, reward in self.rewards.items())
        else:
            status = f"{self.agent_selection} is to act"
        return table_html(self.game, self._states[0], f"{self}, seed {self._seed}, board {self._board}: {status}")


for _name in ("rewards", "terminations", "truncations", "agent_selection", "agents", "_cumulative_rewards"):
    setattr(TableEnv, _name, _AfterReset(_name))


def _signature(rules: Callable[..., Game]) -> Signature:
    """The signature of an environment: the options of ``rules``, then its own."""
    parameters = [*signature(rules).parameters.values(), *list(signature(TableEnv.__init__).parameters.values())[1:-1]]
    return Signature([parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters])

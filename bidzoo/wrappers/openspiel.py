"""Every game as an OpenSpiel Python game: importing this module registers ``python_bidzoo_minibridge(size=4)`` ...

The root is one explicit chance node, the joint deal: all pairs of types in the small games (so OpenSpiel counts the
states of the papers' tables), and the first ``boards`` boards of ``seed`` in bridge and Spades. Everything after it is
``Game.step_one``. OpenSpiel's own bridge is another game; ``openspiel_bots`` translates between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from bidzoo.envs.game import Game
from bidzoo.kernels import U64, Tables
from bidzoo.registry import GAMES, make_game

PREFIX = "python_bidzoo_"
_BOARDS = {"boards": 1000, "seed": 0}
PARAMETERS: dict[str, dict[str, Any]] = {  # options of OpenSpiel's load_game, with their defaults
    "comm_v0": {"length": 3},
    "simple_bidding_v0": {"size": 4},
    "minibridge_v0": {"size": 4},
    "mini_hanabi_v0": {},
    "bridge_bidding_v0": {"reward": "score", "deals": "train", **_BOARDS},
    "bridge_v0": {"reward": "score", **_BOARDS},
    "spades_v0": {"phase": "round", **_BOARDS},
}


class _Shared:
    """What all states of a game have in common; OpenSpiel copies states deeply, this stays one."""

    def __init__(self, env_id: str, parameters: dict[str, Any]) -> None:
        options = {name: value for name, value in parameters.items() if name not in _BOARDS}
        if options.get("reward") == "duplicate":
            raise ValueError("reward='duplicate' has two tables with separate histories; OpenSpiel's have one")
        self.game: Game = make_game(env_id, **options)
        self.small = hasattr(self.game, "num_types")
        self.seed = int(parameters.get("seed", 0))
        self.types = getattr(self.game, "num_types", (1, 1))
        self.outcomes = self.types[0] * self.types[1] if self.small else int(parameters["boards"])
        self.out = self.game.buffers(1)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self

    def deal(self, outcome: int) -> Tables:
        """Table ``[1]`` of a chance outcome."""
        tables = self.game.new(1)
        board = np.array([0 if self.small else outcome], np.int64)
        self.game.begin(tables, board, self.seed, self.out)
        if self.small:
            self.game.fix(tables, {"types": divmod(outcome, self.types[1])}, self.out)
        return tables


class State(pyspiel.State):
    """A table, or the chance node before it."""

    def __init__(self, game: Any, shared: _Shared) -> None:
        super().__init__(game)
        self._shared = shared
        self._tables: Tables | None = None
        self._player = int(pyspiel.PlayerId.CHANCE)
        self._legal: list[int] = []
        self._returns = [0.0] * shared.game.num_players

    @property
    def tables(self) -> Tables:
        """The bidzoo table ``[1]`` behind this state; ValueError at the chance node."""
        if self._tables is None:
            raise ValueError("nothing is dealt yet")
        return self._tables

    def view(self, player: int) -> Tables:
        """What ``player`` knows, as the views ``[1]`` that a bidzoo policy takes."""
        return self._shared.game.view_of(self.tables, np.array([player]))

    def current_player(self) -> int:
        return self._player

    def _legal_actions(self, player: int) -> list[int]:
        return self._legal if player == self._player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = self._shared.outcomes
        return [(outcome, 1.0 / count) for outcome in range(count)]

    def _apply_action(self, action: int) -> None:
        shared, out = self._shared, self._shared.out
        if self._tables is None:
            self._tables = shared.deal(action)
        else:
            shared.game.step_one(self._tables, action, out)
            if out.over[0]:
                self._player, self._legal = int(pyspiel.PlayerId.TERMINAL), []
                self._returns = [float(reward) for reward in out.reward[0]]
                if np.isnan(self._returns).any():
                    self._returns = _solved_returns(shared, self._tables)
                return
        self._player = int(out.player[0])
        self._legal = np.flatnonzero(out.mask[0]).tolist()

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self._shared.game.action_text(action)

    def is_terminal(self) -> bool:
        return self._player == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        return self._returns

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> State:
        """A random state that ``player`` cannot tell from this one; ``sampler()`` is uniform in [0, 1)."""
        shared = self._shared
        keys: U64 = np.array([int(sampler() * 2**62)], np.uint64)
        state = self.clone()
        state._tables = shared.game.new(1)
        shared.game.determinize(self.view(player), keys, state._tables)
        return state

    def __str__(self) -> str:
        return "chance" if self._tables is None else self._shared.game.text(self._tables[0])


def _solved_returns(shared: _Shared, tables: Tables) -> list[float]:
    """Returns of a finished auction on a resampled deal: its table is solved (0.2 s) and the calls replayed."""
    from bidzoo.envs.bridge.solving.solve import table_of

    table, again = tables[0], shared.game.new(1)
    shared.game.begin(again, np.array([table["board"]], np.int64), shared.seed, shared.out)
    fixed = {name: int(table[field]) for name, field in (("dealer", "dealer"), ("vulnerability", "vulnerable"))}
    cards = {"deal": table["hands"], "tricks": table_of(table["hands"])}
    shared.game.fix(again, {**cards, **fixed}, shared.out)
    for call in table["calls"][: table["length"]]:
        shared.game.step_one(again, int(call), shared.out)
    return [float(reward) for reward in shared.out.reward[0]]


class Observer:
    """OpenSpiel's observer: the game's own encoding, and the private part with the public history as text."""

    def __init__(self, shared: _Shared, parameters: Any) -> None:
        if parameters:
            raise ValueError(f"observations take no parameters, got {parameters}")
        self._shared = shared
        encoder = shared.game.encoder
        self.tensor = np.zeros(encoder.layout.size, np.float32)
        self.dict = encoder.layout.split(self.tensor)

    def set_from(self, state: State, player: int) -> None:
        """Write ``player``'s observation of ``state``; zeros before the deal."""
        self.tensor.fill(0)
        if state._tables is not None:
            self.tensor[:] = self._shared.game.encoder(state.view(player))[0]

    def string_from(self, state: State, player: int) -> str:
        """``player_0 <private part> <actions so far>``: the information set as text."""
        if state._tables is None:
            return f"player_{player}"
        game = self._shared.game
        history = " ".join(f"{p}:{game.action_text(a)}" for p, a in _actions(state))
        return f"player_{player} {game.private_text(state.view(player)[0])} {history}".rstrip()


def _actions(state: State) -> list[tuple[int, int]]:
    return [(pa.player, pa.action) for pa in state.full_history()[1:]]


def _register(env_id: str) -> type:
    defaults = PARAMETERS[env_id]
    plain = _Shared(env_id, defaults)
    zero_sum = plain.game.utility == "zero_sum"
    kind = pyspiel.GameType(
        short_name=PREFIX + env_id.removesuffix("_v0"),
        long_name=f"bidzoo: {GAMES[env_id].summary}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.IDENTICAL,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=plain.game.num_players,
        min_num_players=plain.game.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=plain.small,  # the others' encoders leave out what cannot matter
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=defaults,
    )

    class Registered(pyspiel.Game):
        """The game with its parameters."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            given = {**defaults, **(params or {})}
            self._shared = _Shared(env_id, given)
            game = self._shared.game
            info = pyspiel.GameInfo(
                num_distinct_actions=game.num_actions,
                max_chance_outcomes=self._shared.outcomes,
                num_players=game.num_players,
                min_utility=game.reward_range[0],
                max_utility=game.reward_range[1],
                max_game_length=game.max_turns,
                **({"utility_sum": 0.0} if zero_sum else {}),
            )
            super().__init__(kind, info, params or {})

        def new_initial_state(self) -> State:
            return State(self, self._shared)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
            """None unless the public history and one player's private part are asked for: there is no less."""
            kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
            whole = kind.public_info and kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
            return Observer(self._shared, params) if whole else None

    Registered.__name__ = Registered.__qualname__ = kind.short_name
    pyspiel.register_game(kind, Registered)
    return Registered


_CLASSES = {env_id: _register(env_id) for env_id in PARAMETERS}
NAMES = {env_id: registered.__name__ for env_id, registered in _CLASSES.items()}
globals().update({registered.__name__: registered for registered in _CLASSES.values()})  # where pickle looks

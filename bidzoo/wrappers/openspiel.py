"""OpenSpiel both ways: our games, policies and boards there, its bots here.

Every game is an OpenSpiel Python game: importing this module registers ``python_bidzoo_minibridge(size=4)`` ...
The root is one explicit chance node, the joint deal: all pairs of types in the small games (so OpenSpiel counts the
states of the papers' tables), and the first ``boards`` boards of ``seed`` in bridge and Spades. Everything after it
is ``Game.step``. OpenSpiel's own ``bridge`` is another game; ``to_openspiel`` and ``from_openspiel`` translate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from warnings import warn
from zlib import crc32

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy as SpielPolicy

from bidzoo import agents
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, hand_bits, hand_cards
from bidzoo.core.kernels import I8, I64, U64, State, States
from bidzoo.core.options import whole
from bidzoo.core.streams import Streams, checked_seed
from bidzoo.envs.asking import asking
from bidzoo.envs.bridge.deals import UNKNOWN, open_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.game import Game, Table, legal_actions
from bidzoo.registry import available, family_of, make_game, options, summary, watch

if TYPE_CHECKING:
    from bidzoo.agents.policy import Agent


FIRST_CALL = NUM_CARDS  # OpenSpiel's bridge: actions 0 ... 51 are cards, 52 + call are calls
PREFIX = "python_bidzoo_"
_BOARDS = {"boards": 1000, "seed": 0}
_MOST_BOARDS = 2**31 - 1  # OpenSpiel counts chance outcomes in 32 bits
PARAMETERS: dict[str, dict[str, Any]] = {  # options of OpenSpiel's load_game that are not all of the game's
    "bridge_bidding_v0": {"reward": "score", "deals": "train", **_BOARDS},
    "bridge_v0": {"reward": "score", **_BOARDS},
    "spades_v0": {"phase": "round", **_BOARDS},
}


class _Shared:
    """What all states of a game share; OpenSpiel copies states deeply, but not this object."""

    def __init__(self, env_id: str, parameters: dict[str, Any]) -> None:
        options = {name: value for name, value in parameters.items() if name not in _BOARDS}
        if options.get("reward") == "duplicate":
            raise ValueError("reward='duplicate' has two tables with separate histories; OpenSpiel's have one")
        self.game: Game = make_game(env_id, **options)
        self.small = self.game.family == "signalling"
        self.seed = checked_seed(parameters.get("seed", 0))
        self.types = getattr(self.game, "num_types", (1, 1))
        self.outcomes = (
            self.types[0] * self.types[1] if self.small else whole("boards", parameters["boards"], 1, _MOST_BOARDS)
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self

    def deal(self, outcome: int) -> Table:
        """The table of a chance outcome; ValueError if there is no such outcome."""
        outcome, table = whole("deal", outcome, 0, self.outcomes - 1), Table(self.game)
        if self.small:
            table.begin(0, self.seed, {"types": divmod(outcome, self.types[1])})
        else:
            table.begin(outcome, self.seed)
        return table


class SpielState(pyspiel.State):
    """A table, or the chance node before it."""

    def __init__(self, game: Any, shared: _Shared) -> None:
        super().__init__(game)
        self._shared = shared
        self._table: Table | None = None
        self._player = int(pyspiel.PlayerId.CHANCE)
        self._legal: list[int] = []
        self._returns = [0.0] * shared.game.num_players
        self._history_text = ""  # " 0:1C 1:P": kept, since it is asked for at every turn of up to thousands

    @property
    def record(self) -> States:
        """Our game's record ``[1]`` behind this state; ValueError at the chance node."""
        if self._table is None:
            raise ValueError("nothing is dealt yet")
        return self._table.states

    def view(self, player: int) -> States:
        """What ``player`` knows, as the views ``[1]`` that a bidzoo policy takes."""
        game = self._shared.game
        return game.view_of(self.record, np.array([game.player_at(player)]))

    def current_player(self) -> int:
        return self._player

    def _legal_actions(self, player: int) -> list[int]:
        return self._legal if player == self._player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = self._shared.outcomes
        return [(outcome, 1.0 / count) for outcome in range(count)]

    def _apply_action(self, action: int) -> None:
        shared, table = self._shared, self._table
        if table is None:
            table = self._table = shared.deal(action)
        else:
            if action not in self._legal:  # the kernels trust what they are given, and OpenSpiel checks nothing
                context = "at the end" if self.is_terminal() else f"by player_{self._player}"
                raise ValueError(f"illegal action {action} {context}; legal: {self._legal}")
            self._history_text += f" {self._player}:{shared.game.action_text(action)}"
            table.step(action)
            if table.out.over[0]:
                self._player, self._legal = int(pyspiel.PlayerId.TERMINAL), []
                self._returns = [float(reward) for reward in table.out.reward[0]]
                if np.isnan(self._returns).any():
                    self._returns = _solved_returns(shared, table.states)
                return
        self._player = int(table.out.player[0])
        self._legal = np.flatnonzero(table.out.mask[0]).tolist()

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self._shared.game.action_text(action)

    def is_terminal(self) -> bool:
        return self._player == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        return self._returns

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """A random state that ``player`` cannot tell from this one; ``sampler()`` is uniform in [0, 1)."""
        shared = self._shared
        keys: U64 = np.array([int(sampler() * 2**62)], np.uint64)
        state = self.clone()
        state._table = Table(shared.game)
        shared.game.determinize(self.view(player), keys, state._table.states)
        return state

    def __str__(self) -> str:
        return "chance" if self._table is None else self._shared.game.text(self.record[0])


def _solved_returns(shared: _Shared, record: States) -> list[float]:
    """Returns of a finished auction on a resampled deal: what the reward needs is solved, and the calls are repeated.

    Points ask for the contract reached (0.02 s), IMPs against the deal's best ones for all (0.2 s).
    """
    from bidzoo.envs.bridge.double_dummy import dd_contract_of, dd_tricks_of

    state, game = record[0], shared.game
    if getattr(game, "reward", None) == "score":
        cell = 5 * int(state["declarer"]) + int(state["bid"]) % 5
        tricks = np.full(20, UNKNOWN, np.int8)
        tricks[cell] = dd_contract_of(state["hands"], *divmod(cell, 5))
    else:
        tricks = dd_tricks_of(state["hands"])
    cards = {"deal": state["hands"], "tricks": tricks}
    fixed = {**cards, "dealer": int(state["dealer"]), "vulnerability": int(state["vulnerable"])}
    auction, out = game.start(int(state["board"]), shared.seed, fixed)
    for call in state["calls"][: state["length"]]:
        game.step(auction, np.array([int(call)]), 0, out)
    return [float(reward) for reward in out.reward[0]]


class Observer:
    """OpenSpiel's observer: the game's own encoding, and the private part with the public history as text.

    Without ``encoded`` there is no tensor, as in OpenSpiel's own Python games whose information states are text alone.
    """

    def __init__(self, shared: _Shared, parameters: Any, encoded: bool = True) -> None:
        if parameters:
            raise ValueError(f"observations take no parameters, got {parameters}")
        self._shared = shared
        layout = shared.game.encoder.layout
        self.tensor = np.zeros(layout.size, np.float32) if encoded else None
        self.dict = {} if self.tensor is None else layout.split(self.tensor)

    def set_from(self, state: SpielState, player: int) -> None:
        """Write ``player``'s observation of ``state``; zeros before the deal."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        if state._table is not None:
            self.tensor[:] = self._shared.game.encoder(state.view(player))[0]

    def string_from(self, state: SpielState, player: int) -> str:
        """``player_0 <private part> <actions so far>``: the information set as text."""
        if state._table is None:
            return f"player_{player}"
        private = self._shared.game.private_text(state.view(player)[0])
        return f"player_{player} {private}{state._history_text}".rstrip()


def _parameters(env_id: str) -> dict[str, Any]:
    """Options of ``load_game`` with their defaults: of most games all whose defaults OpenSpiel can hold."""
    if env_id in PARAMETERS:
        return PARAMETERS[env_id]
    defaults = {name: value for name, value in options(env_id).items() if isinstance(value, bool | int | float | str)}
    return defaults if family_of(env_id) == "signalling" else defaults | _BOARDS


def _register(env_id: str) -> type:
    defaults = _parameters(env_id)
    shared = _Shared(env_id, defaults)
    zero_sum = shared.game.utility == "zero_sum"
    game_type = pyspiel.GameType(
        short_name=PREFIX + env_id.removesuffix("_v0"),
        long_name=f"bidzoo: {summary(env_id)}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.IDENTICAL,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=shared.game.num_players,
        min_num_players=shared.game.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=shared.small,  # the others' encoders leave out what cannot matter
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=defaults,
    )

    class Registered(pyspiel.Game):
        """The game with its parameters."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            parameters = {**defaults, **(params or {})}
            self._shared = _Shared(env_id, parameters)
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
            super().__init__(game_type, info, params or {})

        def new_initial_state(self) -> SpielState:
            return SpielState(self, self._shared)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
            """None unless the public history and one player's private part are asked for: there is no other."""
            observation_type = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
            complete = (
                observation_type.public_info and observation_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
            )
            encoded = self._shared.small or not observation_type.perfect_recall
            return Observer(self._shared, params, encoded) if complete else None

    Registered.__name__ = Registered.__qualname__ = game_type.short_name
    pyspiel.register_game(game_type, Registered)
    return Registered


NAMES: dict[str, str] = {}  # in OpenSpiel, by id


def _register_or_warn(env_id: str) -> None:
    try:
        registered = _register(env_id)
    except (ValueError, ImportError) as problem:  # of somebody else's package: bidzoo's games go on without it
        warn(f"{env_id} is not registered with OpenSpiel: {problem}", stacklevel=2)
        return
    NAMES[env_id] = registered.__name__
    globals()[registered.__name__] = registered  # where pickle looks for it


# ---- OpenSpiel's own bridge ------------------------------------------------------------------


@cache
def _whole_bridge() -> Bridge:
    return Bridge(play=True)


def _to_openspiel_action(action: int) -> int:
    return FIRST_CALL + action if action < NUM_CALLS else action - NUM_CALLS


def _from_openspiel_action(action: int) -> int:
    return action - FIRST_CALL if action >= FIRST_CALL else NUM_CALLS + action


def to_openspiel(table: State | States) -> Any:
    """A state of OpenSpiel's ``bridge`` (cards played, no double-dummy scoring) at the same point as ``table``.

    Args:
        table: a record of bridge, or a batch ``[1]`` of it as ``from_openspiel`` gives.

    Raises:
        ValueError: a batch of another size, or no record of bridge.
    """
    records = np.atleast_1d(table)
    if records.shape != (1,) or "vulnerable" not in (records.dtype.names or ()):
        raise ValueError(f"tables {list(records.shape)}: expected one record of bridge, or [1]")
    state = records[0]
    dealer, vulnerable = int(state["dealer"]), int(state["vulnerable"])
    options = {
        "use_double_dummy_result": False,
        "dealer": dealer,
        "dealer_vul": bool(vulnerable >> dealer % 2 & 1),
        "non_dealer_vul": bool(vulnerable >> 1 - dealer % 2 & 1),
    }
    spiel = pyspiel.load_game("bridge", options).new_initial_state()
    hands = [hand_cards(int(hand)) for hand in state["hands"]]
    for i in range(NUM_CARDS):  # OpenSpiel gives the i-th card to seat i % 4
        spiel.apply_action(hands[i % 4][i // 4])
    for call in state["calls"][: state["length"]]:
        spiel.apply_action(FIRST_CALL + int(call))
    for card in state["played"][: state["plays"]]:
        spiel.apply_action(int(card))
    return spiel


def from_openspiel(spiel: Any) -> States:
    """The record ``[1]`` of ``bridge_v0`` for a state of OpenSpiel's ``bridge`` with all cards dealt."""
    parameters, history = spiel.get_game().get_parameters(), spiel.history()
    if len(history) < NUM_CARDS:
        raise ValueError(f"only {len(history)} cards are dealt, expected {NUM_CARDS}")
    game = _whole_bridge()
    record, out = game.new(1), game.buffers(1)
    record["hands"][0], record["tricks"][0] = [hand_bits(history[seat:NUM_CARDS:4]) for seat in range(4)], -1
    dealer = int(parameters.get("dealer", 0))
    sides = (bool(parameters.get("dealer_vul", False)), bool(parameters.get("non_dealer_vul", False)))
    open_row(record[0], dealer, int(sides[dealer % 2]) | int(sides[1 - dealer % 2]) << 1)
    for action in history[NUM_CARDS:]:
        game.step(record, np.array([_from_openspiel_action(action)]), 0, out)
    return record


# ---- players ---------------------------------------------------------------------------------


class PolicyBot(pyspiel.Bot):
    """A policy at one seat of a registered bidzoo game or of OpenSpiel's own ``bridge``, which is our ``bridge_v0``.

    Args:
        policy: what ``agents.resolve`` takes. It is resolved at its first move, which tells the game: what is no policy
            and an agent of another game are refused there, a name that is none at once.
        player: its seat.
        seed: of its random numbers, which are others in each episode and at each turn.
    """

    def __init__(self, policy: Agent, player: int, seed: int = 0) -> None:
        super().__init__()
        if isinstance(policy, str):
            agents.entry(agents.parts(policy)[1])
        self.policy, self.player, self.seed = policy, whole("player", player, 0, 127), checked_seed(seed)
        self._game: Game | None = None
        self._episode = 0

    def __reduce__(self) -> tuple[type[PolicyBot], tuple[Agent, int, int]]:
        return PolicyBot, (self.policy, self.player, self.seed)  # a copy begins at its first episode

    def __repr__(self) -> str:
        return f"<{getattr(self.policy, 'name', self.policy)} at seat {self.player}, for OpenSpiel>"

    def restart(self) -> None:
        """Begin an episode."""
        self._episode += 1

    def restart_at(self, state: Any) -> None:
        """Begin an episode at ``state``."""
        self._episode += 1

    def player_id(self) -> int:
        """The seat it plays."""
        return self.player

    def step(self, state: Any) -> int:
        """The policy's action in OpenSpiel's numbering."""
        if isinstance(state, SpielState):
            return self._choose(state.history(), 1, state._shared.game, state.record, state.legal_actions())
        legal = [_from_openspiel_action(action) for action in state.legal_actions()]
        chosen = self._choose(state.history(), NUM_CARDS, _whole_bridge(), from_openspiel(state), legal)
        return _to_openspiel_action(chosen)

    def _choose(self, history: list[int], dealt: int, game: Game, record: States, actions: list[int]) -> int:
        """The action of the policy after ``history``, whose first ``dealt`` actions are the deal."""
        if self._game is not game:
            self._game, self._seated_policy = game, agents.resolve(self.policy, game)
        view = game.view_of(record, np.array([game.player_at(self.player)]))
        if game.family == "signalling":  # whose deals are not numbered: a pool draws its member for the episode
            view["board"] = self._episode
        deal, turn = crc32(repr(history[:dealt]).encode()), self._episode * game.max_turns + len(history)
        stream = Streams.at(self.seed, np.array([deal]), 4 * turn + self.player)
        legal, name = _mask(game, actions), self._seated_policy.name
        with asking(name, game, view["board"], len(history)):
            answer = self._seated_policy.act(view, legal.copy(), stream)
        return int(legal_actions(name, answer, legal, view["board"])[0])


def _mask(game: Game, actions: list[int]) -> I8:
    legal = np.zeros((1, game.num_actions), np.int8)
    legal[0, actions] = 1
    return legal


class AgentPolicy(SpielPolicy):
    """A policy as OpenSpiel's ``Policy`` of a registered bidzoo game: for ``nash_conv`` and expected returns.

    Args:
        game: as ``pyspiel.load_game`` gives it.
        policy: what ``agents.resolve`` takes for one with ``probabilities(views, legal)``: the tabular agents, the
            bridge networks, ``"random"`` and functions of observation and mask.

    Raises:
        KeyError, TypeError: no such agent.
        ValueError: ``policy`` has no probabilities or plays another game, or ``game`` is not bidzoo's.
    """

    def __init__(self, game: Any, policy: Agent) -> None:
        if not isinstance(shared := getattr(game, "_shared", None), _Shared):
            raise ValueError(f"{game} is not a game of bidzoo; expected one of {', '.join(NAMES.values())}")
        super().__init__(game, list(range(game.num_players())))
        self.policy: Any = agents.resolve(policy, shared.game)
        if not hasattr(self.policy, "probabilities"):
            raise ValueError(f"{self.policy.name} has no probabilities(views, legal); PolicyBot plays any policy")
        self._rules = shared.game

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Chance of every legal action of the player to act at ``state``."""
        rules = state._shared.game if isinstance(state, SpielState) else None
        if rules is not self._rules and str(rules) != str(self._rules):  # the game may have been loaded again
            raise ValueError(f"a state of {state.get_game()}, expected one of {self._rules}")
        actions = state.legal_actions()
        view = state.view(state.current_player())
        with asking(self.policy.name, self._rules, view["board"], len(state.history())):
            chances = self.policy.probabilities(view, _mask(self._rules, actions))[0]
        return {action: float(chances[action]) for action in actions}


class BotPolicy:
    """An OpenSpiel bot for its ``bridge`` as a policy for ours.

    Args:
        make_bot: ``make_bot(game, player, seed)`` gives the bot, anew for each decision and with another seed; it is
            asked on a state of OpenSpiel's bridge in which the hidden cards are drawn at random, so it learns nothing
            that the view does not hold.
        name: what result tables call it.
    """

    def __init__(self, make_bot: Callable[[Any, int, int], Any], name: str = "openspiel") -> None:
        self.make_bot, self.name = make_bot, name

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` in bidzoo's numbering, one bot call a row."""
        game = _whole_bridge()
        deals, seeds = game.new(len(views)), (rng.random(1)[:, 0] * 2**31).astype(np.int64)
        game.determinize(views, rng.keys.copy(), deals)
        actions = np.empty(len(views), np.int64)
        for b, deal in enumerate(deals):
            state = to_openspiel(deal)
            bot = self.make_bot(state.get_game(), state.current_player(), int(seeds[b]))
            bot.restart_at(state)
            actions[b] = _from_openspiel_action(bot.step(state))
        return actions


available()  # those of installed packages too
watch(_register_or_warn)  # at the end: it makes every game, by all that stands above

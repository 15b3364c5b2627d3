"""One table: a game, a board, the actions so far, and who sits where."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from bidzoo import registry
from bidzoo.agents import BRIDGE
from bidzoo.agents.explanation import Explanation, explained
from bidzoo.agents.policy import Policy
from bidzoo.core.cards import held
from bidzoo.core.kernels import I8, U64, State, States
from bidzoo.core.options import whole
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import ask_one
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.bridge.state import VIEW as BRIDGE_VIEW
from bidzoo.envs.game import Game, Table
from bidzoo.play.catalog import HUMAN, agents_for, checked_options, make_agent, offer, usual, usual_seats

DEALS = 200  # sampled for a belief from the rules alone
SAMPLES = 3  # of them shown
MOST = 2**53 - 1  # of seeds and boards: what a page's numbers hold exactly


class Position(Table):
    """A replayed table and what it shows."""

    @property
    def over(self) -> bool:
        """Nobody can act any more."""
        return not self.out.mask.any()

    @property
    def player(self) -> int:
        """Who acts next; -1 once over."""
        return -1 if self.over else int(self.out.player[0])

    @property
    def legal(self) -> list[int]:
        """Legal actions."""
        return [int(action) for action in np.flatnonzero(self.out.mask[0])]


class Setup:
    """The start of a table. With the actions, replayed by the game's kernels, it is the whole state of a session."""

    def __init__(
        self, game_id: str, options: Mapping[str, Any], seed: int, board: int, fixed: Mapping[str, Any]
    ) -> None:
        """``options`` are those of ``make_game``, ``fixed`` of ``Game.fix``: a deal from a file."""
        self.game_id, self.options, self.seed, self.board = game_id, options, seed, board
        self.game = registry.make_game(game_id, **options)
        self._fixed = dict(self.game.options(fixed))
        self._fixed.pop("board", None)
        self._cached: tuple[tuple[int, ...], Position] | None = None

    @cached_property
    def dealt(self) -> str:
        """A digest of the board as it is dealt, which tells it from those of other options, seeds and files."""
        state = self._start().states[0]
        cards = [np.asarray(state[name]).tolist() for name in state.dtype.names or ()]
        return sha256(repr((self.game_id, self.options, self.seed, self.board, cards)).encode()).hexdigest()[:16]

    def replay(self, actions: Sequence[int]) -> Position:
        """The table after ``actions``; ValueError names the first that is not legal in its place."""
        key = tuple(actions)
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, self._walk(key)[0])
        return self._cached[1]

    def players(self, actions: Sequence[int]) -> list[int]:
        """Who took each of ``actions``."""
        return self._walk(tuple(actions))[1]

    def played(self, policies: Sequence[Policy | None]) -> State:
        """The finished table that ``policies`` of the players make of this start."""
        table = self._start()
        while not table.over:
            policy = policies[table.player]
            if policy is None:
                raise ValueError("a human sits at the other table, expected agents")
            table.step(ask_one(policy, table, self.seed))
        return table.states[0]

    def _start(self) -> Position:
        table = Position(self.game)
        table.begin(self.board, self.seed, self._fixed)
        return table

    def _walk(self, actions: tuple[int, ...]) -> tuple[Position, list[int]]:
        game, table, players = self.game, self._start(), []
        for step, action in enumerate(actions, 1):
            if action not in table.legal:
                text = game.action_text(action) if 0 <= action < game.num_actions else repr(action)
                raise ValueError(f"action {step} of the record, {text}, is not legal there")
            players.append(table.player)
            table.step(action)
        return table, players


# ---- analysis of a position: an agent's thoughts, where the cards may be, double dummy -------


def explanation_of(policy: Policy, game: Game, views: States, legal: I8, rng: Streams) -> Explanation:
    """What ``policy`` thinks of views ``[1]`` with ``legal`` ``[1, A]``, and where the hidden cards may be.

    If the agent has no belief about the hidden cards, the belief network gives one in a bridge auction, elsewhere the
    rules alone do: deals that fit the public history, all equally likely. ``rng`` is copied, not consumed.
    """
    explanation = explained(policy, views, legal, rng[:])
    if explanation.belief or "hand" not in (views.dtype.names or ()) or not views["hand"][0]:
        return explanation
    if views.dtype == BRIDGE_VIEW and int(views["phase"][0]) == AUCTION:
        from bidzoo.agents.bridge.belief import Belief

        source = "the belief network, from the hand and the calls"
        return replace(explanation, belief=Belief().by_seat(views), belief_source=source)
    return _with_belief(explanation, game, views, rng[:])


def _with_belief(explanation: Explanation, game: Game, views: States, rng: Streams) -> Explanation:
    """``explanation`` with a belief and samples from deals that the rules allow, all equally likely."""
    keys: U64 = (rng.random(DEALS)[0] * 2.0**53).astype(np.uint64)
    states = game.new(DEALS)
    game.determinize(np.repeat(views, DEALS), keys, states)
    hands = states["held" if int(views["plays"][0]) else "hands"]  # [D, 4]
    dummy = -1  # the seat whose cards everybody sees
    if "dummy" in (views.dtype.names or ()) and int(views["plays"][0]) > 0:
        dummy = (int(views["declarer"][0]) + 2) % 4
    hidden = [seat for seat in range(4) if seat not in (int(views["seat"][0]), dummy)]
    cards = held(hands)  # [D, 4, 52]
    belief = {seat: np.asarray(cards[:, seat].mean(axis=0), np.float64) for seat in hidden}
    samples = tuple({seat: int(deal[seat]) for seat in hidden} for deal in hands[:SAMPLES])
    source = f"{DEALS} deals that fit the rules and what was seen; bids are not read"
    return replace(explanation, belief=belief, belief_source=source, samples=explanation.samples or samples)


def double_dummy_of(state: State) -> tuple[I8, int]:
    """Tricks ``[20]`` of a deal of bridge, solved now if they are not known, and par for North/South."""
    from bidzoo.envs.bridge.double_dummy import dd_tricks_of
    from bidzoo.envs.bridge.score import par

    tricks = np.asarray(state["tricks"])
    tricks = tricks if (tricks >= 0).all() else dd_tricks_of(np.asarray(state["hands"]))
    return tricks, int(par(tricks[None], int(state["dealer"]), int(state["vulnerable"]))[0])


# ---- the session -----------------------------------------------------------------------------


class Compared(NamedTuple):
    """A board that people have finished; points and IMPs are those of their side."""

    board: int
    points: int  # duplicate score
    par: int
    other: int  # score of the agents in the same seats at the other table
    imps_par: int
    imps_other: int


class StaleError(ValueError):
    """The table has changed since the request was made."""


class Session:
    """A table, its seats, and the position in the record of its actions.

    Methods may be called from several threads; an agent thinks outside the lock.
    """

    def __init__(self, make: Callable[[Game, str], Policy] = make_agent) -> None:
        """``make`` makes an agent from a game and the agent's name."""
        self.lock = RLock()
        self._make = make
        self._policies: dict[tuple[str, str, str], Policy] = {}  # by game, its options, name
        self.reveal = False
        self.boards: list[Any] = []  # of the open file
        self.source = ""
        self.at_board = -1  # index into ``boards``; -1: a deal of our own
        self.replaying = False  # the record at the start came from the file
        self.compared: dict[tuple[Any, ...], Compared] = {}  # the first result of each board
        self.start("bridge_bidding_v0")
        self.fresh = True  # nobody has chosen anything yet

    # ---- sitting down ---------------------------------------------------------------------------

    def start(
        self,
        game_id: str,
        options: Mapping[str, Any] | None = None,
        seats: Sequence[str] | None = None,
        seed: int = 0,
        board: int = 0,
        fixed: Mapping[str, Any] | None = None,
        actions: Sequence[int] = (),
    ) -> None:
        """A new table before its first action, hidden hands hidden again; ``actions`` is a record to step through.

        Nothing changes if one is bad.

        Raises:
            ValueError: an unknown game, option, agent or number; an action that is not legal in its place.
        """
        checked = checked_options(game_id, {} if options is None else options)
        setup = Setup(game_id, checked, whole("seed", seed, 0, MOST), whole("board", board, 0, MOST), fixed or {})
        setup.replay(actions)
        seating = self._seats(game_id, usual_seats(game_id) if seats is None else seats)
        with self.lock:
            self.setup, self.game = setup, setup.game
            self.seats, self.actions, self.cursor = seating, [int(action) for action in actions], 0
            self.at_board, self.replaying, self.fresh, self.reveal = -1, len(actions) > 0, False, False

    def next_board(self) -> None:
        """The board after this one, with the same seed, options and seats."""
        with self.lock:
            setup = self.setup
            self.start(setup.game_id, setup.options, self.seats, setup.seed, setup.board + 1)

    def sit(self, seats: Sequence[str]) -> None:
        """Change who sits where: names of agents or ``human``."""
        with self.lock:
            self.seats = self._seats(self.setup.game_id, seats)

    @staticmethod
    def _seats(game_id: str, seats: Any) -> list[str]:
        names, agents = offer(game_id).seats, agents_for(game_id)
        if not isinstance(seats, Sequence) or isinstance(seats, str) or len(seats) != len(names):
            raise ValueError(f"seats {seats!r}: expected {len(names)} names, one a seat ({', '.join(names)})")
        for place, name in zip(names, seats, strict=True):
            if name != HUMAN and (not isinstance(name, str) or name not in agents):
                raise ValueError(f"{place}: {name!r} does not play {game_id}; choose from {HUMAN}, {', '.join(agents)}")
        return list(seats)

    # ---- the position ---------------------------------------------------------------------------

    def position(self) -> Position:
        """The table at the cursor."""
        with self.lock:
            return self.setup.replay(self.actions[: self.cursor])

    def go(self, cursor: int) -> None:
        """Move the cursor to after the ``cursor``-th action of the record."""
        with self.lock:
            self.cursor = whole("step", cursor, 0, len(self.actions))

    def undo(self) -> None:
        """Go back to the last turn of a human before the cursor, or to the start; a single step if no human sits."""
        with self.lock:
            steps = range(self.cursor - 1, -1, -1)
            turns = (step for step in steps if self.seats[self.setup.replay(self.actions[:step]).player] == HUMAN)
            self.cursor = next(turns, max(self.cursor - 1, 0) if HUMAN not in self.seats else 0)

    # ---- acting ---------------------------------------------------------------------------------

    def act(self, action: int, at: int) -> None:
        """Take ``action`` after the first ``at``; a different record from there on is dropped.

        Raises:
            StaleError: the cursor is not ``at``.
            ValueError: the action is not legal here.
        """
        with self.lock:
            self._expect(at)
            position = self.position()
            if position.over:
                raise ValueError("the board is over: nobody can act")
            number = whole("action", action, 0, self.game.num_actions - 1)
            if number not in position.legal:
                legal = " ".join(self.game.action_text(a) for a in position.legal)
                raise ValueError(f"{self.game.action_text(number)} is not legal here, expected one of {legal}")
            if self.actions[at : at + 1] != [number]:
                self.actions[at:] = [number]
            self.cursor = at + 1

    def _expect(self, at: Any) -> None:
        if whole("step", at, 0, MOST) != self.cursor:
            raise StaleError(f"the table is at step {self.cursor}, not {at}")

    def agent_turn(self, at: int) -> None:
        """The agent whose turn it is acts after the first ``at`` actions.

        Raises:
            StaleError: the cursor is not ``at``, or the table changed while the agent was thinking.
            ValueError: a human is to act, or nobody.
        """
        with self.lock:
            self._expect(at)
            position, policy, setup = self.position(), self.policy(), self.setup
        if policy is None:
            raise ValueError("no agent is to act here")
        action = ask_one(policy, position, setup.seed)
        with self.lock:
            if self.setup is not setup:
                raise StaleError("another board was opened while the agent was thinking")
            self.act(action, at)

    def policy(self, name: str | None = None) -> Policy | None:
        """The agent ``name``, by default the one to act; None for a human."""
        with self.lock:
            setup = self.setup
            if name is None:
                player = self.position().player
                name = HUMAN if player < 0 else self.seats[player]
            if name == HUMAN:
                return None
            key = setup.game_id, str(setup.options), name
            if key not in self._policies:
                self._policies[key] = self._make(setup.game, name)
            return self._policies[key]

    def explain(self, name: str | None = None) -> Explanation:
        """What the agent ``name`` (default: the one to act) would think in the place of the player to act."""
        with self.lock:
            position, policy, setup = self.position(), self.policy(name), self.setup
        if position.over or policy is None:
            raise ValueError("there is nobody to ask: choose an agent, and a board that is not over")
        game, states = setup.game, position.states
        rng = Streams.at(setup.seed, states["board"], game.clock(states))  # those with which it acts
        return explanation_of(policy, game, game.view_of(states, position.out.player), position.out.mask.copy(), rng)

    # ---- against par and the other table --------------------------------------------------------

    def other_table(self) -> list[str]:
        """Who sits at the other table: the same agents, and for a human the agent opposite or the usual one."""
        count, names = len(self.seats), []
        for seat, name in enumerate(self.seats):
            opposite = self.seats[(seat + count // 2) % count]
            agents = [agent for agent in (name, opposite) if agent != HUMAN]
            names.append(agents[0] if agents else usual(self.setup.game_id))
        return names

    def compare(self) -> Compared:
        """The board that is over against par and against the agents at the other table; the first result counts.

        Raises:
            ValueError: it is not over, no bridge, a replay of a file's record, or no human plays.
        """
        from bidzoo.envs.bridge.score import imps

        with self.lock:
            setup, position, seats = self.setup, self.position(), self.other_table()
            if setup.game_id not in BRIDGE or not position.over or self.replaying or HUMAN not in self.seats:
                raise ValueError("only a bridge board that people have bid or played to its end is compared")
            key = (setup.dealt, self.source if self.at_board >= 0 else "", self.at_board)
            sign = 1 if self.seats.index(HUMAN) % 2 == 0 else -1
            policies = [self.policy(name) for name in seats]
            if key in self.compared:
                return self.compared[key]
        state = position.states[0]
        par = sign * double_dummy_of(state)[1]
        points = sign * int(state["points"][0])
        other = sign * int(setup.played(policies)["points"][0])
        comparison = Compared(setup.board, points, par, other, int(imps(points - par)), int(imps(points - other)))
        with self.lock:
            return self.compared.setdefault(key, comparison)

    # ---- who sees what --------------------------------------------------------------------------

    @property
    def open(self) -> bool:
        """Whether all hands may be seen: it was asked for, no human sits, or the board is over."""
        return self.reveal or HUMAN not in self.seats or self.position().over

    def seen(self) -> State:
        """The table at the cursor as the viewer sees it: a hand that is hidden is 0, a type -1."""
        with self.lock:
            state, seats = self.position().states[0].copy(), [self.viewer]
            if self.open:
                return state
        names = state.dtype.names or ()
        if "dummy" in names and state["plays"]:
            seats.append((int(state["declarer"]) + 2) % 4)
        if "looked" in names and not state["looked"] >> self.viewer & 1:
            seats.clear()
        for name, hidden in (("hands", 0), ("held", 0), ("types", -1)):
            if name in names:
                state[name][np.setdiff1d(range(len(self.seats)), seats)] = hidden
        return state

    @property
    def viewer(self) -> int:
        """The human whose cards are shown: the one to act, else the next to come; -1 if there is none."""
        order = [(max(self.position().player, 0) + k) % len(self.seats) for k in range(len(self.seats))]
        return next((seat for seat in order if self.seats[seat] == HUMAN), -1)

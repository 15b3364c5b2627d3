"""Check that a game keeps to what its forms rely on: seeded tables played as plain Python, which checks every index.

Compiled kernels check nothing: a rule that writes beyond an array, or that never ends, would damage the memory of the
process. ``check`` finds that and other slips of rules before, and names the first one.
"""

import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from re import search
from typing import Any, NamedTuple

import numpy as np

from bidzoo.core import plain
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.options import choose_from, fits, whole
from bidzoo.core.streams import checked_seed
from bidzoo.envs.game import Buffers, Game

TURNS = 2_000  # of all tables together, where ``tables`` is not given
QUICK = 20_000  # actions that a quick check looks at, legal or not: some ten milliseconds
LARGEST = float(np.finfo(np.float32).max)  # of a reward
UTILITIES = ("zero_sum", "identical")
UNWRITTEN = 77  # in buffers before a rule writes


def check(game: Game, tables: int | None = None, seed: int = 0) -> None:
    """Play boards 0 ... ``tables`` - 1 of ``seed`` (default 20, fewer of a long game) as plain Python, each step twice.

    Board 0 takes the lowest legal action, 1 the highest, 2 the lowest but one; the others take random ones.

    Raises:
        ValueError: the first thing wrong, with board, actions so far and what was expected.
    """
    for field in ("num_actions", "max_turns"):
        whole(f"{game}: {field}", getattr(game, field), 1, 2**31)
    check_reward_range(str(game), game.reward_range)
    check_utility(str(game), game.utility)
    _check_allies(game)
    tables = max(1, min(20, TURNS // game.max_turns)) if tables is None else whole("tables", tables, 1, 2**31)
    seed = checked_seed(seed)
    with plain.in_plain_python(), np.errstate(all="raise", under="ignore"):
        for board in range(tables):
            _Table(game, board, seed).play()


def check_quickly(game: Game) -> None:
    """``check`` of one to eight boards, as many as take some ten milliseconds; the user's own encoder is left out."""
    game = getattr(game, "_base", game)
    check(game, max(1, min(8, QUICK // (game.num_actions * game.max_turns))))


def check_reward_range(name: str, reward_range: Any) -> None:
    """ValueError unless it is what every game declares; names game, value and what was expected."""
    if not (
        isinstance(reward_range, tuple | list)
        and len(reward_range) == 2
        and all(fits(float, end) and abs(end) <= LARGEST for end in reward_range)
        and reward_range[0] <= reward_range[1]
    ):
        raise ValueError(f"{name}: reward_range {reward_range!r}: expected two finite numbers, the lower one first")


def check_utility(name: str, utility: Any) -> None:
    """ValueError unless it is one of the words that every game declares."""
    if utility not in UTILITIES:
        raise ValueError(f"{name}: utility {utility!r}; {choose_from(utility, UTILITIES)}")


def _check_allies(game: Game) -> None:
    groups = [game.allies(player) for player in range(game.num_players)]
    for player, group in enumerate(groups):
        if player not in group or not all(
            other in range(game.num_players) and groups[other] == group for other in group
        ):
            raise ValueError(f"{game}: allies({player}) is {group}, expected it and its partners, the same for each")


def within(reward: Any, reward_range: tuple[float, float]) -> bool:
    """All of ``reward`` is in the range, as float32, the type in which it is shown; NaN is not."""
    low, high = np.array(reward_range, np.float32)
    values = np.asarray(reward, np.float32)
    return bool(((low <= values) & (values <= high)).all())


def differing(first: States, second: States) -> list[str]:
    """Fields in which the records differ; the padding between fields is not compared."""
    return [name for name in first.dtype.names or () if not np.array_equal(first[name], second[name])]


def missing_field(problem: Exception) -> str | None:
    """The field that a record lacks; None if ``problem`` is about something else."""
    if isinstance(problem, ValueError):  # of NumPy
        _, phrase, field = str(problem).partition("no field of name ")
        return field if phrase else None
    if isinstance(problem, AttributeError):  # of rules as plain Python
        of_record = isinstance(problem.obj, np.void) or (
            isinstance(problem.obj, np.ndarray) and problem.obj.dtype.names
        )
        return problem.name if of_record else None
    filename = traceback.extract_tb(problem.__traceback__)[-1].filename  # of compiled rules: numba looks the field up
    return str(problem.args[0]) if "numba" in Path(filename).parts else None


def _written(value: Any) -> str:
    return "not written" if value == UNWRITTEN else str(value)


class _Position(NamedTuple):
    states: States  # [1]
    out: Buffers


class _Table:
    """One board from deal to reward, and a twin of it that must go the same way."""

    def __init__(self, game: Game, board: int, seed: int) -> None:
        self.game, self.board, self.seed = game, board, seed
        self.actions: list[int] = []
        self.rng = np.random.default_rng((seed, board))
        self.position, self.twin = (_Position(game.new(1), game.buffers(1)) for _ in range(2))

    def error(self, message: str) -> ValueError:
        moment = f"after actions {', '.join(map(str, self.actions))}" if self.actions else "before the first action"
        return ValueError(f"{self.game}: board {self.board} of seed {self.seed}, {moment}: {message}")

    def play(self) -> None:
        boards = np.array([self.board], np.int64)
        self._both(lambda position: self.game.begin(position.states, boards, self.seed, position.out))
        while not self.position.out.over[0]:
            if len(self.actions) == self.game.max_turns:
                raise self.error(f"the episode goes on, expected its end within max_turns {self.game.max_turns}")
            action = self._choose(np.flatnonzero(self.position.out.mask[0]))
            actions = np.array([action])
            self.actions.append(action)
            self._both(lambda position, actions=actions: self.game.step(position.states, actions, 0, position.out))
        with self._reporting_errors():
            self.game.text(self.position.states[0])
            self.game.picture(self.position.states[0])

    def _choose(self, legal: I64) -> int:
        nth = {0: 0, 1: -1, 2: min(1, len(legal) - 1)}.get(self.board)
        action = int(self.rng.choice(legal) if nth is None else legal[nth])
        with self._reporting_errors():
            text = self.game.action_text(action)
            number = self.game.action_number(text)
        if number != action:
            raise self.error(f"action_number({text!r}) is {number}, expected {action}, whose action_text that is")
        return action

    def _both(self, advance: Any) -> None:
        """Call ``advance`` with the position and with its twin, whose buffers are filled with ``UNWRITTEN`` first."""
        for array in self.twin.out:
            array[:] = UNWRITTEN
        for position in (self.position, self.twin):
            with self._reporting_errors():
                advance(position)
        self._check_position()
        self._compare()

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        """Say where in the rules an error came from; a player who is none is reported instead, as the cause of it."""
        try:
            yield
        except Exception as problem:
            self._check_player()
            frames = traceback.extract_tb(problem.__traceback__)
            ours = [f for f in frames if "numpy" not in Path(f.filename).parts and f.filename != plain.__file__]
            frame = ours[-1]
            place = f"{frame.name} ({Path(frame.filename).name}, line {frame.lineno})"
            raise self.error(f"{place}: {self._describe(problem)}") from problem

    def _describe(self, problem: Exception) -> str:
        if isinstance(problem, IndexError):
            return f"{problem}; expected indices within it, as compiled code does not check them"
        if isinstance(problem, AttributeError) and (name := search(r"no attribute '?(\w+)", str(problem))):
            of_view = isinstance(problem.obj, np.void) and problem.obj.dtype.names == self.game.view.names
            kind, dtype = ("view", self.game.view) if of_view else ("state", self.game.state)
            if "record" in type(problem.obj).__name__ or "record" in str(problem):
                return f"a {kind} has no field {name[1]!r}; its fields: {', '.join(dtype.names or ())}"
        return f"{type(problem).__name__}: {problem}"

    def _check_player(self) -> None:
        player, last = int(self.position.out.player[0]), self.game.num_players - 1
        if not -1 <= player <= last:
            raise self.error(f"the turn is that of player {player}, expected 0 ... {last}, or -1 at the end")

    # ---- one position ---------------------------------------------------------------------

    def _check_position(self) -> None:
        states, out = self.position
        self._check_player()
        for name, mask in (("mask", out.mask), ("mask", self.twin.out.mask)):
            entries = np.flatnonzero((mask[0] != 0) & (mask[0] != 1))
            if len(entries):
                value = "not written" if mask[0, entries[0]] == UNWRITTEN else f"{mask[0, entries[0]]}"
                raise self.error(f"{name}: entry {entries[0]} is {value}, expected 0 or 1 for every action")
        over, player = bool(out.over[0]), int(out.player[0])
        if over != (player == -1):
            raise self.error(f"the player to act is {player} and over is {over}, expected -1 where it is over")
        if over:
            self._check_reward()
        elif not out.mask.any():
            raise self.error(f"player_{player} has no legal action, expected one before the end")
        original = states.copy()
        with self._reporting_errors():
            fault = self.game.fault(states[0], self.actions)
        if fault:
            raise self.error(fault)
        for player, encoded in enumerate(self._encoded()):
            self._check_observation(player, encoded)
        with self._reporting_errors():
            self._check_bits("the global state", self.game.state_encoder(states)[0])
        for field in differing(original, states):
            raise self.error(f"{field} of the state is changed by what only looks at it, expected act_row alone to")

    def _check_reward(self) -> None:
        reward = self.position.out.reward[0]
        low, high = self.game.reward_range
        if not within(reward, (low, high)):
            value = reward[0] if self.game.utility == "identical" else reward.tolist()
            raise self.error(f"reward {value}, expected {low:g} ... {high:g}, the game's reward_range")
        if self.game.utility == "identical" and (reward != reward[0]).any():
            raise self.error(f"reward {reward.tolist()}, expected the same for all players")
        if self.game.utility == "zero_sum" and not math.isclose(float(reward.sum()), 0.0, abs_tol=1e-3):
            raise self.error(f"reward {reward.tolist()}, expected numbers that add up to 0")
        for player in range(self.game.num_players):
            allies = self.game.allies(player)
            if (reward[[*allies]] != reward[player]).any():
                raise self.error(f"reward {reward.tolist()}, expected the same for players {allies}, who are partners")

    def _encoded(self) -> I8:
        """What the encoder makes of the views of all players at once, ``[players, F]``."""
        game, states = self.game, self.position.states
        players = np.arange(max(2, game.num_players)) % game.num_players
        encoded = np.full((len(players), game.encoder.layout.size), UNWRITTEN, np.int8)
        with self._reporting_errors():
            game.encoder.encode(game.view_of(np.repeat(states, len(players)), players), encoded)
        return encoded[: game.num_players]

    def _check_observation(self, player: int, encoded: I8) -> None:
        """``encoded`` is its row among those of all players."""
        states, out = self.position
        observation, alone = np.full_like(out.observation[0], UNWRITTEN), np.full_like(encoded[None], UNWRITTEN)
        with self._reporting_errors():
            self.game.observe(states, np.zeros(1, np.int64), player, observation[None])
        name = f"the observation of player_{player}"
        self._check_bits(name, observation)
        if not np.array_equal(observation, encoded):
            with self._reporting_errors():
                self.game.encoder.encode(self.game.view_of(states, np.array([player])), alone)
            i = np.flatnonzero(observation != encoded)[0]
            if encoded[i] != alone[0, i]:
                raise self.error(
                    f"encoder {self.game.encoder.name!r}: {name}: entry {i} is {_written(encoded[i])} with all "
                    f"players in one call, {_written(alone[0, i])} by itself, expected the same"
                )
            raise self.error(
                f"{name}: entry {i} is {observation[i]}, but {_written(encoded[i])} from its view, expected the same"
            )
        if player == out.player[0] and not np.array_equal(observation, out.observation[0]):
            raise self.error(f"{name} is another when it is to act, expected the same")

    def _check_bits(self, name: str, vector: Any) -> None:
        entries = np.flatnonzero((vector != 0) & (vector != 1))
        if len(entries):
            raise self.error(f"{name}: entry {entries[0]} is {vector[entries[0]]}, expected 0 or 1")

    # ---- two runs of one seed -------------------------------------------------------------

    def _compare(self) -> None:
        fields = [f"{field} of the state" for field in differing(self.position.states, self.twin.states)]
        first, second = self.position.out, self.twin.out
        for name in fields + [b for b in Buffers._fields if not np.array_equal(getattr(first, b), getattr(second, b))]:
            raise self.error(f"two runs of one seed differ in {name}, expected rules without chance or memory")

"""A game of one's own in plain Python: a small class with its rules, in every API, slower than compiled rules.

``register_game`` takes the class as it is; an object of it is one table. Its attributes, which ``__init__`` may set
from the options of ``make``:

- ``id``: ``"kuhn_poker_v0"``
- ``num_players``
- ``actions``: what there is to do, as texts; an action is a number in this list
- ``max_turns``: no episode has more
- ``reward_range``: the lowest and the highest reward of one player
- ``features``: name -> size, or labels, of each part of an observation; none is called ``player``
- ``utility``: ``"zero_sum"`` (the default) or ``"identical"``
- ``partners``: groups of players who are paid alike, ``((0, 2), (1, 3))``, each player in one; by default each
  plays for itself
- ``player``: who acts next; None at the end

and its methods:

- ``deal(rng)``: begin an episode; ``rng`` is a NumPy generator, and all chance is here
- ``legal()``: legal actions of ``player``
- ``act(action)``: take one
- ``reward()``: of each player at the end, or one number for all
- ``view(player)``: feature -> the entry that is 1, several of them, or None: what the player may know

All players see all actions. A record holds the number of the deal and the actions since; they are taken again whenever
the position is looked at.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from inspect import getdoc, signature
from numbers import Integral
from typing import Any

import numpy as np

from bidzoo.core.kernels import I8, I64, U64, Bool, State, States
from bidzoo.core.layout import Field, Layout
from bidzoo.core.options import choose_from, whole
from bidzoo.core.streams import key_row, next_row
from bidzoo.envs.check import check_utility
from bidzoo.envs.game import Buffers, Encoder, Game, read_board, read_options
from bidzoo.envs.picture import Picture

NEEDED = (
    "id", "num_players", "actions", "max_turns", "reward_range", "features", "deal", "legal", "act", "reward", "view",
)  # fmt: skip
PUBLIC = ("board", "length", "turn", "history")
TRIES = 10_000  # deals drawn until one agrees with a view


class PythonGame(Game):
    """The game whose tables are objects of the class ``rules``, made with ``options``.

    An observation is the player's number and the features of its ``view``, as zeros and ones.

    Raises:
        ValueError: the class lacks something; names it.
    """

    def __init__(self, rules: Callable[..., Any], **options: Any) -> None:
        self.rules, self.chosen, sizes = rules, options, rules(**options)
        if missing := [name for name in NEEDED if not hasattr(sizes, name)]:
            raise ValueError(f"rules of a game: {getattr(rules, '__name__', rules)} lacks {', '.join(missing)}")
        self.id, self.num_players = sizes.id, whole(f"{sizes.id}: num_players", sizes.num_players, 1, 127)
        if isinstance(sizes.actions, str) or not np.iterable(sizes.actions):
            raise ValueError(f"{self.id}: actions {sizes.actions!r}: expected a list of what to call them")
        self.actions = [*map(str, sizes.actions)]
        self.num_actions = len(self.actions)
        self.max_turns = whole(f"{self.id}: max_turns", sizes.max_turns, 1, 2**15 - 1)
        self.reward_range, self.utility = sizes.reward_range, getattr(sizes, "utility", "zero_sum")
        check_utility(self.id, self.utility)
        players = range(self.num_players)
        alone = [tuple(players)] if self.utility == "identical" else [(player,) for player in players]
        self._partners = self._groups(getattr(sizes, "partners", alone))
        names = [f"player_{player}" for player in players]
        if "player" in sizes.features:
            raise ValueError(
                f"{self.id}: feature 'player': every observation has one, who we are; expected another name"
            )
        labels = {name: range(size) if isinstance(size, Integral) else size for name, size in sizes.features.items()}
        layout = Layout(
            (Field.of("player", "who we are", names), *(Field.of(name, name, of) for name, of in labels.items()))
        )
        self._places = {field.name: (layout.start(field.name), field.size) for field in layout.fields}
        self.encoder = Encoder("features", layout, self._encode, layout.describe)
        self.encoders = {"features": self.encoder}
        seen = [Field.of(f"{name} {who}", f"{name} of {who}", of) for who in names for name, of in labels.items()]
        self._whole = Layout((Field.of("turn", "who acts next; all 0 at the end", names), *seen))
        taken = ("history", np.int16, (self.max_turns,))
        public = [("board", np.int64), ("length", np.int16), ("turn", np.int8), taken]
        self.state = np.dtype([*public, ("deal", np.int64, (1,))], align=True)
        self.view = np.dtype([*public, ("player", np.int8), ("observation", np.int8, (layout.size,))], align=True)

    def __reduce__(self) -> Any:
        return partial(PythonGame, self.rules, **self.chosen), ()

    def __str__(self) -> str:
        return f"{self.id}({', '.join(f'{name}={value!r}' for name, value in self.chosen.items())})"

    def _groups(self, partners: Any) -> list[tuple[int, ...]]:
        """``partners`` as tuples; ValueError unless every player is in exactly one of them."""
        try:
            groups = [tuple(int(player) for player in group) for group in partners]
        except (TypeError, ValueError):
            groups = []
        if sorted(player for group in groups for player in group) != [*range(self.num_players)]:
            raise ValueError(
                f"{self.id}: partners {partners!r}: expected groups with each player 0 ... {self.num_players - 1} once"
            )
        return groups

    def allies(self, player: int) -> tuple[int, ...]:
        return next(group for group in self._partners if player in group)

    # ---- positions --------------------------------------------------------------------------

    def position(self, state: State, legally: bool = False) -> Any:
        """The object of the class ``rules`` in the position of a record; None if ``legally`` and an action was not."""
        place: Any = self.rules(**self.chosen)
        place.deal(np.random.Generator(np.random.Philox(key=int(state["deal"][0]))))
        for action in state["history"][: int(state["length"])].tolist():
            if legally and (place.player is None or action not in place.legal()):
                return None
            place.act(action)
        return place

    def begin(self, states: States, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        for b in range(len(states)) if rows is None else np.flatnonzero(rows).tolist():
            self._deal(states, b, int(boards[b]), seed, out)
            out.reward[b], out.over[b] = 0, False

    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int = 0, seats: int = 0) -> None:
        out.reward[:], out.over[:] = 0, False
        for b in np.flatnonzero((actions >= 0) & (states["turn"] >= 0)).tolist():
            length = int(states["length"][b])
            states["history"][b, length], states["length"][b] = actions[b], length + 1
            place = self._show(states, b, out)
            if place.player is None:
                out.reward[b], out.over[b] = place.reward(), True
                if stride:
                    self._deal(states, b, int(states["board"][b]) + stride, seed, out)

    def _deal(self, states: States, b: int, board: int, seed: int, out: Buffers) -> None:
        states[b] = np.zeros((), self.state)
        states["board"][b], states["deal"][b] = board, int(key_row(seed, board, 0)) >> 1
        if self._show(states, b, out).player is None:
            raise ValueError(f"{self}: deal() ends the game of board {board}, expected a player to act")

    def _show(self, states: States, b: int, out: Buffers) -> Any:
        """The position of table ``b``; its turn into the record, what the player to act sees into ``out``."""
        place = self.position(states[b])
        states["turn"][b] = out.player[b] = turn = -1 if place.player is None else place.player
        out.mask[b], out.observation[b] = 0, 0
        if turn >= 0:
            if states["length"][b] >= self.max_turns:
                raise ValueError(f"{self}: the episode goes on after {self.max_turns} turns, its max_turns")
            for action in place.legal():
                self.action_text(action)  # or it is none
                if isinstance(action, bool | np.bool_) or out.mask[b, action]:
                    raise ValueError(f"{self}: legal() gives {place.legal()!r}, expected numbers of actions, each once")
                out.mask[b, action] = 1
            self._look(place, turn, out.observation[b])
        return place

    def _look(self, place: Any, player: int, out: I8) -> None:
        """What ``player`` sees, into ``out``; ValueError for a feature or an entry that there is not."""
        out[:] = 0
        out[player] = player >= 0
        for name, seen in (place.view(player) if player >= 0 else {}).items():
            if name not in self._places:
                raise ValueError(f"{self}: view({player}): feature {name!r}; {choose_from(name, self._places)}")
            start, size = self._places[name]
            for entry in () if seen is None else seen if np.iterable(seen) else (seen,):
                if not 0 <= entry < size:
                    raise ValueError(f"{self}: view({player}): {name} {entry}, expected 0 ... {size - 1}")
                out[start + entry] = 1

    # ---- what a player knows ------------------------------------------------------------------

    def observe(self, states: States, rows: I64, player: int, out: I8) -> None:
        for state, seen in zip(states[rows], out, strict=True):
            self._look(self.position(state), player, seen)

    def views(self, states: States, players: I64, out: States) -> None:
        for name in PUBLIC:
            out[name] = states[name]
        out["player"] = players
        for state, player, seen in zip(states, players, out["observation"], strict=True):
            self._look(self.position(state), int(player), seen)

    def determinize(self, views: States, keys: U64, out: States) -> None:
        """Deals are drawn until one shows the player the same and the same player is to act, or none."""
        seen = np.zeros(self.encoder.layout.size, np.int8)
        for b, view in enumerate(views):
            for name in PUBLIC:
                out[name][b] = view[name]
            for _ in range(TRIES):
                keys[b] = next_row(keys[b])
                out["deal"][b] = int(keys[b]) >> 1
                place = self.position(out[b], legally=True)
                if place is not None and view["turn"] == (-1 if place.player is None else place.player):
                    self._look(place, int(view["player"]), seen)
                    if np.array_equal(seen, view["observation"]):
                        break
            else:
                raise ValueError(f"{self}: none of {TRIES:,} deals shows player_{view['player']} what it has seen")

    @property
    def state_encoder(self) -> Encoder:
        return Encoder("state", self._whole, self._encode_state, self._whole.describe)

    def _encode(self, views: States, out: I8) -> None:
        out[:] = views["observation"]

    def _encode_state(self, states: States, out: I8) -> None:
        """Who acts, and the features of all players side by side."""
        players = np.arange(self.num_players)
        seen = np.zeros((self.num_players, self.encoder.layout.size), np.int8)
        for state, row in zip(states, out):
            place = self.position(state)
            for player in players.tolist():
                self._look(place, player, seen[player])
            row[:] = np.concatenate([players == state["turn"], *seen[:, self.num_players :]])

    # ---- words --------------------------------------------------------------------------------

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return read_options(options, {"board": read_board})

    def action_text(self, action: int) -> str:
        if not 0 <= action < self.num_actions:
            raise ValueError(f"{self}: action {action}, expected 0 ... {self.num_actions - 1}")
        return self.actions[action]

    def action_number(self, text: str) -> int:
        if text not in self.actions:
            raise ValueError(f"not an action of {self}: {text!r}; {choose_from(str(text), self.actions)}")
        return self.actions.index(text)

    def private_text(self, view: State) -> str:
        return "; ".join(self.encoder.explain(view["observation"]).splitlines()[1:])

    def text(self, state: State) -> str:
        """What ``str`` makes of the table, if its class has ``__str__``; the actions; the rewards at the end."""
        place = self.position(state)
        lines = [str(place)] if "__str__" in vars(type(place)) else []
        lines.append(" ".join(self.actions[action] for action in state["history"][: int(state["length"])]))
        if place.player is None:
            lines.append(f"rewards: {np.broadcast_to(place.reward(), self.num_players).tolist()}")
        return "\n".join(lines)

    def picture(self, state: State) -> Picture:
        """The text of the table."""
        out = Picture(460, 240)
        for number, line in enumerate(self.text(state).splitlines()):
            out.text(16, 24 + 22 * number, line.encode("ascii", "replace").decode())
        return out


class PythonRules:
    """Makes the games of a class of rules from its options, for the registry."""

    def __init__(self, rules: type) -> None:
        self.rules, self.id = rules, getattr(rules, "id", "")
        self.__doc__, self.__signature__, self.__wrapped__ = getdoc(rules), signature(rules), rules

    def __call__(self, **options: Any) -> PythonGame:
        return PythonGame(self.rules, **options)

    def __reduce__(self) -> Any:
        return python_rules, (self.rules,)


@cache
def python_rules(rules: type) -> PythonRules:
    """One and the same object for a class."""
    return PythonRules(rules)

"""What the small games share as a ``Game``: everything but rules, sizes, names and words."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal
from zlib import crc32

import numpy as np

from bidzoo.core import plugins
from bidzoo.core.kernels import I8, I64, U64, State, States
from bidzoo.core.layout import Field, Layout
from bidzoo.core.options import is_whole, options_of, whole
from bidzoo.envs.check import check_reward_range, differing, within
from bidzoo.envs.engine import KernelGame
from bidzoo.envs.game import Buffers, Encoder, choose_encoder, read_board, read_options
from bidzoo.envs.picture import ACCENT, ALARM, EDGE, INK, PALE, PANEL, Picture
from bidzoo.envs.signalling import engine
from bidzoo.envs.signalling.state import MAX_ACTIONS, MAX_TURNS, OVER, STATE, VIEW, views

WIDTH, PLAYER, CHIP, STEP, PER_ROW = 460, 76, 32, 46, 9  # of a picture: pixels, and chips a row
TINTS = ("#e3ecf8", "#fdf0d9")  # chips of player_0 and player_1


class SignallingGame(KernelGame):
    """Two partners, ``player_0`` and ``player_1``, with one private type each, public actions and one reward.

    ``player_0`` acts first. A game's class names its ``id``, its ``rules`` and its words, and gives its sizes to
    ``__init__``. A record names the game by ``code`` and ``size``, from which ``game_shown`` makes it again; so a class
    has one option at most beside ``observation``, the integer that ``size_option`` names.
    """

    num_players = 2
    family = "signalling"
    utility: Literal["zero_sum", "identical"] = "identical"
    state, view = STATE, VIEW
    rules: ClassVar[engine.Rules]
    code: ClassVar[int]  # of ``id``, see ``_code_of``
    type_word: str  # what a type is called: "hearts"
    size_option: ClassVar[str] = ""  # the option that ``size`` is: "length"; "" in a game of one size

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "id"):
            _check_options(cls)
        if "id" in cls.__dict__:  # else it is a base class of several games
            engine.check_rules(cls.id, getattr(cls, "rules", None))
            cls.kernels = engine.bind(cls.id, cls.rules)
            cls.code = _code_of(cls.id)
            known = _KINDS.get(cls.code)
            if known is not None and plugins.place(known) != plugins.place(cls):  # a notebook may define one again
                raise ValueError(f"game {cls.id!r} is {plugins.place(known)} already; choose another id")
            _KINDS[cls.code] = cls

    def __init__(
        self,
        size: int,
        num_types: tuple[int, int],
        num_actions: int,
        max_turns: int,
        reward_range: tuple[float, float],
        observation: str | None,  # name of an encoder, or None for the first
    ) -> None:
        if not (isinstance(num_types, Sequence) and len(num_types) == 2 and all(is_whole(n, 1) for n in num_types)):
            raise ValueError(f"{self.id}: num_types {num_types!r}: expected two integers from 1, one a player")
        self.size = whole(f"{self.id}: size", size, 0, 2**31 - 1)
        self.num_types = (int(num_types[0]), int(num_types[1]))
        self.num_actions = whole(f"{self.id}: num_actions", num_actions, 1, MAX_ACTIONS)
        self.max_turns = whole(f"{self.id}: max_turns", max_turns, 1, MAX_TURNS)
        check_reward_range(self.id, reward_range)
        self.reward_range = reward_range
        self._rules, self._source = self.num_types, (self.code, self.size)
        layout = Layout(
            (
                Field.of("player", "who we are: player_0 or player_1", ("player_0", "player_1")),
                Field.of("type", f"our {self.type_word}", range(max(num_types))),
                *self.history_fields("ours", "partner's"),
            )
        )
        self.encoders = {"history": Encoder("history", layout, self._encode, layout.describe, bits=True)}
        self.encoder = choose_encoder(self.encoders, observation)

    @abstractmethod
    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        """Fields of an encoder after player and type; ``own`` and ``other`` name the actions of viewer and partner."""

    @cached_property
    def state_encoder(self) -> Encoder:
        players = ("player_0", "player_1")
        layout = Layout(
            (
                Field.of("turn", "who acts next; all 0 at the end", players),
                *(
                    Field.of(f"type {p}", f"the {self.type_word} of player_{p}", range(count))
                    for p, count in enumerate(self.num_types)
                    if count > 1
                ),
                *self.history_fields(*players),
            )
        )
        return Encoder("state", layout, self._encode_state, layout.describe)

    def __str__(self) -> str:
        return f"{self.id}({f'{self.size_option}={self.size}' if self.size_option else ''})"

    # ---- kernels ----------------------------------------------------------------------------

    def views(self, states: States, players: I64, out: States) -> None:
        views(states, players, out)

    def determinize(self, views: States, keys: U64, out: States) -> None:
        engine.determinize(views, keys, self.num_types, out)

    def _encode(self, views: States, out: I8) -> None:
        self.kernels.encode(views, self.num_types, out)

    def _encode_state(self, states: States, out: I8) -> None:
        self.kernels.encode_state(states, self.num_types, out)

    def fault(self, state: State, actions: Sequence[int]) -> str:
        turn, length, over = int(state["turn"]), int(state["length"]), int(state["turn"]) == OVER
        history = np.zeros(MAX_TURNS, np.int64)
        history[: len(actions)] = actions
        if turn not in (0, 1, OVER):
            return f"turn {turn}, expected a player, 0 or 1, or OVER ({OVER})"
        if length != len(actions):
            return f"length {length}, expected {len(actions)}, the actions so far"
        if not np.array_equal(state["history"], history):
            return f"history {state['history'][:length].tolist()}, expected the actions so far, and 0 beyond them"
        if over:
            return self._reward_fault(state) or self._tree_fault(state, actions)
        return "" if actions else self._record_fault()

    def _record_fault(self) -> str:
        """The fault of ``size_option``: agents make the game again from ``size``, as ``game_shown`` does."""
        rebuilt = _of_size(type(self), self.size)
        if (rebuilt.size, rebuilt.num_types, rebuilt.num_actions) != (self.size, self.num_types, self.num_actions):
            sizes = f"size {rebuilt.size}, types {rebuilt.num_types} and {rebuilt.num_actions} actions"
            return (
                f"size_option {self.size_option!r}: of size {self.size} it makes a game of {sizes}, expected this one, "
                f"of size {self.size}, types {self.num_types} and {self.num_actions} actions"
            )
        return ""

    def _reward_fault(self, state: State) -> str:
        """The fault of a reward with the first or last type of each player; ``check`` looks at the types dealt."""
        low, high = self.reward_range
        for x, y in product(*({0, types - 1} for types in self.num_types)):
            reward = self.rules.reward_row(state, x, y)
            if not within(reward, (low, high)):
                return f"reward {reward} with types {x} and {y}, expected {low:g} ... {high:g}, the game's reward_range"
        return ""

    def _tree_fault(self, state: State, actions: Sequence[int]) -> str:
        """The fault of public fields that depend on the deal: solvers take ``actions`` on records not dealt."""
        records = self.new(2)
        records["game"], records["extent"] = self.code, self.size
        records["types"][1] = np.array(self.num_types) - 1
        masks = np.zeros((2, self.num_actions), np.int8)
        for turn, action in enumerate(actions):
            copies = records.copy()
            for record, mask in zip(records, masks):
                self.rules.legal_row(record, mask)
            if differing(records, copies):
                return f"legal_row of turn {turn} changes the state, expected act_row alone to"
            for record in records:
                self.rules.act_row(record, action)
            if not np.array_equal(*masks) or not masks[0, action]:
                return (
                    f"the legal actions of turn {turn} depend on the deal, expected the same for all types and boards"
                )
        for field in ("turn", "length", "bid", "history"):
            if not all(np.array_equal(record[field], state[field]) for record in records):
                return f"{field} depends on the deal, expected the same for all types and boards"
        return ""

    # ---- reset options ------------------------------------------------------------------------

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``types``: the two types; ``board``: the board to deal."""
        return read_options(options, {"board": read_board, "types": self._read_types})

    def _read_types(self, types: Any) -> tuple[int, ...]:
        if isinstance(types, str) or not isinstance(types, Sequence | np.ndarray) or len(types) != 2:
            raise ValueError(f"{types!r} is not two numbers, one a player")
        return tuple(whole(f"type of player_{p}", types[p], 0, self.num_types[p] - 1) for p in range(2))

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:
        if "types" in options:
            states["types"][0] = options["types"]
            self.kernels.show_row(states[0], self.num_types, out.player, out.observation[0], out.mask[0])

    # ---- words ----------------------------------------------------------------------------------

    def action_text(self, action: int) -> str:
        """``"5"``: its number, in games that have no words for actions."""
        return str(whole("action", action, 0, self.num_actions - 1))

    def action_number(self, text: str) -> int:
        if not (str(text).strip().isdecimal() and int(text) < self.num_actions):
            raise ValueError(f"not an action of {self}: {text!r} (expected 0 ... {self.num_actions - 1})")
        return int(text)

    @abstractmethod
    def result_text(self, state: State, reward: float) -> str:
        """How a finished table came out, without the reward."""

    def drawn(self, text: str) -> str:
        """An action or a result as the picture writes it."""
        return text

    def mover(self, turn: int) -> int:
        """Player who acts at ``turn``."""
        return turn % 2

    def private_text(self, view: State) -> str:
        return f"{self.type_word} {int(view['type'])}"

    def history_text(self, state: State) -> str:
        """The actions so far, ``"1H 1S P"``."""
        return " ".join(self.action_text(int(action)) for action in state["history"][: int(state["length"])])

    def outcome_text(self, state: State) -> tuple[str, float]:
        """How a finished table came out, ``"3H makes: +4"``, and the reward."""
        reward = self.rules.reward_row(state, int(state["types"][0]), int(state["types"][1]))
        return f"{self.result_text(state, reward)}: {reward:+g}", reward

    def text(self, state: State) -> str:
        """``hearts 3 | 2   1H 1S 3H P   3H makes: +4``: both types (``?``: -1, not shown), the history, the result."""
        x, y = ("?" if value < 0 else int(value) for value in state["types"])
        parts = [f"{self.type_word} {x} | {y}" if self.num_types[1] > 1 else f"{self.type_word} {x}"]
        history = self.history_text(state)
        if history:
            parts.append(history)
        if int(state["turn"]) == OVER:
            parts.append(self.outcome_text(state)[0])
        return "   ".join(parts)

    # ---- picture ----------------------------------------------------------------------------------

    def picture(self, state: State) -> Picture:
        """Players on top (the one to act is outlined), a chip for each action below, then how it came out."""
        rows = -(-self.max_turns // PER_ROW)  # the same size all episode long, as videos need
        out = Picture(WIDTH, PLAYER + STEP * rows + 62)
        for player in (0, 1):
            self._draw_player(out, state, player)
        for turn, action in enumerate(state["history"][: int(state["length"])]):
            row, column = divmod(turn, PER_ROW)
            x, y = 16 + column * 48, PLAYER + 30 + STEP * row
            out.box(x, y, 44, CHIP, TINTS[self.mover(turn)], EDGE, 8)
            out.text(x + 22, y + CHIP / 2, self.drawn(self.action_text(int(action))), 15, INK, "middle", bold=True)
        foot = out.height - 20
        if int(state["turn"]) == OVER:
            words, reward = self.outcome_text(state)
            out.text(WIDTH / 2, foot, self.drawn(words), 17, ALARM if reward < 0 else INK, "middle", bold=True)
        else:
            out.text(WIDTH / 2, foot, f"player_{int(state['turn'])} to act", 14, INK, "middle")
        return out

    def _draw_player(self, out: Picture, state: State, player: int) -> None:
        acts = int(state["turn"]) == player
        width = (WIDTH - 48) / 2
        x = 16 + player * (width + 16)
        out.box(x, 14, width, PLAYER, PANEL, ACCENT if acts else EDGE, 10, 3 if acts else 1)
        out.box(x + 12, 28, 12, 12, TINTS[player], EDGE, 3)
        out.text(x + 32, 34, f"player_{player}", 14)
        if self.num_types[player] > 1:
            out.text(x + 12, 66, f"{self.type_word} {int(state['types'][player])}", 22, bold=True)
        else:
            out.text(x + 12, 66, f"no {self.type_word}", 18, PALE)


_KINDS: dict[int, Any] = {}  # classes by ``code``: a process that has a record has imported what made it
FIRST = ("comm_v0", "simple_bidding_v0", "minibridge_v0", "mini_hanabi_v0")  # their codes are their places


def _code_of(env_id: str) -> int:
    """What stands for a game in its records; of a game that is not one of ``FIRST``, a hash of its id."""
    return FIRST.index(env_id) if env_id in FIRST else crc32(env_id.encode()) >> 1


def _check_options(kind: type[SignallingGame]) -> None:
    """ValueError unless a game of ``kind`` is known by its size: records, agents and results name it by no more."""
    options = options_of(kind)
    if options is None:  # it passes on whatever it is given
        return
    own, expected = options.keys() - {"observation"}, {kind.size_option} - {""}
    if own != expected:
        raise ValueError(
            f"game {kind.id!r}: options {', '.join(sorted(own)) or 'none'}, expected {kind.size_option or 'none'}:"
            " a small game has one at most beside observation, the integer that size_option names"
        )


def game_shown(record: State) -> SignallingGame:
    """The game that a state or a view comes from; KeyError if no file of this process has it."""
    kind, size = _KINDS[int(record["game"])], int(record["extent"])
    return _of_size(kind, size)


def _of_size(kind: Any, size: int) -> SignallingGame:
    game: SignallingGame = kind(**{kind.size_option: size}) if kind.size_option else kind()
    return game
